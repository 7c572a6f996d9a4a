"""Trees of constituents to look at: what is wrong in them beside gold trees, and where the errors are."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from aligntools.formats.annotation.brackets import Tree
from aligntools.ground.errors import visible
from aligntools.metrics.base import percent
from aligntools.metrics.brackets import BracketScore, bracket, counted_before
from aligntools.metrics.settings import BracketScoring
from aligntools.viewing import drawing
from aligntools.viewing.base import SentencesInOrder
from aligntools.viewing.drawing import DARK, KINDS, TAG_SIZE, WORD_SIZE, WORDS, element, text_width
from aligntools.viewing.page import page
from aligntools.viewing.terminal import counted, shown

#: From one level of constituents to the next, in pixels; size of their labels.
LEVEL, LABEL_SIZE = 30.0, 12
#: Between words; around a label; at the edges; from a label to the line that its parts hang on.
_GAP, _PAD, _EDGE, _BAR = 14.0, 8.0, 8.0, 6.0
# Trees of constituents as lines and labels: one above its words, its gold tree below them.
#
# A constituent is above all that it holds, and a line goes down to each of its parts: first to the side, then
# straight down over the part's own words, so that no line meets a label or another line.

_STYLE = "".join(
    ["@media (prefers-color-scheme: dark) { .tree-words text { fill: #e6e8ea } .tree-words .tag { fill: #9aa3ab }"]
    + [f" .node-{kind} path {{ stroke: {c} }} .node-{kind} text {{ fill: {c} }}" for kind, c in DARK.items()]
    + [" }"]
)


@dataclass(slots=True)
class Node:
    """A constituent or a leaf, and where it stands.

    parent: Place in the list of nodes, which has each before its parts; -1 above it all.
    level: Constituents from it down to its lowest leaf, at most; 0 for a leaf.
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
        found.append(Node(visible(one.label), words, words + leaf, parent, leaf))
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
    """Return the picture of a tree; a gold tree is drawn below the words. Nodes' ``x`` are set here."""
    sides = [nodes] if gold is None else [nodes, gold]
    # no label is wider than its words
    both = zip(words, tags, strict=True)
    widths = [max(text_width(word, WORD_SIZE), text_width(tag, TAG_SIZE)) + _GAP for word, tag in both]
    for side in sides:
        for node in sorted(side, key=lambda node: node.end - node.begin):
            if node.level and node.end > node.begin:
                drawing.widen(widths, node.begin, node.end, text_width(node.shown, LABEL_SIZE) + _PAD)
    centers, edges = list[float](), [_EDGE]
    for own in widths:
        centers.append(edges[-1] + own / 2)
        edges.append(edges[-1] + own)
    heights = [LEVEL * max((node.level for node in side), default=0) for side in sides]
    top = _EDGE + heights[0]
    found = Drawing(edges[-1] + _EDGE, top + WORDS + sum(heights[1:]) + _EDGE)
    for side, edge, sign in zip(sides, (top, top + WORDS), (-1, 1), strict=False):
        # a node is between the first and the last of its parts, its label above its words
        parts: list[list[float]] = [[] for _ in side]
        for node, below in zip(reversed(side), reversed(parts), strict=True):
            if node.leaf or not below:
                node.x = centers[node.begin] if node.begin < len(centers) else _EDGE
            else:
                half, middle = text_width(node.shown, LABEL_SIZE) / 2, (min(below) + max(below)) / 2
                node.x = max(min(middle, edges[node.end] - half), edges[node.begin] + half)
            if node.parent >= 0:
                parts[node.parent].append(node.x)
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
    columns = list(zip(*picture.words, strict=True)) or [(), (17.0,), (), ()]
    centers, places, words, tags = (list[Any](column) for column in columns)
    drawing.draw_words(root, centers, places[0] - 17, words, tags)
    return drawing.written(root)


#: Rows of a table of the summary, at most.
_ROWS = 30
#: Styles of text and signs of kinds of constituents.
_STYLES = {"right": "", "plain": "", "label": "missed", "wrong": "wrong"}


