"""Which source word's annotation a target word takes, where links are many to many."""

from dataclasses import dataclass

import numpy as np

from aligntools.formats.links.pharaoh import Links


@dataclass(frozen=True, eq=False)
class Partners:
    """For each target word, whose annotation it takes.

    source (int64 [target words]): The source word, counted through the whole text; -1 where there is none.
    confidence (float64 [target words]): The probability of the link; 1 where links have none.
    image (int64 [source words]): The target word that stands for a source word in trees; -1 where there is none. It is
        one of those that take its annotation, the one of the best link.
    """

    source: np.ndarray
    confidence: np.ndarray
    image: np.ndarray

    @property
    def reached(self) -> np.ndarray:
        """Which target words have a partner [shape=(target words,), dtype=bool]."""
        return self.source >= 0


@dataclass(frozen=True, eq=False)
class FlatLinks:
    """Links between words counted through the whole text.

    source, target (int64 [links]).
    weight (float64 [links]): Probabilities, or 1.
    distance (float64 [links]): From the diagonal: of the words' relative positions in their sentences.
    """

    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    distance: np.ndarray


def flat_links(links: Links, weights: np.ndarray | None, source: np.ndarray, target: np.ndarray) -> FlatLinks:
    """Return links as those of a whole text.

    weights [links] or None.
    source, target (int64 [sentences + 1]): Where the sentences of each side begin among its words.
    """
    sentence = links.sentences()
    lengths = [np.maximum(np.diff(side), 1)[sentence] for side in (source, target)]
    places = links.pairs.astype(np.int64)
    relative = [(places[:, side] + 0.5) / lengths[side] for side in (0, 1)]
    return FlatLinks(
        source[:-1][sentence] + places[:, 0],
        target[:-1][sentence] + places[:, 1],
        np.ones(len(places)) if weights is None else np.asarray(weights, np.float64),
        np.abs(relative[0] - relative[1]),
    )


def one_to_one(links: FlatLinks, source_words: int, target_words: int) -> FlatLinks:
    """Return the links between words that have no other."""
    kept = _fan(links.source, source_words) + _fan(links.target, target_words) == 2
    return FlatLinks(links.source[kept], links.target[kept], links.weight[kept], links.distance[kept])


def _fan(words: np.ndarray, count: int) -> np.ndarray:
    """Return for each link how many its word has."""
    found: np.ndarray = np.bincount(words, minlength=count)[words]
    return found


def partners(links: FlatLinks, source_words: int, target_words: int) -> Partners:
    """Choose one source word for each target word, and one target word for each source word.

    The most probable link decides; among equals the source word with fewest links, then the link nearest to the
    diagonal, then the first.
    """
    order = np.lexsort((links.source, links.target, links.distance, _fan(links.source, source_words), -links.weight))
    source, target, weight = (column[order[::-1]] for column in (links.source, links.target, links.weight))
    chosen, confidence = np.full(target_words, -1, np.int64), np.zeros(target_words)
    chosen[target], confidence[target] = source, weight  # what is written last stays
    image = np.full(source_words, -1, np.int64)
    mutual = chosen[target] == source
    image[source[mutual]] = target[mutual]
    return Partners(chosen, confidence, image)
