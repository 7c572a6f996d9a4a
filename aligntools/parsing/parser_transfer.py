"""Training parsers for languages without treebanks from Python."""

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np

from aligntools.formats.annotation.conll import Conll
from aligntools.formats.inputs.annotation import PathLike, TaggedInput, read_annotated
from aligntools.formats.links.pharaoh import Links, parse_pharaoh, read_pharaoh
from aligntools.formats.text.bitext import IN_MEMORY, name_of
from aligntools.formats.text.text_settings import LinkReading, Loading
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import DataError, ModelError, UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Progress, Step, reporter
from aligntools.ground.run import Run
from aligntools.links.alignments import check_fit
from aligntools.parsing.parser import ParserModel
from aligntools.parsing.parser_training import checkpoint_in, in_parts
from aligntools.parsing.parsers import Parser
from aligntools.parsing.settings import Method, ParserReading, TagMap, TransferSettings
from aligntools.parsing.text import NoSentences, TaggedText, mapped_tags
from aligntools.parsing.transfer import learning
from aligntools.parsing.transfer.learning import TransferSource
from aligntools.parsing.transfer.projection import direct

if TYPE_CHECKING:
    from aligntools.ground.keywords import TransferringKeywords

#: Word alignments: a Pharaoh file, what its reader returned, or for each pair a line, positions, or an alignment.
AlignmentsInput: TypeAlias = PathLike | Links | Iterable[Any]

#: What to do instead of taking several parsers as they are.
ADVICE = "for several languages, train one on all their treebanks (`features=delexicalized`)"
#: Share of words with unknown tags above which a text has another tag set; share of aligned words worth a warning.
MOST_UNKNOWN, FEW = 0.5, 0.2
_log = logging.getLogger("aligntools")


def _read_links(alignments: AlignmentsInput, how: LinkReading) -> "tuple[Links, str]":
    """Return links of source and target words, and what messages call them."""
    if isinstance(alignments, Links):
        links, name = alignments, IN_MEMORY
    elif isinstance(alignments, (str, os.PathLike)):
        name = os.fspath(alignments)
        links = read_pharaoh(name, index_base=how.index_base)
    else:
        given, name = (getattr(one, "links", one) for one in alignments), "<alignments>"
        lines = (one if isinstance(one, str) else " ".join(f"{i}-{j}" for i, j in one) for one in given)
        data = "".join(line.rstrip("\n") + "\n" for line in lines).encode()
        links = parse_pharaoh(data, path=name, index_base=how.index_base)
    return links.inverted() if how.reverse else links, name


