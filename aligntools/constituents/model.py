"""A grammar of constituents on disk and at work."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self
from unicodedata import normalize

import numpy as np

from aligntools.constituents.binarization import base_label
from aligntools.constituents.decoding import Product, Pruning, best_tree
from aligntools.constituents.derivation_lists import ScoredTree, best_trees, drawn_trees
from aligntools.constituents.grammar import ConstituentGrammar
from aligntools.constituents.lexicon import WordCounts
from aligntools.constituents.settings import GrammarDecisions, TreeLists
from aligntools.formats.annotation.brackets import Tree, clean
from aligntools.formats.annotation.conll import column_place
from aligntools.formats.models.modelfile import Array, SavedModel, checked, hold, hold_offsets, hold_vocabulary, named
from aligntools.ground.parallel import Pool, over
from aligntools.words.vocabulary import Vocabulary
from aligntools.words.white_space import NormalForm, form_of

#: Symbols, and states of them, that a model may have.
MOST_SYMBOLS, MOST_STATES = 100_000, 1_000_000
#: Members that a product of grammars may have.
MOST_MEMBERS = 100
_STATES = Array("roots", ("states",), np.float64, 0, 1), Array("frequencies", ("states",), np.float64, 0)
_WORDS = (
    Array("counts", ("words",), np.float64, 0),
    Array("pair_counts", ("pairs",), np.float64, 0),
    Array("of_shapes", ("shapes", "states"), np.float64, 0, 1),
    Array("of_states", ("states",), np.float64, 0, 1),
)


@dataclass(frozen=True, eq=False)
class ParsedTrees:
    """Trees of sentences.

    trees: As in the treebank; of a sentence without words an empty one.
    scores (float64 [sentences]): Natural logarithm of the sentence's probability under the grammar, up to what depends
        on its words alone; -inf where it has no tree.
    flat (bool [sentences]): Too long, so that its words stand side by side.
    uncovered (bool [sentences]): The grammar has no tree for it. It has the best one of the coarse grammar, or its
        words stand side by side.
    """

    trees: list[Tree]
    scores: np.ndarray
    flat: np.ndarray
    uncovered: np.ndarray


@dataclass(frozen=True, eq=False)
class ConstituentModel(SavedModel):
    """A grammar with its words.

    frequencies (float64 [states]): How often each state occurs in training.
    others: Further members of a product of grammars: with the same symbols, rules and words, and other substates and
        weights.
    """

    KIND = "pcfg"
    grammar: ConstituentGrammar
    frequencies: np.ndarray
    lexicon: WordCounts
    settings: dict[str, Any] = field(default_factory=dict)
    others: tuple["ConstituentModel", ...] = ()

    @property
    def members(self) -> tuple["ConstituentModel", ...]:
        """The members of a product of grammars, this one first."""
        return self, *self.others

    @property
    def n_states(self) -> int:
        """Number of states of all members."""
        return sum(own.grammar.n_states for own in self.members)

    @cached_property
    def _product(self) -> Product:
        return Product.of(*(own.grammar for own in self.members))

    @cached_property
    def _pruning(self) -> tuple[Pruning, WordCounts]:
        """The coarse grammar, and its words."""
        return Pruning.of(self.grammar, self.frequencies), self.lexicon.projected(self._states)

    @property
    def _states(self) -> np.ndarray:
        """The first state of each tag, and the end."""
        return np.asarray(self.grammar.first[: self.grammar.n_tags + 1])

    @cached_property
    def _tags(self) -> dict[str, int]:
        return {tag: k for k, tag in enumerate(self.grammar.symbols[: self.grammar.n_tags])}

    def parse(
        self,
        sentences: Sequence[Sequence[str]],
        tags: Sequence[Sequence[str]] | None = None,
        decisions: GrammarDecisions | None = None,
        pool: Pool | None = None,
    ) -> ParsedTrees:
        """Return the trees of sentences.

        tags: One of each word, which its leaf will have; one that the grammar does not know says nothing.
        """
        how = decisions or GrammarDecisions()
        given = [[""] * len(words) for words in sentences] if tags is None else tags

        def work(number: int) -> tuple[Tree, float, bool, bool]:
            words, own = sentences[number], given[number]
            if not words:
                return Tree(""), 0.0, False, False
            for scores, allowed in self._cells(words, own, how):
                found, value = best_tree(words, own, scores, self._product, allowed, how.decode)
                if found is not None:
                    return found, value, False, False
            long = len(words) > how.max_length
            return self._uncovered(words, own, how), -np.inf, long, not long

        found = over(pool, work, range(len(sentences)))
        return ParsedTrees(
            [tree for tree, *_ in found],
            np.array([value for _, value, *_ in found], np.float64),
            np.array([flat for *_, flat, _ in found], np.bool_),
            np.array([uncovered for *_, uncovered in found], np.bool_),
        )

    def listed(
        self,
        sentences: Sequence[Sequence[str]],
        lists: TreeLists,
        tags: Sequence[Sequence[str]] | None = None,
        decisions: GrammarDecisions | None = None,
        pool: Pool | None = None,
        first: int = 0,
    ) -> list[list[ScoredTree]]:
        """Return the best trees of each sentence, or drawn ones, or the one tree of `parse`.

        first: Number of the first sentence. What is drawn depends on the seed and on the sentence's number.
        """
        how = decisions or GrammarDecisions()
        given = [[""] * len(words) for words in sentences] if tags is None else tags

        def work(number: int) -> list[ScoredTree]:
            words, own = sentences[number], given[number]
            if not words:
                return [ScoredTree(Tree(""), 0.0, 0.0)]
            for scores, allowed in self._cells(words, own, how):
                if lists.n_best is not None:
                    found = best_trees(words, own, scores, self._product, allowed, lists.n_best)
                else:
                    random = np.random.default_rng([lists.seed, first + number])
                    found = drawn_trees(words, own, scores, self._product, allowed, lists.samples or 1, random)
                if found:
                    return found
            return [ScoredTree(self._uncovered(words, own, how), -np.inf, -np.inf)]

        return over(pool, work, range(len(sentences)))

    def _cells(
        self, words: Sequence[str], tags: Sequence[str], how: GrammarDecisions
    ) -> Iterator[tuple[list[np.ndarray], np.ndarray]]:
        """Yield the scores of words under each member with what cells may have, pruned first, then without pruning.

        A sentence that is too long, or of which even the coarse grammar has no tree, has none of these.
        """
        if len(words) > how.max_length:
            return
        allowed = self._pruning[0].allowed(self._coarse_scores(words, tags), how.pruning)
        if allowed is None:
            return
        scores = [self._scores(words, tags, member.lexicon, member._states) for member in self.members]
        yield scores, allowed
        allowed[:] = True
        yield scores, allowed

    def _coarse_scores(self, words: Sequence[str], tags: Sequence[str]) -> np.ndarray:
        """Return p(word | tag) of each word."""
        return self._scores(words, tags, self._pruning[1], np.arange(self.grammar.n_tags + 1))

    @cached_property
    def normal_form(self) -> NormalForm | None:
        """The normal form of the words of training; those of sentences are compared in it."""
        return form_of([word.encode("utf-8", "surrogateescape") for word in self.lexicon.words])

    def _scores(self, words: Sequence[str], tags: Sequence[str], lexicon: WordCounts, first: np.ndarray) -> np.ndarray:
        """Return p(word | state) of each word; of a word with a known tag, of that tag's states alone."""
        form = self.normal_form
        found = lexicon.scores([normalize(form, word) for word in words] if form else words, first)
        for k, tag in enumerate(tags):
            number = self._tags.get(clean(tag), -1)
            if number < 0:
                continue
            own = slice(first[number], first[number + 1])
            kept = found[k, own].copy()
            found[k] = 0
            found[k, own] = kept if kept.any() else 1.0
        return found

    def _uncovered(self, words: Sequence[str], tags: Sequence[str], how: GrammarDecisions) -> Tree:
        """Return the coarse grammar's tree of a sentence that is short enough and has one, or a flat one."""
        n = len(words)
        if n <= how.max_length:
            product, scores = Product.of(self._pruning[0].grammar), self._coarse_scores(words, tags)
            allowed = np.ones((n * (n + 1) // 2, len(product.grammars[0].symbols)), np.bool_)
            tree, _ = best_tree(words, tags, [scores], product, allowed, how.decode)
            if tree is not None:
                return tree
        # words side by side under the label that most sentences have, each with its most probable tag by itself
        top = int(np.argmax(np.add.reduceat(self.grammar.roots, self.grammar.first[:-1])))
        frequent = np.add.reduceat(self.frequencies, self.grammar.first[:-1])[: self.grammar.n_tags]
        best = np.argmax(self._coarse_scores(words, tags) * frequent, axis=1).tolist()
        names, each = self.grammar.symbols, zip(words, tags, best, strict=True)
        return Tree(base_label(names[top]), [Tree(tag or names[k], [], word) for word, tag, k in each])

    def parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the arrays of the model's file; of further members those that differ."""
        arrays = self._arrays()
        first = dict(arrays)
        for number, member in enumerate(self.others, 1):
            own = member._arrays()
            arrays |= {f"{number}.{name}": own[name] for name in own if not np.array_equal(own[name], first[name])}
        header: dict[str, Any] = {"settings": self.settings, "paths": [list(path) for path in self.grammar.paths]}
        if self.others:
            header["members"] = len(self.members)
        return header, arrays

    def _arrays(self) -> dict[str, np.ndarray]:
        grammar, lexicon = self.grammar, self.lexicon
        arrays: dict[str, np.ndarray] = {}
        tags, labels = grammar.symbols[: grammar.n_tags], grammar.symbols[grammar.n_tags :]
        shapes = sorted(lexicon.shapes, key=lexicon.shapes.__getitem__)[1:]  # the first is the empty one
        words = sorted(lexicon.words, key=lexicon.words.__getitem__)
        for name, values in (("tags", tags), ("labels", labels), ("shapes", shapes), ("words", words)):
            known: Vocabulary = Vocabulary.from_bytes([value.encode("utf-8", "surrogateescape") for value in values])
            arrays |= known.arrays(name)
        for name in ("substates", "binary", "binary_weights", "unary", "unary_weights", "roots"):
            arrays[name] = getattr(grammar, name)
        arrays |= {"frequencies": self.frequencies, "words.pairs": lexicon.pairs}
        return arrays | {f"words.{name}": array for name, array in named(lexicon, _WORDS).items()}

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Rebuild the model, members after the first from their own arrays and those that they share with it."""
        count = header.get("members", 1)
        if not isinstance(count, int) or not 1 <= count <= MOST_MEMBERS:
            raise ValueError(f"{count} members")
        members = []
        for begin in (f"{number}." for number in range(count)):
            own = {name.removeprefix(begin): values for name, values in arrays.items() if name.startswith(begin)}
            members.append(cls._member(header, arrays | own))
        grammars = [member.grammar for member in members]
        rules = [(own.symbols, own.n_tags, own.binary.tolist(), own.unary.tolist()) for own in grammars]
        if any(own != rules[0] for own in rules):
            raise ValueError("members with other rules")
        return replace(members[0], others=tuple(members[1:]))

    @classmethod
    def _member(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        names = {name: _names(arrays, name) for name in ("tags", "labels", "shapes", "words")}
        settings, symbols, n_tags = header["settings"], (*names["tags"], *names["labels"]), len(names["tags"])
        if not n_tags or len(symbols) > MOST_SYMBOLS or not isinstance(settings, dict):
            raise ValueError(f"{len(symbols)} symbols")
        column_place(settings.get("column", "upos"))
        substates = hold(arrays, "substates", (len(symbols),), np.int32, 1, 1 << 10)
        states = int(substates.sum())
        if states > MOST_STATES:
            raise ValueError(f"{states} states")
        rules: list[np.ndarray] = []
        for name, width in (("binary", 3), ("unary", 2)):
            found = hold(arrays, name, (len(arrays[name]), width), np.int32, 0, len(symbols) - 1)
            keys = found[:, [1, 2, 0] if width == 3 else [1, 0]].tolist()
            if any(a >= b for a, b in pairwise(keys)) or (found[:, 0] < n_tags).any():
                raise ValueError(f"{name} rules are not in order")
            size = int(substates[found].astype(np.int64).prod(1).sum())
            rules += [found, hold(arrays, f"{name}_weights", (size,), np.float64, 0, 1)]
        roots, frequencies = checked(arrays, _STATES, {"states": states})
        paths = header["paths"]
        if len(paths) != len(rules[2]) or not all(isinstance(name, str) for path in paths for name in path):
            raise ValueError("paths")
        between = tuple(tuple(map(clean, path)) for path in paths)
        binary, binary_weights, unary, unary_weights = rules
        grammar = ConstituentGrammar(
            symbols, n_tags, substates, binary, binary_weights, unary, unary_weights, roots, between
        )
        return cls(grammar, frequencies, _lexicon(arrays, names["words"], names["shapes"], grammar), settings)


def _names(arrays: dict[str, np.ndarray], name: str) -> list[str]:
    known = hold_vocabulary(arrays, name, text=False)
    return [clean(value.decode("utf-8", "surrogateescape")) for value in known.encoded()][1:]


def _lexicon(
    arrays: dict[str, np.ndarray], words: list[str], shapes: list[str], grammar: ConstituentGrammar
) -> WordCounts:
    states, n = int(grammar.first[grammar.n_tags]), len(words)
    pairs = hold(arrays, "words.pairs", (len(arrays["words.pairs"]), 2), np.int32, 0, max(n, grammar.n_tags) - 1)
    keys = pairs.tolist()
    if any(a >= b for a, b in pairwise(keys)) or len(pairs) == 0:
        raise ValueError("pairs of words and tags are not in order")
    if pairs[:, 0].max() >= n or pairs[:, 1].max() >= grammar.n_tags:
        raise ValueError("pairs of words and tags")
    at = np.append(0, np.cumsum(grammar.substates[pairs[:, 1]].astype(np.int64)))
    hold_offsets({"at": at}, "at", len(pairs), int(at[-1]), 1)
    sizes = {"words": n, "pairs": int(at[-1]), "shapes": len(shapes) + 1, "states": states}
    counts, *others = checked(arrays, _WORDS, sizes, "words.")
    numbers, of_shapes = ({name: k for k, name in enumerate(names)} for names in (words, ["", *shapes]))
    return WordCounts(numbers, counts, pairs, at, others[0], of_shapes, *others[1:])
