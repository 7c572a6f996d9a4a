import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.aligning.applying.table_aligner import TableAligner, log_length
from aligntools.formats.links.ttable import TTable

WORDS = [b"a", b"b", b"c"]


def table_of(probabilities):
    given = {word: n for n, word in enumerate([b"<eps>", *WORDS])}
    words = {word: n for n, word in enumerate(WORDS)}
    return TTable(given, words, np.arange(12), np.array(probabilities))


def naive(p, given, observed, tension, p_null, use_null, ratio):
    total, path = log_length(len(observed), len(given), ratio), []
    for j, word in enumerate(observed, 1):
        if tension is None:
            prior = [1 / (len(given) + use_null)] * (len(given) + 1)
        else:
            weights = [math.exp(-tension * abs(i / len(given) - j / len(observed))) for i in range(1, len(given) + 1)]
            prior = [p_null, *((1 - p_null) * w / sum(weights) for w in weights)]
        scores = [q * p(c, word) for q, c in zip(prior, [b"<eps>", *given], strict=True)]
        first = 0 if use_null else 1
        total += math.log(sum(scores[first:]))
        path.append(max(range(first, len(scores)), key=lambda i: (scores[i], -i)) - 1)
    return path, total


sentences = st.lists(st.sampled_from([*WORDS, b"unknown"]), min_size=1, max_size=5)


@given(
    st.lists(st.integers(1, 1000), min_size=12, max_size=12),
    sentences, sentences, st.none() | st.floats(0.1, 14), st.floats(0.01, 0.9), st.booleans(),
)  # fmt: skip
def test_equals_enumeration(values, conditioning, observed, tension, p_null, use_null):
    probabilities = np.array(values) / 3000
    table = table_of(probabilities)

    def p(c, o):
        return probabilities[table.given[c] * 3 + table.words[o]] if c in table.given and o in table.words else 1e-9

    path, total = TableAligner(table, tension, p_null, use_null, 1.3).align(conditioning, observed)
    expected, log_probability = naive(p, conditioning, observed, tension, p_null, use_null, 1.3)
    assert total == pytest.approx(log_probability, rel=1e-9)
    for j, (i, wanted) in enumerate(zip(path.tolist(), expected, strict=True)):
        if i != wanted:  # no more than rounding may decide between two positions
            one, other = (p(b"<eps>" if x < 0 else conditioning[x], observed[j]) for x in (i, wanted))
            assert min(i, wanted) < 0 or one == other or tension is not None


def test_ties_and_no_probability():
    even = table_of([0.25] * 12)
    assert TableAligner(even).align([b"a", b"b"], [b"c"])[0].tolist() == [-1]
    assert TableAligner(even, use_null=False).align([b"a", b"b"], [b"c"])[0].tolist() == [0]
    assert TableAligner(even, tension=4.0).align([b"a", b"b"], [b"c", b"c"])[0].tolist() == [0, 1]
    nothing = TTable({}, {}, np.empty(0, np.int64), np.empty(0))
    path, total = TableAligner(nothing).align([b"a"], [b"b"])
    assert path.tolist() == [-1]
    assert math.isfinite(total)
