"""Aligning from Python: the same links as the commands, whatever form the text has."""

import math
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aligntools as at
from aligntools.aligning import aligner
from aligntools.formats.links.pharaoh import Links
from aligntools.tools.filters import copied, coverage, scores
from tests import models
from tests.listing import lines, pharaoh
from tests.places import SAMPLES


@pytest.fixture(scope="module")
def model():
    return at.load(models.model("fast"))


@pytest.fixture(scope="module")
def texts():
    return lines("de-en.de"), lines("de-en.en")


def test_what_the_command_trains_and_writes(trained):
    command = (trained / "align").read_text().splitlines()
    aligner = at.train_aligner(lines("de-en.de"), lines("de-en.en"), threads=1)
    assert pharaoh(aligner.align_batch(lines("de-en.de"), lines("de-en.en"))) == command
    assert pharaoh(at.Aligner.load(trained / "model").align_batch(SAMPLES / "de-en.txt")) == command
    scores = [[float(x) for x in line.split("\t")] for line in (trained / "scores").read_text().splitlines()]
    blocks = list(aligner.align_blocks(lines("de-en.de"), lines("de-en.en")))
    np.testing.assert_allclose(np.concatenate([b.scores for b in blocks]), scores, rtol=1e-5)


def test_texts_in_every_form(model, texts):
    source, target = texts
    wanted = pharaoh(model.align_batch(source, target))
    words = [line.split(" ") for line in source], [line.split(" ") for line in target]
    bitext = at.read_bitext(str(SAMPLES / "de-en.de"), str(SAMPLES / "de-en.en"))
    for form in (
        words, (iter(source), (line + "\n" for line in target)), (SAMPLES / "de-en.de", SAMPLES / "de-en.en"),
        (SAMPLES / "de-en.txt",), (bitext,), ([f"{s} ||| {t}" for s, t in zip(source, target, strict=True)],),
    ):  # fmt: skip
        assert pharaoh(model.align_batch(*form)) == wanted
    assert pharaoh(model.align(s, t) for s, t in zip(source[:20], target[:20], strict=True)) == wanted[:20]
    source = ["Neuwort " + line for line in texts[0][100:110]]
    bitext = at.read_bitext(source, texts[1][100:110], case_sensitive=True)
    assert pharaoh(model.align_batch(bitext)) == pharaoh(model.align_batch(source, texts[1][100:110]))


def test_an_alignment(model):
    a = model.align("Der Zug fährt .", "The train leaves .")
    assert a.links == list(a) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert all(type(x) is int for link in a.links for x in link)
    assert len(a) == 4
    assert str(a) == "0-0 1-1 2-2 3-3"
    assert a.pairs.dtype == np.int32
    assert a.probabilities.shape == (4,)
    assert (a.probabilities > 0.5).all()
    assert (a.probabilities <= 1).all()
    assert a.forward
    assert a.reverse
    assert a.scores.forward_per_word == pytest.approx(a.scores.forward / 4)
    assert a.scores._fields == ("forward", "reverse", "forward_per_word", "reverse_per_word")
    for heuristic in ("union", "intersect"):
        b = model.align("Der Zug fährt .", "The train leaves .", symmetrize=heuristic)
        combined = set(a.forward) | set(a.reverse) if heuristic == "union" else set(a.forward) & set(a.reverse)
        assert set(b.links) == combined


def test_pairs_that_cannot_be_aligned_get_an_empty_alignment(model):
    found = list(model.align_batch(["", "Haus", "a " * 30, "Haus"], ["house", "  ", "b", "house"], max_length=20))
    assert [len(a) for a in found][:3] == [0, 0, 0]
    assert found[3].links == [(0, 0)]
    (block,) = model.align_blocks(["", "x \ud800"], ["house", "y"])
    assert block.skipped.counts == {"blank": 1, "undecodable": 1, "over_long": 0, "malformed": 0}
    with pytest.raises(at.DataError, match="blank"):
        list(model.align_batch([""], ["house"], strict=True))


