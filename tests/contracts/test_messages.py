"""What every command says beside its output: notes of old spellings, and more or less with -v and -q."""

import re

import pytest

from aligntools.cli import programs
from aligntools.cli.main import COMMANDS
from tests.cli.running import run
from tests.contracts.test_refusals import path_of

RENAMED = [(name, old, new) for name in COMMANDS for old, new in programs.command(name).renamed.items()]
#: Command lines, and what -v says of each besides; S/ and M/ are samples and models, as in ``refusals.txt``.
FIGURES = """
train-hmm --tagged S/en.tagged --latent 2 --members 1 --iterations 2 -o x: log-likelihood
train-hmm --text S/en.txt --states 2 --iterations 2 -o x: 143 words, 
train-parser --treebank S/en.conllu --iterations 2 -o x: train, step 1: objective 
tag -m M/tagger S/en.txt: 143 words in 
parse -m M/parser S/en.tagged: 321 words in 
translate --grammar K/grammar --lm K/lm --pop-limit 5 --threads 1 S/en.txt: 20 sentences in 
align --fast -i S/de-en.txt -o x: log-likelihood
""".strip().split("\n")  # noqa: W291


@pytest.mark.parametrize(("name", "old", "new"), RENAMED)
def test_an_old_spelling_is_the_new_one_and_is_told(name, old, new, tmp_path):
    for given in ([old, "x"], [f"{old}x" if len(old) == 2 else f"{old}=x"]):
        done = run(name, "--no-such-option", *given, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.decode().splitlines()[0] == f"note: {old} is called {new} now"
        assert b"--no-such-option" in done.stderr
    help_text = run(name, "--help-all").stdout.decode()
    assert not re.search(rf"^ +(-., )?{old}[ /]", help_text, re.MULTILINE)


@pytest.mark.parametrize("row", FIGURES, ids=lambda row: row.partition(" -o")[0])
def test_verbose_says_more_and_quiet_nothing(row, tmp_path):
    line, _, figures = row.partition(": ")
    words = [path_of(word) for word in line.split(" ")]
    usual, verbose, quiet, both = (
        run(*words, *flags, cwd=tmp_path).stderr.decode() for flags in ((), ("-v",), ("-q",), ("-q", "-v"))
    )
    assert verbose.count("\n") > usual.count("\n")
    assert figures in verbose
    assert figures not in usual
    assert quiet == both == ""
