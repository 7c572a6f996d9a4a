"""Compiled reading of grammars in text form."""

import math

import numpy as np

from aligntools.formats.links.kernels_pharaoh import write_number
from aligntools.ground.compiler import kernel

HIERO = 0
MOSES = 1

# what `scan_rules` finds wrong with a line
FEW_FIELDS = 1
LEFT_SIDE = 2
EMPTY_SIDE = 4
# what `settle_symbols` finds wrong with a rule
TWICE = 5
UNPAIRED = 6
# what `parse_features` finds wrong
BAD_NUMBER = 8
NEW_NAME = 9
NEW_UNNAMED = 10
NO_NAME = 11


@kernel(fast=False)
def _is_space(byte):
    return byte == 32 or byte == 9


@kernel(fast=False)
def _is_bar(text, at, begin, end):
    """Tell whether the word ``|||`` begins here, in a line of these bounds."""
    return (
        at + 3 <= end
        and text[at] == 124
        and text[at + 1] == 124
        and text[at + 2] == 124
        and (at == begin or _is_space(text[at - 1]))
        and (at + 3 == end or _is_space(text[at + 3]))
    )


@kernel(fast=False)
def scan_rules(text, at, style, table):
    """Find the fields of rules from ``at``, where a line begins, until the text or the table ends.

    text (uint8 [bytes]), style (int): `HIERO` or `MOSES`.
    table (int64 [rows, 16]): Filled with: begin and end of the source and of the target; words of each; begin and end
        of features, links and counts; begin and end of the line; 0 or what is wrong with it, -1 for a blank line; 0.
    Returns the lines described, and where the next one begins.
    """
    rows = 0
    size = text.size
    while rows < table.shape[0] and at < size:
        begin = at
        while at < size and text[at] != 10:
            at += 1
        stop = at
        at += 1
        end = stop
        if end > begin and text[end - 1] == 13:
            end -= 1
        for k in range(16):
            table[rows, k] = end if 5 < k < 12 else 0
        table[rows, 12] = begin
        table[rows, 13] = stop
        field = 1 if style == MOSES else 0
        place = start = begin
        last = last_end = begin  # where the last word of the field begins, and where it ends
        words = wrong = 0
        blank = True
        while True:
            while place < end and _is_space(text[place]):
                place += 1
            if place >= end or _is_bar(text, place, begin, end):
                if place < end:
                    blank = False
                three = words > 0 and last_end - last == 3
                left = three and text[last] == 91 and text[last + 1] == 88 and text[last + 2] == 93  # [X]
                if field == 0:
                    if not left or words > 1:
                        wrong = LEFT_SIDE
                elif field <= 2:
                    place_end = place
                    if style == MOSES:
                        if not left:
                            wrong = LEFT_SIDE
                        words -= 1
                        place_end = last
                    if words < 1 and wrong == 0:
                        wrong = EMPTY_SIDE
                    table[rows, 2 * field - 2] = start
                    table[rows, 2 * field - 1] = place_end
                    table[rows, 3 + field] = words
                elif field <= 5:
                    table[rows, 2 * field] = start
                    table[rows, 2 * field + 1] = place
                if place >= end:
                    break
                place += 3
                start = place
                words = 0
                field += 1
                continue
            blank = False
            last = place
            while place < end and not _is_space(text[place]):
                place += 1
            last_end = place
            words += 1
        if blank:
            wrong = -1
        elif field < 3:
            wrong = FEW_FIELDS
        table[rows, 14] = wrong
        rows += 1
    return rows, min(at, size)


