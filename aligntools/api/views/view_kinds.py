"""What `aligntools.view` shows besides alignments, by the type of what it is given."""

from typing import Any

from aligntools.api.running.progress import Step
from aligntools.api.views.derivation_views import view_derivations
from aligntools.api.views.model_views import view_model
from aligntools.api.views.tag_views import view_tags
from aligntools.api.views.training_views import view_training
from aligntools.api.views.tree_views import view_trees
from aligntools.formats.annotation.conll import Conll
from aligntools.formats.translation.derivations import DerivedSentence
from aligntools.viewing.base import View


def view_of(thing: Any, gold: Any, title: str | None) -> View | None:
    """Return a view of trees, tags, a model, derivations or steps of training; None for anything else.

    Parameters
    ----------
    thing : object
    gold : object or None
        Gold trees or tags, or references of derivations.
    title : str or None
    """
    names = {base.__name__ for base in type(thing).__mro__}
    if isinstance(thing, Conll) or names & {"ShownAsTree", "ShownAsTrees"}:
        return view_trees(thing, gold, title=title)
    if names & {"ShownAsTags", "ShownWithTags"}:
        return view_tags(thing, gold, title=title)
    if names & {"ShownAsModel", "Grammar", "LanguageModel", "TranslationWeights", "Weights"}:
        return view_model(thing, title=title)
    if isinstance(thing, list) and thing and all(isinstance(one, DerivedSentence) for one in thing):
        return view_derivations(thing, gold, title=title)
    if isinstance(thing, list) and thing and all(isinstance(one, Step) for one in thing):
        return view_training(thing, title=title or "Training")
    return None
