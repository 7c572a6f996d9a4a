"""Clients of eflomal: OpusFilter, machine.py, biblealignlib, OPUS-MT-train."""

import json
import os
import re
from pathlib import Path

from aligntools.formats.opening.files import text_lines
from bench import texts
from bench.report import ROOT

SAMPLES = ROOT / "data" / "samples"
#: Sets that machine.py's aligner is scored on.
MACHINE_SETS = ("en-ro.gold", "en-nl.wiki", "en-pt.wiki")
#: Texts that OpusFilter's scores are taken on.
FILTERED = (("en-de", "de"), ("en-cs", "cs"), ("en-fr", "fr"))


def opusfilter_tests(place):
    """Run its tests; all nine, none skipped."""
    folder = place.folder("opusfilter-tests")
    for path in (place.clients / "opusfilter").glob("*.py"):
        (folder / path.name).write_text(path.read_text())
    (folder / "word_alignment.py").unlink(missing_ok=True)  # the package's own is tested
    done = place.run(place.python, "-m", "unittest", "-v", "test_wordalign_filter", cwd=folder)
    said = done.stderr
    assert re.search(r"^Ran 9 tests", said, re.M), said[-500:]
    assert re.search(r"^OK$", said, re.M), said[-500:]
    return "Ran 9 tests, OK, none skipped"


_SCORES = """
import json, sys
from opusfilter.word_alignment import WordAlignFilter, make_priors
source, target, clean_source, clean_target, priors, out = sys.argv[1:]
pairs = list(zip(*([line.rstrip("\\n") for line in open(p, encoding="utf-8")] for p in (source, target))))
found = {}
found["alone"] = list(WordAlignFilter().score(pairs))
make_priors(clean_source, clean_target, priors)
found["with priors"] = list(WordAlignFilter(priors=priors).score(pairs))
json.dump(found, open(out, "w"))
"""


def opusfilter_scores(place):
    """Score real and shuffled pairs, alone and with priors of 20,000 other pairs, twice; beside eflomal's."""
    said = []
    for pair, other in FILTERED:
        folder = place.folder(f"opusfilter-{pair}")
        labels = _real_and_shuffled(place.data, pair, other, folder)
        args = [folder / name for name in ("source", "target", "clean.source", "clean.target", "priors")]
        for name in ("one", "two"):
            place.code(_SCORES, *args, folder / name, cwd=folder)
        assert (folder / "one").read_bytes() == (folder / "two").read_bytes(), f"{pair}: other scores the second time"
        ours, theirs = json.loads((folder / "one").read_text()), {}
        if place.eflomal:
            place.code(_SCORES, *args, folder / "real", cwd=folder, env=_real_eflomal(place))
            theirs = json.loads((folder / "real").read_text())
        for kind, scores in ours.items():
            own, peer = _figures(scores, labels), _figures(theirs[kind], labels) if theirs else None
            line = f"{pair} {kind}: AUC {own[0]:.4f}, accepted real {own[1]:.1f} %, shuffled {own[2]:.1f} %"
            if peer:
                line += f" (eflomal {peer[0]:.4f}, {peer[1]:.1f} %, {peer[2]:.1f} %)"
                assert own[0] >= peer[0], f"the AUC is below eflomal's; {line}"
                assert abs(own[1] - peer[1]) <= 5, f"acceptance is over 5 points from eflomal's; {line}"
                assert abs(own[2] - peer[2]) <= 5, f"acceptance is over 5 points from eflomal's; {line}"
            said.append(line)
    return "; ".join([*said, "the same bytes twice"])


def _real_and_shuffled(data, pair, other, folder):
    """Write 2,000 real pairs and 2,000 shuffled ones, mixed, and 20,000 others; return which are real."""
    import random

    sides = [list(text_lines(next((data / pair).glob(f"train.{x}*")))) for x in ("en", other)]
    chance = random.Random(1)
    chosen = chance.sample([k for k, line in enumerate(sides[0]) if len(line.split()) > 3], 4000)
    real, shuffled = chosen[:2000], chosen[2000:]
    rows = [(sides[0][k], sides[1][k], True) for k in real]
    turned = shuffled[1:] + shuffled[:1]
    rows += [(sides[0][a], sides[1][b], False) for a, b in zip(shuffled, turned, strict=True)]
    chance.shuffle(rows)
    taken = set(chosen)
    clean = [k for k in range(len(sides[0])) if k not in taken][:20000]
    for name, k in (("source", 0), ("target", 1)):
        (folder / name).write_text("".join(f"{row[k]}\n" for row in rows))
        (folder / f"clean.{name}").write_text("".join(f"{sides[k][n]}\n" for n in clean))
    return [row[2] for row in rows]


