"""Raw text tokenized while it is read, by sacremoses, so that links can be brought back to the words of the text."""

import re

from aligntools.formats import malformed
from aligntools.formats.raw_pairs import Queue, RawPairs, Sides, Spool, Through
from aligntools.ground.errors import UsageProblem

_BOM = b"\xef\xbb\xbf"
_LANGUAGES = re.compile(r"([a-z]{2,3})-([a-z]{2,3})")


def languages_of(pair: str) -> tuple[str, str]:
    """Return the two languages of a pair such as ``de-en``."""
    found = _LANGUAGES.fullmatch(pair)
    if not found:
        raise UsageProblem(f"--tokenize takes the languages of both sides, such as de-en, not '{pair}'")
    return found[1], found[2]


class Tokenizer:
    """Moses' tokenizer for a language; tokens spell the text's words, and none of them goes across a space."""

    def __init__(self, language: str):
        try:
            from sacremoses import MosesTokenizer
        except ImportError:
            raise UsageProblem("--tokenize needs sacremoses: pip install 'aligntools[tokenize]'") from None
        self._tokenizer = MosesTokenizer(language)

    def __call__(self, line: bytes) -> bytes:
        """Return a line with spaces between tokens; as it is where its tokens would not spell it."""
        try:
            words = line.decode().replace("\t", " ").split(" ")
        except UnicodeDecodeError:
            return line
        spelled = "".join(words)
        tokens = self._tokens(" ".join(words))
        if "".join(tokens) != spelled:  # what Moses replaces, such as two apostrophes
            tokens = [token for word in words if word for token in self._word(word)]
        return " ".join(tokens).encode()

    def _tokens(self, text: str) -> list[str]:
        found = self._tokenizer.tokenize(text, escape=False)
        return [part for token in found for part in token.split(" ") if part]

    def _word(self, word: str) -> list[str]:
        tokens = self._tokens(word)
        return tokens if "".join(tokens) == word else [word]


class _Tokenizing(Through):
    """An open text whose lines are tokenized as they are read."""

    def __init__(self, text, path, languages, format, keep):
        super().__init__(text, path, keep)
        self._tokenizers = [Tokenizer(language) for language in languages]
        self._format, self._first = format, True

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return the next line, tokenized; one that is longer than ``size`` as it is, in parts."""
        line = self._file.readline(size)
        if self._first:
            line, self._first = line.removeprefix(_BOM), False
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
        if self._format is None:
            return self._tokenizers[0](line)
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

    Parameters
    ----------
    raw : RawPairs
        The text.
    languages : str
        Of both sides, such as ``de-en``.
    keep : str
        Where tokens are kept: ``disk`` or ``memory``.
    """

    def __init__(self, raw: RawPairs, languages: str, keep: str) -> None:
        self.joint, self.line, self.paths = raw.joint, 0, raw.paths
        known, format = languages_of(languages), raw.format
        self._texts, inputs = [], []
        for number, text in enumerate(raw.inputs[: 1 if raw.joint else 2]):
            store, own = (Queue() if keep == "memory" else Spool()), known if raw.joint else known[number : number + 1]
            inputs.append(_Tokenizing(text, raw.paths[number], own, format, store.write))
            self._texts.append(Sides(raw.paths[number], None, format, store))
        self.inputs = (*inputs, None)[:2]
