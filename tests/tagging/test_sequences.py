"""Probabilities of sentences and of tag sequences, against every sequence of states one by one."""

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.annotation import tag_lists
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.tagging import tag_sequences
from aligntools.tagging.tag_sequences import Sequences
from tests import naive_chain as naive

TEXT = ["the_D dog_N barks_V", "the_D cat_N", "a_D dog_N sees_V the_D bark_N", "dogs_N bark_V", "he_P sees_V her_P"]
#: Known words, a word that is not, no words.
SENTENCES = ["the dog sees her", "a bark", "", "he barks", "the unheard dog"]


@pytest.fixture(scope="module", params=["plain", "relative", "latent", "two", "induced"])
def tagger(request):
    """One state a tag, smoothed and not; substates; two models and their coarse one; states without tags."""
    if request.param == "induced":
        lines = [" ".join(token.split("_")[0] for token in line.split()) for line in TEXT]
        return at.induce_tags(lines, states=3, iterations=5)
    how = {
        "plain": {"latent": 1}, "relative": {"latent": 1, "relative_frequencies": True},
        "latent": {"latent": 2, "members": 1, "iterations": 3}, "two": {"latent": 2, "members": 2, "iterations": 2},
    }[request.param]  # fmt: skip
    return at.train_tagger(TEXT * 2, **how)


def enumerated(tagger, line):
    """Return ``p(x, z)`` of every sequence of tags: the mean over the models of the sums over states."""
    words, found = line.encode().split(), defaultdict(float)
    tokens, members = tagger.model.emissions(words)
    for chain, emissions in members:
        tag_of = tagger.model.tags_of_states(chain)
        for z, p in naive.paths(chain.start, chain.transitions, chain.stop, emissions, tokens.tolist()):
            found[tuple(tagger.tags[tag_of[s]] for s in z)] += p / len(members)
    return found


def test_probabilities_and_lists(tagger, monkeypatch):
    found = tagger.log_probabilities(SENTENCES, threads=1)
    for line, value in zip(SENTENCES, found, strict=True):
        total = sum(enumerated(tagger, line).values()) if line else 1.0
        assert value == pytest.approx(math.log(total) if total else -math.inf, rel=1e-9)
    exact = tagger.model.plain
    for n in (1, 4, 1000):
        for line, found in zip(SENTENCES, tagger.n_best(SENTENCES, n, threads=1), strict=True):
            wanted = {z: p for z, p in enumerated(tagger, line).items() if p > 0} if line else {}
            scores = [one.log_probability for one in found]
            assert len({one.tags for one in found}) == len(found) <= n
            assert scores == sorted(scores, reverse=True)
            for one in found:
                assert one.log_probability == pytest.approx(math.log(wanted[one.tags]), rel=1e-9)
            best = [math.log(p) for p in sorted(wanted.values(), reverse=True)[:n]]
            if exact or n in (1, 1000):  # with substates: of all that there are, and of so few words the best
                assert scores == pytest.approx(best, rel=1e-9)
    whole = list(tagger.n_best(SENTENCES, 3)), list(tagger.sample_tags(SENTENCES, 3))
    monkeypatch.setattr(tag_sequences, "HELD", 1)
    assert (list(tagger.n_best(SENTENCES, 3)), list(tagger.sample_tags(SENTENCES, 3))) == whole


def test_posteriors_are_those_that_decide(tagger):
    text = [line for line in SENTENCES if line]
    for line, found, tagged in zip(text, tagger.posteriors(text), tagger.tag_batch(text), strict=True):
        assert [max(word, key=word.get) for word in found] == list(tagged.tags)
        assert [sum(word.values()) for word in found] == pytest.approx([1.0] * len(found), abs=1e-9)
        assert [max(word.values()) for word in found] == pytest.approx(tagged.probabilities.tolist(), abs=1e-12)
        all_ = enumerated(tagger, line)
        total = sum(all_.values())
        if len(tagger.model.members) == 1 and total:
            wanted = [Counter() for _ in found]
            for z, p in all_.items():
                for word, tag in zip(wanted, z, strict=True):
                    word[tag] += p / total
            for mine, own in zip(found, wanted, strict=True):
                near = 1e-9 if tagger.model.coarse is None else 0.02  # what the coarse model drops
                assert mine == pytest.approx({tag: own[tag] for tag in mine}, abs=near)


