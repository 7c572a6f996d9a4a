"""What in pieces of words is not a letter of the word: marks of schemes, special tokens, invisible characters.

SentencePiece's and BERT's normalizers drop some invisible characters, or make spaces of them; which ones
depends on the version. So they are ignored on both sides where words and pieces are compared.
"""

import re
import unicodedata
from functools import cache, lru_cache

#: SentencePiece's mark of a space, in UTF-8.
MARK = "▁".encode()
#: OpenNMT's mark of pieces that belong together, in UTF-8.
JOINER = "￭".encode()
#: What ends the last piece of a word, in the scheme ``end-of-word``.
END_OF_WORD = b"</w>"
#: What begins a piece after a space in the alphabet of GPT-2's bytes, in UTF-8.
BYTE_SPACE = "Ġ".encode()

#: Unicode's Default_Ignorable_Code_Point, and U+FFFD.
_IGNORABLE = (
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0xFFFD, 0xFFFD),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
#: The same and the control characters, as bytes of UTF-8; tabs and line ends separate words and lines.
INVISIBLE = re.compile(
    rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f\xad]|\xcd\x8f|\xd8\x9c|\xe1\x85[\x9f\xa0]|\xe1\x9e[\xb4\xb5]"
    rb"|\xe1\xa0[\x8b-\x8f]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xe3\x85\xa4|\xef\xb8[\x80-\x8f]"
    rb"|\xef\xbb\xbf|\xef\xbe\xa0|\xef\xbf[\xb0-\xb8\xbd]|\xf0\x9b\xb2[\xa0-\xa3]|\xf0\x9d\x85[\xb3-\xba]"
    rb"|\xf3\xa0[\x80-\xbf][\x80-\xbf]"
)
_SPECIAL = (
    rb"</?(?:s|pad|mask|bos|eos|cls|sep|S|PAD|MASK|BOS|EOS|CLS|SEP)>|\[(?:CLS|SEP|PAD|MASK|BOS|EOS)\]"
    rb"|<\|[^ \t\n|]+\|>|__[A-Za-z][A-Za-z_-]*__|<2[A-Za-z][A-Za-z_-]*>|>>[A-Za-z][A-Za-z_-]*<<"
)
#: Tokens that models put around sentences: they are pieces of no word.
SPECIAL = re.compile(rb"(?<![^ \t\n])(?:" + _SPECIAL + rb")(?![^ \t\n])")
#: Codes of languages, as mBART, M2M and NLLB put them at the beginning or the end.
LANGUAGE = re.compile(rb"[a-z]{2}_[A-Z]{2}|[a-z]{3}_[A-Z][a-z]{3}")
#: A byte that has no piece, as SentencePiece writes it.
BYTE = re.compile(rb"<0x([0-9A-Fa-f]{2})>")


def _byte_alphabet() -> dict[str, int]:
    """Return the byte that each character of GPT-2's alphabet stands for."""
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(printed)]
    return {chr(byte): byte for byte in printed} | {chr(256 + n): byte for n, byte in enumerate(others)}


_BYTES = _byte_alphabet()


@lru_cache(1 << 18)
def _decoded(token: str) -> bytes:
    if not all(c in _BYTES for c in token):
        return token.encode("utf-8", "surrogateescape")
    raw = bytes(_BYTES[c] for c in token)
    return MARK.join(re.split(rb"[ \t\r\n]", raw))


def from_byte_alphabet(line: bytes) -> bytes:
    """Return a line of pieces in GPT-2's alphabet of bytes as these bytes, with ``▁`` for each space in a piece."""
    text = line.decode("utf-8", "surrogateescape")
    return b" ".join(_decoded(token) for token in re.split("[ \t]+", text) if token)


def content(token: bytes, scheme: str | None) -> bytes:
    """Return a piece without its scheme's marks, but with every ``▁``; for ``<0xC3>`` and the like the byte."""
    byte = BYTE.fullmatch(token)
    if byte:
        return bytes([int(byte[1], 16)])
    if scheme == "bpe" and len(token) > 2:
        return token.removesuffix(b"@@")
    if scheme == "wordpiece" and len(token) > 2:
        return token.removeprefix(b"##")
    if scheme == "opennmt":
        return token.removeprefix(JOINER).removesuffix(JOINER)
    return token.removesuffix(END_OF_WORD) if scheme == "end-of-word" else token


def special(tokens: list[bytes]) -> list[bool]:
    """Return which tokens of a line are special ones."""
    found = [SPECIAL.fullmatch(token) is not None for token in tokens]
    for place in {0, len(tokens) - 1} if tokens else ():
        found[place] |= LANGUAGE.fullmatch(tokens[place]) is not None
    return found


@cache
def _is_invisible(c: str) -> bool:
    code = ord(c)
    return unicodedata.category(c) in ("Cc", "Cs") or any(a <= code <= b for a, b in _IGNORABLE)


@cache
def visible(c: str) -> str:
    """Return a character if it is a letter to be compared: no mark, no space, and one that is seen."""
    return "" if c == "▁" or c.isspace() or _is_invisible(c) else c


@cache
def folded(c: str) -> str:
    """Return a character without case, accents and compatibility forms."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", visible(c)).casefold())
    return "".join(one for one in plain if unicodedata.category(one) != "Mn" and visible(one))


def without_underscores(c: str) -> str:
    """Return a character folded, and nothing for ``_``, which joins the syllables of a word."""
    return "" if c == "_" else folded(c)
