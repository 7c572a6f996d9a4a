"""Runs once, on a few sentences, what language models, grammars, decoding and tuning compile."""

from pathlib import Path

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.formats.opening import files
from aligntools.formats.text.bitext import read_bitext
from aligntools.formats.translation import kernels_rules
from aligntools.formats.translation.arpa import write_arpa
from aligntools.formats.translation.grammar import GrammarRules
from aligntools.formats.translation.grammar_files import read_grammar
from aligntools.formats.translation.grammar_text import write_text
from aligntools.formats.translation.plf import EPSILON, Arc, WordLattice
from aligntools.ground.parallel import Pool
from aligntools.metrics import bleu
from aligntools.store import sorting
from aligntools.store.disk_arrays import ArrayStore
from aligntools.translating.decoding.decoder import System
from aligntools.translating.decoding.prepared import feature_names
from aligntools.translating.grammar import extraction, kernels_grammar, trie
from aligntools.translating.lattices import PREFIX, lattice_lines
from aligntools.translating.lm import kernels_lm, language_model
from aligntools.translating.lm.counting import Sorter, count
from aligntools.translating.lm.kneser_ney import estimate
from aligntools.translating.lm.language_model import NgramModel
from aligntools.translating.settings import ExtractionSettings, FeatureSet, TuningSettings
from aligntools.translating.text import Lines
from aligntools.translating.tuning import tuning
from aligntools.translating.tuning.imputation import impute
from aligntools.translating.tuning.imputed_lattices import automata
from aligntools.translating.tuning.tuning_sets import tuning_set
from aligntools.translating.tuning.weights import default_weights
from aligntools.words.vocabulary import Vocabulary

_SOURCE = ("x y z", "y z", "u x", "z y x u")
_TARGET = ("a b c", "b c", "d a", "c b a d")


def warm(folder: Path, pool: Pool) -> None:
    """Compile what ``train-lm``, ``extract-grammar``, ``translate`` and ``imputed-risk`` use.

    folder: For small files.
    """
    sides = [folder / "source", folder / "target"]
    for path, lines in zip(sides, (_SOURCE, _TARGET), strict=True):
        with files.writing(str(path)) as out:
            out.write("".join(line + "\n" for line in lines * 20).encode())
    source, target = map(str, sides)
    model = _language_model(target, str(folder / "lm"), pool)
    grammar = _grammar(source, target, str(folder / "grammar"))
    _what_large_texts_use(grammar)
    system = System(grammar, model, default_weights(feature_names(grammar)))
    text = read_bitext(source, target)
    source_text = Lines.of(text.source, text.source_vocabulary)
    target_text = Lines.of(text.target, text.target_vocabulary)
    system.translate(system.encode(source_text.words, source_text.offsets), pool)
    arcs = tuple((Arc(word, (0.5,)), Arc(EPSILON, (0.5,))) for word in _SOURCE[0].split())
    lattices = system.for_arcs({f"{PREFIX}1": 1.0})
    lattices.forest(lattices.encode_text(lattice_lines([WordLattice(arcs)], 1)), pool)
    part = tuning_set(system, source_text, [target_text], pool=pool)
    for how in (
        {"loss": "corpus"},
        {"loss": "sentence"},
        {"loss": "linear"},
        {"forest": True, "temperature": 0.1},
        {"forest": True, "loss": "linear"},
        {"method": "mert"},
        {"method": "likelihood"},
        {"method": "mira"},
        {"method": "mira", "loss": "sentence"},
        {"method": "perceptron"},
        {"method": "likelihood", "forest": True, "oracle": True},
    ):
        settings = TuningSettings(rounds=1, n_best=5, iterations=2, restarts=1, **how)
        tuning.tune([part], system.weights, settings, pool=pool)
    automata(system.with_settings(full_states=True).forest(system.encode_text(source_text), pool), system.weights)
    forest = part.decode(np.asarray(system.weights))
    for taken in ("kbest", "samples"):
        impute(forest, system.weights, taken, 2, 1.0, 1, pool)
    target_side = text.target.tokens, text.target.offsets
    bleu.statistics(*target_side, [target_side])


def _language_model(text: str, path: str, pool: Pool) -> NgramModel:
    store = ArrayStore(1 << 20)
    counts = count([text], 3, store)
    estimated = estimate(counts, store, pool, (0,))
    write_arpa(path, estimated.vocabulary, estimated.counts, estimated.blocks())
    model = language_model.load(path)
    for _ in language_model.score_text(model, text, pool):
        pass
    return model


def _grammar(source: str, target: str, path: str) -> GrammarRules:
    text = read_bitext(source, target, lowercase=False)
    words = text.source_vocabulary
    assert isinstance(words, Vocabulary)
    lengths = text.source.lengths()
    places = np.concatenate([np.arange(n, dtype=np.int32) for n in lengths])
    links = Links(np.stack([places, places], 1), text.source.offsets)
    styles: tuple[tuple[str, FeatureSet], ...] = (("hiero", "cdec"), ("moses", "full"), ("hiero", "full"))
    for style, features in styles:
        settings = ExtractionSettings(features=features)
        rules = extraction.Extraction(text, links, settings, max_memory=1 << 20, threads=1)
        write_text(path, rules.parts(), style)
        grammar = read_grammar(path, only_for=(text.source, words), span=10)
    return grammar


def _what_large_texts_use(grammar: GrammarRules) -> None:
    """Compile what is used where tables grow, and where what is sorted comes in several runs."""
    trie.build_trie(np.arange(3001, dtype=np.int64), np.arange(1, 3001, dtype=np.int32))
    grammar.subset(np.arange(len(grammar))[::-1]).canonical()
    keys = np.array([3, 0, 3, 0, 0, 0], np.int32)
    run = sorting.sorted_run(keys, np.zeros(1, np.int64), np.ones((1, 2), np.int64), 5)
    sorting.merged([run, run], np.zeros(2, np.int64), np.ones(2, np.int64))
    sorter = Sorter(ArrayStore(1 << 20), 2, range(2))
    for _ in range(2):
        sorter.add(np.ones((4, 4), np.uint32))
    sorter.finish()
    small, large = (np.zeros(size, np.uint64) for size in (4, 8))
    kernels_rules.move_keys(small, large)
    kernels_grammar.move_targets(small, np.zeros((4, 2), np.int64), large, np.zeros((8, 2), np.int64))
    kernels_lm.regrow(small, np.zeros((4, 2), np.float32), large, np.zeros((8, 2), np.float32))
