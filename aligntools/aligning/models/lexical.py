"""Lexical tables: translation probabilities of words, estimated with priors; words of NULL; pairs that look alike."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from aligntools.aligning.text import kernels_cooccurrence as kt
from aligntools.aligning.text import kernels_look_alikes as kl
from aligntools.aligning.text.cooccurrence import Table
from aligntools.aligning.text.kernels_look_alikes import TIERS
from aligntools.aligning.text.views import ViewWords
from aligntools.ground.parallel import Pool, over

#: The prior of look-alike pairs is this times the share of them that are links.
LOOK_ALIKE = 4.0
#: Room for the look-alike pairs of a block of the table; a block with more is searched twice.
ROOM = 1 << 12


@dataclass
class Lexicon:
    """A table's values, ready for an E-step: ``p(t | s) = values * s_inverse``, and the reverse.

    forward, reverse (float32 [n_pairs]): The same array when the directions are trained jointly.
    s_inverse, t_inverse (float32 [n_words + 1]): The last place is for words that the model does not know.
    default, floors (float32 [TIERS]): Values of pairs that the table does not have; of those that look alike, by tier.
    """

    forward: np.ndarray
    reverse: np.ndarray
    s_inverse: np.ndarray
    t_inverse: np.ndarray
    default: float
    floors: np.ndarray


#: The fields of `base.LexicalModel` by name, from which a model of any class is made, with those of its own.
LexicalFields: TypeAlias = dict[str, Any]


def lexical_fields(
    words: ViewWords, table: Table, lexicon: Lexicon, counts: list[np.ndarray], *rest: np.ndarray
) -> LexicalFields:
    """Return the fields by their names; ``rest`` are ``tiers``, ``s_null``, ``t_null`` and ``p_null``."""
    names = "words", "table", "lexicon", "counts", "tiers", "s_null", "t_null", "p_null"
    return dict(zip(names, (words, table, lexicon, counts, *rest), strict=True))


def exp_digamma(x: npt.ArrayLike) -> np.ndarray:
    """Return ``exp(digamma(x))`` elementwise, by the kernels' own function, so that both give the same."""
    x = np.atleast_1d(np.asarray(x, np.float64)).copy()
    kt.estimate(0, len(x), x, 0.0, True, x)
    return x


def table_values(counts: np.ndarray, alpha: float, variational: bool, pool: Pool | None = None) -> np.ndarray:
    """Return a table's values before normalization, float32 as ``counts``, by variational Bayes or by EM."""
    out = np.empty(len(counts), np.float32)
    cuts = np.linspace(0, len(counts), 17).astype(np.int64)

    def task(i: int) -> None:
        kt.estimate(cuts[i], cuts[i + 1], counts, alpha, variational, out)

    over(pool, task, range(16))
    return out


def inverse_totals(sums: np.ndarray, types: np.ndarray, alpha: float, variational: bool) -> np.ndarray:
    """Return the factor that normalizes the values of each word, float32 [n_words + 1]; the last is for unknown words.

    sums (float64 [n_words]): Of the word's counts.
    types (int [n_words]): Words of the other side that occur with it.
    """
    prior = alpha if variational else 1e-6
    total = np.append(sums + prior * np.maximum(types, 1), 1.0)
    inverse: np.ndarray = 1 / (exp_digamma(total) if variational else total)
    return inverse.astype(np.float32)


def floors_of(tiers: np.ndarray, alpha: float, variational: bool) -> np.ndarray:
    """Return the value of a pair that the table does not have, by tier, float32 [TIERS]."""
    if variational:
        floors: np.ndarray = np.maximum(exp_digamma(alpha + tiers), 1e-12)
        return floors.astype(np.float32)
    return np.full(TIERS, 1e-9, np.float32)


