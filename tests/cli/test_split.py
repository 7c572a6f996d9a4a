"""``--split unicode``: words end at all white space at which `str.split` splits, in every command that reads words."""

import inspect
import logging
import sys
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

import aligntools as at
from aligntools.cli.flags import said
from aligntools.cli.main import cli
from tests.cli.running import run

_PAIRS = [
    ("am 3.\u00a0Mai", "on 3\u202fMay"), ("das haus", "the house"), ("das\u3000buch", "the\u2009book"),
    ("ein buch", "a book"),
]  # fmt: skip


@pytest.fixture
def texts(tmp_path):
    for name, side, change in (("s", 0, str), ("t", 1, str), ("s.plain", 0, _plain), ("t.plain", 1, _plain)):
        (tmp_path / name).write_text("".join(change(pair[side]) + "\n" for pair in _PAIRS), encoding="utf-8")
    (tmp_path / "i").write_text("".join(f"{s} ||| {t}\n" for s, t in _PAIRS), encoding="utf-8")
    (tmp_path / "a").write_text("0-0 1-1 2-2\n0-0 1-1\n0-0 1-1\n0-0 1-1\n")
    return tmp_path


def _plain(text):
    return " ".join(text.split())


class Runner(CliRunner):
    """Keeps both outputs apart and whole, which releases of click before 8.2 have to be told."""

    def __init__(self):
        apart = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
        super().__init__(**apart)

    @contextmanager
    def isolation(self, *args, **kwargs):
        with super().isolation(*args, **kwargs) as streams:
            sys.stderr.reconfigure(write_through=True)
            yield streams


def _run(*args, status=0):
    logging.getLogger("aligntools.hints").setLevel(logging.NOTSET)  # what -q of an earlier run has set
    found = Runner().invoke(cli, [str(arg) for arg in args])
    assert found.exit_code == status, found.output
    return found


def _sides(texts, end=""):
    return "-s", texts / f"s{end}", "-t", texts / f"t{end}"


@pytest.mark.parametrize(
    "more", [(), ("--set", "part_size=2"), pytest.param(("--workers", "1"), marks=pytest.mark.slow)]
)
def test_align(texts, more):
    expected = _run("align", "-q", "--fast", *_sides(texts, ".plain"), *more).stdout
    assert _run("align", "-q", "--fast", "--split", "unicode", *_sides(texts), *more).stdout == expected
    assert _run("align", "-q", "--fast", "--split", "unicode", "-i", texts / "i", *more).stdout == expected
    found = at.align(texts / "s", texts / "t", fast=True, split="unicode")
    assert not more or len(found) == len(_PAIRS)


def test_notices_and_saved_models(texts):
    found = _run("align", "--fast", *_sides(texts)).stderr
    assert found.count("white space other than spaces and tabs within words") == 2
    assert "s: 2 lines have" in found
    assert "U+00A0 NO-BREAK SPACE, U+3000 IDEOGRAPHIC SPACE" in found
    assert "--split unicode" in found
    assert "white space" not in _run("align", "-q", "--fast", *_sides(texts)).stderr
    assert "white space" not in _run("align", "--fast", "--split", "unicode", *_sides(texts)).stderr
    model = texts / "model"
    _run("align", "-q", "--fast", "--split", "unicode", *_sides(texts), "--save-model", model, "-o", texts / "links")
    again = _run("align", "-q", "-m", model, "--split", "unicode", *_sides(texts)).stdout
    assert again == (texts / "links").read_text()
    aligner = at.Aligner.load(model)
    sides = [[pair[side] for pair in _PAIRS] for side in range(2)]
    assert "".join(f"{a}\n" for a in aligner.align_batch(*sides, split="unicode")) == again
    sides = list(zip(*_PAIRS, strict=True))
    assert at.train_aligner(*sides, fast=True, split="unicode").model.split == "unicode"
    assert at.train_aligner(*sides, fast=True).model.split == "spaces"
    assert at.train_mre_aligner(*sides, split="unicode", iterations=1, mre_iterations=1).model.split == "unicode"


