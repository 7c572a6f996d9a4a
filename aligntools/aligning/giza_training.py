"""Text in GIZA++'s numbers, in one direction: training on it, or aligning it by tables; GIZA++'s files of it."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.aligning.aligner import Aligner
from aligntools.aligning.aligner_training import train_with
from aligntools.aligning.alignment import with_word_classes
from aligntools.aligning.giza import GizaDirection, settings_of, write_all_classes
from aligntools.aligning.giza_import import model_of_giza
from aligntools.aligning.settings import AlignerSettings, Decisions
from aligntools.formats.links.giza import read_word_classes, write_settings
from aligntools.formats.links.pharaoh import Links, concatenate
from aligntools.formats.text.corpus import Bitext, Side, Skipped
from aligntools.formats.text.giza_trainings import TrainingFiles as TrainingFiles
from aligntools.formats.text.giza_trainings import read_files, read_snt, read_vcb
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.errors import DataError
from aligntools.ground.run import Run
from aligntools.words.vocabulary import Vocabulary


@dataclass(frozen=True)
class Coded:
    """A GIZA++ training: the vocabularies of both sides, the numbered pairs, and the files to write.

    classes: Files of the classes of both sides' words; None takes that beside the vocabulary, if it is there.
    """

    source: str
    target: str
    text: str
    prefix: str
    alignments: str
    classes: tuple[str | None, str | None] = (None, None)


def align_coded(coded: Coded, threads: int, **settings: Any) -> None:
    """Train on coded text and write alignments, tables and the settings.

    **settings: Those of `AlignerSettings`.
    Raises DataError when a file cannot be read or written, or is not as GIZA++ writes it.
    """
    bitext, words = read_coded(coded)
    classes: list[dict[bytes, int] | None] = [None, None]
    if settings["model_type"] == "ibm4":  # classes are beside the vocabularies, as GIZA++ has them
        beside = [f"{path}.classes" for path in (coded.source, coded.target)]
        there = [path if os.path.exists(path) else None for path in beside]
        paths = [one or other for one, other in zip(coded.classes, there, strict=True)]
        classes = [read_word_classes(path) if path else None for path in paths]
        bitext = with_word_classes(bitext, *paths)
    run, reading = Run(threads=threads), Reading(case_sensitive=True)
    aligner = train_with(bitext, AlignerSettings(**settings, direction="forward", views=(0,)), reading=reading, run=run)
    found, scores = _aligned(aligner, bitext, run)
    both = [GizaDirection(bitext, d, words if d == 0 else words[::-1]) for d in (0, 1)]
    own_classes = [f"{coded.prefix}.{side}.classes" for side in ("source", "target")]
    numbers = write_all_classes(own_classes, aligner, both, classes)
    own = {"s": coded.source, "t": coded.target, "c": coded.text, "o": coded.prefix}
    write_settings(f"{coded.prefix}.gizacfg", own | settings_of(aligner))
    both[0].write_tables(coded.prefix, aligner, found, numbers)
    both[0].write_alignments(coded.alignments, found, scores)


def align_coded_by(coded: Coded, files: TrainingFiles, settings: dict[str, str], threads: int, pegging: bool) -> None:
    """Align numbered text by the tables of an earlier training on the same vocabularies; write only the alignments.

    settings: What GIZA++'s options said; names in lower case.
    """
    (bitext, _), run = read_coded(coded), Run(threads=threads)
    aligner = Aligner(model_of_giza(read_files(files, settings), None, pegging))
    found, scores = _aligned(aligner, bitext, run)
    GizaDirection(bitext, 0).write_alignments(coded.alignments, found, scores)


def _aligned(aligner: Aligner, bitext: Bitext, run: Run) -> tuple[Links, np.ndarray]:
    """Return the links of the forward direction, and the logarithms of the sentences' probabilities."""
    links, scores = [], [np.zeros(0)]
    for block in aligner.align_blocks(bitext, decisions=Decisions(), directions=True, run=run):
        assert block.forward_table is not None
        links.append(block.forward_table)
        scores.append(np.asarray(block.scores)[:, 0])
    return concatenate(links), np.concatenate(scores)


def read_coded(coded: Coded) -> tuple[Bitext, tuple[np.ndarray, np.ndarray]]:
    """Read sentence pairs in numbers, with the words that the numbers are of; return these numbers too, int64."""
    source, target, weights = read_snt(coded.text)
    for n in np.flatnonzero(weights != 1)[:1].tolist():
        raise DataError(
            coded.text, 3 * n + 1, "each pair counts once here (expected 1); write it as often as it counts"
        )
    sides, vocabularies, of_words = [], [], []
    for path, side, line in ((coded.source, source, 2), (coded.target, target, 3)):
        words = read_vcb(path)
        numbers = np.array(sorted(words), np.int64)
        places = np.searchsorted(numbers, side.tokens)
        known = places < len(numbers)
        known[known] = numbers[places[known]] == side.tokens[known]
        if not known.all():
            first = int(np.flatnonzero(~known)[0])
            pair = int(np.searchsorted(side.offsets, first, side="right")) - 1
            name = os.fspath(path)
            raise DataError(coded.text, 3 * pair + line, f"{name} has no word {side.tokens[first]}")
        sides.append(Side((places + 1).astype(np.int32), side.offsets))
        vocabularies.append(Vocabulary.from_bytes([words[n] for n in numbers.tolist()]))
        of_words.append(numbers)
    return Bitext(sides[0], sides[1], vocabularies[0], vocabularies[1], Skipped()), (of_words[0], of_words[1])
