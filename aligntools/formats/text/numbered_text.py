"""Text of any length read block by block, its words numbered by a lexicon that grows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from aligntools.formats.annotation.tagged_text import plain_blocks
from aligntools.formats.opening import files
from aligntools.formats.text.corpus import Side
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import CompiledLexicon
from aligntools.words.white_space import WhiteSpace, as_spaces_of_models

_ROWS = 1 << 15


@dataclass(frozen=True)
class LineSource:
    """Lines of text, in memory (without their ends) or in a file, that are read block by block.

    begin, end: Of a plain file, the bytes that are read; see `files.line_ranges`. None is its end.
    """

    name: str
    lines: Iterable[bytes] | None = None
    begin: int = 0
    end: int | None = None

    def blocks(self, size: int, white: WhiteSpace | None = None) -> Iterator[bytes]:
        """Yield whole lines in blocks of about this many bytes, in which words are what KenLM separates.

        What other white space they hold is counted by ``white``, or told.
        """
        if self.lines is None:
            space = white or WhiteSpace(self.name, of_model=True)
            blocks = files.blocks_of_lines(self.name, size, self.begin, self.end)
            if self.begin:
                yield from map(space, blocks)
            else:
                yield from plain_blocks(self.name, blocks, space, convert=self.end is None)
            if white is None:
                space.tell()
            return
        some, held = [], 0
        for line in self.lines:
            some.append(line)
            held += len(line) + 1
            if held >= size:
                yield as_spaces_of_models(b"\n".join([*some, b""]))
                some, held = [], 0
        if some:
            yield as_spaces_of_models(b"\n".join([*some, b""]))


def stream_numbered(
    text: LineSource | str,
    lexicon: CompiledLexicon,
    *,
    lowercase: bool = False,
    block: int = 1 << 22,
    white: WhiteSpace | None = None,
) -> Iterator[Side]:
    """Read text, a sentence a line, in parts, with the lexicon's numbers; it gets the new words, as KenLM has them.

    white: Counts white space within words; None: it is told.
    """
    from aligntools.words import kernels_text

    source = text if isinstance(text, LineSource) else LineSource(str(text))
    table, line = np.empty((_ROWS, 8), np.int64), 0
    for data in source.blocks(block, white):
        if lowercase:
            files.check_utf8(data, source.name, line + 1)
            data = data.decode().lower().encode()
        at, array = 0, np.frombuffer(data, np.uint8)
        while at < len(data):
            rows, at = kernels_text.scan_lines(array, at, False, False, table)
            part = table[:rows]
            if not part[:, 7].all():
                raise DataError(source.name, line + 1 + int(np.argmin(part[:, 7])), files.NOT_UTF8)
            offsets = np.concatenate([[0], np.cumsum(part[:, 4])])
            tokens = np.empty(offsets[-1], np.int32)
            lexicon.encode(data, part, 0, np.ones(rows, bool), tokens)
            line += rows
            yield Side(tokens, offsets)
