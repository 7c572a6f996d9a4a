"""Stands in for hunalign: its arguments, its ladders and text, its messages about gold and quality."""

import contextlib
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from aligntools import SentenceSettings, align_sentences
from aligntools.cli.placing import Named, placed
from aligntools.cli.standins.arguments import UntouchedButDebug
from aligntools.formats.links.ladder import SentenceGroup, read_ladder, rungs
from aligntools.formats.opening import files
from aligntools.ground.errors import DataError, UsageProblem, harmless

if TYPE_CHECKING:
    from aligntools.sentences.document_pairs import SentenceAlignment
    from aligntools.sentences.documents import SentenceDocument

USAGE = """Usage (either):
    hunalign [ common_arguments ] [ -hand=hand_align_file ] dictionary_file source_text target_text

or (batch mode):
    hunalign [ common_arguments ] -batch dictionary_file batch_file

where
common_arguments ::= [ -text ] [ -bisent ] [ -utf ] [ -cautious ] [ -realign [ -autodict=filename ] ]
    [ -thresh=n ] [ -ppthresh=n ] [ -headerthresh=n ] [ -topothresh=n ]
"""
_SWITCHES = ("text", "bisent", "utf", "cautious", "realign", "batch")
_NUMBERS = ("thresh", "ppthresh", "headerthresh", "topothresh")
_NAMES = ("hand", "autodict")
_ARGUMENT = re.compile(r"-([a-z]+)(?:=(.*)|(\d+))?", re.DOTALL)
SPACE = " \t\r"
#: Groups on either side that are the vicinity of one.
_AROUND = 5
_PARAGRAPH = "<p>"


def parse(args: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Read switches, ``-name=value`` and files, in any order. Raises ValueError for others."""
    found: dict[str, Any] = dict.fromkeys(_SWITCHES, False) | dict.fromkeys(_NUMBERS, 0) | dict.fromkeys(_NAMES)
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
            raise ValueError(f"unknown argument '{argument}'")
    if len(places) != (2 if found["batch"] else 3):
        raise ValueError(f"{len(places)} files")
    return found, places


def _jobs(path: str) -> Iterator[tuple[str, str, str]]:
    for number, line in enumerate(files.text_lines(path), 1):
        if line.strip(SPACE):
            fields = line.rstrip("\r").split("\t")
            if len(fields) != 3:
                raise DataError(path, number, f"{len(fields)} columns; a job is source TAB target TAB output")
            yield fields[0], fields[1], fields[2]


def _kept(groups: Sequence[SentenceGroup], o: dict[str, Any]) -> list[bool]:
    """Return which groups the thresholds and -bisent, -cautious leave."""
    scores = [group.score for group in groups]
    single = [len(group.source) == len(group.target) == 1 for group in groups]

    def mean(values: Sequence[float], k: int) -> float:
        around = values[max(0, k - _AROUND) : k + _AROUND + 1]
        return sum(around) / len(around)

    kept = []
    for k, group in enumerate(groups):
        own = 100 * group.score >= o["thresh"] and 100 * mean(scores, k) >= o["ppthresh"]
        own = own and 100 * mean(single, k) >= o["topothresh"]
        if o["bisent"]:
            own = own and single[k]
        if o["cautious"]:
            own = own and all(single[max(0, k - 1) : k + 2])
        kept.append(own)
    sure = [k for k in range(len(groups)) if 100 * mean(scores, k) >= o["headerthresh"]]
    inside = range(sure[0], sure[-1] + 1) if sure else range(0)
    return [own and (not o["headerthresh"] or k in inside) for k, own in enumerate(kept)]


def _counted(gold: Sequence[SentenceGroup], groups: Sequence[SentenceGroup], bisent: bool) -> str:
    """Return what hunalign says of an alignment beside a gold one: rungs, or with -bisent pairs of sentences."""
    if bisent:
        right, bets = (
            {(g.source[0], g.target[0]) for g in some if len(g.source) == len(g.target) == 1} for some in (gold, groups)
        )
    else:
        right, bets = ({rung[:2] for rung in rungs(some)} for some in (gold, groups))
    hits = len(right & bets)
    return (
        f"{len(bets) - hits} misaligned out of {len(right)} correct items, {len(bets)} bets.\n"
        f"Precision: {hits / max(1, len(bets)):g}, Recall: {hits / max(1, len(right)):g}\n"
    )


def _written(found: "SentenceAlignment", o: dict[str, Any]) -> str:
    """Return the ladder of an alignment, or its text."""
    groups, kept = found.groups, _kept(found.groups, o)
    if o["text"]:
        return "".join(
            f"{_side(found.source, g.source)}\t{_side(found.target, g.target)}\t{g.score:g}\n"
            for g, own in zip(groups, kept, strict=True)
            if own
        )
    rows, i, j = [], 0, 0
    for g, own in zip(found.of_lines, kept, strict=True):
        if own:
            rows.append(f"{min(g.source, default=i)}\t{min(g.target, default=j)}\t{g.score:g}\n")
        i, j = max(g.source, default=i - 1) + 1, max(g.target, default=j - 1) + 1
    return "".join(rows) + ("" if o["bisent"] else f"{i}\t{j}\t0\n")


def _side(document: "SentenceDocument", sentences: Sequence[int]) -> str:
    return " ~~~ ".join(document.text([k]).replace("\t", " ") for k in sentences)


def _lines(path: str) -> list[str]:
    with contextlib.closing(files.text_lines(path)) as lines:
        return list(lines)


def _aligned(source: str, target: str, settings: SentenceSettings) -> "SentenceAlignment":
    """Align two files; lines <p> are the same places if both have as many of them, else borders of paragraphs."""
    sides = [_lines(source), _lines(target)]
    marks = [sum(line.strip(SPACE) == _PARAGRAPH for line in side) for side in sides]
    if marks[0] == marks[1] > 0:
        settings = replace(settings, anchors=_PARAGRAPH)
    else:
        sides = [["" if line.strip(SPACE) == _PARAGRAPH else line for line in side] for side in sides]
    return align_sentences(sides[0], sides[1], settings)


@click.command("hunalign", cls=UntouchedButDebug, add_help_option=False)
def command(args: list[str]) -> int:
    """Align sentences as hunalign does."""
    try:
        o, places = parse(args)
    except ValueError as error:
        sys.stderr.write(harmless(f"{error}\n{USAGE}"))
        return 1
    dictionary, *places = places
    listed = any(line.strip(SPACE) for line in _lines(dictionary))
    settings = SentenceSettings(encoder=False, moved=False, dictionary=(dictionary,) if listed else ())
    if o["autodict"]:
        raise UsageProblem("-autodict: what is learned of words is not kept; leave it out")
    jobs = list(_jobs(places[0])) if o["batch"] else [(places[0], places[1], "-")]
    for source, target, output in jobs:
        with placed([Named("source_text", source), Named("target_text", target)], [Named("output", output)]):
            found = _aligned(source, target, settings)
            with files.writing(output) as out:
                out.write(_written(found, o).encode("utf-8", "surrogateescape"))
        if o["batch"]:
            scores = [group.score for group in found.groups]
            sys.stderr.write(harmless(f"Quality\t{output}\t{sum(scores) / max(1, len(scores)):g}\n"))
        elif o["hand"]:
            sys.stderr.write(_counted(read_ladder(o["hand"]), found.of_lines, o["bisent"]))
    return 0
