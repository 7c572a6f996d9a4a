"""Grammars as text: the format of cdec and Joshua (``hiero``), and that of Moses."""

import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from aligntools.formats.models import modelfile
from aligntools.formats.opening import files
from aligntools.formats.text.corpus import Side
from aligntools.formats.translation.grammar import (
    NONTERMINAL,
    STANDARD,
    GrammarRules,
    TextFilter,
    concatenate,
    filtered,
    in_rules,
    pick,
    tell_left_out,
    unused,
)
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import CompiledLexicon, Vocabulary

_MOSES = ("PhraseFgivenE", "LexFgivenE", "PhraseEgivenF", "LexEgivenF")
#: The nonterminals that this decoder knows, by the format and the side: of cdec and Joshua, and of Moses.
_OWN = (
    ({b"[X,1]": -1, b"[X,2]": -2}, {b"[X,1]": -1, b"[X,2]": -2, b"[1]": -1, b"[2]": -2}),
    ({b"[X][X]": -1}, {b"[X][X]": -1}),
)
#: Why rules are left out.
_OTHER_LABELS = (
    "nonterminals other than [X,1] and [X,2], which are all that this decoder knows",
    "nonterminals other than [X][X], which are all that this decoder knows",
)
_log = logging.getLogger("aligntools")
_BLOCK = 1 << 24  # bytes read at a time
_WRITE = 1 << 16  # rules written at a time


