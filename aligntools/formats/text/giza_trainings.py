"""What a training by GIZA++, MGIZA or ``align --giza-dir`` left in a folder: finding its files, reading them all."""

import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from aligntools.formats.links import giza as reading
from aligntools.formats.links.giza import FIRST as FIRST
from aligntools.formats.links.giza import JUMPS
from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import as_number
from aligntools.formats.opening.recognition import SUFFIXES, suffix_of
from aligntools.formats.text.corpus import Side
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import split_words

#: How names of files of tables end, before the suffix of a compression.
_TRANSLATIONS = ".t3.final"
_TABLE = re.compile(r"(.+)\.(?:[ant]3|[dD][34]|p0_3)\.final")
#: Which settings name the vocabularies of the words that generate, and of those that are generated; and how MGIZA's
#: copies of them are called.
_log = logging.getLogger("aligntools")
_VOCABULARIES = (("s", "sourcevocabularyfile", "trn.src.vcb"), ("t", "targetvocabularyfile", "trn.trg.vcb"))


@dataclass(frozen=True, eq=False)
class GizaTraining:
    """One direction's tables; pairs are of the words that generate, and of those that are generated.

    ``heads`` and ``others`` are of IBM 4, ``distortions`` of IBM 3 where there is no IBM 4, ``jumps`` and ``first``
    (float64) of the HMM.
    """

    prefix: str
    words: tuple[dict[int, bytes], dict[int, bytes]]
    classes: tuple[dict[bytes, int], dict[bytes, int]] | None
    translations: reading.Entries
    fertilities: reading.Entries
    p0: float
    heads: reading.Entries | None
    others: reading.Entries | None
    distortions: reading.Entries | None
    jumps: np.ndarray | None
    first: np.ndarray | None
    settings: dict[str, str]

    def number(self, name: str, otherwise: float) -> float:
        """Return a setting from 0 to 1."""
        found = as_number(self.settings.get(name, str(otherwise)))
        if not 0 <= found <= 1:
            path = f"{self.prefix}.gizacfg"
            raise DataError(path, None, f"{name} is '{self.settings[name]}'; expected a number from 0 to 1")
        return found


def read_trainings(folder: str | os.PathLike[str]) -> tuple[GizaTraining | None, GizaTraining | None]:
    """Read the training of each direction in a folder, forward and reverse; None where there is none.

    Names of files begin with ``forward`` and ``reverse``; one training alone of another name is the forward one.
    """
    place = Path(folder)
    files = (_TABLE.fullmatch(path.name.removesuffix(suffix_of(path.name))) for path in place.iterdir())
    names = sorted({found[1] for found in files if found})
    if not names:
        problem = "is a directory without GIZA++'s tables; expected a model file, or PREFIX.t3.final"
        raise DataError(folder, None, problem)
    if len(names) == 1:
        both: tuple[str | None, str | None] = (None, names[0]) if names[0] == "reverse" else (names[0], None)
    elif names == ["forward", "reverse"]:
        both = "forward", "reverse"
    else:
        found = ", ".join(names[:3])
        raise DataError(folder, None, f"has tables of {found}; expected one training, or 'forward' and 'reverse'")
    forward, reverse = (read_training(os.fspath(place / name)) if name else None for name in both)
    if forward and reverse:
        for a, b in ((0, 1), (1, 0)):
            if forward.words[a] != reverse.words[b]:
                raise DataError(folder, None, "the trainings have different vocabularies; expected two of one text")
            if forward.classes and reverse.classes and forward.classes[a] != reverse.classes[b]:
                raise DataError(folder, None, "the trainings have different classes; expected two of one text")
        if (forward.heads is None) != (reverse.heads is None):
            raise DataError(folder, None, "one training is of IBM 4 and the other of IBM 3; expected the same model")
        if (forward.jumps is None) != (reverse.jumps is None):
            missing = f"{(forward if forward.jumps is None else reverse).prefix}.{JUMPS}"
            raise DataError(missing, None, "is not there, and that of the other direction is; expected both or neither")
    else:
        direction = "forward" if forward else "reverse"
        _log.info("%s: tables of one training, %s; its links are of the %s direction", folder, names[0], direction)
    return forward, reverse


@dataclass(frozen=True)
class TrainingFiles:
    """The files of one direction's training; pairs are of the words that generate, and of those that are generated.

    translations, fertilities, distortions: ``t3``, ``n3``, ``d3``; the last is read where there are no ``distances``.
    p0: The file ``p0_3``, or what it would say. distances: ``d4`` and ``D4``, of IBM 4.
    jumps: ``hhmm``; beside it is the same name with ``.alpha``.
    """

    prefix: str
    vocabularies: tuple[str, str]
    classes: tuple[str, str]
    translations: str
    fertilities: str
    distortions: str
    p0: str | float
    distances: tuple[str, str] | None
    jumps: str | None


