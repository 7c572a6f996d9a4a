"""Training parsers from Python: on treebanks, and for languages without one."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt

from aligntools.api.given.annotated import PathLike, lookup_of
from aligntools.api.parse.parsing import Parser, TagMap, mapped_tags
from aligntools.api.parse.treebanks import Treebank, read_treebanks
from aligntools.api.running.engines import Where, opened, temporary_folder
from aligntools.api.running.progress import Progress, Step, reporter
from aligntools.api.running.threads import pool_of
from aligntools.formats.annotation.class_lists import ClassList
from aligntools.ground.engines import Advice
from aligntools.ground.errors import DataError
from aligntools.ground.running import Run
from aligntools.parsing.settings import ParserSettings

if TYPE_CHECKING:
    from aligntools.ground.parallel import Pool
    from aligntools.parsing.learning.checkpoints import Checkpoint
    from aligntools.parsing.learning.parts import InParts

Features: TypeAlias = Literal["full", "prefixes", "delexicalized"]

_SETTINGS = ParserSettings()
_ADVICE = Advice(lost="the same command with the same --checkpoint goes on where it was")


@contextlib.contextmanager
def in_parts(where: Where, pool: "Pool") -> "Iterator[InParts | None]":
    """Start what trains by jobs over files, if that is asked for."""
    from aligntools.ground.kept import forget
    from aligntools.parsing.learning.parts import InParts
    from aligntools.store.stores import Store

    run = Run(**where).checked()
    if not run.asked and run.tmpdir is None:
        yield None
        return
    try:
        with temporary_folder(run.tmpdir) as folder, opened(run, pool, folder, advice=_ADVICE) as engine:
            yield InParts(Store(folder), engine, pool)
    finally:
        forget()


def checkpoint_in(folder: PathLike | None) -> "Checkpoint | None":
    """Return what keeps the state of a training in a folder."""
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

    with pool_of(threads) as pool, in_parts(where, pool) as parts:
        try:
            model, found = train(
                trees.words, mapped_tags(trees.tags, map), offsets, heads, names, settings, pool, report,
                checkpoint_in(checkpoint), {"column": column, "map": map}, parts, lookup,
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
