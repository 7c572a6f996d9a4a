"""The second round: what a judge finds, counted one sentence after the other, and a base model trained with it."""

from collections import Counter

import numpy as np
import pytest

from aligntools.aligning.alignment import read_bitext, train_aligner
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive import rounds
from aligntools.aligning.contrastive.base import train_base
from aligntools.aligning.contrastive.candidates import CandidateFinder
from aligntools.aligning.contrastive.weights import shipped
from aligntools.aligning.settings import AlignerSettings
from aligntools.aligning.training.train_model import train_model
from aligntools.aligning.training.view_priors import GivenPriors
from aligntools.formats.links.priors import Counted, Priors
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Run
from tests.aligning.contrastive.making import candidates_of, random_pair
from tests.places import SAMPLES


@pytest.fixture(scope="module")
def text():
    return read_bitext(SAMPLES / "de-en.de", SAMPLES / "de-en.en")


@pytest.fixture(scope="module")
def pool():
    with Pool(2) as made:
        yield made


@pytest.fixture(scope="module")
def base(text, pool):
    return train_aligner(text, threads=pool).model


@pytest.fixture(scope="module")
def again(text, base, pool):
    return once_more(base, text, pool)


def once_more(model, text, pool):
    """Train what comes after a model, with the links that the shipped network finds."""
    found = rounds.count_found(CandidateFinder(model, pool, shipped().network), text)
    return rounds.train_again(found, model.settings, text, pool)


def counted(model, pool, text, sentences):
    """Count pairs of words with a link whose log-odds are above 0, sentence by sentence."""
    e = CandidateFinder(model, pool, shipped().network).find_all(text)
    counts = Counter()
    for k in sentences:
        s, t = (x.tokens[x.offsets[k] : x.offsets[k + 1]].tolist() for x in (text.source, text.target))
        for c in range(e.starts[k], e.starts[k + 1]):
            if e.local[c, kf.TREES] > 0:
                counts[s[e.rows[c]], t[e.columns[c]]] += 1
    return counts


def as_counter(priors):
    return Counter({tuple(k): a for k, a in zip(priors.lexical.keys.tolist(), priors.lexical.alphas, strict=True)})


def test_links_as_priors(text, base, pool, again):
    pairs = [random_pair(np.random.default_rng(n), n % 4, 3, 0.7) for n in range(1, 8)]
    e = candidates_of(pairs)
    found = e.links(e.local[:, kf.TREES] > 0)
    assert [sorted(map(tuple, found[k].pairs.tolist())) for k in range(len(pairs))] == [
        sorted(c for c in p.candidates if p.cells["trees"][c] > 0) for p in pairs
    ]
    assert 0 < len(found.pairs) < sum(len(p.candidates) for p in pairs)
    finder = CandidateFinder(base, pool, shipped().network)
    found = as_counter(rounds.count_found(finder, text))
    assert found == counted(base, pool, text, range(len(text)))
    assert sum(found.values()) > len(text)
    assert as_counter(rounds.count_found(finder, text, 3)) == counted(base, pool, text, [0, 119, 239])
    counts = counted(base, pool, text, range(len(text)))
    keys = np.array(list(counts), np.int64)
    table = Counted.of(list(keys.T), np.array(list(counts.values()), np.float64))
    priors = Priors(text.source_vocabulary, text.target_vocabulary, lexical=table)
    due = train_model(text, base.settings, pool, given=GivenPriors(priors, rounds.WEIGHTS))
    assert again.settings == base.settings
    for one, other, first in zip(again.views, due.views, base.views, strict=True):
        np.testing.assert_array_equal(one.lexicon.forward, other.lexicon.forward)
        np.testing.assert_array_equal(one.lexicon.reverse, other.lexicon.reverse)
        assert not np.array_equal(one.lexicon.forward, first.lexicon.forward)


def test_rounds_go_on_from_the_model_before_whatever_the_threads(text, again):
    with Pool(1) as one:
        third = train_base(text, shipped().network, AlignerSettings(), 3, reading=Reading(), run=Run(one)).model
        due = once_more(again, text, one)
    for a, b, before in zip(third.views, due.views, again.views, strict=True):
        np.testing.assert_array_equal(a.lexicon.forward, b.lexicon.forward)
        assert not np.array_equal(a.lexicon.forward, before.lexicon.forward)


def test_a_text_without_links_is_trained_again_without_a_word(pool, caplog):
    blank = read_bitext(["", ""], ["", ""])
    model = train_aligner(blank, threads=pool).model
    assert len(rounds.count_found(CandidateFinder(model, pool, shipped().network), blank).lexical) == 0
    once_more(model, blank, pool)
    assert not caplog.records


def test_how_many_rounds():
    network, most = shipped().network, rounds.LARGEST
    assert [rounds.rounds_of(None, judge, 9) for judge in (network, None)] == [2, 1]
    assert [rounds.rounds_of(None, network, n) for n in (most, most + 1)] == [2, 1]
    assert rounds.rounds_of(None, network, 9, fast=True) == 1
    assert [rounds.rounds_of(n, network, 2 * most, fast=True) for n in (1, 2, 3)] == [1, 2, 3]
    with pytest.raises(UsageProblem, match="needs the feature trees"):
        rounds.rounds_of(2, None, 9)
