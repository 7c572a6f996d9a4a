import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.ground.errors import ModelError, UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.tagging import tagger as module
from aligntools.tagging.chain import Chain
from aligntools.tagging.induction import from_chain
from aligntools.tagging.settings import TaggerSettings
from aligntools.tagging.supervised.training import train_supervised
from aligntools.tagging.tagger import TaggerModel
from tests import naive_tagging as naive

TEXT = """the/D dog/N barks/V ./P
a/D cat/N sleeps/V ./P
the/D old/A dog/N sleeps/V soundly/R ./P
she/O sees/V the/D cat/N ./P
dogs/N bark/V loudly/R ./P
the/D bark/N of/I a/D tree/N is/V old/A ./P
she/O barks/V ./P
Rome/N is/V old/A ./P"""


def text_of(lines=TEXT, times=1):
    lines = lines.splitlines() * times
    pairs = [[w.rsplit("/", 1) for w in line.split()] for line in lines]
    flat = [(w.encode(), t.encode()) for line in pairs for w, t in line]
    return [w for w, _ in flat], np.cumsum([0, *map(len, pairs)]), [t for _, t in flat]


def train(latent=1, members=2, seed=1, pool=None, **more):
    words, offsets, tags = text_of(times=4)
    return train_supervised(
        words, offsets, tags, pool or Pool(1),
        TaggerSettings(latent=latent, members=members, iterations=5, seed=seed, **more),
    )  # fmt: skip


@pytest.fixture(scope="module")
def plain():
    return train()


@pytest.fixture(scope="module")
def split():
    return train(latent=4)


def induced(seed=1, n_states=3):
    random = np.random.default_rng(seed)
    words = [b"one", b"two", b"three", b"four"]
    table = random.dirichlet(np.ones(n_states + 1), n_states)
    chain = Chain(
        random.dirichlet(np.ones(n_states)), table[:, :-1], table[:, -1], random.dirichlet(np.ones(4), n_states).T
    )
    return chain, words, random.uniform(0, 9, (4, n_states))


def names(tagger, words, offsets, **more):
    return [tagger.tags[k] for k in tagger.tag(words, offsets, Pool(1), **more)[0]]


@pytest.mark.parametrize("decode", ["posterior", "viterbi"])
@pytest.mark.parametrize("latent", [1, 4])
def test_the_training_text_and_new_words(plain, split, latent, decode):
    tagger = plain if latent == 1 else split
    words, offsets, tags = text_of()
    assert names(tagger, words, offsets, decode=decode) == [t.decode() for t in tags]
    new = b"the zorg barks wildly .".split()
    assert names(tagger, new, np.array([0, 5]), decode=decode) == ["D", "N", "V", "R", "P"]


def test_tags_of_words(plain, tmp_path):
    assert names(plain, b"the bark . dogs bark .".split(), np.array([0, 3, 6])) == ["D", "N", "P", "N", "V", "P"]
    assert plain.knows([b"dog", b"Dog", b"cat"]).tolist() == [True, False, True]
    with pytest.raises(UsageProblem, match="no tagged words"):
        train_supervised([], np.array([0]), [], Pool(1), TaggerSettings())
    with pytest.raises(UsageProblem, match="decode is one of"):
        plain.tag([b"a"], np.array([0, 1]), Pool(1), "best")
    write_model(tmp_path / "m", "alignment", {}, {"a": np.zeros(1)})
    with pytest.raises(ModelError, match="holds a model of kind 'alignment', not 'tagger'"):
        TaggerModel.load(tmp_path / "m")


@given(
    st.lists(st.lists(st.sampled_from([b"the", b"dog"]) | st.binary(min_size=1, max_size=9), max_size=4), max_size=4)
)
def test_any_bytes_are_tagged_and_each_sentence_as_if_it_stood_alone(split, sentences):
    words = [w for s in sentences for w in s]
    offsets = np.cumsum([0, *map(len, sentences)])
    tags, confidence = split.tag(words, offsets, Pool(1))
    assert len(tags) == len(confidence) == len(words)
    assert np.all((confidence > 0) & (confidence <= 1 + 1e-12))
    fresh = train_like(split)
    for n, s in enumerate(sentences):
        alone, sure = fresh.tag(s, np.array([0, len(s)]), Pool(1))
        assert alone.tobytes() == tags[offsets[n] : offsets[n + 1]].tobytes()
        assert sure.tobytes() == confidence[offsets[n] : offsets[n + 1]].tobytes()


def train_like(tagger):
    """Return the same tagger without what it remembers."""
    return TaggerModel(
        tagger.tags, tagger.words, tagger.candidates, tagger.members, tagger.coarse, tagger.unknown, tagger.classes,
        tagger.anonymous, tagger.settings,
    )  # fmt: skip


