"""Training a tagger on tagged text: counting, and latent annotations."""

from dataclasses import asdict, dataclass, field

import numpy as np

from aligntools.ground.errors import UsageProblem
from aligntools.tagging import latent as la
from aligntools.tagging.decoding import Candidates, Model
from aligntools.tagging.latent import Smoothing
from aligntools.tagging.observed import Observed
from aligntools.tagging.tagger import THRESHOLD, Member, Tagger, rounded
from aligntools.tagging.unknown import UnknownWords
from aligntools.tagging.wordclasses import WordClasses

#: Words whose tags are worked out at a time.
BATCH = 5000


@dataclass(frozen=True)
class Settings:
    """How a tagger is trained; the defaults measured best on several treebanks.

    Attributes
    ----------
    latent : int
        Substates a tag at most; 1 is the plain bigram tagger.
    members : int
        Models with different seeds, whose posteriors are multiplied; one if ``latent`` is 1.
    iterations : int
        Of EM in each round of splits.
    noise : float
        How far the halves of a split state differ at first.
    merging : float
        Share of the splits that is taken back.
    rare : float
        Words seen up to that often teach what unknown words are like.
    seed : int
    smoothing : Smoothing
    """

    latent: int = 8
    members: int = 4
    iterations: int = 20
    noise: float = 0.01
    merging: float = 0.25
    rare: float = 20
    seed: int = 1
    smoothing: Smoothing = field(default_factory=Smoothing)

    def checked(self):
        """Return the settings.

        Raises
        ------
        UsageProblem
            When one of them makes no sense.
        """
        for name in ("latent", "members", "iterations"):
            if getattr(self, name) < 1:
                raise UsageProblem(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 <= self.merging < 1:
            raise UsageProblem(f"merging must be at least 0 and below 1, not {self.merging}")
        return self


def train_supervised(words, offsets, tags, pool, settings=None, report=None):
    """Train a tagger on a tagged text.

    Parameters
    ----------
    words, tags : list of bytes [tokens]
    offsets : int64 [sentences + 1]
    pool : Pool
    settings : Settings or None
    report : callable or None
        Called with (member, round of splits, iteration, states, log-likelihood) after each iteration of EM.

    Returns
    -------
    Tagger

    Raises
    ------
    UsageProblem
        When the text has no words, or a setting makes no sense.
    """
    settings = (settings or Settings()).checked()
    if not words:
        raise UsageProblem("there are no tagged words to train on")
    report = report or (lambda *_: None)
    text = Observed.of(words, offsets, tags)
    counts = text.word_counts()
    unknown = UnknownWords.learn(text.words, counts, rare=settings.rare)
    classes = WordClasses.of(text.words)
    smoothing = settings.smoothing
    candidates, shares, pair_shares = _candidates(text, counts, unknown, smoothing.words)
    del counts
    plain = _member(la.counted(text), text, shares, pair_shares, classes, candidates, smoothing)
    members = []
    for n in range(settings.members if settings.latent > 1 else 0):
        states = la.train(
            text, pair_shares, classes, smoothing, settings.latent, pool, np.random.default_rng([settings.seed, n]),
            settings.iterations, settings.noise, settings.merging, lambda *figures, n=n: report(n, *figures),
        )  # fmt: skip
        members.append(_member(states, text, shares, pair_shares, classes, candidates, smoothing))
    names = [name.decode("utf-8", "surrogateescape") for name in text.names]
    return Tagger(
        names, text.words, candidates, members or [plain], plain if members else None, unknown, classes,
        settings={**asdict(settings)},
    )  # fmt: skip


def _candidates(text, counts, unknown, strength):
    """Return what tags each word can have, ``p(tag | word)`` of those, and of the pairs of the text."""
    candidates = Candidates(np.zeros(1, np.int64), np.zeros(0, np.int32))
    likely, pair_shares = [], np.empty(len(text.pair_word))
    for begin in range(0, len(text.words), BATCH):  # all words' forms with all tags would be large
        rows = slice(begin, begin + BATCH)
        shares = counts[rows] + strength * unknown.probabilities(text.words[rows])
        shares /= counts[rows].sum(1, keepdims=True) + strength
        some = Candidates.above(shares, THRESHOLD)
        likely.append(shares[some.rows(), some.groups])
        pairs = slice(*np.searchsorted(text.pair_word, [begin, begin + BATCH]))
        pair_shares[pairs] = shares[text.pair_word[pairs] - begin, text.pair_tag[pairs]]
        candidates = candidates.joined(some)
    return candidates, np.concatenate(likely), pair_shares


def _member(states, text, shares, pair_shares, classes, candidates, smoothing):
    """Turn counts into a model that decodes."""
    found = la.estimate(states, text, pair_shares, classes, smoothing)
    class_shares = la.class_shares(states, text, classes, smoothing).astype(np.float32)
    model = Model(states.first, found.start, found.transitions, found.stop, np.zeros(0))
    member = Member(model, found.prior, class_shares)
    model.values = member.emissions(shares, classes.nodes, candidates)
    # a tag that a word did have has substates of its own: what training went by
    n_tags = text.n_tags
    keys = text.pair_word.astype(np.int64) * n_tags + text.pair_tag
    wanted = candidates.rows() * n_tags + candidates.groups
    _, candidate, state = candidates.states(states.first)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    own = (keys[at] == wanted)[candidate]
    pair = at[candidate[own]]
    model.values[own] = rounded(found.values[states.at[pair] + state[own] - states.first[text.pair_tag[pair]]])
    return member
