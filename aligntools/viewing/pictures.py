"""One sentence pair with its links, and its picture as SVG: text in generic fonts, no script, for light paper.

The signs are those of the page: filled squares are links (right ones, where there is gold), crossed squares false ones,
rings missed ones; solid frames are sure gold links, broken ones possible. Several systems share each cell.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from xml.sax.saxutils import escape

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.ground.errors import UsageProblem
from aligntools.viewing.drawing import text_width

#: The name of a system, its links for every pair, and their probabilities, NaN for links without one.
ShownSystem: TypeAlias = tuple[str, Links, np.ndarray | None]


@dataclass(frozen=True)
class ShownPair:
    """A sentence pair, its number, links with probabilities or NaN of each system, and gold links if it has any."""

    number: int
    source: list[str]
    target: list[str]
    links: tuple[dict[tuple[int, int], float], ...]
    sure: frozenset[tuple[int, int]] | None = None
    possible: frozenset[tuple[int, int]] | None = None

    def verdict(self, system: int, link: tuple[int, int]) -> str:
        """Return ``right``, ``wrong``, ``missed``, ``plain`` where there is no gold, or "" where nothing is said."""
        linked = link in self.links[system] if self.links else False
        if self.sure is None or self.possible is None:
            return "plain" if linked else ""
        if linked:
            return "right" if link in self.possible else "wrong"
        return "missed" if link in self.sure else ""

    def aer(self, system: int) -> float | None:
        """Return the error rate of one system; None where there is no gold."""
        if self.sure is None or self.possible is None:
            return None
        own = self.links[system].keys()
        size = len(own) + len(self.sure)
        return 1 - (len(own & self.sure) + len(own & self.possible)) / size if size else 0.0


FORMS = ("matrix", "ribbon")
#: Words of the longer side up to which a pair is drawn as a matrix unless the form is given.
MATRIX_WORDS = 25

_INK, _SOFT, _LINE, _TINT = "#1c1f22", "#5b6268", "#d5d9dd", "#dbe8f5"
_COLOR = {"right": "#1b5e9e", "plain": "#1b5e9e", "wrong": "#c2410c", "missed": "#8a5a00"}
_MEANING = {"right": "right", "wrong": "false", "missed": "missed", "plain": "link"}
_TURNED = {"start": "end", "middle": "middle", "end": "start"}  # anchors as they look, from right to left
_FONT = 'font-family="sans-serif" font-size="14"'
_CELL, _SIZE, _SLANT = 22, 14, 55  # pixels of a cell and of letters, degrees of slanted labels


def picture(pair: ShownPair, names: Sequence[str], form: str | None = None) -> str:
    """Return a pair as an SVG document; without a form it is a matrix up to `MATRIX_WORDS` words."""
    if form is None:
        form = "matrix" if max(len(pair.source), len(pair.target)) <= MATRIX_WORDS else "ribbon"
    if form not in FORMS:
        raise UsageProblem(f"no form '{form}'; there are {' and '.join(FORMS)}")
    width, height, drawn = (_matrix if form == "matrix" else _ribbon)(pair)
    legend, deep = _legend(pair, names, form, height)
    width = max(width, 8 + max((text_width(text, _SIZE) for text, _ in legend), default=0) + 24)
    described = escape(f"{' '.join(pair.source)} – {' '.join(pair.target)}")
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height + deep:.0f}"'
        f' viewBox="0 0 {width:.0f} {height + deep:.0f}" {_FONT} fill="{_INK}" role="img">'
    )
    paper = f'<rect width="{width:.0f}" height="{height + deep:.0f}" fill="#fff"/>'
    shapes = [paper, *drawn, *(shape for _, shape in legend)]
    return "\n".join([head, f"<title>Pair {pair.number}</title>", f"<desc>{described}</desc>", *shapes, "</svg>\n"])


def _width(words: Sequence[str]) -> float:
    return max((text_width(word, _SIZE) for word in words), default=0.0)


def _text(word: str, x: float, y: float, anchor: str = "start", more: str = "", turned: bool = False) -> str:
    """Return a text; in a sentence from right to left (``turned``) brackets open to the left."""
    anchor = _TURNED[anchor] if turned else anchor
    order = 'direction="rtl" unicode-bidi="embed"' if turned else 'unicode-bidi="plaintext"'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {order}{more}>{escape(word)}</text>'


def _shade(probability: float) -> str:
    return "" if math.isnan(probability) else f' opacity="{0.25 + 0.75 * min(probability, 1.0):.2f}"'


def _sign(what: str, x: float, y: float, size: float, probability: float = math.nan) -> str:
    color = _COLOR[what]
    if what == "missed":
        place = f'cx="{x:.1f}" cy="{y:.1f}" r="{size * 0.85:.1f}"'
        return f'<circle {place} fill="none" stroke="{color}" stroke-width="2"/>'
    left, top, wide = x - size, y - size, 2 * size
    box = f"M{left:.1f} {top:.1f}h{wide:.1f}v{wide:.1f}h{-wide:.1f}z"
    if what != "wrong":
        return f'<path d="{box}" fill="{color}"{_shade(probability)}/>'
    cross = f"M{left:.1f} {top:.1f}l{wide:.1f} {wide:.1f}m{-wide:.1f} 0l{wide:.1f} {-wide:.1f}"
    paint = f'fill="{color}" fill-opacity="0.15" stroke="{color}" stroke-width="2"'
    return f'<path d="{box}{cross}" {paint}{_shade(probability)}/>'


def _frame(sure: bool, x: float, y: float, cell: float) -> str:
    paint = f'fill="{_TINT}" stroke-width="1.5"' if sure else 'fill="none" stroke-width="1.25" stroke-dasharray="3 2"'
    size = cell - 3
    return (
        f'<rect x="{x + 1.5:.1f}" y="{y + 1.5:.1f}" width="{size:.1f}" height="{size:.1f}" rx="2"'
        f' stroke="{_COLOR["right"]}" {paint}/>'
    )


def _said(pair: ShownPair) -> Iterator[tuple[int, tuple[int, int], str, float]]:
    """Yield the system, link, verdict and probability of all that is to be drawn."""
    for k, links in enumerate(pair.links):
        for link in sorted({*links, *(pair.sure or ())}):
            yield k, link, pair.verdict(k, link), links.get(link, math.nan)


def _matrix(pair: ShownPair) -> tuple[float, float, list[str]]:
    rows, columns = len(pair.source), len(pair.target)
    slanted, angle = _width(pair.target), math.radians(_SLANT)
    left, top = _width(pair.source) + 14, slanted * math.sin(angle) + 18
    width, height = columns * _CELL, rows * _CELL
    grid = [f"M{left:.1f} {top + i * _CELL:.1f}h{width}" for i in range(rows + 1)]
    grid += [f"M{left + j * _CELL:.1f} {top:.1f}v{height}" for j in range(columns + 1)]
    shapes = [f'<path d="{"".join(grid)}" stroke="{_LINE}" fill="none"/>']
    turned = right_to_left(pair.source), right_to_left(pair.target)
    for i, word in enumerate(pair.source):
        shapes.append(_text(word, left - 6, top + i * _CELL + 16, "end", turned=turned[0]))
    for j, word in enumerate(pair.target):
        x, y = left + j * _CELL + _CELL / 2 + 4, top - 6
        shapes.append(_text(word, x, y, "start", f' transform="rotate({-_SLANT} {x:.1f} {y:.1f})"', turned[1]))
    for i, j in sorted(pair.possible or ()):
        shapes.append(_frame((i, j) in (pair.sure or ()), left + j * _CELL, top + i * _CELL, _CELL))
    count = len(pair.links)  # the systems share each cell
    across = 1 if count == 1 else 2
    wide, high = _CELL / across, _CELL / max(-(-count // across), 1)
    size = max(2.5, min(wide, high) / 2 - (4 if count == 1 else 2))
    for k, (i, j), what, probability in _said(pair):
        x, y = left + j * _CELL + (k % across + 0.5) * wide, top + i * _CELL + (k // across + 0.5) * high
        shapes.append(_sign(what, x, y, size, probability))
    return left + width + slanted * math.cos(angle) + 12, top + height + 8, shapes


def _ribbon(pair: ShownPair) -> tuple[float, float, list[str]]:
    gap, deep, up = 14.0, 110, 26
    sides = [[text_width(word, _SIZE) + gap for word in words] for words in (pair.source, pair.target)]
    total = max(*map(sum, sides), 40.0)
    places = []
    for words, widths in zip((pair.source, pair.target), sides, strict=True):
        at, middles = (total - sum(widths)) / 2, []
        for width in widths:
            middles.append(at + width / 2)
            at += width
        places.append([total - x for x in middles] if right_to_left(words) else middles)
    shapes, marks = [], []
    drawn = [*_said(pair)] if pair.links else [(0, link, "plain", math.nan) for link in sorted(pair.possible or ())]
    for k, (i, j), what, probability in drawn:
        shift = (k - (len(pair.links) - 1) / 2) * 5 if len(pair.links) > 1 else 0.0
        x, y = places[0][i] + shift, places[1][j] + shift
        dash = {"wrong": ' stroke-dasharray="7 5"', "missed": ' stroke-dasharray="1 5"'}.get(what, "")
        if not pair.links and (i, j) not in (pair.sure or ()):
            dash = ' stroke-dasharray="3 2"'
        curve = f"M{x:.1f} {up}C{x:.1f} {up + deep / 2:.1f} {y:.1f} {up + deep / 2:.1f} {y:.1f} {up + deep}"
        paint = f'fill="none" stroke="{_COLOR[what]}" stroke-width="2" stroke-linecap="round"{dash}'
        shapes.append(f'<path d="{curve}" {paint}{_shade(probability)}/>')
        if what in ("wrong", "missed"):
            count = len(pair.links)  # signs keep out of each other's way
            t = 0.38 + 0.12 * ((i + j) % 3) if count == 1 else 0.25 + 0.5 * k / (count - 1)
            along, down = t * t * (3 - 2 * t), 1.5 * t * (1 - t) + t**3
            marks.append(_sign(what, x + (y - x) * along, up + deep * down, 4.5))
    for words, places_of, y in zip((pair.source, pair.target), places, (up - 8, up + deep + 18), strict=True):
        turned = right_to_left(words)
        shapes += [_text(word, x, y, "middle", turned=turned) for word, x in zip(words, places_of, strict=True)]
    return total, up + deep + 28, shapes[: len(drawn)] + marks + shapes[len(drawn) :]


def right_to_left(words: Sequence[str]) -> bool:
    """Return whether a sentence runs from right to left: as its first letter does."""
    import unicodedata

    for letter in (c for word in words for c in word if c.isalpha()):
        return unicodedata.bidirectional(letter) in ("R", "AL")
    return False


def _legend(pair: ShownPair, names: Sequence[str], form: str, top: float) -> tuple[list[tuple[str, str]], float]:
    """Return lines of text, each with its shapes, and how much room they take."""
    said = {what for _, _, what, _ in _said(pair)} if pair.possible is not None else set()
    signs = [what for what in ("right", "wrong", "missed") if what in said]
    rows: list[tuple[str, str]] = []
    y = top + 16
    if pair.possible is not None:
        x, text, shapes = 8.0, "", []
        samples = [(_sign(what, 0, 0, 5), _MEANING[what]) for what in signs]
        if form == "matrix" and pair.possible:
            known = {link in (pair.sure or ()) for link in pair.possible}
            kinds = [kind for kind in (True, False) if kind in known]
            samples += [(_frame(kind, -8, -8, 16), "sure" if kind else "possible") for kind in kinds]
        for shape, meaning in samples:
            shapes.append(f'<g transform="translate({x + 8:.1f} {y - 4:.1f})">{shape}</g>')
            shapes.append(_text(meaning, x + 22, y, "start", f' font-size="12" fill="{_SOFT}"'))
            x += 22 + 7 * len(meaning) + 18
            text += meaning + " " * 5
        if samples:
            rows.append((text, "".join(shapes)))
            y += 20
    if len(names) > 1:
        where = "in each cell" if form == "matrix" else "side by side"
        line = f"{where}: {', '.join(names)}"
        rows.append((line, _text(line, 8, y, "start", f' font-size="12" fill="{_SOFT}"')))
        y += 20
    return rows, y - top - 8 if rows else 0.0
