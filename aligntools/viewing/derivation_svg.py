"""Derivations as SVG: boxes of rules over the source words that they cover, each below the rule that it is put into."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from aligntools.formats.translation.derivations import Derivation, RuleUse
from aligntools.viewing import drawing
from aligntools.viewing.drawing import element, text_width
from aligntools.viewing.shown import visible

_ROW, _BOX, _WORDS, _EDGE, _GAP = 50.0, 42.0, 30.0, 8.0, 3.0
_SIZE, _SMALL = 13, 11
_GAPS = {"[X,1]": "①", "[X,2]": "②"}
_STYLE = (
    "@media (prefers-color-scheme: dark) { .derivation .target, .derivation .word { fill: #e6e8ea }"
    " .derivation .source { fill: #9aa3ab } .derivation rect { fill: #1f3449; stroke: #79b8f3 }"
    " .derivation .joined { fill: #24292e; stroke: #9aa3ab } }"
)


@dataclass(frozen=True)
class Box:
    """A rule as it is drawn: its row from 0 on, what it covers, and its two sides."""

    row: int
    use: RuleUse
    target: str
    source: str

    @property
    def joined(self) -> bool:
        """Whether this is not a rule of the grammar but what the decoder joined."""
        return self.use.left != "X"


def boxes(derivation: Derivation) -> list[Box]:
    """Return the boxes of a derivation; what the decoder joins from left to right is one box, the translation."""
    if not derivation.rules:
        return []
    found, stack = [], [(0, 1)]
    top = derivation.rules[0]
    if top.left != "X":
        found.append(Box(0, top, visible(" ".join(derivation.words)), ""))
    while stack:
        number, row = stack.pop()
        use = derivation.rules[number]
        if use.left == "X":
            target, source = (
                " ".join(_GAPS.get(w, w) if use.tails else w for w in s) for s in (use.target, use.source)
            )
            found.append(Box(row, use, visible(target) or "∅", visible(source)))
            row += 1
        stack += [(tail, row) for tail in use.tails]
    return found


def derivation_svg(source: Sequence[str], derivation: Derivation, title: str = "Derivation") -> str:
    """Return a picture of a derivation: the translation, the rules below each other, the source words at the bottom."""
    found = boxes(derivation)
    edges = _columns(source, found)
    bottom = _EDGE + _ROW * (1 + max((box.row for box in found), default=0))
    root = drawing.picture(edges[-1] + _EDGE, bottom + _WORDS, title, _STYLE)
    group = element(root, "g", class_="derivation", font_family=drawing.FONT, text_anchor="middle")
    for box in found:
        _draw(group, box, edges)
    for k, word in enumerate(source):
        middle = (edges[k] + edges[k + 1]) / 2
        element(group, "text", visible(word), class_="word", x=middle, y=bottom + 16, font_size=_SIZE, fill="#1c1f22")
    return drawing.written(root)


def _draw(group: ElementTree.Element, box: Box, edges: Sequence[float]) -> None:
    begin, end = box.use.span
    x, y, width = edges[begin] + _GAP / 2, _EDGE + box.row * _ROW, edges[end] - edges[begin] - _GAP
    own = element(group, "g")
    element(own, "title", f"{box.use.left} → {box.source or '…'} ||| {box.target}: {box.use.score:.4g}")
    fill, stroke = ("#f2f3f4", "#5b6268") if box.joined else ("#dbe8f5", "#1b5e9e")
    element(
        own,
        "rect",
        class_="joined" if box.joined else None,
        x=x,
        y=y,
        width=max(width, 1.0),
        height=_BOX,
        rx=5,
        fill=fill,
        stroke=stroke,
    )
    y += 26 if box.joined else 18
    element(own, "text", box.target, class_="target", x=x + width / 2, y=y, font_size=_SIZE, fill="#1c1f22")
    element(own, "text", box.source, class_="source", x=x + width / 2, y=y + 17, font_size=_SMALL, fill="#5b6268")


def _columns(source: Sequence[str], found: Sequence[Box]) -> list[float]:
    """Return where the columns of the words begin, so broad that what stands in the boxes fits."""
    widths = [text_width(visible(word), _SIZE) + 14 for word in source]
    for box in sorted(found, key=lambda box: box.use.span[1] - box.use.span[0]):
        begin, end = box.use.span
        needed = max(text_width(box.target, _SIZE), text_width(box.source, _SMALL)) + 14 + _GAP
        lacking = needed - sum(widths[begin:end])
        for k in range(begin, end) if lacking > 0 else ():
            widths[k] += lacking / (end - begin)
    edges = [_EDGE]
    for width in widths:
        edges.append(edges[-1] + width)
    return edges
