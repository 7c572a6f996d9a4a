"""Table 5 of Liu & Sun (2015) on every gold set, over base models of several kinds, with paired tests.

What the paper's learning adds is told apart from its start: each row has the start alone ("nothing learned") too.
"""

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench import code, measuring, report, texts
from bench.contrastive_base import base_hash
from bench.contrastive_study import UNTAUGHT, Study
from bench.quality import HEURISTIC, evaluate

#: Kinds of base models, and the features that are tried over each.
KINDS = {"align": {"16": "paper", "all": UNTAUGHT}, "fast_align": {"16": "paper"}, "giza": {"16": "paper"}}
TITLES = {
    "align": "`align`'s models",
    "fast_align": "tables of fast_align",
    "giza": "tables of GIZA++ (models 1, HMM, 3 and 4)",
}
FEATURES = {"16": "the paper's 16 features", "all": "all features but link trees"}
#: How GIZA++ is run, as Moses does; tables are asked for.
GIZA = {"m1": 5, "m2": 0, "mh": 5, "m3": 3, "m4": 3, "nsmooth": 4, "model4smoothfactor": 0.4, "nodumps": 0}
#: Differences with a p-value below this are called significant.
LEVEL = 0.05
METHODS = ("risk", "mert")


def arguments(parser):
    parser.add_argument("--sets", metavar="A,B", help="only these gold sets [all]")
    parser.add_argument("--kinds", default=",".join(KINDS), metavar="A,B", help="base models [%(default)s]")
    parser.add_argument("--giza", type=Path, metavar="DIR", help="folder of GIZA++, mkcls, plain2snt.out, snt2cooc.out")
    parser.add_argument("--giza-sets", metavar="A,B", help="sets that GIZA++ is run on [all]")
    parser.add_argument("--supervised", default="en-fr.dev,en-zh.gold", metavar="A,B", help="[%(default)s]")
    for name, value, text in (
        ("pairs", 20_000, "pairs that base models are trained on at most"),
        ("sentences", 500, "pairs that weights are learned from"),
        ("seeds", 3, "times that weights are learned, from other pairs and noise"),
    ):
        parser.add_argument(f"--{name}", type=int, default=value, metavar="N", help=f"{text} [%(default)s]")


class Work:
    """Figures kept between runs, by set, base model, options and the code that they came of."""

    def __init__(self, o):
        self.o, self.kept = o, measuring.Kept(o.work / "contrastive_systems.json")
        self.code = code.of(_measure, _learn, _supervised, _fast_align, _giza, Study, TableStudy)

    def figures(self, name, kind, measure):
        """Return a set's figures, measured unless they are known."""
        key = f"{name} {kind} {self.o.pairs} {self.o.sentences} {self.o.seeds} {self.code}"
        return self.kept.get(key, measure, f"{name}: {kind}")


@dataclass
class TableStudy(Study):
    """A gold set, and a base model of another aligner's tables, which is kept between runs."""

    kind: str = "fast_align"

    def _file(self, kind):
        return self.o.work / f"systems.{self.name}.{self.o.pairs}.{self.kind}.{base_hash()}.{kind}"

    def base(self):
        """Run the other aligner unless its model is there; return way -> file of links."""
        ways = {way: self._file(way) for way in ("joint", "forward", "reverse", HEURISTIC)}
        if not all(path.exists() for path in (self._file("atm"), *ways.values())):
            with tempfile.TemporaryDirectory(dir=self.o.work) as folder:
                run = _fast_align if self.kind == "fast_align" else _giza
                aligner, given = run(self.o, self.text, Path(folder), ways)
                aligner.save(self._file("atm"))
                both = ["symmetrize", "-c", HEURISTIC, *given, "-i", ways["forward"], "-j", ways["reverse"]]
                measuring.run(measuring.aligntools(*both), ways[HEURISTIC])
                texts_given = ["-s", self.text.source, "-t", self.text.target, "-o", ways["joint"]]
                measuring.run(measuring.aligntools("align", "-q", "-m", self._file("atm"), *texts_given))
        return ways


def _fast_align(o, text, folder, ways):
    from aligntools.api.align.contrastive_base import aligner_from_tables

    tables = []
    for way, more in (("forward", ()), ("reverse", ("-r",))):
        tables.append(folder / way)
        command = [o.fast_align, "-i", text.joint, "-d", "-o", "-v", *more, "-p", tables[-1]]
        measuring.run(command, ways[way], OMP_NUM_THREADS=str(o.threads))
    return aligner_from_tables(*tables), ()


