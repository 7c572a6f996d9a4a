"""Jumps by class: posteriors, paths and counts as enumerated; models in files; with one jump table, the HMM."""

import numpy as np
import pytest

import aligntools as at
from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models.base import ViewTask
from aligntools.aligning.models.class_hmm import ClassHmm, ClassHmmStage
from aligntools.aligning.settings import AlignerSettings
from aligntools.aligning.text.link_matrices import plan_chunks
from aligntools.ground.parallel import Pool
from tests.aligning.building import close, jump_row, naive_jumps, random_jumps, world
from tests.naive_class_hmm import class_hmm as naive
from tests.naive_class_hmm import class_paths, class_viterbi
from tests.places import SAMPLES

TINY = [(1, 1), (2, 3), (3, 2), (3, 3), (1, 3), (4, 2), (0, 2)]


def stage_of(w, jumps, classes):
    task = ViewTask(AlignerSettings("hmm-classes", word_classes=jumps.shape[1] - 1).resolved(10), w.source, w.target)
    return ClassHmmStage(ClassHmm, task).restore({"jumps": jumps, "s_classes": classes[0], "t_classes": classes[1]})


def given(w, seed, rows=3):
    rng = np.random.default_rng(seed)
    jumps = np.stack([random_jumps(rng) for _ in range(rows)], 1)
    sizes = w.table.n_source, w.table.n_target
    return jumps, [np.append(rng.integers(0, rows, n), 0).astype(np.int16) for n in sizes]


def filled(w):
    """Return the text as one chunk, and each direction's link matrices with values of the table."""
    (chunk,) = plan_chunks(w.source.lengths(), w.target.lengths(), 1 << 40)
    matrices = w.chunks()
    matrices.index(chunk)
    cells = [np.zeros(chunk.n_cells, np.float32) for _ in range(2)]
    for values, into in zip((w.lexicon.forward, w.lexicon.reverse), cells, strict=True):
        matrices.fill(chunk, values, w.lexicon.default, into)
    return chunk, tuple(cells)


@pytest.mark.parametrize("seed", range(3))
def test_as_enumerated(seed):
    w = world(seed, TINY)
    jumps, classes = given(w, seed)
    chunk, cells = filled(w)
    logs = np.zeros((2, len(w.corpus)))
    model = ClassHmm(**w.fields(), jumps=jumps, s_classes=classes[0], t_classes=classes[1])
    with Pool(1) as pool:
        model.posteriors(w, chunk, cells, 3, pool, logs)
    expected = np.zeros((2, 3, 2, kj.JUMP_SIZE))
    for k, (source, target) in enumerate(w.corpus):
        for d, words in enumerate((source, target)):
            if not source or not target:
                continue
            emissions, null, _, p_null = w.direction(k, d)
            tables = [naive_jumps(row) for row in jumps[d]]
            likelihood, links, *counted = naive(emissions, null, tables, classes[d][words].tolist(), p_null)
            close(logs[d, k], np.log(likelihood))
            found = w.matrices(cells[d])[k]
            for (j, i), p in links.items():
                close(found[j, i] if d else found[i, j], p)
            for kind, by_jump in enumerate(counted):
                for c in range(3):
                    expected[d, c, kind] += jump_row({jump: n for (of, jump), n in by_jump.items() if of == c})
    counts = [np.zeros(len(w.table.ids), np.float32) for _ in range(2)]
    loglik, found = stage_of(w, jumps, classes).expect(w.state(), w.lexicon, counts)
    close(loglik, logs.sum(1))
    close(found, expected, absolute=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_paths_are_the_best_of_all(seed):
    """Each class has jumps of its own, far from the others', so that paths by the jumps of all words differ."""
    w = world(seed, TINY)
    jumps, classes = given(w, seed)
    rng = np.random.default_rng(seed)
    jumps *= np.exp(rng.normal(0, 2, jumps.shape)).astype(np.float32)
    chunk, cells = filled(w)
    model = ClassHmm(**w.fields(), jumps=jumps, s_classes=classes[0], t_classes=classes[1])
    with Pool(1) as pool:
        model.paths(w, chunk, cells, 3, pool)
    others = 0
    for k, (source, target) in enumerate(w.corpus):
        for d, words in enumerate((source, target)):
            if not source or not target:
                continue
            found = w.matrices(cells[d])[k]
            found = found if d else found.T
            assert set(found.ravel()) <= {0.0, 1.0}
            links = [int(np.argmax(row)) if row.any() else -1 for row in found]
            emissions, null, _, p_null = w.direction(k, d)
            tables = [naive_jumps(row) for row in jumps[d]]
            of = classes[d][words].tolist()
            best, probability = class_viterbi(emissions, null, tables, of, p_null)
            # words that come twice make ties, so probabilities are compared
            paths = class_paths(emissions, null, tables, of, p_null)
            close(max(p for path, p in paths if [i if real else -1 for i, real in path] == links), probability)
            others += best != class_viterbi(emissions, null, tables[:1], [0] * len(of), p_null)[0]
    assert others


def test_rows_of_few_jumps_are_near_those_of_all_words():
    w = world(3, TINY)
    jumps, classes = given(w, 3)
    stage = stage_of(w, jumps, classes)
    counted = np.zeros((2, 3, 2, kj.JUMP_SIZE))
    counted[:, 1, 0, kj.WINDOW + 1], counted[:, 1, 0, kj.WINDOW - 1] = 3000.0, 1000.0
    counted[:, 2, 0, kj.WINDOW - 1] = 20.0
    counted[:, :, 1] = counted[:, :, 0].sum(-1, keepdims=True)
    counted[:, 0, :, kj.FIRST :] = 5.0
    stage.maximize(counted)
    rows = stage.parameters()["jumps"]
    ratio = rows[:, :, kj.WINDOW + 1] / rows[:, :, kj.WINDOW - 1]
    assert np.allclose(ratio[:, 1], 3.0, rtol=0.02)
    assert (ratio[:, 2] < 0.7).all()  # 20 of its own, and 20 as all words have them
    assert (ratio[:, 2] > 0.4).all()
    assert np.allclose(rows[:, :, kj.FIRST :], rows[:, :1, kj.FIRST :])


def test_models_are_kept_with_their_classes_and_go_on_with_new_text(tmp_path):
    model = at.train_aligner(str(SAMPLES / "de-en.txt"), model_type="hmm-classes", word_classes=4, views=(0,))
    model.save(tmp_path / "m")
    loaded = at.load(tmp_path / "m")
    own = model.model.views[0]
    assert own.jumps.shape == (2, 5, kj.JUMP_SIZE)
    assert not np.allclose(own.jumps[:, 1], own.jumps[:, 2])
    assert own.s_classes[-1] == own.s_classes[0] == 0
    assert set(own.s_classes.tolist()) == {0, 1, 2, 3, 4}
    line = "das ist ein unbekanntesWort .", "this is an unknownWord ."
    assert str(loaded.align(*line)) == str(model.align(*line))
    french = str(SAMPLES / "fr-en.fr"), str(SAMPLES / "fr-en.en")
    more = at.train_aligner(*french, init_model=loaded).model.views[0]
    known = {word: own.t_classes[i] for word, i in own.words.t_ids.items()}
    assert more.t_classes.tolist() == [known.get(word, 0) for word in more.words.t_words] + [0]
    assert len(set(more.t_classes.tolist())) == 5
    with pytest.raises(at.UsageProblem, match="in parts"):
        next(iter(at.align_in_parts(str(SAMPLES / "de-en.txt"), part_size=100, model_type="hmm-classes")))
