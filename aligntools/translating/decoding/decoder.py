"""A translation system: a grammar, a language model and weights; sentences in, translations or hypergraphs out."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from aligntools.formats.annotation.tagged_text import Tokens
from aligntools.formats.translation.grammar import GrammarRules
from aligntools.ground import memory
from aligntools.ground.parallel import Pool, balanced_blocks, over
from aligntools.translating.decoding import kernels_decoder as kernels
from aligntools.translating.decoding import kernels_forced_decoding, kernels_forest
from aligntools.translating.decoding.kernels_tables import Arcs, ForestArrays, ModelTables
from aligntools.translating.decoding.system_tables import RuleIndex, Workspace, feature_names, prepare
from aligntools.translating.forest.candidates import offsets_of
from aligntools.translating.forest.derivations import best
from aligntools.translating.forest.hypergraph import Hypergraph, blank, edge_scores, join
from aligntools.translating.lattices import LatticeLines, as_lattices
from aligntools.translating.lm.language_model import NgramModel
from aligntools.translating.settings import LONGEST, DecoderSettings

#: One for each feature, in order or by name.
Weights: TypeAlias = Sequence[float] | np.ndarray | Mapping[str, float]
#: Rules of hyperedges that the grammar does not have: a word passed through, S -> X, S -> S X, the end of the sentence.
PASSED, UNARY, BINARY, GOAL = -1, -2, -3, -4
_BLOCKS = 64
#: Bytes of the table of pairs of nodes from which the bound on memory is looked at.
_MUCH = 1 << 26
_Found = TypeVar("_Found")


@dataclass(eq=False)
class EncodedText:
    """Text to be translated by one system: lattices, or sentences as lattices of one path.

    passed (int32 [words]): The target id that each word has when it is passed through: of the same word in the target
        vocabulary, or one past it, ``len(vocabulary) + k`` for ``extra[k]``.
    begins, ends, values: See `aligntools.translating.lattices.LatticeLines`.
    """

    ROWS: ClassVar[tuple[str, ...]] = ("tokens", "passed", "begins", "ends", "values")
    tokens: np.ndarray  # int32 [words]: Ids of the grammar's source vocabulary; 0 for words that are not in it
    offsets: np.ndarray  # int64 [sentences + 1]
    passed: np.ndarray
    extra: list[bytes]  # Words that are not in the target vocabulary
    begins: np.ndarray
    ends: np.ndarray
    values: np.ndarray
    lattices: bool = False  # Whether it is not of sentences, which may be cut where they are too long

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def part(self, begin: int, end: int) -> "EncodedText":
        """Return the sentences ``begin..end`` by themselves, with the same ``extra``."""
        a, b = self.offsets[begin], self.offsets[end]
        rows = {name: getattr(self, name)[a:b] for name in self.ROWS}
        return replace(self, offsets=self.offsets[begin : end + 1] - a, **rows)


@dataclass(eq=False)
class Translations:
    """The best translations found."""

    tokens: np.ndarray  # int32 [words]: Target ids; those past the vocabulary are of `EncodedText.extra`
    offsets: np.ndarray  # int64 [sentences + 1]
    scores: np.ndarray  # float64 [sentences]: ``weights . features`` of the best derivation; 0 for a blank line.


class System:
    """A grammar, a language model and weights.

    grammar: All rules rewrite X. S -> X and S -> S X come with the decoder, as does passing through a word that no rule
        has alone.
    features: "lm", the grammar's, then `prepared.COUNTS`, then the grammar's sparse ones, then those of arcs. Without a
        language model "lm" and "lm-unknown" are there and always 0.
    """

    def __init__(
        self, grammar: GrammarRules, lm: NgramModel | None, weights: Weights, settings: DecoderSettings | None = None
    ) -> None:
        self.grammar, self.lm, self.settings = grammar, lm, settings or DecoderSettings()
        self.features, self.arc_features = feature_names(grammar), tuple[str, ...]()
        self._prepared = prepare(grammar, lm)
        self._weigh(weights)

    def with_weights(self, weights: Weights) -> "System":
        """Return the same system with other weights; what does not depend on them is shared."""
        other = copy(self)
        other._weigh(weights)
        return other

    def with_settings(self, **settings: Any) -> "System":
        """Return the same system with some `DecoderSettings` changed."""
        other = copy(self)
        other.settings = replace(self.settings, **settings)
        return other

    def for_arcs(self, weights: dict[str, float]) -> "System":
        """Return the same system for lattices whose arcs have these features, with these weights."""
        other = copy(self)
        own = len(self.features) - len(self.arc_features)
        other.features, other.arc_features = [*self.features[:own], *weights], tuple(weights)
        other._weigh(np.concatenate([self.weights[:own], np.array(list(weights.values()), np.float64)]))
        return other

    def _weigh(self, weights: Weights) -> None:
        if isinstance(weights, dict):
            weights = [weights[name] for name in self.features]
        self.weights = np.array(weights, np.float64)
        if self.weights.shape != (len(self.features),):
            raise ValueError(f"{self.weights.shape} weights for {len(self.features)} features")
        used, p = self.weights.copy(), self._prepared
        if self.lm is None:
            used[[0, self.features.index("lm-unknown")]] = 0.0
        n_rules, at = p.rules, 1 + p.features.dense.shape[1]
        scores, estimates = np.zeros((n_rules + 4, 2)), np.empty(n_rules, np.float32)
        kernels_forest.score_rules(0, n_rules, p.features, used, scores, estimates)
        scores[n_rules + kernels.PASSED] = used[at] + used[at + 6]
        scores[n_rules + kernels.UNARY], scores[n_rules + kernels.BINARY] = used[at + 4], used[at + 5]
        order = np.concatenate([p.trie.ordered(estimates), np.arange(n_rules, n_rules + 4, dtype=np.int32)])
        self._tables = p.tables._replace(ordered=order, scores=scores)
        self._lm_weights = np.array([used[0], used[at + 7]])

    def encode(self, words: Sequence[bytes], offsets: np.ndarray) -> EncodedText:
        """Number the words of sentences, which begin at ``offsets`` (int64 [sentences + 1])."""
        return self.encode_text(Tokens(list(words), offsets))

    def encode_text(self, text: Tokens) -> EncodedText:
        """Number the words of text, which may be of lattices.

        Raises ValueError when the arcs do not have the system's features.
        """
        if isinstance(text, LatticeLines) and tuple(text.names) != self.arc_features:
            raise ValueError(f"arcs with the features {text.names} for a system that has {self.arc_features}")
        numbers: dict[bytes, int] = {}
        words, offsets = text.words, np.ascontiguousarray(text.offsets, np.int64)
        inverse = np.fromiter((numbers.setdefault(w, len(numbers)) for w in words), np.int64, len(words))
        types = list(numbers)
        source = np.maximum(self.grammar.source_vocabulary.ids(types), 0).astype(np.int32)
        passed = self.grammar.target_vocabulary.ids(types).astype(np.int32)
        new = np.flatnonzero(passed < 0)
        passed[new] = len(self.grammar.target_vocabulary) + np.arange(len(new), dtype=np.int32)
        extra, arcs = [types[k] for k in new.tolist()], as_lattices(text)
        ids = source[inverse], offsets, passed[inverse], extra
        return EncodedText(*ids, arcs.begins, arcs.ends, arcs.values, isinstance(text, LatticeLines))

    def encode_target(self, words: Sequence[bytes], sentences: EncodedText) -> np.ndarray:
        """Number words of the target side, references for instance, as translations of ``sentences`` are numbered.

        Words that are neither in the vocabulary nor in ``sentences.extra`` get numbers past both.

        Returns int32 [words].
        """
        ids = self.grammar.target_vocabulary.ids(words).astype(np.int32)
        beyond = {w: len(self.grammar.target_vocabulary) + k for k, w in enumerate(sentences.extra)}
        for k in np.flatnonzero(ids < 0).tolist():
            ids[k] = beyond.setdefault(words[k], len(self.grammar.target_vocabulary) + len(beyond))
        return ids

    def names(self, sentences: EncodedText) -> Callable[[Any], list[bytes]]:
        """Return a function that gives the words (bytes) of target ids of translations of ``sentences``."""
        vocabulary = self.grammar.target_vocabulary
        blob, starts, size = vocabulary.blob, vocabulary.starts, len(vocabulary)

        def name(ids: npt.ArrayLike) -> list[bytes]:
            return [
                blob[starts[t] : starts[t + 1]].tobytes() if t < size else sentences.extra[t - size]
                for t in np.asarray(ids).tolist()
            ]

        return name

    def translate(self, sentences: EncodedText, pool: Pool | None = None) -> Translations:
        """Find the best translation of each sentence.

        Ties go to the derivation found first; the result does not depend on the number of threads. A sentence of more
        than `LONGEST` words is translated in pieces.
        """
        lm_ids = self._lm_ids(sentences)

        def best(workspace: Workspace, begin: int, end: int) -> tuple[np.ndarray, float]:
            words, score = [np.zeros(0, np.int32)], 0.0
            longest = max(end - begin, 1) if sentences.lattices else LONGEST
            for a in range(begin, end, longest):
                part = slice(a, min(a + longest, end))
                goal = self._decode(workspace, sentences, part, lm_ids, False)
                score += float(workspace.hypotheses.scores[goal])
                words.append(self._best(workspace, goal, sentences.passed[part]))
            return np.concatenate(words), score

        found = self._each(best, sentences, pool)
        lengths = np.fromiter((len(w) for w, _ in found), np.int64, len(found))
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        tokens = np.concatenate([np.zeros(0, np.int32), *(w for w, _ in found)])
        return Translations(tokens, ends, np.array([s for _, s in found], np.float64))

    def forest(self, sentences: EncodedText, pool: Pool | None = None) -> Hypergraph:
        """Find the hypergraph of each sentence: all derivations that the search kept.

        Its features are local: the language model's is what a hyperedge adds. Rules below 0 are `PASSED`, `UNARY`,
        `BINARY` and `GOAL`. Word ids past the target vocabulary are of ``sentences.extra``. The root joins what
        otherwise differs: its ``left`` and ``right`` are of the best derivation.
        """
        lm_ids = self._lm_ids(sentences)

        def hypergraph(workspace: Workspace, begin: int, end: int) -> Hypergraph:
            if begin == end:
                return blank()
            part = slice(begin, end)
            goal = self._decode(workspace, sentences, part, lm_ids, True)
            return self._forest(workspace, goal, sentences, part, lm_ids)

        return join(self._each(hypergraph, sentences, pool))

    def forced(
        self, sentences: EncodedText, words: np.ndarray, offsets: np.ndarray, pool: Pool | None = None
    ) -> Hypergraph:
        """Find all derivations of given translations; nothing is pruned.

        words (int32 [words], offsets : int64 [sentences + 1]): The translations, as `encode_target` numbers them; one
            without words has no derivation.
        Returns without derivations where the rules do not yield the translation.
        """
        lm_ids, prepared, words = self._lm_ids(sentences), self._prepared, np.ascontiguousarray(words, np.int32)
        if prepared.index is None:
            prepared.index = RuleIndex.of(self.grammar)
        model = prepared.model._replace(ids=lm_ids)

        def hypergraph(workspace: Workspace, begin: int, end: int) -> Hypergraph:
            if begin == end:
                return blank()
            k, part = int(np.searchsorted(sentences.offsets, begin, "right")) - 1, slice(begin, end)
            texts = sentences.tokens[part], sentences.passed[part], words[offsets[k] : offsets[k + 1]]
            goal = self._derive(*texts, workspace, model)
            return blank() if goal is None else self._forest(workspace, goal, sentences, part, lm_ids)

        return join(self._each(hypergraph, sentences, pool))

    def _derive(
        self, words: np.ndarray, passed: np.ndarray, given: np.ndarray, workspace: Workspace, model: ModelTables
    ) -> int | None:
        """Fill the workspace with all derivations of a translation; return the goal, or None where there is none."""
        if not len(given) or (given >= len(model.ids)).any():
            return None
        rules, index = self._tables, self._prepared.index
        assert index is not None
        span, size = min(self.settings.span_limit, len(words)), len(given) + 2
        has_source, has_target = np.zeros(len(index.alone), np.bool_), np.zeros(len(model.ids), np.bool_)
        has_source[words], has_target[given] = True, True
        keys = np.unique(np.append(words, 0)).tolist()  # rules begin with one of these words, or with none
        candidates = np.concatenate([index.rules[index.starts[k] : index.starts[k + 1]] for k in keys])
        alone = index.alone[words] | (not self.settings.pass_known) & (words != 0)
        workspace.fit(0, len(words) * span + len(words) + 1, False, True)
        sides = index.source_offsets, index.source, rules.target_offsets, rules.target
        rest, scores = (sides, has_source, has_target, self._prepared.rules, model), np.zeros((size, size))
        while True:
            place, cells, counts = np.full((size, size), -1, np.int64), workspace.chart.cells, workspace.counts
            items = kernels_forced_decoding.ForcedItems(scores, place, cells, workspace.hypotheses, counts)
            status = kernels_forced_decoding.derive(
                words, passed, alone, given, candidates.copy(), span, *rest, workspace.context, items
            )
            if status >= 0:
                return int(status)
            if status == kernels_forced_decoding.UNREACHABLE:
                return None
            workspace.enlarge(status)

    def derivation_features(self, sentences: EncodedText, pool: Pool | None = None) -> list[list[tuple[int, float]]]:
        """Return the features of each sentence's best derivation: numbers, ascending, and values that are not 0."""
        forest = self.with_settings(full_states=False).forest(sentences, pool)
        found = best(forest, edge_scores(forest, self.weights, pool=pool), len(self.features), pool)
        starts = found.feature_offsets[found.offsets].tolist()
        ids, values = found.feature_ids.tolist(), found.feature_values.tolist()
        return [list(zip(ids[a:b], values[a:b], strict=True)) for a, b in pairwise(starts)]

    def _each(
        self, function: Callable[[Workspace, int, int], _Found], sentences: EncodedText, pool: Pool | None
    ) -> list[_Found]:
        """Return what ``function(workspace, begin, end)`` makes of each sentence's words."""
        offsets: np.ndarray = sentences.offsets
        found: dict[int, _Found] = {}

        def work(block: tuple[int, int]) -> None:
            workspace = self._prepared.take_workspace()
            for k in range(*block):
                found[k] = function(workspace, int(offsets[k]), int(offsets[k + 1]))
            self._prepared.workspaces.append(workspace)

        blocks = balanced_blocks(np.diff(offsets) + 1, _BLOCKS)
        over(pool, work, blocks)
        return [found[k] for k in range(len(sentences))]

    def _lm_ids(self, sentences: EncodedText) -> np.ndarray:
        """Return the language model's ids of target ids, those past the vocabulary included."""
        ids = self._prepared.model.ids
        if self.lm is None:
            return np.zeros(len(ids) + len(sentences.extra), np.int32)
        return np.concatenate([ids, self.lm.lookup(sentences.extra).astype(np.int32)])

    def _decode(self, workspace: Workspace, sentences: EncodedText, part: slice, lm_ids: np.ndarray, keep: bool) -> int:
        """Fill the workspace with a sentence's hypotheses; return the goal."""
        s, w, weights = self.settings, workspace, self._lm_weights
        settings = np.array([s.pop_limit, s.span_limit, keep and s.full_states, keep, s.lazy, s.pass_known], np.int64)
        model = self._prepared.model._replace(ids=lm_ids)
        begins, ends = (nodes[part] - sentences.begins[part.start] for nodes in (sentences.begins, sentences.ends))
        values = sentences.values[part].astype(np.float64)
        nodes = int(ends[-1]) + 1
        if 4 * nodes * nodes > _MUCH:
            memory.ask(4 * nodes * nodes, "a lattice of many nodes")
        at = np.searchsorted(ends, np.arange(nodes + 1)).astype(np.int64)
        cells = np.empty((nodes, nodes), np.int32)
        count = kernels.number_cells(begins, at, s.span_limit, np.empty(nodes, np.int64), cells)
        scores = values @ self.weights[len(self.weights) - values.shape[1] :]
        arcs = Arcs(sentences.tokens[part], begins, at, scores, cells)
        w.fit(nodes, count + nodes + 1, bool(keep and s.full_states), keep)
        while True:
            room = w.context, w.chart, w.items, w.paths, w.hypotheses, w.counts
            status = kernels.decode(count, arcs, sentences.passed[part], settings, weights, self._tables, model, *room)
            if status >= 0:
                return int(status)
            w.enlarge(status)

    def _best(self, workspace: Workspace, goal: int, passed: np.ndarray) -> np.ndarray:
        tables, size = self._tables, 4 * len(passed) + 64
        while True:
            out, stack = np.empty(size, np.int32), np.empty((size, 2), np.int64)
            rows, rules = workspace.hypotheses.rows, self._prepared.rules
            count = kernels_forest.read_best(
                goal, rows, rules, tables.target_offsets, tables.target, passed, stack, out
            )
            if count >= 0:
                return out[:count]
            size *= 2

    def _forest(
        self, workspace: Workspace, goal: int, sentences: EncodedText, part: slice, lm_ids: np.ndarray
    ) -> Hypergraph:
        tables, features, hypotheses = self._tables, self._prepared.features, workspace.hypotheses
        passed = sentences.passed[part]
        n_nodes, n_edges = workspace.counts[:2].tolist()
        reached = np.empty(n_nodes + 1, np.int64), np.empty(n_edges, np.int64), np.empty(n_nodes, np.int64)
        totals = np.empty(4, np.int64)
        sizes = tables.target_offsets, features.dense.shape[1] + 4, features.sparse_offsets
        kernels_forest.reach(goal, n_nodes, n_edges, hypotheses.edges, reached, *sizes, totals)
        nodes, edges, n_features, n_words = totals.tolist()
        out = ForestArrays(
            np.empty(nodes + 1, np.int64),
            np.empty((edges, 2), np.int32),
            np.empty(edges, np.int32),
            np.empty(edges + 1, np.int64),
            np.empty(n_features, np.int32),
            np.empty(n_features, np.float32),
            np.empty(edges + 1, np.int64),
            np.empty(n_words, np.int32),
            np.empty((nodes, 4), np.int32),
            np.empty((nodes, 4), np.int32),
            np.empty(nodes, np.int32),
        )
        has_lm, unknown = self.lm is not None, (lm_ids[passed] == 0).astype(np.int32)
        kernels_forest.write_forest(n_nodes, hypotheses, reached, has_lm, tables, passed, unknown, features, out)
        n_features, n_words = int(out.feature_offsets[-1]), int(out.word_offsets[-1])
        out = out._replace(
            feature_ids=out.feature_ids[:n_features].copy(),
            feature_values=out.feature_values[:n_features].copy(),
            words=out.words[:n_words].copy(),
        )
        found = Hypergraph(np.array([0, nodes], np.int64), np.array([nodes - 1], np.int64), *out)
        values = sentences.values[part]
        if not values.shape[1]:
            return found
        # the features of arcs, which are the last, after the others of each hyperedge
        _, order, numbers = reached
        in_order = order[numbers[hypotheses.edges[order, 0]] >= 0]
        sums = np.zeros((len(in_order), values.shape[1]), np.float32)
        kernels.add_arc_features(in_order, hypotheses.paths, workspace.paths.rows, values, sums)
        rows, columns = np.nonzero(sums)
        heads = np.concatenate([np.repeat(np.arange(edges), np.diff(found.feature_offsets)), rows])
        order = np.argsort(heads, kind="stable")
        ids = np.concatenate([found.feature_ids, (columns + len(self.features) - values.shape[1]).astype(np.int32)])
        return replace(
            found,
            feature_offsets=offsets_of(np.bincount(heads, minlength=edges)),
            feature_ids=ids[order],
            feature_values=np.concatenate([found.feature_values, sums[rows, columns]])[order],
        )
