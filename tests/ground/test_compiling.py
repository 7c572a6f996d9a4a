import importlib
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aligntools.ground import compiler
from aligntools.ground.code_folders import CodeFolders
from tests.cli.running import ROOT
from tests.sources import MODULES, imports


def python(code, **variables):
    environment = {k: v for k, v in os.environ.items() if k not in ("XDG_CACHE_HOME", "ALIGNTOOLS_CACHE_DIR")}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"} | variables
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd="/", capture_output=True, timeout=120, check=True
    )


def test_compiled_code_is_kept_in_a_folder_of_the_users(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "c"))
    for name, base in (
        ("ALIGNTOOLS_CACHE_DIR", tmp_path / "a"),
        ("XDG_CACHE_HOME", tmp_path / "b" / "aligntools"),
        (None, tmp_path / "c" / ".cache" / "aligntools"),
    ):
        if name:
            monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "b"))
            monkeypatch.setenv(name, str(base if name.startswith("A") else base.parent))
        assert CodeFolders("numba-1", pytest.fail).writable() == base / "numba-1"
        assert len(list(base.iterdir())) == 1
        for each in ("ALIGNTOOLS_CACHE_DIR", "XDG_CACHE_HOME"):
            monkeypatch.delenv(each, raising=False)


def test_where_none_can_be_made_it_says_so_and_works(tmp_path):
    """A read-only installation without a home: nothing is kept, nothing fails, and the warning is one line."""
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file" / "below")
    code = (
        "import click; from aligntools.cli.main import run\n"
        "def look():\n"
        "    from aligntools.ground import compiler\n"
        "    from aligntools.aligning.text.kernels_cooccurrence import exp_digamma\n"
        "    print(compiler.cache_folder(), round(exp_digamma(1.0), 6))\n"
        "run(click.Command('x', callback=look), [])"
    )
    done = python(code, HOME=nowhere, ALIGNTOOLS_CACHE_DIR=nowhere)
    assert done.stdout.decode().split() == ["None", f"{math.exp(-0.5772156649):.6f}"]
    warning, *more = done.stderr.decode().splitlines()
    assert warning.startswith("warning: no folder for compiled code")
    assert "ALIGNTOOLS_CACHE_DIR" in warning
    assert more == ["compiling (up to 20 s)"]


def test_a_change_compiles_what_depends_on_it_and_nothing_else(tmp_path):
    """Numba itself would go on using a caller that was compiled with the old callee."""
    head = "from aligntools.ground.compiler import kernel\n"
    body = "@kernel\ndef {0}(x):\n    return {1}\n"
    modules = {
        "below": head + "STEP = 1\n" + body.format("below", "x + STEP"),
        "between": head + "from kernels_below import below\n" + body.format("between", "below(x)"),
        "above": head + "from kernels_between import (\n    between,\n)\n" + body.format("above", "between(x)"),
        "beside": head + body.format("beside", "x"),
    }
    for name, source in modules.items():
        (tmp_path / f"kernels_{name}.py").write_text(source)
    code = "import kernels_above, kernels_beside\n"
    code += "for k in kernels_above.above, kernels_beside.beside: print(k(1), sum(k.stats.cache_misses.values()))"

    def run():
        found = python(code, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}", ALIGNTOOLS_CACHE_DIR=str(tmp_path / "cache"))
        return found.stdout.decode().splitlines()

    assert run() == ["2 1", "1 1"]
    assert run() == ["2 0", "1 0"]
    (tmp_path / "kernels_below.py").write_text(modules["below"].replace("STEP = 1", "STEP = 2"))
    assert run() == ["3 1", "1 0"]


