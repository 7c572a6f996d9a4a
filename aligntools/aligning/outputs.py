"""Files that the alignment of a text is written to."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from aligntools.aligning.alignments import Alignments, AlignmentTally
from aligntools.aligning.settings import Decisions
from aligntools.formats.links.pharaoh import Links, concatenate, format_pharaoh
from aligntools.formats.opening.files import making_folder, writing
from aligntools.formats.text.corpus import Bitext
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool, pool_of
from aligntools.links.settings import LinkWriting
from aligntools.pipeline import Sinks

if TYPE_CHECKING:
    from aligntools.aligning.giza import GizaFolder
    from aligntools.aligning.link_units import Reshaping
    from aligntools.formats.links.priors import Priors


#: Links written from where on it is worth the compiler.
MANY_LINKS = 1_000_000
#: The name under which train-model.perl looks for links, unless it is told another method.
MOSES_METHOD = "grow-diag-final-and"


class AlignmentSinks(Sinks):
    """The files that the alignment of a text is written to, and their forms; None for what is not wanted.

    ``shape`` is what stands between the alignments and what is written.
    """

    def __init__(
        self,
        writing: LinkWriting = LinkWriting(),  # noqa: B008
        *,
        output: str | None = "-",
        forward_output: str | None = None,
        reverse_output: str | None = None,
        scores: str | None = None,
        word_pairs: str | None = None,
        ttable: str | None = None,
        moses_dir: str | None = None,
        giza_dir: str | None = None,
        save_priors: str | None = None,
        save_model: str | None = None,
    ) -> None:
        files = {"output": output, "forward_output": forward_output, "reverse_output": reverse_output}
        files |= {"scores": scores, "word_pairs": word_pairs}
        super().__init__((), **{name: path or None for name, path in files.items()})
        self.writing = writing
        self.ttable, self.save_priors, self.save_model = ttable, save_priors, save_model
        self.moses_dir, self.giza_dir = moses_dir, giza_dir
        self.moses: MosesModel | None = None
        self.giza: GizaFolder | None = None
        self.shape: Reshaping | None = None
        self.tally, self.links = AlignmentTally(), 0
        self._single: tuple[list[Links | None], list[Links | None]] = ([], [])  # which costs are counted over

    @contextmanager
    def opened(self, decisions: Decisions, text: Sequence[str | None] = ()) -> Iterator[None]:
        """Open the files while the block runs; they appear whole or not at all.

        text: The files of the text, which Moses' folder is made of.
        """
        with self, ExitStack() as stack:
            if self.moses_dir:
                self.moses = MosesModel(stack, self.moses_dir, decisions, text)
            if self.giza_dir:
                from aligntools.aligning.giza import GizaFolder

                self.giza = GizaFolder(stack, self.giza_dir, decisions)
            yield

    def __bool__(self) -> bool:
        return bool(self.paths or self.moses_dir or self.giza_dir)

    @property
    def costs(self) -> bool:
        """Whether scores are eflomal's costs."""
        return self.writing.score_form == "eflomal"

    @property
    def directions(self) -> bool:
        """Whether a single direction is written."""
        return self.single_links or self.costs

    @property
    def single_links(self) -> bool:
        """Whether links of a single direction are written."""
        return bool(self.paths.keys() & {"forward_output", "reverse_output"} or self.giza_dir)

    @property
    def starred(self) -> dict[str, str]:
        """The outputs whose names have a star, which stands for a part of the text files' names."""
        return {name: path for name, path in self.paths.items() if "*" in path}

    def of_file(self, star: str) -> "AlignmentSinks":
        """Return the sinks of one of several text files: its part of the name replaces the star."""
        paths: dict[str, Any] = {name: path.replace("*", star) for name, path in self.paths.items()}
        found = AlignmentSinks(self.writing, **{"output": None} | paths)
        found.shape = self.shape
        return found

    def check_direction(self, direction: str, network: bool, decisions: Decisions, who: str = "") -> None:
        """Refuse files of a direction that was not trained, and decisions that change nothing in what is written.

        ``network``: it decides on links; ``who``: a saved model that has the ``direction``.
        """
        for name in ("forward", "reverse"):
            if direction not in ("both", name) and f"{name}_output" in self.paths:
                raise UsageProblem(
                    f"{who} has the {direction} direction alone, and nothing for `{name}_output`"
                    if who
                    else f"`{name}_output` needs that direction trained; leave out `direction={direction}`"
                )
        if direction != "both" and self.save_priors:
            raise UsageProblem(f"`save_priors` counts links of both directions, and {direction} alone is trained")
        decisions.suiting(direction, network)
        single = direction != "both" or not decisions.jointly or self.single_links
        if decisions.decode != Decisions.decode and not single:
            raise UsageProblem(
                f"`decode` chooses links of single directions, and `symmetrize={decisions.symmetrize}` writes none;"
                " choose a heuristic such as `symmetrize=grow-diag-final-and`, or add `forward_output` or"
                " `reverse_output`"
            )

    def write_block(self, block: Alignments, flush: bool = False) -> None:
        """Write the lines of a block."""
        self.tally.add(block)
        if self.costs:
            for tables, table in zip(self._single, (block.forward_table, block.reverse_table), strict=True):
                tables.append(table)
        if self.giza:
            self.giza.take(block)
        block, sides = self.shape.next(block) if self.shape else (block, None)
        compiled = True if self.links >= MANY_LINKS else None
        self.links += len(block.table.pairs)
        tsv, written = self.writing.output_format == "tsv", dict[str, bytes]()
        if "output" in self.paths:
            shown = block.probabilities if self.writing.link_probabilities else None
            links = format_pharaoh(block.table, "source", shown, compiled)
            if sides and tsv:
                rows = zip(*sides, links.split(b"\n")[:-1], strict=True)
                links = b"".join(b"\t".join(row) + b"\n" for row in rows)
            written["output"] = links
        if "word_pairs" in self.paths:
            assert sides is not None
            written["word_pairs"] = word_pairs(block, sides, tsv)
        for name, table in (("forward_output", block.forward_table), ("reverse_output", block.reverse_table)):
            if name in self.paths and table is not None:
                written[name] = format_pharaoh(table, compiled=compiled)
        if "scores" in self.paths and not self.costs:
            written["scores"] = score_lines(block.scores)
        if self.moses:
            self.moses.write(block)
        self.write(written, flush)

    def end(self) -> None:
        """Raise an error if what was read in step has more lines than the text, or fits it too badly."""
        if self.shape is not None:
            self.shape.end()

    def write_costs(self, bitext: "Bitext", pool: Any, case_sensitive: bool, priors: "Priors | None") -> None:
        """Write costs on eflomal's scale, once all links are known."""
        forward, reverse = (
            None if None in tables else concatenate([table for table in tables if table is not None])
            for tables in self._single
        )
        found = link_costs(bitext, forward, reverse, threads=pool, case_sensitive=case_sensitive, priors=priors)
        self.write({"scores": score_lines(found.T)}, flush=False)


