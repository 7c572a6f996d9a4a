"""Fixtures that several test files share, and how the suite is divided between processes.

Most of a first run's time goes into compiling. All processes of a run share one folder of compiled code, and tests that
compile the same kernels run in the same process, so that hardly anything is compiled twice.
"""

import os

import hypothesis
import pytest

from tests.places import ROOT, SAMPLES

_CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
os.environ.setdefault("ALIGNTOOLS_CACHE_DIR", os.path.join(_CACHE, "aligntools"))  # for all, whatever they set

hypothesis.settings.register_profile("suite", deadline=None)  # the first example may wait for the compiler
hypothesis.settings.load_profile("suite")

#: Which tests compile the same kernels, by the beginnings of their paths; the first that fits. Processes take groups
#: in this order, so the longest come first, and last the tests, one by one, that use what all others have compiled.
GROUPS = (
    (
        "translation",
        """translating metrics/test_bleu formats/test_arpa formats/test_grammar cli/test_imputed cli/test_extract
        cli/test_translate cli/test_train_lm cli/test_eval_bleu""",
    ),
    (
        "alignment",
        """aligning cli/test_align cli/test_contrastive cli/test_mre cli/test_fast_align cli/test_train_hmm""",
    ),
    ("parsing", "parsing cli/test_parse cli/test_transfer"),
    ("tagging", "tagging cli/test_tag"),
    ("formats", "formats ground metrics bench cli"),
)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(items):
    """Mark each test with its group and put the groups in order."""
    order = {}
    for item in items:
        path = item.path.relative_to(ROOT / "tests").as_posix()
        fits = (k for k, (_, begin) in enumerate(GROUPS) if path.startswith(tuple(begin.split())))
        order[item] = number = next(fits, len(GROUPS))
        if number < len(GROUPS):
            item.add_marker(pytest.mark.xdist_group(GROUPS[number][0]))
    items.sort(key=order.get)


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
    from tests.cli.running import run

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
