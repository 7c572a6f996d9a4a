"""Maximum reconstruction as the paper has it, beside EM that has converged; and which decision on links suits it."""

import dataclasses
import json
import statistics
from itertools import islice

from bench import code, measuring, report, texts

EM = {"estimator": "em", "agreement": False, "views": (0,)}
#: Starts, as options of `train_aligner`.
STARTS = {
    "ibm2": EM | {"model_type": "ibm2"},
    "ibm2 table": EM | {"model_type": "ibm2", "positions": "table"},
    "hmm": EM | {"model_type": "hmm"},
    "ibm2 agreement": {"model_type": "ibm2", "views": (0,)},
    "hmm agreement": {"model_type": "hmm", "views": (0,)},
}
#: The same by the paper's preset, as options of `train_mre_aligner`.
PAPER = {"ibm2 as the paper": {"preset": "paper"}, "hmm as the paper": {"preset": "paper", "model_type": "hmm"}}
#: Systems: a start, and what is made of it. The paper's EM of the HMM is `hmm EM`.
SYSTEMS = [
    *(
        (start, step)
        for start in STARTS
        for step in ("EM", "EM on", "MRE")
        if "agreement" not in start or step != "EM on"
    ),
    *(("ibm2 as the paper", step) for step in ("EM", "EM on", "MRE")),
    ("hmm as the paper", "MRE"),
]
#: What MRE of each is compared with.
COMPARED = {start: start for start in (*STARTS, "ibm2 as the paper")} | {"hmm as the paper": "hmm"}
#: Those of the table by sizes of the text.
SIZED = [("hmm", "EM on"), ("hmm", "MRE"), ("hmm as the paper", "MRE"), ("ibm2 as the paper", "EM on"),
         ("ibm2 as the paper", "MRE")]  # fmt: skip
#: Iterations of EM before reconstruction, how many more EM gets, and the relative gain below which it has converged.
BEFORE, MORE, GAIN = {"ibm2": 5, "hmm": 4}, 50, 1e-4
HEURISTICS = ("grow-diag-final-and", "grow-diag-final", "grow-diag", "intersect", "union")
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6)
#: Ways to see both directions that have columns of their own; joint takes 0.5, as models of one view do.
WAYS = ("forward", "reverse", "grow-diag-final-and", "joint 0.5")
DECISIONS = tuple(f"joint {t}" for t in THRESHOLDS) + HEURISTICS


def arguments(parser):
    parser.add_argument("--sets", metavar="A,B", help="only these gold sets, such as en-es.gold [all]")
    parser.add_argument("--pairs", type=int, default=5_000, metavar="N", help="pairs trained on at most [%(default)s]")
    parser.add_argument("--size-sets", default="en-sv.gold,en-de.gold", metavar="A,B", help="[%(default)s]")
    parser.add_argument("--sizes", default="1250,2500,5000,10000", metavar="N,N..", help="[%(default)s]")


def run(o):
    if not o.data:
        raise SystemExit("mre needs gold links: --data DIR")
    from aligntools.ground.parallel import Pool

    names = o.sets.split(",") if o.sets else texts.gold_sets(o.data)
    kept = _Kept(o.work / f"mre-paper-{code.of(_Measured, texts.text, texts.beginning)}.jsonl")
    with Pool(o.threads) as pool:
        found = {name: kept.get(o, name, o.pairs, SYSTEMS, pool) for name in names}
        sizes = {
            (name, size): kept.get(o, name, size, SIZED, pool)
            for name in filter(None, o.size_sets.split(","))
            for size in map(int, o.sizes.split(","))
        }
    return "Maximum reconstruction as the paper has it", _body(o, found, sizes)


class _Kept:
    """What was measured of a text and size, a line of JSON each, so that a run may be broken off."""

    def __init__(self, path):
        self.path, self.rows = path, {}
        for line in path.read_text().splitlines() if path.exists() else ():
            row = json.loads(line)
            self.rows[row["name"], row["size"]] = [*self.rows.get((row["name"], row["size"]), []), row]

    def get(self, o, name, size, systems, pool):
        """Return the figures of a text, measured now unless they are there."""
        wanted = {" ".join(system) for system in systems}
        for row in self.rows.get((name, size), ()):
            if wanted <= set(row["aer"]):
                return row
        text = texts.text(o.data, name, o.work)
        if text.n_pairs > max(size, text.n_gold):
            part = texts.beginning(text, max(size, text.n_gold), o.work)
            text = dataclasses.replace(part, gold=text.gold, n_gold=text.n_gold)
        measuring.note(f"{name}: {text.n_pairs} pairs")
        row = {"name": name, "size": size, "pairs": text.n_pairs, **_Measured(text, pool).of(systems)}
        with open(self.path, "a") as file:
            file.write(json.dumps(row) + "\n")
        self.rows.setdefault((name, size), []).append(row)
        return row


