"""parse with a grammar of constituents: the best trees, trees that are drawn, words in other normal forms."""

import math
import re

import pytest

import aligntools as at
from tests.cli.running import ran, run

TEXT = b"The dog sleeps .\n\nHis dog saw the man in the garden .\nfoo bar baz qux\n"
NUMBER = r"-?\d+\.\d{6}|-inf"


@pytest.fixture(scope="module")
def models(samples, tmp_path_factory):
    """A grammar with latent annotations, and a product of two."""
    folder = tmp_path_factory.mktemp("lists")
    for name, members in (("one", 1), ("two", 2)):
        at.train_grammar(samples / "en.mrg", latent=1, iterations=2, members=members).save(folder / name)
    return folder


def lists(output, scores):
    """Return (sentence, tree, numbers) of each line."""
    numbers = rf"({NUMBER}) \|\|\| ({NUMBER})" if scores else rf"({NUMBER})"
    found = [re.fullmatch(rf"(\d+) \|\|\| (\(.*\)) \|\|\| {numbers}", line) for line in output.decode().splitlines()]
    return [(int(m[1]), m[2], *map(float, m.groups()[2:])) for m in found]


@pytest.mark.parametrize("name", ["one", "two"])
def test_the_best_trees(models, name):
    done = ran("parse", "-m", models / name, "--n-best", 5, stdin=TEXT)
    found = lists(done.stdout, True)
    plain = run("parse", "-q", "-m", models / name, stdin=TEXT).stdout.decode().splitlines()
    assert [next(tree for k, tree, *_ in found if k == number) for number in range(4)] == plain
    assert len({(number, tree) for number, tree, *_ in found}) == len(found)
    for number in range(4):
        own = [(p, score) for k, _, p, score in found if k == number]
        assert 1 <= len(own) <= 5
        assert [score for _, score in own] == sorted((score for _, score in own), reverse=True)
        assert sum(math.exp(p) for p, _ in own) <= 1 + 1e-5
    assert sum(number == 2 for number, *_ in found) > 1
    assert [row[1:] for row in found if row[0] == 1] == [("(())", 0, 0)]


def test_lists_of_odd_sentences(models):
    done = run("parse", "-m", models / "one", "--n-best", 3, "--max-length", 3, stdin=TEXT)
    found = lists(done.stdout, True)
    assert [number for number, *_ in found] == [0, 1, 2, 3]
    assert [p for _, _, p, _ in found] == [-math.inf, 0, -math.inf, -math.inf]
    assert b"warning: 3 sentences over --max-length have flat trees (the first: <stdin>, sentence 1)" in done.stderr
    flat = run("parse", "-q", "-m", models / "one", "--max-length", 3, stdin=TEXT).stdout.decode().splitlines()
    assert [tree for _, tree, *_ in found] == flat
    text = b"The_DT dog_XX sleeps_XX ._.\n"
    done = run("parse", "-q", "-m", models / "one", "--n-best", 20, stdin=text)
    trees = [tree for _, tree, *_ in lists(done.stdout, True)]
    assert len(set(trees)) == len(trees)
    assert all("(XX dog)" in tree and "(XX sleeps)" in tree for tree in trees)


@pytest.mark.parametrize("name", ["one", "two"])
def test_samples_go_by_the_seed(models, name):
    def drawn(seed):
        done = ran("parse", "-q", "-m", models / name, "--samples", 6, "--seed", seed, stdin=TEXT)
        return done.stdout

    found = lists(drawn(1), False)
    assert [number for number, *_ in found] == [0] * 6 + [1] + [2] * 6 + [3] * 6
    assert all(-math.inf < p <= 1e-6 for _, _, p in found)
    assert drawn(1) != drawn(2)


def test_lists_in_python(models):
    parser = at.load(models / "one")
    best = list(parser.n_best(["The dog sleeps .", "", [("Rain", "NN")]], 3, threads=1))
    assert [len(own) for own in best][1] == 1
    assert str(best[0][0].tree) == str(parser.parse("The dog sleeps ."))
    assert best[2][0].tree.tags() == ["NN"]
    drawn = list(parser.sample_trees(["The dog sleeps .", "The dog sleeps ."], 4, seed=3))
    assert [len(own) for own in drawn] == [4, 4]
    again = list(parser.sample_trees(["The dog sleeps ."], 4, seed=3, first=1))
    assert [str(one.tree) for one in again[0]] == [str(one.tree) for one in drawn[1]]
    with pytest.raises(at.UsageProblem, match="leave out decode"):
        next(parser.n_best(["a"], 2, decode="viterbi"))
