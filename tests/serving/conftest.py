"""The model that services answer by."""

import pytest

import aligntools as at
from tests import models


@pytest.fixture(scope="session")
def model():
    return at.load(models.model("align"))
