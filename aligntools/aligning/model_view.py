"""What an alignment model learned, to look at."""

from typing import TYPE_CHECKING, Any

import numpy as np

from aligntools.aligning.evidence import described_as
from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.models.base import LexicalModel
from aligntools.viewing.models import Columns, ModelView, WordList

if TYPE_CHECKING:
    from aligntools.aligning.model import AlignmentModel

# What an alignment model learned, in numbers to look at: what it shows of itself, each word's best translations


def described(model: AlignmentModel, words: int, best: int) -> dict[str, Any]:
    """Return what the model learned of whole words (of its first view, if it has no such view).

    words: The most frequent words of each side that translations and fertilities are given of.
    best: Translations of each.
    Returns ``settings``: rows of name and value. ``charts``: what the model shows of itself, `Shares`. ``sides``: for
    the source and the target words, ``words`` (list of str), ``counts`` (expected links), ``translations`` (for each
    word pairs of another word and its probability) and ``shares`` (for each word those of 0, 1, 2 .. words linked to
    it, or None).
    """
    view = next((m for m in model.views if m.letters == 0), model.views[0])
    s, p_null = model.settings, ", ".join(f"{x:.3f}" for x in view.p_null)
    sizes = [len(view.words.s_words) - 1, len(view.words.t_words) - 1]
    settings = [
        ["model", s.model_type],
        ["views", ", ".join("whole words" if v == 0 else f"first {v} letters" for v in s.views)],
        *([["merges of subwords", s.subwords]] if s.subwords else []),
        ["source words", sizes[0]],
        ["target words", sizes[1]],
        ["word pairs in the table", len(view.table.ids)],
        ["probability of NULL, forward and reverse", p_null],
        ["target words per source word", f"{model.length_ratio:.3f}"],
    ]
    settings.extend([described_as(name), str(about.get("name"))] for name, about in model.evidence.items())
    if model.decision is not None:
        settings.append(["links are decided on by", "the network that judges links"])
    settings.extend(view.facts())
    return {
        "settings": settings,
        "view": view.letters,
        "charts": view.charts(),
        "sides": [_side(view, d, words, best) for d in (0, 1)],
    }


def _side(view: LexicalModel, d: int, words: int, best: int) -> dict[str, Any]:
    """Return the most frequent words of one side, with their best translations."""
    table, lexicon = view.table, view.lexicon
    own, others = (view.words.s_words, view.words.t_words)[:: 1 if d == 0 else -1]
    counts = (table.column_sums if d else table.row_sums)(view.counts[-1 if d else 0])
    counts[0] = -1  # NULL
    chosen = np.argsort(-counts, kind="stable")[: min(words, len(own) - 1)]
    rank = np.full(len(own), -1, np.int64)
    rank[chosen] = np.arange(len(chosen))
    rows = np.repeat(np.arange(table.n_source, dtype=np.int32), np.diff(table.ptr))
    given, observed = (table.ids, rows) if d else (rows, table.ids)
    places = np.flatnonzero(rank[given] >= 0)
    values = (lexicon.reverse if d else lexicon.forward)[places] * (lexicon.t_inverse if d else lexicon.s_inverse)[
        given[places]
    ]
    order = np.lexsort((-values, rank[given[places]]))
    numbers, values, places = rank[given[places]][order], values[order], places[order]
    starts = np.searchsorted(numbers, np.arange(len(chosen) + 1))
    translations: list[list[list[Any]]] = []
    for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        part = slice(a, min(b, a + best))
        pairs = zip(observed[places[part]].tolist(), values[part].tolist(), strict=True)
        translations.append([[others[k], p] for k, p in pairs if p >= 1e-4])
    return {
        "words": [own[k] for k in chosen.tolist()],
        "counts": counts[chosen].tolist(),
        "translations": translations,
        "shares": view.word_shares(d, chosen),
        "all": len(own) - 1,
    }


def model_view(model: "AlignmentModel", title: str, words: int, best: int) -> ModelView:
    """Return what a model learned: what it shows of itself, translations of words."""
    found = described(model, words, best)
    lists, notes = [], []
    for d, side in enumerate(found["sides"] if words else []):
        own, other = ("source words", "target words")[:: -1 if d else 1]
        lists.append(
            WordList(own, f"{other[:-1]}", side["words"], side["translations"], side["counts"], side["shares"], 1 - d)
        )
        if side["all"] > len(side["words"]):
            notes.append(f"The {len(side['words']):,} most frequent of {side['all']:,} {own}.")
    if found["view"]:
        notes.append(f"Words are cut to their first {found['view']} letters, as in the model's first view.")
    return ModelView(title, found["settings"], [Columns(*chart) for chart in found["charts"]], words=lists, notes=notes)
