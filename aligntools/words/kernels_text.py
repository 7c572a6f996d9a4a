"""Compiled reading of text: lines found, checked and counted in one pass, words numbered in a second.

Two passes, because a line is only numbered when its counterpart in the other file is sound as well.
Both walk the bytes once; words are looked up in an open-addressing table whose slots hold half of the
word's hash beside its number, so that nearly every probe of a wrong slot ends there.
"""

import numpy as np

from aligntools.ground.compiler import kernel

_BASIS = np.uint64(0xCBF29CE484222325)  # FNV-1a
_PRIME = np.uint64(0x100000001B3)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HIGH = np.uint64(0xFFFFFFFF00000000)
_LOW = np.uint64(0x00000000FFFFFFFF)
_HALF = np.uint64(32)


@kernel(fast=False)
def _character_width(text, at):
    """Return the bytes of the UTF-8 character at ``at`` that begins with 0x80 or more; 0 if it is none."""
    lead = text[at]
    if lead < 0xC2 or lead > 0xF4:
        return 0
    width = 2 if lead < 0xE0 else (3 if lead < 0xF0 else 4)
    if at + width > text.size:
        return 0
    # The second byte's range shuts out overlong forms, surrogates and what lies beyond U+10FFFF.
    lowest = 0xA0 if lead == 0xE0 else (0x90 if lead == 0xF0 else 0x80)
    highest = 0x9F if lead == 0xED else (0x8F if lead == 0xF4 else 0xBF)
    if text[at + 1] < lowest or text[at + 1] > highest:
        return 0
    for k in range(2, width):
        if text[at + k] & 0xC0 != 0x80:
            return 0
    return width


@kernel(fast=False)
def scan_lines(text, at, bars, tab, table):
    """Describe the lines from ``at`` on, one row of ``table`` each, until the text or the table ends.

    text (uint8 [bytes]).
    at (int): Where a line begins.
    bars, tab (bool): Whether the word ``|||`` parts the two sides of a line, and whether a tab does.
    table (int64 [rows, 8]): Filled with: left side's begin and end, right side's begin and end, words left, words
        right, separators, 1 if all is UTF-8. Without a separator the whole line is the left side.
    Returns rows, at: Lines described, and where the next one begins.
    """
    size = text.size
    rows = 0
    while rows < table.shape[0] and at < size:
        begin = at
        left_end = right_begin = -1
        left_words = words = separators = 0
        valid = 1
        start = -1  # of the word under way
        while True:
            byte = text[at] if at < size else np.uint8(10)
            if byte > 32 and byte < 128:
                if start < 0:
                    start = at
                at += 1
                continue
            ends = byte == 10 or (byte == 13 and (at + 1 >= size or text[at + 1] == 10))
            if ends or byte == 32 or byte == 9:
                if start >= 0:
                    if bars and at - start == 3 and text[start] == text[start + 1] == text[start + 2] == 124:
                        separators += 1
                        if separators == 1:
                            left_end, right_begin, left_words, words = start, at, words, 0
                    else:
                        words += 1
                    start = -1
                if ends:
                    break
                if tab and byte == 9:
                    separators += 1
                    if separators == 1:
                        left_end, right_begin, left_words, words = at, at + 1, words, 0
                at += 1
                continue
            if start < 0:
                start = at
            width = 1
            if byte >= 128:
                width = _character_width(text, at)
                if width == 0:
                    valid = 0
                    width = 1
            at += width
        if separators == 0:
            left_end, right_begin, left_words, words = at, at, words, 0
        table[rows, 0], table[rows, 1], table[rows, 2], table[rows, 3] = begin, left_end, right_begin, at
        table[rows, 4], table[rows, 5], table[rows, 6], table[rows, 7] = left_words, words, separators, valid
        rows += 1
        if at < size and text[at] == 13:
            at += 1
        at += 1
    return rows, min(at, size)


@kernel(fast=False)
def encode_lines(text, table, side, keep, row, tokens, used, blob, starts, slots):
    """Number the words of one side of the kept lines; stop before a line that the arrays may not hold.

    text, table: As given to and filled by `scan_lines`.
    side (int): 0 for the left side, 1 for the right.
    keep (bool [rows]).
    row (int): First row to work on.
    tokens (int32 [words of the kept lines]): Filled with word numbers.
    used (int64 [3]): Tokens, words (with NULL) and bytes of ``blob`` in use; brought up to date.
    blob, starts (uint8): The words, joined, and where each begins; new ones are appended.
    slots (uint64 [a power of two]): Half of a word's hash above its number; 0 is free.
    Returns the row to go on with once the arrays have grown; ``len(keep)`` when done.
    """
    mask = np.uint64(slots.size - 1)
    limit = min(starts.size - 1, slots.size // 2)
    count, words, filled = used[0], used[1], used[2]
    while row < keep.size:
        if keep[row]:
            at = table[row, 2 * side]
            end = table[row, 2 * side + 1]
            if words + table[row, 4 + side] > limit or filled + end - at > blob.size:
                break
            while True:
                while at < end and (text[at] == 32 or text[at] == 9):
                    at += 1
                if at >= end:
                    break
                begin = at
                code = _BASIS
                while at < end and text[at] != 32 and text[at] != 9:
                    code = (code ^ np.uint64(text[at])) * _PRIME
                    at += 1
                code = (code ^ (code >> _HALF)) * _MIX
                place = (code >> _HALF) & mask
                word = 0
                while True:
                    slot = slots[place]
                    if slot == 0:
                        word = words
                        slots[place] = (code << _HALF) | np.uint64(word)
                        for k in range(begin, at):
                            blob[filled + k - begin] = text[k]
                        filled += at - begin
                        words += 1
                        starts[words] = filled
                        break
                    if (slot ^ (code << _HALF)) & _HIGH == 0:
                        word = np.int64(slot & _LOW)
                        first = starts[word]
                        same = starts[word + 1] - first == at - begin
                        k = 0
                        while same and k < at - begin:
                            same = blob[first + k] == text[begin + k]
                            k += 1
                        if same:
                            break
                    place = (place + np.uint64(1)) & mask
                tokens[count] = word
                count += 1
        row += 1
    used[0], used[1], used[2] = count, words, filled
    return row


@kernel(fast=False)
def fill_slots(blob, starts, words, slots):
    """Enter words ``1..words-1`` in an empty table of slots, as `encode_lines` looks for them."""
    mask = np.uint64(slots.size - 1)
    for word in range(1, words):
        code = _BASIS
        for k in range(starts[word], starts[word + 1]):
            code = (code ^ np.uint64(blob[k])) * _PRIME
        code = (code ^ (code >> _HALF)) * _MIX
        place = (code >> _HALF) & mask
        while slots[place] != 0:
            place = (place + np.uint64(1)) & mask
        slots[place] = (code << _HALF) | np.uint64(word)
