"""Text made visible: invisible characters, and bytes that are not text, become signs."""

import re

from aligntools.ground.errors import readable

#: The control characters, tabs and ends of lines too, and the signs that Unicode has for them.
_PICTURES = {code: chr(0x2400 + code) for code in range(32)} | {0x7F: "\u2421"}
#: C1 controls, halves of surrogate pairs, which stand for bytes that are not UTF-8, and what is not a character.
_REPLACED = re.compile("[\x80-\x9f\ud800-\udfff\ufffe\uffff]")


def visible(text: str) -> str:
    r"""Return text with a sign in the place of each control character and of each byte that is not UTF-8.

    What is returned can be put into UTF-8, HTML and XML 1.0, and does nothing to a terminal but to be shown.

    >>> visible("a\x00b\x1b[31m")
    'a␀b␛[31m'
    """
    if text.isascii() and text.isprintable():
        return text
    return _REPLACED.sub("\ufffd", readable(text, "surrogateescape").translate(_PICTURES))
