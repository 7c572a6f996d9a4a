"""What cannot fit in memory is refused while it is read, with the file and the line that was reached."""

import gzip
import io
import itertools
import re
import resource
import subprocess

import pytest

from aligntools.formats.annotation.tagged_text import read_text, stream_text
from aligntools.formats.opening import files
from aligntools.formats.text.bitext import read_bitext
from aligntools.ground import memory
from aligntools.ground.errors import DataError
from tests.cli.running import ROOT, program


def refused(read, *fragments):
    with pytest.raises(DataError) as error:
        read()
    for fragment in fragments:
        assert fragment in str(error.value)


def test_a_line_without_an_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 20)
    path = tmp_path / "text"
    path.write_bytes(b"a ||| b\n" * 3 + b"x" * (3 << 20))
    refused(lambda: read_bitext(joint=str(path)), f"{path}:4: a line of more than 1 MiB", "split it")
    refused(lambda: list(stream_text(str(path))), f"{path}:4: a line of more than 1 MiB")
    path.write_bytes(b"a ||| b\n" * 3 + b"x" * (1 << 20) + b"\ny\n")
    assert len(read_text(str(path))) == 5


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_text_that_does_not_fit_is_refused(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"text{suffix}"
    with (gzip.open if suffix else open)(path, "wb") as out:
        out.write(b"\n" * (6 << 20))
    used = itertools.count(30 << 20, 30 << 20)  # 30 MiB more at each look
    monkeypatch.setattr(memory, "used", lambda: next(used))
    with memory.bounded(45 << 20):
        refused(lambda: read_bitext(joint=str(path)), f"{path}:", "does not fit in memory: 60M of memory needed")
    used = itertools.count(10 << 20, 10 << 20)
    with memory.bounded(45 << 20):  # readers that keep objects stop earlier
        refused(lambda: read_text(str(path)), f"{path}:", "20M of", "45M, of which reading may take 30%")


def test_what_is_read_is_what_is_there(tmp_path):
    data = bytes(range(256)) * 5000
    (tmp_path / "data").write_bytes(data)
    with files.reading(tmp_path / "data") as file:
        assert file.read() == data
    with files.reading(tmp_path / "data") as file:
        assert list(file) == io.BytesIO(data).readlines()
    assert b"".join(files.blocks_of_lines(str(tmp_path / "data"), 1000)) == data


@pytest.mark.slow
@pytest.mark.parametrize("args", [("align", "--max-memory", "500M", "-i"), ("train-hmm", "--states", "5", "--text")])
def test_a_small_file_that_unpacks_to_much_is_refused_before_the_kernel_steps_in(tmp_path, args):
    path, limit = tmp_path / "text.gz", 4 << 30
    with gzip.open(path, "wb", compresslevel=1) as out:
        for _ in range(400):
            out.write(b"\n" * (1 << 20))
    done = subprocess.run(
        [*program(), *args, str(path), "-o", str(tmp_path / "out")], capture_output=True, cwd=ROOT, timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    message = done.stderr.decode()
    assert done.returncode == 1, message
    assert re.fullmatch(rf"error: {path}:\d+: does not fit in memory: .*\n", message)
    assert not (tmp_path / "out").exists()
