"""The measures of the CoNLL 2018 shared task (Zeman et al. 2018), of texts with the same words.

They are those of the task's own evaluation script, ``eval.py``: subtypes of labels do not count, of features only the
universal ones, and CLAS, MLAS and BLEX look at content words alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.formats.conll import COLUMNS, Conll

#: Relations of content words and of function words; a word of another relation is neither.
CONTENT = frozenset(
    b"nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod appos nummod acl amod"
    b" conj fixed flat compound list parataxis orphan goeswith reparandum root dep".split()
)
FUNCTIONAL = frozenset(b"aux cop mark det clf case cc".split())
#: Features that are compared.
FEATURES = frozenset(
    b"PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm Mood Tense Aspect"
    b" Voice Evident Polarity Person Polite".split()
)
MEASURES = ("UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "CLAS", "MLAS", "BLEX")


@dataclass(frozen=True)
class Measure:
    """Words that one measure looks at.

    Attributes
    ----------
    gold, predicted : int
        Words that count in the gold text and in the other one.
    right : int
    """

    gold: int
    predicted: int
    right: int

    @property
    def precision(self) -> float:
        """Share of the other text's words that are right."""
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold text's words that are right; as their words are the same, the script's AligndAcc too."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of the two."""
        return 2 * self.right / (self.gold + self.predicted) if self.gold + self.predicted else 0.0


def _is(ours: Sequence[object], theirs: Sequence[object]) -> np.ndarray:
    return np.fromiter((a == b for a, b in zip(ours, theirs, strict=True)), bool, len(ours))


def _universal(features: list[bytes]) -> list[bytes]:
    """Return features without those that are a language's own, in order."""
    kept = {
        given: b"|".join(sorted(one for one in given.split(b"|") if one.split(b"=", 1)[0] in FEATURES))
        for given in set(features)
    }
    return [kept[given] for given in features]


class _Text:
    """A text's columns as they are compared."""

    def __init__(self, text: Conll) -> None:
        self.lemma, self.upos, self.xpos = (text.column(COLUMNS[name]) for name in ("lemma", "upos", "xpos"))
        self.feats = _universal(text.column(COLUMNS["feats"]))
        self.label = [label.split(b":")[0] for label in text.column(COLUMNS["deprel"])]
        heads = text.heads()
        begins = np.repeat(text.offsets[:-1], np.diff(text.offsets))
        self.heads = heads
        #: The head among all words of the text; -1 of a root.
        self.above = np.where(heads > 0, begins + heads - 1, -1)
        self.content = np.fromiter((label in CONTENT for label in self.label), bool, len(self.label))
        function = np.fromiter((label in FUNCTIONAL for label in self.label), bool, len(self.label))
        self.function = function & (heads > 0)


def conll18(gold: Conll, other: Conll) -> dict[str, Measure]:
    """Return the measures of `MEASURES`, by name.

    Parameters
    ----------
    gold, other : Conll
        With the same words, which the caller has checked. A word of ``other`` without a head is wrong.

    Notes
    -----
    Zeman et al. (2018), "CoNLL 2018 shared task: multilingual parsing from raw text to Universal Dependencies",
    section 4. MLAS asks that a content word's function words are the same, too, with relations, tags and features.
    """
    a, b = _Text(gold), _Text(other)
    upos, feats, label = _is(a.upos, b.upos), _is(a.feats, b.feats), _is(a.label, b.label)
    xpos = _is(a.xpos, b.xpos)
    lemma = _is(a.lemma, b.lemma) | np.fromiter((one == b"_" for one in a.lemma), bool, len(a.lemma))
    head = a.heads == b.heads
    both = head & label
    as_function_word = a.function & b.function & both & upos & feats
    spoiled = np.zeros(len(head), bool)
    for text in (a, b):
        spoiled[text.above[text.function & ~as_function_word]] = True
    everywhere = np.ones(len(head), bool)
    every, content = (everywhere, everywhere), (a.content, b.content)
    found = {
        "UPOS": (upos, every), "XPOS": (xpos, every), "UFeats": (feats, every), "AllTags": (upos & xpos & feats, every),
        "Lemmas": (lemma, every), "UAS": (head, every), "LAS": (both, every), "CLAS": (both, content),
        "MLAS": (both & upos & feats & ~spoiled, content), "BLEX": (both & lemma, content),
    }  # fmt: skip
    return {
        name: Measure(int(ours.sum()), int(theirs.sum()), int((right & ours).sum()))
        for name, (right, (ours, theirs)) in found.items()
    }
