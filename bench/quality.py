"""AER of ``aligntools align`` on every gold set, beside each other aligner's best symmetrization."""

import statistics
import tempfile
from pathlib import Path

from bench import code, measuring, peers, report, texts

#: How we are run; the second part of each is symmetrized from the single directions of the first.
OURS = {"default": (), "fast": ("--fast",)}
HEURISTIC = "grow-diag-final-and"
SYSTEMS = ("default", "fast", f"default {HEURISTIC}", f"fast {HEURISTIC}")
HEADER = "variant\ttool\tsymmetrization\tAER\tprecision\trecall"


def evaluate(path, text):
    """Return AER, precision and recall in percent of the lines that have gold links."""
    from aligntools.formats.links.goldlinks import read_gold
    from aligntools.formats.links.pharaoh import read_pharaoh
    from aligntools.metrics.aer import AerScore

    links = read_pharaoh(str(path), head=text.n_gold, compiled=False)
    score = AerScore.of(read_gold(str(text.gold), format="pharaoh"), links)
    return 100 * score.aer, 100 * score.precision, 100 * score.recall


class Figures:
    """Figures kept in a file, so that nothing is measured twice: ``(variant, tool) -> {name: [AER, P, R]}``."""

    def __init__(self, path):
        self.path, self.rows = path, {}
        if path.exists():
            self.read(path)
        else:
            path.write_text(HEADER + "\n")

    def read(self, path):
        """Take the figures of a file too."""
        for line in path.read_text().splitlines()[1:]:
            variant, tool, name, *figures = line.split("\t")
            self.rows.setdefault((variant, tool), {})[name] = [float(x) for x in figures[:3]]

    def add(self, variant, tool, found):
        """Keep ``(name, AER, P, R)`` rows."""
        with open(self.path, "a") as file:
            for name, *figures in found:
                file.write("\t".join([variant, tool, name, *(f"{x:.2f}" for x in figures)]) + "\n")
                file.flush()
                self.rows.setdefault((variant, tool), {})[name] = figures


def run(o):
    if not o.data:
        raise SystemExit("quality needs gold links: --data DIR")
    names = o.sets.split(",") if o.sets else texts.gold_sets(o.data)
    theirs, ours = Figures(o.work / "peers.tsv"), Figures(o.work / "ours.tsv")
    for path in o.peer_results:
        theirs.read(path)
    own = f"aligntools {code.of(_ours, texts.text)}"
    found = []
    for name in names:
        text = texts.text(o.data, name, o.work)
        for tool in peers.available(o):
            if (name, tool) not in theirs.rows:
                measuring.note(f"{name}: {tool}")
                theirs.add(name, tool, list(peers.scores(tool, o, text, evaluate)))
        if (name, own) not in ours.rows:
            measuring.note(f"{name}: aligntools, {text.n_pairs} pairs")
            ours.add(name, own, list(_ours(o, text)))
        found.append((text, {n: f[0] for n, f in ours.rows[name, own].items()}))
    known = [tool for tool in ("fast_align", "eflomal") if any((name, tool) in theirs.rows for name in names)]
    rows = [(text, aers, {tool: _best(theirs.rows.get((text.name, tool))) for tool in known}) for text, aers in found]
    return _body(o, rows, known)


def _ours(o, text):
    """Train and align; yield a row for each of SYSTEMS."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        out, forward, reverse = (Path(folder) / n for n in ("joint", "forward", "reverse"))
        for name, flags in OURS.items():
            command = ["align", "-q", "--threads", o.threads, "-s", text.source, "-t", text.target, *flags]
            single = ["--forward-output", forward, "--reverse-output", reverse]
            measuring.run(measuring.aligntools(*command, "-o", out, *single))
            yield name, *evaluate(out, text)
            both = Path(folder) / "symmetrized"
            measuring.run(measuring.aligntools("symmetrize", "-c", HEURISTIC, "-i", forward, "-j", reverse), both)
            yield f"{name} {HEURISTIC}", *evaluate(both, text)


def _best(figures):
    """Return the lowest AER and whose it is."""
    return min((f[0], name) for name, f in figures.items()) if figures else None


def _body(o, rows, tools):
    header = ["gold set", "pairs", *(f"{tool}, its best" for tool in tools), *SYSTEMS]
    header += [f"default / {tool}" for tool in tools]
    lines = []
    for text, aers, best in rows:
        line = [text.name, f"{text.n_pairs:,}"]
        line += [f"{best[t][0]:.1f} {best[t][1]}" if best[t] else "" for t in tools]
        lowest = min(aers.values())
        line += [f"**{aers[s]:.1f}**" if aers[s] == lowest else f"{aers[s]:.1f}" for s in SYSTEMS]
        line += [f"{aers['default'] / best[t][0]:.3f}" if best[t] else "" for t in tools]
        lines.append(line)
    text = [
        "AER in percent, lower-cased text, trained on the gold sentences and the training text that goes with"
        " them. For the other aligners, the best of forward, reverse and five symmetrizations is shown, chosen on the"
        " gold links themselves; for ours no choice is made.",
        report.table(header, lines),
        report.table(
            ["system", *(h for t in tools for h in _headers(t))],
            [[system, *(cell for t in tools for cell in _summary(rows, system, t))] for system in SYSTEMS],
        )
        if tools
        else "",
        report.circumstances(o.threads),
    ]
    return "\n\n".join(part for part in text if part)


def _headers(tool):
    return f"mean reduction against {tool}", "of the mean AER", "better on"


def _summary(rows, system, tool):
    """Return the mean over the sets of the relative reduction, that of the means, and how often it is lower."""
    both = [(aers[system], best[tool][0]) for _, aers, best in rows if best[tool]]
    if not both:
        return "", "", ""
    ratios = [a / b for a, b in both]
    ours, theirs = (statistics.mean(column) for column in zip(*both, strict=True))
    better = sum(a < b for a, b in both)
    return (
        f"{100 * (1 - statistics.mean(ratios)):.1f} %",
        f"{100 * (1 - ours / theirs):.1f} %",
        f"{better} of {len(both)}",
    )
