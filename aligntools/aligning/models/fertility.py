"""The fertility model (after Östling & Tiedemann 2016): the HMM, and counts of a Gibbs sampler that starts from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from aligntools.aligning import precompile
from aligntools.aligning.models import kernels_fertility as kf
from aligntools.aligning.models import kernels_link_counts as kc
from aligntools.aligning.models.base import LexicalModel, Stage, WordLinks
from aligntools.aligning.models.hmm import Hmm, shares
from aligntools.aligning.models.lexical import LexicalFields
from aligntools.aligning.parts import sampler as sampler_in_parts
from aligntools.aligning.parts.table import PartTable
from aligntools.aligning.parts.work import ViewWork
from aligntools.aligning.settings import ResolvedSettings
from aligntools.aligning.text.link_matrices import Both, Chunk, directed_of
from aligntools.aligning.text.views import ParallelText
from aligntools.aligning.training.sampling import link_candidates, sampler_scratch, train_sampler
from aligntools.formats.models.modelfile import hold
from aligntools.ground.parallel import Pool
from aligntools.viewing.models import Columns

#: Sweeps over a sentence that a trained model is applied to, and how many of these come before collecting.
SWEEPS, BURN = 8, 2
#: Nothing is collected where counts stay as they are.
_NO_MEANS = kc.LinkMeans(np.zeros(0, np.float32), np.zeros((0, 0)), np.zeros((0, 0)))
#: Fields of the counts that are arrays of a file as they are.
_AS_THEY_ARE = ("pairs", "words", "types", "null", "jump_rows", "fertility")
#: Jumps that are shown one by one; longer ones are summed.
_FAR = 9


class FertilityStage(Stage):
    """The fertility model in training. The HMM's stage has the iterations; the sampler comes after them."""

    def parameters(self) -> dict[str, Any]:
        """Return the jumps."""
        return self._hmm.parameters()

    def restore(self, parameters: dict[str, np.ndarray]) -> Self:
        """Take jumps that were kept."""
        self._hmm.restore(parameters)
        return self

    @property
    def _hmm(self) -> Stage:
        assert self.before is not None, "the HMM comes before"
        return self.before

    def finish(self, fields: LexicalFields, training: Any) -> LexicalModel:
        """Sample the links of the text."""
        task = self.task
        hmm, matrices = Hmm(**fields, **self.parameters()), training.matrices
        given = training.looks, task.settings, matrices.pool, task.priors, training.last_pass
        sampler = training.timed("sampler", train_sampler, hmm, matrices, *given)
        return self.of(**fields, **self.parameters(), sampler=sampler)