def read_training(prefix: str) -> GizaTraining:
    """Read one direction's files, whose names begin with ``prefix`` and a dot; see `read_trainings`."""
    path = _there(f"{prefix}.gizacfg")
    settings = reading.read_settings(path) if path else {}
    source, target = (_vocabulary(prefix, settings, *names) for names in _VOCABULARIES)
    heads, others, jumps = (f"{prefix}.{end}" for end in ("d4.final", "D4.final", JUMPS))
    of_ibm4 = _there(heads) or _there(others) or settings.get("model4iterations", "0") != "0"
    files = TrainingFiles(
        prefix,
        (source, target),
        (_classes(source), _classes(target)) if of_ibm4 else ("", ""),
        _needed(f"{prefix}{_TRANSLATIONS}"),
        _needed(f"{prefix}.n3.final"),
        "" if of_ibm4 else _needed(f"{prefix}.d3.final", "IBM 3"),
        _needed(f"{prefix}.p0_3.final"),
        (_needed(heads, "IBM 4"), _needed(others, "IBM 4")) if of_ibm4 else None,
        _needed(jumps) if _there(jumps) or _there(f"{jumps}.alpha") else None,
    )
    return read_files(files, settings)


def _classes(vocabulary: str) -> str:
    """Return the file of the classes of a vocabulary's words."""
    return _needed(f"{vocabulary.removesuffix(suffix_of(vocabulary))}.classes", "IBM 4")


def _there(path: str) -> str | None:
    """Return the name of a file that may be compressed, or None."""
    return next((path + suffix for suffix in ("", *SUFFIXES) if os.path.exists(path + suffix)), None)


def _needed(path: str, model: str = "IBM 3 or IBM 4") -> str:
    """Return the name of a file that may be compressed; DataError where it is missing."""
    found = _there(path)
    if found is None:
        raise DataError(path, None, f"is not there; a model of {model} has it")
    return found


def read_files(files: TrainingFiles, settings: dict[str, str]) -> GizaTraining:
    """Read one direction's files; the settings are what GIZA++'s options said, names in lower case."""
    source, target = (read_vcb(file) for file in files.vocabularies)
    translations = reading.read_entries(files.translations, 2, "e f t(f|e): the numbers of two words and a probability")
    fertilities = reading.read_fertilities(files.fertilities)
    _check_words(files, translations, fertilities, source, target)
    p0 = reading.read_p0(files.p0) if isinstance(files.p0, str) else files.p0
    heads = others = distortions = classes = None
    if files.distances:
        heads = reading.read_distances(files.distances[0], heads=True)
        others = reading.read_distances(files.distances[1], heads=False)
        given, observed = (reading.read_word_classes(file) for file in files.classes)
        classes = given, observed
        of_tables = ((heads.keys[:, 0], observed), (others.keys[:, 0], observed), (heads.keys[:, 1], given))
        for numbers, known in of_tables:
            if numbers.max(initial=0) > max(known.values(), default=0):
                found = f"has {max(known.values(), default=0)} classes, and {' or '.join(files.distances)} more"
                file = files.classes[known is observed]
                raise DataError(file, None, f"{found}; expected the classes that it was trained with")
    else:
        form = "j i l m d(j|i,l,m): four whole numbers and a probability"
        distortions = reading.read_entries(files.distortions, 4, form)
    jumps = first = None
    if files.jumps:
        jumps = reading.read_jumps(files.jumps)
        first = reading.read_first_positions(_needed(f"{files.jumps.removesuffix(suffix_of(files.jumps))}.alpha"))
    words, of_ibm4 = (source, target), (heads, others)
    return GizaTraining(
        files.prefix, words, classes, translations, fertilities, p0, *of_ibm4, distortions, jumps, first, settings
    )


def _vocabulary(prefix: str, settings: dict[str, str], short: str, long: str, copy: str) -> str:
    """Return a side's file of words: as the settings name it, in the folder or from here, or MGIZA's copy."""
    named = settings.get(long) or settings.get(short)
    tried = [f"{prefix}.{copy}"]
    if named:
        tried = [os.path.join(os.path.dirname(prefix), os.path.basename(named)), named, *tried]
    for path in tried:
        if found := _there(path):
            return found
    where = f"as {prefix}.gizacfg names it" if named else f"as {prefix}.gizacfg would name it (-{short})"
    raise DataError(tried[0], None, f"is not there; expected the vocabulary here, {where}, or {prefix}.{copy}")


