"""Columns of CoNLL carried over: labels of words, trees by direct correspondence, spans in BIO."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.formats.annotation.brackets import Tree
from aligntools.formats.annotation.tag_lists import likely
from aligntools.formats.links.pharaoh import Links


@dataclass(frozen=True, eq=False)
class Partners:
    """For each target word the source word whose annotation it takes (int64), or -1, and the link's probability or 1.

    image (int64 [source words]): The target word that stands for a source word in trees, or -1.
    """

    source: np.ndarray
    confidence: np.ndarray
    image: np.ndarray

    @property
    def reached(self) -> np.ndarray:
        """Which target words have a partner [shape=(target words,), dtype=bool]."""
        return self.source >= 0


@dataclass(frozen=True, eq=False)
class FlatLinks:
    """Links between words counted through the whole text, with probabilities or 1, and distances from the diagonal.

    source, target (int64 [links]), weight, distance (float64 [links]).
    """

    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    distance: np.ndarray


def flat_links(links: Links, weights: np.ndarray | None, source: np.ndarray, target: np.ndarray) -> FlatLinks:
    """Return links as those of a whole text; source, target (int64 [sentences + 1]): where sentences begin in it."""
    sentence = links.sentences()
    lengths = [np.maximum(np.diff(side), 1)[sentence] for side in (source, target)]
    places = links.pairs.astype(np.int64)
    relative = [(places[:, side] + 0.5) / lengths[side] for side in (0, 1)]
    return FlatLinks(
        source[:-1][sentence] + places[:, 0],
        target[:-1][sentence] + places[:, 1],
        np.ones(len(places)) if weights is None else np.asarray(weights, np.float64),
        np.abs(relative[0] - relative[1]),
    )


def one_to_one(links: FlatLinks, source_words: int, target_words: int) -> FlatLinks:
    """Return the links between words that have no other."""
    kept = _fan(links.source, source_words) + _fan(links.target, target_words) == 2
    return FlatLinks(links.source[kept], links.target[kept], links.weight[kept], links.distance[kept])


def _fan(words: np.ndarray, count: int) -> np.ndarray:
    """Return for each link how many its word has."""
    return np.asarray(np.bincount(words, minlength=count)[words])


def partners(links: FlatLinks, source_words: int, target_words: int) -> Partners:
    """Choose one source word for each target word, and one target word for each source word.

    By the link's probability; of equals, by fewest links of the source word, nearness to the diagonal, order.
    """
    order = np.lexsort((links.source, links.target, links.distance, _fan(links.source, source_words), -links.weight))
    source, target, weight = (column[order[::-1]] for column in (links.source, links.target, links.weight))
    chosen, confidence = np.full(target_words, -1, np.int64), np.zeros(target_words)
    chosen[target], confidence[target] = source, weight  # what is written last stays
    image = np.full(source_words, -1, np.int64)
    mutual = chosen[target] == source
    image[source[mutual]] = target[mutual]
    return Partners(chosen, confidence, image)


NONE = b"_"


def voted(values: Sequence[bytes], links: FlatLinks, target_words: int) -> tuple[list[bytes], np.ndarray]:
    """Return each target word's label by the weighted votes of its links, of equals the first, and its share."""
    votes: list[dict[bytes, float]] = [{} for _ in range(target_words)]
    for k in np.lexsort((links.source, links.target)).tolist():
        value = values[int(links.source[k])]
        if value != NONE:
            found = votes[int(links.target[k])]
            found[value] = found.get(value, 0.0) + float(links.weight[k])
    labels = [max(found, key=found.__getitem__) if found else NONE for found in votes]
    shares = [
        found[label] / (sum(found.values()) or 1.0) if found else 0.0
        for label, found in zip(labels, votes, strict=True)
    ]
    return labels, np.array(shares)


def trees(heads: np.ndarray, source: np.ndarray, target: np.ndarray, partners: Partners) -> np.ndarray:
    """Carry trees over by direct correspondence (Hwa et al. 2005): the word of a word's head is the head of its word.

    heads (int32 [source words]): In their sentences, counted from 1; 0 for a root, -1 for none. Returned so, too.
    source, target (int64 [sentences + 1]): Where the sentences of each side begin among its words.
    """
    begins = np.repeat(source[:-1], np.diff(source))
    above = np.where(heads > 0, begins + heads - 1, -1)
    found = np.full(len(partners.source), -1, np.int32)
    stands = np.flatnonzero(partners.image >= 0)
    words = partners.image[stands]
    found[words[heads[stands] == 0]] = 0
    headed = above[stands] >= 0
    stands, words = stands[headed], words[headed]
    theirs = partners.image[above[stands]]
    known = theirs >= 0
    first = np.repeat(target[:-1], np.diff(target))
    found[words[known]] = theirs[known] - first[words[known]] + 1
    return found


def spans(values: Sequence[bytes], source: np.ndarray, target: np.ndarray, links: FlatLinks) -> list[bytes]:
    """Carry labelled spans over: BIO labels of words (``B-PER I-PER O``).

    A span becomes the stretch from the first to the last target word that its words are linked to, unless that runs
    into one of more linked words. Other words are ``O``, and ``_`` where they have no link at all.
    """
    linked = defaultdict(list)
    for s, t in zip(links.source.tolist(), links.target.tolist(), strict=True):
        linked[s].append(t)
    found = [NONE] * int(target[-1])
    for t in links.target.tolist():
        found[t] = b"O"
    for begin, end in zip(source[:-1].tolist(), source[1:].tolist(), strict=True):
        stretches = []
        first, name = None, b""  # an I that continues nothing begins a span
        for k in range(begin, end + 1):
            kind, _, this = values[k].partition(b"-") if k < end else (b"O", b"", b"")
            if first is not None and (kind != b"I" or this != name):
                words = sorted({t for s in range(first, k) for t in linked.get(s, ())})
                if words:
                    stretches.append((-len(words), words[0], words[-1] + 1, name))
                first = None
            if kind in (b"B", b"I") and first is None and this:
                first, name = k, this
        used: set[int] = set()
        for _, low, high, name in sorted(stretches):
            if used.isdisjoint(range(low, high)):
                used.update(range(low, high))
                found[low:high] = [b"B-" + name, *[b"I-" + name] * (high - low - 1)]
    return found


def type_dictionary(
    words: Sequence[bytes], labels: Sequence[bytes], weights: np.ndarray, least: float = 0.0
) -> dict[bytes, dict[bytes, float]]:
    """Return the labels of each word with their ``weights`` [words], heaviest first, from a ``least`` share on."""
    counts: dict[bytes, dict[bytes, float]] = {}
    for word, label, weight in zip(words, labels, weights.tolist(), strict=True):
        if label != NONE:
            found = counts.setdefault(word, {})
            found[label] = found.get(label, 0.0) + weight
    return {word: likely(found, least) for word, found in counts.items()}


#: Label above a sentence whose source has no constituent.
TOP = "TOP"


def partial_trees(
    trees: Sequence[Tree], target: np.ndarray, links: FlatLinks, words: Sequence[str], tags: Sequence[str]
) -> tuple[list[Tree], int, int]:
    """Carry constituents over to the words that theirs are linked to, where these are together and alone.

    A constituent becomes the stretch of the target words that its words are linked to, if no word in there is linked
    to a word outside (Koehn, Och & Marcu 2003: consistent pairs). The one above the sentence has all words.
    target (int64 [sentences + 1]). Returns trees, how many constituents were carried over, and of how many.
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
