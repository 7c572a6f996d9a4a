"""Training from a treebank: what is trained on, and what comes out."""

import numpy as np
import pytest

from aligntools.formats.annotation.conll import read_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.ground.parallel import Pool
from aligntools.metrics import attachment
from aligntools.parsing.learning import treebank
from aligntools.parsing.settings import ParserSettings, TreeConstraints
from tests.parsing.test_parser import TEXT, split
from tests.places import REALDATA

TREEBANKS = REALDATA / "treebanks"


#: Trees that the model cannot have are left out.
SKIPPING = {"crossing": "skip", "roots": "skip"}


def test_a_parser_from_a_treebank():
    words, tags, offsets, heads, labels = split(TEXT * 2)
    seen = []
    parser, report = treebank.train(
        words,
        tags,
        offsets,
        heads,
        labels,
        ParserSettings(bits=12, l2=0.05),
        progress=lambda n, v, w: seen.append((n, v)),
    )
    assert [report[name] for name in ("sentences", "words", "skipped", "first_skipped")] == [10, len(words), {}, None]
    sentences = parser.sentences(words, tags, offsets)
    found = parser.parse(sentences).heads
    assert found.tolist() == heads.tolist()
    assert parser.labeler.label(sentences, found) == labels
    assert (len(seen), seen[-1][1]) == (report["steps"], report["objective"])
    assert parser.settings["l2"] == 0.05
    assert parser.constraints == TreeConstraints()


def test_what_cannot_be_trained_on_is_left_out_and_counted():
    words, tags, offsets, heads, _ = split([*TEXT, TEXT[0], TEXT[1], TEXT[3], TEXT[0]])
    heads[offsets[5] : offsets[5] + 3] = [2, 1, 0]
    heads[offsets[6] : offsets[6] + 5] = [0, 0, 2, 2, 2]
    heads[offsets[7]] = -1
    settings = ParserSettings(bits=10, iterations=3, min_length=3, max_length=5, **SKIPPING)
    parser, report = treebank.train(words, tags, offsets, heads, None, settings)
    assert report["skipped"] == {"a cycle": 1, "several roots": 1, "a word without a head": 1, "too short": 1}
    assert report["sentences"] == 5
    assert report["first_skipped"] == 5
    assert parser.labeler is None
    settings = ParserSettings(bits=10, iterations=1, crossing="skip")
    _, joined = treebank.train(words, tags, offsets, heads, None, settings)
    assert joined["changed"] == {"several roots": 1}
    assert joined["sentences"] == 7
    with pytest.raises(ValueError, match="no sentence"):
        treebank.train(words, tags, offsets, heads, None, ParserSettings(min_length=99))


@pytest.mark.parametrize("projective", [True, False])
def test_threads_change_no_byte(projective, tmp_path):
    words, tags, offsets, heads, labels = split(TEXT * 30)
    settings = ParserSettings(bits=10, iterations=8, projective=projective)
    for threads in (1, 3):
        with Pool(threads) as pool:
            parser, _ = treebank.train(words, tags, offsets, heads, labels, settings, pool)
        parser.save(str(tmp_path / str(threads)))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "3").read_bytes()


@pytest.mark.slow
def test_real_text():
    """Half of the English Google treebank, 30 iterations: above 84 on the test text."""
    paths = [TREEBANKS / "google" / f"en-{part}.conll.gz" for part in ("train", "test")]
    if not all(p.is_file() for p in paths):
        pytest.skip("no treebank")
    train, test = (read_conll(str(p)) for p in paths)
    train = train.part(0, 1600)
    with Pool(2) as pool:
        parser, _ = treebank.train(
            train.words, train.column(COLUMNS["upos"]), train.offsets, train.heads(), train.column(COLUMNS["deprel"]),
            ParserSettings(iterations=30, roots="join", crossing="lift"), pool,
        )  # fmt: skip
        sentences = parser.sentences(test.words, test.column(COLUMNS["upos"]), test.offsets)
        found = parser.parse(sentences, pool)
    labels = attachment.labels_equal(test.column(COLUMNS["deprel"]), parser.labeler.label(sentences, found.heads))
    counts = attachment.count(test.heads(), found.heads, test.offsets, np.ones(len(test.words), bool), labels)
    uas, las, *_ = attachment.figures(counts.sum(axis=0))
    assert uas > 0.84
    assert las > 0.79
