"""Training the fertility model: the sampler starts from the joint HMM and goes over the text chunk by chunk.

For sentences that the sampler has not reached yet, the HMM's expected counts take the place of counts; they are taken
away as it goes on. A corpus of one chunk starts from its own links alone. The two directions are independent and have
a random generator each, so the result does not depend on the number of threads.
"""

from collections.abc import Callable, Sequence

import numpy as np

from aligntools.aligning.alignments import Alignments
from aligntools.aligning.applying import kernels_decoding as kd
from aligntools.aligning.applying.applier import posteriors_of
from aligntools.aligning.applying.decisions import links_from
from aligntools.aligning.models import kernels_fertility as kf
from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models import kernels_link_counts as kc
from aligntools.aligning.models.base import LinkTaker
from aligntools.aligning.models.hmm import Hmm
from aligntools.aligning.models.lexical import LookAlikes
from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.settings import MEDIUM, SMALL, Decisions, ResolvedSettings
from aligntools.aligning.text.cooccurrence import Table
from aligntools.aligning.text.kernels_pairs import Directed
from aligntools.aligning.text.link_matrices import Chunk, LinkMatrices, directed_of, pairs_of
from aligntools.aligning.text.views import ParallelText
from aligntools.aligning.training.view_priors import ViewPriors
from aligntools.ground.parallel import Pool

#: Tokens of a side up to which a corpus is sampled as one chunk; beyond, in chunks of a quarter of them.
CHUNK_TOKENS = 1_000_000
#: Pseudo-count of jumps that the sampler starts with, spread as the HMM's.
PRIOR_JUMPS = 100.0
#: Expected counts of a large text are taken away in so many steps: to do so for each chunk would take too long.
REMOVALS = 32
#: Least posterior of a candidate position.
LEAST = 0.01
#: A word with one candidate of a higher posterior is not sampled.
SURE = 0.99
#: Number of given words whose jumps are counted separately.
JUMP_WORDS = 500


def most_linked(expected_words: np.ndarray) -> np.ndarray:
    """Return each word's row of jumps: words with the most links have rows of their own; int16 [words + 1]."""
    n = min(JUMP_WORDS, len(expected_words))
    rows = np.full(len(expected_words) + 1, n, np.int16)
    rows[np.argsort(-expected_words, kind="stable")[:n]] = np.arange(n)
    return rows


def prior_jumps(jumps: np.ndarray, jump_rows: np.ndarray) -> np.ndarray:
    """Return PRIOR_JUMPS pseudo-counts spread as the HMM's jumps, without which a few sentences say too little.

    They are in the row of all words of the result, float64 [rows, 2 * JUMPS + 2]; the other rows are 0.
    """
    window = jumps[: 2 * kj.WINDOW + 1].astype(np.float64)
    prior = np.zeros((int(jump_rows[-1]) + 3, 2 * kc.JUMPS + 2))
    prior[-1, kc.JUMPS - kj.WINDOW : kc.JUMPS + kj.WINDOW + 1] = PRIOR_JUMPS * window / window.sum()
    prior[-1, -1] = prior[-1, :-1].sum()
    return prior


def sampler_scratch(text: Directed, k0: int, k1: int) -> kf.SamplerScratch:
    """Return what `kernels_fertility.sweep` works with on the sentences ``k0..k1`` of a `Directed` text."""
    given, observed = (int(np.diff(o[k0 : k1 + 1]).max(initial=1)) for o in (text.given_offsets, text.observed_offsets))
    return kf.SamplerScratch(np.zeros(given, np.int64), np.empty(kc.CANDIDATES), np.empty((observed, kc.CANDIDATES)))


def link_candidates(
    text: ParallelText, chunk: Chunk, posteriors: np.ndarray, table: Table, forward: bool, pool: Pool
) -> kc.Sampled:
    """List candidate positions of every observed word of a chunk, by one direction's posteriors."""
    offsets = (text.target if forward else text.source).offsets
    n = int(offsets[chunk.k1] - offsets[chunk.k0])
    lists = (np.zeros((n, kc.CANDIDATES), kind) for kind in (np.int16, np.int32, np.float32))
    found = kc.Sampled(np.empty(n, np.int16), np.zeros(n, np.int8), *lists)
    place = pairs_of(text, chunk), posteriors, table.ptr, table.ids, forward

    def task(b: tuple[int, int]) -> None:
        kf.candidates_block(*b, *place, np.float32(LEAST), np.float32(SURE), found)

    pool.map(task, chunk.sentence_blocks)
    return found


