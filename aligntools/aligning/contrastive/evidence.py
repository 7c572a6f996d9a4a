"""Other aligners' links as *evidence* of links: what each file says of a candidate, and how much that is worth.

A file's *reading* of a cell is no link, or a link of about some probability. A reading is worth the logarithm of the
ratio of its probabilities in cells that are links and in others. These are estimated without gold links by EM, as
Dawid & Skene (1979) estimate the reliability of observers; a cell's prior odds are those of the base model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive import second_look
from aligntools.aligning.contrastive.candidate_links import CandidateLinks, cell_keys, link_keys
from aligntools.formats.links.given_links import GivenLinks
from aligntools.formats.links.pharaoh import Links

#: A file links two words from the probability LINKED on; links below LEAST do not make candidates.
LINKED, LEAST = 0.5, 0.1
#: Readings: 0 for no link, and 1 to 5 for a link of at least this probability.
LEVELS = (LEAST, LINKED, 0.75, 0.9, 0.97)
READINGS, FIRST_LINK = len(LEVELS) + 1, 2
#: How alike words are that a file does not link.
UNLIKE = (0.0, 2 * float(np.log(LEAST)))
#: Pseudo-count of each distribution, spread as the file's readings of all cells.
SMOOTHING = 5.0
#: EM ends after so many passes, or when no probability of a link changes by more than STILL.
PASSES, STILL = 100, 1e-4
#: Log-odds from which the posterior alone makes a cell a candidate.
LEAST_OWN = float(np.log(0.02 / 0.98))


def given_too(
    starts: np.ndarray, rows: np.ndarray, columns: np.ndarray, evidence: Sequence[GivenLinks]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add the links of files of as many sentences; return starts, rows and columns as `CandidateLinks` has them."""
    found = [cell_keys(np.repeat(np.arange(len(starts) - 1), np.diff(starts)), rows, columns)]
    found += [link_keys(given.links)[given.strengths >= LEAST] for given in evidence]
    keys = np.unique(np.concatenate(found))
    starts = np.searchsorted(keys, np.arange(len(starts)) << 32)
    return starts, ((keys >> 16) & 0xFFFF).astype(np.int32), (keys & 0xFFFF).astype(np.int32)


def readings(candidates: CandidateLinks, evidence: Sequence[GivenLinks]) -> tuple[np.ndarray, np.ndarray | None]:
    """Return what each file says of each candidate, uint8 [candidates, files], below READINGS, and how alike words are.

    That is float32 [candidates, files, 2], as little as UNLIKE says for words that a file does not link; None where no
    file says it.
    """
    found = np.zeros((len(candidates.rows), len(evidence)), np.uint8)
    alike = any(given.likeness is not None for given in evidence)
    likeness = np.full((*found.shape, 2), UNLIKE, np.float32) if alike else None
    wanted = candidates.keys()
    for k, given in enumerate(evidence):
        keys = link_keys(given.links)
        places = np.searchsorted(keys, wanted)
        at = np.flatnonzero(np.append(keys, -1)[places] == wanted)
        found[at, k] = np.searchsorted(LEVELS, given.strengths[places[at]], side="right")
        if likeness is not None and given.likeness is not None:
            likeness[at, k] = given.likeness[places[at]]
    return found, likeness


@dataclass(frozen=True, eq=False)
class Places:
    """Links of a text from a source of evidence; pairs that it has not read have none.

    table (float64 [READINGS]): The log-odds of a link that each reading adds; whole: All pairs were read.
    """

    given: GivenLinks
    table: np.ndarray
    whole: bool = True


def names(files: int) -> tuple[str, ...]:
    """Return the names of the columns of so many files, as weight files have them."""
    return tuple(f"evidence-{n}" for n in range(1, files + 1))


