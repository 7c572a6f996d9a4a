"""DEPS, the enhanced graph of a sentence, where HEAD is written anew: the new tree's edges take its place.

Empty nodes (``8.1``) are nodes of this graph alone. They stay, below the nodes that they hang from, so that whatever
their lines say is kept and all nodes can be reached from a root.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from aligntools.formats.annotation.conll_layouts import COLUMNS, Layout

_EDGE = re.compile(rb"\d+(\.\d+)?:")
#: The relation of an edge whose DEPREL is ``_``: Universal Dependencies' one for what is not known.
UNKNOWN = b"dep"


class Sentences(Protocol):
    """What is asked of `conll.Conll`."""

    lines: list[bytes]
    starts: np.ndarray
    offsets: np.ndarray
    layout: Layout

    def __len__(self) -> int:
        """Return the number of sentences."""

    def column(self, n: int) -> list[bytes]:
        """Return a column of all words."""


def has_graph(conll: Sentences) -> np.ndarray:
    """Tell which sentences have an enhanced graph, in words or in empty nodes [shape=(sentences,), dtype=bool]."""
    found = np.zeros(len(conll), bool)
    place = conll.layout.places[COLUMNS["deps"]]
    if place is None:
        return found
    for k, (begin, end) in enumerate(pairwise(conll.starts.tolist())):
        found[k] = any(
            _EDGE.match(line.split(b"\t", place + 1)[place]) is not None
            for line in conll.lines[begin:end]
            if line[:1].isdigit()
        )
    return found


def tree_graph(
    conll: Sentences, heads: Sequence[bytes], labels: Sequence[bytes], changed: np.ndarray | None = None
) -> list[bytes]:
    """Return DEPS for all words, with the edges of new trees where there was a graph.

    heads, labels: HEAD and DEPREL of all words. A word without a head has no edge.
    changed (bool [sentences], optional): Sentences with new heads; the others' DEPS stay as they are. None: all have,
        and DEPS that is no graph is emptied, too.
    """
    graphs, deps = has_graph(conll), conll.column(COLUMNS["deps"])
    if changed is None:
        deps = [b"_"] * len(deps)
    else:
        graphs &= changed
    for k in np.flatnonzero(graphs).tolist():
        begin, end = conll.offsets[k : k + 2].tolist()
        for word in range(begin, end):
            head, label = heads[word], labels[word]
            relation = b"root" if head == b"0" else UNKNOWN if label == b"_" else label
            deps[word] = b"_" if head == b"_" else head + b":" + relation
    return deps
