"""Links with the probabilities that stand after them, as ``align --link-probabilities`` writes: ``3-4:0.9731``."""

import re

import numpy as np

from aligntools.formats.links.pharaoh import Links, parse_pharaoh
from aligntools.formats.opening import files
from aligntools.formats.opening.metering import FOR_OBJECTS

_SCORED = re.compile(rb"(\d{1,9})-(\d{1,9}):([0-9.]+(?:[eE][+-]?\d+)?)(?!\S)")


def read_with_probabilities(path: object, *, index_base: int = 0) -> tuple[Links, np.ndarray | None]:
    """Read Pharaoh lines as `pharaoh.read_pharaoh` does, and the probabilities of links.

    Returns the probabilities [shape=(links,), dtype=float64], from 0 to 1, NaN for a link without one; None where no
    link has one. Of a link that is there twice the last counts.
    """
    with files.reading(path, FOR_OBJECTS) as file:
        data = file.read()
    links = parse_pharaoh(data, path=path, index_base=index_base)
    if b":" not in data:
        return links, None
    found: dict[tuple[int, int, int], float] = {}
    for line, row in enumerate(data.split(b"\n")):
        for i, j, p in _SCORED.findall(row.rpartition(b"|||")[2] if b"|||" in row else row):
            try:
                found[line, int(i) - index_base, int(j) - index_base] = min(float(p), 1.0)
            except ValueError:  # 0.1.2, which the reader of links lets pass
                continue
    keys = zip(links.sentences().tolist(), *links.pairs.T.tolist(), strict=True)
    values = np.array([found.get(key, np.nan) for key in keys])
    return links, None if np.isnan(values).all() else values
