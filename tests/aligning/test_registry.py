"""A model that is registered does everything that models do; and what any registered model has to do."""

import functools
from dataclasses import fields

import numpy as np
import pytest

import aligntools as at
from aligntools.aligning.applying.applier import Applier
from aligntools.aligning.model import KIND, AlignmentModel, model_view
from aligntools.aligning.models import registry
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.settings import DIRECTIONS, AlignerSettings
from aligntools.aligning.training.train_model import count_steps, train_model, warm_start
from aligntools.formats.models.modelfile import read_model
from aligntools.formats.text.bitext import read_bitext
from aligntools.ground.parallel import Pool
from tests.aligning.slanted import LEARNED, SLANTED, Slanted, prior
from tests.cli.running import ran, run
from tests.places import SAMPLES

TEXT = SAMPLES / "de-en.txt"


@pytest.fixture
def slanted(monkeypatch):
    monkeypatch.setattr(registry, "KINDS", dict(registry.KINDS))
    registry.register(SLANTED)
    registry.register(LEARNED)


# A new model, of which nothing else knows


@pytest.mark.usefixtures("slanted")
def test_a_new_model_is_trained_kept_and_shown_from_python(tmp_path):
    steps = []
    model = at.train_aligner(str(TEXT), model_type="slanted", progress=steps.append)
    assert isinstance(model.model.views[0], Slanted)
    assert model.settings.iterations == 3
    assert [step.stage for step in steps] == ["table"] + ["ibm1"] * 4 + ["slanted"] * 3
    assert steps[-1].done == steps[-1].total
    model.save(tmp_path / "model")
    loaded = at.load(tmp_path / "model")
    german, english = "das ist ein haus .", "this is a house ."
    assert str(loaded.align(german, english)) == str(model.align(german, english))
    assert (1, 1) in loaded.align(german, english).links
    shown = at.view_model(tmp_path / "model")
    assert ["model", "slanted"] in shown.settings
    assert ["steepness of the slant", "3"] in shown.settings
    assert [chart.title for chart in shown.charts] == ["Positions"]
    assert "Positions" in shown.html()
    more = at.train_aligner(str(TEXT), init_model=loaded)
    assert isinstance(more.model.views[0], Slanted)
    with pytest.raises(at.UsageProblem, match="maximum reconstruction"):
        at.train_mre_aligner(str(TEXT), init_model=loaded)


@pytest.mark.usefixtures("slanted")
def test_a_new_model_is_a_choice_of_the_command_line(tmp_path):
    assert f"[{'|'.join(registry.names())}]".encode() in run("align", "--help-all").stdout
    assert registry.names()[-2:] == ("slanted", "learned")
    assert b"slanted" not in run("mre-align", "--help-all").stdout
    given = ("-q", "-i", TEXT, "--model-type", "slanted")
    ran("align", *given, "-o", tmp_path / "a", "--save-model", tmp_path / "m")
    ran("align", "-q", "-m", tmp_path / "m", "-i", TEXT, "-o", tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes().count(b"\n") == 240
    parts = ("--tmpdir", tmp_path, "--set", "part_size=240", "--set", "views=0", "-o", tmp_path / "c")
    ran("align", *given, *parts)
    assert (tmp_path / "c").read_bytes() == (tmp_path / "a").read_bytes()
    told = run("align", "-v", *given[1:], "-o", tmp_path / "d", "--set", "sweeps=4").stderr.decode()
    assert "slanted iteration 5: log-likelihood" in told
    assert "--set sweeps changes nothing: only the fertility model samples" in told
    assert "steepness of the slant" in run("view", "-m", tmp_path / "m").stdout.decode()


@pytest.mark.usefixtures("slanted")
def test_a_new_model_learns_its_parameters(tmp_path):
    """In parts the same as in memory: near distances are the likeliest by far."""
    how = {"model_type": "learned", "views": (0,), "keep": 0.0}
    whole = at.train_aligner(str(TEXT), **how).model.views[0].shares
    assert (whole.argmax(1) == 0).all()
    assert whole[:, 0].min() > 0.6
    for _ in at.align_in_parts(str(TEXT), part_size=100, save_model=tmp_path / "model", **how):
        pass
    np.testing.assert_allclose(at.load(tmp_path / "model").model.views[0].shares, whole, rtol=1e-3)


@pytest.mark.usefixtures("slanted")
def test_a_new_model_aligns_by_what_it_is():
    """Not as IBM 1 does, from which it differs by its prior alone; which is one."""
    np.testing.assert_allclose(prior(4, 7).sum(0), 1)
    links = [str(at.align(str(TEXT), model_type=name, views=(0,))[7]) for name in ("slanted", "ibm1")]
    assert links[0] != links[1]


# What every model does

#: Settings of each model, by its name: some have several forms.
FORMS = {
    "ibm2": ({}, {"positions": "table"}, {"positions": "table", "agreement": False}),
    "fertility": ({"sweeps": 4}, {"sweeps": 4, "agreement": False, "views": (4,)}),
    # expectations over neighbourhoods may fall in EM
    "ibm3": ({}, {"agreement": False}),
    "ibm4": ({"pegging": True}, {"direction": "forward", "word_classes": 5}),
    "hmm": ({"views": (5,)}, {"direction": "reverse", "views": (0,)}),
}
CASES = [
    (name, form)
    for name in (*registry.names(), "slanted", "learned")
    for form in FORMS.get(name, ({}, {"estimator": "em", "agreement": False}))
]


@pytest.fixture(params=CASES, ids=lambda case: "-".join(map(str, [case[0], *case[1].values()])))
def settings(request, slanted):
    name, form = request.param
    return AlignerSettings(**{"model_type": name, "views": (0,)} | form, subwords=0).resolved(1)


def trained(bitext, settings, threads=1, **how):
    with Pool(threads) as pool:
        return train_model(bitext, settings, pool, **how)


#: What training of `trained_once` reported, by its settings.
STEPS = {}


@functools.cache
def trained_once(settings):
    """Return a model of the sample; not to be changed."""
    bitext = read_bitext(str(SAMPLES / "de-en.de"), str(SAMPLES / "de-en.en"))
    return trained(bitext, settings, report=STEPS.setdefault(settings, []).append)


def posteriors(model, bitext, threads=1, **how):
    """Return both directions' posteriors of a text, and its log-likelihoods."""
    with Pool(threads) as pool:
        (p,) = Applier(model.views, model.settings, model.sizes).posteriors(bitext, pool, **how)
    return p.forward, p.reverse, p.log_likelihood, p.cell_offsets


def test_declarations_and_steps(settings):
    kind = registry.kind_of(settings.model_type)
    assert issubclass(kind.load(), LexicalModel)
    chain = kind.chain()
    assert chain[0].after is None
    assert chain[-1] is kind
    assert set(kind.own) <= {field.name for field in fields(AlignerSettings)}
    assert kind.reconstructs is None or kind.reconstructs in registry.reconstructed()
    trained_once(settings)
    steps = STEPS[settings]
    assert len(steps) == count_steps(settings, None, False)
    kinds = [kind.name for kind in registry.kind_of(settings.model_type).chain()]
    assert {step["stage"] for step in steps} <= {"table", "sampler", *kinds}
    for stage in kinds:
        for d in (0, 1):
            values = [step["log_likelihood"][d] for step in steps if step["stage"] == stage and "iteration" in step]
            assert np.isfinite(values).all()
            assert values == sorted(values) or settings.agreement or settings.estimator == "vb"
    about = registry.kind_of(settings.model_type).load().compiled_ahead
    for compile_now in about.functions if about else ():
        compile_now()
    assert about is None or about.telling.signatures


def test_a_file_keeps_what_was_learned(settings, sample_bitext, tmp_path):
    model = trained_once(settings)
    assert isinstance(model.views[0], registry.kind_of(settings.model_type).load())
    model.save(str(tmp_path / "one"))
    loaded = AlignmentModel.load(str(tmp_path / "one"))
    assert type(loaded.views[0]) is type(model.views[0])
    loaded.save(str(tmp_path / "two"))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    header, _ = read_model(str(tmp_path / "one"), KIND)
    assert header["settings"]["model_type"] == settings.model_type
    own = loaded.views[0].arrays()
    assert own.keys() == model.views[0].arrays().keys()
    for name, array in model.views[0].arrays().items():
        np.testing.assert_array_equal(own[name], array)
    for viterbi in (False, True):
        for x, y in zip(
            posteriors(model, sample_bitext, viterbi=viterbi),
            posteriors(loaded, sample_bitext, viterbi=viterbi),
            strict=True,
        ):
            np.testing.assert_array_equal(x, y)


def test_posteriors_sum_to_one_with_null(settings, sample_bitext):
    forward, reverse, logs, offsets = posteriors(trained_once(settings), sample_bitext)
    directions = DIRECTIONS[settings.direction]
    lengths = sample_bitext.source.lengths(), sample_bitext.target.lengths()
    for d, cells in enumerate((forward, reverse)):
        if not directions & (d + 1):  # nothing is known of that direction, and nothing is said
            assert np.isnan(logs[d]).all()
            assert not cells.any()
            continue
        assert (logs[d] < 0).all()
        linked = 0.0
        for k, shape in enumerate(zip(*lengths, strict=True)):
            sums = cells[offsets[k] : offsets[k + 1]].reshape(shape).sum(d)
            assert sums.max() <= 1 + 1e-3
            assert sums.min() >= 0
            linked += sums.sum()
        assert linked / lengths[1 - d].sum() > 0.5  # most words have a link


def test_threads_do_not_show(settings, sample_bitext, tmp_path):
    found = []
    for threads in (1, 3):
        model = trained(sample_bitext, settings, threads) if threads > 1 else trained_once(settings)
        model.save(str(tmp_path / str(threads)))
        found.append(((tmp_path / str(threads)).read_bytes(), *posteriors(model, sample_bitext, threads)))
    assert found[0][0] == found[1][0]
    for x, y in zip(found[0][1:], found[1][1:], strict=True):
        np.testing.assert_array_equal(x, y)


def test_it_describes_itself(settings, sample_bitext):
    model = trained_once(settings)
    shown = model_view(model, "", 5, 2)
    assert ["model", settings.model_type] in shown.settings
    assert all(len(row) == 2 for row in shown.settings)
    for chart in shown.charts:
        for _, shares in chart.series:
            assert len(shares) == len(chart.names)
            assert sum(shares) == pytest.approx(1)
    for side in shown.words:
        for share in side.shares or ():
            assert sum(share) == pytest.approx(1) or sum(share) == 0
    at.view_model(at.Aligner(model), words=5).text()


@pytest.mark.slow
def test_training_goes_on_from_a_model_of_any_kind(settings, sample_bitext):
    """Each takes what it can use of it."""
    for name in registry.names():
        views, direction = settings.views, "both" if registry.kind_of(name).both else settings.direction
        other = AlignerSettings(name, views=views, direction=direction, subwords=0, sweeps=3).resolved(1)
        old = trained_once(other)
        again = trained(sample_bitext, settings, start=old) if other.agreement == settings.agreement else None
        assert again is None or isinstance(again.views[0], registry.kind_of(settings.model_type).load())
        if registry.kind_of(settings.model_type).reconstructs == settings.model_type:
            with Pool(1) as pool:
                (begun,) = warm_start(sample_bitext, old.views, settings, pool)
            assert isinstance(begun, registry.kind_of(settings.model_type).load())


def test_it_works_in_parts_or_says_that_it_does_not(settings, tmp_path):
    kind = registry.kind_of(settings.model_type)
    how = {name: getattr(settings, name) for name in ("model_type", "views", "agreement", "direction", "positions")}
    how |= {"ibm1_iterations": 1, "iterations": 1, "sweeps": 3}
    run = at.align_in_parts(str(TEXT), part_size=100, save_model=tmp_path / "model", **how)
    if not kind.in_parts:
        with pytest.raises(at.UsageProblem, match=r"in parts .* are trained, not"):
            list(run)
        return
    assert [len(block) for block in run] == [100, 100, 40]
    assert isinstance(at.load(tmp_path / "model").model.views[0], kind.load())
