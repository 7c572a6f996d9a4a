"""AER, precision and recall of ``align`` by size of the text, beside eflomal's, and by how frequent the words are.

Each text is the gold sentences of a pair, then so many pairs of its training text in an order drawn once, so that a
larger text holds the smaller ones. Links of the gold sentences are kept between runs: eflomal's by what runs it alone,
ours by the code of ``align``.
"""

import json
import random
import statistics
import tempfile
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from bench import code, measuring, peers, report, texts
from bench.quality import HEURISTIC

#: Training pairs beside the gold sentences; "all" comes last.
SIZES = (0, 1_000, 5_000, 20_000, 60_000, 150_000)
ALL = "all"
OURS, PEER = "align", "eflomal"
#: English words with fewer occurrences in the whole text are rare; with more than this share of its words, common.
RARE, COMMON = 20, 1 / 1000
BANDS = ("rare", "middle", "common")


@dataclass(frozen=True)
class Part:
    """A text of a pair, whose first lines are the sentences of all its gold sets.

    Attributes
    ----------
    golds : list of (str, int)
        Name of each gold set, and its sentences, in their order.
    size : int or str
        Training pairs that were asked for.
    """

    pair: str
    golds: tuple
    size: object
    source: Path
    target: Path
    n_pairs: int


def whole(data, pair, work):
    """Write a pair's gold sentences and its shuffled training text once; return gold sets and the files."""
    golds = tuple((p.stem, texts.count_lines(p)) for p in sorted((data / pair).glob("*.wa")))
    files = [code.place(work, "curve", whole, texts.lines) / f"{pair}.{side}" for side in ("source", "target")]
    if not all(path.exists() for path in files):
        languages = "en", pair[3:]
        train = [(a, b) for a, b in zip(*(texts.lines(data, pair, "train", x) for x in languages), strict=True)
                 if a.strip() and b.strip()]  # fmt: skip
        random.Random(1).shuffle(train)
        for n, (path, language) in enumerate(zip(files, languages, strict=True)):
            unfinished = path.with_name(path.name + ".part")
            with open(unfinished, "w", encoding="utf-8", newline="\n") as out:
                for name, _ in golds:
                    out.writelines(line + "\n" for line in texts.lines(data, pair, name, language))
                out.writelines(both[n] + "\n" for both in train)
            unfinished.rename(path)
    return golds, files


def beginning(data, pair, size, work, folder) -> Part:
    """Write the text of a size into a folder."""
    golds, files = whole(data, pair, work)
    cut = [Path(folder) / side for side in ("source", "target")]
    most = None if size == ALL else sum(n for _, n in golds) + size
    for path, own in zip(files, cut, strict=True):
        with open(path, "rb") as source, open(own, "wb") as out:
            out.writelines(islice(source, most))
    return Part(pair, golds, size, *cut, texts.count_lines(cut[0]))


def _align(o, part, folder):
    """Run ``align``; return the files of links."""
    joint = Path(folder) / "joint"
    command = ["align", "-q", "--threads", o.threads, "-s", part.source, "-t", part.target, "-o", joint]
    return measuring.run(measuring.aligntools(*command)), [joint]


def _eflomal(o, part, folder):
    """Run eflomal; return its two directions."""
    return peers.align(PEER, o, part, folder), [Path(folder) / d for d in ("forward", "reverse")]


RUNS = {OURS: _align, PEER: _eflomal}


class Kept:
    """Links of the gold sentences, kept by pair, size and system."""

    def __init__(self, o):
        self.o = o
        self.codes = {name: code.of(run, beginning, whole) for name, run in RUNS.items()}

    def folder(self, pair, size, system):
        """Return where links are, or will be."""
        return self.o.work / "curve-links" / f"{pair}.{size}.{system}.{self.codes[system]}"

    def get(self, pair, size, system):
        """Return what was kept, or None: the links' files, and time and memory."""
        folder = self.folder(pair, size, system)
        return folder if (folder / "cost.json").exists() else None

    def add(self, pair, size, system):
        """Align, unless that was done."""
        folder = self.folder(pair, size, system)
        if self.get(pair, size, system):
            return
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.o.work) as work:
            part = beginning(self.o.data, pair, size, self.o.work, work)
            measuring.note(f"{pair}: {system}, {part.n_pairs:,} pairs")
            usage, files = RUNS[system](self.o, part, work)
            n = sum(lines for _, lines in part.golds)
            for path in files:
                with open(path, "rb") as source, open(folder / path.name, "wb") as out:
                    out.writelines(islice(source, n))
            cost = {"pairs": part.n_pairs, "seconds": usage.seconds, "cpu": usage.cpu, "peak": usage.peak}
            unfinished = folder / "cost.part"
            unfinished.write_text(json.dumps(cost))
            unfinished.rename(folder / "cost.json")


