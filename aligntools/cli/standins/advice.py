"""What messages advise, in terms of the program that stands in: our flags mean other things there, or nothing."""

import contextlib
import re
from collections.abc import Iterator

from aligntools.cli import flags
from aligntools.ground.errors import AligntoolsError, ResourceError

#: What is said, and what is said instead.
_TERMS = (
    (r"one field; use -s and -t for two files", "one field; each line has both sides: source ||| target"),
    (r" --input-format (joint|tsv) (reads that|if it is not)", ""),
    (r", or a higher --max-memory", ""),
    (r"--max-memory sets another bound; ", ""),
    (r"a part of the text, or --fast, needs less", "a part of the text needs less"),
)


@contextlib.contextmanager
def in_own_terms() -> Iterator[None]:
    """Replace advice about options of ``aligntools`` in the errors of the block."""
    try:
        yield
    except MemoryError:
        raise ResourceError("out of memory; give a part of the text, or a machine with more") from None
    except AligntoolsError as error:
        message = flags.said(error)
        for theirs, instead in _TERMS:
            message = re.sub(theirs, instead, message)
        error.args = (message,)
        raise