def test_samples(tagger):
    n = 4000
    for line, found in zip(SENTENCES, tagger.sample_tags(SENTENCES, n, seed=3), strict=True):
        all_ = enumerated(tagger, line) if line else {}
        total = sum(all_.values())
        assert len(found) == (n if total else 0)
        counted = Counter(one.tags for one in found)
        for z, p in all_.items():
            share = p / total if total else 0
            assert abs(counted[z] / n - share) <= 5 * math.sqrt(share * (1 - share) / n) + 3 / n, z
        for one in found[:5]:
            assert one.log_probability == pytest.approx(math.log(all_[one.tags]), rel=1e-9)
    lines = ["the dog sees her"] * 3
    whole = list(tagger.sample_tags(lines, 20, seed=5, threads=2))
    assert list(tagger.sample_tags(lines[1:], 20, seed=5, first=1, threads=1)) == whole[1:]
    if sum(p > 0 for p in enumerated(tagger, lines[0]).values()) > 1:
        assert list(tagger.sample_tags(lines, 20, seed=6)) != whole
        assert len({tuple(one.tags for one in own) for own in whole}) > 1


def test_relative_frequencies_are_counts_over_counts():
    tagger = at.train_tagger(TEXT, latent=1, relative_frequencies=True)
    # start D 3/5; dog given N 2/5, after D N always; V after N 2/5 (dog barks, dogs bark; dog sees): 3/5
    pairs = [[token.split("_") for token in line.split()] for line in TEXT]
    tags = [[tag for _, tag in line] for line in pairs]
    n_tag = Counter(tag for line in tags for tag in line)
    n_word = Counter((word, tag) for line in pairs for word, tag in line)
    moves = Counter(move for line in tags for move in pairwise(line))
    ends = Counter(line[-1] for line in tags)
    starts = Counter(line[0] for line in tags)
    for line in ("the dog barks", "a cat", "he sees the dog"):
        total, words = 0.0, line.split()
        for z in itertools.product("DNPV", repeat=len(words)):
            p = starts[z[0]] / len(tags) * ends[z[-1]] / n_tag[z[-1]]
            for a, b in pairwise(z):
                p *= moves[a, b] / n_tag[a]
            for word, tag in zip(words, z, strict=True):
                p *= n_word[word, tag] / n_tag[tag]
            total += p
        value = tagger.log_probabilities([line])[0]
        assert math.exp(value) == pytest.approx(total, rel=1e-6)
    assert tagger.log_probabilities(["the unheard dog"])[0] == -math.inf
    assert tagger.tag("the unheard barks").tags[1] == "N"  # between D and V
    again = type(tagger)(tagger.model)
    assert again.model.settings["relative_frequencies"] is True


def test_saved_models_and_unknown_words(tmp_path):
    lines = ["a b a b", "b a", "c c a"]
    steps = []
    tagger = at.induce_tags(lines, states=2, iterations=200, tolerance=0, progress=steps.append)
    objective = max(step.figures["objective"] for step in steps if "objective" in step.figures)
    assert tagger.log_probabilities(lines).sum() == pytest.approx(objective, abs=2e-3)
    for how in ({"latent": 1}, {"latent": 1, "relative_frequencies": True}):
        tagger = at.train_tagger(TEXT, **how)
        tagger.save(tmp_path / "model")
        again = at.Tagger.load(tmp_path / "model")
        assert again.log_probabilities(SENTENCES).tolist() == tagger.log_probabilities(SENTENCES).tolist()
        assert list(again.tag("the unheard dog")) == list(tagger.tag("the unheard dog"))
    tagger = at.train_tagger(TEXT, latent=1)
    own = Sequences(tagger.model, [b"the", b"unheard", b"dog"], np.array([0, 3]), Pool(1))
    assert own.unknown == 1


def test_what_is_refused():
    tagger = at.train_tagger(TEXT, latent=1)
    old = at.Tagger(replace(tagger.model, factors=None))
    with pytest.raises(UsageProblem, match="an older version made it"):
        old.log_probabilities(["the dog"])
    for wrong in ({"latent": 2}, {"latent": 1, "partial": True}):
        with pytest.raises(UsageProblem, match="relative_frequencies"):
            at.train_tagger(TEXT, relative_frequencies=True, **wrong)
    with pytest.raises(UsageProblem):
        next(tagger.n_best(["the dog"], 0))


def test_posteriors_as_text_and_back(tmp_path):
    path = tmp_path / "posteriors"
    words, offsets = [b"a\tb", b"c"], np.array([0, 1, 1, 2])
    cells, tags = np.array([0, 2, 4]), [b":", b"N:x", b"V", b"W"]
    path.write_bytes(tag_lists.format_posteriors(words, offsets, cells, tags, np.array([0.25, 0.75, 1 - 1e-9, 1e-9])))
    assert path.read_bytes() == b"a b\tN:x:0.750000\t::0.250000\n\n\nc\tV:1.000000\n\n"
    assert tag_lists.read_posteriors(str(path)) == [
        [(b"a b", {b"N:x": 0.75, b":": 0.25})], [], [(b"c", {b"V": 1.0})]
    ]  # fmt: skip
    path.write_bytes(b"a\tN:0.5\n\nb\tN\n")
    with pytest.raises(DataError, match=r":3: 'N' is not tag:probability"):
        tag_lists.read_posteriors(str(path))
