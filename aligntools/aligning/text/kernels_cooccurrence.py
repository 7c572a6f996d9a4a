"""Compiled: the sparse co-occurrence table, and moving its values to and from link matrices.

The table is stored by source word: row ``v`` holds the target words ``ids[ptr[v]:ptr[v+1]]`` (ascending)
that occur together with ``v``. A *link matrix* of a sentence pair is ``I x J`` floats, row-major, at
``cell_offsets[k - k0]`` of one array for a chunk of sentences. To fill the matrices, each word's row is
scattered once into a dense array and copied to every place where the word occurs in the chunk; to collect
counts the same walk is done backwards. Every random access so stays in cache, and a block of words is
written by one thread alone.
"""

import numpy as np

from aligntools.ground.compiler import kernel


@kernel
def index_words(tokens, offsets, k0, k1, start, sentence, position):
    """List the occurrences of every word in sentences ``k0..k1``, by word, in text order.

    tokens, offsets (int32 [n_tokens], int64 [n_sentences + 1]).
    start (int64 [n_words + 2], output): Word ``v``'s occurrences are ``start[v]:start[v + 1]``.
    sentence, position (int32 [tokens of the chunk], output): The sentence, and the place in it; ``position`` may be
        empty when it is not wanted.
    """
    start[:] = 0
    for p in range(offsets[k0], offsets[k1]):
        start[tokens[p] + 2] += 1
    for v in range(2, start.shape[0]):
        start[v] += start[v - 1]
    wanted = position.shape[0] > 0
    for k in range(k0, k1):
        for p in range(offsets[k], offsets[k + 1]):
            q = start[tokens[p] + 1]
            start[tokens[p] + 1] = q + 1
            sentence[q] = k
            if wanted:
                position[q] = p - offsets[k]


@kernel
def sort_ids(ids, stack):
    """Sort in place: quicksort, short parts by insertion. (NumPy's takes a second and a half to compile.)

    ids (int32 [n]).
    stack (int64 [64, 2], scratch): Parts that wait: the longer of two always does, so that there are never more than
        log2(n).
    """
    low, high, height = 0, ids.shape[0] - 1, 0
    while True:
        while high - low > 15:
            a, b, c = ids[low], ids[(low + high) >> 1], ids[high]
            pivot = max(min(a, b), min(max(a, b), c))
            i, j = low, high
            while i <= j:
                while ids[i] < pivot:
                    i += 1
                while pivot < ids[j]:
                    j -= 1
                if i <= j:
                    kept = ids[i]
                    ids[i] = ids[j]
                    ids[j] = kept
                    i += 1
                    j -= 1
            if j - low < high - i:
                stack[height, 0], stack[height, 1] = i, high
                high = j
            else:
                stack[height, 0], stack[height, 1] = low, j
                low = i
            height += 1
        for k in range(low + 1, high + 1):
            x = ids[k]
            while k > low and x < ids[k - 1]:
                ids[k] = ids[k - 1]
                k -= 1
            ids[k] = x
        if height == 0:
            break
        height -= 1
        low, high = stack[height, 0], stack[height, 1]


@kernel
def cooccurrence_rows(
    v0,
    v1,
    start,
    sentence,
    tokens,
    offsets,
    weights,
    source_mass,
    target_mass,
    total_mass,
    keep,
    dense,
    touched,
    row_types,
    row_sizes,
    out_ids,
    out_counts,
):
    """Write the table rows of source words ``v0..v1``: who occurs together, with weighted counts.

    A pair counts ``weights[k]`` for each pair of occurrences in sentence ``k``: with the product of the two
    directions' uniform posteriors as weights this is IBM 1's first iteration. A pair seen less than
    ``keep`` times as often as if the words were independent is left out (``keep = 0`` keeps all).

    weights (float32 [n_sentences]).
    source_mass, target_mass (float64 [n_words]): Sums of the weighted counts by word; ``total_mass`` of them all.
    dense (float32 [n_target_words], zero on entry and on exit); touched (int32 [n_target_words]).
    row_types, row_sizes (int32 [v1 - v0], output): How many target words occur with the word; how many of these are
        kept.
    out_ids, out_counts (int32 and float32 [capacity], output).
    Returns the word it stopped before (``v1``, or an earlier one when the output is full), entries written.
    """
    n = 0
    stack = np.empty((64, 2), np.int64)
    for v in range(v0, v1):
        m = 0
        for q in range(start[v], start[v + 1]):
            k = sentence[q]
            w = weights[k]
            for p in range(offsets[k], offsets[k + 1]):
                t = tokens[p]
                if dense[t] == 0.0:
                    touched[m] = t
                    m += 1
                dense[t] += w
        limit = keep * source_mass[v] / max(total_mass, 1e-300)
        kept = 0
        for x in range(m):
            t = touched[x]
            if dense[t] >= limit * target_mass[t]:
                kept += 1
        if n + kept > out_ids.shape[0]:
            for x in range(m):
                dense[touched[x]] = 0.0
            return v, n
        row_types[v - v0] = m
        row_sizes[v - v0] = kept
        base = n
        for x in range(m):
            t = touched[x]
            if dense[t] >= limit * target_mass[t]:
                out_ids[n] = t
                n += 1
        sort_ids(out_ids[base:n], stack)
        for x in range(base, n):
            out_counts[x] = dense[out_ids[x]]
        for x in range(m):
            dense[touched[x]] = 0.0
    return v1, n


