"""Documents whose segments are translated: XLIFF, TMX, HTML, DOCX; which one a file is."""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from typing import Any, TypeAlias

from aligntools.formats.markup import webpages
from aligntools.formats.markup.docx import Docx, read_docx
from aligntools.formats.markup.webpages import Page, read_page
from aligntools.formats.markup.xliff import TranslationFile, read_translations
from aligntools.formats.opening import files
from aligntools.formats.opening.recognition import ARCHIVE
from aligntools.formats.opening.streamed_xml import xml_root
from aligntools.ground.errors import DataError, UsageProblem

#: A `TranslationFile`, `Page` or `Docx`. Each has ``segments`` with ``source``, ``target`` and ``unchanged``: whether
#: the translation is the very text of the source, so that it stays; ``wanted``, which of them are written again; and
#: ``others``: what is no segment for all its text, by why, counted. ``why_left(segment)`` says why one that is not
#: wanted is left as it is, ``with_targets(pairs)`` makes the document's bytes with some segments replaced.
Document: TypeAlias = Any


def read_document(path: Any, languages: str | None = None) -> TranslationFile | Page | Docx:
    """Read a document of any compression: DOCX if it is a ZIP archive, XLIFF or TMX by its first tag, else HTML."""
    data = _data(path)
    if data.startswith(ARCHIVE) and languages is None:
        return read_docx(data, path)
    root = xml_root(data) or ""
    if root == "tmx":
        return read_translations(data, path, True, languages)
    if languages is not None:
        raise UsageProblem("`languages` is for TMX documents, and this is none")
    if root and root.lower() not in webpages.ELEMENTS:
        return read_translations(data, path, False)
    page = read_page(data, path)
    if not webpages.ANY_TAG.search(page.text):
        raise DataError(path, None, "is no document of XLIFF, TMX, HTML or DOCX: it has no tags")
    return page


def read_translation(document: Page | Docx, path: Any) -> Page | Docx:
    """Return a document with the translations of another file: a document of its kind, or lines of text.

    Text that begins with a tag and has tags of blocks is an HTML document; not where the document's own text begins
    with such a tag, and there is a line for each segment.
    """
    data = _data(path)
    if isinstance(document, Docx):
        zipped = data.startswith(ARCHIVE)
        return document.with_page(read_docx(data, path)) if zipped else document.with_lines(_lines(data, path), path)
    if data.startswith(ARCHIVE):
        raise DataError(path, None, "is a ZIP archive; give an HTML document, or lines of text")
    if data.removeprefix(BOM_UTF8).lstrip().startswith((b"<", BOM_UTF16_LE, BOM_UTF16_BE)):
        page = read_page(data, path)
        if any(one.block for one in page.segments):
            about_tags = document.plain()[:1] and document.plain()[0].startswith("<")
            if not about_tags or data.rstrip(b"\n").count(b"\n") + 1 != len(document.segments):
                return document.with_page(page)
    return document.with_lines(_lines(data, path), path)


def _data(path: Any) -> bytes:
    with files.reading_bytes(path, archive=True) as file:
        return b"".join(iter(lambda: file.read(1 << 20), b""))


def _lines(data: bytes, path: Any) -> Iterator[str]:
    """Yield lines of text."""
    lines = data.removeprefix(BOM_UTF8).split(b"\n")
    for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            problem = f"byte {error.start + 1} is not UTF-8; convert the file to UTF-8"
            raise DataError(path, number, problem) from None
