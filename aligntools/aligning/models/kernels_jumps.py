"""Compiled: jumps of the alignment HMM, one step of its recursions, and how jumps are counted.

Transitions depend on the jump ``d = i - i'`` alone: ``g(d)`` for ``|d| <= W`` and one constant ``tail`` beyond,
divided by ``Z(i')``, the sum over the positions that exist. With ``h(d) = g(d) - tail`` a step of the recursion is

    sum_i' A(i') g(i - i') / Z(i') = tail * sum_i' A(i') / Z(i')  +  sum_|d|<=W h(d) A(i - d) / Z(i - d),

a convolution with ``2 W + 1`` taps instead of an ``I x I`` product. Rows are padded to whole vectors, and by
``W`` zeros on both sides, so that the inner loops run along contiguous memory without branches.

Where jumps depend on the class ``c`` of the word at ``i'``, too, it is ``g_c(d)``, ``tail_c`` and ``Z`` of that class.
Of each sentence the values ``h_c(d)`` of every position are written side by side (`Reach`), so that a step adds
``2 W + 1`` products of rows:

    sum_i' A(i') tail_c(i') / Z(i')  +  sum_|d|<=W h_c(i-d)(d) A(i - d) / Z(i - d).

Kernels are compiled for either form: a `Reach` that is None leaves out what only the other form has.
"""

from typing import NamedTuple

import numpy as np

from aligntools.ground.compiler import kernel

#: Half width of the jump window; jumps beyond share one value.
WINDOW = 9
#: Taps stored: ``2 * WINDOW + 1`` jumps, ``g(d)`` at ``d + WINDOW``, then a zero: 20, as ``convolve`` needs.
TAPS = 2 * WINDOW + 2
#: A row of jump parameters: the taps, the tail, ``WINDOW + 1`` first positions, the first position's tail.
TAIL = TAPS
FIRST = TAPS + 1
FIRST_TAIL = FIRST + WINDOW + 1
JUMP_SIZE = FIRST_TAIL + 1
#: Vectors are padded to a multiple of this many floats.
LANES = 16


class Jumps(NamedTuple):
    """Jump parameters: of both directions, forward first, each array with one more axis; in the recursions of one.

    rows (float32 [classes, JUMP_SIZE]): One row, or one for each class of words. Row 0 has the first positions and is
        that of words without a class.
    taps, back_taps (float32 [classes, TAPS]): ``h(d)`` and ``h(-d)``.
    """

    rows: np.ndarray
    taps: np.ndarray
    back_taps: np.ndarray


class Reach(NamedTuple):
    """What leaves each position of a sentence, where jumps depend on the class of the word there.

    s_classes, t_classes (int16 [n_words + 1]): Class of each source word, and of each target word; the last ones of
        unknown words.
    classes (int16 [>= length]).
    steps (float32 [2 * WINDOW + 1, >= width]): ``h_c(d)`` by jump and position, 0 in the padding.
    tails (float32 [>= width]): ``tail_c``, 0 in the padding.
    """

    s_classes: np.ndarray
    t_classes: np.ndarray
    classes: np.ndarray
    steps: np.ndarray
    tails: np.ndarray


@kernel(part=True)
def padded(length):
    """Return a row's width: ``length`` up to a multiple of LANES."""
    return (length + LANES - 1) // LANES * LANES


@kernel(part=True)
def lay_out(jumps, classes, given, width, reach):
    """Write what leaves each position of a sentence, where words have classes.

    classes (int16 [n_words + 1]), given (int32 [length]), reach (Reach, output).
    """
    length = given.shape[0]
    for i in range(length):
        reach.classes[i] = classes[given[i]]
        reach.tails[i] = jumps.rows[reach.classes[i], TAIL]
    for i in range(length, width):
        reach.tails[i] = 0.0
    for tap in range(2 * WINDOW + 1):
        for i in range(length):
            reach.steps[tap, i] = jumps.taps[reach.classes[i], tap]
        for i in range(length, width):
            reach.steps[tap, i] = 0.0


@kernel(inline=True, owning=False)
def convolve(taps, padded, base, width, out):
    """Compute ``out[i] = base + sum_d taps[d + W] * padded[i - d]``.

    taps (float32 [TAPS]).
    padded (float32 [width + 2 * WINDOW + 2]): Index 0 lies at ``WINDOW + 1``: one more zero than the window keeps the
        last, empty tap in range.
    width (int): A multiple of LANES.
    """
    h0, h1, h2, h3, h4 = taps[0], taps[1], taps[2], taps[3], taps[4]
    h5, h6, h7, h8, h9 = taps[5], taps[6], taps[7], taps[8], taps[9]
    near = padded[TAPS - 10 :][: width + 10]
    for i in range(width):
        out[i] = (
            base
            + h0 * near[i + 9]
            + h1 * near[i + 8]
            + h2 * near[i + 7]
            + h3 * near[i + 6]
            + h4 * near[i + 5]
            + h5 * near[i + 4]
            + h6 * near[i + 3]
            + h7 * near[i + 2]
            + h8 * near[i + 1]
            + h9 * near[i]
        )
    g0, g1, g2, g3, g4 = taps[10], taps[11], taps[12], taps[13], taps[14]
    g5, g6, g7, g8, g9 = taps[15], taps[16], taps[17], taps[18], taps[19]
    far = padded[TAPS - 20 :][: width + 10]
    for i in range(width):
        out[i] += (
            g0 * far[i + 9]
            + g1 * far[i + 8]
            + g2 * far[i + 7]
            + g3 * far[i + 6]
            + g4 * far[i + 5]
            + g5 * far[i + 4]
            + g6 * far[i + 3]
            + g7 * far[i + 2]
            + g8 * far[i + 1]
            + g9 * far[i]
        )


