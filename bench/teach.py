"""The start of contrastive-align taught by large text without gold links, judged on languages that taught nothing.

Every large text teaches students of several sizes; a start for a group of languages is learned from the lessons of the
other languages alone (the groups are `bench.contrastive_start`'s), and judged by that group's gold links, which had no
part in anything. With --out a start is learned from all texts.
"""

import pickle
import statistics
from pathlib import Path

import numpy as np

from bench import code, measuring, report, texts
from bench import contrastive_start as starting
from bench.contrastive_study import Study, base_hash

#: The large texts: pair of languages and part.
TEXTS = (
    "en-fr.train", "en-fr.general", "en-de.train", "en-es.train", "en-cs.train", "en-ja.train", "en-zh.train",
    "en-it.train", "en-sv.train",
)  # fmt: skip
#: What is compared.
COLUMNS = {"base": "base (`align`)", "alone": "taught, start alone", "noise": "taught, then noise"}


def arguments(parser):
    parser.add_argument("--sets", metavar="A,B", help="only these gold sets [all]")
    parser.add_argument("--pairs", type=int, default=10**9, metavar="N", help="pairs to train base models on at most")
    parser.add_argument("--most", type=int, default=100_000, metavar="N", help="pairs of a text at most [%(default)s]")
    parser.add_argument("--noise", action="store_true", help="also learn from noise on top of the start")
    parser.add_argument("--out", type=Path, metavar="FILE", help="learn a start from all texts, put it here, and stop")


class Work:
    """What is kept between runs, by the code it came of."""

    def __init__(self, o, pool):
        self.o, self.pool = o, pool
        self.lessons_code, self.code = code.of(_lessons), f"{base_hash()}{code.of(_measure, _start)}"
        self.kept = measuring.Kept(o.work / "teach.json")

    def lessons(self, name):
        """Return what students of a text know and its teacher says."""
        path = self.o.work / f"teach.{name}.{self.o.most}.{self.lessons_code}.lessons"
        if not path.exists():
            measuring.note(f"{name}: lessons")
            found = _lessons(self.o.data, name, self.o.most, self.pool)
            path.write_bytes(pickle.dumps(found))
        return pickle.loads(path.read_bytes())

    def start(self, group):
        """Return the start that all texts of other languages taught."""
        held = {starting.language(name) for name in group}
        names = [name for name in TEXTS if starting.language(name) not in held]
        path = self.o.work / f"teach.{'+'.join(sorted(held))}.{self.o.most}.{self.lessons_code}{code.of(_start)}.start"
        if not path.exists():
            measuring.note(f"start without {', '.join(sorted(held)) or 'any'}")
            path.write_bytes(pickle.dumps(_start([self.lessons(name) for name in names], self.o.threads)))
        return pickle.loads(path.read_bytes())

    def figures(self, name, group, column):
        """Return a set's pairs and the counts of a column, measured unless they are known."""
        key = f"{name} {column} {self.o.pairs} {self.o.most} {self.code} {self.lessons_code}"

        def measure():
            return _measure(Study(self.o, name, self.pool), self.start(group), column)

        return self.kept.get(key, measure, f"{name}: {column}")


def _lessons(data, name, most, pool):
    from aligntools.aligning.contrastive import teaching
    from aligntools.aligning.contrastive.taught import TeachingSettings
    from aligntools.api.alignment import read_bitext

    pair, part = name.split(".")
    sides = [list(texts.lines(data, pair, part, language)) for language in ("en", pair[3:])]
    chosen = np.linspace(0, len(sides[0]) - 1, min(most, len(sides[0]))).astype(int)  # of all kinds that a text has
    bitext = read_bitext(*([side[n] for n in chosen] for side in sides))
    settings = TeachingSettings()
    found = teaching.lessons_of(
        bitext, teaching.teacher_of(bitext, settings, pool), settings, pool, number=TEXTS.index(name)
    )
    found.about = {"name": name} | found.about
    return found


def _start(lessons, threads):
    from aligntools.aligning.contrastive.taught import TeachingSettings
    from aligntools.aligning.contrastive.teaching import learn_start

    return learn_start(lessons, TeachingSettings(), threads)


