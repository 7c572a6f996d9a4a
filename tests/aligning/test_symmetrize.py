import itertools
from collections import Counter
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.aligning.applying import kernels_decoding as kd
from aligntools.aligning.applying.applier import Posteriors, decide, joint_thresholds
from aligntools.aligning.settings import Decisions
from aligntools.aligning.text.link_matrices import plan_chunks
from aligntools.formats.links import pharaoh
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.bitext import read_bitext
from aligntools.ground.declarations import declared
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.links import translation_tables
from aligntools.links.operations import OPERATIONS
from aligntools.links.settings import Heuristic
from aligntools.links.symmetrize import FLAVORS, METHODS, symmetrize
from tests import naive
from tests.aligning.building import close

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


shapes = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=6)


def posteriors(matrices):
    source, target = (np.array([m.shape[d] for m, _ in matrices], np.int64) for d in (0, 1))
    (chunk,) = plan_chunks(source, target, 1 << 40)
    cells = [np.concatenate([pair[d].ravel() for pair in matrices]).astype(np.float32) for d in (0, 1)]
    offsets = [np.concatenate([[0], np.cumsum(lengths)]) for lengths in (source, target)]
    return Posteriors(0, len(matrices), *offsets, chunk.cell_offsets, chunk.sentence_blocks, *cells, None)


def grid(rng, i, j, forward):
    """Posteriors from a coarse grid, exact in binary, so that ties come up; at most 1 for an observed word."""
    matrix = rng.choice([0, 0, 1 / 8, 1 / 4, 1 / 2], (i, j)).astype(np.float32)
    for row in matrix.T if forward else matrix:
        while row.sum() > 1:
            row[rng.integers(len(row))] = 0
    return matrix


def lists(pairs, offsets):
    return [list(map(tuple, pairs[a:b].tolist())) for a, b in itertools.pairwise(offsets)]


@pytest.mark.parametrize("threads", [1, 3])
@given(shapes, st.integers(0, 10**6), st.sampled_from([0.0, 0.125, 0.25, 0.3, 0.5]))
def test_every_way_of_deciding(threads, shapes, seed, threshold):
    rng = np.random.default_rng(seed)
    matrices = [(grid(rng, i, j, True), grid(rng, i, j, False)) for i, j in shapes]
    p = posteriors(matrices)
    expected = {
        kd.JOINT: [naive.jointly((f + r) / 2, threshold) for f, r in matrices],
        kd.MEAN: [naive.above((f + r) / 2, threshold) for f, r in matrices],
        kd.FORWARD: [naive.above(f, threshold) for f, _ in matrices],
        kd.REVERSE: [naive.above(r, threshold) for _, r in matrices],
        kd.FORWARD_BEST: [naive.best_links(f, True) for f, _ in matrices],
        kd.REVERSE_BEST: [naive.best_links(r, False) for _, r in matrices],
    }
    with Pool(threads) as pool:
        for way, links in expected.items():
            pairs, offsets, probabilities = decide(p, way, threshold, pool)
            assert lists(pairs, offsets) == links
            values = [
                {kd.JOINT: (f + r) / 2, kd.MEAN: (f + r) / 2, kd.FORWARD: f, kd.FORWARD_BEST: f}.get(way, r)[i, j]
                for (f, r), sentence in zip(matrices, links, strict=True)
                for i, j in sentence
            ]
            np.testing.assert_array_equal(probabilities, np.array(values, np.float32))


@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.0])
def test_thresholds_of_the_joint_decision_are_ordered_probabilities(threshold):
    first, beside, apart = joint_thresholds(threshold)
    assert 0 <= beside <= first <= apart <= 1
    assert first == threshold


@pytest.mark.parametrize("forward", [True, False])
def test_mixing_adds_both_members_with_their_weights(forward):
    rng = np.random.default_rng(4)
    shapes = [(3, 4), (0, 0), (5, 2), (1, 1)]
    source, target = (np.array([s[d] for s in shapes], np.int64) for d in (0, 1))
    (chunk,) = plan_chunks(source, target, 1 << 40)
    s_offsets, t_offsets = (np.concatenate([[0], np.cumsum(x)]) for x in (source, target))
    hmm = [rng.random(s) for s in shapes]
    n = int((target if forward else source).sum())
    sizes, positions = np.zeros(n, np.int8), np.zeros((n, 8), np.int16)
    masses = rng.random((n, 8)).astype(np.float32)
    expected = [0.5 + 0.25 * m for m in hmm]
    at = 0
    for (i, j), matrix in zip(shapes, expected, strict=True):
        for o in range(j if forward else i):
            size = rng.integers(0, (i if forward else j) + 1)
            sizes[at] = size if at % 3 else -size  # those that were not sampled too
            positions[at, :size] = rng.permutation(i if forward else j)[:size]
            for x in range(size):
                cell = (positions[at, x], o) if forward else (o, positions[at, x])
                matrix[cell] += 0.75 * masses[at, x]
            at += 1
    total = np.full(chunk.n_cells, 0.5, np.float32)
    cells = np.concatenate([m.ravel() for m in hmm]).astype(np.float32)
    kd.mix_block(
        0, 4, 0, s_offsets, t_offsets, chunk.cell_offsets, total, cells, np.float32(0.25),
        forward, sizes, positions, masses, np.float32(0.75),
    )  # fmt: skip
    close(total, np.concatenate([m.ravel() for m in expected]))


word = st.sampled_from(["a", "b", "B", "ß", "NULL", "zz", "'"])


@st.composite
def corpora(draw):
    rows = draw(
        st.lists(
            st.tuples(st.lists(word, min_size=1, max_size=5), st.lists(word, min_size=1, max_size=5)),
            min_size=1,
            max_size=6,
        )
    )
    links = [
        draw(st.sets(st.tuples(st.integers(0, len(f) - 1), st.integers(0, len(e) - 1)), max_size=6)) for f, e in rows
    ]
    return rows, links


def load(folder, rows, links):
    for name, side in (("f", 0), ("e", 1)):
        (folder / name).write_text("".join(" ".join(row[side]) + "\n" for row in rows), encoding="utf-8")
    bitext = read_bitext(str(folder / "f"), str(folder / "e"), lowercase=False)
    return translation_tables.count_links(bitext, Links.from_lists(links))


def naive_tables(rows, links):
    """Count as Moses says it does; return the lines of lex.f2e and lex.e2f."""
    pairs = Counter()
    for (f, e), row in zip(rows, links, strict=True):
        pairs.update((f[i], e[j]) for i, j in row)
        pairs.update((w, "NULL") for i, w in enumerate(f) if i not in {i for i, _ in row})
        pairs.update(("NULL", w) for j, w in enumerate(e) if j not in {j for _, j in row})
    of_f, of_e = Counter(), Counter()
    for (a, b), count in pairs.items():
        of_f[a] += count
        of_e[b] += count
    f2e = [(b, a, f"{count / of_f[a]:.7f}") for (a, b), count in pairs.items()]
    e2f = [(a, b, f"{count / of_e[b]:.7f}") for (a, b), count in pairs.items()]
    return [[" ".join(row) for row in sorted(rows)] for rows in (f2e, e2f)]


@given(corpora())
def test_tables_are_moses_tables(tmp_path_factory, corpus):
    counted = load(tmp_path_factory.mktemp("lexicon"), *corpus)
    for given_side, expected in zip(("source", "target"), naive_tables(*corpus), strict=True):
        assert b"".join(counted.lines(given_side)).decode().splitlines() == expected


def test_shortlists_and_links_out_of_range(tmp_path):
    rows = [(list("xxxxxy"), list("cbbade"))]
    counted = load(tmp_path, rows, [[(0, 0), (1, 1), (2, 2), (3, 3)]])
    # x: twice b, once c and a, once NULL; y: NULL only
    expected = b"b x 0.40000000\na x 0.20000000\n"
    assert b"".join(counted.shortlist(2).lines()) == expected
    assert b"".join(counted.shortlist(9).lines()) == expected + b"c x 0.20000000\n"
    for name in "fe":
        (tmp_path / name).write_text("a b\nc\n")
    bitext = read_bitext(str(tmp_path / "f"), str(tmp_path / "e"))
    links = Links.from_lists([[(0, 0), (1, 2)], [(1, 0)]])
    assert translation_tables.out_of_range(bitext, links).tolist() == [False, True, True]
    with pytest.raises(ValueError, match="links of 1 sentences for 2"):
        translation_tables.count_links(bitext, links[:1])
