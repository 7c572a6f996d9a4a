"""Word classes: which classes a tagger gives the words of a text, and trees of these classes."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Unpack

import numpy as np

from aligntools.formats.annotation.class_lists import ClassList as ClassList
from aligntools.formats.annotation.class_lists import WordLookup
from aligntools.formats.annotation.class_lists import read_classes as read_classes
from aligntools.formats.inputs.annotation import Parsed, PathLike, Sentence, check_words, read_untagged
from aligntools.formats.text.text_settings import WordReading
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.parallel import pool_of
from aligntools.ground.run import Run
from aligntools.tagging.tagged_sentences import TaggedSentences
from aligntools.tagging.taggers import Tagger

if TYPE_CHECKING:
    from aligntools.ground.keywords import CountingKeywords


#: How often each word has each tag.
Counts = Counter[tuple[bytes, bytes]]


def counts_of(found: TaggedSentences) -> Counts:
    """Count the tags of each word of tagged text."""
    return Counter(zip(found.source.words, found.tags, strict=True))


def list_of(counts: Counts) -> ClassList:
    """Return counts as a list, each word with all its classes."""
    words, classes = ([pair[k] for pair in counts] for k in (0, 1))
    return ClassList(words, classes, np.fromiter(counts.values(), np.int64, len(counts)))


@taking(WordReading, Run)
def word_classes(
    text: PathLike | Parsed | Iterable[Sentence],
    tagger: Tagger,
    *,
    paths: bool = False,
    reading: WordReading | None = None,
    run: Run | None = None,
    **options: "Unpack[CountingKeywords]",
) -> ClassList:
    """Return one class for each word of a text: the tag that a tagger gives it most often.

    Parameters
    ----------
    text : str, path, Tokens, Conll, or iterable of sentences
        As for `induce_tags`; mostly the text that the tags were induced from.
    tagger : Tagger
    paths : bool
        Give classes as paths in a tree of the tags, whose beginnings are larger classes: those are joined whose joining
        loses least of the mutual information of neighbouring words' classes (Brown et al. 1992).
    reading, run : WordReading, Run or None
        The options below, whole. One process does this.
    **options

    Returns
    -------
    ClassList

    Raises
    ------
    DataError
        When the file cannot be read or has no words.

    Examples
    --------
    >>> import aligntools as at
    >>> text = ["the dog barks", "a cat sleeps", "the cat barks"]
    >>> tagger = at.induce_tags(text, states=3, iterations=20)
    >>> found = at.word_classes(text, tagger, paths=True)
    >>> len(found), found.paths
    (6, True)
    """
    given = Keywords("word_classes", options)
    reading, run = given.take(WordReading, reading), given.take(Run, run).here()
    given.end()
    tokens = read_untagged(text, reading)
    check_words(text, tokens)
    with pool_of(run.threads) as pool:
        found = list_of(counts_of(tagger.tag_text(tokens, threads=pool))).best()
    if not paths:
        return found
    from aligntools.clustering.hierarchy import paths as paths_of

    lookup = WordLookup.of(found)
    ids = lookup.find(tokens.words) - 1
    size = len(lookup.names) - 1
    follows = np.ones(len(ids), bool)
    follows[tokens.offsets[:-1][np.diff(tokens.offsets) > 0]] = False  # first words follow nothing
    pairs = (ids[:-1].astype(np.int64) * size + ids[1:])[follows[1:]]
    bits = [path.encode() for path in paths_of(np.bincount(pairs, minlength=size * size).reshape(size, size))]
    return ClassList(found.words, [bits[k - 1] for k in lookup.ids.tolist()], found.counts, True)
