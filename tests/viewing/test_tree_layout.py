"""Arcs of trees: no two lie on each other, and lines cross where edges do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.viewing.tree_svg import arcs, columns, crossings, drawn_rows


@st.composite
def graphs(draw, most=12):
    """Heads of any words: trees, several roots, missing heads, cycles."""
    n = draw(st.integers(1, most))
    return [draw(st.integers(-1, n).filter(lambda head, k=k: head != k + 1)) for k in range(n)]


def naive_crossings(heads):
    """Pairs of edges that cross, and edges over a root."""
    edges = [(min(h - 1, w), max(h - 1, w)) for w, h in enumerate(heads) if h > 0]
    roots = [w for w, h in enumerate(heads) if h == 0]
    pairs = sum(a < c < b < d for a, b in edges for c, d in edges)
    return pairs + sum(a < r < b for a, b in edges for r in roots)


@given(graphs())
def test_arcs_over_the_same_gap_are_at_different_heights(heads):
    found = [arc for arc in arcs(heads) if arc.head >= 0]
    for a in found:
        for b in found:
            if a is not b and max(a.begin, b.begin) < min(a.end, b.end):
                assert a.level != b.level
            if a.begin <= b.begin and b.end <= a.end and (a.begin, a.end) != (b.begin, b.end):
                assert a.level > b.level  # what is inside is below


@given(graphs())
def test_lines_cross_where_edges_do(heads):
    found = crossings(arcs(heads))
    over_roots = [pair for pair in found if pair[1].head < 0]
    assert all(pair[0].level < pair[1].level for pair in found)
    assert len(found) <= naive_crossings(heads)
    between_edges = naive_crossings([-1 if head == 0 else head for head in heads])
    assert len(found) - len(over_roots) == between_edges


def test_a_root_under_an_arc_is_a_crossing():
    assert len(crossings(arcs([2, 0]))) == 0
    assert len(crossings(arcs([3, 0, 2]))) == 1


@given(graphs())
def test_lines_of_a_text_tree_do_not_lie_on_each_other(heads):
    place, taken = columns(heads), set()
    for word, column in enumerate(place):
        own = [k for k, head in enumerate(heads) if head == word + 1 and place[k] > column]
        rows = [word, *own]
        cells = {(row, column) for row in range(min(rows), max(rows) + 1)}
        assert not cells & taken
        taken |= cells
    assert len(drawn_rows(heads)) == len(heads)


@pytest.mark.parametrize(
    ("heads", "rows"),
    [
        ([2, 0], ["╭──", "┴"]),
        ([0, 1, 2], ["┬", "╰─┬", "  ╰──"]),
        ([3, 4, 4, 0], ["    ╭──", "╭───┼", "├───┴", "┴"]),  # the edges of the first two words cross
        ([2, 1], ["┬", "╰──"]),  # a cycle
        ([-1], ["─"]),
        ([], []),
    ],
)
def test_text_trees(heads, rows):
    assert [row.rstrip() for row in drawn_rows(heads)] == rows
