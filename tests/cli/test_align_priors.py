"""``align --priors`` and ``--save-priors``."""

import gzip

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.links.priors import format_priors
from tests.cli.aligning import SAMPLES, SOURCE, TARGET, TEXT, done, proper

FAST = (*TEXT, "-q", "--fast")
SAMPLE = SAMPLES / "de-en.priors"


def test_priors_of_training_and_of_a_model(inside, tmp_path):
    forward, reverse, model = (tmp_path / name for name in ("forward", "reverse", "model.atm"))
    single = ("--forward-output", forward, "--reverse-output", reverse)
    one, two, o, p = (tmp_path / name for name in ("one.tsv", "two.tsv.gz", "o", "p"))
    done(inside(*FAST, "--save-priors", one, "--save-model", model, "-o", o))
    done(inside(*TEXT, "-q", "-m", model, *single, "-o", p, "--save-priors", two))
    assert o.read_bytes() == p.read_bytes()
    counted = at.count_priors(at.read_bitext(SOURCE, TARGET), None, forward, reverse)
    wanted = b"".join(format_priors(counted))
    assert one.read_bytes() == gzip.decompress(two.read_bytes()) == wanted
    assert wanted.count(b"\nFERR\t") > 50
    priors = at.read_priors(one)  # small numbers, so that nothing was rounded
    assert b"".join(format_priors(priors)) == wanted


def test_where_priors_go_and_do_not(inside, tmp_path):
    done(inside(*FAST, "--save-priors", tmp_path / "one", "-o", "/dev/null"))
    done(inside(*FAST, "--save-priors", tmp_path / "two"))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_priors_change_links(inside, tmp_path):
    done(inside(*FAST, "--save-priors", tmp_path / "priors", "-o", tmp_path / "plain"))
    done(inside(*FAST, "--priors", tmp_path / "priors", "--priors", SAMPLE, "-o", tmp_path / "helped"))
    at.write_priors(tmp_path / "sum", at.read_priors([tmp_path / "priors", SAMPLE]))
    done(inside(*FAST, "--priors", tmp_path / "sum", "-o", tmp_path / "again", "--threads", "1"))
    assert (tmp_path / "helped").read_bytes() == (tmp_path / "again").read_bytes()
    plain, helped = (proper((tmp_path / name).read_bytes()) for name in ("plain", "helped"))
    assert plain != helped
    (tmp_path / "null").write_text("LEX\t<NULL>\tthe\t1000000\n")
    (tmp_path / "unknown").write_text("LEX\t<NULL>\tqqq\t1000000\n")
    small = (*TEXT, "--set", "views=0", "--set", "sweeps=3")
    plain = done(inside(*small))
    given = (*small, "--prior-lexical", "1", "--priors")
    null, unknown = (done(inside(*given, tmp_path / name)) for name in ("null", "unknown"))
    assert plain.stdout != null.stdout
    assert plain.stdout == unknown.stdout
    assert b"warning" not in null.stderr
    assert b"none of the words that the priors link to <NULL> is one of the text" in unknown.stderr


def test_weights(inside, tmp_path):
    """Twice the weight is as good as two times the same."""
    done(inside(*FAST, "--save-priors", tmp_path / "priors", "-o", tmp_path / "plain"))
    both = ("--priors", tmp_path / "priors") * 2
    weights = ("--prior-lexical {}", "--set prior_fertility={}", "--set prior_jumps={}")
    small = (*TEXT, "-q", "--set", "views=0", "--set", "sweeps=3")
    done(inside(*small, *both, *" ".join(weights).replace("{}", "0.5").split(), "-o", tmp_path / "two"))
    done(inside(*small, *both[:2], *" ".join(weights).replace("{}", "1").split(), "-o", tmp_path / "one"))
    done(inside(*small, *both[:2], *" ".join(weights).replace("{}", "0").split(), "-o", tmp_path / "none"))
    done(inside(*small, "-o", tmp_path / "without"))
    one, two, none, without = ((tmp_path / name).read_bytes() for name in ("one", "two", "none", "without"))
    assert one == two != none == without


PARTS = {"model_type": "hmm", "views": (0,), "prior_lexical": 1.0}


def test_priors_of_text_in_parts_are_those_of_text_in_memory(tmp_path):
    """Bit by bit where there is one part, nearly where there are several; however the words are written."""
    (tmp_path / "wrong").write_text("LEX\tZug\tleaves\t500\nLEX\tfährt\ttrain\t500\n")
    priors = at.read_priors([SAMPLE, tmp_path / "wrong"])
    rows = [row.split("\t") for row in b"".join(format_priors(priors)).decode().splitlines()]
    (tmp_path / "upper").write_text("".join(f"LEX\t{s.upper()}\t{t}\t{n}\n" for _, s, t, n in rows))
    text = at.read_bitext(SOURCE, TARGET)
    expected = [str(a) for a in at.align(text, priors=priors, **PARTS)]
    for given in (priors, [SAMPLE, tmp_path / "wrong"], tmp_path / "upper"):
        blocks = at.align_in_parts(SOURCE, TARGET, priors=given, part_size=1000, **PARTS)
        assert [str(a) for block in blocks for a in block] == expected
    plain = [str(a) for block in at.align_in_parts(SOURCE, TARGET, part_size=1000, **PARTS) for a in block]
    assert plain != expected
    whole = at.train_aligner(text, priors=priors, **PARTS).model.views[0]
    for _ in at.align_in_parts(SOURCE, TARGET, priors=priors, part_size=37, save_model=tmp_path / "m", **PARTS):
        pass
    np.testing.assert_allclose(at.load(tmp_path / "m").model.views[0].counts[0], whole.counts[0], rtol=2e-3, atol=2e-5)


def test_priors_of_text_in_parts(tmp_path):
    with pytest.raises(at.UsageProblem, match="prior_jumps is for text in memory"):
        next(at.align_in_parts(SOURCE, TARGET, priors=SAMPLE, prior_jumps=1.0))
    given = {"part_size": 100, "checkpoint": tmp_path / "keep", **PARTS}
    begun = at.align_in_parts(SOURCE, TARGET, priors=SAMPLE, **given)
    first = [str(a) for a in next(begun)]
    begun.close()
    with pytest.raises(at.DataError, match="with other text or options"):
        next(at.align_in_parts(SOURCE, TARGET, **given))
    again = [str(a) for block in at.align_in_parts(SOURCE, TARGET, priors=SAMPLE, **given) for a in block]
    assert again[:100] == first
