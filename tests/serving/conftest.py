"""The model that services answer by."""

import pytest

import aligntools as at
from tests.places import SAMPLES


@pytest.fixture(scope="session")
def model():
    return at.train_aligner(at.read_bitext(str(SAMPLES / "de-en.txt")))
