#!/usr/bin/env python3
"""Show that a change leaves what users get as it was: every command on samples and real text, byte for byte.

python -m bench.same_bytes record BEFORE --data DIR --checkout OLD
python -m bench.same_bytes record AFTER --data DIR
python -m bench.same_bytes compare BEFORE AFTER

`record` runs the commands of COMMANDS with a checkout's program and keeps every file and standard output;
`compare` says which differ. What names the program's version (signatures) is compared without it, and so is the
order of keys in JSON.
"""

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bench.report import ROOT

#: Lines taken of each real text: enough to pass the sizes below which uncompiled code serves.
TEXTS = {
    "fr": ("alignment/en-fr", "dev", "train", 6000),
    "zh": ("alignment/en-zh", "gold", "train", 3000),
    "grc": ("alignment/en-grc", "gold", None, 3000),
}

#: Every command, once or more; FR, ZH and GRC stand for files of the real texts, S for the samples' folder.
COMMANDS = """
align -q -i S/de-en.txt -o a1 --save-model a1.atm --scores a1.scores --forward-output a1.f --reverse-output a1.r
align -q -m a1.atm -s S/de-en.de -t S/de-en.en -o a1m --scores a1m.scores --link-probabilities
align -q -m a1.atm -i S/fr-en.en --unbuffered
align -q -i S/de-en.txt --fast -o a2 --save-model a2.atm --symmetrize grow-diag-final-and --decode posterior
align -q -i S/de-en.txt --model ibm1 -o a3 --ttable a3.tt --save-model a3.atm --estimator em --link-probabilities
align -q -i S/de-en.txt --model ibm2 --no-agreement -o a4 --save-model a4.atm --ttable a4.tt
align -q -i S/de-en.txt --model ibm2 --positions table --no-agreement --estimator em -o a5 --save-model a5.atm
align -q -m a5.atm -i S/de-en.txt --symmetrize union -o a5m
align -q -i S/de-en.txt --model hmm --decode viterbi --symmetrize grow-diag -o a6 --views 0 --save-model a6.atm
align -q -i S/de-en.txt --model hmm --direction forward -o a7 --scores a7.scores
align -q -i S/fr-en.en --init-model a1.atm -o a8 --save-model a8.atm
align -q -s S/fr-en.fr -t S/fr-en.en --init-model a1.atm -o a9 --save-model a9.atm
align -q -s fr.en -t fr.fr -o b1 --save-model b1.atm --forward-output b1.f --reverse-output b1.r --scores b1.scores
align -q -s zh.en -t zh.zh -o b2 --save-model b2.atm --symmetrize grow-diag-final-and --flavor symal
align -q -s grc.en -t grc.grc -o b3 --fast --case-sensitive --max-length 30 --save-model b3.atm
align -q -m b1.atm -s zh.en -t zh.zh -o b4
align -q -s fr.en -t fr.fr --model ibm2 --look-alike --iterations 3 --tension 3 -o b5
align -q -s fr.en -t fr.fr --max-memory 230M --fast -o b6
train-hmm -q -s S/de-en.de -t S/de-en.en -m h1.hmm
train-hmm -q -s S/de-en.de -t S/de-en.en -m h2.hmm --estimator mre --mre-iterations 3
align -q -m h1.hmm -i S/de-en.txt -o h1
mre-align -q -i S/de-en.txt -o m1 --save-model m1.atm --forward-output m1.f
mre-align -q -i S/de-en.txt --model ibm2 --positions table --symmetrize grow-diag -o m2 --mre-positions
mre-align -q -s fr.en -t fr.fr --model ibm2 --estimator em --mre-null --mre-iterations 4 -o m3
mre-align -q -i S/de-en.txt --init-model a1.atm -o m4 --save-model m4.atm
contrastive-align -q -i S/de-en.txt --save-model c1.atm --save-weights c1.json -o c1
contrastive-align -q -m c1.atm -w c1.json -i S/de-en.txt -o c2 --beam 4
contrastive-align -q -m b1.atm -s fr.en -t fr.fr -o c3 --features paper --start paper --sentences 200 --save-weights c3.json
contrastive-align -q -i S/de-en.txt --gold S/de-en.wa -o c4 --save-weights c4.json --folds 2
contrastive-align -q -m b2.atm -s zh.en -t zh.zh -o c5 --constraint block-itg --sentences 100
BIN fast_align -i S/de-en.txt -d -o -v -s > f1
BIN fast_align -i S/de-en.txt -d -o -v -r -p f2.p > f2
BIN fast_align -i S/de-en.txt -v -I 3 > f3
BIN fast_align -i S/de-en.txt -d -f f2.p -r > f4
BIN atools -c grow-diag-final-and -i f1x -j f2 > f5
contrastive-align -q --forward-table f2.p --reverse-table f2.p -i S/de-en.txt -o f6
symmetrize -c grow-diag-final-and a1.f a1.r --check S/de-en.de S/de-en.en -o s1
symmetrize -c grow-diag --flavor symal b1.f b1.r -o s2
symmetrize -c display a1.f -o s3
symmetrize -c fmeasure a1.f a1.r -o s4
eval-aer --head S/de-en.wa a1 a1.f a1.r --paired -o e1
eval-aer --head S/de-en.wa a1 --json -o e2
eval-aer fr.wa b1 b5 --head -o e3
eval-aer zh.wa b2 c5 --head --reverse --all-sure -o e4
lexicon -q -i S/de-en.txt -a a1 -o lex --shortlist lex.s2t --top 50
lexicon -q -s fr.en -t fr.fr -a b1 -o lexfr
train-hmm -q --tagged S/en.conllu -m en.tagger
train-hmm -q --tagged ewt.conllu -m ewt.tagger --latent 4 --members 2 --column xpos
tag -m en.tagger S/en.txt > t1
tag -m en.tagger S/en.conllu > t2
tag -m ewt.tagger --decode viterbi ewt-test.conllu > t3
eval-tags S/en.conllu t2 -o e5
eval-tags ewt-test.conllu t3 --column xpos --json --known ewt.conllu -o e6
train-hmm -q --text S/de-en.en --states 12 --estimator mre -m i1.hmm
train-hmm -q --text fr.en --states 8 --estimator vb --iterations 10 -m i2.hmm
tag -m i1.hmm S/en.conllu > t4
eval-tags S/en.conllu t4 -o e7
train-parser -q --treebank S/en.conllu -m en.parser
train-parser -q --treebank ewt.conllu -m ewt.parser --iterations 8
train-parser -q --treebank ewt.conllu -m np.parser --iterations 4 --non-projective
parse -m en.parser t2 > p1
parse -m ewt.parser ewt-test.conllu > p2
parse -m np.parser ewt-test.conllu > p3
eval-uas S/en.conllu p1 -o e8
eval-uas ewt-test.conllu p2 p3 --paired --by distance --no-punct -o e9
align -q -s S/de-en.en -t S/de-en.de -o ende
tag -m en.tagger S/de-en.en > en.tagged
tag -m en.tagger S/de-en.de > de.tagged
transfer-parse -q --source-model en.parser --source en.tagged --target de.tagged -a ende -m de.parser
transfer-parse -q --source-model en.parser --source en.tagged --target de.tagged -a ende -m de2.parser --method projected
parse -m de.parser de.tagged > p4
parse -m de2.parser de.tagged > p5
train-lm -q -n 5 S/de-en.en -o en.arpa
train-lm -q -n 3 multi.en --binary multi.lm -o multi.arpa --prune "0 0 1"
eval-lm -m en.arpa S/fr-en.en -o l1
eval-lm -m multi.lm dev.en --lines -o l2
align -q -i S/de-en.txt --symmetrize grow-diag-final-and -o rules.align
extract-grammar -q -i S/de-en.txt -a rules.align -o de-en.grammar
align -q -s multi.de -t multi.en --fast --symmetrize grow-diag-final-and -o multi.align
extract-grammar -q -s multi.de -t multi.en -a multi.align --phrases tight --features standard -o multi.grammar
extract-grammar -q -s multi.de -t multi.en -a multi.align --format binary --text dev.de -o multi.bin
extract-grammar -q -i S/de-en.txt -a rules.align --format moses -o de-en.moses.gz
filter-grammar -q --grammar multi.grammar --text dev.de -o dev.grammar
translate -q --grammar de-en.grammar --lm en.arpa < sample.de > g1
translate -q --grammar multi.bin --lm multi.lm dev.de --k-best 5 --pop-limit 30 -o g2 --hypergraphs g2.hg
translate -q --grammar dev.grammar --no-lm dev.de --samples 3 --seed 2 -o g3
eval-bleu dev.en g1x --sentence-level -o e10
eval-bleu dev.en dev.en --json -o e11
imputed-risk -q --supervised sample.de --reference sample.en --grammar de-en.grammar --lm en.arpa --rounds 2 --pop-limit 20 -w w1.json
imputed-risk -q --supervised dev40.de --reference dev40.en --grammar multi.bin --lm multi.lm --rounds 2 --pop-limit 20 --method mert -w w2.json
imputed-risk -q --supervised dev40.de --reference dev40.en --grammar multi.bin --lm multi.lm --rounds 2 --pop-limit 20 --forest -w w3.json
translate -q --grammar multi.bin --lm multi.lm -w w2.json dev.de -o g4
eval-bleu dev.en g4 -o e12
"""


