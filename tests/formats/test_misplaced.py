"""CoNLL where plain text is expected, and CoNLL with spaces where tabs belong: refused, not read as sentences."""

import pytest

from aligntools.formats.bitext import read_bitext, read_side
from aligntools.formats.numbered_text import LineSource
from aligntools.formats.tagged import stream_sentences, stream_tags, stream_text
from aligntools.ground.errors import DataError

CONLL = "# sent_id = 1\n# text = a b\n" + "".join(
    f"{k}\t{w}\t_\tX\t_\t_\t{k - 1}\tx\t_\t_\n" for k, w in ((1, "a"), (2, "b"))
)
PLAIN = "# 1 is a sentence\n1 too\n2 also a b c d e f g h\n"


@pytest.fixture
def conll(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(CONLL)
    return path


READERS = {
    "two files": lambda path: read_bitext(path, path),
    "a side": read_side,
    "a stream": lambda path: list(stream_text(path)),
    "numbers": lambda path: list(LineSource(str(path)).blocks(1 << 20)),
}


@pytest.mark.parametrize("read", READERS.values(), ids=list(READERS))
@pytest.mark.parametrize(
    "text", [CONLL, CONLL.replace("\t", " "), "\ufeff" + CONLL, "\n" + CONLL.replace("\n", "\r\n")]
)
def test_conll_is_no_plain_text(conll, read, text):
    conll.write_text(text, newline="")
    with pytest.raises(
        DataError, match=rf"x\.conllu:{text[:5].count(chr(10)) + 3}: CoNLL, where plain text is expected"
    ):
        read(conll)


@pytest.mark.parametrize("read", [stream_sentences, stream_tags])
def test_spaces_are_no_tabs(conll, read):
    conll.write_text(CONLL.replace("\t", " "))
    with pytest.raises(
        DataError, match=r"x\.conllu:3: no tab; CoNLL has 10 columns with tabs between them, not spaces"
    ):
        list(read(conll))


def test_plain_text_may_look_a_little_like_it(tmp_path):
    for name in "st":
        (tmp_path / name).write_text(PLAIN)
    assert len(read_bitext(tmp_path / "s", tmp_path / "t")) == 3
    assert [len(part) for part in stream_text(tmp_path / "s")] == [3]
