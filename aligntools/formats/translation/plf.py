"""Word lattices: the Python lattice format (PLF) and confusion networks, as Moses reads them.

docs/reference/formats.md shows both. A line of PLF has the nodes but the last, each with the arcs that leave it: a
word, scores, as many on each arc, ``name=value``, and how many nodes further it leads.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from aligntools.formats.annotation.raw_text import decoded_lines
from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import Fault, as_number
from aligntools.ground.errors import DataError
from aligntools.ground.ranges import shown
from aligntools.words.white_space import is_blank

#: The word of arcs without one.
EPSILON = "*EPS*"
_SPACE, _BLANKS = re.compile(r"[ \t]*"), re.compile(r"[ \t]+")
_WORD = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""")
_FIELD = re.compile(r"[ \t]*,[ \t]*([^ \t,()'\"]+)[ \t]*")
_ESCAPED = re.compile(r"\\(.)")
_SHOWN = 20


@dataclass(frozen=True)
class Arc:
    """An arc of a lattice: it leads ``steps`` nodes further; its word is `EPSILON` for none.

    ``scores`` are probabilities, or other numbers that are not negative; ``named`` are features by name.
    """

    word: str
    scores: tuple[float, ...] = ()
    steps: int = 1
    named: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class WordLattice:
    """A lattice: for each node the arcs that leave it, from 0, where all paths begin; they end at ``len(lattice)``."""

    nodes: tuple[tuple[Arc, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.nodes)

    def __str__(self) -> str:
        """Return the lattice as a line of PLF, without its end."""
        out = []
        for arcs in self.nodes:
            out.append("(")
            for arc in arcs:
                word = arc.word.replace("\\", "\\\\").replace("'", "\\'")
                named = [f"{name}={value!r}" for name, value in arc.named]
                out.append("(" + ",".join([f"'{word}'", *map(repr, arc.scores), *named, str(arc.steps)]) + "),")
            out.append("),")
        return f"({''.join(out)})"

    def arcs(self) -> Iterator[tuple[int, int, Arc]]:
        """Yield each arc with the nodes that it leads from and to."""
        for k, arcs in enumerate(self.nodes):
            for arc in arcs:
                yield k, k + arc.steps, arc


def parse_plf(
    text: str, scores: int | None = None, path: object = "<sentences>", line: int | None = None
) -> WordLattice:
    """Read a line of PLF; a blank one is the empty lattice. Arcs have as many scores as said, or as the first has."""
    try:
        reader = _Reader(text.strip(" \t\r\n"))
        lattice = WordLattice(tuple(reader.group(lambda: tuple(reader.group(reader.arc))) if reader.text else ()))
        if reader.at < len(reader.text):
            raise Fault(f"{reader.found()} after the lattice's end")
        _check(lattice, scores)
    except Fault as fault:
        problem = f"{fault}; a line of PLF is, for instance, ((('a',0.9,1),),(('b',1,1),),)"
        raise DataError(path, line, problem) from None
    return lattice


def parse_cn(lines: Iterable[str], scores: int = 1, path: object = "<sentences>", line: int = 1) -> WordLattice:
    """Read the columns of a confusion network, with so many scores a word; above 1 counts 1, as in Moses."""
    nodes = []
    for number, text in enumerate(lines, line):
        found, column = [field for field in _BLANKS.split(text.rstrip("\r\n")) if field], []
        if len(found) % (1 + scores):
            problem = f"{len(found)} fields are not words with {scores} {'score' if scores == 1 else 'scores'} each"
            raise DataError(path, number, f"{problem}; `arc_scores` says how many scores a word has")
        for k in range(0, len(found), 1 + scores):
            try:
                values = tuple(min(_score(value), 1.0) for value in found[k + 1 : k + 1 + scores])
            except Fault as fault:
                raise DataError(path, number, f"{fault}; `arc_scores` says how many scores a word has") from None
            column.append(Arc(found[k], values))
        nodes.append(tuple(column))
    return WordLattice(tuple(nodes))


def stream_lattices(path: str, format: str, scores: int = 1) -> Iterator[WordLattice]:
    """Read lattices, ``plf`` or ``cn``, from a file.

    A confusion network ends at a blank line; one right after that is an empty network.
    """
    lines = decoded_lines(path, files.lines(path))
    if format == "plf":
        for number, line in enumerate(lines, 1):
            yield parse_plf(line, scores, path, number)
        return
    column: list[str] = []
    number = 0
    for number, line in enumerate(lines, 1):
        if not is_blank(line):
            column.append(line)
            continue
        yield parse_cn(column, scores, path, number - len(column))
        column = []
    if column:
        yield parse_cn(column, scores, path, number - len(column) + 1)


Item = TypeVar("Item")


class _Reader:
    """Reads the contents of parentheses."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def found(self) -> str:
        """Return what is next, and where."""
        rest = self.text[self.at : self.at + _SHOWN]
        return f"'{rest}' stands at character {self.at + 1}" if rest else "the line ends"

    def sees(self, mark: str) -> bool:
        """Take a mark, if it is what comes next, and the space around it."""
        self._pass_space(self.at)
        if not self.text.startswith(mark, self.at):
            return False
        self._pass_space(self.at + 1)
        return True

    def _pass_space(self, at: int) -> None:
        space = _SPACE.match(self.text, at)
        self.at = space.end() if space else at

    def group(self, item: Callable[[], Item]) -> Iterator[Item]:
        """Yield the items of ``(item,item,...)``; the last comma may be missing."""
        if not self.sees("("):
            raise Fault(f"{self.found()} where '(' was expected")
        while not self.sees(")"):
            yield item()
            if not self.sees(",") and not self.text.startswith(")", self.at):
                raise Fault(f"{self.found()} where ',' or ')' was expected")

    def arc(self) -> Arc:
        """Read ``('word',scores...,steps)``."""
        if not self.sees("("):
            raise Fault(f"{self.found()} where an arc's '(' was expected")
        word = _WORD.match(self.text, self.at)
        if not word:
            raise Fault(f"{self.found()} where a word in quotes was expected")
        self.at, fields = word.end(), []
        while field := _FIELD.match(self.text, self.at):
            fields.append(field[1])
            self.at = field.end()
        if not self.sees(")"):
            raise Fault(f"{self.found()} where a number or ')' was expected")
        if not fields:
            raise Fault(f"the arc {shown(word[0])} does not say how many nodes further it leads")
        name = _ESCAPED.sub(r"\1", word[1] if word[1] is not None else word[2])
        if _BLANKS.search(name):
            raise Fault(f"the word '{shown(name)}' has a space in it")
        *values, steps = fields
        named = [field.split("=") for field in values if "=" in field]
        scores = values[: len(values) - len(named)]
        if any(len(one) != 2 or not one[0] for one in named) or any("=" in field for field in scores):
            expected = "scores and then name=value were expected"
            raise Fault(f"the arc '{shown(name)}' has {shown(', '.join(values))}; {expected}")
        if not re.fullmatch(r"[0-9]{1,9}", steps) or int(steps) == 0:
            expected = "a whole number from 1 on was expected"
            raise Fault(f"the arc '{shown(name)}' leads '{shown(steps)}' nodes further; {expected}")
        features = tuple(map(_score, scores)), int(steps), tuple((key, _number(value)) for key, value in named)
        return Arc(name or EPSILON, *features)


def _number(text: str) -> float:
    value = as_number(text) if "_" not in text else math.nan
    if not math.isfinite(value):
        raise Fault(f"'{shown(text)}' stands where a number was expected")
    return value


def _score(text: str) -> float:
    value = _number(text)
    if value < 0:
        raise Fault(f"the score {shown(text)} is negative; scores are probabilities")
    return value


def _check(lattice: WordLattice, scores: int | None) -> None:
    for k, arcs in enumerate(lattice.nodes):
        if not arcs:
            raise Fault(f"no arc leaves node {k}")
        for arc in arcs:
            if k + arc.steps > len(lattice):
                raise Fault(f"the arc '{shown(arc.word)}' of node {k} leads past the last node, {len(lattice)}")
            if scores is None:
                scores = len(arc.scores)
            if len(arc.scores) != scores:
                found = f"{len(arc.scores)} {'score' if len(arc.scores) == 1 else 'scores'}"
                raise Fault(f"the arc '{shown(arc.word)}' has {found}, not {scores} (`arc_scores` says how many)")
