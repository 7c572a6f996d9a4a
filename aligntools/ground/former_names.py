"""What fields of settings were called in the headers of files of earlier versions."""

from collections.abc import Mapping
from typing import Any

#: By the class of settings: what a field was called, and what it is called now.
FIELDS: dict[str, dict[str, str]] = {
    "AlignerSettings": {
        "model": "model_type",
        "joint": "agreement",
        "ibm_iterations": "ibm1_iterations",
        "model_iterations": "iterations",
    },
}


def modern(kind: type, header: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a header says of a class of settings, under today's names."""
    former = FIELDS.get(kind.__name__, {})
    return {former.get(name, name): value for name, value in header.items()}
