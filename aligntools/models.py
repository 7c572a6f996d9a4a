"""Loading a model file of any kind, and looking at what a model learned."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union, Unpack

import aligntools
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import ModelError, UsageProblem
from aligntools.viewing.models import ModelView, ModelViewing, ShownAsModel

if TYPE_CHECKING:
    from aligntools.aligning.aligner import Aligner
    from aligntools.constituents.parsers import ConstituentParser
    from aligntools.ground.keywords import ModelViewingKeywords
    from aligntools.parsing.parsers import Parser
    from aligntools.tagging.taggers import Tagger
    from aligntools.translating.grammars import Grammar
    from aligntools.translating.language_models import LanguageModel

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


@taking(ModelViewing)
def view_model(
    model: Any,
    settings: ModelViewing | None = None,
    *,
    title: str | None = None,
    verify: bool = True,
    **options: "Unpack[ModelViewingKeywords]",
) -> ModelView:
    """Look at what a model learned: jumps, fertilities, translations of words; tags and their words; weights.

    Parameters
    ----------
    model : str, path, what `load` returns, TranslationWeights, or contrastive weights
        A model of any kind or its file: what it is, the file says.
    settings : ModelViewing or None
        The options below, whole.
    title : str, optional
        Of the page.
    verify : bool
        Check the checksum of a file.
    **options

    Returns
    -------
    View
        ``html()``, ``svg(number)`` for a chart, ``text()`` and ``save(path)``; notebooks show it.

    Raises
    ------
    DataError, ModelError
        When the file is none of these.

    Examples
    --------
    >>> import aligntools as at
    >>> model = at.train_aligner(at.read_bitext("data/samples/de-en.txt"), fast=True)
    >>> shown = at.view_model(model)
    >>> source = shown.words[0]
    >>> source.rows[source.words.index("haus")][0][0]
    'house'
    """
    given = Keywords("view_model", options)
    how = given.take(ModelViewing, settings)
    given.end()
    name = title
    if isinstance(model, str | os.PathLike):
        name = title or Path(model).name
        model = _loaded(os.fspath(model), verify)
    kind = type(model).__name__
    if isinstance(model, ShownAsModel):
        return model.model_view(name or kind, how.words, how.best)
    raise UsageProblem(f"a {kind} is not a model to look at")


def _loaded(path: str, verify: bool) -> Model | Any:
    from aligntools.formats.models.modelfile import is_model

    if path == "-" or is_model(path):
        return load(path, verify=verify)
    from aligntools.aligning.contrastive.weights import FORMAT, load_weights
    from aligntools.formats.opening.recognition import beginning

    start, _ = beginning(path)
    if start.lstrip().startswith(b"{"):
        if FORMAT.encode() in start:
            return load_weights(path)
        from aligntools.translating.translation_weights import TranslationWeights

        return TranslationWeights.load(path)
    return load(path, verify=verify)