@dataclass(frozen=True)
class SentenceBrackets:
    """A sentence's tree and perhaps its gold tree; ``instead``: gold labels of wrongly labelled nodes, by place."""

    words: list[str]
    tags: list[str]
    gold_tags: list[str] | None
    nodes: list[Node]
    gold: list[Node] | None
    instead: dict[int, str]

    @property
    def wrong(self) -> int:
        """Constituents that the gold tree does not have, those with another label there included."""
        return sum(node.kind in ("wrong", "label") for node in self.nodes)

    @property
    def missed(self) -> int:
        """Constituents of the gold tree that the tree does not have."""
        return sum(node.kind == "missed" for node in self.gold or ())


@dataclass(frozen=True, eq=False, repr=False)
class ConstituentsView(SentencesInOrder):
    """Trees of constituents, alone or beside gold trees of the same words."""

    trees: Sequence[Tree]
    gold: Sequence[Tree] | None = None
    title: str = "Trees"
    score: BracketScore | None = None

    def __post_init__(self) -> None:
        if self.gold is not None and self.score is None:
            object.__setattr__(self, "score", BracketScore.of(self.gold, self.trees))

    def __len__(self) -> int:
        return len(self.trees)

    def sentence(self, number: int) -> SentenceBrackets:
        """Return one sentence, by its number from 1 on."""
        self._check(number)
        tree = self.trees[number - 1]
        if self.gold is None:
            return SentenceBrackets(shown(tree.words()), shown(tree.tags()), None, nodes_of(tree), None, {})
        gold = self.gold[number - 1]
        gold_tags = gold.tags()
        own_tags = tree.tags() if tree.children or tree.word is not None else ["_"] * len(gold_tags)
        nodes, gold_nodes = nodes_of(tree), nodes_of(gold)
        assert self.score is not None
        instead = _marked(nodes, gold_nodes, gold_tags, self.score.how)
        return SentenceBrackets(shown(gold.words()), shown(own_tags), shown(gold_tags), nodes, gold_nodes, instead)

    @cached_property
    def _sentences(self) -> list[SentenceBrackets]:
        return [self.sentence(number) for number in range(1, len(self) + 1)]

    @cached_property
    def errors(self) -> np.ndarray:
        """Wrong constituents, and missed ones, of each sentence [shape=(sentences, 2)]."""
        return np.array([(s.wrong, s.missed) for s in self._sentences], np.int64).reshape(-1, 2)

    def _picture(self, number: int) -> str:
        s = self.sentence(number)
        return as_svg(self._drawn(s), f"Tree of: {' '.join(s.words)}")

    @property
    def headline(self) -> str:
        """What there is to see, in a line."""
        sentences = counted(len(self), "sentence")
        if self.score is None:
            return f"{sentences}, {counted(sum(len(s.words) for s in self._sentences), 'word')}"
        s = self.score
        wrong, missed = self.errors.sum(axis=0).tolist()
        return (
            f"F1 {percent(s.f1)} %, exact {percent(s.exact)} %: {counted(wrong, 'wrong constituent')},"
            f" {missed} missed, in {sentences}"
        )

    def tables(self) -> list[dict[str, Any]]:
        """Return where the errors are: tables by label and by length, and of wrong labels."""
        if self.score is None:
            return []
        tables = []
        for kind, caption in (("label", "By label"), ("length", "By length of the sentence")):
            rows = [
                [visible(name) or "any", gold, parsed, right, percent(2 * right / (gold + parsed))]
                for name, gold, parsed, right in self.score.groups(kind)
            ]
            tables.append({"caption": caption, "head": [kind, "gold", "parsed", "right", "F1%"], "rows": rows[:_ROWS]})
        found = Counter((gold, s.nodes[k].label) for s in self._sentences for k, gold in s.instead.items())
        ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        confused = [[*pair, n] for pair, n in ordered[:_ROWS]]
        return [*tables, {"caption": "Wrong labels", "head": ["gold", "instead", "constituents"], "rows": confused}]

    def html(self) -> str:
        """Return the page."""
        labels: dict[str, int] = {}
        rows = []
        for s in self._sentences:
            picture = self._drawn(s)
            own = dict.fromkeys(node.label for side in (s.nodes, s.gold or ()) for node in side if node.level)
            drawn = [
                [round(picture.width), round(picture.height)],
                [list(line) for line in picture.lines],
                [[kind, round(x, 1), round(y, 1), text] for kind, x, y, text in picture.labels],
                [[round(x, 1), round(y, 1), word, tag] for x, y, word, tag in picture.words],
            ]
            numbers = sorted(labels.setdefault(label, len(labels)) for label in own)
            rows.append([*drawn, numbers, s.wrong, s.missed, _rows(s)])
        compared = self.gold is not None
        data = {"compared": compared, "labels": list(labels), "sentences": rows}
        return page(self.title, "constituents", data, headline=self.headline, tables=self.tables(), compared=compared)

    def _drawn(self, s: SentenceBrackets) -> Drawing:
        tags = s.tags
        if s.gold_tags is not None:
            tags = [a if a == b else f"◇ {a}, gold {b}" for a, b in zip(s.tags, s.gold_tags, strict=True)]
        return draw(s.words, tags, s.nodes, s.gold)

    def _parts(self, number: int) -> list[tuple[str, str]]:
        s = self.sentence(number)
        about = f"  {counted(s.wrong, 'wrong constituent')}, {s.missed} missed" if s.gold is not None else ""
        parts = [(f"sentence {number}{about}\n", "head")]
        last = {node.parent: k for k, node in enumerate(s.nodes)}
        stems: list[str] = []
        for k, node in enumerate(s.nodes):
            if node.parent < 0:
                stems.append("")
                stem, branch = "", ""
            else:
                stem = stems[node.parent]
                branch = "╰─ " if last[node.parent] == k else "├─ "
                stems.append(stem + ("   " if branch[0] == "╰" else "│  "))
            parts.append((stem + branch, "soft"))
            if node.leaf:
                tag = s.tags[node.begin]
                other = s.gold_tags is not None and s.gold_tags[node.begin] != tag
                parts.append((f"{tag} {s.words[node.begin]}", ""))
                parts += [(f"  ◇ tag is {(s.gold_tags or [])[node.begin]}", "missed")] if other else []
            else:
                parts.append((node.label or ("(no label)" if node.level else "(no tree)"), _STYLES[node.kind]))
                if node.kind == "wrong":
                    parts.append(("  ✗ not in the gold", "wrong"))
                elif node.kind == "label":
                    parts.append((f"  ◇ label is {s.instead[k]}", "missed"))
            parts.append(("\n", ""))
        for node in s.gold or ():
            if node.kind == "missed":
                words = " ".join(s.words[node.begin : node.end])
                parts.append((f"○ missed: {node.label}  {words}\n", "missed"))
        return [*parts, ("\n", "")]


