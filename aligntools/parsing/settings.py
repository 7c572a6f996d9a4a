"""What can be chosen about parsers and their training, with the defaults that measured best."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY, Range, amounts, check, counts

#: Named sets of feature templates; see `features.space.SETS`.
FEATURES = ("full", "prefixes", "delexicalized")
#: What to do with given trees that have crossing edges or several roots.
CROSSING = ("skip", "lift")
ROOTS = ("skip", "join")
#: Ways to the 12 universal tags; see `tagsets`.
MAPS = ("none", "upos", "penn")
#: Ways to transfer a parser, what is transferred of an edge, and entropies.
METHODS = ("full", "direct", "projected")
WEIGHTS = ("posterior", "score")
ENTROPIES = ("shannon", "renyi")
#: Longer sentences are not parsed: they get a flat tree.
LONGEST = 1000
#: What that may be set to.
LONGEST_RANGE = counts(1)


@dataclass(frozen=True)
class TreeConstraints:
    """Which trees sentences may have.

    Attributes
    ----------
    projective : bool
        Only trees without crossing edges; else all.
    single_root : bool
        Only trees with exactly one word under the root, as Universal Dependencies requires.
    """

    projective: bool = True
    single_root: bool = True


@dataclass(frozen=True)
class LearningSettings:
    """What training on a treebank and transfer have in common.

    Attributes
    ----------
    features : str
        One of `FEATURES`.
    bits : int
        Each template has at most ``2**bits`` weights.
    min_count : int
        Words that occur less often are unknown words.
    projective : bool
        Whether trees have no crossing edges.
    any_root : bool
        Whether several words may be under the root.
    iterations : int
        Largest number of steps of L-BFGS.
    tolerance : float
        Stop when two steps in a row lower the objective by less than this share.
    """

    features: str = "full"
    bits: int = 19
    min_count: int = 2
    projective: bool = True
    any_root: bool = False
    iterations: int = 100
    tolerance: float = 1e-4

    RANGES: ClassVar[dict[str, Range]] = {
        "bits": counts(4, 24), "min_count": counts(1), "iterations": counts(1), "tolerance": PROBABILITY,
        "min_length": counts(1), "max_length": counts(1), "l2": amounts(),
    }  # fmt: skip

    @property
    def trees(self) -> TreeConstraints:
        """Which trees there are."""
        return TreeConstraints(self.projective, not self.any_root)

    def _header(self) -> dict[str, Any]:
        return {
            "features": self.features, "bits": self.bits, "least": self.min_count, "projective": self.projective,
            "single_root": not self.any_root, "iterations": self.iterations, "tolerance": self.tolerance,
        }  # fmt: skip

    def _check(self, choices: Mapping[str, tuple[str, ...]], lengths: tuple[int, int]) -> None:
        for name, known in {"features": FEATURES, **choices}.items():
            if getattr(self, name) not in known:
                raise UsageProblem(f"{name} '{getattr(self, name)}': choose one of {', '.join(known)}")
        check(self)
        if lengths[0] > lengths[1]:
            raise UsageProblem(
                f"the shortest length, {lengths[0]}, is above the longest, {lengths[1]}: nothing is left"
            )


@dataclass(frozen=True)
class ParserSettings(LearningSettings):
    """How a parser is trained on a treebank; see `LearningSettings` too.

    Attributes
    ----------
    crossing, roots : str
        What to do with trees that the model cannot have: ``skip`` them, ``lift`` crossing edges, or ``join`` further
        roots under the first.
    min_length, max_length : int
        Shorter and longer sentences are left out.
    l2 : float
        Half of it times the squared weights is added to the objective.
    labels : bool
        Whether to learn labels too, where there are any.
    """

    crossing: str = "lift"
    roots: str = "join"
    min_length: int = 1
    max_length: int = 200
    l2: float = 5.0
    labels: bool = True

    def header(self) -> dict[str, Any]:
        """Return the settings as model files and checkpoints name them."""
        return self._header() | {
            "crossing": self.crossing, "roots": self.roots, "shortest": self.min_length, "longest": self.max_length,
            "l2": self.l2, "labels": self.labels,
        }  # fmt: skip

    def checked(self) -> "ParserSettings":
        """Return the settings.

        Raises
        ------
        UsageProblem
            When one of them makes no sense, or two contradict each other.
        """
        self._check({"crossing": CROSSING, "roots": ROOTS}, (self.min_length, self.max_length))
        return self


@dataclass(frozen=True)
class TransferSettings(LearningSettings):
    """How a parser is transferred to another language; see `LearningSettings` too.

    Attributes
    ----------
    method : str
        ``full``: learn from transferred distributions (Ma & Xia 2014); ``direct``: take the source parser without its
        words; ``projected``: learn from trees that the alignments support (McDonald, Petrov & Hall 2011).
    min_length, max_length : int
        Pairs with a shorter or longer sentence, on either side, are left out, and unlabeled sentences too.
    min_aligned : float
        Pairs with a smaller share of target words aligned one to one are left out.
    head : int or None
        Only the first pairs of those that are left are used.
    weights : str
        What is transferred of an edge, one of `WEIGHTS`; see `transfer.projection.transferring_scores`.
    gamma : float
        Weight of the entropy on unlabeled sentences (equation 11); a large one makes the parser certain of mistakes.
    direct_share : float
        Above 0: what unlabeled sentences teach is not entropy, but the trees that the parser so far and the source
        parser without its words find together, with this share of the latter.
    entropy : str
        One of `ENTROPIES`.
    alpha : float
        Order of Rényi's entropy.
    l2 : float
        Half of it times the squared weights is added to the objective.
    rounds : int
        How often projected transfer chooses its trees again.
    reward : float
        What projected transfer adds to the score of an edge that the source tree has too.
    labels : bool
        Whether to learn labels too, where the source parser has any.
    """

    method: str = "full"
    min_length: int = 3
    max_length: int = 100
    min_aligned: float = 0.8
    head: int | None = None
    weights: str = "posterior"
    gamma: float = 0.03
    direct_share: float = 0.0
    entropy: str = "shannon"
    alpha: float = 2.0
    l2: float = 100.0
    rounds: int = 3
    reward: float = 3.0
    labels: bool = True

    RANGES: ClassVar[dict[str, Range]] = LearningSettings.RANGES | {
        "min_aligned": PROBABILITY, "head": counts(1), "gamma": amounts(), "direct_share": PROBABILITY,
        "alpha": amounts(0, 100, above=True), "rounds": counts(), "reward": amounts(),
    }  # fmt: skip

    @property
    def order(self) -> float:
        """Order of the entropy: 1 is Shannon's."""
        return 1.0 if self.entropy == "shannon" else self.alpha

    def header(self) -> dict[str, Any]:
        """Return the settings as model files and checkpoints name them."""
        return self._header() | {
            "method": self.method, "shortest": self.min_length, "longest": self.max_length,
            "min_aligned": self.min_aligned, "most": self.head, "weights": self.weights, "gamma": self.gamma,
            "direct_share": self.direct_share, "alpha": self.order, "l2": self.l2, "rounds": self.rounds,
            "reward": self.reward, "labels": self.labels,
        }  # fmt: skip

    def checked(self) -> "TransferSettings":
        """Return the settings.

        Raises
        ------
        UsageProblem
            When one of them makes no sense, or two contradict each other.
        """
        choices = {"method": METHODS, "weights": WEIGHTS, "entropy": ENTROPIES}
        self._check(choices, (self.min_length, self.max_length))
        return self
