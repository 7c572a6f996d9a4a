"""An option is declared once, as a field of settings; what users see of it is made from there."""

import dataclasses
import inspect
from typing import Literal

import click
import pytest
from click.testing import CliRunner

import aligntools as at
from aligntools.aligning.settings import AlignerSettings
from aligntools.cli import declarations as on_command_line
from aligntools.cli import options, programs
from aligntools.cli.flags import as_flag, renamed, said
from aligntools.formats.text.text_settings import RawReading, Reading
from aligntools.ground import declarations
from aligntools.ground.declarations import Keywords, Settings, declared, documented, option, taking
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import amounts, counts
from aligntools.ground.run import Run
from aligntools.links.settings import LinkWriting, ShortlistSettings, TableWriting
from aligntools.tagging.settings import TagDecisions
from tests import keywords


@documented
@dataclasses.dataclass(frozen=True)
class More(AlignerSettings):
    """Settings with one field more."""

    warmth: float = option(0.5, "How warm it is.", allowed=amounts(0, 2), group="Training")


def test_a_new_field_is_seen_everywhere():
    """In the help, as a keyword, in the documentation, in the type checker's keywords and in a model's header."""

    @click.command(cls=options.Command)
    @on_command_line.group(More)
    def command(**o):
        """Do it."""
        settings = on_command_line.settings(More, o)
        click.echo(settings.header()["warmth"])

    shown = CliRunner().invoke(command, ["--help"]).output
    assert "--warmth X" in shown
    assert "How warm it is.  [default: 0.5; 0<=x<=2]" in " ".join(shown.split()).replace("is. [", "is.  [")
    assert CliRunner().invoke(command, ["--warmth", "1.5"]).output == "1.5\n"
    assert "0<=x<=2" in CliRunner().invoke(command, ["--help"]).output
    assert CliRunner().invoke(command, ["--warmth", "3"]).exit_code == 2
    given = Keywords("f", {"warmth": 0.25, "views": [0, 5]})
    settings = given.take(More)
    given.end()
    assert (settings.warmth, settings.views, settings.header()["warmth"]) == (0.25, (0, 5), 0.25)
    with pytest.raises(UsageProblem, match="warmth must be a number from 0 to 2, not 3"):
        Keywords("f", {"warmth": 3}).take(More)
    assert "warmth : float, default 0.5\n    How warm it is." in inspect.cleandoc(More.__doc__)

    @taking(More)
    def function(**given):
        """Do it.

        Parameters
        ----------
        **options
        """

    assert "warmth : float, default 0.5" in function.__doc__
    assert keywords.written(declared(More)["warmth"]) == "float"


def test_keywords_for_type_checkers_are_those_of_the_settings():
    assert keywords.STUB.read_text(encoding="utf-8") == keywords.stub(), "run python -m tests.keywords"


@pytest.mark.parametrize("kind", keywords.classes().values(), ids=lambda kind: kind.__name__)
def test_every_option_says_what_it_does(kind):
    for name, one in declared(kind).items():
        assert one.option.help.endswith("."), name
        assert one.default is not None or one.optional
        one.check(one.default)
        assert f"{name} : " in kind.__doc__


def test_defaults_are_those_that_users_know():
    """Whoever changes one on purpose runs this too, and says so in the change log."""
    assert keywords.DEFAULTS.read_text(encoding="utf-8") == keywords.defaults(), "run python -m tests.keywords"


def test_what_functions_take_is_documented():
    functions = [one for name in at.__all__ if hasattr(one := getattr(at, name), "takes")]
    for owner in (at.Aligner, at.Tagger, at.Parser):
        functions += [one for one in vars(owner).values() if hasattr(one, "takes")]
    assert {at.train_aligner, at.align, at.read_bitext, at.train_lm} <= set(functions)
    for function in functions:
        for kind in function.takes:
            for name in kind.names():
                assert f"{name} : " in function.__doc__
        assert len(inspect.signature(function).parameters) <= 12