def run(o):
    if not o.data:
        raise SystemExit("curve needs gold links and text: --data DIR")
    pairs = o.pairs.split(",") if o.pairs else pairs_with_text(o.data)
    sizes = [ALL if x == ALL else int(x) for x in o.sizes.split(",")] if o.sizes else [*SIZES, ALL]
    kept = Kept(o)
    systems = [s for s in o.systems.split(",") if s != PEER or o.eflomal]
    if unknown := set(systems) - set(RUNS):
        raise SystemExit(f"curve knows {', '.join(RUNS)}, not {', '.join(unknown)}")
    jobs = [(_pairs(o, pair, size), pair, size) for pair in pairs for size in sizes if not _past(o, pair, size)]
    for _, pair, size in sorted(jobs, key=lambda job: job[0]):
        for system in systems:
            kept.add(pair, size, system)
    rows = {(pair, size): _row(o, kept, pair, size) for _, pair, size in jobs}
    return _body(o, rows)


def pairs_with_text(data):
    """Return the pairs of languages that have gold links and training text."""
    found = sorted({path.parent.name for path in data.glob("*/*.wa")})
    return [pair for pair in found if list((data / pair).glob("train.en*"))]


def _pairs(o, pair, size):
    """Return how many pairs a text of a size has."""
    golds, (source, _) = whole(o.data, pair, o.work)
    every = _lines(source)
    return every if size == ALL else min(every, sum(n for _, n in golds) + size)


@cache
def _lines(path):
    return texts.count_lines(path)


def _past(o, pair, size):
    """Return whether a text has no more pairs than a size asks for, so that it stands under "all"."""
    return size != ALL and _pairs(o, pair, size) == _pairs(o, pair, ALL)


def _row(o, kept, pair, size):
    """Return gold set -> (system -> figures) of a text; systems that were not run are left out."""
    found = {}
    golds, _ = whole(o.data, pair, o.work)
    for system in RUNS:
        folder = kept.get(pair, size, system)
        if folder:
            for name, links in _links(system, folder).items():
                begin = 0
                for gold, n in golds:
                    figures = _figures(o, pair, gold, links[begin : begin + n], begin)
                    found.setdefault(gold, {})[name] = figures
                    begin += n
    return found


def _links(system, folder):
    """Return name -> links of the gold sentences; of eflomal in every symmetrization."""
    from aligntools.formats.links.pharaoh import read_pharaoh
    from aligntools.links.symmetrize import symmetrize

    if system == OURS:
        return {OURS: read_pharaoh(str(folder / "joint"), compiled=False)}
    forward, reverse = (read_pharaoh(str(folder / d), compiled=False) for d in ("forward", "reverse"))
    ways = {way: symmetrize(forward, reverse, way) for way in peers.HEURISTICS}
    return {f"{PEER} {way}": links for way, links in {"forward": forward, "reverse": reverse, **ways}.items()}


def _figures(o, pair, name, links, begin):
    """Return AER, precision and recall in percent, and the AER of each band of words, None where it has no link."""
    from dataclasses import replace

    from aligntools.formats.links.goldlinks import read_gold
    from aligntools.metrics.aer import AerScore

    gold = read_gold(str(o.data / pair / f"{name}.wa"), format="pharaoh")
    bands, figures = _bands(o, pair)[begin : begin + len(links)], []
    score = AerScore.of(gold, links)
    for band in range(len(BANDS)):
        some, sure, possible = (_within(x, bands, band) for x in (links, gold.sure, gold.possible))
        part = replace(gold, sure=sure, possible=possible)
        figures.append(100 * AerScore.of(part, some).aer if len(sure.pairs) else None)
    return {"aer": 100 * score.aer, "precision": 100 * score.precision, "recall": 100 * score.recall, "bands": figures}


def _within(links, bands, band):
    """Return the links whose source word is of a band."""
    from aligntools.formats.links.pharaoh import Links

    at = links.sentences().tolist()
    kept = [n for n, (k, i) in enumerate(zip(at, links.pairs[:, 0].tolist(), strict=True)) if bands[k][i] == band]
    kept = np.array(kept, np.int64)
    return Links(links.pairs[kept], np.searchsorted(kept, links.offsets))


