"""Language models in memory: look-up with backoff, states, scores, files."""

import dataclasses
import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aligntools as at
from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.ground.errors import DataError, ModelError
from aligntools.ground.parallel import Pool
from aligntools.store.sorting import ArrayStore
from aligntools.translating.lm import kneser_ney, language_model
from aligntools.translating.lm.kernels_lm import extend, find, score_and_state
from aligntools.translating.lm.kneser_ney import Sorter
from aligntools.translating.lm.language_model import from_blocks
from aligntools.words.vocabulary import Vocabulary
from tests.cli.running import run
from tests.naive_lm import BEGIN, END, UNKNOWN, KneserNey, backed_off


def word_score(*given):
    return score_and_state(*given)[0]


LN10 = math.log(10)
WORDS = [UNKNOWN, BEGIN, END, "a", "b"]

numbers = st.integers(-3000, -1).map(lambda k: k / 1000)
backoffs = st.one_of(st.none(), st.just(0.0), st.integers(-900, 900).map(lambda k: k / 1000))


def shrink(unigrams, keys, values, order, words, n):
    """Return how many of the last ``n`` of ``words``, at most order - 1, later scores depend on."""
    n, code = min(n, order - 1), np.uint64(0)
    for k in range(n):
        word = words[len(words) - 1 - k]
        code = np.uint64(extend(code, word))
        if k == 0:
            if unigrams[word, 1] == 0:
                return 0
            continue
        place = find(keys, code)
        if place < 0 or values[place, 1] == 0:
            return k
    return n


@st.composite
def models(draw):
    """Return entries of a model in which an n-gram's parts may be missing, and its order."""
    order = draw(st.integers(1, 4))
    entries = {(w,): (draw(numbers), draw(backoffs)) for w in WORDS}
    grams = st.lists(st.sampled_from(WORDS), min_size=2, max_size=4).map(tuple)
    for gram in draw(st.lists(grams, max_size=12, unique=True)):
        if len(gram) <= order:
            entries[gram] = draw(numbers), None if len(gram) == order else draw(backoffs)
    return entries, order


def arpa(entries, order):
    lines = ["\\data\\"]
    sections = [[g for g in entries if len(g) == n] for n in range(1, order + 1)]
    lines += [f"ngram {n}={len(s)}" for n, s in enumerate(sections, 1)]
    for n, section in enumerate(sections, 1):
        lines += ["", f"\\{n}-grams:"]
        for gram in section:
            probability, backoff = entries[gram]
            lines.append(f"{probability}\t{' '.join(gram)}" + ("" if backoff is None else f"\t{backoff}"))
    return "\n".join([*lines, "", "\\end\\", ""]).encode()


def loaded(folder, entries, order):
    path = folder / "model.arpa"
    path.write_bytes(arpa(entries, order))
    return language_model.load(str(path))


@given(models())
def test_look_up_backs_off_as_the_file_says(tmp_path_factory, given_model):
    entries, order = given_model
    model = loaded(tmp_path_factory.mktemp("lm"), entries, order)
    naive = {g: (p, (b or 0.0) if len(g) < order else 0.0) for g, (p, b) in entries.items()}
    assert model.order == order
    for length in range(min(order + 1, 4)):
        for context in itertools.product(range(5), repeat=length):
            # what stands before the words that count must not matter
            ids = np.array([4, 3, *context], np.int32)
            kept = shrink(*model.arrays, order, ids, length)
            assert kept <= min(length, max(order - 1, 0))
            for word in range(5):
                expected = LN10 * backed_off(naive, [WORDS[k] for k in context], WORDS[word], order)
                assert word_score(*model.arrays, order, ids, length, word) == pytest.approx(expected, abs=2e-5)
                assert word_score(*model.arrays, order, ids, kept, word) == pytest.approx(expected, abs=2e-5)
                longer = np.append(ids, np.int32(word))
                remembered = score_and_state(*model.arrays, order, ids, length, word)[1]
                assert remembered == shrink(*model.arrays, order, longer, min(length + 1, max(order - 1, 0)))