@kernel(fast=False)
def parse_links(text, table, keep, source_lengths, target_lengths, out, offsets):
    """Read the links ``i-j`` of the rows that are kept; return the first row with something else, or -1.

    text, table: See `scan_rules`. keep (bool [rows]).
    source_lengths, target_lengths (int64 [rows kept]): Symbols of each side.
    out (uint8 [minus signs, 2]), offsets (int64 [rows kept + 1]).
    """
    count = rule = 0
    offsets[0] = 0
    for row in range(keep.size):
        if not keep[row]:
            continue
        at, end = table[row, 8], table[row, 9]
        while True:
            while at < end and _is_space(text[at]):
                at += 1
            if at >= end:
                break
            for side in range(2):
                value = 0
                begin = at
                while at < end and text[at] >= 48 and text[at] <= 57 and at - begin < 4:
                    value = 10 * value + text[at] - 48
                    at += 1
                limit = source_lengths[rule] if side == 0 else target_lengths[rule]
                if at == begin or value >= limit or value > 255:
                    return row
                out[count, side] = value
                if side == 0:
                    if at >= end or text[at] != 45:
                        return row
                    at += 1
            if at < end and not _is_space(text[at]):
                return row
            count += 1
        rule += 1
        offsets[rule] = count
    return -1


@kernel(fast=False)
def settle_symbols(style, source_offsets, source, target_offsets, target, links_offsets, links, problems):
    """Pair and number the nonterminals of rules: -1 and -2 in the order of the source side; return how many links stay.

    style (int): `HIERO`: they are numbered in some order; `MOSES`: all are -1, and links pair them, which are taken
    out. source_offsets, target_offsets (int64 [rules + 1]); source, target (int32), links_offsets (int64 [rules + 1])
    and links (uint8 [links, 2]) are changed. problems (uint8 [rules]): Filled with 0, `TWICE` or `UNPAIRED`.
    """
    count = 0
    begin_links = links_offsets[0]
    for rule in range(problems.size):
        problems[rule] = 0
        base, end = target_offsets[rule], target_offsets[rule + 1]
        found = first = seen = 0
        for at in range(source_offsets[rule], source_offsets[rule + 1]):
            if source[at] >= 0:
                continue
            found += 1
            if found > 2:
                problems[rule] = TWICE
                break
            mates = 0
            if style == HIERO:
                if found == 1:
                    first = source[at]
                elif source[at] == first:
                    problems[rule] = TWICE
                    break
                for j in range(base, end):
                    if target[j] == source[at]:
                        mates += 1
                source[at] = -found
            else:
                source[at] = -found
                for k in range(begin_links, links_offsets[rule + 1]):
                    j = base + links[k, 1]
                    if links[k, 0] == at - source_offsets[rule] and target[j] < 0:
                        if target[j] != -1:
                            mates += 1  # paired before, with the other one
                        target[j] = -10 - found
                        mates += 1
            if mates != 1:
                problems[rule] = UNPAIRED
        for j in range(base, end):
            if target[j] < 0:
                seen += 1
                if style == HIERO:
                    target[j] = -1 if target[j] == first else -2
                elif target[j] < -10:
                    target[j] += 10
                else:
                    seen += 10  # no link pairs it
        if seen != found and problems[rule] == 0:
            problems[rule] = UNPAIRED
        for k in range(begin_links, links_offsets[rule + 1]):
            if source[source_offsets[rule] + links[k, 0]] > 0 and target[base + links[k, 1]] > 0:
                links[count, 0], links[count, 1] = links[k, 0], links[k, 1]
                count += 1
        begin_links = links_offsets[rule + 1]
        links_offsets[rule + 1] = count
    return count


@kernel(fast=False, inline=True)
def _parse_number(text, begin, end, out):
    """Read a decimal number into ``out[0]``; tell whether it is one."""
    at = begin
    negative = False
    if at < end and (text[at] == 45 or text[at] == 43):
        negative = text[at] == 45
        at += 1
    mantissa = np.int64(0)
    exponent = digits = 0
    point, sound = False, True
    while at < end:
        byte = text[at]
        if byte >= 48 and byte <= 57:
            digits += 1
            if mantissa < 100000000000000000:
                mantissa = 10 * mantissa + (byte - 48)
                if point:
                    exponent -= 1
            elif not point:
                exponent += 1
        elif byte == 46 and not point:
            point = True
        else:
            break
        at += 1
    if digits == 0:
        sound = False
    if sound and at < end and (text[at] == 101 or text[at] == 69):
        at += 1
        sign = 1
        if at < end and (text[at] == 45 or text[at] == 43):
            sign = -1 if text[at] == 45 else 1
            at += 1
        power = figures = 0
        while at < end and text[at] >= 48 and text[at] <= 57 and figures < 5:
            power = 10 * power + (text[at] - 48)
            figures += 1
            at += 1
        if figures == 0:
            sound = False
        exponent += sign * power
    if at != end:
        sound = False
    value = float(mantissa)
    if exponent < 0:
        value = value / 10.0 ** min(-exponent, 22) / 10.0 ** min(max(-exponent - 22, 0), 300)
    elif exponent > 0:
        value = value * 10.0 ** min(exponent, 300)
    out[0] = -value if negative else value
    return sound and np.isfinite(value)


