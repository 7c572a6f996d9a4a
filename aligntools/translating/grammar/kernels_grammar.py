"""Compiled scoring, pruning and filtering of extracted rules. Keys are those of `kernels_extraction`."""

import math

import numpy as np

from aligntools.formats.translation.kernels_rules import find_slot
from aligntools.ground.compiler import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_FLOOR = 1e-9  # of a word's probability, for grammars whose links the lexicon has not seen


@kernel(fast=False)
def group_rules(pool, starts, rule_at, source_at):
    """Find where rules, which differ in their links alone, and where source sides begin in sorted records.

    starts (int64 [records]).
    rule_at, source_at (int64 [records + 1]): Filled with the first record of each rule and the first rule of each
        source side, with the ends last.
    """
    rules = sources = 0
    for k in range(starts.size):
        zeros = 0
        if k > 0:
            a = starts[k - 1]
            b = starts[k]
            while zeros < 2 and pool[a] == pool[b]:
                if pool[a] == 0:
                    zeros += 1
                a += 1
                b += 1
        if zeros < 1:
            source_at[sources] = rules
            sources += 1
        if zeros < 2:
            rule_at[rules] = k
            rules += 1
    rule_at[rules] = starts.size
    source_at[sources] = rules
    return rules, sources


@kernel(fast=False)
def enter_rows(given, rows, keys, values):
    """Enter keys, other than 0, with two numbers each, in an empty table."""
    for k in range(given.size):
        place = find_slot(keys, given[k])
        keys[place] = given[k]
        values[place, 0], values[place, 1] = rows[k, 0], rows[k, 1]


@kernel(fast=False, inline=True)
def _log_mean(total, links):
    return math.log(max(total / links, _FLOOR))


