"""Features of rules: the sets, and bigrams of target sides."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from aligntools.translating.grammar.features import SETS, add_bigrams, dominant_tags
from tests import naive_grammar
from tests.translating.test_extraction import CORPUS, as_dict, bitext, extract_grammar, tight


def test_dominant_tags_and_the_papers_example():
    words, tags = b"the run run run a a".split(), b"DT NN VB VB X DT".split()
    assert dominant_tags(words, tags) == {b"the": b"DT", b"run": b"VB", b"a": b"DT"}
    assert set(naive_grammar.bigrams(("on", "the", -1, "issue", "of", -2), {})) == {
        "on_the", "the_X", "X_issue", "issue_of", "of_X",
    }  # fmt: skip


def sparse(grammar):
    rows = []
    for k in range(len(grammar)):
        part = slice(grammar.sparse_offsets[k], grammar.sparse_offsets[k + 1])
        ids = grammar.sparse_ids[part].tolist()
        assert len(set(ids)) == len(ids)
        rows.append(
            {grammar.sparse_names[i]: v for i, v in zip(ids, grammar.sparse_values[part].tolist(), strict=True)}
        )
    return rows


def symbols(grammar, k):
    return tuple(-1 if s in ("[X,1]", "[X,2]") else s for s in grammar.rule(k)[1])


@given(st.dictionaries(st.sampled_from(["the", "house", "a", "read", "i", "book"]), st.sampled_from(["D", "N", "i"])))
def test_bigrams_are_those_of_the_definition(tags):
    grammar = extract_grammar(*bitext(CORPUS))
    found = add_bigrams(grammar, {w.encode(): t.encode() for w, t in tags.items()})
    expected = [naive_grammar.bigrams(symbols(grammar, k), tags) for k in range(len(grammar))]
    assert sparse(found) == expected
    assert (found.sparse_ids.dtype, found.sparse_values.dtype) == (np.int32, np.float32)


def test_the_most_frequent_bigrams():
    grammar = extract_grammar(*bitext(CORPUS))
    tags = {b"the": b"D", b"a": b"D"}
    rules = {}
    for row in sparse(add_bigrams(grammar, tags)):
        for name in row:
            rules[name] = rules.get(name, 0) + 1
    ranked = sorted(rules, key=lambda name: (-rules[name], name))
    some = add_bigrams(grammar, tags, most=3)
    assert some.sparse_names == ranked[:3]
    again = add_bigrams(grammar, tags, names=["none_such", *some.sparse_names])
    assert again.sparse_names == ["none_such", *some.sparse_names]
    assert sparse(again) == sparse(some)
    part = some.subset(np.arange(len(some)) % 2 == 1)
    assert sparse(part) == sparse(some)[1::2]
    empty = add_bigrams(grammar.subset([]), tags, names=["a_b"])
    assert empty.sparse_offsets.tolist() == [0]


def test_sets_of_features():
    kept = tight(keep=1000)
    standard = as_dict(extract_grammar(*bitext(CORPUS), kept))
    full = as_dict(extract_grammar(*bitext(CORPUS), tight(keep=1000, features="full")))
    _, occurrences = naive_grammar.count_rules(CORPUS)
    times, source_times = {}, {}
    for (left, right, _), count in occurrences.items():
        times[left, right] = times.get((left, right), 0) + count
        source_times[left] = source_times.get(left, 0) + count
    for key, (values, _, _) in full.items():
        np.testing.assert_array_equal(values[:4], standard[key][0])
        expected = np.log(times[key]), times[key] == 1, source_times[key[0]] == 1
        np.testing.assert_allclose(values[4:], expected, atol=1e-5)
    assert {len(SETS[name]) for name in SETS} == {4, 7}


def test_features_of_cdec():
    grammar = extract_grammar(*bitext(CORPUS), tight(keep=1000, features="cdec"))
    assert grammar.feature_names == list(SETS["cdec"])
    given_f, given_e = naive_grammar.word_probabilities(CORPUS)
    _, occurrences = naive_grammar.count_rules(CORPUS)
    for key, (values, _, _) in as_dict(grammar).items():
        left = key[0]
        pair = sum(n for (f, e, _), n in occurrences.items() if (f, e) == key)
        source = sum(n for (f, _, _), n in occurrences.items() if f == left)
        fs, es = ([s for s in side if isinstance(s, str)] for side in key)
        forward = sum(np.log10(max(given_f.get((f, e), 0) for f in [*fs, None])) for e in es)
        backward = sum(np.log10(max(given_e.get((f, e), 0) for e in [*es, None])) for f in fs)
        expected = [-np.log10(pair / source), np.log10(1 + source), np.log10(1 + pair), -backward, -forward,
                    source == 1, pair == 1]  # fmt: skip
        np.testing.assert_allclose(values, expected, atol=2e-5)
