"""Trees of constituents carried over links: the constituents whose words stay together, in partial trees."""

from collections.abc import Sequence

import numpy as np

from aligntools.formats.annotation.brackets import Tree
from aligntools.projecting.partners import FlatLinks

#: Label above a sentence whose source has no constituent.
TOP = "TOP"


def partial_trees(
    trees: Sequence[Tree],
    target: np.ndarray,
    links: FlatLinks,
    words: Sequence[str],
    tags: Sequence[str],
) -> tuple[list[Tree], int, int]:
    """Carry constituents over to the words that theirs are linked to, where these are together and alone.

    A constituent becomes the stretch from the first to the last target word that its words are linked to. It is carried
    over if no word in the stretch is linked to a word outside of the constituent (Koehn, Och & Marcu 2003 call such
    pairs consistent). So two of them hold each other, or have no word in common: they are a tree. The constituent above
    the sentence has all words. Words that no other constituent has stand in the lowest one around them.

    trees: Of the source, without what has no word.
    target (int64 [sentences + 1]): Where the target's sentences begin among its words.
    words, tags: Of the target.
    Returns trees: Of the target; empty where one of the two sentences has no words.
    Returns carried: Constituents that were carried over, without those above sentences.
    Returns constituents: How many the source has, counted alike.
    """
    lengths = [sum(1 for _ in tree.leaves()) for tree in trees]
    source = np.append(0, np.cumsum(lengths)).astype(np.int64)
    low, high = _extent(links.source, links.target, int(source[-1]), len(words))
    first, last = _extent(links.target, links.source, len(words), int(source[-1]))
    found, carried, total = list[Tree](), 0, 0
    for tree, (s, t, n, m) in zip(
        trees, zip(source.tolist(), target.tolist(), lengths, np.diff(target).tolist(), strict=False), strict=True
    ):
        if not n or not m:
            found.append(Tree(""))
            continue
        spans = list(tree.spans())
        kept = [(0, m, spans[0][0] if spans else TOP)]
        for label, a, b in spans[1:]:
            begin, end = min(low[s + a : s + b]), max(high[s + a : s + b]) + 1
            if begin >= end:
                continue  # no word of it has a link
            if min(first[begin:end]) >= s + a and max(last[begin:end]) < s + b:
                kept.append((begin - t, end - t, label))
        carried, total = carried + len(kept) - 1, total + max(len(spans) - 1, 0)
        leaves = [Tree(tag, [], word) for word, tag in zip(words[t : t + m], tags[t : t + m], strict=True)]
        found.append(_tree(kept, leaves))
    return found, carried, total


def _extent(own: np.ndarray, other: np.ndarray, size: int, others: int) -> tuple[list[int], list[int]]:
    """Return the first and the last word that each word is linked to; ``others`` and -1 where there is none."""
    low, high = np.full(size, others, np.int64), np.full(size, -1, np.int64)
    np.minimum.at(low, own, other)
    np.maximum.at(high, own, other)
    return low.tolist(), high.tolist()


def _tree(spans: Sequence[tuple[int, int, str]], leaves: Sequence[Tree]) -> Tree:
    """Return the tree of spans that do not cross; of equal ones the first is above."""
    top, *others = sorted(spans, key=lambda span: (span[0], -span[1]))
    root = Tree(top[2])
    open_spans, place = [(root, top[1])], 0
    for begin, end, label in [*others, (len(leaves), len(leaves), "")]:
        while place < begin:
            while open_spans[-1][1] <= place:
                open_spans.pop()
            open_spans[-1][0].children.append(leaves[place])
            place += 1
        if begin == end:
            break
        while open_spans[-1][1] <= begin:
            open_spans.pop()
        node = Tree(label)
        open_spans[-1][0].children.append(node)
        open_spans.append((node, end))
    return root
