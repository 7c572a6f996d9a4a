"""Compiled: features of edges as hashed integers, made where they are used and never stored.

A template looks at the head's side and at the modifier's side; each side of each position has a 64-bit key. The
feature of an edge is the two keys and the direction mixed into one number, whose top bits choose a line of 8
weights (64 bytes, one cache line) in the template's own region, and whose low bits choose two of the 8: one for the
feature as it is, one for the feature with the distance. So an edge costs a template one access to memory.

Because templates own their regions, the gradient is cut by template: every region is one thread's, no block of
sentences needs a gradient of its own, and what is added up is added in the order of the sentences.

Positions are words with each sentence's root before them: sentence s has the positions ``starts[s]`` (the root) to
``starts[s] + lengths[s]``. Layers (words, tags, ...) are int32 [layers, positions].
"""

import numpy as np

from aligntools.ground.compiler import kernel

#: Weights in a line, and the offset of an atom's position is kept with this added.
LINE, ORIGIN, ATOM = 8, 3, 8
_ONE, _THREE, _SEVEN = np.uint64(1), np.uint64(3), np.uint64(7)
_S27, _S30, _S31 = np.uint64(27), np.uint64(30), np.uint64(31)
GOLDEN, _MIX1, _MIX2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
#: What is mixed in for a head to the right of its modifier.
_LEFTWARD = np.uint64(0xD6E8FEB86659FD93)


@kernel(inline=True)
def _mix(x):
    """Scramble 64 bits (Steele, Lea & Flood 2014)."""
    x = (x ^ (x >> _S30)) * _MIX1
    x = (x ^ (x >> _S27)) * _MIX2
    return x ^ (x >> _S31)


