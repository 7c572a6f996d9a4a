"""Alignment files combined, converted, checked, shown and compared, block by block in constant memory."""

import itertools
import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, Unpack

import numpy as np

from aligntools.formats.annotation.tagged_text import refuse_file
from aligntools.formats.links import giza, pharaoh
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.opening import files
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.links.settings import CombiningSettings
from aligntools.links.symmetrize import METHODS, symmetrize
from aligntools.words.white_space import WhiteSpace, explained_by, split_as

if TYPE_CHECKING:
    from aligntools.ground.keywords import CombiningKeywords


_LINES = 1 << 15  # sentence pairs worked on at a time
_COMPILE = 1 << 17  # links seen until compiled code is used
#: Most cells of a grid that is drawn.
_LARGEST_GRID = 10_000_000
_log = logging.getLogger("aligntools")


class MismatchedLines(DataError):
    """Two files that must have the same number of lines have not."""


class Operation(NamedTuple):
    """Something to do with alignment files: what the help says ``about`` it, and how many files it takes.

    yields: ``links``: a line per sentence pair; ``grid``: a picture and that line; ``summary``: figures at the end.
    """

    name: str
    about: str
    operands: int
    yields: str


_ALL = (
    Operation("convert", "sort the links of one file, once each", 1, "links"),
    Operation("invert", "exchange source and target", 1, "links"),
    Operation("display", "draw one file's links as grids", 1, "grid"),
    Operation("intersect", "links of both files", 2, "links"),
    Operation("union", "links of either file", 2, "links"),
    Operation("grow", "intersection, then neighbours of its links that have a free word", 2, "links"),
    Operation("grow-diag", "the same, diagonal neighbours too", 2, "links"),
    Operation("grow-diag-final", "then links of either file with a free word", 2, "links"),
    Operation("grow-diag-final-and", "or only those with both words free", 2, "links"),
    Operation("fmeasure", "P, R and F of the first file against the second", 2, "summary"),
)
#: Everything that can be done, by name.
OPERATIONS = {operation.name: operation for operation in _ALL}


@dataclass
class LinkTally:
    """Counts of what was read and written.

    first, second, result: Links of each file (of the one file twice) and of the result.
    empty: Sentence pairs whose result has no links.
    """

    sentences: int = 0
    first: int = 0
    second: int = 0
    result: int = 0
    empty: int = 0


def combine(
    operation: Operation,
    paths: Sequence[str],
    output: str,
    settings: CombiningSettings,
    check: tuple[str, str] | None = None,
    through: "Callable[[Links, int], Links] | None" = None,
) -> LinkTally:
    """Read one or two alignment files block by block, apply an operation, write the result.

    through: Given the links of the result, block by block, and the number of the first line; returns what is written.
    Raises MismatchedLines after the lines that have a counterpart.
    """
    name, index_base, order = operation.name, settings.index_base, settings.order
    if order is None:
        grows = METHODS.get(name, (0, 0))[0] > 0
        order = "target" if settings.flavor == "symal" and grows else "source"
    tally = LinkTally()
    with ExitStack() as stack:
        for path in filter(files.is_regular, check or ()):
            refuse_file(path)
        texts = [stack.enter_context(closing(pharaoh.LineReader(path))) for path in check or ()]
        whites = [WhiteSpace(path) for path in check or ()]
        blocks = _giza_blocks(paths) if settings.format == "giza" else _blocks(paths, index_base)
        stack.enter_context(closing(blocks))
        out = stack.enter_context(files.writing(output))
        for sides in blocks:
            begin = tally.sentences + 1
            words = _check_range(paths, sides, texts, whites, begin, index_base)
            tally.sentences += len(sides[0])
            tally.first += len(sides[0].pairs)
            tally.second += len(sides[-1].pairs)
            compiled = True if tally.first + tally.second >= _COMPILE else None
            if operation.operands == 1:
                result = sides[0].inverted() if name == "invert" else sides[0]
            else:
                method = name if name in METHODS else "intersect"  # of what both files have, fmeasure counts
                result = symmetrize(sides[0], sides[1], method, settings.flavor, compiled)
            result = through(result, begin) if through else result
            tally.result += len(result.pairs)
            tally.empty += int(np.count_nonzero(result.counts() == 0))
            if operation.yields == "grid":
                out.writelines(_grid(links, paths[0], line) for line, links in enumerate(result.tolists(), begin))
            elif settings.to == "giza":
                words = words[::-1] if name == "invert" else words
                out.write(giza.format_giza_a3(result, words[0], words[1], path=paths[0], line=begin))
            elif operation.yields == "links":
                out.write(pharaoh.format_pharaoh(result, order=order, compiled=compiled))
            if "-" in paths and output == "-":
                out.flush()  # whoever writes the lines one by one may be waiting for the answers
        for white in whites:
            white.tell()
        for text in texts:
            if text.read(1):
                problem = f"{text.count_rest()} lines, but {_shown(paths[0])} has {tally.sentences}"
                raise MismatchedLines(text.path, None, problem)
        if operation.yields == "summary":
            if not tally.first or not tally.second:
                empty = paths[0] if not tally.first else paths[1]
                raise DataError(empty, None, "no links to compute an F-measure from")
            precision, recall = tally.result / tally.first, tally.result / tally.second
            f = 2 * precision * recall / (precision + recall) if tally.result else 0.0
            out.write(f"P: {precision:g}\nR: {recall:g}\nF: {f:g}\n".encode())
    return tally


