"""Dependency trees as SVG: arcs above the words; with a gold tree, its arcs below them."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from aligntools.viewing import drawing
from aligntools.viewing.drawing import DARK, KINDS, TAG_SIZE, WORD_SIZE, WORDS, element, text_width


@dataclass(frozen=True)
class TreeArc:
    """An edge of a tree between two words, from 0; the head of a root is -1. It is drawn at a level from 1 on."""

    head: int
    word: int
    level: int

    @property
    def begin(self) -> int:
        """The first of its two words."""
        return self.word if self.head < 0 else min(self.head, self.word)

    @property
    def end(self) -> int:
        """The last of its two words."""
        return max(self.head, self.word)


def arcs(heads: Sequence[int]) -> list[TreeArc]:
    """Return the arcs of a tree, short ones low, so that only crossing edges cross; heads from 1, 0 root, -1 none."""
    gaps = np.zeros(len(heads) + 1, np.int64)  # between a word and the one before it: the highest level there
    edges = [(head - 1, word) for word, head in enumerate(heads) if head > 0]
    found = []
    for head, word in sorted(edges, key=lambda edge: (abs(edge[0] - edge[1]), min(edge))):
        between = slice(min(head, word) + 1, max(head, word) + 1)
        level = int(gaps[between].max()) + 1
        gaps[between] = level
        found.append(TreeArc(head, word, level))
    roots = [
        TreeArc(-1, word, int(max(gaps[word], gaps[word + 1])) + 1) for word, head in enumerate(heads) if head == 0
    ]
    return sorted(found + roots, key=lambda arc: arc.word)


def crossings(found: Sequence[TreeArc]) -> list[tuple[TreeArc, TreeArc]]:
    """Return the pairs of arcs that cross, as (the one whose level line is crossed, the one that goes through it)."""
    if not found:
        return []
    begin, end, level = (np.array([getattr(a, name) for a in found]) for name in ("begin", "end", "level"))
    inside = (begin[:, None] < begin[None, :]) & (begin[None, :] < end[:, None]) & (end[:, None] < end[None, :])
    root = np.array([a.head < 0 for a in found])
    over = (begin[:, None] < begin[None, :]) & (end[None, :] < end[:, None]) & root[None, :]
    pairs = []
    for i, j in zip(*np.nonzero(inside | (over & (level[:, None] < level[None, :]))), strict=True):
        low, high = (i, j) if level[i] < level[j] else (j, i)
        pairs.append((found[low], found[high]))
    return pairs


def columns(heads: Sequence[int]) -> list[int]:
    """Return a column for each word of a tree drawn in text, greater than its head's; no lines lie on others."""
    n = len(heads)
    below: list[list[int]] = [[] for _ in range(n)]
    tops = []
    for word, head in enumerate(heads):
        if 0 < head <= n:
            below[head - 1].append(word)
        else:
            tops.append(word)
    result = [-1] * n
    taken: list[np.ndarray] = []  # of each column, a mask of the rows that its lines cover
    for word in [*tops, *range(n)]:
        queue = [(_top(heads, word), 0)] if result[word] < 0 else []
        for parent, least in queue:
            if result[parent] < 0:
                own = [child for child in below[parent] if result[child] < 0]
                begin, end, column = min([parent, *own]), max([parent, *own]) + 1, least
                while column < len(taken) and taken[column][begin:end].any():
                    column += 1
                if column == len(taken):
                    taken.append(np.zeros(n, bool))
                taken[column][begin:end] = True
                result[parent] = column
                queue += [(child, result[parent] + 1) for child in own]
    return result


def _top(heads: Sequence[int], word: int) -> int:
    """Return the word that all above a word hangs on; of a cycle the one that comes first on the way."""
    seen: set[int] = set()
    while word not in seen and 0 < heads[word] <= len(heads):
        seen.add(word)
        word = heads[word] - 1
    return word


