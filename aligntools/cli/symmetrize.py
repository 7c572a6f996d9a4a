"""``aligntools symmetrize``: alignment files combined, converted, checked, shown and compared."""

import itertools
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass

import click
import numpy as np

from aligntools.aligning.links.symmetrize import FLAVORS, METHODS, symmetrize
from aligntools.cli import options
from aligntools.formats import files, pharaoh
from aligntools.formats.pharaoh import Links
from aligntools.ground.errors import DataError, UsageProblem

_LINES = 1 << 15  # sentence pairs worked on at a time
_COMPILE = 1 << 17  # links seen until compiled code is used


class MismatchedLines(DataError):
    """Two files that should face each other line by line are not equally long."""


@dataclass(frozen=True)
class Operation:
    """Something to do with alignment files.

    Attributes
    ----------
    name : str
    about : str
        One line for the help.
    operands : int
        How many files it takes, 1 or 2.
    yields : str
        ``links``: a line a sentence pair; ``grid``: a picture and that line; ``summary``: figures at the end.
    apply : callable
        Takes one or two `Links` and keyword arguments ``flavor`` and ``compiled``, returns `Links`.
    """

    name: str
    about: str
    operands: int
    yields: str
    apply: Callable


def _combining(method):
    return lambda first, second, **how: symmetrize(first, second, method, **how)


#: Everything that can be asked for with ``-c``, in the order of the help.
OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("convert", "sort the links of one file, once each", 1, "links", lambda a, **_: a),
        Operation("invert", "exchange source and target", 1, "links", lambda a, **_: a.inverted()),
        Operation("display", "draw one file's links as grids", 1, "grid", lambda a, **_: a),
        Operation("intersect", "links of both files", 2, "links", _combining("intersect")),
        Operation("union", "links of either file", 2, "links", _combining("union")),
        Operation(
            "grow",
            "intersection, then neighbours of its links that have a free word",
            2,
            "links",
            _combining("grow"),
        ),
        Operation("grow-diag", "the same, diagonal neighbours too", 2, "links", _combining("grow-diag")),
        Operation(
            "grow-diag-final",
            "then links of either file with a free word",
            2,
            "links",
            _combining("grow-diag-final"),
        ),
        Operation(
            "grow-diag-final-and",
            "or only those with both words free",
            2,
            "links",
            _combining("grow-diag-final-and"),
        ),
        Operation(
            "fmeasure",
            "P, R and F of the first file against the second",
            2,
            "summary",
            _combining("intersect"),
        ),
    )
}


def usage(operations=None):
    """Return one line an operation: its name, operands and what it does."""
    rows = list((operations or OPERATIONS).values())
    width = max(len(row.name) for row in rows)
    return "\n".join(f"  {r.name:{width}}  {'A  ' if r.operands == 1 else 'A B'}  {r.about}" for r in rows)


@dataclass
class Tally:
    """What went through: sentence pairs, links of each file and of the result, sentences left without."""

    sentences: int = 0
    first: int = 0
    second: int = 0
    result: int = 0
    empty: int = 0


def combine(
    operation,
    paths,
    output="-",
    *,
    flavor="atools",
    order="source",
    index_base=0,
    format="pharaoh",
    check=None,
    warn=lambda message: None,
) -> Tally:
    """Read one or two alignment files block by block, apply an operation, write the result.

    Parameters
    ----------
    operation : Operation
    paths : sequence of str
        As many as it takes; ``-`` is standard input, and twice ``-`` takes alternate lines from it.
    output : str
    flavor, order, index_base, format
        As the options of the command.
    check : (str, str) or None
        Source and target text that every link must lie within.
    warn : callable
        Called with a line about what is odd but no error.

    Raises
    ------
    MismatchedLines
        After the lines that do face each other.
    DataError
        For a line that cannot be read or a link out of range.
    """
    tally = Tally()
    with ExitStack() as stack:
        texts = [stack.enter_context(closing(pharaoh.LineReader(path))) for path in check or ()]
        blocks = _giza_blocks(paths, warn) if format == "giza" else _blocks(paths, index_base)
        stack.enter_context(closing(blocks))
        out = stack.enter_context(files.writing(output))
        for sides in blocks:
            _check(paths, sides, texts, tally.sentences + 1, index_base)
            tally.sentences += len(sides[0])
            tally.first += len(sides[0].pairs)
            tally.second += len(sides[-1].pairs)
            compiled = True if tally.first + tally.second >= _COMPILE else None
            result = operation.apply(*sides, flavor=flavor, compiled=compiled)
            tally.result += len(result.pairs)
            tally.empty += int(np.count_nonzero(result.counts() == 0))
            if operation.yields == "grid":
                out.writelines(_grid(links) for links in result.tolists())
            elif operation.yields == "links":
                out.write(pharaoh.format_pharaoh(result, order=order, compiled=compiled))
            if "-" in paths and output == "-":
                out.flush()  # whoever writes the lines one by one may be waiting for the answers
        for text in texts:
            if text.read(1):
                raise MismatchedLines(
                    text.path,
                    None,
                    f"{text.count_rest()} lines, but {_shown(paths[0])} has {tally.sentences}",
                )
        if operation.yields == "summary":
            out.write(_f_measure(paths, tally).encode())
    return tally


