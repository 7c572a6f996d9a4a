"""Training from a treebank: what is trained on, and what comes out."""

import itertools
import math

import numpy as np
import pytest

from aligntools.formats.annotation.conll import read_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.ground import lbfgs
from aligntools.ground.parallel import Pool
from aligntools.metrics import attachment
from aligntools.parsing import feature_space as features
from aligntools.parsing.feature_space import EncodedSentences, FeatureSpace
from aligntools.parsing.learning import training, treebank
from aligntools.parsing.learning.training import EntropyLoss, ExpectedLoss, ParserObjective, TreeLoss
from aligntools.parsing.settings import ParserSettings, TreeConstraints
from aligntools.parsing.trees import inference
from tests import naive_parsing as naive
from tests.parsing.test_parser import TEXT, split
from tests.places import REALDATA

TREEBANKS = REALDATA / "treebanks"


#: Trees that the model cannot have are left out.
SKIPPING = {"crossing": "skip", "roots": "skip"}


def test_a_parser_from_a_treebank():
    words, tags, offsets, heads, labels = split(TEXT * 2)
    seen = []
    note = lambda n, v, w: seen.append((n, v))  # noqa: E731
    how = ParserSettings(bits=12, l2=0.05)
    parser, report = treebank.train(words, tags, offsets, heads, labels, how, progress=note)
    assert [report[name] for name in ("sentences", "words", "skipped", "first_skipped")] == [10, len(words), {}, None]
    sentences = parser.sentences(words, tags, offsets)
    found = parser.parse(sentences)[0]
    assert found.tolist() == heads.tolist()
    assert parser.labeler.label(sentences, found) == labels
    assert (len(seen), seen[-1][1]) == (report["steps"], report["objective"])
    assert parser.settings["l2"] == 0.05
    assert parser.constraints == TreeConstraints()


def test_what_cannot_be_trained_on_is_left_out_and_counted():
    words, tags, offsets, heads, _ = split([*TEXT, TEXT[0], TEXT[1], TEXT[3], TEXT[0]])
    heads[offsets[5] : offsets[5] + 3] = [2, 1, 0]
    heads[offsets[6] : offsets[6] + 5] = [0, 0, 2, 2, 2]
    heads[offsets[7]] = -1
    settings = ParserSettings(bits=10, iterations=3, min_length=3, max_length=5, **SKIPPING)
    parser, report = treebank.train(words, tags, offsets, heads, None, settings)
    assert report["skipped"] == {"a cycle": 1, "several roots": 1, "a word without a head": 1, "too short": 1}
    assert report["sentences"] == 5
    assert report["first_skipped"] == 5
    assert parser.labeler is None
    settings = ParserSettings(bits=10, iterations=1, crossing="skip")
    _, joined = treebank.train(words, tags, offsets, heads, None, settings)
    assert joined["changed"] == {"several roots": 1}
    assert joined["sentences"] == 7
    with pytest.raises(ValueError, match="no sentence"):
        treebank.train(words, tags, offsets, heads, None, ParserSettings(min_length=99))


@pytest.mark.slow
def test_real_text():
    """Half of the English Google treebank, 30 iterations: above 84 on the test text."""
    paths = [TREEBANKS / "google" / f"en-{part}.conll.gz" for part in ("train", "test")]
    if not all(p.is_file() for p in paths):
        pytest.skip("no treebank")
    train, test = (read_conll(str(p)) for p in paths)
    train = train.part(0, 1600)
    with Pool(2) as pool:
        parser, _ = treebank.train(
            train.words, train.column(COLUMNS["upos"]), train.offsets, train.heads(), train.column(COLUMNS["deprel"]),
            ParserSettings(iterations=30, roots="join", crossing="lift"), pool,
        )  # fmt: skip
        sentences = parser.sentences(test.words, test.column(COLUMNS["upos"]), test.offsets)
        heads, _, _ = parser.parse(sentences, pool)
    labels = attachment.labels_equal(test.column(COLUMNS["deprel"]), parser.labeler.label(sentences, heads))
    counts = attachment.count(test.heads(), heads, test.offsets, np.ones(len(test.words), bool), labels)
    uas, las, *_ = attachment.figures(counts.sum(axis=0))
    assert uas > 0.84
    assert las > 0.79


TREES = [TreeConstraints(p, s) for p, s in itertools.product((True, False), repeat=2)]


def some_sentences(lengths, seed=0):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return EncodedSentences.from_ids(offsets, *(rng.integers(0, n, offsets[-1]).astype(np.int32) for n in (7, 5, 6)))