def test_wrong_texts(model):
    with pytest.raises(at.DataError, match="no counterpart"):
        list(model.align_batch(["a", "b"], ["c"]))
    with pytest.raises(at.DataError, match="a b: cannot be opened"):  # a str names a file
        next(model.align_batch("a b", "c d"))
    for bad in (["two words"], [""], ["a\tb"]):
        with pytest.raises(at.DataError, match=r"source>:1: the word"):
            next(model.align_batch([bad], [["x"]]))
    with pytest.raises(at.DataError, match="newline"):
        next(model.align_batch(["a\nb"], ["x"]))
    with pytest.raises(at.DataError, match="not int"):
        next(model.align_batch([3], ["x"]))
    for option in ({"symmetrize": "grow-final"}, {"flavor": "x"}, {"decode": "x"}, {"threshold": 2.0}):
        with pytest.raises(at.UsageProblem):
            next(model.align_batch(["a"], ["b"], **option))
    with pytest.raises(at.ModelError):
        at.Aligner.load(SAMPLES / "de-en.txt")


def test_batches_stream(model, texts):
    """Nothing is asked for before it is needed, and nothing is kept."""
    asked = []

    def source():
        for n, line in enumerate(texts[0]):
            asked.append(n)
            yield line

    found = model.align_batch(source(), iter(texts[1]), unbuffered=True)
    assert asked == []
    next(found)
    assert asked == [0]
    next(found)
    assert asked == [0, 1]


@pytest.mark.slow
def test_workers_and_a_cluster_do_not_show(model, texts, tmp_path, monkeypatch):
    monkeypatch.setattr(aligner, "JOB", 50)
    expected = [(a.links, a.scores) for a in model.align_batch(*texts)]
    assert [(a.links, a.scores) for a in model.align_batch(*texts, workers=2)] == expected
    distributed = pytest.importorskip("distributed")
    running = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 60}
    with distributed.LocalCluster(processes=False, **running) as cluster:
        where = {"cluster": cluster.scheduler_address, "tmpdir": tmp_path}
        assert [(a.links, a.scores) for a in model.align_batch(*texts, **where)] == expected


def test_how_models_are_trained(texts):
    forward = at.train_aligner(*texts, model_type="hmm", direction="forward", views=(0,))
    a = forward.align("Der Zug fährt .", "The train leaves .")
    assert a.reverse is None
    assert a.links == a.forward
    assert math.isnan(a.scores.reverse)
    assert a.scores.forward < 0
    bitext = at.read_bitext(*texts)
    before = bitext.source.tokens.copy()
    first = at.train_aligner(bitext, fast=True)
    np.testing.assert_array_equal(bitext.source.tokens, before)
    wanted = pharaoh(first.align_batch(bitext))
    second = at.train_aligner(bitext, fast=True, keep_text=False)
    assert (bitext.source.tokens != before).any()
    assert pharaoh(second.align_batch(bitext)) == wanted
    other = at.train_aligner(*texts, model_type="ibm1")
    with pytest.raises(at.UsageProblem, match="read it again"):
        next(other.align_batch(bitext))
    paper = at.train_mre_aligner(*texts, preset="paper", mre_iterations=1)
    assert (paper.settings.model_type, paper.settings.positions, paper.settings.tension) == ("ibm2", "table", 0.0)
    again = at.train_mre_aligner(*texts, preset="paper", mre_iterations=1, model_type="hmm", tension=2.0)
    assert (again.settings.model_type, again.settings.positions, again.settings.tension) == ("hmm", "diagonal", 2.0)
    default = at.train_mre_aligner(*texts, mre_iterations=1)
    assert (default.settings.model_type, default.settings.tension) == ("hmm", 4.0)
    with pytest.raises(at.UsageProblem, match="no such preset: papers; choose one of paper"):
        at.train_mre_aligner(*texts, preset="papers")
    steps = []
    at.train_aligner(*texts, model_type="hmm", views=(0, 4), progress=steps.append)
    assert steps[-1].done == steps[-1].total == 2 * (4 + 5)
    assert {step.stage for step in steps} == {"table", "ibm1", "hmm"}
    assert all(math.isfinite(x) for s in steps if s.stage == "hmm" for x in s.figures["log_likelihood"])


