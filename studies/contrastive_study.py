"""The studies of Liu & Sun (2015) on contrastive word alignment: approximation, noise, lists, features, search.

Figures 2 to 4 and Table 1 are measured in ``contrastive_figures``, Tables 2 to 4 here, Table 5 by
``contrastive_systems``.
"""

import json
import statistics
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench import code, contrastive_base, measuring, report
from bench import contrastive_figures as figures
from bench.quality import evaluate

SETS = "en-fr.dev,en-zh.gold"
PARTS = ("short", "long", "table1", "table2", "table3", "table4", "search", "sizes")
#: What figures are called in the paper.
NAMES = {"fig2": "short", "fig3": "short", "fig4": "long"}
N_BEST = (1, 5, 10, 50, 100)
UNLEARNED = "nothing learned: the start"
#: All features but the one that other languages' gold links have taught.
UNTAUGHT = "all,-trees"
NOISE = ("shuffle", "delete", "insert", "replace")
MIXED = ",".join(NOISE)
#: Pairs that base models are trained on, where the text has as many.
SIZES = (2_000, 10_000, 50_000)


class Variant(NamedTuple):
    """How weights are learned; with lists of 0 they are not."""

    noise: str = "shuffle"
    features: str = "paper"
    n_best: int = 5
    optimizer: str = "sphere"
    beam: int = 3
    candidates: str = "base"


#: The paper's way: the full space, all kinds of noise, plain descent; then parts of it.
SEARCH = {
    "as here: base model's candidates, shuffled, on the sphere": Variant(),
    "full space": Variant(candidates="all"),
    "plain descent": Variant(optimizer="sgd"),
    "full space, plain descent, n = 1": Variant(candidates="all", optimizer="sgd", n_best=1, beam=5),
    "full space, plain descent, n = 1, all kinds of noise": Variant(MIXED, "paper", 1, "sgd", 5, "all"),
    UNLEARNED: Variant(n_best=0),
    f"full space, {UNLEARNED}": Variant(n_best=0, candidates="all"),
}
#: Options that change what a part measures.
OPTIONS = {
    "short": ("pairs", "vectors", "short_pairs", "beam", "reach", "seed"),
    "long": ("pairs", "long_vectors", "long_pairs", "beam", "reach", "seed"),
    "table1": ("pairs", "gibbs_vectors", "gibbs_pairs", "short_pairs", "long_pairs", "beam", "reach", "seed"),
    "table2": ("pairs", "sentences", "seeds"),
    "table3": ("pairs", "sentences", "seeds"),
    "table4": ("pairs", "sentences", "seeds"),
    "search": ("pairs", "sentences", "seeds"),
    "sizes": ("sentences", "seeds"),
}
#: What the paper has, French-English and Chinese-English.
PAPER = {
    "table2": {"shuffle": "8.93, 21.05", "delete": "9.03, 21.49", "insert": "12.87, 24.87", "replace": "13.13, 25.59"},
    "table3": {"1": "8.93, 21.05", "5": "8.83, 21.06", "10": "8.97, 21.05", "50": "8.88, 21.07", "100": "8.92, 21.05"},
    "table4": {"local": "15.56, 25.35", "paper": "8.93, 21.05"},
}


def arguments(parser):
    parser.add_argument("--sets", default=SETS, metavar="A,B", help="gold sets [%(default)s]")
    parser.add_argument(
        "--parts", default=",".join(PARTS), metavar="A,B",
        help="what to measure (fig2, fig3 and fig4 go too); the section also shows what was measured before [all]",
    )  # fmt: skip
    parser.add_argument("--figures", type=Path, default=report.ROOT / "bench" / "figures", metavar="DIR")
    for name, value, text in (
        ("pairs", 20_000, "pairs that base models are trained on at most"),
        ("vectors", 1000, "random weight vectors on short pairs"),
        ("short-pairs", 40, "short pairs"),
        ("long-vectors", 1000, "random weight vectors on long pairs"),
        ("long-pairs", 10, "long pairs"),
        ("gibbs-vectors", 20, "random weight vectors for Gibbs sampling"),
        ("gibbs-pairs", 20, "pairs, short and long, for Gibbs sampling"),
        ("beam", 5, "beam of the search that is compared with exact expectations"),
        ("sentences", 500, "pairs that weights are learned from"),
        ("seeds", 3, "times that weights are learned, from other pairs and noise"),
        ("seed", 1, "of weight vectors and pairs"),
    ):
        parser.add_argument(f"--{name}", type=int, default=value, metavar="N", help=f"{text} [%(default)s]")
    parser.add_argument(
        "--reach", type=float, default=1.0, metavar="R", help="weights are uniform in [-R, R]; the paper has no range"
    )


