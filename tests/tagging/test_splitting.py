"""Tokens split into words: by the table, by endings, and as tags in a text say."""

import itertools
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools import train_tagger
from aligntools.formats.annotation.conll import parse_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.annotation.conll_tokens import expanded, surface_of
from aligntools.formats.annotation.tagged_text import parse_text
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.tagging.settings import TaggerSettings, TagSmoothing
from aligntools.tagging.state_splits import Splitter
from aligntools.tagging.supervised import substates
from aligntools.tagging.supervised.corpus import TaggedCorpus
from aligntools.tagging.unknown_words import FormClasses
from tests.cli.running import fails, ran, run


def learned(*rows):
    return Splitter.learn((form.encode(), words.encode().split(), tags.encode().split()) for form, words, tags in rows)


SPLITTER = learned(
    ("du", "de le", "ADP DET"), ("du", "de le", "ADP DET"), ("du", "de un", "ADP DET"), ("Des", "De les", "ADP DET"),
    ("farlo", "far lo", "VERB PRON"), ("dirmi", "dir mi", "VERB PRON"), ("dame", "da me", "VERB PRON"),
    ("dámelo", "dá me lo", "VERB PRON PRON"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("form", "tag", "words"),
    [
        ("du", "ADP+DET", "de le"),
        ("Du", "ADP+DET", "De le"),
        ("DU", "ADP+DET", "DE LE"),
        ("du", "ADP+PRON", None),
        ("vederlo", "VERB+PRON", "veder lo"),  # by its ending -rlo
        ("Capirmi", "VERB+PRON", "Capir mi"),
        ("dílo", "VERB+PRON", "dí lo"),
        ("x", "VERB+PRON", None),
        ("cuéntamelo", "VERB+PRON+PRON", "cuénta me lo"),
    ],
)
def test_forms_and_endings_are_split_by_their_tags(form, tag, words):
    found = SPLITTER.split(form.encode(), tag.encode())
    assert (None if found is None else b" ".join(found).decode()) == words


def test_what_cannot_be_learned_is_passed_over():
    assert learned(("a b", "a b", "X Y")).forms == {}
    assert Splitter.learn([(b"\xff", [b"a", b"b"], [b"X", b"Y"])]).forms == {}
    assert SPLITTER.split(b"\xff", b"ADP+DET") is None
    assert Splitter.of(asdict(SPLITTER)) == SPLITTER
    for damaged in (
        None, {}, {"forms": {}}, {"forms": [], "endings": {}}, {"forms": {"du": "de le"}, "endings": {}},
        {"forms": {"du X": "de"}, "endings": {}}, {"forms": {"du X": " de"}, "endings": {}},
        {"forms": {}, "endings": {"lo X": 3}}, {"forms": {"du X": "d\te le"}, "endings": {}},
        {"forms": {"du X": "d\ud800e le"}, "endings": {}},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"splits|surrogates"):
            Splitter.of(damaged)


def row(id, form, tag="_", misc="_"):
    return f"{id}\t{form}\t_\t{tag}\t_\t_\t_\t_\t_\t{misc}\n"


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=3))
def test_ranges_stand_for_the_tokens_that_were(sizes):
    text = "".join("# text = x\n" + "".join(row(k, f"w{k}") for k in range(1, len(s) + 1)) + "\n" for s in sizes)
    conll = parse_conll("x", [line.encode() + b"\n" for line in text.split("\n")[:-1]])
    flat = [n for s in sizes for n in s]
    pieces = [[b"p%d" % k for k in range(n)] if n > 1 else None for n in flat]
    found = expanded(conll, pieces)
    surface = surface_of(found)
    assert surface.column(COLUMNS["form"]) == conll.words
    assert (surface.edges[1:] - surface.edges[:-1]).tolist() == [max(n, 1) for n in flat]
    assert surface.offsets.tolist() == conll.offsets.tolist()


TREEBANK = (
    row(1, "il", "PRON") + row(2, "va", "VERB") + row("3-4", "du") + row(3, "de", "ADP") + row(4, "le", "DET")
    + row(5, "bois", "NOUN") + "\n" + row(1, "il", "PRON") + row(2, "boit", "VERB") + row(3, "du", "DET")
    + row(4, "vin", "NOUN") + "\n"
) * 5  # fmt: skip


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    path = tmp_path_factory.mktemp("split") / "x.conllu"
    path.write_text(TREEBANK)
    return path


@pytest.fixture(scope="module")
def model(treebank):
    path = treebank.with_name("m.tagger")
    options = ("--tokens", "surface", "--latent", 1, "--members", 1, "-o", path)
    ran("train-hmm", "-q", "--tagged", treebank, *options)
    return path


