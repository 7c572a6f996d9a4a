"""Grammars on disk: the text of cdec and Joshua (``hiero``), that of Moses, and a model file (``binary``)."""

import os
from typing import Any

import numpy as np

from aligntools.formats.models import modelfile
from aligntools.formats.text.corpus import Side
from aligntools.formats.translation.grammar import GrammarRules, TextFilter, filtered, tell_left_out, unused
from aligntools.formats.translation.grammar_text import read_text, write_text
from aligntools.words.vocabulary import Vocabulary

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
    first four get the names of `STANDARD`. Blank lines are skipped.

    path: Of any compression; ``-`` is standard input (text alone).
    only_for: Keep only the rules that may be used on this text: those of which it has every piece between nonterminals.
    span: And that match within so many words, the span limit of the decoder; see `TextFilter`.
    longest: How many words of a piece are looked up together.
    verify: Check the checksum of a model file.
    Raises DataError when the file cannot be read, or for the first line that is not a rule.
    """
    text_filter = TextFilter(*only_for, longest, span) if only_for is not None else None
    if not modelfile.is_model(path):
        return read_text(path, text_filter)
    grammar = _used(path, _read_binary(path, verify))
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


def _read_binary(path: str | os.PathLike[str], verify: bool) -> GrammarRules:
    header, arrays = modelfile.read_model(path, KIND, verify)
    with modelfile.fitting(path):
        return _checked(header, arrays)


def _used(path: str | os.PathLike[str], grammar: GrammarRules) -> GrammarRules:
    """Return a grammar without the rules that this decoder never uses, as readers of text leave them out."""
    found = unused(grammar.source_offsets, grammar.source)
    for why, rules in found.items():
        if rules.any():
            tell_left_out(path, int(rules.sum()), why)
    stay = ~np.logical_or.reduce(list(found.values()))
    return grammar if stay.all() else grammar.subset(stay)


def _checked(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> GrammarRules:
    """Make a grammar of the parts of a file, held against what kernels trust; ValueError names the first misfit.

    Both sides of every rule have symbols: words of the vocabularies, and the same nonterminals once each, the first
    before the second on the source side. Links are of symbols of the rule, features have names, all is finite.
    """
    sides: dict[str, Any] = {
        side: modelfile.hold_vocabulary(arrays, side, names=(f"{side}_blob", f"{side}_starts"))
        for side in ("source", "target")
    }
    rules = len(arrays["source_offsets"]) - 1
    names = [header["feature_names"], header["sparse_names"]]
    for some in names:
        if not isinstance(some, list) or not all(isinstance(name, str) and name for name in some):
            raise ValueError("names of features")
        if len(set(some)) < len(some):
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
_ARRAYS = (
    "source_offsets",
    "source",
    "target_offsets",
    "target",
    "features",
    "links_offsets",
    "links",
    "counts",
    "sparse_offsets",
    "sparse_ids",
    "sparse_values",
)
