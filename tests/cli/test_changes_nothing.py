"""Nothing is accepted in silence that changes nothing for what a command reads or writes."""

import pytest

from tests.cli.running import fails, run
from tests.models import model
from tests.places import SAMPLES

CONLL, TAGGED, WORDS = SAMPLES / "en.conllu", SAMPLES / "en.tagged", SAMPLES / "en.txt"
BITEXT, GOLD = SAMPLES / "de-en.txt", SAMPLES / "de-en.wa"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name in ("tagger", "parser"):
        (folder / name).symlink_to(model(f"small-{name}"))
    (folder / "links").write_bytes(b"0-0\n" * 40)
    return folder


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("conll", CONLL, "--column", "xpos"), "--column changes nothing with --to words"),
        (("conll", CONLL, "--to", "column", "--separator", "/"), "--separator changes nothing with --to column"),
        (("conll", CONLL, "--to", "text", "--tokens", "surface"), "--tokens changes nothing with --to text"),
        (("conll", CONLL, "--to", "raw", "--set", "space=+"), "--set space changes nothing with --to raw"),
        (("eval-uas", CONLL, CONLL, "--column", "xpos"), "it goes with --punct ud or --by tag"),
        (("eval-aer", "--set", "first_sentence=1", GOLD, "links"), "is Pharaoh text"),
        (("view", "-i", BITEXT, "-a", GOLD, "--gold-base", 1), "--gold-base needs --gold"),
        (("lexicon", "-i", BITEXT, "-a", GOLD, "-o", "x", "--top", 3), "--top is about shortlists"),
        (
            ("translate", "--no-lm", "--grammar", GOLD, "--set", "arc_scores=2", WORDS),
            "--set arc_scores is for lattices",
        ),
        (
            ("project", "--source", CONLL, "--target", WORDS, "-a", GOLD, "--min-share", 0.2),
            "--min-share needs --dictionary",
        ),
        (("tag", "-m", "tagger", WORDS, "--to", "tagged", "--column", "xpos"), "--column changes nothing with --to"),
        (("tag", "-m", "tagger", WORDS, "--to", "conll", "--separator", "/"), "--separator changes nothing with --to"),
        (("translate", "--no-lm", "--grammar", GOLD, "--seed", 2, WORDS), "--seed goes with --samples"),
        (("eval-bleu", "--bootstrap", 0, "--seed", 2, WORDS, WORDS), "--seed is for --bootstrap and --paired"),
        (("view", "-i", BITEXT, "-a", GOLD, "--set", "title=x"), "--set title is for a page"),
        (
            ("train-parser", "--treebank", CONLL, "--no-projective", "--set", "crossing=skip", "-o", "x"),
            "--set crossing changes nothing with --no-projective",
        ),
        (
            ("train-parser", "--treebank", CONLL, "--no-single-root", "--set", "roots=skip", "-o", "x"),
            "--set roots changes nothing with --no-single-root",
        ),
        (("tag", "-m", "tagger", CONLL, "--keep", "lemma"), "--keep is for upos, xpos and feats"),
    ],
)
def test_what_goes_by_options_is_refused(models, line, said):
    fails(run(*line, cwd=models), said, status=2)


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
