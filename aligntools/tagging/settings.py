"""What can be chosen about taggers and their training, with the defaults that measured best."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import SEED, Range, amounts, check, counts

DECODERS = ("posterior", "viterbi")
#: Ways to learn tags from untagged text: expectation maximization, variational Bayes, maximum reconstruction after EM.
ESTIMATORS = ("em", "vb", "mre")
#: Share of a word's weight in a dictionary from which a tag counts as one of its tags.
MIN_SHARE = 0.3


@dataclass(frozen=True)
class TagSmoothing:
    """How counts become probabilities; each value is a number of observations of what is backed off to.

    Attributes
    ----------
    transitions : float
        A state's next state, towards its tag's.
    tags : float
        A tag's next state, towards that of any tag.
    substates : float
        A word's substates of a tag, towards those of words that look like it.
    classes : float
        The substates of words that look alike, towards those of words that look less alike.
    words : float
        A word's tags, towards those that its letters suggest (`UnknownWords`).
    """

    transitions: float = 10.0
    tags: float = 5.0
    substates: float = 3.0
    classes: float = 5.0
    words: float = 1.0

    RANGES: ClassVar[dict[str, Range]] = dict.fromkeys(
        ("transitions", "tags", "substates", "classes", "words"), amounts()
    )


@dataclass(frozen=True)
class TaggerSettings:
    """How a tagger is trained on tagged text.

    Attributes
    ----------
    latent : int
        Largest number of substates of a tag; 1 is the plain bigram tagger.
    members : int
        Models with different seeds, whose posteriors are multiplied; one if ``latent`` is 1.
    iterations : int
        Iterations of EM in each round of splits.
    noise : float
        How far the halves of a split state differ at first.
    merging : float
        Share of the splits that is undone.
    rare : float
        Words seen at most this often teach what unknown words are like.
    seed : int
    smoothing : TagSmoothing
    relative_frequencies : bool
        Maximum likelihood of a chain with one state a tag: counts over counts, nothing smoothed. Unknown words have
        the probability 0, and get the tags that their neighbours ask for.
    """

    latent: int = 8
    members: int = 4
    iterations: int = 20
    noise: float = 0.01
    merging: float = 0.25
    rare: float = 20
    seed: int = 1
    smoothing: TagSmoothing = field(default_factory=TagSmoothing)
    relative_frequencies: bool = False

    RANGES: ClassVar[dict[str, Range]] = {
        "latent": counts(1, 1024), "members": counts(1, 1024), "iterations": counts(1), "noise": amounts(0, 1),
        "merging": amounts(0, 1, below=True), "rare": amounts(), "seed": SEED,
    }  # fmt: skip

    def checked(self) -> "TaggerSettings":
        """Return the settings.

        Raises
        ------
        UsageProblem
            When one of them makes no sense.
        """
        check(self)
        check(self.smoothing)
        if self.relative_frequencies and self.latent > 1:
            raise UsageProblem("relative frequencies are those of one state a tag: latent 1")
        return self


@dataclass(frozen=True)
class InductionSettings:
    """How tags are learned from text without tags.

    Attributes
    ----------
    states : int
        Number of tags.
    estimator : str
        One of `ESTIMATORS`.
    iterations : int
        Largest number of updates of EM or variational Bayes.
    mre_iterations : int
        Steps of maximum reconstruction after EM, as in the paper; only for ``mre``.
    tolerance : float
        Stop when an update gains less than this, relative to the objective.
    transition_prior, emission_prior : float or None
        EM: added to the expected counts, so that 0 is plain EM. Variational Bayes: parameters of the symmetric
        Dirichlet priors. None: 0 for EM, 0.1 for variational Bayes.
    restarts : int
        Random starts; the one with the highest objective is kept.
    stop : bool
        Whether the end of a sentence is part of the model.
    seed : int
    """

    states: int = 50
    estimator: str = "em"
    iterations: int = 100
    mre_iterations: int = 50
    tolerance: float = 1e-5
    transition_prior: float | None = None
    emission_prior: float | None = None
    restarts: int = 1
    stop: bool = True
    seed: int = 1

    RANGES: ClassVar[dict[str, Range]] = {
        "states": counts(1, 2**15), "iterations": counts(1), "mre_iterations": counts(), "tolerance": amounts(0, 1),
        "transition_prior": amounts(), "emission_prior": amounts(), "restarts": counts(1), "seed": SEED,
    }  # fmt: skip

    @property
    def learner(self) -> str:
        """The estimator of the first part: reconstruction begins from the solution of EM."""
        return "vb" if self.estimator == "vb" else "em"

    def checked(self) -> "InductionSettings":
        """Return the settings.

        Raises
        ------
        UsageProblem
            When one of them makes no sense.
        """
        if self.estimator not in ESTIMATORS:
            raise UsageProblem(f"estimator {self.estimator!r}: choose one of {', '.join(ESTIMATORS)}")
        check(self)
        return self


#: What a preset makes of `InductionSettings`. ``paper`` is what Cheng, Liu & Xu (2017) describe where it is not the
#: default: all 100 iterations of EM, then 50 steps, and a chain that knows no end of a sentence.
INDUCTION_PRESETS: dict[str, dict[str, Any]] = {"paper": {"estimator": "mre", "tolerance": 0.0, "stop": False}}