class Kept:
    """Figures kept in a file, by part, set and all that they depend on."""

    def __init__(self, o):
        self.o, self.path, self.code = o, o.work / "contrastive_study.json", code.of(_measure, Study)
        self.found = json.loads(self.path.read_text()) if self.path.exists() else {}

    def _key(self, part, name):
        return " ".join([part, name, self.code, *(f"{x}={getattr(self.o, x)}" for x in OPTIONS[part])])

    def get(self, part, name):
        """Return figures, or None."""
        return self.found.get(self._key(part, name))

    def add(self, part, name, figures):
        """Keep figures."""
        self.found[self._key(part, name)] = figures
        temporary = self.path.with_suffix(".part")
        temporary.write_text(json.dumps(self.found))
        temporary.replace(self.path)


@dataclass
class Study(contrastive_base.Study):
    """A gold set and its base model, with what the parts draw from them."""

    @cached_property
    def gold_candidates(self):
        """Return the candidates of the pairs with gold links."""
        return self.finder.find_all(self.gold_text)

    @cached_property
    def short(self):
        """Return short pairs and their noisy copies."""
        return figures.draw(self.model, self.pool, self.bitext, figures.SHORT, self.o.short_pairs, self.o.seed)

    @cached_property
    def long(self):
        """Return long pairs and their noisy copies."""
        return figures.draw(self.model, self.pool, self.bitext, figures.LONG, self.o.long_pairs, self.o.seed)

    def samples(self, noise, seed, finder=None):
        """Return candidates of pairs drawn at random, of their noisy copies, and the base model's number of links."""
        from aligntools.aligning.applying.applier import decide
        from aligntools.aligning.applying.kernels_decoding import MEAN
        from aligntools.aligning.contrastive.candidates import concatenate
        from aligntools.aligning.contrastive.noise import has_changed, noisy, pick
        from aligntools.aligning.contrastive.tasks import draw

        finder = finder or self.finder
        part = pick(self.bitext, draw([self.bitext], self.o.sentences, seed)[0])
        copy = noisy(part, noise, seed)
        changed = np.flatnonzero(has_changed(part, copy))
        observed, links = [], 0
        for posteriors, candidates in finder.find(pick(part, changed)):
            observed.append(candidates)
            links += len(decide(posteriors, MEAN, self.threshold, self.pool)[0])
        return concatenate(observed), finder.find_all(pick(copy, changed)), links

    @cached_property
    def whole_finder(self):
        """Return what has every cell as a candidate."""
        from aligntools.aligning.contrastive.candidates import CandidateFinder

        return CandidateFinder(self.model, self.pool, candidates="all")

    @cached_property
    def gold_cells(self):
        """Return all cells of the pairs with gold links."""
        return self.whole_finder.find_all(self.gold_text)

    def aer(self, weights, active, space="base"):
        """Return the AER in percent of what a greedy search finds."""
        from aligntools.aligning.contrastive.search import GREEDY, search
        from aligntools.metrics.aer import Aer

        candidates = self.gold_cells if space == "all" else self.gold_candidates
        return 100 * Aer().score(self.gold, search(candidates, weights, active, GREEDY.among(space)).links()).aer

    def learned(self, samples, variant, seed):
        """Learn weights as contrastive-align does; return AER with the base model's number of links, and without."""
        from aligntools.aligning.contrastive.features import select, start_weights
        from aligntools.aligning.contrastive.learning import calibrate, learn
        from aligntools.aligning.contrastive.settings import ContrastiveSettings
        from aligntools.aligning.contrastive.tasks import plan_of

        v, (observed, corrupted, links) = variant, samples
        settings = ContrastiveSettings(
            features=v.features, start="paper", n_best=max(v.n_best, 1), learning_beam=v.beam, optimizer=v.optimizer,
            passes=(100 if v.optimizer == "sgd" else 5) if v.n_best else 0, candidates=v.candidates, seed=seed,
        )  # fmt: skip
        active, plan = select(v.features), plan_of(settings)
        weights = learn(observed, corrupted, start_weights(active, paper=True), active, plan.learning)
        some = calibrate(observed, weights, active, links, plan.search)
        return self.aer(*some, v.candidates), self.aer(weights, active, v.candidates)

    def table(self, variants):
        """Learn once a seed for each `Variant`; return its name -> [[AER, AER as learned], ...]."""
        seeds = range(1, self.o.seeds + 1)
        kinds = {(v.noise, v.candidates) for v in variants.values()}
        finders = {space: self.whole_finder if space == "all" else self.finder for _, space in kinds}
        samples = {(*kind, s): self.samples(kind[0], s, finders[kind[1]]) for kind in sorted(kinds) for s in seeds}
        self.gold_candidates, self.gold  # noqa: B018 - gathered with all threads, before they are busy
        if any(space == "all" for _, space in kinds):
            self.gold_cells  # noqa: B018
        jobs = [(v, s) for v in variants.values() for s in seeds]
        found = iter(self.pool.map(lambda j: self.learned(samples[j[0].noise, j[0].candidates, j[1]], *j), jobs))
        return {name: [next(found) for _ in seeds] for name in variants}

    def table2(self):
        """Return AER by kind of noise."""
        return self.table({noise: Variant(noise) for noise in (*NOISE, MIXED)} | {UNLEARNED: Variant(n_best=0)})

    def table3(self):
        """Return AER by length of the lists."""
        return self.table({str(n): Variant(n_best=n) for n in N_BEST} | {UNLEARNED: Variant(n_best=0)})

    def table4(self):
        """Return AER by group of features."""
        learned = {features: Variant(features=features) for features in ("local", "paper")}
        return self.table(learned | {f"{n}, {UNLEARNED}": v._replace(n_best=0) for n, v in learned.items()})

    def search(self):
        """Return AER of the paper's search and learning, one thing after the other taken from it."""
        return self.table(SEARCH)

    def sizes(self):
        """Return size of the base model's text -> {row: [[AER, AER as learned], ...]}."""
        found = {}
        for size in SIZES:
            study = type(self)(replace_pairs(self.o, size), self.name, self.pool)
            if study.text.n_pairs < size:
                continue
            rows = {"base": [[evaluate(study.base()["joint"], study.text)[0]]]}
            rows |= study.table({UNLEARNED: Variant(n_best=0)} | {f"n = {n}": Variant(n_best=n) for n in (1, 5, 50)})
            found[str(size)] = rows
        return found


