"""Stands in for programs that read files of links: atools, symal, merge_alignment.py and Marian's extract_lex."""

import heapq
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, TypeAlias

import click

from aligntools.cli.kinds import Named, check, placed
from aligntools.cli.standins import Wrong, program
from aligntools.formats.links.giza import giza_records
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.opening import files
from aligntools.ground.errors import DataError, harmless
from aligntools.links.operations import OPERATIONS, MismatchedLines, combine_files

_ATOOLS = f"""Usage: atools -c COMMAND -i FILE1.AL [-j FILE2.AL]
Valid options for COMMAND: {" ".join(OPERATIONS)}"""


@click.command("atools", add_help_option=False)
@click.option("-c", "--command", "name")
@click.option("-i", "--input_1", "first")
@click.option("-j", "--input_2", "second")
@click.option("-h", "--help", "wants_help", is_flag=True)
def atools(name: str | None, first: str | None, second: str | None, wants_help: bool) -> int:
    """Apply one operation to one or two alignment files."""
    if wants_help:
        print(_ATOOLS)
        return 0
    if not name or not first:
        return _fail(_ATOOLS)
    if name not in OPERATIONS:
        return _fail(f"Don't understand command: {name}")
    operation = OPERATIONS[name]
    if operation.operands == 2 and not second:
        return _fail(f"Command '{name}' requires two alignment files")
    if operation.operands == 1 and second:
        return _fail(f"Command '{name}' requires only one alignment file")
    given = [Named("-i", first), *([Named("-j", second)] if second else [])]
    check(given, [Named("", "-")])
    try:
        combine_files(name, [named.path for named in given])
    except MismatchedLines:
        return _fail("Mismatched number of lines!")
    return 0


def _fail(message: str) -> int:
    sys.stderr.write(harmless(message) + "\n")
    return 1


#: What symal makes of both directions.
Kind: TypeAlias = Literal["union", "intersect", "grow", "source-to-target", "target-to-source"]
_LINES = 3 * (1 << 14)


def combine_bal(
    path: str, output: str, kind: Kind, *, diagonal: bool = False, final: bool = False, both: bool = False
) -> int:
    """Combine both directions of each pair of giza2bal.pl's file, in constant memory; return how many there were."""
    from aligntools.formats.links.giza import parse_bal
    from aligntools.formats.links.pharaoh import LineReader

    steps = 8 if diagonal else 4, 0 if not final else 2 if both else 1
    count = 0
    with files.writing(output) as out, closing(LineReader(path)) as reader:
        while True:
            line = reader.line + 1
            data = reader.read(_LINES, wait=path != "-", multiple=3)
            if not data:
                return count
            direct, inverse = parse_bal(data, path=path, line=line)
            out.write(_lines(kind, steps, direct, inverse))
            count += len(direct)
            if output == "-":
                out.flush()  # whoever feeds pairs through a pipe waits for the answers


def _lines(kind: Kind, steps: tuple[int, int], direct: Links, inverse: Links) -> bytes:
    from aligntools.formats.links.giza import format_union
    from aligntools.formats.links.pharaoh import format_pharaoh
    from aligntools.links.symmetrize import grow

    if kind == "union":
        return format_union(direct, inverse)
    if kind == "intersect":
        return format_pharaoh(grow(inverse, direct, 0, 0, True))
    if kind == "source-to-target":
        return format_pharaoh(direct)
    if kind == "target-to-source":
        return format_pharaoh(inverse, "target")
    return format_pharaoh(grow(inverse, direct, *steps, True), "target")


_SYMAL = """usage: symal [-i=<inputfile>] [-o=<outputfile>] -a=[u|i|g] -d=[yes|no] -b=[yes|no] -f=[yes|no]
Input file or std must be in .bal format (see script giza2bal.pl).
"""

_NAMES = {"a": "alignment", "d": "diagonal", "f": "final", "b": "both", "i": "input", "o": "output", "v": "verbose"}
_ALIGNMENTS = {
    **{"union": "union", "u": "union", "intersect": "intersect", "i": "intersect", "grow": "grow", "g": "grow"},
    **dict.fromkeys(("srctotgt", "s2t"), "source-to-target"),
    **dict.fromkeys(("tgttosrc", "t2s"), "target-to-source"),
}
_TRUTHS = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}


