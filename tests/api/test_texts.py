"""What a text may be in the API: one rule, one message, wherever text is taken."""

import dataclasses
import math

import numpy as np
import pytest

import aligntools as at
from aligntools.aligning.contrastive.settings import ContrastiveSettings
from aligntools.aligning.settings import AlignerSettings, Decisions, PriorWeights, ReconstructionSettings
from aligntools.ground.declarations import declared
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.parsing.settings import ParserSettings, TransferSettings
from aligntools.tagging.settings import InductionSettings, TaggerSettings, TagSmoothing
from aligntools.translating.settings import (
    DecoderSettings,
    ExtractionSettings,
    ImputationSettings,
    LanguageModelSettings,
    TuningSettings,
)

PAIRS = [("das haus", "the house"), ("das buch", "the book"), ("ein buch", "a book")]
TAGGED = [[("the", "D"), ("bus", "N")], [("a", "D"), ("man", "N")]]


@pytest.fixture(scope="module")
def tagger():
    return at.train_tagger(TAGGED)


@pytest.fixture(scope="module")
def model():
    return at.train_aligner(PAIRS, fast=True)


@pytest.fixture(scope="module")
def lm():
    return at.train_lm(["a b c d", "a b d c", "b a c d"], order=2)


def test_pairs_of_sentences_are_a_text(model):
    """In a list or one after the other, as strings or as lists of words; and for a model that is there."""
    expected = [str(a) for a in at.align(*zip(*PAIRS, strict=True), fast=True)]
    words = [(source.split(), target.split()) for source, target in PAIRS]
    for text in (PAIRS, iter(PAIRS), zip(*zip(*PAIRS, strict=True), strict=True), words):
        assert [str(a) for a in at.align(text, fast=True)] == expected
    assert [str(a) for a in model.align_batch(PAIRS)] == [str(a) for a in model.align_batch(*zip(*PAIRS, strict=True))]
    assert len(at.read_bitext(PAIRS)) == 3
    assert len(at.read_bitext([("a", "|||", "b")])) == 1  # the words of a line


NO_WORD = "is empty or holds a space .a sentence is a string, or a list of its words"
NO_SENTENCE = "a sentence is a string or a list of strings, not int"


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda x: at.bleu([["a sentence"]], ["a sentence"]), f"references:1: the word 'a sentence' {NO_WORD}"),
        (lambda x: at.bleu(["a", "b"], ["a", ["b c"]]), f"translations:2: the word 'b c' {NO_WORD}"),
        (lambda x: at.bleu([1], ["a"]), NO_SENTENCE),
        (lambda x: at.bleu(3, ["a"]), "references: int is not text"),
        (lambda x: at.train_aligner([["das haus", "the house"]]), f"the word 'das haus' {NO_WORD}"),
        (lambda x: at.train_aligner([("a", "b"), ("c",)]), "<text>:2: a tuple of 1; a pair is a tuple of two sent"),
        (lambda x: at.train_aligner([("a", "b"), "c"]), "<text>:2: str; a pair is a tuple of two sentences"),
        (lambda x: at.train_aligner(b"text"), "<text>: bytes is not text"),
        (lambda x: x["model"].align(["a b"], ["c"]), NO_WORD),
        (lambda x: x["tagger"].tag(["the bus leaves"]), f"the word 'the bus leaves' {NO_WORD}"),
        (lambda x: list(x["tagger"].tag_batch([["the bus"]])), NO_WORD),
        (lambda x: list(x["tagger"].tag_batch(3)), "int is not text"),
        (lambda x: list(x["tagger"].tag_batch("the bus")), "str is not text .*; a text is a list of sentences.$"),
        (lambda x: at.view([("a", "b")] * 2 + ["c", "d"], ["0-0"] * 4), "<text>: 4 texts; give .source, target."),
        (lambda x: at.project(["a_B"], ["a"], ["0-0"]), "source: list is not CoNLL"),
        (lambda x: x["tagger"].tag(3), NO_SENTENCE),
        (lambda x: at.train_tagger([["to", "do"]]), "<sentences>:1: .'to', 'do'. is neither .a sentence with tags is"),
        (lambda x: at.train_tagger(["the_D bus_N", 3]), "<sentences>:2: 3 is neither"),
        (lambda x: x["lm"].score(["a b"]), f"the word 'a b' {NO_WORD}"),
        (lambda x: x["lm"].score(3), NO_SENTENCE),
        (lambda x: x["lm"].perplexity([["a b"]]), NO_WORD),
        (lambda x: x["lm"].perplexity(3), "int is not text"),
        (lambda x: at.train_lm([3]), NO_SENTENCE),
        (lambda x: at.links_to_words(["0-0"], [["▁a b"]], [["▁c"]]), NO_WORD),
    ],
)  # fmt: skip
def test_what_is_no_text_is_said_in_one_way(call, problem, tagger, model, lm):
    with pytest.raises(at.DataError, match=problem):
        call({"tagger": tagger, "model": model, "lm": lm})


@pytest.mark.parametrize("pairs", [1, 2, 3])
def test_pairs_are_shown_as_both_sides_are(pairs):
    source, target = ["das haus", "ein buch", "x"][:pairs], ["the house", "a book", "y"][:pairs]
    links = ["0-0"] * pairs
    shown = at.view(list(zip(source, target, strict=True)), links)
    assert shown.source == [line.split() for line in source]
    assert shown.html() == at.view((source, target), links).html()


CHECKS = {
    AlignerSettings: lambda s: s.resolved(1000), ReconstructionSettings: lambda s: s.resolved("vb"),
    Decisions: Decisions.checked, ContrastiveSettings: ContrastiveSettings.checked,
    ParserSettings: ParserSettings.checked, TransferSettings: TransferSettings.checked,
    TaggerSettings: TaggerSettings.checked, InductionSettings: InductionSettings.checked,
    LanguageModelSettings: LanguageModelSettings.checked, ExtractionSettings: ExtractionSettings.checked,
    DecoderSettings: DecoderSettings.checked, ImputationSettings: ImputationSettings.checked,
    TuningSettings: TuningSettings.checked, TagSmoothing: TagSmoothing.checked,
    PriorWeights: lambda w: at.train_aligner(["a"], ["b"], weights=w, fast=True),
}  # fmt: skip


def ranges_of(kind):
    found = {name: one.option.allowed for name, one in declared(kind).items() if not one.several}
    return {name: allowed for name, allowed in found.items() if allowed is not None}


@pytest.mark.parametrize("kind", CHECKS, ids=lambda kind: kind.__name__)
def test_settings_outside_their_ranges_are_refused(kind):
    CHECKS[kind](kind())
    numbers = {f.name for f in dataclasses.fields(kind) if str(f.type).split(" |")[0] in ("int", "float")}
    numbers |= {f.name for f in dataclasses.fields(kind) if f.type in (int, float)}
    ranges = ranges_of(kind)
    assert numbers == set(ranges), "every number has a range"
    for name, allowed in ranges.items():
        for value in (math.nan, math.inf, -math.inf, 1e300, 10**30, -1e4, allowed.high * 2, "1", True):
            with pytest.raises(UsageProblem, match="must be"):
                CHECKS[kind](dataclasses.replace(kind(), **{name: value}))
        good = np.int64(allowed.low + 1) if allowed.whole else np.float64((allowed.low + allowed.high) / 2)
        assert good in allowed


def test_threads_are_counted():
    for threads in (0, -1, 10**30, 1.5):
        with pytest.raises(UsageProblem, match="threads must be a whole number from 1"), pool_of(threads):
            pass
