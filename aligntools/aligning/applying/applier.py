"""Applying a model: posteriors of any text, the training text among it.

What is computed for a sentence depends only on the model and the sentence, not on the rest of the batch. So decoding
after training, in batches and in a stream give the same bytes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from aligntools.aligning.applying import kernels_decoding as kd
from aligntools.aligning.applying.model_text import ALIKE, GAIN, ROUNDS, ModelText, unseen_words
from aligntools.aligning.model import WEIGHT, SubwordMember
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.kernels_link_counts import Sampled
from aligntools.aligning.settings import DIRECTIONS, ResolvedSettings
from aligntools.aligning.text import kernels_cooccurrence as kt
from aligntools.aligning.text import kernels_look_alikes as kl
from aligntools.aligning.text.link_matrices import Both, Chunk, LinkMatrices, pairs_of, plan_chunks
from aligntools.aligning.text.views import ParallelText
from aligntools.formats.links.given_links import GivenLinks
from aligntools.formats.text.corpus import Bitext
from aligntools.ground.parallel import Pool

#: Link-matrix cells worked at a time; up to FEW_CELLS are looked up in the table one by one.
CHUNK_CELLS, FEW_CELLS = 6_000_000, 60_000

#: Factors of the threshold's odds for a further link of a word: in a cell next to its more probable link, or elsewhere.
BESIDE, APART = 0.75, 1.5

_LISTS = (np.empty((0, 1), kind) for kind in (np.int16, np.int32, np.float32))
_NONE = Sampled(np.empty(0, np.int16), np.empty(0, np.int8), *_LISTS)


@dataclass
class Posteriors:
    """Link posteriors of consecutive sentences in both directions, averaged over the views.

    k0, k1: Sentences of the text given.
    forward, reverse (float32 [cells]): Zeros for a direction that was not trained.
    log_likelihood (float64 [2, k1 - k0]): Natural logarithms, mean over the views; forward is ``p(target | source)``.
        NaN for a direction that was not trained.
    """

    k0: int
    k1: int
    source_offsets: np.ndarray
    target_offsets: np.ndarray
    cell_offsets: np.ndarray
    sentence_blocks: list[tuple[int, int]]
    forward: np.ndarray
    reverse: np.ndarray
    log_likelihood: np.ndarray

    def lengths(self) -> np.ndarray:
        """Return the words of the source and of the target sentences, int64 [2, k1 - k0]."""
        return np.stack([np.diff(o[self.k0 : self.k1 + 1]) for o in (self.source_offsets, self.target_offsets)])


def posteriors_of(
    text: ParallelText, chunk: Chunk, forward: np.ndarray, reverse: np.ndarray, logs: np.ndarray
) -> Posteriors:
    """Return the posteriors of a chunk of a text."""
    place = chunk.k0, chunk.k1, text.source.offsets, text.target.offsets, chunk.cell_offsets, chunk.sentence_blocks
    return Posteriors(*place, forward, reverse, logs)


class Applier:
    """Applies one model's views, and its pieces, to texts; it can be used from several threads at once.

    ``sizes`` are those of the model's vocabularies; higher ids are words that it does not know.
    """

    def __init__(
        self,
        models: Sequence[LexicalModel],
        settings: ResolvedSettings,
        sizes: tuple[int, int],
        max_cells: int = CHUNK_CELLS,
        subwords: SubwordMember | None = None,
    ) -> None:
        self.models = [replace(m, table=m.table.with_unknown()) for m in models]
        self.subwords = subwords
        if subwords is not None:
            own = replace(subwords.model, table=subwords.model.table.with_unknown())
            self.subwords = replace(subwords, model=own)
        self._unseen: dict[LexicalModel, tuple[LexicalModel, Both]] = {}
        self.settings, self.sizes = settings, sizes
        self.directions = DIRECTIONS[settings.direction]
        self.max_cells = min(max_cells, CHUNK_CELLS)
        #: What `decisions.links_from` has to know of the model.
        self.deciding: dict[str, Any] = {
            "usual": settings.threshold(len(self.models) + (subwords is not None)),
            "trained": self.directions,
            "chain": self.models[0].HAS_PATHS,
        }

    def posteriors(
        self, bitext: Bitext, pool: Pool, viterbi: bool = False, believed: Sequence[GivenLinks] = ()
    ) -> Iterator[Posteriors]:
        """Yield `Posteriors` for consecutive runs of sentences; each overwrites the one before.

        With ``viterbi`` they are the first view's paths, or its posteriors if the model's words are independent.
        ``believed`` links count as if the model had seen them, by their probabilities, but not in the log-likelihoods.
        """
        models = self.models[:1] if viterbi else self.models
        texts = [self.text(m, bitext) for m in models]
        pieces: ModelText | None = None
        starts: tuple[np.ndarray, np.ndarray] | None = None
        if self.subwords is not None:  # for paths, too: they come in the same runs as posteriors
            pieces, starts = self.subwords.text(bitext)
            self._know_unseen(pieces)
        chunks, of_pieces = self._chunks(bitext, pieces)
        most = max((c.n_cells for c in chunks), default=0)
        matrices: list[LinkMatrices | None] = [None] * len(texts)
        if most > FEW_CELLS:
            matrices = [
                LinkMatrices(t.source, t.target, t.model.table, pool, self.max_cells, chunks=chunks) for t in texts
            ]
        both, total = ((np.zeros(most, np.float32), np.zeros(most, np.float32)) for _ in range(2))
        beliefs = [believing(given, bitext) for given in believed]
        fold = None
        if pieces is not None and starts is not None and not viterbi:
            fold = folding(self, pieces, starts, of_pieces, bitext, beliefs, pool)
        for number, chunk in enumerate(chunks):
            n = chunk.n_cells
            for t in total:
                t[:n] = 0
            logs = np.zeros((2, chunk.k1 - chunk.k0))
            for text, own in zip(texts, matrices, strict=True):
                self.fill(chunk, text, own if n > FEW_CELLS else None, both, pool)
                plain = np.zeros_like(logs)
                if beliefs and not viterbi:
                    unbelieved = both[0][:n].copy(), both[1][:n].copy()
                    text.model.posteriors(text, chunk, unbelieved, self.directions, pool, plain)
                for belief in beliefs:
                    belief(chunk, text, both, pool, None)
                if viterbi:
                    text.model.paths(text, chunk, both, self.directions, pool)
                    for d, path in enumerate(both):
                        if self.directions & (d + 1):
                            total[d][:n] = path[:n]
                else:
                    found = self.add(chunk, text, both, total, 1.0 / len(models), pool)
                    logs += plain if beliefs else found
            if fold:
                fold(number, chunk, total)
            logs /= len(texts)
            for d in (0, 1):
                if not self.directions & (d + 1):
                    logs[d] = np.nan
            yield posteriors_of(bitext, chunk, total[0], total[1], logs)

    def text(self, model: LexicalModel, bitext: Bitext) -> ModelText:
        """Return a text as one of the models sees it."""
        text = ModelText(model, bitext, self.sizes)
        self._know_unseen(text)
        return text

    def _know_unseen(self, text: ModelText) -> None:
        """Have a text's model know what it takes unseen words for, where the text has some."""
        if text.has_unseen:
            if text.model not in self._unseen:
                self._unseen[text.model] = unseen_words(text.model)
            text.model, text.unseen = self._unseen[text.model]

    def _chunks(self, bitext: Bitext, pieces: ModelText | None) -> tuple[list[Chunk], list[Chunk]]:
        """Cut a text; return chunks of its words' link matrices, and of its pieces'."""
        lengths = bitext.source.lengths(), bitext.target.lengths()
        if pieces is None:
            return plan_chunks(*lengths, self.max_cells), []
        own = pieces.source.lengths(), pieces.target.lengths()
        cells = np.maximum(lengths[0].astype(np.int64) * lengths[1], own[0] * own[1])
        chunks = plan_chunks(cells, np.ones_like(cells), self.max_cells // 2)  # of words and of pieces, at once
        return [_over(c, *lengths) for c in chunks], [_over(c, *own) for c in chunks]

    def fill(self, chunk: Chunk, text: ModelText, matrices: LinkMatrices | None, both: Both, pool: Pool) -> None:
        """Fill link matrices with the lexicon's values, and with the floors of look-alike pairs that it lacks."""
        lexicon, table = text.model.lexicon, text.model.table
        values = lexicon.forward, lexicon.reverse
        shared = lexicon.reverse is lexicon.forward
        place = (text.source.tokens, text.source.offsets, text.target.tokens, text.target.offsets, chunk.cell_offsets)
        if matrices is not None:
            matrices.index(chunk)
        for d, out in enumerate(both[: 1 if shared else 2]):
            if not shared and not self.directions & (d + 1):
                continue
            if matrices is not None:
                matrices.fill(chunk, values[d], lexicon.default, out)
            else:
                rows = table.ptr, table.ids, values[d], np.float32(lexicon.default)
                kt.lookup_cells(chunk.k0, chunk.k1, chunk.k0, *place, *rows, out)
            if self.settings.look_alike and lexicon.floors.max() > lexicon.floors[0]:
                s_rows, s_keys, t_rows, t_keys = text.keyed
                named = (s_rows, text.source.offsets, t_rows, text.target.offsets, chunk.cell_offsets, s_keys, t_keys)

                def task(b: tuple[int, int], out: np.ndarray = out, named: tuple[np.ndarray, ...] = named) -> None:
                    kl.look_alike_cells(*b, chunk.k0, *named, np.float32(lexicon.default), lexicon.floors, out)

                pool.map(task, chunk.sentence_blocks)
        if shared:
            both[1][: chunk.n_cells] = both[0][: chunk.n_cells]
        if text.unseen is not None:
            self._fill_unseen(chunk, text, *text.unseen, both, pool)

    def _fill_unseen(
        self, chunk: Chunk, text: ModelText, source: np.ndarray, target: np.ndarray, both: Both, pool: Pool
    ) -> None:
        """Fill cells of words that the model has not seen, then make those likelier that are linked by their places."""
        n, default = chunk.n_cells, np.float32(text.model.lexicon.default)
        place = (text.source.tokens, text.source.offsets, text.target.tokens, text.target.offsets, chunk.cell_offsets)
        directions = [d for d in (0, 1) if self.directions & (d + 1)]
        moved = np.zeros(n, bool)
        for d in directions:

            def task(b: tuple[int, int], out: np.ndarray = both[d]) -> None:
                kd.unseen_cells(*b, chunk.k0, *place, source, target, default, ALIKE, moved, out)

            pool.map(task, chunk.sentence_blocks)
        base = [cells[:n].copy() for cells in both]
        for _ in range(ROUNDS if len(directions) == 2 else 0):
            tried = base[0].copy(), base[1].copy()
            for own, cells in zip(tried, both, strict=True):
                own[moved] = cells[:n][moved]
            text.model.posteriors(text, chunk, tried, 3, pool, np.zeros((2, chunk.k1 - chunk.k0)))
            likely = np.float32(GAIN) * tried[0][moved] * tried[1][moved]
            for cells, first in zip(both, base, strict=True):
                cells[:n][moved] = first[moved] + likely

    def add(self, chunk: Chunk, text: ModelText, both: Both, total: Both, share: float, pool: Pool) -> np.ndarray:
        """Add one view's posteriors, and marginals, to the totals; return the log-likelihoods."""
        model, logs = text.model, np.zeros((2, chunk.k1 - chunk.k0))
        model.posteriors(text, chunk, both, self.directions, pool, logs)
        sampled = model.sampled(text, chunk, both, self.settings, pool)
        found, own = sampled or ((_NONE, _NONE), 1.0)
        marginals = [(one.sizes, one.positions, one.masses) for one in found]
        weight = share * own

        def task(b: tuple[int, int]) -> None:
            for d in (0, 1):
                if self.directions & (d + 1):
                    place = text.source.offsets, text.target.offsets, chunk.cell_offsets, total[d], both[d]
                    kd.mix_block(
                        *b, chunk.k0, *place, np.float32(weight), d == 0, *marginals[d], np.float32(share - weight)
                    )

        pool.map(task, chunk.sentence_blocks)
        return logs


def _over(chunk: Chunk, source_lengths: np.ndarray, target_lengths: np.ndarray) -> Chunk:
    """Return a chunk of the same sentences with link matrices for other lengths."""
    cells = source_lengths[chunk.k0 : chunk.k1].astype(np.int64) * target_lengths[chunk.k0 : chunk.k1]
    return replace(chunk, cell_offsets=np.concatenate([[0], np.cumsum(cells)]))


#: Adds links to a chunk's cells, as `Applier.fill` left them; where a text is of pieces (int64 [words + 1] of both
#: sides), it is told where the pieces of each word begin.
Belief: TypeAlias = Callable[[Chunk, ModelText, Both, Pool, "Sequence[np.ndarray] | None"], None]


def folding(
    applier: Applier,
    text: ModelText,
    starts: tuple[np.ndarray, np.ndarray],
    chunks: list[Chunk],
    bitext: Bitext,
    beliefs: Sequence[Belief],
    pool: Pool,
) -> Callable[[int, Chunk, Both], None]:
    """Return what mixes the posteriors of pieces of words into those of a chunk of words, whose number is given."""
    most = max((c.n_cells for c in chunks), default=0)
    matrices, whole = None, (text.source, text.target, text.model.table, pool, applier.max_cells)
    if most > FEW_CELLS:
        matrices = LinkMatrices(*whole, chunks=chunks)
    both, of_pieces = ((np.zeros(most, np.float32), np.zeros(most, np.float32)) for _ in range(2))

    def mix(number: int, chunk: Chunk, total: Both) -> None:
        own = chunks[number]
        for t in of_pieces:
            t[: own.n_cells] = 0
        applier.fill(own, text, matrices if own.n_cells > FEW_CELLS else None, both, pool)
        for belief in beliefs:
            belief(own, text, both, pool, starts)
        applier.add(own, text, both, of_pieces, 1.0, pool)
        place = chunk.k0, bitext.source.offsets, bitext.target.offsets, chunk.cell_offsets

        def task(b: tuple[int, int]) -> None:
            for posteriors, out in zip(of_pieces, total, strict=True):
                kd.fold_block(*b, *place, *starts, own.cell_offsets, posteriors, np.float32(WEIGHT), out)

        pool.map(task, chunk.sentence_blocks)

    return mix


def believing(given: GivenLinks, bitext: Bitext) -> Belief:
    """Return what adds links of a text's words to the link matrices of its chunks; see `kernels_decoding`."""
    links = given.links.offsets, np.ascontiguousarray(given.links.pairs), given.strengths.astype(np.float32)
    words = bitext.source.offsets, bitext.target.offsets
    whole = [np.arange(len(side.tokens) + 1) for side in (bitext.source, bitext.target)]

    def add(chunk: Chunk, text: ModelText, both: Both, pool: Pool, starts: Sequence[np.ndarray] | None) -> None:
        pairs, lexicon = pairs_of(text, chunk), text.model.lexicon
        longest = max(int(np.diff(o[chunk.k0 : chunk.k1 + 1]).max(initial=1)) for o in (pairs[2], pairs[4]))
        place = chunk.k0, *(starts or whole), *words, pairs, lexicon.s_inverse, lexicon.t_inverse, *links

        def task(b: tuple[int, int]) -> None:
            kd.believe_links(*b, *place, np.empty((2, longest), np.float32), both)

        pool.map(task, chunk.sentence_blocks)

    return add


def joint_thresholds(threshold: float) -> np.ndarray:
    """Return the thresholds of the joint decision, float32 [3].

    They are for a word's first link, for one next to the word's more probable link, and for others; see `decisions`.
    """
    odds = threshold / max(1.0 - threshold, 1e-9) * np.array([1.0, BESIDE, APART])
    found = (odds / (1.0 + odds)).astype(np.float32)
    found[0] = threshold
    return found


def decide(posteriors: Posteriors, way: int, threshold: float, pool: Pool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Decide on links.

    way: One of `kernels_decoding`'s MEAN, FORWARD, REVERSE, FORWARD_BEST, REVERSE_BEST, JOINT.
    Returns pairs (int32 [n, 2]); offsets (int64 [k1 - k0 + 1]); probabilities (float32 [n]).
    """
    p = posteriors
    counts = np.zeros(p.k1 - p.k0, np.int64)
    longest = int(p.lengths().max(initial=1))
    thresholds = joint_thresholds(threshold)

    def run(b: tuple[int, int], pairs: np.ndarray, probabilities: np.ndarray) -> int:
        place = *b, p.k0, p.source_offsets, p.target_offsets, p.cell_offsets, p.forward, p.reverse
        found = counts[b[0] - p.k0 : b[1] - p.k0], pairs, probabilities
        if way == kd.JOINT:
            n: int = kd.joint_block(*place, thresholds, np.empty((2, longest), np.float32), *found)
        else:
            n = kd.decide_block(*place, way, np.float32(threshold), *found)
        return n

    def task(b: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        n = run(b, np.empty((0, 2), np.int32), np.empty(0, np.float32))
        pairs, probabilities = np.empty((n, 2), np.int32), np.empty(n, np.float32)
        if n:
            run(b, pairs, probabilities)
        return pairs, probabilities

    parts = pool.map(task, p.sentence_blocks)
    offsets = np.zeros(p.k1 - p.k0 + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    if not parts:
        return np.empty((0, 2), np.int32), offsets, np.empty(0, np.float32)
    return np.concatenate([a for a, _ in parts]), offsets, np.concatenate([b for _, b in parts])
