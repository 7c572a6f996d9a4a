import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.ground.parallel import Pool
from aligntools.tagging import unknown_words
from aligntools.tagging.settings import TaggerSettings, TagSmoothing
from aligntools.tagging.supervised import training
from aligntools.tagging.supervised.training import train_supervised
from aligntools.tagging.unknown_words import FormClasses, UnknownWords, form_features, relatives, shape
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


def english(random, n=120):
    """Made-up words: adverbs in -ly, gerunds in -ing, names in capitals, years."""
    letters = list("abcdefghiklmnoprstuw")
    words, tags = [], []
    while len(words) < n:
        stem = "".join(random.choice(letters, random.integers(3, 6)))
        kind = int(random.integers(4))
        word = (stem + "ly", stem + "ing", stem.title(), str(random.integers(1000, 3000)))[kind].encode()
        if word not in words:
            words.append(word)
            tags.append(kind)
    return words, np.array(tags)


def counts_of(tags, n=4):
    return np.eye(n)[tags]


@pytest.fixture(scope="module")
def learned():
    words, tags = english(np.random.default_rng(1))
    return UnknownWords.learn(words, counts_of(tags))


def test_endings_capitals_and_digits_tell_the_tag_of_new_words(learned):
    p = learned.probabilities([b"quickly", b"zooming", b"Zork", b"1848"])
    assert p.argmax(1).tolist() == [0, 1, 2, 3]
    assert np.all(p.max(1) > 0.8)


@given(st.lists(st.binary(max_size=12), max_size=5))
def test_any_bytes_have_probabilities_and_each_word_its_own(learned, words):
    p = learned.probabilities(words)
    assert p.shape == (len(words), 4)
    assert np.all(p > 0)
    assert p.sum(1) == pytest.approx(np.ones(len(words)))
    for n, word in enumerate(words):
        assert p[n].tobytes() == learned.probabilities([word])[0].tobytes()


@settings(max_examples=10)
@given(st.integers(0, 2**32), st.floats(0.2, 3))
def test_the_fit_is_where_the_gradient_vanishes(seed, l2):
    """The penalized likelihood of the rare words' shares cannot be raised by moving any weight."""
    random = np.random.default_rng(seed)
    words, _ = english(random, 12)
    counts = random.dirichlet(np.ones(3), 12)
    model = UnknownWords.learn(words, counts, l2=l2, iterations=500)

    def objective(weights):
        moved = UnknownWords(model.features, weights, model.known, model.ptr, model.states, model.shares)
        logs = np.log(moved.probabilities(words))
        return float((counts * logs).sum()) - 0.5 * l2 * float((weights.astype(np.float64) ** 2).sum())

    top = objective(model.weights)
    for _ in range(20):
        step = np.zeros_like(model.weights)
        step[random.integers(len(step)), random.integers(3)] = random.choice([-0.2, 0.2])
        assert objective(model.weights + step) < top


def test_what_teaches():
    words = [b"aax", b"bbx", b"ccx", b"ddy", b"eey", b"ffy"]
    counts = np.array([[0.3, 0.1]] * 3 + [[0.2, 1.8]] * 3)
    p = UnknownWords.learn(words, counts, l2=0.01).probabilities([b"ggx", b"ggy"])
    assert p == pytest.approx(np.array([[0.75, 0.25], [0.1, 0.9]]), abs=0.05)
    words = [b"aaxx", b"bbxx", b"cczz", b"ddzz", b"the"]
    counts = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1], [500, 0]])
    one = UnknownWords.learn(words, counts)
    counts[4] = 0, 500
    other = UnknownWords.learn(words, counts)
    assert np.array_equal(one.weights, other.weights)


@pytest.mark.parametrize("counts", [np.zeros((0, 3)), np.zeros((2, 3)), np.full((2, 3), 100.0), np.ones((2, 1))])
def test_little_to_learn_from_gives_even_shares(counts):
    words = [b"one", b"two"][: len(counts)]
    p = UnknownWords.learn(words, counts).probabilities([b"three"])
    assert p == pytest.approx(np.full((1, counts.shape[1]), 1 / counts.shape[1]), abs=1e-3)


