"""SVG drawn by Python: elements, and estimates of how wide text is."""

import unicodedata
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from aligntools.ground.errors import visible

FONT = "system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"
#: Sizes of the words of trees and of their tags, and the height that both take, in pixels.
WORD_SIZE, TAG_SIZE, WORDS = 15, 11, 40.0
_NARROW, _BROAD = frozenset("iljtfrI.,:;'|!()[]- "), frozenset("mwMW@%")

#: Kind of an arc or a constituent: its color, the pattern of its line, its width, and the sign before its label.
KINDS = {
    "plain": ("#5b6268", None, 1.3, ""),
    "right": ("#5b6268", None, 1.3, ""),
    "label": ("#8a5a00", None, 1.8, "◇ "),
    "wrong": ("#c2410c", "6 3", 1.8, "✗ "),
    "missed": ("#1b5e9e", "1.5 3.5", 2.0, "○ "),
}
#: The same colors on a dark page.
DARK = {"plain": "#9aa3ab", "right": "#9aa3ab", "label": "#e6b450", "wrong": "#ff9466", "missed": "#79b8f3"}


def text_width(text: str, size: float) -> float:
    """Return about how wide text is in a sans-serif font of so many pixels; a little more rather than less."""
    return size * sum(map(_em, text))


def _em(c: str) -> float:
    if c.isascii():
        return 0.33 if c in _NARROW else 0.92 if c in _BROAD else 0.7 if c.isupper() else 0.58
    if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Me", "Cf"):
        return 0.0
    return 1.02 if unicodedata.east_asian_width(c) in "WF" else 0.72 if c.isupper() else 0.62


def element(
    parent: ElementTree.Element, name: str, text: str | None = None, **attributes: object
) -> ElementTree.Element:
    """Add an element to another; ``_`` in names of attributes stands for ``-``, numbers are written short."""
    made = ElementTree.SubElement(parent, name, _attributes(attributes))
    if text is not None:
        made.text = visible(text)
    return made


def picture(width: float, height: float, title: str, style: str = "") -> ElementTree.Element:
    """Return the root of a picture, with a title for those who hear it."""
    sizes: dict[str, object] = {"width": width, "height": height, "viewBox": f"0 0 {_short(width)} {_short(height)}"}
    root = ElementTree.Element("svg", _attributes({"xmlns": "http://www.w3.org/2000/svg", **sizes, "role": "img"}))
    element(root, "title", title)
    if style:
        element(root, "style").text = style
    return root


def written(root: ElementTree.Element) -> str:
    """Return a picture as text."""
    return ElementTree.tostring(root, encoding="unicode")


def widen(widths: list[float], begin: int, end: int, needed: float) -> None:
    """Widen ``widths[begin:end]``, each by as much, until together they have what is needed."""
    lacking = needed - sum(widths[begin:end])
    for k in range(begin, end) if lacking > 0 else ():
        widths[k] += lacking / (end - begin)


def draw_words(
    root: ElementTree.Element, centers: Sequence[float], top: float, words: Sequence[str], tags: Sequence[str] | None
) -> None:
    """Draw the words of a tree, and their tags below them."""
    group = element(root, "g", class_="tree-words", font_family=FONT, text_anchor="middle")
    for k, (x, word) in enumerate(zip(centers, words, strict=True)):
        element(group, "text", word, x=x, y=top + 17, font_size=WORD_SIZE, fill="#1c1f22")
        if tags:
            element(group, "text", tags[k], class_="tag", x=x, y=top + 32, font_size=TAG_SIZE, fill="#5b6268")


def _attributes(given: Mapping[str, object]) -> dict[str, str]:
    return {k.rstrip("_").replace("_", "-"): _short(v) for k, v in given.items() if v is not None}


def _short(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
