"""Warming up leaves nothing of the decoder to compile."""

from aligntools.parallel import Pool
from aligntools.translating import kernels_decoder, kernels_forest, kernels_state, kernels_trie
from aligntools.translating.warming import warm


def test_every_kernel_of_the_decoder_is_compiled():
    with Pool(1) as pool:
        warm(pool)
    cold, count = [], 0
    for module in (kernels_decoder, kernels_forest, kernels_state, kernels_trie):
        for name, value in vars(module).items():
            if hasattr(value, "signatures") and value.__module__ == module.__name__:
                count += 1
                if not value.signatures and not value.targetoptions.get("forceinline"):
                    cold.append(f"{module.__name__}.{name}")
    assert count > 10
    assert not cold
