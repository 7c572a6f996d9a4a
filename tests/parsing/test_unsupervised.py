"""The dependency model with valence: sums, counts and best trees equal enumeration; learning never loses."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aligntools as at
from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.ground.em import normalized
from aligntools.ground.errors import DataError, ModelError, UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.parsing import kernels_valence, valence
from aligntools.parsing.learning.checkpoints import Checkpoint
from aligntools.parsing.settings import InducedParserSettings, TreeConstraints
from aligntools.parsing.valence import Valence, ValenceModel, best_trees, expected_counts, harmonic, train
from tests.naive_parsing import is_projective, is_tree
from tests.naive_valence import enumerated, log_probability
from tests.places import SAMPLES


def model(seed, n=3, sharp=1.0, zeros=0.0):
    """Return random probabilities; a share of them is 0."""
    random = np.random.default_rng(seed)

    def rows(*shape):
        values = np.exp(sharp * random.normal(size=shape)) * (random.random(shape) >= zeros)
        return normalized(values)

    return Valence.of_rows(rows(2 * n, n), rows(4 * n, 2), rows(1, n))


def text(seed, lengths, n=3):
    tags = np.random.default_rng(seed).integers(0, n, sum(lengths)).astype(np.int32)
    return tags, np.append(0, np.cumsum(lengths)).astype(np.int64)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_sums_and_counts_are_those_of_all_trees(monkeypatch, log, seed):
    """In probabilities, and in log space, which long sentences need."""
    if log:
        run = kernels_valence.expect
        monkeypatch.setattr(valence, "_expected", _in_logs(run))
    given_model, (tags, offsets) = model(seed), text(seed, [1, 2, 3, 4, 0, 5])
    found, log_z = expected_counts(given_model, tags, offsets)
    expected, events = np.zeros(len(log_z)), {}
    for s in range(len(log_z)):
        own = tags[offsets[s] : offsets[s + 1]].tolist()
        if own:
            expected[s], counted, _ = enumerated(own, given_model.choose, given_model.decide, given_model.root)
            for event, x in counted.items():
                events[event] = events.get(event, 0.0) + x
    np.testing.assert_allclose(log_z, expected, rtol=1e-12)
    arrays = {"root": found.events().root, "choose": found.chosen, "decide": found.events().decide}
    for name, array in arrays.items():
        for place in np.ndindex(array.shape):
            assert array[place] == pytest.approx(events.get((name, *place), 0.0), abs=1e-12)


def _in_logs(run):
    """Return `valence._expected` that has every sentence done in log space."""
    plain = valence._expected

    def expected(choose, decide, root, log, tags, offsets, pool):
        parts, log_z, unsafe = plain(choose, decide, root, log, tags, offsets, pool)
        if log:
            return parts, log_z, unsafe
        return [], np.zeros_like(log_z), np.ones_like(unsafe)

    assert run is kernels_valence.expect
    return expected


@pytest.mark.parametrize("zeros", [0.0, 0.3])
def test_the_best_tree_is_the_best_of_all(zeros):
    impossible = 0
    for seed in range(12):
        given_model, (tags, offsets) = model(seed, zeros=zeros), text(seed, [1, 2, 3, 4, 5, 5])
        heads, best = best_trees(given_model.logs(), tags, offsets)
        for s in range(len(best)):
            own = tags[offsets[s] : offsets[s + 1]].tolist()
            arrays = given_model.choose, given_model.decide, given_model.root
            found = tuple(heads[offsets[s] : offsets[s + 1]].tolist())
            top = enumerated(own, *arrays)[2][0]
            assert is_tree(found)
            assert is_projective(found)
            assert found.count(0) == 1
            assert best[s] == pytest.approx(top, rel=1e-12)
            if top == -np.inf:
                impossible += 1
                assert found == (0, *[1] * (len(own) - 1))
            else:
                assert log_probability(found, own, *arrays) == pytest.approx(top, rel=1e-12)
    assert bool(impossible) == bool(zeros)


def test_long_sentences_are_done_in_log_space():
    """A float64 does not hold this sentence; its counts are as sound as a short one's."""
    given_model, (tags, offsets) = model(1, sharp=3.0), text(2, [260, 7])
    found, log_z = expected_counts(given_model, tags, offsets)
    assert log_z[0] < -745
    assert found.rooted.sum() == pytest.approx(2)
    assert found.rooted.sum() + found.chosen.sum() == pytest.approx(267)
    assert found.words.sum() == 267
    alone = expected_counts(given_model, tags[260:], np.array([0, 7]))[1]
    assert log_z[1] == alone[0]


