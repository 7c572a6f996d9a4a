"""AER of ``contrastive-align`` with other aligners' links as evidence: without gold links, and with some.

On sets with little text the others are eflomal and fast_align, on the same text. No neural aligner is at hand: the
better evidence is what ``align`` itself makes of the gold sentences with all training text, where the base model has
the gold sentences alone. The network that judges links is learned from gold links of other languages, in two halves.
"""

import pickle
import statistics

from aligntools.aligning.contrastive import network_learning
from bench import code, measuring, peers, report, texts
from bench import contrastive_start as starting
from bench.contrastive_base import Study, base_hash
from bench.quality import HEURISTIC, evaluate

#: Most pairs of a text whose base model and other aligners see all of it.
MOST = 8_000
#: Sets whose gold links teach the start for all others; and those that teach it for these.
TAUGHT = ("en-da.wiki", "en-et.wiki", "en-nl.wiki", "en-pt.wiki", "en-sl.wiki")
TEACHING = ("en-bg.wiki", "en-hu.wiki", "en-ru.wiki", "en-ro.gold", "en-es.gold")
#: What the steepness of `evidence_tasks.share` was not chosen on.
UNSEEN = ("en-bg.wiki", "en-grc.gold", "en-ja.gold")
TOOLS, MODEL = ("eflomal", "fast_align"), "all text"
#: Passes of the networks, over base models of one round.
PASSES = 16
#: Gold pairs that weights are learned from and judged on, in five folds.
SUPERVISED = 100


class Work:
    """What is kept between runs, by the code it came of."""

    def __init__(self, o):
        self.o, self.kept = o, measuring.Kept(o.work / "evidence.json")
        self.code = f"{base_hash()}{code.of(_measure, _supervised, _peers, _studies)}"

    def start(self, name, pool):
        """Return a network that judges links, and start weights, that a set's language had no part in."""
        learned = TEACHING if name.split(".")[0] in {x.split(".")[0] for x in TAUGHT} else TAUGHT
        path = self.o.work / f"evidence.{learned[0]}.{base_hash()}.{code.of(_start)}.start"
        if not path.exists():
            measuring.note(f"start from {', '.join(learned)}")
            path.write_bytes(pickle.dumps(_start(self.o, learned, pool)))
        return pickle.loads(path.read_bytes())

    def figures(self, name, kind, measure):
        """Return a set's figures, measured unless they are known."""
        return self.kept.get(f"{name} {kind} {self.code}", measure, f"{name}: {kind}")


def _options(o, pairs):
    from types import SimpleNamespace

    return SimpleNamespace(**(vars(o) | {"pairs": pairs}))


def _start(o, names, pool):
    sets = {}
    for name in names:
        study = Study(_options(o, 10**9), name, pool)
        sets[name] = [starting.taught_by(study.finder.find_all(study.gold_text), study.gold)]
    parts = [part for own in sets.values() for part in own]
    (network,) = network_learning.fit([parts], starting.NETWORKS, PASSES, pool)
    return network, starting.weights()


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("evidence needs gold links: --data DIR")
    names = o.sets.split(",") if o.sets else texts.gold_sets(o.data)
    work, rows, folds = Work(o), {}, {}
    with Pool(o.threads) as pool:
        for name in names:
            if texts.text(o.data, name, o.work).n_pairs <= MOST and not (o.eflomal and o.fast_align):
                raise SystemExit("evidence runs the other aligners: --eflomal E --fast-align F --atools A")

            def plain(name=name):
                return _measure(*_studies(o, name, pool), work.start(name, pool))

            rows[name] = work.figures(name, "plain", plain)
            if name in o.supervised.split(","):

                def supervised(name=name):
                    return _supervised(*_studies(o, name, pool), work.start(name, pool))

                folds[name] = work.figures(name, "folds", supervised)
    return _body(o, rows, folds)


