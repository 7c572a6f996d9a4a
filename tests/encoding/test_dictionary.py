"""Entries of dictionaries as evidence: which a text may use, if it bears them out, and words that stand together."""

import importlib.metadata
import importlib.util

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aligntools.encoding import dictionary, similarities, word_encoder
from aligntools.encoding import lexicon as lexicons
from aligntools.encoding.similarities import near_pairs
from aligntools.formats.links.dictionary import Entry
from aligntools.formats.links.priors import priors_of
from aligntools.formats.text.bitext import TextLines, read_bitext
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary


def text(source, target):
    return read_bitext(TextLines(source), TextLines(target), lowercase=False)


def rows(priors):
    """Counts by words."""
    names = priors.source_vocabulary.words(), priors.target_vocabulary.words()
    keys, alphas = priors.lexical.keys.tolist(), priors.lexical.alphas.tolist()
    return {(names[0][s], names[1][t]): alpha for (s, t), alpha in zip(keys, alphas, strict=True)}


def tried(entries, *sides):
    written = text(*sides)
    return dictionary.tried(entries, written.source_vocabulary, written.target_vocabulary, written)


WORDS = [(f"{a}{b}o", f"{b}{a}i") for a in ("bal", "cen", "dir", "fos", "gur") for b in ("am", "en", "il", "on")]
SIDES = ([" ".join(s for s, _ in WORDS[k : k + 4]).title() for k in range(17)],
         [" ".join(t for _, t in WORDS[k : k + 4][::-1]) for k in range(17)])  # fmt: skip
ENTRIES = [Entry(*pair) for pair in WORDS]


def test_entries_that_a_text_may_use():
    written = text(["The old Houses stand"], ["die alten häuser stehen"])
    entries = [
        Entry("house", "Haus"),  # both begin as words of the text
        Entry("old", "alten", 2.0),
        Entry("tree", "Baum"),
        Entry("old", "jung"),
        Entry("old houses", "alten Häuser"),
        Entry("old house", "alten Häuser"),  # not these words
    ]
    found, count, words = dictionary.met(entries, written.source_vocabulary, written.target_vocabulary)
    assert found == [entries[1], entries[4]]
    assert (count, words) == (2, [2, 2])
    assert dictionary.met([Entry("house", "häus")], written.source_vocabulary, written.target_vocabulary)[0]
    assert rows(dictionary.singles(found)) == {("old", "alten"): 2 * dictionary.COUNT}


def naive_forms(word, having):
    """The words with entries that share the longest beginning with a word, and itself; and what these count."""
    found = {word: 1.0} if word in having else {}
    lengths = {}
    for other in having - {word}:
        n = 0
        while n < min(len(word), len(other)) and word[n] == other[n]:
            n += 1
        longer = max(len(word), len(other))
        if n >= 4 and longer - n <= 3 and n >= 0.6 * longer:
            lengths[other] = n
    return found | {other: 0.5 for other, n in lengths.items() if n == max(lengths.values())}


STEMS = st.tuples(st.sampled_from(["hous", "hausa", "walk"]), st.text("aes", max_size=4)).map("".join)


@given(st.lists(st.tuples(STEMS, STEMS), max_size=8, unique=True), *[st.lists(STEMS, min_size=1, max_size=6)] * 2)
def test_forms_of_words_as_a_slow_search_finds_them(pairs, source, target):
    written = text([" ".join(source).title()], [" ".join(target)])
    known = [{pair[k] for pair in pairs} for k in (0, 1)]
    wanted = {}
    for a in set(source):
        for b in set(target):
            one, other = naive_forms(a, known[0]), naive_forms(b, known[1])
            best = max((one.get(s, 0) * other.get(t, 0) for s, t in pairs), default=0)
            if best and (a, b) not in pairs:
                wanted[a, b] = best
    entries = [Entry(*pair) for pair in pairs]
    found = dictionary.forms(entries, written.source_vocabulary, written.target_vocabulary)
    assert {(s, t): weight for s, t, weight in found} == wanted


def test_what_a_text_says_of_a_dictionary():
    for entries, turned in ((ENTRIES, False), ([Entry(t, s, weight) for s, t, weight in ENTRIES], True)):
        found = tried(entries, *SIDES)
        assert found.belief == 1.0
        assert found.exchanged == turned
        assert found.entries == ENTRIES
        assert not found.doubt
    shifted = [Entry(s, t) for (s, _), (_, t) in zip(WORDS, WORDS[10:] + WORDS[:10], strict=True)]
    found = tried(shifted, *SIDES)
    assert (found.belief, found.entries, found.exchanged) == (0.0, [], False)
    assert "in their own pair hardly more often" in found.doubt
    found = tried([Entry("x", "y")], *SIDES)
    assert "no entry is of words of the text" in found.doubt
    assert found.entries == []
    same = [Entry(s, s) for s, _ in WORDS]
    assert tried(same, SIDES[0], SIDES[0]).belief == 0.0
    many, few = (dictionary.borne_out(entries, text(*SIDES))[0] for entries in (ENTRIES, ENTRIES[:1]))
    assert few <= many
    files = [[Entry("a", "b"), Entry("c", "d", 0.5)], [Entry("a", "b", 2.0)]]
    assert dictionary.merged(files) == [Entry("a", "b", 2.0), Entry("c", "d", 0.5)]