@given(st.integers(0, 10**6), st.sampled_from(["em", "vb"]), st.sampled_from([0.0, 0.01, 0.1, 1.0]), st.integers(1, 4))
@settings(max_examples=25)
def test_no_iteration_lowers_the_objective(seed, estimator, prior, n):
    random = np.random.default_rng(seed)
    tags, offsets = text(seed, random.integers(0, 7, 6).tolist(), n)
    if not len(tags):
        return
    how = InducedParserSettings(estimator=estimator, prior=prior or (0.1 if estimator == "vb" else 0.0), tolerance=0.0)
    values = valence.learn(tags, offsets, n, how).values
    assert all(b >= a - 1e-9 * abs(a) for a, b in pairwise(values))
    assert np.isfinite(values).all()


def test_the_start_and_threads():
    """Three words: from the middle one, both others are equally near; from the first, they weigh 1 and 1/2."""
    counts = harmonic(np.array([0, 1, 2], np.int32), np.array([0, 3]), 3)
    np.testing.assert_allclose(counts.rooted, 1 / 3)
    np.testing.assert_allclose(counts.chosen.sum((0, 1)), 2 / 3)
    assert counts.chosen[0, 1, 1] == pytest.approx(1 / 3)  # 1 of 1 and 1
    assert counts.chosen[1, 1, 2] == pytest.approx(4 / 9)  # 1 of 1 and 1/2
    assert counts.chosen[0, 1, 2] == pytest.approx(2 / 9)
    assert counts.bare[0].tolist() == pytest.approx([1.0, 2 / 3 * 7 / 9])
    squared = harmonic(np.array([0, 1, 2], np.int32), np.array([0, 3]), 3, 2.0)
    assert squared.chosen[1, 1, 2] == pytest.approx(2 / 3 * 4 / 5)
    tags, offsets = text(1, np.random.default_rng(1).integers(0, 12, 300).tolist(), 5)
    how = InducedParserSettings(iterations=5)
    with Pool(3) as pool:
        ours, alone = valence.learn(tags, offsets, 5, how, pool), valence.learn(tags, offsets, 5, how)
    assert ours.values == alone.values
    for a, b in zip(ours.model.rows(), alone.model.rows(), strict=True):
        assert a.tobytes() == b.tobytes()


def test_a_checkpoint_continues_to_the_same_model(tmp_path):
    tags, offsets = text(1, [5] * 30, 4)
    how = InducedParserSettings(iterations=12, tolerance=0.0)
    whole = valence.learn(tags, offsets, 4, how)

    def stop(number, _):
        if number == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        valence.learn(tags, offsets, 4, how, report=stop, checkpoint=Checkpoint(tmp_path))
    steps = []
    again = valence.learn(tags, offsets, 4, how, report=lambda k, _: steps.append(k), checkpoint=Checkpoint(tmp_path))
    assert steps[0] in (5, 6)
    assert again.values == whole.values
    assert again.model.choose.tobytes() == whole.model.choose.tobytes()
    with pytest.raises(ModelError, match="other text or options"):
        valence.learn(tags, offsets, 4, InducedParserSettings(prior=2.0), checkpoint=Checkpoint(tmp_path))
    header, arrays = read_model(tmp_path / "induce.state", "parser checkpoint")
    write_model(tmp_path / "induce.state", "parser checkpoint", header, arrays | {"bare": np.zeros(3)})
    with pytest.raises(ModelError, match="damaged"):
        valence.learn(tags, offsets, 4, how, checkpoint=Checkpoint(tmp_path))


def test_punctuation_is_left_out_and_attached_without_crossing_edges():
    rows = [line.split() for line in ("D N V D N", "N V", "D N V", "N V D N", "D N V .")] * 4
    tags = [tag.encode() for row in rows for tag in row]
    parser, report = train(tags, np.append(0, np.cumsum([len(row) for row in rows])))
    assert (report["tags"], report["words"]) == (3, 17 * 4)
    random = np.random.default_rng(5)
    for _ in range(40):
        own = random.choice([b"D", b"N", b"V", b".", b","], 9).tolist()
        sentences = parser.sentences([b"w"] * 9, own, np.array([0, 9]))
        heads = parser.parse(sentences)[0].tolist()
        assert is_tree(heads)
        assert is_projective(heads)
        assert heads.count(0) == 1
        inside = [k for k, tag in enumerate(own) if tag not in (b".", b",")]
        if inside:
            bare = parser.sentences([b"w"] * len(inside), [own[k] for k in inside], np.array([0, len(inside)]))
            alone = parser.parse(bare)[0].tolist()
            assert [heads[k] for k in inside] == [inside[h - 1] + 1 if h else 0 for h in alone]
            assert all(own[h - 1] not in (b".", b",") for h in heads if h)
    assert not parser.unknown_tags([b"."]).any()
    kept, report = train(tags, np.append(0, np.cumsum([len(row) for row in rows])), InducedParserSettings(punct="keep"))
    assert report["tags"] == 4
    assert kept.unknown_tags([b",", b"."]).tolist() == [True, False]


