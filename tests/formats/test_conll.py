import gzip
import os
import subprocess
import sys
from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.annotation.conll import format_conll, parse_conll, parse_parts, read_conll, stream_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.ground.errors import AligntoolsError, DataError
from tests.places import REALDATA, ROOT

FOLDER = ROOT / "tests" / "data" / "conll"
VALID = sorted(p.name for p in FOLDER.iterdir() if not p.name.startswith("bad-"))
UPOS, HEAD, MISC = COLUMNS["upos"], COLUMNS["head"], COLUMNS["misc"]
TREEBANKS = REALDATA / "treebanks"


def joined(parts):
    return list(chain.from_iterable(parts))


def lines_of(raw):
    return raw.splitlines(keepends=True)


@pytest.mark.parametrize("name", VALID)
def test_what_is_read_comes_out_as_it_was(name):
    raw = (FOLDER / name).read_bytes().removeprefix(b"\xef\xbb\xbf")
    conll = read_conll(FOLDER / name)
    assert conll.format() == raw
    assert conll.format(replacing={UPOS: conll.column(UPOS), MISC: conll.column(MISC)}) == raw
    for sentences in (1, 2, 100):
        parts = list(stream_conll(FOLDER / name, sentences))
        assert b"".join(part.format() for part in parts) == raw
        assert max(map(len, parts)) <= sentences
        assert joined(part.words for part in parts) == conll.words
        firsts = np.cumsum([0] + [len(part.lines) for part in parts[:-1]]) + 1
        assert [part.first_line for part in parts] == firsts.tolist()


#: Words of each sentence, and the line of its first.
SENTENCES = {
    "conll-x.conll": [("Dogs bark .", 1), ("Stop !", 5)],
    "ranges-empty-nodes-comments.conllu": [("We do n't bark .", 4), ("Dogs bark , cats too", 14)],
    "carriage-returns.conllu": [("We do n't bark .", 4), ("Dogs bark , cats too", 14)],
    "no-last-blank-line.conllu": [("Dogs bark .", 1), ("Stop !", 5)],
    "no-last-newline.conllu": [("Dogs bark .", 1), ("Stop !", 5)],
    "double-blank-lines.conllu": [("Dogs bark .", 3), ("Stop !", 9)],
    "byte-order-mark.conllu": [("Dogs bark .", 1)],
    "header-comments.conllu": [("Dogs bark .", 4), ("Stop !", 10)],
    "sentence-of-no-words.conllu": [("", 1), ("Dogs bark .", 4)],
    "heads-not-given.conll": [("Dogs bark", 1)],
}


@pytest.mark.parametrize("name", VALID)
def test_sentences(name):
    conll = read_conll(FOLDER / name)
    found = [b" ".join(conll.words[a:b]).decode() for a, b in pairwise(conll.offsets)]
    assert list(zip(found, conll.sentence_lines().tolist(), strict=True)) == SENTENCES[name]
    assert conll.column(0) == [b"%d" % (k + 1) for n in np.diff(conll.offsets) for k in range(n)]


def test_parts_and_heads():
    raw = b"".join((FOLDER / name).read_bytes() + b"\n" for name in ("double-blank-lines.conllu", "conll-x.conll"))
    conll = parse_conll("x", lines_of(raw))
    assert len(conll) == 4
    middle = conll.part(1, 3)
    assert middle.words == b"Stop ! Dogs bark .".split()
    assert middle.offsets.tolist() == [0, 2, 5]
    assert middle.sentence_lines().tolist() == conll.sentence_lines()[1:3].tolist()
    assert b"".join(conll.part(k, k + 1).format() for k in range(4)) == raw
    assert middle.heads().tolist() == [0, 1, 2, 0, 2]
    assert read_conll(FOLDER / "ranges-empty-nodes-comments.conllu").heads().tolist() == [4, 4, 4, 0, 4, 2, 0, 4, 2, 4]
    heads = read_conll(FOLDER / "heads-not-given.conll").heads()
    assert (heads.tolist(), heads.dtype) == ([-1, 0], np.int32)
    for head in (b"99999999999", b"9" * 5000):
        conll = parse_conll("x", [b"1\ta" + b"\t_" * 4 + b"\t" + head + b"\t_\t_\t_\n"])
        with pytest.raises(DataError, match=r"x:1: head 99999999999.* is past the sentence's last word, 1"):
            conll.heads()


