"""What is known of every candidate link before the search: the base model's posteriors and word probabilities."""

from dataclasses import dataclass

import numpy as np

from aligntools.aligning.applying.applier import Applier
from aligntools.aligning.applying.model_text import ModelText
from aligntools.aligning.contrastive import kernels_evidence as ke
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.models.fertility import Fertility
from aligntools.aligning.text.views import simplify
from aligntools.ground.parallel import balanced_blocks

#: A link is tried when the mean of both directions' posteriors is above this, ...
LEAST_POSTERIOR = 0.02
#: ... and it is among so many best of its source word or of its target word.
MOST_LINKS = 5
#: Blocks that sentences are cut into, whatever the number of threads.
BLOCKS = 32
#: Link-matrix cells worked at a time.
CELLS = 2_000_000


@dataclass
class Evidence:
    """The candidates of consecutive sentence pairs, and what each adds to every feature by itself.

    Attributes
    ----------
    s_offsets, t_offsets : int64 [sentences + 1]
        Words of each side, from 0 on.
    starts : int64 [sentences + 1]
        Sentence ``k`` has the candidates ``starts[k]..starts[k + 1]``, by row and column.
    rows, columns : int32 [candidates]
    neighbours : int32 [candidates, 8], numbered from the sentence's first candidate on
    values : float32 [candidates, FEATURES]
        What a candidate itself adds to each feature; 0 for those that depend on the other links alone.
    s_words, t_words : float32 [words, WORD_COSTS]
        Natural logarithms: of each word's probability under NULL; of the odds that it has a link.
    expected : float64 [sentences]
        Links that the base model expects: the sum of its mean posteriors.
    """

    s_offsets: np.ndarray
    t_offsets: np.ndarray
    starts: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    neighbours: np.ndarray
    values: np.ndarray
    s_words: np.ndarray
    t_words: np.ndarray
    expected: np.ndarray

    def __len__(self):
        return len(self.starts) - 1

    def blocks(self, count=BLOCKS):
        """Cut the sentences into runs of about equal work, whatever the number of threads."""
        work = np.diff(self.starts).astype(np.float64)
        lengths = np.diff(self.s_offsets) + np.diff(self.t_offsets)
        return balanced_blocks(work * (lengths + 8.0) + 16.0, count)

    def part(self, a, b):
        """Return the sentences ``a..b`` alone."""
        c0, c1 = self.starts[a], self.starts[b]
        s0, s1, t0, t1 = self.s_offsets[a], self.s_offsets[b], self.t_offsets[a], self.t_offsets[b]
        return Evidence(
            self.s_offsets[a : b + 1] - s0, self.t_offsets[a : b + 1] - t0, self.starts[a : b + 1] - c0,
            self.rows[c0:c1], self.columns[c0:c1], self.neighbours[c0:c1], self.values[c0:c1],
            self.s_words[s0:s1], self.t_words[t0:t1], self.expected[a:b],
        )  # fmt: skip


def from_candidates(s_offsets, t_offsets, starts, rows, columns):
    """Return evidence of candidates that nothing is known about but where they are.

    Parameters are those of `Evidence`; candidates are sorted by row, then column.
    """
    n, k = len(rows), len(starts) - 1
    neighbours = np.empty((n, 8), np.int32)
    kf.find_neighbours(starts, rows, columns, neighbours)
    values = np.zeros((n, kf.FEATURES), np.float32)
    ke.position_values(0, k, 0, s_offsets, t_offsets, starts, rows, columns, values)
    words = [np.zeros((int(o[-1]), kf.WORD_COSTS), np.float32) for o in (s_offsets, t_offsets)]
    return Evidence(s_offsets, t_offsets, starts, rows, columns, neighbours, values, *words, np.zeros(k))


