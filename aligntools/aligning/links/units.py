"""Links between the units of one cut of a text, such as words, as links between those of another, such as pieces."""

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.words.pieces import Units


def remapped(
    links: Links, source: Units | None, target: Units | None, probabilities: np.ndarray | None = None
) -> tuple[Links, np.ndarray | None]:
    """Link two units where a link joins units that they are made of, or are part of.

    links: Within the sentences of ``source`` and ``target``.
    source, target: What each unit of a side becomes; None leaves the side as it is.
    probabilities [links] or None.
    Returns sorted, none twice; of several probabilities of a link the highest.
    """
    sentence = links.sentences()
    begins, counts = [], []
    for side, units in enumerate((source, target)):
        index = links.pairs[:, side].astype(np.int64)
        if units is None:
            begins.append(index)
            counts.append(np.ones(len(index), np.int64))
        else:
            row = index + units.offsets[sentence]
            begins.append(units.begins[row])
            counts.append(units.ends[row] - units.begins[row])
    size = counts[0] * counts[1]
    link = np.repeat(np.arange(len(size)), size)
    place = np.arange(len(link)) - np.repeat(np.cumsum(size) - size, size)
    pairs = np.empty((len(link), 2), np.int32)
    pairs[:, 0] = begins[0][link] + place // counts[1][link]
    pairs[:, 1] = begins[1][link] + place % counts[1][link]
    sentence = sentence[link]
    keys = (pairs[:, 1], pairs[:, 0], sentence)
    order = np.lexsort(keys if probabilities is None else (-probabilities[link], *keys))
    pairs, sentence = pairs[order], sentence[order]
    new = np.ones(len(pairs), bool)
    new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1) | (sentence[1:] != sentence[:-1])
    offsets = np.searchsorted(sentence[new], np.arange(len(links) + 1))
    kept = None if probabilities is None else probabilities[link][order][new]
    return Links(np.ascontiguousarray(pairs[new]), offsets), kept
