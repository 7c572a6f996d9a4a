"""Lexicons of vectors: counts, and how far a text bears them out."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aligntools.encoding import lexicon as lexicons
from aligntools.encoding.similarities import near_pairs
from aligntools.formats.links.priors import priors_of
from aligntools.formats.text.bitext import TextLines, read_bitext
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary


def text(source, target):
    return read_bitext(TextLines(source), TextLines(target), lowercase=False)


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


WORDS = [f"{a}{b}" for a in "abcdefghij" for b in "klmno"]


def test_words_of_one_direction_have_the_whole_count():
    names = [Vocabulary.from_words(WORDS), Vocabulary.from_words([word.upper() for word in WORDS[::-1]])]
    sides = [vectors(v.words()[1:]) for v in names]
    sides[0][3] = 0
    with Pool(2) as pool:
        found = lexicons.lexicon(*names, sides, pool)
        pairs, _ = near_pairs(*sides, pool)
    table = found.lexical
    assert (table.keys == pairs + 1).all()
    assert ((table.alphas > 0) & (table.alphas <= lexicons.COUNT)).all()
    counts = {(names[0].word(s), names[1].word(t)): a for (s, t), a in zip(table.keys, table.alphas, strict=True)}
    assert all(counts[word, word.upper()] == lexicons.COUNT for word in WORDS if word != WORDS[3])
    assert not any(s == WORDS[3] for s, _ in counts)
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