@kernel(inline=True, owning=False)
def spread(reach, before, mass, room, out):
    """Compute a step where words have classes: ``out[i] = mass + sum_d steps[d, i - d] * before[i - d]``.

    before, out (float32 [width]), room (float32 [width + 2 * WINDOW], scratch).
    """
    width = before.shape[0]
    room[:] = mass
    for tap in range(2 * WINDOW + 1):
        there, steps = room[tap:][:width], reach.steps[tap]
        for i in range(width):
            there[i] += steps[i] * before[i]
    for i in range(width):
        out[i] = room[WINDOW + i]


@kernel(inline=True, owning=False)
def collect(reach, ahead, mass, out):
    """Compute the same step back: ``out[i] = tail * mass + sum_d steps[d, i] * ahead[i + d]``.

    ahead (float32 [width + 2 * WINDOW + 2]): Padded as for `convolve`.
    out (float32 [width]).
    """
    width = out.shape[0]
    for i in range(width):
        out[i] = reach.tails[i] * mass
    for tap in range(2 * WINDOW + 1):
        there, steps = ahead[tap + 1 :][:width], reach.steps[tap]
        for i in range(width):
            out[i] += steps[i] * there[i]


@kernel(inline=True, owning=False)
def normalizer(row, i, length):
    """Return ``1 / Z(i)``: one over the sum of ``g`` from position ``i`` to all that exist; ``row`` is [JUMP_SIZE]."""
    tail = row[TAIL]
    total = np.float32(0.0)
    low, high = max(-WINDOW, -i), min(WINDOW, length - 1 - i)
    for d in range(low, high + 1):
        total += row[d + WINDOW]
    total += tail * (length - (high - low + 1))
    return np.float32(1.0) / total


@kernel(part=True)
def first_positions(jumps, length, width, first, inverse):
    """Write the distribution of the first position, and zeros to the padding; return what it was divided by."""
    total = np.float32(0.0)
    for i in range(length):
        first[i] = jumps[FIRST + min(i, WINDOW)] if i <= WINDOW else jumps[FIRST_TAIL]
        total += first[i]
    for i in range(length):
        first[i] /= total
    for i in range(length, width):
        first[i] = 0.0
        inverse[i] = 0.0
    return total


@kernel(part=True)
def count_step(before, ahead, row, mass, jumps, leaving, jump_counts):
    """Count the jumps of one step, each an ``A(i') / Z(i') h(d) beta(i)`` of the window, and the tail's rest.

    before (float32 [width]): ``A(i') / Z(i')`` before the step.
    ahead (float32 [width + 2 W + 2]): ``p(word | i) beta(i)`` after it, padded; ``mass`` is its sum, ``row`` its
        convolution.
    leaving (float32 [width], added to): How often each position was left, over its ``Z``.
    """
    width = before.shape[0]
    total = np.float32(0.0)
    for i in range(width):
        total += before[i]
        leaving[i] += before[i] * row[i]
    inside = 0.0
    for tap in range(2 * WINDOW + 1):
        there = ahead[tap + 1 :][:width]
        x = np.float32(0.0)
        for i in range(width):
            x += before[i] * there[i]
        jump_counts[0, tap] += np.float64(x) * jumps[tap]
        inside += x
    outside = np.float64(jumps[TAIL]) * (np.float64(total) * mass - inside)
    jump_counts[0, TAIL] += max(outside, 0.0)


@kernel(part=True)
def count_step_by_class(before, ahead, row, mass, rows, reach, length, leaving, jump_counts):
    """Count the jumps of one step by the class that is left, as `count_step` does those of all words.

    ``rows`` are those of `Jumps`, ``jump_counts`` is [classes, 2, JUMP_SIZE].
    """
    for i in range(before.shape[0]):
        leaving[i] += before[i] * row[i]
    for i in range(length):
        c = reach.classes[i]
        inside = np.float32(0.0)
        for tap in range(2 * WINDOW + 1):
            x = ahead[tap + 1 + i]
            jump_counts[c, 0, tap] += np.float64(before[i] * x) * rows[c, tap]
            inside += x
        outside = np.float64(before[i]) * np.float64(reach.tails[i]) * (np.float64(mass) - np.float64(inside))
        jump_counts[c, 0, TAIL] += max(outside, 0.0)