@dataclass(frozen=True, eq=False, kw_only=True)
class Fertility(Hmm):
    """The HMM with the sampler's counts.

    linked (tuple of float64 [n_words], or None): See `WordLinks`.
    """

    STAGE = FertilityStage
    compiled_ahead = precompile.Ahead(kf.sweep, (precompile.sampler, precompile.links, precompile.pieces))

    sampler: list[kc.LinkCounts]
    linked: tuple[np.ndarray, np.ndarray] | None = None

    def sampled(
        self, text: ParallelText, chunk: Chunk, posteriors: Both, settings: ResolvedSettings, pool: Pool
    ) -> tuple[list[kc.Sampled], float]:
        """Sample each sentence's links with the model's counts as they are; see `LexicalModel.sampled`."""
        how = settings.sampler_p_null, kf.LEXICAL_PRIOR, SWEEPS, BURN, True, np.uint64(settings.seed)
        sizes, both = (len(self.words.s_words), len(self.words.t_words)), []
        for d, way in enumerate((1, -1)):
            found = link_candidates(text, chunk, posteriors[d], self.table, d == 0, pool)
            place, known = directed_of(text, chunk, d), sizes[::way]

            def task(
                b: tuple[int, int], place: Any = place, found: Any = found, d: int = d, known: Any = known
            ) -> None:
                rest = np.zeros(1, np.uint64), *known, sampler_scratch(place, *b)
                kf.sweep(*b, place, found, self.sampler[d], _NO_MEANS, *how, *rest)

            pool.map(task, chunk.sentence_blocks)
            both.append(found)
        return both, settings.hmm_weight

    def word_links(self) -> WordLinks:
        """Return the links that were sampled."""
        forward, reverse = self.sampler
        return WordLinks(
            (forward.pairs, reverse.pairs),
            (forward.words[:-1], reverse.words[:-1]),
            (forward.null[:-1], reverse.null[:-1]),
            self.linked,
        )

    def about(self) -> dict[str, Any]:
        """Return that there are the sampler's counts."""
        return {"sampler": True}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its own arrays, as a file names them."""
        out = super().arrays()
        for d, counts in enumerate(self.sampler):
            out.update({f"sampler.{d}.{name}": getattr(counts, name) for name in _AS_THEY_ARE})
            places = np.flatnonzero(counts.jumps)  # most are 0
            out[f"sampler.{d}.jumps.places"] = places.astype(np.int32)
            out[f"sampler.{d}.jumps.values"] = counts.jumps.ravel()[places]
        return out

    @classmethod
    def from_arrays(
        cls, fields: LexicalFields, arrays: dict[str, np.ndarray], about: dict[str, Any], settings: ResolvedSettings
    ) -> Hmm:
        """Rebuild the model from saved arrays."""
        if not about["sampler"]:
            return Hmm.from_arrays(fields, arrays, about, settings)
        n_s, n_t, n_pairs = len(fields["words"].s_words), len(fields["words"].t_words), len(fields["table"].ids)
        arrays = _with_jump_rows(arrays, (n_s, n_t))
        counts = [_counts_of(arrays, 0, n_s, n_t, n_pairs), _counts_of(arrays, 1, n_t, n_s, n_pairs)]
        return cls(**fields, jumps=arrays["jumps"], sampler=counts)

    @classmethod
    def finish_in_parts(cls, view: Any, last: int) -> None:
        """Sample the links of each part."""
        sampler_in_parts.sample_view(view, last)

    @classmethod
    def of_part(cls, part_table: PartTable, fields: LexicalFields, parameters: dict[str, Any]) -> "Fertility":
        """Return a part's share of a model that was trained in parts."""
        sampler, linked = sampler_in_parts.part_sampler(part_table)
        return cls(**fields, **parameters, sampler=sampler, linked=linked)

    @classmethod
    def of_parts(cls, view_work: ViewWork, fields: LexicalFields, parameters: dict[str, Any]) -> "Fertility":
        """Return the whole model that was trained in parts."""
        sampler = sampler_in_parts.whole_sampler(view_work, fields["table"])
        return cls(**fields, **parameters, sampler=sampler)

    def jump_shares(self, d: int) -> list[float]:
        """Return one direction's shares of jumps from -9 or less to 9 or more, from all words."""
        counts = self.sampler[d].jumps[-1, :-1] + 1e-9
        middle = counts[kc.JUMPS - _FAR + 1 : kc.JUMPS + _FAR]
        ends = counts[: kc.JUMPS - _FAR + 1].sum(), counts[kc.JUMPS + _FAR :].sum()
        return shares(np.array([ends[0], *middle, ends[1]]))

    def charts(self) -> list[Columns]:
        """Return jumps and fertilities."""
        series = [
            (f"{side} words", shares(counts.fertility.sum(axis=0, dtype=np.float64)))
            for side, counts in zip(("source", "target"), self.sampler, strict=True)
        ]
        last = kc.FERTILITIES - 1
        names = [f"{k}" if k < last else f"≥{k}" for k in range(last + 1)]
        return [*super().charts(), Columns("Fertilities", "words that are linked to a word", names, series)]

    def word_shares(self, d: int, words: np.ndarray) -> list[list[float]]:
        """Return the fertilities of some words."""
        known = self.sampler[d].fertility[words].astype(np.float64)
        shown: list[list[float]] = (known / np.maximum(known.sum(axis=1, keepdims=True), 1e-9)).tolist()
        return shown


def _counts_of(arrays: dict[str, np.ndarray], d: int, given: int, observed: int, n_pairs: int) -> kc.LinkCounts:
    """Return the sampler's counts of one direction, checked: kernels trust shapes, rows and places."""
    shapes = (
        ((n_pairs,), np.float32),
        ((given + 1,), np.float64),
        ((given,), np.float32),
        ((observed + 1,), np.float64),
        ((given + 1,), np.int16),
        ((given, kc.FERTILITIES), np.float32),
    )
    for name, (shape, kind) in zip(_AS_THEY_ARE, shapes, strict=True):
        hold(arrays, f"sampler.{d}.{name}", shape, kind, 0)
    rows = arrays[f"sampler.{d}.jump_rows"]
    hold(arrays, f"sampler.{d}.jump_rows", rows.shape, np.int16, 0, int(rows[-1]))
    jumps = np.zeros((int(rows[-1]) + 3, 2 * kc.JUMPS + 2))  # the last row of words, the beginning's, that of all
    places = arrays[f"sampler.{d}.jumps.places"]
    hold(arrays, f"sampler.{d}.jumps.places", (places.size,), np.int32, 0, jumps.size - 1)
    jumps.ravel()[places] = hold(arrays, f"sampler.{d}.jumps.values", (places.size,), np.float64, 0)
    pairs, words, types, null, _, fertility = (arrays[f"sampler.{d}.{name}"] for name in _AS_THEY_ARE)
    return kc.LinkCounts(pairs, words, types, null, rows, jumps, fertility)


def _with_jump_rows(arrays: dict[str, np.ndarray], sizes: Sequence[int]) -> dict[str, np.ndarray]:
    """Return a sampler's arrays as they are now; in files of version 0.3 the jumps from all words are the same."""
    found = dict(arrays)
    for d, given in enumerate(sizes):
        words, jumps = f"sampler.{d}.words", f"sampler.{d}.jumps"
        if jumps not in arrays:
            continue
        hold(arrays, words, (given + 2,), np.float64, 0)
        hold(arrays, jumps, (2 * kc.JUMPS + 1,), np.float64, 0)
        found[words], found[f"sampler.{d}.jump_rows"] = arrays[words][:-1], np.zeros(given + 1, np.int16)
        slots = 2 * kc.JUMPS + 2
        found[f"{jumps}.places"] = np.arange(2 * slots, 3 * slots, dtype=np.int32)
        found[f"{jumps}.values"] = np.append(arrays[jumps], arrays[words][-1])
    return found