def test_what_is_split_and_what_stays(model, treebank, tmp_path):
    done = ran("tag", "-q", "-m", model, "--split-tokens", stdin=b"Il va du bois\n\nil boit\n")
    expected = [
        row(1, "Il", "PRON"), row(2, "va", "VERB"), row("3-4", "du"), row(3, "de", "ADP"), row(4, "le", "DET"),
        row(5, "bois", "NOUN"), "\n", "# text =\n", "\n", row(1, "il", "PRON"), row(2, "boit", "VERB"), "\n",
    ]  # fmt: skip
    assert done.stdout.decode() == "".join(expected)
    assert run("conll", "--tokens", "surface", stdin=done.stdout).stdout == b"Il va du bois\n\nil boit\n"
    tagged = run("tag", "-q", "-m", model, "--split-tokens", "--to", "tagged", "--unbuffered", stdin=b"il va du bois\n")
    assert tagged.stdout == b"il_PRON va_VERB de_ADP le_DET bois_NOUN\n"
    assert run("tag", "-q", "-m", model, stdin=b"va du bois\n").stdout == b"va_VERB du_ADP+DET bois_NOUN\n"
    fails(run("tag", "-m", model, "--split-tokens", treebank), "tokens are split in plain and raw text", status=2)
    options = ("--latent", 1, "--members", 1, "-o", tmp_path / "words")
    ran("train-hmm", "-q", "--tagged", treebank, *options)
    fails(
        run("tag", "-m", tmp_path / "words", "--split-tokens"),
        "--split-tokens is for taggers of train-hmm --tokens surface",
        status=2,
    )
    conll = parse_conll("x", [line.encode() + b"\n" for line in TREEBANK.split("\n")[:-1]])
    tagger = train_tagger(conll, tokens="surface", latent=1)
    found = tagger.tag_text(parse_text([b"il va du vin\n"], 1), threads=1, split_tokens=True)
    assert [str(sentence) for sentence in found] == ["il_PRON va_VERB de_ADP le_DET vin_NOUN"]
    assert len(found.probabilities) == len(found.ids) == 5


def test_raw_text_is_split_and_comes_back(model):
    text = b"Il va  du bois.\nil boit\n"
    done = run("tag", "-q", "-m", model, "--tokenize", "--language", "fr", "--split-tokens", stdin=text)
    assert b"3-4\tdu\t" in done.stdout
    assert run("conll", "--to", "raw", stdin=done.stdout).stdout == text


def test_only_a_treebank_with_ranges_teaches_it(treebank, tmp_path):
    bare = tmp_path / "bare.conllu"
    bare.write_text("".join(line for line in TREEBANK.splitlines(keepends=True) if not line.startswith("3-4")))
    with pytest.raises(DataError, match=r"bare\.conllu: has no ranges"):
        train_tagger(bare, tokens="surface")
    plus = tmp_path / "plus.conllu"
    plus.write_text(TREEBANK.replace("PRON", "PRO+N"))
    with pytest.raises(DataError, match=r"plus\.conllu:1: the tag 'PRO\+N' has a plus"):
        train_tagger(plus, tokens="surface")
    for text, format in (([[("a", "X")]], "auto"), (treebank, "tagged")):
        with pytest.raises(UsageProblem, match='tokens="surface" takes CoNLL'):
            train_tagger(text, tokens="surface", format=format)


EXACT = TagSmoothing(transitions=0.0, tags=0.0, substates=0.0, classes=0.0, words=0.0)


def a_text(seed, lengths, n_words=4, n_tags=2):
    random = np.random.default_rng(seed)
    n = int(sum(lengths))
    words = [b"w%d" % w for w in random.integers(0, n_words, n)]
    tags = [b"T%d" % t for t in random.integers(0, n_tags, n)]
    return TaggedCorpus.of(words, np.concatenate([[0], np.cumsum(lengths)]), tags)


def split_once(text, seed=1, limit=2, noise=0.3):
    """Return counts with two substates a tag, and shares of 1 for each pair's tag."""
    states = substates.split(substates.known_counts(text), text, limit, noise, np.random.default_rng(seed))
    return states, np.ones(len(text.pair_word)), FormClasses.of(text.words)


lengths_of = st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 8), min_size=3, max_size=12).filter(any))
def test_without_smoothing_em_never_loses_likelihood(seed, lengths):
    text = a_text(seed, lengths, n_words=5)
    states, _, classes = split_once(text, seed)
    shares = text.pair_count / text.word_counts().sum(1)[text.pair_word]
    reached = []
    for _ in range(8):
        # p(word | state) itself, to compare likelihoods: the prior that estimate divides by is kept from tiny counts
        model, prior = substates.estimate(states, text, shares, classes, EXACT)
        state, seen = states.state_of(text), np.repeat(text.pair_count, np.diff(states.at))
        totals = np.bincount(state, states.emissions, len(states.start))
        assert model.emissions == pytest.approx(
            np.repeat(shares, np.diff(states.at)) * states.emissions / seen / prior[state], abs=1e-12
        )
        model.emissions = states.emissions / totals[state]
        model.start = states.start / states.start.sum()
        moves = np.column_stack([states.transitions, states.stop])
        moves /= np.maximum(moves.sum(1, keepdims=True), 1e-300)
        assert model.transitions == pytest.approx(moves[:, :-1], abs=1e-12)
        model.transitions, model.stop = np.ascontiguousarray(moves[:, :-1]), moves[:, -1].copy()
        states, loglik, _ = substates.expect((model, prior), states, text, Pool(1))
        reached.append(loglik)
    assert all(b >= a - 1e-9 * abs(a) for a, b in itertools.pairwise(reached))


