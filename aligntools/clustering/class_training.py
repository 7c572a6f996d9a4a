"""Word classes learned from plain text, or from parallel text and its links, by exchange."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, Unpack, get_args

import numpy as np
import numpy.typing as npt

from aligntools.clustering import exchange
from aligntools.clustering.exchange import ClassSettings, Clustering, cluster, count_text
from aligntools.formats.annotation import class_lists
from aligntools.formats.annotation.class_lists import ClassList
from aligntools.formats.inputs.sentences import PathLike, Sentence, Sentences, side_of
from aligntools.formats.opening import files
from aligntools.formats.text.bitext import name_of
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.formats.text.text_settings import Splitting
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.run import Run
from aligntools.links.alignments import ManyAlignments, as_written, links_of_text
from aligntools.words.vocabulary import AnyVocabulary

if TYPE_CHECKING:
    from aligntools.ground.keywords import ClassTrainingKeywords

#: Forms of a file of classes: mkcls' two, paths as of Brown clusters, and words with classes and counts.
ClassFormat: TypeAlias = Literal["classes", "cats", "paths", "counts"]


@dataclass(frozen=True, eq=False)
class WordClasses:
    """Words and the classes that were learned for them.

    Attributes
    ----------
    words : list of bytes
        The words of the text, in order of their first occurrence.
    classes : int32 [words]
        From 1; class 1 has the most frequent word. Words rarer than ``min_count`` have ``number + 1``.
    counts : int64 [words]
        How often each word occurs.
    number : int
        How many classes there may be.
    perplexity : float
        Of the text under the bigram model of classes, ends of sentences counted as words.
    information : float
        Mutual information of the classes of neighbouring words, in nats; with links, of linked words, too.

    Examples
    --------
    >>> import aligntools as at
    >>> found = at.train_classes(["the dog barks", "a cat sleeps", "the cat barks", "a dog sleeps"], number=3)
    >>> found.class_list().words[:2], found["dog"] == found["cat"], found["dog"] == found["barks"]
    ([b'the', b'dog'], True, False)
    """

    words: list[bytes]
    classes: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]
    number: int
    perplexity: float
    information: float
    _bigrams: npt.NDArray[np.int64]
    _passes: tuple[int, int, int]

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"<WordClasses of {len(self)} words in {len(set(self.classes.tolist()))} classes>"

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {word: k for k, word in enumerate(self.words)}

    def __getitem__(self, word: str) -> int:
        """Return a word's class; KeyError where the text did not have it."""
        return int(self.classes[self._places[word.encode()]])

    def class_list(self, *, paths: bool = False) -> ClassList:
        """Return the classes as what taggers and parsers read.

        Parameters
        ----------
        paths : bool
            Give classes as paths in a tree, whose beginnings are larger classes: those are joined whose joining loses
            least of the mutual information of neighbouring words' classes (Brown et al. 1992).
        """
        names = [b"%d" % k for k in range(int(self.classes.max(initial=0)) + 1)]
        if paths:
            from aligntools.clustering.hierarchy import paths as paths_of

            used = np.unique(self.classes)
            for k, path in zip(used.tolist(), paths_of(self._bigrams[np.ix_(used, used)]), strict=True):
                names[k] = path.encode()
        return ClassList(self.words, [names[k] for k in self.classes.tolist()], self.counts, paths)

    def format(self, format: ClassFormat = "classes") -> bytes:
        """Return the classes as one of the files that `save` writes."""
        numbers = np.where(self.classes > self.number, 1, self.classes + 1)  # as mkcls has them
        if format == "classes":
            return class_lists.format_classes(self.words, numbers)
        if format == "cats":
            return class_lists.format_cats(self.words, numbers, self.number, *self._passes)
        if format in get_args(ClassFormat):
            return self.class_list(paths=format == "paths").format()
        raise UsageProblem(f"no form '{format}' of classes; there are {', '.join(get_args(ClassFormat))}")

    def save(self, path: str | os.PathLike[str], format: ClassFormat = "classes") -> None:
        """Write a file; it appears whole or not at all.

        Parameters
        ----------
        path : str or path
            ``-`` is standard output.
        format : str
            ``classes``, as mkcls writes them and GIZA++ reads them: word, tab, number from 2 on, and 1 for words rarer
            than ``min_count``. ``cats``: mkcls' other file, the words of a class on a line. ``paths``: as of Brown
            clusters, path, word and count. ``counts``: word, class and count, the most frequent words first.

        Raises
        ------
        UsageProblem
            When there is no such form.
        DataError
            When it cannot be written.
        """
        text = self.format(format)
        with files.writing(os.fspath(path)) as out:
            out.write(text)


def _of_side(
    vocabulary: "AnyVocabulary", side: "Side", classes: np.ndarray, settings: ClassSettings, whole: "Clustering"
) -> WordClasses:
    """Return the classes of one side's words, without the words that do not occur, and which classes follow which."""
    words = [word.encode("utf-8", "surrogateescape") for word in vocabulary.words()]
    uses = np.bincount(side.tokens, minlength=len(words))
    some, size = np.flatnonzero(uses[1:]) + 1, settings.number + 2
    ids, follows = classes[side.tokens].astype(np.int64), np.ones(len(side.tokens), bool)
    follows[side.offsets[:-1][np.diff(side.offsets) > 0]] = False  # first words follow nothing
    pairs = (ids[:-1] * size + ids[1:])[follows[1:]]
    return WordClasses(
        [words[k] for k in some.tolist()],
        classes[some],
        uses[some].astype(np.int64),
        settings.number,
        whole.perplexity,
        whole.information,
        np.bincount(pairs, minlength=size * size).reshape(size, size),
        (whole.looked, whole.moved, settings.restarts),
    )


