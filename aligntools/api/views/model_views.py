"""What models learned, to look at from Python."""

import os
from pathlib import Path
from typing import Any

from aligntools.api.loading import Model, load
from aligntools.ground.errors import UsageProblem
from aligntools.viewing.models import BEST, WORDS, Columns, ModelView, Words


def view_model(
    model: Any, *, words: int = 4000, best: int = 10, title: str | None = None, verify: bool = True
) -> ModelView:
    """Look at what a model learned: jumps, fertilities, translations of words; tags and their words; weights.

    Parameters
    ----------
    model : str, path, Aligner, Tagger, Parser, Grammar, LanguageModel, TranslationWeights, or contrastive weights
        A model or its file: what it is, the file says.
    words : int
        The most frequent words of each side, which can be searched in the page.
    best : int
        Translations of each word; words of each tag.
    title : str, optional
        Of the page.
    verify : bool
        Check the checksum of a file.

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
    WORDS.check("words", words)
    BEST.check("best", best)
    name = title
    if isinstance(model, str | os.PathLike):
        name = title or Path(model).name
        model = _loaded(os.fspath(model), verify)
    kind = type(model).__name__
    makers = {
        "Aligner": _aligner, "Tagger": _tagger, "Parser": _parser, "Grammar": _grammar, "LanguageModel": _lm,
        "TranslationWeights": _weights, "Weights": _contrastive,
    }  # fmt: skip
    maker = next((makers[base.__name__] for base in type(model).__mro__ if base.__name__ in makers), None)
    if maker is None:
        raise UsageProblem(f"a {kind} is not a model to look at")
    return maker(model, name or kind, words, best)


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
        from aligntools.api.translate.translation import TranslationWeights

        return TranslationWeights.load(path)
    return load(path, verify=verify)


def _aligner(model: Any, title: str, words: int, best: int) -> ModelView:
    from aligntools.aligning.describing import described

    found = described(model.model, words, best)
    charts = []
    if found["jumps"]:
        series = list(found["jumps"].items())
        n = len(series[0][1]) // 2
        names = [f"{k:+d}" if k else "0" for k in range(-n, n + 1)]
        names[0], names[-1] = f"≤{names[0]}", f"≥{names[-1]}"
        charts.append(Columns("Jumps", "words from the position of the word before", names, series))
    if found["fertility"]:
        series = [(f"{side} words", found["fertility"][name]) for name, side in
                  (("forward", "source"), ("reverse", "target")) if name in found["fertility"]]  # fmt: skip
        last = len(series[0][1]) - 1
        names = [f"{k}" if k < last else f"≥{k}" for k in range(last + 1)]
        charts.append(Columns("Fertilities", "words that are linked to a word", names, series))
    lists, notes = [], []
    for d, side in enumerate(found["sides"] if words else []):
        own, other = ("source words", "target words")[:: -1 if d else 1]
        lists.append(
            Words(own, f"{other[:-1]}", side["words"], side["translations"], side["counts"], side["fertility"], 1 - d)
        )
        if side["all"] > len(side["words"]):
            notes.append(f"The {len(side['words']):,} most frequent of {side['all']:,} {own}.")
    if found["view"]:
        notes.append(f"Words are cut to their first {found['view']} letters, as in the model's first view.")
    return ModelView(title, found["settings"], charts, words=lists, notes=notes)


def _tagger(model: Any, title: str, words: int, best: int) -> ModelView:
    from aligntools.tagging.describing import described

    found = described(model.model, words, best)
    prior = list(zip(found["tags"], found["prior"], strict=True))
    order = sorted(range(len(prior)), key=lambda k: -prior[k][1])
    rows = [
        [found["tags"][k], f"{100 * found['prior'][k]:.1f}", " ".join(word for word, _ in found["typical"][k])]
        for k in order
    ]
    table = {
        "caption": "Words that a tag emits most readily",
        "head": ["tag", "share, %", "words"],
        "rows": rows,
        "words": True,
    }
    names = found["transition_tags"]
    matrix = ("Tags that follow each other: the next tag's probability in percent", names, names, found["transitions"])
    lists, notes = [], []
    if words:
        known = found["words"]
        lists = [Words("known words", "tag", [word for word, _ in known], [pairs for _, pairs in known])]
        if len(known) < len(model.model.words):
            notes.append(f"{len(known):,} of {len(model.model.words):,} known words.")
    return ModelView(title, found["settings"], tables=[table], words=lists, matrix=matrix, notes=notes)


def _parser(model: Any, title: str, words: int, best: int) -> ModelView:
    from aligntools.parsing.describing import described
    from aligntools.parsing.unsupervised.model import ValenceModel

    if isinstance(model.model, ValenceModel):
        return _induced_parser(model, title)
    found = described(model.model)
    rows = [[name, f"{n:,}", *(f"{x:.3f}" for x in figures)] for name, n, *figures in found["templates"]]
    head = ["template", "weights", "mean size", "largest", "smallest"]
    caption = "Weights of each template: what it looks at on the head's side | on the modifier's"
    note = "w is the word, p its tag, x its first letters; p+1 is the next word's tag, [p] each tag in between."
    return ModelView(title, found["settings"], tables=[{"caption": caption, "head": head, "rows": rows}], notes=[note])


def _induced_parser(model: Any, title: str) -> ModelView:
    from aligntools.parsing.unsupervised.describing import described

    found = described(model.model)
    head = ["tag", "root, %", "words left, %", "words right, %", "chosen on the left, %", "chosen on the right, %"]
    table = {"caption": "What each tag chooses as a head", "head": head, "rows": found["tags"], "words": True}
    return ModelView(title, found["settings"], tables=[table])


def _grammar(model: Any, title: str, words: int, best: int) -> ModelView:
    import numpy as np

    rules = model.rules
    arities = np.bincount(rules.arities(), minlength=3) / max(len(rules), 1)
    chart = Columns("Rules by nonterminals", "nonterminals", ["0", "1", "2"], [("rules", arities.tolist())])
    settings: list[list[Any]] = [
        ["rules", len(rules)],
        ["features", " ".join([*rules.feature_names, *rules.sparse_names])],
    ]
    return ModelView(title, settings, [chart])


def _lm(model: Any, title: str, words: int, best: int) -> ModelView:
    return ModelView(title, [["language model", repr(model).strip("<>")]])


def _contrastive(model: Any, title: str, words: int, best: int) -> ModelView:
    return _weight_view(title, model.by_name, model.about)


def _weights(model: Any, title: str, words: int, best: int) -> ModelView:
    return _weight_view(title, dict(model.features), dict(model.about))


def _weight_view(title: str, values: dict[str, float], about: dict[str, Any]) -> ModelView:
    settings: list[list[Any]] = [["weights", len(values)], *([name, str(value)] for name, value in about.items())]
    return ModelView(title, settings, weights=sorted(values.items(), key=lambda pair: -abs(pair[1])))
