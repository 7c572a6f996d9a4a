"""Adding a feature as `aligntools.aligning.contrastive.features` says: done on a copy of the package."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from aligntools.aligning.contrastive.features import NAMES
from tests.cli.running import ROOT

PATCH = ROOT / "examples" / "feature" / "ends.patch"
#: Trains, learns and aligns a few pairs, without compiling, and prints what comes out.
SCRIPT = """
import json, sys
import aligntools as at
from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.weights import shipped

sides = [open(f"{sys.argv[1]}.{side}").read().splitlines()[:6] for side in ("de", "en")]
model = at.train_contrastive_aligner(*sides, fast=True, sentences=2, passes=1, features=sys.argv[2], threads=1)
print(json.dumps({
    "package": at.__file__, "names": NAMES, "asked": shipped().network.names,
    "weights": dict(zip(NAMES, model.weights.values.tolist())), "links": [str(a) for a in model.align_batch(*sides)],
}))
"""


def run(folder, features):
    environment = os.environ | {"PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", SCRIPT, str(ROOT / "data" / "samples" / "de-en"), features]
    return json.loads(subprocess.run(command, env=environment, capture_output=True, check=True, cwd=folder).stdout)


@pytest.fixture(scope="module")
def patched(tmp_path_factory):
    if shutil.which("git") is None:
        pytest.skip("git applies the patch, and is not here")
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(ROOT / "aligntools", folder / "aligntools", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["git", "apply", PATCH], cwd=folder, check=True)
    return folder


def test_the_patch_applies(patched):
    assert "ENDS" in (patched / "aligntools" / "aligning" / "contrastive" / "kernels_features.py").read_text()


@pytest.mark.slow
def test_a_new_feature_is_used_and_changes_nothing_else(patched):
    before = run(ROOT, "all")
    without = run(patched, "all,-ends")
    assert without["package"].startswith(str(patched))
    assert before["names"] == list(NAMES)
    assert without["names"] == [*NAMES, "ends"]
    assert without["asked"] == before["asked"]  # by the shipped network
    assert without["weights"].pop("ends") == 0
    learned = run(patched, "all")
    assert learned["weights"]["ends"] != 0
    assert learned["links"] == before["links"]
    # the start of all features is that of other languages, of chosen ones the paper's: choose the same ones
    chosen = ",".join(NAMES)
    here, there = run(ROOT, chosen), run(patched, chosen)
    assert there["links"] == here["links"]
    assert {n: there["weights"][n] for n in NAMES} == here["weights"]
