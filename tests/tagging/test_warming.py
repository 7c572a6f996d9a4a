from aligntools.ground.parallel import Pool
from aligntools.tagging import kernels_decoding, warming
from aligntools.tagging.supervised import kernels_substates


def test_every_kernel_is_compiled():
    warming.warm(Pool(1))
    for module in (kernels_decoding, kernels_substates):
        kernels = [f for name, f in vars(module).items() if name.endswith("_block")]
        assert kernels
        assert all(f.signatures for f in kernels)
