"""Tiny DOCX documents for tests."""

import zipfile

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type="link" Target="{}" TargetMode="External"/></Relationships>'
)


def text(words, look=""):
    """A run of text."""
    properties = f"<w:rPr>{look}</w:rPr>" if look else ""
    return f'<w:r w:rsidR="00A1">{properties}<w:t xml:space="preserve">{words}</w:t></w:r>'


def paragraph(*runs, properties=""):
    """A paragraph."""
    return f"<w:p>{properties}{''.join(runs)}</w:p>"


def body(*paragraphs):
    """The main part."""
    inner = "".join(paragraphs)
    declared = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f"{declared}<w:document {W} {R}><w:body>{inner}<w:sectPr/></w:body></w:document>"


def write_docx(path, main, link="http://a.org/", **parts):
    """Write a document of a main part and others, ``word_header1`` for ``word/header1.xml``."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/_rels/document.xml.rels", RELATIONS.format(link))
        archive.writestr("word/document.xml", main)
        archive.writestr("word/media/image1.png", bytes(range(256)))
        for name, data in parts.items():
            archive.writestr(name.replace("_", "/", 1) + ".xml", data)
    return path


def parts_of(path):
    """The parts of a document, by name, in order."""
    with zipfile.ZipFile(path) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}
