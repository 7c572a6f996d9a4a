"""The harness that tries to break the toolkit: that it sees what is wrong, and a small part of what it does."""

import random

import click
import pytest

from aligntools.cli import kinds, programs
from aligntools.cli.main import COMMANDS
from aligntools.cli.standins import PROGRAMS
from bench.abuse import damages, driving, inputs, lines, verdicts
from bench.abuse.forking import Ending
from bench.abuse.verdicts import Expected

#: Options that name files and are in no line: what they name is written, or read by other options' code.
ELSEWHERE = {"--tmpdir", "--checkpoint", "--cluster"} | {
    "--documents",  # lists: tests/cli/test_align_sentences.py
    "--encoder-checkpoint",  # tests/encoding/test_checkpoint.py
}
#: How options that name files show it.
FILES = ("FILE", "DIR", "PREFIX", "SRC TGT")
#: Kinds of input that the small part damages.
KINDS = {"text", "joint", "links", "gold", "giza", "conll", "arpa", "grammar", "weights", "model"}


def test_tables_are_complete():
    found = lines.read()
    assert {line.command for line in found} == set(COMMANDS) - {"warmup", "drop-ins", "serve"} | set(PROGRAMS)
    missing = []
    for name in COMMANDS.keys() - {"serve"}:
        own = {t for line in found if line.command == name for word in line.words for t in (word.text, word.field)}
        for parameter in programs.command(name).params:
            option = isinstance(parameter, click.Option) and not isinstance(parameter, kinds.Former)
            named = option and parameter.metavar in FILES
            if named and not own & {*parameter.opts, f"{parameter.name}="} and not ELSEWHERE & set(parameter.opts):
                missing.append(f"{name} {parameter.opts[-1]}")
    assert missing == []
    assert {word.kind for line in found for word in line.inputs} == {*damages.TEXT, *lines.BINARY}


def test_every_kind_has_damages_that_change_it(tmp_path):
    from bench.abuse import places

    places.make(tmp_path)
    for name, kind in (("de", "text"), ("de-en", "joint"), ("wa", "gold"), ("en.conllu", "conll"), ("f.p", "ttable")):
        data = (tmp_path / name).read_bytes()
        rng = random.Random(1)
        changed = [d.name for d in damages.FIXED if d.suits(kind) and not d.suffix and d.apply(data, rng) == data]
        assert changed == []
        assert len({damages.at_random(data, random.Random(k)) for k in range(50)}) > 45


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "case").mkdir()
    (tmp_path / "case.tmp").mkdir()
    return tmp_path / "case"


ERROR = b"error: bad:3: what was found\n"


@pytest.mark.parametrize(
    ("ending", "word"),
    [
        (Ending(0, 1.0, 0, b"a\nb\n"), "done"),
        (Ending(1, 1.0, 0, b"", ERROR), "refused"),
        (Ending(None, 20.0, 0), "hang"),
        (Ending(-11, 1.0, 0), "signal"),
        (Ending(1, 1.0, 0, b"", b"Traceback (most recent call last):\n  ...\nIndexError: 7\n"), "traceback"),
        (Ending(1, 1.0, 2 << 30, b"", ERROR), "memory"),
        (Ending(0, 1.0, 0, b"a\n"), "lines"),
        (Ending(0, 1.0, 0, b"a\nc\n"), "differs"),
        (Ending(0, 1.0, 0, b"a\nb\n", b"x.py:1: RuntimeWarning: overflow\n"), "noise"),
        (Ending(2, 1.0, 0, b"", ERROR), "status"),
        (Ending(1, 1.0, 0, b"", b"note: --cores is called --threads now\n" + ERROR), "refused"),
        (Ending(1, 1.0, 0, b"", ERROR * 2), "message"),
        (Ending(1, 1.0, 0), "message"),
        (Ending(1, 1.0, 0, b"", b"error: good:3: what was found\n"), "unnamed"),
        (Ending(1, 1.0, 0, b"", b"error: bad: what was found\n"), "no line"),
    ],
)
def test_verdicts(folder, ending, word):
    expected = Expected(names=("bad",), line=True, counts={"": 2}, same={"": b"a\nb\n"})
    assert verdicts.judge(ending, folder, expected).word == word


def test_files_that_are_left_are_seen(folder):
    expected = Expected(names=("bad",), outputs=("out",))
    (folder / "out").write_bytes(b"half")
    assert verdicts.judge(Ending(1, 1.0, 0, b"", ERROR), folder, expected).word == "output"
    assert verdicts.judge(Ending(0, 1.0, 0), folder, expected).word == "done"
    (folder / "out").write_bytes(b"0-0:nan\n")
    assert verdicts.judge(Ending(0, 1.0, 0), folder, expected).word == "nan"
    (folder / ".out.x.part").write_bytes(b"half")
    assert verdicts.judge(Ending(0, 1.0, 0), folder, expected).word == "leftover"


def test_damages_are_dealt_out_to_the_inputs_of_a_kind():
    numbers = [line.number for line in lines.read()][::4]
    kinds = {}
    for number, hands in inputs.dealt(numbers, 1, 2, 10).items():
        line = next(line for line in lines.read() if line.number == number)
        for word, hand in zip(line.inputs, hands, strict=True):
            assert 2 <= len(hand) <= 10
            kinds.setdefault(word.kind, []).append(hand)
    for kind, hands in kinds.items():
        suiting = {damage.name for damage in damages.FIXED if damage.suits(kind)}
        found = {name for hand in hands for name in hand}
        assert found <= suiting
        assert len(found) == min(len(suiting), sum(map(len, hands)))


@pytest.mark.slow
def test_a_part_keeps_the_promise(tmp_path, monkeypatch):
    """The marked lines and every fourth one, which deal out the damages for each kind of file."""
    monkeypatch.setenv("ABUSE_SECONDS", "90")  # other tests run beside it
    numbers = [line.number for k, line in enumerate(lines.read()) if line.small or k % 4 == 0]
    place = driving.prepare(tmp_path, numbers)
    common = {"module": "inputs", "place": str(place), "seed": 1, "random": 1, "contents": 1}
    fixed = inputs.dealt(numbers, 1, 2, 10)
    results = driving.work([common | {"line": number, "fixed": fixed[number]} for number in numbers])
    assert len(results) > 600
    assert {r["kind"] for r in results} >= KINDS
    assert [r for r in results if r["verdict"] not in verdicts.GOOD] == []
