"""Files that the alignment of a text is written to."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from aligntools.aligning.settings import Decisions
from aligntools.api.align.aligner import Aligner
from aligntools.api.align.alignments import Alignments
from aligntools.formats.opening.files import Output, writing
from aligntools.formats.opening.named_files import in_place_of_star
from aligntools.ground.errors import UsageProblem
from aligntools.links.settings import LinkWriting

if TYPE_CHECKING:
    from aligntools.api.align.reshaping import Reshaping
    from aligntools.formats.links.pharaoh import Links
    from aligntools.formats.links.priors import Priors
    from aligntools.formats.text.corpus import Bitext
    from aligntools.ground.parallel import Pool

#: Links written from where on it is worth the compiler.
MANY_LINKS = 1_000_000
#: Outputs with a line or more for each pair.
BY_PAIR = ("output", "forward_output", "reverse_output", "scores", "word_pairs")


@dataclass(frozen=True)
class AlignmentFiles:
    """The files, and their forms; None for what is not wanted.

    output: Links; ``-`` is standard output.
    forward_output, reverse_output: The links of the single directions.
    scores: Scores of each pair.
    word_pairs: The words and the posterior of each link.
    ttable: ``ln p(target | source)``.
    moses_dir: A folder with what Moses' training goes on from.
    giza_dir: A folder with what GIZA++ leaves.
    save_priors, save_model: Counts of this text's links, and the model.
    writing: The forms of links and scores.
    """

    output: str | None = "-"
    forward_output: str | None = None
    reverse_output: str | None = None
    scores: str | None = None
    word_pairs: str | None = None
    ttable: str | None = None
    moses_dir: str | None = None
    giza_dir: str | None = None
    save_priors: str | None = None
    save_model: str | None = None
    writing: LinkWriting = LinkWriting()  # noqa: RUF009

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
        return bool(self.forward_output or self.reverse_output or self.giza_dir)

    @property
    def starred(self) -> list[str]:
        """The outputs whose names have a star, which stands for a part of the text files' names."""
        return [name for name in BY_PAIR if "*" in (getattr(self, name) or "")]

    def of_file(self, star: str) -> Self:
        """Return the files of one of several text files, by what the star of its name stands for."""
        files: dict[str, Any] = {
            name: getattr(self, name) and in_place_of_star(getattr(self, name), star) for name in BY_PAIR
        }
        return replace(self, **files)

    def check(self, decisions: Decisions, applied: bool) -> None:
        """Refuse what does not go together.

        applied: Whether a saved model is applied.
        """
        if self.costs:
            if not self.scores:
                raise UsageProblem("`score_form` is about `scores`")
            if applied:
                raise UsageProblem(
                    "`score_form=eflomal` counts the links of the text that is trained on; leave out `model`"
                )
            if decisions.decode == "posterior":
                raise UsageProblem("`score_form=eflomal` scores each word's best link; leave out `decode=posterior`")
        if self.giza_dir and applied:
            raise UsageProblem("`giza_dir` has the tables of the text that is trained on; leave out `model`")
        if self.writing.output_format == "tsv" and self.writing.link_probabilities:
            raise UsageProblem("readers of `output_format=tsv` take links alone; leave out `link_probabilities`")

    def check_direction(self, direction: str, network: bool, decisions: Decisions, who: str = "") -> None:
        """Refuse files of a direction that was not trained, and decisions that change nothing in what is written.

        direction: The direction that is trained, or ``both``.
        network: Whether the network decides on links.
        who: A saved model that has it.
        """
        for name in ("forward", "reverse"):
            if direction not in ("both", name) and getattr(self, f"{name}_output"):
                raise UsageProblem(
                    f"{who} has the {direction} direction alone, and nothing for `{name}_output`"
                    if who
                    else f"`{name}_output` needs that direction trained; leave out `direction={direction}`"
                )
        decisions.suiting(direction, network)
        single = direction != "both" or not decisions.jointly or self.single_links
        if decisions.decode != Decisions.decode and not single:
            raise UsageProblem(
                f"`decode` chooses links of single directions, and `symmetrize={decisions.symmetrize}` writes none;"
                " choose a heuristic such as `symmetrize=grow-diag-final-and`, or add `forward_output` or"
                " `reverse_output`"
            )


