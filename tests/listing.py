"""What the samples and objects of the package hold, as tests compare it."""

from aligntools.formats.links.priors import Priors
from tests.places import SAMPLES


def lines(name):
    """Return the lines of a sample."""
    return (SAMPLES / name).read_text(encoding="utf-8").splitlines()


def pharaoh(found):
    """Return alignments as lines."""
    return [str(one) for one in found]


def listed(priors: Priors) -> dict[str, list[tuple]]:
    """Return what priors hold, as tuples of words and numbers."""
    words = [["<NULL>", *v.words()[1:]] for v in (priors.source_vocabulary, priors.target_vocabulary)]
    sides = {"LEX": (0, 1), "FERF": (0,), "FERR": (1,)}
    out = {}
    for kind, table in priors.tables().items():
        named = sides.get(kind, ())
        out[kind] = [
            (*(words[named[k]][key] if k < len(named) else key for k, key in enumerate(row)), alpha)
            for row, alpha in zip(table.keys.tolist(), table.alphas.tolist(), strict=True)
        ]
    return out
