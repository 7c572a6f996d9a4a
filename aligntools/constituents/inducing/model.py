"""A grammar that was learned from tags alone, on disk and at work."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from aligntools.constituents.inducing.rules import DenseRules, best_spans
from aligntools.constituents.model import ParsedTrees
from aligntools.constituents.settings import PUNCTUATION, GrammarDecisions
from aligntools.formats.annotation.brackets import Tree
from aligntools.formats.annotation.conll import column_place
from aligntools.formats.models.modelfile import Array, SavedModel, checked, hold_vocabulary, named
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary

#: Symbols and tags that a model may have.
MOST = 1000
_ARRAYS = (
    Array("roots", ("symbols",), np.float64, 0, 1),
    Array("rules", ("symbols", "both", "both"), np.float64, 0, 1),
)
#: Tags of punctuation: the Penn Treebank's, STTS's, universal ones; and those of CESS, an F and small letters.
_MARKS = frozenset([",", ".", ":", "''", "``", "(", ")", "-LRB-", "-RRB-", "$,", "$.", "$(", "PUNCT"])
_OF_CESS = re.compile(r"F[a-z]{1,2}")


def is_punctuation(tag: str) -> bool:
    """Return whether a tag is that of punctuation."""
    return tag in _MARKS or _OF_CESS.fullmatch(tag) is not None


@dataclass(frozen=True)
class InducedGrammar(SavedModel):
    """Rules between symbols without names, and tags.

    vocabulary: Of tags.
    rules: Probabilities.
    settings: What it was trained with; JSON.
    """

    KIND = "induced-pcfg"
    vocabulary: Vocabulary
    rules: DenseRules
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.rules.n_tags != len(self.vocabulary) - 1:
            raise ValueError(f"rules of {self.rules.n_tags} tags for {len(self.vocabulary) - 1}")

    def __str__(self) -> str:
        return f"{len(self.rules.roots)} symbols, {self.rules.n_tags} tags"

    @property
    def needs_tags(self) -> bool:
        """Whether text has to have tags."""
        return True

    def left_out(self, words: Iterable[str], tags: Iterable[str]) -> list[bool]:
        """Return which words the grammar does not see."""
        drops = self.settings.get("punct", "drop") == "drop"
        return [drops and is_punctuation(tag) for tag in tags]

    def numbers(self, tags: Sequence[str]) -> np.ndarray:
        """Return the numbers of tags, from 0; that of an unknown one is how many are known [int32]."""
        found = self.vocabulary.ids([tag.encode("utf-8", "surrogateescape") for tag in tags])
        return np.where(found > 0, found - 1, self.rules.n_tags).astype(np.int32)

    def parse(
        self,
        sentences: Sequence[Sequence[str]],
        tags: Sequence[Sequence[str]] | None = None,
        decisions: GrammarDecisions | None = None,
        pool: Pool | None = None,
    ) -> ParsedTrees:
        """Return the trees whose spans are most probably right (Goodman 1996), with labels ``X0``, ``X1`` and so on.

        Punctuation that was left out of the model stands in the lowest constituent around it. A sentence of one word
        has a tree without a constituent but the top; one without words an empty tree. The score of a sentence is that
        of its tags.

        sentences: Words.
        tags: Of each sentence.
        decisions: Of these, how long a sentence may be.
        pool: The trees do not depend on it.
        Raises UsageProblem when there are no tags.
        """
        if tags is None and not any(sentences):
            tags = sentences  # there is nothing to tag
        if tags is None:
            raise UsageProblem("a grammar that was learned from tags parses text with tags; tag it first")
        longest = (decisions or GrammarDecisions()).max_length
        kept = [[k for k, out in enumerate(self.left_out(own, own)) if not out] for own in tags]
        flat = np.array([len(own) > longest for own in tags], np.bool_)
        some = [k for k, own in enumerate(kept) if own and not flat[k]]
        ids = self.numbers([tags[s][k] for s in some for k in kept[s]])
        offsets = np.append(0, np.cumsum([len(kept[s]) for s in some])).astype(np.int64)
        nodes, scores = best_spans(self._complete, ids, offsets, pool)
        every, at = nodes.tolist(), 0
        trees = [leaves_alone(own, of) for own, of in zip(sentences, tags, strict=True)]
        values, uncovered = np.where(flat, -np.inf, 0.0), np.zeros(len(tags), np.bool_)
        for s, score in zip(some, scores.tolist(), strict=True):
            end = at + 2 * len(kept[s]) - 1
            trees[s] = put_together(every[at:end], kept[s], sentences[s], tags[s])
            values[s], uncovered[s] = score, score == -np.inf
            at = end
        return ParsedTrees(trees, values, flat, uncovered)

    @cached_property
    def _complete(self) -> DenseRules:
        """Rules with one more tag, that of any word: the mean of all tags."""
        known, k = self.rules, len(self.rules.roots)
        left = np.concatenate([known.rules, known.rules[:, k:].mean(1, keepdims=True)], 1)
        return DenseRules(known.roots, np.concatenate([left, left[:, :, k:].mean(2, keepdims=True)], 2))

    def parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the arrays of the model's file."""
        return {"settings": self.settings}, self.vocabulary.arrays("tags") | named(self.rules, _ARRAYS)

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Rebuild the model from what a file holds."""
        vocabulary = hold_vocabulary(arrays, "tags", text=False)
        tags, symbols, settings = len(vocabulary) - 1, len(arrays["roots"]), header["settings"]
        if not 1 <= tags <= MOST or not 1 <= symbols <= MOST or not isinstance(settings, dict):
            raise ValueError(f"{symbols} symbols, {tags} tags")
        rules = DenseRules(*checked(arrays, _ARRAYS, {"both": symbols + tags}))
        if any(np.abs(rows.sum(1) - 1).max() > 1e-6 for rows in rules.rows()):
            raise ValueError("probabilities do not sum to 1")
        column_place(settings.get("column", "upos"))
        if settings.get("punct", "drop") not in PUNCTUATION:
            raise ValueError("settings")
        return cls(vocabulary, rules, settings)


def leaves_alone(words: Sequence[str], tags: Sequence[str]) -> Tree:
    """Return a tree without constituents but the top."""
    leaves = [Tree(tag, [], word) for word, tag in zip(words, tags, strict=True)]
    return Tree("TOP", leaves) if leaves else Tree("")


def put_together(nodes: list[list[int]], kept: list[int], words: Sequence[str], tags: Sequence[str]) -> Tree:
    """Return a tree of spans over the words that are kept, with the others in the lowest span around them."""
    top = Tree("TOP")
    open_spans = [(top, len(kept))]  # constituents that are not full, and their ends
    before = 0

    def take(to: int, parent: Tree) -> None:
        nonlocal before
        parent.children += [Tree(tags[k], [], words[k]) for k in range(before, to)]
        before = to

    for begin, end, symbol in nodes:
        while open_spans[-1][1] <= begin:
            open_spans.pop()
        parent = open_spans[-1][0]
        take(kept[begin], parent)
        if symbol == -1:
            take(kept[begin] + 1, parent)
            continue
        tree = Tree("X" if symbol == -2 else f"X{symbol}")
        parent.children.append(tree)
        open_spans.append((tree, end))
    take(len(words), top)
    return top
