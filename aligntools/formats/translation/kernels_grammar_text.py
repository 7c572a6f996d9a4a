"""Compiled writing of grammars in text form."""

import math

import numpy as np

from aligntools.formats.translation.kernels_grammar import HIERO, MOSES
from aligntools.ground.compiler import kernel


@kernel(fast=False)
def _write_integer(value, out, at):
    """Write a whole number from 0 on; return where it ends."""
    power = np.int64(1)
    while value // power >= 10:
        power *= 10
    while power > 0:
        out[at] = 48 + value // power % 10
        at += 1
        power //= 10
    return at


@kernel(fast=False)
def _write_fraction(units, width, out, at):
    """Write a point and ``width`` decimals without the zeros at the end; nothing for 0."""
    if units == 0:
        return at
    while units % 10 == 0:
        units //= 10
        width -= 1
    out[at] = 46
    for k in range(width):
        out[at + width - k] = 48 + units % 10
        units //= 10
    return at + width + 1


@kernel(fast=False, inline=True)
def _write_decimal(value, out, at):
    """Write a number with at most five decimals."""
    units = np.int64(math.floor(abs(value) * 1e5 + 0.5))
    if units > 0 and value < 0:
        out[at] = 45
        at += 1
    at = _write_integer(units // 100000, out, at)
    return _write_fraction(units % 100000, 5, out, at)


@kernel(fast=False, inline=True)
def _write_probability(value, out, at):
    """Write ``exp(value)``, as ``0.25`` or ``3.2e-07``, with as few figures as give back its log, up to seven."""
    probability = math.exp(min(max(value, -700.0), 700.0))
    power = np.int64(math.floor(math.log10(probability)))
    scaled = probability / 10.0**power * 1e6
    units = np.int64(math.floor(scaled + 0.5))
    rounded = math.floor(math.log(probability) * 1e5 + 0.5)
    step = np.int64(1000000)
    while step > 1:
        few = (units + step // 2) // step * step
        if math.floor((math.log(few / scaled) + math.log(probability)) * 1e5 + 0.5) == rounded:
            units = few
            break
        step //= 10
    if units >= 10000000:
        units //= 10
        power += 1
    if power > 15 or power < -5:
        at = _write_integer(units // 1000000, out, at)
        at = _write_fraction(units % 1000000, 6, out, at)
        out[at] = 101
        out[at + 1] = 45 if power < 0 else 43
        at += 2
        if abs(power) < 10:
            out[at] = 48
            at += 1
        return _write_integer(abs(power), out, at)
    if power < 0:
        out[at] = 48
        return _write_fraction(units, 6 - power, out, at + 1)
    if power > 6:
        for _ in range(power - 6):
            units *= 10
        return _write_integer(units, out, at)
    scale = np.int64(1)
    for _ in range(6 - power):
        scale *= 10
    at = _write_integer(units // scale, out, at)
    return _write_fraction(units % scale, 6 - power, out, at)


@kernel(fast=False)
def _write_bar(out, at):
    out[at] = 32
    out[at + 1] = 124
    out[at + 2] = 124
    out[at + 3] = 124
    out[at + 4] = 32
    return at + 5


@kernel(fast=False)
def _write_side(style, symbols, begin, end, blob, starts, out, at):
    """Write the symbols of a side, with spaces between them."""
    for k in range(begin, end):
        if k > begin:
            out[at] = 32
            at += 1
        symbol = symbols[k]
        if symbol > 0:
            for place in range(starts[symbol], starts[symbol + 1]):
                out[at] = blob[place]
                at += 1
            continue
        out[at] = 91
        out[at + 1] = 88
        if style == MOSES:
            out[at + 2] = 93
            out[at + 3] = 91
            out[at + 4] = 88
            out[at + 5] = 93
            at += 6
        else:
            out[at + 2] = 44
            out[at + 3] = 48 - symbol
            out[at + 4] = 93
            at += 5
    if style == MOSES:
        out[at] = 32
        out[at + 1] = 91
        out[at + 2] = 88
        out[at + 3] = 93
        at += 4
    return at


@kernel(fast=False)
def _write_link(i, j, out, at):
    at = _write_integer(np.int64(i), out, at)
    out[at] = 45
    return _write_integer(np.int64(j), out, at + 1)


@kernel(fast=False)
def write_rules(
    style,
    begin,
    end,
    source_offsets,
    source,
    target_offsets,
    target,
    source_blob,
    source_starts,
    target_blob,
    target_starts,
    features,
    names,
    names_at,
    columns,
    links_offsets,
    links,
    counts,
    out,
):
    """Write the rules ``begin`` to ``end`` as text; see `aligntools.formats.translation.grammar`.

    style (int): `HIERO` or `MOSES`.
    source_blob, source_starts, target_blob, target_starts: Of the vocabularies.
    features (float32 [rules, features]), names, names_at (uint8 [features + 1]).
    columns (int64 [features]): Their order in the text.
    links_offsets, links (int64 [rules + 1]), counts (float64 [rules or 0, 3]), out (uint8).
    Returns bytes written.
    """
    at = 0
    for rule in range(begin, end):
        if style == HIERO:
            out[at] = 91
            out[at + 1] = 88
            out[at + 2] = 93
            at = _write_bar(out, at + 3)
        s1, s2 = source_offsets[rule], source_offsets[rule + 1]
        t1, t2 = target_offsets[rule], target_offsets[rule + 1]
        at = _write_side(style, source, s1, s2, source_blob, source_starts, out, at)
        at = _write_bar(out, at)
        at = _write_side(style, target, t1, t2, target_blob, target_starts, out, at)
        at = _write_bar(out, at)
        for k in range(columns.size):
            if k > 0:
                out[at] = 32
                at += 1
            column = columns[k]
            if style == MOSES:
                at = _write_probability(float(features[rule, column]), out, at)
            else:
                for place in range(names_at[column], names_at[column + 1]):
                    out[at] = names[place]
                    at += 1
                out[at] = 61
                at = _write_decimal(float(features[rule, column]), out, at + 1)
        link = links_offsets[rule]
        last = links_offsets[rule + 1]
        if style == MOSES:
            at = _write_bar(out, at)
            written = 0
            for i in range(s1, s2):
                if source[i] < 0:
                    for j in range(t1, t2):
                        if target[j] == source[i]:
                            if written > 0:
                                out[at] = 32
                                at += 1
                            at = _write_link(i - s1, j - t1, out, at)
                            written += 1
                while link < last and links[link, 0] <= i - s1:
                    if written > 0:
                        out[at] = 32
                        at += 1
                    at = _write_link(links[link, 0], links[link, 1], out, at)
                    written += 1
                    link += 1
            at = _write_bar(out, at)
            if counts.shape[0] > 0:
                for k in range(3):
                    if k > 0:
                        out[at] = 32
                        at += 1
                    at = _write_decimal(counts[rule, k], out, at)
            at = _write_bar(out, at)
            out[at] = 124
            out[at + 1] = 124
            out[at + 2] = 124
            at += 3
        elif link < last:
            at = _write_bar(out, at)
            for k in range(link, last):
                if k > link:
                    out[at] = 32
                    at += 1
                at = _write_link(links[k, 0], links[k, 1], out, at)
        out[at] = 10
        at += 1
    return at
