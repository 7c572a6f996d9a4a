"""Compiled: what the gradients of the network that judges links take beside products of matrices."""

from aligntools.aligning.contrastive.kernels_linknetwork import CHANNELS
from aligntools.ground.compiler import kernel

#: The candidate and its eight neighbours.
AROUND = 9


@kernel(owning=False)
def look_around(h, neighbours, around):
    """Put channels of each candidate and its neighbours side by side: ``around`` [candidates, AROUND * CHANNELS]."""
    for c in range(h.shape[0]):
        for b in range(CHANNELS):
            around[c, b] = h[c, b]
        for d in range(8):
            other, at = neighbours[c, d], (1 + d) * CHANNELS
            if other < 0:
                for b in range(CHANNELS):
                    around[c, at + b] = 0.0
            else:
                for b in range(CHANNELS):
                    around[c, at + b] = h[other, b]


@kernel(owning=False)
def give_around(change, neighbours, to):
    """Add the gradients of `look_around` to those of the candidates that it looked at."""
    for c in range(to.shape[0]):
        for b in range(CHANNELS):
            to[c, b] += change[c, b]
        for d in range(8):
            other, at = neighbours[c, d], (1 + d) * CHANNELS
            if other >= 0:
                for b in range(CHANNELS):
                    to[other, b] += change[c, at + b]


@kernel(owning=False)
def find_highest(h, lines, most, where):
    """Find the highest channels above 0 of each line, and which candidates have them (-1: none)."""
    most[:] = 0.0
    where[:] = -1
    for c in range(h.shape[0]):
        line = lines[c]
        for b in range(CHANNELS):
            if h[c, b] > most[line, b]:
                most[line, b] = h[c, b]
                where[line, b] = c


@kernel(owning=False)
def give_highest(change, where, to):
    """Add the gradients of `find_highest` to those of the candidates that it found."""
    for line in range(change.shape[0]):
        for b in range(CHANNELS):
            if where[line, b] >= 0:
                to[where[line, b], b] += change[line, b]


@kernel(owning=False)
def add_lines(values, lines, out):
    """Add the values of each line to every candidate of it."""
    for c in range(out.shape[0]):
        for b in range(CHANNELS):
            out[c, b] += values[lines[c], b]


@kernel(owning=False)
def sum_lines(values, lines, out):
    """Sum over the candidates of each line."""
    out[:] = 0.0
    for c in range(values.shape[0]):
        for b in range(CHANNELS):
            out[lines[c], b] += values[c, b]


@kernel(owning=False)
def pass_on(z, drawn, dropped, h, gate, out):
    """Add to ``h`` what of ``z`` is above 0 and not dropped.

    drawn (float [candidates, CHANNELS], from 0 to 1).
    dropped (float): The share that is dropped; what is left counts for as much more.
    gate (float [candidates, CHANNELS], output): What each value of ``z`` was multiplied with.
    """
    kept = (dropped + 1 - dropped) / (1 - dropped)
    for c in range(h.shape[0]):
        for b in range(CHANNELS):
            gate[c, b] = kept if (z[c, b] > 0.0 and drawn[c, b] >= dropped) else 0.0
            out[c, b] = h[c, b] + gate[c, b] * z[c, b]
