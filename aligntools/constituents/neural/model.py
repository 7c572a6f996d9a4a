"""A grammar whose rules networks make, on disk and at work."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from aligntools.constituents.inducing.kernels_dense import TensorRules
from aligntools.constituents.inducing.model import MOST, DenseRules, is_punctuation, leaves_alone, put_together
from aligntools.constituents.model import ParsedTrees
from aligntools.constituents.neural.charts import best_tree
from aligntools.constituents.neural.layers import Arrays
from aligntools.constituents.neural.network import Heads, Sizes, encode, heads, scores_of_symbols
from aligntools.constituents.settings import PUNCTUATION, TERMINALS, GrammarDecisions
from aligntools.formats.annotation.brackets import Tree
from aligntools.formats.annotation.conll import column_place
from aligntools.formats.models.modelfile import SavedModel, hold, hold_number, hold_vocabulary
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool, one_thread, over
from aligntools.ground.ranges import counts
from aligntools.words.vocabulary import Vocabulary

#: Words that are punctuation though they have a name, and signs that are none though Unicode says so.
_BRACKETS = frozenset(["-LRB-", "-RRB-", "-LCB-", "-RCB-", "-LSB-", "-RSB-"])
_WORDS = frozenset("#%&@*/")
#: The largest weight of a file: far from those that are learned, and so small that scores are finite.
_LARGEST = 100
_SIZES = ("symbols", "preterminals", "width", "latent")


def is_mark(word: str) -> bool:
    """Return whether a word looks like punctuation."""
    return word in _BRACKETS or (
        word not in _WORDS and all(c == "`" or unicodedata.category(c).startswith("P") for c in word)
    )


def terminal(word: str) -> str:
    """Return a word as the grammar knows it: in small letters, numbers alike."""
    folded = word.lower()
    if any(c.isdigit() for c in folded) and not any(c.isalpha() for c in folded):
        return "0"
    return folded


def numbers_of(known: Vocabulary, terminals: Sequence[str]) -> np.ndarray:
    """Return the numbers of terminals; 0 is what is not known [int32]."""
    found = known.ids([one.encode("utf-8", "surrogateescape") for one in terminals])
    return np.asarray(np.maximum(found, 0).astype(np.int32))


@dataclass(frozen=True, eq=False)
class NeuralGrammar(SavedModel):
    """A neural or compound PCFG, over words or tags; ``vocabulary``: of words or tags; 0 is any that is not known."""

    KIND = "neural-pcfg"
    vocabulary: Vocabulary
    arrays: Arrays
    sizes: Sizes
    settings: dict[str, Any] = field(default_factory=dict)
    normal_form: ClassVar[None] = None

    def __str__(self) -> str:
        return f"{self.sizes.symbols} symbols, {self.sizes.preterminals} preterminals"

    @property
    def needs_tags(self) -> bool:
        """Whether text has to have tags."""
        return bool(self.settings.get("terminals", "tags") == "tags")

    def left_out(self, words: Sequence[str], tags: Sequence[str] | None) -> list[bool]:
        """Return which words the grammar does not see: punctuation by its tag or, where it has none, by its form."""
        if self.settings.get("punct", "drop") != "drop":
            return [False] * len(words)
        given = tags or [""] * len(words)
        return [is_punctuation(tag) if tag else is_mark(word) for word, tag in zip(words, given, strict=True)]

    def numbers(self, words: Sequence[str], tags: Sequence[str] | None) -> np.ndarray:
        """Return the numbers of terminals; 0 is what is not known [int32]."""
        found = list(tags or []) if self.needs_tags else [terminal(word) for word in words]
        return numbers_of(self.vocabulary, found)

    @cached_property
    def _base(self) -> np.ndarray:
        return scores_of_symbols(self.arrays)

    @cached_property
    def prior_heads(self) -> Heads:
        """The rules of the latent vector 0, the prior's mean; of a neural PCFG, its rules."""
        return heads(self.arrays, self._base, np.zeros(self.sizes.latent, np.float32) if self.sizes.latent else None)

    @cached_property
    def rules(self) -> DenseRules:
        """The probabilities of `prior_heads`."""
        return self.prior_heads.probabilities()

    @cached_property
    def _tables(self) -> TensorRules:
        return self.rules.tables()

    def parse(
        self,
        sentences: Sequence[Sequence[str]],
        tags: Sequence[Sequence[str]] | None = None,
        decisions: GrammarDecisions | None = None,
        pool: Pool | None = None,
    ) -> ParsedTrees:
        """Return the trees whose spans are most probably right (Goodman 1996), with labels ``X0``, ``X1`` and so on.

        Of a compound PCFG the latent vector of a sentence is its mean, and the score is given that vector. Words
        without tags have their most probable preterminal for one, ``T0``, ``T1`` and so on, or ``PUNCT``.
        """
        if tags is None and self.needs_tags:
            if any(sentences):
                raise UsageProblem("a grammar that was learned from tags parses text with tags; tag it first")
            tags = sentences
        longest = (decisions or GrammarDecisions()).max_length
        _ = self._base if self.sizes.latent else self._tables  # once, before threads ask for it

        def work(s: int) -> tuple[Tree, float, bool]:
            return self._tree(sentences[s], None if tags is None else tags[s], longest)

        with one_thread():
            found = over(pool, work, range(len(sentences)))
        flat = np.array([long for _, _, long in found], np.bool_)
        values = np.array([value for _, value, _ in found], np.float64)
        return ParsedTrees([tree for tree, _, _ in found], values, flat, (values == -np.inf) & ~flat)

    def _tree(self, words: Sequence[str], tags: Sequence[str] | None, longest: int) -> tuple[Tree, float, bool]:
        """Return the tree of a sentence, its score, and whether it is flat because the sentence is too long."""
        out = self.left_out(words, tags)
        shown = [
            tag or ("PUNCT" if dropped else "X") for tag, dropped in zip(tags or [""] * len(words), out, strict=True)
        ]
        if len(words) > longest:
            return leaves_alone(words, shown), -np.inf, True
        kept = [k for k, dropped in enumerate(out) if not dropped]
        if not kept:
            return leaves_alone(words, shown), 0.0, False
        sentence = self.numbers([words[k] for k in kept], [tags[k] for k in kept] if tags is not None else None)
        if self.sizes.latent:
            own = heads(self.arrays, self._base, encode(self.arrays, sentence[None])[0][0])
            tables = own.probabilities().tables()
        else:
            own, tables = self.prior_heads, self._tables
        nodes, score, posteriors = best_tree(tables, own.emissions(sentence))
        for k, best in zip(kept, posteriors.argmax(1).tolist(), strict=True):
            if tags is None or not tags[k]:
                shown[k] = f"T{best}"
        return put_together(nodes.tolist(), kept, words, shown), score, False

    def parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the arrays of the model's file."""
        sizes = {name: getattr(self.sizes, name) for name in _SIZES}
        return {"settings": self.settings, "sizes": sizes}, self.vocabulary.arrays("terminals") | self.arrays

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Rebuild the model from what a file holds."""
        vocabulary = hold_vocabulary(arrays, "terminals", text=False)
        settings, numbers = header["settings"], header["sizes"]
        symbols, preterminals, width, latent = (
            int(hold_number(numbers, name, counts(0 if name == "latent" else 1, MOST))) for name in _SIZES
        )
        sizes = Sizes(symbols, preterminals, len(vocabulary), width, latent)
        own = {
            name: hold(arrays, name, shape, np.float32, -_LARGEST, _LARGEST) for name, shape in sizes.shapes().items()
        }
        column_place(settings.get("column", "upos"))
        if settings.get("punct", "drop") not in PUNCTUATION or settings.get("terminals", "tags") not in TERMINALS:
            raise ValueError("settings")
        return cls(vocabulary, own, sizes, settings)
