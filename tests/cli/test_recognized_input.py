"""The same file is the same text to every command: marks, compression without a suffix, UTF-16, carriage returns."""

import gzip
import os

import pytest

from tests.cli.running import ROOT, run_cli

S = ROOT / "data" / "samples"
MARK = b"\xef\xbb\xbf"
ALIGNED = b"0-0 1-1\n0-0 1-1\n"
TREE = (
    b"1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tbus\tbus\tNOUN\tNN\t_\t3\tnsubj\t_\t_\n3\tleaves\tleave\tVERB\tVBZ\t_\t0\troot\t_\t_\n\n"
)
#: Files that commands read: what is in them, and command lines with F where the file stands.
CASES = {
    "pharaoh": (ALIGNED, [
        "symmetrize -c convert F", "eval-aer G F", "eval-aer F G", "symmetrize -c union F F",
        "lexicon -s s -t t -a F", "extract-grammar -q -s s -t t -a F", "view -s s -t t -a F --text",
        "contrastive-align -q --fast -s s -t t --evidence F",
    ]),
    "giza": (
        b"# Sentence pair (1) source length 1 target length 1 alignment score : 1\na \nNULL ({ }) b ({ 1 }) \n",
        ["symmetrize --format giza -c convert F"],
    ),
    "conll": (TREE, [
        "conll F", "conll --words F", "tag -q -m tagger F", "parse -q -m parser F", "eval-uas F F", "eval-tags F F",
        "project -q --source F --target t1 -a a1", "conll --put upos --values F F",
    ]),
    "text": (b"a b\nc d\n", [
        "align -q --fast -s F -t t", "train-lm -q -n 2 F", "tag -q -m tagger --format text F", "filter -q --fast -s F -t t",
        "lexicon -s F -t t -a G", "eval-bleu F F", "translate -q --no-lm --grammar g F",
    ]),
    "joint": (b"a b ||| x y\nc d ||| z w\n", ["align -q --fast -i F"]),
    "tagged": (b"a_X b_Y\nc_X d_Y\n", ["train-tagger -q --latent 1 --members 1 --tagged F -o out", "eval-tags F F"]),
    "grammar": (b"[X] ||| a ||| x ||| F=1\n", ["filter-grammar F s", "translate -q --no-lm --grammar F s"]),
    "priors": (b"LEX\ta\tx\t1\n", ["align -q --fast -s s -t t --priors F"]),
}  # fmt: skip
LINES = [(name, line) for name, (_, lines) in CASES.items() for line in lines]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with small models and texts."""
    folder = tmp_path_factory.mktemp("recognized")
    files = {"s": b"a b\nc d\n", "t": b"x y\nz w\n", "t1": b"x y z\n", "a1": b"0-0 1-1 2-2\n", "G": ALIGNED,
             "g": CASES["grammar"][0], "tree": TREE * 3}  # fmt: skip
    for name, data in files.items():
        (folder / name).write_bytes(data)
    for line in (
        "train-tagger -q --latent 1 --members 1 --tagged tree -o tagger", "train-parser -q --treebank tree -o parser"
    ):  # fmt: skip
        done = run_cli(line, folder)
        assert done.returncode == 0, done.stderr
    return folder
