"""Derivations of translations, single and packed: JSON lines, one a sentence behind one that names the format.

docs/reference/formats.md shows them. Rules of a derivation are numbered from 0, the one at the top, each before those
that are put into it.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import Fault, in_words, is_number, json_line, parse_json
from aligntools.ground.errors import DataError

FORMAT, HYPERGRAPH, VERSION = "aligntools derivations", "aligntools hypergraph", 1
_NONTERMINALS = ("[X,1]", "[X,2]")


@dataclass(frozen=True)
class RuleUse:
    """A rule as a derivation uses it.

    left: ``X``, or ``S`` for rules of the decoder. span: What it covers of the source.
    source, target: Words, and ``[X,1]`` and ``[X,2]`` for what is put in, which are the rules ``tails``, by number.
    score: Weights times features, of this rule alone.
    """

    left: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    span: tuple[int, int]
    tails: tuple[int, ...] = ()
    score: float = 0.0
    features: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Derivation:
    """How a translation came about: its rules, each before those that are put into it."""

    words: tuple[str, ...]
    score: float
    rules: tuple[RuleUse, ...]

    def __str__(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True)
class DerivedSentence:
    """A sentence and derivations of it, the best first."""

    source: tuple[str, ...]
    derivations: tuple[Derivation, ...]


def format_header() -> bytes:
    """Return the first line."""
    return json_line({"format": FORMAT, "version": VERSION})


def format_sentences(sentences: Iterable[DerivedSentence]) -> Iterator[bytes]:
    """Yield a line a sentence."""
    for sentence in sentences:
        derivations = [
            {
                "score": _short(derivation.score),
                "target": derivation.words,
                "rules": [
                    {
                        **{name: getattr(use, name) for name in ("left", "span", "source", "target", "tails")},
                        "score": _short(use.score),
                        "features": {name: _short(x) for name, x in use.features.items()},
                    }
                    for use in derivation.rules
                ],
            }
            for derivation in sentence.derivations
        ]
        yield json_line({"source": sentence.source, "derivations": derivations})


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def read_derivations(path: str | os.PathLike[str]) -> list[DerivedSentence]:
    """Read a file of derivations."""
    result, begun = [], False
    for number, line in enumerate(files.lines(os.fspath(path)), 1):
        try:
            value = parse_json(line)
        except ValueError:
            raise DataError(path, number, "is not JSON, as derivations are (`Translator.derivations()`)") from None
        if not begun:
            if not isinstance(value, dict) or value.get("format") != FORMAT:
                raise DataError(path, number, "is not the first line of derivations (`Translator.derivations()`)")
            if value.get("version") != VERSION:
                raise DataError(path, number, f"version {in_words(value.get('version'))}, this program reads {VERSION}")
            begun = True
            continue
        try:
            source = _words(value["source"])
            found = tuple(_derivation(d, len(source)) for d in value["derivations"])
            result.append(DerivedSentence(source, found))
        except Fault as fault:
            raise DataError(path, number, str(fault)) from None
        except (KeyError, TypeError, ValueError, AttributeError):
            raise DataError(path, number, "is not a sentence with its derivations (see the documentation)") from None
    if not begun:
        raise DataError(path, None, "is empty, and holds no derivations (`Translator.derivations()`)")
    return result


def _derivation(value: Any, length: int) -> Derivation:
    """Parse the derivation of a sentence with a number of words."""
    uses: list[RuleUse] = []
    for k, rule in enumerate(value["rules"]):
        source, target, (begin, end) = _words(rule["source"]), _words(rule["target"]), rule["span"]
        tails = tuple(rule["tails"])
        if not all(isinstance(x, int) for x in (begin, end, *tails)) or not 0 <= begin <= end <= length:
            raise Fault(f"rule {k} has the span {in_words(rule['span'])}; the sentence has {length} words")
        if not all(k < tail < len(value["rules"]) for tail in tails) or len(tails) > 2:
            found = in_words(rule["tails"])
            raise Fault(f"rule {k} has the tails {found}; one or two of the later rules were expected")
        due = list(_NONTERMINALS[: len(tails)])
        for side in (source, target):
            if sorted(word for word in side if word in due) != due:
                found = in_words(list(side))
                raise Fault(f"rule {k} has {len(tails)} tails, and {found} does not use each of them once")
        features = {str(name): _number(x) for name, x in rule["features"].items()}
        score = _number(rule["score"])
        uses.append(RuleUse(str(rule["left"]), source, target, (begin, end), tails, score, features))
    if sorted(tail for use in uses for tail in use.tails) != list(range(1, len(uses))):
        raise Fault("a derivation must use each of its rules but the first in one other rule")
    return Derivation(_words(value["target"]), _number(value["score"]), tuple(uses))


def _words(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise Fault(f"{in_words(value)} stands where words were expected")
    return tuple(value)


def _number(value: Any) -> float:
    if not is_number(value):
        raise Fault(f"{in_words(value)} stands where a number was expected")
    return float(value)


def format_hypergraph_header(features: Sequence[str]) -> bytes:
    """Return the first line of packed derivations."""
    return json_line({"format": HYPERGRAPH, "version": VERSION, "features": list(features)})


def format_lines(hypergraph: Any, features: Sequence[str], word: Callable[[int], str]) -> Iterator[bytes]:
    """Yield a line a sentence of `translating.forest.hypergraph`'s; ``word`` gives the word of a target id.

    Nodes are numbered from 0 in a sentence, each after its tails; ``target`` has words, -1 for what the first tail
    yields and -2 for the second; ``rule`` is negative for rules that the decoder makes.
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
        yield json_line({"root": root - begin if root >= 0 else None, "nodes": nodes})


#: The word |||, as Moses escapes it: it would end the field.
_ESCAPED = "&#124;&#124;&#124;"


def format_nbest(first: int, lists: Iterable[Sequence[Any]]) -> bytes:
    """Format candidates as Moses does, one a line: ``sentence ||| words ||| name=value ... ||| score``, from ``first``
    on.
    """

    def row(one: Any) -> tuple[str, str, str]:
        features = " ".join([f"{name}={value:.6g}" for name, value in one.features.items()])
        return " ".join([_ESCAPED if word == "|||" else word for word in one.words]), features, f"{one.score:.6f}"

    return files.format_lists(first, (map(row, candidates) for candidates in lists))