def test_unknown_words_are_forgotten_when_there_are_many(plain, monkeypatch):
    monkeypatch.setattr(module, "REMEMBER", 10)
    tagger = train_like(plain)
    for n in range(30):
        words, offsets = [b"the", b"zorg%d" % n, b"zorg%d" % (n // 2)], np.array([0, 3])
        found = tagger.tag(words, offsets, Pool(1))[0]
        assert found.tolist() == plain.tag(words, offsets, Pool(1))[0].tolist()
        assert len(tagger._memory.index) <= len(tagger.words) + 12


def test_threads_do_not_show(tmp_path, split):
    with Pool(3) as pool:
        train(latent=4, pool=pool).save(tmp_path / "three")
    split.save(tmp_path / "one")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "three").read_bytes()
    train(latent=4, seed=2).save(tmp_path / "other")
    assert (tmp_path / "one").read_bytes() != (tmp_path / "other").read_bytes()


def damage(name, change):
    def apply(header, arrays):
        arrays[name] = change(arrays[name].copy())

    return pytest.param(apply, id=f"{name}")


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    "harm",
    [
        damage("candidates.groups", put(0, 99)),
        damage("candidates.groups", put(0, -1)),
        damage("candidates.ptr", put(1, 0)),
        damage("candidates.ptr", put(-1, 5)),
        damage("candidates.ptr", lambda a: a.astype(np.int32)),
        damage("words.ends", put(0, 10**6)),
        damage("words.blob", lambda a: a[:-1]),
        damage("features.ends", lambda a: a[:-1]),
        damage("signatures.ends", lambda a: a[:-1]),
        damage("classes.parents", put(1, 77777)),
        damage("unknown.weights", lambda a: a[1:]),
        damage("unknown.weights", put((0, 0), np.nan)),
        damage("unknown.states", put(0, 99)),
        damage("unknown.shares", lambda a: a[1:]),
        damage("0.first", put(-1, 3)),
        damage("1.first", put(1, 0)),
        damage("1.transitions", lambda a: a[:, :-1]),
        damage("1.transitions", put((0, 0), np.inf)),
        damage("1.start", put(0, -0.5)),
        damage("1.stop", lambda a: a.astype(np.float32)),
        damage("1.prior", put(0, 0.0)),
        damage("2.values", lambda a: a[:-1]),
        damage("2.shares", lambda a: a[:-1]),
        pytest.param(lambda header, arrays: header.pop("tags"), id="no tags"),
        pytest.param(lambda header, arrays: header.update(tags=[]), id="empty tags"),
        pytest.param(lambda header, arrays: header.update(members=0), id="no members"),
        pytest.param(lambda header, arrays: header.update(anonymous=True), id="anonymous"),
        pytest.param(lambda header, arrays: header.update(members=7), id="members missing"),
        pytest.param(lambda header, arrays: arrays.pop("1.prior"), id="array missing"),
    ],
)
def test_damaged_models_are_refused(tmp_path, split, harm):
    split.save(tmp_path / "m")
    header, arrays = read_model(tmp_path / "m", TaggerModel.KIND)
    harm(header, arrays)
    write_model(tmp_path / "m", TaggerModel.KIND, header, arrays)
    with pytest.raises(ModelError, match="is damaged"):
        TaggerModel.load(tmp_path / "m")


@pytest.mark.parametrize("latent", [1, 2])
def test_a_text_of_one_word_and_one_tag(latent):
    tagger = train_supervised([b"x"], np.array([0, 0, 1]), [b"T"], Pool(1), TaggerSettings(latent=latent, members=1))
    assert names(tagger, [b"x", b"y", b"x"], np.array([0, 1, 1, 3])) == ["T", "T", "T"]


# Taggers of anonymous states


def test_a_chains_own_words_are_tagged_as_the_chain_would():
    chain, words, counts = induced()
    tagger = from_chain(chain, words, counts)
    model = {"start": chain.start, "stop": chain.stop, "transitions": chain.transitions}
    random = np.random.default_rng(7)
    for _ in range(10):
        rows = random.integers(0, 4, random.integers(1, 6))
        sentence = [[(0, dict(enumerate(chain.emissions[r])))] for r in rows]
        text, offsets = [words[r] for r in rows], np.array([0, len(rows)])
        best, _ = tagger.tag(text, offsets, Pool(1), "viterbi")
        assert naive.is_best(model, sentence, best.tolist())
        best, confidence = tagger.tag(text, offsets, Pool(1))
        for t, posterior in enumerate(naive.posteriors(model, sentence, by_state=True)):
            assert best[t] == max(posterior, key=posterior.get)
            assert confidence[t] == pytest.approx(max(posterior.values()), rel=1e-5)
    assert tagger.tags == ["0", "1", "2"]


def test_states_of_unknown_and_rare_words():
    n = 30
    random = np.random.default_rng(2)
    stems = ["".join(random.choice(list("bcdfgk"), 4)) for _ in range(n)]
    words = list(dict.fromkeys([f"{s}ing".encode() for s in stems] + [f"{s}ly".encode() for s in stems]))
    counts = np.array([[1.0, 0] if w.endswith(b"ing") else [0, 1.0] for w in words])
    chain = Chain(np.full(2, 0.5), np.full((2, 2), 0.4), np.full(2, 0.2), counts / counts.sum(0))
    tagger = from_chain(chain, words, counts)
    assert names(tagger, [b"zooming", b"loudly"], np.array([0, 1, 2])) == ["0", "1"]