@pytest.mark.parametrize("more", [(), ("--set", "part_size=2", "--workers", "1")])
def test_a_saved_model_knows_how_its_text_was_split(texts, more):
    model = texts / "model"
    _run("align", "-q", "--fast", "--split", "unicode", *_sides(texts), *more, "--save-model", model, "-o", texts / "l")
    again = _run("align", "-m", model, *_sides(texts))
    assert again.stdout == _run("align", "-q", "-m", model, *_sides(texts, ".plain")).stdout
    assert "white space" not in again.stderr
    aligner = at.Aligner.load(model)
    assert [str(aligner.align(*pair)) for pair in _PAIRS] == again.stdout.splitlines()
    spaces = _run("align", "-m", model, "--split", "spaces", *_sides(texts))
    assert spaces.stdout != again.stdout
    assert "white space" in spaces.stderr
    assert [str(a) for a in aligner.align_batch(*zip(*_PAIRS, strict=True), split="spaces")] == (
        spaces.stdout.splitlines())  # fmt: skip


def test_old_models_are_of_spaces(texts, monkeypatch):
    from aligntools.aligning import model as models

    write = models.write_model
    monkeypatch.setattr(models, "write_model", lambda path, kind, header, arrays: write(
        path, kind, {k: v for k, v in header.items() if k != "split"}, arrays))  # fmt: skip
    at.train_aligner(texts / "s", texts / "t", fast=True, split="unicode").save(texts / "old")
    assert at.Aligner.load(texts / "old").model.split == "spaces"


def test_text_beside_links_and_views(texts):
    found = _run("align", "-q", "--fast", "--split", "unicode", *_sides(texts), "--output-format", "tsv").stdout
    assert [tuple(line.split("\t")[:2]) for line in found.split("\n")[:-1]] == _PAIRS
    links = _run("align", "-q", "--fast", "--split", "unicode", *_sides(texts)).stdout
    assert [line.split("\t")[2] for line in found.split("\n")[:-1]] == links.split("\n")[:-1]
    plain = _run("view", *_sides(texts, ".plain"), "-a", texts / "a").stdout
    assert _run("view", "--split", "unicode", *_sides(texts), "-a", texts / "a").stdout == plain
    sides = [[pair[side] for pair in _PAIRS] for side in range(2)]
    assert at.view(sides, texts / "a", split="unicode").text() == at.view(_plain_sides(), texts / "a").text()
    error = said(_run("eval-aer", texts / "a", texts / "a", *_sides(texts), status=1).exception)
    assert "link 2-2 points past the source sentence" in error
    assert "--split unicode" in error
    _run("eval-aer", texts / "a", texts / "a", *_sides(texts), "--split", "unicode")


def test_lexicons_grammars_and_language_models(texts):
    a = "-a", texts / "a"
    for end, more in (("", ("--split", "unicode")), (".plain", ())):
        _run("lexicon", "-q", *_sides(texts, end), *a, "-o", texts / f"lex{end}", *more)
        _run("extract-grammar", "-q", *_sides(texts, end), *a, "-o", texts / f"grammar{end}", *more)
        _run("symmetrize", "-q", "-c", "convert", texts / "a", "--check", texts / f"s{end}", texts / f"t{end}", *more)
    for name in ("lex{}.f2e", "lex{}.e2f", "grammar{}"):
        assert (texts / name.format("")).read_bytes() == (texts / name.format(".plain")).read_bytes()
    _run("symmetrize", "-q", "-c", "convert", texts / "a", "--check", texts / "s", texts / "t", status=1)
    for end, more in (("", ("--split", "unicode")), (".plain", ())):
        _run("train-lm", "-q", "-n", "2", texts / f"s{end}", "-o", texts / f"arpa{end}", *more)
    assert (texts / "arpa").read_bytes() == (texts / "arpa.plain").read_bytes()
    found = _run("eval-lm", "-m", texts / "arpa", "--lines", texts / "s", "--split", "unicode").stdout
    assert found == _run("eval-lm", "-m", texts / "arpa", "--lines", texts / "s.plain").stdout
    (texts / "cs").write_bytes(b"das ha\rus\ndas\x0b buch\n")
    (texts / "ct").write_bytes(b"the house\nthe book\n")
    (texts / "ca").write_bytes(b"0-0 1-1\n0-0 1-1\n")
    tables = "-a", texts / "ca", "--shortlist", texts / "sl"
    found = _run("lexicon", "-s", texts / "cs", "-t", texts / "ct", *tables)
    assert (texts / "sl").read_text() == "book buch 1.00000000\nthe das 1.00000000\n"
    assert "2 rows left out: a word holds a carriage return, vertical tab or form feed" in found.stderr