def test_which_sources_a_kernel_was_compiled_from(monkeypatch):
    """Its own and those that it imports, however many steps away; four modules of the package are changed."""
    below = {
        path.removesuffix(".py").replace("/", "."): {
            module for module, *_ in imports(tree) if module.split(".")[-1].startswith("kernels")
        }
        for path, tree in MODULES.items()
        if Path(path).name.startswith("kernels")
    }
    assert sum(map(len, below.values())) > 30
    for module in below:
        importlib.import_module(module)

    def depends(module, on):
        return module == on or any(depends(m, on) for m in below[module])

    def hashes():
        compiler._sources.cache_clear()
        return {module: compiler._sources(module) for module in below}

    source = compiler._source
    before = hashes()
    assert len(set(before.values())) == len(below)
    lowest = max(below, key=lambda module: sum(depends(m, module) for m in below))
    assert sum(depends(m, lowest) for m in below) > 3
    for changed in [lowest, *list(below)[::20]]:
        monkeypatch.setattr(compiler, "_source", lambda name, changed=changed: source(name) + b"\n" * (name == changed))
        after = hashes()
        assert {m for m in below if after[m] != before[m]} == {m for m in below if depends(m, changed)}
    monkeypatch.undo()
    assert hashes() == before


def test_where_the_package_is_does_not_matter(tmp_path):
    """Code compiled in one environment serves all others, links and checkouts with the same sources."""
    shutil.copytree(ROOT / "aligntools", tmp_path / "aligntools", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (tmp_path / "aligntools").rglob("*.py"):
        os.utime(path, (0, 0))
    code = (
        "from aligntools.aligning.text.kernels_cooccurrence import exp_digamma as k; import aligntools, sys;"
        "k(1.0); found = sum(k.stats.cache_misses.values()), 'numba.np.arraymath' in sys.modules;"
        "print(aligntools.__file__, *found, sep='\\n')"
    )
    compiled = [
        python(code, HOME=str(tmp_path), ALIGNTOOLS_CACHE_DIR=str(tmp_path / "cache"), PYTHONPATH=str(path))
        .stdout.decode()
        .splitlines()
        for path in (ROOT, tmp_path)
    ]
    assert compiled[0][0] != compiled[1][0]
    assert [said for _, *said in compiled] == [["1", "True"], ["0", "False"]]  # nor is the compiler's part loaded


def test_settings_that_change_the_code_have_folders_of_their_own(monkeypatch):
    places = {compiler._folder_name()}
    for name, value in (("BOUNDSCHECK", 1), ("OPT", 0), ("CPU_NAME", "x86-64"), ("ENABLE_AVX", 0)):
        with monkeypatch.context() as patch:
            patch.setattr(compiler.config, name, value)
            places.add(compiler._folder_name())
    assert len(places) == 5


def test_portable_code_is_of_a_baseline_and_apart(tmp_path):
    """What a user of the library compiles goes where it went before."""
    look = (
        "import numba; before = numba.config.CACHE_DIR\n"
        "from aligntools.ground import kernels_vectors as k, compiler; print(compiler.cache_folder())\n"
        "print(k.inner_products.targetctx.codegen().magic_tuple()[1:])\n"
        "from aligntools.metrics.base import Signature; print(Signature({'version': 1}).extended())\n"
        "print(numba.config.CACHE_DIR == before, k.inner_products._cache.cache_path)"
    )
    own, portable = (
        python(look, ALIGNTOOLS_CACHE_DIR=str(tmp_path), ALIGNTOOLS_PORTABLE=value).stdout.decode().splitlines()
        for value in ("0", "1")
    )
    assert own[0] != portable[0]
    assert own[0].startswith(f"{tmp_path}{os.sep}numba-")
    assert own[1] != portable[1]
    assert portable[1] in ("('x86-64-v3', '')", "('generic', '')")
    assert [line.startswith("compiled:portable|version:") for line in (own[2], portable[2])] == [False, True]
    assert own[3] == f"True {own[0]}"


def test_scipy_is_loaded_for_those_alone_who_need_its_blas():
    code = (
        "from aligntools.aligning.text.kernels_cooccurrence import exp_digamma as k; import sys, numba, numpy; k(1.0);"
        "print('scipy.linalg' in sys.modules, numba.njit(lambda a: numpy.dot(a, a))(numpy.ones(3)))"
    )
    cache = os.environ["ALIGNTOOLS_CACHE_DIR"]  # what is kept is loaded
    assert python(code, ALIGNTOOLS_CACHE_DIR=cache).stdout.decode().split() == ["False", "3.0"]
