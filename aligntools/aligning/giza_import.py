"""A model of GIZA++'s tables (Brown et al. 1993; Och & Ney 2003), for text that they were not trained on."""

from typing import Any

import numpy as np

from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.models import kernels_cepts as kc
from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models.cepts import LEAST
from aligntools.aligning.models.ibm3 import Ibm3
from aligntools.aligning.models.ibm4 import Ibm4
from aligntools.aligning.models.jumps import initial_jumps
from aligntools.aligning.models.lexical import LexicalFields, lexical_fields, lexicon_from_counts
from aligntools.aligning.models.position_tables import LONGEST, PositionTable
from aligntools.aligning.settings import AlignerSettings, Direction, ResolvedSettings
from aligntools.aligning.text.cooccurrence import Table
from aligntools.aligning.text.kernels_look_alikes import TIERS
from aligntools.aligning.text.views import view_words
from aligntools.formats.links.giza import Entries
from aligntools.formats.text.giza_trainings import GizaTraining
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary

#: Words of the sentence that GIZA++'s smoothing of distances, which goes by its length, is taken for.
_LENGTH = 20
#: Probability of a word's translation that no table has, and of NULL's.
UNSEEN = 1e-9
#: What it says of the HMM, which climbing begins with, where nothing else is said: the probability of NULL.
_NULL = 0.4
#: What is missing to 1 of the probabilities of a word's translations counts by this: see `lexicon_from_counts`.
_UNIT = 1e-6


def model_of_giza(
    forward: GizaTraining | None, reverse: GizaTraining | None, pegging: bool = False, pool: Pool | None = None
) -> AlignmentModel:
    """Return a model of the trainings of both directions, or of one.

    Words that no table has are unknown. Distances beyond those that are told apart have the last one's probability, and
    are smoothed as in a sentence of 20 words. Climbing begins with the HMM, or with jumps as the cepts' first words do.
    """
    trainings = [forward, reverse]
    found = [t for t in trainings if t is not None]
    words = forward.words if forward else found[0].words[::-1]
    numbers = [np.array(sorted(side), np.int64) for side in words]
    vocabularies = [
        Vocabulary.from_bytes([side[n] for n in of.tolist()]) for side, of in zip(words, numbers, strict=True)
    ]
    lowercase = all(text == text.lower() for vocabulary in vocabularies for text in vocabulary.words())
    settings = _settings(found, "both" if len(found) == 2 else "forward" if forward else "reverse", pegging)
    fields = _lexical(trainings, numbers, vocabularies, settings, pool)
    own: dict[str, Any] = {
        "jumps": np.stack([_jumps(t) if t else initial_jumps()[0] for t in trainings]),
        "p1": np.array([np.clip(1 - t.p0, LEAST, 0.5) if t else LEAST for t in trainings]),
        "fertility": tuple(_fertility(t, numbers[d]) for d, t in enumerate(trainings)),
        "pegs": pegging,
    }
    if found[0].heads is not None:
        model: Ibm3 | Ibm4 = Ibm4(**fields, **own, **_classes(trainings, numbers, words))
    else:
        model = Ibm3(**fields, **own, positions=[_positions(t.distortions if t else None) for t in trainings])
    return AlignmentModel(settings, vocabularies[0], vocabularies[1], [model], lowercase)


def _settings(found: list[GizaTraining], direction: Direction, pegging: bool) -> ResolvedSettings:
    p_null = min(found[0].number("emprobforempty", _NULL), 0.999)
    model_type = "ibm4" if found[0].heads is not None else "ibm3"
    plain: Any = {"estimator": "em", "agreement": False, "look_alike": False, "views": (0,)}
    how: Any = {"direction": direction, "p_null": p_null, "pegging": pegging}
    return AlignerSettings(model_type=model_type, **plain, **how).resolved(1)