@kernel(fast=False)
def parse_features(text, table, keep, row, rule, logs, names, names_at, n_names, unnamed, out, number, found):
    """Read the features of the rows that are kept, ``name=value`` or values alone; of others, only the names.

    row, rule (int): Row to continue with, and how many rows before it are kept.
    logs (bool): Values are probabilities whose logs are taken, to five decimals; 0 becomes -100.
    names (uint8), names_at (int64 [room + 1]): Known names. unnamed (int64): Columns of values without a name, or -1.
    out (float32 [rows kept, room]): Filled for what is there; the rest must be 0. number (float64 [1]): Work space.
    found (int64 [4]): Row and rule to continue with, and what stopped the reading there: begin and end of it.
    Returns 0 when done, else `BAD_NUMBER`, `NO_NAME`, `NEW_NAME` or `NEW_UNNAMED`.
    """
    while row < keep.size:
        if table[row, 14] == 0:
            at, end = table[row, 6], table[row, 7]
            expected = plain = 0
            while True:
                while at < end and _is_space(text[at]):
                    at += 1
                if at >= end:
                    break
                begin = at
                equals = -1
                while at < end and not _is_space(text[at]):
                    if text[at] == 61:
                        equals = at  # the last one counts: names may have some
                    at += 1
                found[0], found[1], found[2], found[3] = row, rule, begin, at
                if equals == begin:
                    return NO_NAME
                column = -1
                if equals < 0:
                    equals = begin - 1
                    if plain >= unnamed.size or unnamed[plain] < 0:
                        return NEW_UNNAMED
                    column = unnamed[plain]
                    plain += 1
                else:
                    for turn in range(n_names):
                        name = expected + turn
                        if name >= n_names:
                            name -= n_names
                        first = names_at[name]
                        same = names_at[name + 1] - first == equals - begin
                        k = 0
                        while same and k < equals - begin:
                            same = names[first + k] == text[begin + k]
                            k += 1
                        if same:
                            column = name
                            break
                    if column < 0:
                        found[3] = equals
                        return NEW_NAME
                    expected = column + 1
                if not keep[row]:
                    continue
                if not _parse_number(text, equals + 1, at, number):
                    return BAD_NUMBER
                value = number[0]
                if logs:
                    if value < 0.0:
                        return BAD_NUMBER
                    value = math.floor(math.log(value) * 1e5 + 0.5) / 1e5 if value > 0.0 else -100.0
                out[rule, column] = value
            if keep[row]:
                rule += 1
        row += 1
    return 0