def _shown(path):
    return "<stdin>" if path == "-" else path


def _blocks(paths, index_base):
    """Yield facing blocks of links, one or two at a time; then an error, if one file is longer."""
    if list(paths) == ["-", "-"]:
        yield from _alternate_blocks(index_base)
        return
    with ExitStack() as stack:
        readers = [stack.enter_context(closing(pharaoh.LinkReader(path, index_base=index_base))) for path in paths]
        lead, follow = readers[0], readers[1:]
        if paths[-1] == "-":  # take from a pipe what is there, and then as much from the file
            lead, follow = readers[-1], readers[:-1]
        while True:
            block = lead.read(_LINES, wait=lead.lines.path != "-")
            others = [reader.read(len(block) or 1) for reader in follow]
            common = min([len(block), *map(len, others)])
            if common:
                sides = {lead: block[:common]} | {r: b[:common] for r, b in zip(follow, others, strict=True)}
                yield [sides[reader] for reader in readers]
            if any(len(other) != len(block) for other in others):
                counts = [reader.lines.count_rest() for reader in readers]
                raise MismatchedLines(
                    paths[1],
                    None,
                    f"{counts[1]} lines, but {_shown(paths[0])} has {counts[0]};"
                    " both must align the same sentence pairs",
                )
            if not len(block):
                return


def _alternate_blocks(index_base):
    with closing(pharaoh.LinkReader("-", index_base=index_base)) as reader:
        while len(block := reader.read(2 * _LINES, wait=False, multiple=2)):
            even = len(block) // 2 * 2
            if even:
                yield [block[:even:2], block[1:even:2]]
            if even < len(block):
                raise MismatchedLines(
                    "-", None, f"{reader.lines.line} lines, where two are expected for each sentence pair"
                )


def _giza_blocks(paths, warn):
    """Yield the links of GIZA++ files, the second one's turned round, as one block."""
    if list(paths) == ["-", "-"]:
        raise UsageProblem("alternate lines on standard input are not possible with --format giza")
    sides = []
    found = [pharaoh.read_giza_a3(path) for path in paths]
    sentences = max(len(links) for links, _ in found)
    for path, (links, missing), turned in zip(paths, found, (False, True), strict=False):
        lacking = missing + sentences - len(links)
        if lacking:
            warn(f"{_shown(path)}: {lacking} of {sentences} sentence pairs are missing and have no links")
        offsets = np.append(links.offsets, np.full(sentences - len(links), links.offsets[-1]))
        links = Links(links.pairs, offsets)
        sides.append(links.inverted() if turned else links)
    if sentences:
        yield sides


def _check(paths, sides, texts, line, index_base):
    """Check that links lie within the texts, if there are any."""
    if not texts:
        return
    lengths = []
    for text in texts:
        words = pharaoh.count_words(text.read(len(sides[0])))
        if len(words) < len(sides[0]):
            raise MismatchedLines(text.path, None, f"ends after {text.line} lines, but {_shown(paths[0])} has more")
        lengths.append(words)
    for path, links in zip(paths, sides, strict=True):
        pharaoh.check_range(links, *lengths, path=path, line=line, index_base=index_base)


