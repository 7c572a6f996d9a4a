"""Alignments to look at: sentence pairs, the links of one or several systems, gold links."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from aligntools.formats.links.findings import Finding, as_text
from aligntools.formats.links.goldlinks import Gold
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.errors import visible
from aligntools.metrics.aer import AerScore, count_by_group, figures
from aligntools.metrics.base import percent
from aligntools.metrics.report import compare_scores
from aligntools.viewing.base import View
from aligntools.viewing.page import framed, page
from aligntools.viewing.pictures import ShownPair, ShownSystem, picture, right_to_left
from aligntools.viewing.terminal import cells, fitted, padded, rendered

# One pair as text for terminals: a matrix where it fits, else both sentences and a list of what is linked with what.
#
# Signs of a link: ``■`` right (or, without gold, a link), ``×`` false, ``○`` missed, ``□`` a possible gold link that is
# not made. With several systems each has a column of signs in the list; the matrix shows one matrix a system.


#: The sign and the style of each verdict on a link.
_SIGNS = {
    **{"right": ("■", "right"), "plain": ("■", "right"), "wrong": ("×", "wrong"), "missed": ("○", "missed")},
    **{"possible": ("□", "soft"), "": ("·", "soft")},
}
_LONGEST_LABEL = 18  # columns
_Part = tuple[str, str]
#: What the signs mean, for above many pairs.
LEGEND = "■ right  × false  ○ missed  □ possible, not linked\n\n"


def pair_text(pair: ShownPair, names: Sequence[str], form: str | None, width: int, color: bool) -> str:
    """Return a pair as text within the width where that can be: a matrix, a ``ribbon`` (list), or what fits."""
    parts = [(f"{pair.number}", "head"), ("  " if names else "", "")]
    for k, name in enumerate(names):
        error = pair.aer(k)
        figure = f"{len(pair.links[k])} links" if error is None else f"AER {100 * error:.1f}"
        parts.append((f"{'; ' if k else ''}{name} {figure}", "soft"))
    parts.append(("\n", ""))
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
                if pair.links:
                    what = pair.verdict(k, (i, j)) or ("possible" if (i, j) in (pair.possible or ()) else "")
                    yield _SIGNS[what]
                else:
                    kind = "■" if (i, j) in (pair.sure or ()) else "□" if (i, j) in (pair.possible or ()) else "·"
                    yield kind, "soft" if kind == "·" else "right"
            yield ("\n", "")
        for j in reversed(range(len(pair.target))):  # each word at its column's end
            yield (f"{' ' * (left + 2)}{' '.join('│' * j)}{' ' if j else ''}", "soft")
            yield ("└ ", "soft")
            yield (f"{pair.target[j]}\n", "")


def _list(pair: ShownPair, names: Sequence[str], width: int) -> Iterator[_Part]:
    """Yield a line for each link: signs of the systems, the words, what gold says, probabilities."""
    sure, possible = pair.sure or frozenset(), pair.possible or frozenset()
    links = sorted({link for own in pair.links for link in own} | possible)
    spelled = [f"{pair.source[i]} – {pair.target[j]}" for i, j in links]
    room = min(max(map(cells, spelled), default=0), max(20, width - 30))
    for link, words in zip(links, spelled, strict=True):
        yield ("  ", "")
        for k in range(len(names)):
            sign, style = _SIGNS[pair.verdict(k, link)]
            yield (f"{sign} ", style)
        yield (f"{link[0]}-{link[1]}".ljust(8), "soft")
        yield (padded(fitted(words, room), room), "")
        said = ["sure" if link in sure else "possible"] if link in possible else []
        for k, name in enumerate(names):
            what, p = pair.verdict(k, link), pair.links[k].get(link, math.nan)
            if what in ("wrong", "missed") or not math.isnan(p):
                told = {"wrong": "false", "missed": "missed"}.get(what, "")
                chance = "" if math.isnan(p) else f"{p:.2f}"
                said.append(" ".join(x for x in (name if len(names) > 1 else "", told, chance) if x))
        yield (f"  {', '.join(said)}\n" if said else "\n", "soft")


#: A notebook shows so many pairs.
NOTEBOOK_PAIRS = 500


@dataclass(frozen=True, eq=False, repr=False)
class AlignmentsView(View):
    """Sentence pairs and how their words are aligned."""

    source: Sequence[list[str]]
    target: Sequence[list[str]]
    systems: Sequence[ShownSystem] = ()
    gold: Gold | None = None
    title: str = field(default="Alignments")
    source_tags: Sequence[list[str]] | None = None
    target_tags: Sequence[list[str]] | None = None
    found: Mapping[int, Finding] | None = None
    _items = "pairs"

    def __len__(self) -> int:
        return len(self.source)

    def pair(self, number: int) -> ShownPair:
        """Return one pair by its number, from 1 on."""
        self._check(number, "pair number")
        n = number - 1
        links = []
        for _, all_links, probabilities in self.systems:
            run = slice(*all_links.offsets[n : n + 2].tolist())
            pairs = [(i, j) for i, j in all_links.pairs[run].tolist()]
            found = [np.nan] * len(pairs) if probabilities is None else probabilities[run].tolist()
            links.append(dict(zip(pairs, found, strict=True)))
        gold: list[frozenset[tuple[int, int]] | None] = [None, None]
        if self.gold is not None:
            place = int(np.searchsorted(self.gold.rows, n))
            if place < len(self.gold) and self.gold.rows[place] == n:
                own = (table[place : place + 1].tolists() for table in (self.gold.sure, self.gold.possible))
                gold = [frozenset(one) for (one,) in own]
        return ShownPair(number, self.source[n], self.target[n], tuple(links), *gold)

    def _repr_html_(self) -> str:
        """Return the page for a notebook, which is saved with what it shows: the first pairs of many."""
        return framed(self.html(NOTEBOOK_PAIRS))

    def html(self, most: int | None = None) -> str:
        """Return the page of all pairs, or of the first ones."""
        tables = tables_of(self) if self.gold is not None and self.systems else []
        most = len(self) if most is None else most
        left_out = max(0, len(self) - most)
        return page(self.title, "alignments", self.data(most), tables=tables, left_out=left_out, most=most)

    def svg(self, number: int | None = None, *, form: str | None = None, **how: Any) -> str:
        """Return a picture of one pair, for papers, by its number from 1 on; ``form``: ``matrix`` or ``ribbon``."""
        return picture(self.pair(1 if number is None else number), [name for name, *_ in self.systems], form)

    def text(self, **how: Any) -> str:
        """Return the pairs as text, or one of them; see `stream_text`."""
        return "".join(self.stream_text(**how))

    def stream_text(
        self, *, width: int = 80, color: bool = False, number: int | None = None, form: str | None = None
    ) -> Iterator[str]:
        """Yield the pairs as text, or one of them; ``form`` is as for `svg`."""
        names = [name for name, *_ in self.systems]
        numbers = range(1, len(self) + 1) if number is None else [number]
        if self.gold is not None and self.systems and number is None:
            yield LEGEND
        for n in numbers:
            yield ("\n" if n != numbers[0] else "") + pair_text(self.pair(n), names, form, width, color)
            found = (self.found or {}).get(n)
            told = visible(as_text(found.words, found.differences)) if found else ""
            if found and (told or found.flagged):
                state = ("flagged", "wrong") if found.flagged else ("passed", "soft")
                about = (f" {found.score:.2f}", ""), (f"  {told}" if told else "", "")
                yield rendered([state, *about, ("\n", "")], color)

    def data(self, most: int) -> dict[str, Any]:
        """Return what the page's script draws of the first pairs: words are a string a sentence, links flat lists."""
        texts = [[" ".join(words) for words in side] for side in (self.source, self.target)]
        gold, digest = self.gold, hashlib.sha256()
        for side in texts:
            digest.update("\n".join(side).encode() + b"\0")
        known = 0 if gold is None else int(np.searchsorted(gold.rows, most))
        return {
            "key": digest.hexdigest()[:16],  # what a browser keeps corrections of this text under
            "source": texts[0][:most],
            "target": texts[1][:most],
            "systems": [
                {"name": name, "links": _flat(links[:most]), "probabilities": _percentages(links, of, most)}
                for name, links, of in self.systems
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


def _cut(values: np.ndarray, ends: np.ndarray) -> list[list[int]]:
    flat = values.tolist()
    return [flat[a:b] for a, b in pairwise(ends.tolist())]


def _flat(links: Links) -> list[list[int]]:
    return _cut(links.pairs.ravel(), 2 * links.offsets)


def _percentages(links: Links, probabilities: np.ndarray | None, most: int) -> list[list[int]] | None:
    """Return the probabilities of each pair's links in whole percent, -1 where there is none."""
    if probabilities is None:
        return None
    whole = np.where(np.isnan(probabilities), -1, np.rint(100 * probabilities)).astype(int)
    return _cut(whole, links.offsets[: most + 1])


#: Parts of a sentence, and bounds of how often a word is in the text, by which errors are counted.
PARTS = 5
FREQUENCIES = (1, 2, 4, 8, 16, 32, 64, 128)
#: How many tags and how many pairs of words are listed.
TAGS, CONFUSIONS = 20, 6
_Words = Sequence[list[str]]
#: A table's title, what it is about, what its rows are, their names, and the row of each link of some sentences.
_Grouping = tuple[str, str, str, list[str], Callable[[np.ndarray, np.ndarray], Any]]


@dataclass(frozen=True)
class FigureTable:
    """Figures under heads, the first what a row is about; ``bars``: the length, 0 to 1, behind each other cell."""

    title: str
    about: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    bars: list[list[float]]


def scores(names: Sequence[str], links: Sequence[Links], gold: Gold) -> FigureTable:
    """Return AER with intervals, precision and recall of each system, and how the others differ from the first."""
    found = [AerScore.of(gold, one) for one in links]
    report = compare_scores(found, names, paired=len(found) > 1)
    rows = []
    for k, (name, score) in enumerate(zip(names, found, strict=True)):
        low, high = report.intervals[k] or (0.0, 0.0)
        difference = report.differences[k] if report.differences else None
        p = "" if difference is None else f"{100 * difference.value:+.2f} (p = {difference.p_value:.3f})"
        figures = (f"{percent(low)}–{percent(high)}", percent(score.precision), percent(score.recall), str(score.links))
        rows.append((name, percent(score.aer), *figures, *([p] if len(found) > 1 else [])))
    against = [f"against {names[0]}"] if len(found) > 1 else []
    heads = ("", "AER %", "95 % interval", "precision", "recall", "links", *against)
    pairs = f"{len(gold):,} {'pair' if len(gold) == 1 else 'pairs'}".replace(",", "\u202f")
    counts = f"{len(gold.sure.pairs)} sure and {len(gold.possible.pairs)} possible (sure included)."
    return FigureTable("Errors on gold links", f"{pairs} with gold links, {counts}", heads, rows, [])


def by_position(lengths: np.ndarray) -> _Grouping:
    """Group links by where in its sentence their source word is."""

    def group(sentences: np.ndarray, pairs: np.ndarray) -> Any:
        return pairs[:, 0].astype(np.int64) * PARTS // np.maximum(lengths[sentences], 1)

    labels = [f"{100 * k // PARTS}–{100 * (k + 1) // PARTS} %" for k in range(PARTS)]
    about = "AER of links by the position of their source word, from the sentence's first word to its last."
    return "By position", about, "position", labels, group


def by_frequency(texts: tuple[_Words, _Words], rows: np.ndarray) -> _Grouping:
    """Group links by how often their rarer word is in the text, in lower case."""
    ids = []
    for side in texts:
        counts = Counter(word.lower() for word in chain.from_iterable(side))
        table = {word: int(np.searchsorted(FREQUENCIES, n, side="right")) - 1 for word, n in counts.items()}
        chosen = [side[n] for n in rows.tolist()]
        flat = np.array([table[word.lower()] for words in chosen for word in words], np.int64)
        ids.append((flat, np.array([0, *accumulate(map(len, chosen))])))

    def group(sentences: np.ndarray, pairs: np.ndarray) -> Any:
        return np.minimum(*(flat[offsets[sentences] + pairs[:, side]] for side, (flat, offsets) in enumerate(ids)))

    ends = [*(f - 1 for f in FREQUENCIES[1:]), 0]
    labels = [
        f"{a}" if a == b else f"{a}–{b}" if b else f"{a} and more" for a, b in zip(FREQUENCIES, ends, strict=True)
    ]
    about = "AER of links by how often the rarer of the two words is in this text."
    return "By frequency", about, "times in the text", labels, group


def by_tag(tags: Sequence[list[str]], side: int) -> _Grouping:
    """Group links by the tag of their word on one side (0 source, 1 target); the most frequent tags come first."""
    counts = Counter(chain.from_iterable(tags))
    labels = [tag for tag, _ in counts.most_common(TAGS)]
    known = {tag: k for k, tag in enumerate(labels)}
    flat = np.array([known.get(tag, len(labels)) for row in tags for tag in row], np.int64)
    offsets = np.array([0, *accumulate(map(len, tags))])

    def group(sentences: np.ndarray, pairs: np.ndarray) -> Any:
        return flat[offsets[sentences] + pairs[:, side]]

    where = ("source", "target")[side]
    about = f"AER of links by the part of speech of their {where} word."
    return f"By {where} tag", about, "tag", [*labels, "others"], group


def grouped(names: Sequence[str], links: Sequence[Links], gold: Gold, by: _Grouping) -> FigureTable:
    """Return the AER of each system by groups of links."""
    title, about, head, labels, group = by
    counts = [count_by_group(one, gold, group, len(labels)) for one in links]
    errors = [figures(one)[:, 0] for one in counts]
    used = [any(one[k, [0, 1]].any() for one in counts) for k in range(len(labels))]
    rows, bars = [], []
    for k in np.flatnonzero(used).tolist():
        sure = int(counts[0][k, 1])
        rows.append((labels[k], *(f"{100 * aer[k]:.1f}" for aer in errors), str(sure)))
        bars.append([*(float(aer[k]) for aer in errors), 0.0])
    return FigureTable(title, about, (head, *names, "sure links"), rows, bars)


def confusions(name: str, links: Links, gold: Gold, texts: tuple[_Words, _Words]) -> list[FigureTable]:
    """Return the pairs of words that are most often linked falsely, and most often missed, of pairs with gold."""
    rows = links.tolists(), gold.sure.tolists(), gold.possible.tolists()
    false, missed, right = (Counter[tuple[str, str]]() for _ in range(3))
    for source, target, own, sure, possible in zip(*texts, *rows, strict=True):
        own_set, allowed = set(own), set(possible)
        for i, j in own:
            (right if (i, j) in allowed else false)[source[i].lower(), target[j].lower()] += 1
        for i, j in sure:
            if (i, j) not in own_set:
                missed[source[i].lower(), target[j].lower()] += 1

    def side_by_side(one: str, other: str) -> str:  # the first to the left whichever way they run
        if right_to_left([one]) or right_to_left([other]):
            one, other = (f"\u2068{word}\u2069" for word in (one, other))
        return f"{one} – {other}"

    tables = []
    kinds = (
        ("false", false, f"Pairs of words that {name} links most often where gold does not."),
        ("missed", missed, f"Pairs of words whose sure links {name} misses most often."),
    )
    for what, counted, about in kinds:
        listed = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:CONFUSIONS]
        cells: list[tuple[str, ...]] = [(side_by_side(s, t), str(n), str(right[s, t])) for (s, t), n in listed]
        most = max(counted.values(), default=1)
        bars = [[n / most, 0.0] for _, n in listed]
        tables.append(FigureTable(f"Most often {what}: {name}", about, ("words", what, "right"), cells, bars))
    return tables


def tables_of(view: Any) -> list[FigureTable]:
    """Return all tables of an `alignments.AlignmentsView` that has gold links and systems."""
    gold, rows = view.gold, view.gold.rows
    names = [name for name, *_ in view.systems]
    links = [own[rows] for _, own, _ in view.systems]
    texts = tuple([side[n] for n in rows.tolist()] for side in (view.source, view.target))
    lengths = np.array([len(words) for words in texts[0]], np.int64)
    groupings = [by_position(lengths), by_frequency((view.source, view.target), rows)]
    for side, tags in enumerate((view.source_tags, view.target_tags)):
        if tags is not None:
            groupings.append(by_tag([tags[n] for n in rows.tolist()], side))
    found = [scores(names, links, gold), *(grouped(names, links, gold, by) for by in groupings)]
    for name, one in zip(names, links, strict=True):
        found += confusions(name, one, gold, (texts[0], texts[1]))
    return found
