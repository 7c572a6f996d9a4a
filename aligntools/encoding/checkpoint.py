"""Reading a text in turn: what is needed most first, until the time is over, and no pair twice.

What was read can be kept in a file, where a pair is found by its words. So a reading that was stopped goes on, and of a
text that has grown only the new pairs are read. One file can serve several texts of the same languages.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np

from aligntools.encoding.knowledge import Member, ReadPairs, joined
from aligntools.encoding.similarities import LEAST
from aligntools.formats.links.given_links import GivenLinks
from aligntools.formats.links.pharaoh import Links, check_range
from aligntools.formats.models.modelfile import SavedModel, fitting, hold, hold_offsets, read_model
from aligntools.formats.text.corpus import Bitext, pick
from aligntools.ground.errors import ModelError
from aligntools.ground.parallel import Pool

#: Pairs that are read between two looks at the clock.
AT_A_TIME = 512
#: Seconds after which what was read is kept, and again at the end.
KEPT_EACH = 60.0
#: Bytes by which a pair is found.
DIGEST = 16


@dataclass(frozen=True, eq=False)
class EncoderCheckpoint(SavedModel):
    """Sentence pairs that an encoder has read, as a file has them.

    about: The encoder (`Member.about`), and its map; digests (uint8 [pairs, DIGEST]): Of the pairs' words.
    """

    about: dict[str, Any]
    digests: np.ndarray
    pairs: ReadPairs

    KIND = "encoder-checkpoint"

    @classmethod
    def load_for(cls, path: str, member: Member) -> "EncoderCheckpoint":
        """Read a file of what an encoder has read, or begin one; ModelError where another has read it."""
        about = {**member.about, "map": None if member.map is None else _digest(member.map.matrices.tobytes()).hex()}
        if not os.path.lexists(path):
            found = cls(about, np.zeros((0, DIGEST), np.uint8), joined([]))
            found.save(path)  # before anything is read, so that a file that cannot be written is told of now
            return found
        header, arrays = read_model(path, cls.KIND)
        with fitting(path):
            found = cls.from_parts(header, arrays)
        if found.about != about:
            name, layers = (found.about.get(key) for key in ("name", "layers"))
            problem = f"was read by another encoder, {name} with layers {layers}"
            raise ModelError(path, None, f"{problem}; give another file to `encoder_checkpoint`, or remove this one")
        return found

    def parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the arrays of the file."""
        given = self.pairs.given
        likeness = np.zeros((len(given.strengths), 2), np.float32) if given.likeness is None else given.likeness
        return {"encoder": self.about}, {
            "digests": self.digests,
            "links": given.links.pairs,
            "offsets": given.links.offsets,
            "strengths": given.strengths,
            "likeness": likeness,
            "counts": self.pairs.counts,
        }

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> "EncoderCheckpoint":
        """Rebuild a checkpoint from its parts; ValueError, KeyError or TypeError if they do not fit together."""
        pairs, links = len(arrays["digests"]), len(arrays["strengths"])
        digests = hold(arrays, "digests", (pairs, DIGEST), np.uint8)
        table = hold(arrays, "links", (links, 2), np.int32, 0)
        strengths = hold(arrays, "strengths", (links,), np.float64, LEAST, 1)
        likeness = hold(arrays, "likeness", (links, 2), np.float32)
        given = GivenLinks(Links(table, hold_offsets(arrays, "offsets", pairs, links)), strengths, likeness)
        return cls(dict(header["encoder"]), digests, ReadPairs(given, hold(arrays, "counts", (pairs, 4), np.int32, 0)))

    def with_more(self, digests: Sequence[bytes], pairs: ReadPairs) -> "EncoderCheckpoint":
        """Return a checkpoint that has further pairs, too."""
        more = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, DIGEST)
        return EncoderCheckpoint(self.about, np.concatenate([self.digests, more]), joined([self.pairs, pairs]))


def read_in_turn(
    member: Member,
    text: Bitext,
    needed: np.ndarray,
    pool: Pool,
    tell: Callable[[int, int], None],
    minutes: float | None = None,
    path: str | None = None,
) -> tuple[np.ndarray, ReadPairs]:
    """Read pairs of a text; return their numbers, int64, in order, and their links.

    needed (int64): The numbers of the pairs to read, those that are needed most first.
    tell: Called with how many more pairs were read, and how many are to be.
    minutes: The time after which no more are read, but for the first few.
    path: A file that has what was read before, and gets what is read now.
    """
    kept, digests = None, [b""] * len(text)
    rows, parts = [np.empty(0, np.int64)], [joined([])]
    if path is not None:
        kept, digests = EncoderCheckpoint.load_for(path, member), _digests(text)
        places = {digest.tobytes(): k for k, digest in enumerate(kept.digests)}
        rows.append(np.array([k for k, digest in enumerate(digests) if digest in places], np.int64))
        at = np.array([places[digests[k]] for k in rows[-1].tolist()], np.int64)
        parts.append(ReadPairs(kept.pairs.given[at], kept.pairs.counts[at]))
        check_range(
            parts[-1].given.links, *(side.lengths()[rows[-1]] for side in (text.source, text.target)), path=path
        )
        needed = needed[~np.isin(needed, rows[-1])]
    if minutes is None:  # all are read
        needed = np.sort(needed)
    begun = last = time.monotonic()
    new = len(rows)

    def keep() -> None:
        if kept is not None and path is not None and len(rows) > new:
            more = [digests[k] for k in np.concatenate(rows[new:]).tolist()]
            kept.with_more(more, joined(parts[new:])).save(path)

    try:
        for begin in range(0, len(needed), AT_A_TIME):
            if minutes is not None and begin and time.monotonic() - begun > 60.0 * minutes:
                break
            chosen = np.sort(needed[begin : begin + AT_A_TIME])
            parts.append(member.read(pick(text, chosen), pool, lambda more: tell(more, len(needed))))
            rows.append(chosen)
            if time.monotonic() - last > KEPT_EACH:
                keep()
                last = time.monotonic()
    finally:  # also where it is interrupted
        keep()
    every, read = np.concatenate(rows), joined(parts)
    order = np.argsort(every)
    return every[order], ReadPairs(read.given[order], read.counts[order])


def _digests(text: Bitext) -> list[bytes]:
    """Return a digest of each pair's words."""
    sides = []
    for side, vocabulary in text.sides:
        words = vocabulary.words()
        tokens, offsets = side.tokens.tolist(), side.offsets.tolist()
        sides.append([" ".join([words[id] for id in tokens[a:b]]) for a, b in pairwise(offsets)])
    return [
        _digest(f"{source}\n{target}".encode("utf-8", "surrogateescape")) for source, target in zip(*sides, strict=True)
    ]


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST).digest()
