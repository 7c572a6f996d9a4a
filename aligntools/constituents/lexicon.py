"""Words under a grammar: how probable each state of a tag makes a word, known or not.

A word is taken for one of its tags, whose share among its occurrences is mixed with that of words of its *shape*
(Petrov et al. 2006, section 3.4, in the manner of the Stanford and the Berkeley parser): with c(w) occurrences,

    p(t | w) = (c(t, w) + m p(t | shape)) / (c(w) + m),        p(w | t) = p(t | w) / p(t),

without what does not depend on the tag. Words that are frequent in training have their own tags alone. A shape is what
rare words of training share: capitals, digits, hyphens, and an ending of up to four letters that several of them have.
What is known of a shape is mixed with what is known of the next more general one, of an ending that is a letter shorter
(as in Brants 2000, TnT, section 2.3, with a fixed weight).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from aligntools.formats.annotation.brackets import clean

#: Words that occur more often have the tags that they were seen with and no other.
FREQUENT = 100
#: Words that occur as often at most tell what unknown words are.
RARE = 5
#: How many occurrences the shape of a word counts for (m).
MIXED = 0.5
#: How many rare occurrences the next more general shape counts for.
GENERAL = 2.0
#: How many occurrences all words of a tag count for, when the substates of one word are estimated.
DRAWN = 2.0
#: Rare words that have to share an ending before it is a shape.
SHARED = 3
#: Letters of the longest ending.
_ENDING = 4


def shapes(word: str, first: bool) -> list[str]:
    """Return the shapes of a word, the most special first; ``first`` says whether it begins a sentence.

    >>> shapes("Running", True)
    ['Cning', 'Cing', 'Cng', 'Cg', 'C']
    """
    kind = ""
    if word[:1].isupper():
        upper = len(word) > 1 and word.isupper()
        kind += "A" if upper else ("C" if first else "c")
    if any(letter.isdigit() for letter in word):
        kind += "0" if all(not letter.isalpha() for letter in word) else "9"
    elif not any(letter.isalpha() for letter in word):
        return [f".{word[-1:]}", "."]
    if "-" in word[1:]:
        kind += "-"
    low = word.lower()
    endings = [low[-n:] for n in range(min(_ENDING, len(low) - 1), 0, -1)] if "0" not in kind else []
    return [*(kind + ending for ending in endings), kind or "a"]


@dataclass(frozen=True, eq=False)
class WordCounts:
    """Counts of words and shapes with tags' states.

    counts (float64 [words]): Occurrences.
    pairs (int32 [pairs, 2]): Word and tag, sorted.
    pairs_at (int64 [pairs + 1]): Where each pair's block begins: one number for each substate of the tag.
    pair_counts (float64 [...]).
    of_shapes (float64 [shapes, states of tags]): p(state | shape).
    of_states (float64 [states of tags]): p(state).
    """

    words: dict[str, int]
    counts: np.ndarray
    pairs: np.ndarray
    pairs_at: np.ndarray
    pair_counts: np.ndarray
    shapes: dict[str, int]
    of_shapes: np.ndarray
    of_states: np.ndarray

    def shape(self, word: str, first: bool) -> int:
        """Return the number of a word's shape."""
        for name in shapes(word, first):
            if name in self.shapes:
                return self.shapes[name]
        return self.shapes[""]

    def scores(self, sentence: Sequence[str], first_states: np.ndarray) -> np.ndarray:
        """Return p(word | state) of each word and each state of a tag, up to a factor of the word.

        first_states (int64 [tags + 1]): The first state of each tag.
        Returns float64 [words, states of tags].
        """
        found = np.zeros((len(sentence), len(self.of_states)))
        begins = np.searchsorted(self.pairs[:, 0], np.arange(len(self.counts) + 1))
        for k, word in enumerate(map(clean, sentence)):  # text may have -LRB- for (
            number = self.words.get(word)
            if number is None:
                low = self.words.get(word.lower()) if k == 0 else None
                if low is None:
                    found[k] = self.of_shapes[self.shape(word, k == 0)]
                    continue
                number = low
            own, n = found[k], self.counts[number]
            if n <= FREQUENT:
                own += MIXED * self.of_shapes[self.shape(word, k == 0)]
            for pair in range(begins[number], begins[number + 1]):
                state = first_states[self.pairs[pair, 1]]
                block = self.pair_counts[self.pairs_at[pair] : self.pairs_at[pair + 1]]
                own[state : state + len(block)] += block
            own /= own.sum()
        found /= np.maximum(self.of_states, 1e-12)
        peak = found.max(1, keepdims=True) if len(found) else found
        return np.asarray(found / np.where(peak > 0, peak, 1.0))

    def projected(self, first_states: np.ndarray) -> "WordCounts":
        """Return the lexicon of tags without substates."""
        if len(self.of_states) == len(first_states) - 1:
            return self
        begins = first_states[:-1]
        return WordCounts(
            self.words,
            self.counts,
            self.pairs,
            np.arange(len(self.pairs) + 1, dtype=np.int64),
            np.add.reduceat(self.pair_counts, self.pairs_at[:-1]),
            self.shapes,
            np.add.reduceat(self.of_shapes, begins, axis=1),
            np.add.reduceat(self.of_states, begins),
        )


