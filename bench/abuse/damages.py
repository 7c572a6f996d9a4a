"""What is done to input files, in fixed ways and at random."""

import gzip
import json
import lzma
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

#: Kinds of text; binary models have damages of their own too (`bench.abuse.model_damages`).
PLAIN = ("text", "joint")
LINKS = ("links", "gold")
#: A word of a megabyte, and a sentence of so many words.
LONG_WORD, LONG_SENTENCE, NESTED = 1 << 20, 30_000, 100_000
#: What is far longer than anything: words of a line and of a tree, bytes of a word, tags of a segment, how deep things
#: lie within each other, and words beside one.
WORDS, TREE, BYTES, TAGS, DEEP, BESIDE = 100_000, 2_000, 10 << 20, 10_000, 3_000, 2_000


@dataclass(frozen=True)
class Damage:
    """A way to damage a file.

    Attributes
    ----------
    name : str
    apply : callable
        Takes the file's bytes and a `random.Random`, returns bytes.
    kinds : tuple of str
        Kinds of input that it is for; empty is all of text.
    neutral : bool
        The result must be that of the undamaged file.
    suffix : str
        Added to the file's name.
    whole : bool
        What is wrong is wrong with the whole file: a complaint need not name a line.
    """

    name: str
    apply: Callable[[bytes, random.Random], bytes]
    kinds: tuple[str, ...] = ()
    neutral: bool = False
    suffix: str = ""
    whole: bool = False

    def suits(self, kind: str) -> bool:
        """Tell whether it is for files of a kind."""
        return kind in self.kinds if self.kinds else True


