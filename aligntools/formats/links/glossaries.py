"""Glossaries: tables of source and target terms, and TBX (ISO 30042), read and written."""

import csv
import io
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, takewhile
from xml.sax.saxutils import escape, quoteattr

from aligntools.formats.opening import files
from aligntools.formats.opening.streamed_xml import read_xml, xml_root
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import split_words
from aligntools.words.white_space import same_language, tell_unwritten, whole_words

_log = logging.getLogger("aligntools")
#: The first line of tables that are written.
COLUMNS = (
    *("source", "target", "count", "p(target|source)", "p(source|target)", "score"),
    *("variants", "source example", "target example"),
)
_TBX_ROOTS = ("tbx", "martif")
#: What XML 1.0 cannot hold, or not as it is: controls, halves of surrogate pairs, and two that are no characters.
_NO_XML = re.compile("[\0-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
_LONGEST_CELL = 1 << 30
_ENTRIES, _LANGUAGES = ("conceptEntry", "termEntry"), ("langSec", "langSet")


def read_glossary(path: str, languages: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Read the term pairs of a glossary: tab-separated, CSV where no line has a tab, or TBX.

    Of a table the first two columns are read, without a first line as `COLUMNS` or else those that begin with ``#``. Of
    a concept in TBX every term of the one language, the first of ``languages`` or of the file, goes with all of the
    other.
    """
    with files.reading_bytes(path) as file:
        root = (xml_root(file.read(1 << 16) or b"") or "").rpartition(":")[2].lower()
    found = list(_of_tbx(path, languages) if root in _TBX_ROOTS else _of_table(path))
    if not found:
        raise DataError(path, None, "has no terms; a source term, a tab and a target term were expected on each line")
    return list(dict.fromkeys(found))


def _of_table(path: str) -> Iterator[tuple[str, str]]:
    text = list(files.text_lines(path))
    ours = [text[0].startswith(mark.join(COLUMNS[:3])) for mark in "\t,"] if text else [False, False]
    comma = ours[1] or not any("\t" in line for line in text)
    rows = _of_csv(path, text) if comma else (line.split("\t") for line in text)
    for number, row in enumerate(rows, 1):
        cells = [cell.strip(" ") for cell in row]
        if not any(cells) or (cells[0].startswith("#") and not any(ours)):
            continue
        if number == 1 and cells[:2] == list(COLUMNS[:2]):
            continue
        if len(cells) < 2 or not cells[0] or not cells[1]:
            expected = "a source term, a tab and a target term were expected"
            raise DataError(path, number, f"'{row[0][:60] if row else ''}' has no translation ({expected})")
        if any("\ud800" <= c <= "\udfff" for c in cells[0] + cells[1]):
            raise DataError(path, number, files.NOT_UTF8)
        yield cells[0], cells[1]


def _of_csv(path: str, text: Iterable[str]) -> Iterator[list[str]]:
    csv.field_size_limit(_LONGEST_CELL)
    rows = csv.reader(text)
    try:
        yield from rows
    except csv.Error as error:
        raise DataError(path, rows.line_num, f"is not CSV: {error}; put the cell in quotes") from None


def _of_tbx(path: str, languages: Sequence[str]) -> Iterator[tuple[str, str]]:
    order = list(languages)
    terms: dict[str, list[str]] = {}
    language = ""
    events = read_xml(path)
    for event in events:
        if event.kind == "start":
            if event.local in _ENTRIES:
                terms = {}
            elif event.local in _LANGUAGES:
                language = event.attributes.get("xml:lang") or event.attributes.get("lang") or "und"
                if len(order) < 2 and language not in order:
                    order.append(language)
            elif event.local == "term":
                inside = takewhile(lambda event: event.kind != "end" or event.local != "term", events)
                text = "".join(part.text for part in inside if part.kind == "text")
                terms.setdefault(language, []).append(" ".join(split_words(text.replace("\n", " "))))
        elif event.kind == "end" and event.local in _ENTRIES and len(order) == 2:
            sides = [list(chain(*(terms[name] for name in terms if same_language(side, name)))) for side in order]
            yield from ((a, b) for a in sides[0] for b in sides[1] if a and b)


def format_table(rows: Sequence[Sequence[str]], comma: bool = False) -> str:
    """Return rows as a table with `COLUMNS` above, tab-separated or CSV, without those that others would cut."""
    table = [row for row in rows if whole_words(row[:2]).all()]
    tell_unwritten(len(rows) - len(table))
    out = io.StringIO()
    if comma:
        csv.writer(out, lineterminator="\r\n").writerows(chain([COLUMNS], table))
        return out.getvalue()
    for row in chain([COLUMNS], table):
        out.write("\t".join(cell.translate(_PLAIN) for cell in row) + "\n")
    return out.getvalue()


_PLAIN = str.maketrans("\t\r\n", "   ")


def format_tbx(entries: Iterable[tuple[Sequence[str], Sequence[str], str]], languages: Sequence[str]) -> Iterator[str]:
    """Yield the text of TBX-Basic (ISO 30042:2019, DCA style), without terms that XML cannot hold.

    entries: Each side is its terms, the preferred one first, and last an example, which may be empty.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<tbx type="TBX-Basic" style="dca" xml:lang={quoteattr(languages[0])} xmlns="urn:iso:std:iso:30042:ed-2">\n'
    yield "  <tbxHeader>\n    <fileDesc>\n      <sourceDesc>\n        <p>Found in parallel text by aligntools.</p>\n"
    yield "      </sourceDesc>\n    </fileDesc>\n  </tbxHeader>\n  <text>\n    <body>\n"
    number = left_out = 0
    for source, target, note in entries:
        if _NO_XML.search(source[0] + target[0]):
            left_out += 1
            continue
        number += 1
        yield f'      <conceptEntry id="c{number}">\n        <note>{_text(note)}</note>\n'
        for language, (*terms, example) in zip(languages, (source, target), strict=True):
            yield f"        <langSec xml:lang={quoteattr(language)}>\n"
            left_out += sum(bool(_NO_XML.search(term)) for term in terms)
            for place, term in enumerate(term for term in terms if not _NO_XML.search(term)):
                yield f"          <termSec>\n            <term>{_text(term)}</term>\n"
                if example and not place:
                    yield f'            <descrip type="context">{_text(example)}</descrip>\n'
                yield "          </termSec>\n"
            yield "        </langSec>\n"
        yield "      </conceptEntry>\n"
    yield "    </body>\n  </text>\n</tbx>\n"
    if left_out:
        _log.warning("%d term%s left out: XML cannot hold their characters", left_out, "s" if left_out > 1 else "")


def _text(text: str) -> str:
    """Return text as XML has it, without the controls that it may not have."""
    return escape(_NO_XML.sub("", text).replace("\n", " "))
