"""Dependency trees as SVG: arcs above the words; with a gold tree, its arcs below them."""

from collections.abc import Sequence
from xml.etree import ElementTree

from aligntools.viewing import drawing
from aligntools.viewing.drawing import element, text_width
from aligntools.viewing.tree_layout import TreeArc, arcs, crossings

#: Heights in pixels: from one level of arcs to the next, of the words and their tags; sizes of fonts.
LEVEL, WORDS = 21.0, 40.0
WORD_SIZE, TAG_SIZE, LABEL_SIZE = 15, 11, 11
#: Between words; between the ends of two arcs at one word; around a label; at the edges.
_GAP, _PORT, _PAD, _EDGE = 16.0, 7.0, 7.0, 8.0
#: Kind of an arc: its color, the pattern of its line, its width, and the sign before its label.
KINDS = {
    "plain": ("#5b6268", None, 1.3, ""),
    "right": ("#5b6268", None, 1.3, ""),
    "label": ("#8a5a00", None, 1.8, "◇ "),
    "wrong": ("#c2410c", "6 3", 1.8, "✗ "),
    "missed": ("#1b5e9e", "1.5 3.5", 2.0, "○ "),
}
_DARK = {"plain": "#9aa3ab", "right": "#9aa3ab", "label": "#e6b450", "wrong": "#ff9466", "missed": "#79b8f3"}
_STYLE = "".join(
    ["@media (prefers-color-scheme: dark) { .tree-words text { fill: #e6e8ea } .tree-words .tag { fill: #9aa3ab }"]
    + [
        f" .arc-{kind} path {{ stroke: {c} }} .arc-{kind} text, .arc-{kind} .tip {{ fill: {c} }}"
        for kind, c in _DARK.items()
    ]
    + [" .tree-crossing { stroke: #e6e8ea } }"]
)


def tree_svg(
    words: Sequence[str],
    heads: Sequence[int],
    labels: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    gold_heads: Sequence[int] | None = None,
    gold_labels: Sequence[str] | None = None,
    title: str = "Dependency tree",
) -> str:
    """Return a picture of a tree.

    heads: Numbers from 1 on, 0 for a root, -1 where there is none.
    gold_heads, gold_labels: Of the gold tree, which is drawn below the words. What is wrong in the tree and missed of
        the gold is marked by the line's pattern and a sign, not by color alone.
    title: What a screen reader says.
    """
    above = _Side(heads, labels, _kinds(heads, labels, gold_heads, gold_labels))
    sides = [above]
    if gold_heads is not None:
        sides.append(_Side(gold_heads, gold_labels, _gold_kinds(heads, gold_heads)))
    centers, width = _spread(words, tags, sides)
    top = _EDGE + above.height
    height = top + WORDS + (sides[1].height if len(sides) > 1 else 0) + _EDGE
    root = drawing.picture(width, height, title, _STYLE)
    for side, (edge, sign) in zip(sides, ((top, -1), (top + WORDS, 1)), strict=False):
        side.draw(root, centers, edge, sign)
    group = element(root, "g", class_="tree-words", font_family=drawing.FONT, text_anchor="middle")
    for k, word in enumerate(words):
        element(group, "text", word, x=centers[k], y=top + 17, font_size=WORD_SIZE, fill="#1c1f22")
        if tags:
            element(group, "text", tags[k], class_="tag", x=centers[k], y=top + 32, font_size=TAG_SIZE, fill="#5b6268")
    return drawing.written(root)


def _kinds(
    heads: Sequence[int],
    labels: Sequence[str] | None,
    gold_heads: Sequence[int] | None,
    gold_labels: Sequence[str] | None,
) -> list[str]:
    """Return the kind of each word's arc in the tree that is looked at."""
    if gold_heads is None:
        return ["plain"] * len(heads)
    other = [False] * len(heads)
    if labels is not None and gold_labels is not None:
        other = [label != gold for label, gold in zip(labels, gold_labels, strict=True)]
    return [
        "wrong" if head != gold else "label" if other[k] else "right"
        for k, (head, gold) in enumerate(zip(heads, gold_heads, strict=True))
    ]


def _gold_kinds(heads: Sequence[int], gold_heads: Sequence[int]) -> list[str]:
    return ["missed" if head != gold else "right" for head, gold in zip(heads, gold_heads, strict=True)]


