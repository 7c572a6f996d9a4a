"""Carrying annotation over word alignments, from Python."""

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, get_args

import numpy as np
import numpy.typing as npt

from aligntools.formats.annotation.brackets import Tree, format_trees, plain_trees, trees_given
from aligntools.formats.annotation.conll import Conll, column_place, format_conll, read_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.annotation.tag_lists import format_dictionary
from aligntools.formats.annotation.tagged_text import Tokens, column_name, filled_column, stream_sentences
from aligntools.formats.inputs.annotation import Parsed, PathLike, Sentence, decoded, tokens_of
from aligntools.formats.inputs.sentences import Split
from aligntools.formats.links.pharaoh import read_with_probabilities
from aligntools.formats.text.bitext import name_of
from aligntools.formats.text.text_settings import LinkReading, Splitting
from aligntools.ground.declarations import Keywords, Settings, documented, option, taking
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.links.alignments import check_fit, links_of
from aligntools.projecting import columns as carry
from aligntools.words.white_space import split_as

if TYPE_CHECKING:
    from aligntools.formats.annotation.brackets import SomeTrees
    from aligntools.ground.keywords import ProjectingKeywords
    from aligntools.links.alignments import ManyAlignments


LinkChoice: TypeAlias = Literal["best", "one-to-one", "vote"]
Projected: TypeAlias = Literal["lemma", "upos", "xpos", "feats", "head", "deprel"]
PROJECTED: tuple[Projected, ...] = get_args(Projected)
#: In place of a column with spans: the source is trees of constituents.
BRACKETS = "brackets"


@documented
@dataclass(frozen=True)
class ProjectionSettings(Settings):
    """Annotation to project, and the links to use."""

    columns: tuple[Projected, ...] = option(
        ("upos",),
        f"What is carried over: {', '.join(PROJECTED)}. With head, a relation is carried over where its edge is.",
        group="Common options",
        metavar="A,B",
    )
    spans: str | int | None = option(
        None,
        "Column with spans in BIO (B-PER I-PER O), carried over as spans; by name or by number from 1. Or brackets: the"
        " source is trees of constituents, which become partial trees in brackets.",
        group="Common options",
        metavar="xpos|misc|N|brackets",
    )
    links: LinkChoice = option(
        "best",
        "For a word with several links: best takes the most probable one (without probabilities, that of the"
        " source word with fewest links, then the one nearest to the diagonal), one-to-one takes none, and vote"
        " lets all linked words vote on labels (trees use the best).",
        when="vote",
        excludes=("spans=brackets",),
        said="`links=vote` is for labels of words; with `spans=brackets` all links count",
        group="Links",
    )

    @property
    def of_trees(self) -> bool:
        """Whether trees of constituents are carried over."""
        return self.spans == BRACKETS

    def rules(self) -> None:
        """Refuse to carry nothing over."""
        if not self.columns and self.spans is None:
            raise UsageProblem("there is nothing to carry over; give `columns` or `spans`")


_log = logging.getLogger("aligntools")

#: What stands before a confidence in the column MISC.
CONFIDENCE = b"Projected="


@dataclass(frozen=True, eq=False)
class Projection:
    """Annotation of target sentences, carried over from their translations.

    Attributes
    ----------
    source : Tokens or Conll
        The target text.
    columns : dict of int to list of bytes
        What was carried over, by column, counted from 0; ``_`` where nothing was.
    reached : bool [words]
        Words that took a label, or a head.
    confidence : float64 [words]
        Probability of the link, or share of the votes; 0 where a word was not reached.
    trees : list of Tree or None
        Partial trees of constituents, where trees were carried over.
    constituents : (int, int) or None
        How many were carried over, and how many the source has; those above sentences do not count.
    """

    source: Parsed
    columns: dict[int, list[bytes]]
    reached: npt.NDArray[np.bool_]
    confidence: npt.NDArray[np.float64]
    scored: bool = False
    trees: list[Tree] | None = None
    constituents: tuple[int, int] | None = None

    def format(self) -> bytes:
        """Return CoNLL in UTF-8: the target text with these columns; all else as it was, or ``_``.

        Where links have probabilities, or words have voted, MISC has ``Projected=`` and the confidence. Where trees of
        constituents were carried over, return these: one a line, in brackets.
        """
        if self.trees is not None:
            return format_trees(self.trees).encode("utf-8", "surrogateescape")
        columns: dict[int, Sequence[bytes]] = dict(self.columns)
        words = self.source.words
        if self.scored:
            misc = COLUMNS["misc"]
            before = self.source.column(misc) if isinstance(self.source, Conll) else [b"_"] * len(words)
            known = zip(self.confidence, self.reached, strict=True)
            marks = [CONFIDENCE + b"%.3f" % p if there else b"" for p, there in known]
            columns[misc] = [_with(*pair) for pair in zip(columns.get(misc, before), marks, strict=True)]
        if isinstance(self.source, Conll):
            return self.source.format(columns)
        return format_conll(words, self.source.offsets, columns)

    def dictionary(self, column: str | int = "upos", min_share: float = 0.0) -> dict[str, dict[str, float]]:
        """Return the labels that each word took, with their weights, heaviest first: a type dictionary.

        Parameters
        ----------
        column : str or int
            One of those that were carried over.
        min_share : float
            Labels with a smaller share of their word's weight are left out.
        """
        place = column_place(column)
        if place not in self.columns:
            raise UsageProblem(f"column '{column}' was not carried over")
        found = carry.type_dictionary(self.source.words, self.columns[place], self.confidence, min_share)
        return {
            decoded(word): {decoded(label): weight for label, weight in labels.items()}
            for word, labels in found.items()
        }

    def format_dictionary(self, column: str | int = "upos", min_share: float = 0.0) -> bytes:
        """Return `dictionary` as lines of a word, a label and its weight, as `train_tagger` reads them."""
        return format_dictionary(self.dictionary(column, min_share))


