"""Loading a parser of any kind."""

import os

from aligntools.formats.models.modelfile import model_kind
from aligntools.parsing.parser import ParserModel
from aligntools.parsing.unsupervised.model import ValenceModel


def load(path: str | os.PathLike[str], verify: bool = True) -> ParserModel | ValenceModel:
    """Read the model file of a parser, learned from trees or without.

    Raises ModelError when it is not one, or its parts do not fit together.
    """
    return (ValenceModel if model_kind(path) == ValenceModel.KIND else ParserModel).load(path, verify)
