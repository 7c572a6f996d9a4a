"""Models to look at: what they were trained with, charts of what they learned, tables of words to search in."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import UsageProblem, visible
from aligntools.ground.ranges import counts
from aligntools.viewing import drawing
from aligntools.viewing.base import View
from aligntools.viewing.drawing import element
from aligntools.viewing.page import page
from aligntools.viewing.terminal import bar, heat, text_table

# Small charts as SVG: columns side by side, told apart by pattern as well as by color


_SOFT, _LINE = "#5b6268", "#d5d9dd"
#: Colors of the series: filled, and open with a border.
_SERIES = (("#1b5e9e", "#1b5e9e"), ("#c2410c", "none"))
_STYLE = (
    "@media (prefers-color-scheme: dark) { .chart text { fill: #9aa3ab } .chart .grid { stroke: #363c42 }"
    " .chart .first { fill: #79b8f3; stroke: #79b8f3 } .chart .second { stroke: #ff9466 } }"
)
_HEIGHT, _LEFT, _BOTTOM, _TOP = 200.0, 44.0, 36.0, 26.0
#: Where the axis may end.
_ROUND = (0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)


#: Words and rows that text for a terminal shows, at most.
_ROWS = 20


@dataclass(frozen=True)
class Columns:
    """A chart of columns side by side: shares of things with names, in one or two series; a text ``below``."""

    title: str
    below: str
    names: list[str]
    series: list[tuple[str, list[float]]]

    def svg(self, inline: bool = False) -> str:
        """Return the chart; ``inline``: to be put into a page, which has the style."""
        step = 30.0 if len(self.series) > 1 else 24.0
        width = max(_LEFT + step * len(self.names) + 12, 300.0)
        root = drawing.picture(width, _HEIGHT + _TOP + _BOTTOM, self.title, "" if inline else _STYLE)
        root.set("class", "chart")
        root.set("font-family", drawing.FONT)
        most = max((value for _, values in self.series for value in values), default=0.0)
        top = next((round_ for round_ in _ROUND if most <= round_), most)
        base = _TOP + _HEIGHT
        for k in range(5):
            y, text = base - _HEIGHT * k / 4, f"{100 * top * k / 4:.3g} %"
            element(root, "line", class_="grid", x1=_LEFT, x2=width - 8, y1=y, y2=y, stroke=_LINE)
            element(root, "text", text, x=_LEFT - 5, y=y + 4, font_size=10, fill=_SOFT, text_anchor="end")
        x = _LEFT
        for k, (name, _) in enumerate(self.series):
            border, fill = _SERIES[k]
            style: dict[str, Any] = {"class_": ("first", "second")[k], "fill": fill, "stroke": border}
            element(root, "rect", x=x, y=7.0, width=10, height=10, **style, stroke_width=1.5)
            element(root, "text", name, x=x + 15, y=16.0, font_size=11, fill=_SOFT)
            x += 30 + drawing.text_width(name, 11)
        wide = (step - 8) / max(len(self.series), 1)
        for n, name in enumerate(self.names):
            left = _LEFT + 4 + n * step
            for k, (label, values) in enumerate(self.series):
                height = _HEIGHT * min(values[n] / top, 1.0) if top else 0.0
                border, fill = _SERIES[k]
                place: dict[str, Any] = {"x": left + k * wide, "y": base - height, "width": wide - 2, "height": height}
                kind = ("first", "second")[k]
                column = element(root, "rect", class_=kind, **place, fill=fill, stroke=border, stroke_width=1.5)
                element(column, "title", f"{label}, {name}: {100 * values[n]:.2f} %")
            middle = left + (step - 8) / 2
            element(root, "text", name, x=middle, y=base + 14, font_size=10, fill=_SOFT, text_anchor="middle")
        element(root, "text", self.below, x=_LEFT, y=base + 30, font_size=11, fill=_SOFT)
        return drawing.written(root)


@dataclass(frozen=True)
class WordList:
    """Words to search among, with others and their probabilities, fertilities, and which list has the others."""

    name: str
    other: str
    words: list[str]
    rows: list[list[Any]]
    counts: list[float] | None = None
    shares: list[list[float]] | None = None
    linked: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ModelView(View):
    """What a model learned.

    tables: Each with ``caption``, ``head`` and ``rows``; with a true ``words`` where the cells are not figures.
    matrix: Caption, names of rows, names of columns and a share for each cell.
    """

    title: str
    settings: list[list[Any]]
    charts: list[Columns] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    words: list[WordList] = field(default_factory=list)
    weights: list[tuple[str, float]] = field(default_factory=list)
    matrix: tuple[str, list[str], list[str], list[list[float]]] | None = None
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<ModelView of {self.title}>"

    def __len__(self) -> int:
        return len(self.charts)

    def html(self) -> str:
        """Return the page."""
        strings: dict[str, int] = {}

        def number(text: str) -> int:
            return strings.setdefault(visible(text), len(strings))

        lists = []
        for each in self.words:
            rows = [[x for name, p in row for x in (number(name), round(p, 4))] for row in each.rows]
            own = {
                "words": [number(word) for word in each.words],
                "rows": rows,
                "counts": each.counts and [round(c, 1) for c in each.counts],
                "shares": each.shares and [[round(p, 3) for p in row] for row in each.shares],
            }
            lists.append({"name": each.name, "other": each.other, **own, "linked": each.linked})
        most = max((abs(value) for _, value in self.weights), default=0.0) or 1.0
        weights = []  # with where bars begin and how long they are, of 100 to each side
        for name, value in self.weights:
            length = 100 * value / most
            place = round(100 + min(0.0, length), 1), round(abs(length), 1), value < 0
            weights.append((visible(name), f"{value:.4f}", *place))
        return page(
            self.title,
            "models",
            {"strings": list(strings), "lists": lists},
            settings=self.settings,
            notes=self.notes,
            charts=[(chart.title, chart.svg(inline=True)) for chart in self.charts],
            tables=self.tables,
            matrix=self.matrix and heat(*self.matrix),
            weights=weights,
            lists=[each.name for each in self.words],
        )

    def svg(self, number: int | None = None, **how: object) -> str:
        """Return one of the charts as SVG, by its number from 1 on; by default the first."""
        if not self.charts:
            raise UsageProblem(f"{self.title} has no chart; `View.save()` writes a page")
        return self.charts[self._chart(number, [chart.title for chart in self.charts]) - 1].svg()

    def text(self, *, width: int = 80, color: bool = False, number: int | None = None) -> str:
        """Return it as text: tables, the charts as bars, the most frequent words; or one chart."""
        charts = self.charts if number is None else self.charts[number - 1 : number]
        parts = [text_table(("", ""), self.settings, self.title, color, right=False)] if number is None else []
        for chart in charts:
            rows = [
                [name, *(x for _, series in chart.series for x in (f"{100 * series[k]:.1f}", bar(series[k])))]
                for k, name in enumerate(chart.names)
            ]
            head = ["", *(x for name, _ in chart.series for x in ("%", name))]
            parts.append(text_table(head, rows, f"{chart.title}: {chart.below}", color))
        if number is not None:
            return "\n".join(parts)
        if self.weights:
            rows = [[visible(name), f"{value:.4f}"] for name, value in self.weights]
            parts.append(text_table(("feature", "weight"), rows, "Weights", color))
        for each in self.tables:
            parts.append(text_table(each["head"], each["rows"], each["caption"], color, not each.get("words")))
        for words in self.words:
            rows = [
                [visible(word), "  ".join(f"{visible(name)} {p:.2f}" for name, p in row[:5])]
                for word, row in zip(words.words[:_ROWS], words.rows, strict=False)
            ]
            parts.append(text_table(("", ""), rows, f"{words.name}: {words.other}", color, right=False))
        return "\n".join([*parts, *(f"{note}\n" for note in self.notes)])


@documented
@dataclass(frozen=True)
class ModelViewing(Settings):
    """How much of a model is shown."""

    words: int = option(
        4000,
        "How many words of each side can be searched in the page, the most frequent ones.",
        allowed=counts(0, 1_000_000),
        group="Models",
    )
    best: int = option(10, "Translations of each word; words of each tag.", allowed=counts(1, 1000), group="Models")


class Shown(ABC):
    """A result that can be looked at."""

    #: A result of one sentence, which notebooks show as a picture; of many, as a page.
    _of_one: ClassVar[bool] = False

    @abstractmethod
    def shown(self, gold: Any = None, title: str | None = None) -> View:
        """Return a view of it, beside gold trees or tags of the same words where they are given."""

    def _repr_svg_(self) -> str | None:
        return self.shown().svg(1) if self._of_one else None

    def _repr_html_(self) -> str | None:
        return None if self._of_one else self.shown()._repr_html_()


class ShownAsTags(Shown):
    """A tagged sentence, or several: the words above their tags."""

    def shown(self, gold: Any = None, title: str | None = None) -> View:
        """Return a view of the tags; see `aligntools.view_tags`."""
        from aligntools.viewing.annotation import view_tags

        return view_tags(self, gold, title=title)


class ShownAsTrees(Shown):
    """A dependency tree, or several."""

    def shown(self, gold: Any = None, title: str | None = None) -> View:
        """Return a view of the trees; see `aligntools.view_trees`."""
        from aligntools.viewing.annotation import view_trees

        return view_trees(self, gold, title=title)


class ShownAsModel(Shown):
    """A model; notebooks show a page with a few hundred of its words."""

    @abstractmethod
    def model_view(self, title: str, words: int, best: int) -> "ModelView":
        """Return what the model learned; see `aligntools.view_model`."""

    def shown(self, gold: Any = None, title: str | None = None) -> View:
        """Return a view of what it learned; there is no gold of models."""
        return self.model_view(title or type(self).__name__, ModelViewing.words, ModelViewing.best)

    def _repr_html_(self) -> str:
        return self.model_view(type(self).__name__, 500, 10)._repr_html_()


def weight_view(title: str, values: Mapping[str, float], about: Mapping[str, Any]) -> "ModelView":
    """Return a view of weights by their size."""
    settings: list[list[Any]] = [["weights", len(values)], *([name, str(value)] for name, value in about.items())]
    return ModelView(title, settings, weights=sorted(values.items(), key=lambda pair: -abs(pair[1])))