def _measure(study, start, column):
    """Return pairs, and the counts of each sentence with gold links."""
    from dataclasses import replace

    from aligntools.aligning.contrastive import tasks
    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.formats.pharaoh import read_pharaoh
    from aligntools.metrics import aer

    if column == "base":
        links = read_pharaoh(str(study.base()["joint"]), head=study.text.n_gold, compiled=False)
    else:
        finder = CandidateFinder(study.model, study.pool, start.trees)
        plan = replace(tasks.learning_plan("all", start), threshold=study.threshold)
        learning = replace(plan.learning, passes=5 if column == "noise" else 0, rate=1e-4)
        weights = tasks.learn_weights(finder, [study.bitext], replace(plan, learning=learning))
        links = study.links(finder, weights)
    return study.text.n_pairs, aer.count(links, study.gold).tolist()


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("teach needs large texts and gold links: --data DIR")
    names = o.sets.split(",") if o.sets else texts.gold_sets(o.data)
    with Pool(o.threads) as pool:
        work = Work(o, pool)
        if o.out:
            work.start([]).save(o.out)
            raise SystemExit
        rows = {name: {} for name in names}
        groups = starting.groups(texts.gold_sets(o.data))
        for column in [c for c in COLUMNS if o.noise or c != "noise"]:
            for group in groups:
                for name in [n for n in group if n in names]:
                    rows[name]["pairs"], rows[name][column] = work.figures(name, group, column)
    return "Contrastive alignment: taught without gold", _body(o, names, rows)


def _aer(counts):
    from aligntools.metrics import aer

    return 100 * float(aer.figures(np.array(counts).sum(0))[0])


def _body(o, names, rows):
    from aligntools.ground.resampling import compare
    from aligntools.metrics import aer

    def figure(totals):
        return aer.figures(totals)[..., 0]

    columns = {c: title for c, title in COLUMNS.items() if c in rows[names[0]]}
    lines, ratios, certain = [], {c: {} for c in columns}, {"lower": 0, "higher": 0}
    for name in names:
        r = rows[name]
        found = {c: _aer(r[c]) for c in columns}
        difference = compare(np.array(r["alone"]), np.array(r["base"]), figure)
        low, high = (100 * x for x in difference.interval)
        certain["lower"] += high < 0
        certain["higher"] += low > 0
        for c in columns:
            ratios[c][name] = found[c] / found["base"]
        lines.append(
            [f"{name}, {len(r['base']):,}", f"{r['pairs']:,}", *(f"{found[c]:.2f}" for c in columns),
             f"{ratios['alone'][name]:.3f}", f"{100 * difference.value:+.2f} [{low:+.2f}, {high:+.2f}]"]
        )  # fmt: skip
    taught = {starting.language(name) for name in TEXTS}
    kinds = {
        "all": names,
        "languages with no large text": [n for n in names if starting.language(n) not in taught],
        "languages with large text, held out": [n for n in names if starting.language(n) in taught],
    }
    summary = [
        [kind, len(some), *(f"{100 * (statistics.mean(ratios[c][n] for n in some) - 1):+.1f} %, lower on"
                            f" {sum(ratios[c][n] < 1 for n in some)}" for c in list(columns)[1:])]
        for kind, some in kinds.items() if some
    ]  # fmt: skip
    text = (
        "AER in percent, lower-cased text. No gold link has a part in what is taught: teachers are models of"
        f" {', '.join(TEXTS)} (at most {o.most:,} pairs of each, evenly drawn), students models of 150 to 20,000 of"
        f" these. {starting.FOLDS} groups of languages, each judged by a start that the texts of the other groups"
        " taught. Settings of teaching were chosen on gold sets of languages that have large text, held out in the"
        " same way; nothing was chosen on the sets of the other languages. The interval is of the start alone minus"
        " the base, by paired bootstrap over sentences."
    )
    header = ["gold set", "pairs", *columns.values(), "start alone / base", "difference, 95 % interval"]
    sure = f"The interval is below 0 on {certain['lower']} sets and above 0 on {certain['higher']}."
    means = report.table(["sets", "how many", *list(columns.values())[1:]], summary)
    return "\n\n".join([text, report.table(header, lines), sure, means, report.circumstances(o.threads)])
