"""Compiled: which links are worth trying, and their local features: what a link adds whatever the other links are.

Kernels take sentences ``k0..k1`` of a chunk of text (`Pairs`); `Candidates` are those of the chunk, from its first
sentence on, and their ``local``, ``s_words`` and ``t_words`` are written.
"""

from typing import NamedTuple

import numpy as np

from aligntools.aligning.contrastive.kernels_features import (
    AGREEMENT,
    BEST,
    DIAGONAL_SUPPORT,
    FORWARD_USE,
    FREQUENCY_GAP,
    HARDEST_RIVAL,
    LENGTH,
    LETTERS,
    LINKED_ODDS,
    LINKS,
    LINKS_EACH,
    MISMATCH,
    NULL_COST,
    OCCURRENCES,
    OTHERS,
    POSITION,
    POSTERIOR,
    RARITY,
    REPEATS,
    REVERSE_USE,
    RIVALS,
    SAME_WORD,
    SIDE_SUPPORT,
    SIMILARITY,
    SYMBOLS,
    TRANSLATION,
    WIDE_SUPPORT,
    relative_position,
)
from aligntools.aligning.text.kernels_cooccurrence import find_entry
from aligntools.aligning.text.kernels_look_alikes import tier
from aligntools.ground.compiler import kernel

#: The floor of probabilities in logarithms: that of the paper's tables, and that of posteriors in log-odds.
FLOOR = 1e-7
POSTERIOR_FLOOR = 1e-3


class WordTable(NamedTuple):
    """One view's word probabilities and its words' keys; see `Lexicon`, `Table` and `look_alike_keys`.

    ``s_ids`` and ``t_ids`` are the text with a place of its own in ``s_keys`` and ``t_keys`` (int32 [n, KEY]) for each
    word that the view does not know.
    """

    ptr: np.ndarray
    ids: np.ndarray
    forward: np.ndarray
    reverse: np.ndarray
    default: np.float32
    floors: np.ndarray
    s_inverse: np.ndarray
    t_inverse: np.ndarray
    s_null: np.ndarray
    t_null: np.ndarray
    s_keys: np.ndarray
    t_keys: np.ndarray
    s_ids: np.ndarray
    t_ids: np.ndarray


@kernel(inline=True)
def log_odds(p):
    """Return ``ln p / (1 - p)``, kept from infinity."""
    q = min(max(np.float64(p), POSTERIOR_FLOOR), 1.0 - POSTERIOR_FLOOR)
    return np.log(q / (1.0 - q))


@kernel(inline=True)
def cell_or_zero(cells, at, n_i, n_j, i, j):
    """Return a cell of a link matrix that begins at ``at``, 0 outside it."""
    if i < 0 or j < 0 or i >= n_i or j >= n_j:
        return np.float32(0.0)
    return cells[at + i * n_j + j]


@kernel(owning=False)
def find_candidates(k0, k1, pairs, cells, bound, most, counts, rows, columns):
    """List the cells above ``bound`` that are among the ``most`` best of their row or of their column.

    Of equal cells the first is better. Output arrays may be empty, to count.

    cells (float32 [cells of the chunk]), counts (int64 [sentences], output), rows, columns (int32, output).
    Returns candidates in all.
    """
    total = 0
    writing = rows.shape[0] > 0
    for k in range(k0, k1):
        n_i, n_j = pairs.s_offsets[k + 1] - pairs.s_offsets[k], pairs.t_offsets[k + 1] - pairs.t_offsets[k]
        at = pairs.cell_offsets[k - pairs.base]
        begun = total
        for i in range(n_i):
            for j in range(n_j):
                x = cells[at + i * n_j + j]
                if not x > bound:
                    continue
                better = 0
                for other in range(n_j):
                    y = cells[at + i * n_j + other]
                    better += 1 if y > x or (y == x and other < j) else 0
                if better >= most:
                    better = 0
                    for other in range(n_i):
                        y = cells[at + other * n_j + j]
                        better += 1 if y > x or (y == x and other < i) else 0
                if better >= most:
                    continue
                if writing:
                    rows[total] = i
                    columns[total] = j
                total += 1
        counts[k - pairs.base] = total - begun
    return total


