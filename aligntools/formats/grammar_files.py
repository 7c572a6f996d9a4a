"""Grammars on disk: the text of cdec and Joshua (``hiero``), that of Moses, and a model file (``binary``)."""

import numpy as np

from aligntools.formats import modelfile
from aligntools.formats.bitext import Side
from aligntools.formats.grammar import GrammarRules, TextFilter, filtered
from aligntools.formats.grammar_text import read_text, write_text
from aligntools.formats.vocabulary import Vocabulary

FORMATS = ("hiero", "moses", "binary")
KIND = "grammar"


def read_grammar(
    path, *, only_for: tuple[Side, Vocabulary] | None = None, span: int | None = None, verify: bool = True
) -> GrammarRules:
    """Read a grammar: text as cdec and Joshua have it, text as Moses has it, or a model file.

    Features that a rule does not name are 0; of Moses' probabilities the logs are taken, to five decimals, and the
    first four get the names of `STANDARD`. Blank lines are skipped.

    Parameters
    ----------
    path : str
        Of any compression; ``-`` is standard input (text alone).
    only_for : (Side, Vocabulary) or None
        Keep only the rules that may be used on this text: those of which it has every piece between nonterminals.
    span : int or None
        And that match within so many words, the span limit of the decoder; see `TextFilter`.
    verify : bool
        Check the checksum of a model file.

    Raises
    ------
    DataError
        When the file cannot be read, or for the first line that is not a rule.
    """
    text_filter = TextFilter(*only_for, span=span) if only_for is not None else None
    if not modelfile.is_model(path):
        return read_text(path, text_filter)
    grammar = _read_binary(path, verify)
    return filtered(grammar, text_filter) if text_filter else grammar


def write_grammar(path, grammar: GrammarRules, format="hiero"):
    """Write a grammar in one of `FORMATS`; see `aligntools.formats.grammar_text.format_text`."""
    if format != "binary":
        write_text(path, [grammar], format)
        return
    header = {"feature_names": grammar.feature_names, "sparse_names": grammar.sparse_names}
    arrays = {name: getattr(grammar, name) for name in _ARRAYS}
    for side in ("source", "target"):
        vocabulary = getattr(grammar, f"{side}_vocabulary")
        arrays |= {f"{side}_blob": vocabulary.blob, f"{side}_starts": vocabulary.starts}
    modelfile.write_model(path, KIND, header, arrays)


def _read_binary(path, verify):
    header, arrays = modelfile.read_model(path, KIND, verify)
    with modelfile.fitting(path):
        vocabularies = [
            Vocabulary.from_arrays(arrays[f"{side}_blob"], arrays[f"{side}_starts"]) for side in ("source", "target")
        ]
        rules, words = len(arrays["source_offsets"]) - 1, [len(vocabulary) for vocabulary in vocabularies]
        names = [list(map(str, header[name])) for name in ("feature_names", "sparse_names")]
        widths = {"features": (rules, len(names[0])), "counts": (len(arrays["counts"]), 3)}
        for name, (kind, parts) in _ARRAYS.items():
            shape = widths.get(name, (rules + 1,))
            if parts:
                shape = (int(arrays[parts][-1]), *((2,) if name == "links" else ()))
            modelfile.hold(arrays, name, shape, np.dtype(kind))
            if name.endswith("_offsets") and (arrays[name][0] != 0 or (np.diff(arrays[name]) < 0).any()):
                raise ValueError(f"{name} do not ascend")
        for side, most in zip(("source", "target"), words, strict=True):
            symbols = arrays[side]
            if len(symbols) and not (symbols.min() >= -2 and symbols.max() < most and (symbols != 0).all()):
                raise ValueError(f"{side} has words that are not in the vocabulary")
        if len(arrays["counts"]) not in (0, rules):
            raise ValueError("counts are not those of the rules")
        ids = arrays["sparse_ids"]
        if len(ids) and not (ids.min() >= 0 and ids.max() < len(names[1])):
            raise ValueError("sparse features without names")
        return GrammarRules(
            *vocabularies, feature_names=names[0], sparse_names=names[1], **{name: arrays[name] for name in _ARRAYS}
        )


#: What a model file holds, with types, and which offsets part it.
_ARRAYS = {
    "source_offsets": ("int64", None),
    "source": ("int32", "source_offsets"),
    "target_offsets": ("int64", None),
    "target": ("int32", "target_offsets"),
    "features": ("float32", None),
    "links_offsets": ("int64", None),
    "links": ("uint8", "links_offsets"),
    "counts": ("float64", None),
    "sparse_offsets": ("int64", None),
    "sparse_ids": ("int32", "sparse_offsets"),
    "sparse_values": ("float32", "sparse_offsets"),
}
