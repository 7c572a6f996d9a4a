"""Parallel text on disk to arrays of word ids, whole or block by block, and one-sided text.

Lines are read in blocks of bytes. Each line is first described by a row of numbers: where its sides begin
and end, how many words they have, whether they are UTF-8. Lines of the same number are then judged as a
pair, and only the words of pairs that stay are numbered. Both steps exist twice: compiled, for speed, and
in plain Python, which defines what is right and spares small inputs the compiler.
"""

import contextlib
import logging
import os
import re
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from typing import Any

import numpy as np

from aligntools.formats.annotation.tagged_text import is_memory, plain_blocks
from aligntools.formats.annotation.text_kinds import refuse_for_pairs
from aligntools.formats.opening import files
from aligntools.formats.opening.files import NOT_UTF8, bounded_lines
from aligntools.formats.opening.live_inputs import ReadOnly, lines_of_size
from aligntools.formats.text.corpus import REASONS, Bitext, Side, Skipped
from aligntools.formats.text.exchange import format_of, paired
from aligntools.ground.errors import DataError, ResourceError, UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.words import line_scan
from aligntools.words.line_scan import Scanner
from aligntools.words.vocabulary import CompiledLexicon, Growing, GrowingVocabulary, Lookup, Vocabulary
from aligntools.words.white_space import SPLITS, WhiteSpace, as_spaces, has_others

_BLOCK = 1 << 22  # bytes read at a time
_ROWS = 1 << 15  # lines described at a time
_STEP = 1 << 12  # lines after which it is looked whether a part has its words
_FEW = 1 << 14  # words that are remembered where lines come one by one
_OVER_LONG = b"- " * 30_001 + b"||| -\n"  # of more words than `max_length` can be, with both sides
_log = logging.getLogger("aligntools")


def read_bitext(
    source: object = None, target: object = None, *, joint: object = None, lowercase: bool = True, **how: Any
) -> Bitext:
    """Read parallel text: two line-aligned files, or one with `` ||| `` between the sides, or text in memory.

    Every line is a sentence pair. One that is left out, for a reason of `corpus.REASONS`, becomes empty on both sides,
    and its words do not enter the vocabularies. Too many malformed lines of a joint file are refused; see `line_scan`.

    lowercase: Put words in lower case (`str.lower`, word by word).
    how: ``max_length`` of a side in words; ``strict``: refuse a pair that would be left out; ``input_format`` and
        ``languages`` of a joint file, as `text_settings.PairReading` has them (``either``: tabs and bars separate).
    """
    whole = bitext_in_parts(
        source, target, joint=joint, lowercase=lowercase, pairs=sys.maxsize, words=sys.maxsize, **how
    )
    with closing(whole) as parts:
        return next(parts)


def stream_bitext(
    source: object = None,
    target: object = None,
    *,
    joint: object = None,
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    lowercase: bool = True,
    block_lines: int = 10_000,
    unbuffered: bool = False,
    **how: Any,
) -> Iterator[Bitext]:
    """Read parallel text in blocks of lines against fixed vocabularies; other parameters are those of `read_bitext`.

    Line numbers count from the start of the input. An unknown word gets an id from ``len(vocabulary)`` on that holds
    for its block alone: each block's vocabularies are `ExtendedVocabulary`. With ``lowercase`` the vocabularies are in
    lower case already.

    unbuffered: Yield each line by itself, as soon as it is there. Any number of lines may be malformed.
    """
    most = 1 if unbuffered else block_lines
    with closing(_Pairs(source, target, joint, unbuffered=unbuffered, **how)) as pairs:
        kept = {"most": _FEW} if unbuffered else {}
        lookups = [Lookup(vocabulary, lowercase, **kept) for vocabulary in (source_vocabulary, target_vocabulary)]
        builders = [_Builder(pairs.engine) for _ in range(2)]
        while True:
            skipped, lines = Skipped(), 0
            while lines < most and (read := pairs.read(builders, most - lines, skipped)):
                lines += read
            if not lines:
                return
            sides = [builder.side() for builder in builders]
            extended = [
                lookup.translate(side.tokens, builder.lexicon)
                for lookup, side, builder in zip(lookups, sides, builders, strict=True)
            ]
            yield Bitext(sides[0], sides[1], extended[0], extended[1], skipped)
            if lines < most:
                return


