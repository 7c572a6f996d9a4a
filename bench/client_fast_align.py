"""Clients of fast_align, atools, extract_lex and Moses' symal: amrlib, lilt's scripts, browsermt/students, Moses."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys

from bench.report import ROOT

SAMPLES = ROOT / "data" / "samples"

_AMR = """
import json, os, sys, tarfile, time, types
root, model = sys.argv[1:]
for name in ("amrlib", "amrlib.alignments"):  # what their own __init__ imports is not needed here
    package = types.ModuleType(name)
    package.__path__ = [os.path.join(root, *name.split("."))]
    sys.modules[name] = package
from amrlib.alignments.faa_aligner.faa_aligner import FAA_Aligner
with tarfile.open(os.path.join(root, "amrlib/alignments/faa_aligner/model_aligner_faa.tar.gz")) as tar:
    tar.extractall(model)
folder, = (os.path.join(model, name) for name in os.listdir(model))
aligner = FAA_Aligner(model_dir=folder)
graph = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))"
began = time.perf_counter()
found = [aligner.align_sents(["The boy wants to go ."] * 20, [graph] * 20)[1] for _ in range(4)]
print(json.dumps([found, (time.perf_counter() - began) / 4]))
"""


def amrlib(place):
    """Align English with AMR graphs four times; each program has one second, as the client gives it."""
    folder = place.folder("amrlib")
    env = place.environment(FABIN_DIR=place.drop_ins)
    said = place.code(_AMR, place.clients / "amrlib", folder, cwd=folder, env=env)
    found, seconds = json.loads(said.splitlines()[-1])
    assert all(lines == found[0] for lines in found), "other links the second time"
    assert len(found[0]) == 20, f"{len(found[0])} lines for 20 sentences"
    assert set(found[0][0].split()) == {"0-1", "1-1.1", "2-1", "4-1.2"}, found[0][0]  # fast_align's own
    return f"4 of 4 calls within its 1 s for each program, {seconds:.2f} s a call; boy, wants and go are linked"


def _sides(folder):
    """Write the samples' two sides; return their paths."""
    pairs = [line.split(" ||| ") for line in (SAMPLES / "de-en.txt").read_text(encoding="utf-8").splitlines()]
    paths = [folder / name for name in ("corpus.de", "corpus.en")]
    for path, side in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(line + "\n" for line in side), encoding="utf-8")
    return paths


def lilt(place):
    """Run fast_align.sh on the samples, and combine.sh, which scores with the client's own aer.py."""
    folder = place.folder("lilt")
    (folder / "fa" / "build").mkdir(parents=True)
    for name in ("fast_align", "atools", "force_align.py"):
        shutil.copy(place.drop_ins / name, folder / "fa" / "build")
    scripts = place.clients / "alignment-scripts" / "scripts"
    place.run("bash", scripts / "fast_align.sh", *_sides(folder), "deen", cwd=folder,
              env=place.environment(FASTALIGN_DIR=folder / "fa"))  # fmt: skip
    lines = [len((folder / name).read_text().splitlines()) for name in ("deen.talp", "deen.reverse.talp")]
    assert lines == [240, 240], lines
    tensions = re.findall("final tension: (.*)", (folder / "deen.error").read_text())
    assert len(tensions) == 3, tensions
    gold = (SAMPLES / "de-en.wa").read_text().splitlines()
    reference = [re.sub(r"(\d+)([-?])(\d+)", _from_one, line) for line in gold]
    for name in ("deen.talp", "deen.reverse.talp"):  # the script scores the last lines
        rows = (folder / name).read_text().splitlines()
        (folder / name).write_text("".join(row + "\n" for row in [*rows[len(gold) :], *rows[: len(gold)]]))
    (folder / "gold.talp").write_text("".join(line + "\n" for line in reference))
    done = place.run("bash", scripts / "combine.sh", "deen.talp", "deen.reverse.talp", "gold.talp", cwd=folder)
    figures = re.findall(r"test\.(\S+?)(?:\.talp)?: ([\d.]+)%", done.stdout)
    assert len(dict(figures)) == 6, done.stdout
    return "240 lines each way; its own aer.py: " + ", ".join(f"{name} {aer}" for name, aer in dict(figures).items())


def _from_one(link):
    return f"{int(link[1]) + 1}{link[2].replace('?', 'p')}{int(link[3]) + 1}"