@kernel(owning=False)
def position_features(candidates):
    """Fill the columns that come from where candidates are: link count and relative position."""
    rows, columns, local = candidates.rows, candidates.columns, candidates.local
    for k in range(candidates.starts.shape[0] - 1):
        n_i = candidates.s_offsets[k + 1] - candidates.s_offsets[k]
        n_j = candidates.t_offsets[k + 1] - candidates.t_offsets[k]
        for c in range(candidates.starts[k], candidates.starts[k + 1]):
            local[c, LINKS] = 1.0
            local[c, POSITION] = relative_position(rows[c], columns[c], n_i, n_j)


@kernel(part=True)
def linked_odds(posteriors, words):
    """Write the log-odds that each word of the rows has a link."""
    for i in range(posteriors.shape[0]):
        total = 0.0
        for j in range(posteriors.shape[1]):
            total += posteriors[i, j]
        words[i, LINKED_ODDS] = log_odds(total)


@kernel
def posterior_features(k0, k1, pairs, forward, reverse, cells, candidates):
    """Fill the columns that come from the base model's posteriors.

    POSTERIOR: log-odds of the mean of both directions' posteriors (``cells``). AGREEMENT: log-odds of the lower of
    the two. RIVALS: the highest mean posterior of another cell in the row, plus that in the column; HARDEST_RIVAL:
    the higher of the two; OTHERS: all others', summed; BEST: whether it is above all of its row, and of its column.
    The supports: mean posteriors of the cells before and after it on the diagonal, of those beside, above and below
    it, and of those two steps along the diagonal or beside that, summed. LINKED_ODDS of a source word: log-odds of
    what its reverse posteriors sum to (it is generated there), of a target word its forward ones.
    """
    rows, columns, local, starts = candidates.rows, candidates.columns, candidates.local, candidates.starts
    for k in range(k0, k1):
        x = k - pairs.base
        n_i, n_j = pairs.s_offsets[k + 1] - pairs.s_offsets[k], pairs.t_offsets[k + 1] - pairs.t_offsets[k]
        at = pairs.cell_offsets[x]
        linked_odds(reverse[at : at + n_i * n_j].reshape((n_i, n_j)), candidates.s_words[candidates.s_offsets[x] :])
        linked_odds(forward[at : at + n_i * n_j].reshape((n_i, n_j)).T, candidates.t_words[candidates.t_offsets[x] :])
        for c in range(starts[x], starts[x + 1]):
            i, j = rows[c], columns[c]
            cell = at + i * n_j + j
            local[c, POSTERIOR] = log_odds(cells[cell])
            local[c, AGREEMENT] = log_odds(min(forward[cell], reverse[cell]))
            in_row, in_column, others = np.float32(0.0), np.float32(0.0), np.float32(0.0)
            for other in range(n_j):
                if other != j:
                    in_row = max(in_row, cells[at + i * n_j + other])
                    others += cells[at + i * n_j + other]
            for other in range(n_i):
                if other != i:
                    in_column = max(in_column, cells[at + other * n_j + j])
                    others += cells[at + other * n_j + j]
            local[c, RIVALS] = in_row + in_column
            local[c, HARDEST_RIVAL] = max(in_row, in_column)
            local[c, OTHERS] = others
            local[c, BEST] = (1.0 if cells[cell] > in_row else 0.0) + (1.0 if cells[cell] > in_column else 0.0)
            diagonal, side, wide = np.float32(0.0), np.float32(0.0), np.float32(0.0)
            for d in (-1, 1):
                diagonal += cell_or_zero(cells, at, n_i, n_j, i + d, j + d)
                side += cell_or_zero(cells, at, n_i, n_j, i + d, j) + cell_or_zero(cells, at, n_i, n_j, i, j + d)
                wide += cell_or_zero(cells, at, n_i, n_j, i + 2 * d, j + 2 * d)
                wide += cell_or_zero(cells, at, n_i, n_j, i + 2 * d, j + d)
                wide += cell_or_zero(cells, at, n_i, n_j, i + d, j + 2 * d)
            local[c, DIAGONAL_SUPPORT] = diagonal
            local[c, SIDE_SUPPORT] = side
            local[c, WIDE_SUPPORT] = wide


