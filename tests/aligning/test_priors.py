import logging
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aligntools as at
from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models import kernels_link_counts as kc
from aligntools.aligning.priors import PriorCounter
from aligntools.aligning.settings import PriorWeights
from aligntools.aligning.text.views import view_text
from aligntools.aligning.training.sampling import _direction
from aligntools.aligning.training.view_priors import UNLINKED, add_jumps, view_priors
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.links.priors import Priors, priors_of
from aligntools.formats.text.bitext import TextLines, read_bitext
from tests import naive_costs, naive_priors
from tests.aligning.building import close
from tests.aligning.test_training import learn
from tests.listing import listed
from tests.places import SAMPLES

ONES = PriorWeights(1, 1, 1)
CORPUS = [
    ("das haus ist klein", "the house is small"),
    ("das buch", "the book"),
    ("ein buch", "a book"),
    ("ein kleines haus", "a small house"),
]
LEXICAL = {("das", "the"): 3.0, ("buch", "book"): 0.5, ("klein", "is"): 2.0, ("haus", "book"): 9.0, ("x", "the"): 1.0}


def small(sentences=CORPUS, lowercase=True):
    sources, targets = zip(*sentences, strict=True)
    return read_bitext(TextLines(sources), TextLines(targets), lowercase=lowercase)


def as_counts(priors: Priors) -> dict:
    return {(kind, *key): alpha for kind, rows in listed(priors).items() for *key, alpha in rows}


# Counting


@st.composite
def aligned(draw):
    """Draw sentence pairs with links of two directions."""
    word = st.sampled_from("abcD")
    sides = [draw(st.lists(word, min_size=1, max_size=5)) for _ in range(2)]
    link = st.tuples(st.integers(0, len(sides[0]) - 1), st.integers(0, len(sides[1]) - 1))
    return (*sides, *(draw(st.sets(link, max_size=6)) for _ in range(2)))


@given(st.lists(aligned(), min_size=1, max_size=6), st.integers(1, 5))
def test_links_are_counted_as_the_slow_way_does(sentences, cut):
    wanted = naive_priors.count_priors(sentences)
    text, (forward, reverse) = [[s[k] for s in sentences] for k in (0, 1)], [[s[k] for s in sentences] for k in (2, 3)]
    found = at.count_priors(*text, forward, reverse)
    assert as_counts(found) == wanted
    bitext = small([(" ".join(s), " ".join(t)) for s, t, *_ in sentences], lowercase=False)
    links = [Links.from_lists(rows) for rows in (forward, reverse)]
    from aligntools.formats.text.corpus import parts_of

    counter, begin = PriorCounter(), 0
    for part in parts_of(bitext, cut):
        counter.add(part, *(table[begin : begin + len(part)] for table in links))
        begin += len(part)
    assert as_counts(counter.finish()) == wanted


def test_parts_that_are_counted():
    aligner = at.train_aligner([s for s, _ in CORPUS], [t for _, t in CORPUS], fast=True)
    counter = PriorCounter()
    sources, targets = ["das neue haus", "das alte", "neue buch"], ["the new house", "the old", "new book"]
    blocks = list(aligner.align_blocks(sources, targets, unbuffered=True, counter=counter))  # a part for each line
    both = [[a.forward for b in blocks for a in b], [a.reverse for b in blocks for a in b]]
    wanted = at.count_priors(sources, targets, *both)
    assert as_counts(counter.finish()) == as_counts(wanted)
    text = [s for s, _ in CORPUS], [t for _, t in CORPUS]
    bitext = at.read_bitext(*text)
    aligner = at.train_aligner(bitext, fast=True, keep_text=False)
    with pytest.raises(at.UsageProblem, match="was cut"):
        list(aligner.align_blocks(bitext, counter=PriorCounter()))


@pytest.mark.parametrize(
    ("forward", "found"),
    [(["0-0"], "forward: 1 lines, but the text has 2"), (["0-0", "2-0"], "forward:2: link 2-0 points past the source")],
)
def test_links_that_do_not_fit_are_refused(forward, found):
    with pytest.raises(at.DataError, match=found):
        at.count_priors(["a b", "c"], ["x", "y"], forward, ["0-0", "0-0"])


