"""Words that look alike: a tree of classes by kind of characters, then by ending."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from aligntools.tagging.forms.unknown import shape, text_of

#: Levels of the tree below its root.
DEPTH = 3


def signature(word: bytes) -> tuple[str, ...]:
    """Return a word's class at each level below the root, each a part of the one above; no two levels share a name."""
    text = text_of(word)
    look = shape(text)
    kinds = look[:2] + "".join(sorted(set(look[2:]) & set("-dX")))
    end = "".join("0" if c.isdigit() else c for c in text[-3:].lower())
    return f"1{kinds}", f"2{len(kinds)}{kinds}{end[-2:]}", f"3{len(kinds)}{kinds}{end}"


@dataclass(frozen=True)
class FormClasses:
    """A tree; node 0 is the root, and nodes are numbered level by level.

    numbers: Node of a signature.
    parents (int64 [nodes]).
    levels: First node of a level, and one past the last.
    paths (int64 [words, DEPTH + 1]): Node of each word of the text at each level, -1 below the last.
    nodes (int64 [words]): Deepest node of each word.
    """

    numbers: dict[str, int]
    parents: np.ndarray
    levels: list[tuple[int, int]]
    paths: np.ndarray = field(repr=False, default_factory=lambda: np.zeros((0, DEPTH + 1), np.int64))
    nodes: np.ndarray = field(repr=False, default_factory=lambda: np.zeros(0, np.int64))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.parents)

    @classmethod
    def of(cls, words: Sequence[bytes], least: int = 3) -> "FormClasses":
        """Build the tree from different words; classes of fewer than ``least`` are left out."""
        found = [signature(w) for w in words]
        numbers: dict[str, int] = {}
        parents, levels = [0], [(0, 1)]
        for depth in range(DEPTH):
            sizes: dict[str, int] = {}
            for s in found:
                sizes[s[depth]] = sizes.get(s[depth], 0) + 1
            begin = len(parents)
            above = {s[depth]: s[depth - 1] for s in found} if depth else {}
            for name in sorted(sizes):
                parent = numbers.get(above[name]) if depth else 0
                if sizes[name] >= least and parent is not None:
                    numbers[name] = len(parents)
                    parents.append(parent)
            levels.append((begin, len(parents)))
        paths = np.full((len(words), DEPTH + 1), -1, np.int64)
        paths[:, 0] = 0
        for n, s in enumerate(found):
            for depth in range(DEPTH):
                paths[n, depth + 1] = numbers.get(s[depth], -1)
        return cls(numbers, np.array(parents, np.int64), levels, paths, paths.max(1, initial=0))

    def find(self, words: Sequence[bytes]) -> np.ndarray:
        """Return the deepest node of any words, int64 [words]."""
        nodes = np.zeros(len(words), np.int64)
        for n, w in enumerate(words):
            for name in signature(w):
                node = self.numbers.get(name)
                if node is None:
                    break
                nodes[n] = node
        return nodes