@kernel(fast=False)
def weigh_links(pool, starts, weights, rule_at, rules, keys, values, joint, lexical, best):
    """Add up each rule's records and find its lexical weights, the highest of any of its links' sets.

    Lexical weights are those of Koehn, Och & Marcu 2003 (4.4), over the words alone: the product over the words of
    a side of the mean probability given the words that each is linked to, or given NULL.

    pool, starts, weights, rule_at, rules: As from `group_rules`.
    keys (uint64 [a power of two]).
    values (float64 [a power of two, 2]): The lexicon: ``p(target word | source word)``, ``p(source word | target
        word)``; see `features.LexicalTable`.
    joint (int64 [rules, 2]): Filled with the sums of weights.
    lexical (float64 [rules, 2]): Filled with natural logs: of the target side given the source side, of the source
        given the target.
    best (int64 [rules]): Filled with the record whose links are the most frequent ones.
    """
    for rule in range(rules):
        joint[rule, 0], joint[rule, 1] = 0, 0
        lexical[rule, 0], lexical[rule, 1] = -np.inf, -np.inf
        best[rule] = rule_at[rule]
        for k in range(rule_at[rule], rule_at[rule + 1]):
            joint[rule, 0] += weights[k, 0]
            joint[rule, 1] += weights[k, 1]
            if weights[k, 0] > weights[best[rule], 0]:
                best[rule] = k
            source = starts[k]
            target = source
            while pool[target] != 0:
                target += 1
            target += 1
            links = target
            while pool[links] != 0:
                links += 1
            links += 1
            last = links
            while pool[last] != 0:
                last += 1
            forward = 0.0
            for t in range(target, links - 1):
                if pool[t] < 3:
                    continue
                word = np.uint64(pool[t] - 2)
                total, count = 0.0, 0
                for at in range(links, last):
                    link = pool[at] - 1
                    if link % 256 == t - target:
                        place = find_slot(keys, (np.uint64(pool[source + link // 256] - 2) << _HALF) | word)
                        total += values[place, 0]
                        count += 1
                if count == 0:
                    total = values[find_slot(keys, word), 0]
                    count = 1
                forward += _log_mean(total, count)
            backward = 0.0
            at = links
            for s in range(source, target - 1):
                if pool[s] < 3:
                    continue
                word = np.uint64(pool[s] - 2) << _HALF
                total, count = 0.0, 0
                while at < last and (pool[at] - 1) // 256 == s - source:
                    place = find_slot(keys, word | np.uint64(pool[target + (pool[at] - 1) % 256] - 2))
                    total += values[place, 1]
                    count += 1
                    at += 1
                if count == 0:
                    total = values[find_slot(keys, word), 1]
                    count = 1
                backward += _log_mean(total, count)
            lexical[rule, 0] = max(lexical[rule, 0], forward)
            lexical[rule, 1] = max(lexical[rule, 1], backward)


@kernel(fast=False)
def best_words(source_offsets, source, target_offsets, target, keys, values, out):
    """Fill ``out`` [shape=(rules, 2), dtype=float64] with the lexical scores that cdec has, as natural logs.

    Each word is scored by the best word of the whole other side, or NULL, without regard to the links:
    ``sum_e log max_f p(e | f)``, and the same with the sides exchanged. A word that none explains counts as 1e-99.
    """
    none = -99.0 * math.log(10.0)
    for rule in range(source_offsets.size - 1):
        for way in range(2):
            total = 0.0
            begin, end = target_offsets[rule], target_offsets[rule + 1]
            other_begin, other_end = source_offsets[rule], source_offsets[rule + 1]
            words, others = target, source
            shift, other_shift = np.uint64(0), _HALF
            if way == 1:
                begin, end, other_begin, other_end = other_begin, other_end, begin, end
                words, others = source, target
                shift, other_shift = _HALF, np.uint64(0)
            for t in range(begin, end):
                if words[t] < 0:
                    continue
                word = np.uint64(words[t]) << shift
                best = values[find_slot(keys, word), way]
                for s in range(other_begin, other_end):
                    if others[s] > 0:
                        best = max(best, values[find_slot(keys, word | (np.uint64(others[s]) << other_shift)), way])
                total += math.log(best) if best > 0 else none
            out[rule, way] = total


@kernel(fast=False)
def hash_targets(pool, starts, rule_at, rules, hashes):
    """Fill ``hashes`` [dtype=uint64] with a number for each rule's target side, the same for both nonterminals."""
    for rule in range(rules):
        at = starts[rule_at[rule]]
        while pool[at] != 0:
            at += 1
        at += 1
        code = np.uint64(0xCBF29CE484222325)
        while pool[at] != 0:
            symbol = pool[at]
            if symbol == 2:
                symbol = 1
            code = (code ^ np.uint64(symbol)) * _MIX
            code ^= code >> np.uint64(29)
            at += 1
        code *= np.uint64(0xBF58476D1CE4E5B9)
        code ^= code >> _HALF
        hashes[rule] = max(code, np.uint64(1))


@kernel(fast=False)
def add_targets(hashes, joint, row, part, parts, keys, sums, used):
    """Add counts of target sides to a table, those of one part of all; stop where the table is two thirds full.

    hashes (uint64 [rules]), joint (int64 [rules, 2]), keys (uint64 [a power of two]), sums (int64 [a power of two, 2]).
    row (int): The rule to begin with.
    part, parts (int): Only target sides with ``hash % parts == part``.
    used (int64 [1]): Keys in the table; updated.
    Returns the rule to continue with.
    """
    limit = keys.size * 2 // 3
    while row < hashes.size:
        if hashes[row] % np.uint64(parts) == np.uint64(part):
            place = find_slot(keys, hashes[row])
            if keys[place] == 0:
                if used[0] >= limit:
                    break
                keys[place] = hashes[row]
                used[0] += 1
            sums[place, 0] += joint[row, 0]
            sums[place, 1] += joint[row, 1]
        row += 1
    return row


@kernel(fast=False)
def find_targets(hashes, part, parts, keys, sums, totals):
    """Fill ``totals`` [shape=(rules,), dtype=int64] with the counts of the target sides of one part."""
    for row in range(hashes.size):
        if hashes[row] % np.uint64(parts) == np.uint64(part):
            totals[row] = sums[find_slot(keys, hashes[row]), 0]


@kernel(fast=False)
def select_rules(joint, lexical, source_at, sources, usable, keep, min_count, chosen, kept):
    """Choose the rules to keep: of each usable source side the ``keep`` most frequent.

    joint (int64 [rules, 2]), usable (uint8 [sources]).
    lexical (float64 [rules, 2]): Decides between equal counts, by its sum; then the order of rules does.
    source_at, sources: As from `group_rules`.
    min_count (int): Least count, in the first column of ``joint``.
    chosen (int64 [keep]): Working memory.
    kept (uint8 [rules]): Filled with 1 for the rules that stay.
    """
    for source in range(sources):
        count = 0
        for rule in range(source_at[source], source_at[source + 1]):
            kept[rule] = 0
            if usable[source] == 0 or joint[rule, 0] < min_count:
                continue
            place = count
            while place > 0:
                other = chosen[place - 1]
                if joint[other, 0] > joint[rule, 0]:
                    break
                if joint[other, 0] == joint[rule, 0] and (
                    lexical[other, 0] + lexical[other, 1] >= lexical[rule, 0] + lexical[rule, 1]
                ):
                    break
                place -= 1
            if place == keep:
                continue
            if count < keep:
                count += 1
            for k in range(count - 1, place, -1):
                chosen[k] = chosen[k - 1]
            chosen[place] = rule
        for k in range(count):
            kept[chosen[k]] = 1


@kernel(fast=False)
def measure_rules(pool, starts, records, sizes):
    """Fill ``sizes`` [shape=(3, records), dtype=int64] with the symbols of both sides and the links of records."""
    for k in range(records.size):
        at = starts[records[k]]
        for column in range(3):
            begin = at
            while pool[at] != 0:
                at += 1
            sizes[column, k] = at - begin
            at += 1


@kernel(fast=False)
def gather_rules(pool, starts, records, source, target, links):
    """Copy the sides and links of records to where `measure_rules` made room, as word ids, -1, -2, and positions."""
    source_at = target_at = links_at = 0
    for k in range(records.size):
        at = starts[records[k]]
        while pool[at] != 0:
            source[source_at] = pool[at] - 2 if pool[at] > 2 else -pool[at]
            source_at += 1
            at += 1
        at += 1
        while pool[at] != 0:
            target[target_at] = pool[at] - 2 if pool[at] > 2 else -pool[at]
            target_at += 1
            at += 1
        at += 1
        while pool[at] != 0:
            links[links_at, 0] = (pool[at] - 1) // 256
            links[links_at, 1] = (pool[at] - 1) % 256
            links_at += 1
            at += 1
