"""Scores from Python: the same as the commands', from files and from every kind of object."""

import json
import logging
import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.annotation.conll import read_conll
from aligntools.formats.annotation.tagged_text import read_tags
from aligntools.formats.links.goldlinks import read_gold
from aligntools.formats.links.pharaoh import read_pharaoh
from tests.cli.running import ran
from tests.places import ROOT, SAMPLES

GOLD = ["0-0 1-1 2-2 1?2 2?1", "0-0"]
HYPOTHESIS = [[(0, 0), (1, 2), (2, 2), (3, 3)], [(0, 0)]]  # A 5, S 4, A∩S 3, A∩P 4


@pytest.mark.parametrize("gold", [
    GOLD,
    [([(0, 0), (1, 1), (2, 2)], [(1, 2), (2, 1)]), ([(0, 0)], [])],
    [({(0, 0), (1, 1), (2, 2)}, {(1, 2), (2, 1)}), [(0, 0)]],
])  # fmt: skip
def test_gold_in_every_form(gold):
    score = at.aer(gold, HYPOTHESIS)
    assert score.aer == pytest.approx(2 / 9)
    assert (score.links, score.sure, score.possible, score.links_in_sure, score.links_in_possible) == (5, 4, 6, 3, 4)
    assert score.value == score.aer
    assert str(score) == "AER% 22.22, precision 80.00, recall 75.00, F1 77.42, links 5, A∩S 3, A∩P 4"


@pytest.mark.parametrize("hypothesis", [
    ["0-0 1-2 2-2 3-3\n", "0-0"],
    [{(0, 0), (1, 2), (2, 2), (3, 3)}, [(0, 0), (0, 0)]],
    [np.array(HYPOTHESIS[0]), np.array(HYPOTHESIS[1], np.int32)],
    [SimpleNamespace(pairs=np.array(HYPOTHESIS[0], np.int32)), SimpleNamespace(links=HYPOTHESIS[1])],
    (links for links in HYPOTHESIS),
])  # fmt: skip
def test_hypotheses_in_every_form(hypothesis):
    assert at.aer(GOLD, hypothesis).aer == pytest.approx(2 / 9)


def test_links_in_other_forms(tmp_path):
    (tmp_path / "links").write_text("\n".join(" ".join(f"{i}-{j}" for i, j in s) for s in HYPOTHESIS) + "\n")
    (tmp_path / "gold").write_text("\n".join(GOLD) + "\n")
    paths = tmp_path / "gold", tmp_path / "links"
    read = read_gold(paths[0]), read_pharaoh(paths[1])
    assert {at.aer(*x).aer for x in (paths, map(str, paths), read)} == {at.aer(GOLD, HYPOTHESIS).aer}
    assert str(at.aer(*paths).signature) == str(at.aer(*read).signature)
    assert at.aer(*paths).signature.settings["gold"] == "pharaoh"
    assert at.aer([([(0, 0)], [])], [[(0, 0)]]).signature.settings["gold"] == "links"
    assert at.aer(["", "0-0"], [[], [(0, 0)]]).aer == 0
    assert at.aer([([], []), []], [[], []]).aer == 0
    assert at.aer(GOLD, ["", ""]).aer == 1
    assert at.aer([], []).aer == 0


def test_options_of_aer(tmp_path):
    one_based = ["1-1 2-2 3-3 2?3 3?2", "1-1"]
    assert at.aer(one_based, HYPOTHESIS, gold_base=1).aer == pytest.approx(2 / 9)
    assert at.aer(one_based, ["1-1 2-3 3-3 4-4", "1-1"], index_base=1).aer == pytest.approx(2 / 9)
    inverted = [[(j, i) for i, j in links] for links in HYPOTHESIS]
    assert at.aer(GOLD, inverted, reverse=True).aer == pytest.approx(2 / 9)
    assert at.aer(GOLD, HYPOTHESIS, all_sure=True).aer == pytest.approx(1 - 8 / 11)
    assert at.aer(GOLD, HYPOTHESIS, ignore_possible=True).aer == pytest.approx(1 - 6 / 9)
    assert at.aer(GOLD, [*HYPOTHESIS, []], head=True).aer == pytest.approx(2 / 9)
    naacl = ["8 1 1", "9 1 1"]
    assert at.aer(naacl, ["", "0-0", "0-0"], first_sentence=7).recall == 1
    text = ["a b c d", "e"]
    assert at.aer(GOLD, HYPOTHESIS, source=text, target=[line.split() for line in text]).links == 5
    with pytest.raises(at.DataError, match="hypotheses:1: link 3-3 points past the target sentence, which has 3"):
        at.aer(GOLD, HYPOTHESIS, source=text, target=["a b c", "d"])
    with pytest.raises(at.DataError, match="gold:1: link 2-1 points past the source sentence, which has 2"):
        at.aer(GOLD, HYPOTHESIS, source=["a b", "c"])
    with pytest.raises(at.DataError, match="source: 1 lines, but the gold has 2"):
        at.aer(GOLD, HYPOTHESIS, source=["a b c d"])
    with pytest.raises(at.UsageProblem, match="exclude each other"):
        at.aer(GOLD, HYPOTHESIS, all_sure=True, ignore_possible=True)