@kernel(fast=False)
def parse_counts(text, table, keep, out, number):
    """Read up to three counts of each kept row, 0 for what is not there; return the first bad row or -1."""
    rule = 0
    for row in range(keep.size):
        if not keep[row]:
            continue
        at, end = table[row, 10], table[row, 11]
        for column in range(3):
            out[rule, column] = 0.0
            while at < end and _is_space(text[at]):
                at += 1
            if at >= end:
                continue
            begin = at
            while at < end and not _is_space(text[at]):
                at += 1
            if not _parse_number(text, begin, at, number):
                return row
            out[rule, column] = number[0]
        rule += 1
    return -1


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
    at = write_number(units // 100000, out, at)
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
        at = write_number(units // 1000000, out, at)
        at = _write_fraction(units % 1000000, 6, out, at)
        out[at] = 101
        out[at + 1] = 45 if power < 0 else 43
        at += 2
        if abs(power) < 10:
            out[at] = 48
            at += 1
        return write_number(abs(power), out, at)
    if power < 0:
        out[at] = 48
        return _write_fraction(units, 6 - power, out, at + 1)
    if power > 6:
        for _ in range(power - 6):
            units *= 10
        return write_number(units, out, at)
    scale = np.int64(1)
    for _ in range(6 - power):
        scale *= 10
    at = write_number(units // scale, out, at)
    return _write_fraction(units % scale, 6 - power, out, at)


_BAR = np.frombuffer(b" ||| ", np.uint8)
_LEFT = np.frombuffer(b" [X][X]", np.uint8)


@kernel(fast=False, inline=True)
def _copy(text, begin, end, out, at):
    """Write bytes of a text; return where they end."""
    for place in range(begin, end):
        out[at] = text[place]
        at += 1
    return at


@kernel(fast=False)
def _write_side(style, symbols, begin, end, blob, starts, out, at):
    """Write the symbols of a side, with spaces between them."""
    for k in range(begin, end):
        if k > begin:
            out[at] = 32
            at += 1
        symbol = symbols[k]
        if symbol > 0:
            at = _copy(blob, starts[symbol], starts[symbol + 1], out, at)
        elif style == MOSES:
            at = _copy(_LEFT, 1, 7, out, at)
        else:
            at = _copy(_LEFT, 1, 3, out, at)
            out[at] = 44
            out[at + 1] = 48 - symbol
            out[at + 2] = 93
            at += 3
    return _copy(_LEFT, 0, 4, out, at) if style == MOSES else at


@kernel(fast=False)
def _write_link(i, j, first, out, at):
    """Write a link, behind a space unless it is the first."""
    if not first:
        out[at] = 32
        at += 1
    at = write_number(np.int64(i), out, at)
    out[at] = 45
    return write_number(np.int64(j), out, at + 1)


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
    """Write the rules ``begin`` to ``end`` of a `GrammarRules` as text; return the bytes written.

    style (int): `HIERO` or `MOSES`. names (uint8), names_at (int64 [features + 1]): Of the features.
    columns (int64 [features]): Their order in the text.
    """
    at = 0
    for rule in range(begin, end):
        if style == HIERO:
            at = _copy(_BAR, 0, 5, out, _copy(_LEFT, 1, 4, out, at))
        s1, s2 = source_offsets[rule], source_offsets[rule + 1]
        t1, t2 = target_offsets[rule], target_offsets[rule + 1]
        at = _write_side(style, source, s1, s2, source_blob, source_starts, out, at)
        at = _copy(_BAR, 0, 5, out, at)
        at = _write_side(style, target, t1, t2, target_blob, target_starts, out, at)
        at = _copy(_BAR, 0, 5, out, at)
        for k in range(columns.size):
            if k > 0:
                out[at] = 32
                at += 1
            column = columns[k]
            if style == MOSES:
                at = _write_probability(float(features[rule, column]), out, at)
            else:
                at = _copy(names, names_at[column], names_at[column + 1], out, at)
                out[at] = 61
                at = _write_decimal(float(features[rule, column]), out, at + 1)
        link, last = links_offsets[rule], links_offsets[rule + 1]
        if style == MOSES:
            at = _copy(_BAR, 0, 5, out, at)
            written = 0
            for i in range(s1, s2):
                if source[i] < 0:
                    for j in range(t1, t2):
                        if target[j] == source[i]:
                            at = _write_link(i - s1, j - t1, written == 0, out, at)
                            written += 1
                while link < last and links[link, 0] <= i - s1:
                    at = _write_link(links[link, 0], links[link, 1], written == 0, out, at)
                    written += 1
                    link += 1
            at = _copy(_BAR, 0, 5, out, at)
            if counts.shape[0] > 0:
                for k in range(3):
                    if k > 0:
                        out[at] = 32
                        at += 1
                    at = _write_decimal(counts[rule, k], out, at)
            at = _copy(_BAR, 1, 4, out, _copy(_BAR, 0, 5, out, at))
        elif link < last:
            at = _copy(_BAR, 0, 5, out, at)
            for k in range(link, last):
                at = _write_link(links[k, 0], links[k, 1], k == link, out, at)
        out[at] = 10
        at += 1
    return at
