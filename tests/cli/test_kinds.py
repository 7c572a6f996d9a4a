"""Files of every kind at every command's text: read, or refused by a line that names the kind."""

import pytest

import aligntools as at
from aligntools.formats.annotation.text_kinds import KINDS
from tests.cli import input_kinds as inputs
from tests.cli.running import run
from tests.every_kind import FILES, content
from tests.keeping import KEPT
from tests.places import ROOT

MODELS = KEPT / "0.2.0"
#: Command lines by input, with F for the file; ``t``, ``links`` and so on have the same two sentences of three words.
#: Those of one input of `inputs.INPUTS` are a list, in its order.
LINES = {
    "TEXT": {
        "tag": f"tag -m {MODELS}/tag.hmm F",
        "train-classes": "train-classes F --number 2 -o out",
        "train-lm": "train-lm -n 2 F -o out",
        "eval-lm": f"eval-lm -m {MODELS}/lm F",
        "translate": f"translate --no-lm --grammar {MODELS}/grammar F",
        "parse (a grammar)": "parse -m pcfg F",
        "parse (a parser)": f"parse -m {MODELS}/parse.labels F",
    },
    "--text": {
        "train-hmm": "train-hmm --text F --states 2 --iterations 1 -o out",
        "train-tagger": "train-tagger --text F --dictionary dictionary --iterations 1 -o out",
        "train-grammar (words)": "train-grammar --text F --set terminals=words --estimator neural --symbols 2"
        " --set epochs=1 -o out",
        "train-grammar (tags)": "train-grammar --text F --symbols 2 --iterations 1 -o out",
        "extract-grammar": "extract-grammar -s t -t t -a links --text F",
        "filter-grammar": f"filter-grammar --grammar {MODELS}/grammar --text F -o out",
    },
    "-s, -t": {
        "align": f"align -m {MODELS}/align.hmm -s F -t t",
        "align (--output-format tsv)": f"align -m {MODELS}/align.hmm -s F -t t --output-format tsv",
        "contrastive-align": None,  # learns for long; its text is read as that of `align`
        "mre-align": f"mre-align -m {MODELS}/align.mre -s t -t F",
        "teach": f"teach -s F -t t -m {MODELS}/align.hmm -o out",
        "train-hmm": "train-hmm -s F -t t --iterations 1 -o out",
        "extract-grammar": "extract-grammar -s F -t t -a links",
        "filter": f"filter -m {MODELS}/align.hmm -s F -t t -o out",
        "check": f"check -m {MODELS}/align.hmm -s t -t F",
        "terms": "terms -s F -t t -a links",
        "lexicon": "lexicon -s F -t t -a links --shortlist -",
        "eval-aer": "eval-aer --bootstrap 0 links links -s F -t t",
        "view": "view -s F -t t -a links",
    },
    "-t": {
        "train-classes": "train-classes t -t F -a links --number 2 -o out --target-output out2",
        "project": "project -s conll -t F -a links",
    },
    "--train": {"eval-tags": "eval-tags --bootstrap 0 tagged tagged --train F"},
    "REFERENCE, TRANSLATION": {"eval-bleu": "eval-bleu --bootstrap 0 F F"},
    "--supervised, --reference": {"imputed-risk": None},  # minutes of training; its texts are read as `translate`'s
    "--tagged": {
        "train-hmm": "train-hmm --tagged F --latent 1 --members 1 --iterations 1 -o out",
        "train-tagger": "train-tagger --tagged F --latent 1 --members 1 --iterations 1 -o out",
    },
    "GOLD, TAGGED": {"eval-tags": "eval-tags --bootstrap 0 F F"},
    "-s, -t, --unlabeled": {
        "transfer-parse": f"transfer-parse --source-model {MODELS}/parse.labels --map penn -s F -t tagged -a links"
        " --iterations 1 -o out"
    },
    "--source-tags, --target-tags": {
        "terms": "terms -s t -t t -a links --source-tags F --patterns NN",
        "view": "view -s t -t t -a links --source-tags F",
    },
    "CONLL": {"conll (--to words, tagged)": "conll F", "conll (--to column, text, raw, --put)": "conll --to text F"},
    "--treebank": {
        "train-parser": "train-parser --treebank F --iterations 1 -o out",
        "train-grammar": "train-grammar --treebank F --latent 0 -o out",
    },
    "-s": {
        "project": "project -s F -t t -a links",
        "project (--spans brackets)": "project --spans brackets -s F -t t -a links",
    },
    "GOLD, PARSED": {"eval-uas": "eval-uas --bootstrap 0 F F", "eval-brackets": "eval-brackets --bootstrap 0 F F"},
    "-i": {
        "align": f"align -m {MODELS}/align.hmm -i F",
        "contrastive-align": None,
        "mre-align": f"mre-align -m {MODELS}/align.mre -i F",
        "teach": f"teach -i F -m {MODELS}/align.hmm -o out",
        "train-hmm": "train-hmm -i F --iterations 1 -o out",
        "filter": f"filter -m {MODELS}/align.hmm -i F -o out",
        "check": f"check -m {MODELS}/align.hmm -i F",
        "terms": "terms -i F -a links",
        "lexicon": "lexicon -i F -a links --shortlist -",
        "view": "view -i F -a links",
        "extract-grammar": "extract-grammar -i F -a links",
    },
    "-s, -t (documents)": {"align-sentences": "align-sentences --no-encoder -s F -t t"},
    "--check": {"symmetrize": "symmetrize -c convert links --check F t"},
}
CASES = [(one.flag, name, one.reads) for one in inputs.INPUTS for name in one.commands]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of every kind, F with their numbers, the other files of the commands, and a grammar."""
    folder = tmp_path_factory.mktemp("kinds")
    for number, name in enumerate(FILES):  # once: some file systems wait where a file is written again
        (folder / f"F{number}").write_bytes(content(name))
    others = {"t": "plain text", "links": "links", "tagged": "tagged text with _", "conll": "CoNLL-X", "trees": "trees"}
    for name, kind in others.items():
        (folder / name).write_bytes(content(kind))
    (folder / "dictionary").write_text("The\tDT\ndog\tNN\n")
    at.train_grammar(folder / "trees", latent=0).save(folder / "pcfg")
    return folder


def test_tables_of_kinds():
    assert {(flag, name) for flag, names in LINES.items() for name in names} == {case[:2] for case in CASES}
    assert inputs.table() in (ROOT / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("flag", "name", "reads"), CASES, ids=[f"{name} {flag}" for flag, name, _ in CASES])
def test_every_kind_is_read_or_refused_by_name(folder, flag, name, reads):
    line = LINES[flag][name]
    if line is None:
        pytest.skip("no quick command")
    wrong = []
    for number, (file, (kind, _)) in enumerate(FILES.items()):
        done = run(*(f"F{number}" if word == "F" else word for word in line.split()), cwd=folder)
        said = done.stderr.decode()
        too_few = name == "teach" and "pairs teach no student" in said  # it was read
        if kind in reads:
            right = done.returncode == 0 or too_few
        else:
            named = KINDS.get(kind, kind).partition(" (")[0] in said
            named |= kind == "text" and reads == inputs.PAIRS and "two files" in said
            right = done.returncode == 1 and said.startswith("error: F") and said.count("\n") == 1 and named
        if not right or "Traceback" in said:
            wrong.append(f"{file}: {done.returncode} {said[-300:]}")
    assert not wrong, "\n".join(wrong)


SAME = [name for name, (kind, _) in FILES.items() if kind in inputs.WORDS]


@pytest.mark.parametrize("line", ["train-lm -n 2 F", "align -m {}/align.hmm -s F -t t", "tag -m {}/tag.hmm F"])
def test_the_words_are_the_same_whatever_kind_they_are_read_of(folder, line):
    found = set()
    for name in SAME if "tag" not in line else (name for name in SAME if FILES[name][0] != "conll"):
        (folder / "F").write_bytes(content(name))
        done = run(*line.format(MODELS).split(), cwd=folder)
        assert (done.returncode, b"read as " in done.stderr) == (0, FILES[name][0] != "text"), name
        found.add(done.stdout)
    assert len(found) == 1


def test_words_tags_and_trees_of_every_kind(folder):
    for to, expected in (("words", "plain text"), ("tagged", "tagged text with _")):
        for name in SAME:
            (folder / "F").write_bytes(content(name))
            if FILES[name][0] != "text":
                column = ("--column", "xpos") if to == "tagged" and name in ("CoNLL-X", "CoNLL-U") else ()
                assert run("conll", "F", "--to", to, *column, cwd=folder).stdout == content(expected), name
    text = run("parse", "-q", "-m", "pcfg", "t", cwd=folder).stdout
    (folder / "odd").write_bytes(content("trees").replace(b"(NN dog)", b"(JJ dog)"))
    assert run("parse", "-q", "-m", "pcfg", "odd", cwd=folder).stdout == text == content("trees")
    assert b"(JJ dog)" in run("parse", "-q", "--keep-tags", "-m", "pcfg", "odd", cwd=folder).stdout
