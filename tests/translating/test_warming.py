"""Warming up leaves nothing of translation to compile."""

import importlib
import re

import pytest

from aligntools.ground.parallel import Pool
from aligntools.translating import warming
from tests.test_architecture import PACKAGE

#: Compiled modules, by the folder of the package that they are in.
MODULES = [
    path for folder, names in (("translating", "*"), ("formats", "arpa"), ("formats", "grammar*"), ("formats", "rules"))
    for path in sorted((PACKAGE / folder).glob(f"kernels_{names}.py")) if path.stem != "kernels_state"  # for others
]  # fmt: skip


@pytest.fixture(scope="module")
def callers(tmp_path_factory):
    """Warm up; return the text of all modules that are not compiled."""
    with Pool(1) as pool:
        warming.warm(tmp_path_factory.mktemp("warm"), pool)
    plain = [path for path in PACKAGE.rglob("*.py") if not path.stem.startswith("kernels")]
    return "\n".join(path.read_text(encoding="utf-8") for path in plain)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_kernel_that_python_calls_is_compiled(path, callers):
    module = importlib.import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))
    own = {n: k for n, k in vars(module).items() if hasattr(k, "signatures") and k.__module__ == module.__name__}
    called = {name for name in own if re.search(rf"\bk\w*\.{name}\b", callers)}
    assert not {name for name in called if not own[name].signatures}
    assert called
