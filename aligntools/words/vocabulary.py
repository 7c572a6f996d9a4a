"""Words and their numbers: fixed, as two flat arrays that fit a model file, or growing as text is read."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from aligntools.ground import memory

_MUCH = 1 << 24  # bytes that are asked for before an array grows by them
_FORGET, _FORGET_BYTES = 1 << 19, 1 << 26  # words and bytes of them after which a stream forgets its look-ups


class Vocabulary:
    """Words and ids. Id 0 is NULL, the empty string, and never matches a word; the first word is id 1.

    blob (uint8 [bytes]), starts (int64 [len + 1]): Word ``i``, in UTF-8, is ``blob[starts[i]:starts[i + 1]]``.
    """

    def __init__(self, blob: np.ndarray, starts: np.ndarray) -> None:
        self.blob, self.starts = blob, starts
        self._index: tuple[np.ndarray, np.ndarray] | None = None

    def __reduce__(self) -> tuple[type["Vocabulary"], tuple[np.ndarray, np.ndarray]]:
        # without the index: bytes hash differently in another process
        return Vocabulary, (self.blob, self.starts)

    @classmethod
    def from_words(cls, words: Iterable[str]) -> "Vocabulary":
        """Number words from 1 on, in order; ValueError when one is empty or comes twice."""
        words = list(words)
        if "" in words or len(set(words)) < len(words):
            raise ValueError("words of a vocabulary are not empty and differ from each other")
        return cls.from_bytes([word.encode() for word in words])

    @classmethod
    def from_bytes(cls, words: Sequence[bytes]) -> "Vocabulary":
        """Number words, given in UTF-8 and known to be distinct and not empty, from 1 on."""
        starts = np.zeros(len(words) + 2, np.int64)
        np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=starts[2:])
        return cls(np.frombuffer(b"".join(words), np.uint8), starts)

    @classmethod
    def from_arrays(cls, blob: np.ndarray, starts: np.ndarray) -> "Vocabulary":
        """Take a vocabulary as saved in a model file; ValueError when the arrays do not fit."""
        fits = (
            blob.ndim == starts.ndim == 1
            and blob.dtype == np.uint8
            and starts.dtype == np.int64
            and len(starts) >= 2
            and starts[0] == starts[1] == 0
            and starts[-1] == len(blob)
            and bool(np.all(starts[2:] > starts[1:-1]))
        )
        if not fits:
            raise ValueError("these arrays are not a vocabulary")
        return cls(blob, starts)

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        """Return its arrays for a model file, by names that begin with this one."""
        return {f"{name}.blob": self.blob, f"{name}.starts": self.starts}

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self) - 1} words>"

    def word(self, id: int) -> str:
        """Return the word of an id; IndexError if there is none."""
        if not 0 <= id < len(self):
            raise IndexError(f"no word has the id {id}")
        return self.blob[self.starts[id] : self.starts[id + 1]].tobytes().decode()

    def words(self) -> list[str]:
        """Return all words; the index is the id, so the first is the empty string."""
        return [word.decode() for word in self.encoded()]

    def encoded(self) -> Iterator[bytes]:
        """Return all words in UTF-8, NULL first."""
        data = self.blob.tobytes()
        return (data[begin:end] for begin, end in pairwise(self.starts.tolist()))

    def id(self, word: str) -> int:
        """Return a word's id, or -1 if it is not in the vocabulary (as the empty string never is)."""
        return int(self.ids([word.encode()])[0])

    def ids(self, words: Sequence[bytes]) -> np.ndarray:
        """Look up many words at once, given in UTF-8; return int32 [words], -1 where one is not in the vocabulary."""
        if self._index is None:
            # Sorted hashes: 12 bytes a word, where a dict of bytes would take ten times as much.
            hashes = np.fromiter(map(hash, islice(self.encoded(), 1, None)), np.int64, len(self) - 1)
            order = np.argsort(hashes, kind="stable")
            self._index = hashes[order], (order + 1).astype(np.int32)
        hashes, ids = self._index
        wanted = np.fromiter(map(hash, words), np.int64, len(words))
        result = np.full(len(words), -1, np.int32)
        places = np.searchsorted(hashes, wanted)
        hits = np.flatnonzero(hashes.take(places, mode="clip") == wanted) if len(hashes) else places[:0]
        for k in hits.tolist():
            place = places[k]
            while place < len(hashes) and hashes[place] == wanted[k]:
                id = ids[place]
                if self.blob[self.starts[id] : self.starts[id + 1]].tobytes() == words[k]:
                    result[k] = id
                    break
                place += 1
        return result

    def folded(self) -> tuple["Vocabulary", np.ndarray]:
        """Return the vocabulary in lower case, in order of first occurrence, and each old id's new one, int32 [len]."""
        new: dict[bytes, int] = {}
        mapping = np.zeros(len(self), np.int32)
        words = (word.decode().lower().encode() for word in islice(self.encoded(), 1, None))
        mapping[1:] = np.fromiter((new.setdefault(word, len(new) + 1) for word in words), np.int32, len(self) - 1)
        return Vocabulary.from_bytes(list(new)), mapping


