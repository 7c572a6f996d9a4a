"""Texts are recognized by their first bytes, wherever they come from."""

import bz2
import gzip
import io
import lzma
import os
import threading
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.formats.opening import files
from aligntools.formats.opening.recognition import Recognized, beginning
from aligntools.ground.errors import DataError

zstandard = pytest.importorskip("zstandard")
MARK = b"\xef\xbb\xbf"
COMPRESS = {
    "plain": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    "zst, sized": zstandard.ZstdCompressor().compress,
    "two zst": lambda data: zstandard.compress(data[: len(data) // 2]) + zstandard.compress(data[len(data) // 2 :]),
    "two gz": lambda data: gzip.compress(data[: len(data) // 2]) + gzip.compress(data[len(data) // 2 :]),
}


def read(path):
    with files.reading(path) as file:
        return file.read()


class Dribble(io.RawIOBase):
    """A few bytes at a time, as pipes may give them."""

    def __init__(self, data, step):
        super().__init__()
        self._data, self._step = data, step

    def readable(self):
        return True

    def readinto(self, buffer):
        size = min(len(buffer), self._step)
        piece, self._data = self._data[:size], self._data[size:]
        buffer[: len(piece)] = piece
        return len(piece)


@pytest.mark.parametrize("kind", COMPRESS)
@pytest.mark.parametrize(
    "text", [b"", b"a b\nc\n" * 3, bytes(range(33, 127)) * 5000 + b"\n", b"BZ", b"\x1f", b"(", MARK[:2]]
)
@pytest.mark.parametrize("mark", [b"", MARK])
def test_any_name_will_do(tmp_path, kind, text, mark):
    (tmp_path / "x").write_bytes(COMPRESS[kind](mark + text))
    assert read(tmp_path / "x") == text


@given(st.binary(max_size=40).filter(lambda data: b"\r" not in data and b"\0" not in data), st.integers(1, 5))
def test_plain_bytes_stay_as_they_are(data, step):
    data = b"a" + data
    assert io.BufferedReader(Recognized(Dribble(data, step), "x")).read() == data


@given(st.sampled_from(list(COMPRESS)), st.integers(1, 30))
def test_pipes_may_give_a_few_bytes_at_a_time(kind, step):
    text = b"some words\n" * 30
    assert io.BufferedReader(Recognized(Dribble(COMPRESS[kind](MARK + text), step), "x")).read() == text


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst", "zst, sized"])
def test_what_is_cut_short_is_an_error(tmp_path, kind):
    whole = COMPRESS[kind](os.urandom(300_000).hex().encode() + b"\n")
    for size in (20, len(whole) // 2, len(whole) - 1):
        (tmp_path / "x").write_bytes(whole[:size])
        with pytest.raises(DataError, match="cannot be read to its end"):
            read(tmp_path / "x")


def test_wrong_suffixes_and_frames(tmp_path):
    (tmp_path / "x.gz").write_bytes(bz2.compress(b"a\n"))
    assert read(tmp_path / "x.gz") == b"a\n"
    for suffix in ("gz", "bz2", "xz", "zst"):
        (tmp_path / f"y.{suffix}").write_bytes(b"just words\n")
        with pytest.raises(DataError, match="cannot be read to its end"):
            read(tmp_path / f"y.{suffix}")
        (tmp_path / f"z.{suffix}").write_bytes(b"")
        assert read(tmp_path / f"z.{suffix}") == b""
    skipped = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"12345"
    (tmp_path / "x").write_bytes(skipped + zstandard.compress(bytes(50 << 20)) + skipped)
    largest = total = 0
    with files.open_input(tmp_path / "x") as file:
        while data := file.read(1 << 24):
            largest, total = max(largest, len(data)), total + len(data)
    assert (total, largest) == (50 << 20, 1 << 17)


LETTERS = {"links": "0-0 1-1\n2-2\n", "Latin": "der Zug\nfährt ab\n", "Cyrillic": "он пришёл\nдомой .\n",
           "Chinese": "我 爱 你 。\n他 来 了 。\n", "Gujarati": "હું ઘરે જાઉં છું\nતે આવ્યો\n"}  # fmt: skip


@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE", "UTF-32BE"])
@pytest.mark.parametrize("kind", ["plain", "gz"])
@pytest.mark.parametrize("script", LETTERS)
def test_utf_16_is_refused_with_what_to_do(tmp_path, encoding, kind, script):
    """The encoding that iconv is told is that of the bytes: another one makes rubbish of them."""
    (tmp_path / "x").write_bytes(COMPRESS[kind](LETTERS[script].encode(encoding)))
    advice = rf"x: bytes that are not UTF-8 \({encoding[:6]}\? .* iconv -f {encoding} -t UTF-8\)"
    with pytest.raises(DataError, match=advice):
        read(tmp_path / "x")


@pytest.mark.parametrize("step", [1, 2, 3, 5])
def test_a_mark_may_come_a_few_bytes_at_a_time(step):
    for encoding in ("UTF-16", "UTF-32"):
        with pytest.raises(DataError, match=f"iconv -f {encoding} "):
            io.BufferedReader(Recognized(Dribble("0-0\n".encode(encoding), step), "x")).read()


#: First and last letters of alphabets.
ALPHABETS = {
    "Latin": "az", "Greek": "\u03b1\u03c9", "Cyrillic": "\u0430\u044f", "Hebrew": "\u05d0\u05ea",
    "Arabic": "\u0627\u064a",
    "Devanagari": "\u0915\u0939", "Gurmukhi": "\u0a15\u0a28", "Gujarati": "\u0a95\u0aa8", "Thai": "\u0e01\u0e2e",
    "Georgian": "\u10d0\u10f0", "Ethiopic": "\u1210\u1230", "Hangul": "\uac00\ud7a3", "Chinese": "\u4e00\u9fa5",
    "kana": "\u3042\u30f3",
}  # fmt: skip


SOME = given(seed=st.integers(0, 2**32), ascii_lines=st.sampled_from([0.0, 0.3, 0.6]), spaced=st.booleans())


def words(random, script, ascii_lines):
    """Return lines of words of a script, and of ASCII here and there; letters are drawn evenly."""
    alphabets = [list(map(ord, ALPHABETS[name])) for name in ("Latin", script)]
    lines = []
    for _ in range(random.randint(20, 40)):
        share = 1 if random.random() < ascii_lines else 0.1  # whole lines are runs of ASCII
        chosen = [alphabets[random.random() >= share] for _ in range(random.randint(2, 12))]
        lines.append(["".join(chr(random.randint(*ends)) for _ in range(random.randint(1, 8))) for ends in chosen])
    return lines


@pytest.mark.parametrize("encoding", ["UTF-16LE", "UTF-16BE"])
@pytest.mark.parametrize("script", ALPHABETS)
@settings(max_examples=20)
@SOME
def test_utf_16_without_a_mark_is_told_in_every_script(script, encoding, seed, ascii_lines, spaced):
    lines = words(Random(seed), script, ascii_lines)
    text = "".join((" " if spaced else "").join(line) + "\n" for line in lines).encode(encoding)
    with pytest.raises(DataError, match=f"iconv -f {encoding} "):
        io.BufferedReader(Recognized(io.BytesIO(text), "x")).read()


@pytest.mark.parametrize("script", ALPHABETS)
@settings(max_examples=20)
@SOME
def test_utf_8_with_words_of_zeros_is_text(script, seed, ascii_lines, spaced):
    random = Random(seed)
    nul, share = random.choice(["\0", "a\0", "\0\0", "\0b\0", "\x01\0"]), random.uniform(0.01, 0.2)
    lines = words(random, script, ascii_lines)
    lines = [[nul if random.random() < share else word for word in line] for line in lines]
    text = "".join((" " if spaced else "\t").join(line) + "\n" for line in lines).encode()
    assert io.BufferedReader(Recognized(io.BytesIO(text), "x")).read() == text


def test_zeros_are_not_taken_for_utf_16(tmp_path):
    for text in (b"\0\0\0\0\n", b"a\0b c\n", b"\0\n", b"\0" * 2000, b"the bus \0 leaves \0\nat \0 eight\0 .\n" * 50):
        (tmp_path / "x").write_bytes(text)
        assert read(tmp_path / "x") == text


@pytest.mark.parametrize("text", [b"a\rb", b"a\rb\rc\r", MARK + b"a\r\rb"])
def test_carriage_returns_alone_end_no_line(tmp_path, monkeypatch, text):
    (tmp_path / "x").write_bytes(text)
    with pytest.raises(DataError, match="carriage returns and no line ends"):
        read(tmp_path / "x")
    monkeypatch.setattr(files, "LONGEST_LINE", 1)
    with pytest.raises(DataError, match="carriage returns and no line ends"):
        read(tmp_path / "x")
    monkeypatch.undo()
    for fine in (b"a b\r", b"a\rb\n", b"\r\n", b"\r"):
        (tmp_path / "x").write_bytes(fine)
        assert read(tmp_path / "x") == fine


def test_a_plain_file_may_be_read_from_any_byte_on(tmp_path):
    (tmp_path / "x").write_bytes(MARK + b"ab\ncd\n")
    with files.reading(tmp_path / "x", begin=6) as file:
        assert file.read() == b"cd\n"
    (tmp_path / "y").write_bytes(gzip.compress(b"ab\n"))
    assert [files.is_plain(tmp_path / name) for name in "xyz"] == [True, False, False]


def test_a_pipe_is_not_waited_for_longer_than_for_its_first_line():
    read_end, write_end = os.pipe()
    answered = threading.Event()

    def feed():
        os.write(write_end, b"B\n")
        answered.wait(10)
        os.close(write_end)

    thread = threading.Thread(target=feed)
    thread.start()
    with files.reading(f"/dev/fd/{read_end}") as file:
        assert file.readline() == b"B\n"
        answered.set()
        assert file.read() == b""
    thread.join()
    os.close(read_end)


def test_beginnings(tmp_path):
    text = b"some words of a line\n" * 100_000
    for kind, compress in COMPRESS.items():
        (tmp_path / "x").write_bytes(compress(MARK + text))
        start, whole = beginning(str(tmp_path / "x"))
        assert text.startswith(start)
        assert len(start) > 1 << 19
        assert kind != "plain" or whole == pytest.approx(len(text), rel=0.01)
    read_end, write_end = os.pipe()
    os.write(write_end, b"a b\n")
    os.close(write_end)
    assert beginning(f"/dev/fd/{read_end}") == (b"", 0)
    assert os.read(read_end, 10) == b"a b\n"
    os.close(read_end)
