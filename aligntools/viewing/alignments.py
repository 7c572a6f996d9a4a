"""Alignments to look at: sentence pairs, the links of one or several systems, gold links."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from aligntools.formats.links.findings import Finding, as_text
from aligntools.formats.links.goldlinks import Gold
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.errors import UsageProblem, visible
from aligntools.viewing.base import View
from aligntools.viewing.errors import tables_of
from aligntools.viewing.page import framed, page
from aligntools.viewing.pictures import ShownPair, ShownSystem, picture
from aligntools.viewing.terminal import cells, fitted, padded, rendered

# One pair as text for terminals: a matrix where it fits, else both sentences and a list of what is linked with what.
#
# Signs of a link: ``■`` right (or, without gold, a link), ``×`` false, ``○`` missed, ``□`` a possible gold link that is
# not made. With several systems each has a column of signs in the list; the matrix shows one matrix a system.


_SIGNS = {"right": "■", "plain": "■", "wrong": "×", "missed": "○", "": "·"}
_STYLES = {"right": "right", "plain": "right", "wrong": "wrong", "missed": "missed", "": "soft"}
_MEANINGS = {"right": "right", "wrong": "false", "missed": "missed"}
_LONGEST_LABEL = 18  # columns
_Part = tuple[str, str]
#: What the signs mean, for above many pairs.
LEGEND = "■ right  × false  ○ missed  □ possible, not linked\n\n"


def pair_text(pair: ShownPair, names: Sequence[str], form: str | None, width: int, color: bool) -> str:
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


def _scores(pair: ShownPair, names: Sequence[str]) -> Iterator[_Part]:
    for k, name in enumerate(names):
        error = pair.aer(k)
        figure = f"{len(pair.links[k])} links" if error is None else f"AER {100 * error:.1f}"
        yield (f"{'; ' if k else ''}{name} {figure}", "soft")


def _matrices(pair: ShownPair, names: Sequence[str], left: int) -> Iterator[_Part]:
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


def _cell(pair: ShownPair, k: int, link: tuple[int, int]) -> _Part:
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


def _list(pair: ShownPair, names: Sequence[str], width: int) -> Iterator[_Part]:
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


#: A notebook shows so many pairs.
NOTEBOOK_PAIRS = 500


@dataclass(frozen=True, eq=False)
class AlignmentsView(View):
    """Sentence pairs and how their words are aligned.

    source, target: Words, as they can be shown.
    gold: Of some of the pairs.
    source_tags, target_tags: A tag for each word.
    found: What `check` found, by the pairs' numbers.
    """

    source: Sequence[list[str]]
    target: Sequence[list[str]]
    systems: Sequence[ShownSystem] = ()
    gold: Gold | None = None
    title: str = field(default="Alignments")
    source_tags: Sequence[list[str]] | None = None
    target_tags: Sequence[list[str]] | None = None
    found: Mapping[int, Finding] | None = None

    def __len__(self) -> int:
        return len(self.source)

    def pair(self, number: int) -> ShownPair:
        """Return one pair by its number, from 1 on."""
        if not 1 <= number <= len(self):
            raise UsageProblem(f"there is no pair number {number}; the text has {len(self)}")
        n = number - 1
        links = []
        for system in self.systems:
            own = slice(*system.links.offsets[n : n + 2].tolist())
            pairs = [(i, j) for i, j in system.links.pairs[own].tolist()]
            found = [np.nan] * len(pairs) if system.probabilities is None else system.probabilities[own].tolist()
            links.append(dict(zip(pairs, found, strict=True)))
        gold: list[frozenset[tuple[int, int]] | None] = [None, None]
        if self.gold is not None:
            place = int(np.searchsorted(self.gold.rows, n))
            if place < len(self.gold) and self.gold.rows[place] == n:
                gold = [_links_of(table, place) for table in (self.gold.sure, self.gold.possible)]
        return ShownPair(number, self.source[n], self.target[n], tuple(links), *gold)

    def html(self) -> str:
        """Return the page."""
        return self._page(len(self))

    def _repr_html_(self) -> str:
        """Return the page for a notebook, which is saved with what it shows: the first pairs of many."""
        return framed(self._page(NOTEBOOK_PAIRS))

    def _page(self, most: int) -> str:
        tables = tables_of(self) if self.gold is not None and self.systems else []
        left_out = max(0, len(self) - most)
        return page(self.title, "alignments", self.data(most), tables=tables, left_out=left_out, most=most)

    def svg(self, number: int | None = None, *, form: str | None = None, **how: Any) -> str:
        """Return a picture of one pair, for papers: text is text, in generic fonts.

        number: From 1 on; None is the first.
        form: ``matrix`` or ``ribbon``; None chooses by the lengths.
        """
        return picture(self.pair(1 if number is None else number), [system.name for system in self.systems], form)

    def text(self, *, width: int = 80, color: bool = False, number: int | None = None, form: str | None = None) -> str:
        """Return the pairs as text, or one of them; ``form`` is as for `svg`."""
        return "".join(self.stream_text(width=width, color=color, number=number, form=form))

    def stream_text(
        self, *, width: int = 80, color: bool = False, number: int | None = None, form: str | None = None
    ) -> Iterator[str]:
        """Yield what `text` returns, pair by pair."""
        names = [system.name for system in self.systems]
        numbers = range(1, len(self) + 1) if number is None else [number]
        if self.gold is not None and self.systems and number is None:
            yield LEGEND
        for n in numbers:
            yield ("\n" if n != numbers[0] else "") + pair_text(self.pair(n), names, form, width, color)
            if self.found and n in self.found:
                yield found_text(self.found[n], color)

    def data(self, most: int) -> dict[str, Any]:
        """Return what the page's script draws of the first pairs, ``most`` of them.

        Words are one string a sentence, links flat lists of numbers.
        """
        texts = [[" ".join(words) for words in side] for side in (self.source, self.target)]
        gold = self.gold
        known = 0 if gold is None else int(np.searchsorted(gold.rows, most))
        return {
            "key": _key(texts),
            "source": texts[0][:most],
            "target": texts[1][:most],
            "systems": [
                {
                    "name": system.name,
                    "links": _flat(system.links[:most]),
                    "probabilities": _percentages(system, most),
                }
                for system in self.systems
            ],
            "found": None if self.found is None else [self._found(n) for n in sorted(self.found) if n <= most],
            "gold": None
            if gold is None
            else {
                "pairs": gold.rows[:known].tolist(),
                "sure": _flat(gold.sure[:known]),
                "possible": _flat(gold.possible[:known]),
            },
        }

    def _found(self, number: int) -> dict[str, Any]:
        """Return what was found in a pair: words are places in its sentences."""
        one, sides = (self.found or {})[number], (self.source[number - 1], self.target[number - 1])
        words: list[list[tuple[int, int, str]]] = [[], []]
        told = list(one.differences)
        for found in one.words:
            place = found.within(sides[found.side])
            if place is None:
                told.append(f"{found.kind} {found.text}")
            else:
                words[found.side].append((*place, found.kind))
        about = {"pair": number - 1, "score": round(one.score, 2), "flagged": one.flagged}
        return about | {"source": words[0], "target": words[1], "told": [visible(text) for text in told]}


def _key(texts: list[list[str]]) -> str:
    """Return what a browser keeps corrections of this text under."""
    digest = hashlib.sha256()
    for side in texts:
        digest.update("\n".join(side).encode() + b"\0")
    return digest.hexdigest()[:16]


def _links_of(table: Links, place: int) -> frozenset[tuple[int, int]]:
    a, b = table.offsets[place : place + 2].tolist()
    return frozenset((i, j) for i, j in table.pairs[a:b].tolist())


def _flat(links: Links) -> list[list[int]]:
    flat, ends = links.pairs.ravel().tolist(), (2 * links.offsets).tolist()
    return [flat[a:b] for a, b in pairwise(ends)]


def _percentages(system: ShownSystem, most: int) -> list[list[int]] | None:
    """Return the probabilities of each pair's links in whole percent, -1 where there is none."""
    if system.probabilities is None:
        return None
    whole = np.where(np.isnan(system.probabilities), -1, np.rint(100 * system.probabilities)).astype(int).tolist()
    return [whole[a:b] for a, b in pairwise(system.links.offsets[: most + 1].tolist())]