def main():
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--data", type=Path, required=True)
    recording.add_argument("--checkout", type=Path, default=ROOT)
    recording.add_argument("--python", default=sys.executable)
    recording.add_argument("--only", default="", help="a regular expression; other commands are left out")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    args = parser.parse_args()
    if args.command == "record":
        record(args.folder, args.data, args.checkout.resolve(), args.python, args.only)
    else:
        sys.exit(compare(args.before, args.after))


def _lines(path, n=None):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line for line, _ in zip(file, range(n or 1 << 60), strict=False)]


def prepare(folder, data, checkout):
    """Write the texts that the commands read."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(checkout / "data" / "samples", folder / "S", dirs_exist_ok=True)
    for name, (place, gold, train, n) in TEXTS.items():
        for side in ("en", name):
            lines = _lines(data / place / f"{gold}.{side}", n)
            if train:
                lines += _lines(data / place / f"{train}.{side}.gz", n)
            (folder / f"{name}.{side}").write_text("".join(lines).lower(), encoding="utf-8")
        shutil.copy(data / place / f"{gold}.wa", folder / f"{name}.wa")
    for name, source, n in (("ewt", "en_ewt-train", 1500), ("ewt-test", "en_ewt-test", 300)):
        blocks = "".join(_lines(data / "treebanks" / "ud" / f"{source}.conllu.gz")).split("\n\n")[:n]
        (folder / f"{name}.conllu").write_text("\n\n".join(blocks).strip("\n") + "\n\n", encoding="utf-8")
    for side in ("de", "en"):
        for name, source, n in (("multi", "train", 5000), ("dev", "dev", 100), ("dev40", "dev", 40)):
            text = "".join(_lines(data / "translation" / f"{source}.{side}.gz", n))
            (folder / f"{name}.{side}").write_text(text, encoding="utf-8")
        (folder / f"sample.{side}").write_text("".join(_lines(folder / "S" / f"de-en.{side}", 20)), encoding="utf-8")


def record(folder, data, checkout, python, only):
    """Run every command in ``folder``; a command that fails is noted with what it said."""
    prepare(folder, data, checkout)
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    notes = []
    for number, line in enumerate(filter(None, COMMANDS.splitlines()), 1):
        if not re.search(only, line):
            continue
        if line.startswith("BIN "):
            script = f"{python} {checkout}/bin/{line[4:]}"
        else:
            script = f"{python} -m aligntools {line}"
        if " > " not in line:
            script += f" > out.{number}"
        if line.startswith("BIN atools"):  # the drop-in's scores are no part of a Pharaoh line
            script = f"sed 's/ ||| .*//' f1 > f1x; {script}"
        if "g1x" in line:
            script = f"cat g2 | awk -F' [|][|][|] ' '!($1 in s) {{s[$1]; print $2}}' > g1x; {script}"
        began = time.perf_counter()
        done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, check=False)
        said = done.stderr.decode("utf-8", "replace")
        notes.append({"command": line, "status": done.returncode, "said": said[-2000:]})
        sys.stderr.write(f"{number} {time.perf_counter() - began:.1f} s, status {done.returncode}: {line[:90]}\n")
        if done.returncode:
            sys.stderr.write(said[-300:])
    (folder / "notes.json").write_text(json.dumps(notes, indent=1))


def plain(path):
    """Return a file's contents without what names versions."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    data = re.sub(rb"version:\S+", b"version:", data)
    if data[:1] in b"{[" and path.stat().st_size < 1 << 24:
        try:
            held = json.loads(data)
        except ValueError:
            return data
        if isinstance(held, dict):
            held.pop("version", None)
            if isinstance(held.get("signature"), dict):
                held["signature"].pop("version", None)
        return json.dumps(held, sort_keys=True).encode()
    return data


def compare(before, after):
    """Print the files that differ and the commands that ended otherwise; return how many."""
    names = {p.name for folder in (before, after) for p in folder.iterdir() if p.is_file()} - {"notes.json"}
    differing = []
    for name in sorted(names):
        both = [folder / name for folder in (before, after)]
        if not all(p.exists() for p in both):
            differing.append(f"{name}: only in one")
        elif plain(both[0]) != plain(both[1]):
            differing.append(name)
    statuses = [
        {n["command"]: n["status"] for n in json.loads((f / "notes.json").read_text())} for f in (before, after)
    ]
    for command in statuses[0].keys() & statuses[1].keys():
        if statuses[0][command] != statuses[1][command]:
            differing.append(f"status {statuses[0][command]}, then {statuses[1][command]}: {command}")
    print(f"{len(names)} files, {len(statuses[0])} commands, {len(differing)} differ")
    print("\n".join(differing))
    return int(bool(differing))


if __name__ == "__main__":
    main()
