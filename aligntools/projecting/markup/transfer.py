"""Tags of one segment carried over to its translation."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from aligntools.formats.markup.segments import Mark, Segment, decoded, render
from aligntools.formats.models.modelfile import hold, read_model
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.declarations import Settings, documented, option
from aligntools.projecting.markup.placement import (
    BY_EDGE,
    BY_POSITION,
    SIZE,
    Evidence,
    Floats,
    MarkupSide,
    Placed,
    Placement,
    SparseLinks,
)
from aligntools.projecting.markup.words import RawSentence, WordFinder, between_pieces, missing_placeholders

Markup: TypeAlias = Literal["xml", "usfm"]
Splits: TypeAlias = Literal["once", "repeat"]


@documented
@dataclass(frozen=True)
class MarkupSettings(Settings):
    """How tags are placed."""

    markup: Markup = option(
        "xml",
        "Which tags segments have: those of XML and HTML, or USFM's markers (\\nd ...\\nd*, \\p, \\v 3, notes).",
        group="Tags",
    )
    split_spans: Splits = option(
        "once",
        "If the words in a tag are not adjacent in the translation: once puts the tag around all of them, repeat around"
        " each part. A link (<a>) and a tag with an id stand once always.",
        group="Tags",
    )


#: What the file of weights is, and where it is.
KIND = "markup-spans"
_WEIGHTS = Path(__file__).parent / "spans.safetensors"
#: Links less probable than this are not looked at.
LEAST = 0.01
#: How a tag was placed where the translation is the text of the source itself; besides those of `placing`.
COPY = "copy"
#: Words of a side, of their pieces and of characters, with more of which a segment is too long for links.
WORDS, _PIECES, CHARACTERS = Reading.max_length, 5_000, 100_000
#: From this on a word belongs to a tag, or to what is outside.
_SURE = 0.5


@cache
def span_weights() -> Floats:
    """Return the weights of `features`, which were learned from a website in nine languages; the header names it."""
    _, arrays = read_model(_WEIGHTS, KIND)
    return hold(arrays, "weights", (SIZE,), np.float32).astype(np.float64)


@dataclass(frozen=True)
class PlacedTag:
    """A tag of the source in the translation.

    Attributes
    ----------
    tag : str
        As it is written.
    begin, end : int
        Of what is between it and its end tag, in the target's text; the same for a tag that encloses nothing. Where it
        is repeated, of the first.
    confidence : float
        Probability that it belongs exactly there, as far as links and what stands around it say.
    linked : float
        Part of the words in it whose links end within its place, by their probabilities.
    how : str
        ``links``; ``neighbours``, where its words are not linked or it has none; ``edge``, at an end of the segment or
        around all of it as in the source; ``squeezed``, where the words belong to other tags; ``copy``, where the
        translation is the text of the source itself; ``position``, as far along as in the source, in a segment that is
        too long for links.
    """

    tag: str
    begin: int
    end: int
    confidence: float
    linked: float
    how: str


@dataclass(frozen=True)
class MarkedText:
    """A translation with its tags.

    Attributes
    ----------
    text : str
    tags : list of PlacedTag
        In the order of the source.
    missing, added : list of str
        Placeholders (``{0}``, ``%s``, addresses) that the source has more often than the translation, and the reverse.
    problem : str
        Why the translation is as it was given: tags that are not well-formed, or its own; empty for most.
    """

    text: str
    tags: list[PlacedTag]
    missing: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    problem: str = ""


@dataclass(frozen=True)
class Prepared:
    """A segment and its translation, as it is written, cut into words; marks count the source text's characters.

    places: Where the characters of the target's text begin in ``target``.
    same: Where each character of the source, and its end, is in the target, if both are the same text.
    """

    segment: Segment
    target: str
    sides: tuple[RawSentence, RawSentence]
    places: Sequence[int]
    marks: list[Mark]
    same: list[int] | None = None

    @property
    def over_long(self) -> bool:
        """Whether it is too long for links."""
        return any(
            len(side.text) > CHARACTERS or len(side.spans) > _PIECES or len(side.words) > WORDS for side in self.sides
        )

    @property
    def words(self) -> tuple[list[str], list[str]]:
        """The aligned words."""
        return ([], []) if self.over_long else (self.sides[0].words, self.sides[1].words)


def prepare(segment: Segment, target: str, finders: Sequence[WordFinder]) -> Prepared:
    """Return a segment and its translation cut into words."""
    text, places = decoded(segment.text)
    marks = segment.marks
    if len(text) != len(segment.text):
        at = list(places)
        moved = [(bisect_left(at, mark.begin), bisect_left(at, mark.end)) for mark in marks]
        marks = [replace(m, begin=begin, end=end) for m, (begin, end) in zip(marks, moved, strict=True)]
    plain, target_places = decoded(target)
    cuts = {place for mark in marks for place in (mark.begin, mark.end)}
    same = _same_places(text, plain) if marks else None
    sides = tuple(
        finder(side, places) if max(len(text), len(plain)) <= CHARACTERS else RawSentence(side, [], [], [])
        for finder, side, places in zip(finders, (text, plain), (cuts, ()), strict=True)
    )
    return Prepared(segment, target, (sides[0], sides[1]), target_places, marks, same)


def _same_places(source: str, target: str) -> list[int] | None:
    """Return where characters of a text are in another that differs from it in white space alone, or not at all."""
    if "".join(source.split()) != "".join(target.split()):
        return None
    runs = [map(len, re.split(r"\S", text)) for text in (source, target)]
    places, at = [], 0
    for ours, theirs in zip(*runs, strict=True):
        places += [at + (theirs if ours and k == ours else min(k, theirs)) for k in range(ours + 1)]
        at += theirs + 1
    return places


def transferred(prepared: Prepared, links: SparseLinks, settings: MarkupSettings) -> MarkedText:
    """Return the translation with the tags of its source, by links between the words of both."""
    texts = prepared.sides[0].text, prepared.sides[1].text
    lacking = missing_placeholders(*texts), missing_placeholders(*texts[::-1])
    if not prepared.marks:
        return MarkedText(prepared.target, [], *lacking)
    if (same := prepared.same) is not None:
        spans = [[(same[mark.begin], same[mark.end])] for mark in prepared.marks]
        placed = [PlacedTag(mark.shown, 0, 0, 1.0, 1.0, COPY) for mark in prepared.marks]
    elif prepared.over_long:
        spans = _by_position(prepared.marks, *prepared.sides)
        placed = [PlacedTag(mark.shown, 0, 0, 0.0, 0.0, BY_POSITION) for mark in prepared.marks]
    else:
        spans, placed = _by_links(prepared, links, settings)
    raw = [[(prepared.places[a], prepared.places[b]) for a, b in parts] for parts in spans]
    tags = [replace(one, begin=parts[0][0], end=parts[0][1]) for one, parts in zip(placed, raw, strict=True)]
    return MarkedText(render(prepared.target, prepared.segment.marks, raw), tags, *lacking)


def _by_links(
    prepared: Prepared, links: SparseLinks, settings: MarkupSettings
) -> tuple[list[list[tuple[int, int]]], list[PlacedTag]]:
    """Return where each mark stands, in characters of the target's text, and how sure that is."""
    source, target = (MarkupSide(side.text, side.spans) for side in prepared.sides)
    evidence = Evidence(source, target, between_pieces(*prepared.sides, links))
    placement = Placement(prepared.marks, evidence, span_weights())
    placed = placement.place()
    pieces = [_pieces(placement, k, one, settings) for k, one in enumerate(placed)]
    spans = [
        [_characters(mark, one, piece, source, target) for piece in parts]
        for mark, one, parts in zip(prepared.marks, placed, pieces, strict=True)
    ]
    _settle(prepared.marks, pieces, spans, len(target.text))
    tags = []
    for mark, one, span in zip(prepared.marks, placed, placement.source, strict=True):
        linked = evidence.linked(span.begin, span.end, one.begin, one.end)
        tags.append(PlacedTag(mark.shown, one.begin, one.end, one.confidence, linked, one.how))
    return spans, tags