def _check(words: int, name: str) -> None:
    if not words:
        raise DataError(name, None, "has no words; expected text, one sentence per line")


@taking(ClassSettings, Splitting, Run)
def train_classes(
    text: PathLike | Iterable[Sentence],
    settings: ClassSettings | None = None,
    *,
    splitting: Splitting | None = None,
    run: Run | None = None,
    **options: "Unpack[ClassTrainingKeywords]",
) -> WordClasses:
    """Learn classes of words from plain text, by what stands next to them: the exchange algorithm.

    Words are moved between classes, one at a time, so that the class of a word says most of the class of the next.

    Parameters
    ----------
    text : str, path, or iterable of sentences
        One sentence per line, in words; upper and lower case differ.
    settings, splitting, run : ClassSettings, Splitting, Run or None
        The options below, whole.
    **options

    Returns
    -------
    WordClasses

    Raises
    ------
    DataError
        When the file cannot be read or has no words.

    Notes
    -----
    Kneser & Ney (1993), "Improved clustering techniques for class-based statistical language modelling"; Martin,
    Liermann & Ney (1998), "Algorithms for bigram and trigram word clustering". The number of threads does not change
    the result.

    Examples
    --------
    >>> import aligntools as at
    >>> found = at.train_classes(["the dog barks", "a cat sleeps", "the cat barks", "a dog sleeps"], number=3)
    >>> print(found.format().decode().expandtabs(8), end="")
    a	3
    barks	4
    cat	2
    dog	2
    sleeps	4
    the	3
    """
    given = Keywords("train_classes", options)
    settings = given.take(ClassSettings, settings)
    split, run = given.take(Splitting, splitting).split, given.take(Run, run).here()
    given.end()
    side, vocabulary = side_of(text, split)
    _check(len(side.tokens), name_of(text))
    pairs = count_text(side.tokens, side.offsets, len(vocabulary))
    with pool_of(run.threads) as pool:
        found = cluster(pairs, settings, pool)
    return _of_side(vocabulary, side, found.classes, settings, found)


@taking(ClassSettings, Splitting, Run)
def train_bilingual_classes(
    sources: "Sentences | Bitext",
    targets: Sentences | None,
    alignments: "ManyAlignments | str | os.PathLike[str]",
    settings: ClassSettings | None = None,
    *,
    index_base: int = 0,
    splitting: Splitting | None = None,
    run: Run | None = None,
    **options: "Unpack[ClassTrainingKeywords]",
) -> tuple[WordClasses, WordClasses]:
    """Learn classes of the words of both sides of a text, by what stands next to them and what they are linked to.

    Parameters
    ----------
    sources, targets : iterables of str or of lists of str, or files (str or path)
        Sentences as lines or lists of words, in the case that they have. ``sources`` alone, with ``targets`` None: a
        `Bitext`, or a file with ``' ||| '`` between the sides. Pairs with a blank side do not count.
    alignments : iterable of alignments, or a Pharaoh file (str or path)
        One for each sentence pair; see `symmetrize`.
    settings, splitting, run : ClassSettings, Splitting, Run or None
        The options below, whole. There are so many classes on each side.
    index_base : int
        Number of the first word in Pharaoh text, 0 or 1.
    **options

    Returns
    -------
    (WordClasses, WordClasses)
        Of the source's and of the target's words.

    Raises
    ------
    DataError
        When a file cannot be read, there is not one alignment for each pair, or a link points past its sentence.

    Notes
    -----
    Och (1999), "An efficient method for determining bilingual word classes".

    Examples
    --------
    >>> import aligntools as at
    >>> texts = ["the dog barks", "a cat sleeps"], ["der Hund bellt", "eine Katze ruht"]
    >>> source, target = at.train_bilingual_classes(*texts, ["0-0 1-1 2-2"] * 2, number=3)
    >>> len(source), len(target), target.number
    (6, 6, 3)
    """
    given = Keywords("train_bilingual_classes", options)
    settings = given.take(ClassSettings, settings)
    split, run = given.take(Splitting, splitting).split, given.take(Run, run).here()
    given.end()
    bitext = sources if isinstance(sources, Bitext) else as_written(sources, targets, split)
    links, _ = links_of_text(alignments, bitext, "alignments", index_base)
    sides = bitext.source, bitext.target
    vocabularies = bitext.source_vocabulary, bitext.target_vocabulary
    texts = [(s.tokens, s.offsets, len(v)) for s, v in zip(sides, vocabularies, strict=True)]
    _check(len(sides[0].tokens), name_of(sources, "<text>"))
    rows = np.repeat(np.arange(len(bitext)), np.diff(links.offsets))
    places = tuple(side.offsets[rows] + links.pairs[:, k] for k, side in enumerate(sides))
    pairs = exchange.count_both(texts[0], texts[1], (places[0], places[1]))
    with pool_of(run.threads) as pool:
        whole = cluster(pairs, settings, pool, exchange.apart(pairs, texts[0][2], settings))
    found = exchange.of_sides(whole.classes, texts[0][2], settings.number)
    source, target = (_of_side(*one, settings, whole) for one in zip(vocabularies, sides, found, strict=True))
    return source, target