def losses_of(trees, sentences, seed=1):
    rng = np.random.default_rng(seed)
    offsets = sentences.offsets
    heads, _ = inference.best_trees(rng.normal(0, 1, sentences.edges[-1]), offsets, trees)
    other = inference.sums(rng.normal(0, 2, sentences.edges[-1]), offsets, trees)[1]
    return {
        "tree": TreeLoss(sentences, heads, trees),
        "expected": ExpectedLoss(sentences, other, trees),
        "shannon": EntropyLoss(sentences, trees, 0.7),
        "renyi": EntropyLoss(sentences, trees, 0.7, 2.0),
    }


@pytest.mark.parametrize("trees", TREES, ids=str)
@pytest.mark.parametrize("name", ["tree", "expected", "shannon", "renyi"])
def test_gradients_equal_central_differences(trees, name):
    sentences = some_sentences([3, 0, 6, 1, 9])
    space = FeatureSpace(features.SETS["full"], [7] * len(features.SETS["full"]))
    objective = ParserObjective(space, [losses_of(trees, sentences)[name]], l2=0.3)
    rng = np.random.default_rng(5)
    weights = rng.normal(0, 0.3, space.size)
    gradient = objective(weights)[1]
    for _ in range(5):
        direction = rng.normal(0, 1, space.size)
        step = 1e-5
        slope = (objective(weights + step * direction)[0] - objective(weights - step * direction)[0]) / (2 * step)
        assert math.isclose(slope, gradient @ direction, rel_tol=1e-6, abs_tol=1e-6)
    for place in rng.choice(space.size, 20):
        moved = [weights.copy(), weights.copy()]
        moved[0][place] += 1e-4
        moved[1][place] -= 1e-4
        slope = (objective(moved[0])[0] - objective(moved[1])[0]) / 2e-4
        assert math.isclose(slope, gradient[place], rel_tol=1e-6, abs_tol=1e-6)


@pytest.mark.parametrize("trees", TREES, ids=str)
def test_values_are_what_they_say(trees):
    """Minus log-probabilities, cross-entropies, entropies: by enumeration."""
    sentences = some_sentences([3, 4, 0])
    losses = losses_of(trees, sentences)
    scores = np.random.default_rng(9).normal(0, 1, sentences.edges[-1])
    values = {name: loss.value(scores)[0] for name, loss in losses.items()}
    for s, n in enumerate([3, 4]):
        here = slice(sentences.edges[s], sentences.edges[s + 1])
        matrix = scores[here].reshape(n, n + 1)
        all_trees = naive.trees(n, trees.projective, trees.single_root)
        log_z, _ = naive.distribution(matrix, all_trees)
        heads = losses["tree"].heads[sentences.offsets[s] : sentences.offsets[s + 1]]
        assert tuple(heads) in all_trees
        assert math.isclose(values["tree"][s], log_z - naive.total(matrix, heads), rel_tol=1e-12)
        cross = log_z - float(np.sum(losses["expected"].expected[here] * scores[here]))
        assert math.isclose(values["expected"][s], cross, rel_tol=1e-12)
        assert math.isclose(values["shannon"][s], 0.7 * naive.entropy(matrix, all_trees), rel_tol=1e-10)
        assert math.isclose(values["renyi"][s], 0.7 * naive.entropy(matrix, all_trees, 2.0), rel_tol=1e-10)
    assert all(v[2] == 0 for v in values.values())


def test_chunks_and_threads_change_nothing(monkeypatch):
    sentences = some_sentences([5, 9, 2, 0, 14, 7] * 6)
    space = FeatureSpace(features.TAGS, [9] * len(features.TAGS))
    losses = list(losses_of(TreeConstraints(), sentences).values())
    weights = np.random.default_rng(2).normal(0, 0.5, space.size)
    value, gradient = ParserObjective(space, losses, 1.0)(weights)
    with Pool(3) as pool:
        again = ParserObjective(space, losses, 1.0, pool)(weights)
    assert again[0] == value
    assert again[1].tobytes() == gradient.tobytes()
    monkeypatch.setattr(training, "CHUNK", 300)
    chunked = ParserObjective(space, losses, 1.0)
    assert len(chunked.names) > 4 * len(losses)
    value_2, gradient_2 = chunked(weights)
    assert math.isclose(value, value_2, rel_tol=1e-12)
    assert np.allclose(gradient, gradient_2, rtol=0, atol=1e-10)