def parse(args: Sequence[str]) -> dict[str, Any]:
    """Read ``-name=value`` arguments; what comes after the first of another form is not looked at, as in symal."""
    found: dict[str, Any] = {"alignment": None, "input": "-", "output": "-"}
    found |= dict.fromkeys(("diagonal", "final", "both", "verbose"), False)
    for argument in args:
        name, equals, value = argument.partition("=")
        if not equals or not name.startswith("-"):
            break
        name = _NAMES.get(name[1:], name[1:])
        if name not in found or (name in ("input", "output") and len(argument.partition("=")[0]) > 2):
            raise Wrong(f'Invalid option "{argument}"')
        if name in ("input", "output"):
            found[name] = value
            continue
        known: Mapping[str, str | bool] = _ALIGNMENTS if name == "alignment" else _TRUTHS
        if value not in known:
            raise Wrong(f'Invalid value "{value}" for parameter "{name}"; valid ones: {" ".join(known)}')
        found[name] = known[value]
    return found


@program("symal", _SYMAL)
def symal(args: list[str]) -> int:
    """Symmetrize as symal does."""
    o = parse(args)
    if o["alignment"] is None:
        raise Wrong
    grows = o["alignment"] == "grow"
    about = f": diagonal ({o['diagonal']:d}) final ({o['final']:d})both-uncovered ({o['both']:d})" if grows else ""
    sys.stderr.write(f"symal: computing {o['alignment']} alignment{about}\n")
    with placed([Named("-i", o["input"])], [Named("-o", o["output"])]):
        steps = {name: o[name] for name in ("diagonal", "final", "both")}
        count = combine_bal(o["input"], o["output"], o["alignment"], **steps)
    if not grows:
        sys.stderr.write(f"Sents: {count}\n")
    return 0


def merge_giza_parts(paths: Sequence[str], output: str) -> int:
    """Write the pairs of several ``A3.final.part`` files, whose numbers rise, in the order of their numbers."""
    count = 0
    with files.writing(output) as file:
        for number, place, line, record in heapq.merge(*(_pairs(path, place) for place, path in enumerate(paths))):
            if number <= count:
                raise DataError(paths[place], line, f"sentence pair {number} comes twice")
            if number > count + 1:
                raise DataError(paths[place], line, f"sentence pair {count + 1} is in no part; expected it before this")
            file.write(record)
            count = number
    return count


def _pairs(path: str, place: int) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield number, place of the file, line and text of each pair."""
    last = 0
    for line, (number, _, _), lines in giza_records(path):
        if number < last:
            raise DataError(
                path, line, f"sentence pair {number} comes behind {last}; expected a part whose numbers rise"
            )
        yield number, place, line, b"".join(row + b"\n" for row in lines)
        last = number


@program("merge_alignment.py")
def merge_alignment(args: list[str]) -> int:
    """Join the parts of MGIZA's alignments."""
    if not args:
        raise Wrong("Provide me the file names (at least 2)")  # the original takes one, too
    with placed([Named("", path) for path in args], [Named("", "-")]):
        count = merge_giza_parts(args, "-")
    sys.stderr.write(f"Combined {len(args)} files, totally {count} sents \n")
    return 0


_EXTRACT_LEX = "Usage: ./extract_lex corpus.tgt corpus.src grow-diag-final.align output.s2t output.t2s\n"
_LEX_FILES = ("corpus.tgt", "corpus.src", "align", "output.s2t", "output.t2s")


@program("extract_lex", _EXTRACT_LEX)
def extract_lex(args: list[str]) -> int:
    """Write translation tables as extract_lex does."""
    if len(args) != 5:
        raise Wrong
    sys.stderr.write("Starting...\n")
    given = [Named(name, path) for name, path in zip(_LEX_FILES, args, strict=True)]
    target, source, alignments, s2t, t2s = args
    with placed(given[:3], given[3:]):
        from aligntools.links.alignments import with_blanks
        from aligntools.links.translation_tables import extract_lexicon

        tables = extract_lexicon(with_blanks(source, target), None, Path(alignments), skip_bad_links=True)
        tables.write(s2t, "source", single=True)
        tables.write(t2s, "target", single=True)
    sys.stderr.write("\nFinished\n")
    return 0
