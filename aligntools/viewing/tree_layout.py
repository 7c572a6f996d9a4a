"""Where the arcs of a dependency tree go: how high each is, which cross, and the columns of a tree drawn in text."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TreeArc:
    """An edge of a tree, drawn between two words.

    head, word: Places of the two words, counted from 0; the head of a root is -1.
    level: How high it is drawn, from 1 on.
    """

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
    """Return the arcs of a tree, shorter ones below longer ones, so that only crossing edges are crossing lines.

    heads (sequence of int [words]): Numbers from 1 on; 0 for a root, whose arc comes from above; -1 where there is no
        head and no arc.
    """
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
    """Return the pairs of arcs that cross, as (the one whose level line is crossed, the one that goes through it).

    The arc of a root is a line from above: arcs that pass over the root cross it.
    """
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


def edge_crossings(heads: Sequence[int]) -> int:
    """Return how many pairs of edges of a tree cross; 0 for a projective tree."""
    return len(crossings(arcs(heads)))


def columns(heads: Sequence[int]) -> list[int]:
    """Return a column for each word of a tree drawn in text, greater than its head's, 0 for what has no head.

    The line that goes down a word's column joins its dependents; no two lines lie on each other, even where edges
    cross.
    """
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
                result[parent] = _free_column(taken, min([parent, *own]), max([parent, *own]) + 1, least, n)
                queue += [(child, result[parent] + 1) for child in own]
    return result


def _top(heads: Sequence[int], word: int) -> int:
    """Return the word that all above a word hangs on; of a cycle the one that comes first on the way."""
    seen: set[int] = set()
    while word not in seen and 0 < heads[word] <= len(heads):
        seen.add(word)
        word = heads[word] - 1
    return word


def _free_column(taken: list[np.ndarray], begin: int, end: int, least: int, n: int) -> int:
    """Return the first column whose rows ``begin:end`` are free, and take them."""
    column = least
    while column < len(taken) and taken[column][begin:end].any():
        column += 1
    if column == len(taken):
        taken.append(np.zeros(n, bool))
    taken[column][begin:end] = True
    return column


def drawn_rows(heads: Sequence[int]) -> list[str]:
    """Return a line of box characters for each word: the tree's edges, to be followed by the words.

    Works for any tree; edges that cross are crossing lines (``┼``).
    """
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
