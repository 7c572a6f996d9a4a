"""The alignment models, and what is known of each before its class, and the compiler with it, is loaded.

Settings, the command line, training, files, parts and pages ask here; none of them names a model. To add a model, write
its class in a module of its own and its declaration in the table below, or call `register`.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: Source tokens that a step of stepwise EM takes, at least: of IBM 1, and of the HMM.
_STEPS = {"ibm1": 2_000_000, "hmm": 4_000_000}
#: Which model has a setting, in the words of the warning that it changes nothing for others.
_ITERATIONS = {"iterations": "IBM 1 has `ibm1_iterations` alone"}
_NULL = {"null_smoothing": "it is of the HMM"}
_DIAGONAL = {"tension": "it is of IBM 2's diagonal", "positions": "a table of positions is IBM 2's"}
_CEPTS = {"pegging": "it is of IBM 3 and IBM 4"}
_CLASSES = {"word_classes": "classes of words are for IBM 4 and hmm-classes"}


@dataclass(frozen=True)
class ModelKind:
    """A model's declaration: its name in settings and files, and its ``home``, ``module:Class`` or the class itself.

    after, iterations: The model whose iterations come before in training, and how many of its own follow by default.
    own: Settings of this model, and the warning if they are given for another.
    both: It needs both directions: if one alone is trained, or with ``fast``, ``after`` is trained instead.
    views, pieces: Several views are trained by default and can learn from each other; pieces of words, too.
    learns_null: The words of NULL are estimated where each direction is trained by itself.
    steps: Tokens of a step of stepwise EM, by the stage; a stage that is not among them takes a large text whole.
    last_pass: Its training ends with a pass over the text, which can give the text's links.
    reconstructs, spreads: What maximum reconstruction trains from it, and whether that, with directions apart, spreads
        posteriors over many words, so that a symmetrization heuristic does better than their mean.
    null_smoothing: Default of this setting; None: words have no probability of NULL of their own.
    forms: Settings with which it runs kernels that it does not run with the others: ``warmup`` trains it with each.
    """

    name: str
    home: str | type[Any]
    after: str | None = "ibm1"
    iterations: int = 5
    own: Mapping[str, str] = field(default_factory=lambda: _ITERATIONS)
    both: bool = False
    views: bool = False
    pieces: bool = False
    learns_null: bool = False
    in_parts: bool = False
    steps: Mapping[str, int] = field(default_factory=dict)
    last_pass: bool = False
    reconstructs: str | None = None
    spreads: bool = False
    null_smoothing: float | None = None
    forms: Sequence[Mapping[str, Any]] = ({},)

    def load(self) -> type[Any]:
        """Return the class, a `base.LexicalModel`."""
        if not isinstance(self.home, str):
            return self.home
        module, _, name = self.home.partition(":")
        found: type[Any] = getattr(importlib.import_module(module), name)
        return found

    def chain(self) -> "tuple[ModelKind, ...]":
        """Return the models that training goes through, this one last."""
        return (*(kind_of(self.after).chain() if self.after else ()), self)


#: All models, by their names.
KINDS: dict[str, ModelKind] = {}


def register(kind: ModelKind) -> None:
    """Register a model; one of the same name is replaced."""
    KINDS[kind.name] = kind


def forget(name: str) -> None:
    """Remove a model."""
    del KINDS[name]


def kind_of(name: str) -> ModelKind:
    """Return the declaration of a model."""
    return KINDS[name]


def kinds() -> tuple[ModelKind, ...]:
    """Return all models, in the order in which they were registered."""
    return tuple(KINDS.values())


def names() -> tuple[str, ...]:
    """Return the names of all models."""
    return tuple(KINDS)


def of_others(name: str) -> dict[str, str]:
    """Return the settings that neither this model nor those trained before it have, and the warning about each."""
    own = {setting for kind in kind_of(name).chain() for setting in kind.own}
    return {setting: about for kind in kinds() for setting, about in kind.own.items() if setting not in own}


def reconstructed() -> tuple[str, ...]:
    """Return the names of the models that maximum reconstruction trains."""
    return tuple(kind.name for kind in kinds() if kind.reconstructs == kind.name)


_APART = {"agreement": False}
_MODELS = "aligntools.aligning.models"
register(ModelKind("ibm1", f"{_MODELS}.ibm1:Ibm1", None, 0, {}, learns_null=True, reconstructs="ibm2"))
register(
    ModelKind(
        "ibm2",
        f"{_MODELS}.ibm2:Ibm2",
        own=_ITERATIONS | _DIAGONAL,
        learns_null=True,
        reconstructs="ibm2",
        spreads=True,
        forms=(_APART, _APART | {"positions": "table"}, _APART | {"favor_diagonal": False}),
    )
)
register(
    ModelKind(
        "hmm",
        f"{_MODELS}.hmm:Hmm",
        iterations=4,
        own=_ITERATIONS | _NULL,
        views=True,
        in_parts=True,
        steps=_STEPS,
        reconstructs="hmm",
    )
)
register(
    ModelKind(
        "hmm-classes",
        f"{_MODELS}.class_hmm:ClassHmm",
        iterations=4,
        own=_ITERATIONS | _CLASSES | _NULL,
        views=True,
        null_smoothing=5.0,
    )
)
register(
    ModelKind(
        # the sampler does better from an HMM that is not yet sure of itself: two iterations
        "fertility",
        f"{_MODELS}.fertility:Fertility",
        "hmm",
        2,
        {"sweeps": "only the fertility model samples"},
        both=True,
        views=True,
        pieces=True,
        in_parts=True,
        steps=_STEPS,
        last_pass=True,
        reconstructs="hmm",
    )
)
register(ModelKind("ibm3", f"{_MODELS}.ibm3:Ibm3", "hmm", own=_ITERATIONS | _CEPTS))
register(ModelKind("ibm4", f"{_MODELS}.ibm4:Ibm4", "hmm", own=_ITERATIONS | _CEPTS | _CLASSES))
