"""Stands in for hunalign: its arguments, its ladders and text, its messages about gold and quality."""

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

from aligntools import SentenceSettings, align_sentences
from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins import Wrong, program
from aligntools.formats.links.ladder import SentenceGroup, read_ladder, rungs
from aligntools.formats.opening import files
from aligntools.ground.errors import DataError, UsageProblem, harmless

USAGE = """Usage (either):
    hunalign [ common_arguments ] [ -hand=hand_align_file ] dictionary_file source_text target_text

or (batch mode):
    hunalign [ common_arguments ] -batch dictionary_file batch_file

where
common_arguments ::= [ -text ] [ -bisent ] [ -utf ] [ -cautious ] [ -realign [ -autodict=filename ] ]
    [ -thresh=n ] [ -ppthresh=n ] [ -headerthresh=n ] [ -topothresh=n ]
"""
_SWITCHES = ("text", "bisent", "utf", "onebyteencoding", "cautious", "realign", "batch")
_NUMBERS = ("thresh", "ppthresh", "headerthresh", "topothresh")
_NAMES = ("hand", "autodict")
_ARGUMENT = re.compile(r"-([a-z]+)(?:=(.*)|(\d+))?", re.DOTALL)
SPACE = " \t\r"
#: Groups on either side that are the vicinity of one.
_AROUND = 5
_PARAGRAPH = "<p>"
#: The score of lines without a partner, by which callers know them.
_SKIPPED = -0.3


