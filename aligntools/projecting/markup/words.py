"""Words of raw text as an aligner's model knows them, and the finer ones that tags may stand between."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.projecting.markup.placement import SparseLinks
from aligntools.words.placeholders import same_placeholders
from aligntools.words.tokenizers import raw_words

#: What tags may stand beside within a word.
_PARTS = re.compile(r"\w[-‐‑–—/_.:@\\]\w|(?<=[^\W\d_])\d|\d(?=[^\W\d_])|[a-zß-ÿ][A-ZÀ-Þ]")
#: Pieces of a word that are looked up together at most.
_LONGEST = 8
#: Pieces that are looked up at a time.
_BLOCK = 10_000
#: Letters of what is behind an apostrophe and belongs to it: ``'s``, ``'t``, ``'re``.
_APOSTROPHES, _SUFFIX = "'’ʼ", 2
#: Probability of a link between what is the same on both sides.
_SAME = 0.95
#: Links between the pieces of two words at most; longer ones have none.
_MOST = 4096

Finder = Callable[[str], list[tuple[int, int]]]
Known = Callable[[Sequence[str]], Sequence[bool]]


@dataclass(frozen=True)
class RawSentence:
    """A raw sentence: places of its pieces, between which tags stand, aligned words, and the word of each piece."""

    text: str
    spans: list[tuple[int, int]]
    words: list[str]
    word_of: list[int]


class WordFinder:
    """What finds the words of raw text of one language, by a tokenizer, or by pieces.

    known: Which words a model knows: pieces that it knows joined are one. Without it, apostrophes go with the shorter.
    """

    def __init__(self, known: Known | None = None, tokenizer: Finder | None = None) -> None:
        self._known, self._tokenizer = known, tokenizer

    def __call__(self, text: str, cuts: Collection[int] = ()) -> RawSentence:
        """Return a text's words, cut where tags stand; a word is aligned whole where the model knows it so."""
        pieces, within, places = list[tuple[int, int]](), list[int](), sorted(cuts)
        for begin, end in raw_words(text):
            for place in places[bisect_right(places, begin) : bisect_left(places, end)]:
                pieces.append((begin, place))
                within.append(place)
                begin = place
            pieces.append((begin, end))
        inner = frozenset(within)
        apart = frozenset(cuts) - inner  # a word may go across a tag that stands within it
        groups = self._tokens(text, pieces) if self._tokenizer else self._joined(text, pieces, apart)
        words: list[str] = []
        word_of: list[int] = []
        spans: list[tuple[int, int]] = []
        for begin, end in groups:
            own = pieces[begin:end]
            word = text[own[0][0] : own[-1][1]]
            if len(own) > 1 and inner.isdisjoint(at for at, _ in own[1:]) and not _PARTS.search(word):
                own = [(own[0][0], own[-1][1])]
            spans += own
            word_of += [len(words)] * len(own)
            words.append(word)
        return RawSentence(text, spans, words, word_of)

    def _joined(self, text: str, pieces: Sequence[tuple[int, int]], cuts: frozenset[int]) -> list[tuple[int, int]]:
        """Return pieces joined to the longest words that are known."""
        joined = self._longest if self._known is not None else _around_apostrophes
        longest = joined(text, pieces, cuts)
        groups, k = [], 0
        while k < len(pieces):
            end = longest.get(k, k + 1)
            groups.append((k, end))
            k = end
        return groups

    def _longest(self, text: str, pieces: Sequence[tuple[int, int]], cuts: frozenset[int]) -> dict[int, int]:
        """Return where the longest known word ends that begins with a piece and has more of them."""
        assert self._known is not None
        found = {}
        for start in range(0, len(pieces), _BLOCK):
            spans = []
            for k in range(start, min(start + _BLOCK, len(pieces))):
                for last in range(k + 1, min(k + _LONGEST, len(pieces))):
                    begin = pieces[last][0]
                    if begin != pieces[last - 1][1] or begin in cuts:
                        break
                    spans.append((k, last + 1))
            known = self._known([text[pieces[k][0] : pieces[end - 1][1]] for k, end in spans]) if spans else []
            found.update({k: end for (k, end), there in zip(spans, known, strict=True) if there})
        return found

    def _tokens(self, text: str, pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the pieces of each token; of one that is not known but cut is, each piece."""
        assert self._tokenizer is not None
        begins = [begin for begin, _ in pieces]
        tokens: list[tuple[int, int]] = []
        for _, end in self._tokenizer(text):
            last, done = bisect_left(begins, end), tokens[-1][1] if tokens else 0
            if last > done:
                tokens.append((done, last))
        spelled = [text[pieces[k][0] : pieces[end - 1][1]] for k, end in tokens]
        known = self._known(spelled) if self._known is not None and tokens else [True] * len(tokens)
        groups: list[tuple[int, int]] = []
        for (k, end), there in zip(tokens, known, strict=True):
            groups += [(k, end)] if there else [(one, one + 1) for one in range(k, end)]
        done = groups[-1][1] if groups else 0
        return groups + [(k, k + 1) for k in range(done, len(pieces))]


def _around_apostrophes(text: str, pieces: Sequence[tuple[int, int]], cuts: frozenset[int]) -> dict[int, int]:
    """Return where what an apostrophe belongs to ends: ``l'``, ``dell'`` before a word, ``'s``, ``'t`` behind one."""
    found = {}
    for k in range(1, len(pieces) - 1):
        (begin, before), (middle, end), (after, last) = pieces[k - 1 : k + 2]
        if end - middle > 1 or text[middle] not in _APOSTROPHES or before != middle or end != after:
            continue
        if not (text[before - 1].isalpha() and text[after].isalpha()):
            continue
        ending = last - after <= _SUFFIX < before - begin and not text[begin:before].lower().endswith("qu")
        start = k if ending else k - 1
        if pieces[start + 1][0] not in cuts and start - 1 not in found:
            found[start] = start + 2
    return found


def between_pieces(source: RawSentence, target: RawSentence, links: SparseLinks) -> SparseLinks:
    """Return links between words as those between the pieces of two sentences, those that are the same anchored."""
    shape = len(source.spans), len(target.spans)
    if 0 in shape or 0 in links.shape:
        return SparseLinks(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), shape)
    starts, counts = [], []
    for side in (source, target):
        starts.append(np.searchsorted(side.word_of, np.arange(len(side.words) + 1)))
        counts.append(np.diff(starts[-1]))
    few = counts[0][links.rows] * counts[1][links.columns] <= _MOST
    rows, columns, values = links.rows[few], links.columns[few], links.values[few]
    width = counts[1][columns]
    each = counts[0][rows] * width
    link = np.repeat(np.arange(len(rows)), each)
    place = np.arange(len(link)) - np.repeat(np.cumsum(each) - each, each)
    found = SparseLinks(
        starts[0][rows[link]] + place // width[link],
        starts[1][columns[link]] + place % width[link],
        values[link],
        shape,
    )
    found = _with(found, _same_words(source, target, found))
    anchors = _same_placeholders(source, target)
    others = ~(np.isin(found.rows, [i for i, _ in anchors]) | np.isin(found.columns, [j for _, j in anchors]))
    return _with(SparseLinks(found.rows[others], found.columns[others], found.values[others], shape), anchors)


def _with(links: SparseLinks, anchors: Sequence[tuple[int, int]]) -> SparseLinks:
    """Return links and those between what is the same, in order."""
    if anchors:
        more = np.array(anchors)
        cells = more @ (links.shape[1], 1)
        other = ~np.isin(links.rows * links.shape[1] + links.columns, cells)
        rows = np.concatenate([links.rows[other], more[:, 0]])
        columns = np.concatenate([links.columns[other], more[:, 1]])
        values = np.concatenate([links.values[other], np.full(len(more), _SAME)])
    else:
        rows, columns, values = links[:3]
    order = np.lexsort((columns, rows))
    return SparseLinks(rows[order], columns[order], values[order], links.shape)


def _same_words(source: RawSentence, target: RawSentence, links: SparseLinks) -> list[tuple[int, int]]:
    """Return names and numbers that stand once on each side and are linked to nothing."""
    places: list[dict[str, list[int]]] = []
    most = [np.zeros(n) for n in links.shape]
    for side, free, own in zip((source, target), most, (links.rows, links.columns), strict=True):
        np.maximum.at(free, own, links.values)
        here: dict[str, list[int]] = {}
        for k, (begin, end) in enumerate(side.spans):
            word = side.text[begin:end]
            if end - begin > 1 and (not word.islower() or word.isdecimal()):
                here.setdefault(word, []).append(k)
        places.append(here)
    pairs = [(ours, places[1].get(word, [])) for word, ours in places[0].items()]
    single = [(ours[0], theirs[0]) for ours, theirs in pairs if len(ours) == len(theirs) == 1]
    return [(i, j) for i, j in single if most[0][i] < 0.5 and most[1][j] < 0.5]


def _same_placeholders(source: RawSentence, target: RawSentence) -> list[tuple[int, int]]:
    """Return the pieces of placeholders with those of the same ones, in their order."""
    theirs: dict[str, deque[int]] = {}
    for found in same_placeholders(target.text):
        theirs.setdefault(found.group(), deque()).append(found.start())
    if not theirs:
        return []
    columns = {span: k for k, span in enumerate(target.spans)}
    pairs = []
    for found in same_placeholders(source.text):
        waiting = theirs.get(found.group())
        if not waiting:
            continue
        shift = waiting.popleft() - found.start()
        first = bisect_left(source.spans, (found.start(), 0))
        for i in range(first, bisect_left(source.spans, (found.end(), 0))):
            begin, end = source.spans[i]
            j = columns.get((begin + shift, end + shift)) if end <= found.end() else None
            if j is not None:
                pairs.append((i, j))
    return pairs


def missing_placeholders(source: str, target: str) -> list[str]:
    """Return the placeholders of a text that its translation has fewer of."""
    left = Counter(found.group() for found in same_placeholders(target))
    missing = []
    for found in same_placeholders(source):
        if left[found.group()]:
            left[found.group()] -= 1
        else:
            missing.append(found.group())
    return missing
