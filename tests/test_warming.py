"""After ``aligntools warmup`` no command compiles anything."""

import json
import os
import shlex
import shutil
import subprocess
import sys

import pytest

from aligntools.cli.main import COMMANDS
from tests.cli.running import program, run
from tests.places import ROOT, SAMPLES

#: Every command, with the options that choose other kernels; `>` takes the standard output.
LINES = """
align -i S/de-en.txt -o a --save-model a.atm --scores a.s --forward-output a.f --reverse-output a.r --ttable a.tt
align -m a.atm -i S/de-en.txt --link-probabilities --scores a.s --unbuffered > a.p
align -i S/de-en.txt --fast --symmetrize grow-diag-final-and --decode posterior --save-model fast.atm > fast
align -i S/de-en.txt --fast --decode viterbi --symmetrize union > viterbi
align -i S/de-en.txt --model-type ibm1 --estimator em --save-model one.atm --ttable one.tt > one
align -i S/de-en.txt --model-type ibm2 --set agreement=false --save-model two.atm > two
align -i S/de-en.txt --model-type ibm2 --set positions=table --set agreement=false --estimator em --save-model t.atm > t
align -i S/de-en.txt --model-type ibm2 --decode viterbi --symmetrize union --set views=0 > two.v
align -i S/de-en.txt --model-type ibm3 --set pegging=true --set agreement=false > three
align -i S/de-en.txt --model-type ibm4 --set word_classes=5 --decode viterbi --symmetrize union > four
align -m t.atm -i S/de-en.txt > table.2
align -i S/de-en.txt --model-type hmm --direction forward --set views=0 --set look_alike=false --scores hmm.s > hmm
align -i S/de-en.txt --model-type hmm --estimator em --set agreement=false --decode viterbi --symmetrize grow-diag > v
align -i S/de-en.txt --direction reverse --set sweeps=4 > reverse
align -i S/de-en.txt --model-type hmm-classes --set word_classes=3 --set views=0 --decode viterbi --symmetrize union > c
align -i S/de-en.txt --fast --scores e.s --set score_form=eflomal > costs
align -s S/fr-en.fr -t S/fr-en.en --init-model a.atm > going-on
align -s S/fr-en.fr -t S/fr-en.en --init-model one.atm > going-on.1
train-hmm -s S/de-en.de -t S/de-en.en -o links.hmm
train-hmm -s S/de-en.de -t S/de-en.en -o mre.hmm --estimator mre --set mre_iterations=2
mre-align -i S/de-en.txt --set mre_iterations=2 --save-model mre.atm --forward-output mre.f > mre
mre-align -i S/de-en.txt --model-type ibm2 --set positions=table --set mre_positions=true --set mre_iterations=2 > mre.2
mre-align -i S/de-en.txt --model-type ibm2 --estimator em --set mre_null=true --set mre_iterations=2 > mre.3
contrastive-align -i S/de-en.txt --save-model c.atm --save-weights c.json > c
contrastive-align -m c.atm -w c.json -i S/de-en.txt --set beam=4 > c.2
align --best -i S/de-en.txt --save-model best.atm > best
align -m best.atm -i S/de-en.txt > best.2
contrastive-align -m a.atm -i S/de-en.txt --features paper --start paper --sentences 60 --set constraint=block-itg > c.3
contrastive-align -m a.atm -i S/de-en.txt --gold S/de-en.wa --set folds=2 --save-weights gold.json > c.4
contrastive-align -m a.atm -i S/de-en.txt --sentences 9 --passes 1 --set optimizer=sgd --set candidates=all > c.5
contrastive-align -m a.atm -i S/de-en.txt --sentences 9 --evidence mre.f > c.6
teach -i S/de-en.txt -m a.atm --students 20,40 -o start
contrastive-align -m a.atm -i S/de-en.txt --start start --passes 0 > c.7
filter -i S/de-en.txt --save-model filter.atm --rejected rejected > kept
filter -m filter.atm -i S/de-en.txt --all > kept.2
transfer-markup -m filter.atm --source S/tagged.de --target S/tagged.en > tagged
check -i S/de-en.txt --save-model check.atm > checked
check -m check.atm -i S/de-en.txt --summary > checked.2
align -i S/de-en.txt --fast --save-priors priors > priored
align -s S/fr-en.fr -t S/fr-en.en --priors priors > priored.2
drop-ins stand-ins
align-sentences -s S/few.de -t S/few.en -o sentences --ladder ladder
align-sentences -s S/few.de -t S/few.en --no-encoder --group-size 2 > sentences.2
eval-sentences ladder ladder ladder --paired > ladders
symmetrize -c grow-diag-final-and a.f a.r --check S/de-en.de S/de-en.en > s
symmetrize -c grow-diag --set flavor=symal a.f a.r > s.2
symmetrize -c fmeasure a.f a.r > s.3
eval-aer --head S/de-en.wa a a.f --paired > aer
terms -i S/de-en.txt -a a -o terms
terms -i S/manual.tmx --languages de,en > terms.2
lexicon -i S/de-en.txt -a a -o lex --shortlist lex.s2t --top 50
train-hmm --tagged S/en.conllu -o en.tagger
train-hmm --tagged S/en.conllu -o latent.tagger --latent 2 --members 2
train-tagger --tagged S/en.conllu --partial --latent 2 --members 2 -o partial.tagger
tag -m en.tagger S/en.conllu > tagged
tag -m latent.tagger --decode viterbi S/en.txt > tagged.2
conll S/en.conllu --to tagged > taken
eval-tags S/en.conllu tagged > tags
eval-brackets S/en.mrg S/en.mrg > brackets
train-grammar --treebank S/en.mrg -o en.pcfg
train-grammar --text S/en.tagged --symbols 3 --iterations 3 -o induced.pcfg
parse -m induced.pcfg S/en.tagged > induced.mrg
train-grammar --text S/en.tagged --estimator compound --set preterminals=4 --set width=8 --set epochs=1 -o compound.pcfg
parse -m compound.pcfg S/en.tagged > compound.mrg
train-grammar --treebank S/en.mrg -o latent.pcfg --latent 1 --iterations 2
parse -m en.pcfg S/en.txt > trees.mrg
parse -m latent.pcfg S/en.conllu > trees.2.mrg
parse -m latent.pcfg --decode viterbi S/en.txt > trees.3.mrg
parse -m latent.pcfg --n-best 2 S/en.txt > trees.4
parse -m en.pcfg --samples 2 S/en.txt > trees.5
train-classes S/de-en.de -n 5 -o de.classes --save-paths de.paths
train-hmm --text S/de-en.en --states 6 -o em.hmm --estimator em --save-classes classes --save-paths paths
train-hmm --tagged S/en.conllu --latent 1 --classes classes -o classed.tagger
train-parser --treebank S/en.conllu --iterations 5 --classes paths -o classed.parser
tag -m classed.tagger S/en.txt --save-classes classes.2 > classed
parse -m classed.parser classed > classed.trees
train-hmm --text S/de-en.en --states 6 -o vb.hmm --estimator vb
train-hmm --text S/de-en.en --states 6 -o mre.tags --estimator mre
tag -m mre.tags S/en.txt > induced
tag -m mre.tags --decode viterbi S/en.txt > induced.2
train-parser --treebank S/en.conllu -o en.parser --iterations 4
train-parser --treebank S/en.conllu -o free.parser --iterations 4 --no-projective
train-parser --treebank S/en.conllu -o many.parser --iterations 4 --no-projective --no-single-root
train-parser --unsupervised S/en.conllu -o en.dmv --iterations 4
train-parser --unsupervised S/en.tagged -o vb.dmv --iterations 4 --estimator vb
parse -m en.dmv tagged > trees.dmv
parse -m en.parser tagged > trees
parse -m free.parser tagged > trees.2
view -s S/de-en.de -t S/de-en.en -a a --gold S/de-en.wa -o page.html
eval-uas S/en.conllu trees trees.2 --paired --by distance > uas
tag -m en.tagger S/de-en.en > en.tagged
tag -m en.tagger S/de-en.de > de.tagged
align -s S/de-en.en -t S/de-en.de -o ende
tag -m en.tagger --to conll S/de-en.en > en.conll
project --source en.conll --target S/de-en.de -a ende --dictionary types > projected
train-tagger --tagged projected --partial --dictionary types --latent 2 --members 1 -o projected.tagger
train-tagger --text S/de-en.de --dictionary types --iterations 3 -o named.tagger
transfer-parse --source-model en.parser --source en.tagged --target de.tagged -a ende -o de.parser
transfer-parse --source-model en.parser --source en.tagged --target de.tagged -a ende -o de2.parser --method projected
transfer-parse --source-model en.parser --source en.tagged --target de.tagged -a ende -o de3.parser --entropy renyi
parse -m de.parser de.tagged > trees.3
train-lm -n 4 S/de-en.en -o en.arpa
train-lm -n 3 S/de-en.de --prune "0 0 1" -o de.arpa
eval-lm -m en.arpa S/fr-en.en --lines > ppl
extract-grammar -i S/de-en.txt -a a -o grammar
extract-grammar -i S/de-en.txt -a a --phrases tight --features standard --format binary -o grammar.bin
extract-grammar -i S/de-en.txt -a a --format moses -o grammar.gz
filter-grammar --grammar grammar --text S/de-en.de -o filtered
translate --grammar grammar --lm en.arpa S/few.de --n-best 5 --hypergraphs forests > t
translate --grammar grammar.bin --no-lm S/few.de --samples 3 > t.2
translate --grammar grammar.gz --lm en.arpa S/few.de > t.3
eval-bleu S/few.en t.3 --sentence-level > bleu
eval-bleu S/few.en t.3 t.3 --paired > bleu.2
translate --grammar grammar --lm en.arpa --input plf S/de.plf --n-best 2 > t.4
imputed-risk --supervised S/few.de --reference S/few.en --grammar grammar --lm en.arpa --rounds 2 -o w.json
imputed-risk --supervised S/few.de --reference S/few.en --grammar grammar --lm en.arpa --rounds 1 --method mert -o w2
imputed-risk --supervised S/few.de --reference S/few.en --grammar grammar --lm en.arpa --rounds 1 --forest -o w3.json
imputed-risk --supervised S/few.de --reference S/few.en --grammar grammar --lm en.arpa --rounds 1 --method mira -o w4
imputed-risk --supervised S/few.de --reference S/few.en --grammar grammar --lm en.arpa --method perceptron -o w5
"""


