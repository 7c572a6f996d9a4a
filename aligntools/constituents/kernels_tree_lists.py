"""Compiled: what lists of trees need besides one chart: all ways to a symbol, and trees that are drawn.

The k best trees are found from the ways to a symbol (`listing`). A tree is drawn from the inside by going down: each
choice is made in proportion to what the inside sums there. A derivation is a list of *steps*, parents before children
and left before right: symbol, rule (-1 of a tag), and the steps of the children (-1 for none).
"""

import math
from typing import NamedTuple

import numpy as np

from aligntools.constituents.kernels_best import root_score, with_binary, with_unary
from aligntools.constituents.kernels_chart import cell_of
from aligntools.ground.compiler import kernel

#: Columns of steps.
SYMBOL, RULE, LEFT, RIGHT = range(4)
#: What a draw still has to do: symbol, state, span, whether the upper layer, the step above and its column.
WAITING = 7


class Readings(NamedTuple):
    """Ways to a symbol in a layer of a cell."""

    rules: np.ndarray  # int32 [most]
    places: np.ndarray  # int32 [most]: where children part
    scores: np.ndarray  # float64 [most]: of the rules alone


@kernel(owning=False)
def ways_below(i, j, p, rules, members, charts, chart, best, found):
    """Write the ways to a symbol in the lower layer of a span of several words; return how many there are."""
    cell, count = cell_of(i, j), 0
    if not chart.allowed[cell, p]:
        return count
    for k in range(i + 1, j):
        a, b = cell_of(i, k), cell_of(k, j)
        for place in range(chart.n_live[a]):
            l = chart.live[a, place]  # noqa: E741
            if best.upper[a, l] == -math.inf:
                continue
            for r in range(rules.by_left[l], rules.by_left[l + 1]):
                if rules.binary[r, 0] != p or best.upper[b, rules.binary[r, 2]] == -math.inf:
                    continue
                value = with_binary(0.0, -math.inf, r, cell, a, b, members, charts)
                if value > -math.inf:
                    found.rules[count], found.places[count], found.scores[count] = r, k, value
                    count += 1
    return count


@kernel(owning=False)
def ways_above(cell, p, rules, members, charts, chart, best, found):
    """Write the unary rules to a symbol in the upper layer of a cell; return how many there are."""
    count = 0
    if not chart.allowed[cell, p]:
        return count
    for r in range(len(rules.unary)):
        if rules.unary[r, 0] != p or best.lower[cell, rules.unary[r, 1]] == -math.inf:
            continue
        value = with_unary(0.0, -math.inf, r, cell, members, charts)
        if value > -math.inf:
            found.rules[count], found.places[count], found.scores[count] = r, 0, value
            count += 1
    return count


@kernel(owning=False)
def tops(cell, members, charts, scores):
    """Write for each symbol what it scores above a sentence."""
    for c in range(len(scores)):
        scores[c] = root_score(c, cell, members, charts)


@kernel(owning=False)
def draw(n, rules, chart, uniform, waiting, steps):
    """Draw a derivation from a chart with inside; return how many steps it has.

    uniform (float64 [3 n]): From 0 to 1; one for each choice.
    waiting (int64 [2 n, 7]), steps (int32 [4 n, 4]).
    """
    top, total, used, count = cell_of(0, n), 0.0, 1, 0
    for s in range(len(rules.roots)):
        total += rules.roots[s] * chart.upper[top, s]
    left, symbol, state = uniform[0] * total, 0, 0
    for c in range(len(rules.first) - 1):
        for s in range(rules.first[c], rules.first[c + 1]):
            value = rules.roots[s] * chart.upper[top, s]
            if left >= 0 and value > 0:
                symbol, state = c, s
                left -= value
    _wait(waiting, 0, symbol, state, 0, n, 1, -1, LEFT)
    depth = 1
    while depth > 0:
        depth -= 1
        p, x, i, j = waiting[depth, 0], waiting[depth, 1], waiting[depth, 2], waiting[depth, 3]
        upper, above, column = waiting[depth, 4], waiting[depth, 5], waiting[depth, 6]
        if upper == 1:
            r, y = _draw_above(cell_of(i, j), p, x, rules, chart, uniform[used])
            used += 1
            if r < 0:
                _wait(waiting, depth, p, x, i, j, 0, above, column)
            else:
                _step(steps, count, p, r, above, column)
                _wait(waiting, depth, rules.unary[r, 1], y, i, j, 0, count, LEFT)
                count += 1
            depth += 1
        elif j - i == 1:
            _step(steps, count, p, -1, above, column)
            count += 1
        else:
            r, k, y, z = _draw_below(i, j, p, x, rules, chart, uniform[used])
            used += 1
            _step(steps, count, p, r, above, column)
            _wait(waiting, depth, rules.binary[r, 2], z, k, j, 1, count, RIGHT)
            _wait(waiting, depth + 1, rules.binary[r, 1], y, i, k, 1, count, LEFT)
            depth += 2
            count += 1
    return count


@kernel(inline=True)
def _wait(waiting, at, symbol, state, i, j, upper, above, column):
    """Note what is to be drawn later."""
    waiting[at, 0], waiting[at, 1], waiting[at, 2], waiting[at, 3] = symbol, state, i, j
    waiting[at, 4], waiting[at, 5], waiting[at, 6] = upper, above, column


@kernel(inline=True)
def _step(steps, at, symbol, rule, above, column):
    """Write a step, and where it is into the one above."""
    steps[at, SYMBOL], steps[at, RULE], steps[at, LEFT], steps[at, RIGHT] = symbol, rule, -1, -1
    if above >= 0:
        steps[above, column] = at


@kernel(inline=True)
def _draw_above(cell, p, x, rules, chart, u):
    """Draw the unary rule above a state in the upper layer, -1 for none, and the child's state."""
    left = u * chart.upper[cell, x] - chart.lower[cell, x]
    rule, child = -1, 0
    # where rounding leaves a rest, the last that has a probability is taken
    if chart.allowed[cell, p]:
        for r in range(len(rules.unary)):
            if left < 0:
                break
            if rules.unary[r, 0] != p:
                continue
            for e in range(rules.unary_at[r], rules.unary_at[r + 1]):
                y = rules.unary_states[e, 1]
                value = rules.unary_weights[e] * chart.lower[cell, y]
                if rules.unary_states[e, 0] == x and left >= 0 and value > 0:
                    rule, child = r, y
                    left -= value
    return rule, child


@kernel(inline=True)
def _draw_below(i, j, p, x, rules, chart, u):
    """Draw the binary rule of a state in the lower layer, where its children part, and their states."""
    cell = cell_of(i, j)
    left = u * chart.lower[cell, x]
    rule, place, first, second = -1, i + 1, 0, 0
    for k in range(i + 1, j):
        a, b = cell_of(i, k), cell_of(k, j)
        factor = math.exp(chart.scale[a] + chart.scale[b] - chart.scale[cell])
        if factor == 0:
            continue
        if left < 0:
            break
        for live in range(chart.n_live[a]):
            l = chart.live[a, live]  # noqa: E741
            for r in range(rules.by_left[l], rules.by_left[l + 1]):
                if left < 0 or rules.binary[r, 0] != p:
                    continue
                for e in range(rules.binary_at[r], rules.binary_at[r + 1]):
                    above, y, z = rules.binary_states[e]
                    value = factor * rules.binary_weights[e] * chart.upper[a, y] * chart.upper[b, z]
                    if above == x and left >= 0 and value > 0:
                        rule, place, first, second = r, k, y, z
                        left -= value
    return rule, place, first, second