# Views


def test_words_are_folded_cut_and_merged():
    priors = priors_of(
        [("Häuser", "Houses", 2), ("häusern", "house", 3), ("<NULL>", "House", 4), ("häuser", "<NULL>", 5),
         ("haus", "else", 7), ("buch", "house", 11)],
        [("Häuser", 1, 2), ("häusern", 1, 3), ("häuser", 99, 1), ("nirgends", 1, 1)], [("houses", 0, 6)],
        [(1, 4), (-60, 2), (50, 1)], [(0, 3)],
    )  # fmt: skip
    bitext = small([("häuser häuslich", "houses the"), ("die", "the")])
    weights = PriorWeights(0.5, 2, 3)
    for length, lexical, fertile in ((0, 1.0, 4.0), (4, 2.5, 10.0)):
        words = view_text(bitext, length).words
        found = view_priors(priors, words, True, weights)
        s, t = words.s_ids["haus" if length else "häuser"], words.t_ids["hous" if length else "houses"]
        assert (found.keys.tolist(), found.alphas.tolist()) == ([s * len(words.t_words) + t], [lexical])
        assert found.fertilities[0][s, 1] == fertile
        assert found.fertilities[0][s, kc.FERTILITIES - 1] == 2
        assert found.fertilities[1][t, 0] == 12
        assert found.s_null[s] == 2.5
        assert found.t_null[t] == (2 if length else 0)
        assert found.jumps[0, [0, kc.JUMPS + 1, 2 * kc.JUMPS]].tolist() == [6, 12, 3]
        assert (found.jumps[0].sum(), found.jumps[1].sum()) == (21, 9)
    case_sensitive = view_priors(priors, view_text(bitext, 0).words, False, ONES)
    assert len(case_sensitive.keys) == 0


# M-steps


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("iterations", [1, 2, 4])
def test_ibm1_with_priors_is_the_slow_ways(direction, iterations):
    bitext = small()
    priors = priors_of([(s, t, n) for (s, t), n in LEXICAL.items()])
    (member,), _ = learn(
        bitext, estimator="em", direction=direction, look_alike=False, views=(0,), p_null=0.0, model_type="ibm1",
        ibm1_iterations=iterations, priors=lambda words: view_priors(priors, words, True, ONES),
    )  # fmt: skip
    corpus = [(s.split(), t.split()) for s, t in CORPUS]
    pairs = LEXICAL
    if direction == "reverse":
        corpus, pairs = [(t, s) for s, t in corpus], {(t, s): n for (s, t), n in pairs.items()}
    table = naive_priors.ibm1_with_priors(corpus, pairs, iterations)
    words, lexicon = member.words, member.lexicon
    rows, ids = np.repeat(np.arange(member.table.n_source), np.diff(member.table.ptr)), member.table.ids
    pairs = [(words.s_words[s], words.t_words[t]) for s, t in zip(rows.tolist(), ids.tolist(), strict=True)]
    if direction == "forward":
        found, expected = lexicon.forward * lexicon.s_inverse[rows], [table[pair] for pair in pairs]
    else:
        found, expected = lexicon.reverse * lexicon.t_inverse[ids], [table[pair[::-1]] for pair in pairs]
    assert close(found, expected, 1e-4)


@pytest.mark.parametrize("joint", [True, False])
def test_what_priors_name_is_not_pruned(joint):
    """Of all pairs that occur together, but for those of the priors, none counts enough to stay."""
    priors = priors_of([("das", "the", 0.1), ("ein", "book", 3), ("klein", "a", 9)])  # the last never meet
    how = {"look_alike": False, "views": (0,), "model_type": "hmm", "ibm1_iterations": 2, "iterations": 2}
    (member,), _ = learn(
        small(), **how, agreement=joint, prune=99.0, priors=lambda words: view_priors(priors, words, True, ONES)
    )
    words, table = member.words, member.table
    rows = np.repeat(np.arange(table.n_source), np.diff(table.ptr))
    pairs = zip(rows.tolist(), table.ids.tolist(), strict=True)
    assert {(words.s_words[s], words.t_words[t]) for s, t in pairs} == {("das", "the"), ("ein", "book")}


