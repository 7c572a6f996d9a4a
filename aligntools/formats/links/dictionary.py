"""Dictionaries of two languages: their entries, whatever program wrote them, told apart by what a file has in it.

A file is text with a word, a tab and its translations on each line, the index or the articles of a dictd dictionary
(`dictd`), or a bilingual dictionary of Apertium (`apertium`).
"""

from collections.abc import Iterator

from aligntools.formats.links import apertium, dictd
from aligntools.formats.links.entries import Entry, plain
from aligntools.formats.opening import files
from aligntools.ground.errors import DataError
from aligntools.ground.ranges import shown
from aligntools.words.white_space import is_blank

#: Largest weight of an entry.
MUCH = 1e6
_FORM = "a word, a tab and its translation were expected (several with ; between them, and after another tab a weight)"


def read_dictionary(path: str) -> list[Entry]:
    """Read a dictionary of any of the known formats, plain or compressed.

    Returns each once, in the order of the file; what comes several times has its largest weight. Raises DataError when
    it cannot be read, is damaged, or has no entries.
    """
    with files.reading(path) as file:
        data = file.read()
    if dictd.is_index(data):
        found = dictd.read_by_index(path, data)
    elif dictd.is_articles(data):
        found = dictd.read_articles(path, data)
    elif apertium.is_dictionary(data):
        found = apertium.entries(path, data)
    else:
        found = _pairs(path, data)
    weights: dict[tuple[str, str], float] = {}
    for source, target, weight in found:
        if source and target:
            weights[source, target] = max(weight, weights.get((source, target), 0.0))
    if not weights:
        raise DataError(path, None, f"has no entries: on each line {_FORM}")
    return [Entry(*pair, weight) for pair, weight in weights.items()]


def _pairs(path: str, data: bytes) -> Iterator[Entry]:
    """Yield the entries of text with tabs."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if is_blank(line) or line.startswith(b"#"):
            continue
        try:
            fields = line.decode().removesuffix("\r").split("\t")
        except UnicodeDecodeError:
            problem = "bytes that are not UTF-8 (convert the file, for instance with iconv)"
            raise DataError(path, number, problem) from None
        if "\0" in line.decode():
            raise DataError(path, number, f"is binary; {_FORM}")
        if not 2 <= len(fields) <= 3:
            raise DataError(path, number, f"'{shown(line.decode().strip())}' has {len(fields) - 1} tabs; {_FORM}")
        source, target = plain(fields[0]), fields[1].strip(" ")
        targets = [target] if target == ";" else [plain(one) for one in target.split(";")]
        if not source or not any(targets):
            raise DataError(path, number, f"'{shown(line.decode().strip())}' has an empty side; {_FORM}")
        weight = _weight(fields[2], path, number) if len(fields) == 3 else 1.0
        for one in filter(None, targets):
            yield Entry(source, one, weight)


def _weight(field: str, path: str, line: int) -> float:
    try:
        weight = float(field)
    except ValueError:
        weight = -1.0
    if not 0 <= weight <= MUCH:  # so is no number that is none
        raise DataError(path, line, f"'{shown(field)}' is not a weight from 0 to {MUCH:g}")
    return weight