def _shown(path: str) -> str:
    return "<stdin>" if path == "-" else path


def _blocks(paths: Sequence[str], index_base: int) -> Generator[list[Links], None, None]:
    """Yield blocks of links of the same sentence pairs, of one or two files; an error at the end if one is longer."""
    if list(paths) == ["-", "-"]:  # alternate lines
        with closing(pharaoh.LinkReader("-", index_base=index_base)) as reader:
            while len(block := reader.read(2 * _LINES, wait=False, multiple=2)):
                even = len(block) // 2 * 2
                if even:
                    yield [block[:even:2], block[1:even:2]]
                if even < len(block):
                    problem = f"{reader.lines.line} lines; there must be two for each sentence pair"
                    raise MismatchedLines("-", None, problem)
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
                problem = f"{counts[1]} lines, but {_shown(paths[0])} has {counts[0]}"
                raise MismatchedLines(paths[1], None, f"{problem}; both must align the same sentence pairs")
            if not len(block):
                return


def _giza_blocks(paths: Sequence[str]) -> Generator[list[Links], None, None]:
    """Yield the links of GIZA++ files, the second one's inverted, as one block."""
    sides = []
    found = [giza.read_giza_a3(path) for path in paths]
    sentences = max(len(links) for links, _ in found)
    for path, (links, missing), inverted in zip(paths, found, (False, True), strict=False):
        lacking = missing + sentences - len(links)
        if lacking:
            _log.info("%s: %d of %d sentence pairs are missing and have no links", _shown(path), lacking, sentences)
        offsets = np.append(links.offsets, np.full(sentences - len(links), links.offsets[-1]))
        links = Links(links.pairs, offsets)
        sides.append(links.inverted() if inverted else links)
    if sentences:
        yield sides


def _check_range(
    paths: Sequence[str],
    sides: Sequence[Links],
    texts: Sequence[pharaoh.LineReader],
    whites: Sequence[WhiteSpace],
    line: int,
    index_base: int,
) -> list[bytes]:
    """Check that links lie within the texts, if there are any; return the texts' lines, words between spaces."""
    lengths, read = [], []
    for text, white in zip(texts, whites, strict=True):
        read.append(white(text.read(len(sides[0]))))
        words = pharaoh.count_words(read[-1])
        if len(words) < len(sides[0]):
            raise MismatchedLines(text.path, None, f"ends after {text.line} lines, but {_shown(paths[0])} has more")
        lengths.append(words)
    with explained_by(whites):
        for path, links in zip(paths, sides, strict=True) if texts else ():
            pharaoh.check_range(links, *lengths, path=path, line=line, index_base=index_base)
    return read


def _grid(links: list[tuple[int, int]], path: str, line: int) -> bytes:
    """Draw a sentence's links as a grid of source by target words, with the last digits of positions at the edges."""
    height = 1 + max((i for i, _ in links), default=0)
    width = 1 + max((j for _, j in links), default=0)
    if height * width > _LARGEST_GRID:
        raise DataError(path, line, f"a grid of {height} by {width} words is too large to draw")
    rows = [["."] * width for _ in range(height)]
    for i, j in links:
        rows[i][j] = "*"
    ruler = " " + "".join(str(j % 10) for j in range(width))
    body = (f"{i % 10}{''.join(row)}{i % 10}" for i, row in enumerate(rows))
    text = " ".join(f"{i}-{j}" for i, j in links)
    return "\n".join(itertools.chain([ruler], body, [ruler, "", text, ""])).encode()


#: Source and target text.
_Texts: TypeAlias = tuple[str, str] | None


