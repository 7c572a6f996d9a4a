"""Text of any length read block by block, its words numbered by a lexicon that grows."""

from collections.abc import Iterator

import numpy as np

from aligntools.formats import files
from aligntools.formats.bitext import Side
from aligntools.formats.vocabulary import CompiledLexicon
from aligntools.ground.errors import DataError

_ROWS = 1 << 15
_BOM = b"\xef\xbb\xbf"


def stream_numbered(path, lexicon: CompiledLexicon, *, lowercase=False, block=1 << 22) -> Iterator[Side]:
    """Read text, a sentence a line, in parts; a blank line is a sentence without words.

    Words are what stands between spaces and tabs. The lexicon gets the new ones.

    Parameters
    ----------
    path : str
    lexicon : CompiledLexicon
    lowercase : bool
        Put the text in lower case (`str.lower`).
    block : int
        Bytes that are read at a time.

    Yields
    ------
    Side
        With the lexicon's numbers.

    Raises
    ------
    DataError
        When the file cannot be read, or for the first line that is not UTF-8.
    """
    from aligntools.formats import kernels_text

    table, line = np.empty((_ROWS, 8), np.int64), 0
    for number, text in enumerate(files.blocks_of_lines(path, block)):
        if number == 0:
            text = text.removeprefix(_BOM)
        if lowercase:
            try:
                text = text.decode().lower().encode()
            except UnicodeDecodeError as error:
                _not_utf8(path, line + 1 + text.count(b"\n", 0, error.start))
        at, array = 0, np.frombuffer(text, np.uint8)
        while at < len(text):
            rows, at = kernels_text.scan_lines(array, at, False, False, table)
            part = table[:rows]
            if not part[:, 7].all():
                _not_utf8(path, line + 1 + int(np.argmin(part[:, 7])))
            offsets = np.concatenate([[0], np.cumsum(part[:, 4])])
            tokens = np.empty(offsets[-1], np.int32)
            lexicon.encode(text, part, 0, np.ones(rows, bool), tokens)
            line += rows
            yield Side(tokens, offsets)


def _not_utf8(path, line):
    raise DataError(path, line, "bytes that are not UTF-8 (convert the file, for instance with iconv)")
