"""Small random corpora, tables and models, and what the slow versions in `tests.naive` need of them."""

from dataclasses import dataclass

import numpy as np

from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models.hmm import Hmm, block_of, no_counts
from aligntools.aligning.models.ibm2 import Ibm2
from aligntools.aligning.models.lexical import Lexicon
from aligntools.aligning.text.cooccurrence import Table, build_table
from aligntools.aligning.text.kernels_look_alikes import TIERS
from aligntools.aligning.text.link_matrices import LinkMatrices
from aligntools.aligning.text.views import ViewWords
from aligntools.aligning.training.expectation import Expectations
from aligntools.formats.text.corpus import Side
from aligntools.ground.parallel import Pool
from tests import naive


def side(sentences):
    offsets = np.cumsum([0, *map(len, sentences)]).astype(np.int64)
    return Side(np.array([w for s in sentences for w in s], np.int32), offsets)


def random_sentences(rng, shapes, words=(6, 5)):
    """Return a corpus of (source ids, target ids) with the lengths given; ids from 1 on."""
    return [(rng.integers(1, words[0], i).tolist(), rng.integers(1, words[1], j).tolist()) for i, j in shapes]


def random_jumps(rng):
    """Return jump parameters of both directions, float32 [2, JUMP_SIZE]."""
    jumps = rng.uniform(0.05, 1.0, (2, kj.JUMP_SIZE)).astype(np.float32)
    jumps[:, 2 * kj.WINDOW + 1] = 0
    return jumps


def naive_jumps(row):
    """Return one direction's parameters as the slow versions take them."""
    w = kj.WINDOW
    row = row.astype(np.float64)
    return naive.Jumps(row[: 2 * w + 1], row[kj.TAIL], row[kj.FIRST : kj.FIRST_TAIL], row[kj.FIRST_TAIL])


def jump_row(counts):
    """Turn the slow versions' counts by jump into a row [JUMP_SIZE]."""
    row = np.zeros(kj.JUMP_SIZE)
    for key, value in counts.items():
        if key == "far":
            row[kj.TAIL] = value
        elif isinstance(key, tuple):
            row[kj.FIRST_TAIL if key[1] == "far" else kj.FIRST + key[1]] = value
        else:
            row[key + kj.WINDOW] = value
    return row


@dataclass
class World:
    """A corpus with a random table, jumps and null words."""

    corpus: list
    source: Side
    target: Side
    table: Table
    lexicon: Lexicon
    s_null: np.ndarray
    t_null: np.ndarray
    jumps: np.ndarray
    p_null: np.ndarray

    def value(self, s, t, reverse=False):
        """Return p(t | s), or p(s | t)."""
        row = self.table.ids[self.table.ptr[s] : self.table.ptr[s + 1]]
        at = np.flatnonzero(row == t)
        values = self.lexicon.reverse if reverse else self.lexicon.forward
        value = values[self.table.ptr[s] + at[0]] if len(at) else self.lexicon.default
        return float(value) * float(self.lexicon.t_inverse[t] if reverse else self.lexicon.s_inverse[s])

    def direction(self, k, d):
        """Return emissions [observed, given], null, jumps and p_null of a sentence: 0 forward, 1 reverse."""
        source, target = self.corpus[k]
        given, observed = (target, source) if d else (source, target)
        emissions = np.array([[self.value(o, g, True) if d else self.value(g, o) for g in given] for o in observed])
        null = [float((self.s_null if d else self.t_null)[o]) for o in observed]
        return emissions, null, naive_jumps(self.jumps[d]), float(self.p_null[d])

    def chunks(self, pool=None, max_cells=24_000_000):
        return LinkMatrices(self.source, self.target, self.table, pool or Pool(1), max_cells)

    def state(self, directions=3, joint=False, pool=None):
        matrices = self.chunks(pool)
        return Expectations(matrices, matrices.pool, directions, joint, self.s_null, self.t_null, self.p_null)

    def fields(self):
        """Return what a model of these parameters has, whatever its kind."""
        n_s, n_t = self.table.n_source, self.table.n_target
        none = np.zeros((3, 1), np.int32)
        words = ViewWords(
            0, [str(i) for i in range(n_s)], [str(i) for i in range(n_t)], np.arange(n_s + 1, dtype=np.int32),
            np.arange(n_t + 1, dtype=np.int32), none, none,
        )  # fmt: skip
        return {
            "words": words, "table": self.table, "lexicon": self.lexicon, "counts": [self.lexicon.forward],
            "tiers": np.zeros(TIERS), "s_null": self.s_null, "t_null": self.t_null, "p_null": self.p_null,
        }  # fmt: skip

    def hmm(self):
        return Hmm(**self.fields(), jumps=self.jumps)

    def ibm2(self, tension=(0.0, 0.0)):
        return Ibm2(**self.fields(), tension=np.array(tension))

    def matrices(self, cells):
        """Cut an array of cells into the sentences' link matrices [source, target]."""
        at, out = 0, []
        for source, target in self.corpus:
            n = len(source) * len(target)
            out.append(np.array(cells[at : at + n]).reshape(len(source), len(target)))
            at += n
        return out

    def by_pair(self, values):
        """Return an array over the table's entries as {(s, t): value}."""
        rows = np.repeat(np.arange(self.table.n_source), np.diff(self.table.ptr))
        return dict(zip(zip(rows.tolist(), self.table.ids.tolist(), strict=True), values.tolist(), strict=True))


def world(seed, shapes, words=(6, 5), shared=False, low=0.05):
    rng = np.random.default_rng(seed)
    corpus = random_sentences(rng, shapes, words)
    source, target = side([s for s, _ in corpus]), side([t for _, t in corpus])
    table, counts = build_table(source, target, *words, Pool(1))
    forward = np.exp(rng.uniform(np.log(low), 0, len(counts))).astype(np.float32)
    reverse = forward if shared else np.exp(rng.uniform(np.log(low), 0, len(counts))).astype(np.float32)
    inverses = [rng.uniform(0.2, 1, n + 1).astype(np.float32) for n in words]
    lexicon = Lexicon(forward, reverse, *inverses, low / 10, np.full(4, low / 10, np.float32))
    nulls = [rng.uniform(0.01, 0.3, n + 1).astype(np.float32) for n in words]
    return World(
        corpus, source, target, table, lexicon, *nulls, random_jumps(rng), rng.uniform(0.05, 0.4, 2).astype(np.float32)
    )


def close(actual, expected, relative=1e-4, absolute=1e-6):
    """Check floats computed in single precision."""
    np.testing.assert_allclose(actual, expected, rtol=relative, atol=absolute)
    return True


def hmm_expected(steps, lexicon, jumps, counts, stride=1):
    """Take expectations of the HMM with these jumps; return log-likelihoods, and jump counts."""
    found = []
    loglik = steps.over(lexicon, counts, steps.by_blocks(block_of(steps, lexicon, jumps, stride), found))
    return loglik, sum(found, no_counts(jumps))
