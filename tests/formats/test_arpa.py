"""ARPA files: what other tools write, what is written, and what is wrong."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.translation.arpa import ArpaReader, write_arpa
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import Vocabulary

GOOD = b"""
some words before it

\\data\\
ngram 1=5
ngram 2=2

\\1-grams:
-1.5\t<unk>
-99\t<s>\t-0.3
-0.9\t</s>
-0.6\ta\t-0.25
-0.7\tb

\\2-grams:
-0.1\t<s> a
-0.2\ta b

\\end\\
"""


def read(path, block=1 << 24):
    reader = ArpaReader(str(path), block)
    parts = [(ids.tolist(), logs.tolist()) for ids, logs in reader.blocks()]
    return reader, parts


def flat(parts, order):
    rows = [(tuple(i), *np.round(lg, 5)) for ids, logs in parts for i, lg in zip(ids, logs, strict=True)]
    return [row for row in rows if len(row[0]) == order]


@pytest.mark.parametrize("block", [1 << 24, 16])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace(b"\t", b" "),
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b"-0.2\ta b", b"\n-2e-1   a\tb  \n").replace(b"-99", b"-inf"),
        lambda text: text.replace(b"<unk>", b"<UNK>").replace(b"\tb\n", b"\tb\t0\n").replace(b"-0.9", b"-.9E0"),
        lambda text: text.replace(b"ngram 1=5", b"ngram  1 = 5").rstrip(),
        lambda text: b"\\data\\" + text.split(b"\\data\\")[1],
    ],
)
def test_reading(tmp_path, change, block):
    (tmp_path / "m").write_bytes(change(GOOD))
    reader, parts = read(tmp_path / "m", block)
    assert reader.counts == [5, 2]
    assert reader.has_unknown
    assert reader.vocabulary.words() == ["", "<s>", "</s>", "a", "b"]
    assert flat(parts, 1) == [((0,), -1.5, 0), ((1,), -99, -0.3), ((2,), -0.9, 0), ((3,), -0.6, -0.25), ((4,), -0.7, 0)]
    assert flat(parts, 2) == [((1, 3), -0.1, 0), ((3, 4), -0.2, 0)]


def test_compressed_and_from_standard_input_and_without_unknown_words(tmp_path):
    text = GOOD.replace(b"-1.5\t<unk>\n", b"").replace(b"1=5", b"1=4")
    (tmp_path / "m.gz").write_bytes(gzip.compress(text))
    reader, parts = read(tmp_path / "m.gz")
    assert not reader.has_unknown
    assert flat(parts, 1)[0] == ((0,), -100, 0)
    assert reader.vocabulary.words() == ["", "<s>", "</s>", "a", "b"]


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        (b"\\data\\", b"data", None, "is not an ARPA file"),
        (b"ngram 2=2", b"ngram 3=2", 6, "'ngram 2=COUNT' was expected"),
        (b"ngram 1=5\nngram 2=2\n", b"", 6, "no 'ngram 1"),
        (b"\\1-grams:", b"\\2-grams:", 8, "'\\\\1-grams:' was expected"),
        (b"-0.6\ta\t-0.25", b"-0.6\ta\t-0.25\t3", 12, "4 fields; a 1-gram has 2, or 3"),
        (b"-0.6\ta\t-0.25", b"-0.6", 12, "1 fields"),
        (b"-0.6\ta", b"a\t-0.6", 12, "a logarithm was expected"),
        (b"-0.25", b"-0.2.5", 12, "a logarithm was expected"),
        (b"-0.6\ta", b"0.6\ta", 12, "above 1"),
        (b"-0.6\ta", b"nan\ta", 12, "a logarithm was expected"),
        (b"1=5", b"1=6", 14, "5 1-grams, but the head of the file says 6"),
        (b"-0.7\tb", b"-0.7\ta", 13, "'a' is there twice"),
        (b"-0.7\tb", b"\n \n-0.7\t<s>", 15, "'<s>' is there twice"),
        (b"-0.2\ta b", b"-0.2\ta c", 17, "'-0.2 a c': a word that is not among"),
        (b"-0.2\ta b", b"-0.2\ta", 17, "2 fields; a 2-gram has 3, or 4"),
        (b"-0.2\ta b\n", b"", 17, "1 2-grams, but the head of the file says 2"),
        (b"\\2-grams:\n-0.1\t<s> a\n-0.2\ta b\n\n\\end\\\n", b"", 14, "cut short"),
        (b"\\end\\\n", b"", 18, "cut short"),
        (b"\\end\\", b"\\3-grams:", 19, "'\\\\end\\\\' was expected"),
        (b"<s>\t", b"x\t", None, "has no <s>"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, old, new, line, problem):
    assert old in GOOD
    (tmp_path / "m").write_bytes(GOOD.replace(old, new))
    with pytest.raises(DataError, match=problem.replace("(", r"\(")) as error:
        read(tmp_path / "m")
    assert error.value.line == line
    assert "\n" not in str(error.value)


numbers = st.one_of(
    st.floats(-120, 0).map(repr), st.floats(-9, 0).map("{:.6f}".format), st.floats(-9, 0).map("{:.3e}".format),
    st.floats(-9, 0).map("{:E}".format), st.sampled_from(["0", "-0", "+0.0", "-5.", "-.5", "-1e-320", "-1e0", "-7E+0"]),
)  # fmt: skip


@given(st.lists(numbers, min_size=1, max_size=20))
def test_numbers(tmp_path_factory, texts):
    words = ["<s>", "</s>", *map(str, range(len(texts)))]
    lines = "".join(f"{text}\t{word}\n" for text, word in zip(["0", "0", *texts], words, strict=True))
    path = tmp_path_factory.mktemp("arpa") / "m"
    path.write_text(f"\\data\\\nngram 1={len(words)}\n\n\\1-grams:\n{lines}\n\\end\\\n")
    _, parts = read(path)
    found = np.array(parts[0][1])[3:, 0]
    assert found == pytest.approx(np.maximum(np.array(list(map(float, texts))), -99), rel=1e-6, abs=1e-12)


def test_many_lines_come_in_parts(tmp_path):
    words = ["<s>", "</s>", *(f"w{k}" for k in range(70_000))]
    text = "".join(f"-1\t{word}\n" for word in words)
    pairs = "".join(f"-{k % 7}\t{word} w{k}\n" for k, word in enumerate(words[2:]))
    head = f"\\data\\\nngram 1={len(words)}\nngram 2=70000\n\n"
    (tmp_path / "m").write_text(f"{head}\\1-grams:\n{text}\\2-grams:\n{pairs}\\end\\\n")
    _, parts = read(tmp_path / "m")
    assert len(parts) == 3
    ids = np.concatenate([np.array(ids) for ids, _ in parts[1:]])
    assert np.array_equal(ids, np.arange(3, 70_003)[:, None].repeat(2, 1))
    (tmp_path / "m").write_text(f"{head}\\1-grams:\n{text}\\2-grams:\n{pairs}-1 w1 nothing\n\\end\\\n")
    with pytest.raises(DataError, match="not among") as error:
        read(tmp_path / "m")
    assert error.value.line == 5 + len(words) + 70_000 + 2


@given(st.data())
def test_what_is_written_is_read(tmp_path_factory, data):
    names = data.draw(st.lists(st.text("aé|1", min_size=1, max_size=3), unique=True, max_size=5))
    vocabulary = Vocabulary.from_words(["<s>", "</s>", *names])
    logs = st.tuples(st.floats(-99, 0), st.floats(-9, 9))
    blocks, counts = [], []
    for order in (1, 2, 3):
        ids = [(k,) for k in range(len(vocabulary))]
        if order > 1:
            grams = st.tuples(*[st.integers(0, len(vocabulary) - 1)] * order)
            ids = data.draw(st.lists(grams, unique=True, max_size=5))
        weights = [data.draw(logs) for _ in ids]
        weights = [(p, b if order < 3 else 0.0) for p, b in weights]
        counts.append(len(ids))
        blocks.append((np.array(ids, np.int32).reshape(-1, order), np.array(weights, np.float32).reshape(-1, 2)))
    path = str(tmp_path_factory.mktemp("arpa") / "m.gz")
    write_arpa(path, vocabulary, counts, blocks)
    reader, parts = read(path)
    assert reader.counts == counts
    assert reader.vocabulary.words() == vocabulary.words()
    for ids, weights in blocks:
        found = [row for row in parts if row[0] and len(row[0][0]) == ids.shape[1]]
        if len(ids):
            assert found[0][0] == ids.tolist()
            assert np.array(found[0][1]) == pytest.approx(weights, abs=2e-7, rel=1e-6)