class Outputs:
    """The files, opened whole-or-nothing.

    stack: Closes what is opened.
    text: The files of the text, which Moses' folder is made of.
    shape: What stands between the alignments and what is written.
    links: Links written so far.
    """

    def __init__(self, stack: ExitStack, files: AlignmentFiles, decisions: Decisions, text: Sequence[str | None]):
        def opened(path: str | None) -> Output | None:
            return stack.enter_context(writing(path)) if path else None

        self.about = files
        self.main, self.forward, self.reverse = map(opened, (files.output, files.forward_output, files.reverse_output))
        self.scores, self.word_pairs = opened(files.scores), opened(files.word_pairs)
        self._single: tuple[list[Links | None], list[Links | None]] = ([], [])  # which costs are counted over
        self.links = 0
        self.moses = None
        if files.moses_dir:
            from aligntools.api.align.moses import MosesModel

            self.moses = MosesModel(stack, files.moses_dir, decisions, text)
        self.giza = None
        if files.giza_dir:
            from aligntools.api.align.giza import GizaFolder

            self.giza = GizaFolder(files.giza_dir, decisions)
        self.shape: Reshaping | None = None

    @property
    def _files(self) -> list[Output]:
        files = self.main, self.forward, self.reverse, self.scores, self.word_pairs
        return [file for file in files if file is not None]

    def __bool__(self) -> bool:
        return bool(self._files) or self.moses is not None or self.giza is not None

    def write(self, block: Alignments, flush: bool = False) -> None:
        """Write the lines of a block."""
        from aligntools.formats.links.pharaoh import format_pharaoh

        if self.about.costs:
            for tables, table in zip(self._single, (block.forward_table, block.reverse_table), strict=True):
                tables.append(table)
        if self.giza:
            self.giza.take(block)
        block, sides = self.shape.next(block) if self.shape else (block, None)
        compiled = True if self.links >= MANY_LINKS else None
        self.links += len(block.table.pairs)
        tsv = self.about.writing.output_format == "tsv"
        if self.main:
            links = block.format(probabilities=self.about.writing.link_probabilities, compiled=compiled)
            self.main.write(tab_separated(sides, links) if sides and tsv else links)
        if self.word_pairs:
            assert sides is not None
            self.word_pairs.write(word_pairs(block, sides, tsv))
        for file, table in ((self.forward, block.forward_table), (self.reverse, block.reverse_table)):
            if file and table is not None:
                file.write(format_pharaoh(table, compiled=compiled))
        if self.scores and not self.about.costs:
            self.scores.write(score_lines(block.scores))
        if self.moses:
            self.moses.write(block)
        if flush:
            for file in self._files:
                file.flush()

    def write_costs(self, bitext: "Bitext", pool: "Pool", case_sensitive: bool, priors: "Priors | None") -> None:
        """Write costs on eflomal's scale, once all links are known."""
        from aligntools.api.align.costs import link_costs
        from aligntools.formats.links.pharaoh import concatenate

        forward, reverse = (
            None if None in tables else concatenate([table for table in tables if table is not None])
            for tables in self._single
        )
        found = link_costs(bitext, forward, reverse, threads=pool, case_sensitive=case_sensitive, priors=priors)
        assert self.scores is not None
        self.scores.write(score_lines(found.T))


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


def tab_separated(sides: Sequence[Sequence[bytes]], links: bytes) -> bytes:
    """Return lines of source, target and links with tabs between."""
    rows = zip(*sides, links.split(b"\n")[:-1], strict=True)
    return b"".join(b"\t".join(row) + b"\n" for row in rows)


def score_lines(scores: npt.NDArray[np.float64]) -> bytes:
    """Return a line for each row, its numbers separated by tabs."""
    return "".join("\t".join(f"{x:.6g}" for x in row) + "\n" for row in scores).encode()


def check_whole_words(view: Any, file: str = "ttable") -> None:
    """Refuse to write a table of words that a view cuts."""
    if view != 0:
        raise UsageProblem(f"`{file}` writes whole words, and the model's first view cuts them; use `views=0`")


def write_ttable(aligner: Aligner, path: str, beam: float | None = None) -> None:
    """Write ``ln p(target | source)`` of the first view, as fast_align's -p does; without its beam, every pair."""
    from aligntools.aligning.word_tables import ttable_lines

    with writing(path) as file:
        for block in ttable_lines(aligner.model, beam):
            file.write(block)
