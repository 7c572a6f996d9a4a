"""AER of ``align --best`` by size of the text, beside that of ``align``, languages held out.

Each text is the gold sentences of a pair of languages and then some of its training text, in an order drawn once, so
that a larger text holds the smaller ones (`bench.curve`). The network that decides on links was taught by gold links of
other languages alone, as in `bench.contrastive`; networks and figures are kept between runs.
"""

import statistics
import tempfile
from dataclasses import replace

from bench import code, measuring, report, texts
from bench import contrastive_start as starting
from bench.contrastive_rounds import Teaching
from bench.curve import ALL, beginning, pairs_with_text, whole

#: Pairs of a text, the gold sentences among them; those of all of a smaller text stand under "all".
SIZES = (300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000)


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("best_curve needs gold links and text: --data DIR")
    kept, rows = measuring.Kept(o.work / "best_curve.json"), {}
    wanted = o.languages.split(",") if o.languages else pairs_with_text(o.data)
    sizes = [ALL if x == ALL else int(x) for x in o.sizes.split(",")] if o.sizes else [*SIZES, ALL]
    with Pool(o.threads) as pool:
        teaching = Teaching(o, pool)
        known = code.of(Teaching, measured, beginning, whole)
        for pair in wanted:
            golds, (source, _) = whole(o.data, pair, o.work)
            every, n_gold = texts.count_lines(source), sum(n for _, n in golds)
            for size in sizes:
                if size != ALL and not n_gold <= size < every:
                    continue

                def one(pair=pair, size=size, n_gold=n_gold):
                    return measured(o, pair, size if size == ALL else size - n_gold, teaching.start(pair), pool)

                rows[pair, size] = kept.get(f"{pair} {size} {o.pairs} {known}", one, f"{pair}, {size} pairs")
    return _body(o, rows)


def measured(o, pair, more, start, pool):
    """Return the text's pairs and source words, and of each gold set the AER of both ways, in percent.

    Parameters
    ----------
    more : int or "all"
        Pairs beside the gold sentences.
    start : tuple of LinkNetwork, float64 [FEATURES]
        What judges links, and the weights to start from.
    pool : Pool
    """
    import numpy as np

    import aligntools as at
    from aligntools.aligning.contrastive import tasks
    from aligntools.aligning.contrastive.base import train_base
    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.aligning.contrastive.tasks import held_back
    from aligntools.formats.links.goldlinks import read_gold
    from aligntools.formats.links.pharaoh import concatenate
    from aligntools.formats.text.corpus import pick
    from aligntools.metrics.aer import AerScore

    network, weights = start
    how = {"reading": at.Reading(), "run": at.Run(threads=pool)}
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        part = beginning(o.data, pair, more, o.work, folder)
        text = at.read_bitext(part.source, part.target)
    first = pick(text, np.arange(sum(n for _, n in part.golds)))
    base = train_base(text, network, at.AlignerSettings(), 1, **how)
    links = {"align": [block.table for block in base.align_blocks(first, threads=pool)]}
    best = train_base(text, network, at.AlignerSettings(), **how) if len(text) <= _largest() else base
    plan = tasks.plan_of(at.ContrastiveSettings(), best.model.usual_threshold)
    plan = replace(plan, network=network, start=held_back(weights, plan.active, len(text)))
    finder = CandidateFinder(best.model, pool, network)
    found = tasks.learn_weights(finder, [text], plan)
    links["--best"] = [decided.table for decided in tasks.align(finder, first, found, pool)]
    figures, begin = {}, 0
    for name, n in part.golds:
        gold = read_gold(str(o.data / pair / f"{name}.wa"), format="pharaoh")
        figures[name] = {
            way: 100 * AerScore.of(gold, concatenate(tables)[begin : begin + n]).aer for way, tables in links.items()
        }
        begin += n
    return {"pairs": len(text), "words": len(text.source.tokens), "aer": figures}


def _largest():
    from aligntools.aligning.contrastive.rounds import LARGEST

    return LARGEST


def _body(o, rows):
    lines, shares = [], {}
    for (pair, size), row in rows.items():
        for name, aer in row["aer"].items():
            share = aer["--best"] / aer["align"]
            shares.setdefault(size, []).append(share)
            lines.append(
                [f"{pair}.{name}", f"{row['pairs']:,}", f"{aer['align']:.2f}", f"{aer['--best']:.2f}", f"{share:.3f}"]
            )
    lines.sort(key=lambda line: (line[0], int(line[1].replace(",", ""))))
    summary = [
        [x if x == ALL else f"{x:,}", len(shares[x]), f"{statistics.mean(shares[x]):.3f}", f"{max(shares[x]):.3f}",
         sum(y < 1 for y in shares[x])]
        for x in [*SIZES, ALL] if x in shares
    ]  # fmt: skip
    parts = [
        "AER in percent. Texts are the gold sentences of a pair of languages and so many pairs in all of its training"
        " text, of which each larger text holds the smaller; lower-cased. The network of `--best` was learned from"
        f" gold links of other languages: the one that comes with the program, or of {starting.FOLDS} groups of the"
        " languages that taught it, each judged by what the other groups taught. The rest of `--best` is as it ships:"
        " two rounds for text of up to 100,000 pairs, without an encoder."
        " Single runs.",
        report.table(["gold set", "pairs", "`align`", "`align --best`", "share"], lines),
        report.table(["pairs", "gold sets", "mean share", "highest", "lower on"], summary),
    ]
    return "\n\n".join([*parts, report.circumstances(o.threads)])