def _marked(nodes: list[Node], gold: list[Node], gold_tags: Sequence[str], how: BracketScoring) -> dict[int, str]:
    """Set the kinds of nodes as the metric counts them; return the gold labels of those that have another there."""
    before = counted_before(gold_tags, how)
    keys, known = (
        [bracket(n.label, n.begin, n.end, before, how) if n.level else None for n in side] for side in (nodes, gold)
    )
    left = Counter(key for key in known if key is not None)
    for node, key in zip(nodes, keys, strict=True):
        if key is not None:
            node.kind = "right" if left[key] > 0 else "wrong"
            left[key] -= node.kind == "right"
    others: dict[tuple[int, int], list[str]] = {}
    for node, key in zip(reversed(gold), reversed(known), strict=True):
        if key is not None:
            node.kind = "right"
            if left[key] > 0:
                left[key] -= 1
                node.kind = "missed"
                others.setdefault(key[1:], []).append(node.label)
    instead = {}
    for k, (node, key) in enumerate(zip(nodes, keys, strict=True)):
        if key is not None and node.kind == "wrong" and others.get(key[1:]):
            node.kind, instead[k] = "label", others[key[1:]].pop()
    return instead


def _rows(s: SentenceBrackets) -> list[list[str]]:
    """Return what is wrong, as rows: words, what is wrong, label and gold label."""
    rows = []
    for k, node in enumerate(s.nodes):
        words = " ".join(s.words[node.begin : node.end])
        if node.kind == "label":
            rows.append([words, "◇ label", node.label, s.instead[k]])
        elif node.kind == "wrong":
            rows.append([words, "✗ wrong", node.label, "none"])
    instead = Counter((s.nodes[k].begin, s.nodes[k].end, label) for k, label in s.instead.items())
    for node in s.gold or ():
        key = node.begin, node.end, node.label
        if node.kind == "missed" and instead[key]:
            instead[key] -= 1
        elif node.kind == "missed":
            rows.append([" ".join(s.words[node.begin : node.end]), "○ missed", "none", node.label])
    return rows
