"""Training parsers from Python: on treebanks, and for languages without one."""

import contextlib
import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union, Unpack

import numpy as np
import numpy.typing as npt

from aligntools.api.annotated import IN_MEMORY, Annotated, Parsed, PathLike, as_bytes, lookup_of, read_annotated
from aligntools.api.engines import Where, engines_of, temporary_folder
from aligntools.api.parsing import Parser, TagMap, mapped_tags
from aligntools.api.progress import Progress, Step, reporter
from aligntools.api.threads import pool_of
from aligntools.api.treebanks import Treebank, read_treebanks
from aligntools.formats.class_lists import ClassList
from aligntools.formats.conll import Conll
from aligntools.ground.engines import Advice
from aligntools.ground.errors import DataError, ModelError, UsageProblem
from aligntools.parsing.settings import ParserSettings, TransferSettings

if TYPE_CHECKING:
    from aligntools.formats.pharaoh import Links
    from aligntools.ground.parallel import Pool
    from aligntools.parsing.learning.checkpoints import Checkpoint
    from aligntools.parsing.learning.parts import InParts
    from aligntools.parsing.parser import ParserModel
    from aligntools.parsing.text import TaggedText

Features: TypeAlias = Literal["full", "prefixes", "delexicalized"]
Method: TypeAlias = Literal["full", "direct", "projected"]
#: Text with tags: a file, what its reader returned, or sentences.
TaggedInput: TypeAlias = PathLike | Parsed | Iterable[Annotated]
#: Word alignments: a Pharaoh file, what its reader returned, or for each pair a line, positions, or an alignment.
AlignmentsInput: TypeAlias = Union[PathLike, "Links", Iterable[Any]]

_SETTINGS, _TRANSFER = ParserSettings(), TransferSettings()
_ADVICE = Advice(lost="the same command with the same --checkpoint goes on where it was")
_log = logging.getLogger("aligntools")


@contextlib.contextmanager
def _parts(where: Where, pool: "Pool") -> "Iterator[InParts | None]":
    """Start what trains by jobs over files, if that is asked for."""
    from aligntools.formats.stores import Store
    from aligntools.ground.kept import forget
    from aligntools.parsing.learning.parts import InParts

    engines, tmpdir = engines_of(where), where.get("tmpdir")
    if not engines.asked and tmpdir is None:
        yield None
        return
    try:
        with temporary_folder(tmpdir) as folder, engines.opened(pool, folder, advice=_ADVICE) as engine:
            yield InParts(Store(folder), engine, pool)
    finally:
        forget()


def _checkpoint(folder: PathLike | None) -> "Checkpoint | None":
    from aligntools.parsing.learning.checkpoints import Checkpoint

    return None if folder is None else Checkpoint(folder)


