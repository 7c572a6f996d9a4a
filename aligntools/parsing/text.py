"""Sentences with tags, joined, and choosing some of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.parsing.settings import TagMap


def joined_offsets(offsets: Sequence[np.ndarray]) -> np.ndarray:
    """Return the offsets of texts one after the other, from those of each, int64."""
    lengths = np.concatenate([np.zeros(0, np.int64), *map(np.diff, offsets)])
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


class NoSentences(ValueError):
    """There is nothing to train on."""


@dataclass(frozen=True)
class TaggedText:
    """Sentences with tags, joined; ``offsets`` int64 [sentences + 1]."""

    words: list[bytes]
    tags: list[bytes]
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def joined(cls, texts: "Sequence[TaggedText]") -> "TaggedText":
        """Return texts one after the other as one."""
        words, tags = ([x for text in texts for x in getattr(text, name)] for name in ("words", "tags"))
        return cls(words, tags, joined_offsets([text.offsets for text in texts]))

    def chosen(self, keep: np.ndarray) -> "TaggedText":
        """Return the sentences that are kept [shape=(sentences,), dtype=bool]."""
        words, offsets = chosen(self.words, self.offsets, keep)
        return TaggedText(words, chosen(self.tags, self.offsets, keep)[0], offsets)


def chosen(values: Any, offsets: np.ndarray, keep: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return the values [words] of the sentences that are kept, and their offsets; lists stay lists."""
    words = np.repeat(keep, np.diff(offsets))
    lengths = np.diff(offsets)[keep]
    kept = values[words] if isinstance(values, np.ndarray) else [v for v, k in zip(values, words, strict=True) if k]
    return kept, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


#: The twelve; ``.`` is punctuation.
UNIVERSAL = tuple(b"NOUN VERB ADJ ADV PRON DET ADP NUM CONJ PRT . X".split(b" "))

#: Universal Dependencies' UPOS.
UPOS = {
    b"PROPN": b"NOUN",
    b"AUX": b"VERB",
    b"SCONJ": b"CONJ",
    b"CCONJ": b"CONJ",
    b"PART": b"PRT",
    b"PUNCT": b".",
    b"SYM": b"X",
    b"INTJ": b"X",
    b"_": b"X",
}

#: Penn Treebank tags, with those that UD's English treebanks add.
PENN = {
    **dict[bytes, bytes].fromkeys([b"NN", b"NNS", b"NNP", b"NNPS"], b"NOUN"),
    **dict[bytes, bytes].fromkeys([b"MD", b"VB", b"VBD", b"VBG", b"VBN", b"VBP", b"VBZ"], b"VERB"),
    **dict[bytes, bytes].fromkeys([b"JJ", b"JJR", b"JJS", b"AFX"], b"ADJ"),
    **dict[bytes, bytes].fromkeys([b"RB", b"RBR", b"RBS", b"WRB"], b"ADV"),
    **dict[bytes, bytes].fromkeys([b"PRP", b"PRP$", b"WP", b"WP$", b"EX"], b"PRON"),
    **dict[bytes, bytes].fromkeys([b"DT", b"PDT", b"WDT"], b"DET"),
    **dict[bytes, bytes].fromkeys([b"RP", b"TO", b"POS"], b"PRT"),
    **dict[bytes, bytes].fromkeys(
        [b".", b",", b":", b"``", b"''", b"(", b")", b"-LRB-", b"-RRB-", b"#", b"$", b"HYPH", b"NFP"], b"."
    ),
    **dict[bytes, bytes].fromkeys([b"FW", b"LS", b"SYM", b"UH", b"ADD", b"GW", b"XX"], b"X"),
    b"IN": b"ADP",
    b"CD": b"NUM",
    b"CC": b"CONJ",
}


def mapped_tags(tags: list[bytes], mapping: TagMap) -> list[bytes]:
    """Map tags to the twelve, if at all; what no map has stays if it is one of them, and becomes X otherwise."""
    if mapping == "none":
        return tags
    known = UPOS if mapping == "upos" else PENN
    full = {tag: known.get(tag, tag if tag in UNIVERSAL else b"X") for tag in set(tags)}
    return [full[tag] for tag in tags]
