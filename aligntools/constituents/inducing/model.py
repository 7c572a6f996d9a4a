"""A grammar that was learned from tags alone, on disk and at work."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from aligntools.constituents.inducing import kernels_dense
from aligntools.constituents.model import ParsedTrees
from aligntools.constituents.settings import PUNCTUATION, GrammarDecisions
from aligntools.formats.annotation.brackets import Tree
from aligntools.formats.annotation.conll import column_place
from aligntools.formats.models.modelfile import Array, SavedModel, checked, hold_vocabulary, named
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool, balanced_blocks, over
from aligntools.words.vocabulary import Vocabulary

#: Blocks of a text, and numbers that their counts may have together; fixed, so that threads never show.
BLOCKS, ROOM = 16, 1 << 25


class Brackets(NamedTuple):
    """Spans of sentences that no constituent crosses.

    spans (int32 [brackets, 2]): First word and the one after the last, from 0 in each sentence.
    at (int64 [sentences + 1]): Where those of each sentence begin, and the end.
    """

    spans: np.ndarray
    at: np.ndarray

    @classmethod
    def of(cls, sentences: Sequence[Sequence[tuple[int, int]]]) -> "Brackets":
        """Put together the spans of each sentence."""
        spans = np.array([span for own in sentences for span in own], np.int32).reshape(-1, 2)
        return cls(spans, np.append(0, np.cumsum(list(map(len, sentences)))).astype(np.int64))


@dataclass(frozen=True)
class DenseRules:
    """Numbers of all rules: probabilities, weights or counts. Symbols stand before tags.

    roots (float64 [symbols]): Of the symbol above a sentence.
    rules (float64 [symbols, symbols + tags, symbols + tags]): Of a symbol's left and right child.
    """

    roots: np.ndarray
    rules: np.ndarray

    @property
    def n_tags(self) -> int:
        """Number of tags."""
        return int(self.rules.shape[1]) - len(self.roots)

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distributions, one a row."""
        return self.roots[None], self.rules.reshape(len(self.roots), -1)

    @classmethod
    def of_rows(cls, roots: np.ndarray, rules: np.ndarray) -> "DenseRules":
        """Put together what `rows` returned."""
        size = round(rules.shape[1] ** 0.5)
        return cls(roots[0], rules.reshape(len(rules), size, size))

    def tables(self) -> kernels_dense.TensorRules:
        """Return copies as kernels read them."""
        k = len(self.roots)
        parts = (
            self.rules[:, :k, :k],
            self.rules[:, k:, :k].transpose(1, 0, 2),
            self.rules[:, :k, k:].transpose(2, 0, 1),
            self.rules[:, k:, k:].transpose(1, 2, 0),
        )
        return kernels_dense.TensorRules(self.roots.copy(), *map(np.ascontiguousarray, parts))

    @classmethod
    def of_tables(cls, tables: kernels_dense.TensorRules) -> "DenseRules":
        """Put together what `tables` returned."""
        k, size = len(tables.roots), len(tables.roots) + len(tables.tags)
        rules = np.empty((k, size, size))
        rules[:, :k, :k] = tables.symbols
        rules[:, k:, :k] = tables.left_tag.transpose(1, 0, 2)
        rules[:, :k, k:] = tables.right_tag.transpose(1, 2, 0)
        rules[:, k:, k:] = tables.tags.transpose(2, 0, 1)
        return cls(tables.roots.copy(), rules)


def chart(longest: int, size: int) -> kernels_dense.TensorChart:
    """Return memory for sentences of up to ``longest`` words and a grammar of ``size`` symbols."""
    spans = longest, longest + 1
    inside, outside = np.zeros((*spans, size)), np.zeros((*spans, size))
    products, adjoint = np.zeros((size, size)), np.zeros((size, size))
    return kernels_dense.TensorChart(inside, outside, np.zeros(spans), np.ones(spans, np.bool_), products, adjoint)


def zeros(symbols: int, tags: int) -> kernels_dense.TensorRules:
    """Return tables of rules that are all 0."""
    return DenseRules(np.zeros(symbols), np.zeros((symbols, symbols + tags, symbols + tags))).tables()


def _blocks(lengths: np.ndarray, most: int) -> list[tuple[int, int]]:
    return balanced_blocks((lengths + 4.0) ** 2, max(1, min(BLOCKS, most)))


def expected_counts(
    weights: DenseRules,
    tags: np.ndarray,
    offsets: np.ndarray,
    pool: Pool | None = None,
    brackets: Brackets | None = None,
) -> tuple[DenseRules, float, int]:
    """Return expected counts, the log-likelihood of the text, and the number of sentences that have no tree.

    weights: Of at most 1; need not be normalized. tags (int32 [words]), offsets (int64 [sentences + 1]): From 0.
    """
    brackets = brackets or Brackets.of([()] * (len(offsets) - 1))
    lengths, size, n_tags, tables = np.diff(offsets), len(weights.roots), weights.n_tags, weights.tables()

    def work(block: tuple[int, int]) -> tuple[kernels_dense.TensorRules, float, int]:
        counts = zeros(size, n_tags)
        memory = chart(int(lengths[block[0] : block[1]].max()), size)
        return counts, *kernels_dense.expect(tags, offsets, *brackets, *block, tables, memory, counts)

    total, log_likelihood, without = zeros(size, n_tags), 0.0, 0
    for counts, value, bad in over(pool, work, _blocks(lengths, ROOM // weights.rules.size)):
        for own, more in zip(total, counts, strict=True):
            own += more
        log_likelihood, without = log_likelihood + value, without + bad
    sums = DenseRules.of_tables(total)
    return DenseRules(sums.roots, sums.rules * weights.rules), log_likelihood, without


def best_spans(
    model: DenseRules, tags: np.ndarray, offsets: np.ndarray, pool: Pool | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the trees with the largest expected number of right spans (Goodman 1996).

    Returns nodes (int32 [2 * words - sentences, 3]): A sentence of n words has 2 n - 1 nodes, parents before children:
        begin, end and symbol; -1 for a word, -2 where the grammar has no tree, and every node branches to the right.
        Sentences are not empty.
    Returns scores (float64 [sentences]): Log-probabilities of the tags; -inf where there is no tree, 0 of a word alone.
    """
    lengths, size, tables = np.diff(offsets), len(model.roots), model.tables()
    nodes = np.zeros((2 * len(tags) - len(lengths), 3), np.int32)
    scores = np.zeros(len(lengths))

    def work(block: tuple[int, int]) -> None:
        longest = int(lengths[block[0] : block[1]].max())
        memory = np.zeros((longest + 1, longest + 1)), np.zeros((longest + 1, longest + 1), np.int64)
        counts = zeros(size, model.n_tags)
        kernels_dense.decode(tags, offsets, *block, tables, chart(longest, size), counts, *memory, nodes, scores)

    if len(lengths):
        over(pool, work, _blocks(lengths, BLOCKS))
    return nodes, scores


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
    """Rules between symbols without names, and tags; ``vocabulary``: of tags."""

    KIND = "induced-pcfg"
    vocabulary: Vocabulary
    rules: DenseRules
    settings: dict[str, Any] = field(default_factory=dict)
    needs_tags: ClassVar[bool] = True
    normal_form: ClassVar[None] = None

    def __str__(self) -> str:
        return f"{len(self.rules.roots)} symbols, {self.rules.n_tags} tags"

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

        Punctuation that was left out of the model stands in the lowest constituent around it. The score of a sentence
        is that of its tags.
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
