"""Texts are recognized by their first bytes, wherever they come from."""

import bz2
import contextlib
import copy
import gzip
import io
import json
import lzma
import math
import os
import threading
from itertools import islice
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aligntools as at
from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.weights import load_weights
from aligntools.formats.links.findings import FoundWords, read_findings
from aligntools.formats.models.modelfile import model_kind, read_model, write_model
from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import in_words, is_number, parse_json
from aligntools.formats.opening.recognition import Recognized, beginning
from aligntools.ground.errors import DataError
from aligntools.tools.checks import FoundSpan, PairCheck, row
from aligntools.translating.translation_weights import read_weights
from tests.keeping import KEPT

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
@settings(max_examples=8)
@SOME
def test_utf_16_without_a_mark_is_told_in_every_script(script, encoding, seed, ascii_lines, spaced):
    lines = words(Random(seed), script, ascii_lines)
    text = "".join((" " if spaced else "").join(line) + "\n" for line in lines).encode(encoding)
    with pytest.raises(DataError, match=f"iconv -f {encoding} "):
        io.BufferedReader(Recognized(io.BytesIO(text), "x")).read()


@pytest.mark.parametrize("script", ALPHABETS)
@settings(max_examples=8)
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


FILES = (
    *("align.fertility", "align.hmm-forward", "align.ibm2-table", "tag.hmm", "tag.induced", "parse.labels", "grammar"),
    "lm",
)
FOLDER = KEPT / "0.2.0"
VALUES = (-1, 2**30, math.nan, math.inf, -math.inf)
#: Changes that leave some arrays such as they may be.
MAY_PASS = {"gone", "backwards", "another shape", *(f"{value} at {k}" for value in VALUES[:2] for k in "abc")}
STRANGE = (None, "x", -1, 10**30, math.nan, True, [], {}, [[]], [1, "x"], 0)


