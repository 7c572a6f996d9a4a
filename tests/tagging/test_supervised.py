import itertools

import numpy as np
import pytest

from aligntools.ground.parallel import Pool
from aligntools.tagging.settings import TaggerSettings, TagSmoothing
from aligntools.tagging.supervised import training
from aligntools.tagging.supervised.training import train_supervised
from tests.places import REALDATA

TREEBANKS = REALDATA / "treebanks"
WORDS = b"the dog barks the bark of dogs a dog".split()
TAGS = b"D N V D N I N D N".split()
OFFSETS = np.array([0, 3, 3, 7, 9])


def test_the_plain_tagger_by_hand():
    """Transitions and emissions are what the counts and the smoothing say."""
    smoothing = TagSmoothing(transitions=2.0, tags=3.0, words=0.5)
    tagger = train_supervised(WORDS, OFFSETS, TAGS, Pool(1), TaggerSettings(latent=1, smoothing=smoothing))
    assert tagger.tags == ["D", "I", "N", "V"]
    (member,) = tagger.members
    assert tagger.coarse is None
    moves = {}
    for a, b in itertools.pairwise(OFFSETS):
        if b > a:
            for x, y in itertools.pairwise([*(t.decode() for t in TAGS[a:b]), "end"]):
                moves[x, y] = moves.get((x, y), 0) + 1
    outcomes = [*tagger.tags, "end"]
    into = {y: sum(n for (_, to), n in moves.items() if to == y) + 1e-3 for y in outcomes}
    for i, x in enumerate(tagger.tags):
        seen = sum(n for (of, _), n in moves.items() if of == x)
        for j, y in enumerate(outcomes):
            p = (moves.get((x, y), 0) + 3 * into[y] / sum(into.values())) / (seen + 3)
            p = (moves.get((x, y), 0) + 2 * p) / (seen + 2)
            mine = member.chain.stop[i] if y == "end" else member.chain.transitions[i, j]
            assert mine == pytest.approx(p)
    prior = np.array([3, 1, 4, 1]) / 9
    assert member.prior == pytest.approx(prior, abs=1e-3)
    assert member.chain.start == pytest.approx((np.array([3, 0, 0, 0]) + 3 * member.prior) / 6)
    row, form = tagger.words.index(b"dog"), tagger.unknown.probabilities([b"dog"])[0]
    shares = (np.array([0, 0, 2, 0]) + 0.5 * form) / 2.5
    begin, end = tagger.candidates.ptr[row : row + 2]
    for c in range(begin, end):
        g = tagger.candidates.groups[c]
        assert member.chain.values[c] == pytest.approx(shares[g] / member.prior[g], rel=1e-6)


def test_rows_and_progress():
    tagger = train_supervised(WORDS * 5, np.arange(0, 46, 9), TAGS * 5, Pool(1), TaggerSettings(latent=4, members=2))
    for member in [tagger.coarse, *tagger.members]:
        m = member.chain
        assert m.transitions.sum(1) + m.stop == pytest.approx(np.ones(len(m.stop)))
        assert m.start.sum() == pytest.approx(1)
        assert member.prior.sum() == pytest.approx(1)
        first = m.first[:-1]
        assert np.add.reduceat(member.shares, first, axis=1) == pytest.approx(1, abs=1e-5)
    seen = []
    train_supervised(
        WORDS,
        OFFSETS,
        TAGS,
        Pool(1),
        TaggerSettings(latent=2, members=2, iterations=3),
        lambda *figures: seen.append(figures),
    )
    assert [f[:3] for f in seen] == [(n, 1, i) for n in (0, 1) for i in (0, 1, 2, 0)]
    assert all(np.isfinite(f[4]) for f in seen)


def test_the_batches_of_words_do_not_show(monkeypatch):
    one = train_supervised(WORDS, OFFSETS, TAGS, Pool(1), TaggerSettings(latent=2, members=1))
    monkeypatch.setattr(training, "BATCH", 2)
    two = train_supervised(WORDS, OFFSETS, TAGS, Pool(1), TaggerSettings(latent=2, members=1))
    assert one.candidates.groups.tolist() == two.candidates.groups.tolist()
    assert one.members[0].chain.values.tobytes() == two.members[0].chain.values.tobytes()


@pytest.mark.slow
@pytest.mark.skipif(not TREEBANKS.is_dir(), reason="the treebanks are not here")
def test_latent_annotations_are_worth_two_points_on_web_text():
    from aligntools.formats.annotation.tagged_text import read_tags

    text, new = (read_tags(str(TREEBANKS / "ud" / f"en_ewt-{part}.conllu.gz"), "upos") for part in ("train", "dev"))
    reached = []
    with Pool(2) as pool:
        for latent in (1, 8):
            tagger = train_supervised(text.words, text.offsets, text.tags, pool, TaggerSettings(latent=latent))
            tags, _ = tagger.tag(new.words, new.offsets, pool)
            right = [tagger.tags[k].encode() == gold for k, gold in zip(tags, new.tags, strict=True)]
            reached.append(100 * np.mean(right))
    assert reached[1] >= 94.5
    assert reached[1] - reached[0] >= 2
