"""Training: IBM 1, then IBM 2 or the HMM, then the sampler, for each view of the text.

With joint training both directions share one expected count a pair of words, the product of their posteriors,
and so one array of values: ``p(t | s)`` and ``p(s | t)`` differ in their normalizers alone.
"""

import time
from dataclasses import dataclass

import numpy as np

from aligntools.aligning import estimation as est
from aligntools.aligning import kernels_hmm as kh
from aligntools.aligning import kernels_ibm as ki
from aligntools.aligning import kernels_table as kt
from aligntools.aligning.member import Member
from aligntools.aligning.passes import Passes
from aligntools.aligning.sampling import train_sampler
from aligntools.aligning.settings import DIRECTIONS, Settings
from aligntools.aligning.table import Table, build_table, count_words
from aligntools.aligning.views import look_alike_keys, view

#: Jumps are counted on every so many sentences that about this many tokens take part.
JUMP_SAMPLE = 400_000


@dataclass
class SideView:
    """One side of the corpus as a member sees it; like ``Side``."""

    tokens: np.ndarray
    offsets: np.ndarray
    view: int = 0

    def __len__(self):
        return len(self.offsets) - 1

    def lengths(self):
        """Words a sentence."""
        return np.diff(self.offsets)


def side_view(side, vocabulary, length):
    """Cut one side's words; return the side, the words, the map and the look-alike keys (one more place each)."""
    words, mapping = view(vocabulary.words(), length)
    cut_already = getattr(side, "view", 0) == length
    tokens = side.tokens if cut_already else mapping[side.tokens]
    keys = np.concatenate([look_alike_keys(words), np.zeros((3, 1), np.int32)], axis=1)
    mapping = np.append(mapping, np.int32(len(words)))
    return SideView(tokens, side.offsets), words, mapping, keys


def collapse(bitext, length):
    """Cut the words of a text in place, where one view alone is trained: half the memory of a copy."""
    for name in ("source", "target"):
        side = getattr(bitext, name)
        mapping = view(getattr(bitext, f"{name}_vocabulary").words(), length)[1]
        for a in range(0, len(side.tokens), 1 << 20):
            part = side.tokens[a : a + (1 << 20)]
            part[:] = mapping[part]
        setattr(bitext, name, SideView(side.tokens, side.offsets, length))


def train(bitext, settings: Settings, pool, max_cells, report=None, start=None):
    """Train every member of a model.

    Parameters
    ----------
    bitext : Bitext
        Blank pairs are passed over.
    settings : Settings, resolved
    report : callable or None
        Called with a dict after each iteration: view, stage, iteration, log-likelihoods, seconds.
    start : list of Member or None
        Members of the same views to go on from: what they learned is added to the priors.

    Returns
    -------
    list of Member
    """
    members = []
    for number, length in enumerate(settings.views):
        old = start[number] if start else None
        members.append(_train_member(bitext, length, settings, pool, max_cells, report or (lambda _: None), old))
    return members


def _unigrams(side, n_words):
    counts = count_words(side.tokens, n_words + 1)
    smoothed = counts + 0.5
    return (smoothed / smoothed.sum()).astype(np.float32), counts


def _old_counts(table, s_words, t_words, old):
    """Expected counts that an older member has for this table's pairs, float32 [n_pairs] each."""
    s_ids, t_ids = ({w: i for i, w in enumerate(words)} for words in (old.s_words, old.t_words))
    n_s, n_t = len(old.s_words), len(old.t_words)
    s_map = np.array([s_ids.get(w, n_s) for w in s_words], np.int32)
    t_map = np.array([t_ids.get(w, n_t) for w in t_words], np.int32)
    rows = s_map[np.repeat(np.arange(table.n_source), np.diff(table.ptr))]
    columns = t_map[table.ids]
    keys = np.repeat(np.arange(old.table.n_source, dtype=np.int64), np.diff(old.table.ptr)) * (n_t + 1) + old.table.ids
    wanted = rows.astype(np.int64) * (n_t + 1) + columns
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    found = (keys[at] == wanted) if len(keys) else np.zeros(len(wanted), bool)
    return [np.where(found, c[at] if len(c) else 0, 0).astype(np.float32) for c in old.counts]


