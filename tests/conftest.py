"""Fixtures that several test files share."""

import pytest

from tests.cli.running import ROOT, run

SAMPLES = ROOT / "data" / "samples"


@pytest.fixture(scope="session")
def samples():
    """The folder of sample corpora."""
    return SAMPLES


@pytest.fixture(scope="session")
def sample_bitext():
    """The German-English sample; not to be changed."""
    from aligntools.formats.bitext import read_bitext

    return read_bitext(str(SAMPLES / "de-en.de"), str(SAMPLES / "de-en.en"))


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A folder with ``model`` and ``align`` (and both directions, scores, the process's errors) of a default run."""
    folder = tmp_path_factory.mktemp("trained")
    done = run(
        "align",
        "-s",
        SAMPLES / "de-en.de",
        "-t",
        SAMPLES / "de-en.en",
        "-o",
        folder / "align",
        "--threads",
        "1",
        "--save-model",
        folder / "model",
        "--forward-output",
        folder / "forward",
        "--reverse-output",
        folder / "reverse",
        "--scores",
        folder / "scores",
        "--log-json",
        folder / "log",
        "--ttable",
        folder / "ttable",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == b""
    (folder / "errors").write_bytes(done.stderr)
    return folder
