"""IBM 4 beside MGIZA's, as Moses has it trained, and Thot's: AER of both directions and their symmetrization, and time.

MGIZA gets classes of mkcls and the options of ``train-model.perl``, on one thread, each direction by itself; Thot (the
package sil-thot, where it is installed) the same classes and iterations. Ours are ``align --model-type ibm3`` and
``ibm4`` on one thread, both directions at once. A second table has how many links ``align -m`` finds alike by MGIZA's
tables.
"""

import importlib.metadata
import importlib.util
import sys
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
    thot = f"sil-thot {importlib.metadata.version('sil-thot')}" if importlib.util.find_spec("thot") else ""
    rows, thot_sets = [], o.thot_sets.split(",") if thot else []
    for name in o.sets.split(","):
        text = beginning(o, name)
        theirs = kept.get(f"mgiza {name}", lambda text=text: _mgiza(o, text), f"{name}: mgiza")
        rows.append([name, f"{text.n_pairs:,}", "mgiza", *_shown(theirs), ""])
        if name in thot_sets:
            found = kept.get(f"{thot} {name}", lambda text=text: _thot(o, text), f"{name}: thot")
            rows.append(["", "", "Thot", *_shown(found), f"{found[-1] / theirs[-1]:.3f}"])
        for model in MODELS:
            key = f"{model} {name} {own}"
            found = kept.get(key, lambda text=text, model=model: _ours(o, text, model), f"{name}: {model}")
            rows.append(["", "", f"`{model}`", *_shown(found), f"{found[-1] / theirs[-1]:.3f}"])
    applied = [row for name in o.applied.split(",") for row in _alike(o, kept, name)]
    return "\n\n".join(
        [
            "AER in percent and processor time in seconds, on one thread, of all that makes the alignments of both"
            " directions: coded text, classes and both trainings of MGIZA, with the options that Moses'"
            " train-model.perl gives it; one command of ours, with both directions trained together. Lower-cased text;"
            " `:n` is a text's first n pairs. Smoothing was chosen on en-es, en-grc and en-ro. Thot's IBM 4 has MGIZA's"
            f" classes and iterations, one direction after the other ({thot or 'not installed'}).",
            report.table(["gold set", "pairs", "aligner", *COLUMNS, "CPU s", "of mgiza's"], rows),
            "Links that are alike, in percent of the mean of both numbers of links, on the text that MGIZA's tables"
            " were trained on: by `align -m` with the tables, by MGIZA that starts again from them (`-restart 11`), and"
            " in the `A3.final` of its training.",
            report.table(["text", "direction", "ours, A3.final", "ours, restarted", "restarted, A3.final"], applied),
            report.circumstances(1),
        ]
    )


def _shown(figures):
    return [f"{x:.1f}" for x in figures]


def beginning(o, name):
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


def prepared(o, text, place):
    """Write a text's sides, ``s`` and ``t``, their words' numbers and classes, and the text in numbers."""
    for side, path in (("s", text.source), ("t", text.target)):
        lines = path.read_text(encoding="utf-8").splitlines()
        (place / side).write_text("".join((line.strip() or "BLANK") + "\n" for line in lines), encoding="utf-8")
    s, t = place / "s", place / "t"
    took = measuring.run([o.mgiza / "plain2snt", s, t])
    for side in (s, t):
        took += measuring.run([o.mgiza / "mkcls", "-c50", "-n2", f"-p{side}", f"-V{side}.vcb.classes", "opt"])
    return s, t, took


def trained(o, place, name, a, b, options=MOSES):
    """Train one direction by MGIZA, in which words of ``a`` generate those of ``b``."""
    snt, cooc = f"{a}_{b.name}.snt", f"{place}/{name}.cooc"
    took = measuring.run([o.mgiza / "snt2cooc", cooc, f"{a}.vcb", f"{b}.vcb", snt])
    files = "-s", f"{a}.vcb", "-t", f"{b}.vcb", "-c", snt, "-CoocurrenceFile", cooc, "-o", f"{place}/{name}"
    return took + measuring.run([o.mgiza / "mgiza", *files, *options])