def _figures(scores, labels):
    """Return the AUC of the larger of a pair's scores, and how many real and shuffled pairs are accepted, percent."""
    import numpy as np

    worse = np.max(np.array(scores), axis=1)  # both must be below the threshold
    real = np.array(labels)
    _, place, counts = np.unique(worse, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    n, m = real.sum(), (~real).sum()
    auc = 1 - (ranks[real].sum() - n * (n + 1) / 2) / (n * m)
    return auc, 100 * (worse[real] < 0).mean(), 100 * (worse[~real] < 0).mean()


def _real_eflomal(place):
    """Return an environment with eflomal's own package, beside the eflomal-align that was given."""
    folder = next(Path(place.eflomal).resolve().parent.parent.glob("lib/python3*/site-packages"))
    return os.environ | {"PYTHONPATH": str(folder)}


_MACHINE = """
import importlib.util, sys, types
from pathlib import Path
import machine
jobs = sys.modules["machine.jobs"] = types.ModuleType("machine.jobs")  # its own imports what nothing here needs
jobs.__path__ = []
spec = importlib.util.spec_from_file_location("machine.jobs.eflomal_aligner", sys.argv[1])
client = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(client)
sides = [[line.split() for line in open(path, encoding="utf-8")] for path in sys.argv[2:4]]
aligner = client.EflomalAligner(Path(sys.argv[4]))
aligner.train(*sides)
found = aligner.align()
assert len(found) == len(sides[0]), (len(found), len(sides[0]))
Path(sys.argv[4], "links").write_text("".join(line + "\\n" for line in found))
"""


def machine(place):
    """Align gold sets; as many lines out as in, and fewer errors than with eflomal."""
    from bench.quality import evaluate

    said = []
    for name in MACHINE_SETS:
        text = texts.text(place.data, name, place.work)
        figures = []
        for kind in ("ours", "eflomal") if place.eflomal else ("ours",):
            folder = place.folder(f"machine-{name}-{kind}")
            environment = place.environment(EFLOMAL_PATH=place.drop_ins)
            if kind == "eflomal":
                environment = _real_eflomal(place)
                environment["EFLOMAL_PATH"] = str(Path(environment["PYTHONPATH"]) / "eflomal" / "bin")
            client = place.clients / "machine.py" / "eflomal_aligner.py"
            place.code(_MACHINE, client, text.source, text.target, folder, env=environment)
            figures.append(evaluate(folder / "links", text)[0])
        said.append(f"{name}: AER {figures[0]:.1f} %" + (f" (eflomal {figures[1]:.1f} %)" if place.eflomal else ""))
        assert len(figures) < 2 or figures[0] < figures[1], said[-1]
    return f"as many lines as pairs; {'; '.join(said)}"


_BIBLE = """
import importlib.util, sys, types
from pathlib import Path
root = Path(sys.argv[2])
burrito = sys.modules["biblealignlib.burrito"] = types.ModuleType("biblealignlib.burrito")  # where texts lie
burrito.CLEARROOT, burrito.AlignmentSet = root, types.SimpleNamespace
sys.modules["biblealignlib"] = types.ModuleType("biblealignlib")
spec = importlib.util.spec_from_file_location("biblealignlib.autoalign.eflomal", sys.argv[1])
client = importlib.util.module_from_spec(spec)
spec.loader.exec_module(client)
names = {"targetlanguage": "eng", "targetid": "BSB", "sourceid": "SBLGNT"}
chosen = types.SimpleNamespace(**names, langdatapath=root / "eng" / "data")
run = client.Eflomal(chosen, "test")
run.atools = "atools"
run.run_eflomal()
run.run_makepriors()
run.run_eflomal(readpriors=True)
run.run_atools()
"""


def biblealignlib(place):
    """Run its steps: alignment, priors, alignment with them, symmetrization."""
    folder = place.folder("biblealignlib")
    text = folder / "autoalignment" / "data" / "eng" / "BSB" / "SBLGNT-BSB.piped.txt"
    text.parent.mkdir(parents=True)
    text.write_text((SAMPLES / "de-en.txt").read_text())
    client = place.clients / "biblealignlib" / "biblealignlib" / "autoalign" / "eflomal.py"
    place.code(_BIBLE, client, folder)
    made = folder / "eng" / "exp" / "BSB" / "test"
    counts = {name: len((made / name).read_text().splitlines()) for name in ("pharaoh.txt", "priors.tsv")}
    assert counts["pharaoh.txt"] == 240, counts
    assert counts["priors.tsv"] > 240, counts
    return f"240 lines of links from 240 pairs, {counts['priors.tsv']} lines of priors"


def opus_mt(place):
    """Run its makefile's rule on one part of a text."""
    folder = place.folder("opus-mt")
    makefile = (place.clients / "OPUS-MT-train" / "lib" / "data.mk").read_text()
    rule = re.search(r"^\$\(LOCAL_TRAIN_SRC\)\.algtmp\.d/%\.alg:.*?(?=\n\n)", makefile, re.M | re.S)
    assert rule, "no such rule in lib/data.mk"
    (folder / "Makefile").write_text(rule[0] + "\n")
    for side, other in (("src", "de"), ("trg", "en")):
        part = folder / f"train.{side}.algtmp.d" / "aa"
        part.parent.mkdir()
        part.write_text((SAMPLES / f"de-en.{other}").read_text())
    variables = {"LOCAL_TRAIN_SRC": "train.src", "LOCAL_TRAIN_TRG": "train.trg"}
    variables |= {"WORDALIGN": "eflomal-align", "ATOOLS": "atools"}
    place.run("make", "train.src.algtmp.d/aa.alg", *(f"{k}={v}" for k, v in variables.items()), cwd=folder)
    lines = (folder / "train.src.algtmp.d" / "aa.alg").read_text().splitlines()
    assert len(lines) == 240, f"{len(lines)} lines"
    return f"240 lines from 240 pairs, {sum(map(len, map(str.split, lines)))} links"