def split(raw):
    """Cut text after its line feeds."""
    lines = [line + b"\n" for line in raw.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def test_columns_and_carriage_returns():
    conll = read_conll(FOLDER / "carriage-returns.conllu")
    tags = [b"T%d" % k for k in range(len(conll.words))]
    changed = parse_conll("x", split(conll.format(replacing={UPOS: tags, MISC: tags})))
    assert (changed.column(UPOS), changed.column(MISC)) == (tags, tags)
    pairs = zip(conll.lines, changed.lines, strict=True)
    differ = [k for k, (old, new) in enumerate(pairs) if old != new]
    assert differ == conll.places.tolist()
    assert changed.lines[differ[0]] == b"1\tWe\t_\tT0\tPRP\t_\t4\tnsubj\t_\tT0\r\n"
    assert conll.column(UPOS)[0] == b"PRON"  # the first is as it was
    text = format_conll([b"a\rb", b"c\r"], [0, 2], {UPOS: [b"N\rV", b"N"]})
    read = parse_conll("x", split(text))
    assert (read.words, read.column(UPOS)) == ([b"a\rb", b"c\r"], [b"N\rV", b"N"])
    with pytest.raises(AligntoolsError, match="cannot stand"):
        format_conll([b"a"], [0, 1], {MISC: [b"x\r"]})


@pytest.mark.parametrize("values", [[b"N"], [b"N"] * 9 + [b""], [b"N"] * 9 + [b"a\tb"], [b"N"] * 9 + [b"a\n"]])
def test_values_that_cannot_stand_in_a_column(values):
    conll = read_conll(FOLDER / "carriage-returns.conllu")
    assert len(conll.words) == 10
    with pytest.raises((ValueError, AligntoolsError), match=r"values for|cannot stand"):
        conll.format(replacing={UPOS: values})
    with pytest.raises((ValueError, AligntoolsError), match=r"values for|cannot stand"):
        format_conll(conll.words, conll.offsets, {UPOS: values})


@pytest.mark.parametrize(
    ("name", "line", "fragments"),
    [
        ("nine-columns", 2, ["9 columns", "have 10"]),
        ("eleven-columns", 3, ["11 columns", "have 10"]),
        ("range-columns", 1, ["3 columns"]),
        ("spaces-for-tabs", 1, ["no tab", "not spaces"]),
        ("word-alone", 1, ["'Dogs' alone on a line"]),
        ("id-skipped", 2, ["id 3 where 2 comes next"]),
        ("id-repeated", 3, ["id 2 where 3 comes next"]),
        ("no-blank-line-between", 4, ["id 1 where 4 comes next", "a blank line ends the sentence"]),
        ("first-id-zero", 1, ["id 0 where 1 comes next"]),
        ("id-a-word", 2, ["id 'Dogs' is not a number"]),
    ],
)
def test_what_is_wrong_is_said_with_its_line(name, line, fragments):
    path = FOLDER / f"bad-{name}.conllu"
    for read in (read_conll, lambda path: list(stream_conll(path, 1))):
        with pytest.raises(DataError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}:{line}: ")
        assert all(fragment in str(caught.value) for fragment in fragments)


@pytest.mark.parametrize(
    ("name", "line", "fragment"),
    [
        ("head-a-word", 2, "head 'root' is not a number"),
        ("head-negative", 1, "head '-1' is not a number"),
        ("head-past-end", 6, "head 3 is past the sentence's last word, 2"),
        ("head-itself", 2, "head 2 is the word itself"),
    ],
)
def test_wrong_heads_are_said_with_their_line_and_only_when_asked_for(name, line, fragment):
    path = FOLDER / f"bad-{name}.conllu"
    for conll in (read_conll(path), [part for part in stream_conll(path, 1) if len(part)][-1]):
        with pytest.raises(DataError) as caught:
            conll.heads()
        assert str(caught.value).startswith(f"{path}:{line}: {fragment}")


@pytest.mark.parametrize("raw", [b"", b"\n", b"\n\r\n \n", b"# only a comment\n", b"# x"])
def test_files_without_sentences(raw):
    conll = parse_conll("x", lines_of(raw))
    assert (len(conll), conll.words, conll.heads().tolist(), conll.offsets.tolist()) == (0, [], [], [0])
    assert conll.format() == raw
    assert b"".join(part.format() for part in parse_parts("x", lines_of(raw), 1)) == raw


def test_a_part_is_there_as_soon_as_its_sentence_is():
    read, write = os.pipe()
    code = "import sys; from aligntools.formats.annotation.conll import stream_conll\n"
    code += "for part in stream_conll('-', 1): print(len(part), part.words, flush=True)"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", code], stdin=read, stdout=subprocess.PIPE, env=environment) as process:
        os.close(read)
        os.write(write, (FOLDER / "conll-x.conll").read_bytes())
        assert process.stdout.readline() == b"1 [b'Dogs', b'bark', b'.']\n"
        assert process.stdout.readline() == b"1 [b'Stop', b'!']\n"
        os.close(write)
        assert process.stdout.read() == b""


VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r"), min_size=1, max_size=4).map(str.encode)
ENDS = st.sampled_from([b"\n", b"\r\n"])


@st.composite
def texts(draw):
    """Make CoNLL-U together with its words by sentence; the pieces are joined in no other way than the format says."""
    lines, sentences = [], []
    end = draw(ENDS)
    for _ in range(draw(st.integers(0, 4))):
        words = []
        lines += draw(st.lists(st.sampled_from([b"# x", b"#", b"# text = a\tb"]), max_size=2))
        length, reached = draw(st.integers(1, 4)), 0
        for k in range(1, length + 1):
            possible = [None, b"%d.1" % (k - 1), *([b"%d-%d" % (k, k + 1)] if reached < k < length else [])]
            if extra := draw(st.sampled_from(possible)):
                reached = k + 1 if b"-" in extra else reached
                lines.append(b"\t".join([extra, *draw(st.tuples(*[VALUES] * 9))]))
            fields = draw(st.tuples(*[VALUES] * 9))
            words.append(fields)
            lines.append(b"\t".join([b"%d" % k, *fields]))
        sentences.append(words)
        lines += [b""] * draw(st.integers(1, 3))
    raw = b"".join(line + end for line in lines)
    if draw(st.booleans()):
        raw = raw[: len(raw.rstrip(b"\r\n")) + len(end) * draw(st.booleans())]
    return raw, sentences


@given(texts(), st.integers(1, 3))
def test_any_text_round_trips(text, size):
    raw, sentences = text
    lines = split(raw)
    conll = parse_conll("x", lines)
    assert conll.format() == raw
    assert np.diff(conll.offsets).tolist() == list(map(len, sentences))
    rows = [fields for words in sentences for fields in words]
    for n in range(1, 10):
        assert conll.column(n) == [fields[n - 1] for fields in rows]
    tags = [b"T%d" % k for k in range(len(rows))]
    parts = list(parse_parts("x", lines, size))
    cut, k = b"", 0
    for part in parts:
        cut += part.format(replacing={UPOS: tags[k : k + len(part.places)]})
        k += len(part.places)
    assert cut == conll.format(replacing={UPOS: tags})
    again = parse_conll("x", split(cut))
    assert again.format(replacing={UPOS: conll.column(UPOS)}) == raw


@pytest.mark.parametrize("name", [n for n in VALID if n.endswith("u")] + ["en.conllu"])
def test_another_reader_agrees(name):
    conllu = pytest.importorskip("conllu")
    path = FOLDER / name if (FOLDER / name).exists() else ROOT / "data" / "samples" / name
    raw = path.read_text(encoding="utf-8-sig")
    theirs = [s.filter(id=lambda i: type(i) is int) for s in conllu.parse(raw.replace("\r\n", "\n").strip("\n"))]
    theirs = [s for s in theirs if len(s)]
    ours = read_conll(path)
    assert ours.words == [t["form"].encode() for s in theirs for t in s]
    assert ours.heads().tolist() == [t["head"] for s in theirs for t in s]
    assert np.diff(ours.offsets)[np.diff(ours.offsets) > 0].tolist() == list(map(len, theirs))


@pytest.mark.slow
@pytest.mark.skipif(not TREEBANKS.is_dir(), reason="no treebanks here")
def test_treebanks_round_trip():
    paths = sorted(TREEBANKS.glob("*/*.gz"))
    assert paths
    for path in paths:
        if path.name == "it-dev.conll.gz":  # its first id is 'o1'
            with pytest.raises(DataError, match=":1: id 'o1' is not a number"):
                read_conll(path)
            continue
        raw = gzip.decompress(path.read_bytes())
        conll = read_conll(path)
        conll.heads()
        assert conll.format(replacing={n: conll.column(n) for n in range(1, 10)}) == raw
        assert b"".join(part.format() for part in stream_conll(path, 100)) == raw
        assert len(conll) == raw.strip(b"\n").count(b"\n\n") + 1
