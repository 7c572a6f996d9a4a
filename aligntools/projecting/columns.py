"""Columns of CoNLL carried over: labels of words, trees by direct correspondence, spans in BIO."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from aligntools.formats.annotation.tag_sets import likely
from aligntools.projecting.partners import FlatLinks, Partners

NONE = b"_"


def taken(values: Sequence[bytes], partners: Partners) -> list[bytes]:
    """Return each target word's label: its partner's, ``_`` where it has none."""
    return [values[k] if k >= 0 else NONE for k in partners.source.tolist()]


def voted(values: Sequence[bytes], links: FlatLinks, target_words: int) -> tuple[list[bytes], np.ndarray]:
    """Return each target word's label by the votes of all words that it is linked to, and the label's share of them.

    The label with most weight wins; among equals, the one that is first by its first linked word.
    """
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
    """Carry trees over by direct correspondence (Hwa et al. 2005).

    The head of the word that stands for a source word is the word that stands for that word's head. Words that stand
    for none, and those whose head nobody stands for, have no head; so there are no cycles.

    heads (int32 [source words]): In their sentences, counted from 1; 0 for a root, -1 for none.
    source, target (int64 [sentences + 1]): Where the sentences of each side begin among its words.
    Returns int32 [target words]: as ``heads``, of the target.
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
        for first, last, name in _spans_of(values, begin, end):
            words = sorted({t for s in range(first, last) for t in linked.get(s, ())})
            if words:
                stretches.append((-len(words), words[0], words[-1] + 1, name))
        used: set[int] = set()
        for _, first, last, name in sorted(stretches):
            if used.isdisjoint(range(first, last)):
                used.update(range(first, last))
                found[first:last] = [b"B-" + name, *[b"I-" + name] * (last - first - 1)]
    return found


def _spans_of(values: Sequence[bytes], begin: int, end: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield (first word, word behind the last, name) of a sentence's spans; an I that continues nothing begins one."""
    first, name = None, b""
    for k in range(begin, end + 1):
        kind, _, this = values[k].partition(b"-") if k < end else (b"O", b"", b"")
        if first is not None and (kind != b"I" or this != name):
            yield first, k, name
            first = None
        if kind in (b"B", b"I") and first is None and this:
            first, name = k, this


def type_dictionary(
    words: Sequence[bytes], labels: Sequence[bytes], weights: np.ndarray, least: float = 0.0
) -> dict[bytes, dict[bytes, float]]:
    """Count the labels of each word.

    words, labels: Of a text; ``_`` is no label.
    weights [words]: What each word counts.
    least: Labels with a smaller share of their word's weight are left out.
    Returns for each word with a label its labels' weights, heaviest first.
    """
    counts: dict[bytes, dict[bytes, float]] = {}
    for word, label, weight in zip(words, labels, weights.tolist(), strict=True):
        if label != NONE:
            found = counts.setdefault(word, {})
            found[label] = found.get(label, 0.0) + weight
    return {word: likely(found, least) for word, found in counts.items()}