def test_jumps_with_priors():
    """The M-step divides counts by exposures; the priors' exposures are in proportion to the text's."""
    rng = np.random.default_rng(3)
    counts = rng.gamma(1, 5, (2, 2, kj.JUMP_SIZE))
    window = np.stack([rng.gamma(1, 9, kj.FIRST), np.zeros(kj.FIRST)])
    added = counts.copy()
    add_jumps(added, window)
    n = slice(0, kj.FIRST)
    share = 1 + window[0].sum() / counts[0, 0, n].sum()
    close(added[0, 0, n] / added[0, 1, n], (counts[0, 0, n] + window[0]) / (counts[0, 1, n] * share))
    assert (added[1] == counts[1]).all()
    assert (added[0, :, kj.FIRST :] == counts[0, :, kj.FIRST :]).all()
    alike = counts[:, 0, n] * 7
    again = counts.copy()
    add_jumps(again, alike)
    close(again[:, 0, n] / again[:, 1, n], counts[:, 0, n] / counts[:, 1, n])  # more of the same changes nothing


def test_the_sampler_starts_from_its_priors():
    bitext = small()
    priors = priors_of(
        [(s, t, n) for (s, t), n in LEXICAL.items()] + [("<NULL>", "is", 2), ("das", "<NULL>", 3)],
        [("das", 1, 4)], [("the", 2, 5)], [(1, 6)], [(-2, 7)],
    )  # fmt: skip
    (member,), _ = learn(bitext, model_type="hmm", look_alike=False, views=(0,))
    given = view_priors(priors, member.words, True, ONES)
    for forward in (True, False):
        begun = _direction(member, forward, None, 1, given)
        plain, found = _direction(member, forward, None, 1, None).counts, begun.counts
        table, words = member.table, member.words
        rows = np.repeat(np.arange(table.n_source), np.diff(table.ptr))
        extra = {
            (words.s_words[s], words.t_words[t]): n
            for s, t, n in zip(rows.tolist(), table.ids.tolist(), found.pairs.tolist(), strict=True)
            if n
        }
        together = {pair: LEXICAL[pair] for pair in (("das", "the"), ("buch", "book"), ("klein", "is"))}
        assert extra == together
        sums = table.row_sums(found.pairs) if forward else table.column_sums(found.pairs)
        assert found.words[:-1].tolist() == sums.tolist()
        ids = (words.t_ids, words.s_ids)[not forward]
        assert found.null[ids["is" if forward else "das"]] == (2 if forward else 3) == found.words[-1]
        jump, n = (1, 6) if forward else (-2, 7)
        change = found.jumps - plain.jumps
        assert not change[:-1].any()  # they are not known by word
        assert change[-1, jump + kc.JUMPS] == n == pytest.approx(change[-1, -1])
        assert change[-1, :-1].sum() == n
        given_ids = words.s_ids if forward else words.t_ids
        assert found.fertility[given_ids["das" if forward else "the"], 1 if forward else 2] == (4 if forward else 5)
        alphas = 4 if forward else 5
        assert found.fertility.sum() == pytest.approx((1 + UNLINKED) * alphas)  # no file counts words without links
        assert found.fertility[given_ids["das" if forward else "the"], 0] == pytest.approx(UNLINKED * alphas)
        assert (begun.means.fertility == found.fertility).all()
        assert begun.means.fertility.dtype == np.float64  # a sweep's share of a large count is lost in float32


# Whole runs


def lines(name, count=None):
    return (SAMPLES / name).read_text(encoding="utf-8").splitlines()[:count]


def whole_priors():
    found = at.align(lines("de-en.de"), lines("de-en.en"))
    return at.count_priors(lines("de-en.de"), lines("de-en.en"), found.forward_table, found.reverse_table)


@pytest.fixture(scope="module")
def priors():
    return whole_priors()


