"""The interface of eflomal's Python package (release 2.0.0, and what its repository has added) over our models.

``aligntools drop-ins DIR`` writes a package ``eflomal`` that holds these names; the distribution in ``adapters/``
installs one. The docstrings say what each argument does here; docs/adapters/eflomal.md compares.
"""

from aligntools.adapters.eflomal.aligner import Aligner, align
from aligntools.adapters.eflomal.priors import calculate_priors, read_priors, to_eflomal_priors_file, write_priors
from aligntools.adapters.eflomal.text import (
    TextIndex,
    read_text,
    sentences_from_joint_file,
    to_eflomal_text_file,
    write_text,
)

__all__ = [
    "Aligner",
    "TextIndex",
    "align",
    "calculate_priors",
    "read_priors",
    "read_text",
    "sentences_from_joint_file",
    "to_eflomal_priors_file",
    "to_eflomal_text_file",
    "write_priors",
    "write_text",
]
