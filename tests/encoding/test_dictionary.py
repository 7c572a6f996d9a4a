"""Entries of dictionaries as evidence: which a text may use, if it bears them out, and words that stand together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.encoding import dictionary
from aligntools.formats.links.dictionary import Entry
from aligntools.formats.text.bitext import TextLines, read_bitext


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
