"""Raw text cut into sentences and tokens, as CoNLL-U from which it can be made again to the byte.

Spaces are noted in MISC as UDPipe does; see `aligntools.formats.annotation.conll_tokens`, which makes the text again.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from aligntools.formats.annotation.conll import Conll, parse_conll
from aligntools.formats.annotation.conll_tokens import ESCAPES
from aligntools.formats.annotation.text_kinds import beginning, refuse_conll
from aligntools.formats.opening import files
from aligntools.ground.errors import DataError
from aligntools.words.tokenizers import sentence_splitter, tokenizer

_BLOCK = 1 << 16  # characters of a paragraph that are cut into sentences at a time
_MARK = "\ufeff"  # the byte order mark
_BLANK = re.compile(r"\n\s*\n")
_SPACES = re.compile(r"\s+")

Spans = Callable[[str], list[tuple[int, int]]]
Split = Callable[[str], list[str]]


def stream_raw(
    path: object, language: str, sentences: str = "split", most: int = 10_000, name: str = "moses"
) -> Iterator[Conll]:
    """Read raw text in UTF-8 in parts, tokenized by the rules of a language (ISO code).

    sentences: ``split``: they end where the rules say so and at blank lines; ``lines``: each line is one.
    """
    spans = tokenizer(language, name).spans
    split = sentence_splitter(language) if sentences == "split" else None
    with files.reading(path, mark=True) as file:
        seen, _ = beginning(file)
        refuse_conll(path, b"".join(seen))
        lines: list[bytes] = []
        count, first = 0, 1
        for sentence in format_raw(decoded_lines(path, chain(seen, file)), spans, split):
            lines += [line + b"\n" for line in sentence.split(b"\n")[:-1]]
            count += 1
            if count == most:
                yield parse_conll(path, lines, first)
                first += len(lines)
                lines, count = [], 0
        if lines:
            yield parse_conll(path, lines, first)


def decoded_lines(path: object, lines: Iterable[bytes]) -> Iterator[str]:
    """Decode lines; raises DataError for the first that is not UTF-8."""
    for number, line in enumerate(lines, 1):
        try:
            yield line.decode()
        except UnicodeDecodeError:
            raise DataError(path, number, files.NOT_UTF8) from None


def format_raw(lines: Iterable[str], spans: Spans, split: Split | None) -> Iterator[bytes]:
    """Yield each sentence of a text as a block of CoNLL-U.

    ``spans`` finds tokens, ``split`` cuts a text into sentences, which joined are the text; without, each line is one.
    """
    segments = iter(lines) if split is None else _sentences(_paragraphs(lines, split))
    held, before = None, ""
    for segment in segments:
        if held is not None:
            yield _block(held, before, spans, split is None)
            before = held
        held = segment
    if held is not None:
        yield _block(held, before, spans, split is None, last=True)


def _paragraphs(lines: Iterable[str], split: Callable[[str], list[str]]) -> Iterator[str]:
    """Yield pieces of sentences; none goes across a blank line."""
    buffer = ""
    for line in lines:
        if line.isspace() and buffer and not buffer.isspace():
            yield from split(buffer)
            buffer = ""
        buffer += line
        if len(buffer) > _BLOCK:
            *whole, buffer = split(buffer)
            yield from whole
            if len(buffer) > _BLOCK:  # a sentence without an end
                yield buffer
                buffer = ""
    if buffer:
        yield from split(buffer)


def _sentences(pieces: Iterable[str]) -> Iterator[str]:
    """Yield sentences with the spaces behind them; the first one with those before it."""
    held = ""
    for piece in pieces:
        words = piece.lstrip()
        held += piece[: len(piece) - len(words)]
        if words:
            if held.strip().strip(_MARK):
                yield held
                held = ""
            held += words
    if held:
        yield held


def _block(
    text: str, before: str, spans: Callable[[str], list[tuple[int, int]]], of_lines: bool, last: bool = False
) -> bytes:
    """Write a sentence: a line of the text, or a sentence with what is behind it."""
    begin = 0
    if not before and text.startswith(_MARK):
        begin = 1
    tokens = [(a + begin, b + begin) for a, b in spans(text[begin:])]
    if not tokens:
        comments = ["# text ="] if of_lines else []
        return "".join(f"{line}\n" for line in [*comments, f"# spaces = {_escaped(text)}", ""]).encode()
    ends = [a for a, _ in tokens[1:]] + [len(text)]
    rows = []
    for number, ((a, b), end) in enumerate(zip(tokens, ends, strict=True), 1):
        after, notes = text[b:end], []
        if number == 1 and a:
            notes.append(f"SpacesBefore={_escaped(text[:a])}")
        if not after:
            notes.append("SpaceAfter=No")
        elif after != " " or (last and number == len(tokens)):
            notes.append(f"SpacesAfter={_escaped(after)}")
        rows.append("\t".join([str(number), text[a:b], *"_______", "|".join(notes) or "_"]))
    shown = _SPACES.sub(" ", text[tokens[0][0] : tokens[-1][1]])
    comments = ["# newpar"] if not of_lines and (_BLANK.search(before) or not before) else []
    return "".join(f"{line}\n" for line in [*comments, f"# text = {shown}", *rows, ""]).encode()


def _escaped(spaces: str) -> str:
    return "".join(ESCAPES.get(x, x) for x in spaces)
