"""From text and systems to what `tuning` works on: translations of given sources, of imputed ones, round trips."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from aligntools.formats.bitext import Side
from aligntools.ground.parallel import Pool
from aligntools.translating.text import Lines
from aligntools.translating.tuning.imputation import Imputed, impute
from aligntools.translating.tuning.linear_bleu import References
from aligntools.translating.tuning.tuning import TuningSet


def tuning_set(
    system, text: Lines, references: Sequence[Lines], groups=None, weights=None, counted=True, names=None,
    pool: Pool | None = None,
) -> TuningSet:  # fmt: skip
    """Return sentences that a system translates, with their references.

    Parameters
    ----------
    system : decoder.System
    text : Lines
    references : sequence of Lines
        Sets of references, of equally many sentences.
    groups, weights, counted
        See `tuning.TuningSet`; if not given, each sentence has the reference of its own number, and the weight 1.
    names : sequence of str, optional
        The features that are tuned, in order, where they are not the system's; all of the system's are among them.
    """
    sentences = system.encode(text.words, text.offsets)
    table = References.of([Side(system.encode_target(r.words, sentences), r.offsets) for r in references])
    groups = np.arange(len(text)) if groups is None else np.asarray(groups, np.int64)
    weights = np.ones(len(text)) if weights is None else np.asarray(weights, np.float64)
    place = {name: k for k, name in enumerate(names or system.features)}
    order = np.array([place[name] for name in system.features], np.int32)
    plain = np.array_equal(order, np.arange(len(order)))

    def decode(weights):
        found = system.with_weights(weights[order]).forest(sentences, pool)
        return found if plain else replace(found, feature_ids=order[found.feature_ids])

    return TuningSet(decode, table, groups, weights, counted)


def impute_text(
    system, text: Lines, how="kbest", k=1, gamma=1.0, seed=1, pool: Pool | None = None
) -> tuple[Lines, Imputed]:  # fmt: skip
    """Impute sources of target sentences.

    Parameters
    ----------
    system : decoder.System
        The reverse system.
    text : Lines
        Target sentences.
    how, k, gamma, seed
        See `imputation.impute`.

    Returns
    -------
    sources : Lines
    imputed : Imputed
        Of which sentence each is, and with what probability.
    """
    sentences = system.encode(text.words, text.offsets)
    found = impute(system.forest(sentences, pool), system.weights, how, k, gamma, seed, pool)
    return Lines(system.names(sentences)(found.candidates.words), found.candidates.word_offsets), found