def grammar(sentences, seed):
    """Return sentences whose trees follow from the tags: 2 hangs on the next 1, 3 on the 1 before, 1 on the next 1."""
    rng = np.random.default_rng(seed)
    tags, heads, offsets = [], [], [0]
    for _ in range(sentences):
        part, tree = [], []
        nouns = int(rng.integers(1, 4))
        for _ in range(nouns):
            before, after = int(rng.integers(0, 3)), int(rng.integers(0, 2))
            part += [2] * before + [1] + [3] * after
        places = [i + 1 for i, tag in enumerate(part) if tag == 1]
        for i, tag in enumerate(part, 1):
            if tag == 1:
                tree.append(next((p for p in places if p > i), 0))
            else:
                tree.append(
                    min((p for p in places if p > i), default=0) if tag == 2 else max(p for p in places if p < i)
                )
        tags += part
        heads += tree
        offsets.append(len(tags))
    tags = np.array(tags, np.int32)
    return EncodedSentences.from_ids(offsets, np.ones_like(tags), tags, tags), np.array(heads, np.int32)


@pytest.mark.parametrize("trees", [TreeConstraints(), TreeConstraints(False)], ids=str)
def test_a_grammar_is_learned_and_the_objective_falls(trees):
    sentences, heads = grammar(60, 1)
    space = FeatureSpace.fitted(features.TAGS, sentences, 14)
    seen = []
    objective = ParserObjective(space, [TreeLoss(sentences, heads, trees)], 0.01)
    note = lambda number, value, _: seen.append((number, value))  # noqa: E731
    weights, values, _ = training.minimize(objective, iterations=30, progress=note)
    assert all(b < a for a, b in itertools.pairwise(values))
    assert seen == list(enumerate(values))[1:]
    new, gold = grammar(40, 2)
    found, _ = inference.best_trees(space.scores(weights, new), new.offsets, trees)
    assert np.mean(found == gold) == 1.0
    assert math.isclose(ParserObjective(space, [TreeLoss(sentences, heads, trees)], 0.01)(weights)[0], values[-1])


def test_learning_can_go_on_from_weights():
    sentences, heads = grammar(20, 3)
    space = FeatureSpace.fitted(features.TAGS, sentences, 12)
    objective = ParserObjective(space, [TreeLoss(sentences, heads, TreeConstraints())], 0.1)
    weights, first, _ = training.minimize(objective, iterations=4)
    _, second, _ = training.minimize(objective, weights, iterations=4)
    assert second[0] == first[-1]
    assert second[-1] < first[-1]


def test_entropy_makes_a_model_more_certain():
    """With a trade-off, the entropy of what is learned is lower, the loss on the trees not."""
    sentences, heads = grammar(20, 4)
    plain, _ = grammar(30, 5)
    space = FeatureSpace.fitted(features.TAGS, sentences, 12)
    found = []
    for weight in (0.0, 1.0):
        objective = ParserObjective(
            space, [TreeLoss(sentences, heads, TreeConstraints()), EntropyLoss(plain, TreeConstraints(), weight)], 1.0
        )
        weights = training.minimize(objective, iterations=25)[0]
        scores = [space.scores(weights, x) for x in (sentences, plain)]
        loss = TreeLoss(sentences, heads, TreeConstraints()).value(scores[0])[0].sum()
        found.append((loss, inference.entropy(scores[1], plain.offsets, TreeConstraints())[0].sum()))
    assert found[1][1] < 0.7 * found[0][1]


def test_an_interrupted_training_ends_where_the_other_does():
    sentences, heads = grammar(20, 6)
    space = FeatureSpace.fitted(features.TAGS, sentences, 12)
    objective = ParserObjective(space, [TreeLoss(sentences, heads, TreeConstraints())], 0.1)
    saved = []
    whole = training.minimize(objective, iterations=14)
    training.minimize(
        objective, iterations=9, checkpoint=lambda state: saved.append({k: v.copy() for k, v in state.arrays().items()})
    )
    assert len(saved) == 9
    rest = training.minimize(objective, lbfgs.LbfgsState.from_arrays(saved[-1]), iterations=14)
    assert rest[0].tobytes() == whole[0].tobytes()
    assert rest[1] == whole[1][9:]
    with pytest.raises(ValueError, match="a state of"):
        training.minimize(
            ParserObjective(
                space, [TreeLoss(sentences.part(0, 1), heads[: sentences.lengths[0]], TreeConstraints())], 0.1
            ),
            lbfgs.LbfgsState.from_arrays(saved[-1]),
        )
