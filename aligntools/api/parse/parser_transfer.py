"""Training parsers for languages without treebanks from Python."""

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union, Unpack

import numpy as np

from aligntools.api.convert.links import check_fit
from aligntools.api.given.annotated import Annotated, Parsed, PathLike, read_annotated
from aligntools.api.given.naming import IN_MEMORY
from aligntools.api.parse.parser_training import Features, checkpoint_in, in_parts
from aligntools.api.parse.parsing import Parser, TagMap, mapped_tags
from aligntools.api.running.engines import Where
from aligntools.api.running.progress import Progress, Step, reporter
from aligntools.api.running.threads import pool_of
from aligntools.formats.annotation.conll import Conll
from aligntools.formats.text.reading import TagReading
from aligntools.ground.errors import DataError, ModelError, UsageProblem
from aligntools.ground.running import Run
from aligntools.parsing.settings import TransferSettings

if TYPE_CHECKING:
    from aligntools.formats.links.pharaoh import Links
    from aligntools.ground.parallel import Pool
    from aligntools.parsing.parser import ParserModel
    from aligntools.parsing.text import TaggedText
    from aligntools.parsing.transfer.learning import Side

Method: TypeAlias = Literal["full", "direct", "projected"]
#: Text with tags: a file, what its reader returned, or sentences.
TaggedInput: TypeAlias = PathLike | Parsed | Iterable[Annotated]
#: Word alignments: a Pharaoh file, what its reader returned, or for each pair a line, positions, or an alignment.
AlignmentsInput: TypeAlias = Union[PathLike, "Links", Iterable[Any]]

_TRANSFER = TransferSettings()
#: What to do instead of taking several parsers as they are.
ADVICE = "for several languages, train one on all their treebanks (train-parser --features delexicalized)"
#: Share of words with unknown tags above which a text has another tag set; share of aligned words worth a warning.
MOST_UNKNOWN, FEW = 0.5, 0.2
_log = logging.getLogger("aligntools")


def _read_links(alignments: AlignmentsInput, index_base: int) -> "tuple[Links, str]":
    from aligntools.formats.links.pharaoh import Links, parse_pharaoh, read_pharaoh

    if isinstance(alignments, Links):
        return alignments, IN_MEMORY
    if isinstance(alignments, (str, os.PathLike)):
        path = os.fspath(alignments)
        return read_pharaoh(path, index_base=index_base), path
    lines = []
    for links in alignments:
        given = getattr(links, "links", links)
        lines.append(given if isinstance(given, str) else " ".join(f"{i}-{j}" for i, j in given))
    data = "".join(line.rstrip("\n") + "\n" for line in lines).encode()
    return parse_pharaoh(data, path="<alignments>", index_base=index_base), "<alignments>"


