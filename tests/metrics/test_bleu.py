"""BLEU against sacrebleu, and against a count written with dictionaries."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.ground.parallel import Pool
from aligntools.metrics import bleu
from aligntools.metrics.settings import TranslationScoring

sentence = st.lists(st.integers(1, 5), max_size=12)
WAYS = [("exp", None), ("floor", None), ("floor", 0.3), ("add-k", None), ("add-k", 0.5), ("none", None)]


def text(sentences):
    words = np.array([w for s in sentences for w in s], np.int32)
    return bleu.Segments(words, np.concatenate([[0], np.cumsum([len(s) for s in sentences])]).astype(np.int64))


@st.composite
def corpora(draw):
    n, sets = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    lists = st.lists(sentence, min_size=n, max_size=n)
    return draw(lists), [draw(lists) for _ in range(sets)]


def naive_statistics(translation, references):
    matches, totals = [], []
    for n in range(1, 5):
        counts = [
            Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1)) for words in [translation, *references]
        ]
        best = Counter()
        for found in counts[1:]:
            best |= found
        matches.append(sum((counts[0] & best).values()))
        totals.append(sum(counts[0].values()))
    closest = min(map(len, references), key=lambda size: (abs(size - len(translation)), size))
    return [*matches, *totals, len(translation), closest]


@given(corpora())
def test_statistics_are_what_dictionaries_count(corpus):
    translations, references = corpus
    found = bleu.statistics(*text(translations), [text(r) for r in references])
    for k, translation in enumerate(translations):
        assert found[k].tolist() == naive_statistics(translation, [r[k] for r in references])


@given(corpora(), st.sampled_from(WAYS))
def test_figures_are_sacrebleus(corpus, way):
    sacrebleu = pytest.importorskip("sacrebleu")
    translations, references = corpus
    smoothing, value = way
    found = bleu.statistics(*text(translations), [text(r) for r in references])
    lines = [" ".join(map(str, s)) for s in translations]
    sets = [[" ".join(map(str, s)) for s in r] for r in references]

    def metric(effective):
        return sacrebleu.BLEU(
            tokenize="none", force=True, smooth_method=smoothing, smooth_value=value, effective_order=effective
        )

    theirs = metric(False).corpus_score(lines, sets)
    ours = bleu.BleuScore.of(
        [text(r) for r in references], text(translations), TranslationScoring(smooth=smoothing, smooth_value=value)
    )
    assert 100 * ours.bleu == pytest.approx(theirs.score, abs=1e-9)
    assert 100 * np.array(ours.precisions) == pytest.approx(np.array(theirs.precisions), abs=1e-9)
    assert ours.brevity_penalty == pytest.approx(theirs.bp, abs=1e-12)
    assert ours.counts.tolist() == found.tolist()
    single = 100 * ours.sentences()
    assert single.tolist() == (100 * bleu.sentence_bleu(found, smoothing, value)).tolist()
    for k, line in enumerate(lines):
        expected = metric(True).sentence_score(line, [r[k] for r in sets]).score
        assert single[k] == pytest.approx(expected, abs=1e-9)


def test_threads_and_empty_translations():
    rng = np.random.default_rng(3)
    corpus = [[rng.integers(1, 9, rng.integers(0, 20)).tolist() for _ in range(200)] for _ in range(3)]
    sets = [text(s) for s in corpus]
    alone = bleu.statistics(*sets[0], sets[1:])
    with Pool(3) as pool:
        assert np.array_equal(alone, bleu.statistics(*sets[0], sets[1:], pool))
    assert np.array_equal(alone, bleu.statistics(*sets[0], sets[:0:-1]))
    same = text([[1, 2, 3, 4, 5], [6, 7, 8, 9]])
    assert bleu.BleuScore.of([same], same).bleu == 1.0
    none = text([[], []])
    counts = bleu.statistics(*none, [same])
    assert bleu.corpus_bleu(counts.sum(axis=0)) == 0.0
    assert bleu.sentence_bleu(counts).tolist() == [0.0, 0.0]
    nothing = text([])
    score = bleu.BleuScore.of([nothing], nothing)
    assert (score.bleu, score.ratio, score.interval()) == (0.0, 0.0, (0.0, 0.0))
    with pytest.raises(ValueError, match="as many sentences"):
        bleu.statistics(*text([[1]]), [text([[1], [2]])])
    with pytest.raises(ValueError, match="as many sentences"):
        bleu.statistics(*text([[1]]), [])
