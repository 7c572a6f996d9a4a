"""Dependency trees to look at: arcs over words, what is wrong in them, and where the errors are."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from aligntools.ground.errors import visible
from aligntools.metrics.attachment import DISTANCES, DependencyTrees, TreeScore, distance_groups
from aligntools.metrics.base import percent
from aligntools.viewing.base import SentencesInOrder
from aligntools.viewing.page import page
from aligntools.viewing.terminal import counted
from aligntools.viewing.tree_svg import arcs, crossings, drawn_rows, tree_svg

#: Rows of a table of the summary, and sentences that text for a terminal shows, at most.
_ROWS = 30


@dataclass(frozen=True)
class SentenceTree:
    """A sentence's tree as it is shown, and the gold tree beside it if there is one."""

    words: list[str]
    tags: list[str] | None
    heads: list[int]
    labels: list[str] | None
    gold_heads: list[int] | None
    gold_labels: list[str] | None


@dataclass(frozen=True, eq=False, repr=False)
class TreesView(SentencesInOrder):
    """Dependency trees, alone or beside gold trees of the same words."""

    trees: DependencyTrees
    gold: DependencyTrees | None = None
    title: str = "Dependency trees"
    score: TreeScore | None = None

    def __post_init__(self) -> None:
        if self.gold is not None and self.score is None:
            object.__setattr__(self, "score", TreeScore.of(self.gold, self.trees))

    def __len__(self) -> int:
        return len(self.trees)

    def sentence(self, number: int) -> SentenceTree:
        """Return one sentence, by its number from 1 on."""
        self._check(number)
        begin, end = self.trees.offsets[number - 1 : number + 1].tolist()
        labels, gold_labels = (None if of is None else list(map(visible, of[begin:end])) for of in self._labels)
        words = list(map(visible, (self.trees.words or [b"_"] * end)[begin:end]))
        tags = list(map(visible, self._tags[begin:end])) if self._tags else None
        gold_heads = None if self.gold is None else self.gold.heads[begin:end].tolist()
        return SentenceTree(words, tags, self.trees.heads[begin:end].tolist(), labels, gold_heads, gold_labels)

    @cached_property
    def _labels(self) -> list[list[bytes] | None]:
        """The labels of the trees and of the gold ones, where there are any."""
        return [of.labels if of is not None and of.named else None for of in (self.trees, self.gold)]

    @cached_property
    def _tags(self) -> list[bytes] | None:
        tags = self.trees.tags or (self.gold.tags if self.gold else None)
        return tags if tags and set(tags) != {b"_"} else None

    @cached_property
    def errors(self) -> np.ndarray:
        """Words with a wrong head, and with the right head but a wrong label [shape=(sentences, 2)]; 0 without gold."""
        if self.gold is None:
            return np.zeros((len(self), 2), np.int64)
        sums = np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(np.stack(self._wrong, axis=1), axis=0)])
        return np.diff(sums[self.trees.offsets], axis=0)

    @cached_property
    def _wrong(self) -> tuple[np.ndarray, np.ndarray]:
        """Which words have a wrong head, and which the right one and a wrong label."""
        assert self.gold is not None
        heads = self.trees.heads != self.gold.heads
        labels = np.zeros(len(heads), bool)
        if self.trees.named and self.gold.named:
            pairs = zip(self.trees.labels or [], self.gold.labels or [], strict=True)
            labels = np.fromiter((a != b for a, b in pairs), bool, len(heads)) & ~heads
        return heads, labels

    def _picture(self, number: int) -> str:
        s = self.sentence(number)
        title = f"Dependency tree of: {' '.join(s.words)}"
        return tree_svg(s.words, s.heads, s.labels, s.tags, s.gold_heads, s.gold_labels, title)

    @property
    def headline(self) -> str:
        """What there is to see, in a line."""
        words = len(self.trees.heads)
        if self.score is None:
            return f"{counted(len(self), 'sentence')}, {counted(words, 'word')}"
        s, (heads, labels) = self.score, self.errors.sum(axis=0).tolist()
        las = "" if s.las is None else f", LAS {percent(s.las)} %"
        wrong = counted(heads, "wrong head")
        wrong += "" if s.las is None else f" and {counted(labels, 'wrong label')} with the right head"
        return f"UAS {percent(s.uas)} %{las}: {wrong}, in {words} words of {counted(len(self), 'sentence')}"

    def tables(self) -> list[dict[str, Any]]:
        """Return where the errors are: tables by tag, by distance of the gold head and by gold label."""
        if self.gold is None:
            return []
        groups: list[tuple[str, np.ndarray, Sequence[str]]] = []
        if self._tags:
            groups.append(("tag", *_numbered(self._tags)))
        groups.append(("distance", distance_groups(self.gold.heads, self.gold.offsets), [n for n, _ in DISTANCES]))
        if self.gold.named:
            groups.append(("label", *_numbered(self.gold.labels or [])))
        tables = [self._table(*group) for group in groups]
        if self.gold.named and self.trees.named:
            pairs = zip(self.gold.labels or [], self.trees.labels or [], strict=True)
            counts = Counter(pair for pair, wrong in zip(pairs, self._wrong[1].tolist(), strict=True) if wrong)
            ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            rows = [[*map(visible, pair), n] for pair, n in ordered[:_ROWS]]
            tables.append({"caption": "Wrong labels", "head": ["gold", "instead", "words"], "rows": rows})
        return tables

    def _table(self, kind: str, numbers: np.ndarray, names: Sequence[str]) -> dict[str, Any]:
        counts = np.stack([np.bincount(numbers[mask], minlength=len(names)) for mask in (..., *self._wrong)], axis=1)
        order = np.argsort(-counts[:, 1:].sum(axis=1), kind="stable") if kind != "distance" else range(len(names))
        rows = [
            [names[k], *counts[k].tolist(), percent(1 - counts[k, 1] / counts[k, 0])] for k in order if counts[k, 0]
        ]
        caption = {"tag": "By tag", "distance": "By distance of the gold head", "label": "By gold label"}[kind]
        return {"caption": caption, "head": [kind, "words", "wrong head", "wrong label", "UAS%"], "rows": rows[:_ROWS]}

    def html(self) -> str:
        """Return the page."""
        names: dict[str, int] = {}
        tags: dict[str, int] = {}
        compared, rows = self.gold is not None, []
        for number in range(1, len(self) + 1):
            s, (heads, labels) = self.sentence(number), self.errors[number - 1].tolist()
            own = [s.words, _ids(s.tags, tags), s.heads, _ids(s.labels, names)]
            rows.append([*own, s.gold_heads, _ids(s.gold_labels, names), heads, labels, len(crossings(arcs(s.heads)))])
        data = {"compared": compared, "labels": list(names), "tags": list(tags), "sentences": rows}
        return page(self.title, "trees", data, headline=self.headline, tables=self.tables(), compared=compared)

    def _parts(self, number: int) -> list[tuple[str, str]]:
        s, (heads, labels) = self.sentence(number), self.errors[number - 1].tolist()
        about = f"  {counted(heads, 'wrong head')}, {counted(labels, 'wrong label')}" if self.gold is not None else ""
        parts = [(f"sentence {number}", "head"), (f"{about}\n", "soft")]
        for k, (edges, word) in enumerate(zip(drawn_rows(s.heads), s.words, strict=True)):
            own = s.labels[k] if s.labels else ""
            more = " ".join([*([s.tags[k]] if s.tags else []), *([own] if own else [])])
            parts += [(f"{edges} ", "right"), (word, ""), (f"  {more}" if more else "", "soft")]
            if s.gold_heads is not None:
                gold, label = s.gold_heads[k], s.gold_labels[k] if s.gold_labels else ""
                if gold != s.heads[k]:
                    under = f"{gold} {s.words[gold - 1]}" if gold > 0 else "root"
                    parts.append((f"  ✗ head is {under}" + (f" ({label})" if label else ""), "wrong"))
                elif s.labels and s.gold_labels and label != own:
                    parts.append((f"  ◇ label is {label}", "missed"))
            parts.append(("\n", ""))
        return [*parts, ("\n", "")]


def _numbered(values: Sequence[bytes]) -> tuple[np.ndarray, list[str]]:
    kinds = sorted(set(values))
    numbers = {value: k for k, value in enumerate(kinds)}
    found = np.fromiter((numbers[value] for value in values), np.int64, len(values))
    return found, list(map(visible, kinds))


def _ids(values: list[str] | None, known: dict[str, int]) -> list[int] | None:
    return None if values is None else [known.setdefault(value, len(known)) for value in values]