def test_at_once_and_from_an_older_model(texts, model):
    found = at.align(*texts, fast=True)
    assert pharaoh(found) == pharaoh(model.align_batch(*texts))
    assert len(found) == len(texts[0])
    assert pharaoh(found[3:5]) == pharaoh([found[3], found[4]])
    assert str(found[-1]) == str(found[len(found) - 1])
    with pytest.raises(IndexError):
        found[len(found)]
    assert found.table.pairs.shape[0] == sum(map(len, found))
    further = at.train_aligner(["das haus"] * 3, ["the house"] * 3, init_model=model)
    assert further.settings == model.settings
    assert str(further.align("das Haus", "the house")) == "0-0 1-1"


@pytest.mark.parametrize("train", [at.train_aligner, at.train_mre_aligner, at.align])
def test_settings_of_a_new_model_are_refused_where_an_older_one_goes_on(texts, model, train):
    with pytest.raises(at.UsageProblem, match="alpha is for a new model; init_model keeps the settings"):
        train(*texts, init_model=model, alpha=0.5)


@pytest.mark.slow
def test_best_that_changes_nothing_is_told(texts, caplog):
    def told(**options):
        caplog.clear()
        found = at.align(*texts, model_type="ibm2", encoder=False, **options)
        return found, [r.getMessage() for r in caplog.records if "`best` changes nothing" in r.getMessage()]

    forward, (message,) = told(best=True, direction="forward")
    assert message.endswith("its network judges links by both directions together")
    assert pharaoh(forward) == pharaoh(told(direction="forward")[0])
    assert told(best=True, priors=SAMPLES / "de-en.priors")[1] == []
    assert told(best=True)[1] == []


def test_the_library_is_silent(texts, capfd, caplog):
    model = at.train_mre_aligner(*texts, mre_iterations=2)
    list(model.align_batch(["", "a"], ["b", "c"]))
    assert capfd.readouterr() == ("", "")


def test_options_mean_what_the_commands_options_mean():
    """Every option of training that align has is a keyword argument with the same default."""
    from aligntools.cli.align import command
    from aligntools.ground.declarations import declared

    options = command.make_context("align", ["-i", "-"]).params
    shared = {n: one.default for kind in at.train_aligner.takes for n, one in declared(kind).items() if n in options}
    assert len(shared) > 25
    assert shared | {"threads": options["threads"]} == {name: options[name] for name in shared}


def test_alignments_show_themselves_in_notebooks(model, texts):
    one = model.align("der\u00a0x Zug  <b>", ["the", "train"])
    assert one.words == (["der\u00a0x", "Zug", "<b>"], ["the", "train"])
    assert "&lt;b&gt;</text>" in one._repr_svg_()
    found = model.align_batch(*texts)
    first = next(found)
    assert first.words is None
    assert ">0</text>" in first._repr_svg_()
    assert str(first) == " ".join(f"{i}-{j}" for i, j in first.links)
    every = at.align(*texts, fast=True)
    assert every._repr_html_().startswith("<p>240 alignments, ")


def test_a_text_of_blank_lines_costs_little(monkeypatch):
    """Where most pairs have no words, these are left out of training; the links are still one line for each pair."""
    from aligntools.aligning import aligner_training as training

    text = at.read_bitext("data/samples/de-en.txt")
    lines = Path("data/samples/de-en.txt").read_text(encoding="utf-8").splitlines()
    words = [tuple(line.split(" ||| ")) for line in lines]
    spread = [pair for pair in words for pair in (pair, ("", ""), ("", "x"))]
    monkeypatch.setattr(training, "MANY_BLANK", 100)
    found = list(map(str, at.align(*zip(*spread, strict=True), fast=True)))
    assert found[::3] == list(map(str, at.align(text, fast=True)))
    assert set(found[1::3] + found[2::3]) == {""}


