"""Packed derivations on disk: JSON lines, one a sentence behind one that names the format and the features.

docs/reference/formats.md shows them. Nodes are numbered from 0 in a sentence, each after its tails; ``target`` has
words, -1 for what the first tail yields and -2 for the second; ``rule`` is negative for rules that the decoder makes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from aligntools.formats.annotation.tag_lists import format_lists
from aligntools.formats.opening.json_text import json_line

FORMAT, VERSION = "aligntools hypergraph", 1


def format_header(features: Sequence[str]) -> bytes:
    """Return the first line."""
    return json_line({"format": FORMAT, "version": VERSION, "features": list(features)})


def format_lines(hypergraph: Any, features: Sequence[str], word: Callable[[int], str]) -> Iterator[bytes]:
    """Yield a line a sentence of `translating.forest.hypergraph`'s; ``word`` gives the word of a target id."""
    h = hypergraph
    for s in range(len(h.roots)):
        begin, end = h.node_offsets[[s, s + 1]].tolist()
        nodes = []
        for v in range(begin, end):
            length = int(h.lengths[v])
            edges = []
            for e in range(h.edge_offsets[v], h.edge_offsets[v + 1]):
                i, j = h.feature_offsets[[e, e + 1]]
                ids, values = h.feature_ids[i:j].tolist(), h.feature_values[i:j]
                target = h.words[slice(*h.word_offsets[[e, e + 1]])].tolist()
                edges.append(
                    {
                        "tails": [t - begin for t in h.tails[e].tolist() if t >= 0],
                        "rule": int(h.rules[e]),
                        "target": [word(w) if w > 0 else w for w in target],
                        "features": {features[f]: float(str(x)) for f, x in zip(ids, values, strict=True)},
                    }
                )
            left, right = h.left[v, :length].tolist(), h.right[v, 4 - length :].tolist()
            nodes.append({"left": list(map(word, left)), "right": list(map(word, right)), "edges": edges})
        root = int(h.roots[s])
        yield json_line({"root": root - begin if root >= 0 else None, "nodes": nodes})


# Lists of candidate translations as text: ``sentence ||| words ||| name=value ... ||| score``, as Moses has them


#: The word |||, as Moses escapes it: it would end the field.
_ESCAPED = "&#124;&#124;&#124;"


def format_nbest(first: int, lists: Iterable[Sequence[Any]]) -> bytes:
    """Format candidates with ``words``, ``features`` and ``score``, one a line, from sentence ``first`` on."""

    def row(one: Any) -> tuple[str, str, str]:
        features = " ".join([f"{name}={value:.6g}" for name, value in one.features.items()])
        return " ".join([_ESCAPED if word == "|||" else word for word in one.words]), features, f"{one.score:.6f}"

    return format_lists(first, (map(row, candidates) for candidates in lists))
