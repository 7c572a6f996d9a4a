"""A text cut into parts on disk."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aligntools.aligning.parts.work import PART_WORDS, save_text, text_name, written_name
from aligntools.aligning.settings import PART_PAIRS
from aligntools.formats.text.bitext import bitext_in_parts
from aligntools.formats.text.corpus import in_lower_case
from aligntools.ground.parallel import Pool
from aligntools.store.stores import Store


@dataclass(frozen=True)
class PartReading:
    """Where the text is and how it is read: of each file or pair of files the arguments of `bitext.read_bitext`.

    ``written`` keeps a copy of each part before it is put in lower case.
    """

    store: Store
    files: tuple[dict[str, Any], ...]
    how: Mapping[str, Any] = field(default_factory=dict)
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
    lowercase, sizes = reading.how.get("lowercase", True), []
    how = {**reading.how, "lowercase": lowercase and not reading.written}
    texts = bitext_in_parts(**reading.files[number], **how, pairs=reading.pairs, words=PART_WORDS)
    for part, read in enumerate(texts):
        bitext = read
        if reading.written:
            save_text(store, written_name(number, part), read)
            bitext = in_lower_case(read) if lowercase else read
        save_text(store, text_name(number, part), bitext)
        lengths = bitext.source.lengths(), bitext.target.lengths()
        sizes.append([len(bitext), *(int(n.sum()) for n in lengths), int((lengths[0] * lengths[1]).sum())])
    store.write(done, sizes=np.array(sizes, np.int64).reshape(-1, 4))


def read_sizes(store: Store, number: int) -> np.ndarray:
    """Return of each part of a file its pairs, its words on either side and its link-matrix cells, int64 [parts, 4]."""
    return store.read(f"read.{number:05d}", "sizes")[0]


def sizes_of(reading: PartReading) -> tuple[tuple[int, ...], int]:
    """Return how many parts each file has, and the source words of the text, once all files were read."""
    sizes = [read_sizes(reading.store, number) for number in range(len(reading.files))]
    return tuple(map(len, sizes)), int(sum(one[:, 1].sum() for one in sizes))
