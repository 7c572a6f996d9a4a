"""Surface tokens of CoNLL-U: ranges such as ``1-2 au`` in the place of their words, and the spaces between tokens.

Spaces are noted as UDPipe does, in MISC: ``SpaceAfter=No``, ``SpacesAfter=`` and ``SpacesBefore=`` where there is other
than one space, and ``SpacesInToken=``. What stands between sentences without a word is in comments ``# spaces =``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from aligntools.formats.annotation.conll import Conll, parse_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.ground.errors import UsageProblem
from aligntools.words.white_space import kept_returns

#: What has a meaning in MISC, and how it is written there.
ESCAPES = {"\\": "\\\\", " ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n", "|": "\\p"}
#: What a token may have of its own; all else belongs to its words.
OF_TOKENS = ("form", "misc")
#: What stands for a space in a word where spaces separate words.
NO_BREAK = b"\xc2\xa0"
_RANGE = re.compile(rb"([1-9]\d*)-([1-9]\d*)\t")
_TEXT = re.compile(rb"# ?text ?= ?(.*)", re.DOTALL)
_SPACES = re.compile(rb"# ?spaces ?= ?(.*)", re.DOTALL)
_PARAGRAPH = re.compile(rb"# ?new(?:par|doc)\b")
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
_BACK = {mark[1].encode(): plain.encode() for plain, mark in ESCAPES.items()}


@dataclass(eq=False, kw_only=True)
class Surface(Conll):
    """The surface tokens of a text in CoNLL, in the place of its words: lines of a range, or of a word that is in none.

    edges (int64 [tokens + 1]): Token ``k`` is the words ``edges[k]:edges[k + 1]`` of ``text``.
    """

    text: Conll
    edges: np.ndarray


def surface_of(conll: Conll) -> Surface:
    """Find the surface tokens of a text; reading has checked that ranges stand before their first words."""
    places, first = conll.places.copy(), np.ones(len(conll.places) + 1, bool)
    is_word = np.zeros(len(conll.lines), bool)
    is_word[conll.places] = True
    for k in np.flatnonzero(~is_word).tolist():
        if found := _RANGE.match(conll.lines[k]):
            word = int(np.searchsorted(conll.places, k))
            places[word] = k
            first[word + 1 : word + 1 + int(found[2]) - int(found[1])] = False
    edges = np.flatnonzero(first)
    of_tokens = {"places": places[first[:-1]], "offsets": np.searchsorted(edges, conll.offsets)}
    return Surface(**vars(conll) | of_tokens, text=conll, edges=edges)


def is_range(line: bytes) -> bool:
    """Return whether a line is that of a range."""
    return _RANGE.match(line) is not None


def expanded(conll: Conll, pieces: Sequence[Sequence[bytes] | None]) -> Conll:
    """Return a text without trees in which each word that has ``pieces`` [words] is a range of these.

    All are numbered anew. The range gets its word's form and MISC, its words have nothing but forms.
    """
    if not conll.layout.usual:
        raise UsageProblem(f"tokens are split in CoNLL-U; this is {conll.layout.name}")
    lines: list[bytes] = []
    words = iter(zip(conll.places.tolist(), pieces, strict=True))
    place, forms = next(words, (-1, None))
    number, starts = 1, set(conll.starts.tolist())
    for at, line in enumerate(conll.lines):
        if at in starts:
            number = 1
        if at != place:
            lines.append(line)
            continue
        body = line.rstrip(b"\n").removesuffix(b"\r")
        fields, end = body.split(b"\t"), line[len(body) :]
        if forms is None:
            lines.append(b"\t".join([b"%d" % number, *fields[1:]]) + end)
            number += 1
        else:
            nothing = [b"_"] * (len(fields) - 3)
            lines.append(
                b"\t".join([b"%d-%d" % (number, number + len(forms) - 1), fields[1], *nothing, fields[-1]]) + end
            )
            for form in forms:
                lines.append(b"\t".join([b"%d" % number, form, *nothing, b"_"]) + end)
                number += 1
        place, forms = next(words, (-1, None))
    return parse_conll(conll.path, lines, conll.first_line)


def without_spaces(values: Sequence[bytes], mark: bytes) -> list[bytes]:
    """Return values with a mark in the place of each space, as they stand where spaces separate them."""
    return [value.replace(b" ", mark) if b" " in value else value for value in values]


def with_spaces(values: Sequence[bytes], old: Sequence[bytes], mark: bytes) -> list[bytes]:
    """Return values that `without_spaces` may have written, in the place of old ones.

    A value that is still what was written stays as it was. Otherwise the mark is a space where the old value has one.
    """
    back = []
    for value, before in zip(values, old, strict=True):
        if b" " in before and value == before.replace(b" ", mark):
            value = before
        elif b" " in before:
            value = value.replace(mark, b" ")
        back.append(value)
    return back


def lines_of(values: Sequence[bytes], offsets: np.ndarray, mark: bytes) -> bytes:
    """Write one sentence a line, the values of its words between spaces."""
    values = without_spaces(values, mark)
    return kept_returns(b"".join(b" ".join(values[a:b]) + b"\n" for a, b in pairwise(offsets.tolist())))


def sentence_texts(conll: Conll) -> list[bytes]:
    """Return each sentence's raw text: its comment ``# text =``, or what its tokens and their spaces make."""
    surface = surface_of(conll)
    forms, miscs = surface.column(COLUMNS["form"]), surface.column(COLUMNS["misc"])
    texts, starts = [], conll.starts.tolist()
    for n, (begin, end) in enumerate(pairwise(surface.offsets.tolist())):
        found = None
        for line in conll.lines[starts[n] : starts[n + 1]]:
            if line.startswith(b"#") and (match := _TEXT.match(line)):
                found = match[1].rstrip(b"\r\n")
        if not found:
            pieces = []
            for form, misc in zip(forms[begin:end], miscs[begin:end], strict=True):
                after = _spaces(misc)[1]
                pieces += [form, b"" if after == b"" else b" "]
            found = b"".join(pieces).rstrip(b" ")
        texts.append(found)
    return texts


