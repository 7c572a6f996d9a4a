"""Taggers trained on treebanks: accuracy with and without latent annotations, beside NLTK's."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import measuring, report, treebanks

PEER = Path(__file__).with_name("peer_taggers.py")


def run(o):
    sizes = list(map(int, o.latent.split(",")))
    rows, times = [], []
    with tempfile.TemporaryDirectory(dir=o.work) as name:
        folder = Path(name)
        for chosen in o.sets.split(","):
            train, test, columns = treebanks.TAGGED[chosen]
            for column in columns:
                row, took = _measure(o, folder, train, test, column, sizes)
                rows.append([f"{chosen} {column.upper()}", *row])
                times.append([f"{chosen} {column.upper()}", *took])
    peers = ["NLTK TnT", "NLTK perceptron"] if o.peer_python else []
    header = ["treebank", "train words", "tags", *(f"latent {n}" for n in sizes), *peers]
    seconds = ["treebank", *(f"latent {n}" for n in sizes)]
    body = [
        "Accuracy on the test files in percent, that of words not seen in training in brackets; `train-hmm --tagged`"
        " and `tag` with their defaults, `--latent 1` being the plain bigram tagger. NLTK's TnT has an affix tagger for"
        " unknown words; its perceptron is trained for its usual 5 iterations.",
        report.table(header, rows),
        "Seconds of whole training commands:",
        report.table(seconds, times),
        report.circumstances(o.threads),
    ]
    return "\n\n".join(body)


def _measure(o, folder, train, test, column, sizes):
    training, gold = (treebanks.read(o.treebanks, (name,), column) for name in (train, test))
    for name, text in (("train", training), ("test", gold)):
        treebanks.write(folder / f"{name}.tagged", text)
        treebanks.write(folder / f"{name}.txt", text, tags=False)
    row, took = [f"{len(training.words):,}", len(set(training.tags))], []
    for latent in sizes:
        flags = ("--tagged", folder / "train.tagged", "--latent", latent, "--threads", o.threads)
        usage = measuring.run(measuring.aligntools("train-hmm", "-q", *flags, "-o", folder / "model"))
        took.append(f"{usage.seconds:.1f}")
        measuring.run(
            measuring.aligntools("tag", "-m", folder / "model", folder / "test.txt", "-o", folder / "out.tagged")
        )
        row.append(_scores(folder))
        measuring.note(f"{train} {column}, latent {latent}: {row[-1]} in {usage.seconds:.1f} s")
    for kind in ("tnt", "perceptron") if o.peer_python else ():
        files = [folder / name for name in ("train.tagged", "test.txt", "out.tagged")]
        subprocess.run([o.peer_python, PEER, "tag", kind, *files], check=True, stdout=subprocess.DEVNULL)
        row.append(_scores(folder))
        measuring.note(f"{train} {column}, {kind}: {row[-1]}")
    return row, took


def _scores(folder):
    gold, out, train = (folder / name for name in ("test.tagged", "out.tagged", "train.txt"))
    command = [sys.executable, "-m", "aligntools", "eval-tags", "--json", "--train", train, gold, out]
    done = subprocess.run(command, capture_output=True, check=True, cwd=report.ROOT)
    scores = json.loads(done.stdout)["results"][0]
    return f"{100 * scores['accuracy']:.2f} ({100 * (scores['accuracy_unknown'] or 0):.1f})"