def parse(args: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Read switches, ``-name=value`` and files, in any order."""
    found: dict[str, Any] = dict.fromkeys(_SWITCHES, False) | dict.fromkeys(_NUMBERS) | dict.fromkeys(_NAMES)
    places = []
    for argument in args:
        if not argument.startswith("-") or argument == "-":
            places.append(argument)
            continue
        said = _ARGUMENT.fullmatch(argument)
        name, text, digits = said.groups() if said else ("", None, None)
        value = text if text is not None else digits
        if name in _SWITCHES and value is None:
            found[name] = True
        elif name in _NUMBERS and value is not None and re.fullmatch(r"\d{1,6}", value):
            found[name] = int(value)
        elif name in _NAMES and text:
            found[name] = text
        else:
            raise Wrong(f"unknown argument '{argument}'")
    if len(places) != (2 if found["batch"] else 3):
        raise Wrong(f"{len(places)} files")
    return found, places


class _Segment(NamedTuple):
    """Lines of both texts from one rung to the next."""

    source: range
    target: range
    score: float

    @property
    def single(self) -> bool:
        return len(self.source) == len(self.target) == 1


def _segments(groups: Sequence[SentenceGroup], sizes: tuple[int, int]) -> list[_Segment]:
    """Return the segments of groups in order; lines between, blank or of paragraphs, are segments, too."""
    found, i, j = list[_Segment](), 0, 0
    sentences = [{k for g in groups for k in side(g)} for side in (attrgetter("source"), attrgetter("target"))]
    for g in (*groups, None):
        a, b = (min(g.source, default=i), min(g.target, default=j)) if g else sizes
        if (a, b) != (i, j):
            while a < sizes[0] and a not in sentences[0]:
                a += 1
            while b < sizes[1] and b not in sentences[1]:
                b += 1
            found.append(_Segment(range(i, a), range(j, b), 0.0 if a > i and b > j else _SKIPPED))
        if g:
            i, j = max(g.source, default=a - 1) + 1, max(g.target, default=b - 1) + 1
            found.append(_Segment(range(a, i), range(b, j), g.score if g.source and g.target else _SKIPPED))
    return found


def _left(segments: Sequence[_Segment], o: dict[str, Any]) -> list[_Segment]:
    """Return what the thresholds, -cautious and -bisent leave: of rungs that go, the segment joins the one before."""
    scores, single = [one.score for one in segments], [one.single for one in segments]

    def mean(values: Sequence[float], k: int) -> float:
        around = values[max(0, k - _AROUND) : k + _AROUND + 1]
        return sum(around) / len(around)

    kept = []
    for k, one in enumerate(segments):
        own = o["thresh"] is None or 100 * one.score >= o["thresh"]
        own = own and (o["ppthresh"] is None or 100 * mean(scores, k) >= o["ppthresh"])
        own = own and (o["topothresh"] is None or 100 * mean(single, k) >= o["topothresh"])
        kept.append(own and (not o["cautious"] or all(single[max(0, k - 1) : k + 2])))
    if o["headerthresh"] is not None:
        sure = [k for k in range(len(segments)) if 100 * mean(scores, k) >= o["headerthresh"]]
        inside = range(sure[0], sure[-1] + 1) if sure else range(0)
        kept = [own and k in inside for k, own in enumerate(kept)]
    found = list[_Segment]()
    for one, own in zip(segments, kept, strict=True):
        if o["bisent"]:
            found += [one] if own and one.single and one.score else []
        elif own or not found:
            found.append(one)
        else:
            first, second, score = found[-1]
            found[-1] = _Segment(range(first.start, one.source.stop), range(second.start, one.target.stop), score)
    return found


def _counted(gold: Sequence[SentenceGroup], left: Sequence[_Segment], bisent: bool, sizes: tuple[int, int]) -> str:
    """Return what hunalign says of an alignment beside a gold one: rungs, or with -bisent pairs of sentences."""
    bets = {(one.source.start, one.target.start) for one in left}
    if bisent:
        right = {(g.source[0], g.target[0]) for g in gold if len(g.source) == len(g.target) == 1}
    else:
        right, bets = {rung[:2] for rung in rungs(gold)}, bets | {sizes}
    hits = len(right & bets)
    return (
        f"{len(bets) - hits} misaligned out of {len(right)} correct items, {len(bets)} bets.\n"
        f"Precision: {hits / max(1, len(bets)):g}, Recall: {hits / max(1, len(right)):g}\n"
    )


def _written(left: Sequence[_Segment], sides: Sequence[Sequence[str]], o: dict[str, Any]) -> str:
    """Return the ladder of an alignment, or its text."""
    if not o["text"]:
        rows = "".join(f"{one.source.start}\t{one.target.start}\t{one.score:g}\n" for one in left)
        return rows if o["bisent"] else f"{rows}{len(sides[0])}\t{len(sides[1])}\t0\n"
    return "".join(
        "\t".join(
            " ~~~ ".join(sides[n][k].strip(SPACE).replace("\t", " ") for k in own) for n, own in enumerate(one[:2])
        )
        + f"\t{one.score:g}\n"
        for one in left
    )


def _characters(line: str) -> str:
    """Return a line that is not UTF-8 as Latin-1."""
    try:
        line.encode()
    except UnicodeEncodeError:
        return line.encode("utf-8", "surrogateescape").decode("latin-1")
    return line


def _aligned(
    source: str, target: str, output: str, settings: SentenceSettings, o: dict[str, Any]
) -> tuple[str, list[_Segment], tuple[int, int]]:
    """Align two files and write it; return the quality, the segments and how many lines there are.

    Lines <p> are the same places if both have as many of them, else borders of paragraphs.
    """
    with placed([Named("source_text", source), Named("target_text", target)], [Named("output", output)]):
        lines = [list(files.text_lines(path)) for path in (source, target)]
        sides, marks = lines, [sum(line.strip(SPACE) == _PARAGRAPH for line in side) for side in lines]
        if marks[0] == marks[1] > 0:
            settings = replace(settings, anchors=_PARAGRAPH)
        else:
            sides = [["" if line.strip(SPACE) == _PARAGRAPH else line for line in side] for side in lines]
        source_side, target_side = ([_characters(line) for line in side] for side in sides)
        found, sizes = align_sentences(source_side, target_side, settings), (len(lines[0]), len(lines[1]))
        segments = _segments(found.of_lines, sizes)
        left = _left(segments, o)
        with files.writing(output) as out:
            out.write(_written(left, lines, o).encode("utf-8", "surrogateescape"))
    return f"{sum(one.score for one in segments) / max(1, len(segments)):g}", left, sizes


@program("hunalign", USAGE)
def command(args: list[str]) -> int:
    """Align sentences as hunalign does."""
    o, places = parse(args)
    dictionary, *places = places
    listed = any(line.strip(SPACE) for line in files.text_lines(dictionary))
    settings = SentenceSettings(encoder=False, moved=False, dictionary=(dictionary,) if listed else ())
    if o["autodict"]:
        raise UsageProblem("-autodict: what is learned of words is not kept; leave it out")
    if not o["batch"]:
        quality, left, sizes = _aligned(places[0], places[1], "-", settings, o)
        if o["hand"]:
            sys.stderr.write(_counted(read_ladder(o["hand"]), left, o["bisent"], sizes))
        sys.stderr.write(f"Quality {quality}\n")
        return 0
    failed = 0
    for number, line in enumerate(files.text_lines(places[0]), 1):
        if not line.strip(SPACE):
            continue
        fields = line.rstrip("\r").split("\t")
        if len(fields) != 3:
            raise DataError(places[0], number, f"{len(fields)} columns; a job is source TAB target TAB output")
        source, target, output = fields
        try:
            quality = _aligned(source, target, output, settings, o)[0]
            sys.stderr.write(harmless(f"Quality\t{output}\t{quality}\n"))
        except DataError as error:
            sys.stderr.write(harmless(f"{error}\nAlign failed for {output}\n"))
            failed = 1
    return failed
