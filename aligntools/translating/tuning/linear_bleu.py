"""BLEU's counts as sums over edges, and the linear approximation to BLEU that such sums allow.

Tromble, Kumar, Och & Macherey 2008, equation 7: G = theta_0 |e| + sum over w of theta_|w| #_w(e) delta_w(e'), the sum
over n-grams w, # how often the candidate has one, delta whether a reference has it. Every n-gram of a derivation is
completed by exactly one edge, given that all derivations of a node begin and end with the same words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.formats.text.corpus import Side
from aligntools.ground.parallel import Pool, over
from aligntools.metrics import bleu
from aligntools.translating.forest.candidates import CandidateLists
from aligntools.translating.forest.hypergraph import Hypergraph
from aligntools.translating.tuning import kernels_linear_bleu as kernels

#: Columns of statistics (`bleu.statistics`): matches of 1 to 4 words, n-grams of 1 to 4 words, of which the first is
#: the length as well, the length, and that of the reference.
MATCHES, TOTALS, LENGTH, REFERENCE = slice(0, 4), slice(4, 8), 4, 9


@dataclass(eq=False)
class References:
    """The references of sentences and a table of their n-grams.

    keys (uint64 [capacity], table : int32 [capacity, 3]): See `kernels_linear_bleu.enter_references`.
    """

    offsets: np.ndarray  # int64 [sentences + 1]: References of each sentence
    lengths: np.ndarray  # int64 [references]
    keys: np.ndarray
    table: np.ndarray

    @classmethod
    def of(cls, sides: "Sequence[Side]") -> "References":
        """Take sides of equally many sentences (``tokens``, ``offsets``), a set of references each."""
        sentences = len(sides[0].offsets) - 1
        total = sum(len(side.tokens) for side in sides)
        capacity = 1 << max(4, int(8 * total).bit_length())
        keys, table = np.zeros(capacity, np.uint64), np.zeros((capacity, 3), np.int32)
        words = np.concatenate([np.asarray(side.tokens, np.int32) for side in sides])
        begins = np.cumsum([0] + [len(side.tokens) for side in sides])
        offsets = np.concatenate(
            [np.zeros(1, np.int64)] + [side.offsets[1:] + b for side, b in zip(sides, begins[:-1], strict=True)]
        ).astype(np.int64)
        groups = np.tile(np.arange(sentences), len(sides))
        kernels.enter_references(words, offsets, groups, keys, table)
        lengths = np.diff(offsets).reshape(len(sides), sentences).T.reshape(-1)
        return cls(np.arange(sentences + 1) * len(sides), np.ascontiguousarray(lengths), keys, table)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def closest(self, lengths: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Return the reference lengths nearest to candidates' lengths [candidates, int64]."""
        out = np.zeros(len(lengths), np.int64)
        kernels.closest_lengths(
            np.asarray(lengths, np.int64), np.asarray(groups, np.int64), self.offsets, self.lengths, out
        )
        return out


def edge_statistics(
    h: Hypergraph,
    references: References,
    groups: np.ndarray | None = None,
    clip: bool = False,
    pool: Pool | None = None,
) -> np.ndarray:
    """Count the n-grams that edges complete, and those that the references have.

    groups (int64 [sentences]): Which entry of ``references`` each sentence has; the one of its own number if not given.
    clip: Count an n-gram no more often within an edge than in a reference. Where an edge is a whole sentence
        (`CandidateLists.hypergraph`) these are BLEU's own counts.
    Returns float32 [edges, 8]: matches of 1 to 4 words, n-grams of 1 to 4 words (the first of these is the length).
    """
    groups = np.arange(len(h)) if groups is None else np.asarray(groups, np.int64)
    out = np.zeros((h.edges, 8), np.float32)
    size = int(np.diff(h.word_offsets).max(initial=0)) + 16

    ends = h.left, h.right, h.lengths
    given = h.node_offsets, h.strings, ends, groups, references.keys, references.table, clip

    def work(block: tuple[int, int]) -> None:
        room = np.empty(size, np.int32), np.empty(size, np.int32), np.empty((size, 4), np.uint64)
        kernels.edge_statistics(*given, *block, room, out)

    over(pool, work, h.blocks())
    return out


def candidate_statistics(
    candidates: CandidateLists, references: References, groups: np.ndarray | None = None, pool: Pool | None = None
) -> np.ndarray:
    """Return the statistics of `bleu.statistics` for candidates [candidates, 10; float32]."""
    groups = np.arange(len(candidates)) if groups is None else np.asarray(groups, np.int64)
    out = np.empty((candidates.count, bleu.COLUMNS), np.float32)
    out[:, :8] = edge_statistics(candidates.hypergraph(), references, groups, True, pool)
    out[:, 8] = out[:, LENGTH]
    of = np.repeat(groups, np.diff(candidates.offsets))
    out[:, REFERENCE] = references.closest(out[:, LENGTH], of)
    return out


def corpus_statistics(
    candidates: CandidateLists,
    references: References,
    groups: np.ndarray | None = None,
    shares: np.ndarray | None = None,
    pool: Pool | None = None,
) -> np.ndarray:
    """Return BLEU's statistics of the first candidate of each sentence, summed [10, float64].

    A sentence without candidates counts as an empty translation. With ``shares`` [sentences] each counts this often.
    """
    groups = np.arange(len(candidates)) if groups is None else np.asarray(groups, np.int64)
    some = np.diff(candidates.offsets) > 0
    first = candidates.take(candidates.offsets[:-1][some], np.arange(int(some.sum()) + 1))
    counts = np.zeros((len(candidates), bleu.COLUMNS))
    counts[some] = candidate_statistics(first, references, groups[some], pool)
    counts[~some, REFERENCE] = references.closest(np.zeros(int((~some).sum())), groups[~some])
    weighed = counts if shares is None else counts * np.asarray(shares, np.float64)[:, None]
    return np.asarray(np.add.reduce(weighed, axis=0))


def sentence_losses(statistics: np.ndarray) -> np.ndarray:
    """Return 1 - BLEU of each candidate's statistics [candidates, 10].

    Smoothed by adding one to counts of two words and more (Lin & Och 2004; sacrebleu calls it add-k).
    """
    return 1.0 - bleu.sentence_bleu(statistics, "add-k", 1.0)


def linear_losses(statistics: np.ndarray, at: np.ndarray, sentences: float) -> np.ndarray:
    """Return minus the linear gain of `edge_statistics` [edges, float64]; a derivation's loss is the sum of its edges'.

    The factors theta (Tromble et al. 2008, section 3.1) are the derivatives of ln BLEU ``at`` statistics [10] of a
    corpus, times ``sentences``. Where the corpus is shorter than its references the brevity penalty's derivative is in
    theta_0, the factor of a word of the candidate.
    """
    s, point = np.asarray(statistics, np.float64), np.maximum(np.asarray(at, np.float64), 1.0)
    brevity = point[REFERENCE] / point[LENGTH] if point[REFERENCE] > point[LENGTH] else 0.0
    out = -(sentences * float(brevity - 1.0) / float(point[LENGTH])) * s[:, LENGTH]
    for n, matches in enumerate(point[MATCHES]):
        out -= float(sentences / (4 * matches)) * s[:, n]
    return out
