"""Lines that are far longer than anybody's: every command takes them, or leaves them out and counts them, or refuses
them in one line; none ends in a traceback, and as many lines come out as went in. Real sizes are in `bench.abuse`.

In `ROWS` is a command line for each command that reads text, trees or documents, run for each of the long things that
its input can hold: ``<text`` is a file with such a thing in its second line, ``=out`` has a line for each of the input.
"""

import re
import subprocess
import sys

import pytest

from tests import models
from tests.cli.running import fails, program, run
from tests.places import ROOT

MODELS, SAMPLES = ROOT / "tests/data/models/0.3.0", ROOT / "data/samples"
#: Words of a line and of one side of a pair, letters of a word, tags of a segment, what lies within each other.
WORDS, BESIDE, LETTERS, TAGS, DEEP = 4000, 2000, 300_000, 400, 3000


def words(count):
    return " ".join(f"w{k % 97}" for k in range(count))


def tree_rows(head_of):
    return "".join(f"{k}\tw{k % 97}\t_\tNOUN\tNN\t_\t{head_of(k)}\tdep\t_\t_\n" for k in range(1, WORDS // 8 + 1))


LONG = {
    "text": {
        "words": words(WORDS),
        "a word": f"a {'x' * LETTERS} b",
        "hyphens": f"a {'x-' * (LETTERS // 2)}x b",
        "brackets": f"{'( ' * DEEP}x {') ' * DEEP}",
    },
    "joint": {
        "words": f"{words(WORDS)} ||| {words(WORDS)}",
        "a word": f"a {'x' * LETTERS} ||| b {'y' * LETTERS}",
        "one beside many": f"x ||| {words(BESIDE)}",
        "many beside one": f"{words(BESIDE)} ||| x",
    },
    "tagged": {"words": " ".join(f"w{k % 97}_NN" for k in range(WORDS // 8)), "a word": f"{'x' * LETTERS}_NN b_NN"},
    "conll": {"flat": tree_rows(lambda k: min(k - 1, 1)), "nested": tree_rows(lambda k: k - 1)},
    "trees": {
        "deep": f"{'(NP ' * DEEP}(NN x){')' * DEEP}",
        "flat": f"(S {'(NN x) ' * (WORDS // 8)})",
        "a word": f"(S (NN {'x' * LETTERS}))",
    },
    "markup": {
        "tags": "<b>x</b> " * TAGS,
        "within each other": f"{'<b>x ' * DEEP}{'</b>' * DEEP}",
        "around a word": f"{'<b>' * DEEP}x{'</b>' * DEEP} y",
        "points": f"x{'<br/>' * TAGS} y",
        "words": f"<b>x</b> {words(WORDS)}",
        "a word": f"<b>{'x' * LETTERS}</b> y",
        "not closed": "<b>" * DEEP,
    },
    "html": {
        "tags": f"<p>{'<b>x</b> ' * TAGS}</p>",
        "within each other": f"<p>{'<b>x ' * DEEP}{'</b>' * DEEP}</p>",
        "blocks": f"{'<div>' * DEEP}x{'</div>' * DEEP}",
    },
    "xliff": {"tags": '<g id="1">x</g> ' * TAGS, "within each other": '<g id="1">x ' * DEEP + "</g>" * DEEP},
}
#: What is beside the long line, before and behind it.
SHORT = {
    "text": "the train leaves .",
    "joint": "der Zug fährt . ||| the train leaves .",
    "tagged": "the_DT train_NN",
    "conll": "1\tthe\t_\tDET\tDT\t_\t2\tdet\t_\t_\n2\ttrain\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n",
    "trees": "(S (DT the) (NN train))",
    "markup": "der <b>Zug</b>",
    "html": "<p>der Zug</p>",
    "xliff": "der Zug",
}
XLIFF = (
    '<xliff version="1.2"><file source-language="de" target-language="en" original="x" datatype="x"><body>%s</body>'
    "</file></xliff>\n"
)
UNIT = '<trans-unit id="%d"><source>%s</source><target>the train</target></trans-unit>'

ROWS = """
align -i <joint --model-type ibm1 -o =out
align -i <joint --fast -o =out
align -i <joint --model-type ibm4 --set views=0 --iterations 1 -o =out
align -i <joint -m MODEL --max-memory 800M -o =out
contrastive-align -i <joint -m MODEL --sentences 2 --passes 1 -o =out
mre-align -i <joint --set views=0 --set mre_iterations=1 -o =out
check -i <joint -m MODEL -o out
filter -i <joint -m MODEL -o out
terms -i <joint -m MODEL --min-count 1 -o out
lexicon -i <joint -a links -o out
view -i <joint -a links -o out
symmetrize -c convert links --check <text <text
extract-grammar -i <joint -a links -o out
train-classes <text -n 3 --iterations 1 -o out
train-lm -n 2 <text -o out
eval-lm -m MODELS/lm <text
eval-bleu <text <text
train-hmm --text <text --states 3 --iterations 1 -o out
train-hmm --tagged <tagged --latent 1 --iterations 1 -o out
tag -m MODELS/tag.hmm <text -o =out
eval-tags <tagged <tagged
project --source <tagged --target <text -a links -o out
translate --grammar MODELS/grammar --lm MODELS/lm <text --pop-limit 5 -o =out
imputed-risk --supervised <text --reference <text --grammar MODELS/grammar --lm MODELS/lm --rounds 1 -o out
train-grammar --treebank <trees -o out --latent 1 --iterations 1
parse -m GRAMMAR <text -o =out
parse -m GRAMMAR <tagged -o =out
parse -m GRAMMAR <trees -o =out
eval-brackets <trees <trees
view <trees -o out
conll <trees --to words -o out
conll <conll --to words -o out
parse -m MODELS/parse.labels <conll -o out
parse -m MODELS/parse.nonprojective <conll -o out
train-parser --treebank <conll --iterations 1 --bits 12 -o out
eval-uas <conll <conll
view <conll -o out
transfer-markup -m MODEL --source <markup --target text -o =out
transfer-markup -m MODEL <html --target page -o out
transfer-markup -m MODEL <xliff -o out
transfer-markup <html --segments out
"""


def written(kind, thing):
    """Return a file's text with a long thing in its second line, sentence or segment of three."""
    parts = [SHORT[kind], LONG[kind][thing], SHORT[kind]]
    if kind == "xliff":
        return XLIFF % "".join(UNIT % (k, part) for k, part in enumerate(parts))
    if kind == "html":
        return f"<html><body>{''.join(parts)}</body></html>\n"
    return "".join(f"{part}\n" for part in parts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, trained):
    """What the rows read besides: links, translations, and a grammar."""
    made = tmp_path_factory.mktemp("limits")
    for name, text in (("links", "0-0\n0-0\n0-0\n"), ("text", "the train\n" * 3), ("page", "the train\n" * 3)):
        (made / name).write_text(text)
    return made


CASES = [
    pytest.param(row, thing, id=f"{row.split()[0]} {n}: {thing}")
    for n, row in enumerate(ROWS.strip().split("\n"))
    for thing in LONG[re.search(r"<(\w+)", row)[1]]
]


@pytest.mark.parametrize(("row", "thing"), CASES)
def test_a_long_line_is_taken_or_left_out(row, thing, folder, trained, tmp_path):
    names = {"MODEL": trained / "model", "MODELS": MODELS, "GRAMMAR": models.model("trees"), "links": folder / "links"}
    args, kind = [], re.search(r"<(\w+)", row)[1]
    for word in row.split():
        if word.startswith("<"):
            path = tmp_path / word[1:]
            own = thing if thing in LONG[word[1:]] else "words"
            path.write_text(written(word[1:], own))
            args.append(path)
        elif word in ("out", "=out"):
            args.append(tmp_path / "out")
        elif word in ("text", "page"):
            args.append(folder / word)
        else:
            first, slash, rest = word.partition("/")
            args.append(f"{names[first]}{slash}{rest}" if first in names else word)
    done = run(*args, cwd=tmp_path)
    said = done.stderr.decode()
    assert "Traceback" not in said
    assert "Warning:" not in said
    assert all(len(line) < 1000 for line in said.splitlines())
    if done.returncode:
        assert done.returncode == 1, said
        assert re.fullmatch(r"(?s).*\nerror: [^\n]*:\d+: [^\n]*\n|error: [^\n]*\n", said), said
    elif "=out" in row:
        wanted = 3 if kind != "conll" else 6
        assert (tmp_path / "out").read_bytes().count(b"\n") == wanted, said


#: Runs a command and prints its peak in KiB; this process's own, which a process of its own begins with, is far more.
PEAK = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""


def test_bounds_of_memory(trained, tmp_path):
    """300 links in a paragraph: their scores took 2 GB."""
    (tmp_path / "page.html").write_text("<p>" + " · ".join(f'<a href="#">Zug{k}</a>' for k in range(300)) + "</p>")
    (tmp_path / "text").write_text(" · ".join(f"train{k}" for k in range(300)) + "\n")
    args = ["-q", "-m", trained / "model", "--max-memory", "600M", "--target", tmp_path / "text"]
    command = [*program(), "transfer-markup", *args, tmp_path / "page.html", "-o", tmp_path / "o"]
    done = subprocess.run([sys.executable, "-c", PEAK, *command], cwd=ROOT, capture_output=True, check=True)
    assert '<a href="#">train7</a> · <a href="#">train8</a>' in (tmp_path / "o").read_text()
    assert int(done.stdout) << 10 < 600 << 20
    (tmp_path / "long").write_text(f"{words(2000)} ||| {words(2000)}\n" * 2)
    done = run("align", "-i", tmp_path / "long", "--max-memory", "300M", "--threads", "2", "-o", tmp_path / "p")
    assert fails(done, "--max-memory 300M is too little", "shorter sentences")
    assert not (tmp_path / "p").exists()
