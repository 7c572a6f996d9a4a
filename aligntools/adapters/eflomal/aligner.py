"""eflomal's ``Aligner`` and ``align``: what they take and write, done by our models."""

import contextlib
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import IO, Any, TypeAlias

from aligntools.adapters import best_asked
from aligntools.adapters.eflomal.priors import read_priors, to_eflomal_priors_file
from aligntools.adapters.eflomal.text import (
    MAX_LENGTH,
    cutter,
    lines_of,
    read_numbered,
    read_numbered_priors,
    to_eflomal_text_file,
)
from aligntools.aligning.aligner_training import train_with
from aligntools.aligning.alignments import Alignments
from aligntools.aligning.outputs import jump_counts, link_costs
from aligntools.aligning.priors import WeightedPriors
from aligntools.aligning.settings import AlignerSettings, PriorWeights
from aligntools.formats.links.pharaoh import Links, concatenate, format_pharaoh
from aligntools.formats.links.priors import Priors
from aligntools.formats.links.priors import read_priors as read_prior_lines
from aligntools.formats.opening import files as named_files
from aligntools.formats.opening.files import writing_for_holders
from aligntools.formats.text.bitext import TextLines, read_side
from aligntools.formats.text.corpus import Bitext, paired
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import pool_of, threads_of
from aligntools.ground.progress import Progress
from aligntools.ground.run import Run

_log = logging.getLogger("aligntools")
#: Our models by eflomal's numbers.
MODELS: dict[int, str] = {1: "ibm1", 2: "hmm", 3: "fertility"}
#: eflomal's default probability of no link, which stands for ours.
NULL_PRIOR = 0.2
#: Jumps that priors count for, all together.
JUMP_COUNTS = 20
#: The results, and where each goes.
OUTPUTS = ("links_forward", "links_reverse", "scores_forward", "scores_reverse", "statistics")
Outputs: TypeAlias = dict[str, str | None]


@dataclass(eq=False, repr=False)
class Aligner:
    r"""Aligns as ``eflomal.Aligner`` does: the same arguments, files and order of links; the models are ours.

    Parameters
    ----------
    model : int
        1 is IBM 1, 2 the HMM, 3 the fertility model with all its views: our default.
    score_model : int
        What scores are made of: 1 words, 2 jumps too, 3 fertilities too; 0 as ``model``.
    n_iterations, n_samplers, rel_iterations
        Taken and without effect: our training chooses its iterations by the size of the text, and does not average
        samplers.
    null_prior : float
        Probability of no link, on eflomal's scale: 0.2, its default, is our own default of 0.08, and so in proportion.
    source_prefix_len, source_suffix_len, target_prefix_len, target_suffix_len : int
        Cut words to so many first, or last, letters; 0 leaves them whole.

    Examples
    --------
    >>> from aligntools.adapters import eflomal
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("r") as links:
    ...     eflomal.Aligner().align(["das haus", "das buch"], ["the house", "the book"], links.name)
    ...     links.read()
    '0-0 1-1\n0-0 1-1\n'
    """

    model: int = 3
    score_model: int = 0
    n_iterations: tuple[int, int, int] | None = None
    n_samplers: int = 3
    rel_iterations: float = 1.0
    null_prior: float = 0.2
    source_prefix_len: int = 0
    source_suffix_len: int = 0
    target_prefix_len: int = 0
    target_suffix_len: int = 0

    def prepare_files(
        self,
        src_input_file: Iterable[str],
        src_output_file: IO[bytes],
        trg_input_file: Iterable[str],
        trg_output_file: IO[bytes],
        priors_input_file: Iterable[str] | None,
        priors_output_file: IO[str] | None,
    ) -> None:
        """Write lines of text and priors to open files in the form that the ``eflomal`` program reads.

        ValueError when the sides do not have the same number of lines, or a line of the priors is none.
        """
        source, n_source, _ = to_eflomal_text_file(
            src_input_file, src_output_file, self.source_prefix_len, self.source_suffix_len
        )
        target, n_target, _ = to_eflomal_text_file(
            trg_input_file, trg_output_file, self.target_prefix_len, self.target_suffix_len
        )
        if n_source != n_target:
            raise ValueError(f"Mismatched file sizes: {n_source} source and {n_target} target sentences")
        if priors_input_file:
            to_eflomal_priors_file(read_priors(priors_input_file), source, target, priors_output_file)  # type: ignore

    def align(
        self,
        src_input: Iterable[str],
        trg_input: Iterable[str],
        links_filename_fwd: str | None = None,
        links_filename_rev: str | None = None,
        scores_filename_fwd: str | None = None,
        scores_filename_rev: str | None = None,
        priors_input: Iterable[str] | None = None,
        quiet: bool = True,
        use_gdb: bool = False,
    ) -> None:
        """Align text: train both directions together and write each one's links and scores.

        src_input, trg_input: Lines: files, generators, lists. Each is read once, the source first. Words are what
            ``str.split`` gives, in lower case.
        links_filename_fwd, links_filename_rev: Where links go, source-target both: target words choose source words,
            and the other way round; by the position of the word that chooses. A file that is there is written in place.
        scores_filename_fwd, scores_filename_rev: Where a number for each pair goes: the mean over the target (source)
            words of the negative logarithm of lexical probability, jumps and fertility ratio, for the best link; ``-0``
            for a blank pair.
        priors_input: Lines of priors. They add to the Dirichlet parameters of our models.
        quiet: False logs what is done.
        use_gdb: Taken and without effect.
        Raises ValueError when the sides do not have the same number of lines, a line of the priors is none, or an
        output is a file that is read.
        """
        files = links_filename_fwd, links_filename_rev, scores_filename_fwd, scores_filename_rev
        outputs: Outputs = dict(zip(OUTPUTS, files, strict=False))
        read = {"src_input": src_input, "trg_input": trg_input, "priors_input": priors_input}
        with _as_value_errors():
            _keep_apart({name: getattr(file, "name", None) for name, file in read.items()}, outputs)
            align_lines(self, src_input, trg_input, outputs, priors_input, quiet)