def naive_standing(entries, pairs):
    """Which entries have all their words side by side on both sides of a pair."""

    def within(phrase, line):
        return f" {phrase.lower()} " in f" {line.lower()} "

    return [e for e in entries if any(within(e.source, s) and within(e.target, t) for s, t in pairs)]


PHRASES = st.lists(st.sampled_from("abAc"), min_size=1, max_size=3).map(" ".join)
LINES = st.lists(st.tuples(*[st.lists(st.sampled_from("abcB"), max_size=6).map(" ".join)] * 2), min_size=3, max_size=6)


@given(
    st.lists(st.tuples(PHRASES, PHRASES), max_size=12, unique_by=lambda pair: (pair[0].lower(), pair[1].lower())), LINES
)
def test_words_stand_together_as_a_slow_search_finds(pairs, lines):
    entries = [Entry(*pair) for pair in pairs if " " in pair[0] or " " in pair[1]]
    expected = naive_standing(entries, lines)
    sides = [[pair[k] for pair in lines] for k in (0, 1)]
    found, count = dictionary.standing(entries, [text(*sides)])
    wanted = {}
    for s, t, weight in expected:
        for a in s.split():
            for b in t.split():
                each = dictionary.COUNT * weight / max(s.count(" ") + 1, t.count(" ") + 1)
                wanted[a, b] = wanted.get((a, b), 0.0) + each
    assert count == len(expected)
    assert rows(found) == pytest.approx(wanted)
    halves = [text(side_s, side_t) for side_s, side_t in zip(
        (sides[0][:2], sides[0][2:]), (sides[1][:2], sides[1][2:]), strict=True)]  # fmt: skip
    assert rows(dictionary.standing(entries, halves)[0]) == rows(found)


def test_an_entry_is_not_looked_for_without_end(monkeypatch):
    monkeypatch.setattr(dictionary, "LOOKED", 2)
    sides = ["a b"] * 3, ["c", "c", "d"]
    assert dictionary.standing([Entry("a b", "d")], [text(*sides)])[1] == 0


installed = pytest.mark.skipif(importlib.util.find_spec(word_encoder.MODULE) is None, reason="USE is not installed")
ENGLISH = ["house", "water", "Tuesday", "green", "mother", "seven", "of", "write"]
GERMAN = ["Haus", "Wasser", "Dienstag", "grün", "Mutter", "sieben", "von", "schreiben"]


@installed
def test_translations_are_near_to_each_other():
    with Pool(1) as pool:
        sides = [word_encoder.word_vectors(words, pool) for words in (ENGLISH, GERMAN)]
    assert [side.shape for side in sides] == [(8, word_encoder.WIDTH)] * 2
    one, other = map(similarities.centered, sides)
    assert (one @ other.T).argmax(1).tolist() == list(range(8))


@installed
def test_the_same_bytes_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(word_encoder, "_WORDS", 7)
    words = [f"{word}{n}" for n in range(5) for word in ENGLISH + GERMAN] + ["", "\u200b", "x" * 10_000, "\ud800"]
    found = []
    for threads in (1, 3):
        with Pool(threads) as pool:
            found.append(word_encoder.word_vectors(words, pool))
    assert found[0].tobytes() == found[1].tobytes()
    assert np.isfinite(found[0]).all()
    assert word_encoder.word_vectors([], Pool(1)).shape == (0, word_encoder.WIDTH)


@installed
def test_words_beyond_what_is_compared_are_left_out(monkeypatch):
    whole = word_encoder.word_vectors(ENGLISH, Pool(1))
    monkeypatch.setattr(word_encoder, "WORDS", 5)
    found = word_encoder.word_vectors(ENGLISH, Pool(1))
    np.testing.assert_allclose(found[:5], whole[:5], atol=1e-6)
    assert not found[5:].any()


@installed
def test_letters_beyond_are_not_looked_at():
    found = word_encoder.word_vectors(["a" * 200, "a" * 200 + "b"], Pool(1))
    assert found[0].tobytes() == found[1].tobytes()