class _RuleReader:
    """The rules of a text, block by block; source words are numbered from the filter's vocabulary on."""

    def __init__(self, path: object, style: int, text_filter: TextFilter | None) -> None:
        self.path, self.style, self.filter = path, style, text_filter
        start = text_filter.vocabulary if text_filter else Vocabulary.from_bytes([])
        data, ends = start.blob.tobytes(), start.starts.tolist()
        known = [data[a:b] for a, b in pairwise(ends[1:])]
        self._known = len(start)
        self.source, self.target = CompiledLexicon(known), CompiledLexicon()
        self._kinds = [np.zeros(1, np.int32), np.zeros(1, np.int32)]  # of words: 1 for nonterminals of other labels
        self.names: list[str] = []
        self._unnamed: list[int] = []
        self._left_out: dict[str, tuple[int, int]] = {}  # why: how many rules, line of the first

    def _leave_out(self, why: str, found: np.ndarray, lines: np.ndarray) -> np.ndarray:
        """Note which rules are left out; return which stay."""
        if found.any():
            here = int(lines[np.argmax(found)])
            count, first = self._left_out.get(why, (0, here))
            self._left_out[why] = count + int(found.sum()), min(first, here)
        return ~found

    def tell(self) -> None:
        """Return how many rules were left out, and why."""
        for why, (count, first) in self._left_out.items():
            tell_left_out(f"{self.path}:{first}", count, why)

    def _symbols(
        self, side: int, lexicon: CompiledLexicon, tokens: np.ndarray, offsets: np.ndarray, lines: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Put -1 and -2 for what is a nonterminal among words just numbered; return which rules have no other ones."""
        kinds = self._kinds[side]
        if len(lexicon) > len(kinds):
            own, new = _OWN[self.style][side], lexicon.words(len(kinds))
            found = [own.get(word) or int(bool(NONTERMINAL.fullmatch(word))) for word in new]
            kinds = self._kinds[side] = np.concatenate([kinds, np.array(found, np.int32)])
        of_tokens = kinds[tokens]
        stay = self._leave_out(_OTHER_LABELS[self.style], in_rules(of_tokens > 0, offsets), lines)
        return np.where(of_tokens < 0, of_tokens, tokens), stay

    def scan(self, block: bytes, line: int, decoded: bool = False) -> tuple[np.ndarray, ...]:
        """Return the table of a block's lines, which are rules (for this decoder, or any), and both sides of these."""
        from aligntools.formats.translation import kernels_grammar

        files.check_utf8(block, self.path, line)
        table = np.empty((block.count(b"\n") + 1, 16), np.int64)
        text = np.frombuffer(block, np.uint8)
        rows, _ = kernels_grammar.scan_rules(text, 0, self.style, table)
        table = table[:rows]
        wrong = np.flatnonzero(table[:, 14] > 0)
        if len(wrong):
            row = table[wrong[0]]
            shown = files.start_of(block[row[12] : row[13]], 60)
            expected = "[X] ||| der [X,1] ||| the [X,1] ||| Name=value"
            if self.style:
                expected = "der [X][X] [X] ||| the [X][X] [X] ||| 0.5 0.5 0.5 0.5 ||| 0-0 1-1 |||"
            problem = {
                kernels_grammar.FEW_FIELDS: "is not a rule",
                kernels_grammar.LEFT_SIDE: "has a left side other than [X]",
                kernels_grammar.EMPTY_SIDE: "has an empty side",
            }[int(row[14])]
            raise DataError(self.path, line + int(wrong[0]), f"'{shown}' {problem} ('{expected}' is expected)")
        keep = table[:, 14] == 0
        source = np.empty(int(table[keep, 4].sum()), np.int32)
        self.source.encode(block, table, 0, keep, source)
        offsets, lines = np.concatenate([[0], np.cumsum(table[keep, 4])]), line + np.flatnonzero(keep)
        source, stay = self._symbols(0, self.source, source, offsets, lines)
        for why, found in unused(offsets, source).items() if decoded else ():
            stay &= self._leave_out(why, found, lines)
        if not stay.all():
            keep[keep] = stay
            offsets, source = pick(offsets, np.flatnonzero(stay), source)
        if self.filter:
            usable = self.filter.matches(offsets, np.where(source >= self._known, 0, source))
            keep[keep] = usable
            offsets, source = pick(offsets, np.flatnonzero(usable), source)
        target = np.empty(int(table[keep, 5].sum()), np.int32)
        self.target.encode(block, table, 1, keep, target)
        target_offsets = np.concatenate([[0], np.cumsum(table[keep, 5])])
        target, stay = self._symbols(1, self.target, target, target_offsets, line + np.flatnonzero(keep))
        if not stay.all():
            keep[keep] = stay
            offsets, source = pick(offsets, np.flatnonzero(stay), source)
            target_offsets, target = pick(target_offsets, np.flatnonzero(stay), target)
        return text, table, keep, offsets, source, target_offsets, target

    def parse(self, block: bytes, line: int) -> tuple[np.ndarray, ...]:
        """Return the rules of a block as arrays: sides, features, links, counts."""
        from aligntools.formats.translation import kernels_grammar as k

        text, table, keep, source_offsets, source, target_offsets, target = self.scan(block, line, decoded=True)
        rows = np.flatnonzero(keep)
        links_offsets, links = np.zeros(len(rows) + 1, np.int64), np.empty((block.count(b"-") + 1, 2), np.uint8)
        bad = k.parse_links(text, table, keep, np.diff(source_offsets), np.diff(target_offsets), links, links_offsets)
        if bad >= 0:
            shown = block[table[bad, 8] : table[bad, 9]][:60].decode().strip()
            problem = f"'{shown}' are not links of this rule (numbers such as 0-1, from 0 on, are expected)"
            raise DataError(self.path, line + bad, problem)
        problems = np.empty(len(rows), np.uint8)
        count = k.settle_symbols(
            self.style, source_offsets, source, target_offsets, target, links_offsets, links, problems
        )
        wrong = np.flatnonzero(problems)
        if len(wrong):
            how = {
                k.TWICE: "more than two nonterminals, or one of them twice, on the source side",
                k.UNPAIRED: "nonterminals that are not in pairs"
                + (" (links such as 1-1 pair them)" if self.style else " ([X,1] and [X,2] once on each side)"),
            }[int(problems[wrong[0]])]
            raise DataError(self.path, line + int(rows[wrong[0]]), f"a rule with {how}")
        counts = np.empty((len(rows) if self.style else 0, 3))
        if self.style and (bad := k.parse_counts(text, table, keep, counts, np.zeros(1))) >= 0:
            raise DataError(self.path, line + bad, "the field of counts has something else than numbers")
        features = self._features(block, text, table, keep, len(rows), line)
        return source_offsets, source, target_offsets, target, features, links_offsets, links[:count].copy(), counts

    def _features(
        self, block: bytes, text: np.ndarray, table: np.ndarray, keep: np.ndarray, rules: int, line: int
    ) -> np.ndarray:
        from aligntools.formats.translation import kernels_grammar as k

        rows = np.flatnonzero(keep)
        if self.style and not self.names and len(rows):
            first = rows[0]
            width = len(block[table[first, 6] : table[first, 7]].split())
            for n in range(width):
                self._add(_MOSES[n] if width >= 4 and n < 4 else f"PhraseModel_{n}", True)
        out = np.zeros((rules, len(self.names)), np.float32)
        found, number, row, rule = np.zeros(4, np.int64), np.zeros(1), 0, 0
        while True:
            names, unnamed = (*_blob_of(self.names), len(self.names)), np.array(self._unnamed, np.int64)
            status = k.parse_features(
                text, table, keep, row, rule, bool(self.style), *names, unnamed, out, number, found
            )
            if status == 0:
                return out
            row, rule, begin, end = found.tolist()
            shown = block[begin:end].decode("utf-8", "replace")
            where = self.path, line + row
            if status == k.NO_NAME:
                raise DataError(*where, f"'{shown}' has no name before its '='")
            if status == k.BAD_NUMBER:
                expected = "a probability" if self.style else "Name=value or a number"
                raise DataError(*where, f"'{shown[:60]}' is not a feature ({expected} is expected)")
            if status == k.NEW_UNNAMED and self.style:
                raise DataError(*where, f"more scores than the {len(self.names)} of the rules before")
            if status == k.NEW_UNNAMED:
                try:
                    float(shown)
                except ValueError:
                    raise DataError(*where, f"'{shown[:60]}' is not a feature (Name=value is expected)") from None
            self._add(shown if status == k.NEW_NAME else f"PhraseModel_{len(self._unnamed)}", status != k.NEW_NAME)
            out = np.ascontiguousarray(np.pad(out, ((0, 0), (0, 1))))

    def _add(self, name: str, unnamed: bool) -> None:
        if name not in self.names:
            self.names.append(name)
        if unnamed:
            self._unnamed.append(self.names.index(name))


def _blocks(path: object) -> Iterator[tuple[bytes, int, int]]:
    """Yield a text's blocks of whole lines with the number of their first line, and its style with each."""
    line, style = 1, None
    for block in files.blocks_of_lines(path, _BLOCK):
        if style is None and block.strip():
            first = block.lstrip().split(b"\n", 1)[0]
            style = 0 if re.match(rb"\[[^\]\s]*\]\s*\|\|\|", first) else 1
            if b"|||" not in first or (style == 1 and b"[X] |||" not in first):
                style = 0
        if style is not None:
            yield block, line, style
        line += block.count(b"\n")
    if line == 1 and style is None:
        raise DataError(path, None, "is empty; extract-grammar writes grammars")


def read_text(path: object, text_filter: TextFilter | None = None) -> GrammarRules:
    """Read a grammar's text of either format; see `read_grammar`."""
    reader, parts = None, []
    for block, line, style in _blocks(path):
        reader = reader or _RuleReader(path, style, text_filter)
        parts.append(reader.parse(block, line))
    if reader is None:
        raise DataError(path, None, "has no rules")
    reader.tell()
    names = reader.names
    words = reader.source.vocabulary(), reader.target.vocabulary()
    grammars = []
    for part in parts:
        scores = np.pad(part[4], ((0, 0), (0, len(names) - part[4].shape[1])))
        values: list[Any] = [*words, *part[:4], scores, names, *part[5:]]
        grammars.append(GrammarRules(*values))
    grammar = concatenate(grammars)
    features, known = grammar.features, [name for name in STANDARD if name in names]
    if reader.style and known:  # in the order of our own
        names = [*known, *(name for name in names if name not in known)]
        features = np.ascontiguousarray(features[:, [reader.names.index(name) for name in names]])
    counts = grammar.counts if grammar.counts.any() else np.empty((0, 3))
    return replace(grammar, features=features, feature_names=list(names), counts=counts).canonical()


def _blob_of(names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return names in UTF-8, joined, and where each begins."""
    encoded = [name.encode() for name in names]
    return np.frombuffer(b"".join(encoded) or b" ", np.uint8), np.cumsum([0, *map(len, encoded)], dtype=np.int64)


def filter_lines(path: object, text_filter: TextFilter) -> Iterator[tuple[bytes, int, int]]:
    """Yield the lines of a grammar's text that may be used on a text, unchanged, with how many and out of how many."""
    reader = None
    for block, line, style in _blocks(path):
        reader = reader or _RuleReader(path, style, text_filter)
        _, table, keep, *_ = reader.scan(block, line)
        ends = table[:, 13].tolist()
        begins = table[:, 12].tolist()
        kept = np.flatnonzero(keep).tolist()
        yield b"".join([block[begins[k] : ends[k]] + b"\n" for k in kept]), len(kept), int((table[:, 14] == 0).sum())
    if reader is not None:
        reader.tell()


def format_text(grammar: GrammarRules, style: str) -> Iterator[bytes]:
    """Yield a grammar's text in pieces of whole lines.

    style: ``hiero``: ``[X] ||| der [X,1] ||| the [X,1] ||| Name=value ... ||| i-j ...``; ``moses``: ``der [X][X] [X]
        ||| the [X][X] [X] ||| p ... ||| i-j ... ||| counts ||| |||``, the exponentials of all features, those of
        `STANDARD` first. Numbers have five decimals, probabilities as many figures as their logs then need.
    """
    from aligntools.formats.translation import kernels_grammar

    number = kernels_grammar.MOSES if style == "moses" else kernels_grammar.HIERO
    names = grammar.feature_names
    order = list(range(len(names)))
    if style == "moses" and set(_MOSES) <= set(names):
        first = [names.index(name) for name in _MOSES]
        order = first + [k for k in order if k not in first]
    blob, names_at = _blob_of(names)
    sides = (
        (grammar.source_vocabulary, grammar.source_offsets, grammar.source),
        (grammar.target_vocabulary, grammar.target_offsets, grammar.target),
    )
    widths = [np.concatenate([np.diff(vocabulary.starts) + 1, [8, 8]]) for vocabulary, _, _ in sides]
    fixed = 128 + sum(max(30, size + 24) for size in np.diff(names_at).tolist()) + 3 * 24
    about = grammar.features, blob, names_at, np.array(order, np.int64)
    links = grammar.links_offsets, grammar.links
    for begin in range(0, len(grammar), _WRITE):
        end = min(begin + _WRITE, len(grammar))
        size = (end - begin) * fixed + 12 * int(grammar.links_offsets[end] - grammar.links_offsets[begin])
        for (_, offsets, symbols), width in zip(sides, widths, strict=True):
            size += int(width[symbols[offsets[begin] : offsets[end]]].sum())
        out = np.empty(size, np.uint8)
        written = kernels_grammar.write_rules(
            number,
            begin,
            end,
            *(array for _, offsets, symbols in sides for array in (offsets, symbols)),
            *(array for vocabulary, _, _ in sides for array in (vocabulary.blob, vocabulary.starts)),
            *(*about, *links, grammar.counts, out),
        )
        yield out[:written].tobytes()


def write_text(path: str | os.PathLike[str], grammars: Iterable[GrammarRules], style: str) -> None:
    """Write grammars, one after another, as one text; it appears whole or not at all."""
    with files.writing(path) as out:
        for number, grammar in enumerate(grammars):
            if style == "moses" and not number:
                tell_factors(path, grammar.source_vocabulary, grammar.target_vocabulary)
            out.writelines(format_text(grammar, style))


def tell_factors(path: object, *vocabularies: Vocabulary) -> None:
    """Return how many words of a grammar in Moses' format have ``|``, which separates factors there."""
    found = [word for vocabulary in vocabularies for word in vocabulary.words() if "|" in word and word != "|||"]
    if found:
        words = f"{len(found)} words have" if len(found) > 1 else "a word has"
        what = "'|', which Moses takes for what separates factors; unless they are factors, write &#124; in the text"
        _log.warning("%s: %s %s (first: %s)", "<stdout>" if path == "-" else path, words, what, found[0])


FORMATS = ("hiero", "moses", "binary")
KIND = "grammar"
_DECLARED = (
    modelfile.Array("features", ("rules", "names"), np.float32),
    modelfile.Array("counts", ("counted", 3), np.float64),
    modelfile.Array("links", ("links", 2), np.uint8),
    modelfile.Array("links_offsets", ("rules",), cuts="links"),
    modelfile.Array("sparse_ids", ("values",), np.int32, 0, "sparse"),
    modelfile.Array("sparse_values", ("values",), np.float32),
    modelfile.Array("sparse_offsets", ("rules",), cuts="values"),
)
_CHECKED = 1 << 18  # rules that are looked at together


def read_grammar(
    path: str | os.PathLike[str],
    *,
    only_for: tuple[Side, Vocabulary] | None = None,
    span: int | None = None,
    longest: int = 5,
    verify: bool = True,
) -> GrammarRules:
    """Read a grammar: text as cdec and Joshua have it, text as Moses has it, or a model file.

    Features that a rule does not name are 0; of Moses' probabilities the logs are taken, to five decimals, and the
    first four get the names of `STANDARD`.

    only_for, span, longest: Keep only the rules that may be used on this text; see `TextFilter`.
    """
    text_filter = TextFilter(*only_for, longest, span) if only_for is not None else None
    if not modelfile.is_model(path):
        return read_text(path, text_filter)
    header, arrays = modelfile.read_model(path, KIND, verify)
    with modelfile.fitting(path):
        grammar = _checked(header, arrays)
    left_out = unused(grammar.source_offsets, grammar.source)  # as readers of text leave them out
    for why, rules in left_out.items():
        if rules.any():
            tell_left_out(path, int(rules.sum()), why)
    stay = ~np.logical_or.reduce(list(left_out.values()))
    grammar = grammar if stay.all() else grammar.subset(stay)
    return filtered(grammar, text_filter) if text_filter else grammar


def write_grammar(path: str | os.PathLike[str], grammar: GrammarRules, format: str = "hiero") -> None:
    """Write a grammar in one of `FORMATS`; see `aligntools.formats.translation.grammar_text.format_text`."""
    if format != "binary":
        write_text(path, [grammar], format)
        return
    header = {"feature_names": grammar.feature_names, "sparse_names": grammar.sparse_names}
    arrays = {name: getattr(grammar, name) for name in _ARRAYS}
    for side in ("source", "target"):
        vocabulary = getattr(grammar, f"{side}_vocabulary")
        arrays |= {f"{side}_blob": vocabulary.blob, f"{side}_starts": vocabulary.starts}
    modelfile.write_model(path, KIND, header, arrays, _checked)


def _checked(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> GrammarRules:
    """Make a grammar of the parts of a file, held against what kernels trust; ValueError names the first misfit."""
    sides: dict[str, Any] = {
        side: modelfile.hold_vocabulary(arrays, side, names=(f"{side}_blob", f"{side}_starts"))
        for side in ("source", "target")
    }
    rules = len(arrays["source_offsets"]) - 1
    names = [header["feature_names"], header["sparse_names"]]
    for some in names:
        fine = isinstance(some, list) and all(isinstance(name, str) and name for name in some)
        if not fine or len(set(some)) < len(some):
            raise ValueError("names of features")
    for side, vocabulary in sides.items():
        symbols = modelfile.hold(arrays, side, (len(arrays[side]),), np.int32, -2, len(vocabulary) - 1)
        modelfile.hold_offsets(arrays, f"{side}_offsets", rules, len(symbols), least=1)
    sizes = {"rules": rules, "names": len(names[0]), "sparse": len(names[1])}
    modelfile.checked(arrays, _DECLARED, sizes | {"counted": rules if len(arrays["counts"]) else 0})
    for begin in range(0, rules, _CHECKED):
        _check_rules(arrays, begin, min(begin + _CHECKED, rules))
    own: dict[str, Any] = {name: arrays[name] for name in _ARRAYS}
    own |= {f"{side}_vocabulary": vocabulary for side, vocabulary in sides.items()}
    return GrammarRules(feature_names=names[0], sparse_names=names[1], **own)


def _check_rules(arrays: dict[str, np.ndarray], begin: int, end: int) -> None:
    """Refuse rules whose nonterminals are not in pairs and numbered, and links past a side's end."""
    found, sizes, places = {}, {}, {}
    for side in ("source", "target"):
        offsets = arrays[f"{side}_offsets"][begin : end + 1]
        symbols = arrays[side][offsets[0] : offsets[-1]]
        sizes[side] = np.diff(offsets)
        if not symbols.all():
            raise ValueError(f"{side} has a symbol that is none")
        for gap in (-1, -2):
            here = symbols == gap
            found[side, gap] = np.add.reduceat(here, offsets[:-1] - offsets[0], dtype=np.int32)
            places[side, gap] = np.flatnonzero(here)
    one, two = found["source", -1], found["source", -2]
    paired = all(np.array_equal(found["source", gap], found["target", gap]) for gap in (-1, -2))
    if not paired or (one > 1).any() or (two > one).any():
        raise ValueError("nonterminals are not in pairs")
    if (places["source", -1][two[one > 0] > 0] > places["source", -2]).any():
        raise ValueError("nonterminals are not numbered in the order of the source side")
    offsets = arrays["links_offsets"][begin : end + 1]
    links, counts = arrays["links"][offsets[0] : offsets[-1]], np.diff(offsets)
    for column, side in enumerate(("source", "target")):
        if (links[:, column] >= np.repeat(sizes[side], counts)).any():
            raise ValueError("links past the end of a rule")


#: The arrays of a model file, besides those of the vocabularies.
_ARRAYS = [one.name for one in fields(GrammarRules) if one.type is np.ndarray]