def test_small_texts_and_several_priors(priors, tmp_path):
    """Forty pairs, aligned with what the alignment of 240 says."""
    text, gold = (lines("de-en.de", 40), lines("de-en.en", 40)), str(SAMPLES / "de-en.wa")
    plain, helped, whole = (
        at.aer(gold, at.align(*pairs, **how)[:40]).aer
        for pairs, how in ((text, {}), (text, {"priors": priors}), ((lines("de-en.de"), lines("de-en.en")), {}))
    )
    assert helped < plain - 0.01
    assert helped < (plain + whole) / 2
    one, other = priors_of([("a", "b", 1)]), priors_of([("a", "b", 2), ("c", "d", 1)])
    at.write_priors(tmp_path / "one.tsv", one)
    found = at.read_priors([str(tmp_path / "one.tsv"), tmp_path / "one.tsv", other])
    assert as_counts(found) == {("LEX", "a", "b"): 4, ("LEX", "c", "d"): 1}
    assert at.read_priors(one) is one


@pytest.mark.parametrize("model", ["ibm1", "ibm2", "hmm", "fertility"])
@pytest.mark.parametrize("estimator", ["vb", "em"])
def test_every_model_takes_priors(priors, model, estimator):
    text = lines("de-en.de", 20), lines("de-en.en", 20)
    for agreement in (True, False):
        how = {"model_type": model, "estimator": estimator, "agreement": agreement, "views": (0,)}
        plain, helped = (at.align(*text, **how, priors=given) for given in (None, priors))
        assert (plain.table.pairs.shape != helped.table.pairs.shape) or (plain.table.pairs != helped.table.pairs).any()


def test_models_with_priors(priors, tmp_path):
    text = lines("de-en.de", 40), lines("de-en.en", 40)
    one, three = (at.align(*text, priors=priors, threads=n) for n in (1, 3))
    assert (one.table.pairs == three.table.pairs).all()
    assert (one.probabilities == three.probabilities).all()
    aligner = at.train_aligner(*text, priors=priors)
    aligner.save(tmp_path / "model.atm")
    again = [str(a) for a in at.Aligner.load(tmp_path / "model.atm").align_batch(*text)]
    assert again == [str(a) for a in one]
    text = lines("de-en.de", 40), lines("de-en.en", 40)
    nothing = {"priors": whole_priors(), "prior_lexical": 0, "prior_fertility": 0, "prior_jumps": 0}
    plain, empty, light = (at.align(*text, **how) for how in ({}, {"priors": Priors()}, nothing))
    for other in (empty, light):
        assert (plain.probabilities == other.probabilities).all()
        assert (plain.table.pairs == other.table.pairs).all()


def test_pieces_know_of_words_that_the_text_does_not_have():
    text = lines("de-en.de", 40), lines("de-en.en", 40)
    beside = priors_of([("xxbrücke", "bridge", 50), ("gemeinderat", "yycouncil", 50)])
    foreign = priors_of([("xxbrücke", "yybridge", 50)])
    for subwords, own, differs in ((None, beside, True), (0, beside, False), (None, foreign, False)):
        plain, other = (at.align(*text, subwords=subwords, priors=counts) for counts in (None, own))
        assert np.array_equal(plain.probabilities, other.probabilities) != differs


def test_priors_that_are_told(caplog):
    text = lines("de-en.de", 20), lines("de-en.en", 20)
    with caplog.at_level(logging.WARNING, "aligntools"):
        at.train_aligner(*text, fast=True, priors=priors_of([("le", "the", 1), ("der", "el", 2)]))
    assert [r.getMessage() for r in caplog.records] == [
        "none of the 2 pairs of words in the priors is one of the text: other languages, exchanged sides, or another"
        " tokenization?"
    ]
    caplog.clear()
    with caplog.at_level(logging.WARNING, "aligntools"):
        at.train_aligner(["a b"], ["c d"], fast=True, priors=priors_of(forward_jumps=[(1, 2)]))
        at.train_aligner(["a b"], ["c d"], fast=True, priors=priors_of(forward_jumps=[(1, 2)]), prior_jumps=1)
    assert [r.getMessage()[:26] for r in caplog.records] == ["the priors have no links, "]


