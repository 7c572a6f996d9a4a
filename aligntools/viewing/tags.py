"""Tags to look at: which are taken for which, and the sentences with wrong ones."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from aligntools.formats.annotation.tagged_text import Tokens
from aligntools.ground.errors import visible
from aligntools.metrics.base import percent
from aligntools.metrics.tags import Contingency, TagScore, many_to_one
from aligntools.viewing import drawing
from aligntools.viewing.base import SentencesInOrder
from aligntools.viewing.drawing import element, text_width
from aligntools.viewing.page import page
from aligntools.viewing.terminal import counted, heat, rendered, text_table
from aligntools.viewing.tree_svg import tree_svg

#: Tags of the confusion table, at most: the most frequent ones.
_MOST = 40
_CELL, _STYLE = 26.0, "@media (prefers-color-scheme: dark) { .confusion text { fill: #e6e8ea } }"


@dataclass(frozen=True, eq=False, repr=False)
class TagsView(SentencesInOrder):
    """Tagged sentences, alone or beside gold tags of the same words."""

    tokens: Tokens
    gold: Tokens | None = None
    title: str = "Tags"

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def score(self) -> TagScore | None:
        """The score against the gold tags, if there are any."""
        return None if self.gold is None else TagScore.of(self.gold, self.tokens)

    @cached_property
    def meant(self) -> dict[bytes, bytes]:
        """The gold tag that each label stands for: itself, or of induced classes the tag that it mostly is."""
        if self.score is None:
            return {}
        table = self.score.table
        if table.comparable:
            return {label: label for label in table.predicted}
        return {label: table.gold[k] for label, k in zip(table.predicted, many_to_one(table).tolist(), strict=True)}

    @cached_property
    def wrong(self) -> np.ndarray:
        """Which words have a wrong tag [shape=(words,), dtype=bool]."""
        tags = self.tokens.tags or []
        if self.gold is None:
            return np.zeros(len(tags), bool)
        pairs = zip(tags, self.gold.tags or [], strict=True)
        return np.fromiter((self.meant[tag] != gold for tag, gold in pairs), bool, len(tags))

    @cached_property
    def errors(self) -> np.ndarray:
        """Words with a wrong tag in each sentence [shape=(sentences,)]."""
        sums = np.concatenate([[0], np.cumsum(self.wrong)])
        return np.diff(sums[self.tokens.offsets])

    @property
    def headline(self) -> str:
        """What there is to see, in a line."""
        n = len(self.wrong)
        if self.score is None:
            return f"{counted(len(self), 'sentence')}, {counted(n, 'word')}"
        share = percent(1 - int(self.wrong.sum()) / max(n, 1))
        if self.score.table.comparable:
            return f"accuracy {share} %: {int(self.wrong.sum())} of {n} words have a wrong tag"
        return f"many-to-1 {share} %: each class counts as the tag that it mostly is; {n} words"

    def confusion(self) -> tuple[list[str], list[str], np.ndarray, np.ndarray] | None:
        """Return the most frequent gold and predicted tags, how often each was taken for each, and what is right."""
        if self.score is None:
            return None
        table: Contingency = self.score.table
        rows = np.argsort(-table.counts.sum(axis=1), kind="stable")[:_MOST]
        place = {table.gold[k]: n for n, k in enumerate(rows.tolist())}
        frequent = np.argsort(-table.counts.sum(axis=0), kind="stable")[:_MOST].tolist()
        columns = sorted(frequent, key=lambda k: place.get(self.meant[table.predicted[k]], _MOST))
        names = [
            [visible(values[k]) for k in order] for values, order in ((table.gold, rows), (table.predicted, columns))
        ]
        right = [[self.meant[table.predicted[c]] == table.gold[r] for c in columns] for r in rows.tolist()]
        return names[0], names[1], table.counts[np.ix_(rows, columns)], np.array(right, bool)

    def html(self) -> str:
        """Return the page."""
        tags: dict[bytes, int] = {}
        flat, gold = self.tokens.tags or [], self.gold.tags if self.gold else None
        rows: list[list[Any]] = []
        bounds = self.tokens.offsets.tolist()
        for number, (a, b) in enumerate(pairwise(bounds)):
            ids = [tags.setdefault(tag, len(tags)) for tag in flat[a:b]]
            golds = None if gold is None else [tags.setdefault(tag, len(tags)) for tag in gold[a:b]]
            rows.append([list(map(visible, self.tokens.words[a:b])), ids, golds, int(self.errors[number])])
        meant = [tags.setdefault(self.meant.get(tag, tag), len(tags)) for tag in list(tags)]
        found = self.confusion()
        matrix = None
        if found:
            names, columns, counts, _ = found
            shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
            texts = [[str(n) if n else "" for n in row] for row in counts.tolist()]
            matrix = heat("Gold tags, and what they were tagged as", names, columns, shares.tolist(), texts)
        data = {"tags": list(map(visible, tags)), "meant": meant, "sentences": rows, "compared": gold is not None}
        return page(self.title, "tags", data, headline=self.headline, matrix=matrix, compared=gold is not None)

    def svg(self, number: int | None = None, **how: object) -> str:
        """Return the confusion table as SVG; with a number, or without gold tags, a sentence with its tags."""
        found = self.confusion()
        return _confusion_svg(*found) if number is None and found else self._picture(number or 1)

    def _picture(self, number: int) -> str:
        words, tags, _ = self._sentence(number)
        return tree_svg(words, [-1] * len(words), None, tags, title=f"Tags of: {' '.join(words)}")

    def _sentence(self, number: int) -> tuple[list[str], list[str], list[str] | None]:
        self._check(number)
        a, b = self.tokens.offsets[number - 1 : number + 1].tolist()
        gold = None if self.gold is None else [visible(tag) for tag in (self.gold.tags or [])[a:b]]
        return list(map(visible, self.tokens.words[a:b])), [visible(tag) for tag in (self.tokens.tags or [])[a:b]], gold

    def text(self, *, width: int = 80, color: bool = False, number: int | None = None) -> str:
        """Return it as text: the confusion table, then the sentences, those with most wrong tags first; or one."""
        parts: list[str] = []
        if number is None:
            parts.append(rendered([(f"{self.headline}\n", "head")], color))
            if found := self.confusion():
                names, columns, counts, _ = found
                rows = [[name, *(n or "·" for n in row)] for name, row in zip(names, counts.tolist(), strict=True)]
                parts.append(text_table(["gold \\ tagged", *columns], rows, "", color))
        lines = [part for each in ([number] if number else self.order()) for part in self._parts(each)]
        return "\n".join([*parts, rendered(lines, color)])

    def _parts(self, number: int) -> list[tuple[str, str]]:
        words, tags, gold = self._sentence(number)
        begin, parts = int(self.tokens.offsets[number - 1]), [(f"{number}", "head")]
        for k, (word, tag) in enumerate(zip(words, tags, strict=True)):
            bad = gold is not None and self.wrong[begin + k]
            parts += [(f"  {word}", ""), (f"_{tag}", "wrong" if bad else "soft")]
            parts += [(f" ✗{gold[k]}", "wrong")] if gold is not None and bad else []
        return [*parts, ("\n", "")]


def _confusion_svg(names: list[str], columns: list[str], counts: np.ndarray, right: np.ndarray) -> str:
    """Return a confusion table as a picture: a shade and a number for each pair of tags, a frame where it is wrong."""
    left = max((text_width(name, 11) for name in names), default=0) + 16
    top = max((text_width(name, 11) for name in columns), default=0) + 16
    root = drawing.picture(left + _CELL * len(columns) + 30, top + _CELL * len(names) + 26, "Confusion table", _STYLE)
    group = element(root, "g", class_="confusion", font_family=drawing.FONT, font_size=11, fill="#1c1f22")
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for c, name in enumerate(columns):
        x = left + _CELL * (c + 0.5) + 4
        element(group, "text", name, transform=f"translate({x:.1f} {top - 6:.1f}) rotate(-90)")
    for r, name in enumerate(names):
        y = top + _CELL * r
        element(group, "text", name, x=left - 6, y=y + 17, text_anchor="end")
        for c in np.flatnonzero(counts[r]).tolist():
            x = left + _CELL * c
            strength = f"{0.08 + 0.62 * float(shares[r, c]) ** 0.5:.2f}"
            fill, stroke = ("#1b5e9e", None) if right[r, c] else ("#c2410c", "#c2410c")
            place: dict[str, Any] = {"x": x + 0.5, "y": y + 0.5, "width": _CELL - 1, "height": _CELL - 1}
            element(group, "rect", **place, fill=fill, stroke=stroke, fill_opacity=strength)
            element(group, "text", str(counts[r, c]), x=x + _CELL / 2, y=y + 17, text_anchor="middle", font_size=9)
    element(group, "text", "rows: gold tags; columns: what they were tagged as", x=8.0, y=top + _CELL * len(names) + 18)
    return drawing.written(root)
