"""Compiled: what goes from a sentence's edges to those of its translation."""

from aligntools.ground.compiler import kernel


@kernel
def transfer_edges(aligned, words, lengths, edges, begin, end, source_values, source_lengths, source_edges, values):
    """Replace the values of target edges whose two ends are aligned by those of the source edges.

    aligned (int32 [target words]): The source word that a word is aligned with, from 0; -1 for none.
    words (int64 [sentences + 1]).
    lengths, edges (int64): Of the target sentences; see `inference`.
    source_values (float64 [source edges]), source_lengths, source_edges (int64).
    values (float64 [target edges]): Changed. The root is aligned with the root; words that are aligned with the same
        word have no edge between them to take.
    """
    for s in range(begin, end):
        n, m = lengths[s], source_lengths[s]
        own = aligned[words[s] : words[s + 1]]
        for j in range(n):
            i = own[j]
            if i < 0:
                continue
            row, theirs = edges[s] + j * (n + 1), source_edges[s] + i * (m + 1)
            values[row] = source_values[theirs]
            for h in range(1, n + 1):
                k = own[h - 1]
                if h != j + 1 and k >= 0 and k != i:
                    values[row + h] = source_values[theirs + k + 1]


@kernel
def agreement(aligned, words, lengths, edges, begin, end, source_heads, source_words, values):
    """Say of target edges whose two ends are aligned whether the source tree has them.

    aligned, words, lengths, edges, begin, end: As for `transfer_edges`.
    source_heads (int32 [source words]): 0 for the root, 1 to n.
    source_words (int64 [sentences + 1]).
    values (float64 [target edges]): Written: 1 where the tree has the source edge, -1 where it has the source edge
        turned round, else 0 (McDonald, Petrov & Hall 2011, section 4).
    """
    for s in range(begin, end):
        n = lengths[s]
        own = aligned[words[s] : words[s + 1]]
        tree = source_heads[source_words[s] : source_words[s + 1]]
        for j in range(n):
            row, i = edges[s] + j * (n + 1), own[j]
            for h in range(n + 1):
                values[row + h] = 0.0
            if i < 0:
                continue
            values[row] = 1.0 if tree[i] == 0 else 0.0
            for h in range(1, n + 1):
                k = own[h - 1]
                if h == j + 1 or k < 0 or k == i:
                    continue
                if tree[i] == k + 1:
                    values[row + h] = 1.0
                elif tree[k] == i + 1:
                    values[row + h] = -1.0
