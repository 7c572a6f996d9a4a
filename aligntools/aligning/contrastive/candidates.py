"""The candidate links of sentence pairs, and their local features: what each adds to a score by itself."""

from dataclasses import dataclass

import numpy as np

from aligntools.aligning.applying.applier import Applier
from aligntools.aligning.applying.model_text import ModelText
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive import kernels_local_features as kl
from aligntools.aligning.contrastive.evidence import given_too, readings
from aligntools.aligning.contrastive.uses import uses_of
from aligntools.aligning.text.kernels_pairs import Pairs
from aligntools.aligning.text.look_alikes import romanized
from aligntools.aligning.text.normal import simplify
from aligntools.ground.parallel import balanced_blocks

#: A link is tried when the mean of both directions' posteriors is above this, ...
LEAST_POSTERIOR = 0.02
#: ... and it is among so many best of its source word or of its target word.
MOST_LINKS = 5
#: What makes every cell a candidate.
EVERY_CELL = {"least": -1.0, "most": 1 << 30}
#: Blocks that sentences are cut into, whatever the number of threads.
BLOCKS = 32
#: Link-matrix cells worked at a time.
CELLS = 2_000_000


@dataclass
class CandidateLinks:
    """The candidates of consecutive sentence pairs, and their local features.

    Attributes
    ----------
    s_offsets, t_offsets : int64 [sentences + 1]
        Words of each side, from 0 on.
    starts : int64 [sentences + 1]
        Sentence ``k`` has the candidates ``starts[k]..starts[k + 1]``, by row and column.
    rows, columns : int32 [candidates]
    neighbours : int32 [candidates, 8], numbered from the sentence's first candidate on
    local : float32 [candidates, FEATURES]
        What a candidate itself adds to each feature; 0 for those that depend on the other links alone.
    s_words, t_words : float32 [words, WORD_COLUMNS]
        What is known of each word, in natural logarithms; see `kernels_features`.
    expected : float64 [sentences]
        Links that the base model expects: the sum of its mean posteriors.
    readings : uint8 [candidates, files] or None
        What each file of evidence says of a candidate; see `evidence.readings`.
    """

    s_offsets: np.ndarray
    t_offsets: np.ndarray
    starts: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    neighbours: np.ndarray
    local: np.ndarray
    s_words: np.ndarray
    t_words: np.ndarray
    expected: np.ndarray
    readings: np.ndarray | None = None

    def __len__(self):
        return len(self.starts) - 1

    def arrays(self):
        """Return what kernels take."""
        return kf.Candidates(
            self.s_offsets,
            self.t_offsets,
            self.starts,
            self.rows,
            self.columns,
            self.neighbours,
            self.local,
            self.s_words,
            self.t_words,
        )

    def blocks(self, count=BLOCKS):
        """Cut the sentences into runs of about equal work, whatever the number of threads."""
        work = np.diff(self.starts).astype(np.float64)
        lengths = np.diff(self.s_offsets) + np.diff(self.t_offsets)
        return balanced_blocks(work * (lengths + 8.0) + 16.0, count)

    def part(self, a, b):
        """Return the sentences ``a..b`` alone."""
        c0, c1 = self.starts[a], self.starts[b]
        s0, s1, t0, t1 = self.s_offsets[a], self.s_offsets[b], self.t_offsets[a], self.t_offsets[b]
        return CandidateLinks(
            self.s_offsets[a : b + 1] - s0,
            self.t_offsets[a : b + 1] - t0,
            self.starts[a : b + 1] - c0,
            self.rows[c0:c1],
            self.columns[c0:c1],
            self.neighbours[c0:c1],
            self.local[c0:c1],
            self.s_words[s0:s1],
            self.t_words[t0:t1],
            self.expected[a:b],
            None if self.readings is None else self.readings[c0:c1],
        )


def bare_candidates(s_offsets, t_offsets, starts, rows, columns):
    """Return candidates of which nothing is known but where they are.

    Parameters are those of `CandidateLinks`; candidates are sorted by row, then column.
    """
    n, k = len(rows), len(starts) - 1
    neighbours = np.empty((n, 8), np.int32)
    kf.find_neighbours(starts, rows, columns, neighbours)
    local = np.zeros((n, kf.FEATURES), np.float32)
    words = [np.zeros((int(o[-1]), kf.WORD_COLUMNS), np.float32) for o in (s_offsets, t_offsets)]
    found = CandidateLinks(s_offsets, t_offsets, starts, rows, columns, neighbours, local, *words, np.zeros(k))
    kl.position_features(found.arrays())
    return found


def concatenate(parts):
    """Join the candidates of consecutive runs of sentences."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]

    def joined(name):
        last = np.cumsum([0] + [int(getattr(p, name)[-1]) for p in parts])
        pieces = [getattr(p, name)[:-1] + at for p, at in zip(parts, last[:-1], strict=True)]
        return np.concatenate([*pieces, last[-1:]])

    offsets = [joined(name) for name in ("s_offsets", "t_offsets", "starts")]
    names = ["rows", "columns", "neighbours", "local", "s_words", "t_words", "expected"]
    names += ["readings"] if parts[0].readings is not None else []
    return CandidateLinks(*offsets, *(np.concatenate([getattr(p, name) for p in parts]) for name in names))


def _word_table(text):
    """Return the word probabilities of one view, with the keys of a text's words."""
    m, lexicon = text.model, text.model.lexicon
    return kl.WordTable(
        m.table.ptr,
        m.table.ids,
        lexicon.forward,
        lexicon.reverse,
        np.float32(lexicon.default),
        lexicon.floors,
        lexicon.s_inverse,
        lexicon.t_inverse,
        m.s_null,
        m.t_null,
        text.s_keys,
        text.t_keys,
        text.source_tokens,
        text.target_tokens,
    )