def _grid(links):
    """Draw a sentence's links: a row a source word, a column a target word, last digits around."""
    height = 1 + max((i for i, _ in links), default=0)
    width = 1 + max((j for _, j in links), default=0)
    rows = [["."] * width for _ in range(height)]
    for i, j in links:
        rows[i][j] = "*"
    ruler = " " + "".join(str(j % 10) for j in range(width))
    body = (f"{i % 10}{''.join(row)}{i % 10}" for i, row in enumerate(rows))
    text = " ".join(f"{i}-{j}" for i, j in links)
    return "\n".join(itertools.chain([ruler], body, [ruler, "", text, ""])).encode()


def _f_measure(paths, tally):
    if not tally.first or not tally.second:
        empty = paths[0] if not tally.first else paths[1]
        raise DataError(empty, None, "no links to compute an F-measure from")
    precision, recall = tally.result / tally.first, tally.result / tally.second
    f = 2 * precision * recall / (precision + recall) if tally.result else 0.0
    return f"P: {precision:g}\nR: {recall:g}\nF: {f:g}\n"


_HELP = f"""Combine, convert and check alignment files.

Files hold links i-j (source-target), a line a sentence pair; one file or two, by what is asked for:

\b
{usage()}

With two files, A is the forward alignment and B the reverse one, both as source-target. '-' is standard
input; where both are '-', its lines alternate between A and B. A probability behind a link, as in 3-4:0.97,
is dropped, and so is what stands before the last ' ||| ' of a line. The output counts words from 0.

The growing methods exist in two flavors, since the programs that people know differ in the order in which
they look at links: atools (fast_align, eflomal's recipes) and symal (Moses).

\b
Example:
  tr '?' - < data/samples/fr-en.wa | aligntools symmetrize -c display -
"""


@click.command("symmetrize", context_settings=options.SETTINGS, help=_HELP)
@click.argument("operands", metavar="A [B]", nargs=-1)
@click.option(
    "-c",
    "--command",
    "name",
    type=click.Choice(list(OPERATIONS)),
    default="grow-diag-final-and",
    show_default=True,
    metavar="METHOD",
    help="What to do; see above.",
)
@click.option("-i", "--input_1", "first", metavar="A", help="The first file, as with atools.")
@click.option("-j", "--input_2", "second", metavar="B", help="The second file.")
@click.option(
    "--flavor",
    type=click.Choice(FLAVORS),
    default="atools",
    show_default=True,
    help="Whose scan order the growing methods follow.",
)
@click.option(
    "--order",
    type=click.Choice(["source", "target"]),
    help="Sort links by source or target word.  [default: source; target for symal's growing methods]",
)
@click.option(
    "--format",
    type=click.Choice(["pharaoh", "giza"]),
    default="pharaoh",
    show_default=True,
    help="giza: A3.final files of the two runs; the second one's links are turned round.",
)
@options.index_base
@click.option(
    "--check",
    nargs=2,
    metavar="SRC TGT",
    help="Refuse links that point past a sentence of these texts (many consumers crash on them).",
)
@options.output
@options.verbosity
def command(operands, name, first, second, flavor, order, format, index_base, check, output, quiet, verbose):
    operation = OPERATIONS[name]
    if operands and (first or second):
        raise UsageProblem("give the files either by themselves or with -i and -j")
    paths = list(operands) or [path for path in (first, second) if path]
    if len(paths) != operation.operands or (second and not first):
        wanted = "two alignment files, A and B" if operation.operands == 2 else "one alignment file"
        raise UsageProblem(f"{name} takes {wanted}; {len(paths)} given")
    if (check or ()).count("-") + ("-" in paths) > 1:
        raise UsageProblem("texts to check against must be files where an alignment is standard input")
    if format == "giza" and index_base:
        raise UsageProblem("--index-base does not go with --format giza, which counts from 1 by itself")
    if order is None:
        grows = METHODS.get(name, (0, 0))[0] > 0
        order = "target" if flavor == "symal" and grows else "source"
    tally = combine(
        operation,
        paths,
        output,
        flavor=flavor,
        order=order,
        index_base=index_base,
        format=format,
        check=check,
        warn=lambda message: None if quiet else sys.stderr.write(f"note: {message}\n"),
    )
    if verbose:
        read = f"{tally.first}" if operation.operands == 1 else f"{tally.first} and {tally.second}"
        sys.stderr.write(
            f"{tally.sentences} sentence pairs, {read} links read, {tally.result} in the result;"
            f" {tally.empty} pairs without links\n"
        )