def with_readings(
    candidates: CandidateLinks,
    tables: Sequence[np.ndarray],
    first: np.ndarray | None = None,
    looks: Sequence[Sequence[float] | None] = (),
) -> CandidateLinks:
    """Return candidates with a column for each file: the log-odds of what it says, 0 in pairs where it has no link.

    tables (sequence of float64 [READINGS]); first (float64 [candidates]): The log-odds without files.
    looks: Of each file the weights of a second look (`second_look`), whose odds less the first's then count; or None.
    """
    read, sentences = candidates.read(), candidates.sentences()
    columns = []
    for k, table in enumerate(tables):
        look = looks[k] if looks else None
        if look is None or first is None or candidates.likeness is None:
            says = np.bincount(sentences, read[:, k], len(candidates)) > 0
            columns.append(np.asarray(table, np.float32)[read[:, k]] * says[sentences])
            continue
        at, found = second_look.inputs(candidates, first, table, k)
        column = np.zeros(len(first), np.float32)
        column[at] = second_look.odds(found, look) - first[at]
        columns.append(column)
    return replace(candidates, local=np.concatenate([candidates.local, np.stack(columns, 1)], axis=1))


def judge(candidates: CandidateLinks, trees: bool) -> tuple[list[np.ndarray], list[float], list[float]]:
    """Learn the weights of files of evidence without gold, by EM; candidates that come only from files are left out.

    Readings are taken to be independent, given whether a cell is a link. Its prior odds are those of the feature
    ``trees`` (``trees``: its column is filled), or of the base model's mean posterior.
    Returns for each file its log-odds (float64 [READINGS]), and the estimated precision and recall of its links.
    """
    prior = candidates.local[:, kf.TREES if trees else kf.POSTERIOR].astype(np.float64)
    own = candidates.local[:, kf.POSTERIOR] > LEAST_OWN
    read = candidates.read()
    seen, links = read[own], _probability(prior[own])
    tables = [np.zeros(READINGS) for _ in range(read.shape[1])]
    for _ in range(PASSES):
        tables = [_log_odds(seen[:, k], links) for k in range(len(tables))]
        now = _probability(prior[own] + _sum(tables, seen))
        moved, links = np.abs(now - links).max(initial=0.0), now
        if moved < STILL:
            break
    every = _probability(prior + _sum(tables, read))
    linked = np.where(read >= FIRST_LINK, 1.0, 0.0)
    right = every @ linked
    totals = np.maximum(linked.sum(axis=0), 1.0), max(float(every.sum()), 1.0)
    return tables, (right / totals[0]).tolist(), (right / totals[1]).tolist()


def _probability(log_odds: np.ndarray) -> np.ndarray:
    return np.asarray(1.0 / (1.0 + np.exp(-log_odds)))


def _sum(tables: Sequence[np.ndarray], read: np.ndarray) -> np.ndarray:
    return sum((table[read[:, k]] for k, table in enumerate(tables)), np.zeros(len(read)))


def _log_odds(read: np.ndarray, links: np.ndarray) -> np.ndarray:
    """Return the log-odds that each reading adds, given each cell's probability of a link."""
    spread = np.bincount(read, minlength=READINGS) * (SMOOTHING / max(len(read), 1))
    counts = [np.bincount(read, weight, READINGS) + spread for weight in (links, 1.0 - links)]
    yes, no = (np.log(np.maximum(n, 1e-9) / max(n.sum(), 1e-9)) for n in counts)
    return np.where(spread > 0, yes - no, 0.0)


def agreement(given: Links, own: Links) -> float:
    """Return how far two aligners' links of the same sentences agree: F1, as a fraction."""
    a, b = link_keys(given), link_keys(own)
    return 2.0 * len(np.intersect1d(a, b, assume_unique=True)) / max(len(a) + len(b), 1)


def firm(given: GivenLinks) -> GivenLinks:
    """Return the links of a file with a probability of at least LINKED."""
    kept = np.flatnonzero(given.strengths >= LINKED)
    links = Links(given.links.pairs[kept], np.searchsorted(kept, given.links.offsets))
    return GivenLinks(links, given.strengths[kept])
