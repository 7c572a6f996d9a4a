"""The network that judges links: its values against its definition, its file, what it may not depend on."""

import numpy as np
import pytest

from aligntools.aligning.contrastive import kernels_linknetwork as kn
from aligntools.aligning.contrastive import linknetwork
from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.linknetwork import LinkNetwork, turned
from aligntools.aligning.contrastive.weights import shipped
from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.ground.errors import ModelError
from aligntools.ground.parallel import Pool
from tests import naive_contrastive as naive
from tests.aligning.contrastive.making import candidates_of, random_pair

ASKED = ("posterior", "forward-use", "similarity", "reverse-use")


def network(seed=1, networks=2, layers=2):
    rng = np.random.default_rng(seed)
    channels = kn.CHANNELS
    shapes = {
        "first": (networks, len(ASKED) + kn.WORD_INPUTS, channels), "first_bias": (networks, channels),
        "layers": (networks, layers, kn.PLACES, channels, channels), "biases": (networks, layers, channels),
        "last": (networks, channels), "last_bias": (networks,), "trust": (networks,),
    }  # fmt: skip
    return LinkNetwork(ASKED, **{n: (0.2 * rng.normal(size=shape)).astype(np.float32) for n, shape in shapes.items()})


def pairs(seed=1):
    rng = np.random.default_rng(seed)
    return [random_pair(rng, 4, 5, 0.7), random_pair(rng, 5, 3, 0.5), random_pair(rng, 1, 1)]


@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize("layers", [0, 1, 2])
def test_odds_are_those_of_the_definition(layers, turned):
    own, some = network(layers=layers), pairs()
    arrays = {name: a.tolist() for name, a in own.parts()[1].items()}
    expected = [x for pair in some for x in naive.network_odds(pair, ASKED, arrays, turned)]
    assert np.std(expected) > 0.1
    np.testing.assert_allclose(own.odds(candidates_of(some), turned=turned), expected, rtol=1e-4, atol=1e-4)


def test_odds_by_place_thread_and_side():
    """A change of one place's matrix is seen: no neighbour, row or column is passed over."""
    e = candidates_of(pairs())
    before = network().odds(e)
    for place in range(kn.PLACES):
        other = network()
        other.layers[:, :, place] *= -1
        assert not np.array_equal(other.odds(e), before), place
    some = pairs()
    together = network().odds(candidates_of(some))
    np.testing.assert_array_equal(np.concatenate([network().odds(candidates_of([p])) for p in some]), together)
    for threads in (1, 3):
        with Pool(threads) as pool:
            np.testing.assert_array_equal(network().odds(candidates_of(some), pool), together)
    pair = pairs()[0]
    cells = {turned(n): {(j, i): x for (i, j), x in v.items()} for n, v in pair.cells.items()}
    other = type(pair)(
        pair.n_j, pair.n_i, cells, pair.t_null, pair.s_null, pair.t_odds, pair.s_odds,
        sorted((j, i) for i, j in pair.candidates), pair.t_more, pair.s_more,
    )  # fmt: skip
    one = dict(zip(pair.candidates, network().odds(candidates_of([pair])).tolist(), strict=True))
    two = dict(zip(other.candidates, network().odds(candidates_of([other])).tolist(), strict=True))
    assert one == {(i, j): pytest.approx(x, abs=1e-5) for (j, i), x in two.items()}
    for name in NAMES:
        assert turned(turned(name)) == name
    changed = {name: turned(name) for name in NAMES if turned(name) != name}
    assert len(changed) == 10
    assert set(changed.values()) == set(changed)
    assert changed["one-to-many"] == "many-to-one"
    assert changed["forward-use"] == "reverse-use"


def test_the_shipped_one_thinks_more_of_probable_links():
    e = candidates_of(pairs())
    e.local[:] = 0
    odds = []
    for x in (-4, 0, 4):
        e.local[:, [NAMES.index("posterior"), NAMES.index("agreement")]] = x
        odds.append(shipped().network.odds(e).mean())
    assert odds[0] < odds[1] < odds[2]
    assert "trees" not in shipped().network.names


def test_files_round_trip(tmp_path):
    network().save(tmp_path / "n")
    found = LinkNetwork.load(tmp_path / "n")
    assert found.fingerprint == network().fingerprint != network(seed=2).fingerprint
    e = candidates_of(pairs())
    np.testing.assert_array_equal(found.odds(e), network().odds(e))


@pytest.mark.parametrize(
    ("name", "broken"),
    [("last", lambda a: a[:, :-1]), ("layers", lambda a: a[:, :, :-1]), ("first", lambda a: a[:, 1:]),
     ("trust", lambda a: a * np.nan), ("biases", lambda a: a.astype(np.float64)), ("layers", lambda a: a[0])],
)  # fmt: skip
def test_damaged_files_are_refused(tmp_path, name, broken):
    header, arrays = network().parts()
    write_model(str(tmp_path / "n"), LinkNetwork.KIND, header, arrays | {name: broken(arrays[name])})
    with pytest.raises(ModelError, match="damaged"):
        LinkNetwork.load(tmp_path / "n")


def test_it_asks_for_features_by_name(tmp_path, monkeypatch):
    network().save(tmp_path / "n")
    header, _ = read_model(str(tmp_path / "n"), LinkNetwork.KIND)
    assert header["network"] == list(ASKED)
    monkeypatch.setattr(linknetwork, "NAMES", tuple(n for n in NAMES if n != "similarity"))
    with pytest.raises(ModelError, match="other features"):
        LinkNetwork.load(tmp_path / "n")