class Raw:
    """Raw text out of CoNLL-U, part after part."""

    def __init__(self) -> None:
        self._held = b""

    def add(self, conll: Conll) -> bytes:
        """Return the text of a part, but for a space behind its last token that is not noted."""
        surface, out = surface_of(conll), []
        forms, miscs = surface.column(COLUMNS["form"]), surface.column(COLUMNS["misc"])
        tokens = {place: k for k, place in enumerate(surface.places.tolist())}
        for place, line in enumerate(conll.lines):
            if place in tokens:
                k = tokens[place]
                before, after, inside = _spaces(miscs[k])
                out += [self._held, before, forms[k] if inside is None else inside]
                self._held = b" " if after is None else b""
                out.append(after or b"")
            elif line.startswith(b"#"):
                if found := _SPACES.match(line):
                    out += [self._held, unescaped(found[1].rstrip(b"\r\n"))]
                    self._held = b""
                elif self._held and _PARAGRAPH.match(line):
                    self._held = b"\n\n"
        return b"".join(out)

    def end(self) -> bytes:
        """Return what is behind the last token."""
        return b"\n" if self._held else b""


def unescaped(value: bytes) -> bytes:
    r"""Return spaces that are written as ``\s``, ``\n`` and so on."""
    return _ESCAPED.sub(lambda found: _BACK.get(found[1], found[0]), value)


def _spaces(misc: bytes) -> tuple[bytes, bytes | None, bytes | None]:
    """Return what is before, after and in a token, where MISC says so."""
    if b"Space" not in misc:
        return b"", None, None
    notes = dict(part.split(b"=", 1) for part in misc.split(b"|") if b"=" in part)
    after = notes.get(b"SpacesAfter")
    if after is not None:
        after = unescaped(after)
    elif notes.get(b"SpaceAfter") == b"No":
        after = b""
    inside = notes.get(b"SpacesInToken")
    return unescaped(notes.get(b"SpacesBefore", b"")), after, None if inside is None else unescaped(inside)


def check_column_of_tokens(place: int) -> None:
    """Refuse to put into surface tokens what belongs to their words."""
    if place not in [COLUMNS[name] for name in OF_TOKENS]:
        problem = "a surface token has form and misc alone; what else there is belongs to its words"
        raise UsageProblem(f"{problem} (`tokens=words`)")
