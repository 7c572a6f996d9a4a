"""Whether plain text has its words between spaces: a hint where punctuation is attached to them."""

import logging
import os
import re

#: A word with punctuation behind it, or a quotation mark or bracket before it, between spaces.
_HANGING = re.compile(r"(?<!\S)(?:\S*\w[.,;:!?][\"'”’»)\]]*|[\"“„«(\[]\w\S*)(?!\S)")
#: Tokenized text has up to 4 % of such words (abbreviations and slips), raw text 9 % and more.
_SHARE, _FEWEST, _GLANCE = 0.06, 6, 1 << 16
_log = logging.getLogger("aligntools.hints")


def looks_untokenized(block: bytes) -> bool:
    """Tell whether many of the words at the beginning of a text have punctuation on them."""
    text = block[:_GLANCE].decode("utf-8", "ignore")
    hanging = len(_HANGING.findall(text))
    return hanging >= _FEWEST and hanging >= _SHARE * len(text.split())


def hint(path: object, block: bytes) -> None:
    """Log, once for a run, that a file, of which this is the beginning, looks untokenized."""
    if isinstance(path, (str, os.PathLike)) and looks_untokenized(block):
        shown = "<stdin>" if str(path) == "-" else path
        advice = "words would be taken with it (see `tokenize` of `align()` and `Tagger.tag_text()`)"
        once = {"once": "untokenized"}
        _log.warning("%s: looks untokenized: many words have punctuation on them; %s", shown, advice, extra=once)