class DirectionCounts:
    """Counts of one direction while sampling.

    expected (float32 [n_pairs], float64 [n_given_words]): The HMM's, and their sums; ``extra``: the same of priors.
    begun: ``null``, ``jump_rows``, ``jumps`` and ``fertility`` of `LinkCounts`, which begin with them.
    """

    def __init__(
        self,
        table: Table,
        forward: bool,
        expected: tuple[np.ndarray, np.ndarray],
        extra: tuple[np.ndarray, np.ndarray],
        begun: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
        generator: int,
    ) -> None:
        self.forward, (null, _, jumps, fertility) = forward, begun
        (self.expected, self.expected_words), (self.extra, self.extra_words) = expected, extra
        types, words = table.types if forward else table.target_types, np.append(self.extra_words, null.sum())
        self.counts = kc.LinkCounts(self.extra.copy(), words, types.astype(np.float32), *begun)
        self.means = kc.LinkMeans(np.zeros_like(self.extra), jumps.copy(), fertility.astype(np.float64))
        self.generator = np.array([generator], np.uint64)

    def add_expected(self, share: float) -> None:
        """Add ``share`` of the HMM's expected counts."""
        pairs, words = self.counts.pairs, self.counts.words[: len(self.extra_words)]
        pairs += self.expected * np.float32(share)
        np.maximum(pairs, self.extra, out=pairs)
        words += self.expected_words * share
        np.maximum(words, self.extra_words, out=words)


def _direction(
    hmm: Hmm, forward: bool, looks: LookAlikes | None, seed: int, priors: ViewPriors | None = None
) -> DirectionCounts:
    table = hmm.table
    extra = np.zeros(len(table.ids), np.float32)
    if looks is not None and len(looks.entries):
        extra[looks.entries] = looks.strengths[looks.tiers]
    if priors is not None:
        extra += priors.of_pairs(table)
    sums = table.row_sums if forward else table.column_sums
    given, observed = (table.n_source, table.n_target)[:: 1 if forward else -1]
    null = np.zeros(observed + 1)
    expected = hmm.counts[0 if forward else -1]
    expected_words = sums(expected)
    jump_rows = most_linked(expected_words)
    jumps = prior_jumps(hmm.jumps[0 if forward else 1], jump_rows)
    fertility = np.zeros((given, kc.FERTILITIES), np.float32)
    if priors is not None:
        way = 0 if forward else 1
        null += (priors.t_null, priors.s_null)[way]
        jumps[-1, :-1] += priors.jumps[way]
        jumps[-1, -1] = jumps[-1, :-1].sum()
        fertility += priors.fertilities[way]
    begun = null, jump_rows, jumps, fertility
    return DirectionCounts(table, forward, (expected, expected_words), (extra, sums(extra)), begun, seed * 2 + forward)