def test_many_states_mean_fewer_features(monkeypatch):
    monkeypatch.setattr(unknown_words, "PARAMETERS", 600)
    words, tags = english(np.random.default_rng(1), 200)
    model = UnknownWords.learn(words, counts_of(tags))
    assert len(model.features) == 600 // 4 - 16
    assert model.probabilities([b"quickly"]).argmax() == 0
    monkeypatch.setattr(unknown_words, "PARAMETERS", 1)
    assert len(UnknownWords.learn(words, counts_of(tags)).features) == 100


@pytest.mark.parametrize(
    ("word", "look"),
    [
        ("McDonald-87", "XxXxx-dd"), ("etc.", "xx."), ("", ""), ("HTML5", "XXd"), ("Ärger", "Xxx"), ("3,000", "d,dd"),
        ("東京タワー", "CJKCJKKATAKATA"), ("कि", "DEVA"),
    ],
)  # fmt: skip
def test_shapes(word, look):
    assert shape(word) == look


def test_related_words():
    known = {"running": 0, "Paris": 1, "walk": 2, "free": 3, "NATO": 4}
    assert relatives("Running", known) == [(0, "running")]
    assert relatives("paris", known) == [(1, "Paris")]
    assert relatives("nato", known) == [(1, "NATO")]
    assert relatives("walked", known) == [(3, "walk")]
    assert relatives("sugar-free", known) == [(2, "free")]
    assert relatives("walk", known) == []
    assert relatives("-", known) == []
    assert relatives("", known) == []
    random = np.random.default_rng(3)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    words = list(dict.fromkeys("".join(random.choice(letters, 6)) for _ in range(160)))
    states = random.integers(0, 2, len(words))
    # the first 120 also come capitalized
    forms = [w.encode() for w in words] + [w.title().encode() for w in words[:120]]
    model = UnknownWords.learn(forms, np.eye(2)[np.concatenate([states, states[:120]])])
    p = model.probabilities([w.title().encode() for w in words[120:]])
    assert np.mean(p.argmax(1) == states[120:]) > 0.9
    found = form_features("Re-elected")
    for name in ("s:ed", "s:d", "s:ected", "p:re-e", "c:U", "i:-", "U:ed"):
        assert name in found
    assert "s:^it" in form_features("it")
    assert "s:^it" not in form_features("bit")
    assert form_features("1848")[1:] == form_features("1951")[1:]
    assert "c:A" in form_features("NATO")
    assert len(set(found)) == len(found)


# Classes of words


def test_the_tree_of_classes():
    words = [b"%sing" % c for c in (b"a", b"b", b"c", b"d")] + [b"going", b"Wang", b"Lang", b"Bang", b"x"]
    tree = FormClasses.of(words, least=3)
    assert tree.parents[0] == 0
    assert all(p < n for n, p in enumerate(tree.parents) if n)
    assert tree.paths.shape == (9, 4)
    assert np.array_equal(tree.find(words), tree.nodes)
    assert tree.find([b"wing"])[0] == tree.nodes[0]
    assert tree.nodes[0] != tree.nodes[5]
    assert tree.find([b"\xff", "д".encode(), b""]).tolist()[0] == 0


@given(st.lists(st.binary(max_size=8), unique=True, max_size=12), st.binary(max_size=8))
def test_classes_are_nested(words, other):
    tree = FormClasses.of(words, least=1)
    for n in range(len(words)):
        for depth in range(1, tree.paths.shape[1]):
            node = tree.paths[n, depth]
            assert tree.parents[node] == tree.paths[n, depth - 1]
            assert tree.levels[depth][0] <= node < tree.levels[depth][1]
    assert 0 <= tree.find([other])[0] < len(tree.parents)
