"""Columns of CoNLL extracted as lines of text, and inserted from lines or from another file."""

from collections.abc import Iterator, Mapping
from itertools import chain, islice, pairwise
from typing import Literal, TypeAlias

import numpy as np

from aligntools.formats.annotation import text_kinds
from aligntools.formats.annotation.conll import Conll, column_place, parse_parts, stream_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.annotation.conll_tokens import (
    Raw,
    Surface,
    check_column_of_tokens,
    lines_of,
    sentence_texts,
    surface_of,
    with_spaces,
    without_spaces,
)
from aligntools.formats.annotation.tagged_text import Tokens, filled_column, format_tagged, parts_of_kind
from aligntools.formats.inputs.annotation import PathLike, predicted_of
from aligntools.formats.opening import files
from aligntools.formats.text.text_settings import ColumnReading
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.ranges import shown
from aligntools.words.vocabulary import split_words
from aligntools.words.white_space import is_blank

Units: TypeAlias = Literal["words", "surface"]
Wanted: TypeAlias = Literal["words", "tagged", "column", "text", "raw"]
PutFormat: TypeAlias = Literal["auto", "conll", "tagged", "values"]

#: Stands for a space within a word where spaces separate words.
MARK = "\N{NO-BREAK SPACE}"
_PART = 10_000
_READING = ColumnReading()
_SAMPLE = 200  # lines that are looked at for words with tags


def take_out(
    path: PathLike,
    to: Wanted = "words",
    *,
    column: str | int | None = None,
    tokens: Units = "words",
    space: str = MARK,
    separator: bytes | None = None,
    reading: ColumnReading = _READING,
) -> Iterator[bytes]:
    """Take text or a column out of CoNLL, or words and tags out of text that has them, one sentence a line.

    to: Words, ``word_TAG``, a column's values, the sentences' ``# text =``, or the raw text before it was tokenized.
    column: For ``column``, and of the tags; None: UPOS.
    tokens: Syntactic words, or a token for each range: ``au`` for ``à le``.
    """
    where = (("column", column is not None, ("column", "tagged")), ("separator", separator is not None, ("tagged",)))
    of_words = ("words", "tagged", "column")
    for name, chosen, use in (*where, ("tokens", tokens != "words", of_words), ("space", space != MARK, of_words)):
        if chosen and to not in use:
            raise UsageProblem(f"`{name}` changes nothing with `to={to}`; it goes with {' or '.join(use)}")
    place, mark = column_place("upos" if column is None else column), space.encode()
    separator, raw = separator or text_kinds.SEPARATORS[0], Raw()
    for part in _any_parts(path, reading):
        if isinstance(part, Tokens):
            if to not in ("words", "tagged") or tokens != "words" or column is not None:
                option = f"`to={to}`" if to not in ("words", "tagged") else "`tokens`" if column is None else "`column`"
                problem = f"{text_kinds.KINDS[part.format]}, where CoNLL is expected: {option} is about its columns"
                raise DataError(path, None, problem)
            words = without_spaces(part.words, mark)
            if to == "words":
                yield lines_of(words, part.offsets, mark)
            else:
                tags = without_spaces(part.tags or [], mark)
                _check_tags(
                    tags, separator, path, part.lines[np.searchsorted(part.offsets, range(len(tags)), "right") - 1]
                )
                yield format_tagged(words, part.offsets, tags, separator)
            continue
        if to == "raw":
            yield raw.add(part)
            continue
        if to == "text":
            yield b"".join(text + b"\n" for text in sentence_texts(part))
            continue
        units = _units(part, tokens)
        shown = place if to == "column" else COLUMNS["form"]
        filled_column(part, shown)
        values = units.column(shown)
        if to == "tagged":
            tags = without_spaces(_tags(units, place), mark)
            _check_tags(tags, separator, part.path, part.first_line + units.places)
            yield format_tagged(without_spaces(values, mark), units.offsets, tags, separator)
        else:
            yield lines_of(values, units.offsets, mark)
    yield raw.end()