@pytest.mark.parametrize(("hypothesis", "message"), [
    ([[(0, 0)]], "hypotheses: 1 lines, but the gold has 2 sentence pairs"),
    ([[(0, 0)]] * 3, "hypotheses: 3 lines.*with head"),
    (["0-0", "0_0"], "hypotheses:2: '0_0' is not a link"),
    (["0-0", "0-0\n1-1"], "hypotheses:2: more than one line"),
    ([[(0, 0)], [(-1, 0)]], r"hypotheses:2: \[\(-1, 0\)\] is not an alignment"),
    ([[(0, 0)], [0.5]], "hypotheses:2: .* is not an alignment"),
    ([[(0, 0)], None], "hypotheses:2: None is not an alignment"),
])  # fmt: skip
def test_hypotheses_that_are_wrong(hypothesis, message):
    with pytest.raises(at.DataError, match=message):
        at.aer(GOLD, hypothesis)


def test_another_index_base_is_suspected_in_the_log(caplog):
    with caplog.at_level(logging.WARNING, "aligntools"):
        at.aer(["1-1"] * 5, ["1-1"] * 5)
    assert [r.getMessage()[:24] for r in caplog.records] == ["gold: no link has an ind", "hypotheses: no link has "]


@pytest.mark.parametrize("predicted", [
    ["a_N b_V", "", "c_V d_D e_N f_N"],
    ["a/N b/V", "c/V d/D e/N f/N"],
    [[("a", "N"), ("b", "V")], [("c", "V"), ("d", "D"), ("e", "N"), ("f", "N")]],
    [["N", "V"], ["V", "D", "N", "N"]],
    [SimpleNamespace(tokens=("a", "b"), tags=("N", "V")), SimpleNamespace(tags=["V", "D", "N", "N"])],
])  # fmt: skip
def test_tags_in_every_form(predicted):
    gold = ["a_N b_V", "c_N d_D e_N f_V"]
    score = at.score_tags(gold, predicted)
    assert (score.accuracy, score.words, score.foreign) == (pytest.approx(4 / 6), 6, 0)
    assert score.interval(50)[1] <= 1
    apart = at.score_tags(gold, predicted, train=["a c", ["f", "g"]])
    assert (apart.known, apart.accuracy_known, apart.accuracy_unknown) == (3, pytest.approx(1 / 3), 1)


def test_tags_of_files_and_what_is_wrong():
    path = SAMPLES / "en.conllu"
    for given in (path, str(path), read_conll(path), read_tags(path)):
        score = at.score_tags(path, given)
        assert score.accuracy == 1
        assert str(score.signature).startswith("metric:tags|gold:conll:4|hyp:conll:4|nsent:101|nword:768|")
    assert at.score_tags(path, path, hyp_column="xpos").accuracy is None
    assert at.score_tags(SAMPLES / "en.tagged", path, head=True).words == 321
    gold = ["a_N b_V"]
    with pytest.raises(at.DataError, match="predicted:1: sentence 1 has other words than the gold at gold:1"):
        at.score_tags(gold, ["a_N c_V"])
    assert at.score_tags(gold, ["a_N c_V"], ignore_forms=True).accuracy == 1
    with pytest.raises(at.DataError, match="predicted:1: sentence 1 has 1 words where the gold at gold:1 has 2"):
        at.score_tags(gold, [["N"]])
    with pytest.raises(at.DataError, match="predicted:1: not tagged; give 'word_TAG' text"):
        at.score_tags(gold, ["a b"])
    with pytest.raises(at.UsageProblem, match="known and unknown words"):
        at.score_tags([["N"]], [["N"]], train=["a"])


HEADS, OTHER = [[2, 3, 0, 3], [2, 0]], [[2, 0, 2, 3], [2, 0]]


@pytest.mark.parametrize("wrap", [
    lambda heads, labels: heads,
    lambda heads, labels: np.array(heads),
    lambda heads, labels: list(zip(heads, labels, strict=True)),
    lambda heads, labels: SimpleNamespace(heads=np.array(heads), labels=tuple(labels)),
    lambda heads, labels: SimpleNamespace(heads=heads, labels=None, tokens=["w"] * len(heads)),
])  # fmt: skip
def test_trees_in_every_form(wrap):
    labels = [["det", "nsubj:x", "root", "obj"], ["nsubj", "root"]]
    changed = [["det", "nsubj:y", "root", "obj"], ["nsubj", "x"]]
    gold, predicted = ([wrap(*t) for t in zip(h, n, strict=True)] for h, n in ((HEADS, labels), (OTHER, changed)))
    score = at.score_trees(gold, predicted)
    assert (score.uas, score.complete, score.root) == (pytest.approx(4 / 6), 0.5, 0.5)
    labelled = score.las is not None
    assert score.las == (pytest.approx(3 / 6) if labelled else None)
    assert labelled == (wrap([1], ["x"]) != [1] and getattr(wrap([1], ["x"]), "labels", True) is not None
                        and not isinstance(wrap([1], ["x"]), np.ndarray))  # fmt: skip
    assert [(g.name, g.gold, g.right_gold) for g in score.groups("length")] == [("1-10", 6, 4)]


