"""Words under a grammar: how probable each state of a tag makes a word, known or not.

A word is taken for one of its tags, whose share among its occurrences is mixed with that of words of its *shape*
(Petrov et al. 2006, section 3.4, in the manner of the Stanford and the Berkeley parser): with c(w) occurrences,

    p(t | w) = (c(t, w) + m p(t | shape)) / (c(w) + m),        p(w | t) = p(t | w) / p(t),

without what does not depend on the tag. Words that are frequent in training have their own tags alone. A shape is what
rare words of training share: capitals, digits, hyphens, and the longest ending of up to three letters that several of
them have.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

#: Words that occur more often have the tags that they were seen with and no other.
FREQUENT = 10
#: Words that occur as often at most tell what unknown words are.
RARE = 2
#: How many occurrences the shape of a word counts for (m).
MIXED = 4.0
#: Rare words that have to share an ending before it is a shape.
SHARED = 3
#: Letters of the longest ending.
_ENDING = 3


def shapes(word: str, first: bool) -> list[str]:
    """Return the shapes of a word, the most special first; ``first`` says whether it begins a sentence.

    >>> shapes("Running", True)
    ['Cing', 'Cng', 'Cg', 'C']
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
class Lexicon:
    """Counts of words and shapes with tags' states.

    Attributes
    ----------
    words : dict of str to int
        Number of each known word.
    counts : float64 [words]
        Occurrences.
    pairs : int32 [pairs, 2]
        Word and tag, sorted.
    pairs_at : int64 [pairs + 1]
        Where each pair's block begins: one number for each substate of the tag.
    pair_counts : float64 [...]
    shapes : dict of str to int
        Number of each shape.
    of_shapes : float64 [shapes, states of tags]
        p(state | shape).
    of_states : float64 [states of tags]
        p(state).
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

        Parameters
        ----------
        sentence : sequence of str
        first_states : int64 [tags + 1]
            The first state of each tag.

        Returns
        -------
        float64 [words, states of tags]
        """
        found = np.zeros((len(sentence), len(self.of_states)))
        begins = np.searchsorted(self.pairs[:, 0], np.arange(len(self.counts) + 1))
        for k, word in enumerate(sentence):
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
        scaled: np.ndarray = found / np.where(peak > 0, peak, 1.0)
        return scaled

    def projected(self, first_states: np.ndarray) -> "Lexicon":
        """Return the lexicon of tags without substates."""
        if len(self.of_states) == len(first_states) - 1:
            return self
        begins = first_states[:-1]
        return Lexicon(
            self.words,
            self.counts,
            self.pairs,
            np.arange(len(self.pairs) + 1, dtype=np.int64),
            np.add.reduceat(self.pair_counts, self.pairs_at[:-1]),
            self.shapes,
            np.add.reduceat(self.of_shapes, begins, axis=1),
            np.add.reduceat(self.of_states, begins),
        )


def count_shapes(sentences: Iterable[tuple[Sequence[str], Sequence[int]]], counts: Counter[str]) -> dict[str, int]:
    """Return the shapes that enough rare words have, numbered; the empty one is that of all."""
    found = Counter[str]()
    seen = set[tuple[str, bool]]()
    for words, _ in sentences:
        for k, word in enumerate(words):
            if counts[word] <= RARE and (word, k == 0) not in seen:
                seen.add((word, k == 0))
                found.update(shapes(word, k == 0))
    kept = [name for name, n in found.items() if n >= SHARED]
    return {name: k for k, name in enumerate(["", *sorted(kept)])}


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Where words stand in training, from which a lexicon is made again whenever states' counts change.

    Attributes
    ----------
    words, shapes : dict of str to int
    counts : float64 [words]
    pairs : int32 [pairs, 2]
    rare_pairs : int32 [some, 2]
        Of each rare occurrence its pair, and one of the shapes that its word has; an occurrence has a row for each.
    """

    words: dict[str, int]
    shapes: dict[str, int]
    counts: np.ndarray
    pairs: np.ndarray
    rare_pairs: np.ndarray

    @classmethod
    def of(cls, sentences: Sequence[tuple[Sequence[str], Sequence[int]]]) -> tuple["Occurrences", list[list[int]]]:
        """Return the occurrences of sentences of words and numbers of tags, and the pair of each word."""
        counts = Counter(word for words, _ in sentences for word in words)
        numbers = {word: k for k, word in enumerate(counts)}
        known = count_shapes(sentences, counts)
        every = sorted({(numbers[w], t) for words, tags in sentences for w, t in zip(words, tags, strict=True)})
        places = {pair: k for k, pair in enumerate(every)}
        rare, of_words = list[tuple[int, int]](), list[list[int]]()
        for words, tags in sentences:
            own = [places[numbers[w], t] for w, t in zip(words, tags, strict=True)]
            of_words.append(own)
            for k, word in enumerate(words):
                if counts[word] <= RARE:
                    names = [name for name in shapes(word, k == 0) if name in known]
                    rare += [(own[k], known[name]) for name in [*names, ""]]
        amounts = np.array(list(counts.values()), np.float64)
        pairs = np.array(every, np.int32).reshape(-1, 2)
        return cls(numbers, known, amounts, pairs, np.array(rare, np.int32).reshape(-1, 2)), of_words

    def lexicon(self, pair_counts: np.ndarray, substates: np.ndarray, draw: float = 0.0) -> Lexicon:
        """Return the lexicon of expected counts of each pair's substates.

        Parameters
        ----------
        pair_counts : float64 [...]
            Blocks of the pairs, one after the other.
        substates : int32 [tags]
        draw : float
            How far the substates of a pair are drawn to their mean, from 0 to 1.
        """
        sizes = substates[self.pairs[:, 1]].astype(np.int64)
        at = np.append(0, np.cumsum(sizes))
        if draw:
            means = (np.add.reduceat(pair_counts, at[:-1]) / sizes).repeat(sizes)
            pair_counts = (1 - draw) * pair_counts + draw * means
        first = np.append(0, np.cumsum(substates)).astype(np.int64)
        states = first[self.pairs[:, 1]].repeat(sizes) + np.arange(at[-1]) - at[:-1].repeat(sizes)
        of_states = np.bincount(states, pair_counts, int(first[-1]))
        # an occurrence counts with what is expected of its pair, by the pair's occurrences
        shares = pair_counts / np.maximum(np.add.reduceat(pair_counts, at[:-1]), 1e-300).repeat(sizes)
        of_shapes = np.zeros((len(self.shapes), int(first[-1])))
        for pair, shape in self.rare_pairs.tolist():
            block = slice(at[pair], at[pair + 1])
            of_shapes[shape, states[block]] += shares[block]
        empty = of_shapes.sum(1) == 0
        of_shapes[empty] = of_states
        of_shapes /= of_shapes.sum(1, keepdims=True)
        return Lexicon(
            self.words, self.counts, self.pairs, at, pair_counts, self.shapes, of_shapes, of_states / of_states.sum()
        )
