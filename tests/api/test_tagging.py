"""Taggers from Python: what they take, what they give, and that they can be kept, sent and shared."""

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.annotation.conll import read_conll
from aligntools.formats.annotation.tagged_text import read_tags, read_words
from aligntools.formats.models.modelfile import read_model
from tests.cli.running import run
from tests.places import SAMPLES

LINES = ["the_DET dog_NOUN barks_VERB ._PUNCT", "a_DET cat_NOUN sleeps_VERB ._PUNCT", "", "dogs_NOUN bark_VERB"]
PAIRS = [[tuple(token.split("_")) for token in line.split()] for line in LINES]


@pytest.fixture(scope="module")
def tagger():
    return at.train_tagger(SAMPLES / "en.tagged", latent=2, members=2, iterations=5)


@pytest.fixture(scope="module")
def induced():
    return at.induce_tags(SAMPLES / "en.txt", states=4, iterations=5)


def saved(tagger, tmp_path):
    """Return what a tagger learned; the header has the options whether they change it or not."""
    tagger.save(tmp_path / "model")
    header, arrays = read_model(tmp_path / "model", "tagger")
    header.pop("settings")
    return repr(header), *((name, array.dtype.str, array.tobytes()) for name, array in sorted(arrays.items()))


def test_a_sentence(tagger):
    found = tagger.tag("My sister leaves .")
    assert list(found) == [("My", "PRON"), ("sister", "NOUN"), ("leaves", "VERB"), (".", "PUNCT")]
    assert (found.tokens, found.tags) == (("My", "sister", "leaves", "."), ("PRON", "NOUN", "VERB", "PUNCT"))
    assert str(found) == "My_PRON sister_NOUN leaves_VERB ._PUNCT"
    assert (len(found), found[-1], found[1:2]) == (4, (".", "PUNCT"), [("sister", "NOUN")])
    assert found.probabilities.shape == (4,)
    assert np.all((found.probabilities > 0.5) & (found.probabilities <= 1))
    assert list(tagger.tag(["My", "sister", "leaves", "."])) == list(found)
    assert [word for word, _ in tagger.tag(["New\xa0York", "leaves"])] == ["New\xa0York", "leaves"]
    assert len(tagger.tag("")) == 0


def test_a_batch_is_one_after_the_other_and_streams(tagger):
    lines = (SAMPLES / "en.txt").read_text().splitlines()
    lines[3:3] = ["", "wug \udcff"]
    alone = [tagger.tag(line) for line in lines]
    for options in ({}, {"batch_size": 7, "threads": 2}):
        found = list(tagger.tag_batch(iter(lines), **options))
        assert [str(s) for s in found] == [str(s) for s in alone]
        assert all(a.probabilities.tobytes() == b.probabilities.tobytes() for a, b in zip(found, alone, strict=True))
    asked = []

    def endless():
        while True:
            asked.append(1)
            yield "My sister"

    stream = tagger.tag_batch(endless(), batch_size=5)
    assert [str(next(stream)) for _ in range(6)] == ["My_PRON sister_NOUN"] * 6
    assert len(asked) == 10


def test_the_command_writes_what_the_api_finds(tagger, tmp_path):
    tagger.save(tmp_path / "model")
    for decoder in ("posterior", "viterbi"):
        lines = (
            run("tag", "--decode", decoder, "-m", tmp_path / "model", SAMPLES / "en.txt").stdout.decode().splitlines()
        )
        texts = (SAMPLES / "en.txt").read_text().splitlines()
        assert [str(s) for s in tagger.tag_batch(texts, decode=decoder)] == lines


def test_text_that_a_reader_returned(tagger):
    conll = read_conll(str(SAMPLES / "en.conllu"))
    found = tagger.tag_text(conll)
    assert len(found) == len(conll)
    assert found.ids.dtype == np.int32
    assert [found.tagset[n] for n in found.ids[:5]] == [t.decode() for t in found.tags[:5]]
    assert found[-1].tags == tuple(tag.decode() for tag in found.tags[conll.offsets[-2] :])
    assert [s.tokens for s in found[2:4]] == [found[2].tokens, found[3].tokens]
    with pytest.raises(IndexError):
        found[len(found)]
    assert found.format().count(b"\n") == (SAMPLES / "en.conllu").read_bytes().count(b"\n")
    plain = tagger.tag_text(read_words(str(SAMPLES / "en.txt"), "text"))
    assert plain.format(to="tagged", separator="/") == plain.format().replace(b"_", b"/")
    assert plain.format(to="conll", column="xpos").split(b"\n")[0].split(b"\t")[3:5] == [b"_", plain.tags[0]]
    with pytest.raises(at.UsageProblem, match="column 'tag'"):
        found.format(column="tag")


