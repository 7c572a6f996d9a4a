"""Both paths of reading, and files to read, for the tests of parallel text."""

import contextlib
import gzip
import itertools

import pytest

from aligntools.formats.text import bitext
from aligntools.words import line_scan
from aligntools.words.vocabulary import Vocabulary

NOTHING = Vocabulary.from_words([])
PATHS = {"plain": 1 << 60, "compiled": 0}


@contextlib.contextmanager
def settled(**settings):
    """Set module constants for a while (hypothesis forbids function-scoped fixtures)."""
    homes = {name: bitext if hasattr(bitext, name) else line_scan for name in settings}
    old = {name: getattr(home, name) for name, home in homes.items()}
    for name, value in settings.items():
        setattr(homes[name], name, value)
    try:
        yield
    finally:
        for name, value in old.items():
            setattr(homes[name], name, value)


@pytest.fixture(params=PATHS)
def either_path(request):
    with settled(_SMALL=PATHS[request.param]):
        yield request.param


@pytest.fixture
def file(tmp_path):
    def write(data, name="file"):
        """Write text or bytes, packed where the name says so."""
        data = data.encode() if isinstance(data, str) else data
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


@pytest.fixture
def pair(file):
    return lambda source, target: (file(source, "s"), file(target, "t"))


@pytest.fixture
def one(file):
    return lambda text: file(text, "joint")


def sentences(side, vocabulary):
    words = vocabulary.words()
    ids, offsets = side.tokens.tolist(), side.offsets.tolist()
    return [[words[i] for i in ids[a:b]] for a, b in itertools.pairwise(offsets)]


def both(corpus):
    return (sentences(corpus.source, corpus.source_vocabulary), sentences(corpus.target, corpus.target_vocabulary))
