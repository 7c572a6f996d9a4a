"""Partial observation: which tags a token may have is known, and which of them it has is summed over.

Token constraints are tags and sets of tags that the text gives, type constraints those of a dictionary (Täckström,
Das, Petrov, McDonald & Nivre 2013; a dictionary alone: Merialdo 1994). A sentence's paths are those through the tags
that its tokens may have: constrained forward-backward. Learning is EM: counts that a chain of one state a tag expects
on these paths, and from them the estimates that counted tags would give. Substates are learned on the same paths.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from aligntools.formats.annotation.class_lists import WordLookup
from aligntools.formats.annotation.tag_lists import likely, read_dictionary, sets_of
from aligntools.formats.annotation.tagged_text import Tokens
from aligntools.formats.inputs.annotation import PathLike, encoded
from aligntools.formats.text.bitext import name_of
from aligntools.ground.errors import DataError
from aligntools.ground.parallel import Pool
from aligntools.tagging.decoding import TagCandidates
from aligntools.tagging.settings import TaggerSettings
from aligntools.tagging.supervised import substates
from aligntools.tagging.supervised.corpus import TaggedCorpus
from aligntools.tagging.supervised.substates import Substates
from aligntools.tagging.unknown_words import FormClasses, UnknownWords

#: Iterations of EM with one state a tag. More raise the likelihood, and tags that projection seldom reaches take over
#: words that it never reaches: of 1, 3, 10 and 60, 1 and 3 had the highest accuracy on French and German.
ITERATIONS = 3


#: What is known of a text's tags: all tags, in alphabetical order; cells (int64 [tokens + 1]), token ``t`` may have
#: ``tags[cells[t]:cells[t + 1]]``; and tags (int32 [cells]), indexes of all.
Observation: TypeAlias = tuple[list[bytes], np.ndarray, np.ndarray]


def observe(
    words: Sequence[bytes],
    labels: Sequence[bytes],
    sets: Mapping[bytes, tuple[bytes, ...]],
    types: Mapping[bytes, Sequence[bytes]],
) -> tuple[Observation, int]:
    """Find out which tags each token may have, and of how many tokens the dictionary has none of the given tags.

    A word of the dictionary has one of its tags there: one that the text gives, where any of these is among them. Other
    words have a given tag, or any at all.
    sets, types: The tags that each label stands for (none: any), and that each word of a dictionary can have.
    """
    numbers: dict[tuple[bytes, bytes], int] = {}
    kinds = np.fromiter(
        (numbers.setdefault(pair, len(numbers)) for pair in zip(words, labels, strict=True)), np.int64, len(words)
    )
    known = [(sets[label], types.get(word, ())) for word, label in numbers]
    names = sorted({tag for pair in known for tags in pair for tag in tags})
    number = {name: n for n, name in enumerate(names)}
    rows, against = [], np.zeros(len(known), bool)
    for k, (given, possible) in enumerate(known):
        both = [tag for tag in given if not possible or tag in possible]
        against[k] = bool(given) and not both
        rows.append(sorted(number[tag] for tag in (both or possible or names)))
    ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    table = TagCandidates(ptr, np.array([tag for row in rows for tag in row], np.int32))
    cells, kept = table.of_tokens(kinds)
    return (names, cells.astype(np.int64), table.groups[kept]), int(against[kinds].sum())


#: Returns the text with the counts that some substates expect, and ``p(tag | word)`` of its pairs.
Renewing: TypeAlias = Callable[[Substates], tuple[TaggedCorpus, np.ndarray]]


def tag_shares(text: TaggedCorpus, letters: np.ndarray, strength: float) -> np.ndarray:
    """Return ``p(tag | word)`` of each pair, smoothed towards what letters say."""
    seen = np.bincount(text.pair_word, text.pair_count, len(text.words))[text.pair_word]
    return np.asarray((text.pair_count + strength * letters) / np.maximum(seen + strength, 1e-300))


def complete(
    text: TaggedCorpus,
    looks: FormClasses,
    pool: Pool,
    settings: TaggerSettings,
    report: Callable[..., Any],
    classes: WordLookup | None,
) -> tuple[TaggedCorpus, Substates, UnknownWords, Renewing]:
    """Learn a chain of one state a tag from a text whose tokens may have several tags, by EM.

    Returns text, states: With the counts that the chain expects.
    report: Called with (0, iteration, states, log-likelihood).
    classes: Word classes as features of unknown and rare words.
    """
    states, smoothing = substates.known_counts(text), settings.smoothing
    seen = replace(text, pair_count=states.emissions)
    unknown = UnknownWords.learn(text.words, seen.word_counts(), rare=settings.rare, classes=classes)
    letters = _of_pairs(unknown, text)
    for i in range(ITERATIONS):
        parameters = substates.estimate(states, seen, tag_shares(seen, letters, smoothing.words), looks, smoothing)
        states, loglik, _ = substates.expect(parameters, states, text, pool)
        seen = replace(text, pair_count=states.emissions)
        report(0, i, len(states.start), loglik)

    def renewed(states: Substates) -> tuple[TaggedCorpus, np.ndarray]:
        text = replace(seen, pair_count=np.add.reduceat(states.emissions, states.at[:-1]))
        return text, tag_shares(text, letters, smoothing.words)

    return seen, states, unknown, renewed


def _of_pairs(unknown: UnknownWords, text: TaggedCorpus) -> np.ndarray:
    """Return ``p(tag | form)`` of each pair, some words at a time."""
    found, batch = np.empty(len(text.pair_word)), 5000
    for begin in range(0, len(text.words), batch):
        pairs = slice(*np.searchsorted(text.pair_word, [begin, begin + batch]))
        shares = unknown.probabilities(text.words[begin : begin + batch])
        found[pairs] = shares[text.pair_word[pairs] - begin, text.pair_tag[pairs]]
    return found


#: A file of words, tags and weights, or the same in memory.
Dictionary: TypeAlias = PathLike | Mapping[str, Mapping[str, float]]


def types_of(
    text: object, tokens: Tokens, dictionary: Dictionary | None, min_share: float
) -> dict[bytes, tuple[bytes, ...]]:
    """Return the tags that words of a text can have by a dictionary, heaviest first.

    Raises DataError when the dictionary cannot be read, or no word of the text is in it.
    """
    if dictionary is None:
        return {}
    if isinstance(dictionary, (str, os.PathLike)):
        name, weights = dictionary, read_dictionary(os.fspath(dictionary))
    else:
        name = "<dictionary>"
        weights = {encoded(w): {encoded(t): n for t, n in tags.items()} for w, tags in dictionary.items() if tags}
    words = set(tokens.words)
    types = {word: tuple(likely(tags, min_share)) for word, tags in weights.items() if word in words}
    if not types:
        raise DataError(name, None, f"has no word of {name_of(text)}: is it the dictionary of another language?")
    return types


def observe_text(
    text: object, tokens: Tokens, dictionary: Dictionary | None, min_share: float
) -> tuple[Observation, dict[str, int]]:
    """Return which tags the words of a text may have, and how many may have one, several and any.

    Raises DataError when a set of tags is not clear, the dictionary cannot be read, or nothing is known of any word.
    """
    types = types_of(text, tokens, dictionary, min_share)
    labels = tokens.tags or []
    sets = sets_of(tokens, name_of(text), {tag for tags in types.values() for tag in tags})
    observed, dropped = observe(tokens.words, labels, sets, types)
    names, cells, _ = observed
    widths = np.diff(cells)
    if not names:
        raise DataError(name_of(text), None, "no word has a tag (_ stands for none); tags or a dictionary are needed")
    free = sum(not sets[label] and word not in types for word, label in zip(tokens.words, labels, strict=True))
    one = int((widths == 1).sum())
    known = {"given": one, "several": len(widths) - one - free, "free": free, "dropped": dropped}
    return observed, known