def train_parser(
    treebanks: Treebank | Iterable[Treebank],
    *,
    column: str | int = "upos",
    map: TagMap = "none",
    crossing: Literal["skip", "lift"] = "lift",
    roots: Literal["skip", "join"] = "join",
    min_length: int = _SETTINGS.min_length,
    max_length: int = _SETTINGS.max_length,
    l2: float = _SETTINGS.l2,
    labels: bool = _SETTINGS.labels,
    features: Features = "full",
    classes: "ClassList | PathLike | None" = None,
    projective: bool = _SETTINGS.projective,
    any_root: bool = _SETTINGS.any_root,
    min_count: int = _SETTINGS.min_count,
    bits: int = _SETTINGS.bits,
    iterations: int = _SETTINGS.iterations,
    tolerance: float = _SETTINGS.tolerance,
    checkpoint: PathLike | None = None,
    threads: "int | Pool | None" = None,
    progress: Progress = None,
    **where: Unpack[Where],
) -> Parser:
    """Train a dependency parser from a treebank, by maximum conditional likelihood.

    A log-linear model over trees that scores each edge by itself (McDonald, Crammer & Pereira 2005; Ma & Xia 2014,
    equation 6), and a classifier of labels.

    Parameters
    ----------
    treebanks : str, path, Conll, or iterable of these or of `Parse`
        Files in CoNLL-X or CoNLL-U with heads, or trees in memory.
    column : str or int
        Column of CoNLL with the tags, by name or number from 1.
    map : {"none", "upos", "penn"}
        Map tags to the 12 universal ones: from UPOS, or from the Penn Treebank's.
    crossing : {"skip", "lift"}
        Given trees with crossing edges: leave out, or lift the edges (Nivre & Nilsson 2005).
    roots : {"skip", "join"}
        Given trees with several roots: leave out, or put the others under the first.
    min_length, max_length : int
        Shorter and longer sentences are left out.
    l2 : float
        Half of it times the squared weights is added to the objective.
    labels : bool
        Learn labels too, where there are any.
    features : {"full", "prefixes", "delexicalized"}
        What edges are scored by: words and tags, word beginnings too, or tags alone.
    classes : ClassList, str, path or None
        Word classes of plain text (see `word_classes`), by which edges are scored too. The parser keeps them.
    projective : bool
        Learn over trees without crossing edges, or over all trees.
    any_root : bool
        Whether several words may be under the root.
    min_count : int
        Rarer words are unknown words.
    bits : int
        A feature template has at most ``2**bits`` weights.
    iterations : int
        Largest number of steps of L-BFGS.
    tolerance : float
        Stop when two steps in a row gain less than this share of the objective.
    checkpoint : str, path or None
        A folder for the state of the training; the same call continues from it.
    threads : int or None
        None: all cores. The result does not depend on it.
    progress : callable, True or None
        Called with a `Step` after each step of L-BFGS, stage ``train``, with the figures ``step`` and ``objective``;
        and at the end, stage ``trained``, with the numbers of ``sentences``, ``words``, ``features`` and ``steps``,
        the ``objective``, the ``message`` of L-BFGS, and the sentences that were ``skipped`` or ``changed``, by reason.
    **where
        ``workers``, ``cluster``, ``cluster_file`` and ``tmpdir``, as for `align_in_parts`: what evaluates the
        objective, by jobs over files; ``tmpdir`` alone does so in this process. The parser is the same, byte by byte.

    Returns
    -------
    Parser

    Raises
    ------
    DataError
        When a file cannot be read, has no tags or heads, or no sentence is left to train on.
    ModelError
        When the checkpoint belongs to another training.
    UsageProblem
        When an option makes no sense.

    Examples
    --------
    >>> import aligntools as at
    >>> parser = at.train_parser("data/samples/en.conllu", iterations=30)
    >>> tree = parser.parse("the_DET dog_NOUN sleeps_VERB")
    >>> tree.edges
    [(2, 1), (3, 2), (0, 3)]
    >>> tree.labels
    ('det', 'nsubj', 'root')
    """
    from aligntools.parsing.learning.treebank import NoSentences, train

    settings = ParserSettings(
        features=features, bits=bits, min_count=min_count, projective=projective, any_root=any_root,
        iterations=iterations, tolerance=tolerance, crossing=crossing, roots=roots, min_length=min_length,
        max_length=max_length, l2=l2, labels=labels,
    ).checked()  # fmt: skip
    trees, name = read_treebanks(treebanks, column)
    heads = np.concatenate([np.zeros(0, np.int32), *trees.heads])
    offsets = np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *trees.lengths]))])
    if len(heads) and np.all(heads < 0):
        raise DataError(name, None, "has no heads; column 7 is _ in every line")
    names = None if {*trees.labels} <= {b"_"} else trees.labels
    if names is None:
        settings = replace(settings, labels=False)
    tell, lookup = reporter(progress), lookup_of(classes, trees.words)

    def report(number: int, objective: float, _weights: npt.NDArray[np.float64]) -> None:
        tell(Step("train", number, figures={"stage": "train", "step": number, "objective": objective}))

    with pool_of(threads) as pool, _parts(where, pool) as parts:
        try:
            model, found = train(
                trees.words, mapped_tags(trees.tags, map), offsets, heads, names, settings, pool, report,
                _checkpoint(checkpoint), {"column": column, "map": map}, parts, lookup,
            )  # fmt: skip
        except NoSentences:
            problem = (
                "no sentence can be trained on; is it a treebank, and do the limits on length, crossing edges and"
                " roots leave any?"
            )
            raise DataError(name, None, problem) from None
    parser = Parser(model)
    figures = {
        "sentences": found.sentences, "words": found.words, "features": parser.n_features,
        "objective": found.fit.values[-1], "steps": len(found.fit.values) - 1, "message": found.fit.message,
        "skipped": found.skipped, "changed": found.changed,
        "first_skipped": None if found.first_skipped is None else trees.places[found.first_skipped],
    }  # fmt: skip
    tell(Step("trained", figures=figures))
    return parser