def put_in(
    path: PathLike,
    columns: Mapping[str | int, PathLike],
    *,
    tokens: Units = "words",
    space: str = MARK,
    format: PutFormat = "auto",
    separator: bytes | None = None,
    reading: ColumnReading = _READING,
) -> Iterator[bytes]:
    """Put columns into CoNLL and leave all else as it is: comments, ranges, empty nodes, other columns.

    columns: By column, lines of values, of ``word_TAG``, or CoNLL with the same FORMs (unless forms are put in).
    tokens: What there is a value for; surface tokens have FORM and MISC alone.
    """
    places = [column_place(column) for column in columns]
    for place in places:
        if place == COLUMNS["id"]:
            raise UsageProblem("ids are numbered by the words; they cannot be put in")
        if tokens == "surface":
            check_column_of_tokens(place)
    if len(set(places)) < len(places):
        raise UsageProblem("a column is given twice")
    mark = space.encode()
    how = tokens, format, separator, COLUMNS["form"] not in places
    sources = [_Values(source, place, *how) for place, source in zip(places, columns.values(), strict=True)]
    done = 0
    for part in stream_conll(path, _PART):
        part = part.predicted() if reading.predicted_columns else part
        units = _units(part, tokens)
        found = {source.place: source.take(units, part, done, path, mark) for source in sources}
        done += len(part)
        for place, values in found.items():  # refuse what another file has in its column and none can have
            if b"" in values:
                line = part.first_line + int(units.places[values.index(b"")])
                problem = f"the value for column {place + 1} is empty; give _ where there is none"
                raise DataError(part.path, line, problem)
        yield units.format(dict(found))
    for source in sources:
        source.end(path, done)


def _any_parts(path: PathLike, reading: ColumnReading) -> Iterator[Conll | Tokens]:
    with files.reading(path) as file:
        seen, lines = text_kinds.first_lines(file)
        kind, separator = text_kinds.sniff(seen)
        if kind not in ("trees", "tagged", "columns") or text_kinds.other_kind(
            [x.rstrip(b"\r\n") for x in seen if not is_blank(x)]
        ):
            text_kinds.refuse_for(path, seen, "conll")
            kind = "conll"
        for part in parts_of_kind(path, lines, kind, separator, _PART):
            if reading.predicted_columns:
                part = predicted_of(part)
            yield part


def _units(part: Conll, tokens: Units) -> Conll:
    return surface_of(part) if tokens == "surface" else part


def _tags(units: Conll, place: int) -> list[bytes]:
    """Return a tag for each unit: a range has those of its words, with a plus between."""
    if not isinstance(units, Surface):
        return filled_column(units, place)
    tags = filled_column(units.text, place)
    return [b"+".join(tags[a:b]) for a, b in pairwise(units.edges.tolist())]


def _check_tags(tags: list[bytes], separator: bytes, path: PathLike, lines: np.ndarray) -> None:
    """Refuse a tag that could not be told from its word again."""
    wrong = next((k for k, tag in enumerate(tags) if separator in tag), None)
    if wrong is not None:
        problem = f"tag '{shown(tags[wrong])}' has the separator '{shown(separator)}' in it; use another `separator`"
        raise DataError(path, int(lines[wrong]), problem)


def _goes_on(token: bytes, start: bytes) -> bool:
    return token.startswith(start) and len(token) > len(start)


