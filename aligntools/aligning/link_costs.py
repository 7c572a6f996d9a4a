"""Scores of aligned pairs on eflomal's scale, from Python."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import pool_of

if TYPE_CHECKING:
    from aligntools.formats.links.pharaoh import Links
    from aligntools.formats.links.priors import Priors
    from aligntools.formats.text.corpus import Bitext
    from aligntools.ground.parallel import Pool


def link_costs(
    bitext: "Bitext",
    forward: "Links | None",
    reverse: "Links | None",
    *,
    model: int = 3,
    priors: "Priors | None" = None,
    case_sensitive: bool = False,
    threads: "int | Pool | None" = None,
) -> npt.NDArray[np.float64]:
    """Score sentence pairs by their links as eflomal's ``-F`` and ``-R`` do: lower is better.

    A word's cost is the negative logarithm of the lexical probability of its best link, times its jumps and the ratio
    of fertilities with and without it, by the counts of all links but its own; a pair's score is the mean over its
    words. Ours are in `Alignments`, as ``scores``: log-probabilities under the model, which tell real pairs from others
    better. These have the level that thresholds such as OpusFilter's were chosen on.

    Parameters
    ----------
    bitext : Bitext
    forward, reverse : Links or None
        The single directions' links: at most one for each target word, and for each source word.
    model : int
        What is counted: 1 words, 2 jumps too, 3 fertilities too.
    priors : Priors or None
        Counts of other text, added to those of this one.
    case_sensitive : bool
        Whether the text was read so; otherwise the words of the priors are taken in lower case too.
    threads : int or None

    Returns
    -------
    float64 [2, pairs]
        Forward and reverse; -0.0 for a blank pair, NaN for a direction that is not given.

    Raises
    ------
    UsageProblem
        When there is no such model, or a word has two links.

    Examples
    --------
    >>> import aligntools as at
    >>> text = at.read_bitext("data/samples/de-en.txt")
    >>> found = at.align(text)
    >>> at.link_costs(text, found.forward_table, found.reverse_table).round(1)[:, 0].tolist()
    [0.0, 0.0]
    """
    from aligntools.aligning.applying import costs

    if model not in (1, 2, 3):
        raise UsageProblem(f"model is 1, 2 or 3, not {model}")
    for links, side, column in ((forward, bitext.target, 1), (reverse, bitext.source, 0)):
        if links is not None and costs.chosen_twice(links, side, column):
            raise UsageProblem("a word has two links; score the single directions' links, each word's best")
    directed = costs.directed(priors, bitext, not case_sensitive) if priors is not None else costs.NONE
    with pool_of(threads) as pool:
        found: npt.NDArray[np.float64] = costs.link_costs(bitext, forward, reverse, pool, model, directed)
    return found


def jump_counts(bitext: "Bitext", forward: "Links") -> npt.NDArray[np.int64]:
    """Count how far target words' links jump, from -1,024 to 1,023, as eflomal's ``-S`` writes them."""
    from aligntools.aligning.applying import costs

    counts: npt.NDArray[np.int64] = costs.jump_counts(bitext, forward)
    return counts