def _read_links(alignments: AlignmentsInput, index_base: int) -> "tuple[Links, str]":
    from aligntools.formats.pharaoh import Links, parse_pharaoh, read_pharaoh

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
    source_model: Parser | PathLike,
    source: TaggedInput | None = None,
    target: TaggedInput | None = None,
    alignments: AlignmentsInput | None = None,
    *,
    unlabeled: TaggedInput | None = None,
    method: Method = "full",
    weights: Literal["posterior", "score"] = "posterior",
    gamma: float = _TRANSFER.gamma,
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
    source_model : Parser, str or path
        Parser of the source language.
    source, target : str, path, Tokens, Conll, or iterable of sentences with tags
        The two sides of parallel text. Not for ``direct``.
    alignments : str, path, Links, or iterable
        For each pair the links of source and target words: Pharaoh lines, pairs of positions, or `Alignment` objects.
    unlabeled : like ``target``, optional
        More text of the target language (only for ``full``).
    method : {"full", "direct", "projected"}
        ``full``: transferred distributions; ``direct``: the source parser without its words; ``projected``: trees that
        the alignments support (McDonald, Petrov & Hall 2011).
    weights : {"posterior", "score"}
        What is transferred of an edge: its probability in its own sentence, or its score.
    gamma : float
        Weight of the entropy on unlabeled text.
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
    features, projective, any_root, min_count, bits, iterations, tolerance, checkpoint, threads
        As for `train_parser`.
    progress : callable, True or None
        Called with a `Step` after each step of L-BFGS: stages ``train`` and ``entropy`` (full), ``seed`` and
        ``round 1``, ``round 2``, ... (projected), with the figures ``step`` and ``objective``; and at the end, stage
        ``trained``, with the numbers of ``pairs`` and ``plain`` sentences, the share of words ``aligned``, the
        ``objective``, ``steps`` and ``message``, and the pairs that were ``skipped``, by reason.
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
        min_aligned=min_aligned, head=head, weights=weights, gamma=gamma, entropy=entropy, alpha=alpha, l2=l2,
        rounds=rounds, reward=reward, labels=labels,
    ).checked()  # fmt: skip
    texts = {"source": source, "target": target, "alignments": alignments}
    if method == "direct":
        if any(text is not None for text in (*texts.values(), unlabeled)):
            raise UsageProblem("the method 'direct' takes the source parser alone, without texts")
        if engines_of(where).asked:
            raise UsageProblem("the method 'direct' learns nothing, so that there is nothing for workers to do")
    elif missing := [name for name, text in texts.items() if text is None]:
        raise UsageProblem(f"the method '{method}' needs {' and '.join(missing)}")
    if unlabeled is not None and method == "projected":
        raise UsageProblem("unlabeled text is only for the method 'full'")
    parser = source_model if isinstance(source_model, Parser) else Parser.load(source_model)
    model = _log_linear(parser, source_model)
    if method == "direct":
        return Parser(direct(model, labels))
    assert source is not None
    assert target is not None
    assert alignments is not None
    column, map = parser.column if column is None else column, parser.map if map is None else map
    names = {"source": _name(source, "<source>"), "target": _name(target, "<target>")}
    left = _read_tagged(source, names["source"], parser, column, map, separator)
    right = _read_tagged(target, names["target"], parser, column, map, separator)
    links, links_name = _read_links(alignments, index_base)
    _check_pairs(left, right, links, names, links_name, index_base)
    plain = None
    if unlabeled is not None:
        plain = _read_tagged(unlabeled, _name(unlabeled, "<unlabeled>"), parser, column, map, separator)
    tell = reporter(progress)

    def report(stage: str, number: int, objective: float) -> None:
        tell(Step(stage, number, figures={"stage": stage, "step": number, "objective": objective}))

    with pool_of(threads) as pool, _parts(where, pool) as parts:
        try:
            model, found = learning.train(
                model, left, right, links, plain, settings, pool, report, _checkpoint(checkpoint),
                {"column": column, "map": map}, parts,
            )  # fmt: skip
        except learning.NoPairs:
            problem = (
                "no pair is left after the limits on length and on the share of target words that are aligned one to"
                " one; are these the alignments of these texts, source first?"
            )
            raise DataError(names["target"], None, problem) from None
    fit = found.fits[-1]
    figures = {
        "pairs": found.pairs, "plain": found.plain, "words": found.words, "aligned": found.aligned,
        "objective": fit.values[-1], "steps": len(fit.values) - 1, "message": fit.message, "skipped": found.skipped,
    }  # fmt: skip
    tell(Step("trained", figures=figures))
    return Parser(model)


