r"""Packed derivations on disk: JSON lines, for reading by eye and by other programs.

The first line names the format and the features; then comes a line a sentence::

    {"format": "aligntools hypergraph", "version": 1, "features": ["lm", "p(e|f)", ...]}
    {"root": 2, "nodes": [{"left": ["the", "house"], "right": ["the", "house"], "edges": [
        {"tails": [0], "rule": 17, "target": ["the", -1], "features": {"lm": -3.25, "p(e|f)": -0.5}}]}, ...]}

Nodes are numbered from 0 in a sentence, each after its tails; a sentence without derivations has the root ``null``.
``target`` has words, -1 for what the first tail yields and -2 for the second. ``left`` and ``right`` are the first
and the last words of all that the node yields, four at most, and all of them where there are fewer. ``rule`` is the
number of the grammar's rule; negative for those that the decoder makes.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from aligntools.formats.annotation.tag_lists import format_lists
from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import in_words, parse_json
from aligntools.ground.errors import DataError

FORMAT, VERSION = "aligntools hypergraph", 1


def format_header(features: Sequence[str]) -> bytes:
    """Return the first line."""
    return _line({"format": FORMAT, "version": VERSION, "features": list(features)})


def _line(value: Mapping[str, object]) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode()


def format_lines(hypergraph: Any, features: Sequence[str], word: Callable[[int], str]) -> Iterator[bytes]:
    """Yield a line a sentence.

    hypergraph: With the attributes of `translating.hypergraph.Hypergraph`.
    word: Gives the word of a target id.
    """
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
        yield _line({"root": root - begin if root >= 0 else None, "nodes": nodes})


def write_hypergraphs(
    path: str | os.PathLike[str], hypergraph: Any, features: Sequence[str], word: Callable[[int], str]
) -> None:
    """Write a whole file; see `format_lines`."""
    with files.writing(path) as out:
        out.write(format_header(features))
        for line in format_lines(hypergraph, features, word):
            out.write(line)


def read_hypergraphs(path: object) -> tuple[dict[str, np.ndarray], list[str], list[str]]:
    """Read a file.

    Returns arrays: The attributes of `translating.hypergraph.Hypergraph`.
    Returns words: Numbered from 1 on by ``arrays["words"]``, in order of first occurrence.
    Raises DataError when a line is not what it should be.
    """
    reader: _SentenceReader | None = None
    features: Any = []
    for number, line in enumerate(files.lines(path), 1):
        try:
            value = parse_json(line)
        except ValueError:
            raise DataError(path, number, "is not JSON; a line a sentence was expected") from None
        if reader is None:
            if not isinstance(value, dict) or value.get("format") != FORMAT:
                raise DataError(path, number, "is not the first line of a file of hypergraphs; translate writes one")
            if value.get("version") != VERSION:
                raise DataError(path, number, f"version {in_words(value.get('version'))}, this program reads {VERSION}")
            features = value.get("features")
            if not isinstance(features, list) or not all(isinstance(f, str) for f in features):
                raise DataError(path, number, "has no list of features' names")
            reader = _SentenceReader(features)
            continue
        try:
            reader.add(value)
        except _Fault as fault:
            raise DataError(path, number, str(fault)) from None
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise DataError(path, number, "is not a sentence's nodes, edges and root (see the documentation)") from None
    if reader is None:
        raise DataError(path, None, "is empty, and holds no hypergraphs (`Translator.hypergraphs()`)")
    return reader.arrays(), features, reader.words


class _Fault(Exception):
    """What is wrong with a line."""


class _SentenceReader:
    def __init__(self, features: list[str]) -> None:
        self.features = {name: k for k, name in enumerate(features)}
        self.ids: dict[str, int] = {}
        self.words: list[str] = []
        self.node_counts: list[int] = []
        self.roots: list[int] = []
        self.edge_counts: list[int] = []
        self.tails: list[list[int]] = []
        self.rules: list[int] = []
        self.feature_counts: list[int] = []
        self.feature_ids: list[int] = []
        self.feature_values: list[float] = []
        self.word_counts: list[int] = []
        self.target: list[int] = []
        self.left: list[list[int]] = []
        self.right: list[list[int]] = []
        self.lengths: list[int] = []

    def id(self, word: str) -> int:
        if not isinstance(word, str) or not word:
            raise _Fault(f"{json.dumps(word)} stands where a word was expected")
        found = self.ids.setdefault(word, len(self.ids) + 1)
        if found > len(self.words):
            self.words.append(word)
        return found

    def add(self, sentence: Any) -> None:
        begin = len(self.edge_counts)
        nodes, root = sentence["nodes"], sentence["root"]
        if root is not None and root not in range(len(nodes)):
            raise _Fault(f"the root {root} is not one of the {len(nodes)} nodes")
        for v, node in enumerate(nodes):
            for edge in node["edges"]:
                self._edge(edge, begin, v)
            left, right = [self.id(w) for w in node["left"]], [self.id(w) for w in node["right"]]
            if len(left) != len(right) or len(left) > 4:
                raise _Fault(
                    f"node {v} has {len(left)} first and {len(right)} last words; there must be equally many, at most 4"
                )
            self.left.append(left + [0] * (4 - len(left)))
            self.right.append([0] * (4 - len(right)) + right)
            self.lengths.append(len(left))
            self.edge_counts.append(len(node["edges"]))
        self.node_counts.append(len(nodes))
        self.roots.append(-1 if root is None else begin + root)

    def _edge(self, edge: Any, begin: int, v: int) -> None:
        tails, target = edge["tails"], edge["target"]
        if len(tails) > 2 or any(t not in range(v) for t in tails):
            raise _Fault(f"an edge of node {v} has the tails {tails}; at most two earlier nodes were expected")
        used = sorted((w for w in target if not isinstance(w, str)), reverse=True)
        if used != [-1, -2][: len(tails)]:
            raise _Fault(f"an edge of node {v} has a target side that does not use each of its {len(tails)} tails once")
        self.tails.append([begin + t for t in tails] + [-1] * (2 - len(tails)))
        self.rules.append(int(edge["rule"]))
        self.target += [self.id(w) if isinstance(w, str) else w for w in target]
        self.word_counts.append(len(target))
        for name, value in edge["features"].items():
            if name not in self.features:
                raise _Fault(f"the feature '{name}' is not named in the first line")
            if not np.isfinite(value):
                raise _Fault(f"the feature '{name}' has the value {value}; a number was expected")
            self.feature_ids.append(self.features[name])
            self.feature_values.append(value)
        self.feature_counts.append(len(edge["features"]))

    def arrays(self) -> dict[str, np.ndarray]:
        def offsets(counts: list[int]) -> np.ndarray:
            return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

        def ints(values: Sequence[int | list[int]], *shape: int) -> np.ndarray:
            return np.array(values, np.int32).reshape(-1, *shape)

        return {
            "node_offsets": offsets(self.node_counts),
            "roots": np.array(self.roots, np.int64),
            "edge_offsets": offsets(self.edge_counts),
            "tails": ints(self.tails, 2),
            "rules": ints(self.rules),
            "feature_offsets": offsets(self.feature_counts),
            "feature_ids": ints(self.feature_ids),
            "feature_values": np.array(self.feature_values, np.float32),
            "word_offsets": offsets(self.word_counts),
            "words": ints(self.target),
            "left": ints(self.left, 4),
            "right": ints(self.right, 4),
            "lengths": ints(self.lengths),
        }


# Lists of candidate translations as text: ``sentence ||| words ||| name=value ... ||| score``, as Moses has them


#: The word |||, as Moses escapes it: it would end the field.
_ESCAPED = "&#124;&#124;&#124;"


class Candidate(Protocol):
    """A translation with its features, in order, and its score."""

    @property
    def words(self) -> Sequence[str]:
        """Words of the translation."""

    @property
    def features(self) -> Mapping[str, float]:
        """Features that are not 0."""

    @property
    def score(self) -> float:
        """Score of the derivation."""


def format_nbest(first: int, lists: Iterable[Sequence[Candidate]]) -> bytes:
    """Format candidates, one a line.

    first: Number of the first sentence; they count from 0.
    lists: Those of each sentence; a sentence without candidates has no line.
    """

    def row(one: Candidate) -> tuple[str, str, str]:
        features = " ".join([f"{name}={value:.6g}" for name, value in one.features.items()])
        return " ".join([_ESCAPED if word == "|||" else word for word in one.words]), features, f"{one.score:.6f}"

    return format_lists(first, (map(row, candidates) for candidates in lists))