@taking(CombiningSettings)
def combine_files(
    operation: str,
    paths: Sequence[str],
    output: str = "-",
    settings: CombiningSettings | None = None,
    *,
    check: _Texts = None,
    to_words: _Texts = None,
    to_pieces: _Texts = None,
    words: _Texts = None,
    in_place: bool = False,
    **options: "Unpack[CombiningKeywords]",
) -> "LinkTally":
    """Combine, convert, check, draw or compare alignment files of any length, in constant memory.

    What the command ``symmetrize`` does.

    Parameters
    ----------
    operation : str
        One of `OPERATIONS`: a method of `symmetrize`, or ``convert``, ``invert``, ``display``, ``fmeasure``.
    paths : sequence of str
        One file or two, by the operation; ``-`` is standard input, twice ``-`` its alternate lines.
    output : str
        A file; ``-`` is standard output.
    settings : CombiningSettings or None
        The options below, whole.
    check : (str, str) or None
        Source and target text that every link must lie within.
    to_words, to_pieces : (str, str) or None
        Source and target text in pieces: links between these become links between words, or the other way round.
    words : (str, str) or None
        The same text in words. Then letters say which pieces a word has, else the pieces' marks.
    in_place : bool
        The first file is replaced by the result once that is whole; there is no ``output`` then.
    **options

    Returns
    -------
    LinkTally
        Sentence pairs and links that were read and written.

    Raises
    ------
    UsageProblem
        When these do not go together, or the output is a file that is read.
    DataError
        For a line that cannot be read, a link out of range, or files that do not have the same number of lines.
    """
    from aligntools.links.pieces import PieceTexts

    given = Keywords("combine_files", options)
    how = given.take(CombiningSettings, settings)
    given.end()
    texts_read = {"paths": paths, "check": check, "to_words": to_words, "to_pieces": to_pieces, "words": words}
    done = _checked(operation, texts_read, how)
    if in_place:
        plain = (how.format, how.to) == ("pharaoh", "pharaoh") and done.yields == "links"
        if output != "-" or not plain or paths[0] == "-":
            raise UsageProblem(
                "`in_place` replaces the first file, of links, by links: no `output`, `format=giza`, `to=giza` or"
                " standard input"
            )
        output = paths[0]
    else:
        read = [files.Named(name, path) for name, found in texts_read.items() for path in found or ()]
        files.check(read, [files.Named("output", output)])
    if check is not None:
        check = split_as(check[0], how.split), split_as(check[1], how.split)
    if to_words is None and to_pieces is None:
        return combine(done, paths, output, how, check)
    source, target = to_words or to_pieces or ("", "")
    split_words = None if words is None else (split_as(words[0], how.split), split_as(words[1], how.split))
    pieces = PieceTexts(split_as(source, how.split), split_as(target, how.split), words=split_words, scheme=how.scheme)
    with closing(pieces) as texts:
        through = texts.to_words if to_words else texts.to_pieces
        tally = combine(done, paths, output, how, check, through)
        texts.check_end()
    return tally


def _checked(name: str, texts: dict[str, Sequence[str] | None], how: CombiningSettings) -> Operation:
    """Return the operation of this name; refuse what does not go together."""
    if name not in OPERATIONS:
        raise UsageProblem(f"no operation '{name}'; there are {', '.join(OPERATIONS)}")
    operation, pieces = OPERATIONS[name], texts["to_words"] or texts["to_pieces"]
    paths, check = list(texts["paths"] or ()), texts["check"]
    if not pieces and (texts["words"] or how.scheme != "auto"):
        raise UsageProblem("`words` and `scheme` go with `to_words` or `to_pieces`")
    if how.flavor != CombiningSettings.flavor and operation.operands == 1:
        raise UsageProblem(f"`flavor` is about methods that combine two files, not {name}")
    if how.order and operation.yields != "links":
        raise UsageProblem(f"`order` is about links, and {name} writes none")
    if how.split not in (None, "spaces") and not (check or pieces):
        raise UsageProblem("`split` is about the texts of `check`, `to_words` or `to_pieces`")
    if texts["to_words"] and texts["to_pieces"]:
        raise UsageProblem("links become links between words or between pieces, not both")
    if pieces and how.to == "giza":
        raise UsageProblem("`to=giza` has the words of `check` in it; change units and format one after the other")
    if pieces and operation.yields == "summary":
        raise UsageProblem(f"{name} writes no links")
    named = [path for found in (pieces, texts["words"]) for path in found or ()]
    if "-" in named and [*named, *paths, *(check or ())].count("-") > 1:
        raise UsageProblem("only one of the files can be standard input")
    if len(paths) != operation.operands:
        wanted = "two alignment files, A and B" if operation.operands == 2 else "one alignment file"
        raise UsageProblem(f"{name} takes {wanted}; {len(paths)} given")
    if list(check or ()).count("-") + ("-" in paths) > 1:
        raise UsageProblem("texts to check against must be files where an alignment is standard input")
    if how.format == "giza" and how.index_base:
        raise UsageProblem("`index_base` does not go with `format=giza`, which always counts from 1")
    if how.to == "giza" and (check is None or operation.yields != "links"):
        raise UsageProblem("`to=giza` writes links with their words: give both texts with `check`")
    if how.format == "giza" and paths == ["-", "-"]:
        raise UsageProblem("alternate lines on standard input are not possible with `format=giza`")
    return operation
