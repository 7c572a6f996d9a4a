"""What the bench of terms measures: precision by a dictionary, and how phrase tables are ranked."""

import math

from bench.terms import precision, ranked, significance


def test_precision_is_by_what_the_dictionary_has():
    words = {"house": {"casa"}, "tree": {"albero"}}
    pairs = [("house", "casa"), ("tree", "pianta"), ("gnu", "gnu"), ("tree", "albero")]
    assert precision(pairs, words) == (50.0, 3, 200 / 3)
    assert precision([], words) == (0.0, 0, 0.0)


def test_significance_is_the_hypergeometric_probability():
    expected = math.comb(5, 3) * math.comb(15, 1) / math.comb(20, 4)
    assert math.isclose(significance(3, 5, 4, 20), -math.log(expected))


def test_phrase_tables_are_ranked_by_both_probabilities_from_a_count_on():
    table = [("a", "x", 30, 30, 30), ("b", "y", 60, 40, 40), ("c", "z", 2, 2, 2)]
    found = ranked(table, 100)
    assert [found[name] for name in found if "30+" in name] == [[("a", "x"), ("b", "y")]]
    assert found["phrase table, both p 0.5+, by count"] == [("b", "y"), ("a", "x"), ("c", "z")]
    assert found["phrase table, by significance"] == [("a", "x"), ("b", "y"), ("c", "z")]
