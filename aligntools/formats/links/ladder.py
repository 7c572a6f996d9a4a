"""Groups of sentences in files: Vecalign's lines, hunalign's ladders and hand-made alignments, links of XCES.

Vecalign writes ``[0, 1]:[2]:0.93``: the source and the target sentences of a group, from 0, and a number. hunalign's
ladder has a rung a line, ``source TAB target TAB number``: where a group begins; the next rung is where it ends. Its
hand-made alignments have rungs without a number. XCES has a ``link`` with ``xtargets="1 2;3"``, from 1; InterText's
links have the target first, and a status.
"""

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias
from xml.etree import ElementTree

from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import as_number
from aligntools.ground.errors import DataError

LadderFormat: TypeAlias = Literal["vecalign", "hunalign", "xces", "intertext"]
_LINE = re.compile(r"\s*\[([0-9\s,]*)\]\s*:\s*\[([0-9\s,]*)\]\s*(?::\s*(\S+))?\s*")
#: A group this far ahead is of a section that moved.
_JUMP = 1000
_FIELD = re.compile(r"[^ \t\r\n]+")
_NUMBER = re.compile(r"[0-9]+")
#: Sentences of a document: more are a mistake, which would take all memory.
MOST = 10_000_000


class SentenceGroup(NamedTuple):
    """Sentences of both sides that belong together, from 0, or of one without a partner, and a probability."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    score: float = 1.0


def read_ladder(path: str) -> list[SentenceGroup]:
    """Return the groups of a file of any of the forms."""
    whole = list(files.text_lines(path))
    lines = [(number, line) for number, line in enumerate(whole, 1) if line.strip(" \t\r")]
    if lines and lines[0][1].lstrip(" \t").startswith("<"):
        found = _of_xces(path, "\n".join(whole))
    elif lines and _LINE.fullmatch(lines[0][1]):
        found = []
        for number, line in lines:
            if (parts := _LINE.fullmatch(line)) is None:
                raise DataError(path, number, f"'{line[:60]}' is no group such as [0, 1]:[2] or [0, 1]:[2]:0.93")
            source, target = (
                tuple(_sentence(path, number, k) for k in _NUMBER.findall(parts[side])) for side in (1, 2)
            )
            found.append(SentenceGroup(source, target, _score(path, number, parts[3]) if parts[3] else 1.0))
    else:
        found = _of_rungs(path, lines)
    for side, name in enumerate(("source", "target")):
        seen: set[int] = set()
        for number, group in enumerate(found, 1):
            for sentence in (group.source, group.target)[side]:
                if sentence in seen:
                    problem = f"group {number}: {name} sentence {sentence} is in two groups; each belongs to one"
                    raise DataError(path, None, problem)
                seen.add(sentence)
    return found


def _sentence(path: str, number: int | None, digits: str) -> int:
    if len(digits) > len(str(MOST)) or int(digits) >= MOST:
        raise DataError(path, number, f"sentence {digits[:20]} is beyond {MOST:,}; sentences are counted from 0")
    return int(digits)


def _score(path: str, number: int, text: str) -> float:
    score = as_number(text)
    if not math.isfinite(score):
        raise DataError(path, number, f"'{text[:60]}' is no score; a number such as 0.93 was expected")
    return score


def _of_rungs(path: str, lines: Sequence[tuple[int, str]]) -> list[SentenceGroup]:
    rungs: list[tuple[int, int, float]] = []
    for number, line in lines:
        fields = _FIELD.findall(line)
        if len(fields) < 2 or not all(map(_NUMBER.fullmatch, fields[:2])):
            problem = f"'{line[:60]}' is neither a group such as [0]:[0] nor a rung of two numbers and a score"
            raise DataError(path, number, problem)
        i, j = (_sentence(path, number, field) for field in fields[:2])
        if rungs and (i < rungs[-1][0] or j < rungs[-1][1]):
            raise DataError(path, number, f"rung {i} {j} goes back; rungs never fall")
        rungs.append((i, j, _score(path, number, fields[2]) if len(fields) > 2 else 1.0))
    if rungs and rungs[0][:2] != (0, 0):
        rungs.insert(0, (0, 0, 1.0))
    pairs = pairwise(rungs)
    return [SentenceGroup(tuple(range(a[0], b[0])), tuple(range(a[1], b[1])), a[2]) for a, b in pairs if a[:2] != b[:2]]


def _of_xces(path: str, text: str) -> list[SentenceGroup]:
    if "<!ENTITY" in text:
        raise DataError(path, None, "declares entities, which are not read; take them out")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise DataError(path, error.position[0], f"is no XML: {error}") from None
    found = []
    for link in root.iter("link"):
        targets = link.get("xtargets", "")
        sides = [[_NUMBER.findall(one)[-1:] for one in _FIELD.findall(side)] for side in targets.split(";")]
        if len(sides) != 2 or not all(digits and int(digits[0][-20:]) for side in sides for digits in side):
            problem = f"xtargets='{targets[:60]}' is not of two sides with ids of sentences, such as s1 s2;s1"
            raise DataError(path, None, problem)
        source, target = (tuple(_sentence(path, None, digits[0]) - 1 for digits in side) for side in sides)
        if link.get("status"):  # InterText's
            source, target = target, source
        found.append(SentenceGroup(source, target))
    return found


def format_ladder(groups: Sequence[SentenceGroup], form: LadderFormat = "vecalign") -> str:
    """Return groups in a form; a hunalign ladder has no place for sections that moved: see `rungs`."""
    if form == "vecalign":
        return "".join(f"{list(g.source)}:{list(g.target)}:{g.score:.4f}\n" for g in groups)
    if form == "hunalign":
        return "".join(f"{a}\t{b}\t{score:.4f}\n" for a, b, score in rungs(groups))
    head, rows = "targType='s'", list[str]()
    if form == "intertext":
        head = "toDoc='target.xml' fromDoc='source.xml'"
    for g in groups:
        one, other, said = g.source, g.target, f"certainty='{g.score:.4f}'"
        if form == "intertext":
            one, other, said = g.target, g.source, "status='auto'"
        rows.append(f"<link type='{len(one)}-{len(other)}' xtargets='{_ids(one)};{_ids(other)}' {said}/>\n")
    return f"<?xml version='1.0' encoding='utf-8'?>\n<linkGrp {head}>\n{''.join(rows)}</linkGrp>\n"


def rungs(groups: Sequence[SentenceGroup]) -> list[tuple[int, int, float]]:
    """Return the rungs: where groups begin, and the end. Groups that go back have no rung."""
    n = max((k + 1 for g in groups for k in g.source), default=0)
    m = max((k + 1 for g in groups for k in g.target), default=0)
    found, i, j = list[tuple[int, int, float]](), 0, 0
    for g in groups:
        begin = min(g.source, default=i), min(g.target, default=j)
        if begin[0] < i or begin[1] < j or max(g.target, default=j) - j > _JUMP:
            continue
        if begin != (i, j):
            found.append((i, j, 0.0))
        found.append((*begin, g.score))
        i, j = max(g.source, default=i - 1) + 1, max(g.target, default=j - 1) + 1
    return [*found, (n, m, 0.0)] if (i, j) == (n, m) else [*found, (i, j, 0.0), (n, m, 0.0)]


def _ids(numbers: Sequence[int]) -> str:
    return " ".join(str(k + 1) for k in numbers)
