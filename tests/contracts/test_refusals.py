"""What is refused, each in one line that says what is wrong, and nothing left behind: the rows of ``refusals.txt``."""

import codecs
import re
import shlex

import pytest

from aligntools.cli.standins import PROGRAMS
from tests import models
from tests.cli.running import fails, run
from tests.places import ROOT, SAMPLES

FILE = re.compile(r"(?:<|([\w.+-]+)(?:\*(\d+))?=)(.*)", re.DOTALL)
PLACES = {"S": SAMPLES, "K": ROOT / "tests/data/models/0.3.0"}


def rows():
    """Yield the number of each line, its files by name ("" is standard input), its words, the status, what is said."""
    path = ROOT / "tests/contracts/refusals.txt"
    shared = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line[:1] in ("", "#"):
            shared = {}
            continue
        line, *said = re.split(r"  (=2?>)(?:  |$)", line)
        files, words = {}, shlex.split(line)
        while words and (file := FILE.fullmatch(words[0])):
            files[file[1] or ""] = codecs.escape_decode(file[3].encode())[0] * int(file[2] or 1)
            del words[0]
        if not said:
            shared |= files
            continue
        files |= {name: shared[name] for name in words[1:] if name in shared and name not in files}
        status = 2 if "2" in said[0] else 1
        yield pytest.param(files, words, status, said[1].split("  &  "), id=f"{number}: {words[0]}")


def path_of(word):
    """Return what a word stands for, where it names a sample or a model."""
    place, slash, name = word.partition("/")
    if not slash or place not in ("S", "K", "M"):
        return word
    return str(models.model(name) if place == "M" else PLACES[place] / name)


@pytest.mark.parametrize(("files", "words", "status", "said"), list(rows()))
def test_it_is_refused_in_one_line(files, words, status, said, tmp_path):
    for name, data in files.items():
        if name:
            (tmp_path / name).write_bytes(data)
    script = words.pop(0) if words[0] in PROGRAMS else None
    done = run(*map(path_of, words), stdin=files.get("", b""), cwd=tmp_path, script=script)
    fragments = [re.sub(r"\b[SKM]/[\w.-]+\w", lambda found: path_of(found[0]), part) for part in said]
    assert fails(done, *fragments, status=status)
    assert {path.name for path in tmp_path.iterdir()} <= files.keys()