def _giza(o, text, folder, ways):
    """Run GIZA++ in both directions, as Moses does."""
    from aligntools.api.align.contrastive_base import aligner_from_tables

    for side, path in (("s", text.source), ("t", text.target)):
        (folder / side).write_bytes(path.read_bytes())
        measuring.run([o.giza / "mkcls", "-c50", "-n2", f"-p{folder / side}", f"-V{folder / side}.vcb.classes", "opt"])
    measuring.run([o.giza / "plain2snt.out", folder / "s", folder / "t"])
    for way, a, b in (("forward", "s", "t"), ("reverse", "t", "s")):
        vocabularies, counts = [folder / f"{a}.vcb", folder / f"{b}.vcb"], folder / f"{a}_{b}.snt"
        measuring.run([o.giza / "snt2cooc.out", *vocabularies, counts], folder / f"{way}.cooc")
        files = ["-S", vocabularies[0], "-T", vocabularies[1], "-C", counts]
        files += ["-CoocurrenceFile", folder / f"{way}.cooc", "-o", folder / way]
        options = [str(x) for name, value in GIZA.items() for x in (f"-{name}", value)]
        measuring.run([o.giza / "GIZA++", *files, *options], USER="bench")  # it falls over without one
        ways[way].write_bytes((folder / f"{way}.A3.final").read_bytes())
    names = {"source_vcb": folder / "s.vcb", "target_vcb": folder / "t.vcb"}
    tables = (folder / f"{way}.t3.final" for way in ("forward", "reverse"))
    return aligner_from_tables(*tables, **names), ("--format", "giza")


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("contrastive_systems needs gold links: --data DIR")
    names = o.sets.split(",") if o.sets else texts.gold_sets(o.data)
    there = {"align": True, "fast_align": o.fast_align, "giza": o.giza}
    kinds = [kind for kind in o.kinds.split(",") if there[kind]]
    work, found, supervised = Work(o), {kind: {} for kind in kinds}, {}
    with Pool(o.threads) as pool:
        for kind in kinds:
            for name in names:
                if kind == "giza" and o.giza_sets and name not in o.giza_sets.split(","):
                    continue
                study = Study(o, name, pool) if kind == "align" else TableStudy(o, name, pool, kind)
                found[kind][name] = work.figures(name, kind, lambda s=study, k=kind: _measure(s, k))
                if kind == "align" and name in o.supervised.split(","):
                    supervised[name] = work.figures(name, "supervised", lambda s=study: _supervised(s))
    return "Contrastive alignment: systems", _body(o, found, supervised)


def _counts(links, gold):
    """Return what AER needs of each sentence, int64 [sentences, 4]."""
    from aligntools.metrics import aer

    return aer.count(links, gold)[:, [0, 1, 3, 4]]


def _figure(totals):
    links, sure, in_sure, in_possible = np.moveaxis(totals, -1, 0)
    return 1 - (in_sure + in_possible) / np.maximum(links + sure, 1)


def _measure(study, kind):
    """Return AER in percent by system, and differences with their p-values."""
    from aligntools.formats.links.pharaoh import read_pharaoh

    o, ways = study.o, study.base()
    joint = read_pharaoh(str(ways["joint"]), head=study.text.n_gold, compiled=False)
    own = evaluate(ways[HEURISTIC], study.text)[0]
    counts = {"joint": o.seeds * _counts(joint, study.gold)}
    found = {"pairs": study.text.n_pairs, "gold": study.text.n_gold, HEURISTIC: own, "aer": {}, "tests": {}}
    found["aer"]["joint"] = [100 * float(_figure(counts["joint"].sum(0)))]
    samples = [study.samples("shuffle", seed) for seed in range(1, o.seeds + 1)]
    study.gold_candidates, study.gold  # noqa: B018 - gathered with all threads, before they are busy
    jobs = [(row, n) for row in KINDS[kind] for n in range(o.seeds)]
    both = study.pool.map(lambda job: _learn(study, kind, KINDS[kind][job[0]], samples[job[1]], job[1] + 1), jobs)
    for row in KINDS[kind]:
        for number, system in enumerate(("start", "learned")):
            runs = [_counts(pair[number], study.gold) for (r, _), pair in zip(jobs, both, strict=True) if r == row]
            found["aer"][f"{system} {row}"] = [100 * float(_figure(x.sum(0))) for x in runs]
            counts[f"{system} {row}"] = sum(runs)
        for other in (f"start {row}", "joint"):
            found["tests"][f"{row} {other}"] = _test(counts[f"learned {row}"], counts[other])
    return found


def _test(counts, baseline):
    """Return the difference in points and its p-value; several runs' counts are summed: their mean is tested."""
    from aligntools.ground.resampling import compare

    difference = compare(counts, baseline, _figure)
    return [100 * difference.value, difference.p_value]


