"""From text and systems to what `tuning` works on: translations of given sources, of imputed ones, round trips."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from aligntools.formats.inputs.sentences import Lines
from aligntools.formats.text.corpus import Side
from aligntools.ground.errors import DataError
from aligntools.ground.parallel import Pool, balanced_blocks
from aligntools.store.job_engines import BlockMap
from aligntools.store.stores import Kept
from aligntools.translating.decoding.decoder import EncodedText, System
from aligntools.translating.forest import derivations
from aligntools.translating.forest.candidates import CandidateLists
from aligntools.translating.forest.hypergraph import Hypergraph, edge_scores, join
from aligntools.translating.lattices import lattice_lines
from aligntools.translating.settings import ImputationSettings
from aligntools.translating.tuning.imputed_lattices import SentenceTooLongError, automata, impute
from aligntools.translating.tuning.linear_bleu import References
from aligntools.translating.tuning.reachable import Reachable
from aligntools.translating.tuning.tuning import TuningSet

#: Jobs of a text that workers decode.
JOBS = 64


class SystemInWorkers:
    """A system with which workers decode the sentences of a text."""

    def __init__(self, blocks: BlockMap, system: System) -> None:
        self._blocks, self._system = blocks, blocks.keep(system)

    def search(
        self, sentences: EncodedText, weights: np.ndarray, order: np.ndarray, k: int, whole: bool
    ) -> tuple[CandidateLists, Hypergraph | None]:
        """Return the k best translations of each sentence and, if the ``whole`` is wanted, the hypergraphs.

        weights (float64 [features]).
        order (int32 [system's features]): The number of each of the system's features among these.
        """
        found = self._found(sentences, partial(_search, self._system, weights, order, k, whole))
        lists, forests = zip(*found, strict=True)
        return lists[0].followed(*lists[1:]), join(forests) if whole else None

    def forest(self, sentences: EncodedText) -> Hypergraph:
        """Return the hypergraph of each sentence, under the system's own weights."""
        return join(self._found(sentences, partial(_forest, self._system)))

    def _found(self, sentences: EncodedText, job: Callable[..., Any]) -> list[Any]:
        runs = balanced_blocks(np.diff(sentences.offsets) + 1, JOBS) or [(0, 0)]
        return list(self._blocks.run("decoding", job, (sentences.part(*run) for run in runs)))


def _search(
    system: Kept, weights: np.ndarray, order: np.ndarray, k: int, whole: bool, sentences: EncodedText, pool: Pool
) -> tuple[CandidateLists, Hypergraph | None]:
    own = weights[order]
    used = system.made(lambda kept: kept.with_weights(own), own.tobytes())
    h = _renumbered(used.forest(sentences, pool), order)
    lists = derivations.k_best(h, edge_scores(h, weights, pool=pool), len(weights), k, pool=pool)
    return lists, h if whole else None


def _forest(system: Kept, sentences: EncodedText, pool: Pool) -> Hypergraph:
    found: Hypergraph = system.get().forest(sentences, pool)
    return found


def _renumbered(forest: Hypergraph, order: np.ndarray) -> Hypergraph:
    as_they_are = np.array_equal(order, np.arange(len(order)))
    return forest if as_they_are else replace(forest, feature_ids=order[forest.feature_ids])


def tuning_set(
    system: System,
    text: Lines,
    references: Sequence[Lines],
    groups: np.ndarray | None = None,
    shares: np.ndarray | None = None,
    counted: bool = True,
    names: Sequence[str] | None = None,
    pool: Pool | None = None,
    workers: SystemInWorkers | None = None,
) -> TuningSet:
    """Return sentences that a system translates, with their references.

    groups, shares, counted: See `tuning.TuningSet`; if not given, each sentence has the reference of its own number,
        and the share 1.
    names: The features that are tuned, in order, where they are not the system's; all of the system's are among them.
    """
    sentences = system.encode_text(text)
    sides = [Side(system.encode_target(r.words, sentences), r.offsets) for r in references]
    table = References.of(sides)
    groups = np.arange(len(text)) if groups is None else np.asarray(groups, np.int64)
    shares = np.ones(len(text)) if shares is None else np.asarray(shares, np.float64)
    place = {name: k for k, name in enumerate(names or system.features)}
    order = np.array([place[name] for name in system.features], np.int32)

    def decode(weights: np.ndarray) -> Hypergraph:
        return _renumbered(system.with_weights(weights[order]).forest(sentences, pool), order)

    def force(words: np.ndarray, offsets: np.ndarray, pool: Pool | None) -> Hypergraph:
        return _renumbered(system.forced(sentences, words, offsets, pool), order)

    made = TuningSet(decode, table, groups, shares, counted)
    made.reachable = Reachable.of(force, [(side.tokens, side.offsets) for side in sides], groups)
    if workers is not None:
        made.in_workers = lambda weights, k, whole: workers.search(sentences, weights, order, k, whole)
    return made


#: Imputed sources, or lattices of them, with the sentence and the probability of each.
ImputedText: TypeAlias = tuple[Lines, np.ndarray, np.ndarray]


def impute_text(
    system: System,
    text: Lines,
    how: ImputationSettings,
    seed: int = 1,
    pool: Pool | None = None,
    workers: SystemInWorkers | None = None,
) -> ImputedText:
    """Impute sources of target sentences, or lattices of them, whose arcs have the logarithm of their probability.

    system: The reverse system; for lattices with ``full_states``.
    Raises DataError when memory does not hold the lattice of a sentence; with the text's name and the line's number.
    """
    sentences = system.encode(text.words, text.offsets)
    forest = system.forest(sentences, pool) if workers is None else workers.forest(sentences)
    name = system.names(sentences)
    if how.impute != "lattice":
        drawn = how.impute, how.n_sources, how.reverse_gamma, seed, pool, how.source_weights == "equal"
        found, groups, shares = impute(forest, system.weights, *drawn)
        return Lines(name(found.words), found.word_offsets), groups, shares
    try:
        made = automata(forest, system.weights, how.lattice_order, how.lattice_prune, how.reverse_gamma, pool)
    except SentenceTooLongError as error:
        words = int(np.diff(text.offsets)[error.sentence])
        problem = f"the lattice of {words} words takes more memory than there is (remove the line)"
        raise DataError(text.name, error.sentence + 1, problem) from None
    groups = np.array([k for k, one in enumerate(made) if one.arcs], np.int64)
    lattices = lattice_lines([made[k].lattice(name) for k in groups.tolist()], 1)
    return lattices, groups, np.ones(len(groups))
