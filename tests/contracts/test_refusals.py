"""What is refused, each in one line that says what is wrong, and nothing left behind: the rows of ``refusals.txt``.

The rows of ``examples.txt`` are of commands that end well, with what they write.
"""

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


def rows(table):
    """Yield the number of each line, its files by name ("" is standard input), its words, the status, what is said."""
    path = ROOT / "tests/contracts" / table
    shared = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line[:1] in ("", "#"):
            shared = {}
            continue
        line, *said = re.split(r"  (=2?>|-\d?>)(?:  |$)", line)
        files, words = {}, shlex.split(line)
        while words and (file := FILE.fullmatch(words[0])):
            files[file[1] or ""] = unescaped(file[3]) * int(file[2] or 1)
            del words[0]
        if not said:
            shared |= files
            continue
        named = {word.rpartition("=")[2] for word in words[1:]}
        files |= {name: data for name, data in shared.items() if name in named and name not in files}
        status = int(re.search(r"\d|$", said[0])[0] or said[0][0] == "=")
        yield pytest.param(files, words, status, said[1].split("  &  "), id=f"{number}: {words[0]}")


def unescaped(text):
    """Return the bytes of a text with escapes."""
    return codecs.escape_decode(text.encode())[0]


def path_of(word):
    """Return what a word stands for, where it names a sample or a model."""
    place, slash, name = word.partition("/")
    if not slash or place not in ("S", "K", "M"):
        return word
    return str(models.model(name) if place == "M" else PLACES[place] / name)


def ended(files, words, folder):
    """Run a command in a folder with files, or several with ; between them, of which all but the last have to end well.

    A command may be a program that stands in for another.
    """
    for name, data in files.items():
        if name:
            (folder / name).write_bytes(data)
    while ";" in words:
        end = words.index(";")
        assert ended({}, words[:end], folder).returncode == 0
        words = words[end + 1 :]
    script = words[0] if words[0] in PROGRAMS else None
    words = list(map(path_of, words[1:] if script else words))
    return run(*words, stdin=files.get("", b""), cwd=folder, script=script)


@pytest.mark.parametrize(("files", "words", "status", "said"), list(rows("refusals.txt")))
def test_it_is_refused_in_one_line(files, words, status, said, tmp_path):
    done = ended(files, words, tmp_path)
    fragments = [re.sub(r"\b[SKM]/[\w.-]+\w", lambda found: path_of(found[0]), part) for part in said]
    assert fails(done, *fragments, status=status)
    assert {path.name for path in tmp_path.iterdir()} <= files.keys()


@pytest.mark.parametrize(("files", "words", "status", "said"), list(rows("examples.txt")))
def test_it_writes_what_it_should(files, words, status, said, tmp_path):
    """`'...'` is the standard output, ``name='...'`` a file, ``2> ...`` in errors, alone none; else in the output.

    After = is a command that writes the same, after != one that does not.
    """
    done = ended(files, words, tmp_path)
    assert done.returncode == status, done.stderr
    assert b"Traceback" not in done.stderr
    for part in said:
        text = unescaped(part).decode()
        if part.startswith("2>"):
            assert text[3:] in done.stderr.decode() if text[3:] else done.stderr == b""
        elif file := FILE.fullmatch(part) if "='" in part and part[0] != "'" else None:
            assert (tmp_path / file[1]).read_bytes() == unescaped(*shlex.split(file[3])), file[1]
        elif other := re.match("(=|!=) ", part):
            same = ended(files, shlex.split(part[other.end() :]), tmp_path).stdout == done.stdout
            assert same == (other[1] == "="), part
        elif part[0] == "'":
            assert done.stdout == unescaped(*shlex.split(part))
        else:
            assert text in re.sub(" +", " ", done.stdout.decode())
