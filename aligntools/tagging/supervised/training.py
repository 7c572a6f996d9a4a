"""Training a tagger on tagged text: counts, and substates of the tags."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from aligntools.formats.annotation.class_lists import WordLookup
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.tagging.decoding import CandidateChain, TagCandidates
from aligntools.tagging.settings import TaggerSettings, TagSmoothing
from aligntools.tagging.supervised import substates
from aligntools.tagging.supervised.corpus import TaggedCorpus
from aligntools.tagging.supervised.partial import Observation, complete
from aligntools.tagging.supervised.substates import Substates
from aligntools.tagging.tagger import THRESHOLD, TaggerMember, TaggerModel, emissions, rounded
from aligntools.tagging.unknown_words import FormClasses, UnknownWords

#: Words whose tags are worked out at a time.
BATCH = 5000


def train_supervised(
    words: Sequence[bytes],
    offsets: np.ndarray,
    tags: Sequence[bytes],
    pool: Pool,
    settings: TaggerSettings,
    report: Callable[[int, int, int, int, float], None] | None = None,
    classes: WordLookup | None = None,
    observed: Observation | None = None,
) -> TaggerModel:
    """Train a tagger on a tagged text.

    report: Called with (member, round of splits, iteration, states, log-likelihood) after each iteration of EM.
    observed: Which tags the tokens may have, in the place of ``tags``.
    """
    if not words:
        raise UsageProblem("there are no tagged words to train on")
    report = report or (lambda *_: None)
    if observed is None:
        text = TaggedCorpus.of(words, offsets, tags)
    else:
        text = TaggedCorpus.numbered(words, offsets, *observed)
    looks = FormClasses.of(text.words)
    smoothing = settings.smoothing
    renewed = None
    if len(text.pairs) > len(text.tokens):
        text, states, unknown, renewed = complete(text, looks, pool, settings, partial(report, 0), classes)
        counts = text.word_counts()
    else:
        states, counts = substates.known_counts(text), text.word_counts()
        unknown = UnknownWords.learn(text.words, counts, rare=settings.rare, classes=classes)
    if settings.relative_frequencies:  # of the pairs that were seen alone: counts over counts
        ptr = np.searchsorted(text.pair_word, np.arange(len(text.words) + 1)).astype(np.int64)
        candidates = TagCandidates(ptr, text.pair_tag)
        shares = text.pair_count / np.bincount(text.pair_word, text.pair_count, len(text.words))[text.pair_word]
        pair_shares = shares
    else:
        candidates, shares, pair_shares = _candidates(text, counts, unknown, smoothing.words)
    del counts

    def member(states: Substates) -> TaggerMember:
        if settings.relative_frequencies:
            return _relative_member(states, text, pair_shares, len(looks.parents))
        now, now_shares = renewed(states) if renewed else (text, pair_shares)
        return _member(states, now, now_shares, shares, looks, candidates, smoothing)

    plain, start = member(states), states
    members = []
    for n in range(settings.members if settings.latent > 1 else 0):
        states = substates.train(
            text,
            pair_shares,
            looks,
            settings,
            pool,
            np.random.default_rng([settings.seed, n]),
            report=lambda *figures, n=n: report(n, *figures),
            start=start,
            renewed=renewed,
        )
        members.append(member(states))
    names = [name.decode("utf-8", "surrogateescape") for name in text.names]
    counted = np.bincount(text.tokens, minlength=len(text.words)).astype(np.float64)
    return TaggerModel(
        names,
        text.words,
        candidates,
        members or [plain],
        plain if members else None,
        unknown,
        looks,
        settings=settings.header(),
        factors=counted / max(counted.sum(), 1e-300),
    )


def _candidates(
    text: TaggedCorpus, counts: np.ndarray, unknown: UnknownWords, strength: float
) -> tuple[TagCandidates, np.ndarray, np.ndarray]:
    """Return what tags each word can have, ``p(tag | word)`` of those, and of the pairs of the text."""
    candidates = TagCandidates(np.zeros(1, np.int64), np.zeros(0, np.int32))
    likely, pair_shares = [], np.empty(len(text.pair_word))
    for begin in range(0, len(text.words), BATCH):  # all words' forms with all tags would be large
        rows = slice(begin, begin + BATCH)
        shares = counts[rows] + strength * unknown.probabilities(text.words[rows])
        shares /= counts[rows].sum(1, keepdims=True) + strength
        some = TagCandidates.above(shares, THRESHOLD)
        likely.append(shares[some.rows(), some.groups])
        pairs = slice(*np.searchsorted(text.pair_word, [begin, begin + BATCH]))
        pair_shares[pairs] = shares[text.pair_word[pairs] - begin, text.pair_tag[pairs]]
        candidates = candidates.joined(some)
    return candidates, np.concatenate(likely), pair_shares


def _relative_member(states: Substates, text: TaggedCorpus, pair_shares: np.ndarray, n_nodes: int) -> TaggerMember:
    """Turn counts into relative frequencies, nothing smoothed: maximum likelihood."""
    totals = np.bincount(text.pair_tag, text.pair_count, text.n_tags)
    prior, onward = totals / totals.sum(), states.transitions.sum(1) + states.stop
    values = rounded(pair_shares / prior[text.pair_tag])
    start, stop = states.start / states.start.sum(), states.stop / onward
    chain = CandidateChain(states.first, start, states.transitions / onward[:, None], stop, values)
    return TaggerMember(chain, prior, np.ones((n_nodes, text.n_tags), np.float32))


def _member(
    states: Substates,
    text: TaggedCorpus,
    pair_shares: np.ndarray,
    shares: np.ndarray,
    classes: FormClasses,
    candidates: TagCandidates,
    smoothing: TagSmoothing,
) -> TaggerMember:
    """Turn counts into one model of a tagger."""
    found, prior = substates.estimate(states, text, pair_shares, classes, smoothing)
    class_shares = substates.class_shares(states, text, classes, smoothing).astype(np.float32)
    values = emissions(states.first, class_shares, prior, shares, classes.nodes, candidates)
    # a tag that a word had in training has substates of its own there
    n_tags = text.n_tags
    keys = text.pair_word.astype(np.int64) * n_tags + text.pair_tag
    wanted = candidates.rows() * n_tags + candidates.groups
    _, candidate, state = candidates.states(states.first)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    own = (keys[at] == wanted)[candidate]
    pair = at[candidate[own]]
    values[own] = rounded(found.emissions[states.at[pair] + state[own] - states.first[text.pair_tag[pair]]])
    chain = CandidateChain(states.first, found.start, found.transitions, found.stop, values)
    return TaggerMember(chain, prior, class_shares)