def _learn(study, kind, features, samples, seed):
    """Return the links of the start alone, and those of what is learned, with as many links."""
    from aligntools.aligning.contrastive.features import select, start_weights
    from aligntools.aligning.contrastive.learning import LearningSettings, calibrate, learn
    from aligntools.aligning.contrastive.search import search

    observed, corrupted, links = samples
    wanted = links if kind == "align" else observed.expected.sum()
    active = select(features)
    start = start_weights(active, paper=True)
    learned = learn(observed, corrupted, start, active, LearningSettings(passes=5, seed=seed, rate=0.05, pull=0.0))
    return [search(study.gold_candidates, *calibrate(observed, w, active, wanted)).links() for w in (start, learned)]


def _supervised(study):
    """Return cross-validated AER by method, in percent."""
    from aligntools.aligning.contrastive.features import select, start_weights
    from aligntools.aligning.contrastive.tasks import LearningPlan, learn_from_gold

    active = select("paper")
    plan = LearningPlan(active, start_weights(active, paper=True), threshold=study.threshold)
    return {
        method: 100 * learn_from_gold(study.finder, study.gold_text, study.gold, plan, method).validated
        for method in METHODS
    }


def _mean(values):
    mean = statistics.mean(values)
    return f"{mean:.2f} ± {(max(values) - min(values)) / 2:.2f}" if len(values) > 1 else f"{mean:.2f}"


def _tested(test):
    return f"{test[0]:+.2f}, {test[1]:.3f}"


def _body(o, found, supervised):
    seeds = f"mean ± half the range of {o.seeds} runs with other pairs and noise" if o.seeds > 1 else "one run"
    parts = [
        f"Table 5 of Liu & Sun (2015). AER in percent; texts are cut to {o.pairs:,} pairs (the gold sentences first),"
        f" so that base models of every kind fit the time. Weights are learned from {o.sentences} pairs against"
        " shuffled copies, from the paper's start; *nothing learned* is that start alone. Both have as many links as"
        " the base model decides on (over tables: expects). No gold link had a part in any of it. The start that"
        " comes with the program is not here: see the section on contrastive alignment."
        f" {seeds[0].upper()}{seeds[1:]}. Differences"
        " are of learned weights to the start and to the base model's own decision, with p-values of approximate"
        f" randomization over sentences; {HEURISTIC} is that of the aligner's own two directions. In the paper,"
        " French-English and Chinese-English: IBM 4 6.36 and 21.92, supervised 4.28 and 19.37, contrastive 5.01 and"
        " 20.24.",
    ]
    summary = [_summary(kind, row, sets) for kind, sets in found.items() if sets for row in KINDS[kind]]
    header = ["base model, features", "sets", HEURISTIC, "its decision", "nothing learned", "learned"]
    header += ["learned below the start on", f"p < {LEVEL}: below, above", "below the base's decision on"]
    header += [f"p < {LEVEL}: below, above"]
    parts.append(report.table(header, summary))
    for kind, sets in found.items():
        if sets:
            parts += [f"### Over {TITLES[kind]}", _table(kind, sets)]
    if supervised:
        rows = [[name, *(f"{aers[m]:.2f}" for m in METHODS)] for name, aers in supervised.items()]
        parts.append(
            "Learned from gold links instead, the 16 features over `align`'s models, AER of five folds, summed counts:"
        )
        parts.append(report.table(["gold set", "minimum risk", "minimum error rate"], rows))
    return "\n\n".join([*parts, report.circumstances(o.threads)])


def _table(kind, sets):
    header = ["gold set", "pairs", HEURISTIC, "its decision"]
    for row in KINDS[kind]:
        header += [f"{FEATURES[row]}: nothing learned", "learned", "to the start, p", "to the base, p"]
    lines = []
    for name, f in sets.items():
        line = [f"{name}, {f['gold']:,}", f"{f['pairs']:,}", f"{f[HEURISTIC]:.2f}", f"{f['aer']['joint'][0]:.2f}"]
        for row in KINDS[kind]:
            line += [_mean(f["aer"][f"start {row}"]), _mean(f["aer"][f"learned {row}"])]
            line += [_tested(f["tests"][f"{row} {other}"]) for other in (f"start {row}", "joint")]
        lines.append(line)
    return report.table(header, lines)


def _summary(kind, row, sets):
    """Return means over sets, and how often learned weights are better."""
    aers = ("joint", f"start {row}", f"learned {row}")
    means = [statistics.mean(f[HEURISTIC] for f in sets.values())]
    means += [statistics.mean(statistics.mean(f["aer"][a]) for f in sets.values()) for a in aers]
    line = [f"{TITLES[kind]}, {FEATURES[row]}", len(sets), *(f"{m:.2f}" for m in means)]
    for other in (f"start {row}", "joint"):
        tests = [f["tests"][f"{row} {other}"] for f in sets.values()]
        line.append(f"{sum(d < 0 for d, _ in tests)} of {len(tests)}")
        line.append(", ".join(str(sum(p < LEVEL and d * way > 0 for d, p in tests)) for way in (-1, 1)))
    return line
