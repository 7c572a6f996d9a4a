import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aligntools as at
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.links.priors import priors_of
from tests import naive_costs

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