def _difference(d):
    """Return a difference and its 95 % interval by the paired bootstrap, in points."""
    return [100 * x for x in (d.value, *d.interval)]


class _Measured:
    """The systems of one text, trained one after the other."""

    def __init__(self, text, pool):
        import aligntools as at
        from aligntools.formats.links.goldlinks import read_gold

        self.at, self.pool, self.starts, self.figures = at, pool, {}, []
        self.bitext = at.read_bitext(text.source, text.target)
        with open(text.source) as source, open(text.target) as target:
            sides = [[line.rstrip("\n") for line in islice(file, text.n_gold)] for file in (source, target)]
        self.gold, self.first = read_gold(str(text.gold), format="pharaoh"), at.read_bitext(*sides)

    def of(self, systems):
        """Return AERs by system and decision, tests of MRE against converged EM, and what training reached."""
        aers, scores, more = {}, {}, {}
        for start, step in systems:
            name = f"{start} {step}"
            found = self._decided(self._trained(start, step))
            scores[name], aers[name] = found, {way: 100 * score.aer for way, score in found.items()}
            more[name] = self._reached(step)
        tests = {}
        for start, base in COMPARED.items():
            for step in ("EM", "EM on"):
                if {(start, "MRE"), (base, step)} <= set(systems):
                    mre, em = scores[f"{start} MRE"], scores[f"{base} {step}"]
                    tests[f"{start} MRE - {base} {step}"] = {way: _difference(mre[way].minus(em[way])) for way in WAYS}
        return {"aer": aers, "tests": tests, "reached": more}

    def _trained(self, start, step):
        self.figures, at = [], self.at
        common = {"threads": self.pool, "progress": lambda s: self.figures.append(s.figures)}
        if start in PAPER:
            own = PAPER[start]
            if step == "MRE":
                return at.train_mre_aligner(self.bitext, **own, **common)
            if step == "EM on":
                return self._converged(at.train_mre_aligner, **own, mre_iterations=0, **common)
            return at.train_mre_aligner(self.bitext, **own, mre_iterations=0, **common)
        own = STARTS[start]
        if step == "EM on":
            return self._converged(at.train_aligner, **own, **common)
        if start not in self.starts:
            self.starts[start] = at.train_aligner(self.bitext, **own, **common)
        if step == "EM":
            return self.starts[start]
        self.figures.clear()
        return at.train_mre_aligner(self.bitext, init_model=self.starts[start], **common)

    def _converged(self, train, **own):
        """Train for MORE iterations of EM beyond the start's, and more until they gain little."""
        n = BEFORE[own.get("model_type", "ibm2")]
        while True:
            n += MORE
            self.figures.clear()
            aligner = train(self.bitext, iterations=n, **own)
            if self._reached("EM on")["gain"] < GAIN or n > 8 * MORE:
                return aligner

    def _decided(self, aligner):
        """Return the score of each decision on the links of the gold pairs."""
        from aligntools.formats.links.pharaoh import concatenate
        from aligntools.metrics.aer import Aer

        tables = {}
        for way in DECISIONS:
            name, _, threshold = way.partition(" ")
            how = {"symmetrize": name, "threshold": float(threshold) if threshold else None}
            blocks = list(aligner.align_blocks(self.first, threads=self.pool, **how))
            tables[way] = concatenate(block.table for block in blocks)
        tables["forward"] = concatenate(block.forward_table for block in blocks)
        tables["reverse"] = concatenate(block.reverse_table for block in blocks)
        return {way: Aer().score(self.gold, table) for way, table in tables.items()}

    def _reached(self, step):
        """Return mean ln P(x|x) of a pair and direction, or the relative gain of EM's last iteration."""
        if step in ("EM on", "EM"):
            logs = [sum(f["log_likelihood"]) for f in self.figures if f["stage"] in ("ibm1", "ibm2", "hmm")]
            return {"gain": (logs[-1] - logs[-2]) / abs(logs[-1])} if len(logs) > 1 else {}
        logs = [sum(f["reconstruction"]) / 2 for f in self.figures if f["stage"] == "mre"]
        return {"reconstruction": [log / max(len(self.bitext), 1) for log in (logs[0], logs[-1])]} if logs else {}


