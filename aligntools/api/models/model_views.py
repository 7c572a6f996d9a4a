"""What models learned, to look at from Python."""

import os
from pathlib import Path
from typing import Any, Unpack

from aligntools.api.given.keywords import ModelViewingKeywords
from aligntools.api.models.loading import Model, load
from aligntools.api.views.showing import ShownAsModel, weight_view
from aligntools.ground.declaring import Given, taking
from aligntools.ground.errors import UsageProblem
from aligntools.viewing.models import ModelView
from aligntools.viewing.settings import ModelViewing


@taking(ModelViewing)
def view_model(
    model: Any,
    settings: ModelViewing | None = None,
    *,
    title: str | None = None,
    verify: bool = True,
    **options: Unpack[ModelViewingKeywords],
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
    given = Given("view_model", options)
    how = given.take(ModelViewing, settings)
    given.end()
    name = title
    if isinstance(model, str | os.PathLike):
        name = title or Path(model).name
        model = _loaded(os.fspath(model), verify)
    kind = type(model).__name__
    if isinstance(model, ShownAsModel):
        return model.model_view(name or kind, how.words, how.best)
    from aligntools.aligning.contrastive.weights import Weights

    if isinstance(model, Weights):
        return weight_view(name or kind, model.by_name, model.about)
    raise UsageProblem(f"a {kind} is not a model to look at")


def _loaded(path: str, verify: bool) -> Model | Any:
    """Return what is in a file: a model, or weights in JSON."""
    from aligntools.formats.models.modelfile import is_model

    if path == "-" or is_model(path):
        return load(path, verify=verify)
    from aligntools.aligning.contrastive.weights import FORMAT, load_weights
    from aligntools.formats.opening.beginnings import beginning

    start, _ = beginning(path)
    if start.lstrip().startswith(b"{"):
        if FORMAT.encode() in start:
            return load_weights(path)
        from aligntools.api.translate.translation_weights import TranslationWeights

        return TranslationWeights.load(path)
    return load(path, verify=verify)
