"""NumPy's products of matrices, each on one thread: several run at once, and the rounding is always the same."""

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Keep products of matrices to one thread each in the body of the ``with`` statement."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield
