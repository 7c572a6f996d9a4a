"""The files that Moses' training goes on from at its fourth step."""

import os
from dataclasses import replace
from pathlib import Path

from aligntools.aligning.settings import JOINTLY
from aligntools.ground.errors import DataError, UsageProblem

#: The name under which train-model.perl looks for links, unless it is told another method.
METHOD = "grow-diag-final-and"


class MosesModel:
    """A model folder of Moses in the making: links and the two lexical tables.

    Parameters
    ----------
    stack : ExitStack
        Closes what is opened.
    o : dict
        Options of an aligning command.
    """

    def __init__(self, stack, o):
        from aligntools.formats.opening.files import writing

        if "-" in (o["joint_file"], o["source"], o["target"]):
            raise UsageProblem("--moses-dir reads the text twice; give files")
        self.folder = Path(o["moses_dir"])
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(o["moses_dir"], None, f"cannot be made: {error.strerror or error}") from None
        method = METHOD if o["symmetrize"] in JOINTLY else o["symmetrize"]
        self._file = stack.enter_context(writing(os.fspath(self.folder / f"aligned.{method}")))
        self._tables = []

    def write(self, block):
        """Write the links of an `Alignments`."""
        from aligntools.formats.links.pharaoh import format_pharaoh

        self._tables.append(block.table)
        self._file.write(format_pharaoh(block.table))

    def finish(self, text, reading):
        """Write ``lex.f2e`` and ``lex.e2f``, of the words as they stand in the text."""
        from aligntools.api.align.alignment import read_bitext
        from aligntools.api.convert.links import extract_lexicon
        from aligntools.formats.links.pharaoh import concatenate

        bitext = read_bitext(*text, reading=replace(reading, case_sensitive=True))
        extract_lexicon(bitext, None, concatenate(self._tables)).save(os.fspath(self.folder / "lex"))
