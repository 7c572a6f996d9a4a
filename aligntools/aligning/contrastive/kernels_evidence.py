"""Compiled: which links are worth trying, and what is known of each of them before the search."""

import numpy as np

from aligntools.aligning.contrastive.kernels_features import (
    AGREEMENT,
    BEST,
    DIAGONAL_SUPPORT,
    FORWARD_USE,
    FREQUENCY_GAP,
    HARDEST_RIVAL,
    LINKED_ODDS,
    LINKS,
    MISMATCH,
    NULL_COST,
    OTHERS,
    POSITION,
    POSTERIOR,
    RARITY,
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
from aligntools.aligning.text.kernels_cooccurrence import find_entry, tier
from aligntools.ground.compiling import kernel

#: The floor of probabilities in logarithms: that of the paper's tables, and that of posteriors in log-odds.
FLOOR = 1e-7
POSTERIOR_FLOOR = 1e-3


@kernel(inline=True)
def log_odds(p):
    """Return ``ln p / (1 - p)``, kept from infinity."""
    q = min(max(np.float64(p), POSTERIOR_FLOOR), 1.0 - POSTERIOR_FLOOR)
    return np.log(q / (1.0 - q))


@kernel
def mean_cells(a, b, forward, reverse, out):
    """Write the mean of both directions' posteriors, cells ``a..b``."""
    for x in range(a, b):
        out[x] = np.float32(0.5) * (forward[x] + reverse[x])


@kernel(inline=True)
def cell_or_zero(cells, at, n_i, n_j, i, j):
    """Return a cell of a link matrix that begins at ``at``, 0 outside it."""
    if i < 0 or j < 0 or i >= n_i or j >= n_j:
        return np.float32(0.0)
    return cells[at + i * n_j + j]


@kernel
def find_candidates(k0, k1, base, s_offsets, t_offsets, cell_offsets, cells, bound, most, counts, rows, columns):
    """List the cells above ``bound`` that are among the ``most`` best of their row or of their column.

    Of equal cells the first is better. Output arrays may be empty, to count.

    Parameters
    ----------
    cells : float32 [cells of the run]
    counts : int64 [sentences], output
    rows, columns : int32, output

    Returns
    -------
    int
        Candidates in all.
    """
    total = 0
    writing = rows.shape[0] > 0
    for k in range(k0, k1):
        n_i, n_j = s_offsets[k + 1] - s_offsets[k], t_offsets[k + 1] - t_offsets[k]
        at = cell_offsets[k - base]
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
        counts[k - base] = total - begun
    return total


@kernel
def position_values(k0, k1, base, s_offsets, t_offsets, starts, rows, columns, values):
    """Fill the candidates' columns of link count and relative position."""
    for k in range(k0, k1):
        n_i, n_j = s_offsets[k + 1] - s_offsets[k], t_offsets[k + 1] - t_offsets[k]
        for c in range(starts[k - base], starts[k - base + 1]):
            values[c, LINKS] = 1.0
            values[c, POSITION] = relative_position(rows[c], columns[c], n_i, n_j)


@kernel
def posterior_values(
    k0, k1, base, s_offsets, t_offsets, cell_offsets, forward, reverse, cells, starts, rows, columns,
    values, s_words, t_words,
):  # fmt: skip
    """Fill the columns that come from the base model's posteriors.

    POSTERIOR: log-odds of the mean of both directions' posteriors (``cells``). AGREEMENT: log-odds of the lower of
    the two. RIVALS: the highest mean posterior of another cell in the row, plus that in the column; HARDEST_RIVAL:
    the higher of the two; OTHERS: all others', summed; BEST: whether it is above all of its row, and of its column.
    The supports: mean posteriors of the cells before and after it on the diagonal, of those beside, above and below
    it, and of those two steps along the diagonal or beside that, summed. LINKED_ODDS of a source word: log-odds of
    what its reverse posteriors sum to (it is generated there), of a target word its forward ones.
    """
    for k in range(k0, k1):
        n_i, n_j = s_offsets[k + 1] - s_offsets[k], t_offsets[k + 1] - t_offsets[k]
        at = cell_offsets[k - base]
        s_at, t_at = s_offsets[k] - s_offsets[base], t_offsets[k] - t_offsets[base]
        for i in range(n_i):
            total = 0.0
            for j in range(n_j):
                total += reverse[at + i * n_j + j]
            s_words[s_at + i, LINKED_ODDS] = log_odds(total)
        for j in range(n_j):
            total = 0.0
            for i in range(n_i):
                total += forward[at + i * n_j + j]
            t_words[t_at + j, LINKED_ODDS] = log_odds(total)
        for c in range(starts[k - base], starts[k - base + 1]):
            i, j = rows[c], columns[c]
            x = at + i * n_j + j
            values[c, POSTERIOR] = log_odds(cells[x])
            values[c, AGREEMENT] = log_odds(min(forward[x], reverse[x]))
            in_row, in_column, others = np.float32(0.0), np.float32(0.0), np.float32(0.0)
            for other in range(n_j):
                if other != j:
                    in_row = max(in_row, cells[at + i * n_j + other])
                    others += cells[at + i * n_j + other]
            for other in range(n_i):
                if other != i:
                    in_column = max(in_column, cells[at + other * n_j + j])
                    others += cells[at + other * n_j + j]
            values[c, RIVALS] = in_row + in_column
            values[c, HARDEST_RIVAL] = max(in_row, in_column)
            values[c, OTHERS] = others
            values[c, BEST] = (1.0 if cells[x] > in_row else 0.0) + (1.0 if cells[x] > in_column else 0.0)
            diagonal, side, wide = np.float32(0.0), np.float32(0.0), np.float32(0.0)
            for d in (-1, 1):
                diagonal += cell_or_zero(cells, at, n_i, n_j, i + d, j + d)
                side += cell_or_zero(cells, at, n_i, n_j, i + d, j) + cell_or_zero(cells, at, n_i, n_j, i, j + d)
                wide += cell_or_zero(cells, at, n_i, n_j, i + 2 * d, j + 2 * d)
                wide += cell_or_zero(cells, at, n_i, n_j, i + 2 * d, j + d)
                wide += cell_or_zero(cells, at, n_i, n_j, i + d, j + 2 * d)
            values[c, DIAGONAL_SUPPORT] = diagonal
            values[c, SIDE_SUPPORT] = side
            values[c, WIDE_SUPPORT] = wide


@kernel
def word_values(
    k0, k1, base, s_tokens, s_offsets, t_tokens, t_offsets, starts, rows, columns,
    s_letters, s_begins, s_kinds, t_letters, t_begins, t_kinds, values, s_words, t_words,
):  # fmt: skip
    """Fill the columns that come from the words themselves; the words' NULL costs must be there.

    SIMILARITY: Dice's coefficient of the two words' pairs of letters. SAME_WORD: 1 where they are the same.
    SYMBOLS, MISMATCH: 1 where both have no letter; where one of them has none. FREQUENCY_GAP: how far the
    logarithms of their frequencies are apart. RARITY: minus the sum of the two.

    Parameters
    ----------
    s_letters, t_letters : int32
        Code points of all words, joined, without accents; word ``v`` is ``letters[begins[v]:begins[v + 1]]``.
    s_kinds, t_kinds : uint8 [n_words]
        1 for words with a letter.
    """
    for k in range(k0, k1):
        s_at, t_at = s_offsets[k] - s_offsets[base], t_offsets[k] - t_offsets[base]
        for c in range(starts[k - base], starts[k - base + 1]):
            s, t = s_tokens[s_offsets[k] + rows[c]], t_tokens[t_offsets[k] + columns[c]]
            a = s_letters[s_begins[s] : s_begins[s + 1]]
            b = t_letters[t_begins[t] : t_begins[t + 1]]
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
            values[c, SIMILARITY] = 1.0 if same else min(1.0, 2.0 * common / max(n + m - 2, 1))
            values[c, SAME_WORD] = 1.0 if same else 0.0
            values[c, SYMBOLS] = 1.0 if s_kinds[s] + t_kinds[t] == 0 else 0.0
            values[c, MISMATCH] = 1.0 if s_kinds[s] + t_kinds[t] == 1 else 0.0
            f, g = s_words[s_at + rows[c], NULL_COST], t_words[t_at + columns[c], NULL_COST]
            values[c, FREQUENCY_GAP] = abs(f - g)
            values[c, RARITY] = -(f + g)


@kernel
def translation_values(
    k0, k1, base, s_tokens, s_offsets, t_tokens, t_offsets, starts, rows, columns, ptr, ids, forward, reverse,
    default, floors, s_inverse, t_inverse, s_keys, t_keys, s_ids, t_ids, s_null, t_null, share,
    values, s_words, t_words,
):  # fmt: skip
    """Add one member's share to the translation product's column and to the NULL costs.

    Parameters
    ----------
    s_tokens, t_tokens : int32
        The member's words, one place for all that it does not know.
    s_ids, t_ids : int32
        The same, with a place of its own in ``s_keys`` and ``t_keys`` (int32 [3, n]) for each unknown word.
    ptr, ids, forward, reverse, default, floors, s_inverse, t_inverse, s_null, t_null
        The member's table and lexicon.
    share : float
        Of this member among all.
    """
    for k in range(k0, k1):
        s_begin, t_begin = s_offsets[k], t_offsets[k]
        for p in range(s_begin, s_offsets[k + 1]):
            p_null = max(np.float64(s_null[s_tokens[p]]), FLOOR)
            s_words[p - s_offsets[base], NULL_COST] += np.float32(share * np.log(p_null))
        for q in range(t_begin, t_offsets[k + 1]):
            p_null = max(np.float64(t_null[t_tokens[q]]), FLOOR)
            t_words[q - t_offsets[base], NULL_COST] += np.float32(share * np.log(p_null))
        for c in range(starts[k - base], starts[k - base + 1]):
            p, q = s_begin + rows[c], t_begin + columns[c]
            s, t = s_tokens[p], t_tokens[q]
            s_id, t_id = s_ids[p], t_ids[q]
            level = tier(s_keys[0, s_id], s_keys[1, s_id], s_keys[2, s_id], t_keys[0, t_id], t_keys[1, t_id])
            x = find_entry(ptr, ids, s, t)
            f, r = default, default
            if x >= 0:
                f, r = forward[x], reverse[x]
            elif level > 0:
                f, r = floors[level], floors[level]
            f, r = f * s_inverse[s], r * t_inverse[t]
            logs = np.log(max(np.float64(f), FLOOR)) + np.log(max(np.float64(r), FLOOR))
            values[c, TRANSLATION] += np.float32(share * logs)


@kernel
def use_values(
    k0, k1, base, s_tokens, s_offsets, t_tokens, t_offsets, starts, rows, columns, ptr, ids,
    forward_pairs, forward_words, reverse_pairs, reverse_words, share, values,
):  # fmt: skip
    """Add one member's share to the columns of how words are used: ``ln (links of the pair) / (links of the word)``.

    Parameters
    ----------
    forward_pairs, reverse_pairs : float32 [n_pairs]
        Expected links of each pair of words.
    forward_words, reverse_words : float64
        Those of each source word and of each target word; words beyond them have none.
    """
    for k in range(k0, k1):
        for c in range(starts[k - base], starts[k - base + 1]):
            s, t = s_tokens[s_offsets[k] + rows[c]], t_tokens[t_offsets[k] + columns[c]]
            x = find_entry(ptr, ids, s, t)
            f, r = 0.001, 0.001
            if x >= 0:
                f += np.float64(forward_pairs[x])
                r += np.float64(reverse_pairs[x])
            in_all = 1.0 + (forward_words[s] if s < forward_words.shape[0] else 0.0)
            values[c, FORWARD_USE] += np.float32(share * np.log(f / in_all))
            in_all = 1.0 + (reverse_words[t] if t < reverse_words.shape[0] else 0.0)
            values[c, REVERSE_USE] += np.float32(share * np.log(r / in_all))