def count_shapes(
    sentences: Iterable[tuple[Sequence[str], Sequence[int]]], counts: Counter[str]
) -> tuple[dict[str, int], np.ndarray]:
    """Return the shapes that enough rare words have, numbered, the more general before the more special.

    Returns shapes: The empty one, 0, is that of all.
    Returns above (int64 [shapes]): The next more general shape of each; 0 of 0.
    """
    found = Counter[str]()
    rare = {(word, k == 0) for words, _ in sentences for k, word in enumerate(words) if counts[word] <= RARE}
    chains = [shapes(word, first) for word, first in sorted(rare)]
    for chain in chains:
        found.update(chain)
    kept = sorted((name for name, n in found.items() if n >= SHARED), key=lambda name: (len(name), name))
    numbers = {name: k for k, name in enumerate(["", *kept])}
    above = np.zeros(len(numbers), np.int64)
    for chain in chains:
        own = [numbers[name] for name in chain if name in numbers]
        for special, general in pairwise([*own, 0]):
            if general < special:
                above[special] = general
    return numbers, above


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Where words stand in training, from which a lexicon is made again whenever states' counts change.

    above (int64 [shapes]): The next more general shape of each.
    counts (float64 [words]), pairs (int32 [pairs, 2]).
    rare_pairs (int32 [some, 3]): Pairs of rare words, a shape that the word has, and how often; in a row for each of
        these shapes.
    """

    words: dict[str, int]
    shapes: dict[str, int]
    above: np.ndarray
    counts: np.ndarray
    pairs: np.ndarray
    rare_pairs: np.ndarray

    @classmethod
    def of(cls, sentences: Sequence[tuple[Sequence[str], Sequence[int]]]) -> tuple["Occurrences", list[list[int]]]:
        """Return the occurrences of sentences of words and numbers of tags, and the pair of each word."""
        counts = Counter(word for words, _ in sentences for word in words)
        numbers = {word: k for k, word in enumerate(counts)}
        known, above = count_shapes(sentences, counts)
        every = sorted({(numbers[w], t) for words, tags in sentences for w, t in zip(words, tags, strict=True)})
        places = {pair: k for k, pair in enumerate(every)}
        rare, of_words = Counter[tuple[int, int]](), list[list[int]]()
        for words, tags in sentences:
            own = [places[numbers[w], t] for w, t in zip(words, tags, strict=True)]
            of_words.append(own)
            for k, word in enumerate(words):
                if counts[word] <= RARE:
                    names = [name for name in shapes(word, k == 0) if name in known]
                    rare.update((own[k], known[name]) for name in [*names, ""])
        amounts = np.array(list(counts.values()), np.float64)
        pairs = np.array(every, np.int32).reshape(-1, 2)
        rows = np.array([(*row, n) for row, n in sorted(rare.items())], np.int32).reshape(-1, 3)
        return cls(numbers, known, above, amounts, pairs, rows), of_words

    def drawn(self, pair_counts: np.ndarray, substates: np.ndarray) -> np.ndarray:
        """Return counts of pairs whose substates are drawn to those of their tag's words, the more the rarer they are.

        With n occurrences of a pair, of which c(s) have the substate s, and p(s) over all words of the tag,
        n (c(s) + DRAWN p(s)) / (n + DRAWN).

        pair_counts (float64 [...]): Blocks of the pairs, one after the other.
        substates (int32 [tags]).
        """
        sizes, at, first, states = self.blocks(substates)
        amounts = np.add.reduceat(pair_counts, at[:-1])
        found = np.bincount(states, pair_counts, int(first[-1]))
        of_states = found / np.maximum(np.add.reduceat(found, first[:-1]), 1e-300).repeat(substates)
        return np.asarray((pair_counts + DRAWN * of_states[states]) * (amounts / (amounts + DRAWN)).repeat(sizes))

    def blocks(self, substates: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the size of each pair's block, where it begins, tags' first states, and the state of each number."""
        sizes = substates[self.pairs[:, 1]].astype(np.int64)
        at = np.append(0, np.cumsum(sizes))
        first = np.append(0, np.cumsum(substates)).astype(np.int64)
        return sizes, at, first, first[self.pairs[:, 1]].repeat(sizes) + np.arange(at[-1]) - at[:-1].repeat(sizes)

    def lexicon(self, pair_counts: np.ndarray, substates: np.ndarray) -> WordCounts:
        """Return the lexicon of expected counts of each pair's substates."""
        sizes, at, first, states = self.blocks(substates)
        of_states = np.bincount(states, pair_counts, int(first[-1]))
        # an occurrence counts with what is expected of its pair, by the pair's occurrences
        shares = pair_counts / np.maximum(np.add.reduceat(pair_counts, at[:-1]), 1e-300).repeat(sizes)
        rare, shape, times = self.rare_pairs.T.astype(np.int64)
        wide = sizes[rare]
        ends = np.cumsum(wide)
        inside = np.arange(wide.sum()) + (at[rare] - (ends - wide)).repeat(wide)
        place = shape.repeat(wide) * len(of_states) + states[inside]
        flat = np.bincount(place, times.repeat(wide) * shares[inside], len(self.shapes) * len(of_states))
        of_shapes = flat.astype(np.float64).reshape(len(self.shapes), -1)  # no rare words: integers
        of_shapes[0] = of_shapes[0] if of_shapes[0].any() else of_states
        of_shapes[0] /= of_shapes[0].sum()
        for k in range(1, len(of_shapes)):
            of_shapes[k] = (of_shapes[k] + GENERAL * of_shapes[self.above[k]]) / (of_shapes[k].sum() + GENERAL)
        return WordCounts(
            self.words, self.counts, self.pairs, at, pair_counts, self.shapes, of_shapes, of_states / of_states.sum()
        )
