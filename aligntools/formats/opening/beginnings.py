"""The beginning of a text file, and how long the whole seems to be."""

import io
import os
import stat

from aligntools.formats.opening import live_inputs
from aligntools.formats.opening.recognizing import Recognized

#: Bytes of the text that are read.
READ = 1 << 20


#: Bytes of standard input that are looked at.
_LOOK = 1 << 16


def beginning_of_input(path: str) -> bytes:
    """Return the text that a file begins with, or standard input (``-``), which is read from there again.

    Of a terminal, or where it cannot be read, it is empty.
    """
    if path != "-":
        return beginning(path)[0]
    try:
        if stat.S_ISREG(os.fstat(0).st_mode):
            with io.FileIO(os.dup(0)) as file:
                at = file.tell()
                found = file.read(_LOOK)
                file.seek(at)
        else:
            found = live_inputs.ahead(path, _LOOK)
        with io.BufferedReader(Recognized(io.BytesIO(found), path), READ) as text:
            return text.read(_LOOK)
    except Exception:
        return b""


def beginning(path: str) -> tuple[bytes, int]:
    """Return the text that a file begins with, up to a newline, and about how many bytes of text the whole has.

    A file that cannot be read, or is damaged, has none: its reader says what is wrong with it. Nor has a
    pipe, which can be read only once.
    """
    if not os.path.isfile(path):
        return b"", 0
    try:
        size = os.path.getsize(path)
        raw = io.FileIO(path)
        recognized = Recognized(raw, path, translate=getattr(path, "translated", None))
        with io.BufferedReader(recognized, READ) as file:
            text = file.read(READ)
            whole = size
            if recognized.packed:
                whole = len(text) if len(text) < READ else int(size * len(text) / raw.tell())
    except Exception:
        return b"", 0
    end = text.rfind(b"\n") + 1
    return text[: end or len(text)], whole