def test_all_kinds_of_text_give_the_same_tags(tmp_path):
    options = {"latent": 2, "members": 1, "iterations": 3}
    (tmp_path / "text").write_text("\n".join(LINES) + "\n")
    texts = [str(tmp_path / "text"), tmp_path / "text", LINES, PAIRS, iter(PAIRS), read_tags(str(tmp_path / "text"))]
    texts.append([line.replace("_", "/") for line in LINES])
    models = {saved(at.train_tagger(text, **options), tmp_path) for text in texts}
    assert len(models) == 1
    assert models != {saved(at.train_tagger(LINES, **options | {"seed": 2}), tmp_path)}
    again = at.train_tagger(at.train_tagger(PAIRS, latent=1).tag_batch(["the dog", "a cat barks"]), latent=1)
    assert again.tags == ("DET", "NOUN", "VERB")
    lines = [" ".join(word for word, _ in sentence) for sentence in PAIRS]
    (tmp_path / "text").write_text("\n".join(lines) + "\n")
    texts = [tmp_path / "text", lines, [line.split() for line in lines], read_words(str(tmp_path / "text"), "text")]
    models = {saved(at.induce_tags(text, states=3, iterations=3), tmp_path) for text in texts}
    assert len(models) == 1


def test_each_option_shows(tmp_path):
    text = (SAMPLES / "en.txt").read_text().splitlines()
    base = {"states": 3, "iterations": 4, "seed": 1}
    default = saved(at.induce_tags(text, **base), tmp_path)
    changes = (
        {"states": 4}, {"iterations": 5}, {"seed": 2}, {"estimator": "vb"}, {"estimator": "mre", "mre_iterations": 2},
        {"transition_prior": 2.0}, {"emission_prior": 0.5}, {"stop": False}, {"restarts": 4},
    )  # fmt: skip
    found = [saved(at.induce_tags(text, **base | change), tmp_path) for change in changes]
    assert default not in found
    assert len(set(found)) == len(found)
    long = {"states": 3, "iterations": 40}
    assert saved(at.induce_tags(text, **long), tmp_path) != saved(at.induce_tags(text, **long, tolerance=0.5), tmp_path)
    base = {"latent": 2, "members": 2, "iterations": 3}
    found = {
        saved(at.train_tagger(SAMPLES / "en.conllu", **base | change), tmp_path)
        for change in ({}, {"latent": 4}, {"members": 1}, {"iterations": 4}, {"seed": 2}, {"column": "xpos"})
    }
    assert len(found) == 6


def test_what_a_tagger_says_of_itself(tagger, induced, tmp_path):
    assert {"DET", "NOUN", "VERB"} <= set(tagger.tags)
    assert (tagger.n_models, tagger.column) == (2, "upos")
    assert tagger.n_states >= len(tagger.tags)
    assert tagger.knows(["the", "wug"]) == [True, False]
    assert repr(induced) == "<Tagger of 4 tags, 4 states>"
    assert induced.tags == ("0", "1", "2", "3")
    with pytest.raises(AttributeError):
        tagger.model = None


def test_steps_are_reported():
    steps = []
    at.train_tagger(LINES, latent=2, members=2, iterations=3, progress=steps.append)
    assert {s.stage for s in steps} == {"em", "trained"}
    assert steps[0].figures.keys() == {"member", "split", "iteration", "states", "log_likelihood"}
    assert steps[-1].figures["words"] == 10
    steps.clear()
    at.induce_tags(LINES, states=2, estimator="mre", iterations=3, mre_iterations=2, restarts=2, progress=steps.append)
    assert {s.stage for s in steps} == {"em", "mre", "trained"}
    assert steps[-1].figures.keys() == {"words", "types", "states", "restart"}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: at.train_tagger([]), at.DataError, "no words to learn from"),
        (lambda: at.train_tagger(["the dog"]), at.DataError, "<sentences>:1: token 'the' has no separator"),
        (lambda: at.train_tagger([[("the", "")]]), at.DataError, "<sentences>:1: a word or a tag is empty"),
        (lambda: at.train_tagger("none.txt"), at.DataError, "none.txt: cannot be opened"),
        (lambda: at.train_tagger(read_words(str(SAMPLES / "en.txt"), "text")), at.DataError, "no tags"),
        (lambda: at.train_tagger(LINES, latent=0), at.UsageProblem, "latent must be a whole number from 1"),
        (lambda: at.induce_tags([" "]), at.DataError, "no words to learn from"),
        (lambda: at.induce_tags(LINES, estimator="best"), at.UsageProblem, "estimator is one of em, vb, mre"),
        (lambda: at.induce_tags([["a", ""]]), at.DataError, "the word .. is empty"),
        (lambda: at.train_tagger(LINES, latent=1).tag("a", decode="best"), at.UsageProblem, "decode is one of"),
        (lambda: at.Tagger.load(SAMPLES / "en.txt"), at.ModelError, "en.txt"),
        (lambda: at.load(SAMPLES / "en.txt"), at.ModelError, "damaged or not a model file"),
        (lambda: at.load("none"), at.ModelError, "cannot be opened"),
    ],
)
def test_what_is_wrong_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