_BANDS = {}


def _bands(o, pair):
    """Return the band of each English word of the gold sentences, by its frequency in the whole text."""
    if pair not in _BANDS:
        from collections import Counter

        golds, (source, _) = whole(o.data, pair, o.work)
        with open(source, encoding="utf-8") as file:
            lines = [line.split() for line in file]
        counts = Counter(word for line in lines for word in line)
        bound = COMMON * counts.total()
        _BANDS[pair] = [
            [0 if counts[word] < RARE else 2 if counts[word] > bound else 1 for word in line]
            for line in lines[: sum(n for _, n in golds)]
        ]
    return _BANDS[pair]


def _body(o, rows):
    header = [
        "training pairs",
        f"{OURS}: AER",
        "precision",
        "recall",
        f"{PEER} {HEURISTIC}: AER",
        "precision",
        "recall",
    ]
    header += [f"{PEER}, its best", f"{OURS} / it", *(f"{OURS}: {b}" for b in BANDS), *(f"{PEER}: {b}" for b in BANDS)]
    parts = [
        "AER, precision and recall in percent. Texts are the gold sentences of a pair of languages (0) and so many"
        " pairs of its training text, of which each larger text holds the smaller; lower-cased. `align` with its"
        f" defaults, eflomal as it is; *its best* is of its two directions and five symmetrizations, chosen on the gold"
        f" links of each line; other figures of it are of {HEURISTIC}. By word: AER over the links of English words"
        f" that occur fewer than {RARE} times in the whole training text (rare), more than once in"
        f" {round(1 / COMMON):,} words (common), and the others (middle). Single runs.",
    ]
    ratios, rises = {}, []
    for pair in sorted({pair for pair, _ in rows}):
        sizes = [size for p, size in rows if p == pair]
        for gold in sorted({gold for size in sizes for gold in rows[pair, size]}):
            lines, seen = [], []
            for size in sizes:
                found = rows[pair, size].get(gold, {})
                best = _best(found)
                lines.append(_line(o, pair, size, found, best))
                if OURS in found:
                    seen.append((found[OURS]["aer"], size))
                if OURS in found and best:
                    ratios.setdefault(size, []).append(found[OURS]["aer"] / best[0])
            parts += [f"### {pair}.{gold}", report.table(header, lines)]
            if len(seen) > 1:
                rises.append((f"{pair}.{gold}", *_rise(seen)))
    parts += _summary(ratios, rises)
    return "\n\n".join([*parts, report.circumstances(o.threads)])


def _best(found):
    return min(((f["aer"], name.removeprefix(f"{PEER} ")) for name, f in found.items() if name != OURS), default=None)


def _line(o, pair, size, found, best):
    ours, theirs = found.get(OURS), found.get(f"{PEER} {HEURISTIC}")
    line = [f"{_pairs(o, pair, size):,} in all" if size == ALL else f"{size:,}"]
    for f in (ours, theirs):
        line += [f"{f[x]:.1f}" for x in ("aer", "precision", "recall")] if f else ["", "", ""]
    line.append(f"{best[0]:.1f} {best[1]}" if best else "")
    line.append(f"{ours['aer'] / best[0]:.3f}" if ours and best else "")
    for f in (ours, theirs):
        line += ["" if x is None else f"{x:.1f}" for x in (f["bands"] if f else (None,) * len(BANDS))]
    return line


def _rise(seen):
    """Return by how much a text's error rate is above the lowest of those of smaller texts, at most; and where."""
    low, most, where = seen[0][0], 0.0, ""
    for aer, size in seen:
        if aer - low > most:
            most, where = aer - low, size
        low = min(low, aer)
    return most, where


def _summary(ratios, rises):
    parts = []
    if ratios:
        lines = [[x if x == ALL else f"{x:,}", len(r), f"{statistics.mean(r):.3f}", sum(y < 1 for y in r)]
                 for x, r in ratios.items()]  # fmt: skip
        header = ["training pairs", "gold sets", f"mean of {OURS} / {PEER}'s best", "lower on"]
        parts += ["### All sets", report.table(header, lines)]
    if rises:
        lines = [
            [name, f"{rise:.1f}", f"{where:,}" if isinstance(where, int) else where] for name, rise, where in rises
        ]
        header = ["gold set", f"most by which `{OURS}` is above its error on a smaller text", "at"]
        parts.append(report.table(header, lines))
    return parts