def _studies(o, name, pool):
    """Return the study of the base model, and the files of evidence by the names of their aligners."""
    whole = Study(_options(o, 10**9), name, pool)
    if whole.text.n_pairs <= MOST:
        return whole, _peers(o, whole.text)
    return Study(_options(o, 1), name, pool), {MODEL: whole.base()["joint"]}


def _peers(o, text):
    """Run the other aligners, unless it was done; return their files."""
    found = {}
    for tool in TOOLS:
        folder = code.place(o.work, "evidence-peers", peers.align) / text.name / tool
        found[tool] = folder / HEURISTIC
        if not found[tool].exists():
            measuring.note(f"{text.name}: {tool}")
            folder.mkdir(parents=True, exist_ok=True)
            peers.align(tool, o, text, folder)
            peers.symmetrize(o, folder, HEURISTIC, "symmetrized")
            (folder / "symmetrized").rename(found[tool])
    return found


def _given(path, text):
    """Return the links of a text's sentences in a file that may go on."""
    from aligntools.formats.links.given_links import GivenLinks
    from aligntools.formats.links.pharaoh import read_pharaoh

    return GivenLinks.of(read_pharaoh(str(path), head=text.n_pairs, compiled=False))


def _measure(study, files, start):
    """Return figures of a set: AER of the base, of each file and of what they are combined to; estimates."""
    from dataclasses import replace

    from aligntools.aligning.contrastive import evidence_tasks as evidence
    from aligntools.aligning.contrastive import tasks
    from aligntools.aligning.contrastive.candidates import CandidateFinder

    judge, weights = start
    finder = CandidateFinder(study.model, study.pool, judge)
    given = {tool: _given(path, study.text) for tool, path in files.items()}
    plan = replace(tasks.learning_plan("all"), threshold=study.threshold, start=weights)
    alone = tasks.learn_weights(finder, [study.bitext], replace(plan, learning=replace(plan.learning, passes=0)))
    found = {"pairs": study.text.n_pairs, "gold": study.text.n_gold, "start": study.links_aer(finder, alone)}
    found["base"] = evaluate(study.base()["joint"], study.text)[0]
    found["files"] = {tool: evaluate(path, study.text)[:2] for tool, path in files.items()}
    found["estimates"], found["combined"], found["whole"] = {}, {}, {}
    for tools in [*([tool] for tool in files), *([list(files)] if len(files) > 1 else [])]:
        links = [given[tool] for tool in tools]
        tables, told = evidence.judge_files(finder, [study.bitext], [links], plan)
        name = " and ".join(tools)
        found["estimates"][name] = [[x.precision, x.recall, x.agreement] for x in told]
        for kind, share in (("combined", None), ("whole", 1.0)):
            weights = evidence.with_evidence(alone, tables, told, share)
            found[kind][name] = study.links_aer(finder, weights, [x[: study.text.n_gold] for x in links])
    return found


def _supervised(study, files, start):
    """Return AER of weights from the other folds, without evidence and with all; and of what they are held against."""
    from dataclasses import replace

    import numpy as np

    from aligntools.aligning.contrastive import evidence_tasks as evidence
    from aligntools.aligning.contrastive import tasks
    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.aligning.contrastive.noise import pick

    judge, weights = start
    finder = CandidateFinder(study.model, study.pool, judge)
    n = min(SUPERVISED, study.text.n_gold)
    gold = replace(study.gold, sure=study.gold.sure[:n], possible=study.gold.possible[:n])
    part = pick(study.gold_text, np.arange(n))
    plan = replace(tasks.learning_plan("all"), threshold=study.threshold, start=weights)
    without = tasks.learn_from_gold(finder, part, gold, plan)
    links = [_given(path, study.text) for path in files.values()]
    tables, _ = evidence.judge_files(finder, [study.bitext], [links], plan)
    with_files = evidence.plan_with_evidence(plan, len(tables))
    found = tasks.learn_from_gold(finder, part, gold, with_files, evidence=[x[:n] for x in links], tables=tables)
    figures = {"gold": n, "base": found.base, "without": without.validated, "with": found.validated}
    return {k: v if k == "gold" else 100 * v for k, v in figures.items()} | {
        "files": [100 * x for x in found.files], "tools": list(files)
    }  # fmt: skip


