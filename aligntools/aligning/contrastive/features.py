"""The features of the contrastive model: their names, order and start weights, and how one is added.

A feature is a function of a whole alignment. Only its change when one link is added is ever computed. The change has
two parts: what the link adds by itself, whatever the other links are (a column of `CandidateLinks.local`), and what
depends on the other links (a function of `kernels_features`).

**To add a feature**, say ``ends``:

1. Number it: ``ENDS`` at the end of the list in `kernels_features`, and ``FEATURES`` one more. Describe it: a row at
   the end of `ALL` below, with its name, its group, the weights that learning starts from (0 where nothing is known)
   and what it counts.
2. If it depends on the link alone, fill its column in `kernels_local_features`: in `position_features` what depends on
   the link's place, in `word_features` what depends on the words, in `posterior_features` what depends on the base
   model. If it depends on the other links, write a function that returns the change next to `lonely` in
   `kernels_features`, and one line in `structural_changes`. It may do both, as the translation product does.
3. To keep it, write its slow definition, of a whole alignment, in ``tests/naive_contrastive.py``: a test then adds
   links in random order, compares the sum of the changes with the definition and says which feature differs.

Nothing else names single features: search, learning, weight files and ``--features`` go by this list. Weight files and
networks name the features that they use, so older ones keep their meaning.
"""

import difflib
from dataclasses import dataclass

import numpy as np

from aligntools.ground.errors import UsageProblem


@dataclass(frozen=True)
class Feature:
    """A feature, by its name in weight files and ``--features``.

    group: ``local`` and ``non-local`` are the paper's; ``base`` come from the base model's posteriors, ``words`` from
        how words are spelled and how frequent they are, ``ours`` from the links.
    start, paper: Weights that learning starts from: with all features, and in the program of the paper's authors.
    """

    name: str
    group: str
    start: float
    paper: float
    about: str


ALL = (
    Feature(
        "translation", "local", 0, 1, "log-probabilities of linked words in both directions, NULL's for the others"
    ),
    Feature("link-count", "local", 0, 1, "links"),
    Feature("relative-position", "local", 0, -1, "sum over links of |i/I - j/J|"),
    Feature("cross-count", "non-local", 0, -1, "pairs of links that cross"),
    Feature("monotone-neighbours", "local", 0, 1, "pairs of links (i, j), (i+1, j+1)"),
    Feature("swap-neighbours", "local", 0, -1, "pairs of links (i, j), (i+1, j-1)"),
    Feature("source-linked-words", "non-local", 0, 1, "source words with a link"),
    Feature("target-linked-words", "non-local", 0, 1, "target words with a link"),
    Feature("source-max-fertility", "non-local", 0, 1, "most links of one source word"),
    Feature("target-max-fertility", "non-local", 0, 1, "most links of one target word"),
    Feature("source-sibling-distance", "non-local", 0, -1, "holes between one source word's target positions"),
    Feature("target-sibling-distance", "non-local", 0, -1, "holes between one target word's source positions"),
    Feature("one-to-one", "non-local", 0, 1, "links whose words have no other link"),
    Feature("one-to-many", "non-local", 0, 1, "links whose source word alone has others"),
    Feature("many-to-one", "non-local", 0, -1, "links whose target word alone has others"),
    Feature("many-to-many", "non-local", 0, -1, "links whose words both have others"),
    Feature("posterior", "base", 0, 1, "log-odds of links under the base model, mean of both directions"),
    Feature("agreement", "base", 0, 0, "log-odds of links under the base model, the lower of both directions"),
    Feature("rivals", "base", 0, 0, "best posterior of other links in the same row and column, over links"),
    Feature("hardest-rival", "base", 0, 0, "the higher of the two best posteriors of other links, over links"),
    Feature("others", "base", 0, 0, "posteriors of all other links in the same row and column, over links"),
    Feature("best", "base", 0, 0, "times that a link is the best of its row or of its column"),
    Feature("diagonal-support", "base", 0, 0, "posteriors next to links on the diagonal"),
    Feature("side-support", "base", 0, 0, "posteriors beside, above and below links"),
    Feature("wide-support", "base", 0, 0, "posteriors two steps from links along the diagonal or beside that"),
    Feature("coverage", "base", 0, 0, "log-odds that words with a link have one under the base model"),
    Feature("forward-use", "base", 0, 0, "log of how often the source word is linked to the target word, over links"),
    Feature("reverse-use", "base", 0, 0, "log of how often the target word is linked to the source word, over links"),
    Feature("similarity", "words", 0, 0, "pairs of letters that linked words share (Dice)"),
    Feature("same-word", "words", 0, 0, "links between the same words"),
    Feature("symbols", "words", 0, 0, "links between words without letters"),
    Feature("mismatch", "words", 0, 0, "links between a word with letters and one without"),
    Feature("frequency-gap", "words", 0, 0, "distance of linked words' log-frequencies"),
    Feature("rarity", "words", 0, 0, "minus the log-frequencies of linked words"),
    Feature("touching", "ours", 0, 0, "pairs of links side by side or one above the other"),
    Feature("lonely", "ours", 0, 0, "links with none among the eight cells around"),
    Feature("trees", "base", 1, 0, "log-odds of links under a network that other languages' gold links taught"),
)
NAMES = tuple(f.name for f in ALL)
GROUPS = {"local": ("local",), "paper": ("local", "non-local"), "all": ("local", "non-local", "base", "words", "ours")}


def select(text: str) -> np.ndarray:
    """Return which features a selection names, bool [FEATURES]; UsageProblem for unknown names, or when none is left.

    text: Groups (``local``: the paper's five, ``paper``: its sixteen, ``all``) and names, with commas between;
        ``-name`` takes one out again.
    """
    chosen = np.zeros(len(ALL), bool)
    for part in (p.strip() for p in text.split(",")):
        out = part.startswith("-")
        name = part[1:] if out else part
        if name in GROUPS:
            chosen[[f.group in GROUPS[name] for f in ALL]] = not out
        elif name in NAMES:
            chosen[NAMES.index(name)] = not out
        else:
            like = ", ".join(difflib.get_close_matches(name, (*GROUPS, *NAMES), 3))
            advice = (
                f"did you mean {like}?" if like else f"the groups are {', '.join(GROUPS)}; docs/models has the names"
            )
            raise UsageProblem(f"no feature '{name[:40]}'; {advice}")
    if not chosen.any():
        raise UsageProblem(f"'{text}' leaves no feature")
    return chosen