def _by_position(marks: Sequence[Mark], source: RawSentence, target: RawSentence) -> list[list[tuple[int, int]]]:
    """Return where marks stand that are as far along as in the source, in characters: at the next ends of words."""
    size, words = max(len(source.text), 1), [found.span() for found in re.finditer(r"\S+", target.text)]
    begins, ends = np.array([0, *(a for a, _ in words)]), np.array([*(b for _, b in words), len(target.text)])

    def nearest(places: npt.NDArray[np.int64], place: int) -> int:
        goal = place * len(target.text) / size
        at = max(int(np.searchsorted(places, goal)) - 1, 0)
        return int(min(places[at : at + 2], key=lambda place: abs(place - goal)))

    found = [(nearest(begins, mark.begin), nearest(ends, mark.end)) for mark in marks]
    spans = [[(begin, max(begin, end))] for begin, end in found]
    _settle(marks, spans, spans, len(target.text))
    return spans


def _pieces(placement: Placement, k: int, placed: Placed, settings: MarkupSettings) -> list[tuple[int, int]]:
    """Return the words that a mark stands around: one span, or where it is repeated the parts of it."""
    mark, span = placement.marks[k], placement.source[k]
    whole = [(placed.begin, placed.end)]
    leaf = k not in placement.parents
    if settings.split_spans == "once" or mark.once or not mark.pair or not leaf or placed.how == BY_EDGE:
        return whole
    inside, outside = placement.evidence.mass(span.begin, span.end)
    own = (inside > outside) & (inside >= _SURE)
    other = (outside > inside) & (outside >= _SURE)
    parts, begin = [], placed.begin
    while begin < placed.end:
        gap = next((j for j in range(begin, placed.end) if other[j]), placed.end)
        if gap > begin and own[begin:gap].any():
            parts.append((begin, gap))
        begin = gap + 1
    return parts or whole