@kernel(inline=True)
def _keys(layers, start, n, atoms, seed, keys):
    """Write the keys of a template's side for the root and the n words; -1 stands for what is past the ends."""
    for i in range(n + 1):
        x = seed
        for a in range(len(atoms)):
            if atoms[a] < 0:
                break
            j = i + atoms[a] % ATOM - ORIGIN
            value = layers[atoms[a] // ATOM, start + j] if 0 <= j <= n else -1
            x = _mix((x ^ np.uint64(value)) + GOLDEN)
        keys[i] = x


@kernel(inline=True)
def prepare_keys(layers, start, n, sides, seeds, heads, right, left):
    """Write the keys of heads and of modifiers to the right and to the left of their head."""
    _keys(layers, start, n, sides[0], seeds[0], heads)
    _keys(layers, start, n, sides[1], seeds[1], right)
    for i in range(n + 1):
        left[i] = _mix(right[i] ^ _LEFTWARD)


@kernel(inline=True)
def _collect(layer, position, seed, stamps, stamp, found, count):
    """Add a tag's key to those found, unless it is there; return how many there are."""
    value = layer[position]
    if stamps[value] == stamp:
        return count
    stamps[value] = stamp
    found[count] = _mix(seed + np.uint64(value) * GOLDEN)
    return count + 1


@kernel(inline=True)
def _look_up(weights, x, shift, distance):
    """Return a feature's weight with and without the distance."""
    x = x * GOLDEN
    line = (x >> shift) << _THREE
    slot = x & _SEVEN
    return weights[line | slot] + weights[line | (slot ^ distance)]


@kernel(inline=True)
def _add(gradient, x, shift, distance, value):
    x = x * GOLDEN
    line = (x >> shift) << _THREE
    slot = x & _SEVEN
    gradient[line | slot] += value
    gradient[line | (slot ^ distance)] += value


@kernel
def add_scores(sentences, begin, end, templates, bins, weights, keys, stamps, scores):
    """Add the weights of all features to the scores of some sentences' edges.

    sentences: The arrays layers, starts, lengths, edges.
    templates: sides, between, seeds, regions, shifts.
    layers (int32 [layers, positions]): Values are 0 and up; of those that templates look for between words, below
        ``len(stamps)``.
    starts, lengths (int64 [sentences]), edges (int64 [sentences + 1]).
    begin, end (int): The sentences to do.
    sides (int32 [templates, 2, atoms]): Head's and modifier's atoms, each ``ATOM * layer + offset + ORIGIN``; -1 ends
        them.
    between (int32 [templates]): Layer whose values between head and modifier make a feature each, or -1.
    seeds (uint64 [templates, 3]).
    regions (int64 [templates, 2]): Where each template's weights begin and end.
    shifts (uint64 [templates]): 64 less the binary logarithm of the lines in the region.
    bins (uint64 [longest + 1]): Code of each distance, 1 to 7.
    weights (float64 [weights]).
    keys (uint64 [>= 3, >= longest + 1]): Scratch.
    stamps (int64 [values]): Scratch, of any content below 0.
    scores (float64 [edges]).
    """
    (layers, starts, lengths, edges), (sides, between, seeds, regions, shifts) = sentences, templates
    stamp = 0
    for t in range(len(between)):
        own = weights[regions[t, 0] : regions[t, 1]]
        shift = shifts[t]
        for s in range(begin, end):
            n = lengths[s]
            heads, right, left, found = keys[0], keys[1], keys[2], keys[3]
            prepare_keys(layers, starts[s], n, sides[t], seeds[t], heads, right, left)
            for m in range(1, n + 1):
                row = scores[edges[s] + (m - 1) * (n + 1) :][: n + 1]
                here = right[m]
                if between[t] < 0:
                    for h in range(m):
                        row[h] += _look_up(own, heads[h] ^ here, shift, bins[m - h])
                    here = left[m]
                    for h in range(m + 1, n + 1):
                        row[h] += _look_up(own, heads[h] ^ here, shift, bins[h - m])
                    continue
                layer = layers[between[t], starts[s] : starts[s] + n + 1]
                stamp += 1
                count = 0
                for h in range(m - 2, -1, -1):
                    count = _collect(layer, h + 1, seeds[t, 2], stamps, stamp, found, count)
                    total = 0.0
                    for b in range(count):
                        total += _look_up(own, heads[h] ^ here ^ found[b], shift, bins[m - h])
                    row[h] += total
                here = left[m]
                stamp += 1
                count = 0
                for h in range(m + 2, n + 1):
                    count = _collect(layer, h - 1, seeds[t, 2], stamps, stamp, found, count)
                    total = 0.0
                    for b in range(count):
                        total += _look_up(own, heads[h] ^ here ^ found[b], shift, bins[h - m])
                    row[h] += total


@kernel
def add_gradient(sentences, begin, end, template, bins, values, keys, stamps, gradient):
    """Add edges' values to all features of one template that they have.

    template: sides, between, seeds, shift.
    sides (int32 [2, atoms]), seeds (uint64 [3]), shift (uint64).
    values (float64 [edges]): Derivatives of the objective with respect to the edges' scores.
    gradient (float64 [weights of the template]): Added to.
    The others are as for `add_scores`.
    """
    (layers, starts, lengths, edges), (sides, between, seeds, shift) = sentences, template
    stamp = 0
    for s in range(begin, end):
        n = lengths[s]
        heads, right, left, found = keys[0], keys[1], keys[2], keys[3]
        prepare_keys(layers, starts[s], n, sides, seeds, heads, right, left)
        for m in range(1, n + 1):
            row = values[edges[s] + (m - 1) * (n + 1) :][: n + 1]
            here = right[m]
            if between < 0:
                for h in range(m):
                    _add(gradient, heads[h] ^ here, shift, bins[m - h], row[h])
                here = left[m]
                for h in range(m + 1, n + 1):
                    _add(gradient, heads[h] ^ here, shift, bins[h - m], row[h])
                continue
            layer = layers[between, starts[s] : starts[s] + n + 1]
            stamp += 1
            count = 0
            for h in range(m - 2, -1, -1):
                count = _collect(layer, h + 1, seeds[2], stamps, stamp, found, count)
                for b in range(count):
                    _add(gradient, heads[h] ^ here ^ found[b], shift, bins[m - h], row[h])
            here = left[m]
            stamp += 1
            count = 0
            for h in range(m + 2, n + 1):
                count = _collect(layer, h - 1, seeds[2], stamps, stamp, found, count)
                for b in range(count):
                    _add(gradient, heads[h] ^ here ^ found[b], shift, bins[h - m], row[h])
