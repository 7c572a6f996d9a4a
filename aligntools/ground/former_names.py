"""What fields of settings were called in earlier versions: in headers of files, as keywords and on the command line."""

from collections.abc import Mapping
from typing import Any

#: By the class of settings: what a field was called, and what it is called now, ``not`` before one that says the
#: opposite, and with a value where the old name said it: ``decode=viterbi``.
FIELDS: dict[str, dict[str, str]] = {
    "AlignerSettings": {
        "model": "model_type",
        "joint": "agreement",
        "ibm_iterations": "ibm1_iterations",
        "model_iterations": "iterations",
    },
    "GrammarDecisions": {"given_tags": "keep_tags"},
    "Run": {"cluster_file": "cluster"},
    "GrammarFilter": {"span": "span_limit"},
    "TreeConstraints": {"any_root": "not single_root", "non_projective": "not projective"},
    "TransferSettings": {"head": "max_pairs", "weights": "transferred"},
    "ParserDecisions": {"any_root": "not single_root", "non_projective": "not projective"},
    "ImputationSettings": {"k": "n_sources"},
    "LatticeSettings": {"format": "input", "scores": "arc_scores", "weights": "arc_weights"},
    "TagDecisions": {"decoder": "decode", "viterbi": "decode=viterbi", "posterior": "decode=posterior"},
    "TranslationLists": {"k_best": "n_best"},
    "TuningSettings": {"nbest": "n_best"},
}
#: Names that only headers of files had.
HEADERS: dict[str, dict[str, str]] = {
    "LearningSettings": {"least": "min_count", "shortest": "min_length", "longest": "max_length", "most": "max_pairs"},
}


def former(kind: type, names: Mapping[str, dict[str, str]] = FIELDS) -> dict[str, str]:
    """Return what fields of a class of settings, and of those it is made from, were called."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        found |= names.get(one.__name__, {})
    return found


def modern(kind: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of a class of settings under old names, under today's."""
    known = former(kind) | former(kind, HEADERS)
    found: dict[str, Any] = {}
    for name, value in given.items():
        now, _, own = known.get(name, name).partition("=")
        opposite = now.startswith("not ")
        found[now.removeprefix("not ")] = own or (not value if opposite else value)
    return found
