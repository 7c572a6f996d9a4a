"""Warming up leaves nothing of parsing to compile."""

import importlib
import pkgutil

from aligntools import parsing
from aligntools.ground.parallel import Pool
from aligntools.parsing.warming import warm


def test_every_kernel_is_compiled():
    with Pool(1) as pool:
        warm(pool)
    cold, count = [], 0
    for module in pkgutil.walk_packages(parsing.__path__, "aligntools.parsing."):
        if ".kernels_" not in module.name:
            continue
        found = importlib.import_module(module.name)
        for name, value in vars(found).items():
            if not name.startswith("_") and hasattr(value, "signatures") and value.__module__ == found.__name__:
                count += 1
                if not value.signatures and not value.targetoptions.get("inline"):
                    cold.append(f"{module.name}.{name}")
    assert count > 15
    assert not cold