def concatenate(parts):
    """Join the evidence of consecutive runs of sentences."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]

    def joined(name):
        last = np.cumsum([0] + [int(getattr(p, name)[-1]) for p in parts])
        pieces = [getattr(p, name)[:-1] + at for p, at in zip(parts, last[:-1], strict=True)]
        return np.concatenate([*pieces, last[-1:]])

    offsets = [joined(name) for name in ("s_offsets", "t_offsets", "starts")]
    names = ("rows", "columns", "neighbours", "values", "s_words", "t_words", "expected")
    return Evidence(*offsets, *(np.concatenate([getattr(p, name) for p in parts]) for name in names))


def _uses(model):
    """Return a view's expected links of pairs and of words, forward and reverse; the sampler's if it has them."""
    if isinstance(model, Fertility):
        forward, reverse = model.sampler
        return forward.pairs, forward.words[:-2], reverse.pairs, reverse.words[:-2]
    lexicon = model.lexicon
    totals = [1.0 / x[:-1].astype(np.float64) for x in (lexicon.s_inverse, lexicon.t_inverse)]
    return lexicon.forward, totals[0], lexicon.reverse, totals[1]


def spelling(tokens, vocabulary):
    """Return how the words of a text are spelled, without accents.

    Returns
    -------
    letters : int32; begins : int64 [n_words + 1]
        Code points: word ``v`` has ``letters[begins[v]:begins[v + 1]]``; words that do not occur have none.
    kinds : uint8 [n_words]
        1 for words with a letter.
    """
    used = np.unique(tokens)
    words = [simplify(vocabulary.word(int(v))) for v in used]
    n = int(used[-1]) + 1 if len(used) else 1
    lengths, kinds = np.zeros(n + 1, np.int64), np.zeros(n, np.uint8)
    lengths[used + 1] = [len(w) for w in words]
    kinds[used] = [any(map(str.isalpha, w)) for w in words]
    letters = np.array(list(map(ord, "".join(words))), np.int32)
    return letters, np.cumsum(lengths), kinds


class Gatherer:
    """Gathers the evidence that a base model gives of any text.

    Parameters
    ----------
    model : AlignmentModel
    pool : Pool
    trees : LinkTrees or None
        For the feature of that name, which is 0 without.
    least, most
        See LEAST_POSTERIOR and MOST_LINKS.
    """

    def __init__(self, model, pool, trees=None, least=LEAST_POSTERIOR, most=MOST_LINKS, cells=CELLS) -> None:
        self.model, self.pool, self.trees, self.least, self.most = model, pool, trees, least, most
        self.applier = Applier(model.views, model.settings, model.sizes, cells)

    def gather(self, bitext):
        """Yield (`Posteriors`, `Evidence`) of consecutive runs of sentences; the next pair overwrites the former."""
        texts = [ModelText(m, bitext, self.model.sizes) for m in self.applier.models]
        spellings = [
            spelling(side.tokens, vocabulary)
            for side, vocabulary in (
                (bitext.source, bitext.source_vocabulary), (bitext.target, bitext.target_vocabulary),
            )
        ]  # fmt: skip
        for posteriors in self.applier.posteriors(bitext, self.pool):
            yield posteriors, self._of(posteriors, bitext, texts, spellings)

    def all(self, bitext):
        """Return the `Evidence` of a whole text, which must be small."""
        parts = [evidence for _, evidence in self.gather(bitext)]
        return concatenate(parts) if parts else empty()

    def _of(self, p, bitext, texts, spellings):
        n = p.k1 - p.k0
        cells = np.empty(int(p.cell_offsets[-1]), np.float32)
        counts = np.zeros(n, np.int64)
        place = (p.source_offsets, p.target_offsets)

        def find(block):
            a, b = block
            ke.mean_cells(p.cell_offsets[a - p.k0], p.cell_offsets[b - p.k0], p.forward, p.reverse, cells)
            none = np.empty(0, np.int32)
            given = (*block, p.k0, *place, p.cell_offsets, cells, np.float32(self.least), self.most)
            size = ke.find_candidates(*given, counts, none, none)
            rows, columns = np.empty(size, np.int32), np.empty(size, np.int32)
            if size:
                ke.find_candidates(*given, counts, rows, columns)
            return rows, columns

        parts = self.pool.map(find, p.sentence_blocks)
        starts = np.zeros(n + 1, np.int64)
        np.cumsum(counts, out=starts[1:])
        rows, columns = (np.concatenate([x[d] for x in parts] or [np.empty(0, np.int32)]) for d in (0, 1))
        offsets = [o[p.k0 : p.k1 + 1] - o[p.k0] for o in place]
        evidence = from_candidates(*offsets, starts, rows, columns)
        sums = np.concatenate([[0.0], np.cumsum(cells, dtype=np.float64)])
        evidence.expected = sums[p.cell_offsets[1:]] - sums[p.cell_offsets[:-1]]

        def fill(block):
            found = (evidence.starts, evidence.rows, evidence.columns)
            into = (evidence.values, evidence.s_words, evidence.t_words)
            ke.posterior_values(*block, p.k0, *place, p.cell_offsets, p.forward, p.reverse, cells, *found, *into)
            for text in texts:
                m, lexicon = text.model, text.model.lexicon
                words = (*block, p.k0, text.source.tokens, place[0], text.target.tokens, place[1])
                ke.translation_values(
                    *words, *found, m.table.ptr, m.table.ids,
                    lexicon.forward, lexicon.reverse, np.float32(lexicon.default), lexicon.floors, lexicon.s_inverse,
                    lexicon.t_inverse, text.s_keys, text.t_keys, text.source_tokens, text.target_tokens, m.s_null,
                    m.t_null, 1.0 / len(texts), *into,
                )  # fmt: skip
                ke.use_values(
                    *words, *found, m.table.ptr, m.table.ids,
                    *_uses(m), 1.0 / len(texts), evidence.values,
                )  # fmt: skip
            ke.word_values(
                *block, p.k0, bitext.source.tokens, place[0], bitext.target.tokens, place[1], *found, *spellings[0],
                *spellings[1], *into,
            )  # fmt: skip

        self.pool.map(fill, p.sentence_blocks)
        if self.trees is not None:
            evidence.values[:, kf.TREES] = self.trees.odds(evidence, self.pool)
        return evidence


def empty():
    """Return the evidence of no sentences."""
    zero = np.zeros(1, np.int64)
    return from_candidates(zero, zero, zero, np.empty(0, np.int32), np.empty(0, np.int32))
