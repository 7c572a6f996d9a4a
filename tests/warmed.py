"""Which kernels are compiled, for which types: after warming up, and after work."""

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Callable

from tests.places import ROOT


def signatures() -> set[str]:
    """Return what the kernels of this process are compiled for."""
    import aligntools

    found = set()
    for module in pkgutil.walk_packages(aligntools.__path__, "aligntools."):
        if ".kernels_" not in module.name or module.name not in sys.modules:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if hasattr(value, "signatures") and value.__module__ == module.name:
                found |= {f"{module.name}.{name}{signature}" for signature in value.signatures}
    return found


def report(warm: Callable, work: Callable) -> None:
    """Print what is compiled after warming up, and what work adds to it, as JSON."""
    from aligntools.ground.parallel import Pool

    with Pool(1) as pool:
        warm(pool)
    before = signatures()
    work()
    print(json.dumps({"before": sorted(before), "added": sorted(signatures() - before)}))


def compiled_by(module: str) -> dict[str, list[str]]:
    """Run ``report`` in a process of its own, with ``warm`` and ``work`` of a test module."""
    code = f"from {module} import warm, work\nfrom tests.warmed import report\nreport(warm, work)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout.splitlines()[-1])
