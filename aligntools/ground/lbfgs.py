"""Minimizing smooth functions of many variables by limited-memory BFGS (Liu & Nocedal 1989).

SciPy's own sums depend on the number of cores, and it cannot stop and go on. Here a step needs two passes over the
history, in fixed blocks: inner products, from which the direction follows as numbers (Chen, Wang & Zhou 2014), and the
direction. A step along it satisfies the weak Wolfe conditions, found by bracketing (Lewis & Overton 2013).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from aligntools.ground import kernels_vectors as kernels
from aligntools.ground.parallel import Pool

#: Entries of a block of a vector.
BLOCK = 1 << 16
#: No entry of the gradient is larger where a minimization ends.
FLAT = 1e-8
#: Sufficient decrease, curvature, and evaluations along one line.
DECREASE, CURVATURE, TRIALS = 1e-4, 0.9, 30


@dataclass
class LbfgsState:
    """Where a minimization is; with it, it goes on as if it had never stopped.

    x, gradient (float64 [n]).
    history (float64 [2 * memory, n]): Rows 2 k and 2 k + 1 are a step and the change of the gradient that it made.
    order: The k that are in use, the oldest first.
    products (float64 [2 * memory, 2 * memory]): Inner products of the history's rows.
    small: How many of the last steps in a row lowered the value by less than the tolerance.
    """

    x: np.ndarray
    gradient: np.ndarray
    value: float
    history: np.ndarray
    order: list[int] = field(default_factory=list)
    products: np.ndarray = field(default_factory=lambda: np.empty(0))
    steps: int = 0
    small: int = 0

    def __post_init__(self) -> None:
        if not self.products.size:
            self.products = np.zeros((len(self.history), len(self.history)))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return everything as arrays, for a file."""
        return {
            "x": self.x,
            "gradient": self.gradient,
            "value": np.array([self.value]),
            "history": self.history,
            "order": np.array(self.order, np.int64),
            "products": self.products,
            "steps": np.array([self.steps, self.small], np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> "LbfgsState":
        """Take what `arrays` gave."""
        a = {name: np.array(values) for name, values in arrays.items()}
        order, value, (steps, small) = a["order"].tolist(), float(a["value"][0]), a["steps"].tolist()
        return cls(a["x"], a["gradient"], value, a["history"], order, a["products"], steps, small)


@dataclass(frozen=True)
class Minimum:
    """Where a minimization ended, and why: ``converged`` says whether by one of the tolerances."""

    state: LbfgsState
    converged: bool
    message: str


class _Vectors:
    """Sums over long vectors in fixed blocks, in order."""

    def __init__(self, n: int, pool: Pool | None) -> None:
        self.blocks = [(begin, min(begin + BLOCK, n)) for begin in range(0, n, BLOCK)]
        self.map = pool.map if pool is not None else lambda work, items: [work(i) for i in items]

    def inner(self, rows: np.ndarray, use: Sequence[int] | np.ndarray, vector: np.ndarray) -> np.ndarray:
        used = np.asarray(use, np.int64)
        out = np.zeros((len(self.blocks), len(used)))
        runs = range(len(self.blocks))
        self.map(lambda b: kernels.inner_products(rows, used, vector, *self.blocks[b], out[b]), runs)
        return np.asarray(np.add.reduce(out, axis=0))

    def dot(self, a: np.ndarray, b: np.ndarray) -> float:
        return float(self.inner(a[None], [0], b)[0])

    def combine(
        self, rows: np.ndarray, use: Sequence[int] | np.ndarray, factors: np.ndarray, vector: np.ndarray
    ) -> None:
        used, factors = np.asarray(use, np.int64), np.asarray(factors, np.float64)
        self.map(lambda b: kernels.combine(rows, used, factors, vector, *b), self.blocks)


def minimize(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: LbfgsState | np.ndarray,
    iterations: int = 100,
    tolerance: float = 1e-5,
    memory: int = 10,
    pool: Pool | None = None,
    progress: Callable[[LbfgsState], bool | None] | None = None,
) -> Minimum:
    """Minimize a function, which returns its value and its gradient (a new array) at a point.

    start (float64 [n] or LbfgsState): A state goes on; its arrays are changed.
    iterations: Steps at most, those before ``start`` included.
    tolerance: Ends when two steps in a row lower the value by less than this share; one may be along a poor direction.
    progress: Called with the state after each step; ends the minimization by returning True.
    """
    if isinstance(start, LbfgsState):
        state = start
    else:
        x = np.array(start, np.float64)
        value, gradient = function(x)
        state = LbfgsState(x, gradient, float(value), np.zeros((2 * memory, len(x))))
    vectors = _Vectors(len(state.x), pool)
    if not np.isfinite(state.value):
        return Minimum(state, False, "the function is not finite at the start")
    while True:
        if state.small >= 2:  # of a State that was kept just before the end, too
            return Minimum(state, True, "the function falls by less than the tolerance")
        if state.steps >= iterations:
            return Minimum(state, False, "all iterations are done")
        if not len(state.x) or np.max(np.abs(state.gradient)) <= FLAT:
            return Minimum(state, True, "the gradient is zero within its tolerance")
        direction = _direction(state, vectors)
        slope = vectors.dot(direction, state.gradient)
        if not slope < 0:  # rounding has spoilt the history
            state.order.clear()
            direction = -state.gradient
            slope = -vectors.dot(state.gradient, state.gradient)
        first = 1.0 if state.order else min(1.0, 1.0 / np.sqrt(-slope))
        moved = _search(function, state, direction, slope, first, vectors)
        if moved is None:
            return Minimum(state, False, "no step along the line lowers the function")
        before, past = state.value, state.gradient
        state.value, state.gradient, step = moved
        state.x = state.x + step * direction  # the very point where the function was evaluated
        # the history takes the step and the change of the gradient, in the place of the oldest where it is full
        size = len(state.history) // 2
        k = state.order.pop(0) if len(state.order) == size else next(k for k in range(size) if k not in state.order)
        state.history[2 * k], state.history[2 * k + 1] = step * direction, state.gradient - past
        state.order.append(k)
        rows = [r for j in state.order for r in (2 * j, 2 * j + 1)]
        for r in (2 * k, 2 * k + 1):
            state.products[r, rows] = state.products[rows, r] = vectors.inner(state.history, rows, state.history[r])
        if not state.products[2 * k, 2 * k + 1] > 0:  # no curvature to speak of
            state.order.remove(k)
        state.steps += 1
        fall, scale = before - state.value, max(abs(before), abs(state.value), 1.0)
        state.small = state.small + 1 if fall <= tolerance * scale else 0
        if progress is not None and progress(state):
            return Minimum(state, False, "stopped")


def _direction(state: LbfgsState, vectors: _Vectors) -> np.ndarray:
    """Return minus the approximate inverse Hessian times the gradient: the two loops, on coefficients of the rows."""
    if not state.order:
        return -state.gradient
    rows = [r for k in state.order for r in (2 * k, 2 * k + 1)]
    with_gradient = np.zeros(len(state.history))
    with_gradient[rows] = vectors.inner(state.history, rows, state.gradient)
    products, c, alpha = state.products, np.zeros(len(state.history)), {}
    for k in reversed(state.order):
        s, y = 2 * k, 2 * k + 1
        alpha[k] = (products[s] @ c - with_gradient[s]) / products[s, y]
        c[y] -= alpha[k]
    s, y = 2 * state.order[-1], 2 * state.order[-1] + 1
    scale = products[s, y] / products[y, y]
    c *= scale
    for k in state.order:
        s, y = 2 * k, 2 * k + 1
        beta = (products[y] @ c - scale * with_gradient[y]) / products[s, y]
        c[s] += alpha[k] - beta
    direction = -scale * state.gradient
    vectors.combine(state.history, rows, c[rows], direction)
    return np.asarray(direction)


def _search(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    state: LbfgsState,
    direction: np.ndarray,
    slope: float,
    step: float,
    vectors: _Vectors,
) -> tuple[float, np.ndarray, float] | None:
    """Return value, gradient and length of a step that satisfies the weak Wolfe conditions, or None."""
    low, high = (0.0, state.value, slope), None
    best = None
    for _ in range(TRIALS):
        value, gradient = function(state.x + step * direction)
        value = float(value)
        if not value <= state.value + DECREASE * step * slope:
            high = (step, value)
        else:
            if best is None or value < best[0]:
                best = value, gradient, step
            here = vectors.dot(gradient, direction)
            if here >= CURVATURE * slope:
                return value, gradient, step
            low = (step, value, here)
        if high is None:
            step *= 4.0
            continue
        width = high[0] - low[0]
        # the parabola through the lower end's value and slope and the upper end's value
        bend = high[1] - low[1] - low[2] * width
        share = -low[2] * width / (2 * bend) if np.isfinite(bend) and bend > 0 else 0.5
        step = low[0] + width * min(max(share, 0.1), 0.9)
        if width <= 1e-14 * max(1.0, high[0]):
            break
    return best if best is not None and best[0] < state.value else None