def align_lines(
    aligner: Aligner,
    source: Iterable[str],
    target: Iterable[str],
    outputs: Outputs,
    priors: Iterable[str] | None = None,
    quiet: bool = True,
    progress: Progress = None,
    names: tuple[str, str, str] = ("<source>", "<target>", "<priors>"),
) -> None:
    """Do what `Aligner.align` does; errors are those of this project, and call the texts by these names."""
    own, cuts = aligner, [(aligner.source_prefix_len, aligner.source_suffix_len)]
    cuts.append((aligner.target_prefix_len, aligner.target_suffix_len))
    check_models(own.model, own.score_model)
    # the source is read, then the target, even where they are iterators that depend on each other
    (left, left_words), (right, right_words) = (
        read_side(TextLines(lines_of(lines, False, *cut), name), strict=False)
        for lines, cut, name in zip((source, target), cuts, names[:2], strict=True)
    )
    if len(left) != len(right):
        counts = f"Mismatched file sizes: {len(left)} lines, and {names[1]} has {len(right)}"
        raise DataError(names[0], min(len(left), len(right)) + 1, counts)
    bitext = paired(left, right, left_words, right_words, MAX_LENGTH)
    if told := bitext.skipped.summary():
        _log.info("pairs without links: %s", told)
    known = None
    if priors is not None:  # words are cut as the text's are
        cut = {"s": cutter(*cuts[0]), "t": cutter(*cuts[1])}
        known = read_prior_lines(TextLines(_cut_priors(priors, cut) if any(cut.values()) else priors, names[2]))
    how: Any = {"priors": known, "quiet": quiet, "progress": progress}
    run(bitext, outputs, model=own.model, score_model=own.score_model, null_prior=own.null_prior, **how)


def align(
    source_filename: str,
    target_filename: str,
    links_filename_fwd: str | None = None,
    links_filename_rev: str | None = None,
    statistics_filename: str | None = None,
    scores_filename_fwd: str | None = None,
    scores_filename_rev: str | None = None,
    priors_filename: str | None = None,
    model: int = 3,
    score_model: int = 0,
    n_iterations: tuple[int, int, int] | None = None,
    n_samplers: int = 1,
    quiet: bool = True,
    rel_iterations: float = 1.0,
    null_prior: float = 0.2,
    use_gdb: bool = False,
) -> None:
    """Align files that `write_text` wrote; what our ``eflomal`` program does.

    Where the files hold the words too, as `write_text` adds them, all that our models make of spellings is used.
    ``statistics_filename`` gets the jumps of the forward links. The other arguments are those of `Aligner` and
    `Aligner.align`; ``priors_filename`` is a file of numbers, as `to_eflomal_priors_file` writes it.

    Raises ValueError when the files do not belong together or are no such files.
    """
    files = links_filename_fwd, links_filename_rev, scores_filename_fwd, scores_filename_rev, statistics_filename
    outputs: Outputs = dict(zip(OUTPUTS, files, strict=True))
    read = {"source_filename": source_filename, "target_filename": target_filename, "priors_filename": priors_filename}
    with _as_value_errors():
        _keep_apart(read, outputs)
        align_numbered(
            source_filename, target_filename, outputs, priors_filename, model, score_model, null_prior, quiet
        )


def align_numbered(
    source: str,
    target: str,
    outputs: Outputs,
    priors: str | None = None,
    model: int = 3,
    score_model: int = 0,
    null_prior: float = 0.2,
    quiet: bool = True,
    progress: Progress = None,
) -> None:
    """Do what `align` does; errors are those of this project."""
    check_models(model, score_model)
    (left, s_words, s_known), (right, t_words, t_known) = read_numbered(source), read_numbered(target)
    if len(left) != len(right):
        raise DataError(source, 1, f"{len(left)} sentences, and {target} has {len(right)}")
    bitext = paired(left, right, s_words, t_words, MAX_LENGTH)
    known = None if priors is None else read_numbered_priors(priors, bitext)
    how: Any = {"priors": known, "quiet": quiet, "spelled": s_known and t_known, "progress": progress}
    run(bitext, outputs, model=model, score_model=score_model, null_prior=null_prior, **how)