def bitext_in_parts(
    source: object = None,
    target: object = None,
    *,
    joint: object = None,
    lowercase: bool = True,
    pairs: int = 100_000,
    words: int = 6_000_000,
    **how: Any,
) -> Generator[Bitext, None, None]:
    """Read parallel text in parts, each with vocabularies of its own; where they are cut depends on the text alone.

    Line numbers count from the start of the input. Other parameters are those of `read_bitext`.
    pairs, words: A part ends with so many pairs, or soon after so many words of both sides.
    """
    step = _ROWS if words == sys.maxsize else _STEP
    with closing(_Pairs(source, target, joint, **how)) as text:
        ended = False
        while not ended:
            builders = [_Builder(text.engine) for _ in range(2)]
            skipped, lines = Skipped(), 0
            while not ended and lines < pairs and sum(builder.tokens.size for builder in builders) < words:
                read = text.read(builders, min(pairs - lines, step), skipped)
                lines += read
                ended = not read
            if not lines:
                return
            results = text.pool.map(lambda builder: builder.finish(lowercase), builders)
            (left, left_words), (right, right_words) = results
            yield Bitext(left, right, left_words, right_words, skipped)


def read_side(path: object, *, lowercase: bool = True, strict: bool = True) -> tuple[Side, Vocabulary]:
    """Read one-sided text, a sentence a line; unless ``strict``, lines that are not UTF-8 are blank, or none."""
    blocks = _blocks(path)
    try:
        engine = Scanner()
        text, builder = _Text(path, blocks, engine, None, _ROWS), _Builder(engine)
        line = 0
        while text.fill():
            table = text.take(text.left)
            valid = table[:, 7] == 1
            if strict and not valid.all():
                bad = line + 1 + int(np.argmin(valid))
                raise DataError(path, bad, NOT_UTF8)
            with _fitting(path, line):
                builder.add(text.block, table, 0, valid)
            line += len(table)
    finally:
        blocks.close()
    if strict and not line:
        raise DataError(path, None, "is empty; give text, one sentence a line")
    return builder.finish(lowercase)


def _blocks(path: object, unbuffered: bool = False, plain: bool = True) -> Generator[bytes, None, None]:
    """Yield nothing once the file is open, then its lines, in blocks or one by one."""
    with files.reading(path) as file:
        yield b""
        if unbuffered:  # lines; in the place of one that is too long to be held, one of too many words
            blocks = (_OVER_LONG if line is None else line for line in bounded_lines(file))
        else:
            blocks = files.line_blocks(file, _BLOCK)
        white = WhiteSpace(path)
        yield from plain_blocks(path, blocks, white) if plain and not unbuffered else white.through(blocks)


class _Text:
    """The lines of one input: a cursor over its blocks, and the table that describes the next lines."""

    def __init__(self, path: object, blocks: Iterator[bytes], engine: Scanner, format: str | None, rows: int) -> None:
        self.path, self.block, self.format = path, b"", format
        self._blocks, self._engine = blocks, engine
        self._table = np.empty((rows, 8), np.int64)
        self._row = self._rows = self._at = 0
        self._told = False

    @property
    def left(self) -> int:
        """Lines that are described and not yet taken."""
        return self._rows - self._row

    def fill(self) -> int:
        """Describe more lines if none is left; return how many are, 0 at the end of the text."""
        if not self.left:
            while self._at >= len(self.block):
                block = next(self._blocks, None)
                if block is None:
                    return 0
                self.block, self._at = block, 0
                self._engine.has_read(len(block))
                self.format = format_of(self.path, self.format)
                if self.format == "auto" and not self._told and not is_memory(self.path):
                    refuse_for_pairs(self.path, block)
                self._told = True
                if self.format == "auto" and (found := line_scan.format_of(block)):
                    self.format = found
                    if found == "tsv":
                        _log.info(
                            "%s: its first line has one tab and no ' ||| ', so it is read as tab-separated pairs;"
                            " `input_format=joint` if it is not",
                            _shown(self.path),
                        )
            self._rows, self._at = self._engine.scan(self.block, self._at, self.format, self._table)
            self._row = 0
        return self.left

    def take(self, lines: int) -> np.ndarray:
        """Return the rows of the next lines, all of which lie in ``block``, and go past them."""
        self._row += lines
        return self._table[self._row - lines : self._row]

    def count_rest(self) -> int:
        """Return how many lines are left, reading to the end."""
        count = self.left
        for block in chain([self.block[self._at :]], self._blocks):
            count += block.count(b"\n") + (len(block) > 0 and not block.endswith(b"\n"))
        return count


