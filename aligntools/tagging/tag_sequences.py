"""What a tagger says of sentences and of tag sequences, besides the tags that it decides on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from aligntools.formats.annotation.tag_lists import format_posteriors as format_posteriors
from aligntools.formats.annotation.tag_lists import format_scores as format_scores
from aligntools.formats.annotation.tag_lists import format_sequences as format_sequences
from aligntools.formats.inputs.annotation import Parsed, Sentence, batches, tokens_of
from aligntools.formats.inputs.sentences import Split
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.words.white_space import in_form

if TYPE_CHECKING:
    from aligntools.ground.parallel import Pool
    from aligntools.tagging.sequences import ScoredTags, Sequences
    from aligntools.tagging.tagger import TaggerModel

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

    model: "TaggerModel"

    def log_probabilities(
        self, sentences: Iterable[Sentence], *, split: Split | None = None, threads: "int | Pool | None" = None
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
        self, sentences: Iterable[Sentence], n: int, *, split: Split | None = None, threads: "int | Pool | None" = None
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
            yield from self.named(own.best(n))

    def sample_tags(
        self,
        sentences: Iterable[Sentence],
        n: int,
        *,
        seed: int = 1,
        first: int = 0,
        split: Split | None = None,
        threads: "int | Pool | None" = None,
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
            yield from self.named(own.samples(n, seed, first))
            first += len(own.offsets) - 1

    def posteriors(
        self, sentences: Iterable[Sentence], *, split: Split | None = None, threads: "int | Pool | None" = None
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
                for a, b in pairwise(text.offsets.tolist()):
                    yield [self._word(found, t) for t in range(a, b)]

    def posteriors_of(self, text: Parsed, *, threads: "int | Pool | None" = None) -> TagPosteriors:
        """Return the posteriors of what a reader of `aligntools.formats` returned, as arrays."""
        with pool_of(threads) as pool:
            words, _ = in_form(text.words, self.model.normal_form)
            return TagPosteriors(*self.model.tag_posteriors(words, text.offsets, pool))

    def sequences_of(self, text: Parsed, pool: "Pool") -> "Sequences":
        """Return what is known of the tag sequences of what a reader returned."""
        from aligntools.tagging.sequences import Sequences

        words, _ = in_form(text.words, self.model.normal_form)
        return Sequences(self.model, words, text.offsets, pool)

    def _parts(
        self, sentences: Iterable[Sentence], split: Split | None, threads: "int | Pool | None"
    ) -> "Iterator[Sequences]":
        with pool_of(threads) as pool:
            for part in batches(sentences, PART):
                yield self.sequences_of(tokens_of(part, split), pool)

    def named(self, lists: "list[list[ScoredTags]]") -> list[list[TagSequence]]:
        """Return lists of sequences with the names of their tags."""
        names = self.model.tags
        return [[TagSequence(tuple(names[t] for t in x.tags), x.log_probability) for x in own] for own in lists]

    def _word(self, found: TagPosteriors, t: int) -> dict[str, float]:
        own = range(int(found.cells[t]), int(found.cells[t + 1]))
        ranked = sorted(own, key=lambda c: -found.values[c])
        return {self.model.tags[found.ids[c]]: float(found.values[c]) for c in ranked}
