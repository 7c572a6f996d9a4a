"""Commands read what commands before them wrote, as a Makefile has them do, on text with words of any characters.

Each row of `STEPS` is a command line; files that it names were written by the rows before it.
"""

import pytest

from aligntools.formats.annotation.conll import read_conll
from aligntools.words.white_space import kept_returns
from tests.cli.running import run
from tests.contracts.nasty import WORDS

#: Lines of a few words each, blank ones among them; words that language models and CoNLL cannot have come elsewhere.
ROWS = [[*WORDS[k : k + 3], "x"] if k % 4 else [] for k in range(len(WORDS))]
GOLD = [[f"{word}_T{len(word) % 3}" for word in row] for row in ROWS]

STEPS = """
align -s s -t t --set views=0 -o plain --save-model model --ttable ttable --save-priors priors --word-pairs pairs
align -s s -t t -m model --link-probabilities -o links
align -s s -t t --set views=0 --model-type ibm4 --iterations 1 --giza-dir giza -o ibm4
align -s s -t t -m model -o again
align -s s -t t -m giza -o by-giza
align -s s -t t --priors priors -o with-priors
align -s s -t t --output-format tsv -o links.tsv
eval-aer again links
symmetrize -c convert links -o converted --check s t
symmetrize -c convert links -o giza.A3 --to giza --check s t
symmetrize -c convert giza.A3 --format giza -o from-giza
lexicon -s s -t t -a links -o lex --shortlist short
terms -s s -t t -a links --min-count 1 --languages de,en -o terms.tsv
terms -s s -t t -a links --min-count 1 --languages de,en -o terms.csv
terms -s s -t t -a links --min-count 1 --languages de,en -o terms.tbx
terms -s s -t t -a links --min-count 1 --known terms.tsv --inconsistent places.tsv -o unknown.tsv
terms -s s -t t -a links --min-count 1 --known terms.csv -o unknown.csv
terms -s s -t t -a links --min-count 1 --known terms.tbx --languages de,en -o unknown.tbx
check -s s -t t -m model -o found.tsv
check -s s -t t -m model --output-format json -o found.json
view -s s -t t -a links --check found.tsv -o page.html
view -s s -t t -a links --check found.json -o page.html
filter -s s -t t -m model -o kept --rejected rejected
extract-grammar -s s -t t -a links -o grammar
extract-grammar -s s -t t -a links --format moses -o grammar.moses
extract-grammar -s s -t t -a links --format binary -o grammar.bin
filter-grammar --grammar grammar --text s -o small
train-lm t --order 2 --skip-symbols -o lm.arpa
train-lm t --order 2 --skip-symbols --format binary -o lm.bin
eval-lm -m lm.arpa t
eval-lm -m lm.bin t
translate --grammar small --lm lm.arpa s -o nbest --n-best 2 --derivations derivations --hypergraphs graphs
translate --grammar grammar.bin --lm lm.bin s -o translated
view --derivations derivations -o page.html
train-classes s -o classes --number 3
train-classes s --number 3 --save-paths paths --save-counts counts
align -s s -t t --set views=0 --model-type hmm-classes --set source_classes=classes --set target_classes=classes -o kl
align -s s -t t --set views=0 --model-type hmm-classes --set source_classes=counts --set target_classes=counts -o kl
train-tagger --tagged gold --latent 1 -o tagger
train-tagger --text s --states 3 --iterations 2 -o induced --save-classes tagger-classes
train-tagger --tagged gold --latent 1 --classes paths -o with-classes
train-tagger --tagged gold --latent 1 --classes tagger-classes -o with-classes
tag -m tagger s -o tagged --n-best 2
tag -m tagger s -o tagged
eval-tags gold tagged
train-tagger --tagged tagged --latent 1 -o tagger.2
tag -m tagger s --to conll -o tagged.conllu
eval-tags gold tagged.conllu
conll tagged.conllu --to words -o words
conll tagged.conllu --to tagged -o tagged.3
eval-tags gold tagged.3
project --source tagged.conllu --target t -a links -o projected.conllu --dictionary dictionary
train-tagger --tagged gold --partial --dictionary dictionary -o partial.tagger
train-parser --unsupervised tagged --iterations 2 -o dmv
parse -m dmv tagged -o parsed.conllu
parse -m dmv tagged.conllu -o parsed.2
eval-uas parsed.conllu parsed.2
train-parser --treebank parsed.conllu --iterations 2 -o parser
parse -m parser parsed.conllu -o parsed.3
view parsed.3 -o page.html
conll parsed.3 --put xpos tagged -o put.conllu
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the text of both sides and tagged text."""
    folder = tmp_path_factory.mktemp("made")
    for name, rows in (("s", ROWS), ("t", [row[::-1] for row in ROWS]), ("gold", GOLD)):
        text = "".join(" ".join(row) + (" \n" if row else "\n") for row in rows)  # "\r" before "\n" would be of the end
        (folder / name).write_bytes(text.encode())
    return folder


def lines(path):
    return path.read_bytes().count(b"\n")


def test_a_chain_of_commands(made):
    for step in STEPS.strip().split("\n"):
        done = run(*step.split(" "), cwd=made)
        assert done.returncode == 0, (step, done.stderr.decode()[-2000:])
    for name in ("links", "again", "by-giza", "with-priors", "converted", "from-giza", "tagged", "words", "translated"):
        assert lines(made / name) == len(ROWS), name
    assert (made / "words").read_bytes() == kept_returns((made / "s").read_bytes().replace(b" \n", b"\n"))
    for name in ("unknown.tsv", "unknown.csv"):
        assert lines(made / name) == 1, "terms that were written are not known"
    assert (made / "converted").read_bytes() == (made / "from-giza").read_bytes()
    assert read_conll(made / "parsed.3").words == [word.encode() for row in ROWS for word in row]
