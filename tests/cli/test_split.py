"""``--split unicode``: words end at all white space at which `str.split` splits, in every command that reads words."""

import pytest

import aligntools as at
from tests.cli.running import fails, ran, run

PAIRS = [
    ("am 3.\u00a0Mai", "on 3\u202fMay"), ("das haus", "the house"), ("das\u3000buch", "the\u2009book"),
    ("ein buch", "a book"),
]  # fmt: skip
PLAIN = [tuple(" ".join(side.split()) for side in pair) for pair in PAIRS]
BLANK = "\t_" * 6
LINKS = ["0-0 1-1 2-2", *["0-0 1-1"] * 3]
RULES = "[X] ||| haus ||| house ||| F=1\n[X] ||| das ||| the ||| F=1\n"
ALIGN = ("align", "--fast", "-s", "s", "-t", "t")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two folders with files of the same names: text with white space of all kinds, and with spaces alone."""
    found = []
    for pairs in (PAIRS, PLAIN):
        folder = tmp_path_factory.mktemp("split")
        found.append(folder)
        files = {
            "s": [s for s, _ in pairs], "t": [t for _, t in pairs], "i": [" ||| ".join(pair) for pair in pairs],
            "a": LINKS, "tagged": ["das_DET haus_NOUN", "ein_DET buch_NOUN"], "rules": RULES.splitlines(),
            "conll": ["".join(f"{n}\t{w}\t_\tX{BLANK}\n" for n, w in enumerate(s.split(), 1)) for s, _ in PLAIN],
        }  # fmt: skip
        for name, lines in files.items():
            (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    odd, plain = found
    ran("train-tagger", "-q", "--tagged", "tagged", "--latent", 1, "--members", 1, "-o", "tagger", cwd=odd)
    ran("train-lm", "-q", "-n", 2, "s", "-o", "lm", cwd=plain)
    for name, place in (("tagger", odd), ("lm", plain)):
        (odd if place is plain else plain).joinpath(name).write_bytes((place / name).read_bytes())
    return odd, plain


@pytest.mark.parametrize(
    "line",
    [
        *("align -q --fast -s s -t t", "align -q --fast -i i", "align -q --fast -s s -t t --set part_size=2"),
        pytest.param("align -q --fast -s s -t t --workers 1", marks=pytest.mark.slow),
        *("lexicon -q -s s -t t -a a -o out", "extract-grammar -q -s s -t t -a a", "view -s s -t t -a a"),
        *("symmetrize -q -c convert a --check s t", "eval-aer a a -s s -t t", "train-lm -q -n 2 s"),
        *("project -q --source conll -a a --target t", "eval-lm -m lm --lines s"),
        *("filter-grammar -q --grammar rules --text s", "tag -q -m tagger s --to conll"),
        *("train-hmm -q --text s --states 2 --iterations 2 --save-classes out -o hmm", "tag -q -m tagger s"),
        *("tag -q -m tagger s --unbuffered", "translate -q --no-lm --grammar rules s --unbuffered"),
    ],
)  # fmt: skip
def test_commands(line, folders):
    odd, plain = folders
    found = []
    for folder, more in ((odd, ["--split", "unicode"]), (plain, [])):
        done = ran(*line.split(), *more, cwd=folder)
        assert b"white space" not in done.stderr
        found.append((done.stdout.partition(b"\nsignature")[0], [p.read_bytes() for p in sorted(folder.glob("out*"))]))
    assert found[0] == found[1]


def _translator(source, **how):
    return at.Translator(at.extract_grammar(source, source, LINKS, **how), **how)


def _tagger():
    return at.train_tagger(["das_DET haus_NOUN", "ein_DET buch_NOUN"], latent=1, relative_frequencies=True)


#: What functions give of text in memory, for comparison.
CALLS = {
    "align": lambda s, t, **how: at.align(s, t, fast=True, **how),
    "extract_grammar": lambda s, t, **how: at.extract_grammar(s, t, LINKS, **how),
    "filter_grammar": lambda s, t, **how: at.filter_grammar(at.extract_grammar(s, t, LINKS, **how), s, **how),
    "extract_lexicon": lambda s, t, **how: at.extract_lexicon(s, t, LINKS, **how).shortlist(top=9),
    "count_priors": lambda s, t, **how: [at.count_priors(s, t, LINKS, LINKS, **how)],
    "view": lambda s, t, **how: [at.view((s, t), LINKS, **how).text()],
    "aer": lambda s, t, **how: [at.aer(LINKS, LINKS, source=s, target=t, **how).aer],
    "tag": lambda s, t, **how: [_tagger().tag(s[1], **how), *_tagger().tag_batch(s, **how)],
    "log_probabilities": lambda s, t, **how: _tagger().log_probabilities(s, **how),
    "posteriors": lambda s, t, **how: _tagger().posteriors(s, **how),
    "n_best tags": lambda s, t, **how: _tagger().n_best(s, 1, **how),
    "sample_tags": lambda s, t, **how: _tagger().sample_tags(s, 2, **how),
    "word_classes": lambda s, t, **how: at.word_classes(s, _tagger(), **how).words,
    "translate": lambda s, t, **how: _translator(s, **how).translate_batch(s),
    "one translation": lambda s, t, **how: [_translator(s, **how).with_threads(1).translate(s[0])],
    "n_best": lambda s, t, **how: [best[0] for best in _translator(s, **how).n_best(s, 1)],
    "samples": lambda s, t, **how: [drawn[0] for drawn in _translator(s, **how).samples(s, 1)],
    "derivations": lambda s, t, **how: [len(found.source) for found in _translator(s, **how).derivations(s)],
}


@pytest.mark.parametrize("name", CALLS)
def test_functions(name, caplog):
    odd, plain = ([list(side) for side in zip(*pairs, strict=True)] for pairs in (PAIRS, PLAIN))
    found = list(map(str, CALLS[name](*odd, split="unicode")))
    assert found == list(map(str, CALLS[name](*plain)))
    assert found
    assert "white space" not in caplog.text


def test_what_is_told_and_models_that_know_how_their_text_was_split(folders, tmp_path):
    odd, plain = folders
    found = ran(*ALIGN, cwd=odd).stderr.decode()
    assert found.count("white space other than spaces and tabs within words") == 2
    assert "s: 2 lines have" in found
    assert "U+00A0 NO-BREAK SPACE, U+3000 IDEOGRAPHIC SPACE" in found
    assert "--split unicode" in found
    assert b"white space" not in ran(*ALIGN, "-q", cwd=odd).stderr
    assert b"white space" in run("translate", "--no-lm", "--grammar", "rules", "--unbuffered", "s", cwd=odd).stderr
    assert fails(run("eval-aer", "a", "a", "-s", "s", "-t", "t", cwd=odd), "link 2-2 points past", "--split unicode")
    for more in ((), ("--set", "part_size=2", "--workers", "1")):
        model = tmp_path / "model"
        ran(*ALIGN, "-q", "--split", "unicode", *more, "--save-model", model, cwd=odd)
        again = ran("align", "-m", model, *ALIGN[2:], cwd=odd)
        assert again.stdout == ran("align", "-q", "-m", model, *ALIGN[2:], cwd=plain).stdout
        assert b"white space" not in again.stderr
        aligner = at.Aligner.load(model)
        assert [str(aligner.align(*pair)) for pair in PAIRS] == again.stdout.decode().splitlines()
        spaces = ran("align", "-m", model, "--split", "spaces", *ALIGN[2:], cwd=odd)
        assert spaces.stdout != again.stdout
        assert b"white space" in spaces.stderr
        lines = aligner.align_batch(*zip(*PAIRS, strict=True), split="spaces")
        assert list(map(str, lines)) == spaces.stdout.decode().splitlines()
    rows = ran(*ALIGN, "-q", "--split", "unicode", "--output-format", "tsv", cwd=odd).stdout.decode().split("\n")[:-1]
    assert [tuple(row.split("\t")[:2]) for row in rows] == PAIRS
    told = ran("tag", "-m", "tagger", "--split", "spaces", "s", cwd=odd)
    assert told.stderr.count(b"white space") == 1
    assert run("tag", "-m", "tagger", "--tokenize", "--split", "unicode", "s", cwd=odd).returncode == 2
    old = run("tag", "-m", "tagger", "--split", "s", cwd=odd)  # what --split-tokens was called
    assert old.returncode == 2
    assert b"--split-tokens now" in old.stderr


def test_old_models_are_of_spaces(tmp_path, monkeypatch):
    from aligntools.aligning import model as models

    write = models.write_model
    monkeypatch.setattr(models, "write_model", lambda path, kind, header, arrays: write(
        path, kind, {k: v for k, v in header.items() if k != "split"}, arrays))  # fmt: skip
    sides = list(zip(*PAIRS, strict=True))
    trained = at.train_aligner(*sides, fast=True, split="unicode")
    trained.save(tmp_path / "old")
    assert (trained.model.split, at.Aligner.load(tmp_path / "old").model.split) == ("unicode", "spaces")
    assert at.train_aligner(*sides, fast=True).model.split == "spaces"
    assert at.train_mre_aligner(*sides, split="unicode", iterations=1, mre_iterations=1).model.split == "unicode"


def test_contrastive_aligners_loaded_grammars_and_pieces(folders):
    odd, plain = ([list(side) for side in zip(*pairs, strict=True)] for pairs in (PAIRS, PLAIN))
    found = at.train_contrastive_aligner(*odd, split="unicode", fast=True)
    assert found.model.split == "unicode"
    expected = list(map(str, found.align_batch(*plain)))
    assert list(map(str, found.align_batch(*odd))) == expected
    assert list(map(str, found.align_batch(*odd, split="unicode"))) == expected
    assert str(found.align(*PAIRS[0], split="unicode")) == expected[0]
    (block,) = found.align_blocks(*odd, split="spaces")
    assert block.lengths.tolist() == [[2, 2, 1, 2], [2, 2, 1, 2]]
    with pytest.raises(at.DataError, match="past the source sentence"):
        at.aer(LINKS, LINKS, source=odd[0], target=odd[1])
    assert len(at.Grammar.load(folders[0] / "rules", text=folders[0] / "s", split="unicode")) == 2
    assert str(at.Translator(at.Grammar.load(folders[0] / "rules")).translate("das\u00a0haus")) == "das\u00a0haus"
    words = {"source_words": ["das\u00a0haus"], "target_words": ["the\u00a0house"]}
    pieces = ["\u2581das\u00a0\u2581ha us"], ["\u2581the\u00a0\u2581house"]
    assert at.links_to_pieces(["1-1"], *pieces, **words, split="unicode") == [[(1, 1), (2, 1)]]
    assert at.links_to_words(["0-0 2-1"], *pieces, split="unicode") == [[(0, 0), (1, 1)]]