def _characters(
    mark: Mark, placed: Placed, piece: tuple[int, int], source: MarkupSide, target: MarkupSide
) -> tuple[int, int]:
    """Return the characters of the target that a mark stands around, white space at its ends as in the source."""
    first, last = piece
    text, size = source.text, len(target.spans)
    if first == last:  # a tag without text stands before a character, for the word before which it does
        if first == 0 and mark.begin == 0:
            place = 0
        elif first == size and mark.end == len(text):
            place = len(target.text)
        elif first < size and (first == 0 or text[mark.begin - 1 : mark.begin].isspace()):
            place = int(target.begins[first])
        else:
            place = int(target.ends[first - 1]) if first else 0
        return place, place
    begin, end = int(target.begins[first]), int(target.ends[last - 1])
    if first == 0 and (mark.begin == 0 or text[mark.begin : mark.begin + 1].isspace()):
        begin = 0
    elif first and text[mark.begin : mark.begin + 1].isspace():
        begin = int(target.ends[first - 1])
    if last == size and (mark.end == len(text) or text[mark.end - 1 : mark.end].isspace()):
        end = len(target.text)
    elif last < size and text[mark.end - 1 : mark.end].isspace():
        end = int(target.begins[last])
    return begin, end


def _settle(
    marks: Sequence[Mark], pieces: Sequence[Sequence[tuple[int, int]]], spans: list[list[tuple[int, int]]], length: int
) -> None:
    """Change places so that marks lie within theirs and do not overlap, whatever white space they took."""
    children: dict[int, list[tuple[int, int, int, int]]] = {}
    for k, parts in enumerate(pieces):
        for n, (begin, end) in enumerate(parts):
            children.setdefault(marks[k].parent, []).append((begin, end, k, n))
    stack = [(-1, 0, length)]
    while stack:
        parent, low, high = stack.pop()
        at = low
        for _begin, _end, k, n in sorted(children.get(parent, ())):
            begin, end = spans[k][n]
            begin = min(max(begin, at), high)
            at = end = min(max(end, begin), high)
            spans[k][n] = begin, end
            stack.append((k, begin, end))
