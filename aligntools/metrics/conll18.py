"""The measures of the CoNLL 2018 shared task (Zeman et al. 2018).

They are those of the task's own evaluation script, ``conll18_ud_eval.py``: subtypes of labels do not count, of features
only the universal ones, and CLAS, MLAS and BLEX look at content words alone. Words of texts that are segmented in other
ways are those of `aligntools.metrics.segmentation`.
"""

from dataclasses import dataclass

import numpy as np

from aligntools.formats.annotation.conll import Conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.metrics.segmentation import WordMatches

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
_OF_CONTENT = ("CLAS", "MLAS", "BLEX")


@dataclass(frozen=True)
class Measure:
    """Words that one measure looks at.

    gold, predicted: Words that count in the gold text and in the other one.
    aligned: Words of the gold text that count and are a word of the other text, too. Of tokens and sentences, those
        that are right.
    """

    gold: int
    predicted: int
    right: int
    aligned: int

    @property
    def precision(self) -> float:
        """Share of the other text's words that are right."""
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold text's words that are right."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def aligned_accuracy(self) -> float:
        """Share that is right of the gold text's words that are words of the other text, too: AligndAcc."""
        return self.right / self.aligned if self.aligned else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of the two."""
        return 2 * self.right / (self.gold + self.predicted) if self.gold + self.predicted else 0.0


class _Text:
    """A text's columns as they are compared."""

    def __init__(self, text: Conll) -> None:
        self.lemma, self.upos, self.xpos = (text.column(COLUMNS[name]) for name in ("lemma", "upos", "xpos"))
        features = text.column(COLUMNS["feats"])
        kept = {one: sorted(f for f in one.split(b"|") if f.split(b"=", 1)[0] in FEATURES) for one in set(features)}
        self.feats = [kept[one] for one in features]
        self.label = [label.split(b":")[0] for label in text.column(COLUMNS["deprel"])]
        self.heads = heads = text.heads()
        begins = np.repeat(text.offsets[:-1], np.diff(text.offsets))
        #: The head among all words of the text; -1 of a root.
        self.above = np.where(heads > 0, begins + heads - 1, -1)
        self.content, function = (
            np.fromiter((label in kind for label in self.label), bool, len(self.label))
            for kind in (CONTENT, FUNCTIONAL)
        )
        self.function = function & (heads > 0)


def conll18(gold: Conll, other: Conll, alignment: WordMatches | None = None) -> dict[str, Measure]:
    """Return the measures of `MEASURES`, by name.

    gold, other: A word of ``other`` without a head is wrong.
    alignment: Which words are the same; None: all, in order, which the caller has checked. With an alignment there are
        ``Tokens``, ``Sentences`` and ``Words`` before the other measures.

    Zeman et al. (2018), "CoNLL 2018 shared task: multilingual parsing from raw text to Universal Dependencies",
    section 4. MLAS asks that a content word's function words are the same, too, with relations, tags and features.
    """
    a, b = _Text(gold), _Text(other)
    first: dict[str, Measure] = {}
    if alignment is None:
        ours = theirs = np.arange(len(a.heads))
    else:
        ours, theirs = alignment.gold, alignment.other
        counts = {"Tokens": alignment.tokens, "Sentences": alignment.sentences}
        first = {name: Measure(*found, found[-1]) for name, found in counts.items()}
        first["Words"] = Measure(len(a.heads), len(b.heads), len(ours), len(ours))
    pairs, columns = list(zip(ours.tolist(), theirs.tolist(), strict=True)), ("upos", "xpos", "feats", "label", "lemma")
    values = [(getattr(a, name), getattr(b, name)) for name in columns]
    upos, xpos, feats, label, lemma = (
        np.fromiter((own[i] == other[j] for i, j in pairs), bool, len(pairs)) for own, other in values
    )
    lemma |= np.fromiter((one == b"_" for one in a.lemma), bool, len(a.lemma))[ours]
    as_gold = np.full(len(b.heads) + 1, -2)  # each word of the other text among those of the gold; -1 of no word
    as_gold[theirs], as_gold[-1] = ours, -1
    head = (as_gold[b.above[theirs]] == a.above[ours]) & (b.heads[theirs] >= 0)
    both = head & label
    right = a.function[ours] & b.function[theirs] & both & upos & feats
    spoiled = np.zeros(len(ours), bool)
    for text, mine in (a, ours), (b, theirs):
        wrong = text.function.copy()
        wrong[mine[right]] = False
        heads = np.zeros(len(text.heads), bool)
        heads[text.above[wrong]] = True
        spoiled |= heads[mine]
    rights = {
        "UPOS": upos,
        "XPOS": xpos,
        "UFeats": feats,
        "AllTags": upos & xpos & feats,
        "Lemmas": lemma,
        "UAS": head,
        "LAS": both,
        "CLAS": both,
        "MLAS": both & upos & feats & ~spoiled,
        "BLEX": both & lemma,
    }
    content = a.content[ours]
    found = {}
    for name, right in rights.items():
        if name in _OF_CONTENT:
            sums = map(np.sum, (a.content, b.content, right & content, content))
            found[name] = Measure(*map(int, sums))
        else:
            found[name] = Measure(len(a.heads), len(b.heads), int(right.sum()), len(ours))
    return first | found