def word_pairs(block: Alignments, sides: Sequence[Sequence[bytes]], python: bool) -> bytes:
    """Return a line ``source TAB target TAB probability`` for each link, and a blank line after each pair's.

    sides: The sentences that links are between.
    python: Whether links count words as `str.split` does.
    """
    sources, targets = ([line.decode("utf-8", "replace") for line in side] for side in sides)
    out = []
    for found in block.word_pairs(sources, targets, split="unicode" if python else "spaces"):
        out += [f"{source}\t{target}\t{p:.4g}\n" for source, target, p in found]
        out.append("\n")
    return "".join(out).encode()


def score_lines(scores: npt.NDArray[np.float64]) -> bytes:
    """Return a line for each row, its numbers separated by tabs."""
    return "".join("\t".join(f"{x:.6g}" for x in row) + "\n" for row in scores).encode()


def check_whole_words(view: Any, file: str = "ttable") -> None:
    """Refuse to write a table of words that a view cuts."""
    if view != 0:
        raise UsageProblem(f"`{file}` writes whole words, and the model's first view cuts them; use `views=0`")


class MosesModel:
    """A model folder of Moses in the making: links and the two lexical tables.

    text: The files of the text.
    """

    def __init__(self, stack: ExitStack, folder: str, decisions: Decisions, text: Sequence[str | None]) -> None:
        if "-" in text:
            raise UsageProblem("`moses_dir` reads the text twice; give files")
        self.folder = stack.enter_context(making_folder(folder))
        method = MOSES_METHOD if decisions.jointly else decisions.symmetrize
        self._file = stack.enter_context(writing(os.fspath(self.folder / f"aligned.{method}")))
        self._tables: list[Links] = []

    def write(self, block: Alignments) -> None:
        """Write the links of a block."""
        self._tables.append(block.table)
        self._file.write(format_pharaoh(block.table))

    def finish(self, source: str | os.PathLike[str], target: str | os.PathLike[str] | None, reading: Reading) -> None:
        """Write ``lex.f2e`` and ``lex.e2f``, of the words as they stand in the text."""
        from aligntools.aligning.alignment import read_bitext
        from aligntools.links.translation_tables import extract_lexicon

        bitext = read_bitext(source, target, reading=replace(reading, case_sensitive=True))
        extract_lexicon(bitext, None, concatenate(self._tables)).save(os.fspath(self.folder / "lex"))