def _plain_sides():
    return [[_plain(pair[side]) for pair in _PAIRS] for side in range(2)]


def test_project_and_induced_tags(texts):
    (texts / "c").write_text("".join(
        "".join(f"{n}\t{word}\t_\tX\t_\t_\t0\t_\t_\t_\n" for n, word in enumerate(line.split(), 1)) + "\n"
        for line in _plain_sides()[0]))  # fmt: skip
    how = "project", "-q", "--source", texts / "c", "-a", texts / "a", "--target"
    assert _run(*how, texts / "t", "--split", "unicode").stdout == _run(*how, texts / "t.plain").stdout
    found = at.project(texts / "c", [pair[1] for pair in _PAIRS], texts / "a", split="unicode")
    assert found.format().decode() == _run(*how, texts / "t.plain").stdout
    for name, more in (("s", ("--split", "unicode")), ("s.plain", ())):
        _run("train-hmm", "-q", "--text", texts / name, *more, "--states", "2", "--iterations", "2",
             "--save-classes", texts / f"{name}.classes", "-o", texts / "hmm")  # fmt: skip
    assert (texts / "s.classes").read_text() == (texts / "s.plain.classes").read_text()


def test_grammars_and_counts_in_memory(texts):
    sides, plain = [[pair[side] for pair in _PAIRS] for side in range(2)], _plain_sides()
    found = at.extract_grammar(*sides, texts / "a", split="unicode")
    assert list(map(str, found)) == list(map(str, at.extract_grammar(*plain, texts / "a")))
    assert list(map(str, found)) == list(map(str, at.extract_grammar(
        texts / "s", texts / "t", texts / "a", split="unicode")))  # fmt: skip
    found.save(texts / "g")
    how = "filter-grammar", "-q", "--grammar", texts / "g", "--text"
    assert _run(*how, texts / "s", "--split", "unicode").stdout == _run(*how, texts / "s.plain").stdout != ""
    lexicon = at.extract_lexicon(*sides, texts / "a", split="unicode")
    assert list(lexicon.shortlist(top=9)) == list(at.extract_lexicon(*plain, texts / "a").shortlist(top=9))
    links = texts / "a", texts / "a"
    assert str(at.count_priors(*sides, *links, split="unicode")) == str(at.count_priors(*plain, *links))


def test_translate_unbuffered(texts):
    (texts / "rules").write_text("[X] ||| haus ||| house ||| F=1\n[X] ||| das ||| the ||| F=1\n")
    how = "translate", "--no-lm", "--grammar", texts / "rules", "--unbuffered"
    (texts / "x").write_text("das\u00a0haus\n")
    assert _run(*how, "--split", "unicode", texts / "x").stdout == "the house\n"
    found = run(*how, texts / "x")
    assert found.stdout.decode() == "das\u00a0haus\n"
    assert b"white space" in found.stderr


def test_tag(texts):
    (texts / "tagged").write_text("das_DET haus_NOUN\nein_DET buch_NOUN\n")
    _run("train-tagger", "-q", "--tagged", texts / "tagged", "--latent", "1", "--members", "1", "-o", texts / "tagger")
    plain = _run("tag", "-q", "-m", texts / "tagger", texts / "s.plain").stdout
    assert _run("tag", "-q", "-m", texts / "tagger", "--split", "unicode", texts / "s").stdout == plain
    unbuffered = "--split=unicode", "--unbuffered"
    assert _run("tag", "-q", "-m", texts / "tagger", *unbuffered, texts / "s").stdout == plain
    told = _run("tag", "-m", texts / "tagger", "--split", "spaces", texts / "s").stderr
    assert told.count("white space") == 1
    _run("tag", "-m", texts / "tagger", "--tokenize", "--split", "unicode", texts / "s", status=1)
    old = _run("tag", "-m", texts / "tagger", "--split", texts / "s", status=1)  # what --split-tokens was called
    assert "--split-tokens now" in old.stderr
    assert "split_tokens is for taggers of train-hmm" in str(old.exception)