@taking(TransferSettings, ParserReading, LinkReading, Loading, Run)
def transfer_parser(
    source_model: Parser | PathLike | list[Parser | PathLike],
    source: TaggedInput | list[TaggedInput] | None = None,
    target: TaggedInput | list[TaggedInput] | None = None,
    alignments: AlignmentsInput | list[AlignmentsInput] | None = None,
    settings: TransferSettings | None = None,
    *,
    unlabeled: TaggedInput | None = None,
    direct_model: Parser | PathLike | None = None,
    checkpoint: PathLike | None = None,
    reading: ParserReading | None = None,
    run: Run | None = None,
    progress: Progress = None,
    **options: "Unpack[TransferringKeywords]",
) -> Parser:
    """Train a parser for a language without a treebank, through parallel text with tags and word alignments.

    The source parser gives a distribution over the trees of each target sentence, through the alignment; the target
    parser learns to agree with it, and to be certain on unlabeled text (Ma & Xia 2014, equations 8 to 16). The tags of
    both languages must be of one kind. Links count where both words have no other link.

    Parameters
    ----------
    source_model : Parser, str or path, or list of these
        Parser of the source language. With a list, of several languages, ``source``, ``target`` and ``alignments`` are
        lists as well, and all pairs are one training set.
    source, target : str, path, Tokens, Conll, or iterable of sentences with tags
        The two sides of parallel text. Not for ``direct``.
    alignments : str, path, Links, or iterable
        For each pair the links of source and target words: Pharaoh lines, pairs of positions, or `Alignment` objects.
    unlabeled : like ``target``, optional
        More text of the target language (only for ``full``).
    direct_model : Parser, str or path, optional
        A parser that learned without words (``features="delexicalized"``), to be used for edges that are not aligned
        (``full``) and to begin with (``projected``). None: the source parser without its words.
    settings, reading, run : TransferSettings, ParserReading, Run or None
        The options below, whole. Each likely edge of the target side has the labels that the source parser gives the
        aligned edge. Other processes do the work as for `train_parser`.
    checkpoint
        As for `train_parser`.
    progress : callable, True or None
        Called with a `Step` after each step of L-BFGS: stages ``train``, and ``entropy`` or ``shared`` (full), ``seed``
        and ``round 1``, ``round 2``, ... (projected), with the figures ``step`` and ``objective``; and at the end,
        stage ``trained``, with the numbers of ``pairs`` and ``unlabeled`` sentences, the share of words ``aligned``,
        the ``objective``, ``steps`` and ``message``, and the pairs that were ``skipped``, by reason; ``left_out``
        says so in sentences.
    **options

    Returns
    -------
    Parser

    Raises
    ------
    DataError
        When a text cannot be read, the texts do not fit together, or no pair is left to train on.
    ModelError
        When the source model is not a parser, or the checkpoint belongs to another training.
    UsageProblem
        When options exclude each other.

    Examples
    --------
    >>> import aligntools as at
    >>> english = at.train_parser("data/samples/en.conllu", labels=False)
    >>> pair = ["the_DET dog_NOUN sleeps_VERB"], ["der_DET Hund_NOUN schläft_VERB"]
    >>> german = at.transfer_parser(english, *pair, ["0-0 1-1 2-2"], l2=1.0)
    >>> german.parse("der_DET Hund_NOUN schläft_VERB").heads.tolist()
    [2, 3, 0]
    """
    given = Keywords("transfer_parser", options)
    settings, links = given.take(TransferSettings, settings), given.take(LinkReading)
    reading, run, verify = given.take(ParserReading, reading), given.take(Run, run), given.take(Loading).verify
    given.end()
    several = isinstance(source_model, (list, tuple))
    models = _each(source_model, several)
    texts = {"source": source, "target": target, "alignments": alignments}
    _check_texts(settings.method, len(models), several, texts, unlabeled, direct_model, run)
    parsers = [_loaded(model, verify) for model in models]
    if settings.method == "direct":
        return Parser(direct(_model(parsers[0]), settings.labels))
    own = [_each(text, several) for text in texts.values()]
    seed = None if direct_model is None else _loaded(direct_model, verify)
    reading = _tags_of(parsers if seed is None else [*parsers, seed], reading)

    def read(text: TaggedInput, otherwise: str, parser: Parser) -> "TaggedText":
        return _read_tagged(text, _name(text, otherwise), parser, reading)

    sides = [_side(parser, seed, one, read, links) for parser, *one in zip(parsers, *own, strict=True)]
    more = None if unlabeled is None else read(unlabeled, "<unlabeled>", parsers[0])
    about = {"column": reading.tags, "map": reading.mapping}
    tell = reporter(progress)

    def report(stage: str, number: int, objective: float) -> None:
        tell(Step(stage, number, figures={"stage": stage, "step": number, "objective": objective}))

    with pool_of(run.threads) as pool, in_parts(run, pool) as parts:
        try:
            model, found = learning.train(sides, more, settings, pool, report, checkpoint_in(checkpoint), about, parts)
        except NoSentences as problem:
            advice = "are these the alignments of these texts, source first?"
            text = f"no pair is left to train on: {problem}; {advice}"
            raise DataError(_name(own[1][0], "<target>"), None, text) from None
    if found["aligned"] < FEW:
        share = f"{100 * found['aligned']:.1f} %"
        _log.warning("only %s of the target words are aligned one to one; are these their alignments?", share)
    tell(Step("trained", figures=found))
    return Parser(model)


def _check_texts(
    method: Method, models: int, several: bool, texts: dict[str, Any], unlabeled: object, direct_model: object, run: Run
) -> None:
    """Raise UsageProblem where there are not the texts that a method needs."""
    if method == "direct":
        for name, text in {**texts, "unlabeled": unlabeled}.items():
            if text is not None:
                raise UsageProblem(f"`{name}` does not go with `method=direct`, which takes the source parser alone")
        if direct_model is not None:
            raise UsageProblem("`direct_model` does not go with `method=direct`; give that parser as the source parser")
        if models != 1:
            raise UsageProblem(f"`method=direct` takes one source parser; {ADVICE}")
        if run.asked:
            raise UsageProblem("`method=direct` learns nothing, so that there is nothing for `workers` to do")
        return
    if missing := [f"`{name}`" for name, text in texts.items() if text is None]:
        names = " and ".join(missing)
        raise UsageProblem(f"`method={method}` needs {names}: parallel text with tags, and its word alignments")
    for name, text in texts.items():
        if several and (count := len(_each(text, True))) != models:
            raise UsageProblem(f"{models} source parsers, but {count} of `{name}`; each source language has one")
    if unlabeled is not None and method == "projected":
        raise UsageProblem("`unlabeled` text goes with `method=full`")


