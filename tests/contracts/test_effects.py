"""What options and threads do: every option of a row changes what is written, and the number of threads nothing.

S/, K/ and M/ are samples and models, as in ``refusals.txt``; OUT is the file that is compared, or else standard output.
"""

import json

import pytest

from aligntools.formats.models.modelfile import is_model
from tests import models
from tests.cli.running import ran
from tests.cli.test_translate import GRAMMAR, LM, TEXT, write_weights
from tests.contracts.test_refusals import path_of
from tests.places import SAMPLES

#: A command line with options behind it, each of which makes a difference; what they mean is tested elsewhere.
EFFECTS = (
    """
train-parser -q --treebank S/en.conllu -o OUT --iterations 3: --l2 1; --no-labels; --features prefixes; --no-projective;
    --no-single-root; --min-count 1; --set bits=6; --iterations 4; --max-length 6; --set min_length=4; --map upos;
    --column xpos; --treebank S/en.conllu
train-parser -q --treebank S/en.conllu -o OUT: --set tolerance=0.5
train-parser -q --unsupervised S/en.conllu -o OUT: --estimator vb; --prior 0.5; --punct keep; --set decay=2;
    --max-length 6; --set min_length=3; --map upos; --column xpos; --iterations 3; --set tolerance=0.1
parse -q -m M/parser S/en.conllu: --no-labels; --column xpos; --max-length 4; --map penn
train-hmm -q --text S/en.txt --states 3 --iterations 4 -o OUT: --states 4; --iterations 5; --seed 2; --estimator vb;
    --set transition_prior=2; --set emission_prior=0.5; --set stop=false; --restarts 4;
    --estimator mre --set mre_iterations=2; --estimator mre --set mre_iterations=3
train-hmm -q --text S/en.txt --states 3 -o OUT: --set tolerance=0.5
train-hmm -q --text e --states 2 --iterations 2 -o OUT: --format tagged --separator e
train-hmm -q --tagged S/en.conllu --latent 2 --members 2 --iterations 3 -o OUT: --latent 4; --members 1; --iterations 4;
    --seed 2; --column xpos
train-grammar -q --treebank S/en.mrg -o OUT: --set horizontal=1; --set vertical=1
train-grammar -q --treebank S/en.mrg -o OUT --latent 1 --iterations 4: --set merge=0.2; --set smoothing=0.05; --seed 7
train-grammar -q --text S/en.mrg --symbols 3 --iterations 4 -o OUT: --brackets; --estimator vb; --prior 1; --seed 2
train-classes -q S/de-en.de -n 12: --seed 2; --iterations 1; --restarts 3; --min-count 2
extract-grammar -q -s S/de-en.de -t S/de-en.en -a links: --max-span 3; --set max_symbols=3; --set nonterminals=1;
    --set min_hole=2; --phrases tight; --features cdec; --keep 1; --min-count 1
translate -q --grammar grammar --lm lm text -w w.json: --n-best 2; --samples 2
translate -q --grammar grammar --lm lm text -w w.json --n-best 50: --pop-limit 1; --span-limit 1
translate -q --grammar grammar --lm lm text -w w.json --samples 20: --gamma 0; --seed 5
contrastive-align -q -m M/align -i few --sentences 20 --passes 1 --save-weights OUT:
    --features paper; --features all,-lonely --start languages; --start paper; --set noise=delete; --set noise=insert;
    --set noise=replace; --n-best 2; --set rate=0.01; --set pull=0.1; --sentences 0; --passes 2; --seed 5;
    --set noise=shuffle:2,delete:1; --set learning_beam=1 --set rate=0.01 --n-best 30; --set optimizer=sgd;
    --set candidates=all; --gold S/de-en.wa
contrastive-align -q -m M/align -w few.json -i few: --set beam=8; --set constraint=itg;
    --max-length 8; --set candidates=all
transfer-markup -q --train -i S/de-en.txt --source S/tagged.de --target S/tagged.en --report OUT:
    --best --no-encoder; --fast
""".strip()
    .replace("\n   ", "")
    .split("\n")
)
THREADS = """
train-hmm -q --text S/en.tagged --states 5 --iterations 6 --estimator mre --set mre_iterations=3 -o OUT
train-hmm -q --tagged S/en.tagged --latent 2 --members 2 --iterations 3 -o OUT
train-classes -q S/de-en.de -n 12 --restarts 3 --iterations 5
contrastive-align -q -m M/align -i few --sentences 40 --passes 1 --save-weights OUT
mre-align -q -s S/de-en.de -t S/de-en.en --set mre_iterations=3 --save-model OUT
extract-grammar -q -s S/de-en.de -t S/de-en.en -a links
""".strip().split("\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the rows read besides; weights by which the link that seems best is not always in the best alignment."""
    folder = tmp_path_factory.mktemp("effects")
    weights = {"posterior": 0.2, "swap-neighbours": 2.0, "one-to-one": 1.0}
    few = {"format": "aligntools contrastive weights", "version": 1, "features": list(weights), "weights": weights}
    texts = {"grammar": GRAMMAR, "lm": LM, "e": "doge1 runse2\ncate1 sleepse2\n", "few.json": json.dumps(few)}
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "text").write_bytes(TEXT)
    (folder / "few").write_bytes(b"".join((SAMPLES / "de-en.txt").read_bytes().splitlines(True)[:60]))
    (folder / "links").write_bytes((models.folder("align") / "align").read_bytes())
    write_weights(folder / "w.json")
    return folder


def written(line, folder, out):
    """Return what a command writes; of a model and of weights what was learned alone, not the options beside it."""
    done = ran(*(str(out) if word == "OUT" else path_of(word) for word in line.split()), cwd=folder)
    assert done.stderr == b""
    if "OUT" not in line:
        return done.stdout
    if "contrastive" not in line:
        data = out.read_bytes()
        return data[8 + int.from_bytes(data[:8], "little") :] if is_model(out) else data
    return json.dumps(json.loads(out.read_text())["weights"]).encode() + done.stdout * ("--threads" in line)


@pytest.mark.parametrize("row", EFFECTS, ids=lambda row: row.partition(":")[0])
def test_every_option_changes_what_is_written(row, folder, tmp_path):
    line, _, options = row.partition(": ")
    found = {more: written(f"{line} {more}", folder, tmp_path / "out") for more in ("", *options.split("; "))}
    assert [more for more, data in found.items() if list(found.values()).count(data) > 1] == []


@pytest.mark.parametrize("line", THREADS)
def test_the_number_of_threads_changes_nothing(line, folder, tmp_path):
    one, three = (written(f"{line} --threads {n}", folder, tmp_path / "out") for n in (1, 3))
    assert one == three
    assert one
