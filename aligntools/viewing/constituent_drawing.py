"""Trees of constituents as lines and labels: one above its words, its gold tree below them.

A constituent is above all that it holds, and a line goes down to each of its parts: first to the side, then straight
down over the part's own words, so that no line meets a label or another line.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from aligntools.formats.annotation.brackets import Tree
from aligntools.viewing import drawing
from aligntools.viewing.drawing import element, text_width

#: Heights in pixels: from one level of constituents to the next, of the words and their tags; sizes of fonts.
LEVEL, WORDS = 30.0, 40.0
WORD_SIZE, TAG_SIZE, LABEL_SIZE = 15, 11, 12
#: Between words; around a label; at the edges; from a label to the line that its parts hang on.
_GAP, _PAD, _EDGE, _BAR = 14.0, 8.0, 8.0, 6.0
#: Kind of a constituent: its color, the pattern of the line above it, its width, and the sign before its label.
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
    + [f" .node-{kind} path {{ stroke: {c} }} .node-{kind} text {{ fill: {c} }}" for kind, c in _DARK.items()]
    + [" }"]
)


@dataclass(slots=True)
class Node:
    """A constituent or a leaf, and where it stands.

    begin, end: Its words.
    parent: Place in the list of nodes, which has each before its parts; -1 above it all.
    level: Constituents from it down to its lowest leaf, at most; 0 for a leaf.
    kind: One of `KINDS`.
    """

    label: str
    begin: int
    end: int
    parent: int
    leaf: bool
    level: int = 0
    kind: str = "plain"
    x: float = 0.0

    @property
    def shown(self) -> str:
        """The label with the sign of its kind."""
        return KINDS[self.kind][3] + (self.label or "(no label)")


def nodes_of(tree: Tree) -> list[Node]:
    """Return the constituents and leaves of a tree, each before its parts; words are counted from 0."""
    found, waiting, words = list[Node](), [(tree, -1)], 0
    while waiting:
        one, parent = waiting.pop()
        leaf = one.word is not None
        found.append(Node(one.label, words, words + leaf, parent, leaf))
        words += leaf
        waiting += [(child, len(found) - 1) for child in reversed(one.children)]
    for node in reversed(found):
        if node.parent >= 0:
            above = found[node.parent]
            above.end, above.level = max(above.end, node.end), max(above.level, node.level + 1)
    return found


@dataclass
class Drawing:
    """Lines and texts of a picture."""

    width: float = 0.0
    height: float = 0.0
    lines: list[tuple[str, str]] = field(default_factory=list)
    labels: list[tuple[str, float, float, str]] = field(default_factory=list)
    words: list[tuple[float, float, str, str]] = field(default_factory=list)


def draw(words: Sequence[str], tags: Sequence[str], nodes: list[Node], gold: list[Node] | None = None) -> Drawing:
    """Return the picture of a tree; with a gold tree, which is drawn below the words.

    words, tags: What stands at each word.
    nodes, gold: See `nodes_of`; their `x` is set here.
    """
    sides = [nodes] if gold is None else [nodes, gold]
    centers, width = _spread(words, tags, sides)
    heights = [LEVEL * max((node.level for node in side), default=0) for side in sides]
    top = _EDGE + heights[0]
    found = Drawing(width, top + WORDS + sum(heights[1:]) + _EDGE)
    for side, edge, sign in zip(sides, (top, top + WORDS), (-1, 1), strict=False):
        _place(side, words, centers)
        for node in side:
            if node.level:
                y = edge + sign * LEVEL * node.level
                found.labels.append((node.kind, node.x, y + (LABEL_SIZE if sign < 0 else -3.0), node.shown))
            if node.parent >= 0:
                above = side[node.parent]
                bar = edge + sign * (LEVEL * above.level - LABEL_SIZE - _BAR)
                y = edge + sign * (LEVEL * node.level if node.level else 0.0)
                kind = node.kind if node.level else "plain"
                found.lines.append((kind, f"M{node.x:.1f} {y:.1f}V{bar:.1f}H{above.x:.1f}V{bar + sign * 3:.1f}"))
    for k, word in enumerate(words):
        found.words.append((centers[k], top + 17, word, tags[k]))
    return found


def _spread(words: Sequence[str], tags: Sequence[str], sides: list[list[Node]]) -> tuple[list[float], float]:
    """Return where the centers of the words are, so that no label is wider than its words, and the width of it all."""
    widths = [
        max(text_width(word, WORD_SIZE), text_width(tag, TAG_SIZE)) + _GAP
        for word, tag in zip(words, tags, strict=True)
    ]
    for side in sides:
        for node in sorted(side, key=lambda node: node.end - node.begin):
            if node.level and node.end > node.begin:
                lacking = text_width(node.shown, LABEL_SIZE) + _PAD - sum(widths[node.begin : node.end])
                for k in range(node.begin, node.end) if lacking > 0 else ():
                    widths[k] += lacking / (node.end - node.begin)
    centers, x = list[float](), _EDGE
    for own in widths:
        centers.append(x + own / 2)
        x += own
    return centers, x + _EDGE


def _place(nodes: list[Node], words: Sequence[str], centers: list[float]) -> None:
    """Set where the nodes are: between the first and the last of their parts, their labels above their words."""
    parts: list[list[float]] = [[] for _ in nodes]
    edges = [_EDGE]
    for k in range(len(words)):
        edges.append(2 * centers[k] - edges[k])
    for k in range(len(nodes) - 1, -1, -1):
        node = nodes[k]
        if node.leaf or not parts[k]:
            node.x = centers[node.begin] if node.begin < len(centers) else _EDGE
        else:
            half = text_width(node.shown, LABEL_SIZE) / 2
            middle = (min(parts[k]) + max(parts[k])) / 2
            node.x = max(min(middle, edges[node.end] - half), edges[node.begin] + half)
        if node.parent >= 0:
            parts[node.parent].append(node.x)


def as_svg(picture: Drawing, title: str) -> str:
    """Return a picture as SVG. What is wrong and missed is marked by the line's pattern and a sign, too."""
    root = drawing.picture(picture.width, picture.height, title, _STYLE)
    for kind, path in picture.lines:
        color, dashes, width, _ = KINDS[kind]
        group = element(root, "g", class_=f"node-{kind}")
        element(group, "path", d=path, fill="none", stroke=color, stroke_width=width, stroke_dasharray=dashes)
    for kind, x, y, text in picture.labels:
        group = element(root, "g", class_=f"node-{kind}", font_family=drawing.FONT)
        element(group, "text", text, x=x, y=y, font_size=LABEL_SIZE, fill=KINDS[kind][0], text_anchor="middle")
    group = element(root, "g", class_="tree-words", font_family=drawing.FONT, text_anchor="middle")
    for x, y, word, tag in picture.words:
        element(group, "text", word, x=x, y=y, font_size=WORD_SIZE, fill="#1c1f22")
        element(group, "text", tag, class_="tag", x=x, y=y + 15, font_size=TAG_SIZE, fill="#5b6268")
    return drawing.written(root)