@kernel(part=True)
def sentence_columns(tokens, begin, end, sizes, words):
    """Fill what a sentence's words and their spelling say of each of them: REPEATS, LETTERS, LENGTH."""
    for p in range(begin, end):
        same = 0
        for q in range(begin, end):
            same += tokens[q] == tokens[p]
        words[p - begin, REPEATS] = np.log(np.float64(same))
        words[p - begin, LETTERS] = np.log(np.float64(max(sizes[tokens[p]], 1)))
        words[p - begin, LENGTH] = np.log(np.float64(end - begin))


@kernel(owning=False)
def word_features(k0, k1, pairs, source, target, candidates):
    """Fill the columns that come from the words themselves; the words' NULL costs must be there.

    SIMILARITY: Dice's coefficient of the two words' pairs of letters. SAME_WORD: 1 where they are the same.
    SYMBOLS, MISMATCH: 1 where both have no letter; where one of them has none. FREQUENCY_GAP: how far the
    logarithms of their frequencies are apart. RARITY: minus the sum of the two. Words' columns: `sentence_columns`.

    source, target: How words are spelled; see `candidates.spelling`.
    """
    (s_letters, s_begins, s_kinds, s_sizes), (t_letters, t_begins, t_kinds, t_sizes) = source, target
    rows, columns, local = candidates.rows, candidates.columns, candidates.local
    for k in range(k0, k1):
        s_at, t_at = candidates.s_offsets[k - pairs.base], candidates.t_offsets[k - pairs.base]
        s_words, t_words = candidates.s_words[s_at:], candidates.t_words[t_at:]
        sentence_columns(pairs.s_tokens, pairs.s_offsets[k], pairs.s_offsets[k + 1], s_sizes, s_words)
        sentence_columns(pairs.t_tokens, pairs.t_offsets[k], pairs.t_offsets[k + 1], t_sizes, t_words)
        for c in range(candidates.starts[k - pairs.base], candidates.starts[k - pairs.base + 1]):
            s, t = pairs.s_tokens[pairs.s_offsets[k] + rows[c]], pairs.t_tokens[pairs.t_offsets[k] + columns[c]]
            a, b = s_letters[s_begins[s] : s_begins[s + 1]], t_letters[t_begins[t] : t_begins[t + 1]]
            n, m = a.shape[0], b.shape[0]
            same = n == m
            if same:
                for x in range(n):
                    same = same and a[x] == b[x]
            common = 0
            for x in range(n - 1):
                for y in range(m - 1):
                    if a[x] == b[y] and a[x + 1] == b[y + 1]:
                        common += 1
                        break
            local[c, SIMILARITY] = 1.0 if same else min(1.0, 2.0 * common / max(n + m - 2, 1))
            local[c, SAME_WORD] = 1.0 if same else 0.0
            local[c, SYMBOLS] = 1.0 if s_kinds[s] + t_kinds[t] == 0 else 0.0
            local[c, MISMATCH] = 1.0 if s_kinds[s] + t_kinds[t] == 1 else 0.0
            f, g = s_words[rows[c], NULL_COST], t_words[columns[c], NULL_COST]
            local[c, FREQUENCY_GAP] = abs(f - g)
            local[c, RARITY] = -(f + g)


