"""From texts, grammars and language models to learned weights: what ``imputed-risk`` does, step by step."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from aligntools.formats.annotation.tagged_text import Tokens
from aligntools.formats.text.corpus import Side
from aligntools.formats.translation.grammar import GrammarRules
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import Pool, balanced_blocks
from aligntools.store.job_engines import BlockMap
from aligntools.store.stores import Kept
from aligntools.translating.decoding.decoder import EncodedText, System
from aligntools.translating.decoding.system_tables import feature_names
from aligntools.translating.forest import derivations
from aligntools.translating.forest.candidates import CandidateLists
from aligntools.translating.forest.hypergraph import Hypergraph, edge_scores, join
from aligntools.translating.lattices import LatticeLines, lattice_lines
from aligntools.translating.lm.language_model import NgramModel
from aligntools.translating.settings import DecoderSettings, ImputationSettings, TuningSettings
from aligntools.translating.translation_weights import default_weights, in_order
from aligntools.translating.tuning.imputed_lattices import SentenceTooLongError, automata, impute
from aligntools.translating.tuning.linear_bleu import References
from aligntools.translating.tuning.reachable import Reachable
from aligntools.translating.tuning.round_trips import RoundTrips, round_trips
from aligntools.translating.tuning.tuning import (
    Round,
    TuningSet,
    TuningState,
    fingerprint,
    load_state,
    save_state,
    tune,
)

#: Where the state of a run is kept in the folder for checkpoints.
STATE = "tuning.state"
Weights = dict[str, float]
#: Jobs of a text that workers decode.
JOBS = 64


#: Does a job ``(kept system, *arguments, some sentences, pool)`` for each part of a text, in workers.
Workers: TypeAlias = Callable[..., list[Any]]


def workers_of(blocks: BlockMap | None, system: System) -> Workers | None:
    """Return a function that runs a job of a system over the parts of a text: ``(job, sentences, *arguments)``."""
    if blocks is None:
        return None
    kept = blocks.keep(system)

    def run(job: Callable[..., Any], sentences: EncodedText, *arguments: Any) -> list[Any]:
        runs = balanced_blocks(np.diff(sentences.offsets) + 1, JOBS) or [(0, 0)]
        return list(blocks.run("decoding", partial(job, kept, *arguments), (sentences.part(*run) for run in runs)))

    return run


def _search(
    system: Kept, weights: np.ndarray, order: np.ndarray, k: int, whole: bool, sentences: EncodedText, pool: Pool
) -> tuple[CandidateLists, Hypergraph | None]:
    """Return the k best translations and, if the ``whole`` is wanted, the hypergraphs.

    weights (float64 [features]), order (int32 [system's features]): The number of each of the latter among the former.
    """
    own = weights[order]
    used = system.made(lambda kept: kept.with_weights(own), own.tobytes())
    h = _renumbered(used.forest(sentences, pool), order)
    lists = derivations.k_best(h, edge_scores(h, weights, pool=pool), len(weights), k, pool=pool)
    return lists, h if whole else None


def _forest(system: Kept, sentences: EncodedText, pool: Pool) -> Hypergraph:
    found: Hypergraph = system.get().forest(sentences, pool)
    return found


def _decoded(
    system: System, text: Tokens, pool: Pool | None, workers: Workers | None
) -> tuple[EncodedText, Hypergraph]:
    """Return a text's sentences as a system numbers them, and their hypergraphs."""
    sentences = system.encode(text.words, text.offsets)
    return sentences, system.forest(sentences, pool) if workers is None else join(workers(_forest, sentences))


def _renumbered(forest: Hypergraph, order: np.ndarray) -> Hypergraph:
    as_they_are = np.array_equal(order, np.arange(len(order)))
    return forest if as_they_are else replace(forest, feature_ids=order[forest.feature_ids])


def tuning_set(
    system: System,
    text: Tokens,
    references: Sequence[Tokens],
    groups: np.ndarray | None = None,
    shares: np.ndarray | None = None,
    counted: bool = True,
    names: Sequence[str] | None = None,
    pool: Pool | None = None,
    workers: Workers | None = None,
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

    def search(weights: np.ndarray, k: int, whole: bool) -> tuple[CandidateLists, Hypergraph | None]:
        assert workers is not None
        lists, forests = zip(*workers(_search, sentences, weights, order, k, whole), strict=True)
        return lists[0].followed(*lists[1:]), join(forests) if whole else None

    reachable = Reachable.of(force, [(side.tokens, side.offsets) for side in sides], groups)
    return TuningSet(decode, table, groups, shares, counted, search if workers else None, reachable)


#: Imputed sources, or lattices of them, with the sentence and the probability of each.
ImputedText: TypeAlias = tuple[Tokens, np.ndarray, np.ndarray]


def impute_text(
    system: System,
    text: Tokens,
    how: ImputationSettings,
    seed: int = 1,
    pool: Pool | None = None,
    workers: Workers | None = None,
) -> ImputedText:
    """Impute sources of target sentences, or lattices of them, whose arcs have the logarithm of their probability.

    system: The reverse system; for lattices with ``full_states``.
    Raises DataError when memory does not hold the lattice of a sentence; with the text's name and the line's number.
    """
    sentences, forest = _decoded(system, text, pool, workers)
    name = system.names(sentences)
    if how.impute != "lattice":
        drawn = how.impute, how.n_sources, how.reverse_gamma, seed, pool, how.source_weights == "equal"
        found, groups, shares = impute(forest, system.weights, *drawn)
        return Tokens(name(found.words), found.word_offsets), groups, shares
    try:
        made = automata(forest, system.weights, how.lattice_order, how.lattice_prune, how.reverse_gamma, pool)
    except SentenceTooLongError as error:
        words = int(np.diff(text.offsets)[error.sentence])
        problem = f"the lattice of {words} words takes more memory than there is (remove the line)"
        raise DataError(text.name, error.sentence + 1, problem) from None
    groups = np.array([k for k, one in enumerate(made) if one.arcs], np.int64)
    lattices = lattice_lines([made[k].lattice(name) for k in groups.tolist()], 1)
    return lattices, groups, np.ones(len(groups))


@dataclass(eq=False)
class Learner:
    """The steps of learning, and what they share.

    reverse: Takes a text and settings and returns the system, of the rules that it can use, that imputes its sources.
    """

    tuning: TuningSettings
    decoding: DecoderSettings
    imputation: ImputationSettings
    checkpoint: str | None  # Folder for the state of each round
    tell: Callable[[str, dict[str, Any]], None]
    pool: Pool
    blocks: BlockMap | None  # Decodes in workers; None: here
    reverse: Callable[[Tokens, DecoderSettings], System]
    reverse_name: str  # What messages call its grammar

    def _settings(self, full_states: bool) -> DecoderSettings:
        return DecoderSettings(self.decoding.pop_limit, self.decoding.span_limit, full_states)

    def backward(self, text: Tokens) -> System:
        """Return the reverse system of a target text."""
        return self.reverse(text, self._settings(self.imputation.impute == "lattice"))

    def impute(self, text: Tokens, number: int) -> ImputedText:
        """Impute the sources of target text number ``number``."""
        lattices, system = self.imputation.impute == "lattice", self.backward(text)
        seed, workers = self.tuning.seed + number, workers_of(self.blocks, system)
        found = impute_text(system, text, self.imputation, seed, self.pool, workers)
        size = {"lattices": len(found[0]), "arcs": len(found[0].words)} if lattices else {"sources": len(found[0])}
        self.tell("imputing", size | {"sentences": len(text)})
        return found

    def learn(
        self,
        rules: GrammarRules,
        lm: NgramModel,
        start: np.ndarray,
        supervised: Tokens | None,
        references: Sequence[Tokens],
        monolingual: Sequence[Tokens],
        imputed: Sequence[ImputedText],
    ) -> tuple[Weights, dict[str, Any]]:
        """Learn weights.

        monolingual: Target texts, translations of the same sentences.
        imputed: Sources of each of these, unless trees are imputed, which are translated rule by rule.
        """
        full_states = self.tuning.forest and self.tuning.method == "risk"  # edges decide which n-grams are there
        system = System(rules, lm, start, self._settings(full_states))
        lattices = [sources for sources, *_ in imputed if isinstance(sources, LatticeLines)]
        of_arcs = dict.fromkeys((name for one in lattices for name in one.names), 1.0)
        names = [*system.features, *of_arcs]
        frozen = {len(system.features) + k: weight for k, weight in enumerate(of_arcs.values())}
        made, workers = [], workers_of(self.blocks, system)
        set_of = partial(tuning_set, names=names, pool=self.pool)
        if supervised is not None:
            made.append(set_of(system, supervised, references, workers=workers))
        weight, alone = self.imputation.monolingual_weight, supervised is None or self.tuning.choose != "supervised"
        own = system.for_arcs(of_arcs) if of_arcs else system
        workers = workers_of(self.blocks, own) if of_arcs else workers
        for sources, groups, shares in imputed:
            made.append(set_of(own, sources, monolingual, groups, weight * shares, alone, workers=workers))
        if self.imputation.impute == "rules":
            for composing, trees, groups, shares in [self._round_trips(text, rules) for text in monolingual]:
                longest = int(np.diff(trees.offsets).max(initial=1))
                how = self.decoding.pop_limit, longest, full_states, True, False
                composed = System(composing, lm, system.weights, DecoderSettings(*how))
                workers = workers_of(self.blocks, composed)
                made.append(set_of(composed, trees, monolingual, groups, weight * shares, alone, workers=workers))
        if self.tuning.forest and self.tuning.method == "likelihood":
            # of which references there are derivations
            roots = [part.reachable.references(self.pool).roots for part in made if part.reachable is not None]
            reached = sum(int((one >= 0).sum()) for one in roots)
            if not reached and not self.tuning.oracle:
                raise UsageProblem("the grammar derives no reference; `oracle=True` takes the nearest ones instead")
            self.tell("reaching", {"reached": reached, "sentences": sum(map(len, roots))})
        state = self._rounds(made, names, [*system.weights, *of_arcs.values()], frozen, rules, lm)
        best, learned = state.best_round, state.best
        self.tell("best", {"round": best.number, "bleu": best.score})
        if self.tuning.choose == "last":
            best, learned = state.rounds[-1], state.weights
        about: dict[str, Any] = {
            "method": self.tuning.method,
            "bleu": round(best.score, 4),
            "round": best.number,
            "seed": self.tuning.seed,
            "supervised": 0 if supervised is None else len(supervised),
            "monolingual": sum(map(len, monolingual)),
        }
        if self.tuning.method in ("risk", "mira"):
            about["loss"] = self.tuning.loss
        return dict(zip(system.features, learned.tolist(), strict=False)), about

    def _round_trips(self, text: Tokens, forward: GrammarRules) -> RoundTrips:
        """Return the reverse derivations of a text, with the rules that translate them."""
        system = self.backward(text)
        sentences, forest = _decoded(system, text, self.pool, workers_of(self.blocks, system))
        how = self.imputation.n_sources, self.imputation.reverse_gamma, sentences.extra, self.pool
        rules, trees, groups, shares = round_trips(forest, system.weights, system.grammar, forward, *how)
        if not len(trees):
            problem = "no derivation has rules whose target sides are all source sides of `grammar`"
            raise DataError(self.reverse_name, None, problem)
        self.tell("composing", {"rules": len(rules), "trees": len(trees), "sentences": len(np.unique(groups))})
        return rules, trees, groups, shares

    def _rounds(
        self,
        made: Sequence[TuningSet],
        names: Sequence[str],
        start: Sequence[float],
        frozen: Mapping[int, float],
        rules: GrammarRules,
        lm: NgramModel,
    ) -> TuningState:
        """Tune, from a checkpoint if there is one."""
        path, own = "", ""
        begin: Sequence[float] | TuningState = start
        if self.checkpoint is not None:
            path = os.path.join(self.checkpoint, STATE)
            data: list[Any] = [start, rules.target, rules.features, lm.unigrams]
            for part in made:
                data += [part.groups, part.shares, part.references.keys, part.references.lengths]
            others: dict[str, Any] = {
                "pop_limit": self.decoding.pop_limit,
                "span_limit": self.decoding.span_limit,
                "impute": self.imputation.impute,
                "n_sources": self.imputation.n_sources,
            }
            if self.imputation.impute == "lattice":
                others |= {"order": self.imputation.lattice_order, "prune": self.imputation.lattice_prune}
            own = fingerprint(self.tuning, *data, names=list(names), **others)
            if os.path.exists(path):
                begin = found = load_state(path, own)
                self.tell("resuming", {"round": len(found.rounds) - 1})

        def report(found: Round) -> None:
            what = "edges" if self.tuning.forest else "candidates"
            size = {"round": found.number, "bleu": found.bleu, "ratio": found.ratio, what: found.candidates}
            self.tell("round", size | {"objective": found.objective, "score": found.score})

        keep = (lambda state: save_state(path, own, state)) if path else None
        return tune(made, begin, self.tuning, frozen, self.pool, report, keep)


def starting_weights(rules: GrammarRules, start: Weights | None, path: str) -> np.ndarray:
    """Return the weights to begin with: untuned ones, or given ones, 0 for bigrams that they do not know."""
    names = feature_names(rules)
    if start is None:
        return default_weights(names)
    if rules.sparse_names and not set(rules.sparse_names) & set(start):  # learned without bigrams
        dense = names[: len(names) - len(rules.sparse_names)]
        return np.concatenate([in_order(path, start, dense), np.zeros(len(rules.sparse_names))])
    return in_order(path, start, names)
