"""What Numba does not take of its settings in the environment is one line."""

import os
import subprocess
import sys
import warnings

import pytest

from aligntools.ground import numba_settings
from aligntools.ground.errors import UsageProblem
from tests.cli.running import ROOT


def test_a_wrong_setting_is_one_line_of_the_command_line():
    command = [sys.executable, "-m", "aligntools", "align", "-i", "data/samples/de-en.txt"]
    environment = os.environ | {"NUMBA_NUM_THREADS": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: NUMBA_NUM_THREADS=0: Numba does not take it (")
    assert done.stderr.count("\n") == 1


def test_what_numba_raises_names_the_variable(monkeypatch):
    monkeypatch.setenv("NUMBA_COLOR_SCHEME", "zz")
    with pytest.raises(UsageProblem, match=r"^NUMBA_COLOR_SCHEME=zz: .*unset it"), numba_settings.understood():
        raise KeyError("zz")


def test_what_numba_only_warns_of_is_an_error(monkeypatch):
    monkeypatch.setenv("NUMBA_OPT", "abc")
    with pytest.raises(UsageProblem, match=r"^NUMBA_OPT=abc: "), numba_settings.understood():
        warnings.warn("Environment variable 'NUMBA_OPT' is defined but its value 'abc' ...", RuntimeWarning)


def test_features_that_end_the_process_are_not_tried(monkeypatch):
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "zz")
    with pytest.raises(UsageProblem, match=r"^NUMBA_CPU_FEATURES=zz: "), numba_settings.understood():
        pytest.fail("tried")


def test_other_errors_and_warnings_stay_what_they_are(monkeypatch):
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "+avx,-fma")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with numba_settings.understood():
            warnings.warn("something else", UserWarning)
    assert [str(warning.message) for warning in said] == ["something else"]
    for name in [name for name in os.environ if name.startswith("NUMBA_")]:
        monkeypatch.delenv(name)
    with pytest.raises(ValueError, match="own"), numba_settings.understood():
        raise ValueError("own")
