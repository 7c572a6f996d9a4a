"""Small model files of every kind, which the tests keep of each released version, what they give, and its interface.

With a release, ``python -m tests.keeping`` writes them to ``tests/data/models/VERSION``. They stay as they are: what a
released version wrote, every later one has to read, and what its users called, every later one has to take.
"""

import json
import sys
from itertools import islice
from pathlib import Path

import aligntools as at
from aligntools.cli.main import COMMANDS, cli
from tests.places import ROOT, SAMPLES

#: One folder for each version.
KEPT = ROOT / "tests" / "data" / "models"
#: Models of alignment, by how they are trained.
ALIGNERS = {
    "align.fertility": {"views": (0, 4)},
    "align.hmm": {"model_type": "hmm", "views": (0,)},
    "align.hmm-forward": {"model_type": "hmm", "views": (0,), "direction": "forward"},
    "align.ibm1": {"model_type": "ibm1"},
    "align.ibm2": {"model_type": "ibm2", "estimator": "em"},
    "align.ibm2-table": {"model_type": "ibm2", "positions": "table"},
    "align.best": {"best": True, "encoder": False},
}
#: Grammars of constituents that are learned without trees, by how.
INDUCED = {
    "constituents.induced": {"symbols": 3, "iterations": 3},
    "constituents.neural": {"estimator": "neural", "symbols": 3, "preterminals": 4, "width": 8, "epochs": 1},
}


def lines(name: str, count: int) -> list[str]:
    """Return the first lines of a sample."""
    with (SAMPLES / name).open(encoding="utf-8") as file:
        return [line.strip() for line in islice(file, count)]


def treebank(path: Path, count: int) -> Path:
    """Write the first trees of the sample."""
    trees = (SAMPLES / "en.conllu").read_text(encoding="utf-8").split("\n\n")[:count]
    path.write_text("\n\n".join(trees) + "\n\n", encoding="utf-8")
    return path


def make(folder: Path) -> None:
    """Write a model file of every kind; the figures that they give are written too."""
    german, english = lines("de-en.de", 8), lines("de-en.en", 8)
    for name, how in ALIGNERS.items():
        at.train_aligner(german, english, **how).save(folder / name)
    old = at.load(folder / "align.fertility")
    at.train_aligner(lines("de-en.de", 12)[8:], lines("de-en.en", 12)[8:], adapt=old).save(folder / "align.adapted")
    aligner = at.train_mre_aligner(german, english, model_type="hmm")
    aligner.save(folder / "align.mre")
    at.train_tagger(lines("en.tagged", 6), latent=2, members=2, iterations=3).save(folder / "tag.hmm")
    at.induce_tags(lines("en.txt", 8), states=3, iterations=3).save(folder / "tag.induced")
    trees = treebank(folder / "trees.conllu", 3)
    at.train_parser(trees, features="delexicalized", bits=5, iterations=5).save(folder / "parse.labels")
    at.train_parser(trees, features="delexicalized", bits=5, iterations=5, labels=False, projective=False,
                    single_root=False).save(folder / "parse.nonprojective")  # fmt: skip
    at.induce_parser(trees, iterations=3).save(folder / "parse.induced")
    trees.unlink()
    at.train_grammar(SAMPLES / "en.mrg", latent=1).save(folder / "constituents.trees")
    tagged = [[tuple(item.rsplit("_", 1)) for item in line.split()] for line in lines("en.tagged", 6)]
    for name, how in INDUCED.items():
        at.induce_grammar(tagged, **how).save(folder / name)
    grammar = at.extract_grammar(german, english, aligner.align_batch(german, english), max_span=4, max_symbols=3)
    grammar.save(folder / "grammar", "binary")
    model = at.train_lm(english, order=3)
    model.save(folder / "lm")
    translator = at.Translator(grammar, model)
    at.TranslationWeights({name: 0.5 for name in translator.features}, {}).save(folder / "translate.weights")
    text = {"passes": 1, "sentences": 4, "seed": 1, "encoder": False}
    at.train_contrastive_aligner(german, english, **text).save_weights(folder / "contrastive.weights")


def figures(folder: Path) -> dict:
    """Return what the model files of a folder give, for comparison: text as it is, numbers to a few digits."""
    german, english, found = lines("de-en.de", 4), lines("de-en.en", 4), {}
    pairs = list(zip(german, english, strict=True))
    for path in sorted(folder.glob("align.*")):
        aligner = at.load(path)
        how = {"symmetrize": "mean"} if aligner.settings.direction == "both" else {}  # the default of 0.3 and before
        found[path.name] = [str(aligner.align(*pair, **how)) for pair in pairs]
    base = at.load(folder / "align.fertility")
    try:
        contrastive = at.ContrastiveAligner.load(folder / "contrastive.weights", base)
        found["contrastive.weights"] = [str(contrastive.align(*pair)) for pair in pairs]
    except at.DataError as error:
        found["contrastive.weights"] = str(error)
    for path in sorted(folder.glob("tag.*")):
        found[path.name] = [str(at.load(path).tag(line)) for line in [*english, "unseen words everywhere"]]
    tagged = [[tuple(item.rsplit("_", 1)) for item in line.split()] for line in lines("en.tagged", 3)]
    for path in sorted(folder.glob("constituents.*")):
        found[path.name] = [str(at.load(path).parse([w for w, _ in s], [t for _, t in s])) for s in tagged]
    for path in sorted(folder.glob("parse.*")):
        parses = [at.load(path).parse([w for w, _ in s], [t for _, t in s]) for s in tagged]
        found[path.name] = [[list(map(int, parse.heads)), list(parse.labels or ())] for parse in parses]
    grammar, model = at.load(folder / "grammar"), at.load(folder / "lm")
    found["grammar"] = [len(grammar), [str(grammar[number]) for number in range(0, len(grammar), 40)]]
    found["lm"] = [round(model.score(line), 3) for line in [*english, "unseen words everywhere"]]
    translator = at.Translator(grammar, model, folder / "translate.weights")
    found["translate.weights"] = [str(translator.translate(line)) for line in german]
    return found


def interface() -> dict:
    """Return the names that users call: of commands, their options and what these choose from, and of Python."""
    commands = {name: cli.get_command(None, name) for name in COMMANDS}
    options = {
        name: {
            o: getattr(p.type, "choices", None)
            for p in command.params
            for o in (*p.opts, *p.secondary_opts)
            if "-" in o
        }
        for name, command in commands.items()
    }
    return {"commands": options, "python": sorted(at.__all__)}


if __name__ == "__main__":
    here = Path(sys.argv[1]) if sys.argv[1:] else KEPT / at.__version__
    here.mkdir(parents=True)
    make(here)
    (here / "figures.json").write_text(json.dumps(figures(here), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (here / "interface.json").write_text(json.dumps(interface(), indent=1) + "\n", encoding="utf-8")
