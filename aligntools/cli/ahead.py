"""On a machine's first run: other processes compile what training comes to later, while this one begins."""

import contextlib
import os
import subprocess
import sys


@contextlib.contextmanager
def compiling_for(o):
    """Compile ahead what training with the options needs, where that is worth while; end with the block."""
    fast = o.get("fast") or o.get("model_type") == "hmm"
    parts = ("hmm",) if fast else ("hmm", "sampler") if o.get("model_type") == "fertility" else ()
    processes = _started(parts) if o["threads"] > 1 else []
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def _started(parts):
    from aligntools.aligning.ahead import TELLING
    from aligntools.ground import compiling, system

    processes = []
    if not system.HANDS_OVER:  # then training compiles for itself
        return processes
    for part in parts:
        if compiling.is_kept(TELLING[part]) or not sys.executable:
            continue
        lock = compiling.lock(f"ahead-{part}")  # gone with the new process: who starts meanwhile starts no other
        if lock is None:
            continue
        path = os.pathsep.join(p or os.getcwd() for p in sys.path)
        with contextlib.suppress(OSError):
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-P", "-m", "aligntools.aligning.ahead", part],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[lock],
                    env=os.environ | {"PYTHONPATH": path},
                )
            )
        os.close(lock)
    return processes
