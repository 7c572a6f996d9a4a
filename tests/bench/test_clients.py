"""Clients of other aligners, from their fetched sources; what is not at hand is skipped."""

import os
import sys
from pathlib import Path

import pytest

from bench.client_places import Place
from bench.clients import CASES, missing
from tests.places import REALDATA

#: A folder of fetched sources, and a Python that has the clients' packages.
CLIENTS, PYTHON = os.environ.get("ALIGNTOOLS_CLIENTS"), os.environ.get("ALIGNTOOLS_CLIENTS_PYTHON", sys.executable)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_client_runs_with_our_stand_ins(case, tmp_path):
    if not CLIENTS:
        pytest.skip("ALIGNTOOLS_CLIENTS names no folder of clients")
    data = REALDATA / "alignment"
    place = Place(Path(CLIENTS).resolve(), tmp_path, PYTHON, data if data.exists() else None)
    lacks = missing(case, place)
    if lacks:
        pytest.skip(lacks)
    assert case.run(place)


def test_what_is_not_there_is_told(tmp_path):
    lacks = {missing(case, Place(tmp_path, tmp_path)) for case in CASES}
    assert "no opusfilter/test_wordalign_filter.py" in lacks
    assert all(lacks)