def students(place):
    """Run generate-alignment-and-shortlist.sh on text that is in pieces already."""
    folder = place.folder("students")
    client = place.clients / "students" / "train-student" / "alignment"
    for name in ("generate-alignment-and-shortlist.sh", "prune_shortlist.py"):
        shutil.copy(client / name, folder)
    (folder / "bin").symlink_to(place.drop_ins)
    (folder / "align").mkdir()
    for path, name in zip(_sides(folder), ("en", "es"), strict=True):  # the script's own names of languages
        path.replace(folder / "align" / f"corpus.spm.{name}")
    (folder / "align" / "vocab.txt").write_text("<unk>\t0\n,\t-3\n.\t-4\n")
    shims = folder / "shims"  # what the script has from its user's shell or machine
    shims.mkdir()
    for name, command in (("ll", 'ls -l "$@"'), ("pigz", 'gzip "$@"')):
        (shims / name).write_text(f"#!/bin/sh\n{command}\n")
        (shims / name).chmod(0o755)
    env = place.environment()
    place.run("bash", "generate-alignment-and-shortlist.sh", cwd=folder, env=env | {"PATH": f"{shims}:{env['PATH']}"})
    links, lexicon, pruned = (
        gzip.decompress((folder / "align" / name).read_bytes()).decode().splitlines()
        for name in ("corpus.aln.gz", "lex.s2t.gz", "lex.s2t.pruned.gz")
    )
    assert len(links) == 240, len(links)
    assert any(line.startswith("NULL ") for line in lexicon), "no NULL"
    assert pruned, "no shortlist"
    assert all(re.fullmatch(r"\S+ \S+ [01]\.\d{8}", line) for line in pruned), "not the form of a shortlist"
    return f"240 lines of links, {len(lexicon)} lines of lex.s2t, {len(pruned)} of the pruned shortlist"


def moses(place):
    """Run train-model.perl: steps 3 and 4 from our A3 files with our symal, then step 4 from --moses-dir."""
    folder = place.folder("moses")
    source, target = _sides(folder)
    shutil.copytree(place.clients / "mosesdecoder" / "scripts", folder / "scripts")
    (folder / "bin").mkdir()
    shutil.copy(place.drop_ins / "symal", folder / "bin")
    own = os.environ | {"PYTHONPATH": str(ROOT)}

    def ours(*args):
        subprocess.run([sys.executable, "-m", "aligntools", *map(str, args)], check=True, env=own, cwd=folder)

    text = "-s", source, "-t", target
    ours("align", "-q", *text, "--moses-dir", "ours", "-o", "joint", "--forward-output", "f", "--reverse-output", "r",
         "--symmetrize", "grow-diag-final-and", "--set", "flavor=symal")  # fmt: skip
    for name, operation, links in (("en-de", "convert", "f"), ("de-en", "invert", "r")):
        (folder / f"giza.{name}").mkdir()
        ours("symmetrize", "-c", operation, links, "--to", "giza", "--check", source, target, "-o",
             folder / f"giza.{name}" / f"{name}.A3.final.gz")  # fmt: skip
    (folder / "lm").write_text("")
    common = ("-root-dir", folder, "-corpus", folder / "corpus", "-f", "de", "-e", "en", "-lm", f"0:3:{folder}/lm",
              "-alignment", "grow-diag-final-and")  # fmt: skip
    train = folder / "scripts" / "training" / "train-model.perl"
    place.run("perl", train, *common, "--first-step", "3", "--last-step", "4", cwd=folder)
    ordered = [sorted(line.split()) for line in (folder / "ours/aligned.grow-diag-final-and").read_text().splitlines()]
    made = (folder / "model/aligned.grow-diag-final-and").read_text().splitlines()
    assert [sorted(line.split()) for line in made] == ordered, "step 3 has other links"
    for name in ("lex.e2f", "lex.f2e"):
        lines = [sorted((folder / place_ / name).read_text().splitlines()) for place_ in ("ours", "model")]
        assert lines[0] == lines[1], f"{name} differs from what step 4 makes"
    done = place.run("perl", train, *common, "-model-dir", folder / "ours", "--first-step", "4", "--last-step", "4",
                     cwd=folder)  # fmt: skip
    assert f"reusing: {folder}/ours/lex.f2e" in done.stdout + done.stderr, done.stderr[-500:]
    parts = folder / "scripts" / "ems" / "support" / "fast-align-in-parts.perl"
    (folder / "joined").write_text((SAMPLES / "de-en.txt").read_text())
    place.run("perl", parts, "-bin", place.drop_ins / "fast_align", "-i", "joined", "-max-lines", "120", "-settings",
              "-d -o -v", "-tmp", folder / "tmp", "-save-model", "yes", "-o", "parts", cwd=folder)  # fmt: skip
    log = (folder / "parts.log").read_text()
    assert 0.1 < float(re.search(r"final tension: ([\d.]+)", log)[1]) <= 14, log
    assert len((folder / "parts").read_text().splitlines()) == 240
    return "step 3 makes our links of our A3 files, step 4 makes our tables, and takes ours; 240 lines aligned in parts"