def lines():
    return [line for line in LINES.splitlines() if line]


def test_the_lines_have_every_command():
    assert {line.split()[0] for line in lines()} == set(COMMANDS) - {"warmup", "serve"}


@pytest.mark.slow
def test_nothing_is_compiled_after_warming_up(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "ALIGNTOOLS_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "home" / ".cache").mkdir(parents=True)
    (tmp_path / "home" / ".cache" / "aligntools").symlink_to(os.environ["ALIGNTOOLS_CACHE_DIR"])
    # the folder gets what is compiled now, and a copy of what is needed of what other tests have compiled
    more = {"HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [*program(), "warmup", "-v"], env=environment | more, cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    environment |= {"HOME": str(tmp_path / "nobody")}
    shutil.copytree(SAMPLES, tmp_path / "S")
    for name in ("fr-en.fr", "fr-en.en", "de-en.txt", "de-en.de", "de-en.en"):
        text = (SAMPLES / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / "S" / name).write_text("".join(text[:80]), encoding="utf-8")
        (tmp_path / "S" / f"few.{name[-2:]}").write_text("".join(text[:12]), encoding="utf-8")
    code = "import sys; from tests.test_warming import report; report(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], env=environment, cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == {}


def report(folder):
    """Run all lines in this process; print which kernels each compiled."""
    import numba.core.event

    class Compiled(numba.core.event.Listener):
        def on_start(self, event):
            function = getattr(event.data["dispatcher"], "py_func", None)
            if function is not None and function.__module__.startswith("aligntools"):
                names.append(f"{function.__module__.rpartition('.')[2]}.{function.__name__} {event.data['args']}")

        def on_end(self, event):
            pass

    numba.core.event.register("numba:compile", Compiled())
    found = {}
    for line in lines():
        names = []
        words, _, place = line.partition(" > ")
        done = run(*shlex.split(words), cwd=folder)
        assert done.returncode == 0, f"{line}\n{done.stderr.decode()}"
        if place:
            with open(os.path.join(folder, place), "wb") as file:
                file.write(done.stdout)
        if names:
            found[line] = names
    print(json.dumps(found))
