"""Term pairs: against an enumeration of all stretches, and what a glossary's terms are translated by."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aligntools as at
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.errors import UsageProblem
from aligntools.links.alignments import as_written, links_of
from aligntools.tools import term_extraction
from aligntools.tools import term_occurrences as counting
from aligntools.tools.filters import best_links
from aligntools.tools.judgements import (
    BLANK,
    MOST,
    OMITTED,
    RATE_OF_CLASS,
    USUAL,
    Lengths,
    different_numbers,
    judge,
    judge_alone,
    log_odds,
    maximal_spans,
    repetitions,
    usual_rates,
)
from aligntools.tools.term_extraction import find_terms
from aligntools.tools.term_occurrences import InAnyCase, forms_of_one, is_form
from aligntools.tools.term_settings import TagPattern, TermSettings
from tests import naive_checking, naive_terms
from tests.places import SAMPLES


def made(seed, pairs=60):
    """Sentences of few words, with links that cross and leave words out."""
    rng = random.Random(seed)
    found = []
    for _ in range(pairs):
        words = [rng.choice("aBcde,1") for _ in range(rng.randint(2, 7))]
        sides = words, [rng.choice("uVw") if rng.random() < 0.1 else "uVwxy.2"["aBcde,1".index(w)] for w in words]
        links = {(i, i + rng.choice([-1, 0, 0, 0, 0, 1])) for i in range(len(sides[0])) if rng.random() < 0.8}
        found.append((*sides, sorted((i, j) for i, j in links if 0 <= j < len(sides[1]))))
    return found


def arrays(pairs):
    text = as_written([" ".join(s) for s, _, _ in pairs], [" ".join(t) for _, t, _ in pairs], None)
    return text, links_of([links for _, _, links in pairs])


@pytest.mark.parametrize("longest", [1, 2, 4])
def test_phrase_pairs_are_those_of_the_enumeration(monkeypatch, longest):
    monkeypatch.setattr(counting, "BLOCK", 7)
    pairs = made(longest)
    text, links = arrays(pairs)
    kinds = [
        np.array([term_extraction.kind_of(word) for word in vocabulary.words()], np.int8)
        for vocabulary in (text.source_vocabulary, text.target_vocabulary)
    ]
    found = [
        (int(a - text.source.offsets[n]), int(a - text.source.offsets[n]) + int(k),
         int(b - text.target.offsets[n]), int(b - text.target.offsets[n]) + int(m), int(n))
        for part in counting.phrase_pairs(text.source, text.target, links, longest, *kinds)
        for a, k, b, m in zip(part.source, part.source_length, part.target, part.target_length, strict=True)
        for n in [np.searchsorted(text.source.offsets, a, side="right") - 1]
    ]  # fmt: skip
    kind = term_extraction.kind_of
    expected = [
        (*one, n) for n, pair in enumerate(pairs) for one in naive_terms.phrase_pairs(*pair, longest, kind, kind)
    ]
    assert sorted(found) == sorted(expected)
    assert expected


@pytest.mark.parametrize("seed", [1, 2])
def test_terms_are_those_of_the_enumeration(monkeypatch, seed):
    monkeypatch.setattr(counting, "BLOCK", 11)
    monkeypatch.setattr(counting, "BLOCK", 13)
    pairs = made(seed, 150)
    settings = TermSettings(min_count=2, max_words=3, min_probability=0.1, stop_words=False)
    lowered = [([w.lower() for w in s], [w.lower() for w in t], links) for s, t, links in pairs]
    expected = naive_terms.terms(lowered, 3, 2, 0.1, term_extraction.kind_of)
    found = find_terms(*arrays(pairs), settings)
    assert {tuple(one.source.lower().split()) for one in found} == set(expected)
    assert any(" " in one.source for one in found)
    for one in found:
        score, _, *counts = expected[tuple(one.source.lower().split())]
        assert one.score == pytest.approx(score)
        assert [one.count, one.source_count, one.target_count] == counts
        source, target, _ = pairs[one.pair]
        assert one.source.lower() in " ".join(source).lower()
        assert one.target.lower() in " ".join(target).lower()
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert find_terms(*arrays(pairs), TermSettings(2, 3, 0.1, False, top=4)) == found[:4]


def test_pairs_that_share_a_place_of_the_table_are_counted_apart(monkeypatch):
    monkeypatch.setattr(counting, "_SMALLEST", 1)
    monkeypatch.setattr(counting, "_LARGEST", 1)
    pairs = made(3, 150)
    settings = TermSettings(min_count=2, max_words=3, min_probability=0.1, stop_words=False)
    few = find_terms(*arrays(pairs), settings)
    monkeypatch.undo()
    assert find_terms(*arrays(pairs), settings) == few


def test_variants_and_what_is_left_out():
    text = ["Zug ."] * 5 + ["Bahn ."] * 3, ["train ."] * 4 + ["railway ."] + ["rail ."] * 3
    found = {term.source: term for term in at.terms(*text, ["0-0 1-1"] * 8, min_count=1)}
    assert (found["Zug"].target, found["Zug"].count, found["Zug"].source_count) == ("train", 4, 5)
    assert found["Zug"].variants == (("railway", 1),)
    assert found["Zug"].target_given_source == 0.8
    assert found["Zug"].source_given_target == 1.0
    assert found["Bahn"].variants == ()
    text = SAMPLES / "de-en.de", SAMPLES / "de-en.en"
    links = at.align(*map(str, text), fast=True)
    found = at.terms(*text, links, min_count=2)
    some = found[0].source.upper()
    left = found.without([(some, "anything")])
    assert [term.source for term in left] == [term.source for term in found[1:]]
    assert [*at.terms(*text, links, min_count=2, known=[(some, "anything")])] == [*left]
    assert found.example(found[0])[0] in text[0].read_text(encoding="utf-8").splitlines()
    with pytest.raises(at.UsageProblem, match="aligned already"):
        at.terms(["a"], ["b"], ["0-0"], fast=True)
    with pytest.raises(at.DataError, match="1 lines, but the text has 2"):
        at.terms(["a", "b"], ["b", "c"], ["0-0"])
    with pytest.raises(at.DataError, match="past"):
        at.terms(["a"], ["b"], ["0-1"])
    with pytest.raises(at.UsageProblem, match="TBX names the languages"):
        at.terms(["a"], ["b"], ["0-0"], min_count=1).format("tbx")
    assert list(at.terms([""], ["x"], [""])) == []


def test_stop_words_are_frequent_and_even():
    rng = random.Random(5)
    words = ["the", "of", "gearbox", "turbine", "rare"]
    text = []
    for part in range(40):
        subject = "gearbox" if part % 8 == 0 else "turbine" if part % 8 == 1 else "rare"
        text += [w for _ in range(300) for w in ("the", "of", subject if rng.random() < 0.9 else "rare")]
    tokens = np.array([words.index(w) for w in text])
    best = np.array([0.3, 0.4, 0.9, 0.9, 0.9])
    assert term_extraction.stop_words(words, tokens, best).tolist() == [True, True, False, False, True]
    uneven = term_extraction.unevenness(tokens, len(words))
    counts = np.array([np.bincount(part, minlength=5) for part in np.array_split(tokens, 18)])
    expected = np.sqrt(np.maximum(counts.var(0) - counts.mean(0), 0)) / counts.mean(0)
    assert uneven == pytest.approx(expected, rel=0.05)


def test_inconsistencies_have_their_pairs_and_links():
    german = ["der große Wassertank", "die Tanks", "ein Tank", "kein Wassertank hier", "der Tank", "Tank Tank"]
    english = ["the big water container", "the tanks", "a vessel", "no Water Tank here", "it", "tank pot"]
    links = ["0-0 1-1 2-2 2-3", "0-0 1-1", "0-0 1-1", "0-0 1-1 1-2 2-3", "0-0", "0-0 1-1"]
    known = [("wassertank", "water tank"), ("Wassertank", "cistern"), ("Tank", "tank"), ("der große Tank", "x")]
    found = at.terms(german, english, links, min_count=1)
    assert [tuple(one) for one in found.inconsistencies(known)] == [
        (0, "wassertank", ("water tank", "cistern"), "water container"),
        (2, "tank", ("tank",), "vessel"),
        (4, "tank", ("tank",), ""),
    ]
    longer = [*known, ("große Wassertank", "big water container")]
    assert [one.pair for one in found.inconsistencies(longer)] == [2, 4]
    assert found.inconsistencies([("nowhere", "x")]) == []
    assert [forms_of_one(*pair) for pair in (("tank", "tanks"), ("Haus", "Häuser"), ("house", "housing"))] == [
        True, False, True
    ]  # fmt: skip


def test_terms_stand_in_any_form_and_case_and_other_words_do_not():
    known = [("Straße", "road"), ("Dampfdüse", "steam wand"), ("Maße", "size"), ("rote Karte", "red card")]
    pairs = {
        "die STRASSE hier": "the street here",
        "alte Straßen": "old streets",
        "die Dampfdüsen": "the nozzles",
        "DAMPFDÜSEN": "NOZZLES",
        "die roten Karten": "the red tickets",
        "die Strasse": "the street",  # not the same where it is not in capitals
        "die Masse": "the mass",
        "der rote Karton": "the red box",
        "eine STRASSE": "a Road",
        "zwei Dampfdüsen": "two STEAM WANDS",
    }
    links = ["0-0 1-1 2-2"[: 4 * len(source.split()) - 1] for source in pairs]
    found = at.terms(list(pairs), list(pairs.values()), links, min_count=1).inconsistencies(known)
    assert [(one.pair, one.source) for one in found] == [
        (0, "straße"), (1, "straße"), (2, "dampfdüse"), (3, "dampfdüse"), (4, "rote karte")
    ]  # fmt: skip
    german = [("road", "Straße"), ("size", "Maße")]
    texts = ["a road", "a road", "the size", "roads"], ["eine STRASSE", "eine Gasse", "die Masse", "STRASSEN"]
    found = at.terms(*texts, ["0-0 1-1", "0-0 1-1", "0-0 1-1", "0-0"], min_count=1).inconsistencies(german)
    assert [(one.pair, one.found) for one in found] == [(1, "Gasse"), (2, "Masse")]


@pytest.mark.parametrize(
    ("word", "other", "form"),
    [
        *((*pair, True) for pair in (("Tank", "Tanks"), ("Haus", "Hauses"), ("porta", "porte"), ("kabel", "kabelem"))),
        *((*pair, True) for pair in (("Mahlwerk", "Mahlwerken"), ("Straße", "STRASSEN"), ("maschine", "maschinen"))),
        *(
            (*pair, False)
            for pair in (("Haus", "Hausbau"), ("Karte", "Karton"), ("house", "housing"), ("Land", "Länder"))
        ),
        *((*pair, False) for pair in (("Masse", "Maße"), ("der", "des"), ("printer", "printing"))),
    ],
)
def test_forms_of_a_source_term_have_short_endings(word, other, form):
    assert is_form(word, other) == is_form(other, word) == form


@given(
    st.lists(st.text("sSßMmaAıIİiσςΣ", min_size=1, max_size=4), max_size=6), st.text("sSßMmaA", min_size=1, max_size=4)
)
def test_words_of_one_number_differ_in_case_alone(words, asked):
    numbers = InAnyCase()
    ids = [numbers.add(word) for word in words]
    assert [numbers.number(word) for word in words] == ids
    same = [
        one for one in words
        if one.lower() == asked.lower() or (one.upper() == asked.upper() and (one.isupper() or asked.isupper()))
    ]  # fmt: skip
    assert (numbers.number(asked) is not None) == bool(same)


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("(ADJ|NOUN)* NOUN", ["NOUN", "ADJ NOUN", "NOUN ADJ NOUN"], ["ADJ", "NOUN ADJ", "VERB NOUN"]),
        ("NOUN (ADP NOUN)?", ["NOUN", "NOUN ADP NOUN"], ["NOUN ADP", "ADP NOUN"]),
        ("A+ . | B", ["A A", "A B", "A C", "B"], ["A", "B B", "C C"]),
        ("NN NNS", ["NN NNS"], ["NN", "NNS", "NN NN"]),
        ("NN-x:1 $", ["NN-x:1 $"], ["NN-x:1", "NN $"]),
    ],
)
def test_what_matches(pattern, good, bad):
    found = TagPattern(pattern)
    assert [found.matches(tags.split()) for tags in good] == [True] * len(good)
    assert [found.matches(tags.split()) for tags in bad] == [False] * len(bad)


@pytest.mark.parametrize("pattern", ["", "( )", "(A", "A)", "* A", "A | (", "A **", "A+*?+"])
def test_what_is_no_pattern(pattern):
    with pytest.raises(UsageProblem, match="patterns"):
        TagPattern(pattern)


def test_stretches_are_those_that_match_one_by_one():
    rng = random.Random(3)
    pattern = TagPattern("(A|B)* C (D . | C)?")
    for size, longest in itertools.product((0, 1, 3, 300), (1, 4)):
        tags = rng.choices("ABCDE", k=size)
        found = pattern.stretches(tags, longest)
        assert found.shape == (longest, size)
        for length, place in itertools.product(range(1, longest + 1), range(size)):
            whole = tags[place : place + length]
            assert found[length - 1, place] == (len(whole) == length and pattern.matches(whole))


SCORES = st.lists(st.integers(-5, 5).map(float), max_size=9)


@given(SCORES)
def test_spans_are_maximal(scores):
    found = [(span.start, span.end) for span in maximal_spans(scores)]
    assert found == naive_checking.maximal_spans(scores)
    assert [span.score for span in maximal_spans(scores)] == [sum(scores[a:b]) for a, b in found]


def test_tables_places_and_links():
    assert OMITTED.sum() == pytest.approx(1)
    assert USUAL.sum(axis=1) == pytest.approx(np.ones(len(USUAL)), abs=2e-3)
    odds = log_odds(np.array([0.0, 1.0, 1.0]), np.array([0.01, 0.01, 0.9]))
    assert odds[0] < 0 < odds[1]  # linked; a word without a link that usually has one
    assert odds[2] < odds[1] / 10  # one that often has none
    types, classes = np.array([0, 0, 0, 1]), np.array([4, 9])
    rates = usual_rates(types, np.array([1.0, 0.0, 0.5, 1.0]), classes)
    fixed = RATE_OF_CLASS.ravel()[4]
    prior = (50 * fixed + 1.5) / 53
    assert rates[:3] == pytest.approx([(0.5 + 2 * prior) / 4, (1.5 + 2 * prior) / 4, (1 + 2 * prior) / 4])
    assert rates[3] == pytest.approx((50 * RATE_OF_CLASS.ravel()[9] + 1) / 51)


def test_a_word_is_linked_as_far_as_by_its_best_link():
    links = Links.from_lists([[(0, 0), (0, 1)], [], [(1, 0)]])
    found = best_links(links, np.array([0.25, 0.75, 0.5], np.float32), np.array([[1, 1, 2], [2, 0, 1]]))
    assert [side.tolist() for side in found] == [[0.75, 0, 0, 0.5], [0.25, 0.75, 0.5]]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("a b a b c", [(2, 4)]), ("a a a", [(1, 3)]), (". . .", []), ("a b c d x a b c", [(5, 8)]), ("a b x a b", []),
        ("a b c b c d", [(3, 5)]),
    ],
)  # fmt: skip
def test_repetitions(text, spans):
    assert [(span.start, span.end) for span in repetitions(text.split())] == spans


@pytest.mark.parametrize(
    ("source", "target", "found"),
    [
        ("1,000 men", "1.000 Mann", ([], [])), ("1,000,000 men", "1 000 000 hommes", ([], [])),
        ("3.5 and 4", "4 und 3,5", ([], [])), ("1,234.50", "1.234,50", ([], [])), ("٣ ١٢", "3 12", ([], [])),
        ("in 1999", "im Jahr 1998", (["1999"], ["1998"])), ("12 12", "12", (["12"], [])),
        ("20 200 men", "20 200", ([], [])), ("1,234.5", "1 234,5", ([], [])), ("1.234,5", "1'234.5", ([], [])),
        ("12,34,567 Rs", "1234567 Rs", ([], [])), ("03.10.2024", "10/03/2024", ([], [])),
        ("03.10.2024", "2024-10-03", ([], [])), ("3. 10. 2024", "10/3/24", ([], [])),
        ("03.10.2024", "3 October 2024", ([], [])), ("October 3, 2024", "3.10.24", ([], [])),
        ("03.10.2024", "2024年10月3日", ([], [])), ("03.10.2024", "4 October 2024", (["3", "10"], ["4"])),
        ("03.10.2024", "03.11.2024", (["10"], ["11"])), ("3 October 2024", "03.10.2025", (["2024"], ["10", "2025"])),
        ("um 16:30 Uhr", "at 4:30 PM", ([], [])), ("at 8 p.m.", "um 20:00 Uhr", ([], [])),
        ("um 08:05", "à 8h05", ([], [])), ("um 8:30", "at 8:45", (["30"], ["45"])),
        ("192.168.1.1 und 1.2", "1.2 and 192.168.1.1", ([], [])),
    ],
)  # fmt: skip
def test_numbers_are_compared_by_value(source, target, found):
    assert different_numbers(source, target) == found


def test_lengths_and_spans():
    words, usual = list("abcdef"), Lengths(0.0, 0.3)
    none, some = np.full(6, -1.0), np.array([-1, 3, 3, 3, -1, -1.0])
    plain, one, both = (judge((words, words[::-1]), odds, usual) for odds in ((none, none), (none, some), (some, some)))
    assert plain.score < both.score < one.score
    assert one.spans == [[], [(1, 4, 9.0)]]
    longer = judge((words[:2], words), (none[:2], some), usual)
    assert longer.score > one.score
    again = judge((words, [*words, *words[3:]]), (none, np.full(9, -1.0)), usual)
    assert again.score > plain.score + 8
    assert [span[:2] for span in again.repeated] == [(6, 9)]
    assert judge_alone((words, [])).score == BLANK + 6 * MOST
    lengths = np.array([[2, 0, 4], [4, 3, 8]])
    assert Lengths.of(lengths, 1.5).middle == pytest.approx(np.log(1.5))
    assert Lengths.of(np.repeat(lengths, 30, axis=1), 1.5).middle == pytest.approx(np.log(2))
