"""Loading a model file of any kind."""

import importlib
import os
from typing import TYPE_CHECKING, TypeAlias, Union

from aligntools.ground.errors import ModelError

if TYPE_CHECKING:
    from aligntools.api.align.aligner import Aligner
    from aligntools.api.parse.parsing import Parser
    from aligntools.api.tag.tagging import Tagger
    from aligntools.api.translate.grammars import Grammar
    from aligntools.api.translate.language_models import LanguageModel

Model: TypeAlias = Union["Aligner", "Tagger", "Parser", "Grammar", "LanguageModel"]

#: The class that loads models of each kind.
CLASSES = {
    "alignment": ("align.aligner", "Aligner"),
    "tagger": ("tag.tagging", "Tagger"),
    "parser": ("parse.parsing", "Parser"),
    "dmv": ("parse.parsing", "Parser"),
    "grammar": ("translate.grammars", "Grammar"),
    "lm": ("translate.language_models", "LanguageModel"),
}


def load(path: str | os.PathLike[str], *, verify: bool = True) -> Model:
    """Load a model file, of whatever kind it is.

    Parameters
    ----------
    path : str or path
    verify : bool
        Check the checksum, which says whether the file is what was written.

    Returns
    -------
    Aligner, Tagger, Parser, Grammar or LanguageModel

    Raises
    ------
    ModelError
        When it is not a model file, or damaged.

    Examples
    --------
    >>> import tempfile, aligntools as at
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     at.induce_tags(["the dog barks"], states=2, iterations=1).save(f"{folder}/model")
    ...     at.load(f"{folder}/model")
    <Tagger of 2 tags, 2 states>
    """
    from aligntools.formats.models.modelfile import model_kind

    kind = model_kind(path)
    if kind not in CLASSES:
        raise ModelError(path, None, f"holds '{kind}', which is not a model to load")
    module, name = CLASSES[kind]
    model: Model = getattr(importlib.import_module(f"aligntools.api.{module}"), name).load(path, verify=verify)
    return model