@given(st.integers(0, 2**32), lengths_of, st.sampled_from([2, 4]))
def test_splitting_keeps_all_counts_and_merging_everything_undoes_it(seed, lengths, limit):
    text = a_text(seed, lengths)
    whole = substates.known_counts(text)
    once = substates.split(whole, text, 2, 0.1, np.random.default_rng(seed))
    halves = substates.split(once, text, limit, 0.1, np.random.default_rng(seed))
    assert np.diff(halves.first).max() <= limit
    for one in (once, halves):
        assert one.emissions.sum() == pytest.approx(len(text.tokens))
        assert np.all(one.emissions >= 0)
    back = substates.merge(once, text, once.tag_of)
    for name in ("first", "start", "transitions", "stop", "at", "emissions"):
        assert getattr(back, name) == pytest.approx(getattr(whole, name), rel=1e-9, abs=1e-12), name


def test_merges_and_counts():
    text = a_text(1, [40, 40], n_tags=3)
    states, _, _ = split_once(text)
    losses = np.array([5.0, 0, 1.0, 0, 3.0, 0])
    assert substates.choose_merges(states, losses, np.ones(3, bool), 0.34).tolist() == [0, 1, 2, 2, 3, 4]
    assert substates.choose_merges(states, losses, np.ones(3, bool), 0.99).tolist() == [0, 1, 2, 2, 3, 3]
    assert substates.choose_merges(states, losses, np.array([True, False, True]), 0.5).tolist() == [0, 1, 2, 3, 4, 4]
    assert substates.choose_merges(states, losses, np.ones(3, bool), 0.0).tolist() == [0, 1, 2, 3, 4, 5]
    text = TaggedCorpus.of([b"a", b"b", b"a", b"a"], np.array([0, 0, 3, 4]), [b"Y", b"X", b"Y", b"X"])
    states = substates.known_counts(text)
    assert text.names == [b"X", b"Y"]
    assert states.start.tolist() == [1, 1]
    assert states.stop.tolist() == [1, 1]
    assert states.transitions.tolist() == [[0, 1], [1, 0]]
    assert text.word_counts().tolist() == [[1, 2], [1, 0]]
    text = a_text(2, [3, 2])
    states, shares, classes = split_once(text)
    model, prior = substates.estimate(states, text, shares, classes, TagSmoothing())
    model.emissions[states.at[text.pairs[0]] : states.at[text.pairs[0] + 1]] = 0.0
    found, loglik, _ = substates.expect((model, prior), states, text, Pool(1))
    assert loglik == -np.inf
    assert np.isfinite(found.emissions).all()
    assert found.start.sum() in (0.0, pytest.approx(1.0))


def test_training_is_the_same_for_any_number_of_threads_and_follows_the_seed():
    text = a_text(5, [7] * 60, n_words=20, n_tags=3)
    classes = FormClasses.of(text.words)
    shares = text.pair_count / text.word_counts().sum(1)[text.pair_word]

    def trained(pool, seed):
        seen = []
        how, random = TaggerSettings(latent=4, iterations=4), np.random.default_rng(seed)
        states = substates.train(text, shares, classes, how, pool, random, report=lambda *f: seen.append(f))
        return states, seen

    one, seen = trained(Pool(1), 1)
    with Pool(3) as pool:
        three, same = trained(pool, 1)
    assert seen == same
    assert one.transitions.tobytes() == three.transitions.tobytes()
    assert one.emissions.tobytes() == three.emissions.tobytes()
    assert trained(Pool(1), 2)[1] != seen
    assert [f[:2] for f in seen] == [(r, i) for r in (1, 2) for i in (0, 1, 2, 3, 0)]
    assert 3 < len(one.start) <= 12


def test_the_number_of_states_is_bounded_and_frequent_tags_come_first(monkeypatch):
    monkeypatch.setattr(substates, "STATES", 5)
    text = TaggedCorpus.of(
        [b"w"] * 12, np.array([0, 12]), [b"A", b"B", b"B", b"B", b"B", b"C", b"C", b"D"] + [b"B"] * 4
    )
    states = substates.split(substates.known_counts(text), text, 2, 0.1, np.random.default_rng(1))
    assert np.diff(states.first).tolist() == [1, 2, 1, 1]
