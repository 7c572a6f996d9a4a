"""Applying a model: posteriors and links of any text, the training text among it.

What is computed for a sentence depends on the model and the sentence alone, whatever else is in the batch, so
training's last decoding, a batch and a stream give the same bytes.
"""

from dataclasses import dataclass, replace

import numpy as np

from aligntools.aligning.applying import kernels_decoding as kd
from aligntools.aligning.models import kernels_fertility as kf
from aligntools.aligning.models import kernels_ibm as ki
from aligntools.aligning.models.position_tables import Scratch, positioned
from aligntools.aligning.text import kernels_cooccurrence as kt
from aligntools.aligning.text.kernels_pairs import Directed, Pairs
from aligntools.aligning.text.link_matrices import Passes, plan_chunks
from aligntools.aligning.text.views import cut, look_alike_keys
from aligntools.aligning.training.sampling import Candidates, hmm_posteriors
from aligntools.aligning.training.stages import SideView

#: Sweeps over a sentence, and how many of these come before collecting.
SWEEPS, BURN = 8, 2
#: Link-matrix cells worked at a time, and up to how many pairs are looked up one by one.
CHUNK_CELLS, FEW_CELLS = 6_000_000, 60_000


@dataclass
class Posteriors:
    """Both directions' link posteriors of consecutive sentences, averaged over the members.

    Attributes
    ----------
    k0, k1 : int
        Sentences of the text given.
    source_offsets, target_offsets, cell_offsets
    forward, reverse : float32 [cells]
    log_likelihood : float64 [2, k1 - k0]
        Natural logarithms, mean over the members; forward is ``p(target | source)``.
    """

    k0: int
    k1: int
    source_offsets: np.ndarray
    target_offsets: np.ndarray
    cell_offsets: np.ndarray
    sentence_blocks: list
    forward: np.ndarray
    reverse: np.ndarray
    log_likelihood: np.ndarray


def _known(side, vocabulary_size, mapping, words, view_ids, view, vocabulary):
    """Map a side's ids to a member's; words that it does not know become its last place."""
    tokens = side.tokens
    if getattr(side, "view", 0) == view and view:
        return side, None
    unknown = tokens >= vocabulary_size
    if not unknown.any():
        return SideView(mapping[tokens] if view else tokens, side.offsets), None
    mapped = mapping[np.minimum(tokens, vocabulary_size)]
    extra = np.unique(tokens[unknown])
    strings = [cut(vocabulary.word(int(i)), view) for i in extra]
    size = len(words)
    ids = np.array([view_ids().get(w, size + 1 + n) for n, w in enumerate(strings)], np.int32)
    mapped = mapped.copy()
    mapped[unknown] = ids[np.searchsorted(extra, tokens[unknown])]
    return SideView(mapped, side.offsets), strings


class _MemberText:
    """A text as one member sees it."""

    def __init__(self, member, bitext, sizes):
        self.member = member
        self.source, s_new = self._side(member, bitext.source, bitext.source_vocabulary, sizes[0], True)
        self.target, t_new = self._side(member, bitext.target, bitext.target_vocabulary, sizes[1], False)
        self.s_keys = self._keys(member.s_keys, s_new)
        self.t_keys = self._keys(member.t_keys, t_new)
        # for the kernels every unknown word is the one place after the known words
        self.s_tokens = np.minimum(self.source.tokens, len(member.s_words)) if s_new else self.source.tokens
        self.t_tokens = np.minimum(self.target.tokens, len(member.t_words)) if t_new else self.target.tokens

    @staticmethod
    def _side(member, side, vocabulary, size, is_source):
        words = member.s_words if is_source else member.t_words
        mapping = member.s_map if is_source else member.t_map
        name = "_s_ids" if is_source else "_t_ids"

        def ids():
            if not hasattr(member, name):
                setattr(member, name, {w: i for i, w in enumerate(words)})
            return getattr(member, name)

        return _known(side, size, mapping, words, ids, member.view, vocabulary)

    @staticmethod
    def _keys(keys, new):
        return np.concatenate([keys, look_alike_keys(new)], axis=1) if new else keys


