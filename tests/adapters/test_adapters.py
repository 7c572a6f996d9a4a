"""systran_align's and simalign's calls, answered by our models."""

import math

import pytest

import aligntools as at
from aligntools.adapters import eflomal, simalign, systran_align
from tests.cli.running import ROOT, ran

TEXT = ROOT / "data" / "samples" / "de-en.txt"
PAIR = (
    ["Der", "Zug", "fährt", "um", "acht", "Uhr", "ab", "."],
    ["The", "train", "leaves", "at", "eight", "o'clock", "."],
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    systran_align.generate_alignment_probabilities(TEXT, folder / "forward", folder / "backward")
    return folder


def test_systran_align(model, tmp_path):
    aligner = systran_align.Aligner(str(model / "forward"), str(model / "backward"))
    found, blank = aligner.align_batch([PAIR[0], []], [PAIR[1], ["?"]])
    expected = at.Aligner.load(model / "forward").align(*PAIR)
    assert found["alignments"] == expected.links
    assert (found["forward_log_prob"], found["backward_log_prob"]) == expected.scores[:2]
    assert found["forward_log_prob"] < 0
    assert blank["alignments"] == []
    assert aligner.align(*PAIR) == found
    for name, flags in (("f", []), ("r", ["-r"])):
        ran("-i", TEXT, "-dov", "-p", tmp_path / name, *flags, script="fast_align")
    found = systran_align.Aligner(tmp_path / "f", tmp_path / "r").align(*PAIR)
    assert {(0, 0), (1, 1), (7, 6)} <= set(found["alignments"])
    assert all(isinstance(position, int) for link in found["alignments"] for position in link)
    assert math.isfinite(found["backward_log_prob"])
    with pytest.raises(at.DataError, match="cannot be opened"):
        systran_align.Aligner(tmp_path / "none", tmp_path / "r")


def test_simalign(model, monkeypatch):
    aligner = simalign.SentenceAligner(model=str(model / "forward"), token_type="word", matching_methods="maifr")
    found = aligner.get_word_aligns(*PAIR)
    assert list(found) == ["mwmf", "inter", "itermax", "fwd", "rev"]
    expected = at.Aligner.load(model / "forward").align(*PAIR)
    assert found["itermax"] == expected.links
    assert set(found["inter"]) == set(found["fwd"]) & set(found["rev"])
    assert set(found["inter"]) <= set(found["mwmf"]) <= set(found["fwd"]) | set(found["rev"])
    assert aligner.get_word_aligns(*map(" ".join, PAIR)) == found
    with pytest.raises(at.AligntoolsError, match="ALIGNTOOLS_SIMALIGN_MODEL"):
        simalign.SentenceAligner()
    monkeypatch.setenv("ALIGNTOOLS_SIMALIGN_MODEL", str(model / "backward"))
    assert list(simalign.SentenceAligner(model="bert", device="cpu").get_word_aligns(*PAIR)) == list(found)[:3]
    with pytest.raises(at.AligntoolsError, match="no matching method x"):
        simalign.SentenceAligner(matching_methods="ax")


def test_the_packages_that_drop_ins_writes_have_the_adapters(tmp_path, monkeypatch):
    ran("drop-ins", "-q", tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "python"))
    for own in (simalign, systran_align, eflomal):
        module = __import__(own.__name__.rpartition(".")[2])
        assert str(tmp_path) in module.__file__
        assert all(getattr(module, name) is getattr(own, name) for name in own.__all__)
