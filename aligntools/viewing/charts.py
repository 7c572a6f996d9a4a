"""Small charts as SVG: columns side by side, told apart by pattern as well as by color."""

from collections.abc import Sequence
from typing import Any

from aligntools.viewing import drawing
from aligntools.viewing.drawing import element

_SOFT, _LINE = "#5b6268", "#d5d9dd"
#: Colors of the series: filled, and open with a border.
_SERIES = (("#1b5e9e", "#1b5e9e"), ("#c2410c", "none"))
_STYLE = (
    "@media (prefers-color-scheme: dark) { .chart text { fill: #9aa3ab } .chart .grid { stroke: #363c42 }"
    " .chart .first { fill: #79b8f3; stroke: #79b8f3 } .chart .second { stroke: #ff9466 } }"
)
_HEIGHT, _LEFT, _BOTTOM, _TOP = 200.0, 44.0, 36.0, 26.0


def columns_svg(
    names: Sequence[str], series: Sequence[tuple[str, Sequence[float]]], title: str, below: str, inline: bool = False
) -> str:
    """Return a chart of columns.

    names: Below the columns.
    series: One or two, of shares between 0 and 1.
    title, below: What it shows, and what stands below the axis.
    inline: To be put into a page, which has the style.
    """
    step = max(24.0, 30.0 if len(series) > 1 else 24.0)
    width = _LEFT + step * len(names) + 12
    width = max(width, 300.0)
    root = drawing.picture(width, _HEIGHT + _TOP + _BOTTOM, title, "" if inline else _STYLE)
    root.set("class", "chart")
    root.set("font-family", drawing.FONT)
    most = max((value for _, values in series for value in values), default=0.0)
    top = _nice(most)
    base = _TOP + _HEIGHT
    for k in range(5):
        y = base - _HEIGHT * k / 4
        element(root, "line", class_="grid", x1=_LEFT, x2=width - 8, y1=y, y2=y, stroke=_LINE)
        element(
            root,
            "text",
            f"{100 * top * k / 4:.3g} %",
            x=_LEFT - 5,
            y=y + 4,
            font_size=10,
            fill=_SOFT,
            text_anchor="end",
        )
    x = _LEFT
    for k, (name, _) in enumerate(series):
        border, fill = _SERIES[k]
        style: dict[str, Any] = {"class_": ("first", "second")[k], "fill": fill, "stroke": border, "stroke_width": 1.5}
        element(root, "rect", x=x, y=7.0, width=10, height=10, **style)
        element(root, "text", name, x=x + 15, y=16.0, font_size=11, fill=_SOFT)
        x += 30 + drawing.text_width(name, 11)
    wide = (step - 8) / max(len(series), 1)
    for n, name in enumerate(names):
        left = _LEFT + 4 + n * step
        for k, (label, values) in enumerate(series):
            height = _HEIGHT * min(values[n] / top, 1.0) if top else 0.0
            border, fill = _SERIES[k]
            bar = element(
                root,
                "rect",
                class_=("first", "second")[k],
                x=left + k * wide,
                y=base - height,
                width=wide - 2,
                height=height,
                fill=fill,
                stroke=border,
                stroke_width=1.5,
            )
            element(bar, "title", f"{label}, {name}: {100 * values[n]:.2f} %")
        element(
            root, "text", name, x=left + (step - 8) / 2, y=base + 14, font_size=10, fill=_SOFT, text_anchor="middle"
        )
    element(root, "text", below, x=_LEFT, y=base + 30, font_size=11, fill=_SOFT)
    return drawing.written(root)


def _nice(most: float) -> float:
    """Return a round number that is not less."""
    for step in (0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0):
        if most <= step:
            return step
    return most