def changed_arrays(arrays):
    """Yield every array made wrong in one way: type, shape, one value, order; or gone."""
    for name, array in arrays.items():
        yield name, "gone", None
        yield name, "another type", array.astype(np.int16 if array.dtype.kind == "f" else np.float32)
        yield (
            name,
            "longer",
            np.concatenate([array, array[-1:] if len(array) else np.zeros((1, *array.shape[1:]), array.dtype)]),
        )
        yield name, "another shape", array.reshape(-1, 1)
        if not array.size:
            continue
        yield name, "shorter", array[:-1]
        yield name, "backwards", np.ascontiguousarray(array[::-1])
        for value in VALUES:
            if array.dtype.kind == "f" or (
                math.isfinite(value) and np.iinfo(array.dtype).min <= value <= np.iinfo(array.dtype).max
            ):
                for which, place in zip("abc", (0, array.size // 2, array.size - 1), strict=True):
                    other = array.copy()
                    other.reshape(-1)[place] = value
                    yield name, f"{value} at {which}", other


def changed_headers(header, path=()):
    """Yield the header with each of its values, however deep, made strange or taken away."""
    here = header
    for key in path:
        here = here[key]
    items = here.items() if isinstance(here, dict) else enumerate(here[:2]) if isinstance(here, list) else ()
    for key, value in items:
        for strange in STRANGE:
            other = copy.deepcopy(header)
            into = other
            for step in path:
                into = into[step]
            into[key] = strange
            yield (*path, key), strange, other
        yield from changed_headers(header, (*path, key)) if value else ()


def use(model):
    """Let the kernels have it."""
    if isinstance(model, at.Aligner):
        model.align("Der Zug fährt um acht Uhr ab .", "The train leaves at eight o'clock .")
    elif isinstance(model, at.Tagger):
        model.tag("The bus leaves unseen .")
        model.tag("The bus leaves unseen .", decoder="viterbi")
    elif isinstance(model, at.Parser):
        model.parse(["The", "bus", "leaves"], ["DET", "NOUN", "VERB"])
    elif isinstance(model, at.LanguageModel):
        model.score("The bus leaves .")
    else:
        at.Translator(model).translate("Der Zug fährt um acht Uhr ab .")


def refused_or_harmless(path, kind, header, arrays):
    """Write a model and load it; tell what it is refused with, or use it and return nothing."""
    write_model(str(path), kind, header, arrays)
    try:
        model = at.load(path)
    except DataError as error:
        return str(error)
    with contextlib.suppress(at.AligntoolsError):
        use(model)
    return ""


@pytest.mark.parametrize("every", [67, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FILES)
def test_wrong_contents(tmp_path, name, every):
    """Some of the changes, or all."""
    path, kind = tmp_path / "model", model_kind(FOLDER / name)
    header, arrays = read_model(str(FOLDER / name), kind)
    refused = 0
    for array, what, value in islice(changed_arrays(arrays), None, None, every):
        changed = {k: v for k, v in arrays.items() if k != array} | ({} if value is None else {array: value})
        said = refused_or_harmless(path, kind, header, changed)
        refused += bool(said)
        assert said.startswith(f"{path}: is damaged") or (not said and what in MAY_PASS), (array, what, said)
        assert "\n" not in said
    for key, strange, changed in islice(changed_headers(header), None, None, every):
        said = refused_or_harmless(path, kind, changed, arrays)
        assert not said or said.startswith(f"{path}: is damaged"), (key, strange, said)
        assert "\n" not in said
    assert refused > len(arrays) / every


PAIRS = [
    PairCheck(
        7, 12.5, 0.9, True, 0.1, 0.2,
        [FoundSpan(1, 4, 4.0, "b ; added[0:1]")], [FoundSpan(0, 1, 3.0, "x")], [FoundSpan(2, 4, 2.0, "at at")],
        ["10"], ["12", "3"], [], ["{0}"],
    ),
    PairCheck(2, 0.0, 0.0, False, 0.0, 0.0, [], [], [], [], [], [], []),
]  # fmt: skip


@pytest.mark.parametrize("form", ["tsv", "json"])
def test_what_is_written_is_read_again(form, tmp_path):
    path = tmp_path / "found"
    path.write_text("".join(row(pair, "a b", "x y", form) + "\n" for pair in PAIRS))
    found = read_findings(path)
    assert found == [pair.finding for pair in PAIRS]
    assert [one.kind for one in found[0].words] == ["left-out", "added", "repeated"]
    assert found[0].differences == ("numbers -10 +12 +3", "placeholders +{0}")


GOOD = row(PAIRS[0], "a", "b", "tsv")


@pytest.mark.parametrize(
    "line",
    [
        "", "1\t2", GOOD.replace("flagged", "seen"), GOOD.replace("7\t", "0\t", 1), GOOD.replace("[1:4]", "[4:1]"),
        GOOD.replace("left-out", "lost"), GOOD.replace("added[0:1]", "added"), "{", "{}", '{"line": 1}',
        row(PAIRS[0], "a", "b", "json").replace('"start": 1', '"start": null'),
    ],
)  # fmt: skip
def test_another_line_is_refused_with_its_number(line, tmp_path):
    path = tmp_path / "found"
    path.write_text(f"{row(PAIRS[1], 'a', 'b', 'tsv')}\n{line}\n")
    with pytest.raises(DataError, match=r"is no line of check\(\)") as raised:
        read_findings(path)
    assert raised.value.line == 2


def test_a_pair_that_is_there_twice_is_refused(tmp_path):
    path = tmp_path / "found"
    path.write_text(f"{GOOD}\n{json.dumps(PAIRS[0].as_dict())}\n")
    with pytest.raises(DataError, match="pair 7 is there twice"):
        read_findings(path)


@pytest.mark.parametrize(
    ("words", "start", "text", "expected"),
    [
        ("the train leaves .", 1, "train leaves", (1, 3)),
        ("The train leaves at eight o'clock, at ten.", 6, "o'clock ,", (5, 6)),  # of tokens: raw words that have them
        ("at eight, at eight.", 3, "at eight", (2, 4)),
        ("at eight, at eight.", 0, "at eight", (0, 2)),
        ("a b", 0, "c", None),
        ("", 0, "c", None),
    ],
)
def test_places_are_found_in_text_that_is_cut_otherwise(words, start, text, expected):
    found = FoundWords("added", start, start + len(text.split()), text)
    assert found.within(words.split()) == expected


DEEP = "[" * 100_000 + "]" * 100_000


def test_what_is_nested_too_deeply_is_not_json_and_short_in_messages():
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_json(DEEP)
    assert parse_json(b'{"a": [1]}') == {"a": [1]}
    deep = value = []
    for _ in range(100_000):
        value.append([])
        value = value[0]
    assert len(in_words(deep)) < 50
    assert in_words({"a": 1}) == '{"a": 1}'
    assert len(in_words("x" * 1000)) <= 40


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, "1", None, True, [1]])
def test_what_is_no_number(value):
    assert not is_number(value)
    assert is_number(1)
    assert is_number(-1e-3)


@pytest.mark.parametrize("read", [load_weights, read_weights])
@pytest.mark.parametrize("text", [DEEP, '{"a":' * 100_000, "9" * 5000, "nan", ""])
def test_no_reader_of_json_ends_in_a_traceback(tmp_path, read, text):
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read(str(path))
    assert len(str(caught.value)) < 300 + len(str(path))


@pytest.mark.parametrize("value", [DEEP, "1e999", "1" + "0" * 400, "[]", "true", '"x"', "NaN"])
def test_weights_are_numbers(tmp_path, value):
    path = tmp_path / "x"
    head = '{"format": "aligntools weights", "kind": "translation", "version": 1, "features": {"a": '
    path.write_text(head + value + "}}")
    with pytest.raises(DataError, match=r"weights|a number was expected"):
        read_weights(str(path))


@pytest.mark.parametrize(
    ("name", "value"), [("beam", 10**30), ("beam", 0), ("beam", True), ("slack", 10**400), ("constraint", ["none"])]
)
def test_settings_of_the_search_are_in_their_ranges(tmp_path, name, value):
    path = tmp_path / "x"
    text = {
        "format": "aligntools contrastive weights",
        "version": 1,
        "features": ["null_source"],
        "search": {name: value},
    }

    text |= {"features": [NAMES[0]], "weights": {NAMES[0]: 1}}
    path.write_text(json.dumps(text))
    with pytest.raises(DataError, match=f"'{name}' is .* in 'search'; .* was expected"):
        load_weights(str(path))
