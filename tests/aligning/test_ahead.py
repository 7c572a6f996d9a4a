"""What is compiled beside a first run is what the run calls, and is done once."""

import os
import subprocess

import pytest

from aligntools.aligning import precompile as starting
from aligntools.aligning.models import kernels_hmm as kh
from aligntools.aligning.models import registry
from aligntools.aligning.settings import AlignerSettings
from aligntools.ground import compiler
from tests.cli.running import ran
from tests.places import SAMPLES
from tests.warmed import compiled_by


def warm(pool):
    ran("align", "-i", SAMPLES / "de-en.txt", "-q", "--threads", 1)


def work():
    for kind in registry.kinds():
        about = kind.load().compiled_ahead
        for compile_now in about.functions if about else ():
            compile_now()


@pytest.mark.slow
def test_nothing_is_compiled_ahead_that_align_does_not_call():
    compiled = compiled_by("tests.aligning.test_ahead")
    assert compiled["added"] == []
    assert any(".hmm_block" in signature for signature in compiled["before"])


class Started(list):
    def __call__(self, command, **_):
        self.append(command[-1])
        return self

    def terminate(self):
        self.append("ended")

    def wait(self):
        pass


@pytest.fixture
def started(monkeypatch):
    started = Started()
    monkeypatch.setattr(subprocess, "Popen", started)
    return started


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({}, ["hmm", "fertility"]),
        ({"direction": "forward"}, ["hmm"]),
        ({"fast": True}, ["hmm"]),
        ({"model_type": "hmm"}, ["hmm"]),
        ({"model_type": "ibm2"}, []),
    ],
)
def test_a_first_run_has_help_and_ends_it(started, monkeypatch, options, parts):
    monkeypatch.setattr(compiler, "is_kept", lambda _: False)
    with starting.compiling_for(AlignerSettings(**options).trained, 1):
        assert started == []
    with starting.compiling_for(AlignerSettings(**options).trained, 2):
        assert started == parts
    assert started == parts + ["ended"] * len(parts)


def test_a_later_one_has_none_nor_one_beside_another(started, monkeypatch):
    monkeypatch.setattr(compiler, "is_kept", lambda kernel: kernel is kh.hmm_block)
    with starting.compiling_for("fertility", 2):
        assert started == ["fertility"]
    monkeypatch.setattr(compiler, "is_kept", lambda _: False)
    held = compiler.lock("ahead-hmm")
    assert held is not None
    with starting.compiling_for("fertility", 2):
        assert started[2:] == ["fertility"]
    os.close(held)
