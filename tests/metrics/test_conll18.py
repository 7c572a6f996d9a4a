"""The measures of CoNLL 2018, against the task's own program."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.annotation.conll import parse_conll
from aligntools.ground.errors import DataError
from aligntools.metrics.conll18 import MEASURES, align_words, conll18
from tests.places import REALDATA

TREEBANK = REALDATA / "treebanks" / "ud" / "fr_partut-test.conllu.gz"

LABELS = ["nsubj", "nsubj:pass", "det", "case", "aux", "aux:pass", "obj", "punct", "root", "cc", "conj"]
FEATS = ["_", "Case=Nom", "Case=Nom|Number=Sing", "Number=Sing|Case=Nom", "Odd=Yes", "Case=Acc|Odd=Yes"]


def official(gold, other, names=MEASURES):
    """Return what the official program counts: gold, predicted and right words by measure."""
    program = pytest.importorskip("udtools.udeval")
    texts = [program.load_conllu(io.StringIO(data.decode()), "", {}) for data in (gold, other)]
    found = program.evaluate(*texts)
    return {name: (found[name].gold_total, found[name].system_total, found[name].correct) for name in names}


def ours(gold, other):
    texts = [parse_conll("x", data.splitlines(keepends=True)) for data in (gold, other)]
    return {name: (one.gold, one.predicted, one.right) for name, one in conll18(*texts).items()}


def aligned(gold, other):
    """Return ours of words aligned by characters, and the aligned accuracy."""
    texts = [parse_conll("x", data.splitlines(keepends=True)) for data in (gold, other)]
    found = conll18(*texts, align_words(*texts, "gold", "other"))
    return {name: (one.gold, one.predicted, one.right) for name, one in found.items()}


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


@given(trees())
def test_the_counts_are_the_official_ones(texts):
    assert ours(*texts) == official(*texts)


def test_function_words_and_other_characters():
    """By hand: the verb's auxiliary has another tag, so that MLAS counts the verb as wrong and CLAS does not."""
    row = "{}\tw\t_\t{}\t_\t_\t{}\t{}\t_\t_\n"
    gold = row.format(1, "AUX", 2, "aux") + row.format(2, "VERB", 0, "root") + "\n"
    found = ours(gold.encode(), gold.replace("AUX", "VERB").encode())
    assert found["CLAS"] == found["BLEX"] == (1, 1, 1)
    assert found["MLAS"] == (1, 1, 0)
    assert found["UPOS"] == (2, 2, 1)
    rows = [f"{k}\t{w}\t_\tX\t_\t_\t0\troot\t_\t_\n\n".encode() for k, w in ((1, "ab"), (1, "cd"), (1, "x"))]
    with pytest.raises(DataError, match=r"^other:3: the text goes on with 'x' where the gold at gold:3 has 'd'"):
        aligned(rows[0] + rows[1], rows[0] + rows[1].replace(b"cd", b"cx"))
    with pytest.raises(DataError, match=r"^other:1: the text goes on with the text's end where the gold at gold:3 has"):
        aligned(rows[0] + rows[1], rows[0])


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


@st.composite
def segmentations(draw):
    """Return two segmentations of the same characters into sentences, tokens and words of multiword tokens."""
    text = draw(st.text("abA\u00e9", min_size=1, max_size=14))
    return [draw(segmentation(text)) for _ in range(2)]


@st.composite
def segmentation(draw, text):
    """Return a text as CoNLL-U, with a tree of one root over each of its sentences."""
    out, rest = [], text
    while rest:
        rows, tokens = [], draw(st.integers(1, 4))
        while rest and len(rows) < 12 and tokens:
            size = draw(st.integers(1, min(4, len(rest))))
            token, rest, tokens = rest[:size], rest[size:], tokens - 1
            if draw(st.booleans()):
                forms = draw(st.lists(st.text("abA", min_size=1, max_size=2), min_size=1, max_size=3))
                rows.append((token, forms if len(forms) > 1 else [token]))
            else:
                rows.append((token[0] + "\u00a0" + token[1:] if draw(st.booleans()) and size > 1 else token, [token]))
        length = sum(len(forms) for _, forms in rows)
        order = draw(st.permutations(range(1, length + 1)))
        heads = dict.fromkeys(order, 0)
        for k in range(1, length):
            heads[order[k]] = order[draw(st.integers(0, k - 1))]
        number, lines = 1, []
        for token, forms in rows:
            if len(forms) > 1:
                lines.append(f"{number}-{number + len(forms) - 1}\t{token}" + "\t_" * 8)
            for form in forms:
                shown = form if len(forms) > 1 else token
                rest_of = (draw(st.sampled_from(["_", "a"])), draw(st.sampled_from(["NOUN", "VERB"])), "_",
                           draw(st.sampled_from(FEATS)), heads[number], draw(st.sampled_from(LABELS)))  # fmt: skip
                lines.append("\t".join(map(str, (number, shown, *rest_of, "_", "_"))))
                number += 1
        out.append("\n".join(lines) + "\n\n")
    return "".join(out).encode()


@given(segmentations())
def test_the_counts_of_other_segmentations_are_the_official_ones(texts):
    assert aligned(*texts) == official(*texts, ("Tokens", "Sentences", "Words", *MEASURES))
