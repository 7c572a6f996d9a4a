"""A tree of classes: those are joined that lose least of what a class says about the next (Brown et al. 1992).

Each pair of classes a, b that follow each other with the probability p(a, b) adds p(a, b) ln p(a, b) / (p(a) p(b)) to
their mutual information. The loss of joining two of them is kept for every pair, and after a join only what the joined
ones have changed is worked out again (Liang 2005), so that a tree of K classes takes time in the cube of K.
"""

import numpy as np


def _information(joint: np.ndarray, left: float | np.ndarray, right: float | np.ndarray) -> np.ndarray:
    """Return the terms of the mutual information."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(joint > 0, joint * np.log(joint / (left * right)), 0.0)


class _Joining:
    """What joining any two of the classes that are left would lose."""

    def __init__(self, bigrams: np.ndarray) -> None:
        self.p = bigrams / max(bigrams.sum(), 1e-300)
        self.q = self._terms(self.p)
        self.outside = np.zeros_like(self.p)  # [a, b]: what the other classes would gain by the join of a and b
        for k in range(len(self.p)):
            self.outside += self._with(k)
        for k in range(len(self.p)):  # a and b are not among the others
            self.outside[k] -= self._own(k)
            self.outside[:, k] -= self._own(k)

    def _terms(self, p: np.ndarray) -> np.ndarray:
        return _information(p, p.sum(1)[:, None], p.sum(0)[None, :])

    def _with(self, k: int) -> np.ndarray:
        """Return [a, b]: what bigrams of k with a or with b gain where a and b are joined."""
        p, q, left, right = self.p, self.q, self.p.sum(1), self.p.sum(0)
        from_k, to_k = p[k][:, None] + p[k][None, :], p[:, k][:, None] + p[:, k][None, :]
        gain = _information(from_k, left[k], right[:, None] + right[None, :])
        gain += _information(to_k, left[:, None] + left[None, :], right[k])
        found: np.ndarray = gain - (q[k] + q[:, k])[:, None] - (q[k] + q[:, k])[None, :]
        return found

    def _own(self, k: int) -> np.ndarray:
        """Return [b]: what bigrams of k with k and with b gain, as `_with` has it for a = k."""
        p, q, left, right = self.p, self.q, self.p.sum(1), self.p.sum(0)
        gain = _information(p[k, k] + p[k], left[k], right[k] + right)
        gain += _information(p[k, k] + p[:, k], left[k] + left, right[k])
        found: np.ndarray = gain - 2 * q[k, k] - q[k] - q[:, k]
        return found

    def losses(self) -> np.ndarray:
        """Return [a, b]: the mutual information that the join of a and b loses."""
        p, q, left, right = self.p, self.q, self.p.sum(1), self.p.sum(0)
        own = np.diag(p)
        within = own[:, None] + own[None, :] + p + p.T
        joined = _information(within, left[:, None] + left[None, :], right[:, None] + right[None, :])
        own = np.diag(q)
        found: np.ndarray = -(self.outside + joined - q - q.T - own[:, None] - own[None, :])
        return found

    def join(self, a: int, b: int) -> None:
        """Join b to a."""
        before = self._with(a) + self._with(b)
        p = self.p
        p[a] += p[b]
        p[:, a] += p[:, b]
        p[b] = p[:, b] = 0.0
        self.q = self._terms(p)
        self.outside += self._with(a) - before
        row = np.zeros(len(p))
        for k in range(len(p)):  # of the joined class, all is new
            if k not in (a, b):
                row += self._joined(a, k)
        self.outside[a] = self.outside[:, a] = row

    def _joined(self, a: int, k: int) -> np.ndarray:
        """Return [b]: what bigrams of k gain where a and b are joined, 0 for b = k."""
        p, q, left, right = self.p, self.q, self.p.sum(1), self.p.sum(0)
        gain = _information(p[k, a] + p[k], left[k], right[a] + right)
        gain += _information(p[a, k] + p[:, k], left[a] + left, right[k])
        gain -= q[k, a] + q[a, k] + q[k] + q[:, k]
        gain[k] = 0.0
        return gain


def paths(bigrams: np.ndarray) -> list[str]:
    """Return the path of each class in the tree: 0 for the half with the class that comes first, 1 for the other.

    bigrams (float64 [classes, classes]): How often one class follows another.
    Returns bits from the root down; ``0`` where there is one class.
    """
    found = _Joining(np.array(bigrams, np.float64))
    members = {k: [k] for k in range(len(bigrams))}
    bits = [""] * len(bigrams)
    while len(members) > 1:
        alive = list(members)
        losses = found.losses()[np.ix_(alive, alive)]
        losses[np.tril_indices(len(alive))] = np.inf
        a, b = (alive[k] for k in np.unravel_index(np.argmin(losses), losses.shape))
        for k in members[a]:
            bits[k] = "0" + bits[k]
        for k in members[b]:
            bits[k] = "1" + bits[k]
        found.join(a, b)
        members[a] += members.pop(b)
    return [path or "0" for path in bits]