@contextlib.contextmanager
def _as_value_errors() -> Iterator[None]:
    """Raise errors of data as eflomal's callers know them."""
    try:
        yield
    except (DataError, UsageProblem) as error:
        raise ValueError(str(error)) from error


def _keep_apart(read: dict[str, Any], outputs: Outputs) -> None:
    """Refuse outputs that are files which are read: they are written in place."""

    def named(files: dict[str, Any]) -> list[named_files.Named]:
        return [named_files.Named(name, path) for name, path in files.items() if isinstance(path, str)]

    named_files.check(named(read), [file for file in named(outputs) if not file.standard])


def _cut_priors(lines: Iterable[str], cut: dict[str, Any]) -> Iterator[str]:
    sides = {"LEX": "st", "FERF": "s", "FERR": "t"}
    for line in lines:
        kind, *fields = line.split("\t")
        for k, side in enumerate(sides.get(kind, "")[: len(fields)]):
            if cut[side] and fields[k] != "<NULL>":
                fields[k] = cut[side](fields[k].lower())
        yield "\t".join([kind, *fields])


def check_models(model: int, score_model: int) -> None:
    """Refuse numbers of models that do not exist."""
    if model not in MODELS or score_model not in (0, *MODELS):
        raise ValueError(f"model is 1, 2 or 3 and score_model one of these or 0, not {model} and {score_model}")


def run(
    bitext: Bitext,
    outputs: Outputs,
    *,
    model: int,
    score_model: int,
    null_prior: float,
    priors: Priors | None = None,
    quiet: bool = True,
    spelled: bool = True,
    progress: Progress = None,
) -> None:
    """Train on a text and write the files that `outputs` names; ``spelled``: the vocabularies hold words.

    Where the environment asks for the best links, each direction's file has those that the network decides on.
    """
    level = logging.DEBUG if quiet else logging.INFO
    with contextlib.ExitStack() as stack:
        # before the work, so that what cannot be written is known at once
        paths = {name: path for name, path in outputs.items() if path is not None}
        files = {name: stack.enter_context(writing_for_holders(path)) for name, path in paths.items()}
        if not len(bitext):
            return
        pool = stack.enter_context(pool_of(threads_of()))
        _log.log(level, "aligning %d sentence pairs with model %d", len(bitext), model)
        scores = not set(files) <= {"links_forward", "links_reverse"}
        best = best_asked()
        p_null = min(max(AlignerSettings.p_null * null_prior / NULL_PRIOR, 0.0), 0.999)
        settings = replace(AlignerSettings(MODELS[model], best=best), p_null=p_null)
        if not spelled:
            settings = replace(settings, views=(0,), look_alike=False)
        weights = PriorWeights()
        if priors is not None:  # jumps weigh so little that they matter in texts of a few lines only
            jumps = max(float(table.alphas.sum()) for table in (priors.forward_jumps, priors.reverse_jumps))
            weights = PriorWeights(prior_jumps=min(1.0, JUMP_COUNTS / jumps) if jumps else 0.0)
        weighted = WeightedPriors.of(priors, weights)
        how: Any = {"priors": weighted, "progress": progress, "keep_text": scores}
        aligner = train_with(bitext, settings, reading=Reading(), run=Run(pool), **how)
        links = _write_links(aligner.align_blocks(bitext, threads=pool), files, best)
        if not links:
            return
        if "scores_forward" in files or "scores_reverse" in files:
            costs = link_costs(bitext, *links, model=score_model or model, priors=priors, threads=pool)
            for name, column in (("scores_forward", costs[0]), ("scores_reverse", costs[1])):
                if name in files:
                    files[name].write(b"".join(b"%g\n" % cost for cost in column.tolist()))
        if "statistics" in files:
            counts = jump_counts(bitext, links[0])
            files["statistics"].write(b"%d\n" % len(counts) + b"".join(b"%d\n" % n for n in counts.tolist()))


def _write_links(blocks: Iterator[Alignments], files: dict[str, Any], best: bool) -> list[Links]:
    """Write links, the best ones into both files; return those of both directions where more is made of them."""
    kept: tuple[list[Links], list[Links]] = ([], [])
    keep = bool(set(files) - {"links_forward", "links_reverse"})
    for block in blocks:
        # by the words that choose, as eflomal does
        tables = [table for table in (block.forward_table, block.reverse_table) if table is not None]
        wanted = [block.table] * 2 if best else tables
        for name, table, order in zip(("links_forward", "links_reverse"), wanted, ("target", "source"), strict=True):
            if name in files:
                files[name].write(format_pharaoh(table, order))
        if keep:
            kept[0].append(tables[0])
            kept[1].append(tables[1])
    return [concatenate(tables) for tables in kept] if keep else []