def replace_pairs(o, pairs):
    """Return options with another number of pairs."""
    changed = copy(o)
    changed.pairs = pairs
    return changed


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("contrastive_study needs gold links: --data DIR")
    chosen = {NAMES.get(part, part) for part in o.parts.split(",")}
    if chosen - set(PARTS):
        raise SystemExit(f"no part {', '.join(sorted(chosen - set(PARTS)))}; there are {', '.join(PARTS)}")
    kept, found, sizes = Kept(o), {part: {} for part in PARTS}, {}
    with Pool(o.threads) as pool:
        for name in o.sets.split(","):
            study = Study(o, name, pool)
            sizes[name] = study.text.n_pairs, study.text.n_gold
            for part in PARTS:
                known = kept.get(part, name)
                if known is None and part in chosen:
                    study.base()
                    measuring.note(f"{name}: {part}")
                    known = _measure(part, study)
                    kept.add(part, name, known)
                if known is not None:
                    found[part][name] = known
    return "Contrastive alignment: the paper's studies", _body(o, found, sizes)


def _measure(part, study):
    o, pool = study.o, study.pool
    if part == "short":
        return figures.short(study.short, o, pool)
    if part == "long":
        return figures.long(study.long, o, pool)
    if part == "table1":
        return figures.gibbs(study.long, study.short, o, pool)
    return getattr(study, part)()