def link_costs(
    bitext: "Bitext",
    forward: "Links | None",
    reverse: "Links | None",
    *,
    model: int = 3,
    priors: "Priors | None" = None,
    case_sensitive: bool = False,
    threads: "int | Pool | None" = None,
) -> npt.NDArray[np.float64]:
    """Score sentence pairs by their links as eflomal's ``-F`` and ``-R`` do: lower is better.

    A word's cost is the negative logarithm of the lexical probability of its best link, times its jumps and the ratio
    of fertilities with and without it, by the counts of all links but its own; a pair's score is the mean over its
    words. Ours are in `Alignments`, as ``scores``: log-probabilities under the model, which tell real pairs from others
    better. These have the level that thresholds such as OpusFilter's were chosen on.

    Parameters
    ----------
    bitext : Bitext
    forward, reverse : Links or None
        The single directions' links: at most one for each target word, and for each source word.
    model : int
        What is counted: 1 words, 2 jumps too, 3 fertilities too.
    priors : Priors or None
        Counts of other text, added to those of this one.
    case_sensitive : bool
        Whether the text was read so; otherwise the words of the priors are taken in lower case too.
    threads : int or None

    Returns
    -------
    float64 [2, pairs]
        Forward and reverse; -0.0 for a blank pair, NaN for a direction that is not given.

    Raises
    ------
    UsageProblem
        When there is no such model, or a word has two links.

    Examples
    --------
    >>> import aligntools as at
    >>> text = at.read_bitext("data/samples/de-en.txt")
    >>> found = at.align(text)
    >>> at.link_costs(text, found.forward_table, found.reverse_table).round(1)[:, 0].tolist()
    [0.0, 0.0]
    """
    from aligntools.aligning.applying import costs

    if model not in (1, 2, 3):
        raise UsageProblem(f"model is 1, 2 or 3, not {model}")
    for links, side, column in ((forward, bitext.target, 1), (reverse, bitext.source, 0)):
        at = [] if links is None else side.offsets[links.sentences()] + links.pairs[:, column]
        if np.bincount(at, minlength=1).max() > 1:
            raise UsageProblem("a word has two links; score the single directions' links, each word's best")
    directed = costs.directed(priors, bitext, not case_sensitive) if priors is not None else costs.NONE
    with pool_of(threads) as pool:
        found: npt.NDArray[np.float64] = costs.link_costs(bitext, forward, reverse, pool, model, directed)
    return found


def jump_counts(bitext: "Bitext", forward: "Links") -> npt.NDArray[np.int64]:
    """Count how far target words' links jump, from -1,024 to 1,023, as eflomal's ``-S`` writes them."""
    from aligntools.aligning.applying import costs

    return costs.jump_counts(bitext, forward)