def _middle(data, piece):
    """Put a piece after the middle line's end."""
    at = data.find(b"\n", len(data) // 2) + 1
    return data[:at] + piece + data[at:]


def _within(data, piece):
    """Put a piece after the first space or tab of the middle line."""
    at = data.find(b"\n", len(data) // 2) + 1
    found = re.compile(rb"[ \t]").search(data, at)
    at = found.end() if found else at
    return data[:at] + piece + data[at:]


def _numbers(value):
    """Replace a number in the middle by another."""

    def apply(data, _):
        found = list(re.finditer(rb"(?<![\w.])-?\d+(\.\d+)?([eE][-+]?\d+)?", data))
        if not found:
            return _within(data, value + b" ")
        at = found[len(found) // 2]
        return data[: at.start()] + value + data[at.end() :]

    return apply


def _every_number(value):
    def apply(data, _):
        return re.sub(rb"(?<![\w.])-?\d+(\.\d+)?([eE][-+]?\d+)?", value, data)

    return apply


def _lines(change):
    """Apply a change to the list of lines, their ends kept."""

    def apply(data, rng):
        return b"".join(change(data.splitlines(keepends=True), rng))

    return apply


def _long_sentence(data, _):
    line = b" ".join(b"w%d" % (k % 997) for k in range(LONG_SENTENCE))
    return _middle(data, (line + b" ||| " + line if b" ||| " in data else line) + b"\n")


def _words(count, tag=b""):
    return b"".join(b"w%d%s " % (k % 997, tag) for k in range(count))


def _beside(first, second):
    """Put words on both sides of the middle pair of a joint file."""

    def apply(data, _):
        lines = data.split(b"\n")
        separator = b"\t" if b"\t" in data else b" ||| "
        lines[len(lines) // 2] = _words(first) + separator.lstrip() + _words(second)
        return b"\n".join(lines)

    return apply


def _in_markup(piece):
    """Put a piece at the begin of text between tags: of the first paragraph, source or segment, or of a line."""

    def apply(data, _):
        found = re.search(rb"<(p|source|seg)\b[^>]*>", data)
        return data[: found.end()] + piece + data[found.end() :] if found else _within(data, piece)

    return apply


def _long_tree(nested):
    """Put a sentence of CoNLL into the middle in which each word's head is the first one, or the word before it."""

    def apply(data, _):
        at = data.find(b"\n\n", len(data) // 2) + 2
        row = next((line for line in data.split(b"\n") if line.count(b"\t") >= 9 and line[:1].isdigit()), None)
        if row is None:
            return _middle(data, _words(TREE) + b"\n")
        fields, rows = row.split(b"\t"), []
        for k in range(1, TREE + 1):
            fields[0] = b"%d" % k
            for column in (6,) if len(fields) == 10 else (8, 9):
                fields[column] = b"%d" % (k - 1 if nested else min(k - 1, 1))
            rows.append(b"\t".join(fields))
        return data[:at] + b"\n".join(rows) + b"\n\n" + data[at:]

    return apply


def _utf16(data, _):
    return data.decode("utf-8", "replace").encode("utf-16")


def _latin1(data, _):
    return _within(data, "Fähre".encode("latin-1") + b" ")


def _no_columns(data, _):
    at = data.find(b"\n", len(data) // 2) + 1
    end = data.find(b"\n", at)
    line = re.sub(rb"[ \t].*", b"", data[at:end])
    return data[:at] + line + data[end:]


def _columns(data, _):
    at = data.find(b"\n", len(data) // 2) + 1
    end = data.find(b"\n", at)
    return data[:end] + b"\tx y\t7 ||| 8\t9" + data[end:]


def _conll(column, value):
    def apply(data, _):
        lines = data.split(b"\n")
        places = [k for k, line in enumerate(lines) if line.count(b"\t") == 9]
        if places:
            fields = lines[places[len(places) // 2]].split(b"\t")
            fields[column] = value
            lines[places[len(places) // 2]] = b"\t".join(fields)
        return b"\n".join(lines)

    return apply


def _weights(name, value):
    """Put a value in place of the first entry of a name, at any depth, or add it."""

    def change(held):
        if isinstance(held, dict):
            if name in held:
                held[name] = value
                return True
            return any(change(v) for v in held.values())
        return False

    def apply(data, _):
        held = json.loads(data)
        if not change(held):
            held[name] = value
        return json.dumps(held).encode()

    return apply


def _each_value(value):
    """Replace every number of a JSON file."""

    def change(held):
        if isinstance(held, dict):
            return {k: change(v) for k, v in held.items()}
        if isinstance(held, list):
            return [change(v) for v in held]
        return value if isinstance(held, int | float) and not isinstance(held, bool) else held

    return lambda data, _: json.dumps(change(json.loads(data))).encode()


#: Kinds with sentences in them, those with tags of XML, and those of whose tags any are text.
_SENTENCES = ("text", "joint", "markup")
_MARKUP = ("markup", "html", "xliff", "tmx")
_JSON = ("weights",)
_CONLL = ("conll",)
#: Kinds with numbers in them, and all that are text. A kind of input is in one of these, or binary (a test).
_COUNTED = (
    *("links", "gold", "conll", "arpa", "grammar", "moses", "ttable", "vcb", "snt", "giza", "bal", "weights", "priors"),
    *(
        "types",
        "vectors",
        "cn",
        "plf",
        "numbered",
        "classes",
        "jsonl",
        "log",
        "pairs",
        "dix",
        "tmx",
        "markup",
        "xliff",
        "html",
        "glossary",
        "found",
        "brackets",
    ),
)
TEXT = ("text", "joint", "tagged", "columns", *_COUNTED)
#: Kinds that are the same packed or without a last newline: readers of JSON lines show the file's name, which differs,
#: and of web pages everything else stays as it is.
_SAME = tuple(kind for kind in TEXT if kind not in ("jsonl", "html"))
#: Kinds whose lines mean the same with other line ends.
_ENDS = tuple(kind for kind in _SAME if kind != "weights")

FIXED = (
    Damage("cut in the middle", lambda d, _: d[: len(d) // 2]),
    Damage("cut by a byte", lambda d, _: d[:-2]),
    Damage("empty", lambda d, _: b"", whole=True),
    Damage("a newline alone", lambda d, _: b"\n"),
    Damage("blank lines alone", lambda d, _: b"\n" * max(1, d.count(b"\n"))),
    Damage("spaces alone", lambda d, _: b" \t \n" * max(1, d.count(b"\n"))),
    Damage("zeros", lambda d, _: bytes(len(d)), whole=True),
    Damage("a NUL", lambda d, _: _within(d, b"\0 ")),
    Damage("UTF-16", _utf16, whole=True),
    Damage("Latin-1", _latin1),
    Damage("byte-order mark", lambda d, _: b"\xef\xbb\xbf" + d, _ENDS, neutral=True),
    Damage("CR LF", lambda d, _: d.replace(b"\n", b"\r\n"), _ENDS, neutral=True),
    Damage("CR", lambda d, _: d.replace(b"\n", b"\r"), whole=True),
    Damage("U+2028", lambda d, _: _within(d, "a\u2028b\u0085c\v\fd ".encode())),
    Damage("no last newline", lambda d, _: d.rstrip(b"\n"), _SAME, neutral=True),
    Damage("a word of a megabyte", lambda d, _: _within(d, b"x" * LONG_WORD + b" ")),
    Damage("a long sentence", _long_sentence),
    Damage("a line of 100,000 words", lambda d, _: _within(d, _words(WORDS)), _SENTENCES),
    Damage("a line of 100,000 tagged words", lambda d, _: _within(d, _words(WORDS, b"_NN")), ("tagged",)),
    Damage("a word of 10 MB", lambda d, _: _within(d, b"x" * BYTES + b" "), _SENTENCES),
    Damage("a word of 10 MB with hyphens", lambda d, _: _within(d, b"x-" * (BYTES // 2) + b"x "), _SENTENCES),
    Damage("one word beside 2,000", _beside(1, BESIDE), ("joint",)),
    Damage("2,000 words beside one", _beside(BESIDE, 1), ("joint",)),
    Damage("2,000 words beside 2,000", _beside(BESIDE, BESIDE), ("joint",)),
    Damage("10,000 tags", _in_markup(b"<b>x</b> " * TAGS), _MARKUP),
    Damage("3,000 tags within each other", _in_markup(b"<b>x " * DEEP + b"</b>" * DEEP), _MARKUP),
    Damage("3,000 brackets deep", lambda d, _: _middle(d, b"(NP " * DEEP + b"(NN x)" + b")" * DEEP + b"\n"),
           ("brackets",)),
    Damage("brackets in text", lambda d, _: _within(d, b"( " * DEEP + b"x " + b") " * DEEP), _SENTENCES),
    Damage("a tree of 2,000 words", lambda d, _: _middle(d, b"(S " + b"(NN x) " * TREE + b")\n"), ("brackets",)),
    Damage("a sentence of 2,000 words", _long_tree(False), ("conll",)),
    Damage("heads 2,000 deep", _long_tree(True), ("conll",)),
    Damage("a line dropped", _lines(lambda lines, _: lines[: len(lines) // 2] + lines[len(lines) // 2 + 1 :])),
    Damage("a line twice", _lines(lambda lines, _: lines[: len(lines) // 2] + lines[len(lines) // 2 - 1 :])),
    Damage("a blank line", lambda d, _: _middle(d, b"\n")),
    Damage("a line of noise", lambda d, _: _middle(d, bytes(range(1, 256)).replace(b"\n", b"") + b"\n")),
    Damage("separators", lambda d, _: _middle(d, b"||| ||| ||| ||| |||\n")),
    Damage("a separator within", lambda d, _: _within(d, b"||| ")),
    Damage("fewer columns", _no_columns),
    Damage("more columns", _columns),
    Damage("lines reversed", _lines(lambda lines, _: lines[::-1])),
    Damage("said to be .gz", lambda d, _: d, suffix=".gz", whole=True),
    Damage("said to be .xz", lambda d, _: d, suffix=".xz", whole=True),
    Damage("said to be .zst", lambda d, _: d, suffix=".zst", whole=True),
    Damage("packed, not said", lambda d, _: gzip.compress(d, mtime=0), ("model",), whole=True),
    Damage("packed, not said: text", lambda d, _: gzip.compress(d, mtime=0), _SAME, neutral=True),
    Damage("packed by xz, not said", lambda d, _: lzma.compress(b"\xef\xbb\xbf" + d), _ENDS, neutral=True),
    Damage("packed, cut", lambda d, _: gzip.compress(d, mtime=0)[:-9], TEXT, suffix=".gz", whole=True),
    Damage("packed, damaged", lambda d, _: _flipped(gzip.compress(d, mtime=0)), TEXT, suffix=".gz", whole=True),
    Damage("a number past 32 bits", _numbers(b"4294967297"), _COUNTED),
    Damage("a number past 64 bits", _numbers(b"18446744073709551617"), _COUNTED),
    Damage("a long number", _numbers(b"9" * 5000), _COUNTED),
    Damage("a negative number", _numbers(b"-3"), _COUNTED),
    Damage("nan", _numbers(b"nan"), _COUNTED),
    Damage("inf", _numbers(b"inf"), _COUNTED),
    Damage("1e999", _numbers(b"1e999"), _COUNTED),
    Damage("every number 0", _every_number(b"0"), _COUNTED),
    Damage("every number nan", _every_number(b"nan"), _COUNTED),
    Damage("every number large", _every_number(b"999999999"), _COUNTED),
    Damage("a head past the end", _conll(6, b"99"), _CONLL),
    Damage("a head of a word", _conll(6, b"x"), _CONLL),
    Damage("an id twice", _conll(0, b"1"), _CONLL),
    Damage("no tag", _conll(3, b""), _CONLL),
    Damage("nested objects", lambda d, _: b'{"a":' * NESTED + b"1" + b"}" * NESTED, _JSON, whole=True),
    Damage("nested lists", lambda d, _: b"[" * NESTED + b"]" * NESTED, _JSON, whole=True),
    Damage("a list", lambda d, _: b"[1, 2, 3]", _JSON, whole=True),
    Damage("null", lambda d, _: b"null", _JSON, whole=True),
    Damage("numbers null", _each_value(None), _JSON, whole=True),
    Damage("numbers text", _each_value("x"), _JSON, whole=True),
    Damage("numbers true", _each_value(True), _JSON, whole=True),
    Damage("numbers NaN", _each_value(float("nan")), _JSON, whole=True),
    Damage("numbers Infinity", _each_value(float("inf")), _JSON, whole=True),
    Damage("numbers 1e300", _each_value(1e300), _JSON, whole=True),
    Damage("numbers past 64 bits", _each_value(10**30), _JSON, whole=True),
    Damage("a name not known", _weights("no such thing", 1.0), _JSON, whole=True),
)  # fmt: skip


def _flipped(data):
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]


# At random


def _flip(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _byte(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _insert(data, rng):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.randint(1, 8)) + data[at:]


def _telling(data, rng):
    """Insert what often tells programs something."""
    at = rng.randrange(len(data) + 1)
    pieces = (b"\n", b"\t", b" ", b"||| ", b"-", b"_", b"/", b"0", b"-1", b"nan", b"1e400", b"[X,1]", b"\xff", b"\r",
              b"#", b"\\", b'"', b"{", b"\xc2", b"\xe2\x80\xa8", b"99999999999")  # fmt: skip
    return data[:at] + rng.choice(pieces) + data[at:]


def _delete(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.randint(1, max(1, min(64, len(data) // 4))) :]


def _splice(data, rng):
    """Write one part over another."""
    size = rng.randint(1, max(1, len(data) // 4))
    a, b = rng.randrange(len(data)), rng.randrange(len(data))
    return data[:a] + data[b : b + size] + data[a + size :]


def _double(data, rng):
    size = rng.randint(1, max(1, len(data) // 4))
    a, b = rng.randrange(len(data)), rng.randrange(len(data))
    return data[:a] + data[b : b + size] + data[a:]


def _swap(data, rng):
    """Exchange two fields."""
    fields = re.split(rb"([ \t\n])", data)
    a, b = (2 * rng.randrange((len(fields) + 1) // 2) for _ in range(2))
    fields[a], fields[b] = fields[b], fields[a]
    return b"".join(fields)


def _cut(data, rng):
    return data[: rng.randrange(len(data))]


RANDOM = (_flip, _byte, _insert, _telling, _delete, _splice, _double, _swap, _cut)


def at_random(data: bytes, rng: random.Random) -> bytes:
    """Damage a file in one to three random ways."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if data:
            data = rng.choice(RANDOM)(data, rng)
    return data