def transfer_parser(
    source_model: Parser | PathLike | list[Parser | PathLike],
    source: TaggedInput | list[TaggedInput] | None = None,
    target: TaggedInput | list[TaggedInput] | None = None,
    alignments: AlignmentsInput | list[AlignmentsInput] | None = None,
    *,
    unlabeled: TaggedInput | None = None,
    direct_model: Parser | PathLike | None = None,
    method: Method = "full",
    weights: Literal["posterior", "score"] = "posterior",
    gamma: float = _TRANSFER.gamma,
    direct_share: float = _TRANSFER.direct_share,
    entropy: Literal["shannon", "renyi"] = "shannon",
    alpha: float = _TRANSFER.alpha,
    rounds: int = _TRANSFER.rounds,
    reward: float = _TRANSFER.reward,
    labels: bool = _TRANSFER.labels,
    min_length: int = _TRANSFER.min_length,
    max_length: int = _TRANSFER.max_length,
    min_aligned: float = _TRANSFER.min_aligned,
    head: int | None = _TRANSFER.head,
    l2: float = _TRANSFER.l2,
    column: str | int | None = None,
    map: TagMap | None = None,
    separator: str | bytes | None = None,
    index_base: int = 0,
    reverse: bool = False,
    features: Features = "full",
    projective: bool = _TRANSFER.projective,
    any_root: bool = _TRANSFER.any_root,
    min_count: int = _TRANSFER.min_count,
    bits: int = _TRANSFER.bits,
    iterations: int = _TRANSFER.iterations,
    tolerance: float = _TRANSFER.tolerance,
    checkpoint: PathLike | None = None,
    threads: "int | Pool | None" = None,
    progress: Progress = None,
    **where: Unpack[Where],
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
    method : {"full", "direct", "projected"}
        ``full``: transferred distributions; ``direct``: the source parser without its words; ``projected``: trees that
        the alignments support (McDonald, Petrov & Hall 2011).
    weights : {"posterior", "score"}
        What is transferred of an edge: its probability in its own sentence, or its score.
    gamma : float
        Weight of the entropy on unlabeled text.
    direct_share : float
        Above 0: what unlabeled text teaches instead, the trees that the parser so far and the source parser without
        its words find together, with this share of the latter.
    entropy : {"shannon", "renyi"}
    alpha : float
        Order of Rényi's entropy.
    rounds : int
        How often ``projected`` chooses its trees again.
    reward : float
        What ``projected`` adds to the score of an edge that the source tree has too.
    labels : bool
        Learn labels too, where the source parser has any: each likely edge of the target side has the labels that the
        source parser gives the aligned edge.
    min_length, max_length : int
        Pairs with a shorter or longer sentence are left out.
    min_aligned : float
        Pairs with a smaller share of target words aligned one to one are left out.
    head : int or None
        Use only the first pairs of those that are left.
    l2 : float
        Half of it times the squared weights is added to the objective.
    column : str, int or None
        Column of CoNLL with the tags. None: the one that the source parser learned from.
    map : {"none", "upos", "penn"} or None
        Map tags to the 12 universal ones. None: as the source parser does.
    separator : str or None
        Between word and tag. None: ``_`` or ``/``, whichever the text has.
    index_base : int
        0 or 1: the number of the first word in the alignments.
    reverse : bool
        The alignments are target-source.
    features, projective, any_root, min_count, bits, iterations, tolerance, checkpoint, threads
        As for `train_parser`.
    progress : callable, True or None
        Called with a `Step` after each step of L-BFGS: stages ``train``, and ``entropy`` or ``plain`` (full), ``seed``
        and ``round 1``, ``round 2``, ... (projected), with the figures ``step`` and ``objective``; and at the end,
        stage ``trained``, with the numbers of ``pairs`` and ``plain`` sentences, the share of words ``aligned``, the
        ``objective``, ``steps`` and ``message``, and the pairs that were ``skipped``, by reason; ``left_out``
        says so in sentences.
    **where
        As for `train_parser`.

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
    from aligntools.parsing.transfer import learning
    from aligntools.parsing.transfer.projection import direct

    settings = TransferSettings(
        features=features, bits=bits, min_count=min_count, projective=projective, any_root=any_root,
        iterations=iterations, tolerance=tolerance, method=method, min_length=min_length, max_length=max_length,
        min_aligned=min_aligned, head=head, weights=weights, gamma=gamma, direct_share=direct_share,
        entropy=entropy, alpha=alpha, l2=l2, rounds=rounds, reward=reward, labels=labels,
    ).checked()  # fmt: skip
    texts = {"source": source, "target": target, "alignments": alignments}
    _check_texts(method, texts, unlabeled, direct_model, where)
    several = isinstance(source_model, (list, tuple))
    parsers = [_loaded(model) for model in _each(source_model, several)]
    if method == "direct":
        if len(parsers) != 1:
            raise UsageProblem(f"the method 'direct' takes one source parser; {ADVICE}")
        return Parser(direct(_model(parsers[0]), labels))
    given = [_each(text, several) for text in texts.values()]
    if several and (wrong := [name for name, own in zip(texts, given, strict=True) if len(own) != len(parsers)]):
        raise UsageProblem(f"{len(parsers)} source parsers need as many of {' and '.join(wrong)}, in the same order")
    seed = None if direct_model is None else _loaded(direct_model)
    column, map = tags = _tags_of(parsers if seed is None else [*parsers, seed], column, map)

    def read(text: TaggedInput, otherwise: str, parser: Parser) -> "TaggedText":
        return _read_tagged(text, _name(text, otherwise), parser, tags, separator)

    sides = [_side(parser, seed, own, read, index_base, reverse) for parser, *own in zip(parsers, *given, strict=True)]
    plain = None if unlabeled is None else read(unlabeled, "<unlabeled>", parsers[0])
    tell = reporter(progress)

    def report(stage: str, number: int, objective: float) -> None:
        tell(Step(stage, number, figures={"stage": stage, "step": number, "objective": objective}))

    with pool_of(threads) as pool, in_parts(where, pool) as parts:
        try:
            model, found = learning.train_from(
                sides, plain, settings, pool, report, checkpoint_in(checkpoint), {"column": column, "map": map}, parts
            )
        except learning.NoPairs as problem:
            reasons = "; ".join(learning.explained(problem.skipped, problem.given, settings)) or "there is none"
            advice = "are these the alignments of these texts, source first?"
            text = f"no pair is left to train on: {reasons}; {advice}"
            raise DataError(_name(given[1][0], "<target>"), None, text) from None
    if found.aligned < FEW:
        share = f"{100 * found.aligned:.1f} %"
        _log.warning("only %s of the target words are aligned one to one; are these their alignments?", share)
    fit = found.fits[-1]
    figures = {
        "pairs": found.pairs, "plain": found.plain, "words": found.words, "aligned": found.aligned,
        "objective": fit.values[-1], "steps": len(fit.values) - 1, "message": fit.message, "skipped": found.skipped,
        "left_out": learning.explained(found.skipped, found.given, settings),
    }  # fmt: skip
    tell(Step("trained", figures=figures))
    return Parser(model)


def _check_texts(method: Method, texts: dict[str, Any], unlabeled: object, direct_model: object, where: Where) -> None:
    """Raise UsageProblem where there are not the texts that a method needs."""
    if method == "direct":
        if any(text is not None for text in (*texts.values(), unlabeled)):
            raise UsageProblem("the method 'direct' takes the source parser alone, without texts")
        if direct_model is not None:
            raise UsageProblem("a direct model is for the other methods; with 'direct', give it as the source model")
        if Run(**where).checked().asked:
            raise UsageProblem("the method 'direct' learns nothing, so that there is nothing for workers to do")
    elif missing := [name for name, text in texts.items() if text is None]:
        raise UsageProblem(f"the method '{method}' needs {' and '.join(missing)}")
    if unlabeled is not None and method == "projected":
        raise UsageProblem("unlabeled text is only for the method 'full'")


def _model(parser: Parser, name: object = "<source model>") -> "ParserModel":
    """Return the model of a parser that was learned from trees; there is nothing to transfer of others."""
    from aligntools.parsing.parser import ParserModel

    if not isinstance(parser.model, ParserModel):
        raise ModelError(name, None, "was learned without trees (--unsupervised); transfer needs a treebank's parser")
    return parser.model


def _loaded(model: Parser | PathLike) -> Parser:
    """Return a parser that can be transferred."""
    if isinstance(model, Parser):
        parser, name = model, "<source model>"
    else:
        parser, name = Parser.load(model), os.fspath(model)
    _model(parser, name)
    return parser


def _each(thing: Any, several: bool) -> list[Any]:
    """Return what there is of each source language."""
    if not several:
        return [thing]
    return [*thing] if isinstance(thing, (list, tuple)) else [thing]


def _tags_of(parsers: list[Parser], column: str | int | None, map: TagMap | None) -> tuple[str | int, TagMap]:
    """Return the column and the map of tags: what is asked for, or what all source parsers learned from."""
    known = {(parser.column if column is None else column, parser.map if map is None else map) for parser in parsers}
    if len(known) > 1:
        shown = "; ".join(f"column {column}, map {map}" for column, map in sorted(known, key=str))
        raise UsageProblem(f"the source parsers learned from different tags ({shown}); all must know the same")
    return known.pop()


def _side(
    parser: Parser, seed: Parser | None, texts: list[Any],
    read: "Callable[[TaggedInput, str, Parser], TaggedText]", index_base: int, reverse: bool,
) -> "Side":  # fmt: skip
    """Read the parallel text of a source language."""
    from aligntools.parsing.transfer.learning import Side

    source, target, alignments = texts
    left, right = read(source, "<source>", parser), read(target, "<target>", parser)
    links, name = _read_links(alignments, index_base)
    if reverse:
        links = links.inverted()
    if len(left) != len(right):
        other = _name(source, "<source>")
        problem = f"{len(right)} sentences, but {other} has {len(left)}; both must have the same number"
        raise DataError(_name(target, "<target>"), None, problem)
    if len(links) != len(left):
        problem = f"{len(links)} lines of links, but {len(left)} sentence pairs"
        raise DataError(name, None, f"{problem}; one for each, in the same order, is wanted")
    check_fit(links, np.diff(left.offsets), np.diff(right.offsets), name, index_base)
    if len(left) and not len(links.pairs):
        raise DataError(name, None, "has no link, so there is nothing to transfer through")
    return Side(_model(parser), left, right, links, None if seed is None else _model(seed))


def _name(text: object, otherwise: str) -> str:
    """Return what messages call a text."""
    if isinstance(text, (str, os.PathLike)):
        return os.fspath(text)
    return text.path if isinstance(text, Conll) else otherwise


def _read_tagged(
    text: TaggedInput,
    name: str,
    parser: Parser,
    how: tuple[str | int, TagMap],
    separator: str | bytes | None,
) -> "TaggedText":
    """Read text with tags as a parser sees them.

    Most words with tags that it has never seen are an error: the text has another tag set. Some are worth a warning.
    """
    from aligntools.parsing.text import TaggedText

    column, map = how
    read = read_annotated(text, TagReading(separator=separator, column=column))
    given = read.tags or []
    tags = mapped_tags(given, map)
    unknown = np.flatnonzero(_model(parser).unknown_tags(tags))
    if len(unknown):
        counted = Counter(tags[k] for k in unknown.tolist())
        shown = " ".join(tag.decode("utf-8", "replace") for tag, _ in counted.most_common(5))
        first = int(np.searchsorted(read.offsets, unknown[0], side="right"))
        if len(unknown) > len(tags) * MOST_UNKNOWN:
            problem = f"{len(unknown)} of {len(tags)} words have tags that the source parser has never seen ({shown})"
            raise DataError(name, int(read.lines[first - 1]), f"{problem}; {_fitting(given, parser, map)}")
        _log.warning(
            "%s: %d words have tags that the source parser has never seen (%s; first in sentence %d); see --map",
            name, len(unknown), shown, first,
        )  # fmt: skip
    return TaggedText(read.words, tags, read.offsets)


def _fitting(tags: list[bytes], parser: Parser, map: TagMap) -> str:
    """Say which map would turn tags into those that a parser knows, or else which it knows."""
    if b"_" in set(tags) and tags.count(b"_") > len(tags) * MOST_UNKNOWN:
        return "_ is no tag; tag the text first"
    others: list[TagMap] = [other for other in ("none", "upos", "penn") if other != map]
    shares = {other: 1 - float(np.mean(_model(parser).unknown_tags(mapped_tags(tags, other)))) for other in others}
    best = max(shares, key=lambda other: shares[other])
    if shares[best] > 1 - MOST_UNKNOWN:
        return f"with --map {best} it knows those of {100 * shares[best]:.0f} % of the words"
    known = " ".join(sorted(_model(parser).vocabularies.tags.words()[1:])[:20])
    return f"it knows {known}; tag both sides as its treebank is tagged"
