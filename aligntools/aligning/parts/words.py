"""The words of a view over all parts: counted, bounded in number, numbered."""

from collections.abc import Iterable

import numpy as np

from aligntools.aligning.parts.work import ViewWork, words_named
from aligntools.aligning.text.cooccurrence import pair_weights, word_masses
from aligntools.aligning.text.kernels_look_alikes import KEY
from aligntools.aligning.text.look_alikes import look_alike_keys
from aligntools.aligning.text.views import cut, cut_words
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary

SIDES = ("source", "target")
#: Most words of a view on a side. Rarer words that begin alike share one.
MOST_WORDS = 500_000
#: First letters that rare words must have in common to share one, and the mark before these letters.
SHARED, MARK = 3, "\u2026"


def count_view_words(view_work: ViewWork, part: int, pool: Pool) -> None:
    """Keep a part's words as the view cuts them, in order of first occurrence; how often they occur; their masses.

    The mass of a word is the sum of its pairs' counts in IBM 1's first, uniform iteration.
    """
    name = view_work.name("words", part)
    if view_work.store.has(name):
        return
    text = view_work.text(part)
    lengths = text.source.lengths(), text.target.lengths()
    weights = pair_weights(*lengths, view_work.settings.p_null)
    arrays: dict[str, np.ndarray] = {}
    for side, others in zip(SIDES, lengths[::-1], strict=True):
        words, mapping = cut_words(getattr(text, f"{side}_vocabulary").words(), view_work.letters)
        one = getattr(text, side)
        of_view = type(one)(mapping[one.tokens], one.offsets)
        arrays |= words_named(side, Vocabulary.from_words(words[1:]))
        arrays |= {
            f"{side}.mapping": mapping,
            f"{side}.counts": np.bincount(of_view.tokens, minlength=len(words)).astype(np.float64),
            f"{side}.masses": word_masses(of_view, (weights * others).astype(np.float32), len(words)),
        }
    view_work.store.write(name, **arrays)


class Numbering:
    """Numbers of words in order of first occurrence, and how often each occurs; the rarest are forgotten at times.

    When there are more than twice as many as are to be kept, the rarest are forgotten (lossy counting, Manku & Motwani
    2002). If they occur again, they are counted from there on.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.ids: dict[bytes, int] = {b"": 0}
        self.counts = np.zeros(1024)

    def add(self, words: Iterable[bytes], counts: np.ndarray) -> None:
        """Count the words of a part, NULL first."""
        ids = self.ids
        found = np.fromiter((ids.setdefault(word, len(ids)) for word in words), np.int64, len(counts))
        if len(ids) > len(self.counts):
            self.counts = np.pad(self.counts, (0, max(len(self.counts), len(ids) - len(self.counts))))
        self.counts[found] += counts
        if len(ids) > 2 * self.most:
            self.forget()

    def forget(self) -> None:
        """Keep no more than `most` words: those that occur more often than the first that is too many."""
        n, excess = len(self.ids), len(self.ids) - 1 - self.most
        if excess <= 0:
            return
        counts = self.counts[:n]
        limit = np.partition(counts[1:], excess - 1)[excess - 1]
        stays = counts > limit
        stays[0] = True
        kept = [word for word, stay in zip(self.ids, stays.tolist(), strict=True) if stay]
        self.ids = {word: i for i, word in enumerate(kept)}
        self.counts = np.concatenate([counts[stays], np.zeros(1024)])


def number_words(view_work: ViewWork) -> int:
    """Number the view's words over all parts, and keep the numbers of each part's words; return how many there are."""
    done, store = view_work.name("vocabulary"), view_work.store
    numberings = Numbering(MOST_WORDS), Numbering(MOST_WORDS)
    for part in range(view_work.parts):
        for numbering, side in zip(numberings, SIDES, strict=True):
            every, _, counts, _ = _read(view_work, part, side)
            numbering.add(every, counts)
    for numbering in numberings:
        numbering.forget()
    shared: list[dict[str, int]] = [{}, {}]
    totals = [np.zeros((2, 1024)) for _ in SIDES]
    for part in range(view_work.parts):
        arrays: dict[str, np.ndarray] = {}
        for d, side in enumerate(SIDES):
            words, mapping, counts, masses = _read(view_work, part, side)
            known = numberings[d].ids
            ids = np.fromiter((known.get(word, -1) for word in words), np.int64, len(counts))
            for k in np.flatnonzero(ids < 0).tolist():
                beginning = cut(words[k].decode(), SHARED)
                ids[k] = len(known) + shared[d].setdefault(beginning, len(shared[d]))
            totals[d] = _added(totals[d], ids, counts, masses)
            own, places = np.unique(ids, return_inverse=True)
            arrays |= {f"{side}.ids": own.astype(np.int32), f"{side}.map": places[mapping].astype(np.int32)}
        store.write(view_work.name("ids", part), **arrays)
    arrays = {}
    for d, side in enumerate(SIDES):
        known_words = [word.decode() for word in numberings[d].ids]
        sums = totals[d][:, : len(known_words) + len(shared[d])]
        arrays |= {f"{side}.counts": sums[0], f"{side}.masses": sums[1]}
        keys = look_alike_keys(known_words)
        arrays[f"{side}.keys"] = np.concatenate([keys, np.zeros((len(shared[d]) + 1, KEY), np.int32)])
        names = Vocabulary.from_words(known_words[1:] + [MARK + beginning for beginning in shared[d]])
        arrays |= words_named(side, names)
    store.write(done, {"shared": [len(one) for one in shared]}, **arrays)
    return sum(len(n.ids) + len(s) for n, s in zip(numberings, shared, strict=True))


def _read(view_work: ViewWork, part: int, side: str) -> tuple[list[bytes], np.ndarray, np.ndarray, np.ndarray]:
    keys = [f"{side}.{what}" for what in ("blob", "starts", "mapping", "counts", "masses")]
    blob, starts, mapping, counts, masses = view_work.store.read(view_work.name("words", part), *keys)
    return list(Vocabulary(blob, starts).encoded()), mapping, counts, masses


def _added(sums: np.ndarray, ids: np.ndarray, *columns: np.ndarray) -> np.ndarray:
    """Return sums by word, float64 [columns, words], with those of a part; there may be more words then."""
    n = int(ids.max(initial=0)) + 1
    if n > sums.shape[1]:
        sums = np.pad(sums, ((0, 0), (0, max(n, 2 * sums.shape[1]) - sums.shape[1])))
    for row, column in zip(sums, columns, strict=True):
        row[:n] += np.bincount(ids, column, n)
    return sums
