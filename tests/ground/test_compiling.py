import math
import os
import shutil
import subprocess
import sys

from tests.cli.running import ROOT

LOOK = "from aligntools.ground import compiling; print(compiling.cache_folder())"


def python(code, **variables):
    environment = {k: v for k, v in os.environ.items() if k not in ("XDG_CACHE_HOME", "ALIGNTOOLS_CACHE_DIR")}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"} | variables
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd="/", capture_output=True, timeout=120, check=True
    )


def test_compiled_code_is_kept_in_a_folder_of_the_users(tmp_path):
    for variables, base in (
        ({"ALIGNTOOLS_CACHE_DIR": str(tmp_path / "a"), "XDG_CACHE_HOME": str(tmp_path / "x")}, tmp_path / "a"),
        ({"XDG_CACHE_HOME": str(tmp_path / "b")}, tmp_path / "b" / "aligntools"),
        ({"HOME": str(tmp_path / "c")}, tmp_path / "c" / ".cache" / "aligntools"),
    ):
        done = python(LOOK, **variables)
        assert done.stdout.decode().startswith(f"{base}{os.sep}numba-")
        assert done.stderr == b""
        assert len(list(base.iterdir())) == 1


def test_where_none_can_be_made_it_says_so_and_works(tmp_path):
    """A read-only installation without a home: nothing is kept, nothing fails."""
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file" / "below")
    code = (
        "import logging; logging.basicConfig(); "
        + LOOK
        + "; from aligntools.aligning.text.kernels_cooccurrence import exp_digamma; print(round(exp_digamma(1.0), 6))"
    )
    done = python(code, HOME=nowhere, ALIGNTOOLS_CACHE_DIR=nowhere)
    assert done.stdout.decode().split() == ["None", f"{math.exp(-0.5772156649):.6f}"]
    assert b"ALIGNTOOLS_CACHE_DIR" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_the_command_line_prints_the_warning_as_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file" / "below")
    code = (
        "import click, importlib; from aligntools.cli.main import run;"
        "look = lambda: importlib.import_module('aligntools.ground.compiling').cache_folder();"
        "run(click.Command('x', callback=look), [])"
    )
    done = python(code, HOME=nowhere, ALIGNTOOLS_CACHE_DIR=nowhere)
    assert done.stderr.startswith(b"warning: no folder for compiled code")
    assert done.stderr.count(b"\n") == 1


def test_what_a_user_of_the_library_compiles_goes_where_it_went_before(tmp_path):
    code = "import numba; before = numba.config.CACHE_DIR; from aligntools.ground import kernels_vectors, compiling;"
    code += "print(numba.config.CACHE_DIR == before, kernels_vectors.inner_products._cache.cache_path)"
    same, path = python(code, ALIGNTOOLS_CACHE_DIR=str(tmp_path)).stdout.decode().split(maxsplit=1)
    assert same == "True"
    assert path.startswith(str(tmp_path))


def test_a_change_of_any_kernel_is_a_new_folder(tmp_path, monkeypatch):
    """Numba itself would go on using a caller that was compiled with the old callee."""
    from aligntools.ground import compiling

    package = tmp_path / "aligntools"
    shutil.copytree(ROOT / "aligntools", package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(compiling, "__file__", str(package / "ground" / "compiling.py"))
    before = compiling._source_hash()
    assert before == compiling._source_hash()
    kernels = sorted(package.rglob("kernels*.py"))
    assert len(kernels) > 4
    seen = {before}
    for path in [*kernels, package / "ground" / "compiling.py"]:
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        seen.add(compiling._source_hash())
    assert len(seen) == len(kernels) + 2
    (package / "ground" / "errors.py").write_text("")
    assert compiling._source_hash() in seen


def test_where_the_package_is_does_not_matter(tmp_path):
    """Code compiled in one environment serves all others, links and checkouts with the same sources."""
    shutil.copytree(ROOT / "aligntools", tmp_path / "aligntools", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (tmp_path / "aligntools").rglob("*.py"):
        os.utime(path, (0, 0))
    code = (
        "from aligntools.aligning.text.kernels_cooccurrence import exp_digamma as k; import aligntools, sys;"
        "k(1.0); print(aligntools.__file__, sum(k.stats.cache_misses.values()), 'numba.np.arraymath' in sys.modules)"
    )
    compiled = [
        python(code, HOME=str(tmp_path), ALIGNTOOLS_CACHE_DIR=str(tmp_path / "cache"), PYTHONPATH=str(path))
        .stdout.decode()
        .split()
        for path in (ROOT, tmp_path)
    ]
    assert compiled[0][0] != compiled[1][0]
    assert [said for _, *said in compiled] == [["1", "True"], ["0", "False"]]  # nor is the compiler's part loaded


def test_settings_that_change_the_code_have_folders_of_their_own(tmp_path):
    variables = (
        {},
        {"NUMBA_BOUNDSCHECK": "1"},
        {"NUMBA_OPT": "0"},
        {"NUMBA_CPU_NAME": "x86-64"},
        {"NUMBA_ENABLE_AVX": "0"},
    )
    places = {python(LOOK, ALIGNTOOLS_CACHE_DIR=str(tmp_path), **more).stdout for more in variables}
    assert len(places) == len(variables)


def test_portable_code_is_of_a_baseline_and_apart(tmp_path):
    look = (
        "from aligntools.ground import kernels_vectors as k, compiling; print(compiling.cache_folder());"
        "print(k.inner_products.targetctx.codegen().magic_tuple()[1:]);"
        "from aligntools.metrics.base import Signature; print(Signature({'version': 1}).extended())"
    )
    own, portable = (
        python(look, ALIGNTOOLS_CACHE_DIR=str(tmp_path), ALIGNTOOLS_PORTABLE=value).stdout.decode().splitlines()
        for value in ("0", "1")
    )
    assert own[0] != portable[0]
    assert own[1] != portable[1]
    assert portable[1] in ("('x86-64-v3', '')", "('generic', '')")
    assert [line.startswith("compiled:portable|version:") for line in (own[2], portable[2])] == [False, True]


def test_scipy_is_loaded_for_those_alone_who_need_its_blas():
    code = (
        "from aligntools.aligning.text.kernels_cooccurrence import exp_digamma as k; import sys, numba, numpy; k(1.0);"
        "print('scipy.linalg' in sys.modules, numba.njit(lambda a: numpy.dot(a, a))(numpy.ones(3)))"
    )
    cache = os.environ["ALIGNTOOLS_CACHE_DIR"]  # what is kept is loaded
    assert python(code, ALIGNTOOLS_CACHE_DIR=cache).stdout.decode().split() == ["False", "3.0"]
