"""Finding the candidate links of sentence pairs, and their local features: what each adds to a score by itself."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from aligntools.aligning.applying.applier import Applier, Posteriors
from aligntools.aligning.applying.model_text import ModelText
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive import kernels_local_features as kl
from aligntools.aligning.contrastive.candidate_links import CandidateLinks, bare_candidates, concatenate
from aligntools.aligning.contrastive.evidence import given_too, readings
from aligntools.aligning.contrastive.linknetwork import LinkNetwork
from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.text.kernels_pairs import Pairs
from aligntools.aligning.text.look_alikes import romanized, simplify
from aligntools.aligning.text.views import ParallelText
from aligntools.formats.links.given_links import GivenLinks
from aligntools.formats.text.corpus import Bitext
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import AnyVocabulary

#: Letters of a word that are compared, at most: time grows as their square.
_LETTERS = 300

# How the words of a base model are used in the text that it was trained on: how often they occur and are linked

#: Least and greatest LINKS_EACH of a word, in logarithms.
FEWEST, MOST = -4.0, 2.0
#: If no word has more links than this, they are sums of a table's probabilities, not counts.
A_TABLE = 1.01

#: Forward and reverse: expected links of each pair of words (float32 [n_pairs]), and of each word (float64; words
#: beyond have none); source and target: OCCURRENCES and LINKS_EACH of words (float32 [n_words + 1, 2]), unknown ones
#: last.
Uses: TypeAlias = tuple[tuple[np.ndarray, np.ndarray], ...]
#: Sums over a model's table, kept because a service aligns pair by pair.
_found: WeakKeyDictionary[LexicalModel, Uses] = WeakKeyDictionary()


def uses_of(model: LexicalModel) -> Uses:
    """Return the expected links of one view's pairs and words, its own if it counted any, and its words' uses.

    A word occurs as often as the opposite direction links it, to words or to NULL. Without counts it has one link
    each time, and occurs as often, or, in other aligners' tables, in proportion to its probability under NULL.
    """
    found = _found.get(model)
    if found is None:
        links, lexicon = model.word_links(), model.lexicon
        if links is not None:
            (forward, reverse), (s_words, t_words), (t_null, s_null) = links.pairs, links.words, links.null
            s_linked, t_linked = links.observed(model.table)
            often = text_columns(s_words, s_linked + s_null), text_columns(t_words, t_linked + t_null)
        else:
            forward, reverse = lexicon.forward, lexicon.reverse
            s_words, t_words = (1.0 / x[:-1].astype(np.float64) for x in (lexicon.s_inverse, lexicon.t_inverse))
            s_often, t_often = _occurrences(s_words, model.s_null), _occurrences(t_words, model.t_null)
            often = text_columns(s_often, s_often), text_columns(t_often, t_often)
        found = _found[model] = (forward, reverse), (s_words, t_words), often
    return found


def _occurrences(words: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Estimate how often a side's words occur, from their links or from their probabilities under NULL."""
    if words.max(initial=0.0) > A_TABLE:
        return words
    of_null = null[: len(words)].astype(np.float64)
    return np.asarray(of_null / max(of_null[1:].min(initial=1.0), 1e-9))


def text_columns(links: np.ndarray, occurrences: np.ndarray) -> np.ndarray:
    """Return the OCCURRENCES and LINKS_EACH of a side's words, float32 [n_words + 1, 2]; unknown words are last.

    links, occurrences (float64 [n_words]): Expected links of each word, and how often it is in the text.
    """
    links, occurrences = np.append(links, 0.0), np.append(occurrences, 0.0)
    each = np.clip(np.log((links + 0.5) / (occurrences + 1.0)), FEWEST, MOST)
    return np.stack([np.log(occurrences + 1.0), each], axis=1).astype(np.float32)


#: Of `settings.Candidates`, which cells are candidates: those whose mean of both directions' posteriors is above the
#: first, and which are among the best of their source word or of their target word, so many; and whether each network
#: judges a pair with its sides exchanged too, not every second one so alone. With few the network takes less than half
#: the time; links have 1 % more errors (`bench/SETTINGS.md`).
BOUNDS = {"few": (0.05, 4, False), "base": (0.02, 5, True), "all": (-1.0, 1 << 30, True)}
#: Link-matrix cells worked at a time.
CELLS = 2_000_000


#: How one side's words are spelled: letters (int32), begins (int64 [n_words + 1]): code points of all words, joined,
#: without accents, of which word ``v`` has ``letters[begins[v]:begins[v + 1]]``; kinds (uint8 [n_words]): 1 for words
#: with a letter; sizes (int32 [n_words]): characters of each word as it is written.
Spelling: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def mean(forward: np.ndarray, reverse: np.ndarray) -> np.ndarray:
    """Return the mean of both directions' posteriors, float32."""
    return np.asarray(np.float32(0.5) * (forward + reverse))


def spelling(tokens: np.ndarray, vocabulary: AnyVocabulary) -> Spelling:
    """Return the spelling of a text's words; words that do not occur have no letters."""
    used = np.unique(tokens)
    written = [vocabulary.word(int(v)) for v in used]
    plain = [simplify(w) for w in written]
    words = [(romanized(w) or w)[:_LETTERS] for w in plain]
    n = int(used[-1]) + 1 if len(used) else 1
    lengths, kinds, sizes = np.zeros(n + 1, np.int64), np.zeros(n, np.uint8), np.zeros(n, np.int32)
    sizes[used] = [len(w) for w in written]
    lengths[used + 1] = [len(w) for w in words]
    kinds[used] = [any(map(str.isalpha, w)) for w in plain]
    letters = np.array(list(map(ord, "".join(words))), np.int32)
    return letters, np.cumsum(lengths), kinds, sizes


