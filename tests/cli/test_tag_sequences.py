"""tag: probabilities of sentences, best sequences of tags, samples, posteriors."""

import math
import re

import pytest

from aligntools.formats.annotation.tag_lists import read_posteriors
from tests.cli.running import ran, run


@pytest.fixture(scope="module")
def models(samples, tmp_path_factory):
    """A tagger of one state a tag, one of relative frequencies, one of substates and two models."""
    folder = tmp_path_factory.mktemp("sequences")
    for name, how in {
        "plain": ("--latent", 1), "relative": ("--latent", 1, "--set", "relative_frequencies=true"),
        "two": ("--latent", 2, "--members", 2, "--iterations", 2),
    }.items():  # fmt: skip
        ran("train-tagger", "-q", "--tagged", samples / "en.tagged", *how, "-o", folder / name)
    return folder


TEXT = b"The man was in Hamburg .\n\nWe know the answer\nzzyzx\n"
NUMBER = r"-\d+\.\d{6}"


def lists(output):
    """Return (sentence, tags, log-probability) of each line."""
    found = [
        re.fullmatch(rf"(\d+) \|\|\| (\S+(?: \S+)*) \|\|\| ({NUMBER})", line) for line in output.decode().splitlines()
    ]
    return [(int(m[1]), m[2].split(), float(m[3])) for m in found]


@pytest.mark.parametrize("name", ["plain", "two"])
def test_scores_lists_and_posteriors(models, tmp_path, name):
    paths = [tmp_path / "scores", tmp_path / "posteriors"]
    also = ("--scores", paths[0], "--posteriors", paths[1])
    done = ran("tag", "-m", models / name, *also, stdin=TEXT)
    plain = run("tag", "-q", "-m", models / name, stdin=TEXT)
    assert done.stdout == plain.stdout
    lines = paths[0].read_text().split("\n")
    assert len(lines) == 5
    assert lines[1] == lines[4] == ""
    assert all(re.fullmatch(NUMBER, lines[k]) for k in (0, 2, 3))
    total = sum(float(lines[k]) for k in (0, 2, 3))
    said = re.search(r"log-likelihood (\S+); 11 words, 3 sentences; perplexity (\S+); 1 unknown", done.stderr.decode())
    assert float(said[1]) == pytest.approx(total, abs=0.006)
    assert float(said[2]) == pytest.approx(math.exp(-total / 14), abs=0.006)

    posteriors = read_posteriors(str(paths[1]))
    assert [len(sentence) for sentence in posteriors] == [6, 0, 4, 1]
    tags = [[max(found, key=found.get).decode() for _, found in sentence] for sentence in posteriors]
    wanted = [[token.rpartition("_")[2] for token in line.split()] for line in plain.stdout.decode().splitlines()]
    assert tags == wanted
    assert all(sum(found.values()) == pytest.approx(1, abs=1e-4) for sentence in posteriors for _, found in sentence)

    best = lists(run("tag", "-q", "-m", models / name, "--n-best", 3, stdin=TEXT).stdout)
    assert {number for number, _, _ in best} == {0, 2, 3}
    for number, line in ((0, lines[0]), (2, lines[2])):
        own = [score for n, _, score in best if n == number]
        assert own == sorted(own, reverse=True)
        assert 1 <= len(own) <= 3
        assert math.log(sum(map(math.exp, own))) <= float(line) + 1e-5
    if name == "plain":
        path = run("tag", "-q", "-m", models / name, "--decode", "viterbi", stdin=TEXT).stdout.decode().splitlines()
        first = next(tags for number, tags, _ in best if number == 0)
        assert first == [token.rpartition("_")[2] for token in path[0].split()]


def test_samples_go_by_the_seed(models):
    def drawn(seed):
        done = ran("tag", "-q", "-m", models / "two", "--samples", 5, "--seed", seed, stdin=TEXT)
        return done.stdout

    found = lists(drawn(1))
    assert [number for number, _, _ in found] == [0] * 5 + [2] * 5 + [3] * 5
    assert drawn(1) != drawn(2)


def test_sentences_that_cannot_be_and_surface_tokens(models, tmp_path, samples):
    done = ran("tag", "-m", models / "relative", "--scores", tmp_path / "s", "--n-best", 2, stdin=TEXT)
    assert (tmp_path / "s").read_text().splitlines()[3] == "-inf"
    assert 3 not in {number for number, _, _ in lists(done.stdout)}
    assert b"perplexity inf" in done.stderr
    assert len(run("tag", "-q", "-m", models / "relative", stdin=TEXT).stdout.splitlines()) == 4
    ran("train-hmm", "-q", "--tagged", samples / "en.conllu", "--tokens", "surface", "--latent", 1, "-o",
               tmp_path / "m")  # fmt: skip
    flags = ("--split-tokens", "--scores", tmp_path / "s", "--posteriors", tmp_path / "p")
    ran("tag", "-q", "-m", tmp_path / "m", *flags, samples / "en.txt")
    count = (samples / "en.txt").read_bytes().count(b"\n")
    assert (tmp_path / "s").read_bytes().count(b"\n") == count == len(read_posteriors(str(tmp_path / "p")))
