"""Packed derivations of many sentences, and the best, the k best and samples of them.

Written as flat arrays, so that a whole development set is one object; sums over all derivations are in
`semirings`. A list of candidates is a hypergraph too, of one node a sentence.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from aligntools.ground.parallel import Pool, balanced_blocks
from aligntools.translating.forest import kernels_hypergraph as kernels
from aligntools.translating.forest import kernels_kbest, kernels_semirings

#: Parts that the sentences are worked in, whatever the number of threads.
BLOCKS = 32
#: Rows at most of a k-best search of one sentence; then the list stays shorter.
MOST_ROWS = 1 << 23


@dataclass(eq=False)
class Hypergraph:
    """Derivations of sentences, packed.

    The nodes of a sentence stand together, each after those below it. All derivations of a node have the same
    ``left`` and ``right``, if n-grams are to be counted by edges (`linear_bleu.edge_statistics`).

    Attributes
    ----------
    node_offsets : int64 [sentences + 1]
    roots : int64 [sentences]
        The node that derives the sentence, -1 where none does (a blank line).
    edge_offsets : int64 [nodes + 1]
        Incoming edges of the nodes.
    tails : int32 [edges, 2]
        Nodes below, numbered in the whole batch; -1 none.
    rules : int32 [edges]
        The grammar's rule; negative for rules that the decoder makes.
    feature_offsets : int64 [edges + 1], feature_ids : int32, feature_values : float32
        Features of the edge alone.
    word_offsets : int64 [edges + 1], words : int32
        Target side: a word's id from 1 on, or -1, -2 for what the first, the second tail yields.
    left, right : int32 [nodes, 4]
        First and last words of what the node yields; 0 where there are fewer, at the end of ``left`` and at the
        beginning of ``right``.
    lengths : int32 [nodes]
        Words that the node yields, 4 standing for more too.
    """

    node_offsets: np.ndarray
    roots: np.ndarray
    edge_offsets: np.ndarray
    tails: np.ndarray
    rules: np.ndarray
    feature_offsets: np.ndarray
    feature_ids: np.ndarray
    feature_values: np.ndarray
    word_offsets: np.ndarray
    words: np.ndarray
    left: np.ndarray
    right: np.ndarray
    lengths: np.ndarray

    def __len__(self):
        return len(self.roots)

    @property
    def nodes(self) -> int:
        """Nodes of all sentences."""
        return len(self.edge_offsets) - 1

    @property
    def edges(self) -> int:
        """Edges of all sentences."""
        return len(self.rules)

    def blocks(self, most=BLOCKS) -> list[tuple[int, int]]:
        """Cut the sentences into runs of about as many edges."""
        return balanced_blocks(np.diff(self.edge_offsets[self.node_offsets]) + 1, most)

    def check(self, features=None):
        """Raise ValueError where the arrays do not fit each other; ``features`` is how many there are."""
        for problem, bad in _faults(self, features):
            if bad:
                raise ValueError(problem)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return everything as arrays, for a file."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def part(self, begin, end) -> "Hypergraph":
        """Return the sentences ``begin:end`` as a hypergraph of their own."""
        a, b = self.node_offsets[[begin, end]]
        e, f = self.edge_offsets[[a, b]]
        i, j = self.feature_offsets[[e, f]]
        k, m = self.word_offsets[[e, f]]
        roots, tails = self.roots[begin:end], self.tails[e:f]
        return Hypergraph(
            self.node_offsets[begin : end + 1] - a,
            np.where(roots >= 0, roots - a, -1),
            self.edge_offsets[a : b + 1] - e,
            np.where(tails >= 0, tails - np.int32(a), np.int32(-1)),
            self.rules[e:f],
            self.feature_offsets[e : f + 1] - i,
            self.feature_ids[i:j],
            self.feature_values[i:j],
            self.word_offsets[e : f + 1] - k,
            self.words[k:m],
            self.left[a:b],
            self.right[a:b],
            self.lengths[a:b],
        )


#: Of each attribute: dtype, and what its numbers count, if they begin anew in another hypergraph.
_TYPES = {
    "node_offsets": np.int64, "roots": np.int64, "edge_offsets": np.int64, "tails": np.int32, "rules": np.int32,
    "feature_offsets": np.int64, "feature_ids": np.int32, "feature_values": np.float32, "word_offsets": np.int64,
    "words": np.int32, "left": np.int32, "right": np.int32, "lengths": np.int32,
}  # fmt: skip


def _faults(h, features):
    """Yield (problem, whether there is one); what comes later may rely on what came before."""
    for name, dtype in _TYPES.items():
        yield f"{name} is {getattr(h, name).dtype}, not {np.dtype(dtype)}", getattr(h, name).dtype != dtype
    for name, over in (
        ("node_offsets", h.edge_offsets[1:]), ("edge_offsets", h.tails),
        ("feature_offsets", h.feature_ids), ("word_offsets", h.words),
    ):  # fmt: skip
        offsets = getattr(h, name)
        bad = not len(offsets) or offsets[0] != 0 or offsets[-1] != len(over) or bool(np.any(np.diff(offsets) < 0))
        yield f"{name} does not rise from 0 to {len(over)}", bad
    sizes = (
        ("roots", len(h.node_offsets) - 1), ("rules", len(h.tails)), ("feature_offsets", len(h.tails) + 1),
        ("word_offsets", len(h.tails) + 1), ("feature_values", len(h.feature_ids)), ("left", h.nodes),
        ("right", h.nodes), ("lengths", h.nodes),
    )  # fmt: skip
    for name, size in sizes:
        yield f"{name} has {len(getattr(h, name))} entries, not {size}", len(getattr(h, name)) != size
    begins, ends = h.node_offsets[:-1], h.node_offsets[1:]
    bad = (h.roots != -1) & ((h.roots < begins) | (h.roots >= ends))
    yield "a root is not among its sentence's nodes", bool(bad.any())
    heads = np.repeat(np.arange(h.nodes), np.diff(h.edge_offsets))
    first = np.repeat(begins, np.diff(h.node_offsets))[heads]
    wrong = (h.tails != -1) & ((h.tails < first[:, None]) | (h.tails >= heads[:, None]))
    yield "a tail is not an earlier node of its sentence", bool(wrong.any())
    yield "an edge has a second tail and no first", bool(np.any((h.tails[:, 0] < 0) & (h.tails[:, 1] >= 0)))
    yield "a word has the id 0", bool(np.any(h.words == 0))
    of = np.repeat(np.arange(h.edges), np.diff(h.word_offsets))
    for k in range(2):
        uses = np.bincount(of[h.words == -1 - k], minlength=h.edges)
        yield f"a target side has not its tail {k + 1} once", bool(np.any(uses != (h.tails[:, k] >= 0)))
    yield "a target side has a third nonterminal", bool(np.any(h.words < -2))
    bad = len(h.feature_ids) and (h.feature_ids.min() < 0 or (features is not None and h.feature_ids.max() >= features))
    yield "a feature has no name", bool(bad)
    yield "a feature value is not finite", not bool(np.isfinite(h.feature_values).all())


def join(parts) -> Hypergraph:
    """Put hypergraphs one after another."""
    parts = list(parts)
    nodes = np.cumsum([0] + [p.nodes for p in parts])
    out = {}
    for name in _TYPES:
        arrays = [getattr(p, name) for p in parts]
        if name.endswith("_offsets"):
            ends = np.cumsum([0] + [int(a[-1]) for a in arrays])
            arrays = [np.zeros(1, np.int64), *(a[1:] + begin for a, begin in zip(arrays, ends[:-1], strict=True))]
        elif name in ("roots", "tails"):
            arrays = [
                np.where(a >= 0, a + a.dtype.type(n), a.dtype.type(-1)) for a, n in zip(arrays, nodes, strict=False)
            ]
        out[name] = np.concatenate(arrays) if arrays else _empty()[name]
    return Hypergraph(**out)


def _empty():
    shapes = {"tails": (0, 2), "left": (0, 4), "right": (0, 4)}
    return {
        name: np.zeros(1 if name.endswith("_offsets") else shapes.get(name, 0), dtype) for name, dtype in _TYPES.items()
    }


def edge_scores(hypergraph, weights, gamma=1.0, fixed=None, pool: Pool | None = None):
    """Return ``gamma * weights . features + fixed`` of each edge [edges, float64]."""
    h, out = hypergraph, np.empty(hypergraph.edges)
    weights = np.ascontiguousarray(weights, np.float64)
    fixed = np.zeros(0) if fixed is None else np.ascontiguousarray(fixed, np.float64)

    def work(block):
        e, f = h.edge_offsets[h.node_offsets[list(block)]]
        kernels_semirings.edge_scores(
            h.feature_offsets, h.feature_ids, h.feature_values, weights, fixed, float(gamma), e, f, out
        )

    run(pool, work, h.blocks())
    return out


def run(pool, work, blocks):
    """Call ``work`` on the blocks, on a pool if there is one; return the results in order."""
    return pool.map(work, blocks) if pool is not None else [work(block) for block in blocks]


@dataclass(eq=False)
class Candidates:
    """Some derivations of each sentence: words, features and scores.

    Attributes
    ----------
    offsets : int64 [sentences + 1]
    word_offsets : int64 [candidates + 1], words : int32
    feature_offsets : int64 [candidates + 1], feature_ids : int32, feature_values : float32
        Summed over the derivation; ids ascending.
    scores : float64 [candidates]
        Under the weights that they were found with.
    """

    offsets: np.ndarray
    word_offsets: np.ndarray
    words: np.ndarray
    feature_offsets: np.ndarray
    feature_ids: np.ndarray
    feature_values: np.ndarray
    scores: np.ndarray

    def __len__(self):
        return len(self.offsets) - 1

    @property
    def count(self) -> int:
        """Candidates of all sentences."""
        return len(self.scores)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return everything as arrays, for a file."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def dense(self, features) -> np.ndarray:
        """Return the feature vectors [candidates, features; float64]."""
        out = np.zeros((self.count, features))
        out[np.repeat(np.arange(self.count), np.diff(self.feature_offsets)), self.feature_ids] = self.feature_values
        return out

    def take(self, rows, offsets) -> "Candidates":
        """Return these candidates in this order, sentences beginning at ``offsets``."""
        word_offsets, words = _rows(self.word_offsets, rows, self.words)
        feature_offsets, ids, values = _rows(self.feature_offsets, rows, self.feature_ids, self.feature_values)
        offsets = np.asarray(offsets, np.int64)
        return Candidates(offsets, word_offsets, words, feature_offsets, ids, values, self.scores[rows])

    def sentences(self, which) -> "Candidates":
        """Return the candidates of these sentences, in this order."""
        offsets, rows = _rows(self.offsets, np.asarray(which, np.int64), np.arange(self.count))
        return self.take(rows, offsets)

    def keys(self, grain=1e-4) -> np.ndarray:
        """Return hashes [candidates, uint64] of words and features, the latter rounded to multiples of ``grain``."""
        keys = np.zeros(self.count, np.uint64)
        kernels.string_keys(
            self.word_offsets, self.words, self.feature_offsets, self.feature_ids, self.feature_values, grain, keys
        )
        return keys

    def merged(self, *others: "Candidates") -> "Candidates":
        """Return the candidates of several lists, those with the same words and features once, the first of them."""
        lists = [self, *others]
        joined = self.followed(*others)
        sentence = np.concatenate([np.repeat(np.arange(len(c)), np.diff(c.offsets)) for c in lists])
        keys = joined.keys() ^ (sentence.astype(np.uint64) * np.uint64(kernels.MIX1))
        _, first = np.unique(keys, return_index=True)
        first = np.sort(first)
        rows = first[np.argsort(sentence[first], kind="stable")]
        return joined.take(rows, _offsets(np.bincount(sentence[rows], minlength=len(self))))

    def featureless(self) -> "Candidates":
        """Return the same strings of words without their features."""
        none = np.zeros(0, np.int32), np.zeros(0, np.float32)
        return replace(
            self, feature_offsets=np.zeros(self.count + 1, np.int64), feature_ids=none[0], feature_values=none[1]
        )

    def followed(self, *others: "Candidates") -> "Candidates":
        """Return the sentences of several lists, one list's behind another's."""
        lists = [self, *others]
        columns = {}
        for f in fields(self):
            arrays = [getattr(c, f.name) for c in lists]
            columns[f.name] = _join_offsets(arrays) if f.name.endswith("offsets") else np.concatenate(arrays)
        return Candidates(**columns)

    def hypergraph(self) -> Hypergraph:
        """Return the candidates as a hypergraph, of one node a sentence and one edge a candidate."""
        sizes = np.diff(self.offsets)
        full = sizes > 0
        nodes = int(full.sum())
        none = np.zeros((nodes, 4), np.int32)  # nothing is above
        node_offsets = _offsets(full)
        return Hypergraph(
            node_offsets,
            np.where(full, node_offsets[:-1], -1),
            _offsets(sizes[full]),
            np.full((self.count, 2), -1, np.int32),
            np.zeros(self.count, np.int32),
            self.feature_offsets,
            self.feature_ids,
            self.feature_values,
            self.word_offsets,
            self.words,
            none,
            none,
            np.zeros(nodes, np.int32),
        )


def _offsets(counts):
    out = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=out[1:])
    return out


def _join_offsets(parts):
    return _offsets(np.concatenate([np.diff(p) for p in parts]))


def _rows(offsets, rows, *arrays):
    """Return new offsets and, of each array, the entries of the rows."""
    rows = np.asarray(rows, np.int64)
    sizes = np.diff(offsets)[rows]
    new = _offsets(sizes)
    places = np.arange(new[-1]) + np.repeat(offsets[:-1][rows] - new[:-1], sizes)
    return new, *(a[places] for a in arrays)


def best(hypergraph, scores, features, pool: Pool | None = None) -> Candidates:
    """Find the best derivation of each sentence.

    Parameters
    ----------
    hypergraph : Hypergraph
    scores : float64 [edges]
    features : int
        How many there are.
    """
    return _derivations(hypergraph, scores, features, lambda work, s: work.best(s), pool)


def k_best(hypergraph, scores, features, k, distinct=True, pool: Pool | None = None) -> Candidates:
    """Find the k best derivations of each sentence, best first (Huang & Chiang 2005, algorithm 3).

    Parameters
    ----------
    hypergraph : Hypergraph
    scores : float64 [edges]
    features : int
        How many there are.
    k : int
    distinct : bool
        Of derivations with the same words only the best.
    """
    return _derivations(hypergraph, scores, features, lambda work, s: work.k_best(s, k, distinct), pool)


def samples(hypergraph, scores, features, count, seed, pool: Pool | None = None) -> Candidates:
    """Draw derivations, each independently in proportion to the exponential of its score.

    Parameters
    ----------
    hypergraph : Hypergraph
    scores : float64 [edges]
        Log-potentials.
    features : int
        How many there are.
    count : int
        Of each sentence.
    seed : int
        A sentence's samples depend on it and on the sentence's place alone.
    """
    from aligntools.translating.forest.semirings import inside

    _, conditional = inside(hypergraph, scores, pool)
    return _derivations(hypergraph, scores, features, lambda work, s: work.samples(s, conditional, count, seed), pool)


def _derivations(hypergraph, scores, features, find, pool):
    h = hypergraph
    choice, value = np.empty(h.nodes, np.int64), np.empty(h.nodes)

    def work(block):
        a, b = h.node_offsets[list(block)]
        kernels.viterbi(h.edge_offsets, h.tails, scores, a, b, value, choice)
        search = _Search(h, scores, choice, features)
        found = [find(search, s) if h.roots[s] >= 0 else [] for s in range(*block)]
        counts = [len(of) for of in found]
        return counts, search.candidates([edges for of in found for edges in of])

    counts, parts = [], []
    for of, part in run(pool, work, h.blocks()):
        counts += of
        parts.append(part)
    offsets = _offsets(np.array(counts, np.int64))
    if not parts:
        z, o = np.zeros(0, np.int32), np.zeros(1, np.int64)
        return Candidates(offsets, o, z, o, z, np.zeros(0, np.float32), np.zeros(0))
    columns = list(zip(*parts, strict=True))
    return Candidates(
        offsets,
        _join_offsets(columns[0]),
        np.concatenate(columns[1]),
        _join_offsets(columns[2]),
        *(np.concatenate(c) for c in columns[3:]),
    )


class _Search:
    """Derivations of the sentences of one block, with the arrays that the work needs."""

    def __init__(self, hypergraph, scores, choice, features):
        self.h, self.scores, self.choice, self.features = hypergraph, scores, choice, features
        self.room = 0

    def _walk(self, s, kernel):
        size = 64
        while True:
            out = np.empty(size, np.int64)
            count = kernel(out)
            if count >= 0:
                return [out[:count].astype(np.int32)] if count else []
            size *= 4

    def best(self, s):
        return self._walk(s, lambda out: kernels.chosen(self.h.tails, self.choice, self.h.roots[s], out))

    def samples(self, s, conditional, count, seed):
        h, found = self.h, []
        for state in np.random.default_rng([seed, s]).integers(0, 2**63, count):
            found += self._walk(
                s, lambda out, n=state: kernels.sample(h.edge_offsets, h.tails, conditional, h.roots[s], n, out)
            )
        return found

    def k_best(self, s, k, distinct):
        h = self.h
        if k == 1:
            return self.best(s)
        begin, end = h.node_offsets[[s, s + 1]]
        size = int(end - begin)
        nodes, stack, rows = np.empty((size, 4), np.int32), np.empty(size + 1, np.int32), np.empty(k, np.int32)
        self._reserve(size + 64 * k)
        while True:
            count = kernels_kbest.k_best(
                h.edge_offsets, h.tails, self.scores, h.word_offsets, h.words, self.choice, begin, end, h.roots[s], k,
                distinct, self.table, self.values, self.hashes, nodes, self.seen, stack, rows,
            )  # fmt: skip
            if count < 0 and self.room < MOST_ROWS:
                self._reserve(2 * self.room)
                continue
            rows = rows[: count if count >= 0 else int(nodes[0, 0])]
            sizes = self.table[rows, kernels_kbest.SIZE]
            starts = _offsets(sizes)
            edges = np.empty(starts[-1], np.int32)
            kernels_kbest.trace(self.table, rows, np.empty(sizes.max(initial=0), np.int32), starts, edges)
            return np.split(edges, starts[1:-1]) if len(rows) else []

    def _reserve(self, rows):
        if rows > self.room:
            self.room = 1 << int(rows - 1).bit_length()
            self.table = np.empty((self.room, 8), np.int32)
            self.values, self.hashes = np.empty(self.room), np.empty((self.room, 2), np.uint64)
            self.seen = np.empty(2 * self.room, np.uint64)

    def candidates(self, derivations):
        """Return word offsets, words, feature offsets, ids, values and scores of derivations, given by edges."""
        h, count = self.h, len(derivations)
        starts = _offsets([len(of) for of in derivations])
        edges = np.concatenate([*derivations, np.zeros(0, np.int32)])
        longest = int(np.diff(starts).max(initial=0))
        word_offsets, feature_offsets = np.empty(count + 1, np.int64), np.empty(count + 1, np.int64)
        kernels.measure_derivations(
            h.word_offsets, h.words, h.feature_offsets, starts, edges, word_offsets, feature_offsets
        )
        words, scores = np.empty(word_offsets[-1], np.int32), np.empty(count)
        ids, values = np.empty(feature_offsets[-1], np.int32), np.empty(feature_offsets[-1], np.float32)
        kernels.fill_derivations(
            h.tails, h.word_offsets, h.words, h.feature_offsets, h.feature_ids, h.feature_values, self.scores, starts,
            edges, np.empty(longest, np.int64), np.empty(2 * longest + 2, np.int64), np.zeros(self.features),
            np.empty(self.features, np.int32), word_offsets, words, feature_offsets, ids, values, scores,
        )  # fmt: skip
        used = feature_offsets[-1]
        return word_offsets, words, feature_offsets, ids[:used].copy(), values[:used].copy(), scores