def _check_words(
    files: TrainingFiles,
    translations: reading.Entries,
    fertilities: reading.Entries,
    source: dict[int, bytes],
    target: dict[int, bytes],
) -> None:
    """Refuse numbers that no word has, and a file of fertilities that ends too early."""
    tables = (
        (files.translations, translations.keys[:, 0], source | {0: b""}),
        (files.translations, translations.keys[:, 1], target),
        (files.fertilities, fertilities.keys[:, 0], source),
    )
    for path, numbers, words in tables:
        known = np.fromiter(words, np.int64, len(words))
        missing = np.flatnonzero(~np.isin(numbers, known))
        if len(missing):
            line = int(missing[0]) + 1
            raise DataError(path, line, f"no word has the number {numbers[missing[0]]} in the vocabulary")
    last, fertile = int(translations.keys[:, 0].max(initial=0)), fertilities.keys.max()
    if last > fertile:
        found = f"ends before word {last}, whose translations {files.translations} has"
        raise DataError(files.fertilities, len(fertilities.keys), f"{found}; it was cut off, write it again")
    if last < fertile:
        found = f"ends before word {fertile}, whose fertilities {files.fertilities} has"
        raise DataError(files.translations, len(translations.p), f"{found}; it was cut off, write it again")
    for path, words in zip(files.vocabularies, (source, target), strict=True):
        if len(set(words.values())) < len(words):
            raise DataError(path, None, "a word is twice in the vocabulary, under different numbers")


# Parallel text as numbers: ``.vcb`` (number, word, count), ``.snt`` and ``.cooc``. Words have the numbers from 2 on; 0
# is NULL, which occurs in each pair. A pair is three lines of ``.snt``: how often it counts, the source and the target.

_LINES = 10_000  # formatted at a time


def format_vcb(words: Iterable[bytes], counts: Iterable[int]) -> bytes:
    """Return a vocabulary file of words in the order of their numbers."""
    rows = zip(words, counts, strict=True)
    return b"".join(b"%d %s %d\n" % (number, word, count) for number, (word, count) in enumerate(rows, FIRST))


def read_vcb(path: object) -> dict[int, bytes]:
    """Read a vocabulary file: words by their numbers."""
    found: dict[int, bytes] = {}
    for number, line in enumerate(files.lines(path), 1):
        fields = split_words(line)
        if len(fields) != 3 or not fields[0].isdigit() or len(fields[0]) > 9 or int(fields[0]) < 1:
            problem = f"'{files.start_of(line)}' is not the number of a word, from 1 on, the word and its count"
            raise DataError(path, number, problem)
        if int(fields[0]) in found:
            raise DataError(path, number, f"word {int(fields[0])} comes twice")
        found[int(fields[0])] = fields[1]
    return found


def format_snt(source: Side, target: Side, weights: Sequence[float]) -> Iterator[bytes]:
    """Yield a file of sentence pairs in blocks, and how often each counts."""
    for begin in range(0, len(source), _LINES):
        end = min(begin + _LINES, len(source))
        rows = []
        for weight, *ends in zip(
            weights[begin:end],
            pairwise(source.offsets[begin : end + 1].tolist()),
            pairwise(target.offsets[begin : end + 1].tolist()),
            strict=True,
        ):
            rows.append(f"{weight:g}\n")
            for side, (a, b) in zip((source, target), ends, strict=True):
                rows.append("".join(f"{number} " for number in side.tokens[a:b].tolist()) + "\n")
        yield "".join(rows).encode()


def read_snt(path: object) -> tuple[Side, Side, np.ndarray]:
    """Read a file of sentence pairs: both sides, with its numbers, and how often each counts, float64 [pairs]."""
    weights: list[float] = []
    rows: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    number = 0
    for number, line in enumerate(files.lines(path), 1):
        if number % 3 == 1:
            weights.append(as_number(line))
            if not 0 <= weights[-1] < np.inf:
                problem = f"'{files.start_of(line)}' is not how often a pair counts; expected a number, then two lines"
                raise DataError(path, number, f"{problem} of words")
        else:
            rows[number % 3 == 0].append(_numbers(path, number, line))
    if number % 3:
        problem = "ends within a sentence pair; expected three lines for each: count, source, target"
        raise DataError(path, number, problem)
    source, target = (
        Side(np.concatenate([np.empty(0, np.int32), *some]), np.cumsum([0, *map(len, some)], dtype=np.int64))
        for some in rows
    )
    return source, target, np.array(weights)


def _numbers(path: object, number: int, line: bytes) -> np.ndarray:
    if not line.translate(None, b"0123456789 "):
        words = line.split()
        if all(len(word) < 10 for word in words):
            found = np.array(words, np.int64).astype(np.int32)
            if not len(found) or found.min() > 0:
                return found
    raise DataError(path, number, f"'{files.start_of(line)}' is not a line of numbers of words, from 1 on")


def format_cooc(starts: np.ndarray, words: np.ndarray, counts: np.ndarray | None = None) -> Iterator[bytes]:
    """Yield a file of words that occur together in blocks, with ``counts`` (int64 [pairs]) before them, if given.

    starts (int64 [source words + 1]): Where each source word's target words begin, by number, NULL first.
    """
    given = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    for a in range(0, len(words), 1 << 16):
        part = slice(a, a + (1 << 16))
        rows = zip(given[part].tolist(), words[part].tolist(), strict=True)
        if counts is None:
            yield "".join(f"{i} {j}\n" for i, j in rows).encode()
        else:
            yield "".join(f"{n} {i} {j}\n" for n, (i, j) in zip(counts[part].tolist(), rows, strict=True)).encode()