def _body(o, found, sizes):
    before = ", ".join(f"{model} {n}" for model, n in BEFORE.items())
    parts = [
        f"AER in percent; the texts are lower-cased and cut to {o.pairs:,} pairs (or to their gold pairs, where these"
        f" are more). EM is the start ({before} iterations after IBM 1); *EM on* has {MORE} more, as many as the"
        f" paper's steps, and {MORE} more again until the last gained less than {GAIN:g} of the log-likelihood; MRE is"
        " 8 steps with default settings. *as the paper* is `mre-align --preset paper`: nothing smoothed, positions or"
        " jumps and NULL's words trained too, 50 steps; IBM 2 with a table of positions that begins uniform."
        " *agreement* starts from variational Bayes with agreement, the others from EM, each direction by itself. joint"
        " is the joint decision at the threshold of models of one view, 0.5.",
        "### Means over all sets\n\n" + _means(found),
        "### MRE against EM\n\n" + _tests(found),
    ]
    parts.append("### grow-diag-final-and\n\n" + _by_set(found, "grow-diag-final-and"))
    parts.append("### By size of the text\n\n" + _by_size(sizes))
    parts.append("### Decisions on links\n\n" + _decisions(found))
    parts.append(report.circumstances(o.threads))
    return "\n\n".join(parts)


def _mean(found, system, way):
    return statistics.mean(row["aer"][" ".join(system)][way] for row in found.values())


def _means(found):
    rows = [[" ".join(system), *(f"{_mean(found, system, way):.1f}" for way in WAYS)] for system in SYSTEMS]
    gains = [row["reached"][f"{start} EM on"]["gain"] for row in found.values() for start, step in SYSTEMS
             if step == "EM on"]  # fmt: skip
    said = [f"The last iteration of *EM on* gained at most {max(gains):.1e} of the log-likelihood ({len(gains)} runs,"
            f" median {statistics.median(gains):.1e}; below {GAIN:g} in {sum(g < GAIN for g in gains)})."]  # fmt: skip
    for start in ("hmm", *PAPER):
        logs = [row["reached"][f"{start} MRE"]["reconstruction"] for row in found.values()]
        before, after = (statistics.mean(x) for x in zip(*logs, strict=True))
        said.append(f"Mean ln P(x|x) of a pair, {start}: {before:.1f} before the steps, {after:.1f} after.")
    return report.table(["system", *WAYS], rows) + "\n\n" + " ".join(said)


def _tests(found):
    """MRE's AER minus that of EM: how often lower and higher, how often surely so, and the mean."""
    rows = []
    for start in next(iter(found.values()))["tests"]:
        cells = []
        for way in WAYS:
            both = [row["tests"][start][way] for row in found.values()]
            lower, higher = (sum(sign * d > 0 for d, *_ in both) for sign in (-1, 1))
            sure = sum(high < 0 for *_, high in both), sum(low > 0 for _, low, _ in both)
            mean = statistics.mean(d for d, *_ in both)
            cells.append(f"{lower} ({sure[0]}) lower, {higher} ({sure[1]}) higher; {mean:+.1f}")
        rows.append([start, *cells])
    return report.table(["", *WAYS], rows) + (
        f"\n\nOf {len(found)} sets; in brackets those whose 95 % interval does not hold 0, by the paired bootstrap over"
        " the gold sentences, 1,000 samples; then the mean change of AER in points."
    )


def _by_set(found, way):
    columns = [s for s in SYSTEMS if s[1] in ("EM on", "MRE")]
    rows = []
    for name, row in found.items():
        rows.append([name, f"{row['pairs']:,}", *(f"{row['aer'][' '.join(s)][way]:.1f}" for s in columns)])
    rows.append(["mean", "", *(f"**{_mean(found, s, way):.1f}**" for s in columns)])
    return report.table(["gold set", "pairs", *(" ".join(s) for s in columns)], rows)


def _by_size(sizes):
    rows = []
    for (name, _), row in sizes.items():
        aers = (row["aer"][" ".join(s)]["grow-diag-final-and"] for s in SIZED)
        rows.append([name, f"{row['pairs']:,}", *(f"{aer:.1f}" for aer in aers)])
    return "AER of grow-diag-final-and.\n\n" + report.table(["gold set", "pairs", *(" ".join(s) for s in SIZED)], rows)


def _decisions(found):
    """AER of MRE's models by decision, languages in two halves: what is best on one can be judged on the other."""
    pairs = sorted({name.split(".")[0] for name in found})
    halves = [{n: r for n, r in found.items() if n.split(".")[0] in pairs[half::2]} for half in (0, 1)]
    systems = [s for s in SYSTEMS if s[1] == "MRE"]
    rows = []
    for way in DECISIONS:
        cells = [f"{_mean(half, s, way):.1f}" for s in systems for half in halves if half]
        rows.append([way, *cells])
    heads = [f"{' '.join(s)}, {half}" for s in systems for half in ("A", "B")[: sum(map(bool, halves))]]
    said = [f"Half {half}: {', '.join(pairs[n::2])}." for n, half in enumerate("AB")]
    return " ".join(said) + "\n\n" + report.table(["decision", *heads], rows)
