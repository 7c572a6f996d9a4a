from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.aligning.settings import Decisions
from aligntools.formats.links import pharaoh
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.declarations import declared
from aligntools.ground.errors import UsageProblem
from aligntools.links.operations import OPERATIONS
from aligntools.links.settings import Heuristic
from aligntools.links.symmetrize import FLAVORS, METHODS, symmetrize
from tests import naive

DATA = Path(__file__).parents[1] / "data" / "symmetrize"

point = st.tuples(st.integers(0, 7), st.integers(0, 7))
one_way = st.frozensets(point, max_size=14)
functional = st.dictionaries(st.integers(0, 9), st.integers(0, 9), max_size=10)
pairs = st.tuples(one_way, one_way) | st.tuples(functional, functional).map(
    lambda maps: (frozenset((i, j) for j, i in maps[0].items()), frozenset(maps[1].items()))
)


def both(corpus):
    return Links.from_lists([f for f, _ in corpus]), Links.from_lists([r for _, r in corpus])


def test_methods_and_long_sentences():
    """To type checkers, as a choice of commands that align, and to the command that combines files."""
    of_files = {name for name, one in OPERATIONS.items() if one.operands == 2 and one.yields == "links"}
    assert set(get_args(Heuristic)) == set(METHODS) == of_files
    assert set(METHODS) < set(declared(Decisions)["symmetrize"].choices)
    far = 999_999_999
    forward = Links.from_lists([[(far, far), (far - 1, far - 1)]])
    reverse = Links.from_lists([[(far, far), (0, far - 1)]])
    expected = [[(0, far - 1), (far - 1, far - 1), (far, far)]]
    for compiled in (False, True):
        assert symmetrize(forward, reverse, "grow-diag-final", compiled=compiled).tolists() == expected
    forward = Links.from_lists([[(k, k) for k in range(3000)]])
    reverse = Links.from_lists([[(2999, 2999)]])  # each pass of atools' order adds one link
    for flavor in FLAVORS:
        grown = symmetrize(forward, reverse, "grow-diag", flavor, compiled=True)
        assert grown.tolists() == forward.tolists()
    links = Links.from_lists([[]])
    with pytest.raises(UsageProblem, match="no method 'grow-final'"):
        symmetrize(links, links, "grow-final")
    with pytest.raises(UsageProblem, match="no flavor 'giza'"):
        symmetrize(links, links, "grow", "giza")
    with pytest.raises(ValueError, match="1 sentences one way and 0 the other"):
        symmetrize(links, links[:0], "grow")


@pytest.mark.parametrize("compiled", [False, True])
@given(st.lists(pairs, min_size=1, max_size=6))
def test_every_method_is_the_naive_one(compiled, corpus):
    forward, reverse = both(corpus)
    for flavor in FLAVORS:
        for method in METHODS:
            expected = [naive.symmetrize(f, r, method, flavor) for f, r in corpus]
            assert symmetrize(forward, reverse, method, flavor, compiled).tolists() == expected, method


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("flavor", FLAVORS)
@pytest.mark.parametrize("method", METHODS)
def test_goldens(method, flavor, compiled):
    forward, reverse = (pharaoh.read_pharaoh(DATA / f"{name}.align") for name in ("forward", "reverse"))
    result = symmetrize(forward, reverse, method, flavor, compiled)
    grows = METHODS[method][0] > 0
    golden = DATA / (f"{flavor}.{method}.align" if grows else f"{method}.align")
    order = "target" if grows and flavor == "symal" else "source"
    assert pharaoh.format_pharaoh(result, order) == golden.read_bytes()
