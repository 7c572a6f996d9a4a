"""The files that Moses' training goes on from at its fourth step."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aligntools.aligning.alignments import Alignments
from aligntools.aligning.settings import Decisions
from aligntools.formats.opening.files import writing
from aligntools.formats.text.reading import Reading
from aligntools.ground.errors import DataError, UsageProblem

if TYPE_CHECKING:
    from aligntools.formats.links.pharaoh import Links

#: The name under which train-model.perl looks for links, unless it is told another method.
METHOD = "grow-diag-final-and"


class MosesModel:
    """A model folder of Moses in the making: links and the two lexical tables.

    stack: Closes what is opened.
    text: The files of the text.
    """

    def __init__(self, stack: ExitStack, folder: str, decisions: Decisions, text: Sequence[str | None]) -> None:
        if "-" in text:
            raise UsageProblem("`moses_dir` reads the text twice; give files")
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(folder, None, f"cannot be made: {error.strerror or error}") from None
        method = METHOD if decisions.jointly else decisions.symmetrize
        self._file = stack.enter_context(writing(os.fspath(self.folder / f"aligned.{method}")))
        self._tables: list[Links] = []

    def write(self, block: Alignments) -> None:
        """Write the links of a block."""
        from aligntools.formats.links.pharaoh import format_pharaoh

        self._tables.append(block.table)
        self._file.write(format_pharaoh(block.table))

    def finish(self, source: str | os.PathLike[str], target: str | os.PathLike[str] | None, reading: Reading) -> None:
        """Write ``lex.f2e`` and ``lex.e2f``, of the words as they stand in the text."""
        from aligntools.aligning.alignment import read_bitext
        from aligntools.formats.links.pharaoh import concatenate
        from aligntools.links.translation_tables import extract_lexicon

        bitext = read_bitext(source, target, reading=replace(reading, case_sensitive=True))
        extract_lexicon(bitext, None, concatenate(self._tables)).save(os.fspath(self.folder / "lex"))