#: The classes of which commands have every option that has a group; and what each says otherwise (a default or help
#: for its use) or does not have.
COMMANDS = {
    "align": ((AlignerSettings, Reading, LinkWriting), ""),
    "mre-align": ((AlignerSettings, Reading), "fast best sweeps subwords view_agreement model_type"),
    "lexicon": ((ShortlistSettings, TableWriting), ""),
    "train-lm": ((at.LanguageModelSettings, at.Splitting, at.Run), "threads max_memory"),
    "eval-lm": ((at.Splitting, at.Loading), ""),
    "extract-grammar": ((at.ExtractionSettings, at.PairReading, at.Run), "threads max_memory"),
    "translate": (
        (at.DecoderSettings, at.LatticeSettings, at.TranslationLists, at.Run),
        "threads max_memory arc_weights",
    ),
    "imputed-risk": (
        (at.DecoderSettings, at.TuningSettings, at.ImputationSettings, at.Splitting, at.Loading),
        "threads max_memory",
    ),
    "filter-grammar": ((at.GrammarFilter, at.Splitting, at.Loading), ""),
    "tag": ((at.TagDecisions, at.TagWriting, at.TagLists, at.Loading, RawReading), "keep"),
    "train-hmm": (
        (at.TaggerSettings, at.InductionSettings, at.TagReading, at.WordReading),
        "estimator iterations mre_iterations split",
    ),
    "train-tagger": ((at.TaggerSettings, at.InductionSettings, at.TagReading), "estimator iterations mre_iterations"),
    "parse": (
        (at.ParserDecisions, at.ParserReading, at.GrammarDecisions, at.TreeLists, at.Loading),
        "max_length format",
    ),
    "train-parser": ((at.ParserSettings, at.InducedParserSettings), "min_length max_length iterations tolerance"),
    "transfer-parse": ((at.TransferSettings, at.LinkReading, at.Loading), ""),
    "project": ((at.ProjectionSettings, at.LinkReading, at.Splitting), "columns"),
    "eval-tags": ((at.TagScoring,), ""),
    "eval-uas": ((at.TreeScoring,), ""),
    "train-grammar": ((at.GrammarSettings, at.InducedGrammarSettings), "iterations"),
    "eval-brackets": ((at.BracketScoring,), ""),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_commands_have_the_options_that_are_declared(name):
    """Each with the field's default and range."""
    command = programs.command(name)
    found = {parameter.name: parameter for parameter in command.params}
    kinds, otherwise = COMMANDS[name]
    for kind in kinds:
        for field, one in declared(kind).items():
            if one.option.group and field not in otherwise.split():
                assert found[field].default == one.default, field
                assert found[field].help.startswith(on_command_line.on_command_line(one.option.help)), field


def test_values_are_held_against_types_choices_and_ranges():
    @dataclasses.dataclass(frozen=True)
    class Some(Settings):
        kind: Literal["a", "b"] = option("a", "What.")
        sizes: tuple[int, ...] | None = option(None, "Sizes.", allowed=counts(1))
        on: bool = option(False, "On.", excludes=("off",))
        off: bool = option(False, "Off.")
        run: int | Run | None = option(None, "Run.", allowed=counts(1))

    for good in (Some(), Some("b"), Some(sizes=(1, 2)), Some(on=True), Some(run=Run()), Some(run=3)):
        assert good.checked() is good
    for bad, message in (
        (Some("c"), "kind is one of a, b, not c"),
        (Some(sizes=(0,)), "sizes must be a whole number above|sizes must be a whole number from 1"),
        (Some(on=1), "on is True or False, not 1"),
        (Some(on="True"), "on is True or False, not 'True'"),
        (Some(sizes=("2",)), "sizes must be a whole number from 1 .*, not '2'"),
        (Some(on=True, off=True), "on and off exclude each other"),
        (Some(run=0), "run must be"),
    ):
        with pytest.raises(UsageProblem, match=message):
            bad.checked()
    with pytest.raises(TypeError, match=r"f\(\) got an unexpected keyword argument 'other'"):
        Keywords("f", {"other": 1}).end()


def test_messages_name_fields_as_python_and_the_command_line_have_them():
    error = UsageProblem(
        "`symmetrize=joint` and `agreement=False` exclude `part_size=3`; see `pip x`, `model` and `Aligner.save()`"
    )
    assert str(error) == (
        'symmetrize="joint" and agreement=False exclude part_size=3; see `pip x`, model and Aligner.save()'
    )
    assert said(error) == (
        "--symmetrize joint and --set agreement=false exclude --set part_size=3; see `pip x`, -m and"
        " `aligntools align --save-model`"
    )
    assert as_flag("max_length") == "--max-length"
    assert as_flag("tension", "3") == "--set tension=3"


def test_old_and_earlier_names():
    kinds = {kind.__name__: kind for kind in keywords.classes().values()}
    for name, table in declarations.FIELDS.items():
        fields = {field.name for field in dataclasses.fields(kinds[name])}
        assert {now.removeprefix("not ").partition("=")[0] for now in table.values()} <= fields
        assert not set(table) & fields
    given = Keywords("f", {"viterbi": True, "joint": False})
    assert given.take(TagDecisions).decode == "viterbi"
    assert given.take(AlignerSettings).agreement is False
    given.end()
    assert renamed(TagDecisions)["--viterbi"] == "--decode=viterbi"
    assert declarations.modern(AlignerSettings, {"joint": True, "seed": 3}) == {"agreement": True, "seed": 3}
    header = {"least": 2, "shortest": 3, "most": 5, "weights": "score", "any_root": True}
    assert declarations.modern(at.TransferSettings, header) == {
        "min_count": 2, "min_length": 3, "max_pairs": 5, "transferred": "score", "single_root": False,
    }  # fmt: skip
