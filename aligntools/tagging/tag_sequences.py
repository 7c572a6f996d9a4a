"""What a tagger says of sentences and of tag sequences, besides the tags that it decides on."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from aligntools.formats.inputs.annotation import Parsed, Sentence, batches, tokens_of
from aligntools.formats.inputs.sentences import Split
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool, pool_of
from aligntools.tagging.chain import Chain, ChainText, k_best, log_likelihood
from aligntools.tagging.settings import DECODERS
from aligntools.tagging.tagger import TaggerModel
from aligntools.words.white_space import in_form

#: Sentences at a time.
PART = 1000


@dataclass(frozen=True)
class TagSequence:
    """Tags of a sentence.

    Attributes
    ----------
    tags : tuple of str
    log_probability : float
        ``log p(x, z)`` of the words and the tags, natural logarithm.
    """

    tags: tuple[str, ...]
    log_probability: float


@dataclass(frozen=True, eq=False)
class TagPosteriors:
    """The posteriors of the tags of a text's words.

    Attributes
    ----------
    cells : int64 [tokens + 1]
        Token ``t`` has ``ids[cells[t]:cells[t + 1]]``; a tag that is not there is next to impossible.
    ids : int32 [cells]
        Indexes of the tagger's ``tags``.
    values : float64 [cells]
        Of a token they sum to 1.
    """

    cells: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]


class TagDistributions:
    """Methods of a tagger: probabilities of sentences, best sequences, samples, posteriors of all tags."""

    model: TaggerModel

    def log_probabilities(
        self, sentences: Iterable[Sentence], *, split: Split | None = None, threads: int | Pool | None = None
    ) -> npt.NDArray[np.float64]:
        """Return ``log p(x)`` of sentences, summed over all their tags (the forward algorithm).

        A word that training did not see has no probability: it is left out, and its form and neighbours count as far
        as they tell tags apart; in a model of relative frequencies it is 0. A tagger of several models is taken for
        their mixture. The models of taggers smooth, so that their probabilities sum to 1 nearly; those of relative
        frequencies and of induced tags do.

        Parameters
        ----------
        sentences : iterable of str or of sequences of str
        split : str
            What separates words in a str, as for `read_bitext`.
        threads : int or None
            None: all cores. The result does not depend on it.

        Returns
        -------
        float64 [sentences]
            Natural logarithms; -inf for what the model cannot make, 0 for no words.

        Raises
        ------
        UsageProblem
            When the model is of a version that kept no probabilities of words.

        Examples
        --------
        >>> import aligntools as at
        >>> text = ["the_DET dog_NOUN barks_VERB", "the_DET cat_NOUN"]
        >>> tagger = at.train_tagger(text, latent=1, relative_frequencies=True)
        >>> tagger.log_probabilities(["the cat", "cat the"]).round(4).tolist()  # log(1/2 * 1/2), and 0
        [-1.3863, -inf]
        """
        found = [own.log_probabilities() for own in self._parts(sentences, split, threads)]
        return np.concatenate(found) if found else np.zeros(0)

    def n_best(
        self, sentences: Iterable[Sentence], n: int, *, split: Split | None = None, threads: int | Pool | None = None
    ) -> Iterator[list[TagSequence]]:
        """Return the ``n`` most probable sequences of tags of each sentence, best first, with ``log p(x, z)``.

        Exact where a tag is one state of one model: ``latent=1``, relative frequencies, induced tags. With substates
        the sum over them has no such recursion: sequences are found by the best ones of states, of the coarse model and
        of the decoders, and ranked by their exact probabilities.

        Parameters
        ----------
        sentences, split, threads
            As for `log_probabilities`.
        n : int

        Yields
        ------
        list of TagSequence
            Empty for a sentence of no words, or one that no sequence explains.

        Examples
        --------
        >>> import aligntools as at
        >>> tagger = at.train_tagger(["the_DET dog_NOUN", "the_DET dogs_NOUN", "dogs_VERB him_PRON"], latent=1,
        ...                          relative_frequencies=True)
        >>> [found.tags for found in next(tagger.n_best(["the dogs"], 2))]
        [('DET', 'NOUN')]
        """
        if n < 1:
            raise UsageProblem(f"the {n} best sequences")
        for own in self._parts(sentences, split, threads):
            yield from own.best(n)

    def sample_tags(
        self,
        sentences: Iterable[Sentence],
        n: int,
        *,
        seed: int = 1,
        first: int = 0,
        split: Split | None = None,
        threads: int | Pool | None = None,
    ) -> Iterator[list[TagSequence]]:
        """Draw ``n`` sequences of tags of each sentence from ``p(z|x)``: forward filtering, backward sampling.

        Parameters
        ----------
        sentences, split, threads
            As for `log_probabilities`.
        n : int
        seed : int
            What is drawn depends on it and on the sentence's number alone.
        first : int
            Number of the first sentence.

        Yields
        ------
        list of TagSequence
            Empty for a sentence of no words, or one that no sequence explains.
        """
        if n < 1:
            raise UsageProblem(f"{n} samples")
        for own in self._parts(sentences, split, threads):
            yield from own.samples(n, seed, first)
            first += len(own.offsets) - 1

    def posteriors(
        self, sentences: Iterable[Sentence], *, split: Split | None = None, threads: int | Pool | None = None
    ) -> Iterator[list[dict[str, float]]]:
        """Return the posterior of every tag of every word, as the tagger decides by them.

        Several models are multiplied, and tags that their coarse model finds next to impossible are left out.

        Parameters
        ----------
        sentences, split, threads
            As for `log_probabilities`.

        Yields
        ------
        list of dict of str to float
            Of each word its tags, the most probable one first.

        Examples
        --------
        >>> import aligntools as at
        >>> tagger = at.train_tagger(["the_DET dog_NOUN barks_VERB", "a_DET bark_NOUN"], latent=1)
        >>> [[max(word, key=word.get) for word in words] for words in tagger.posteriors(["a dog barks"])]
        [['DET', 'NOUN', 'VERB']]
        """
        with pool_of(threads) as pool:
            for part in batches(sentences, PART):
                text = tokens_of(part, split)
                found = self.posteriors_of(text, threads=pool)
                words = []
                for a, b in pairwise(found.cells.tolist()):
                    ranked = sorted(range(a, b), key=lambda c: -found.values[c])
                    words.append({self.model.tags[found.ids[c]]: float(found.values[c]) for c in ranked})
                yield from (words[a:b] for a, b in pairwise(text.offsets.tolist()))

    def posteriors_of(self, text: Parsed, *, threads: int | Pool | None = None) -> TagPosteriors:
        """Return the posteriors of what a reader of `aligntools.formats` returned, as arrays."""
        with pool_of(threads) as pool:
            words, _ = in_form(text.words, self.model.normal_form)
            return TagPosteriors(*self.model.tag_posteriors(words, text.offsets, pool))

    def sequences_of(self, text: Parsed, pool: Pool) -> "Sequences":
        """Return what is known of the tag sequences of what a reader returned."""
        words, _ = in_form(text.words, self.model.normal_form)
        return Sequences(self.model, words, text.offsets, pool)

    def _parts(
        self, sentences: Iterable[Sentence], split: Split | None, threads: int | Pool | None
    ) -> "Iterator[Sequences]":
        with pool_of(threads) as pool:
            for part in batches(sentences, PART):
                yield self.sequences_of(tokens_of(part, split), pool)


# Probabilities of sentences and of their tag sequences: sums, the best, samples.
#
# A tagger's model is a chain over the states of its tags: ``p(x, s) = p(s_1) p(x_1|s_1) p(s_2|s_1) ... p(end|s_n)``,
# and ``p(x, z)`` sums over the states ``s`` of the tags ``z``. A tagger of several models is taken for their mixture
# here, each with the same weight, since the product that decides on tags is no distribution over sentences.

#: Where tags have substates: how many times as many sequences are looked at, of each model, as are asked for.
MORE = 4
#: Tags of sequences that are held at a time, about.
HELD = 1 << 22


class Sequences:
    """A part of a text under a tagger; ``unknown`` is the number of tokens that training did not see.

    Their words have no probability: it is left out, or is 0 in a model of relative frequencies.
    """

    def __init__(self, model: TaggerModel, words: Sequence[bytes], offsets: np.ndarray, pool: Pool) -> None:
        if model.factors is None:
            raise UsageProblem("the tagger does not know how probable words are: an older version made it; train again")
        self.model, self.pool = model, pool
        self.words, self.offsets = words, np.ascontiguousarray(offsets, np.int64)
        self.tokens, self.chains = model.emissions(words)
        self._n_rows = len(self.chains[0][0].emissions)
        self.unknown = int((~model.knows(words)).sum())

    def log_probabilities(self) -> np.ndarray:
        """Return ``log p(x)`` of the sentences, float64 [sentences]: the forward algorithm; 0 for no words."""
        text = ChainText(self.tokens, self.offsets, self._n_rows)
        return _mixed([log_likelihood(chain, text, self.pool) for chain, _ in self.chains])

    def joint(self, sentences: np.ndarray, tags: np.ndarray) -> np.ndarray:
        """Return ``log p(x, z)`` of sequences of tags: the forward algorithm over their substates.

        sentences (int64 [sequences]): Which sentence each is of.
        tags (int32 [tokens of these sentences]).
        """
        lengths = np.diff(self.offsets)[sentences]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        at = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - self.offsets[sentences], lengths)
        text = ChainText(self.tokens[at], offsets, self._n_rows)
        ranges = [(first[tags], first[tags + 1]) for _, first in self.chains]
        members = zip(self.chains, ranges, strict=True)
        return _mixed([log_likelihood(chain, text, self.pool, ends) for (chain, _), ends in members])

    def best(self, n: int) -> list[list[TagSequence]]:
        """Return the ``n`` most probable sequences of tags of each sentence, best first, with exact probabilities.

        Where each tag is one state, in one model, by k-best Viterbi; otherwise the best of the models' best sequences
        of states (`MORE` times as many) and of what the decoders choose.
        """
        plain = len(self.chains) == 1 and self.chains[0][0].n_states == len(self.model.tags)
        coarse = [] if plain or self.model.coarse is None else self.model.emissions(self.words, [self.model.coarse])[1]
        result = list[list[TagSequence]]()
        for k0, k1 in self._runs(MORE * n):
            t0, t1 = int(self.offsets[k0]), int(self.offsets[k1])
            words, offsets = self.words[t0:t1], self.offsets[k0 : k1 + 1] - t0
            text, places = ChainText(self.tokens[t0:t1], offsets, self._n_rows), list(pairwise(offsets.tolist()))
            found: list[dict[tuple[int, ...], None]] = [{} for _ in places]
            for chain, first in [*self.chains, *coarse]:
                states, scores = k_best(chain, text, n if plain else MORE * n, self.pool)
                tags = _tags_of(first)[np.maximum(states, 0)]
                for k, (a, b) in enumerate(places):
                    rows = tags[np.isfinite(scores[k]), a:b].tolist() if a < b else []
                    found[k] |= dict.fromkeys(map(tuple, rows))
            for decoder in () if plain else DECODERS:
                tags, _ = self.model.tag(words, offsets, self.pool, decoder, remember=False)
                for k, (a, b) in enumerate(places):
                    found[k] |= {tuple(tags[a:b].tolist()): None} if a < b else {}
            for own in self._scored([list(own) for own in found], k0):
                own.sort(key=lambda one: -one.log_probability)  # equals stay in order
                result.append([one for one in own if one.log_probability > -np.inf][:n])
        return result

    def samples(self, n: int, seed: int, first: int = 0) -> list[list[TagSequence]]:
        """Draw ``n`` sequences of tags of each sentence from ``p(z|x)``: forward sums, then backward sampling.

        What is drawn depends on the seed and on the sentence's number. A sentence that no sequence explains has none.
        """
        text = ChainText(self.tokens, self.offsets, self._n_rows)
        logs = np.stack([log_likelihood(chain, text, self.pool) for chain, _ in self.chains])

        def drawn(k: int) -> list[tuple[int, ...]]:
            a, b = int(self.offsets[k]), int(self.offsets[k + 1])
            if a == b or not np.isfinite(logs[:, k]).any():
                return []
            random = np.random.default_rng([seed, first + k])
            weights = np.exp(logs[:, k] - logs[:, k].max())
            chosen = random.choice(len(self.chains), n, p=weights / weights.sum())
            tags = np.empty((n, b - a), np.int64)
            for m in np.unique(chosen).tolist():
                own, (chain, first_states) = np.flatnonzero(chosen == m), self.chains[m]
                tags[own] = _tags_of(first_states)[_sampled(chain, self.tokens[a:b], len(own), random)]
            return [tuple(row) for row in tags.tolist()]

        return [own for a, b in self._runs(n) for own in self._scored([drawn(k) for k in range(a, b)], a)]

    def _runs(self, n: int) -> Iterator[tuple[int, int]]:
        """Yield where runs of sentences begin and end, so that ``n`` sequences of each are not too much at a time."""
        begin = 0
        while begin < len(self.offsets) - 1:
            limit = self.offsets[begin] + HELD // n
            end = max(begin + 1, int(np.searchsorted(self.offsets, limit, side="right")) - 1)
            yield begin, end
            begin = end

    def _scored(self, lists: list[list[tuple[int, ...]]], first: int) -> list[list[TagSequence]]:
        """Return lists of sequences with their probabilities; ``first`` is the sentence of the first list."""
        which = first + np.repeat(np.arange(len(lists)), [len(own) for own in lists])
        flat = [one for own in lists for one in own]
        tags = np.array([tag for one in flat for tag in one], np.int32)
        scores = iter(self.joint(which, tags).tolist() if len(flat) else [])
        names = self.model.tags
        return [[TagSequence(tuple(names[t] for t in one), next(scores)) for one in own] for own in lists]


def _tags_of(first: np.ndarray) -> np.ndarray:
    """Return the tag of each state."""
    return np.repeat(np.arange(len(first) - 1), np.diff(first))


def _mixed(logs: list[np.ndarray]) -> np.ndarray:
    """Return the logarithm of the mean of probabilities, given as logarithms."""
    stacked = np.stack(logs)
    top = stacked.max(0)
    held = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(held + np.log(np.exp(stacked - held).mean(0)))


def _sampled(chain: Chain, tokens: np.ndarray, n: int, random: np.random.Generator) -> np.ndarray:
    """Draw sequences of states of a sentence: int64 [n, tokens]."""
    size = len(tokens)
    alpha = np.empty((size, chain.n_states))
    for t, row in enumerate(tokens):
        alpha[t] = (chain.start if t == 0 else alpha[t - 1] @ chain.transitions) * chain.emissions[row]
        alpha[t] /= alpha[t].sum()
    states = np.empty((n, size), np.int64)
    onward = np.broadcast_to(chain.stop, (n, chain.n_states))  # of the state to each sequence's next
    for t in range(size - 1, -1, -1):
        sums = np.cumsum(alpha[t] * onward, axis=1)
        drawn = random.random(n) * sums[:, -1]
        states[:, t] = np.minimum((sums <= drawn[:, None]).sum(1), (sums < sums[:, -1:]).sum(1))
        onward = chain.transitions[:, states[:, t]].T
    return states
