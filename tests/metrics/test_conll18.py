"""The measures of CoNLL 2018, against the task's own program."""

import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.formats.conll import parse_conll
from aligntools.metrics.conll18 import MEASURES, conll18
from tests.places import REALDATA

TREEBANK = REALDATA / "treebanks" / "ud" / "fr_partut-test.conllu.gz"

LABELS = ["nsubj", "nsubj:pass", "det", "case", "aux", "aux:pass", "obj", "punct", "root", "cc", "conj"]
FEATS = ["_", "Case=Nom", "Case=Nom|Number=Sing", "Number=Sing|Case=Nom", "Odd=Yes", "Case=Acc|Odd=Yes"]


def official(gold, other):
    """Return what the official program counts: gold, predicted and right words by measure."""
    program = pytest.importorskip("udtools.udeval")
    texts = [program.load_conllu(io.StringIO(data.decode()), "", {}) for data in (gold, other)]
    found = program.evaluate(*texts)
    return {name: (found[name].gold_total, found[name].system_total, found[name].correct) for name in MEASURES}


def ours(gold, other):
    texts = [parse_conll("x", data.splitlines(keepends=True)) for data in (gold, other)]
    return {name: (one.gold, one.predicted, one.right) for name, one in conll18(*texts).items()}


@st.composite
def trees(draw):
    """Return two texts of the same words, as rows of columns: trees with one root each."""
    sentences = []
    for length in draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)):
        sides = []
        for _ in range(2):
            order = draw(st.permutations(range(1, length + 1)))
            heads = dict.fromkeys(order, 0)
            for k in range(1, length):
                heads[order[k]] = order[draw(st.integers(0, k - 1))]
            sides.append([
                (draw(st.sampled_from(["_", "a", "b"])), draw(st.sampled_from(["NOUN", "VERB"])),
                 draw(st.sampled_from(["x", "_"])), draw(st.sampled_from(FEATS)), heads[k],
                 draw(st.sampled_from(LABELS)))
                for k in range(1, length + 1)
            ])  # fmt: skip
        sentences.append(sides)
    return [b"".join(_conll(sides[which]) for sides in sentences) for which in (0, 1)]


def _conll(rows):
    lines = ["\t".join(map(str, (k, f"w{k}", *row, "_", "_"))) for k, row in enumerate(rows, 1)]
    return ("\n".join(lines) + "\n\n").encode()


@settings(deadline=None, max_examples=100)
@given(trees())
def test_the_counts_are_the_official_ones(texts):
    assert ours(*texts) == official(*texts)


def test_function_words_spoil_mlas():
    """By hand: the verb's auxiliary has another tag, so that MLAS counts the verb as wrong and CLAS does not."""
    row = "{}\tw\t_\t{}\t_\t_\t{}\t{}\t_\t_\n"
    gold = row.format(1, "AUX", 2, "aux") + row.format(2, "VERB", 0, "root") + "\n"
    found = ours(gold.encode(), gold.replace("AUX", "VERB").encode())
    assert found["CLAS"] == found["BLEX"] == (1, 1, 1)
    assert found["MLAS"] == (1, 1, 0)
    assert found["UPOS"] == (2, 2, 1)


@pytest.mark.skipif(not TREEBANK.is_file(), reason="no treebanks here")
def test_a_treebank_beside_a_worse_one():
    """Every third label, fifth tag and seventh set of features is another word's, every eleventh lemma is gone."""
    gold = gzip.decompress(TREEBANK.read_bytes())
    rows = [line.split(b"\t") for line in gold.splitlines()]
    words = [k for k, row in enumerate(rows) if row[0].isdigit()]
    for n, k in enumerate(words):
        for step, column in ((3, 7), (5, 3), (7, 5)):
            if n % step == 0 and rows[k][6] != b"0":
                rows[k][column] = rows[words[n - 9]][column]
        if n % 11 == 0:
            rows[k][2] = b"_"
    other = b"\n".join(b"\t".join(row) for row in rows) + b"\n"
    found = ours(gold, other)
    assert found == official(gold, other)
    assert 0 < found["MLAS"][2] < found["CLAS"][2] < found["LAS"][2]