def _model(parser: Parser, name: object = "<source model>") -> "ParserModel":
    """Return the model of a parser that was learned from trees; there is nothing to transfer of others."""
    if not isinstance(parser.model, ParserModel):
        raise ModelError(name, None, "was learned without trees; transfer needs a treebank's parser")
    return parser.model


def _loaded(model: Parser | PathLike, verify: bool) -> Parser:
    """Return a parser that can be transferred."""
    if isinstance(model, Parser):
        parser, name = model, "<source model>"
    else:
        parser, name = Parser.load(model, verify=verify), os.fspath(model)
    _model(parser, name)
    return parser


def _each(thing: Any, several: bool) -> list[Any]:
    """Return what there is of each source language."""
    if not several:
        return [thing]
    return [*thing] if isinstance(thing, (list, tuple)) else [thing]


def _tags_of(parsers: list[Parser], reading: ParserReading) -> ParserReading:
    """Return how tags are read: as is asked for, or as all source parsers learned them."""
    known = {(p.column if reading.column is None else reading.column, reading.map or p.map) for p in parsers}
    if len(known) > 1:
        shown = "; ".join(f"column {column}, map {map}" for column, map in sorted(known, key=str))
        raise UsageProblem(f"the source parsers learned from different tags ({shown}); all must know the same")
    column, map = known.pop()
    return replace(reading, column=column, map=map)


def _side(
    parser: Parser,
    seed: Parser | None,
    texts: list[Any],
    read: "Callable[[TaggedInput, str, Parser], TaggedText]",
    how: LinkReading,
) -> "TransferSource":
    """Read the parallel text of a source language."""
    source, target, alignments = texts
    left, right = read(source, "<source>", parser), read(target, "<target>", parser)
    links, name = _read_links(alignments, how)
    if len(left) != len(right):
        other = _name(source, "<source>")
        problem = f"{len(right)} sentences, but {other} has {len(left)}; both must have the same number"
        raise DataError(_name(target, "<target>"), None, problem)
    if len(links) != len(left):
        problem = f"{len(links)} lines of links, but {len(left)} sentence pairs"
        raise DataError(name, None, f"{problem}; there must be one for each, in the same order")
    check_fit(links, np.diff(left.offsets), np.diff(right.offsets), name, how.index_base)
    if len(left) and not len(links.pairs):
        raise DataError(name, None, "has no link, so there is nothing to transfer through")
    return TransferSource(_model(parser), left, right, links, None if seed is None else _model(seed))


def _name(text: object, otherwise: str) -> str:
    """Return what messages call a text."""
    return text.path if isinstance(text, Conll) else name_of(text, otherwise)


def _read_tagged(text: TaggedInput, name: str, parser: Parser, reading: ParserReading) -> "TaggedText":
    """Read text with tags as a parser sees them.

    Most words with tags that it has never seen are an error: the text has another tag set. Some are worth a warning.
    """
    read = read_annotated(text, reading)
    given = read.tags or []
    tags = mapped_tags(given, reading.mapping)
    unknown = np.flatnonzero(_model(parser).unknown_tags(tags))
    if len(unknown):
        counted = Counter(tags[k] for k in unknown.tolist())
        shown = " ".join(tag.decode("utf-8", "replace") for tag, _ in counted.most_common(5))
        first = int(np.searchsorted(read.offsets, unknown[0], side="right"))
        if len(unknown) > len(tags) * MOST_UNKNOWN:
            problem = f"{len(unknown)} of {len(tags)} words have tags that the source parser has never seen ({shown})"
            raise DataError(name, int(read.lines[first - 1]), f"{problem}; {_fitting(given, parser, reading.mapping)}")
        _log.warning(
            "%s: %d words have tags that the source parser has never seen (%s; first in sentence %d); see `map`",
            name,
            len(unknown),
            shown,
            first,
        )
    return TaggedText(read.words, tags, read.offsets)


def _fitting(tags: list[bytes], parser: Parser, map: TagMap) -> str:
    """Return which map would turn tags into those that a parser knows, or else which it knows."""
    if b"_" in set(tags) and tags.count(b"_") > len(tags) * MOST_UNKNOWN:
        return "_ is no tag; tag the text first"
    others: list[TagMap] = [other for other in ("none", "upos", "penn") if other != map]
    shares = {other: 1 - float(np.mean(_model(parser).unknown_tags(mapped_tags(tags, other)))) for other in others}
    best = max(shares, key=lambda other: shares[other])
    if shares[best] > 1 - MOST_UNKNOWN:
        return f"with `map={best}` it knows those of {100 * shares[best]:.0f} % of the words"
    names = sorted(list(_model(parser).vocabularies.tags.encoded())[1:])[:20]  # maybe of a damaged file
    known = b" ".join(names).decode("utf-8", "replace")
    return f"it knows {known}; tag both sides as its treebank is tagged"
