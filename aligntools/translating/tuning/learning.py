"""From texts, grammars and language models to learned weights: what ``imputed-risk`` does, step by step."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from aligntools.formats.inputs.sentences import Lines
from aligntools.formats.translation.grammar import GrammarRules
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.store.job_engines import BlockMap
from aligntools.translating.decoding.decoder import System
from aligntools.translating.decoding.system_tables import feature_names
from aligntools.translating.lattices import LatticeLines
from aligntools.translating.lm.language_model import NgramModel
from aligntools.translating.settings import DecoderSettings, ImputationSettings, TuningSettings
from aligntools.translating.translation_weights import default_weights, in_order
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
from aligntools.translating.tuning.tuning_sets import ImputedText, SystemInWorkers, impute_text, tuning_set

#: Where the state of a run is kept in the folder for checkpoints.
STATE = "tuning.state"
Weights = dict[str, float]


@dataclass(eq=False)
class Learner:
    """The steps of learning, and what they share.

    checkpoint: Folder for the state of each round.
    blocks: Decodes in workers; None: here.
    """

    tuning: TuningSettings
    decoding: DecoderSettings
    imputation: ImputationSettings
    checkpoint: str | None
    tell: Callable[[str, dict[str, Any]], None]
    pool: Pool
    blocks: BlockMap | None = None

    def _workers(self, system: System) -> SystemInWorkers | None:
        return None if self.blocks is None else SystemInWorkers(self.blocks, system)

    def _settings(self, full_states: bool) -> DecoderSettings:
        return DecoderSettings(self.decoding.pop_limit, self.decoding.span_limit, full_states)

    def _reverse(self, reverse: "ReverseSystem", text: Lines, full_states: bool = False) -> System:
        rules = reverse.read(text)
        weights = in_order(reverse.path, reverse.weights, feature_names(rules))
        return System(rules, reverse.lm, weights, self._settings(full_states))

    def impute(self, reverse: "ReverseSystem", text: Lines, number: int) -> ImputedText:
        """Impute the sources of target text number ``number``."""
        lattices = self.imputation.impute == "lattice"
        system = self._reverse(reverse, text, lattices)
        seed, workers = self.tuning.seed + number, self._workers(system)
        found = impute_text(system, text, self.imputation, seed, self.pool, workers)
        size = {"lattices": len(found[0]), "arcs": len(found[0].words)} if lattices else {"sources": len(found[0])}
        self.tell("imputing", size | {"sentences": len(text)})
        return found

    def learn(
        self,
        rules: GrammarRules,
        lm: NgramModel,
        start: np.ndarray,
        supervised: Lines | None,
        references: Sequence[Lines],
        monolingual: Sequence[Lines],
        imputed: Sequence[ImputedText],
        reverse: "ReverseSystem | None",
    ) -> tuple[Weights, dict[str, Any]]:
        """Learn weights.

        monolingual: Target texts, translations of the same sentences.
        imputed: Sources of each of these, unless trees are imputed.
        reverse: For trees that are translated rule by rule.
        """
        full_states = self.tuning.forest and self.tuning.method == "risk"  # edges decide which n-grams are there
        system = System(rules, lm, start, self._settings(full_states))
        lattices = [sources for sources, *_ in imputed if isinstance(sources, LatticeLines)]
        of_arcs = dict.fromkeys((name for one in lattices for name in one.names), 1.0)
        names = [*system.features, *of_arcs]
        frozen = {len(system.features) + k: weight for k, weight in enumerate(of_arcs.values())}
        made, workers, set_of = [], self._workers(system), partial(tuning_set, names=names, pool=self.pool)
        if supervised is not None:
            made.append(set_of(system, supervised, references, workers=workers))
        weight, alone = self.imputation.monolingual_weight, supervised is None or self.tuning.choose != "supervised"
        own = system.for_arcs(of_arcs) if of_arcs else system
        workers = self._workers(own) if of_arcs else workers
        for sources, groups, shares in imputed:
            made.append(set_of(own, sources, monolingual, groups, weight * shares, alone, workers=workers))
        if reverse is not None and self.imputation.impute == "rules":
            for composing, trees, groups, shares in self._round_trips(reverse, monolingual, rules):
                longest = int(np.diff(trees.offsets).max(initial=1))
                how = self.decoding.pop_limit, longest, full_states, True, False
                composed = System(composing, lm, system.weights, DecoderSettings(*how))
                workers = self._workers(composed)
                made.append(set_of(composed, trees, monolingual, groups, weight * shares, alone, workers=workers))
        if self.tuning.forest and self.tuning.method == "likelihood":
            self._reach(made)
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

    def _round_trips(self, reverse: "ReverseSystem", texts: Sequence[Lines], forward: GrammarRules) -> list[RoundTrips]:
        """Return the reverse derivations of each text, with the rules that translate them."""
        found = []
        for text in texts:
            system = self._reverse(reverse, text)
            sentences, workers = system.encode(text.words, text.offsets), self._workers(system)
            forest = system.forest(sentences, self.pool) if workers is None else workers.forest(sentences)
            how = self.imputation.n_sources, self.imputation.reverse_gamma, sentences.extra, self.pool
            rules, trees, groups, shares = round_trips(forest, system.weights, system.grammar, forward, *how)
            if not len(trees):
                problem = "no derivation has rules whose target sides are all source sides of `grammar`"
                raise DataError(reverse.grammar, None, problem)
            self.tell("composing", {"rules": len(rules), "trees": len(trees), "sentences": len(np.unique(groups))})
            found.append((rules, trees, groups, shares))
        return found

    def _reach(self, made: Sequence[TuningSet]) -> None:
        """Derive the references, and say how many can be derived."""
        reached, sentences = 0, 0
        for part in made:
            if part.reachable is not None:
                roots = part.reachable.references(self.pool).roots
                reached, sentences = reached + int((roots >= 0).sum()), sentences + len(roots)
        if not reached and not self.tuning.oracle:
            raise UsageProblem("the grammar derives no reference; `oracle` takes the nearest translations instead")
        self.tell("reaching", {"reached": reached, "sentences": sentences})

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


@dataclass(eq=False)
class ReverseSystem:
    """What imputes sources of target text.

    read: Takes texts and returns the rules that they can use.
    grammar, path: What messages call the grammar and the weights.
    """

    read: Callable[..., GrammarRules]
    lm: NgramModel | None
    weights: Weights
    grammar: str = "<reverse grammar>"
    path: str = "<reverse weights>"


def starting_weights(rules: GrammarRules, start: Weights | None, path: str) -> np.ndarray:
    """Return the weights to begin with: untuned ones, or given ones, 0 for bigrams that they do not know."""
    names = feature_names(rules)
    if start is None:
        return default_weights(names)
    if rules.sparse_names and not set(rules.sparse_names) & set(start):  # learned without bigrams
        dense = names[: len(names) - len(rules.sparse_names)]
        return np.concatenate([in_order(path, start, dense), np.zeros(len(rules.sparse_names))])
    return in_order(path, start, names)