SIDES = [(SAMPLES / f"de-en.{side}").read_text(encoding="utf-8").splitlines() for side in ("de", "en")]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=4), st.data())
def test_coverage_is_the_mean_of_best_links(lengths, data):
    drawn, probabilities = [], []
    for s, t in lengths:
        cells = [(i, j) for i in range(s) for j in range(t)]
        drawn.append(sorted(data.draw(st.sets(st.sampled_from(cells))) if cells else set()))
        probabilities += data.draw(st.lists(st.floats(0, 1), min_size=len(drawn[-1]), max_size=len(drawn[-1])))
    found = coverage(Links.from_lists(drawn), np.array(probabilities), np.array(lengths, np.int64).reshape(-1, 2).T)
    rest = iter(probabilities)
    for n, (pairs, sizes) in enumerate(zip(drawn, lengths, strict=True)):
        own = {pair: next(rest) for pair in pairs}
        for side in (0, 1):
            best = [max((p for pair, p in own.items() if pair[side] == k), default=0.0) for k in range(sizes[side])]
            assert found[side, n] == pytest.approx(sum(best) / sizes[side] if sizes[side] else 0.0, abs=1e-12)


def test_which_pairs_are_kept():
    found = scores(np.array([[0.5, 1.0, 0.2], [1.0, 1.0, 0.3]]), np.array([[-8.0, np.nan, 0.0], [0.0, -8.0, 0.0]]))
    assert found.tolist() == pytest.approx([0.5 / np.e, 1 / np.e, 0.2])
    assert copied(["Der", "Zug", "."], ["der", "Bus", "!", "?"]) == 0.5
    assert copied(["a", "a", "b"], ["a", "c", "d"]) == pytest.approx(1 / 3)
    assert copied(["1"], ["1"]) == 0.0
    model = at.train_aligner(*SIDES)
    mixed = SIDES[0][:20], [*SIDES[1][:10], *SIDES[1][100:110]]
    found = at.filter_pairs(*mixed, model=model)
    assert all(pair.kept for pair in found[:10])
    assert sum(pair.kept for pair in found[10:]) <= 2  # what 240 pairs can teach
    assert {pair.reason for pair in found if not pair.kept} == {"score"}
    assert at.filter_pairs([line.split() for line in mixed[0]], mixed[1], model=model) == found
    assert at.filter_pairs(["", "a"], ["x", "a"], model=model)[0].reason == "unaligned"
    found = at.filter_pairs(*SIDES, fast=True, min_score=0.0, max_copied=1.0)
    assert len(found) == len(SIDES[0])
    assert all(pair.kept for pair in found)
    with pytest.raises(at.UsageProblem, match="min_score"):
        at.filter_pairs(*SIDES, min_score=2)


@pytest.fixture(scope="module")
def steps():
    return []


@pytest.fixture(scope="module")
def best(texts, steps):
    return at.train_aligner(*texts, best=True, encoder=False, progress=steps.append)


def test_the_last_step_is_the_last_that_was_announced(best, steps):
    assert best.weights is not None
    assert [step.done for step in steps] == list(range(1, len(steps) + 1))
    assert {step.total for step in steps} == {len(steps)}
    assert steps[-1].stage == "deciding"


@pytest.mark.slow
def test_best_has_the_links_of_the_contrastive_aligner(texts, best):
    """By API alike: so do its saved model, one pair at a time, workers, and one thread."""
    contrastive = at.train_contrastive_aligner(*texts, encoder=False)
    expected = pharaoh(contrastive.align_batch(*texts))
    assert expected != pharaoh(contrastive.aligner.align_batch(*texts))
    assert pharaoh(at.align(*texts, best=True, encoder=False, threads=1)) == expected
    assert pharaoh(best.align_batch(*texts)) == expected
    assert pharaoh(best.align_batch(*texts, workers=1)) == expected
    assert [str(best.align(*pair)) for pair in zip(*texts, strict=True)][:20] == expected[:20]
    assert pharaoh(pickle.loads(pickle.dumps(best)).align_batch(*texts)) == expected


