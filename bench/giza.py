"""IBM 4 beside MGIZA's, as Moses has it trained: AER of both directions and their symmetrization, and time.

MGIZA gets classes of mkcls and the options of ``train-model.perl``, on one thread, each direction by itself. Ours are
``align --model-type ibm3`` and ``ibm4`` on one thread, both directions at once.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

from bench import code, measuring, quality, report, texts

HEURISTIC = "grow-diag-final-and"
COLUMNS = ("forward", "reverse", HEURISTIC)
#: Moses' options of training (``run_single_giza``).
MOSES = (
    *("-m1", 5, "-m2", 0, "-mh", 5, "-m3", 3, "-m4", 3, "-model1dumpfrequency", 1, "-model4smoothfactor", 0.4),
    *("-nodumps", 1, "-nsmooth", 4, "-onlyaldumps", 1, "-p0", 0.999, "-ncpus", 1),
)
MODELS = ("ibm3", "ibm4")


def run(o):
    if not o.data or not o.mgiza:
        raise SystemExit("giza needs gold links and MGIZA's programs: --data DIR --mgiza DIR")
    kept = measuring.Kept(o.work / "giza.json")
    own = code.of(_ours, texts.text)
    rows = []
    for name in o.sets.split(","):
        text = _beginning(o, name)
        theirs = kept.get(f"mgiza {name}", lambda text=text: _mgiza(o, text), f"{name}: mgiza")
        rows.append([name, f"{text.n_pairs:,}", "mgiza", *_shown(theirs), ""])
        for model in MODELS:
            key = f"{model} {name} {own}"
            found = kept.get(key, lambda text=text, model=model: _ours(o, text, model), f"{name}: {model}")
            rows.append(["", "", f"`{model}`", *_shown(found), f"{found[-1] / theirs[-1]:.3f}"])
    return "\n\n".join(
        [
            "AER in percent and processor time in seconds, on one thread, of all that makes the alignments of both"
            " directions: coded text, classes and both trainings of MGIZA, with the options that Moses'"
            " train-model.perl gives it; one command of ours, with both directions trained together. Lower-cased text;"
            " `:n` is a text's first n pairs. Smoothing was chosen on en-es, en-grc and en-ro.",
            report.table(["gold set", "pairs", "aligner", *COLUMNS, "CPU s", "of mgiza's"], rows),
            report.circumstances(1),
        ]
    )


def _shown(figures):
    return [f"{x:.1f}" for x in figures]


def _beginning(o, name):
    """Return a gold set's text, or of ``pair.set:n`` its first n pairs, whose first ones have the gold links."""
    whole, _, n = name.partition(":")
    text = texts.text(o.data, whole, o.work)
    if not n:
        return text
    found = texts.beginning(text, int(n), o.work)
    return replace(found, gold=text.gold, n_gold=text.n_gold)


def _evaluated(o, text, folder, usage):
    """Return AER of both directions in a folder, of their symmetrization, and the processor time."""
    both = Path(folder) / "both"
    files = "-i", Path(folder) / "forward", "-j", Path(folder) / "reverse"
    measuring.run(measuring.aligntools("symmetrize", "-c", HEURISTIC, *files), both)
    paths = Path(folder) / "forward", Path(folder) / "reverse", both
    return [*(quality.evaluate(path, text)[0] for path in paths), usage.cpu]


def _ours(o, text, model):
    """Train and align by ours."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        single = ["--forward-output", f"{folder}/forward", "--reverse-output", f"{folder}/reverse"]
        command = ["align", "-q", "--threads", 1, "--model-type", model, "-s", text.source, "-t", text.target]
        return _evaluated(o, text, folder, measuring.run(measuring.aligntools(*command, *single)))


def _mgiza(o, text):
    """Train and align by MGIZA; pairs that it drops have no links."""
    from aligntools.formats.links.giza import read_giza_a3
    from aligntools.formats.links.pharaoh import Links, format_pharaoh

    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        place = Path(folder)
        for side, path in (("s", text.source), ("t", text.target)):
            lines = path.read_text(encoding="utf-8").splitlines()
            (place / side).write_text("".join((line.strip() or "BLANK") + "\n" for line in lines), encoding="utf-8")
        s, t = place / "s", place / "t"
        took = measuring.run([o.mgiza / "plain2snt", s, t])
        for side in (s, t):
            took += measuring.run([o.mgiza / "mkcls", "-c50", "-n2", f"-p{side}", f"-V{side}.vcb.classes", "opt"])
        for name, a, b in (("forward", s, t), ("reverse", t, s)):
            snt, cooc = f"{a}_{b.name}.snt", f"{place}/{name}.cooc"
            took += measuring.run([o.mgiza / "snt2cooc", cooc, f"{a}.vcb", f"{b}.vcb", snt])
            files = "-s", f"{a}.vcb", "-t", f"{b}.vcb", "-c", snt, "-CoocurrenceFile", cooc, "-o", f"{place}/{name}"
            took += measuring.run([o.mgiza / "mgiza", *files, *MOSES])
            parts = sorted(place.glob(f"{name}.A3.final.part*"))
            (place / "a3").write_bytes(b"".join(part.read_bytes() for part in parts))
            links, _ = read_giza_a3(str(place / "a3"), sentences=text.n_pairs)
            if name == "reverse":
                links = Links.from_lists([[(i, j) for j, i in pairs] for pairs in links.tolists()])
            (place / name).write_bytes(format_pharaoh(links))
        return _evaluated(o, text, folder, took)
