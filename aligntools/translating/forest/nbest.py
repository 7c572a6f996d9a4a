"""Candidate translations of each sentence as lists: the k best, and samples."""

from typing import TypeAlias

from aligntools.translating.forest.derivations import k_best, samples
from aligntools.translating.forest.hypergraph import edge_scores

#: Words, numbers and values of the features that are not 0, and score.
Candidate: TypeAlias = tuple[list[bytes], list[int], list[float], float]


def best_lists(system, forest, sentences, k, pool=None) -> list[list[Candidate]]:
    """Return the k best distinct translations that hypergraphs hold.

    Parameters
    ----------
    system : System
    forest : Hypergraph
        From `System.forest`, of the same sentences.
    sentences : Sentences
    k : int
    pool : Pool or None

    Returns
    -------
    list of list of Candidate
        For each sentence its candidates, best first; a blank line has one, without words.
    """
    scores = edge_scores(forest, system.weights, pool=pool)
    return _lists(system, k_best(forest, scores, len(system.features), k, pool=pool), sentences, 1)


def sample_lists(system, forest, sentences, count, gamma, seed, pool=None) -> list[list[Candidate]]:
    """Return derivations drawn in proportion to ``exp(gamma * score)``, in the same form, with their own scores.

    Parameters
    ----------
    system, forest, sentences, pool
        As for `best_lists`.
    count : int
    gamma : float
    seed : int
    """
    scores = edge_scores(forest, system.weights, gamma, pool=pool)
    found = samples(forest, scores, len(system.features), count, seed, pool=pool)
    return _lists(system, found, sentences, count)


def _lists(system, found, sentences, blank):
    name, lists = system.names(sentences), []
    for s in range(len(sentences)):
        if sentences.offsets[s] == sentences.offsets[s + 1]:
            lists.append([([], [], [], 0.0)] * blank)
            continue
        own: list[Candidate] = []
        for c in range(found.offsets[s], found.offsets[s + 1]):
            words = name(found.words[found.word_offsets[c] : found.word_offsets[c + 1]])
            span = slice(found.feature_offsets[c], found.feature_offsets[c + 1])
            ids, values = found.feature_ids[span], found.feature_values[span]
            score = float(system.weights[ids] @ values.astype(float))
            own.append((words, ids.tolist(), values.tolist(), score))
        lists.append(own)
    return lists
