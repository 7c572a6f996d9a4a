"""Training on text in GIZA++'s numbers, in one direction, with GIZA++'s files as what comes of it."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.aligning.settings import AlignerSettings, Decisions
from aligntools.api.align.given_classes import with_word_classes
from aligntools.api.align.giza import Directed, settings_of, write_all_classes
from aligntools.api.align.training import train_with
from aligntools.formats.links.giza_tables import write_settings
from aligntools.formats.links.pharaoh import concatenate
from aligntools.formats.text.corpus import Bitext, Side, Skipped
from aligntools.formats.text.giza_numbers import read_snt, read_vcb
from aligntools.formats.text.reading import Reading
from aligntools.ground.errors import DataError
from aligntools.ground.running import Run
from aligntools.words.vocabulary import Vocabulary


@dataclass(frozen=True)
class Coded:
    """The files of a training.

    Attributes
    ----------
    source, target, text : str
        Vocabularies of the side that generates and of the one that is generated, and sentence pairs.
    prefix, alignments : str
        How names of what is written begin; and the file of alignments.
    """

    source: str
    target: str
    text: str
    prefix: str
    alignments: str


def align_coded(coded: Coded, threads: int, **settings: Any) -> None:
    """Train on coded text and write alignments, tables and the settings.

    Parameters
    ----------
    coded : Coded
    threads : int
    **settings
        Those of `AlignerSettings`.

    Raises
    ------
    DataError
        When a file cannot be read or written, or is not as GIZA++ writes it.
    """
    bitext = read_coded(coded)
    if settings["model_type"] == "ibm4":  # classes are beside the vocabularies, as GIZA++ has them
        beside = (f"{path}.classes" for path in (coded.source, coded.target))
        bitext = with_word_classes(bitext, *(path if os.path.exists(path) else None for path in beside))
    run, reading = Run(threads=threads), Reading(case_sensitive=True)
    aligner = train_with(bitext, AlignerSettings(**settings, direction="forward", views=(0,)), reading=reading, run=run)
    links, scores = [], [np.zeros(0)]
    for block in aligner.align_blocks(bitext, decisions=Decisions(), directions=True, run=run):
        assert block.forward_table is not None
        links.append(block.forward_table)
        scores.append(np.asarray(block.scores)[:, 0])
    both = [Directed(bitext, d) for d in (0, 1)]
    numbers = write_all_classes([f"{coded.prefix}.{side}.classes" for side in ("source", "target")], aligner, both)
    own = {"s": coded.source, "t": coded.target, "c": coded.text, "o": coded.prefix}
    write_settings(f"{coded.prefix}.gizacfg", own | settings_of(aligner))
    found = concatenate(links)
    both[0].write_tables(coded.prefix, aligner, found, numbers)
    both[0].write_alignments(coded.alignments, found, np.concatenate(scores))


def read_coded(coded: Coded) -> Bitext:
    """Read sentence pairs in numbers, with the words that the numbers are of."""
    source, target, weights = read_snt(coded.text)
    for n in np.flatnonzero(weights != 1)[:1].tolist():
        raise DataError(
            coded.text, 3 * n + 1, "each pair counts once here (expected 1); write it as often as it counts"
        )
    sides, vocabularies = [], []
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
    return Bitext(sides[0], sides[1], vocabularies[0], vocabularies[1], Skipped())
