"""Estimation of language models, against the formulas with dictionaries."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.ground.errors import DataError
from aligntools.ground.parallel import Pool
from aligntools.store.sorting import ArrayStore
from aligntools.translating.lm import kneser_ney
from aligntools.translating.lm.kernels_lm import word_score
from aligntools.translating.lm.kneser_ney import Sorter
from aligntools.translating.lm.language_model import from_blocks
from tests.cli.running import run
from tests.naive_lm import BEGIN, END, UNKNOWN, KneserNey

texts = st.lists(st.lists(st.sampled_from("abcd"), max_size=7), min_size=1, max_size=12).filter(any)


def estimated(folder, sentences, order, thresholds=(0,), limit=1 << 26, threads=1):
    path = folder / "text"
    path.write_text("".join(" ".join(s) + "\n" for s in sentences))
    store = ArrayStore(limit, str(folder))
    counts = kneser_ney.count([str(path)], order, store)
    with Pool(threads) as pool:
        return kneser_ney.estimate(counts, store, pool, thresholds)


def in_memory(model):
    return from_blocks(model.order, model.vocabulary, model.counts, model.blocks())


def probability(model, word, context):
    known = {UNKNOWN: 0, BEGIN: 1, END: 2}
    ids = [known.get(w, max(model.vocabulary.id(w), 0)) for w in (*context, word)]
    history = np.array([0, *ids[:-1]], np.int32)
    return math.exp(word_score(*model.arrays, model.order, history, len(context), ids[-1]))


def contexts(words, order):
    yield ()
    for n in range(1, order):
        for context in itertools.product([*words, UNKNOWN], repeat=n):
            yield context
            yield (BEGIN, *context[1:])


@given(texts, st.integers(1, 4), st.sampled_from([(0,), (0, 1), (0, 0, 1), (0, 1, 2)]))
def test_probabilities_are_the_formulas(tmp_path_factory, sentences, order, thresholds):
    thresholds = thresholds[:order]
    naive = KneserNey(sentences, order, thresholds)
    found = estimated(tmp_path_factory.mktemp("lm"), sentences, order, thresholds)
    assert found.counts == [
        len(naive.words) + 1 if n == 1 else sum(map(naive.kept, naive.counts[n])) for n in range(1, order + 1)
    ]
    assert [n for n, d in enumerate(found.discounts, 1) if d.problem] == naive.fell_back
    for n, discounts in enumerate(found.discounts, 1):
        assert discounts.values == pytest.approx(naive.discounts[n])
    model = in_memory(found)
    for context in contexts(sorted(naive.words - {END, UNKNOWN}), min(order + 1, 4)):
        shares = {word: probability(model, word, context) for word in naive.words}
        for word, share in shares.items():
            assert share == pytest.approx(naive.probability(word, context), abs=1e-6)
        assert sum(shares.values()) == pytest.approx(1, abs=1e-5)


def zipfian(sentences, seed=5):
    rng = np.random.default_rng(seed)
    return [[f"w{k}" for k in rng.zipf(1.4, rng.integers(1, 15)) if k < 500] for _ in range(sentences)]


def test_discounts_that_can_be_computed_are_and_distributions_sum_to_one(tmp_path):
    sentences = zipfian(600)
    found = estimated(tmp_path, sentences, 3)
    naive = KneserNey(sentences, 3)
    assert not any(d.problem for d in found.discounts)
    for n, discounts in enumerate(found.discounts, 1):
        assert discounts.values == pytest.approx(naive.discounts[n])
    model = in_memory(found)
    for context in [("w1",), ("w1", "w2"), (BEGIN,), ("w400", "w1"), (UNKNOWN, "w3"), ("w3", UNKNOWN)]:
        assert sum(probability(model, w, context) for w in naive.words) == pytest.approx(1, abs=1e-5)
        for word in ("w1", "w7", END, UNKNOWN):
            assert probability(model, word, context) == pytest.approx(naive.probability(word, context), abs=1e-6)


@pytest.mark.parametrize("thresholds", [(0,), (0, 0, 1)])
def test_neither_memory_nor_threads_show(tmp_path, thresholds):
    sentences = zipfian(1500)
    results = []
    for limit, threads in ((1 << 28, 1), (0, 2), (200_000, 3)):
        found = estimated(tmp_path, sentences, 4, thresholds, limit, threads)
        results.append([(ids.tobytes(), logs.tobytes()) for ids, logs in found.blocks()])
    assert results[0] == results[1] == results[2]
    assert [p.name for p in tmp_path.iterdir()] == ["text"]  # no file is left behind


def test_small_memory_does_spill(tmp_path):
    path = tmp_path / "text"
    path.write_text("".join(" ".join(s) + "\n" for s in zipfian(500)))
    small, large = ArrayStore(10_000, str(tmp_path)), ArrayStore(1 << 26, str(tmp_path))
    tables = [kneser_ney.count([str(path)], 3, store).table for store in (small, large)]
    assert np.array_equal(*(t[:, :-1] for t in tables))
    assert small.spilled > 0
    assert large.spilled == 0


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1 << 20), st.integers(0, 2)), max_size=60),
       st.permutations(range(3)), st.integers(1, 7))  # fmt: skip
def test_sorting_in_parts(rows, columns, step):
    sorter, table = (
        Sorter(ArrayStore(1 << 20), 3, columns),
        np.array([[*r, 1, 0] for r in rows], np.uint32).reshape(-1, 5),
    )
    for begin in range(0, len(table), step):
        sorter.add(table[begin : begin + step].copy())
    expected = sorted({*rows}, key=lambda row: [row[c] for c in columns])
    assert sorter.finish()[:, :4].tolist() == [[*row, rows.count(row)] for row in expected]


def test_discounts_and_thresholds(tmp_path):
    assert kneser_ney.discounts_of([9, 10, 4, 2, 1]).values == pytest.approx(
        (1 - 2 * 10 / 18 * 4 / 10, 2 - 3 * 10 / 18 * 2 / 4, 3 - 4 * 10 / 18 * 1 / 2)
    )
    for counts, word in (
        ([0, 1, 0, 1, 1], "count of 2"),
        ([0, 0, 1, 1, 1], "count of 1"),
        ([0, 9, 1, 9, 0], "2 would"),
        ([0, 6, 3, 4, 1], "2 would be 0"),
    ):
        found = kneser_ney.discounts_of(counts)
        assert found.values == kneser_ney.FALLBACK
        assert word in found.problem
    lines = ["the gate is open", "the gate is shut", "a gate is open"]
    (tmp_path / "text").write_text("".join(line + "\n" for line in lines * 3))
    (tmp_path / "other").write_text("<s> the cat is open </s>\n")
    trained = run("train-lm", "-n", 5, tmp_path / "text", "-o", tmp_path / "lm")
    assert b"would be 0; discounts 0.5, 1, 1.5 are used" in trained.stderr
    rows = [row.split(b"\t") for row in (tmp_path / "lm").read_bytes().split(b"\n")]
    assert min(float(row[2]) for row in rows if len(row) == 3) > -9  # backoff weights
    found = run("eval-lm", "-m", tmp_path / "lm", "--json", tmp_path / "other")
    assert b"2 times <s> or </s> in the text, which count as unknown words" in found.stderr
    assert json.loads(found.stdout)["results"][0]["perplexity"] < 100


@pytest.mark.parametrize(
    ("data", "line", "problem"),
    [
        (b"a b\nc <s> d\n", 2, "the word <s>,"),
        (b"\n\nx y </s>", 3, "the word </s>,"),
        (b"<unk>\n", 1, "the word <unk>,"),
        (b"a\n\xff b\n", 2, "not UTF-8"),
        (b"", None, "has no words"),
        (b"\n \n", None, "has no words"),
    ],
)
def test_texts_that_are_refused(tmp_path, data, line, problem):
    (tmp_path / "text").write_bytes(data)
    with pytest.raises(DataError, match=problem) as error:
        kneser_ney.count([str(tmp_path / "text")], 2, ArrayStore(1 << 20))
    assert error.value.line == line


def test_reading_several_texts_lower_case_and_symbols(tmp_path):
    (tmp_path / "a").write_bytes("\ufeffÄ b\r\n\nC".encode())
    (tmp_path / "b").write_bytes(b"c <s> B <unk>\n<s>\n")
    paths = [str(tmp_path / name) for name in "ab"]
    counts = kneser_ney.count(paths, 1, ArrayStore(1 << 20), lowercase=True, skip_symbols=True)
    assert (counts.sentences, counts.words, counts.blank) == (3, 5, 2)
    assert counts.vocabulary.words()[3:] == ["ä", "b", "c"]
    assert counts.table[:, :2].tolist() == [[2, 3], [3, 1], [4, 2], [5, 2]]
    (tmp_path / "a").write_bytes(b"a\nb\n\xc3\n")
    with pytest.raises(DataError, match="UTF-8") as error:
        kneser_ney.count(paths[:1], 1, ArrayStore(1 << 20), lowercase=True)
    assert error.value.line == 3
