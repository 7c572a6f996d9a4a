"""Bilingual dictionaries of Apertium (``.dix``): XML with entries of a left and a right side.

Grammar (``<s n="..."/>``) is left out, ``<b/>`` is a space, and entries for one direction of translation alone
(``r="LR"``) are entries as others are. ``<i>`` is what both sides have. Entries with patterns (``<re>``), those that
are to be ignored, and paradigms are passed over.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from aligntools.formats.links.entries import Entry, plain
from aligntools.ground.errors import DataError

_BEGIN = re.compile(rb"\s*(<\?xml[^>]*\?>)?(\s|<!--.*?-->|<!DOCTYPE[^>]*>)*<dictionary[\s>]", re.DOTALL)


def is_dictionary(data: bytes) -> bool:
    """Tell whether a file's content begins as such a dictionary, or as XML of another kind."""
    return bool(_BEGIN.match(data)) or data.lstrip()[:5] in (b"<?xml", b"<!DOC") or data.lstrip()[:4] == b"<TEI"


def entries(path: str, data: bytes) -> Iterator[Entry]:
    """Yield the entries of a dictionary.

    Raises DataError when it is no XML, or no dictionary of two languages.
    """
    if not _BEGIN.match(data):
        raise DataError(path, None, "is XML, and not a dictionary of Apertium (<dictionary>); convert it to lines")
    try:
        root = ET.fromstring(data)
    except ET.ParseError as error:
        raise DataError(path, error.position[0], f"is not XML: {str(error).split(':')[0]}") from None
    if root.find("./section/e/p") is None:
        raise DataError(path, None, "has no pairs <p> in its sections: it is not a dictionary of two languages")
    for entry in root.iterfind("./section/e"):
        if entry.get("i") == "yes" or entry.find("re") is not None:
            continue
        sides = ["", ""]
        for part in entry:
            if part.tag == "i":
                sides = [side + _text(part) for side in sides]
            elif part.tag == "p":
                sides = [side + _text(part.find(name)) for side, name in zip(sides, "lr", strict=True)]
        yield Entry(plain(sides[0]), plain(sides[1]))


def _text(element: ET.Element | None) -> str:
    """Return the words of a side."""
    if element is None:
        return ""
    found = element.text or ""
    for part in element:
        if part.tag == "g":
            found += _text(part)
        elif part.tag in ("b", "j"):
            found += " "
        found += part.tail or ""
    return found