def test_backoffs_and_unknown_words(tmp_path):
    logs = {(w,): (-0.001, None) for w in WORDS}
    model = loaded(tmp_path, logs | {("<unk>", "<unk>"): (-0.001, None), ("<unk>", "<s>"): (-0.001, -0.5)}, 3)
    ids = np.array([0, 1], np.int32)
    assert shrink(*model.arrays, 3, ids, 2) == 2
    assert word_score(*model.arrays, 3, ids, 2, 3) == pytest.approx(LN10 * -0.501)
    entries = {(w,): (-1.0, None) for w in WORDS[1:]}
    model = loaded(tmp_path, entries, 1)
    assert not model.has_unknown
    assert language_model.score_sentence(model, ["zzz"]).sentences()[0] == pytest.approx(LN10 * -101, abs=1e-4)
    with pytest.raises(DataError, match="no <s>"):
        loaded(tmp_path, {(w,): (-1.0, None) for w in (UNKNOWN, END, "a")}, 1)


def test_the_table_grows_when_the_file_is_full_of_gaps(tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    words = [f"w{k}" for k in range(40)]
    entries = {(w,): (-1.0, -0.1) for w in [UNKNOWN, BEGIN, END, *words]}
    entries |= {tuple(rng.choice(words, 4)): (-0.25, None) for _ in range(3000)}
    monkeypatch.setattr(
        language_model,
        "_table",
        lambda above, table=language_model._table: table(above) if above > 1 << 14 else small(above),
    )

    def small(above):
        size = 1 << int(above).bit_length()
        return np.zeros(size, np.uint64), np.zeros((size, 2), np.float32)

    model = loaded(tmp_path, entries, 4)
    assert 2 * np.count_nonzero(model.keys) <= 2 * len(model.keys)
    four = [g for g in entries if len(g) == 4]
    for gram in four[:200]:
        ids = model.lookup([w.encode() for w in gram])
        assert word_score(*model.arrays, 4, ids[:3], 3, ids[3]) == pytest.approx(-0.25 * LN10)


@pytest.fixture
def small(tmp_path):
    entries = {(UNKNOWN,): (-2.0, None), (BEGIN,): (-99.0, -0.3), (END,): (-1.0, None), ("a",): (-0.7, -0.2),
               ("b",): (-0.9, -0.1), (BEGIN, "a"): (-0.2, -0.15), ("a", END): (-0.4, None), ("a", "b"): (-0.5, 0.0),
               (BEGIN, "a", "b"): (-0.1, None)}  # fmt: skip
    return loaded(tmp_path, entries, 3), {g: (p, b or 0.0) for g, (p, b) in entries.items()}


def test_scores_of_a_text(small, tmp_path):
    model, entries = small
    text = ["a b", "", "b x a a", "<s> a", "a"]
    (tmp_path / "text").write_text("".join(line + "\n" for line in text))
    with Pool(2) as pool:
        parts = list(language_model.score_text(model, str(tmp_path / "text"), pool))
    assert len(parts) == 1
    scores = parts[0]
    expected, unknown = [], []
    for line in text:
        words = [w if w in "ab" else UNKNOWN for w in line.split()]
        history = [BEGIN]
        for word in [*words, END]:
            expected.append(LN10 * backed_off(entries, history, word, 3))
            unknown.append(word == UNKNOWN)
            history.append(word)
    assert scores.logs == pytest.approx(np.array(expected), abs=1e-5)
    assert scores.unknown.tolist() == unknown
    assert scores.matched[:3].tolist() == [2, 3, 1]
    edges = [0, 3, 4, 9, 12, 14]
    assert scores.offsets.tolist() == edges
    sums = [sum(expected[a:b]) for a, b in itertools.pairwise(edges)]
    assert scores.sentences() == pytest.approx(np.array(sums), abs=1e-5)
    assert language_model.score_sentence(model, ["a", "b"]).sentences()[0] == pytest.approx(sums[0], abs=1e-5)
    found = language_model.perplexity([scores, scores], model.order)
    counted = [e for k, e in enumerate(expected) if k != 3]
    known = [e for k, e in enumerate(expected) if k != 3 and not unknown[k]]
    assert (found.sentences, found.words, found.unknown, sum(found.found)) == (8, 18, 4, 26)
    assert found.log_probability == pytest.approx(2 * sum(counted), abs=1e-4)
    assert found.perplexity == pytest.approx(math.exp(-sum(counted) / 13), rel=1e-5)
    assert found.perplexity_known == pytest.approx(math.exp(-sum(known) / 11), rel=1e-5)


def test_binary_and_other_vocabularies(small, tmp_path):
    model, _ = small
    assert model.ids(Vocabulary.from_words(["b", "x", "</s>", "a"])).tolist() == [0, 4, 0, 0, 3]
    model, _ = small
    model.save(str(tmp_path / "m"))
    again = language_model.load(str(tmp_path / "m"))
    assert all(map(np.array_equal, model.arrays, again.arrays))
    assert again.vocabulary.words() == model.vocabulary.words()
    assert (again.order, again.counts, again.has_unknown) == (3, [5, 3, 1], True)
    assert math.isnan(language_model.perplexity([], 3).perplexity)


def test_binary_files_that_are_refused(small, tmp_path):
    model, _ = small
    path = str(tmp_path / "m")
    model.save(path)
    whole = (tmp_path / "m").read_bytes()
    header, arrays = read_model(path, "lm")
    (tmp_path / "m").write_bytes(whole[:-10])
    with pytest.raises(ModelError, match="damaged"):
        language_model.load(path)
    write_model(path, "tagger", {}, {"x": np.zeros(1)})  # safetensors 0.4.0 cannot write a file without arrays
    with pytest.raises(ModelError, match="'tagger'"):
        language_model.load(path)
    full = model.keys | np.uint64(1)
    for change in ({"keys": full}, {"keys": model.keys[:-1]}, {"order": 0}, {"counts": [1]}):
        odd = language_model.NgramModel(**{**vars(model), **change})
        with pytest.raises(ModelError, match="could not be loaded"):
            odd.save(path)
        own = {name: change.get(name, value) for name, value in arrays.items()}
        write_model(path, "lm", {name: change.get(name, value) for name, value in header.items()}, own)
        with pytest.raises(ModelError, match="do not fit"):
            language_model.load(path)


def test_words_that_are_no_text_harm_nobody(small, tmp_path):
    """A model's words are bytes: one that is not UTF-8 is a word that no text has."""
    model, _ = small
    blob = model.vocabulary.blob.copy()
    blob[model.vocabulary.starts[3]] = 0xFF
    strange = dataclasses.replace(model, vocabulary=Vocabulary(blob, model.vocabulary.starts))
    (tmp_path / "text").write_text("a b x\n")
    with Pool(1) as pool:
        ((found,), (usual,)) = (
            list(language_model.score_text(m, str(tmp_path / "text"), pool)) for m in (strange, model)
        )
    assert np.isfinite(found.logs).all()
    assert found.unknown.sum() == usual.unknown.sum() + 1


def test_an_arpa_file_can_always_be_read(tmp_path):
    """KenLM's programs separate words at NUL, vertical tabs, form feeds and carriage returns."""
    text, path = tmp_path / "text", str(tmp_path / "arpa")
    text.write_bytes("a b\ra c\n\0d\ve f\fg\u00a0h\r\r\na b\n".encode())
    model = at.train_lm(text, order=2)
    model.save(path, "arpa")
    loaded = at.LanguageModel.load(path)
    assert sorted(loaded.ngrams.vocabulary.words()[3:]) == ["a", "b", "c", "d", "e", "f", "g\u00a0h"]
    assert loaded.perplexity(text).unknown == 0
    lines = ["a b\ra c", "\0d\ve f\fg\u00a0h\r", "a b"]
    memory = at.train_lm(lines, order=2)
    assert memory.counts == model.counts
    assert memory.score(lines[0]) == memory.score("a b a c") == memory.score(["a", "b\ra", "c"])
    split = at.train_lm(text, order=2, split="unicode")
    assert split.counts[0] == model.counts[0] + 1
    assert split.score(lines[1], split="unicode") == split.score("d e f g h")


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
