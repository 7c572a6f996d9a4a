"""The start of contrastive-align taught by large text without gold links, judged on languages that taught nothing.

Every large text teaches students of several sizes; a start for a group of languages is learned from the lessons of the
other languages alone (the groups are `bench.contrastive_start`'s), and judged by that group's gold links, which had no
part in anything. With --out a start is learned from all texts.
"""

import pickle
import statistics

import numpy as np

from bench import code, contrastive, measuring, report, texts
from bench import contrastive_start as starting
from bench.contrastive_base import Study, base_hash

#: The large texts: pair of languages and part.
TEXTS = (
    "en-fr.train", "en-fr.general", "en-de.train", "en-es.train", "en-cs.train", "en-ja.train", "en-zh.train",
    "en-it.train", "en-sv.train",
)  # fmt: skip
#: Groups of languages: one is judged by what the texts of the others taught.
FOLDS = 5
#: What is compared.
COLUMNS = {
    "joint": "base (`align`)", "one": "taught, one round", "again": "base of the second round",
    "two": "taught, two rounds", "start": "nothing learned: the start", "ours": "taught, by default",
}  # fmt: skip


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
            path.write_bytes(pickle.dumps(_start([self.lessons(name) for name in names], self.pool)))
        return pickle.loads(path.read_bytes())

    def figures(self, name, group):
        """Return a set's pairs and AER by column, measured unless they are known."""
        key = f"{name} {self.o.pairs} {self.o.most} {self.code} {self.lessons_code}"
        return self.kept.get(key, lambda: _measure(Study(self.o, name, self.pool), self.start(group)), name)


def _lessons(data, name, most, pool):
    from aligntools.aligning.contrastive import teaching
    from aligntools.aligning.contrastive.taught import TeachingSettings
    from aligntools.api.align.alignment import read_bitext

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


def _start(lessons, pool):
    from aligntools.aligning.contrastive.taught import TeachingSettings
    from aligntools.aligning.contrastive.teaching import learn_start

    return learn_start(lessons, TeachingSettings(), pool)


def _measure(study, start):
    """Return pairs, sentences with gold links, and what `contrastive.figures` has of `contrastive.systems`."""
    counts = {"pairs": study.text.n_pairs, "gold": study.text.n_gold}
    return counts | contrastive.figures(contrastive.systems(study, start.network, start.weights))


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
        rows = {}
        for group in starting.groups(texts.gold_sets(o.data), FOLDS):
            rows |= {name: work.figures(name, group) for name in group if name in names}
    return _body(o, names, rows)


def _body(o, names, rows):
    header = ["gold set", "pairs", *COLUMNS.values(), "by default / base", "difference, 95 %"]
    lines = []
    for name in names:
        r = rows[name]
        low, high = r["difference"]
        lines.append(
            [f"{name}, {r['gold']:,}", f"{r['pairs']:,}", *(f"{r[c]:.2f}" for c in COLUMNS),
             f"{r['ours'] / r['joint']:.3f}", f"{low:+.2f} to {high:+.2f}"]
        )  # fmt: skip
    taught = {starting.language(name) for name in TEXTS}
    kinds = {
        "all": names,
        "languages with no large text": [n for n in names if starting.language(n) not in taught],
        "languages with large text, held out": [n for n in names if starting.language(n) in taught],
    }
    summary = [
        [kind, len(some), *(_compared(rows, some, c) for c in COLUMNS if c != "joint")]
        for kind, some in kinds.items() if some
    ]  # fmt: skip
    text = (
        "AER in percent, lower-cased text. No gold link has a part in what is taught: teachers are models of"
        f" {', '.join(TEXTS)} (at most {o.most:,} pairs of each, evenly drawn), students models of 150 to 20,000 of"
        f" these. {FOLDS} groups of languages, each judged by a start that the texts of the other groups"
        ' taught. Columns are as in section "Contrastive alignment". Settings of teaching were chosen on these sets,'
        " held out in the same way. The difference is that of *taught, by default* to the base, by paired bootstrap"
        " over sentences."
    )
    sure = [sum(rows[n]["difference"][k] * sign > 0 for n in names) for k, sign in ((1, -1), (0, 1))]
    counted = f"The interval is below 0 on {sure[0]} sets and above 0 on {sure[1]}."
    means = report.table(["sets", "how many", *(title for c, title in COLUMNS.items() if c != "joint")], summary)
    return "\n\n".join([text, report.table(header, lines), counted, means, report.circumstances(o.threads)])


def _compared(rows, names, column):
    """Return the mean share of the base's errors, and on how many sets it is lower."""
    shares = [rows[n][column] / rows[n]["joint"] for n in names]
    return f"{statistics.mean(shares):.3f}, lower on {sum(x < 1 for x in shares)}"