class _Values:
    """Values of a column, from lines or from CoNLL, by sentences."""

    def __init__(
        self, path: PathLike, place: int, tokens: Units, format: PutFormat, separator: bytes | None, same_forms: bool
    ):
        self.path, self.place, self._tokens, self._format = path, place, tokens, format
        self._same_forms = same_forms
        self._separator, self._looks_tagged = separator or text_kinds.SEPARATORS[0], format == "tagged"
        self._name, self._parts = "lines", self._read(separator)

    def _read(self, separator: bytes | None) -> Iterator[Conll | list[bytes]]:
        with files.reading(self.path) as file:
            seen, telling = text_kinds.beginning(file)
            lines = chain(seen, file)  # seen may grow until lines are taken
            if self._format == "conll" or (self._format == "auto" and text_kinds.conll_at(seen, telling)):
                self._name = "sentences"
                yield from parse_parts(self.path, lines, _PART)
                return
            if self._format != "values":
                seen += islice(file, _SAMPLE)
                kind, self._separator = text_kinds.sniff(seen, ("tagged", "text"), separator)
                self._looks_tagged |= kind == "tagged"
            while part := list(islice(lines, _PART)):
                yield [line.removesuffix(b"\n").removesuffix(b"\r") for line in part]

    def take(self, units: Conll, part: Conll, done: int, path: PathLike, mark: bytes) -> list[bytes]:
        """Return a value for each unit of a part of the CoNLL, before which there are ``done`` sentences."""
        found = next(self._parts, None)
        rows: list[list[bytes]] = []
        if isinstance(found, Conll):
            own = _units(found, self._tokens)
            values, edges = own.column(self.place), own.offsets.tolist()
            rows = [values[a:b] for a, b in pairwise(edges)]
            numbers = found.sentence_lines().tolist()
        elif found is not None:
            rows = [split_words(line) for line in found]
            numbers = list(range(done + 1, done + len(rows) + 1))
        lengths = np.diff(units.offsets).tolist()
        for k, (row, length) in enumerate(zip(rows, lengths, strict=False)):
            if len(row) != length:
                unit = {"words": "words", "surface": "surface tokens"}[self._tokens]
                where = f"the sentence at line {part.sentence_lines()[k]} of {path} has {length} {unit}"
                raise DataError(self.path, numbers[k], f"{len(row)} values, where {where} (see `tokens` and `space`)")
        if isinstance(found, Conll):
            # CoNLL whose words are others is refused, as far as there are both
            pairs = zip(own.column(COLUMNS["form"]), units.column(COLUMNS["form"]), strict=False)
            for k, pair in enumerate(pairs if self._same_forms else ()):
                if pair[0] != pair[1]:
                    form, expected = map(shown, pair)
                    there = f"{path} has '{expected}' at line {part.first_line + int(units.places[k])}"
                    problem = (
                        f"the word '{form}', where {there} (take the values out with `aligntools conll` and use"
                        " `format=values` to put them in as they are)"
                    )
                    raise DataError(self.path, found.first_line + int(own.places[k]), problem)
        elif found is not None:
            rows = self._tags_of(rows, units, numbers, mark)
        if len(rows) < len(part):
            problem = f"this sentence has no values: {self.path} ends after {done + len(rows)} {self._name}"
            raise DataError(path, int(part.sentence_lines()[len(rows)]), problem)
        if len(rows) > len(part):
            self._too_many(path, int(numbers[len(part)]))
        taken = [value for row in rows for value in row]
        return taken if isinstance(found, Conll) else with_spaces(taken, units.column(self.place), mark)

    def _tags_of(self, rows: list[list[bytes]], units: Conll, numbers: list[int], mark: bytes) -> list[list[bytes]]:
        """Return the tags of rows of ``word_TAG``, or the rows where they are values."""
        # what each unit's token of word_TAG begins with
        starts = [form + self._separator for form in without_spaces(units.column(COLUMNS["form"]), mark)]
        if self._format == "auto" and any(rows):
            edges = units.offsets.tolist()
            k = next(k for k, row in enumerate(rows) if row)
            here = slice(edges[min(k, len(edges) - 1)], edges[min(k + 1, len(edges) - 1)])
            same = rows[k] == without_spaces(units.column(self.place)[here], mark)
            fits = all(map(_goes_on, rows[k], starts[here])) and bool(starts[here])
            self._format = "tagged" if not same and (fits or self._looks_tagged) else "values"
        if self._format != "tagged":
            return rows
        if self.place == COLUMNS["form"] and any(rows):
            problem = "word_TAG lines, where forms are to be put in; take the words out of them first"
            raise DataError(self.path, numbers[0], problem)
        expected = iter(starts)
        found = []
        for row, number in zip(rows, numbers, strict=True):
            begins = list(islice(expected, len(row)))
            for token, start in zip(row, begins, strict=False):
                if not _goes_on(token, start):
                    problem = f"word_TAG lines, and '{shown(token)}' is not '{shown(start)}' and a tag"
                    raise DataError(self.path, number, f"{problem} (`format=values` puts lines in as they are)")
            found.append([token[len(start) :] for token, start in zip(row, begins, strict=False)])
        return found

    def end(self, path: PathLike, done: int) -> None:
        found = next(self._parts, None)
        if found is not None and len(found):
            self._too_many(path, int(found.sentence_lines()[0]) if isinstance(found, Conll) else done + 1)

    def _too_many(self, path: PathLike, line: int) -> None:
        raise DataError(self.path, line, f"there are more {self._name} than sentences in {path}")
