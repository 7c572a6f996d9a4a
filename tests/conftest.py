"""Fixtures that several test files share, and how the suite is divided between processes.

Most of a first run's time goes into compiling. All processes of a run share one folder of compiled code, and tests that
compile the same kernels run in the same process, so that hardly anything is compiled twice.
"""

import logging
import os
import shutil
import sys
import tempfile

import hypothesis
import pytest

from tests import models
from tests.places import ROOT, SAMPLES

_CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
os.environ.setdefault("ALIGNTOOLS_CACHE_DIR", os.path.join(_CACHE, "aligntools"))  # for all, whatever they set
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):  # then each of the processes would compile each module again
    sys.dont_write_bytecode = False
os.environ.setdefault("ALIGNTOOLS_NO_FSYNC", "1")  # the commands; what tests write need not survive a power cut

# no deadlines: the first example may wait for the compiler; a checkout that may only be read keeps no examples
_KEPT = {} if os.access(ROOT, os.W_OK) else {"database": None}
_USUAL = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.function_scoped_fixture]}
hypothesis.settings.register_profile("suite", max_examples=30, **_USUAL, **_KEPT)
hypothesis.settings.register_profile("all", max_examples=50, derandomize=True, database=None, **_USUAL)
hypothesis.settings.register_profile("slow", max_examples=300, **_USUAL, **_KEPT)
hypothesis.settings.load_profile("suite")

#: Which tests compile the same kernels or read the same sources, by the beginnings of their paths; the first that fits.
#: Processes take groups in this order, so the longest come first, and last the other files, which use what all others
#: have compiled.
GROUPS = (
    (
        "translation",
        """translating metrics/test_bleu formats/test_arpa formats/test_grammar cli/test_imputed cli/test_extract
        cli/test_translate cli/test_train_lm cli/test_eval_bleu api/test_trans""",
    ),
    (
        "alignment",
        """aligning adapters cli/test_align cli/test_contrastive cli/test_eflomal cli/test_mre cli/test_fast_align
        cli/test_moses cli/test_stand
        cli/test_train_hmm
        api/test_align api/test_contrast api/test_links bench/test_contrastive""",
    ),
    ("parsing", "parsing cli/test_parse cli/test_transfer api/test_pars"),
    ("tagging", "tagging cli/test_tag api/test_tag"),
    ("damage", "bench/test_abuse"),
    ("browser", "viewing"),  # which starts once
    ("pages", "test_docs"),
    ("warming", "test_warming"),
    (
        "sources",
        "test_architecture test_declared test_messages test_systems cli/test_named_options ground/test_compiling",
    ),
)


def number_of(nodeid):
    """Return the number of a test's group, or how many there are where it is in none."""
    path = nodeid.split("::")[0].removeprefix("tests/")
    return next((k for k, (_, begin) in enumerate(GROUPS) if path.startswith(tuple(begin.split()))), len(GROUPS))


def pytest_configure(config):
    """Take more examples with the slow tests; where all tests run, as in CI, the same ones each time.

    The processes of a run share the folder of `tests.models`.
    """
    if "ALIGNTOOLS_TEST_MODELS" not in os.environ:
        os.environ["ALIGNTOOLS_TEST_MODELS"] = folder = tempfile.mkdtemp(prefix="aligntools-models-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    profile = {"": "all", "slow": "slow"}.get(config.option.markexpr)
    if profile and not config.getoption("--hypothesis-profile", None):
        hypothesis.settings.load_profile(profile)


@pytest.hookimpl(tryfirst=True)  # before those that are not asked for are left out
def pytest_collection_modifyitems(config, items):
    """Put the groups in order; properties are among the slow tests too."""
    items.sort(key=lambda item: number_of(item.nodeid))
    if config.option.markexpr == "slow":
        for item in items:
            if getattr(getattr(item, "function", None), "is_hypothesis_test", False):
                item.add_marker("slow")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give out tests by groups; `--dist loadgroup` does not with every pair of versions of xdist and pytest."""
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            number = number_of(nodeid)
            return GROUPS[number][0] if number < len(GROUPS) else nodeid.split("::")[0]

    config.option.loadscopereorder = False  # in the order above
    return ByGroup(config, log)


@pytest.fixture(scope="session")
def samples():
    """The folder of sample corpora."""
    return SAMPLES


@pytest.fixture(scope="session")
def sample_bitext():
    """The German-English sample; not to be changed."""
    from aligntools.formats.text.bitext import read_bitext

    return read_bitext(str(SAMPLES / "de-en.de"), str(SAMPLES / "de-en.en"))


@pytest.fixture(scope="session")
def trained():
    """A folder with ``model`` and ``align`` (and both directions, scores, the process's errors) of a default run."""
    return models.folder("align")


#: Variables that change how wide text is, how it is colored and what is said besides; tests that need one set it.
OWN = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "PAGER", "LESS", "PYTHONWARNINGS")


@pytest.fixture(scope="session", autouse=True)
def _as_usual():
    """Leave out what the environment of whoever runs the suite would change.

    Each of the run's processes uses one thread where none are asked for: there is one for each core.
    """
    before = os.umask(0o022)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
        for name in OWN:
            patch.delenv(name, raising=False)
        yield
    os.umask(before)


@pytest.fixture(autouse=True)
def _hints_are_shown():
    """Undo what ``-q`` of a command that ran in this process has set: a process of its own ends with it."""
    yield
    for name in ("compiling", "hints"):
        logging.getLogger(f"aligntools.{name}").setLevel(logging.NOTSET)


@pytest.fixture(scope="session", autouse=True)
def _no_encoder_unasked():
    """Leave an encoder that happens to be installed out of what does not ask for one, but for `unasked_encoder`."""
    from aligntools.encoding import settings

    with pytest.MonkeyPatch.context() as patch:
        before = settings.installed
        patch.setattr(settings, "installed", lambda: False)
        yield before


@pytest.fixture
def unasked_encoder(monkeypatch, _no_encoder_unasked):
    """Let an encoder that is installed take part as it does for users."""
    monkeypatch.setattr("aligntools.encoding.settings.installed", _no_encoder_unasked)


@pytest.fixture
def file(tmp_path):
    """Write a file with the bytes given; return its path."""

    def write(name, data):
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write