def drawn_rows(heads: Sequence[int]) -> list[str]:
    """Return box characters for each word: the tree's edges, to be followed by the words; crossing edges are ``┼``."""
    n, place = len(heads), columns(heads)
    width = 2 * (max(place, default=0) + 1)
    grid = [[" "] * width for _ in range(n)]
    below: list[list[int]] = [[] for _ in range(n)]
    for word, head in enumerate(heads):
        if 0 < head <= n and place[head - 1] < place[word]:
            below[head - 1].append(word)
    for word in range(n):
        rows = [word, *below[word]]
        for row in range(min(rows), max(rows) + 1):
            grid[row][2 * place[word]] = "│"
    for word, head in enumerate(heads):
        start = 0
        if 0 < head <= n and place[head - 1] < place[word]:
            start = 2 * place[head - 1]
            rows = [head - 1, *below[head - 1]]
            grid[word][start] = "╭" if word == min(rows) else "╰" if word == max(rows) else "├"
            start += 1
        elif head != 0:  # none, or a cycle
            start = 2 * place[word]
        for column in range(start, 2 * place[word]):
            grid[word][column] = "┼" if grid[word][column] == "│" else "─"
        up, down = any(child < word for child in below[word]), any(child > word for child in below[word])
        mark = {(False, False): "─", (True, False): "┴", (False, True): "┬", (True, True): "┼"}[up, down]
        grid[word][2 * place[word]] = mark
        last = max(column for column in range(width) if grid[word][column] != " ")
        for column in range(2 * place[word] + 1, last):  # where another edge passes, the line goes on through it
            grid[word][column] = "┼" if grid[word][column] == "│" else "─"
        grid[word] = [*grid[word][:last], "┼" if last > 2 * place[word] else mark, " "]
    return ["".join(row) for row in grid]


#: From one level of arcs to the next, in pixels; size of their labels.
LEVEL, LABEL_SIZE = 21.0, 11
#: Between words; between the ends of two arcs at one word; around a label; at the edges.
_GAP, _PORT, _PAD, _EDGE = 16.0, 7.0, 7.0, 8.0
_STYLE = "".join(
    ["@media (prefers-color-scheme: dark) { .tree-words text { fill: #e6e8ea } .tree-words .tag { fill: #9aa3ab }"]
    + [
        f" .arc-{kind} path {{ stroke: {c} }} .arc-{kind} text, .arc-{kind} .tip {{ fill: {c} }}"
        for kind, c in DARK.items()
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
    """Return a picture of a tree (heads from 1 on, 0 for a root, -1 where there is none), the gold one below the words.

    What is wrong in the tree and missed of the gold is marked by the line's pattern and a sign, not by color alone.
    """
    kinds = ["plain"] * len(heads)
    if gold_heads is not None:
        kinds = ["wrong" if head != gold else "right" for head, gold in zip(heads, gold_heads, strict=True)]
        if labels is not None and gold_labels is not None:
            same = zip(kinds, labels, gold_labels, strict=True)
            kinds = ["label" if kind == "right" and label != gold else kind for kind, label, gold in same]
    above = _Side(heads, labels, kinds)
    sides = [above]
    if gold_heads is not None:
        sides.append(_Side(gold_heads, gold_labels, ["missed" if kind == "wrong" else "right" for kind in kinds]))
    # centers of words so far apart that nothing overlaps
    n = len(words)
    of_tags = [text_width(tags[k], TAG_SIZE) if tags else 0.0 for k in range(n)]
    widths = [max(text_width(words[k], WORD_SIZE), of_tags[k], *(side.room[k] for side in sides)) for k in range(n)]
    gaps = [(widths[k] + widths[k + 1]) / 2 + _GAP for k in range(n - 1)]
    for side in sides:
        for arc in sorted(side.arcs, key=lambda arc: arc.end - arc.begin):
            if arc.end > arc.begin:
                inner = side.ports[arc.begin, arc.word] - side.ports[arc.end, arc.word]
                label = text_width(side.labels[arc.word], LABEL_SIZE)
                drawing.widen(gaps, arc.begin, arc.end, inner + label + 2 * _PAD)
    centers, width = [], _EDGE + max(widths[0], 40.0) / 2 if n else _EDGE
    for k in range(n):
        centers.append(width)
        width += gaps[k] if k < n - 1 else max(widths[k], 40.0) / 2
    width += _EDGE
    top = _EDGE + above.height
    height = top + WORDS + (sides[1].height if len(sides) > 1 else 0) + _EDGE
    root = drawing.picture(width, height, title, _STYLE)
    for side, (edge, sign) in zip(sides, ((top, -1), (top + WORDS, 1)), strict=False):
        side.draw(root, centers, edge, sign)
    drawing.draw_words(root, centers, top, words, tags)
    return drawing.written(root)


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
        # where arcs meet their words, relative to the words' centers: near ones outside, far ones inside
        ends: list[list[tuple[tuple[int, int], TreeArc]]] = [[] for _ in heads]
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
            below, label = y - 4 if sign < 0 else y + LABEL_SIZE + 2, self.labels[arc.word]
            element(group, "text", label, x=middle, y=below, font_size=LABEL_SIZE, fill=color, text_anchor="middle")
        for low, high in crossings(self.arcs):
            # where the level line of the one meets a leg of the other
            word = high.word if high.head < 0 else high.begin if low.begin < high.begin < low.end else high.end
            x, y = centers[word] + self.ports[word, high.word], edge + sign * low.level * LEVEL
            element(root, "circle", class_="tree-crossing", cx=x, cy=y, r=3.5, fill="none", stroke="#1c1f22")
