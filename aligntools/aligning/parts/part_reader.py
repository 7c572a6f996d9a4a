"""A text cut into parts on disk."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.aligning.parts.work import PART_WORDS, save_text, skipped_facts, skipped_of, text_name, written_name
from aligntools.aligning.settings import PART_PAIRS
from aligntools.formats.text.bitext import bitext_in_parts
from aligntools.formats.text.corpus import Skipped, in_lower_case
from aligntools.ground.parallel import Pool
from aligntools.store.stores import Store


@dataclass(frozen=True)
class PartReading:
    """Where the text is and how it is read; the options are those of `formats.text.bitext.read_bitext`.

    files: Of each file, or pair of files, the arguments ``source`` and ``target``, or ``joint``.
    pairs: Pairs of a part.
    written: Keep a copy of each part before it is put in lower case.
    """

    store: Store
    files: tuple[dict[str, Any], ...]
    lowercase: bool = True
    max_length: int = 2000
    strict: bool = False
    input_format: str = "auto"
    languages: str | None = None
    pairs: int = PART_PAIRS
    written: bool = False


def read_file(reading: PartReading, number: int, pool: Pool) -> None:
    """Cut a file into parts.

    Raises DataError as `formats.text.bitext.read_bitext`.
    """
    store = reading.store
    done = f"read.{number:05d}"
    if store.has(done):
        return
    skipped, sizes = Skipped(), []
    lowercase = reading.lowercase and not reading.written
    texts = bitext_in_parts(
        **reading.files[number],
        lowercase=lowercase,
        max_length=reading.max_length,
        strict=reading.strict,
        input_format=reading.input_format,
        languages=reading.languages,
        pairs=reading.pairs,
        words=PART_WORDS,
    )
    for part, read in enumerate(texts):
        bitext = read
        if reading.written:
            save_text(store, written_name(number, part), read)
            bitext = in_lower_case(read) if reading.lowercase else read
        save_text(store, text_name(number, part), bitext)
        skipped.add(bitext.skipped)
        lengths = bitext.source.lengths(), bitext.target.lengths()
        sizes.append([len(bitext), *(int(n.sum()) for n in lengths), int((lengths[0] * lengths[1]).sum())])
    store.write(done, skipped_facts(skipped), sizes=np.array(sizes, np.int64).reshape(-1, 4))


@dataclass(frozen=True)
class TextSizes:
    """Sizes of a text that was read.

    parts: Of each file.
    pairs, source_words, target_words, cells: Of all.
    skipped: Of each file.
    """

    parts: tuple[int, ...]
    pairs: int
    source_words: int
    target_words: int
    cells: int
    skipped: tuple[Skipped, ...]


def read_sizes(store: Store, number: int) -> np.ndarray:
    """Return of each part of a file its pairs, its words on either side and its link-matrix cells, int64 [parts, 4]."""
    return store.read(f"read.{number:05d}", "sizes")[0]


def sizes_of(reading: PartReading) -> TextSizes:
    """Return the sizes of a text whose files were all read."""
    parts, skipped, total = [], [], np.zeros(4, np.int64)
    for number in range(len(reading.files)):
        sizes = read_sizes(reading.store, number)
        parts.append(len(sizes))
        total += sizes.sum(0)
        skipped.append(skipped_of(reading.store.about(f"read.{number:05d}")))
    pairs, source, target, cells = total.tolist()
    return TextSizes(tuple(parts), pairs, source, target, cells, tuple(skipped))