def test_what_is_not_installed_or_of_another_version_is_one_line(monkeypatch):
    monkeypatch.setattr(word_encoder, "MODULE", "nothing_of_this_name")
    with pytest.raises(UsageProblem, match=r"pip install 'aligntools\[use\]' brings fast-universal"):
        word_encoder.check()
    monkeypatch.setattr(word_encoder, "MODULE", "json")
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "9.9")
    with pytest.raises(UsageProblem, match=r"encoder 9\.9 is not the one that is used: pip install"):
        word_encoder.check()


def naive_agreement(entries, source, target):
    """The share of words with an entry that have one in their own pair, beyond that in the next pair."""
    shares = []
    for shift in (0, 1):
        found = words = 0
        for k, line in enumerate(source):
            other = target[(k + shift) % len(target)].split()
            if other and line:
                own = [{t for s, t in entries if s == word} for word in line.split()]
                words += sum(map(bool, own))
                found += sum(bool(have & set(other)) for have in own)
        for k, line in enumerate(target):
            other = source[(k + shift) % len(source)].split()
            if other and line:
                own = [{s for s, t in entries if t == word} for word in line.split()]
                words += sum(map(bool, own))
                found += sum(bool(have & set(other)) for have in own)
        shares.append(found / words if words else 0.0)
    return (shares[0] - shares[1]) / max(1 - shares[1], 1e-9)


line = st.lists(st.sampled_from("abcde"), max_size=4).map(" ".join)


@given(st.lists(st.tuples(line, line), max_size=6), st.sets(st.tuples(*[st.sampled_from("abcdx")] * 2)))
def test_agreement_is_as_plain_loops_say(pairs, entries):
    pairs = [(s, t) if s and t else ("", "") for s, t in pairs]  # as texts are read
    assume(any(s for s, _ in pairs))
    source, target = ([pair[k] for pair in pairs] for k in (0, 1))
    found = lexicons.agreement(priors_of([(*entry, 1.0) for entry in sorted(entries)]), text(source, target))
    if len(pairs) < 2:
        assert found == 0
    else:
        assert found == pytest.approx(naive_agreement(entries, source, target))


def vectors(words, seed=0, width=40):
    """A word has a direction of its own, whatever its case."""
    rows = [np.random.default_rng([seed, *word.lower().encode()]).standard_normal(width) for word in words]
    return np.array(rows, np.float32).reshape(len(words), width)


VECTORS = [f"{a}{b}" for a in "abcdefghij" for b in "klmno"]


def test_words_of_one_direction_have_the_whole_count():
    names = [Vocabulary.from_words(VECTORS), Vocabulary.from_words([word.upper() for word in VECTORS[::-1]])]
    sides = [vectors(v.words()[1:]) for v in names]
    sides[0][3] = 0
    with Pool(2) as pool:
        found = lexicons.lexicon(*names, sides, pool)
        pairs, _ = near_pairs(*sides, pool)
    table = found.lexical
    assert (table.keys == pairs + 1).all()
    assert ((table.alphas > 0) & (table.alphas <= lexicons.COUNT)).all()
    counts = {(names[0].word(s), names[1].word(t)): a for (s, t), a in zip(table.keys, table.alphas, strict=True)}
    assert all(counts[word, word.upper()] == lexicons.COUNT for word in VECTORS if word != VECTORS[3])
    assert not any(s == VECTORS[3] for s, _ in counts)
    others = [a for (s, t), a in counts.items() if t != s.upper()]
    assert max(others) < lexicons.COUNT / 2


def test_how_far_it_is_believed():
    doubted, believed = lexicons.DOUBTED, lexicons.BELIEVED
    assert [lexicons.belief(a) for a in (-1.0, doubted, believed, 1.0)] == [0, 0, 1, 1]
    half = lexicons.belief((doubted + believed) / 2)
    assert half == pytest.approx(0.5)
    priors = priors_of([("a", "A", 3.0)])
    assert priors.believed(half).lexical.alphas.tolist() == [pytest.approx(1.5)]
    assert not len(priors.believed(0.0))


def test_agreement_of_large_texts(monkeypatch):
    """Those come first in a lexicon; others would be in most pairs by chance."""
    priors = priors_of([("a", "A", 1.0), ("b", "B", 1.0)])
    source, target = ["a", "b", "a", "b"], ["A", "x", "A", "x"]
    whole = lexicons.agreement(priors, text(source, target))
    monkeypatch.setattr(lexicons, "FREQUENT", 1)
    assert whole < 1.0 == lexicons.agreement(priors, text(source, target))
    monkeypatch.setattr(lexicons, "TRIED", 3)
    source = ["a", "b", "b", "b", "b"]
    found = lexicons.agreement(priors_of([("a", "A", 1.0), ("b", "B", 1.0)]), text(source, ["A", "X", "B", "X", "B"]))
    assert found > 0.9  # pairs 0, 2 and 4
