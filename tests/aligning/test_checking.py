"""How surprising it is that words have no link, spans of them, and what is compared without links."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.links.pharaoh import Links
from aligntools.tools.checks.judgements import BLANK, MOST, Lengths, different_numbers, judge, judge_alone, repetitions
from aligntools.tools.checks.null_rates import OMITTED, RATE_OF_CLASS, USUAL, log_odds, usual_rates
from aligntools.tools.checks.segments import maximal_spans
from aligntools.tools.filters import best_links
from tests import naive_checking

SCORES = st.lists(st.integers(-5, 5).map(float), max_size=9)


@given(SCORES)
def test_spans_are_maximal(scores):
    found = [(span.start, span.end) for span in maximal_spans(scores)]
    assert found == naive_checking.maximal_spans(scores)
    assert [span.score for span in maximal_spans(scores)] == [sum(scores[a:b]) for a, b in found]


def test_tables_places_and_links():
    assert OMITTED.sum() == pytest.approx(1)
    assert USUAL.sum(axis=1) == pytest.approx(np.ones(len(USUAL)), abs=2e-3)
    odds = log_odds(np.array([0.0, 1.0, 1.0]), np.array([0.01, 0.01, 0.9]))
    assert odds[0] < 0 < odds[1]  # linked; a word without a link that usually has one
    assert odds[2] < odds[1] / 10  # one that often has none
    types, classes = np.array([0, 0, 0, 1]), np.array([4, 9])
    rates = usual_rates(types, np.array([1.0, 0.0, 0.5, 1.0]), classes)
    fixed = RATE_OF_CLASS.ravel()[4]
    prior = (50 * fixed + 1.5) / 53
    assert rates[:3] == pytest.approx([(0.5 + 2 * prior) / 4, (1.5 + 2 * prior) / 4, (1 + 2 * prior) / 4])
    assert rates[3] == pytest.approx((50 * RATE_OF_CLASS.ravel()[9] + 1) / 51)


def test_a_word_is_linked_as_far_as_by_its_best_link():
    links = Links.from_lists([[(0, 0), (0, 1)], [], [(1, 0)]])
    found = best_links(links, np.array([0.25, 0.75, 0.5], np.float32), np.array([[1, 1, 2], [2, 0, 1]]))
    assert [side.tolist() for side in found] == [[0.75, 0, 0, 0.5], [0.25, 0.75, 0.5]]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("a b a b c", [(2, 4)]),
        ("a a a", [(1, 3)]),
        (". . .", []),
        ("a b c d x a b c", [(5, 8)]),
        ("a b x a b", []),
        ("a b c b c d", [(3, 5)]),
    ],
)
def test_repetitions(text, spans):
    assert [(span.start, span.end) for span in repetitions(text.split())] == spans


@pytest.mark.parametrize(
    ("source", "target", "found"),
    [
        ("1,000 men", "1.000 Mann", ([], [])),
        ("1,000,000 men", "1 000 000 hommes", ([], [])),
        ("3.5 and 4", "4 und 3,5", ([], [])),
        ("1,234.50", "1.234,50", ([], [])),
        ("٣ ١٢", "3 12", ([], [])),
        ("in 1999", "im Jahr 1998", (["1999"], ["1998"])),
        ("12 12", "12", (["12"], [])),
        ("20 200 men", "20 200", ([], [])),
        ("1,234.5", "1 234,5", ([], [])),
        ("1.234,5", "1'234.5", ([], [])),
        ("12,34,567 Rs", "1234567 Rs", ([], [])),
        ("03.10.2024", "10/03/2024", ([], [])),
        ("03.10.2024", "2024-10-03", ([], [])),
        ("3. 10. 2024", "10/3/24", ([], [])),
        ("03.10.2024", "3 October 2024", ([], [])),
        ("October 3, 2024", "3.10.24", ([], [])),
        ("03.10.2024", "2024年10月3日", ([], [])),
        ("03.10.2024", "4 October 2024", (["3", "10"], ["4"])),
        ("03.10.2024", "03.11.2024", (["10"], ["11"])),
        ("3 October 2024", "03.10.2025", (["2024"], ["10", "2025"])),
        ("um 16:30 Uhr", "at 4:30 PM", ([], [])),
        ("at 8 p.m.", "um 20:00 Uhr", ([], [])),
        ("um 08:05", "à 8h05", ([], [])),
        ("um 8:30", "at 8:45", (["30"], ["45"])),
        ("192.168.1.1 und 1.2", "1.2 and 192.168.1.1", ([], [])),
    ],
)
def test_numbers_are_compared_by_value(source, target, found):
    assert different_numbers(source, target) == found


def test_lengths_and_spans():
    words, usual = list("abcdef"), Lengths(0.0, 0.3)
    none, some = np.full(6, -1.0), np.array([-1, 3, 3, 3, -1, -1.0])
    plain, one, both = (judge((words, words[::-1]), odds, usual) for odds in ((none, none), (none, some), (some, some)))
    assert plain.score < both.score < one.score
    assert one.spans == [[], [(1, 4, 9.0)]]
    longer = judge((words[:2], words), (none[:2], some), usual)
    assert longer.score > one.score
    again = judge((words, [*words, *words[3:]]), (none, np.full(9, -1.0)), usual)
    assert again.score > plain.score + 8
    assert [span[:2] for span in again.repeated] == [(6, 9)]
    assert judge_alone((words, [])).score == BLANK + 6 * MOST
    lengths = np.array([[2, 0, 4], [4, 3, 8]])
    assert Lengths.of(lengths, 1.5).middle == pytest.approx(np.log(1.5))
    assert Lengths.of(np.repeat(lengths, 30, axis=1), 1.5).middle == pytest.approx(np.log(2))
