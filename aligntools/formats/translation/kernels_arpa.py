"""Compiled reading and writing of the n-gram sections of ARPA files."""

import numpy as np

from aligntools.formats.links.kernels_pharaoh import write_number
from aligntools.ground.compiler import kernel

_BASIS = np.uint64(0xCBF29CE484222325)  # FNV-1a
_PRIME = np.uint64(0x100000001B3)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_HALF = np.uint64(32)

#: What `parse_ngrams` stopped at.
END, SECTION, FIELDS, NUMBER, WORD, POSITIVE, FULL, CONTROL = range(8)


@kernel(inline=True)
def _code(text, begin, end):
    code = _BASIS
    for k in range(begin, end):
        code = (code ^ np.uint64(text[k])) * _PRIME
    return (code ^ (code >> _HALF)) * _MIX


@kernel(inline=True)
def _find(text, begin, end, blob, starts, slots):
    """Return a word's id, or -1 if it has none, and the slot where it is or would be."""
    mask = np.uint64(slots.size - 1)
    place = (_code(text, begin, end) >> _HALF) & mask
    while slots[place] >= 0:
        word = slots[place]
        first = starts[word]
        if starts[word + 1] - first == end - begin:
            k = 0
            while k < end - begin and blob[first + k] == text[begin + k]:
                k += 1
            if k == end - begin:
                return np.int64(word), place
        place = (place + _ONE) & mask
    return np.int64(-1), place


@kernel(fast=False)
def index_words(blob, starts, slots):
    """Enter words in an empty table of slots (-1 is free); return the first that comes twice, or -1.

    blob, starts (uint8 [words + 1]), slots (int32 [a power of two above the number of words]).
    """
    for word in range(starts.size - 1):
        found, place = _find(blob, starts[word], starts[word + 1], blob, starts, slots)
        if found >= 0:
            return word
        slots[place] = word
    return -1


@kernel(fast=False, inline=True)
def _number(text, begin, end):
    """Return a number and 1, or 0 and 0 if there is none."""
    at = begin
    negative = False
    if at < end and (text[at] == 45 or text[at] == 43):
        negative = text[at] == 45
        at += 1
    if end - at == 3 and text[at] | 32 == 105 and text[at + 1] | 32 == 110 and text[at + 2] | 32 == 102:  # inf
        return (-np.inf if negative else np.inf), 1
    value = 0.0
    digits = 0
    while at < end and 48 <= text[at] <= 57:
        value = value * 10.0 + (text[at] - 48)
        digits += 1
        at += 1
    power = 0
    if at < end and text[at] == 46:
        at += 1
        while at < end and 48 <= text[at] <= 57:
            value = value * 10.0 + (text[at] - 48)
            digits += 1
            power -= 1
            at += 1
    if digits == 0:
        return 0.0, 0
    if at < end and text[at] | 32 == 101:
        at += 1
        sign = 1
        if at < end and (text[at] == 45 or text[at] == 43):
            sign = -1 if text[at] == 45 else 1
            at += 1
        if at >= end:
            return 0.0, 0
        exponent = 0
        while at < end and 48 <= text[at] <= 57:
            exponent = min(exponent * 10 + (text[at] - 48), 10000)
            at += 1
        power += sign * exponent
    if at < end:
        return 0.0, 0
    if power < 0:
        value = value / 10.0**-power if power > -300 else 0.0
    elif power > 0:
        value = value * 10.0**power
    return (-value if negative else value), 1


@kernel(fast=False)
def parse_ngrams(text, at, blob, starts, slots, spans, ids, logs, lines):
    """Read lines of one section until the arrays are full, the text ends or something else comes.

    text (uint8 [bytes]), at (int): Whole lines, and where one begins. blob, starts, slots: See `index_words`.
    spans (int64 [rows, 2]): For unigrams filled with where each word begins and ends.
    ids (int32 [rows, k]): Filled with words by number, first word first; not for unigrams.
    logs (float32 [rows, 2]): Filled with the two numbers as they stand there; 0 for the second where it is missing.
    lines (int64 [1]): Line ends that were passed are added.
    Returns how many rows were read, where to continue, and why: ``END`` of the text, ``SECTION`` (a line that begins
    with a backslash), ``FULL``, or what is wrong with a line.
    """
    size = text.size
    order = ids.shape[1]
    rows = 0
    while at < size:
        begin = end = at
        while end < size and text[end] != 10:
            end += 1
        fields = second_at = second_end = 0
        unknown = False
        while True:
            while at < end and (text[at] == 32 or text[at] == 9 or text[at] == 13):
                at += 1
            if at >= end:
                break
            first = at
            while at < end and text[at] != 32 and text[at] != 9 and text[at] != 13:
                at += 1
            if fields == 0:
                if text[first] == 92:
                    return rows, begin, SECTION
                if rows == ids.shape[0]:
                    return rows, begin, FULL
                value, good = _number(text, first, at)
                if good == 0:
                    return rows, begin, NUMBER
                if value > 0:
                    return rows, begin, POSITIVE
                logs[rows, 0] = value
            elif fields <= order:
                if order == 1:
                    spans[rows, 0], spans[rows, 1] = first, at
                else:
                    word, _ = _find(text, first, at, blob, starts, slots)
                    unknown = unknown or word < 0
                    ids[rows, fields - 1] = word
            else:
                second_at, second_end = first, at
            fields += 1
        if fields:
            if fields != order + 1 and fields != order + 2:
                return rows, begin, FIELDS
            if unknown:
                return rows, begin, WORD
            logs[rows, 1] = 0
            if fields == order + 2:
                value, good = _number(text, second_at, second_end)
                if good == 0 or value == np.inf:
                    return rows, begin, NUMBER
                logs[rows, 1] = value
            rows += 1
        if end < size:
            lines[0] += 1
        at = min(end + 1, size)
    return rows, at, END


@kernel(fast=False, inline=True)
def _write_number(value, out, at):
    """Write a number to seven decimals, without zeros at its end; return where it ends."""
    if value < 0:
        out[at] = 45
        at += 1
        value = -value
    whole = np.int64(np.floor(value * 1e7 + 0.5))
    right = whole % 10000000
    at = write_number(whole // 10000000, out, at)
    if right:
        out[at] = 46
        for k in range(7, 0, -1):
            out[at + k] = 48 + right % 10
            right //= 10
        at += 7
        while out[at] == 48:
            at -= 1
        at += 1
    return at


@kernel(fast=False)
def format_ngrams(blob, starts, ids, logs, backoffs, out):
    """Write a line for each n-gram, with the second number for ``backoffs``; return the bytes written.

    blob, starts: Of the words. ids (int32 [rows, k]), logs (float32 [rows, 2]): From -1e6 to 1e6.
    out (uint8): Large enough: 40 bytes a line, and a word and a byte for each id.
    """
    at = 0
    for row in range(ids.shape[0]):
        at = _write_number(np.float64(logs[row, 0]), out, at)
        for k in range(ids.shape[1]):
            out[at] = 9 if k == 0 else 32
            at += 1
            for place in range(starts[ids[row, k]], starts[ids[row, k] + 1]):
                out[at] = blob[place]
                at += 1
        if backoffs:
            out[at] = 9
            at = _write_number(np.float64(logs[row, 1]), out, at + 1)
        out[at] = 10
        at += 1
    return at