def test_what_the_network_decides(texts, best):
    """Scores and single directions are the base model's, and so is all of other symmetrizations."""
    base = at.Aligner(replace(best.model, decision=None))
    ours, theirs = (list(one.align_batch(*texts)) for one in (best, base))
    assert pharaoh(ours) != pharaoh(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert (one.forward, one.reverse, one.scores) == (other.forward, other.reverse, other.scores)
    for options in ({"symmetrize": "union"}, {"symmetrize": "mean"}, {"symmetrize": "grow-diag-final-and"}):
        assert pharaoh(best.align_batch(*texts, **options)) == pharaoh(base.align_batch(*texts, **options))
    for decode in ("posterior", "viterbi"):
        ours, theirs = (list(one.align_batch(*texts, decode=decode)) for one in (best, base))
        assert pharaoh(ours) == pharaoh(best.align_batch(*texts))
        assert [x.forward for x in ours] == [x.forward for x in theirs]

    def links(threshold):
        found = best.align_batch(*texts, threshold=threshold)
        return {(n, *link) for n, one in enumerate(found) for link in one.links}

    usual = {(n, *link) for n, one in enumerate(best.align_batch(*texts)) for link in one.links}
    assert links(best.model.usual_threshold) == usual
    low, high = links(0.2), links(0.8)
    assert high < usual < low
    assert links(1.0) == set()
    assert len(links(0.0)) > len(low)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"model_type": "hmm", "views": (0,)}])
def test_best_in_parts(tmp_path, options):
    """Its model decides on the same links, and workers do; with other symmetrizations nothing changes."""
    files = SAMPLES / "de-en.de", SAMPLES / "de-en.en"

    def found(best=True, **more):
        how = {"best": best, "encoder": False, "part_size": 90, **options, **more}
        return [str(a) for block in at.align_in_parts(*files, **how) for a in block]

    links = found(save_model=tmp_path / "model")
    assert len(links) == 240
    assert links != found(best=False)
    assert links == found(workers=1)
    loaded = at.Aligner.load(tmp_path / "model")
    assert loaded.weights is not None
    assert pharaoh(loaded.align_batch(*files)) == links
    assert found(symmetrize="union") == found(best=False, symmetrize="union")
    assert found(threshold=0.9) != links


def test_best_in_one_part_and_from_an_older_model(texts, best):
    files = SAMPLES / "de-en.de", SAMPLES / "de-en.en"
    how = {"model_type": "hmm", "views": (0,), "best": True, "encoder": False, "subwords": 0}
    parts = [str(a) for block in at.align_in_parts(*files, **how) for a in block]
    plain = at.train_aligner(*files, **how | {"best": False})
    text = at.read_bitext(*files)
    contrastive = at.train_contrastive_aligner(text, aligner=plain, encoder=False)
    assert parts == pharaoh(contrastive.align_batch(*files))
    further = at.train_aligner(*texts, init_model=best)
    assert further.weights is not None
    assert pharaoh(further.align_batch(*texts)) != pharaoh(best.align_batch(*texts))
    assert at.train_aligner(*texts, init_model=at.Aligner(replace(best.model, decision=None))).weights is None


@pytest.mark.parametrize(
    "call",
    [
        lambda path: at.train_aligner(["a b"], ["c d"], adapt=path),
        lambda path: at.align(["a b"], ["c d"], init_model=path),
        lambda path: at.check(["a b"], ["c d"], model=path),
        lambda path: at.filter_pairs(["a b"], ["c d"], model=path),
        lambda path: at.terms(["a b"], ["c d"], model=path),
        lambda path: at.transfer_markup(["<b>a</b>"], ["c"], path),
    ],
)
def test_the_name_of_a_models_file_is_no_model(call, tmp_path):
    for path in ("m.atm", tmp_path / "m.atm"):
        with pytest.raises(at.UsageProblem, match="must be a loaded model, not a file's name"):
            call(path)
