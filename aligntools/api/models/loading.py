"""Loading a model file of any kind."""

import os
from typing import TYPE_CHECKING, TypeAlias, Union

import aligntools
from aligntools.ground.errors import ModelError

if TYPE_CHECKING:
    from aligntools.api.align.aligner import Aligner
    from aligntools.api.parse.constituents import ConstituentParser
    from aligntools.api.parse.parsing import Parser
    from aligntools.api.tag.tagging import Tagger
    from aligntools.api.translate.grammars import Grammar
    from aligntools.api.translate.language_models import LanguageModel

Model: TypeAlias = Union["Aligner", "Tagger", "Parser", "ConstituentParser", "Grammar", "LanguageModel"]


def load(path: str | os.PathLike[str], *, verify: bool = True) -> Model:
    """Load a model file, of whatever kind it is.

    Parameters
    ----------
    path : str or path
        Also a folder with GIZA++'s tables; see `Aligner.load`.
    verify : bool
        Check the checksum, which says whether the file is what was written.

    Returns
    -------
    Aligner, Tagger, Parser, ConstituentParser, Grammar or LanguageModel

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
    from aligntools.formats.models.modelfile import KINDS, model_kind

    kind = "alignment" if os.path.isdir(path) else model_kind(path)
    if kind not in KINDS:
        raise ModelError(path, None, f"holds '{kind}', which is not a model to load")
    loads: type[Model] = getattr(aligntools, KINDS[kind])
    return loads.load(path, verify=verify)
