"""One pair as text for terminals: a matrix where it fits, else both sentences and a list of what is linked with what.

Signs of a link: ``■`` right (or, without gold, a link), ``×`` false, ``○`` missed, ``□`` a possible gold link that is
not made. With several systems each has a column of signs in the list; the matrix shows one matrix a system.
"""

import math
from collections.abc import Iterator, Sequence

from aligntools.formats.links.findings import Finding, as_text
from aligntools.viewing.pairs import Pair
from aligntools.viewing.shown import visible
from aligntools.viewing.terminal import cells, fitted, padded, rendered

_SIGNS = {"right": "■", "plain": "■", "wrong": "×", "missed": "○", "": "·"}
_STYLES = {"right": "right", "plain": "right", "wrong": "wrong", "missed": "missed", "": "soft"}
_MEANINGS = {"right": "right", "wrong": "false", "missed": "missed"}
_LONGEST_LABEL = 18  # columns
_Part = tuple[str, str]
#: What the signs mean, for above many pairs.
LEGEND = "■ right  × false  ○ missed  □ possible, not linked\n\n"


def pair_text(pair: Pair, names: Sequence[str], form: str | None, width: int, color: bool) -> str:
    """Return a pair as text, its lines within the width where that is possible.

    names: Of the systems.
    form: ``matrix``, ``ribbon`` (the list of links), or None: a matrix where it fits.
    """
    parts = [(f"{pair.number}", "head"), ("  " if names else "", ""), *_scores(pair, names), ("\n", "")]
    left = min(_LONGEST_LABEL, max(map(cells, pair.source), default=0))
    fits = left + 2 + 2 * len(pair.target) <= width and max(len(pair.source), len(pair.target)) <= 40
    drawn = pair.source and pair.target and (pair.links or pair.possible is not None)
    if drawn and (form == "matrix" or (form is None and fits)):
        parts += _matrices(pair, names, left)
    else:
        parts += [(" ".join(pair.source), ""), ("\n", ""), (" ".join(pair.target), ""), ("\n", "")]
        if drawn:
            parts += _list(pair, names, width)
    return rendered(parts, color)


def found_text(found: Finding, color: bool) -> str:
    """Return a line about what `check` found in a pair; nothing where it found nothing."""
    told = visible(as_text(found.words, found.differences))
    if not told and not found.flagged:
        return ""
    state = ("flagged", "wrong") if found.flagged else ("passed", "soft")
    return rendered([state, (f" {found.score:.2f}", ""), (f"  {told}" if told else "", ""), ("\n", "")], color)


def _scores(pair: Pair, names: Sequence[str]) -> Iterator[_Part]:
    for k, name in enumerate(names):
        error = pair.aer(k)
        figure = f"{len(pair.links[k])} links" if error is None else f"AER {100 * error:.1f}"
        yield (f"{'; ' if k else ''}{name} {figure}", "soft")


def _matrices(pair: Pair, names: Sequence[str], left: int) -> Iterator[_Part]:
    """Yield a matrix for each system: source words before the rows, target words below, with what leads there."""
    for k, name in enumerate(names or ["gold"]):
        if len(names) > 1:
            yield (name, "head")
            yield ("\n", "")
        for i, word in enumerate(pair.source):
            yield (padded(fitted(word, left), left, right=True) + " ", "")
            for j in range(len(pair.target)):
                yield (" ", "")
                yield _cell(pair, k, (i, j))
            yield ("\n", "")
        yield from _feet(pair.target, left)


def _cell(pair: Pair, k: int, link: tuple[int, int]) -> _Part:
    if not pair.links:
        kind = "■" if link in (pair.sure or ()) else "□" if link in (pair.possible or ()) else "·"
        return kind, "soft" if kind == "·" else "right"
    what = pair.verdict(k, link)
    if not what and link in (pair.possible or ()):
        return "□", "soft"
    return _SIGNS[what], _STYLES[what]


def _feet(words: Sequence[str], left: int) -> Iterator[_Part]:
    """Yield the words of columns, each on a line of its own at its column's end, from the last to the first."""
    for j in reversed(range(len(words))):
        stems = " ".join("│" * j)
        yield (f"{' ' * (left + 2)}{stems}{' ' if j else ''}", "soft")
        yield ("└ ", "soft")
        yield (f"{words[j]}\n", "")


def _list(pair: Pair, names: Sequence[str], width: int) -> Iterator[_Part]:
    """Yield a line for each link: signs of the systems, the words, what gold says, probabilities."""
    sure, possible = pair.sure or frozenset(), pair.possible or frozenset()
    links = sorted({link for own in pair.links for link in own} | possible)
    spelled = [f"{pair.source[i]} – {pair.target[j]}" for i, j in links]
    room = min(max(map(cells, spelled), default=0), max(20, width - 30))
    for link, words in zip(links, spelled, strict=True):
        yield ("  ", "")
        for k in range(len(names)):
            what = pair.verdict(k, link)
            yield (_SIGNS[what] + " ", _STYLES[what])
        yield (f"{link[0]}-{link[1]}".ljust(8), "soft")
        yield (padded(fitted(words, room), room), "")
        said = ["sure" if link in sure else "possible"] if link in possible else []
        for k, name in enumerate(names):
            what, p = pair.verdict(k, link), pair.links[k].get(link, math.nan)
            if what in ("wrong", "missed") or not math.isnan(p):
                told = _MEANINGS.get(what, "") if what in ("wrong", "missed") else ""
                chance = "" if math.isnan(p) else f"{p:.2f}"
                said.append(" ".join(x for x in (name if len(names) > 1 else "", told, chance) if x))
        yield (f"  {', '.join(said)}\n" if said else "\n", "soft")