class ExtendedVocabulary:
    """A vocabulary, which is shared, with a few more words behind it, from ``base_size`` on."""

    def __init__(self, base: Vocabulary, extra: list[str]) -> None:
        self.base, self.base_size, self.extra = base, len(base), extra

    def __len__(self) -> int:
        return self.base_size + len(self.extra)

    def word(self, id: int) -> str:
        """Return the word of an id; IndexError if there is none."""
        return self.base.word(id) if id < self.base_size else self.extra[id - self.base_size]

    def words(self) -> list[str]:
        """Return all words; the index is the id."""
        return self.base.words() + self.extra

    def id(self, word: str) -> int:
        """Return a word's id, or -1 if it is in neither part."""
        known = self.base.id(word)
        return self.base_size + self.extra.index(word) if known < 0 and word in self.extra else known


AnyVocabulary: TypeAlias = Vocabulary | ExtendedVocabulary


class Growing:
    """An array that grows at its end. Reallocation moves pages, not bytes, so small steps cost little."""

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self._data, self.size = np.empty(1024, dtype), 0

    def extend(self, count: int) -> np.ndarray:
        """Return a view of ``count`` new elements, which holds until the next call."""
        if self.size + count > len(self._data):
            size = self.size + count + (self.size >> 3)
            if (more := (size - len(self._data)) * self._data.itemsize) > _MUCH:
                memory.ask(more, "does not fit in memory")
            self._data.resize(size, refcheck=False)
        self.size += count
        return self._data[self.size - count : self.size]

    @property
    def used(self) -> np.ndarray:
        """The elements so far, as a view that holds until the next call of `extend`."""
        return self._data[: self.size]

    def finish(self) -> np.ndarray:
        """Return the array, cut to its length."""
        self._data.resize(self.size, refcheck=False)
        return self._data


@overload
def split_words(text: bytes) -> list[bytes]: ...
@overload
def split_words(text: str) -> list[str]: ...
def split_words(text: Any) -> Any:
    """Split at spaces and tabs, and nothing else; what other white space separates, `white_space` makes spaces of."""
    tab, space = (b"\t", b" ") if isinstance(text, bytes) else ("\t", " ")
    return [word for word in text.replace(tab, space).split(space) if word]


class GrowingVocabulary:
    """Words numbered from 1 in order of first occurrence, in plain Python."""

    def __init__(self) -> None:
        self._ids: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._ids) + 1

    def encode(self, block: bytes, table: np.ndarray, which: int, keep: np.ndarray, tokens: np.ndarray) -> None:
        """Number the words of the lines that are kept; see `kernels_text.encode_lines`."""
        ids, count = self._ids, 0
        for row in np.flatnonzero(keep):
            begin, end = table[row, 2 * which : 2 * which + 2].tolist()
            for word in split_words(block[begin:end]):
                tokens[count] = ids.setdefault(word, len(ids) + 1)
                count += 1

    def words(self, begin: int) -> list[bytes]:
        """Return the words from number ``begin`` on."""
        return list(islice(self._ids, begin - 1, None))

    def vocabulary(self) -> "Vocabulary":
        """Return the words as a vocabulary with the same numbers."""
        return Vocabulary.from_bytes(self.words(1))

    def clear(self) -> None:
        """Forget all words."""
        self._ids.clear()