class _Pairs:
    """The sentence pairs of one or two files, in the order of lines; see `read_bitext` for errors."""

    def __init__(
        self,
        source: object,
        target: object,
        joint: object,
        *,
        max_length: int = 2000,
        strict: bool = False,
        input_format: str = "auto",
        languages: str | None = None,
        unbuffered: bool = False,
    ) -> None:
        self._joint = joint is not None
        paths = [paired(joint, languages, input_format)] if self._joint else [source, target]
        if None in paths or (self._joint and (source is not None or target is not None)):
            raise UsageProblem("parallel text is two files, source and target, or one that holds both sides")
        if [str(path) for path in paths] == ["-", "-"]:
            raise UsageProblem("only one of the two files can be standard input")
        if input_format not in line_scan.FORMATS:
            raise UsageProblem(f"no input format '{input_format}'; there are {', '.join(line_scan.FORMATS)}")
        for option, given in (("input_format", input_format != "auto"), ("languages", languages is not None)):
            if given and not self._joint:
                raise UsageProblem(f"`{option}` is about one file with both sides")
        self._max_length, self._strict, self._unbuffered = max_length, strict, unbuffered
        self._line = 0  # lines read so far
        self._open = [_blocks(path, unbuffered, not self._joint) for path in paths]
        # Line by line, nothing is read before it is asked for, and plain Python is fast enough.
        # What can keep waiting, a caller's sentences and pipes, is read here, where an interrupt ends it.
        here = unbuffered or not all(map(files.is_regular, paths))
        self.engine, self.pool = Scanner(always_plain=unbuffered), Pool(1 if here else 2)
        try:
            for blocks in self._open:  # all before any is read: who writes to pipes may wait for that
                next(blocks)
            self._texts = [
                _Text(path, blocks, self.engine, input_format if self._joint else None, 1 if unbuffered else _ROWS)
                for path, blocks in zip(paths, self._open, strict=True)
            ]
        except BaseException:
            self.close()
            raise
        self._malformed = line_scan.Malformed(self._texts[0].path, strict, unbuffered)

    def close(self) -> None:
        self.pool.close()
        for blocks in self._open:
            blocks.close()

    def read(self, builders: "list[_Builder]", most: int, skipped: Skipped) -> int:
        """Add at most ``most`` pairs to the two builders and return how many; 0 at the end."""
        lines = min(most, *self.pool.map(_Text.fill, self._texts))
        if lines == 0:  # all files have to end here, and to have had a line
            longer = next((text for text in self._texts if text.left), None)
            if longer is not None:
                shorter = next(text for text in self._texts if not text.left)
                names = [_shown(text.path) for text in (longer, shorter)]
                counts = f"{names[1]} ends after {self._line} lines"
                if not self._unbuffered:  # where the rest may be long in coming
                    counts = f"{names[0]} has {self._line + longer.count_rest()} lines, {names[1]} {self._line}"
                raise DataError(longer.path, self._line + 1, f"this line has no counterpart: {counts}")
            if self._joint:
                self._malformed.end(self._texts[0].format)
            if self._line == 0:
                raise DataError(self._texts[0].path, None, "is empty; give text, one sentence a line")
            return 0
        tables = [text.take(lines) for text in self._texts]
        sides = [(self._texts[0], tables[0], 0), (self._texts[-1], tables[-1], int(self._joint))]
        words = [table[:, 4 + which] for _, table, which in sides]
        status = np.zeros(lines, np.int8)
        status[np.maximum(*words) > self._max_length] = 1
        status[np.minimum(*words) == 0] = 2
        status[np.minimum(tables[0][:, 7], tables[-1][:, 7]) == 0] = 3
        if self._joint:  # a line without any word needs no separator
            separators = tables[0][:, 6]
            status[(separators > 1) | ((separators == 0) & (words[0] > 0))] = 4
        self._check(sides, words, status)
        for code, reason in enumerate(REASONS, 1):
            skipped.note(reason, self._line + 1 + np.flatnonzero(status == code))
        keep = status == 0
        with _fitting(sides[0][0].path, self._line):
            self.pool.map(
                lambda job: job[0].add(job[1].block, *job[2:], keep),
                [(builder, *side) for builder, side in zip(builders, sides, strict=True)],
            )
        self._line += lines
        return lines

    def _check(self, sides: list[tuple[_Text, np.ndarray, int]], words: list[np.ndarray], status: np.ndarray) -> None:
        """Raise the error of the first line that has one, or of too many malformed ones."""
        faulty = np.flatnonzero(status) if self._strict else status[:0]
        rows = int(faulty[0]) if len(faulty) and status[faulty[0]] != 4 else len(status)
        if self._joint:
            text = self._texts[0]
            self._malformed.add(status[:rows] == 4, sides[0][1][:rows], text.block, text.format)
        if rows == len(status):
            return
        row, line = rows, self._line + 1 + rows
        reason = REASONS[status[row] - 1]
        faults = {
            "over_long": [count[row] > self._max_length for count in words],
            "blank": [count[row] == 0 for count in words],
            "undecodable": [table[row, 7] == 0 for _, table, _ in sides],
        }[reason]
        which = faults.index(True)
        name = f"the {('source', 'target')[which]} side " if self._joint and not all(faults) else ""
        problem = {
            "over_long": f"{name or 'a sentence '}has {words[which][row]} words, over {self._max_length}",
            "blank": f"{name or 'the line '}is blank",
            "undecodable": "bytes that are not UTF-8",
        }[reason]
        remedy = "mend or remove the pair, or read without strictness to skip it"
        raise DataError(sides[which][0].path, line, f"{problem} ({remedy})")


