"""Dependency parsing from Python: parsers, and the trees that they find."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from aligntools.formats.annotation.conll import Conll, column_place, format_conll, tree_graph
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.inputs.annotation import (
    Annotated,
    Annotator,
    OfText,
    Parsed,
    PathLike,
    batches,
    decoded,
    encoded,
    predicted_of,
    tagged_tokens_of,
    tell_unused,
)
from aligntools.formats.inputs.sentences import words_of
from aligntools.formats.models.modelfile import model_kind
from aligntools.formats.text.bitext import IN_MEMORY
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import DataError
from aligntools.ground.parallel import Pool, pool_of
from aligntools.ground.run import Run
from aligntools.parsing.parser import ParserModel
from aligntools.parsing.settings import ParserDecisions, ParserReading, TagMap
from aligntools.parsing.text import mapped_tags
from aligntools.parsing.valence import ValenceModel
from aligntools.viewing.models import ModelView, ShownAsModel, ShownAsTrees
from aligntools.words.white_space import in_form

if TYPE_CHECKING:
    from aligntools.ground.keywords import DecidingKeywords, ParsingKeywords


#: Sentences that are parsed at a time.
PART = 2000
_log = logging.getLogger("aligntools")


@dataclass(frozen=True, eq=False)
class Parse(ShownAsTrees):
    """The dependency tree of a sentence; ``str()`` gives CoNLL-U.

    Attributes
    ----------
    tokens, tags : tuple of str
    heads : int32 [words]
        The head of each word: 0 for the root, 1 to n for a word.
    labels : tuple of str or None
        The label of each word's edge; None where the parser has learned none.
    score : float
        The tree's score; -inf for a flat tree where none was searched or found.
    """

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    heads: npt.NDArray[np.int32]
    labels: tuple[str, ...] | None = None
    score: float = 0.0
    _of_one = True

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def edges(self) -> list[tuple[int, int]]:
        """The edges as ``(head, word)``, numbered from 1; the head 0 is the root."""
        return [(head, word) for word, head in enumerate(self.heads.tolist(), 1)]

    def __str__(self) -> str:
        words, tags = list(map(encoded, self.tokens)), list(map(encoded, self.tags))
        labels = None if self.labels is None else list(map(encoded, self.labels))
        columns = _tree_columns(self.heads, labels) | {COLUMNS["upos"]: tags}
        return decoded(format_conll(words, np.array([0, len(words)]), columns)).removesuffix("\n")


def _tree_columns(heads: npt.NDArray[np.int32], labels: Sequence[bytes] | None) -> dict[int, Sequence[bytes]]:
    """Return the columns of trees."""
    numbers = heads.tolist()
    if labels is None:
        labels = [b"_" if head else b"root" for head in numbers]
    return {COLUMNS["head"]: [b"%d" % head for head in numbers], COLUMNS["deprel"]: labels}


@dataclass(frozen=True, eq=False)
class Parses(ShownAsTrees, OfText[Parse]):
    """The trees of consecutive sentences, in a few arrays; an item is a `Parse`.

    tags: The tag of each word as the text has it.
    heads (int32 [words]): 0 for the root, 1 to n for a word of the sentence.
    scores (float64 [sentences]): The trees' scores; -inf for a flat tree.
    flat (bool [sentences]): Sentences above the greatest length, which were not parsed.
    mapped_tags: The tags as the parser sees them.
    unknown_tags (bool [words]): Words with tags that the parser has never seen.
    turned: Words that are in another of Unicode's normal forms than the parser's, and were turned for it.
    """

    source: Parsed
    tags: list[bytes]
    heads: npt.NDArray[np.int32]
    labels: list[bytes] | None
    scores: npt.NDArray[np.float64]
    flat: npt.NDArray[np.bool_]
    mapped_tags: list[bytes]
    unknown_tags: npt.NDArray[np.bool_]
    turned: int = 0

    def _item(self, number: int, begin: int, end: int) -> Parse:
        words, tags = (tuple(map(decoded, values[begin:end])) for values in (self._words, self.tags))
        labels = None if self.labels is None else tuple(map(decoded, self.labels[begin:end]))
        return Parse(words, tags, self.heads[begin:end], labels, float(self.scores[number]))

    def format(self) -> bytes:
        """Return CoNLL in UTF-8: what was CoNLL with heads and labels filled in, and all else as it was.

        DEPS has the tree's edges in sentences that had an enhanced graph, and is empty in others; empty nodes stay.
        Without labels, DEPREL is ``root`` at roots and ``_`` at all other words.
        """
        columns = _tree_columns(self.heads, self.labels)
        if isinstance(self.source, Conll):
            deps = tree_graph(self.source, columns[COLUMNS["head"]], columns[COLUMNS["deprel"]])
            return self.source.format(columns | {COLUMNS["deps"]: deps})
        return format_conll(self._words, self.source.offsets, columns | {COLUMNS["upos"]: self.tags})


@dataclass(frozen=True, eq=False, repr=False)
class Parser(Annotator, ShownAsModel):
    """A trained parser: from `train_parser`, `transfer_parser`, `induce_parser` or a model file.

    It can be used from several threads.

    Attributes
    ----------
    model : ParserModel or ValenceModel
        The arrays; not part of the public interface.
    """

    model: ParserModel | ValenceModel

    def __repr__(self) -> str:
        kind = "labeled" if self.model.labeler else "unlabeled"
        return f"<Parser, {kind}, of {self.n_features} features>"

    def model_view(self, title: str, words: int, best: int) -> "ModelView":
        """Return what the model learned; see `aligntools.view_model`."""
        return model_view(self.model, title)

    @classmethod
    def _of_file(cls, path: PathLike, verify: bool) -> "Parser":
        return cls((ValenceModel if model_kind(path) == ValenceModel.KIND else ParserModel).load(path, verify))

    @property
    def n_features(self) -> int:
        """Number of weights, or probabilities, that are not 0."""
        return int(np.count_nonzero(self.model.weights))

    @property
    def projective(self) -> bool:
        """Whether it was trained to find trees without crossing edges."""
        return self.model.constraints.projective

    @property
    def unsupervised(self) -> bool:
        """Whether it was learned from tags alone, so that it has only projective trees with one root."""
        return not isinstance(self.model, ParserModel)

    @property
    def map(self) -> TagMap:
        """How tags are mapped to the 12 universal ones before the parser sees them."""
        mapping: TagMap = self.model.settings.get("map", "none")
        return mapping

    @taking(ParserDecisions, ParserReading)
    def parse(
        self,
        tokens: "Annotated | Sequence[str]",
        tags: Sequence[str] | None = None,
        decisions: ParserDecisions | None = None,
        *,
        reading: ParserReading | None = None,
        **options: "Unpack[DecidingKeywords]",
    ) -> Parse:
        """Parse a sentence.

        Parameters
        ----------
        tokens : sequence of str, or a sentence with tags
            The words; or, without ``tags``, a line of ``word_TAG``, pairs of word and tag, or what a tagger returned.
        tags : sequence of str, optional
            A tag for each word.
        decisions, reading : ParserDecisions, ParserReading or None
            The options below, whole.
        **options

        Returns
        -------
        Parse

        Raises
        ------
        DataError
            When there is not one tag for each word.

        Examples
        --------
        >>> import aligntools as at
        >>> parser = at.train_parser("data/samples/en.conllu")
        >>> parser.parse(["the", "dog", "sleeps"], ["DET", "NOUN", "VERB"]).edges
        [(2, 1), (3, 2), (0, 3)]
        """
        given = Keywords("parse", options)
        decisions, reading = given.take(ParserDecisions, decisions), given.take(ParserReading, reading)
        given.end()
        sentence = tokens
        if tags is not None:
            words = [decoded(word) for word in words_of(tokens)]  # type: ignore[arg-type]
            if len(words) != len(tags):
                raise DataError(IN_MEMORY, None, f"{len(words)} words, but {len(tags)} tags")
            sentence = list(zip(words, tags, strict=True))
        read = tagged_tokens_of([sentence], reading.mark)  # type: ignore[list-item]
        with pool_of(1) as pool:
            return self._parsed(read, decisions, reading, pool)[0]

    @taking(ParserDecisions, ParserReading, Run)
    def parse_batch(
        self,
        sentences: Iterable[Annotated],
        decisions: ParserDecisions | None = None,
        *,
        reading: ParserReading | None = None,
        run: Run | None = None,
        batch_size: int = PART,
        unbuffered: bool = False,
        **options: "Unpack[ParsingKeywords]",
    ) -> Iterator[Parse]:
        """Parse sentences with tags one after the other, in constant memory.

        Parameters
        ----------
        sentences : iterable of sentences with tags
            Lines of ``word_TAG``, lists of pairs of word and tag, or what a tagger returns.
        decisions, reading, run : ParserDecisions, ParserReading, Run or None
            The options below, whole. One process does this.
        batch_size : int
            Sentences that are read before the first of them is returned.
        unbuffered : bool
            Yield each tree before the next sentence is asked for.
        **options

        Yields
        ------
        Parse

        Examples
        --------
        >>> import aligntools as at
        >>> parser = at.train_parser("data/samples/en.conllu")
        >>> [p.heads.tolist() for p in parser.parse_batch(["dogs_NOUN sleep_VERB", [("sleep", "VERB")]])]
        [[2, 0], [0]]
        """
        given = Keywords("parse_batch", options)
        decisions, reading = given.take(ParserDecisions, decisions), given.take(ParserReading, reading)
        run = given.take(Run, run).here()
        given.end()
        warned = False
        with pool_of(run.threads) as pool:
            for part in batches(sentences, 1 if unbuffered else batch_size):
                found = self._parsed(tagged_tokens_of(part, reading.mark), decisions, reading, pool)
                if not warned and found.unknown_tags.any():
                    warned = True
                    k = int(np.argmax(found.unknown_tags))
                    _log.warning("the parser has never seen the tag %s; see `map`", decoded(found.mapped_tags[k]))
                yield from found

    @taking(ParserDecisions, ParserReading, Run)
    def parse_text(
        self,
        text: Parsed,
        decisions: ParserDecisions | None = None,
        *,
        reading: ParserReading | None = None,
        run: Run | None = None,
        **options: "Unpack[ParsingKeywords]",
    ) -> Parses:
        """Parse what a reader of `aligntools.formats` returned.

        Parameters
        ----------
        text : Tokens or Conll
            With tags.
        decisions, reading, run
            As for `parse_batch`.
        **options

        Returns
        -------
        Parses

        Raises
        ------
        DataError
            When the text has no tags.
        UsageProblem
            When there is no such column.
        """
        given = Keywords("parse_text", options)
        decisions, reading = given.take(ParserDecisions, decisions), given.take(ParserReading, reading)
        run = given.take(Run, run).here()
        given.end()
        with pool_of(run.threads) as pool:
            return self._parsed(text, decisions, reading, pool)

    def _parsed(self, text: Parsed, decisions: ParserDecisions, reading: ParserReading, pool: "Pool") -> Parses:
        if reading.predicted_columns:
            text = predicted_of(text)
        words, model = text.words, self.model
        tell_unused("conll" if isinstance(text, Conll) else text.format, "the text", reading.column, reading.separator)
        if isinstance(text, Conll):
            tags = text.column(column_place(self.column if reading.column is None else reading.column))
        elif text.tags is None:
            raise DataError(IN_MEMORY, None, "the text has no tags")
        else:
            tags = text.tags
        mapped = mapped_tags(tags, self.map if reading.map is None else reading.map)
        words, turned = in_form(words, model.normal_form)
        sentences: Any = model.sentences(words, mapped, text.offsets)
        allowed = decisions.constraints(model.constraints)
        heads, scores, flat = model.parse(sentences, pool, allowed, decisions.max_length)
        labeler = model.labeler if decisions.labels else None
        labels = None if labeler is None else labeler.label(sentences, heads)
        return Parses(text, tags, heads, labels, scores, flat, mapped, model.unknown_tags(mapped), turned)


#: Tags of a side that are shown.
SHOWN = 5


def model_view(model: ParserModel | ValenceModel, title: str) -> ModelView:
    """Return what a parser learned."""
    if isinstance(model, ValenceModel):
        return _valence_view(model, title)
    rows: list[Any] = []
    for template, (begin, end) in zip(model.space.templates, model.space.regions.tolist(), strict=True):
        weights = model.weights[begin:end]
        some = weights[weights != 0]
        figures = [float(np.abs(some).mean()), float(some.max()), float(some.min())] if len(some) else [0.0] * 3
        rows.append((template, len(some), *figures))
    trees = model.constraints
    settings: list[list[Any]] = [
        ["weights that are not 0", int(np.count_nonzero(model.weights))],
        ["trees", ("projective" if trees.projective else "all") + (", one root" if trees.single_root else "")],
        ["labels", "yes" if model.labeler is not None else "no"],
        [
            "words, tags, first letters",
            ", ".join(str(len(getattr(model.vocabularies, name)) - 1) for name in ("words", "tags", "prefixes")),
        ],
    ]
    found = [
        [name, f"{n:,}", *(f"{x:.3f}" for x in figures)]
        for name, n, *figures in sorted(rows, key=lambda row: -row[1] * row[2])
    ]
    head = ["template", "weights", "mean size", "largest", "smallest"]
    caption = "Weights of each template: what it looks at on the head's side | on the modifier's"
    note = "w is the word, p its tag, x its first letters; p+1 is the next word's tag, [p] each tag in between."
    return ModelView(title, settings, tables=[{"caption": caption, "head": head, "rows": found}], notes=[note])


def _valence_view(model: ValenceModel, title: str) -> ModelView:
    """Return for each tag, the likeliest root first, its probabilities and the tags that it chooses on both sides."""
    names = [name.decode("utf-8", "replace") for name in model.vocabulary.encoded()][1:]
    known = model.parameters
    rows: list[Any] = []
    for k in np.argsort(-known.root, kind="stable").tolist():
        sides = []
        for side in (0, 1):
            order = np.argsort(-known.choose[k, side], kind="stable")[:SHOWN].tolist()
            sides.append(" ".join(f"{names[a]} {100 * known.choose[k, side, a]:.0f}" for a in order))
        shares = [known.root[k], known.decide[k, 0, 0, 1], known.decide[k, 1, 0, 1]]
        rows.append([names[k], *(f"{100 * x:.1f}" for x in shares), *sides])
    settings: list[list[Any]] = [
        ["model", "dependency model with valence, learned without trees"],
        ["tags", len(names)],
        *([name, str(value)] for name, value in model.settings.items()),
    ]
    head = ["tag", "root, %", "words left, %", "words right, %", "chosen on the left, %", "chosen on the right, %"]
    table = {"caption": "What each tag chooses as a head", "head": head, "rows": rows, "words": True}
    return ModelView(title, settings, tables=[table])