def links_of(text, place, name, turned):
    """Return MGIZA's links of one direction; pairs that it drops have none."""
    from aligntools.formats.links.giza import read_giza_a3
    from aligntools.formats.links.pharaoh import Links

    parts = sorted(place.glob(f"{name}.A3.final.part*"))
    (place / "a3").write_bytes(b"".join(part.read_bytes() for part in parts))
    links, _ = read_giza_a3(str(place / "a3"), sentences=text.n_pairs)
    return Links.from_lists([[(i, j) for j, i in pairs] for pairs in links.tolists()]) if turned else links


def _mgiza(o, text):
    """Train and align by MGIZA."""
    from aligntools.formats.links.pharaoh import format_pharaoh

    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        place = Path(folder)
        s, t, took = prepared(o, text, place)
        for name, a, b in (("forward", s, t), ("reverse", t, s)):
            took += trained(o, place, name, a, b)
            (place / name).write_bytes(format_pharaoh(links_of(text, place, name, name == "reverse")))
        return _evaluated(o, text, folder, took)


def _thot(o, text):
    """Train and align by Thot."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        place = Path(folder)
        s, t, took = prepared(o, text, place)
        for name, a, b in (("forward", s, t), ("reverse", t, s)):
            program = report.ROOT / "bench" / "thot_program.py"
            took += measuring.run(
                [sys.executable, program, a, b, f"{a}.vcb.classes", f"{b}.vcb.classes", place / name],
                OMP_NUM_THREADS="1",
            )
        measuring.run(measuring.aligntools("symmetrize", "-c", "invert", place / "reverse"), place / "turned")
        (place / "turned").replace(place / "reverse")
        return _evaluated(o, text, folder, took)


def _alike(o, kept, name):
    """Return rows of how many links are alike by MGIZA's tables."""
    text, own = beginning(o, name), code.of(_applied, texts.text)
    found = kept.get(f"applied {name} {own}", lambda: _applied(o, text), f"{name}: tables applied")
    return [[name, direction, *_shown(shares)] for direction, shares in zip(COLUMNS, found, strict=False)]


def _applied(o, text):
    """Return what is alike of each direction's links: ours and MGIZA's, ours and restarted, and these two."""
    from aligntools.formats.links.pharaoh import read_pharaoh

    places = [MOSES.index(x) for x in ("-nodumps", "-onlyaldumps")]
    settings = [x for n, x in enumerate(MOSES) if n not in {*places, *(at + 1 for at in places)}]
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        place = Path(folder)
        s, t, _ = prepared(o, text, place)
        both = ("forward", s, t), ("reverse", t, s)
        for name, a, b in both:
            trained(o, place, name, a, b, [*settings, "-model1dumpfrequency", 0])
            tables = ("t", "t3"), ("a", "a3"), ("d", "d3"), ("n", "n3"), ("d4", "d4"), ("d42", "D4")
            previous = [x for to, end in tables for x in (f"-previous{to}", f"{place}/{name}.{end}.final")]
            again = "-m1", 0, "-m2", 0, "-mh", 0, "-m3", 0, "-m4", 1, "-restart", 11, "-p0", 0.999, "-ncpus", 1
            smoothed = "-model4smoothfactor", 0.4, "-nsmooth", 4, "-nodumps", 1, "-onlyaldumps", 1
            trained(o, place, f"again-{name}", a, b, [*again, *smoothed, *previous])
        outputs = "--forward-output", place / "ours-forward", "--reverse-output", place / "ours-reverse"
        command = ["align", "-q", "-m", place, "-s", s, "-t", t, *outputs]
        measuring.run(measuring.aligntools(*command))
        rows = []
        for name, _, _ in both:
            links = [links_of(text, place, each, name == "reverse") for each in (name, f"again-{name}")]
            links = [read_pharaoh(str(place / f"ours-{name}")), *links]
            ours, first, again = ([set(map(tuple, pairs)) for pairs in some.tolists()] for some in links)
            rows.append([_share(ours, first), _share(ours, again), _share(again, first)])
        return rows


def _share(one, other):
    """Return the links that two have in common, in percent of the mean of their numbers."""
    common = sum(len(a & b) for a, b in zip(one, other, strict=True))
    return 200 * common / (sum(map(len, one)) + sum(map(len, other)))
