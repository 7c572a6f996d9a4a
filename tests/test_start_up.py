"""What is loaded when: the package and its help start without what they do not need."""

import subprocess
import sys

import pytest

from tests.places import ROOT


def test_the_package_costs_next_to_nothing_to_import():
    """And nothing warns. Processor time, since machines are busy; the best of three, since disks are cold."""
    code = "import sys, time; began = time.process_time(); import aligntools; print(time.process_time() - began)"
    code += "; print(*({m.split('.')[0] for m in sys.modules} & {'numba', 'scipy', 'numpy', 'click'}))"
    runs = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, timeout=60, check=True
        )
        for _ in range(3)
    ]
    seconds, loaded = zip(*(run.stdout.decode().split("\n")[:2] for run in runs), strict=True)
    assert min(map(float, seconds)) < 0.06
    assert set(loaded) == {""}


@pytest.mark.parametrize(
    "args",
    [
        ["--help"],
        ["align", "--help"],
        ["symmetrize", "--help"],
        ["lexicon", "--help"],
        ["warmup", "--help"],
        ["eval-aer", "--head", "data/samples/de-en.wa", "tests/data/symmetrize/union.align", "--index-base", "0"],
        ["eval-tags", "--help"],
        ["eval-tags", "data/samples/en.tagged", "data/samples/en.tagged"],
        ["symmetrize", "-c", "union", *["tests/data/symmetrize/forward.align"] * 2],
    ],
    ids=lambda args: " ".join(args[:2]),
)
def test_the_compiler_is_not_loaded_for_what_does_not_need_it(args):
    code = "import sys\nfrom aligntools.cli.main import cli, run\nrun(cli, sys.argv[1:], 'aligntools')\n"
    code += "sys.stderr.write('loaded: ' + ' '.join(m for m in ('numba', 'scipy', 'safetensors') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code, *args], cwd=ROOT, capture_output=True, timeout=60, check=False)
    loaded = done.stderr.decode().rpartition("loaded: ")[2]
    assert loaded == ("scipy" if args[0] == "eval-tags" and "--help" not in args else ""), done.stderr.decode()