def _with(field: bytes, mark: bytes) -> bytes:
    """Return a field of MISC with a confidence, in the place of an older one."""
    kept = [part for part in field.split(b"|") if part not in (b"", b"_") and not part.startswith(CONFIDENCE)]
    return b"|".join([*kept, *[mark] * bool(mark)]) or b"_"


@taking(ProjectionSettings, LinkReading, Splitting)
def project(
    source: "PathLike | Conll | SomeTrees",
    target: "PathLike | Parsed | Iterable[Sentence]",
    alignments: "PathLike | ManyAlignments",
    settings: ProjectionSettings | None = None,
    **options: "Unpack[ProjectingKeywords]",
) -> Projection:
    """Carry annotation from sentences to their translations, over word alignments.

    Tags and features are those of the linked word; trees go by direct correspondence: the head of a word that stands
    for a source word is the word that stands for that word's head.

    Parameters
    ----------
    source : path or Conll
        Sentences with annotation, in CoNLL. With ``spans="brackets"`` trees of constituents: a file of them in
        brackets, or trees as `Tree` or as text; traces are left out, and no word of the links.
    target : path, Tokens, Conll, or iterable of sentences
        Their translations, one for each; plain text or CoNLL.
    alignments : path, or one alignment for each sentence pair
        Links source-target, with probabilities or without.
    settings : ProjectionSettings or None
        The options of this class below, whole.
    **options

    Returns
    -------
    Projection

    Raises
    ------
    DataError
        When the texts have different numbers of sentences, a link points past its sentence, the source has nothing in a
        column, or no word is linked.
    UsageProblem
        When a column cannot be carried over.

    Notes
    -----
    Yarowsky & Ngai (2001), "Inducing multilingual POS taggers and NP bracketers via robust projection across aligned
    corpora"; Hwa et al. (2005), "Bootstrapping parsers via syntactic projection across parallel texts".

    Examples
    --------
    >>> import aligntools as at
    >>> tree = "(S (NP (DT the) (NN dog)) (VP (VBZ sleeps)))"
    >>> found = at.project([tree], ["der Hund schläft"], [[(0, 0), (1, 1), (2, 2)]], spans="brackets")
    >>> print(found.trees[0])
    (S (NP (DT der) (NN Hund)) (VP (VBZ schläft)))
    """
    given = Keywords("project", options)
    settings, how = given.take(ProjectionSettings, settings), given.take(LinkReading)
    split = given.take(Splitting).split
    given.end()
    if settings.of_trees:
        return _of_trees(source, target, alignments, settings, how, split)
    wanted, spans, links = list(dict.fromkeys(settings.columns)), settings.spans, settings.links
    if spans is not None and column_place(spans) in (COLUMNS["id"], COLUMNS["form"], *(COLUMNS[c] for c in wanted)):
        raise UsageProblem(f"column '{spans}' cannot hold spans: it is the words' own, or carried over as labels")
    if not isinstance(source, Conll | str | os.PathLike):
        raise DataError(
            "source", None, f"{type(source).__name__} is not CoNLL; give a file's name, or what was read of one"
        )
    theirs = source if isinstance(source, Conll) else read_conll(os.fspath(source))
    text, flat, found, scored = _joined(theirs.path, theirs.offsets, target, split, alignments, settings, how)
    n_target = len(text.words)
    result: dict[int, list[bytes]] = {}
    reached, confidence = found.reached, found.confidence
    for column in wanted:
        place = COLUMNS[column]
        if column == "head":
            heads = carry.trees(theirs.heads(), theirs.offsets, text.offsets, found)
            result[place] = [b"%d" % head if head >= 0 else carry.NONE for head in heads.tolist()]
            continue
        values = filled_column(theirs, place)
        if set(values) <= {carry.NONE}:
            raise DataError(theirs.path, None, f"has no {column_name(place)}: it is _ in every line; leave it out")
        if links == "vote" and column != "deprel":
            result[place], confidence = carry.voted(values, flat, n_target)
        else:
            result[place] = [values[k] if k >= 0 else carry.NONE for k in found.source.tolist()]
    if "head" in wanted and "deprel" in wanted:
        pairs = zip(result[COLUMNS["deprel"]], result[COLUMNS["head"]], strict=True)
        result[COLUMNS["deprel"]] = [label if head != carry.NONE else carry.NONE for label, head in pairs]
    if spans is not None:
        place = column_place(spans)
        result[place] = carry.spans(theirs.column(place), theirs.offsets, text.offsets, flat)
    return Projection(text, result, reached, confidence, scored=scored or links == "vote")