@kernel
def fill_cells(
    v0, v1, start, sentence, position, ptr, ids, values, default, tokens, offsets, cell_offsets, k0, cells, dense
):
    """Copy the table rows of words ``v0..v1`` into the link matrices of a chunk.

    ``dense`` [n_target_words] holds ``default`` on entry and on exit, the value of a pair that the table
    does not have. ``start``, ``sentence`` and ``position`` index the source words of the chunk.
    """
    for v in range(v0, v1):
        if start[v] == start[v + 1]:
            continue
        for x in range(ptr[v], ptr[v + 1]):
            dense[ids[x]] = values[x]
        for q in range(start[v], start[v + 1]):
            k = sentence[q]
            length = offsets[k + 1] - offsets[k]
            row = cells[cell_offsets[k - k0] + position[q] * length :][:length]
            words = tokens[offsets[k] :][:length]
            for j in range(length):
                row[j] = dense[words[j]]
        for x in range(ptr[v], ptr[v + 1]):
            dense[ids[x]] = default


@kernel
def collect_counts(
    v0, v1, start, sentence, position, ptr, ids, counts, tokens, offsets, cell_offsets, k0, cells, dense
):
    """Add the link matrices of a chunk to the table's counts, for source words ``v0..v1``.

    ``dense`` [n_target_words] is zero on entry and on exit. What falls on pairs that the table does not
    have is dropped.
    """
    for v in range(v0, v1):
        if start[v] == start[v + 1]:
            continue
        for q in range(start[v], start[v + 1]):
            k = sentence[q]
            length = offsets[k + 1] - offsets[k]
            row = cells[cell_offsets[k - k0] + position[q] * length :][:length]
            words = tokens[offsets[k] :][:length]
            for j in range(length):
                dense[words[j]] += row[j]
        for x in range(ptr[v], ptr[v + 1]):
            counts[x] += dense[ids[x]]
        if (start[v + 1] - start[v]) * 64 > dense.shape[0]:
            dense[:] = 0.0  # a frequent word: quicker than to walk its sentences again
            continue
        for q in range(start[v], start[v + 1]):
            k = sentence[q]
            for p in range(offsets[k], offsets[k + 1]):
                dense[tokens[p]] = 0.0


@kernel(inline=True)
def exp_digamma(x):
    """Return ``exp(digamma(x))`` for ``x > 0``, to 1e-9 relative, and 0 where it underflows."""
    shift = 0.0
    while x < 6.0:
        shift -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132)))))
    return x * np.exp(shift - 0.5 / x - series)


@kernel
def estimate(a, b, counts, alpha, variational, values):
    """Turn counts ``a..b`` into values before normalization.

    Variational Bayes (Riley & Gildea 2012) takes ``exp(digamma(c + alpha))``, EM ``c``; ``values`` may be ``counts``.
    """
    for x in range(a, b):
        c = np.float64(counts[x])
        if variational:
            values[x] = max(exp_digamma(c + alpha), 1e-30)
        else:
            values[x] = max(c, 1e-30)


@kernel
def prune_rows(ptr, ids, counts, least, new_ptr):
    """Move the entries of at least ``least`` to the front of ``ids`` and ``counts``; return how many there are."""
    n = 0
    for v in range(ptr.shape[0] - 1):
        new_ptr[v] = n
        for x in range(ptr[v], ptr[v + 1]):
            if counts[x] >= least:
                ids[n] = ids[x]
                counts[n] = counts[x]
                n += 1
    new_ptr[ptr.shape[0] - 1] = n
    return n


@kernel(inline=True)
def find_entry(ptr, ids, source_word, target_word):
    """Return where the table holds a pair of words, or -1."""
    if source_word >= ptr.shape[0] - 1:
        return np.int64(-1)
    low, high = ptr[source_word], ptr[source_word + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if ids[middle] < target_word:
            low = middle + 1
        else:
            high = middle
    if low < end and ids[low] == target_word:
        return low
    return np.int64(-1)


@kernel
def lookup_cells(
    k0, k1, base, s_tokens, s_offsets, t_tokens, t_offsets, cell_offsets, ptr, ids, values, default, cells
):
    """Fill the link matrices of sentences ``k0..k1``: what ``fill_cells`` does, for few sentences.

    A source word's pairs with all target words are looked up together, by halves, so that memory is waited for once.
    """
    last = ptr.shape[0] - 1
    for k in range(k0, k1):
        at, words = cell_offsets[k - base], t_tokens[t_offsets[k] : t_offsets[k + 1]]
        places = np.empty(len(words), np.int64)
        for p in range(s_offsets[k], s_offsets[k + 1]):
            begin = ptr[min(s_tokens[p], last)]
            left = ptr[min(s_tokens[p] + 1, last)] - begin
            places[:] = begin
            while left > 1:
                half = left >> 1
                for q in range(len(words)):
                    places[q] += half if ids[places[q] + half] <= words[q] else 0
                left -= half
            for q in range(len(words)):
                cells[at + q] = values[places[q]] if left and ids[places[q]] == words[q] else default
            at += len(words)


@kernel(owning=False)
def interpolate_counts(v0, v1, ptr, ids, s_whole, t_whole, s_part, t_part, kept, before, found):
    """Scale the counts of some sentences up to the whole text, and mix them with those before, for words ``v0..v1``.

    s_whole, t_whole, s_part, t_part (float32 [n_words]): How often words occur in the text, and in these sentences.
    kept (float): What the counts before weigh, in occurrences of the rarer word of a pair.
    before, found (float32 [n_pairs]): Of the whole text before; of these sentences, and of the whole text on return.
    """
    for v in range(v0, v1):
        for x in range(ptr[v], ptr[v + 1]):
            t = ids[x]
            rarer = s_whole[v] <= t_whole[t]
            n = s_whole[v] if rarer else t_whole[t]
            m = s_part[v] if rarer else t_part[t]
            found[x] = (kept * before[x] + n * found[x]) / (m + kept)