def test_trees_of_files_and_options():
    path = SAMPLES / "en.conllu"
    text = read_conll(path)
    for given in (path, str(path), text):
        score = at.score_trees(path, given)
        assert (score.uas, score.las, score.words) == (1, 1, 768)
    assert at.score_trees(path, path, punct="ud").words < 768
    assert at.score_trees(path, path, max_length=5).sentences < 101
    assert [g.name for g in at.score_trees(path, path).groups("tag")][:2] == ["ADJ", "ADP"]
    with pytest.raises(at.UsageProblem, match="no groups by 'word'"):
        at.score_trees(path, path).groups("word")
    with pytest.raises(at.UsageProblem, match="needs gold trees with tags"):
        at.score_trees(HEADS, OTHER, punct="ud")
    with pytest.raises(at.UsageProblem, match="punct is one of all, conll, ud"):
        at.score_trees(HEADS, OTHER, punct="none")
    with pytest.raises(at.DataError, match="predicted:1: a head is not in the sentence, which has 2 words"):
        at.score_trees([[2, 0]], [[3, 0]])
    with pytest.raises(at.DataError, match="predicted:1: not a tree"):
        at.score_trees([[2, 0]], [["x", "y"]])
    with pytest.raises(at.DataError, match="gold: no head"):
        at.score_trees([[-1, 0]], [[2, 0]])


def test_bleu_is_sacrebleus():
    sacrebleu = pytest.importorskip("sacrebleu")
    references = [["the cat sat on the mat .", "a dog barks loudly"], ["a cat was on the mat", "the dog barks"]]
    text = ["the cat sat on a mat .", "A dog barks"]
    for lowercase in (False, True):
        theirs = sacrebleu.BLEU(tokenize="none", force=True, lowercase=lowercase).corpus_score(text, references)
        score = at.bleu(references[0], text, more_references=references[1:], lowercase=lowercase)
        assert 100 * score.bleu == pytest.approx(theirs.score)
        words = [line.split() for line in text]
        assert at.bleu(references[0], words, more_references=references[1:], lowercase=lowercase).bleu == score.bleu
    assert len(score.sentences()) == 2
    with pytest.raises(at.DataError, match="translations: 1 lines, but the reference has 2"):
        at.bleu(references[0], text[:1])
    with pytest.raises(at.DataError, match="references: is empty"):
        at.bleu([], [])
    for blank in ({}, {"more_references": [["a b", "c"]]}):
        with pytest.raises(at.DataError, match="references: has no words; there is nothing to score"):
            at.bleu(["", " "], ["a b", "c"], **blank)
    with pytest.raises(at.DataError, match="has no words"):
        at.bleu(["a b", "c"], ["a b", "c"], more_references=[["", ""]])
    assert at.bleu(["a b", ""], ["", ""]).bleu == 0
    with pytest.raises(at.UsageProblem, match="does not go with"):
        at.bleu(text, text, smooth_value=1)
    with pytest.raises(at.UsageProblem, match="smooth is one of exp, floor, add-k, none, not plus"):
        at.bleu(text, text, smooth="plus")


def test_scores_are_what_the_command_writes(tmp_path):
    gold, links = SAMPLES / "de-en.wa", tmp_path / "links"
    lines = (SAMPLES / "de-en.wa").read_text().replace("?", "-").splitlines()
    links.write_text("".join(" ".join(line.split()[:5]) + "\n" for line in lines))
    done = ran("eval-aer", gold, links, "--paired", "--json", links)
    report = at.compare_scores([at.aer(gold, links)] * 2, [str(links)] * 2)
    assert json.loads(report.json()) == json.loads(done.stdout)
    for score in (at.aer(GOLD, HYPOTHESIS), at.score_tags([["N"]], [["N"]]), at.score_trees(HEADS, OTHER),
                  at.bleu(["a"], ["a"])):  # fmt: skip
        again = pickle.loads(pickle.dumps(score))
        assert str(again) == str(score)
        assert again.interval(20) == score.interval(20)
        assert str(again.signature) == str(score.signature)
        with pytest.raises(AttributeError):
            score.metric = None


def test_nothing_heavy_is_imported():
    code = "import sys, aligntools.links.alignments, aligntools.metrics.scoring\n"
    code += "print({'numba', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=True)
    assert done.stdout == b"set()\n"