def test_taggers_in_memory(caplog):
    tagger = at.train_tagger(["das_DET haus_NOUN", "ein_DET buch_NOUN"], latent=1, relative_frequencies=True)
    text, plain, how = ["das\u00a0haus", "ein\u3000buch"], ["das haus", "ein buch"], {"split": "unicode"}
    assert str(tagger.tag(text[0], **how)) == "das_DET haus_NOUN"
    assert list(map(str, tagger.tag_batch(text, **how))) == list(map(str, tagger.tag_batch(plain)))
    assert tagger.log_probabilities(text, **how).tolist() == tagger.log_probabilities(plain).tolist()
    for call in (
        tagger.posteriors,
        lambda x, **k: tagger.n_best(x, 1, **k),
        lambda x, **k: tagger.sample_tags(x, 2, **k),
    ):
        assert list(call(text, **how)) == list(call(plain))
    assert at.word_classes(text, tagger, **how).words == at.word_classes(plain, tagger).words
    assert "white space" not in caplog.text
    assert len(tagger.tag(text[0])) == 1
    assert "<sentences>: 1 line has white space" in caplog.text


def test_translators(texts):
    (texts / "rules").write_text("[X] ||| haus ||| house ||| F=1\n[X] ||| das ||| the ||| F=1\n")
    (texts / "x").write_text("das\u00a0haus\n")
    grammar = at.Grammar.load(texts / "rules", text=texts / "x", split="unicode")
    assert len(grammar) == 2
    assert len(at.filter_grammar(grammar, ["das\u00a0haus"], split="unicode")) == 2
    translator = at.Translator(grammar, split="unicode")
    for text in (texts / "x", ["das\u00a0haus"]):
        assert list(map(str, translator.translate_batch(text))) == ["the house"]
        assert [str(best[0]) for best in translator.n_best(text, 1)] == ["the house"]
        assert [str(drawn[0]) for drawn in translator.samples(text, 1)] == ["the house"]
        assert [len(found.source) for found in translator.derivations(text)] == [2]
    assert str(translator.with_threads(1).translate("das\u00a0haus")) == "the house"
    assert str(at.Translator(grammar).translate("das\u00a0haus")) == "das\u00a0haus"


def test_contrastive_aligners_scores_and_pieces(texts):
    sides, plain = [[pair[side] for pair in _PAIRS] for side in range(2)], _plain_sides()
    found = at.train_contrastive_aligner(*sides, split="unicode", fast=True)
    assert found.model.split == "unicode"
    assert list(map(str, found.align_batch(*sides))) == list(map(str, found.align_batch(*plain)))
    assert list(map(str, found.align_batch(*sides, split="unicode"))) == list(map(str, found.align_batch(*plain)))
    assert str(found.align(*_PAIRS[0], split="unicode")) == str(found.align(plain[0][0], plain[1][0]))
    (block,) = found.align_blocks(*sides, split="spaces")
    assert block.lengths.tolist() == [[2, 2, 1, 2], [2, 2, 1, 2]]
    sides, links = [[pair[side] for pair in _PAIRS] for side in range(2)], (texts / "a").read_text().splitlines()
    assert at.aer(links, links, source=sides[0], target=sides[1], split="unicode").aer == 0
    with pytest.raises(at.DataError, match="past the source sentence"):
        at.aer(links, links, source=sides[0], target=sides[1])
    pieces = ["\u2581das\u00a0\u2581ha us"], ["\u2581the\u00a0\u2581house"]
    assert at.links_to_words(["0-0 2-1"], *pieces, split="unicode") == [[(0, 0), (1, 1)]]
    words = {"source_words": ["das\u00a0haus"], "target_words": ["the\u00a0house"]}
    assert at.links_to_pieces(["1-1"], *pieces, **words, split="unicode") == [[(1, 1), (2, 1)]]
