"""What released versions wrote and took, this one reads and takes; see `tests.keeping` and docs/stability.md."""

import json

import pytest

import aligntools
from aligntools.cli.main import COMMANDS, cli
from tests.keeping import KEPT, figures, interface

#: Kinds of models that are newer than a version.
NEWER = {version: {"dmv", "pcfg", "induced-pcfg", "neural-pcfg"} for version in ("0.2.0", "0.3.0")}
#: What of a version is refused, and the reason.
REFUSED = {
    version: {
        "contrastive.weights": "learned over link trees, which a network has taken the place of since version 0.3"
    }
    for version in ("0.2.0", "0.3.0")
}
#: Options of a version that are gone, and why nobody misses them.
GONE = {("0.3.0", "mre-align"): {"--no-mre-positions"}}  # says what is so without it
VERSIONS = sorted(folder.name for folder in KEPT.iterdir())


@pytest.fixture(scope="module", params=VERSIONS)
def kept(request):
    folder = KEPT / request.param
    then, now = json.loads((folder / "figures.json").read_text(encoding="utf-8")), figures(folder)
    return then, now, REFUSED.get(request.param, {})


def test_kept_models_give_what_they_gave(kept):
    then, now, refused = kept
    assert now.keys() == then.keys()
    for name, given in then.items():
        if name in refused:
            assert f"{name}: its weights were {refused[name]}; learn them again" in now[name]
        elif name == "lm":
            assert now[name] == pytest.approx(given, abs=2e-3)
        else:
            assert now[name] == given, name


def test_every_kind_is_kept():
    from aligntools.formats.models.modelfile import KINDS, model_kind

    for version in VERSIONS:
        files = [path for path in (KEPT / version).iterdir() if path.suffix not in (".json", ".weights")]
        assert {model_kind(path) for path in files} == set(KINDS) - NEWER.get(version, set())


def test_messages_can_name_what_loads_and_saves_every_kind():
    from aligntools.cli.flags import COMMANDS as FUNCTIONS
    from aligntools.formats.models.modelfile import KINDS

    for name in KINDS.values():
        assert hasattr(getattr(aligntools, name), "load")
        assert {f"{name}.load()", f"{name}.save()"} <= set(FUNCTIONS)


@pytest.mark.parametrize("version", [v for v in VERSIONS if (KEPT / v / "interface.json").exists()])
def test_names_that_users_call_are_taken(version):
    then, now = json.loads((KEPT / version / "interface.json").read_text(encoding="utf-8")), interface()
    assert set(then["python"]) <= set(aligntools.__all__)
    assert set(then["commands"]) <= set(COMMANDS)
    for name, options in then["commands"].items():
        old = set(cli.get_command(None, name).renamed)
        assert set(options) - set(now["commands"][name]) - old <= GONE.get((version, name), set()), name
        for option, choices in options.items():
            present = now["commands"][name].get(option)
            assert not choices or not present or set(choices) <= set(present), f"{name} {option}"