def test_sentences_over_the_limit_and_empty_ones_and_new_tags():
    parser = at.induce_parser(["a_D b_N c_V", "b_N c_V"] * 5)
    found = parser.model.parse(
        parser.model.sentences([b"w"] * 9, [b"D", b"N", b"V", b"Z", b"N", b".", b".", b".", b"D"],
                               np.array([0, 0, 4, 5, 6, 6, 9])), longest=2,
    )  # fmt: skip
    assert found[2].tolist() == [False, True, False, False, False, True]
    assert found[0].tolist() == [0, 1, 1, 1, 0, 0, 0, 1, 1]
    assert np.isfinite(found[1][[2, 3]]).all()
    assert parser.parse("a_D x_Z b_N c_V").heads.tolist().count(0) == 1
    with pytest.raises(ValueError, match="2 words, 1 tags"):
        parser.model.sentences([b"w"] * 2, [b"N"], np.array([0, 2]))
    with pytest.raises(UsageProblem, match="only projective"):
        parser.model.parse(parser.model.sentences([b"w"], [b"N"], np.array([0, 1])), constraints=TreeConstraints(False))


def test_a_saved_model_is_the_same_model(tmp_path):
    parser = at.induce_parser(SAMPLES / "en.tagged", estimator="vb", map="upos")
    parser.save(tmp_path / "m")
    again = at.load(tmp_path / "m")
    assert (again.unsupervised, again.map, again.projective) == (True, "upos", True)
    assert again.n_features == parser.n_features
    header, arrays = read_model(tmp_path / "m", "dmv")
    for name, value in (("root", arrays["root"] / 2), ("choose", arrays["choose"][:1]), ("decide", -arrays["decide"])):
        write_model(tmp_path / "bad", "dmv", header, arrays | {name: value})
        with pytest.raises(ModelError, match="do not fit together"):
            ValenceModel.load(tmp_path / "bad")
    write_model(tmp_path / "bad", "dmv", {"settings": header["settings"] | {"punct": "some"}}, arrays)
    with pytest.raises(ModelError, match="settings"):
        ValenceModel.load(tmp_path / "bad")


def test_what_cannot_be_learned_is_said(tmp_path):
    with pytest.raises(DataError, match="has 1 to 10 words"):
        at.induce_parser([" ".join(["a_N"] * 11)])
    with pytest.raises(DataError, match="column of the tags"):
        at.induce_parser([f"a_{k}" for k in range(2001)])
    with pytest.raises(DataError, match="no tag"):
        at.induce_parser([[("a", "_")]])
    for wrong in ({"estimator": "map"}, {"estimator": "vb", "prior": 0}, {"min_length": 11}, {"decay": -1}):
        with pytest.raises(UsageProblem):
            at.induce_parser(["a_N b_V"], **wrong)
    at.induce_parser(["a_N b_V"]).save(tmp_path / "m")
    with pytest.raises(ModelError, match="without trees"):
        at.transfer_parser(tmp_path / "m", method="direct")


def test_the_grammar_of_a_toy_language_is_found():
    """Determiners before nouns, which come before or after verbs: what belongs together is found."""
    lines = ["D N V", "N V", "D N V D N", "N V D N", "V D N", "V N", "D A N V", "N V A N", "D A N V N"] * 3
    tagged = [" ".join(f"w_{tag}" for tag in line.split()) for line in lines]
    parser = at.induce_parser(tagged)
    heads = parser.parse("w_D w_A w_N w_V w_D w_N").heads.tolist()
    assert heads[3] == 0
    pairs = {frozenset(edge) for edge in enumerate(heads, 1)}
    assert {frozenset((5, 6)), frozenset((0, 4))} <= pairs