class CompiledLexicon:
    """The same as `GrowingVocabulary`, in flat arrays that a kernel fills; it stops where they have to grow."""

    def __init__(self, words: list[bytes] | tuple[Any, ...] = ()) -> None:
        self._blob = np.empty(1 << 18, np.uint8)
        self._starts = np.zeros((1 << 15) + 1, np.int64)
        self._slots = np.zeros(1 << 16, np.uint64)
        self._used = np.array([0, 1, 0], np.int64)  # tokens of this call, words with NULL, bytes
        if words:
            start = Vocabulary.from_bytes(words)
            self._reserve(len(start), len(start.blob))
            self._blob[: len(start.blob)] = start.blob
            self._starts[: len(start.starts)] = start.starts
            self._used[1:] = len(start), len(start.blob)
            self._enter()

    def __len__(self) -> int:
        return int(self._used[1])

    def encode(self, block: bytes, table: np.ndarray, which: int, keep: np.ndarray, tokens: np.ndarray) -> None:
        """Number the words of the lines that are kept; see `kernels_text.encode_lines`."""
        from aligntools.words import kernels_text

        text, row = np.frombuffer(block, np.uint8), 0
        self._used[0] = 0
        while True:
            row = kernels_text.encode_lines(
                text, table, which, keep, row, tokens, self._used, self._blob, self._starts, self._slots
            )
            if row == len(keep):
                return
            begin, end = table[row, 2 * which : 2 * which + 2].tolist()
            if self._reserve(len(self) + int(table[row, 4 + which]), int(self._used[2]) + end - begin):
                self._enter()

    def _reserve(self, words: int, filled: int) -> bool:
        """Make room for that many words and bytes and some more; return whether the slots are now empty."""
        if filled > len(self._blob):
            self._blob.resize(filled + (filled >> 1), refcheck=False)
        if words >= len(self._starts):
            self._starts.resize(words + (words >> 1) + 1, refcheck=False)
        if 2 * words <= len(self._slots):
            return False
        self._slots = np.zeros(1 << (2 * words).bit_length(), np.uint64)
        return True

    def _enter(self) -> None:
        from aligntools.words import kernels_text

        kernels_text.fill_slots(self._blob, self._starts, len(self), self._slots)

    def words(self, begin: int) -> list[bytes]:
        """Return the words from number ``begin`` on."""
        starts = self._starts[begin : len(self) + 1]
        data = self._blob[starts[0] : starts[-1]].tobytes()
        ends = (starts - starts[0]).tolist()
        return [data[a:b] for a, b in pairwise(ends)]

    def vocabulary(self) -> "Vocabulary":
        """Return the words as a vocabulary with the same numbers."""
        words, filled = len(self), int(self._used[2])
        return Vocabulary.from_arrays(self._blob[:filled].copy(), self._starts[: words + 1].copy())

    def clear(self) -> None:
        """Forget all words."""
        self._slots.fill(0)
        self._used[:] = 0, 1, 0


class Lookup:
    """Translates a lexicon's numbers to the ids of a fixed vocabulary; each word is looked up once.

    Unknown words have ids past the vocabulary's, which are numbered anew for each block, to hold for it alone.
    """

    def __init__(self, vocabulary: Vocabulary, lowercase: bool, most: int = _FORGET) -> None:
        self._vocabulary, self._lowercase, self._most = vocabulary, lowercase, most
        self._start()

    def _start(self) -> None:
        self._held = 0  # bytes of the lexicon's words
        self._mapping = Growing(np.int32)
        self._mapping.extend(1)[0] = 0
        self._unknown: dict[bytes, int] = {}
        self._names: list[bytes] = []

    def translate(self, tokens: np.ndarray, lexicon: CompiledLexicon | GrowingVocabulary) -> ExtendedVocabulary:
        """Put vocabulary ids in place of the lexicon's numbers; return the vocabulary that they are for.

        A lexicon that has become large is emptied, so that a stream of any length needs bounded memory.
        """
        base = len(self._vocabulary)
        new = lexicon.words(self._mapping.size)
        if new:
            self._held += sum(map(len, new))
            if self._lowercase:
                new = [word.decode().lower().encode() for word in new]
            ids = self._vocabulary.ids(new)
            for k in np.flatnonzero(ids < 0).tolist():
                number = self._unknown.setdefault(new[k], len(self._names))
                if number == len(self._names):
                    self._names.append(new[k])
                ids[k] = base + number
            self._mapping.extend(len(ids))[:] = ids
        tokens[:] = self._mapping.used[tokens]
        places = np.flatnonzero(tokens >= base)
        unknown = tokens[places].tolist()
        numbers = {one: base + n for n, one in enumerate(dict.fromkeys(unknown))}
        tokens[places] = [numbers[one] for one in unknown]
        extra = [self._names[one - base].decode() for one in numbers]
        if len(lexicon) > self._most or self._held > _FORGET_BYTES:
            lexicon.clear()
            self._start()
        return ExtendedVocabulary(self._vocabulary, extra)