class CandidateFinder:
    """Finds the candidates that a base model gives of any text, by one of BOUNDS; ``trees`` is 0 without a network."""

    def __init__(
        self,
        model: AlignmentModel,
        pool: Pool,
        network: LinkNetwork | None = None,
        candidates: str = "base",
        cells: int = CELLS,
        applier: Applier | None = None,
    ) -> None:
        self.model, self.pool, self.network, self.bounds = model, pool, network, BOUNDS[candidates]
        self.applier = applier or Applier(model.views, model.settings, model.sizes, cells, model.subwords)

    def find(
        self, bitext: Bitext, evidence: Sequence[GivenLinks] = (), believed: Sequence[GivenLinks] = ()
    ) -> Iterator[tuple[Posteriors, CandidateLinks]]:
        """Yield (`Posteriors`, `CandidateLinks`) of runs of sentences; the next `Posteriors` overwrite the former.

        evidence: Other aligners' links of the same sentences; they are candidates too. Of ``believed`` see
            `Applier.posteriors`.
        """
        texts = [self.applier.text(m, bitext) for m in self.applier.models]
        spellings = [spelling(side.tokens, vocabulary) for side, vocabulary in bitext.sides]
        for posteriors in self.applier.posteriors(bitext, self.pool, believed=believed):
            given = [x[posteriors.k0 : posteriors.k1] for x in evidence]
            yield posteriors, self._of(posteriors, bitext, texts, spellings, given)

    def find_all(self, bitext: Bitext) -> CandidateLinks:
        """Return the `CandidateLinks` of a whole text, which must be small; see `find`."""
        return concatenate(candidates for _, candidates in self.find(bitext))

    @staticmethod
    def _pairs(p: Posteriors, text: ParallelText) -> Pairs:
        """Return the sentence pairs of posteriors in the ids of a text."""
        tokens = text.source.tokens, text.target.tokens
        return Pairs(p.k0, tokens[0], p.source_offsets, tokens[1], p.target_offsets, p.cell_offsets)

    def _of(
        self,
        p: Posteriors,
        bitext: Bitext,
        texts: Sequence[ModelText],
        spellings: Sequence[Spelling],
        evidence: Sequence[GivenLinks],
    ) -> CandidateLinks:
        n = p.k1 - p.k0
        cells = np.empty(int(p.cell_offsets[-1]), np.float32)
        least, most, _ = self.bounds if len(cells) <= CELLS else BOUNDS["base"]  # that many are one pair's
        counts = np.zeros(n, np.int64)
        pairs = self._pairs(p, bitext)

        def find(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            a, b = block
            own = slice(p.cell_offsets[a - p.k0], p.cell_offsets[b - p.k0])
            cells[own] = mean(p.forward[own], p.reverse[own])
            none = np.empty(0, np.int32)
            given = (*block, pairs, cells, np.float32(least), most, counts)
            size = kl.find_candidates(*given, none, none)
            rows, columns = np.empty(size, np.int32), np.empty(size, np.int32)
            if size:
                kl.find_candidates(*given, rows, columns)
            return rows, columns

        parts = self.pool.map(find, p.sentence_blocks)
        starts = np.zeros(n + 1, np.int64)
        np.cumsum(counts, out=starts[1:])
        rows, columns = (np.concatenate([x[d] for x in parts] or [np.empty(0, np.int32)]) for d in (0, 1))
        if evidence:
            starts, rows, columns = given_too(starts, rows, columns, evidence)
        s_offsets, t_offsets = (o[p.k0 : p.k1 + 1] - o[p.k0] for o in (p.source_offsets, p.target_offsets))
        candidates = bare_candidates(s_offsets, t_offsets, starts, rows, columns)
        if evidence:
            candidates.readings, candidates.likeness = readings(candidates, evidence)
        sums = np.concatenate([[0.0], np.cumsum(cells, dtype=np.float64)])
        candidates.expected = sums[p.cell_offsets[1:]] - sums[p.cell_offsets[:-1]]

        found, share = candidates.arrays(), 1.0 / len(texts)
        views = []
        for text in texts:
            m, words = text.model, text.model.lexicon
            lexicon = words.forward, words.reverse, np.float32(words.default), words.floors
            null = words.s_inverse, words.t_inverse, m.s_null, m.t_null
            keys = text.s_keys, text.t_keys, text.source_tokens, text.target_tokens
            table = kl.WordTable(m.table.ptr, m.table.ids, *lexicon, *null, *keys)
            views.append((self._pairs(p, text), table, uses_of(m)))

        def fill(block: tuple[int, int]) -> None:
            kl.posterior_features(*block, pairs, p.forward, p.reverse, cells, found)
            for own, words, uses in views:
                kl.translation_features(*block, own, words, share, found)
                kl.use_features(*block, own, words, uses, share, found)
            kl.word_features(*block, pairs, *spellings, found)

        self.pool.map(fill, p.sentence_blocks)
        if self.network is not None:
            candidates.local[:, kf.TREES] = self.network.odds(candidates, self.pool, self.bounds[2])
        return candidates
