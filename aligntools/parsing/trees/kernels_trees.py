"""Compiled: what is wrong with given heads, and two ways of mending it."""

from aligntools.ground.compiler import kernel

#: What can be found of a sentence, as bits.
NO_HEAD, CYCLE, NO_ROOT, ROOTS, CROSSING = 1, 2, 4, 8, 16


@kernel(inline=True)
def _below(heads, above, word, n):
    """Whether a word is another one or below it; both count from 1, and 0 is above all."""
    for _ in range(n + 1):
        if word == above:
            return True
        if word == 0:
            return False
        word = heads[word - 1]
    return False


@kernel(inline=True)
def _crossed(heads, m, n):
    """Whether a word between ``m`` and its head is not below the head."""
    h = heads[m - 1]
    for k in range(min(h, m) + 1, max(h, m)):
        if not _below(heads, h, k, n):
            return True
    return False


@kernel
def inspect(heads, words, lengths, begin, end, marks, found):
    """Find what keeps heads from being a projective tree with one root.

    heads (int32 [words]): 0 for the root, else 1 to n.
    words (int64 [sentences + 1]), lengths (int64 [sentences]).
    marks (int32 [longest]): Scratch.
    found (uint8 [sentences]): Written: the bits above. ROOTS for more than one root; CROSSING only where the rest makes
        a tree.
    """
    for s in range(begin, end):
        n = lengths[s]
        tree = heads[words[s] : words[s + 1]]
        found[s] = 0
        roots = 0
        for m in range(n):
            if tree[m] < 0 or tree[m] > n:
                found[s] = NO_HEAD
            roots += 1 if tree[m] == 0 else 0
            marks[m] = -1
        if found[s]:
            continue
        for m in range(n):  # walk up until the root or a word that was seen; on the same walk, it is a cycle
            k = m + 1
            while k > 0 and marks[k - 1] < 0:
                marks[k - 1] = m
                k = tree[k - 1]
            if k > 0 and marks[k - 1] == m:
                found[s] |= CYCLE
                break
        if n > 0 and roots == 0:
            found[s] |= NO_ROOT
        if roots > 1:
            found[s] |= ROOTS
        if found[s] & CYCLE:
            continue
        crossing = False  # in a tree whose root stands first, not projective is the same as edges that cross
        for m in range(1, n + 1):
            low, high = min(tree[m - 1], m), max(tree[m - 1], m)
            for k in range(low + 1, high):
                if tree[k - 1] < low or tree[k - 1] > high:
                    crossing = True
                    break
            if crossing:
                found[s] |= CROSSING
                break


@kernel
def lift(heads, words, lengths, sentence):
    """Make a tree projective: the shortest edge that is crossed goes one head up, again and again (Nivre & Nilsson)."""
    n = lengths[sentence]
    tree = heads[words[sentence] : words[sentence + 1]]
    while True:
        best = 0
        for m in range(1, n + 1):
            length = abs(tree[m - 1] - m)
            if tree[m - 1] > 0 and (best == 0 or length < abs(tree[best - 1] - best)) and _crossed(tree, m, n):
                best = m
        if best == 0:
            return
        tree[best - 1] = tree[tree[best - 1] - 1]


@kernel
def join_roots(heads, words, sentence):
    """Put all roots but the first under the first."""
    first = 0
    for m in range(words[sentence], words[sentence + 1]):
        if heads[m] == 0:
            if first > 0:
                heads[m] = first
            else:
                first = m - words[sentence] + 1