def _places(numbers: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return words' ids here, from 1 on, of GIZA++'s numbers."""
    return np.searchsorted(numbers, of) + 1


def _lexical(
    trainings: list[GizaTraining | None],
    numbers: list[np.ndarray],
    vocabularies: list[Vocabulary],
    settings: ResolvedSettings,
    pool: Pool | None,
) -> LexicalFields:
    """Return the tables of translations, of all pairs of words that either direction has."""
    n_s, n_t = (len(of) + 1 for of in numbers)
    keys, values = [], []
    nulls = [np.full(n + 1, UNSEEN, np.float32) for n in (n_s, n_t)]
    for d, training in enumerate(trainings):
        if training is None:
            keys.append(np.zeros(0, np.int64))
            values.append(np.zeros(0))
            continue
        given, observed = training.translations.keys.T
        ids, p = _places(numbers[1 - d], observed), training.translations.p
        from_null = given == 0
        nulls[1 - d][ids[from_null]] = np.maximum(p[from_null], UNSEEN)
        s, t = _places(numbers[d], given[~from_null]), ids[~from_null]
        if d:
            s, t = t, s
        keys.append(s * n_t + t)
        values.append(p[~from_null])
    pairs = np.unique(np.concatenate(keys))
    counts = [np.zeros(len(pairs), np.float32) for _ in (0, 1)]
    for of, key, p in zip(counts, keys, values, strict=True):
        of[np.searchsorted(pairs, key)] = p
    ptr = np.searchsorted(pairs, np.arange(n_s + 1) * n_t).astype(np.int64)
    table = Table(ptr, (pairs % n_t).astype(np.int32), np.zeros(n_s, np.int32), np.zeros(n_t, np.int32))
    for types, sums in ((table.types, table.row_sums(counts[0])), (table.target_types, table.column_sums(counts[1]))):
        types[:] = np.round(np.clip(1 - sums, 0, 1) / _UNIT)
    tiers = np.zeros(TIERS)
    for null in nulls:
        null[0] = 0
    words = view_words(vocabularies[0], vocabularies[1], 0)
    lexicon = lexicon_from_counts(table, counts[0], counts[1], tiers, settings.alpha, False, pool)
    p_null = np.full(2, settings.null_prior, np.float32)
    return lexical_fields(words, table, lexicon, counts, tiers, nulls[0], nulls[1], p_null)


def _fertility(training: GizaTraining | None, numbers: np.ndarray) -> np.ndarray:
    """Return fertilities, float32 [n_words + 1, FERTILITIES]; words without them have the mean of the others."""
    found = np.full((len(numbers) + 2, kc.FERTILITIES), 1 / kc.FERTILITIES, np.float32)
    if training is not None:
        known = training.fertilities.p[:, : kc.FERTILITIES]
        known = np.pad(known, ((0, 0), (0, kc.FERTILITIES - known.shape[1])))
        found[:] = known.mean(0)
        found[_places(numbers, training.fertilities.keys[:, 0])] = known
    return found


def _jumps(training: GizaTraining) -> np.ndarray:
    """Return the HMM's jumps and first positions, float32 [JUMP_SIZE]."""
    found: np.ndarray = initial_jumps()[0]
    w = kj.WINDOW
    if training.jumps is not None and training.first is not None and len(training.first) > w + 1:
        all_jumps, first = training.jumps, training.first
    elif training.heads is not None:
        keys, p = training.heads
        reach = p.shape[1] // 2
        distances = np.zeros(201)
        most = min(reach, 100)
        distances[100 - most : 101 + most] = p.mean(0)[reach - most : reach + most + 1]
        begins = p[keys[:, 1] == 0]
        first = (begins if len(begins) else p).mean(0)[reach + 1 :] + LEAST
        all_jumps = distances + LEAST
    else:
        return found
    found[: 2 * w + 1] = all_jumps[100 - w : 101 + w]
    found[kj.TAIL] = all_jumps[101 + w]
    found[kj.FIRST : kj.FIRST_TAIL] = first[: w + 1]
    found[kj.FIRST_TAIL] = first[w + 1]
    return found


def _classes(
    trainings: list[GizaTraining | None], numbers: list[np.ndarray], words: tuple[dict[int, bytes], dict[int, bytes]]
) -> dict[str, Any]:
    known = next((t.classes if d == 0 else t.classes[::-1]) for d, t in enumerate(trainings) if t and t.classes)
    sizes = [max(side.values(), default=0) + 1 for side in known]
    of_words = tuple(
        np.array([0, *(classes.get(side[n], 0) for n in of.tolist()), 0], np.int32)
        for classes, side, of in zip(known, words, numbers, strict=True)
    )
    heads, others = [], []
    for d, training in enumerate(trainings):
        shape = sizes[d], sizes[1 - d], kc.DISTANCES
        heads.append(np.zeros(shape, np.float32))
        others.append(np.zeros(shape[1:], np.float32))
        if training is None or training.heads is None or training.others is None:
            continue
        share = training.number("model4smoothfactor", 0.0)
        heads[d][*training.heads.keys[:, ::-1].T] = _near(training.heads, share, 2 * _LENGTH - 1)
        others[d][training.others.keys[:, 0]] = _near(training.others, share, _LENGTH - 1)
    return {"word_classes": of_words, "heads": tuple(heads), "others": tuple(others)}


def _near(distances: Entries, share: float, ways: int) -> np.ndarray:
    """Return the distances that are told apart here, smoothed."""
    reach = distances.p.shape[1] // 2
    wide = np.pad(distances.p, ((0, 0), (kc.FARTHEST, kc.FARTHEST)))
    return (1 - share) * wide[:, reach : reach + kc.DISTANCES] + share / ways


def _positions(distortions: Entries | None) -> PositionTable:
    """Return IBM 3's positions.

    Where lengths of the given side are not told apart (``compactadtable``), the table has a block for each length up to
    the last position that occurs.
    """
    if distortions is None or not len(distortions.p):
        return PositionTable.of_lengths(np.ones(1, np.int64), np.ones(1, np.int64), 4.0)
    keys, p = distortions.keys, distortions.p
    fits = (keys[:, 0] >= 1) & (keys[:, 1] >= 1) & (keys[:, 3] <= LONGEST) & (keys[:, 2] <= LONGEST)
    fits &= (keys[:, 0] <= keys[:, 3]) & (keys[:, 1] <= LONGEST)
    (j, i, lengths, m), p = keys[fits].T, p[fits]
    apart = len(np.unique(lengths)) > 1
    shapes, blocks = [], []
    for columns in np.unique(m).tolist():
        of = m == columns
        dense = np.full((LONGEST, columns), LEAST, np.float32)
        if not apart:
            dense[i[of] - 1, j[of] - 1] = p[of]
        for rows in np.unique(lengths[of]).tolist() if apart else range(1, int(i[of].max()) + 1):
            if apart:
                own = of & (lengths == rows) & (i <= rows)
                dense[:] = LEAST
                dense[i[own] - 1, j[own] - 1] = p[own]
            shapes.append((columns, rows))
            blocks.append(dense[:rows].ravel().copy())
    return PositionTable(np.array(shapes, np.int32), np.concatenate(blocks))