def lexicon_from_counts(
    table: Table,
    forward: np.ndarray,
    reverse: np.ndarray,
    tiers: np.ndarray,
    alpha: float,
    variational: bool,
    pool: Pool | None = None,
) -> Lexicon:
    """Estimate the lexical tables from expected counts, to which priors beyond ``alpha`` were added before.

    forward, reverse (float32 [n_pairs]): Counts; the same array for joint training.
    tiers (float64 [TIERS]): Prior of look-alike pairs, by tier, beyond ``alpha``.
    """
    floors = floors_of(tiers, alpha, variational)
    f = table_values(forward, alpha, variational, pool)
    return Lexicon(
        f,
        f if reverse is forward else table_values(reverse, alpha, variational, pool),
        inverse_totals(table.row_sums(forward), table.types, alpha, variational),
        inverse_totals(table.column_sums(reverse), table.target_types, alpha, variational),
        float(floors[0]),
        floors,
    )


def null_from_counts(counts: np.ndarray, alpha: float, variational: bool) -> np.ndarray:
    """Estimate the words' probabilities under NULL, float32 as ``counts`` [n_words + 1].

    The first place is NULL itself and the last one is for unknown words.
    """
    prior = alpha if variational else 0.0
    known = counts[1:-1] + prior
    total = known.sum()
    if total <= 0:
        return np.full(len(counts), 1 / len(counts), np.float32)
    values = exp_digamma(known) / exp_digamma(total) if variational else known / total
    return np.concatenate([[0.0], np.maximum(values, 1e-30), [1e-9]]).astype(np.float32)


def uniform_lexicon(table: Table) -> Lexicon:
    """Return a lexicon in which all words are equally likely translations of each other."""
    ones = np.ones(len(table.ids), np.float32)
    return Lexicon(
        ones,
        ones,
        np.full(table.n_source + 1, 1 / table.n_target, np.float32),
        np.full(table.n_target + 1, 1 / table.n_source, np.float32),
        1.0,
        np.ones(TIERS, np.float32),
    )


class LookAlikes:
    """The pairs of the table that look alike, and their priors, which are estimated from the text."""

    def __init__(
        self,
        table: Table,
        s_keys: np.ndarray,
        t_keys: np.ndarray,
        s_counts: np.ndarray,
        t_counts: np.ndarray,
        pool: Pool | None = None,
    ) -> None:
        def found(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            v0, v1 = block
            ptr, room = table.ptr[v0 : v1 + 1], ROOM
            while True:
                entries, tiers = np.empty(room, np.int64), np.empty(room, np.int8)
                n = kl.look_alike_entries(ptr, table.ids, s_keys[v0:v1], t_keys, entries, tiers)
                if n <= room:
                    return entries[:n], tiers[:n]
                room = n

        blocks = table.blocks()
        parts = over(pool, found, blocks)
        none = np.empty(0, np.int64), np.empty(0, np.int8)
        self.entries, self.tiers = (np.concatenate(x) for x in zip(none, *parts, strict=True))
        rows = np.searchsorted(table.ptr, self.entries, side="right") - 1
        self.most = np.minimum(s_counts[rows], t_counts[table.ids[self.entries]]).astype(np.float64)
        self.strengths = np.zeros(TIERS)

    def add_prior(self, counts: np.ndarray) -> None:
        """Set each tier's strength from the share of its pairs' occurrences that are links; add the prior."""
        self.strengths = strengths_of(self.found(counts), self.possible())
        counts[self.entries] += self.strengths[self.tiers].astype(np.float32)

    def found(self, counts: np.ndarray) -> np.ndarray:
        """Return each tier's links, float64 [TIERS]."""
        return np.bincount(self.tiers, counts[self.entries], TIERS)

    def possible(self) -> np.ndarray:
        """Return how many links each tier can have at most, float64 [TIERS]."""
        return np.bincount(self.tiers, self.most, TIERS)


def strengths_of(found: np.ndarray, possible: np.ndarray) -> np.ndarray:
    """Return the priors of look-alike pairs, by tier: in proportion to the links found, of those possible."""
    strengths: np.ndarray = LOOK_ALIKE * np.minimum(1.0, found / np.maximum(possible, 1.0))
    return strengths