def _body(o, rows, folds):
    text = (
        "AER in percent, lower-cased text. *Start*: contrastive-align with nothing learned on the text. *Combined*:"
        " with the files as evidence, no gold links. *Share 1*: with `--evidence-share 1`. Files are symmetrized with"
        f" {HEURISTIC}, not chosen on the set. *Estimated precision* is what the program says of a file without gold"
        " links, beside the file's own. The network that judges links is learned from the gold links of"
        f" {', '.join(TEACHING)} for {', '.join(TAUGHT)}, and from those of the latter for all others. How what a file"
        f" counts for goes by its estimated precision was chosen on all sets here but {', '.join(UNSEEN)}. Single runs."
    )
    header = ["gold set, pairs", "text", "base (`align`)", "start", "evidence", "AER", "precision"]
    header += ["estimated precision", "combined", "share 1"]
    parts = [text]
    for title, chosen in (
        (f"### eflomal and fast_align, the same text, at most {MOST:,} pairs", lambda r: MODEL not in r["files"]),
        ("### `align` on all training text as evidence for a model of the gold sentences alone; no neural aligner was"
         " at hand, and this is none", lambda r: MODEL in r["files"]),
    ):  # fmt: skip
        some = {n: r for n, r in rows.items() if chosen(r)}
        if some:
            parts += [title, report.table(header, [line for n, r in some.items() for line in _lines(n, r)])]
            parts.append(report.table(["evidence", "sets", "combined / start", "below it on", "combined / base",
                                       "below it on", "share 1 / start", "below it on"], _summary(some)))  # fmt: skip
    if folds:
        header = ["gold set, pairs", "base", "evidence", "each alone", "from gold, without evidence"]
        header += ["from gold, with evidence", "with / best of all others"]
        lines = []
        for name, f in folds.items():
            files = [f"{x:.2f}" for x in f["files"]]
            others = min(f["base"], f["without"], *f["files"])
            lines.append([f"{name}, {f['gold']}", f"{f['base']:.2f}", ", ".join(f["tools"]), ", ".join(files),
                          f"{f['without']:.2f}", f"{f['with']:.2f}", f"{f['with'] / others:.3f}"])  # fmt: skip
        parts += [f"### With gold links: the first {SUPERVISED} pairs at most, five folds", report.table(header, lines)]
    return "\n\n".join([*parts, report.circumstances(o.threads)])


def _lines(name, r):
    for n, tools in enumerate(r["combined"]):
        known = [r["files"][t] for t in tools.split(" and ")]
        first = [f"{name}, {r['gold']:,}", f"{r['pairs']:,}", f"{r['base']:.2f}", f"{r['start']:.2f}"]
        line = first if n == 0 else ["", "", "", ""]
        line += [tools, *(", ".join(f"{k[x]:.1f}" for k in known) for x in (0, 1))]
        line.append(", ".join(f"{100 * e[0]:.1f}" for e in r["estimates"][tools]))
        yield [*line, f"{r['combined'][tools]:.2f}", f"{r['whole'][tools]:.2f}"]


def _summary(rows):
    lines = []
    for tools in next(iter(rows.values()))["combined"]:
        line = [tools, len(rows)]
        for kind, other in (("combined", "start"), ("combined", "base"), ("whole", "start")):
            pairs = [(r[kind][tools], r[other]) for r in rows.values()]
            line += [
                f"{statistics.mean(a / b for a, b in pairs):.3f}",
                f"{sum(a < b for a, b in pairs)} of {len(rows)}",
            ]
        lines.append(line)
    return lines