class _Side:
    """The arcs on one side of the words."""

    def __init__(self, heads: Sequence[int], labels: Sequence[str] | None, kinds: list[str]) -> None:
        self.arcs, self.kinds = arcs(heads), kinds
        self.labels = [
            KINDS[kinds[k]][3] + ((labels[k] if labels else "") or ("root" if head == 0 else ""))
            for k, head in enumerate(heads)
        ]
        self.levels = max((arc.level for arc in self.arcs), default=0)
        self.height = self.levels * LEVEL + (LABEL_SIZE + 10 if self.arcs else 0)
        self._ports(len(heads))

    def _ports(self, n: int) -> None:
        """Find where arcs meet their words, relative to the words' centers: near ones outside, far ones inside."""
        ends: list[list[tuple[tuple[int, int], TreeArc]]] = [[] for _ in range(n)]
        for arc in self.arcs:
            if arc.head < 0:
                ends[arc.word].append(((0, 0), arc))
            else:
                length = arc.end - arc.begin
                ends[arc.begin].append(((1, -length), arc))
                ends[arc.end].append(((-1, length), arc))
        self.ports: dict[tuple[int, int], float] = {}
        for word, own in enumerate(ends):
            own.sort(key=lambda item: item[0])
            for k, (_, arc) in enumerate(own):
                self.ports[word, arc.word] = (k - (len(own) - 1) / 2) * _PORT
        self.room = [max(0, len(own) - 1) * _PORT for own in ends]

    def needed(self, arc: TreeArc) -> float:
        """Return how far apart the centers of an arc's two words must be for its label."""
        inner = self.ports[arc.begin, arc.word] - self.ports[arc.end, arc.word]
        return inner + text_width(self.labels[arc.word], LABEL_SIZE) + 2 * _PAD

    def draw(self, root: ElementTree.Element, centers: list[float], edge: float, sign: int) -> None:
        """Draw the arcs from the line ``edge`` upwards (``sign`` -1) or downwards."""
        for arc in self.arcs:
            kind = self.kinds[arc.word]
            color, dashes, line, _ = KINDS[kind]
            group = element(root, "g", class_=f"arc-{kind}", font_family=drawing.FONT)
            tip = centers[arc.word] + self.ports[arc.word, arc.word]
            y = edge + sign * (arc.level * LEVEL)
            path = f"M{tip:.1f} {edge + 2 * sign:.1f}V{y:.1f}"
            middle = tip
            if arc.head >= 0:
                start = centers[arc.head] + self.ports[arc.head, arc.word]
                r = min(7.0, abs(start - tip) / 2)
                turn, middle = (r if start > tip else -r), (start + tip) / 2
                path = (
                    f"M{tip:.1f} {edge + 2 * sign:.1f}V{y - sign * r:.1f}Q{tip:.1f} {y:.1f} {tip + turn:.1f} {y:.1f}"
                    f"H{start - turn:.1f}Q{start:.1f} {y:.1f} {start:.1f} {y - sign * r:.1f}V{edge:.1f}"
                )
            element(group, "path", d=path, fill="none", stroke=color, stroke_width=line, stroke_dasharray=dashes)
            tip_path = f"M{tip:.1f} {edge:.1f}l-3.2 {6.5 * sign:.1f}h6.4z"
            element(group, "path", class_="tip", d=tip_path, fill=color, stroke="none")
            below = y - 4 if sign < 0 else y + LABEL_SIZE + 2
            element(
                group,
                "text",
                self.labels[arc.word],
                x=middle,
                y=below,
                font_size=LABEL_SIZE,
                fill=color,
                text_anchor="middle",
            )
        for low, high in crossings(self.arcs):
            x, y = self._meeting(low, high, centers, edge, sign)
            element(root, "circle", class_="tree-crossing", cx=x, cy=y, r=3.5, fill="none", stroke="#1c1f22")

    def _meeting(
        self, low: TreeArc, high: TreeArc, centers: list[float], edge: float, sign: int
    ) -> tuple[float, float]:
        """Return where the level line of one arc and a leg of another cross."""
        word = high.word if high.head < 0 else high.begin if low.begin < high.begin < low.end else high.end
        return centers[word] + self.ports[word, high.word], edge + sign * low.level * LEVEL


def _spread(words: Sequence[str], tags: Sequence[str] | None, sides: list[_Side]) -> tuple[list[float], float]:
    """Return where the centers of the words are, so that nothing overlaps, and the width of it all."""
    n = len(words)
    widths = [
        max(
            text_width(words[k], WORD_SIZE),
            text_width(tags[k], TAG_SIZE) if tags else 0.0,
            *(side.room[k] for side in sides),
        )
        for k in range(n)
    ]
    gaps = [(widths[k] + widths[k + 1]) / 2 + _GAP for k in range(n - 1)]
    for side in sides:
        for arc in sorted(side.arcs, key=lambda arc: arc.end - arc.begin):
            if arc.end > arc.begin:
                lacking = side.needed(arc) - sum(gaps[arc.begin : arc.end])
                for k in range(arc.begin, arc.end) if lacking > 0 else ():
                    gaps[k] += lacking / (arc.end - arc.begin)
    centers, x = [], _EDGE + max(widths[0], 40.0) / 2 if n else _EDGE
    for k in range(n):
        centers.append(x)
        x += gaps[k] if k < n - 1 else max(widths[k], 40.0) / 2
    return centers, x + _EDGE