def _train_member(bitext, length, settings, pool, max_cells, report, old):
    began = time.perf_counter()
    source, s_words, s_map, s_keys = side_view(bitext.source, bitext.source_vocabulary, length)
    target, t_words, t_map, t_keys = side_view(bitext.target, bitext.target_vocabulary, length)
    table, counts = build_table(source, target, len(s_words), len(t_words), pool, settings.keep, settings.p_null)
    s_null, s_counts = _unigrams(source, len(s_words))
    t_null, t_counts = _unigrams(target, len(t_words))
    joint = settings.joint
    directions = DIRECTIONS[settings.direction]
    variational = settings.estimator == "vb"
    all_counts = [counts] if joint else [counts, counts.copy()]
    prior = _old_counts(table, s_words, t_words, old) if old else None
    if prior:
        all_counts = [c + p for c, p in zip(all_counts, prior, strict=True)]
    jumps = old.jumps if old else est.initial_jumps()
    tension = np.full(2, settings.tension if settings.favor_diagonal else 0.0)
    p_null = np.full(2, settings.p_null, np.float32)
    report({"view": length, "stage": "table", "pairs": len(table.ids), "seconds": time.perf_counter() - began})

    passes = Passes(source, target, table, pool, max_cells)
    state = _State(source, target, passes, pool, directions, joint, s_null, t_null, p_null)
    looks = None
    first = settings.ibm_iterations
    total = first + (settings.model_iterations if settings.model != "ibm1" else 0)
    stride = max(1, len(source.tokens) // JUMP_SAMPLE)
    shapes = None
    if settings.model == "ibm2" and first == 0:  # then the first, uniform iteration knows the diagonal too
        began = time.perf_counter()
        for c in all_counts:
            c[:] = 0
        if not joint:  # NULL is learned then, and begins as ignorant as the words
            state.t_null = np.full_like(t_null, 1 / table.n_target)
            state.s_null = np.full_like(s_null, 1 / table.n_source)
        loglik, _ = state.ibm(est.uniform_lexicon(table), tension, all_counts)
        state.estimate_null(settings)
        report(
            {
                "view": length, "stage": "ibm2", "iteration": 0, "log_likelihood": loglik.tolist(),
                "tension": tension.tolist(), "seconds": time.perf_counter() - began,
            }
        )  # fmt: skip
    for iteration in range(1, total):  # the table's first counts are iteration 0
        began = time.perf_counter()
        hmm = iteration >= first and settings.model in ("hmm", "fertility")
        diagonal = iteration >= first and settings.model == "ibm2"
        if iteration == max(first, 1) and settings.prune > 0:
            table, all_counts = _prune(table, all_counts, settings.prune)
            passes.table = table
            looks = None
            if prior:
                prior = _old_counts(table, s_words, t_words, old)
        if looks is None and settings.look_alike and variational:
            looks = est.LookAlikes(table, s_keys, t_keys, s_counts, t_counts)
        lexicon, _ = _estimate(table, all_counts, looks, prior, settings, pool)
        for c in all_counts:
            c[:] = 0
        if hmm:
            loglik, jump_counts = state.hmm(lexicon, jumps, all_counts, stride)
            jumps = est.jumps_from_counts(jump_counts, 0.5 if variational else 0.0)
        else:
            loglik, features = state.ibm(lexicon, tension if diagonal else np.zeros(2), all_counts)
            state.estimate_null(settings)
            if diagonal and settings.optimize_tension:
                if shapes is None:
                    shapes = [
                        est.sentence_shapes(source.lengths(), target.lengths()),
                        est.sentence_shapes(target.lengths(), source.lengths()),
                    ]
                tension = np.array([est.tension_step(tension[d], *features[d], *shapes[d]) for d in (0, 1)])
        report(
            {
                "view": length, "stage": "hmm" if hmm else "ibm2" if diagonal else "ibm1", "iteration": iteration,
                "log_likelihood": loglik.tolist(), "tension": tension.tolist(), "seconds": time.perf_counter() - began,
            }
        )  # fmt: skip
    if looks is None and settings.look_alike and variational:
        looks = est.LookAlikes(table, s_keys, t_keys, s_counts, t_counts)
    lexicon, tiers = _estimate(table, all_counts, looks, prior, settings, pool)
    member = Member(
        length, s_words, t_words, s_map, t_map, s_keys, t_keys, table, lexicon, all_counts, tiers,
        state.s_null, state.t_null, jumps, p_null, tension if settings.model == "ibm2" else np.zeros(2),
    )  # fmt: skip
    if settings.model == "fertility":
        began = time.perf_counter()
        member.sampler = train_sampler(member, passes, looks, settings, pool)
        report({"view": length, "stage": "sampler", "seconds": time.perf_counter() - began})
    return member


def _prune(table, all_counts, least):
    """Leave out pairs with fewer expected counts than ``least`` (in both directions)."""
    most = all_counts[0] if len(all_counts) == 1 else np.maximum(*all_counts)
    ptr = np.zeros_like(table.ptr)
    if len(all_counts) == 1:
        n = kt.prune_rows(table.ptr, table.ids, most, least, ptr)
        ids, kept = table.ids[:n].copy(), [all_counts[0][:n].copy()]
    else:
        keep = most >= least
        np.cumsum(np.bincount(np.repeat(np.arange(table.n_source), np.diff(table.ptr))[keep], minlength=table.n_source),
                  out=ptr[1:])  # fmt: skip
        ids, kept = table.ids[keep], [c[keep] for c in all_counts]
    return Table(ptr, ids, table.types, table.target_types), kept


def _estimate(table, all_counts, looks, prior, settings, pool):
    """M-step of the lexical tables; priors beyond alpha stay in the counts."""
    if prior:
        for c, p in zip(all_counts, prior, strict=True):
            c += p
    tiers = np.zeros(4)
    if looks is not None:
        for c in all_counts:
            looks.add_prior(c)
            tiers = np.maximum(tiers, looks.strengths)
    lexicon = est.lexicon_from_counts(
        table, all_counts[0], all_counts[-1], tiers, settings.alpha, settings.estimator == "vb", pool
    )
    return lexicon, tiers


class _State:
    """E-steps over the corpus."""

    def __init__(self, source, target, passes, pool, directions, joint, s_null, t_null, p_null):
        self.source, self.target, self.passes, self.pool = source, target, passes, pool
        self.directions, self.joint = directions, joint
        self.s_null, self.t_null, self.p_null = s_null, t_null, p_null

    def _pass(self, lexicon, all_counts, block, then=None):
        loglik = np.zeros(2)
        for chunk in self.passes.chunks:
            self.passes.index(chunk)
            cells = self.passes.cells
            self.passes.fill(chunk, lexicon.forward, lexicon.default, cells)
            other = cells
            if not self.joint:
                other = self.passes.second
                self.passes.fill(chunk, lexicon.reverse, lexicon.default, other)
            logs = np.zeros((2, chunk.k1 - chunk.k0))
            self.pool.map(lambda b: block(b, chunk, cells, other, logs), chunk.sentence_blocks)  # noqa: B023
            loglik += logs.sum(1)
            if then:
                then(chunk, cells, other)
            for d, counts in enumerate(all_counts):
                if self.joint or self.directions & (d + 1):
                    self.passes.collect(chunk, counts, (cells, other)[d])
        return loglik

    def hmm(self, lexicon, jumps, all_counts, stride):
        """One HMM E-step: log-likelihoods, jump counts; pair counts are added to ``all_counts``."""
        taps, back = est.jump_taps(jumps)
        parts = {}

        def block(b, chunk, cells, other, logs):
            counted = np.zeros((2, 2, kh.JUMP_SIZE))
            kh.hmm_block(
                *b, chunk.k0, self.source.tokens, self.source.offsets, self.target.tokens, self.target.offsets,
                chunk.cell_offsets, cells, other, lexicon.s_inverse, lexicon.t_inverse, self.s_null, self.t_null,
                jumps, taps, back, self.p_null, self.directions, self.joint, stride, counted, logs,
            )  # fmt: skip
            parts[b] = counted

        loglik = self._pass(lexicon, all_counts, block)
        return loglik, sum(parts[b] for b in sorted(parts))

    def ibm(self, lexicon, tension, all_counts):
        """One IBM 1 or 2 E-step: log-likelihoods, and the tension's expectations."""
        parts = {}

        def block(b, chunk, cells, other, logs):
            features = np.zeros((2, 2))
            ki.ibm_block(
                *b, chunk.k0, self.source.tokens, self.source.offsets, self.target.tokens, self.target.offsets,
                chunk.cell_offsets, cells, other, lexicon.s_inverse, lexicon.t_inverse, self.s_null, self.t_null,
                self.p_null, tension, self.directions, self.joint, logs, features,
            )  # fmt: skip
            parts[b] = features

        self.null_counts = [np.zeros(len(self.t_null)), np.zeros(len(self.s_null))]
        loglik = self._pass(lexicon, all_counts, block, None if self.joint else self._count_null)
        return loglik, sum(parts[b] for b in sorted(parts))

    def _count_null(self, chunk, cells, other):
        """Add the chunk's expected counts of words under NULL."""
        for d, (side, posteriors) in enumerate(((self.target, cells), (self.source, other))):
            if not self.directions & (d + 1):
                continue
            a, b = side.offsets[chunk.k0], side.offsets[chunk.k1]
            found = np.empty(b - a, np.float32)

            def task(block, posteriors=posteriors, forward=d == 0, found=found):
                ki.null_posteriors(
                    *block, chunk.k0, self.source.offsets, self.target.offsets, chunk.cell_offsets,
                    posteriors, forward, found,
                )  # fmt: skip

            self.pool.map(task, chunk.sentence_blocks)
            self.null_counts[d] += np.bincount(side.tokens[a:b], found, len(self.null_counts[d]))

    def estimate_null(self, settings):
        """M-step of NULL's words, for IBM 1 and 2 alone; elsewhere NULL gives words as the text does."""
        if self.joint or settings.model not in ("ibm1", "ibm2") or settings.p_null == 0:
            return
        variational = settings.estimator == "vb"
        if self.directions & 1:
            self.t_null = est.null_from_counts(self.null_counts[0], settings.alpha, variational)
        if self.directions & 2:
            self.s_null = est.null_from_counts(self.null_counts[1], settings.alpha, variational)
