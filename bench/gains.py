"""AER of ``align`` on every gold set beside an older checkout's, over several seeds, with paired tests."""

import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

from bench import code, measuring, report, texts

#: Pairs up to which a text is aligned with every seed; larger ones with the first.
SEEDED = 10_000


def run(o):
    if not o.data:
        raise SystemExit("gains need gold links: --data DIR")
    kept = measuring.Kept(o.work / "gains.json")
    sides = {"before": (o.python, o.checkout.resolve()), "now": (sys.executable, report.ROOT)}
    states = {"before": report.commit_of(o.checkout), "now": code.of(_counts)}
    rows = []
    for name in o.sets.split(",") if o.sets else texts.gold_sets(o.data):
        text = texts.text(o.data, name, o.work)
        seeds = [int(s) for s in o.seeds.split(",")]
        if text.n_pairs > SEEDED:
            seeds = seeds[:1]
        counts = {side: [] for side in sides}
        for side, how in sides.items():
            for seed in seeds:

                def measure(text=text, seed=seed, how=how):
                    return _counts(o, text, seed, *how)

                found = kept.get(f"{name} {seed} {states[side]}", measure, f"{name}, seed {seed}, {side}")
                counts[side].append(np.array(found))
        rows.append((name, text.n_pairs, compared(counts["before"], counts["now"])))
    return _body(o, states["before"], rows)


def _counts(o, text, seed, python, checkout):
    """Align with a checkout's defaults; return the counts of AER by sentence."""
    from aligntools.formats.links.goldlinks import read_gold
    from aligntools.formats.links.pharaoh import read_pharaoh
    from aligntools.metrics import aer

    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        out = Path(folder) / "links"
        align = "align", "-q", "--threads", o.threads, "--seed", seed, "-s", text.source, "-t", text.target, "-o", out
        measuring.run([python, "-P", "-m", "aligntools", *align], PYTHONPATH=str(checkout),
                      ALIGNTOOLS_CACHE_DIR=f"{o.work}/cache-{Path(checkout).name}")  # fmt: skip
        links = read_pharaoh(str(out), head=text.n_gold, compiled=False)
        return aer.count(links, read_gold(str(text.gold), format="pharaoh")).tolist()


def compared(before, now):
    """Compare two systems' counts of the same sentences.

    Parameters
    ----------
    before, now : list of int [sentences, labels]
        Of each seed.

    Returns
    -------
    dict
        ``before`` and ``now``: AER in percent of each seed; ``difference``: of the sums over all seeds in points, with
        the ends of its 95 % interval by paired bootstrap over sentences.
    """
    from aligntools.ground import resampling
    from aligntools.metrics.aer import figures

    def value(totals):
        return 100 * figures(totals)[..., 0]

    found = {side: [float(value(c.sum(0))) for c in each] for side, each in (("before", before), ("now", now))}
    difference = resampling.compare(sum(now), sum(before), value, 1000, 1, 0.95)
    return found | {"difference": [difference.value, *difference.interval]}


def share(found):
    """Return the AER now as a share of that before, means over the seeds."""
    return statistics.mean(found["now"]) / statistics.mean(found["before"])


def _body(o, before, rows):
    lines = []
    for name, pairs, found in rows:
        middle = [f"{statistics.mean(found[side]):.2f}" for side in ("before", "now")]
        spread = f"{statistics.stdev(found['now']):.2f}" if len(found["now"]) > 1 else ""
        value, low, high = found["difference"]
        lines.append([name, f"{pairs:,}", *middle, spread, f"{share(found):.3f}", f"{value:+.2f}",
                      f"{low:+.2f} to {high:+.2f}"])  # fmt: skip
    header = ["gold set", "pairs", "before", "now", "seeds' deviation", "now / before", "difference", "95 %"]
    shares = [share(found) for *_, found in rows]
    beyond = sum(found["difference"][2] < 0 for *_, found in rows)
    worse = sum(found["difference"][1] > 0 for *_, found in rows)
    return "\n\n".join([
        f"AER in percent of the default `align` of this state of the code and of an older one (commit {before}), on the"
        f" gold sentences and the training text that goes with them. Texts of up to {SEEDED:,} pairs: mean over the"
        f" seeds {o.seeds}; others one seed. Differences in points, intervals by paired bootstrap over sentences.",
        report.table(header, lines),
        f"Mean of the shares: {statistics.mean(shares):.3f}. Lower beyond chance on {beyond} of {len(rows)} sets,"
        f" higher beyond chance on {worse}.",
        report.circumstances(o.threads),
    ])  # fmt: skip
