"""Raw text tokenized while it is read, so that links can be brought back to the words of the text."""

from collections.abc import Callable, Sequence

from aligntools.formats.text.exchange import format_of
from aligntools.formats.text.raw_pairs import LineSpool, Queue, RawPairs, Sides, Through
from aligntools.words import malformed
from aligntools.words.tokenizing import tokenizers
from aligntools.words.white_space import as_spaces, split_of


class _Tokenizing(Through):
    """An open text whose lines are tokenized as they are read."""

    def __init__(
        self,
        text: object,
        path: object,
        tokenizers: Sequence[Callable[[bytes], bytes]],
        format: str | None,
        keep: Callable[[bytes], object],
    ) -> None:
        super().__init__(text, path, keep)
        self.splitting = split_of(text)
        self._tokenizers = tokenizers
        self._format = format

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return the next line, tokenized; one that is longer than ``size`` as it is, in parts."""
        line: bytes = self._file.readline(size)
        if line.endswith(b"\n") or size is None or size < 0 or len(line) < size:
            end = b"\n" if line.endswith(b"\n") else b""
            line = self._tokenized(line.removesuffix(b"\n").removesuffix(b"\r")) + end
        self._keep(line)
        return line

    def read1(self, _size: int = -1, /) -> bytes:
        """Return what is there: a line."""
        return self.readline()

    def read(self, size: int | None = -1, /) -> bytes:
        """Return lines of about ``size`` bytes."""
        parts, length = [], 0
        while (size is None or size < 0 or length < size) and (line := self.readline()):
            parts.append(line)
            length += len(line)
        return b"".join(parts)

    def _tokenized(self, line: bytes) -> bytes:
        if self.splitting == "unicode":
            line = as_spaces(line)
        if self._format is None:
            return self._tokenizers[0](line)
        self._format = format_of(self, self._format)
        if self._format == "auto":
            self._format = malformed.format_of(line) or "auto"
        sides = line.split(b"\t") if self._format == "tsv" else malformed.SEPARATOR.split(line)
        if len(sides) != 2:
            return line
        tokens = [tokenize(side) for tokenize, side in zip(self._tokenizers, sides, strict=True)]
        if self._format == "tsv":
            return b"\t".join(tokens)
        return line if any(malformed.SEPARATOR.search(side) for side in tokens) else b" ||| ".join(tokens)


class TokenizedPairs(RawPairs):
    """Parallel text tokenized as other readers read it, and its tokens line by line for a second reading.

    raw: The text.
    languages: Of both sides, such as ``de-en``; ``icu`` is ICU's rules for all languages.
    keep: Where tokens are kept: ``disk`` or ``memory``.
    name: ``moses`` or ``icu``.
    """

    def __init__(self, raw: RawPairs, languages: str, keep: str, name: str = "moses") -> None:
        self.joint, self.line, self.paths, self.copy = raw.joint, 0, raw.paths, None
        finders = tokenizers(languages, name)
        format = raw.format
        self._texts, inputs = [], []
        for number, text in enumerate(raw.inputs[: 1 if raw.joint else 2]):
            store = Queue() if keep == "memory" else LineSpool()
            own = finders if raw.joint else finders[number : number + 1]
            inputs.append(_Tokenizing(text, raw.paths[number], own, format, store.write))
            self._texts.append(Sides(raw.paths[number], None, format, store, inputs[-1]))
        self.inputs = (*inputs, None)[:2]
