"""Models that many tests need: each is trained once a run, by the first process that asks for it."""

import fcntl
import functools
import os
from pathlib import Path

from tests.cli.running import run
from tests.places import SAMPLES

#: The command that trains each one, run in a folder of its own: it writes ``model``, and what else it says. S is the
#: folder of samples, and what begins with M/ is another model.
COMMANDS = {
    "align": "align -s S/de-en.de -t S/de-en.en -o align --threads 1 --save-model model --forward-output forward "
    "--reverse-output reverse --scores scores --log-json log --ttable ttable",
    "fast": "align --fast -i S/de-en.txt --save-model model -o align",
    "weights": "contrastive-align -m M/align -s S/de-en.de -t S/de-en.en -v --sentences 60 --passes 2 --threads 1 "
    "--save-weights model -o align",
    "tagger": "train-tagger --tagged S/en.conllu --latent 2 --members 1 -o model",
    "small-tagger": "train-tagger --tagged S/en.tagged --latent 1 --members 1 -o model",
    "parser": "train-parser --treebank S/en.conllu -o model",
    "small-parser": "train-parser --treebank S/en.conllu --iterations 2 --set bits=12 -o model",
    "dmv": "train-parser --unsupervised S/en.conllu -o model --log-json log --checkpoint state",
    "trees": "train-grammar --treebank S/en.mrg -o model --latent 1 --iterations 4 --log-json log -v",
    "induced": "train-grammar --text S/en.tagged --symbols 4 --iterations 15 --seed 3 --restarts 2 -o model -v "
    "--log-json log",
}


@functools.cache
def folder(name):
    """Return the folder of a model: ``model``, what else its command wrote, and in ``errors`` what that said."""
    place = Path(os.environ["ALIGNTOOLS_TEST_MODELS"], name)
    with open(f"{place}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "errors").exists():
            place.mkdir()
            words = COMMANDS[name].split(" ")
            for k, word in enumerate(words):
                if word[:2] in ("S/", "M/"):
                    words[k] = SAMPLES / word[2:] if word[0] == "S" else model(word[2:])
            done = run(*words, cwd=place)
            assert (done.returncode, done.stdout) == (0, b""), done.stderr
            (place / "errors").write_bytes(done.stderr)
    return place


def model(name):
    """Return the path of a model."""
    return folder(name) / "model"
