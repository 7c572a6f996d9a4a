"""EWT in the scheme of Google's treebanks: the steps of the conversion, sentence by sentence."""

import gzip

import numpy as np
import pytest

from bench import english
from tests.places import REALDATA

TREEBANKS = REALDATA / "treebanks"


def rows(text):
    """Read words as ``form UPOS XPOS head relation``, with ; between them."""
    fields = [word.split() for word in text.split(";")]
    return [[str(k), w, "_", u, x, "_", h, r, "_", "_"] for k, (w, u, x, h, r) in enumerate(fields, 1)]


CASES = {
    "a preposition governs its noun": (
        "He PRON PRP 2 nsubj; sat VERB VBD 0 root; in ADP IN 5 case; the DET DT 5 det; house NOUN NN 2 obl",
        "PRON VERB ADP DET NOUN", [2, 0, 2, 5, 3], "nsubj root adpmod det adpobj",
    ),
    "prepositions make a chain": (
        "came VERB VBD 0 root; out ADP IN 4 case; of ADP IN 4 case; town NOUN NN 1 obl",
        "VERB ADP ADP NOUN", [0, 1, 2, 3], "root adpmod adpcomp adpobj",
    ),
    "a possessive mark governs nothing": (
        "Ann PROPN NNP 3 nmod:poss; 's PART POS 1 case; hat NOUN NN 0 root",
        "NOUN PRT NOUN", [3, 1, 0], "nmod:poss case root",
    ),
    "a copula governs, and takes what belongs to the clause": (
        "It PRON PRP 5 nsubj; is AUX VBZ 5 cop; not PART RB 5 advmod; a DET DT 5 det; dog NOUN NN 0 root; . "
        "PUNCT . 5 punct",
        "PRON VERB ADV DET NOUN .", [2, 0, 2, 5, 2, 2], "nsubj root advmod det attr punct",
    ),
    "coordinators hang on the first conjunct": (
        "cats NOUN NNS 0 root; and CCONJ CC 3 cc; dogs NOUN NNS 1 conj",
        "NOUN CONJ NOUN", [0, 1, 1], "root cc conj",
    ),
    "names and fixed expressions hang on their last word": (
        "New PROPN NNP 3 nsubj; York PROPN NNP 1 flat; fell VERB VBD 0 root; because ADP IN 6 case; of ADP IN "
        "4 fixed; it PRON PRP 3 obl",
        "NOUN NOUN VERB ADP ADP PRON", [2, 3, 0, 5, 3, 5], "compound nsubj root mwe adpmod adpobj",
    ),
    "complementizers and relative pronouns have the tags of other languages": (
        "dogs NOUN NNS 0 root; that PRON WDT 3 nsubj; know VERB VBP 1 acl:relcl; that SCONJ IN 6 mark; this "
        "PRON DT 6 nsubj; ends VERB VBZ 3 ccomp",
        "NOUN PRON VERB CONJ PRON VERB", [0, 3, 1, 6, 6, 3], "root nsubj acl:relcl mark nsubj ccomp",
    ),
    "a subordinator is a preposition before a gerund": (
        "left VERB VBD 0 root; after SCONJ IN 3 mark; eating VERB VBG 1 advcl",
        "VERB ADP VERB", [0, 1, 2], "root adpmod adpobj",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_converting(name):
    text, tags, heads, relations = CASES[name]
    found = english.convert(rows(text))
    assert [tag.decode() for tag in found[0]] == tags.split()
    assert found[1] == heads
    assert found[2] == relations.split()


def test_google_trees_keep_heads_and_have_tags_of_the_other_treebanks(tmp_path):
    text = "that ADP IN 3 mark; those DET DT 3 nsubj; won VERB VBD 0 ROOT; the DET DT 5 det; cup NOUN NN 3 dobj"
    path = tmp_path / "bank.gz"
    lines = ["\t".join(row) for row in rows(text)]
    lines[4] = lines[4].replace("cup", "big cup")
    path.write_bytes(gzip.compress("\n".join(["# comment", *lines]).encode()))  # no newline at the end
    ((words, tags, heads),) = english.google(path)
    assert words == ["that", "those", "won", "the", "big\u00a0cup"]
    assert tags == [b"CONJ", b"PRON", b"VERB", b"DET", b"NOUN"]
    assert heads == [3, 3, 0, 5, 3]
    english.write(tmp_path / "bank", tmp_path / "text", [(words, tags, heads)])
    assert (tmp_path / "text").read_text() == "that_CONJ those_PRON won_VERB the_DET big\u00a0cup_NOUN\n"
    last = (tmp_path / "bank").read_text().splitlines()[4].split("\t")
    assert (last[1], last[3], last[6]) == ("big\u00a0cup", "NOUN", "3")


@pytest.mark.slow
@pytest.mark.skipif(not TREEBANKS.exists(), reason="needs the treebanks")
def test_every_tree_of_ewt_stays_a_tree():
    for k, sentence in enumerate(english._sentences(TREEBANKS / "ud" / "en_ewt-dev.conllu.gz")):
        tags, heads, relations = english.convert(sentence)
        assert len(tags) == len(heads) == len(relations) == len(sentence)
        depth, above = 0, np.array([0, *heads])
        assert heads.count(0) == 1, f"sentence {k + 1}"
        at = np.arange(len(above))
        while np.any(at) and depth <= len(heads):
            at, depth = above[at], depth + 1
        assert not np.any(at), f"a cycle in sentence {k + 1}"
