"""One EM iteration of tag induction: beside hmmlearn's, and against tokens and states; and the speed of tagging."""

import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from bench import measuring, report, treebanks

PEER = Path(__file__).with_name("peer_taggers.py")


def run(o):
    from aligntools.ground.parallel import Pool

    text = treebanks.read(o.treebanks, treebanks.TEXTS["ewt"], "xpos")
    numbers = {}
    tokens = np.fromiter((numbers.setdefault(w, len(numbers)) for w in text.words), np.int32, len(text.words))
    with Pool(o.threads) as pool:
        body = [
            f"Expectation and maximization over English EWT's training text ({len(tokens):,} words,"
            f" {len(numbers):,} types, {len(text.offsets) - 1:,} sentences), seconds, median of {o.runs}.",
            _growth(o, tokens, text.offsets, len(numbers), pool),
        ]
        if o.peer_python:
            body.append(_beside(o, tokens, text.offsets, len(numbers), pool))
    body.append(_tagging(o, text))
    return "\n\n".join([*body, report.circumstances(o.threads)])


def _iteration(o, tokens, offsets, n_words, states, pool):
    """Return the median seconds of an EM iteration, in the second place what it needs before the first one."""
    from aligntools.tagging.chain import ChainText, expected_counts
    from aligntools.tagging.induction import random_chain

    chain = random_chain(np.bincount(tokens, minlength=n_words) + 1.0, states, np.random.default_rng(1))
    text = ChainText(tokens, offsets, n_words)
    expected_counts(chain, text, pool)  # compiles, and touches the memory
    seconds = []
    for _ in range(o.runs):
        began = time.perf_counter()
        counts, _ = expected_counts(chain, text, pool)
        counts.emissions / counts.emissions.sum(0)
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds))


def _growth(o, tokens, offsets, n_words, pool):
    rows = []
    for share in (8, 4, 2, 1):
        n = (len(offsets) - 1) // share
        part = tokens[: offsets[n]]
        rows.append(
            [f"{len(part):,}", *(f"{_iteration(o, part, offsets[: n + 1], n_words, k, pool):.4f}" for k in STATES)]
        )
        measuring.note(f"{rows[-1]}")
    table = report.table(["words", *(f"{k} states" for k in STATES)], rows)
    base = [float(x) for x in rows[-1][1:]]
    each = ", ".join(f"{k}: {1e9 * s / len(tokens) / k / k:.2f}" for k, s in zip(STATES, base, strict=True))
    return f"{table}\n\nNanoseconds per word and pair of states, on the whole text: {each}."


def _tagging(o, text):
    """Time the whole command on the training text, repeated to a million words."""
    rows = []
    with tempfile.TemporaryDirectory(dir=o.work) as name:
        folder = Path(name)
        treebanks.write(folder / "train", text)
        treebanks.write(folder / "text", text, tags=False)
        times = -(-1_000_000 // len(text.words))
        (folder / "text").write_bytes((folder / "text").read_bytes() * times)
        measuring.run(measuring.aligntools("train-hmm", "-q", "--tagged", folder / "train", "-o", folder / "model"))
        for decoder in ("posterior", "viterbi"):
            tag = measuring.aligntools(
                "tag", "--decode", decoder, "-m", folder / "model", folder / "text", "-o", folder / "out"
            )
            used = sorted((measuring.run(tag) for _ in range(o.runs)), key=lambda u: u.seconds)[o.runs // 2]
            words = len(text.words) * times
            rows.append(
                [
                    f"`tag --decode {decoder}`",
                    f"{used.seconds:.2f}",
                    f"{words / used.seconds:,.0f}",
                    f"{used.peak / 1e6:.0f}",
                ]
            )
    head = f"`tag` on {words:,} words, XPOS, `--latent 8`, four models; whole command, loading included:"
    return f"{head}\n\n{report.table(['command', 'seconds', 'words/s', 'peak MB'], rows)}"


STATES = (10, 25, 50, 100, 200)


def _beside(o, tokens, offsets, n_words, pool):
    """Compare an iteration and its result with hmmlearn's, which has no stop symbol."""
    from aligntools.tagging.chain import Chain, ChainText, expected_counts
    from aligntools.tagging.induction import random_chain

    states = 50
    chain = random_chain(np.bincount(tokens, minlength=n_words) + 1.0, states, np.random.default_rng(1), stop=False)
    ours = _iteration(o, tokens, offsets, n_words, states, pool)
    lengths = np.diff(offsets)
    rows = [["aligntools", f"{ours:.3f}", "1", "", ""]]
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        given, out = Path(folder) / "in.npz", Path(folder) / "out.npz"
        emissions = np.ascontiguousarray(chain.emissions.T)
        np.savez(given, start=chain.start, transitions=chain.transitions, emissions=emissions,
                 tokens=tokens, lengths=lengths[lengths > 0])  # fmt: skip
        every = ChainText(tokens, offsets, n_words)
        begin = Chain(chain.start, chain.transitions, np.ones(states), chain.emissions)
        counts, found = expected_counts(begin, every, pool)
        for kind in ("log", "scaling"):
            done = subprocess.run([o.peer_python, PEER, "hmm", kind, given, out], capture_output=True, check=True)
            figures = json.loads(done.stdout)
            theirs = np.load(out)
            mine = counts.transitions / counts.transitions.sum(1, keepdims=True)
            far = np.abs(mine - theirs["transitions"]).max()
            mine = (counts.emissions / counts.emissions.sum(0)).T
            far = max(far, np.abs(mine - theirs["emissions"]).max())
            loglik = float(found.sum())
            apart = abs(loglik - figures["log_likelihood"]) / abs(loglik)
            rows.append([f"hmmlearn, {kind}", f"{figures['iteration']:.2f}", f"{figures['iteration'] / ours:.0f}",
                         f"{apart:.1e}", f"{far:.1e}"])  # fmt: skip
            measuring.note(f"{rows[-1]}")
    header = ["50 states", "seconds an iteration", "times ours", "log-likelihood apart, relative", "parameters apart"]
    return report.table(header, rows)