class _Builder:
    """One side of a corpus as it is read."""

    def __init__(self, engine: Scanner) -> None:
        self._engine = engine
        self.lexicon: GrowingVocabulary | CompiledLexicon = GrowingVocabulary()
        self._start()

    def _start(self) -> None:
        self.tokens, self._offsets = Growing(np.int32), Growing(np.int64)
        self._offsets.extend(1)[0] = 0

    def add(self, block: bytes, table: np.ndarray, which: int, keep: np.ndarray) -> None:
        """Append lines: numbered where ``keep`` holds, otherwise empty."""
        if self._engine.compiled and isinstance(self.lexicon, GrowingVocabulary):
            self.lexicon = CompiledLexicon(self.lexicon.words(1))
        before = self.tokens.size
        lengths = np.where(keep, table[:, 4 + which], 0)
        self.lexicon.encode(block, table, which, keep, self.tokens.extend(int(lengths.sum())))
        ends = self._offsets.extend(len(table))
        np.cumsum(lengths, out=ends)
        ends += before

    def side(self) -> Side:
        """Return what was read, with the lexicon's numbers, and start again with the same lexicon."""
        side = Side(self.tokens.finish(), self._offsets.finish())
        self._start()
        return side

    def finish(self, lowercase: bool) -> tuple[Side, Vocabulary]:
        """Return what was read and its vocabulary."""
        side, vocabulary = self.side(), self.lexicon.vocabulary()
        if lowercase:
            vocabulary, mapping = vocabulary.folded()
            for begin in range(0, len(side.tokens), 1 << 18):  # in pieces, to spare a whole copy
                piece = side.tokens[begin : begin + (1 << 18)]
                piece[:] = mapping[piece]
        return side, vocabulary