@kernel(owning=False)
def translation_features(k0, k1, pairs, words, share, candidates):
    """Add one view's share to the translation product's column and to the NULL costs.

    pairs: In the view's words, one place for all that it does not know.
    words (WordTable).
    share (float): Of this view among all.
    """
    s_keys, t_keys = words.s_keys, words.t_keys
    s_first, t_first = pairs.s_offsets[pairs.base], pairs.t_offsets[pairs.base]
    for k in range(k0, k1):
        s_begin, t_begin = pairs.s_offsets[k], pairs.t_offsets[k]
        for p in range(s_begin, pairs.s_offsets[k + 1]):
            p_null = max(np.float64(words.s_null[pairs.s_tokens[p]]), FLOOR)
            candidates.s_words[p - s_first, NULL_COST] += np.float32(share * np.log(p_null))
        for q in range(t_begin, pairs.t_offsets[k + 1]):
            p_null = max(np.float64(words.t_null[pairs.t_tokens[q]]), FLOOR)
            candidates.t_words[q - t_first, NULL_COST] += np.float32(share * np.log(p_null))
        for c in range(candidates.starts[k - pairs.base], candidates.starts[k - pairs.base + 1]):
            p, q = s_begin + candidates.rows[c], t_begin + candidates.columns[c]
            s, t = pairs.s_tokens[p], pairs.t_tokens[q]
            s_id, t_id = words.s_ids[p], words.t_ids[q]
            level = tier(s_keys[s_id], t_keys[t_id])
            x = find_entry(words.ptr, words.ids, s, t)
            f, r = words.default, words.default
            if x >= 0:
                f, r = words.forward[x], words.reverse[x]
            elif level > 0:
                f, r = words.floors[level], words.floors[level]
            f, r = f * words.s_inverse[s], r * words.t_inverse[t]
            logs = np.log(max(np.float64(f), FLOOR)) + np.log(max(np.float64(r), FLOOR))
            candidates.local[c, TRANSLATION] += np.float32(share * logs)


@kernel(part=True)
def add_columns(tokens, begin, end, of_text, share, words):
    """Add one view's share to what the training text says of a sentence's words."""
    for p in range(begin, end):
        v = min(tokens[p], of_text.shape[0] - 1)
        words[p - begin, OCCURRENCES] += np.float32(share) * of_text[v, 0]
        words[p - begin, LINKS_EACH] += np.float32(share) * of_text[v, 1]


@kernel(owning=False)
def use_features(k0, k1, pairs, words, uses, share, candidates):
    """Add one view's share to the columns of how words are used: ``ln (links of the pair) / (links of the word)``.

    And to those of the words: OCCURRENCES, LINKS_EACH.

    words (WordTable), uses: See `candidates.uses_of`.
    """
    (forward_pairs, reverse_pairs), (forward_words, reverse_words), (s_text, t_text) = uses
    rows, columns, local = candidates.rows, candidates.columns, candidates.local
    for k in range(k0, k1):
        s_begin, t_begin = pairs.s_offsets[k], pairs.t_offsets[k]
        s_words = candidates.s_words[candidates.s_offsets[k - pairs.base] :]
        t_words = candidates.t_words[candidates.t_offsets[k - pairs.base] :]
        add_columns(pairs.s_tokens, s_begin, pairs.s_offsets[k + 1], s_text, share, s_words)
        add_columns(pairs.t_tokens, t_begin, pairs.t_offsets[k + 1], t_text, share, t_words)
        for c in range(candidates.starts[k - pairs.base], candidates.starts[k - pairs.base + 1]):
            s, t = pairs.s_tokens[s_begin + rows[c]], pairs.t_tokens[t_begin + columns[c]]
            x = find_entry(words.ptr, words.ids, s, t)
            f, r = 0.001, 0.001
            if x >= 0:
                f += np.float64(forward_pairs[x])
                r += np.float64(reverse_pairs[x])
            in_all = 1.0 + (forward_words[s] if s < forward_words.shape[0] else 0.0)
            local[c, FORWARD_USE] += np.float32(share * np.log(f / in_all))
            in_all = 1.0 + (reverse_words[t] if t < reverse_words.shape[0] else 0.0)
            local[c, REVERSE_USE] += np.float32(share * np.log(r / in_all))