def spelling(tokens, vocabulary):
    """Return the `Spelling` of a text's words; words that do not occur have no letters."""
    used = np.unique(tokens)
    written = [vocabulary.word(int(v)) for v in used]
    plain = [simplify(w) for w in written]
    words = [romanized(w) or w for w in plain]
    n = int(used[-1]) + 1 if len(used) else 1
    lengths, kinds, sizes = np.zeros(n + 1, np.int64), np.zeros(n, np.uint8), np.zeros(n, np.int32)
    sizes[used] = [len(w) for w in written]
    lengths[used + 1] = [len(w) for w in words]
    kinds[used] = [any(map(str.isalpha, w)) for w in plain]
    letters = np.array(list(map(ord, "".join(words))), np.int32)
    return kl.Spelling(letters, np.cumsum(lengths), kinds, sizes)


class CandidateFinder:
    """Finds the candidates that a base model gives of any text.

    Parameters
    ----------
    model : AlignmentModel
    pool : Pool
    network : LinkNetwork or None
        For the feature ``trees``, which is 0 without.
    least, most
        See LEAST_POSTERIOR and MOST_LINKS; EVERY_CELL has those that make every cell a candidate.
    applier : Applier or None
        Of the model, where there is one already.
    """

    def __init__(
        self, model, pool, network=None, least=LEAST_POSTERIOR, most=MOST_LINKS, cells=CELLS, applier=None
    ) -> None:
        self.model, self.pool, self.network, self.least, self.most = model, pool, network, least, most
        self.applier = applier or Applier(model.views, model.settings, model.sizes, cells, model.subwords)

    def find(self, bitext, evidence=()):
        """Yield (`Posteriors`, `CandidateLinks`) of runs of sentences; the next `Posteriors` overwrite the former.

        Parameters
        ----------
        bitext : Bitext
        evidence : sequence of GivenLinks
            Other aligners' links of the same sentences; they are candidates too.
        """
        texts = [ModelText(m, bitext, self.model.sizes) for m in self.applier.models]
        spellings = [
            spelling(side.tokens, vocabulary)
            for side, vocabulary in (
                (bitext.source, bitext.source_vocabulary),
                (bitext.target, bitext.target_vocabulary),
            )
        ]
        for posteriors in self.applier.posteriors(bitext, self.pool):
            given = [x[posteriors.k0 : posteriors.k1] for x in evidence]
            yield posteriors, self._of(posteriors, bitext, texts, spellings, given)

    def find_all(self, bitext, evidence=()):
        """Return the `CandidateLinks` of a whole text, which must be small; see `find`."""
        parts = [candidates for _, candidates in self.find(bitext, evidence)]
        return concatenate(parts) if parts else empty()

    @staticmethod
    def _pairs(p, text):
        """Return the sentence pairs of posteriors in the ids of a text."""
        tokens = text.source.tokens, text.target.tokens
        return Pairs(p.k0, tokens[0], p.source_offsets, tokens[1], p.target_offsets, p.cell_offsets)

    def _of(self, p, bitext, texts, spellings, evidence):
        n = p.k1 - p.k0
        cells = np.empty(int(p.cell_offsets[-1]), np.float32)
        counts = np.zeros(n, np.int64)
        place = (p.source_offsets, p.target_offsets)
        pairs = self._pairs(p, bitext)

        def find(block):
            a, b = block
            kl.mean_cells(p.cell_offsets[a - p.k0], p.cell_offsets[b - p.k0], p.forward, p.reverse, cells)
            none = np.empty(0, np.int32)
            given = (*block, pairs, cells, np.float32(self.least), self.most, counts)
            size = kl.find_candidates(*given, none, none)
            rows, columns = np.empty(size, np.int32), np.empty(size, np.int32)
            if size:
                kl.find_candidates(*given, rows, columns)
            return rows, columns

        parts = self.pool.map(find, p.sentence_blocks)
        starts = np.zeros(n + 1, np.int64)
        np.cumsum(counts, out=starts[1:])
        rows, columns = (np.concatenate([x[d] for x in parts] or [np.empty(0, np.int32)]) for d in (0, 1))
        if evidence:
            starts, rows, columns = given_too(starts, rows, columns, evidence)
        offsets = [o[p.k0 : p.k1 + 1] - o[p.k0] for o in place]
        candidates = bare_candidates(*offsets, starts, rows, columns)
        if evidence:
            candidates.readings = readings(candidates, evidence)
        sums = np.concatenate([[0.0], np.cumsum(cells, dtype=np.float64)])
        candidates.expected = sums[p.cell_offsets[1:]] - sums[p.cell_offsets[:-1]]

        found, share = candidates.arrays(), 1.0 / len(texts)
        views = [(self._pairs(p, text), _word_table(text), uses_of(text.model)) for text in texts]

        def fill(block):
            kl.posterior_features(*block, pairs, p.forward, p.reverse, cells, found)
            for own, words, uses in views:
                kl.translation_features(*block, own, words, share, found)
                kl.use_features(*block, own, words, uses, share, found)
            kl.word_features(*block, pairs, *spellings, found)

        self.pool.map(fill, p.sentence_blocks)
        if self.network is not None:
            candidates.local[:, kf.TREES] = self.network.odds(candidates, self.pool)
        return candidates


def empty():
    """Return the candidates of no sentences."""
    zero = np.zeros(1, np.int64)
    return bare_candidates(zero, zero, zero, np.empty(0, np.int32), np.empty(0, np.int32))
