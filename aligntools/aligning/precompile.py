"""On a machine's first run other processes compile what training comes to later, while this one begins.

``python -m aligntools.aligning.precompile hmm`` is such a process.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

from aligntools.aligning.models import registry


@contextlib.contextmanager
def compiling_for(model_type: str, threads: int) -> Iterator[None]:
    """Compile ahead what training a model needs, where that is worth while; end with the block."""
    processes = _started(model_type) if threads > 1 else []
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def _started(model_type: str) -> list[subprocess.Popen[bytes]]:
    from aligntools.ground import compiler, system

    processes: list[subprocess.Popen[bytes]] = []
    if not system.HANDS_OVER:  # then training compiles for itself
        return processes
    for kind in registry.kind_of(model_type).chain():
        about = kind.load().compiled_ahead()
        if about is None or compiler.is_kept(about.telling) or not sys.executable:
            continue
        lock = compiler.lock(f"ahead-{kind.name}")  # removed when the new process ends; until then no other is started
        if lock is None:
            continue
        path = os.pathsep.join(p or os.getcwd() for p in sys.path)
        with contextlib.suppress(OSError):
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-P", "-m", __name__, kind.name],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[lock],
                    env=os.environ | {"PYTHONPATH": path},
                )
            )
        os.close(lock)
    return processes


if __name__ == "__main__":
    ahead = registry.kind_of(sys.argv[1]).load().compiled_ahead()
    for compile_now in ahead.functions if ahead else ():
        compile_now()
