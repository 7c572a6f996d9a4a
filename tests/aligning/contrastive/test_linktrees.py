"""The trees that judge links: their values against a walk by hand, their file, what they may not depend on."""

import numpy as np
import pytest

from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive import kernels_linktrees as kl
from aligntools.aligning.contrastive import linktrees
from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.linktrees import LinkTrees, inputs
from aligntools.aligning.contrastive.network_learning import INPUTS
from aligntools.aligning.contrastive.starts import FORMER, former_trees
from aligntools.formats.modelfile import read_model
from aligntools.ground.errors import ModelError
from aligntools.ground.parallel import Pool
from tests.aligning.contrastive.making import candidates_of, random_pair


def trees():
    """Return two trees: on the posterior and a neighbour's posterior; on the pair's size."""
    around = kf.FEATURES
    return LinkTrees(
        np.array([0, 5], np.int32), np.array([kf.POSTERIOR, -1, around + 1, -1, -1, around + 8, -1, -1], np.int32),
        np.array([0.5, 0, -1, 0, 0, np.log(20), 0, 0], np.float32), np.array([1, 0, 3, 0, 0, 6, 0, 0], np.int32),
        np.array([2, 0, 4, 0, 0, 7, 0, 0], np.int32), np.array([0, 1, 0, 2, 4, 0, 8, 16], np.float32), 0.25,
    )  # fmt: skip


def candidates(seed=1):
    rng = np.random.default_rng(seed)
    return candidates_of([random_pair(rng, 4, 5, 0.7), random_pair(rng, 5, 6, 0.5), random_pair(rng, 1, 1)])


def test_odds_are_the_sum_of_leaves():
    e = candidates()
    expected = []
    for k, (n_i, n_j) in enumerate([(4, 5), (5, 6), (1, 1)]):
        cells = range(e.starts[k], e.starts[k + 1])
        at = {(e.rows[c], e.columns[c]): e.local[c, kf.POSTERIOR] for c in cells}
        for c in cells:
            i, j = e.rows[c], e.columns[c]
            diagonal = max(at.get((i - 1, j - 1), -6.0), at.get((i + 1, j + 1), -6.0))
            first = 1 if e.local[c, kf.POSTERIOR] <= 0.5 else 2 if diagonal <= -1 else 4
            expected.append(0.25 + first + (8 if n_i * n_j <= 20 else 16))
    assert {1, 2, 4} <= {int(x) & 7 for x in expected}
    np.testing.assert_allclose(trees().odds(e), expected)


def test_odds_do_not_depend_on_threads_or_sides():
    e = candidates()
    for threads in (1, 3):
        with Pool(threads) as pool:
            np.testing.assert_array_equal(former_trees().odds(e, pool), former_trees().odds(e))


def test_surroundings_are_the_same_from_both_sides():
    rng = np.random.default_rng(3)
    pair = random_pair(rng, 4, 6, 0.6)
    e = candidates_of([pair])
    turned = type(pair)(
        6, 4, {n: {(j, i): x for (i, j), x in v.items()} for n, v in pair.cells.items()}, pair.t_null, pair.s_null,
        pair.t_odds, pair.s_odds, sorted((j, i) for i, j in pair.candidates),
    )  # fmt: skip
    other = candidates_of([turned])
    places = {(j, i): c for c, (i, j) in enumerate(zip(other.rows.tolist(), other.columns.tolist(), strict=True))}
    same = [places[c] for c in zip(e.rows.tolist(), e.columns.tolist(), strict=True)]
    # the first two and the last two pairs: on the diagonal and across it; above and below becomes beside
    one, two = inputs(e), inputs(other)[same]
    np.testing.assert_allclose(one[:, [0, 1, 2, 3, 6, 7, 4, 5, 8, 9]], two, rtol=1e-6)


def test_the_former_trees_ask_only_what_a_link_has_by_itself():
    asked = {int(c) for c in former_trees().columns if 0 <= c < len(NAMES)}
    assert asked <= {NAMES.index(n) for n in INPUTS}
    assert kf.TREES not in asked
    assert len(asked) > 10


def test_the_former_trees_think_more_of_probable_links():
    e = candidates()
    e.local[:] = 0
    odds = []
    for x in (-4, 0, 4):
        e.local[:, [kf.POSTERIOR, kf.AGREEMENT]] = x
        odds.append(former_trees().odds(e).mean())
    assert odds[0] < odds[1] < odds[2]


def test_files_round_trip(tmp_path):
    path = tmp_path / "a.safetensors"
    trees().save(path)
    e = candidates()
    np.testing.assert_array_equal(LinkTrees.load(path).odds(e), trees().odds(e))


@pytest.mark.parametrize(
    ("name", "value"),
    [("columns", kf.FEATURES + kl.SURROUNDINGS), ("lefts", 0), ("rights", 99), ("thresholds", np.nan)],
)
def test_a_damaged_file_is_refused(tmp_path, name, value):
    broken = trees()
    getattr(broken, name)[0] = value
    path = tmp_path / "a.safetensors"
    broken.save(path)
    with pytest.raises(ModelError, match="damaged"):
        LinkTrees.load(path)


@pytest.mark.parametrize("at", [0, kf.POSTERIOR, len(NAMES)])
def test_trees_ask_about_the_same_features_when_one_is_added(tmp_path, monkeypatch, at):
    path = tmp_path / "a.safetensors"
    trees().save(path)
    e = candidates()
    expected = trees().odds(e)
    monkeypatch.setattr(linktrees, "NAMES", (*NAMES[:at], "new", *NAMES[at:]))
    values = np.insert(e.local, at, np.float32(7), axis=1)
    around = inputs(e)
    loaded = LinkTrees.load(path)
    out = np.empty(len(e.rows), np.float32)
    nodes = (loaded.columns, loaded.thresholds, loaded.lefts, loaded.rights, loaded.leaves)
    kl.tree_odds(0, len(out), values, around, loaded.roots, *nodes, loaded.bias, out)
    np.testing.assert_array_equal(out, expected)


def test_only_features_that_trees_ask_about_have_to_be_there(tmp_path, monkeypatch):
    path = tmp_path / "a.safetensors"
    trees().save(path)
    header, _ = read_model(str(path), LinkTrees.KIND)
    assert header["features"] == ["posterior"]
    monkeypatch.setattr(linktrees, "NAMES", NAMES[1:])
    assert LinkTrees.load(path).columns[0] == kf.POSTERIOR - 1
    monkeypatch.setattr(linktrees, "NAMES", tuple(n for n in NAMES if n != "lonely"))
    assert len(LinkTrees.load(FORMER).roots) == len(former_trees().roots)
    monkeypatch.setattr(linktrees, "NAMES", tuple(n for n in NAMES if n != "posterior"))
    with pytest.raises(ModelError, match="other features"):
        LinkTrees.load(path)