def _log_linear(parser: Parser, source: object) -> "ParserModel":
    """Return the model of a parser that was learned from trees; there is nothing to transfer of others."""
    from aligntools.parsing.parser import ParserModel

    if not isinstance(parser.model, ParserModel):
        name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else "<source model>"
        raise ModelError(name, None, "was learned without trees (--unsupervised); transfer needs a treebank's parser")
    return parser.model


def _name(text: object, otherwise: str) -> str:
    """Return what messages call a text."""
    if isinstance(text, (str, os.PathLike)):
        return os.fspath(text)
    return text.path if isinstance(text, Conll) else otherwise


def _read_tagged(
    text: TaggedInput,
    name: str,
    parser: Parser,
    column: str | int,
    map: TagMap,
    separator: str | bytes | None,
) -> "TaggedText":
    """Read text with tags as a parser sees them; log a warning about tags that it has never seen."""
    from aligntools.parsing.text import TaggedText

    read = read_annotated(text, column, "auto", as_bytes(separator))
    tags = mapped_tags(read.tags or [], map)
    unknown = np.flatnonzero(parser.model.unknown_tags(tags))
    if len(unknown):
        sentence = int(np.searchsorted(read.offsets, unknown[0], side="right"))
        shown = " ".join(sorted({tags[k].decode("utf-8", "replace") for k in unknown.tolist()})[:5])
        _log.warning(
            "%s: %d words have tags that the source parser has never seen (%s; first in sentence %d); see --map",
            name, len(unknown), shown, sentence,
        )  # fmt: skip
    return TaggedText(read.words, tags, read.offsets)


def _check_pairs(
    source: "TaggedText", target: "TaggedText", links: "Links", names: dict[str, str], path: str, index_base: int
) -> None:
    """Raise DataError where the two sides and their links do not fit together."""
    from aligntools.formats.pharaoh import check_range

    if len(source) != len(target):
        problem = f"{len(target)} sentences, but {names['source']} has {len(source)}; both must have the same number"
        raise DataError(names["target"], None, problem)
    if len(links) != len(source):
        raise DataError(path, None, f"{len(links)} lines of links, but {len(source)} sentence pairs")
    lengths = np.diff(source.offsets), np.diff(target.offsets)
    check_range(links, *lengths, path=path, index_base=index_base)
