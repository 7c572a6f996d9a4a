"""Word classes by exchange: words that stand between like words share a class."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from aligntools.ground.parallel import Pool


def word_classes(
    tokens: "np.ndarray",
    offsets: "np.ndarray",
    size: int,
    classes: int = 50,
    *,
    restarts: int = 1,
    seed: int = 1,
    pool: "Pool | None" = None,
) -> "np.ndarray":
    """Return a class for each word of a text, as `aligntools.clustering.exchange.cluster` finds them.

    tokens (int32 [tokens]): Words' numbers, from 1.
    offsets (int64 [sentences + 1]): Sentence ``n`` is ``tokens[offsets[n]:offsets[n + 1]]``.
    size: How many words the vocabulary has, with NULL, which is 0.
    restarts, seed: Number of times that words are clustered, of which the best is taken; where random numbers start.
    pool: Restarts run beside each other; the result does not depend on it.
    Returns int32 [size]: 1 to ``classes``; 0 for NULL and for words that the text does not have.
    """
    from aligntools.clustering.exchange import ClassSettings, cluster, count_text

    settings = ClassSettings(number=classes, restarts=restarts, seed=seed)
    return cluster(count_text(tokens, offsets, size), settings, pool).classes