class Applier:
    """Applies one model's members to texts.

    Parameters
    ----------
    members : list of Member
    settings : Settings
    sizes : (int, int)
        Sizes of the model's vocabularies; higher ids are words that it does not know.
    """

    def __init__(self, members, settings, sizes, pool, max_cells=CHUNK_CELLS):
        self.members = [replace(m, table=m.table.with_unknown()) for m in members]
        self.settings, self.sizes, self.pool = settings, sizes, pool
        self.max_cells = min(max_cells, CHUNK_CELLS)

    def posteriors(self, bitext, viterbi=False):
        """Yield `Posteriors` for consecutive runs of sentences.

        With ``viterbi`` the first member's Viterbi paths take the place of posteriors.
        """
        members = self.members[:1] if viterbi else self.members
        texts = [_MemberText(m, bitext, self.sizes) for m in members]
        source, target = bitext.source, bitext.target
        chunks = plan_chunks(source.lengths(), target.lengths(), self.max_cells)
        most = max((c.n_cells for c in chunks), default=0)
        passes = None
        if most > FEW_CELLS:
            passes = [
                Passes(SideView(t.s_tokens, source.offsets), SideView(t.t_tokens, target.offsets), t.member.table,
                       self.pool, self.max_cells)
                for t in texts
            ]  # fmt: skip
        cells, other = np.zeros(most, np.float32), np.zeros(most, np.float32)
        total = [np.zeros(most, np.float32), np.zeros(most, np.float32)]
        for chunk in chunks:
            n = chunk.n_cells
            for t in total:
                t[:n] = 0
            logs = np.zeros((2, chunk.k1 - chunk.k0))
            for number, text in enumerate(texts):
                self._fill(chunk, text, passes[number] if passes and n > FEW_CELLS else None, cells, other)
                if viterbi:
                    self._viterbi(chunk, text, cells, other)
                    total[0][:n], total[1][:n] = cells[:n], other[:n]
                else:
                    self._add(chunk, text, cells, other, total, logs)
            logs /= len(texts)
            yield Posteriors(
                chunk.k0, chunk.k1, source.offsets, target.offsets, chunk.cell_offsets, chunk.sentence_blocks,
                total[0], total[1], logs,
            )  # fmt: skip

    def _fill(self, chunk, text, passes, cells, other):
        lexicon, table = text.member.lexicon, text.member.table
        both = ((lexicon.forward, cells), (lexicon.reverse, other))
        shared = lexicon.reverse is lexicon.forward
        place = (text.s_tokens, text.source.offsets, text.t_tokens, text.target.offsets, chunk.cell_offsets)
        if passes is not None:
            passes.index(chunk)
        for values, out in both[: 1 if shared else 2]:
            if passes is not None:
                passes.fill(chunk, values, lexicon.default, out)
            else:
                kt.lookup_cells(chunk.k0, chunk.k1, chunk.k0, *place, table.ptr, table.ids, values,
                                np.float32(lexicon.default), out)  # fmt: skip
            if self.settings.look_alike and lexicon.floors.max() > lexicon.floors[0]:
                place_keys = (text.source.tokens, text.source.offsets, text.target.tokens, text.target.offsets)

                def task(b, out=out, place_keys=place_keys):
                    kt.look_alike_cells(*b, chunk.k0, *place_keys, chunk.cell_offsets, text.s_keys, text.t_keys,
                                        np.float32(lexicon.default), lexicon.floors, out)  # fmt: skip

                self.pool.map(task, chunk.sentence_blocks)
        if shared:
            other[: chunk.n_cells] = cells[: chunk.n_cells]

    def _viterbi(self, chunk, text, cells, other):
        m = text.member
        place = (chunk.k0, text.s_tokens, text.source.offsets, text.t_tokens, text.target.offsets, chunk.cell_offsets)
        if self.settings.model in ("ibm1", "ibm2"):  # the words are independent: the best position of each
            self._ibm(chunk, text, cells, other, np.zeros((2, chunk.k1 - chunk.k0)))
            return

        def task(b):
            kd.viterbi_block(*b, *place, cells, True, m.lexicon.s_inverse, m.t_null, m.jumps[0], m.p_null[0])
            kd.viterbi_block(*b, *place, other, False, m.lexicon.t_inverse, m.s_null, m.jumps[1], m.p_null[1])

        self.pool.map(task, chunk.sentence_blocks)

    def _ibm(self, chunk, text, cells, other, logs):
        m = text.member
        if m.positions:
            self._positioned(chunk, text, cells, other, logs)
            return
        source, target = text.source.offsets, text.target.offsets
        pairs = Pairs(chunk.k0, text.s_tokens, source, text.t_tokens, target, chunk.cell_offsets)

        def task(b):
            ki.ibm_block(
                *b, pairs, cells, other, m.lexicon.s_inverse, m.lexicon.t_inverse, m.s_null, m.t_null, m.p_null,
                m.tension, 3, False, logs, np.zeros((2, 2)),
            )  # fmt: skip

        self.pool.map(task, chunk.sentence_blocks)

    def _positioned(self, chunk, text, cells, other, logs):
        m, lexicon = text.member, text.member.lexicon
        sides = [SideView(text.s_tokens, text.source.offsets), SideView(text.t_tokens, text.target.offsets)]
        for d, own in enumerate((cells, other)):
            given, observed = sides[d], sides[1 - d]
            scratch = Scratch(chunk, given, observed)

            def task(b, d=d, own=own, given=given, observed=observed, scratch=scratch):
                positioned(
                    b, chunk, given, observed, d == 0, own, (lexicon.s_inverse, lexicon.t_inverse)[d],
                    (m.t_null, m.s_null)[d], m.p_null[d], m.positions[d], 0.0, scratch,
                )  # fmt: skip

            self.pool.map(task, chunk.sentence_blocks)
            logs[d] = scratch.loglik

    def _add(self, chunk, text, cells, other, total, logs):
        """Add one member's posteriors, and marginals, to the totals."""
        m = text.member
        source, target = SideView(text.s_tokens, text.source.offsets), SideView(text.t_tokens, text.target.offsets)
        own = np.zeros_like(logs)
        if self.settings.model in ("ibm1", "ibm2"):
            self._ibm(chunk, text, cells, other, own)
        else:
            hmm_posteriors(m, source, target, chunk.k0, chunk.sentence_blocks, chunk.cell_offsets, cells, other,
                           self.pool, own)  # fmt: skip
        logs += own
        share = 1.0 / len(self.members)
        empty = (np.empty(0, np.int8), np.empty((0, 1), np.int16), np.empty((0, 1), np.float32))
        found = [empty, empty]
        weight = share
        if m.sampler:
            weight = share * self.settings.hmm_weight
            found = [self._sample(chunk, m, source, target, p, f) for p, f in ((cells, True), (other, False))]

        def task(b):
            for d, posteriors in enumerate((cells, other)):
                kd.mix_block(
                    *b, chunk.k0, source.offsets, target.offsets, chunk.cell_offsets, total[d], posteriors,
                    np.float32(weight), d == 0, *found[d], np.float32(share - weight),
                )  # fmt: skip

        self.pool.map(task, chunk.sentence_blocks)

    def _sample(self, chunk, member, source, target, posteriors, forward):
        """Sample each sentence's links with the model's counts as they are; return candidates and marginals."""
        c, o = (source, target) if forward else (target, source)
        f = Candidates(int(o.offsets[chunk.k1] - o.offsets[chunk.k0]))
        f.find(
            chunk.sentence_blocks,
            chunk.k0,
            source,
            target,
            chunk.cell_offsets,
            posteriors,
            member.table,
            forward,
            self.pool,
        )
        s = member.sampler[0 if forward else 1]
        known = (len(member.s_words), len(member.t_words))

        place = Directed(chunk.k0, c.tokens, c.offsets, o.tokens, o.offsets, chunk.cell_offsets)
        counts = kf.LinkCounts(s.pairs, s.words, s.types, s.null, s.jumps, s.fertility)

        def task(b):
            kf.sweep(
                *b, place, f.arrays(), counts, kf.LinkMeans(s.pairs, s.jumps, s.fertility), self.settings.sampler_p_null,
                kf.LEXICAL_PRIOR, SWEEPS, BURN, True, np.uint64(self.settings.seed), np.zeros(1, np.uint64),
                *(known if forward else known[::-1]),
            )  # fmt: skip

        self.pool.map(task, chunk.sentence_blocks)
        return f.sizes, f.positions, f.masses


def decide(posteriors: Posteriors, way, threshold, pool):
    """Decide on links.

    Returns
    -------
    pairs : int32 [n, 2], offsets : int64 [k1 - k0 + 1], probabilities : float32 [n]
    """
    p = posteriors
    counts = np.zeros(p.k1 - p.k0, np.int64)

    def run(b, pairs, probabilities):
        return kd.decide_block(
            *b, p.k0, p.source_offsets, p.target_offsets, p.cell_offsets, p.forward, p.reverse, way,
            np.float32(threshold), counts[b[0] - p.k0 : b[1] - p.k0], pairs, probabilities,
        )  # fmt: skip

    def task(b):
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
