"""Line charts and bars by Matplotlib, as SVG that a page can take in: text is text, colors follow the page's.

Matplotlib is an extra, and used here alone.
"""

import io
import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

from aligntools.ground.errors import UsageProblem

_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
#: Color of text and axes, which stands for the page's ink, and of the series, with their lines.
_INK, _GRID = "#1c1f22", "#d5d9dd"
COLORS = ("#1b5e9e", "#c2410c", "#18794e", "#8a5a00", "#7b3fa0", "#0f766e", "#b0307a", "#5b6268")
DARK = ("#79b8f3", "#ff9466", "#56c08d", "#e6b450", "#c79bec", "#4fd1c5", "#f28fc4", "#9aa3ab")
_DASHES = ("-", "--", ":", "-.")
#: What Matplotlib writes as style and SVG has as attributes.
_FONT = re.compile(r"(?:(?:normal|bold|italic|\d{3})\s+)*([\d.]+)(?:px)?\s+(.*)")

#: Style for pictures that stand by themselves.
STYLE = (
    "@media (prefers-color-scheme: dark) { .plot .ink-fill { fill: #e6e8ea } .plot .ink-line { stroke: #e6e8ea }"
    " .plot .grid-line { stroke: #363c42 }"
    + "".join(f" .plot .line{k} {{ stroke: {c} }} .plot .fill{k} {{ fill: {c} }}" for k, c in enumerate(DARK))
    + " }"
)


class Series(NamedTuple):
    """A line of a chart: its name, where it is, and which color and pattern it has."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    color: int = 0
    pattern: int = 0


def lines_svg(
    title: str, x_label: str, y_label: str, series: Sequence[Series], inline: bool = False, lowest: float | None = None
) -> str:
    """Return a chart of lines; those of one color differ by pattern. The axis begins at ``lowest`` if that is given."""
    figure, axes = _figure(3.4)
    for one in series:
        how: dict[str, Any] = {"color": COLORS[one.color % 8], "label": _plain(one.name), "linewidth": 1.6}
        marker = "o" if len(one.x) < 30 else None
        axes.plot(one.x, one.y, _DASHES[one.pattern % 4], **how, marker=marker, markersize=3.5)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    whole = all(float(x).is_integer() for one in series for x in one.x)
    axes.xaxis.get_major_locator().set_params(integer=whole)
    if lowest is not None:
        axes.set_ylim(bottom=lowest)
    if len(series) > 1:
        axes.legend(frameon=False, fontsize=8.5, ncols=2 if len(series) > 6 else 1)
    return _written(figure, title, inline)


def stacked_svg(
    title: str, x_label: str, rows: Sequence[str], parts: Sequence[tuple[str, Sequence[float]]], inline: bool = False
) -> str:
    """Return bars, one for each row, of parts one after another."""
    figure, axes = _figure(1.5 + 0.34 * len(rows))
    begins = [0.0] * len(rows)
    hatches = ("", "///", "...", "xxx", "\\\\\\", "ooo", "+++", "---")
    for k, (name, values) in enumerate(parts):
        hatch = hatches[(k // 8 + 1) % 8] if k >= 8 else ""
        how: dict[str, Any] = {"label": _plain(name), "color": COLORS[k % 8], "hatch": hatch, "height": 0.6}
        axes.barh(list(map(_plain, rows)), list(values), left=begins, **how)
        begins = [a + b for a, b in zip(begins, values, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel(x_label)
    axes.legend(frameon=False, fontsize=8.5, ncols=4, loc="lower left", bbox_to_anchor=(0, 1.0))
    return _written(figure, title, inline)


def _plain(text: str) -> str:
    """Return text that Matplotlib does not read as a formula, nor leaves out of a legend."""
    return text.replace("$", r"\$").replace("_", "\u200b_", 1) if text.startswith("_") else text.replace("$", r"\$")


def _figure(height: float) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageProblem("charts need Matplotlib: python -m pip install 'aligntools[plots]'") from None
    figure = Figure(figsize=(6.4, height), layout="constrained")
    axes = figure.add_subplot()
    axes.grid(True, color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0, colors=_INK, labelsize=9)
    axes.spines["bottom"].set_color(_INK)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_color(_INK)
        label.set_fontsize(9.5)
    return figure, axes


def _written(figure: Any, title: str, inline: bool) -> str:
    """Return a figure's SVG without style attributes (which pages do not allow), with classes for its colors."""
    import matplotlib

    out = io.StringIO()
    how: Any = {"svg.fonttype": "none", "svg.hashsalt": title, "font.family": "sans-serif", "text.color": _INK}
    with matplotlib.rc_context(how):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    root = ElementTree.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{{{_SVG}}}style" or (parent is root and child.tag.endswith("metadata")):
                parent.remove(child)
    used = set(re.findall(r"""(?:url\(#|href="#)([^")]+)""", text))
    prefix = "".join(c if c.isalnum() else "-" for c in title.lower())
    for node in root.iter():
        _attributes(node)
        name = node.attrib.pop("id", None)
        if name in used:
            node.set("id", f"{prefix}-{name}")
        for key in ("clip-path", f"{{{_LINK}}}href"):
            if key in node.attrib:
                node.set(key, re.sub(r"#(.*?)(\)?)$", rf"#{prefix}-\1\2", node.attrib[key]))
    root.set("class", "plot")
    root.set("role", "img")
    root.set("stroke-linejoin", "round")
    first = ElementTree.Element(f"{{{_SVG}}}title")
    first.text = title
    root.insert(0, first)
    if not inline:
        style = ElementTree.Element(f"{{{_SVG}}}style")
        style.text = STYLE
        root.insert(1, style)
    return ElementTree.tostring(root, encoding="unicode")


def _attributes(node: ElementTree.Element) -> None:
    """Turn a style into attributes, and known colors into classes too."""
    for part in node.attrib.pop("style", "").split(";"):
        name, _, value = (x.strip() for x in part.partition(":"))
        if name == "font" and (match := _FONT.match(value)):
            node.set("font-size", match[1])
            node.set("font-family", "system-ui, 'Noto Sans', 'DejaVu Sans', sans-serif")
        elif name:
            node.set(name, value)
    classes = []
    for name, kind in (("fill", "fill"), ("stroke", "line")):
        color = node.get(name)
        if color in COLORS:
            classes.append(f"{kind}{COLORS.index(color)}")
        elif color == _INK or (color is None and name == "fill" and node.tag.endswith("}text")):
            classes.append(f"ink-{kind}")
            node.set(name, _INK)
        elif color == _GRID:
            classes.append(f"grid-{kind}")
    if classes:
        node.set("class", " ".join(classes))
