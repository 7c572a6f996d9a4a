"""AER of ``contrastive-align`` on every gold set, its start learned from the gold of other languages alone.

The network that judges links, which the start is, is learned from gold links of free licences, by base models of both
rounds (`bench.contrastive_start`, `bench.contrastive_rounds`). Languages that taught it are judged by networks that
they had no part in, all others by the one that comes with the program. With --ship that one is put where the program
takes it from.
"""

import statistics
from functools import partial

from bench import code, measuring, report, texts
from bench import contrastive_start as starting
from bench.contrastive_base import Study, base_hash
from bench.contrastive_rounds import Teaching, second_base
from bench.quality import Figures, evaluate

WAYS = ("forward", "reverse", "intersect", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and", "joint")
#: The same gold pairs under each of these.
FOLDS = {"joint": "base (`align`)", "start": "nothing learned: the start", "supervised": "supervised, 5 folds"}
#: Gold pairs of each set that supervised weights are learned from and judged on, in five folds.
SUPERVISED = 150
COLUMNS = {
    "best": "base, its best symmetrization", "joint": "base (`align`)", "start": "nothing learned: the start",
    "one": "contrastive, one round", "again": "base of the second round", "two": "contrastive, two rounds",
    "ours": "contrastive, by default (`align --best`)",
}  # fmt: skip


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("contrastive needs gold links: --data DIR")
    names = o.sets.split(",") if o.sets else texts.gold_sets(o.data)
    kept, rows, folds = measuring.Kept(o.work / "contrastive.json"), {}, {}
    known = f"{o.pairs} {base_hash()}{code.of(Teaching, _measure, _supervised)}"
    with Pool(o.threads) as pool:
        teaching = Teaching(o, pool)
        if o.ship:
            _ship(teaching.shipped())
        for name in names:
            study, start = Study(o, name, pool), teaching.start(starting.language(name))
            rows[name] = dict(kept.get(f"{name} plain {known}", partial(_measure, study, *start)))
            if name in o.supervised.split(","):
                folds[name] = kept.get(f"{name} folds {known}", partial(_supervised, study, *start))
    return _body(o, names, rows, folds)


def _ship(network):
    from aligntools.aligning.contrastive.weights import LANGUAGES

    network.save(LANGUAGES, {"by": "gold links", "of": starting.FREE})
    raise SystemExit


def _measure(study, judge, start):
    """Return column -> AER in percent; ``difference``: from the base to ``ours``, its 95 % interval by bootstrap."""
    measuring.note(f"{study.name}: contrastive")
    best = min((evaluate(path, study.text)[0], way) for way, path in _base(study).items())
    scores = systems(study, judge, start)
    found = {"pairs": study.text.n_pairs, "gold": study.text.n_gold, "best": best[0], "way": best[1]}
    return found | figures(scores)


def figures(scores):
    """Return AER in percent by column, and the interval of the ``difference`` from the base to ``ours``."""
    difference = scores["ours"].minus(scores["joint"])
    found = {column: 100 * score.aer for column, score in scores.items()}
    return found | {"difference": [100 * x for x in difference.interval]}


def systems(study, judge, start):
    """Return column -> score, of the base models of both rounds and of what a judge makes of them.

    ``start`` has the weights to start from, float64 [FEATURES]. Columns are those of COLUMNS.
    """
    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.metrics.aer import AerScore

    second = second_base(study, judge)
    one, two = (CandidateFinder(model, study.pool, judge) for model in (study.model, second))
    default = two if _rounds(study, judge) > 1 else one
    of = {
        "joint": _decided(study, study.model), "one": refined(study, one, start), "again": _decided(study, second),
        "two": refined(study, two, start), "start": refined(study, default, start, passes=0),
    }  # fmt: skip
    of["ours"] = of["two"] if default is two else of["one"]
    return {column: AerScore.of(study.gold, links) for column, links in of.items()}


def refined(study, finder, start, passes=None):
    """Return the links of weights that are learned from noise, from a start's; with 0 passes those of the start."""
    from dataclasses import replace

    from aligntools.aligning.contrastive import tasks
    from aligntools.aligning.contrastive.tasks import held_back

    plan = replace(tasks.learning_plan("all"), threshold=study.threshold, start=start)
    plan = replace(plan, start=held_back(plan.start, plan.active, len(study.bitext)))
    passes = plan.learning.passes if passes is None else passes
    plan = replace(plan, learning=replace(plan.learning, rate=1e-4, passes=passes))
    return study.links(finder, tasks.learn_weights(finder, [study.bitext], plan))


def _rounds(study, judge):
    from aligntools.aligning.contrastive.rounds import rounds_of

    return rounds_of(None, judge, len(study.bitext))


def _default_base(study, judge):
    """Return the base model of the last round that the text has by default."""
    return second_base(study, judge) if _rounds(study, judge) > 1 else study.model


def _decided(study, model, pairs=None):
    """Return the links that a base model decides on in the pairs with gold links, or in the first of them."""
    import numpy as np

    from aligntools.aligning.applying.applier import Applier
    from aligntools.aligning.applying.decisions import Decisions, align_text
    from aligntools.aligning.contrastive.candidates import CELLS
    from aligntools.formats.links.pharaoh import concatenate
    from aligntools.formats.text.corpus import pick

    text = study.gold_text if pairs is None else pick(study.gold_text, np.arange(pairs))
    applier = Applier(model.views, model.settings, model.sizes, CELLS, model.subwords)
    return concatenate([found.table for found in align_text(applier, text, Decisions(), study.pool)])


def _supervised(study, judge, start):
    """Return AER in percent of weights learned from gold, cross-validated, and of what they are held against.

    All are of the same pairs, their counts summed.
    """
    from dataclasses import replace

    import numpy as np

    from aligntools.aligning.contrastive import tasks
    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.formats.links.pharaoh import concatenate
    from aligntools.formats.text.corpus import pick
    from aligntools.metrics.aer import AerScore

    measuring.note(f"{study.name}: supervised")
    n = min(SUPERVISED, study.text.n_gold)
    gold = replace(study.gold, sure=study.gold.sure[:n], possible=study.gold.possible[:n])
    plan = replace(tasks.learning_plan("all"), threshold=study.threshold, start=start)
    part = pick(study.gold_text, np.arange(n))
    finder = CandidateFinder(_default_base(study, judge), study.pool, judge)
    found = tasks.learn_from_gold(finder, part, gold, plan)
    alone = tasks.learn_weights(finder, [study.bitext], replace(plan, learning=replace(plan.learning, passes=0)))
    links = concatenate([found.table for found in tasks.align(finder, part, alone, study.pool)])
    aers = {"joint": _decided(study, study.model, n), "start": links}
    aers = {column: 100 * AerScore.of(gold, these).aer for column, these in aers.items()}
    return {"gold": n} | aers | {"supervised": 100 * found.validated}


def _base(study):
    """Return the base model's links in each of WAYS: way -> file."""
    ways = dict(study.base())
    for way in WAYS:
        if way not in ways:
            ways[way] = study.o.work / f"contrastive.{way}"
            both = ["symmetrize", "-c", way, "-i", ways["forward"], "-j", ways["reverse"]]
            measuring.run(measuring.aligntools(*both), ways[way])
    return {way: ways[way] for way in WAYS}


def _body(o, names, rows, folds):
    from aligntools.aligning.contrastive.rounds import LARGEST

    theirs = Figures(o.work / "peers.tsv")
    for path in o.peer_results:
        theirs.read(path)
    peers = {}
    for name in names:
        known = [
            (f[0], f"{tool} {way}") for (n, tool), ways in theirs.rows.items() if n == name for way, f in ways.items()
        ]
        peers[name] = min(known) if known else None
    header = ["gold set", "pairs", "others' best", *COLUMNS.values()]
    header += ["contrastive / `align`", "difference, 95 %", "/ others' best"]
    lines = []
    for name in names:
        r, peer = rows[name], peers[name]
        line = [f"{name}, {r['gold']:,}", f"{r['pairs']:,}", f"{peer[0]:.1f} {peer[1]}" if peer else ""]
        line += [f"{r[c]:.2f}" + (f" {r['way']}" if c == "best" else "") if c in r else "" for c in COLUMNS]
        low, high = r["difference"]
        line += [f"{r['ours'] / r['joint']:.3f}", f"{low:+.2f} to {high:+.2f}"]
        lines.append([*line, f"{r['ours'] / peer[0]:.3f}" if peer else ""])
    compared = [n for n in names if peers[n]]
    if not compared:
        header, lines = header[:2] + header[3:-1], [line[:2] + line[3:-1] for line in lines]
    summary = []
    for column in ("best", "joint", "one", "again", "two", "start", "ours"):
        line = [COLUMNS[column], f"{statistics.mean(rows[n][column] for n in names):.2f}"]
        line.append(f"{statistics.mean(rows[n][column] / rows[n]['joint'] for n in names):.3f}")
        line.append(f"{sum(rows[n][column] < rows[n]['joint'] for n in names)} of {len(names)}")
        if compared:
            ratios = [rows[n][column] / peers[n][0] for n in names if peers[n]]
            line += [f"{100 * (1 - statistics.mean(ratios)):.1f} %", f"{sum(x < 1 for x in ratios)} of {len(ratios)}"]
        summary.append(line)
    columns = ["system", "mean AER", "mean share of `align`'s", "lower than it on"]
    columns += ["mean reduction against others' best", "better on"] if compared else []
    text = (
        "AER in percent, lower-cased text, base models trained on the gold sentences and the training text that goes"
        " with them. The bests are over directions and symmetrizations, chosen on the gold links. The contrastive"
        " model's start (a network that judges links) is the one that comes with the program, which the gold links of"
        f" {', '.join(starting.FREE)} taught; these languages are judged by networks of other languages alone:"
        f" {starting.FOLDS} groups, each judged by what the others taught, by one network where"
        f" {starting.NETWORKS} are averaged in the program's. In the second round the"
        " base model is trained again with the links that the start found as priors; by default text of up to"
        f" {LARGEST:,} pairs has two rounds, larger text one. *Nothing learned* is the start over the base of the last"
        " of these, with as many links as that decides on. The difference is that of *contrastive, by default* to the"
        " base (`align`), by paired bootstrap over sentences."
    )
    parts = [text, report.table(header, lines), report.table(columns, summary), *_folds(folds)]
    return "\n\n".join([*parts, report.circumstances(o.threads)])


def _folds(folds):
    if not folds:
        return []
    text = (
        f"Learned from gold links: the first {SUPERVISED} gold pairs at most, in five parts; each part is judged by"
        " weights that the other four taught, from the same start. All columns are AER over exactly these pairs."
    )
    rows = [[f"{n}, {f['gold']}", *(f"{f[c]:.2f}" for c in FOLDS), f"{f['supervised'] / f['joint']:.3f}"]
            for n, f in folds.items()]  # fmt: skip
    means = [statistics.mean(f[c] for f in folds.values()) for c in FOLDS]
    ratio = statistics.mean(f["supervised"] / f["joint"] for f in folds.values())
    rows.append(["mean", *(f"{m:.2f}" for m in means), f"{ratio:.3f}"])
    return [text, report.table(["gold set, pairs", *FOLDS.values(), "supervised / base"], rows)]
