"""Nothing is accepted in silence that changes nothing for what a command reads or writes."""

import pytest

from tests.cli.running import run
from tests.models import model
from tests.places import SAMPLES

CONLL, TAGGED, WORDS = SAMPLES / "en.conllu", SAMPLES / "en.tagged", SAMPLES / "en.txt"
BITEXT, GOLD = SAMPLES / "de-en.txt", SAMPLES / "de-en.wa"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name in ("tagger", "parser"):
        (folder / name).symlink_to(model(f"small-{name}"))
    return folder


@pytest.mark.parametrize(
    ("line", "more", "said"),
    [
        (("tag", "-m", "tagger", WORDS), ("--column", "xpos"), "--column changes nothing: word_TAG lines are written"),
        (("tag", "-m", "tagger", WORDS), ("--keep", "xpos"), "--keep changes nothing: word_TAG lines are written"),
        (("tag", "-m", "tagger", CONLL), ("--separator", "/"), "--separator changes nothing: CoNLL is written"),
        (
            ("parse", "-m", "parser", TAGGED),
            ("--column", "xpos"),
            "--column changes nothing: the text is word_TAG text",
        ),
        (("parse", "-m", "parser", CONLL), ("--separator", "/"), "--separator changes nothing: the text is CoNLL"),
        (("eval-tags", TAGGED, TAGGED), ("--column", "xpos"), f"--column changes nothing: {TAGGED} is word_TAG text"),
        (("train-tagger", "--latent", 1, "-o", "x", "--tagged", CONLL), ("--separator", "/"), f"{CONLL} is CoNLL"),
        (
            ("contrastive-align", "--fast", "--no-encoder", "--set", "folds=0", "--gold", GOLD, "-i", BITEXT),
            ("--set", "rate=3"),
            "--set rate changes nothing: with --gold weights are learned from its links",
        ),
        (
            ("align", "--fast", "-i", BITEXT, "--priors", SAMPLES / "de-en.priors"),
            ("--set", "prior_jumps=0.5"),
            "--set prior_jumps changes nothing: --priors have no HMMF or HMMR",
        ),
        (
            ("mre-align", "--set", "mre_iterations=1", "-i", BITEXT),
            ("--set", "mre_position_smoothing=3"),
            "--set positions=table",
        ),
    ],
)
def test_what_goes_by_the_text_is_told_once(models, line, more, said):
    plain, other = run(*line, cwd=models), run(*line, *more, cwd=models)
    assert (plain.returncode, other.returncode) == (0, 0)
    assert plain.stdout.partition(b"signature")[0] == other.stdout.partition(b"signature")[0]
    warnings = [row for row in other.stderr.decode().splitlines() if "changes nothing" in row]
    assert len(warnings) == 1
    assert said in warnings[0]
    assert "changes nothing" not in plain.stderr.decode()
