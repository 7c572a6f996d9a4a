"""Warming up leaves nothing of translation to compile, whatever the commands are asked for."""

import tempfile
from pathlib import Path
from unittest import mock

import pytest

from aligntools.cli import precompile
from aligntools.ground import memory
from tests.cli.running import run
from tests.places import SAMPLES
from tests.warmed import compiled_by

#: Which of them have to do with little memory.
LITTLE = ("--prune 0,0,1", "--phrases tight")
#: Commands, as in a folder with the samples' first lines (few), a diagonal alignment and its reverse.
COMMANDS = """
train-lm -n 4 all.en -o en.arpa
train-lm -n 3 all.de --prune 0,0,1 --lowercase --format binary -o de.lm
train-lm -n 3 all.en --format binary -o en.lm
eval-lm -m en.arpa few.en
eval-lm -m en.lm --lines few.en
extract-grammar -s all.de -t all.en -a all.align -o grammar
extract-grammar -s all.de -t all.en -a all.align -o tight --phrases tight --features standard
extract-grammar -s all.de -t all.en -a all.align -o loose --phrases loose --set nonterminals=1 --min-count 1
extract-grammar -s all.de -t all.en -a all.align -o cdec --features cdec --text few.de
extract-grammar -s all.de -t all.en -a all.align -o moses.gz --format moses
extract-grammar -s all.de -t all.en -a all.align -o binary --format binary
extract-grammar -s all.en -t all.de -a all.align -o reverse --format binary
filter-grammar --grammar grammar --text few.de -o filtered
filter-grammar --grammar grammar --text few.de --span-limit 10 -o filtered
filter-grammar --grammar moses.gz --text few.de --format binary -o filtered.bin
filter-grammar --grammar binary --text few.de --format hiero -o filtered
translate --grammar grammar --lm en.arpa few.de -o out
translate --grammar moses.gz --lm en.lm few.de -o out --n-best 5 --hypergraphs forests
translate --grammar cdec --no-lm few.de -o out --samples 3
translate --grammar binary --lm en.lm few.de -o out --tags S/en.tagged --pop-limit 0 --span-limit 3
imputed-risk --supervised few.de --reference few.en --grammar grammar --lm en.lm -o w
imputed-risk --supervised few.de --reference few.en --grammar grammar --lm en.lm -o x --loss sentence --set temperature=.1
imputed-risk --supervised few.de --reference few.en --grammar grammar --lm en.lm -o x --loss linear --set quench=2
imputed-risk --supervised few.de --reference few.en --grammar grammar --lm en.lm -o x --forest
imputed-risk --supervised few.de --reference few.en --grammar grammar --lm en.lm -o x --forest --loss linear
imputed-risk --supervised few.de --reference few.en --grammar grammar --lm en.lm -o x --method mert --restarts 1
imputed-risk --supervised few.de --reference few.en --grammar grammar --lm en.lm -o x --method likelihood
imputed-risk --supervised few.de --reference few.en --grammar grammar --lm en.lm -o x --method mira
imputed-risk --supervised few.de --reference few.en --grammar grammar --lm en.lm -o x --method mira --loss sentence
imputed-risk --supervised few.de --reference few.en --grammar grammar --lm en.lm -o x --method perceptron
imputed-risk --supervised few.de --reference few.en --grammar binary --lm en.lm -o x --method likelihood --forest
imputed-risk --supervised few.en --reference few.de --grammar reverse --lm de.lm -o r
imputed-risk --monolingual few.en IMPUTE -o x
imputed-risk --monolingual few.en IMPUTE -o x --samples 2
imputed-risk --monolingual few.en IMPUTE -o x --impute rules
""".replace("IMPUTE", "--grammar binary --lm en.lm --reverse-grammar reverse --reverse-lm de.lm --reverse-weights r")  # noqa: E501


def warm(pool):
    """Warm up, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        precompile.translating(Path(folder), pool)


def work():
    """Run the commands."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "S").symlink_to(SAMPLES)
        sides = {side: (SAMPLES / f"de-en.{side}").read_text(encoding="utf-8").splitlines() for side in ("de", "en")}
        for side, lines in sides.items():
            (folder / f"all.{side}").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            (folder / f"few.{side}").write_text("".join(line + "\n" for line in lines[:6]), encoding="utf-8")
        sizes = [min(len(s.split()), len(t.split())) for s, t in zip(*sides.values(), strict=True)]
        links = [" ".join(f"{i}-{i}" for i in range(n)) for n in sizes]
        (folder / "all.align").write_text("".join(line + "\n" for line in links), encoding="utf-8")
        for line in COMMANDS.split("\n"):
            if line:
                more = ["--rounds", 1, "--pop-limit", 10, "--n-best", 5] if line.startswith("imputed-risk") else []
                few = 1 << 20 if any(part in line for part in LITTLE) else 1 << 30
                with mock.patch.object(memory, "for_tables", return_value=few):
                    done = run(*line.split(), *more, cwd=folder)
                assert done.returncode == 0, f"{line}\n{done.stderr.decode()}"


@pytest.mark.slow
def test_nothing_is_left_to_compile():
    found = compiled_by("tests.translating.test_warming")
    assert len(found["before"]) > 60
    # files of links are read by what alignment warms up
    assert [name for name in found["added"] if ".kernels_pharaoh." not in name] == []