words = st.integers(1, 3)


@st.composite
def texts(draw):
    """Source and target sentences of few words, a link or None for each word of either."""
    out = []
    for _ in range(draw(st.integers(1, 5))):
        source, target = (draw(st.lists(words, min_size=0, max_size=9)) for _ in "st")
        if not source or not target:
            source = target = []
        forward = [draw(st.none() | st.integers(0, len(source) - 1)) for _ in target]
        reverse = [draw(st.none() | st.integers(0, len(target) - 1)) for _ in source]
        out.append((source, target, forward, reverse))
    return out


def text_of(rows):
    """Return the text in words that begin with s and t."""
    return at.read_bitext(
        ["s1 s2 s3", *(" ".join(f"s{w}" for w in row[0]) for row in rows)],
        ["t1 t2 t3", *(" ".join(f"t{w}" for w in row[1]) for row in rows)],
    )


def links_of(rows):
    """Return the links of both directions; the first sentence has none."""
    forward = [[], *([(i, j) for j, i in enumerate(row[2]) if i is not None] for row in rows)]
    reverse = [[], *([(i, j) for i, j in enumerate(row[3]) if j is not None] for row in rows)]
    return Links.from_lists(forward), Links.from_lists(reverse)


@given(texts(), st.sampled_from([1, 2, 3]), st.booleans())
def test_costs_are_the_naive_ones(rows, model, with_priors):
    given_priors = {}
    priors = None
    if with_priors:
        given_priors = {
            "lexical": [("s1", "t1", 2.5), ("s3", "t2", 1)],
            "source_fertilities": [("s1", 2, 3), ("s2", 9, 1)],
            "target_fertilities": [("t1", 1, 2)],
            "forward_jumps": [(1, 4)],
            "reverse_jumps": [(-2, 3)],
        }
        priors = priors_of(**given_priors)
    found = at.link_costs(text_of(rows), *links_of(rows), model=model, priors=priors, threads=1)
    whole = [([1, 2, 3], [1, 2, 3], [None] * 3, [None] * 3), *rows]

    def numbered(name, *columns):
        return [
            tuple(int(x[1:]) if isinstance(x, str) else x for x in (*(row[k] for k in columns), row[-1]))
            for row in given_priors.get(name, [])
        ]

    expected = [
        naive_costs.costs(
            [(s, t, f) for s, t, f, _ in whole], 4, model, numbered("lexical", 0, 1),
            numbered("source_fertilities", 0, 1), numbered("forward_jumps", 0),
        ),
        naive_costs.costs(
            [(t, s, r) for s, t, _, r in whole], 4, model, numbered("lexical", 1, 0),
            numbered("target_fertilities", 0, 1), numbered("reverse_jumps", 0),
        ),
    ]  # fmt: skip
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    blank = [not row[0] for row in whole]
    assert [math.copysign(1, x) < 0 and x == 0 for x in found[0]] == blank


def test_words_with_two_links_and_words_of_priors():
    text = at.read_bitext(["a b"], ["c d"])
    with pytest.raises(at.UsageProblem, match="two links"):
        at.link_costs(text, Links.from_lists([[(0, 0), (1, 0)]]), None)
    with pytest.raises(at.UsageProblem, match="model"):
        at.link_costs(text, None, None, model=4)
    assert np.isnan(at.link_costs(text, None, None)).all()
    text = at.read_bitext(["Das Haus"], ["the house"], case_sensitive=True)
    links = Links.from_lists([[(0, 0), (1, 1)]])
    priors = priors_of(lexical=[("Haus", "house", 100)])
    folded = at.read_bitext(["Das Haus"], ["the house"])
    without = at.link_costs(text, links, None)[0, 0]
    assert at.link_costs(text, links, None, priors=priors, case_sensitive=True)[0, 0] < without
    assert at.link_costs(text, links, None, priors=priors)[0, 0] == without
    assert at.link_costs(folded, links, None, priors=priors)[0, 0] < without
