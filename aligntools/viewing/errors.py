"""Where alignments err: figures by system, and by what the words of a link are."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any

import numpy as np

from aligntools.formats.links.goldlinks import Gold
from aligntools.formats.links.pharaoh import Links
from aligntools.metrics.aer import Aer, count_by_group, figures
from aligntools.metrics.base import percent
from aligntools.metrics.report import compare_scores
from aligntools.viewing.pictures import right_to_left

#: Parts of a sentence, and bounds of how often a word is in the text, by which errors are counted.
PARTS = 5
FREQUENCIES = (1, 2, 4, 8, 16, 32, 64, 128)
#: How many tags and how many pairs of words are listed.
TAGS, CONFUSIONS = 20, 6
_Words = Sequence[list[str]]


@dataclass(frozen=True)
class FigureTable:
    """Figures to show: rows of cells under heads, the first column being what a row is about.

    bars: For each row, from 0 to 1, how long the bar behind each cell but the first is; empty for none.
    """

    title: str
    about: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    bars: list[list[float]]


def scores(names: Sequence[str], links: Sequence[Links], gold: Gold) -> FigureTable:
    """Return AER with intervals, precision and recall of each system, and how the others differ from the first."""
    found = [Aer().score(gold, one) for one in links]
    report = compare_scores(found, names, paired=len(found) > 1)
    rows = []
    for k, (name, score) in enumerate(zip(names, found, strict=True)):
        low, high = report.intervals[k] or (0.0, 0.0)
        difference = report.differences[k] if report.differences else None
        p = "" if difference is None else f"{100 * difference.value:+.2f} (p = {difference.p_value:.3f})"
        cells = (
            percent(score.aer),
            f"{percent(low)}–{percent(high)}",
            percent(score.precision),
            percent(score.recall),
            str(score.links),
            *([p] if len(found) > 1 else []),
        )
        rows.append((name, *cells))
    heads: tuple[str, ...] = ("", "AER %", "95 % interval", "precision", "recall", "links")
    heads += (f"against {names[0]}",) if len(found) > 1 else ()
    pairs = f"{len(gold):,} {'pair' if len(gold) == 1 else 'pairs'}".replace(",", "\u202f")
    about = (
        f"{pairs} with gold links, {len(gold.sure.pairs)} sure and {len(gold.possible.pairs)} possible (sure included)."
    )
    return FigureTable("Errors on gold links", about, heads, rows, [])


def by_position(names: Sequence[str], links: Sequence[Links], gold: Gold, lengths: np.ndarray) -> FigureTable:
    """Return AER by where in its sentence the source word of a link is."""

    def group(sentences: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        found: np.ndarray = pairs[:, 0].astype(np.int64) * PARTS // np.maximum(lengths[sentences], 1)
        return found

    labels = [f"{100 * k // PARTS}–{100 * (k + 1) // PARTS} %" for k in range(PARTS)]
    about = "AER of links by the position of their source word, from the sentence's first word to its last."
    return _grouped("By position", about, "position", labels, names, links, gold, group)


def by_frequency(
    names: Sequence[str], links: Sequence[Links], gold: Gold, texts: tuple[_Words, _Words], rows: np.ndarray
) -> FigureTable:
    """Return AER by how often the rarer word of a link is in the text, in lower case."""
    ids = []
    for side in texts:
        counts = Counter(word.lower() for word in chain.from_iterable(side))
        table = {word: int(np.searchsorted(FREQUENCIES, n, side="right")) - 1 for word, n in counts.items()}
        chosen = [side[n] for n in rows.tolist()]
        flat = np.array([table[word.lower()] for words in chosen for word in words], np.int64)
        ids.append((flat, np.array([0, *accumulate(map(len, chosen))])))

    def group(sentences: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        own = [flat[offsets[sentences] + pairs[:, side]] for side, (flat, offsets) in enumerate(ids)]
        found: np.ndarray = np.minimum(*own)
        return found

    ends = [*(f - 1 for f in FREQUENCIES[1:]), 0]
    labels = [
        f"{a}" if a == b else f"{a}–{b}" if b else f"{a} and more" for a, b in zip(FREQUENCIES, ends, strict=True)
    ]
    about = "AER of links by how often the rarer of the two words is in this text."
    return _grouped("By frequency", about, "times in the text", labels, names, links, gold, group)


def by_tag(
    names: Sequence[str], links: Sequence[Links], gold: Gold, tags: Sequence[list[str]], side: int
) -> FigureTable:
    """Return AER by the tag of a link's word on one side (0 source, 1 target); the most frequent tags come first."""
    counts = Counter(chain.from_iterable(tags))
    labels = [tag for tag, _ in counts.most_common(TAGS)]
    known = {tag: k for k, tag in enumerate(labels)}
    flat = np.array([known.get(tag, len(labels)) for row in tags for tag in row], np.int64)
    offsets = np.array([0, *accumulate(map(len, tags))])

    def group(sentences: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        found: np.ndarray = flat[offsets[sentences] + pairs[:, side]]
        return found

    where = ("source", "target")[side]
    about = f"AER of links by the part of speech of their {where} word."
    return _grouped(f"By {where} tag", about, "tag", [*labels, "others"], names, links, gold, group)


def _grouped(
    title: str,
    about: str,
    head: str,
    labels: list[str],
    names: Sequence[str],
    links: Sequence[Links],
    gold: Gold,
    group: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> FigureTable:
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
    """Return the pairs of words that are linked most often falsely, and those whose sure links are missed most often.

    ``texts`` are the words of the pairs that have gold links.
    """
    rows = links.tolists(), gold.sure.tolists(), gold.possible.tolists()
    false: Counter[tuple[str, str]] = Counter()
    missed: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    for source, target, own, sure, possible in zip(*texts, *rows, strict=True):
        own_set, allowed = set(own), set(possible)
        for i, j in own:
            (right if (i, j) in allowed else false)[source[i].lower(), target[j].lower()] += 1
        for i, j in sure:
            if (i, j) not in own_set:
                missed[source[i].lower(), target[j].lower()] += 1
    tables = []
    for what, counted in (("false", false), ("missed", missed)):
        listed = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:CONFUSIONS]
        cells: list[tuple[str, ...]] = [(_side_by_side(s, t), str(n), str(right[s, t])) for (s, t), n in listed]
        about = (
            f"Pairs of words that {name} links most often where gold does not."
            if what == "false"
            else (f"Pairs of words whose sure links {name} misses most often.")
        )
        most = max(counted.values(), default=1)
        bars = [[n / most, 0.0] for _, n in listed]
        tables.append(FigureTable(f"Most often {what}: {name}", about, ("words", what, "right"), cells, bars))
    return tables


def _side_by_side(source: str, target: str) -> str:
    """Return two words, the first to the left whichever way they run."""
    if right_to_left([source]) or right_to_left([target]):
        source, target = (f"\u2068{word}\u2069" for word in (source, target))
    return f"{source} – {target}"


def tables_of(view: Any) -> list[FigureTable]:
    """Return all tables of an `alignments.AlignmentsView` that has gold links and systems."""
    gold, rows = view.gold, view.gold.rows
    names = [system.name for system in view.systems]
    links = [system.links[rows] for system in view.systems]
    texts = tuple([side[n] for n in rows.tolist()] for side in (view.source, view.target))
    lengths = np.array([len(words) for words in texts[0]], np.int64)
    found = [
        scores(names, links, gold),
        by_position(names, links, gold, lengths),
        by_frequency(names, links, gold, (view.source, view.target), rows),
    ]
    for side, tags in enumerate((view.source_tags, view.target_tags)):
        if tags is not None:
            found.append(by_tag(names, links, gold, [tags[n] for n in rows.tolist()], side))
    for name, one in zip(names, links, strict=True):
        found += confusions(name, one, gold, (texts[0], texts[1]))
    return found