def train_sampler(
    hmm: Hmm,
    matrices: LinkMatrices,
    looks: LookAlikes | None,
    settings: ResolvedSettings,
    pool: Pool,
    priors: ViewPriors | None = None,
    last_pass: LinkTaker | None = None,
) -> list[kc.LinkCounts]:
    """Sample links over the corpus of ``matrices`` from the HMM's posteriors on.

    matrices: Freed if the corpus is sampled in smaller chunks.
    """
    source, target, table = matrices.source, matrices.target, hmm.table
    longest = max(len(source.tokens), len(target.tokens))
    if longest > CHUNK_TOKENS:
        matrices.free()
        matrices = LinkMatrices(source, target, table, pool, min(matrices.max_cells, 8_000_000), CHUNK_TOKENS // 4)
    directions = [_direction(hmm, forward, looks, settings.seed, priors) for forward in (True, False)]
    total = max(1, sum(c.n_cells for c in matrices.chunks))
    sample(hmm, matrices, directions, total, len(matrices.chunks) > 1, settings, pool, last_pass)
    found = []
    for d in directions:
        pairs, fertility = d.means.pairs + d.extra, d.means.fertility.astype(np.float32)
        words = np.append(table.row_sums(pairs) if d.forward else table.column_sums(pairs), d.counts.words[-1])
        found.append(d.counts._replace(pairs=pairs, words=words, jumps=d.means.jumps, fertility=fertility))
    return found


def sample(
    hmm: Hmm,
    matrices: LinkMatrices,
    directions: list[DirectionCounts],
    total: int,
    several: bool,
    settings: ResolvedSettings,
    pool: Pool,
    last_pass: LinkTaker | None = None,
) -> None:
    """Sample the links of ``matrices``, chunk by chunk, and add their counts to ``directions``.

    total: Link-matrix cells of the whole corpus; ``matrices`` may have a part of it.
    several: The corpus has more than one chunk: expected counts are used for sentences that were not reached.
    """
    source, target, table = matrices.source, matrices.target, hmm.table
    sweeps = settings.sweeps
    burn = sweeps // 3
    if several:
        for d in directions:
            d.add_expected(1.0)
    large = max(len(source.tokens), len(target.tokens)) > SMALL
    together = max(1, len(matrices.chunks) // REMOVALS) if large else 1
    for number, chunk in enumerate(matrices.chunks):
        reached = matrices.chunks[number : number + together] if number % together == 0 else []
        matrices.index(chunk)
        matrices.fill(chunk, hmm.lexicon.forward, hmm.lexicon.default, matrices.cells)
        if hmm.lexicon.reverse is hmm.lexicon.forward:
            n = chunk.n_cells
            matrices.second[:n] = matrices.cells[:n]
        else:
            matrices.fill(chunk, hmm.lexicon.reverse, hmm.lexicon.default, matrices.second)
        logs, both = np.zeros((2, chunk.k1 - chunk.k0)), (matrices.cells, matrices.second)
        hmm.posteriors(matrices, chunk, both, 3, pool, logs)
        ways = zip(directions, both, strict=True)
        found = [link_candidates(matrices, chunk, own, table, d.forward, pool) for d, own in ways]

        def task(
            d: DirectionCounts, chunk: Chunk = chunk, found: list[kc.Sampled] = found, reached: list[Chunk] = reached
        ) -> None:
            if several and reached:
                d.add_expected(-sum(c.n_cells for c in reached) / total)
            links = found[0 if d.forward else 1]
            text = directed_of(matrices, chunk, 0 if d.forward else 1)
            scratch = sampler_scratch(text, chunk.k0, chunk.k1)
            kc.add_chunk(chunk.k0, chunk.k1, text, links, 1.0, d.counts, scratch.fertility)
            how = settings.sampler_p_null, kf.LEXICAL_PRIOR, sweeps, burn, False, np.uint64(0)
            kf.sweep(chunk.k0, chunk.k1, text, links, d.counts, d.means, *how, d.generator, 0, 0, scratch)

        pool.map(task, directions)
        if last_pass is not None:
            last_pass(matrices, chunk, found, logs, settings, pool)


# Links of a large text, decided during training: the sampler's pass over the text has all that aligning needs.
#
# To apply the trained model to the text would compute the HMM's posteriors once more, and sample with the counts of
# all of the text. The pass has the posteriors, and samples of its own, with the counts of the text so far.


class LastPass:
    """What a training's last pass over a large text gives, so that the text need not be gone over once more.

    ``take`` is called with the `Alignments` of consecutive runs of pairs. Where none was ``found``, the aligner has to
    be applied to the text.
    """

    def __init__(
        self, take: Callable[[Alignments], object], decisions: Decisions | None = None, directions: bool = True
    ) -> None:
        self.decisions, self.directions, self.take = decisions or Decisions(), directions, take
        self.found = False

    def serves(self, settings: ResolvedSettings, n_tokens: int) -> bool:
        """Return whether the last pass over a text of so many source tokens gives its links."""
        one = kind_of(settings.model_type).last_pass and len(settings.views) == 1
        return one and not settings.subwords and n_tokens > MEDIUM and self.decisions.decode != "viterbi"

    def add(
        self,
        matrices: LinkMatrices,
        chunk: Chunk,
        candidates: Sequence[kc.Sampled],
        logs: np.ndarray,
        settings: ResolvedSettings,
        pool: Pool,
    ) -> None:
        """Decide on a chunk whose matrices are the HMM's posteriors, which are overwritten, with sampled candidates."""
        source, target, weight = matrices.source.offsets, matrices.target.offsets, settings.hmm_weight
        both = matrices.cells, matrices.second

        def mix(block: tuple[int, int]) -> None:
            for d, (cells, found) in enumerate(zip(both, candidates, strict=True)):
                place = *block, chunk.k0, source, target, chunk.cell_offsets, cells, cells
                sampled = found.sizes, found.positions, found.masses
                # total += (weight - 1) total: in place
                kd.mix_block(*place, np.float32(weight - 1.0), d == 0, *sampled, np.float32(1.0 - weight))

        pool.map(mix, chunk.sentence_blocks)
        posteriors = posteriors_of(matrices, chunk, *both, logs)
        self.found = True
        self.take(links_from(self.decisions, pool, self.directions, posteriors, usual=settings.threshold(1)))
