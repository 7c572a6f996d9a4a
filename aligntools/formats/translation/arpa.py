r"""N-gram models as ARPA files: reads what KenLM, SRILM and IRSTLM write, and writes what they read.

The file says how many n-grams each order has (``\data\``, ``ngram 1=...``), then lists them, one a line: decimal
logarithm of the probability, the words, and the backoff weight's logarithm, which may be missing and then is 0.
Words and numbers are separated by tabs or spaces, blank lines are ignored.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import NoReturn

import numpy as np

from aligntools.formats.opening import files
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import Vocabulary

#: Words with a meaning of their own; their place is their id.
CONTROL = (b"<unk>", b"<s>", b"</s>")
#: Decimal logarithm that stands for a probability of 0.
ZERO = -99.0
#: That of unknown words where a file has no <unk>, as KenLM has it.
UNKNOWN = -100.0
_ROWS = 1 << 16
_COUNT = re.compile(rb"ngram\s+(\d+)\s*=\s*(\d+)")
_SECTION = re.compile(rb"\\(\d+)-grams:")


class ArpaReader:
    """Reads an ARPA file from its beginning to its end.

    vocabulary: Once the unigrams are read, which comes with the first part of `blocks`. Ids are those of the model:
        0 <unk> (NULL in the vocabulary), 1 <s>, 2 </s>, then the others in the file's order.
    """

    def __init__(self, path: object, block: int = 1 << 24) -> None:
        self.path = path
        self.vocabulary: Vocabulary | None = None
        self.has_unknown = False
        self._blocks = files.blocks_of_lines(path, block)
        self._text, self._at, self._line = b"", 0, 0
        self._part = 0, 0  # line and place in the text where the last part of `blocks` begins
        try:
            self.counts = self._head()
        except BaseException:
            self.close()
            raise
        self.order = len(self.counts)

    def close(self) -> None:
        """Close the file."""
        self._blocks.close()

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the n-grams in the file's order, part by part, orders ascending; all unigrams come in one part.

        ids (int32 [n, order]): First word first. The unigrams' are ``0..words - 1``; <unk>, <s>, </s> are added where
            they are missing.
        logs (float32 [n, 2]): Decimal logarithms: probability (-99 and less is -99), backoff weight.
        """
        from aligntools.formats.translation import kernels_arpa as kernels

        with closing(self):
            ids, logs, lines = self._unigrams()
            yield ids, logs
            assert self.vocabulary is not None
            blob, starts = with_unknown(self.vocabulary)
            slots = np.full(1 << (2 * len(starts)).bit_length(), -1, np.int32)
            twice = kernels.index_words(blob, starts, slots)
            if twice >= 0:
                word = _shown(blob[starts[twice] : starts[twice + 1]].tobytes())
                self._fail(f"the 1-gram '{word}' is there twice", int(lines[twice - len(CONTROL)]))
            for order in range(2, self.order + 1):
                seen = 0
                for _, ids, logs in self._section(order, blob, starts, slots):
                    seen += len(ids)
                    yield ids, np.maximum(logs, np.float32(ZERO))
                self._check_count(order, seen)
            line = self._next_line()
            if line is None:
                self._fail(r"no line '\end\'; the file is cut short")
            if line != rb"\end\ "[:-1]:
                self._fail(f"'{_shown(line)}' where '\\end\\' was expected")

    def line_of(self, row: int) -> int:
        """Return the line of an n-gram of the part that `blocks` yielded last; not for unigrams."""
        line, at = self._part
        rows = (number for number, text in enumerate(self._text[at : self._at].split(b"\n"), line) if text.strip())
        return next(islice(rows, row, None))

    # The head and what is between sections

    def _next_line(self) -> bytes | None:
        """Return the next line that is not blank, stripped, or None at the end."""
        while True:
            while self._at >= len(self._text):
                self._text, self._at = next(self._blocks, b""), 0
                if not self._text:
                    return None
            end = self._text.find(b"\n", self._at)
            end = len(self._text) if end < 0 else end
            line = self._text[self._at : end].strip()
            self._at = end + 1
            self._line += 1
            if line:
                return line

    def _fail(self, problem: str, line: int | None = None) -> NoReturn:
        raise DataError(self.path, line or self._line or None, problem)

    def _head(self) -> list[int]:
        line = self._next_line()
        while line is not None and line != rb"\data\ "[:-1]:
            line = self._next_line() if self._line < 1000 else None
        if line is None:
            raise DataError(self.path, None, r"is not an ARPA file: there is no line '\data\'")
        counts: list[int] = []
        while (line := self._next_line()) is not None and not line.startswith(b"\\"):
            found = _COUNT.fullmatch(line)
            if not found or int(found[1]) != len(counts) + 1:
                self._fail(f"'{_shown(line)}' where 'ngram {len(counts) + 1}=COUNT' was expected")
            counts.append(int(found[2]))
        if not counts:
            self._fail("no 'ngram 1=COUNT' in the head")
        self._expect(line, 1)
        return counts

    def _expect(self, line: bytes | None, order: int) -> None:
        if line is None:
            self._fail(f"the file ends where '\\{order}-grams:' was expected; it is cut short")
        found = _SECTION.fullmatch(line)
        if not found or int(found[1]) != order:
            self._fail(f"'{_shown(line)}' where '\\{order}-grams:' was expected")

    def _check_count(self, order: int, seen: int) -> None:
        if seen != self.counts[order - 1]:
            self._fail(f"{seen} {order}-grams, but the head of the file says {self.counts[order - 1]}")

    # Sections

    def _section(
        self, order: int, blob: np.ndarray, starts: np.ndarray, slots: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield (text spans, ids, logs) of a section, whose title has been read for unigrams alone."""
        from aligntools.formats.translation import kernels_arpa as kernels

        if order > 1:
            self._expect(self._next_line(), order)
        passed = np.zeros(1, np.int64)
        while True:
            if self._at >= len(self._text):
                self._text, self._at = next(self._blocks, b""), 0
                if not self._text:
                    return
            text = np.frombuffer(self._text, np.uint8)
            spans = np.empty((_ROWS if order == 1 else 0, 2), np.int64)
            ids, logs = np.empty((_ROWS, order), np.int32), np.empty((_ROWS, 2), np.float32)
            passed[0], self._part = 0, (self._line + 1, self._at)
            rows, self._at, status = kernels.parse_ngrams(text, self._at, blob, starts, slots, spans, ids, logs, passed)
            self._line += int(passed[0])
            if rows:
                yield spans[:rows], ids[:rows], logs[:rows]
            if status == kernels.SECTION:
                return
            if status not in (kernels.END, kernels.FULL):
                line = self._next_line() or b""
                found = f"{len(line.split())} fields; a {order}-gram has {order + 1}, or {order + 2} with its backoff"
                problem = {
                    kernels.FIELDS: found,
                    kernels.NUMBER: "a logarithm was expected first, and after the words if there is more",
                    kernels.WORD: "a word that is not among the 1-grams",
                    kernels.POSITIVE: "a probability above 1",
                }[status]
                self._fail(f"'{_shown(line)}': {problem}")

    def _unigrams(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return ids and logs of all unigrams, and the lines of those words that are not `CONTROL`."""
        words: list[bytes] = []
        parts: list[np.ndarray] = []
        numbers: list[np.ndarray] = []
        none = np.zeros(0, np.uint8), np.zeros(1, np.int64), np.zeros(1, np.int32)
        for spans, _, part in self._section(1, *none):
            text = self._text
            words += [text[a:b] for a, b in spans.tolist()]
            parts.append(np.maximum(part, np.float32(ZERO)))
            line, at = self._part
            ends = np.flatnonzero(np.frombuffer(text, np.uint8)[at : self._at] == ord("\n"))
            numbers.append(line + np.searchsorted(ends, spans[:, 0] - at))
        self._check_count(1, len(words))
        logs = np.concatenate(parts) if parts else np.empty((0, 2), np.float32)
        places: dict[bytes, int | None] = {}
        for control in CONTROL:
            with_case = [control, b"<UNK>"] if control == b"<unk>" else [control]
            places[control] = next((words.index(name) for name in with_case if name in words), None)
            if places[control] is None and control != b"<unk>":
                problem = f"has no {control.decode()} among its 1-grams; it cannot score sentences"
                raise DataError(self.path, None, problem)
        unknown_place, begin, end = places.values()
        self.has_unknown = unknown_place is not None
        rest = np.ones(len(words), bool)
        rest[[place for place in places.values() if place is not None]] = False
        order = np.flatnonzero(rest)
        self.vocabulary = Vocabulary.from_bytes([b"<s>", b"</s>", *(words[k] for k in order.tolist())])
        unknown = logs[unknown_place] if unknown_place is not None else np.array([UNKNOWN, 0], np.float32)
        table = np.concatenate(
            [unknown[None], logs[[place for place in (begin, end) if place is not None]], logs[order]]
        )
        lines = np.concatenate(numbers)[order] if numbers else order
        return np.arange(len(table), dtype=np.int32)[:, None], table, lines


def write_arpa(
    path: str, vocabulary: Vocabulary, counts: Sequence[int], blocks: Iterable[tuple[np.ndarray, np.ndarray]]
) -> None:
    """Write an ARPA file.

    vocabulary: Words by id; NULL is written as <unk>.
    blocks: As `ArpaReader.blocks` yields them: orders ascending, ``counts`` of each in all.
    """
    from aligntools.formats.translation import kernels_arpa as kernels

    blob, starts = with_unknown(vocabulary)
    lengths = np.diff(starts)
    with files.writing(path) as out:
        head = "".join(f"ngram {order}={count}\n" for order, count in enumerate(counts, 1))
        out.write(f"\\data\\\n{head}".encode())
        written = 0
        for ids, logs in blocks:
            while written < ids.shape[1]:
                written += 1
                out.write(f"\n\\{written}-grams:\n".encode())
            for begin in range(0, len(ids), _ROWS):
                part = np.ascontiguousarray(ids[begin : begin + _ROWS], np.int32)
                numbers = np.ascontiguousarray(logs[begin : begin + _ROWS], np.float32)
                text = np.empty(len(part) * 40 + int(lengths[part].sum()) + part.size, np.uint8)
                size = kernels.format_ngrams(blob, starts, part, numbers, written < len(counts), text)
                out.write(text[:size].tobytes())
        for order in range(written + 1, len(counts) + 1):
            out.write(f"\n\\{order}-grams:\n".encode())
        out.write(b"\n\\end\\\n")


def with_unknown(vocabulary: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    """Return a vocabulary's words, joined, and where each begins, with <unk> for NULL."""
    name = np.frombuffer(CONTROL[0], np.uint8)
    starts = vocabulary.starts + len(name)
    starts[0] = 0
    return np.concatenate([name, vocabulary.blob]), starts


def _shown(text: bytes) -> str:
    shown = text.decode("utf-8", "replace").replace("\t", " ")
    return shown if len(shown) <= 60 else shown[:60] + "..."