def _spread(runs, column):
    values = [run[column] for run in runs]
    mean = f"{statistics.mean(values):.2f}"
    return f"{mean} ± {(max(values) - min(values)) / 2:.2f}" if len(values) > 1 else mean


def _aer_table(part, title, found, first):
    variants = next(iter(found.values()))
    rows = [[v, *(_spread(f[v], column) for f in found.values() for column in (0, 1))] for v in variants]
    header = [first, *(f"{name}{x}" for name in found for x in ("", ", learned count"))]
    if part in PAPER:
        header.insert(1, "paper: fr, zh")
        for row in rows:
            row.insert(1, PAPER[part].get(row[0], ""))
    text = [f"### {title}", report.table(header, rows)]
    if part == "table4":
        cuts = []
        for name, f in found.items():
            local, every = (statistics.mean(run[0] for run in f[v]) for v in ("local", "paper"))
            cuts.append(f"{name} {100 * (1 - every / local):.1f} %")
        text.append(f"The eleven non-local features lower AER by: {', '.join(cuts)} (paper: 42.6 %, 17.0 %).")
    return text


SEARCH_TEXT = (
    "In the full space every cell of the link matrix may be linked; a word's links are not limited. Plain descent is"
    " the authors' program's: steps of 1 / (t + 1), until three in a row are shorter than 0.01 or 100 passes are made."
)


def _sizes(found):
    rows = []
    for name, by_size in found.items():
        for size, variants in by_size.items():
            rows.append([name, f"{int(size):,}", *(_spread(f, 0) for f in variants.values())])
    header = ["gold set", "pairs", "base model's decision", *list(next(iter(next(iter(found.values())).values())))[1:]]
    return ["### Corpora of several sizes\n\nThe base model is trained on so many pairs.", report.table(header, rows)]


def _body(o, found, sizes):
    texts_used = "; ".join(f"{name}: {n:,} pairs, {g} of them with gold links" for name, (n, g) in sizes.items())
    parts = [
        "After Liu & Sun (2015). Base models are `align`'s, with its defaults, trained on the lower-cased text cut to"
        f" {o.pairs:,} pairs ({texts_used}); English is the source. Weights are uniform in [-{o.reach:g}, {o.reach:g}]"
        f" (the paper gives no range), the search has beam {o.beam}, and noisy copies are shuffled, deleted, inserted"
        " and replaced in equal parts.",
    ]
    drawings = {name: {p: found[p][name] for p in ("short", "long") if name in found[p]} for name in sizes}
    if any(drawings.values()):
        drawn = figures.plot(o.figures, drawings)
        if drawn:
            parts.append("Plots: " + ", ".join(f"`{path.name}`" for path in drawn) + ".")
    if found["short"]:
        parts += figures.figure2(found["short"]) + figures.figure3(found["short"])
    if found["long"]:
        parts += figures.figure4(found["long"])
    if found["table1"]:
        parts += figures.table1(found["table1"])
    if any(found[f"table{n}"] for n in (2, 3, 4)):
        parts.append(
            f"Tables 2 to 4: AER in percent with the 16 features, weights learned from {o.sentences} pairs from the"
            f" paper's start, mean and half the range over {o.seeds} runs with other pairs and noise; with as many"
            " links as the base model decides on, and with as many as the learned weight of the link count gives. No"
            " setting was chosen on"
            " these sets."
        )
    titles = ("Table 2: noise", "noise"), ("Table 3: length of the lists", "n"), ("Table 4: features", "features")
    for number, (title, first) in enumerate(titles, 2):
        if found[f"table{number}"]:
            parts += _aer_table(f"table{number}", title, found[f"table{number}"], first)
    if found["search"]:
        parts += _aer_table("search", "Search and learning as in the paper", found["search"], "way")
        parts.append(SEARCH_TEXT)
    if found["sizes"]:
        parts += _sizes(found["sizes"])
    return "\n\n".join([*parts, report.circumstances(o.threads)])