@contextlib.contextmanager
def _fitting(path: object, line: int) -> Iterator[None]:
    """Raise an error with the file and line where memory ended."""
    try:
        yield
    except ResourceError as error:
        raise DataError(path, line + 1, error.message) from None


def _shown(path: object) -> str:
    return "<stdin>" if str(path) == "-" else str(path)


_MARK = b"\xef\xbb\xbf"  # of a file that was read as UTF-8 and began with a byte order mark
_SPACE = re.compile(r"[ \t\n]")
_SENTENCES = "a sentence is a string, or a list of its words; a text is a list of sentences"
_ADVICE = f"{_SENTENCES}, or a file's name"


def words_given(sentence: object, name: str, number: int | None) -> list[str]:
    """Return the words of a sentence that was given as a sequence of them."""
    if not isinstance(sentence, Sequence) or isinstance(sentence, str | bytes | bytearray):
        found = type(sentence).__name__
        raise DataError(name, number, f"a sentence is a string or a list of strings, not {found}")
    for word in sentence:
        if not isinstance(word, str):
            found = type(word).__name__
            raise DataError(name, number, f"a word is a string, not {found} ({_ADVICE})")
        if not word or _SPACE.search(word):
            raise DataError(name, number, f"the word {word!r} is empty or holds a space ({_ADVICE})")
    return list(sentence)


def sentences_given(text: object, name: str) -> Iterator[Any]:
    """Return the sentences of a text that is in memory."""
    if isinstance(text, str | bytes | bytearray | Mapping) or not isinstance(text, Iterable):
        advice = _SENTENCES if isinstance(text, str | os.PathLike) else _ADVICE  # a file's name, where no file is read
        raise DataError(name, None, f"{type(text).__name__} is not text ({advice})")
    return iter(text)


class TextLines(ReadOnly):
    """Sentences, lines or lists of words, as the lines of a file that is read once; readers take it in place of a path.

    split: How lines are split; see `white_space.split_as`. A sentence's words stay as they are.
    """

    def __init__(
        self, sentences: Iterable[str | Sequence[str]], name: str = "<text>", split: str | None = None
    ) -> None:
        super().__init__()
        self._unicode, self._white = split == SPLITS[1], WhiteSpace(name)
        self._sentences, self._name = sentences_given(sentences, name), name
        self._count, self._rest = 0, b""

    def __str__(self) -> str:
        return self._name

    def _line(self, sentence: list[str] | str) -> bytes:
        if not isinstance(sentence, str):
            words = words_given(sentence, self._name, self._count)
            return " ".join(words).encode("utf-8", "surrogatepass") + b"\n"
        line = sentence.removesuffix("\n")
        if "\n" in line:
            raise DataError(self._name, self._count, "a newline within a line; give one sentence a string")
        encoded = line.encode("utf-8", "surrogatepass") + b"\n"  # surrogates are no text: such a pair is left blank
        if not self._unicode and has_others(encoded):
            self._white.count(encoded)
        return as_spaces(encoded) if self._unicode else encoded

    def _next(self) -> bytes:
        for sentence in self._sentences:
            self._count += 1
            line = self._line(sentence)
            return line.removeprefix(_MARK) if self._count == 1 else line
        self._white.tell()
        return b""

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return the next line; empty at the end."""
        line, self._rest = self._rest or self._next(), b""
        if size is not None and 0 <= size < len(line):
            line, self._rest = line[:size], line[size:]
        return line

    def read(self, size: int = -1, /) -> bytes:
        """Return whole lines of about ``size`` bytes (all of them for -1); empty at the end."""
        return lines_of_size(self.readline, size)


#: Text that is not from a file.
IN_MEMORY = "<sentences>"


def name_of(given: object, otherwise: str = IN_MEMORY) -> str:
    """Return the name of a file that was given, or what else was is called."""
    return os.fspath(given) if isinstance(given, str | os.PathLike) else otherwise
