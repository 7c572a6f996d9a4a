"""From posteriors to links: the joint decision, or links of single directions and their symmetrization.

The *joint decision* links two words if the mean of their posteriors in both directions exceeds a threshold. The
threshold depends on the more probable links of the two words: it is lower if the link continues one of these, in the
next cell, and higher if it is apart from them (`applier.joint_thresholds`).
"""

from collections.abc import Iterable, Iterator

import numpy as np

from aligntools.aligning.alignments import Alignments
from aligntools.aligning.applying import kernels_decoding as kd
from aligntools.aligning.applying.applier import Applier, Posteriors, decide
from aligntools.aligning.settings import Decisions
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Bitext
from aligntools.ground.parallel import Pool
from aligntools.links.symmetrize import symmetrize

#: The ways to decide on both directions' posteriors at once, by their names.
_WAYS = {"joint": kd.JOINT, "mean": kd.MEAN}


def align_text(
    applier: Applier,
    bitext: Bitext,
    settings: Decisions,
    pool: Pool,
    directions: bool = False,
    found: Iterable[Posteriors] | None = None,
    paths: Iterable[Posteriors] | None = None,
) -> Iterator[Alignments]:
    """Yield the links of consecutive blocks of sentence pairs; words have the ids of the model's vocabularies.

    If only one direction was trained, ``joint`` and ``mean`` decide by it. ``found`` and ``paths`` are the runs'
    posteriors and Viterbi paths, where they are there already.
    """
    if settings.decode == "viterbi" and paths is None:
        paths = applier.posteriors(bitext, pool, viterbi=True)
    chosen = iter(paths) if paths is not None else None
    for posteriors in applier.posteriors(bitext, pool) if found is None else found:
        path = next(chosen) if chosen is not None else None
        yield links_from(settings, pool, directions, posteriors, **applier.deciding, paths=path)


def links_from(
    settings: Decisions,
    pool: Pool,
    directions: bool,
    posteriors: Posteriors,
    *,
    usual: float,
    trained: int = 3,
    chain: bool = False,
    paths: Posteriors | None = None,
    found: tuple[Links, np.ndarray | None] | None = None,
) -> Alignments:
    """Decide on the links of one run, wherever its posteriors come from.

    usual, trained: The threshold if the settings have none; the directions that the model has: 1, 2 or 3 for both.
    chain: Whether it has Viterbi paths, which single directions follow in the place of posteriors; see ``paths``.
    found: Links that a network chose already, and their probabilities.
    """
    threshold = usual if settings.threshold is None else settings.threshold
    jointly = found is not None or (trained == 3 and settings.symmetrize in _WAYS)
    forward, reverse = None, None
    if directions or not jointly:
        whole = settings.decode == "posterior" or (settings.decode == "viterbi" and chain)
        ways = (kd.FORWARD, kd.REVERSE) if whole else (kd.FORWARD_BEST, kd.REVERSE_BEST)
        chosen, own = (posteriors, threshold) if paths is None else (paths, 0.5)
        forward, reverse = (
            Links(*decide(chosen, way, own, pool)[:2]) if trained & (d + 1) else None for d, way in enumerate(ways)
        )
    if found is not None:
        links, probabilities = found
    elif jointly:
        pairs, offsets, probabilities = decide(posteriors, _WAYS[settings.symmetrize], threshold, pool)
        links = Links(pairs, offsets)
    elif forward is not None and reverse is not None:
        links, probabilities = symmetrize(forward, reverse, settings.symmetrize, settings.flavor), None
    else:
        one = reverse if forward is None else forward
        assert one is not None, "a model has a direction"
        links, probabilities = one, None
    if probabilities is None:
        p, k = posteriors, links.sentences()  # the mean of the directions that were trained
        width = np.diff(p.target_offsets[p.k0 : p.k1 + 1])[k]
        cells = p.cell_offsets[k] + links.pairs[:, 0] * width + links.pairs[:, 1]
        probabilities = (p.reverse if trained == 2 else p.forward)[cells]
        if trained == 3:
            probabilities = np.float32(0.5) * (probabilities + p.reverse[cells])
    if not directions:
        forward = reverse = None
    return Alignments(links, probabilities, forward, reverse, posteriors.log_likelihood, posteriors.lengths())