def _joined(
    source_name: object,
    source: "npt.NDArray[np.int64]",
    target: Any,
    split: Split | None,
    alignments: "PathLike | ManyAlignments",
    settings: ProjectionSettings,
    how: LinkReading,
) -> "tuple[Parsed, carry.FlatLinks, carry.Partners, bool]":
    """Return the target, the links that count, whose annotation words take, and whether links have probabilities."""
    target_given = split_as(target, split)
    if isinstance(target_given, (str, os.PathLike)):
        text: Parsed | None = next(stream_sentences(os.fspath(target_given), "auto", 1 << 62), None)
        if text is None:
            raise DataError(target_given, None, "is empty; give the translations, one for each sentence")
    else:
        text = target_given if isinstance(target_given, (Tokens, Conll)) else tokens_of(target_given, split)
    name, weights = name_of(alignments, "alignments"), None
    if isinstance(alignments, (str, os.PathLike)):
        table, weights = read_with_probabilities(alignments, index_base=how.index_base)
    else:
        table = links_of(alignments, index_base=how.index_base)
    if weights is not None:
        weights = np.nan_to_num(weights, nan=1.0)
    if how.reverse:
        if weights is not None:
            weights = weights[np.lexsort((*table.pairs.T, table.sentences()))]
        table = table.inverted()
    for count, what, unit in (
        (len(text), name_of(target, "target"), "sentences"),
        (len(table), name, "lines of links"),
    ):
        if count != len(source) - 1:
            problem = f"{count} {unit}, but {source_name} has {len(source) - 1} sentences"
            raise DataError(what, None, f"{problem}; there must be one for each, in the same order")
    check_fit(table, np.diff(source), np.diff(text.offsets), name, how.index_base)
    n_source, n_target = int(source[-1]), len(text.words)
    flat = carry.flat_links(table, weights, source, text.offsets)
    if not len(flat.target):
        raise DataError(name, None, "has no link, so there is nothing to carry over")
    if settings.links == "one-to-one":
        flat = carry.one_to_one(flat, n_source, n_target)
    return text, flat, carry.partners(flat, n_source, n_target), weights is not None


def _of_trees(
    source: Any,
    target: "PathLike | Parsed | Iterable[Sentence]",
    alignments: "PathLike | ManyAlignments",
    settings: ProjectionSettings,
    how: LinkReading,
    split: Split | None,
) -> Projection:
    if isinstance(source, Conll):
        raise DataError(source.path, None, "is CoNLL; with `spans=brackets` the source is trees in brackets")
    theirs, notes = plain_trees(trees_given(source, "source")[0])
    name = name_of(source, "source")
    for note in notes:
        _log.info("%s: %s", name, note)
    if not theirs:
        raise DataError(name, None, "has no trees; a tree is (S (NP (DT the) ...) ...)")
    offsets = np.append(0, np.cumsum([len(tree.words()) for tree in theirs])).astype(np.int64)
    text, flat, found, scored = _joined(name, offsets, target, split, alignments, settings, how)
    words = list(map(decoded, text.words))
    tags: list[str] | None = None  # the target's own, XPOS before UPOS, or else those of the linked words
    if isinstance(text, Conll):
        columns = (filled_column(text, COLUMNS[name]) for name in ("xpos", "upos"))
        tags = next((list(map(decoded, values)) for values in columns if set(values) - {b"_"}), None)
    if tags is None:
        their_tags = [tag for tree in theirs for tag in tree.tags()]
        tags = [their_tags[k] if k >= 0 else "_" for k in found.source.tolist()]
    trees, carried, total = carry.partial_trees(theirs, text.offsets, flat, words, tags)
    return Projection(
        text, {}, found.reached, found.confidence, scored=scored, trees=trees, constituents=(carried, total)
    )
