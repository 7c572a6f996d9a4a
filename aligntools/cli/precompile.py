"""Calls every compiled function once on a few words, so that it is compiled and kept: what ``warmup`` does."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from aligntools.aligning.applying.applier import Applier, decide
from aligntools.aligning.applying.costs import link_costs
from aligntools.aligning.applying.kernels_decoding import JOINT, MEAN
from aligntools.aligning.contrastive import distillation, tasks
from aligntools.aligning.contrastive.candidates import CandidateFinder
from aligntools.aligning.contrastive.learning import WeightLearning
from aligntools.aligning.contrastive.settings import TeachingSettings
from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.models import registry
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.settings import AlignerSettings, Decisions, ReconstructionSettings, ResolvedSettings
from aligntools.aligning.training import stages
from aligntools.aligning.training.reconstruction import reconstruct
from aligntools.aligning.training.train_model import train_subwords
from aligntools.clustering.exchange import ClassSettings, cluster, count_text
from aligntools.constituents.inducing.training import train as induce_grammar
from aligntools.constituents.learning import train as train_grammar
from aligntools.constituents.settings import (
    DECODE,
    GrammarDecisions,
    GrammarSettings,
    InducedGrammarSettings,
    TreeLists,
)
from aligntools.encoding import encoder, kernels_layers
from aligntools.encoding.weights import Dense, EncoderWeights, Layer, Normalization, dense_of
from aligntools.formats.annotation.brackets import parse_trees
from aligntools.formats.inputs.sentences import tokens_of_side
from aligntools.formats.links import pharaoh
from aligntools.formats.links.given_links import GivenLinks
from aligntools.formats.links.goldlinks import Gold
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.opening import files
from aligntools.formats.text import corpus
from aligntools.formats.text.bitext import read_bitext
from aligntools.formats.translation import kernels_rules
from aligntools.formats.translation.arpa import write_arpa
from aligntools.formats.translation.grammar import GrammarRules
from aligntools.formats.translation.grammar_text import read_grammar, write_text
from aligntools.formats.translation.plf import EPSILON, Arc, WordLattice
from aligntools.ground.parallel import Pool
from aligntools.links import symmetrize
from aligntools.metrics import bleu
from aligntools.parsing import valence
from aligntools.parsing.learning import treebank
from aligntools.parsing.settings import ParserSettings, TransferSettings, TreeConstraints
from aligntools.parsing.text import TaggedText
from aligntools.parsing.transfer import learning
from aligntools.parsing.trees import inference
from aligntools.parsing.valence import expected_counts
from aligntools.sentences.alignment import align as align_sentences
from aligntools.sentences.model import kinds_of
from aligntools.sentences.text import text_of
from aligntools.sentences.vectors import unit_from_mean
from aligntools.store import sorting
from aligntools.store.sorting import ArrayStore
from aligntools.tagging.chain import Chain, ChainText
from aligntools.tagging.induction import from_chain
from aligntools.tagging.induction import induce as induce_chain
from aligntools.tagging.induction import reconstruct as reconstruct_chain
from aligntools.tagging.settings import DECODERS, InductionSettings, TaggerSettings
from aligntools.tagging.supervised.training import train_supervised
from aligntools.tagging.tag_sequences import Sequences
from aligntools.translating.decoding.decoder import System
from aligntools.translating.decoding.system_tables import build_trie, feature_names
from aligntools.translating.grammar import extraction, kernels_grammar
from aligntools.translating.lattices import PREFIX, lattice_lines
from aligntools.translating.lm import kernels_lm, language_model
from aligntools.translating.lm.kneser_ney import Sorter, count, estimate
from aligntools.translating.lm.language_model import NgramModel
from aligntools.translating.settings import ExtractionSettings, FeatureSet, TuningSettings
from aligntools.translating.translation_weights import default_weights
from aligntools.translating.tuning import tuning
from aligntools.translating.tuning.imputed_lattices import automata, impute
from aligntools.translating.tuning.learning import tuning_set
from aligntools.words.vocabulary import Vocabulary


def aligning(folder: Path, pool: Pool) -> None:
    """Compile what aligning uses, on enough text to pass the sizes below which uncompiled code serves."""
    lines = 4000
    text = folder / "text"
    text.write_text(
        "ein haus und noch ein haus 12 ||| one house and another house 12\n" * lines + "a b ||| b a\n" * lines * 6
    )
    read = read_bitext(joint=str(text))
    head = corpus.Bitext(
        corpus.Side(read.source.tokens[:700], read.source.offsets[:101]),
        corpus.Side(read.target.tokens[:600], read.target.offsets[:101]),
        read.source_vocabulary,
        read.target_vocabulary,
        corpus.Skipped(),
    )
    sizes = (len(head.source_vocabulary), len(head.target_vocabulary))
    for kind in registry.kinds():
        for form in kind.forms:
            settings = AlignerSettings(kind.name, views=(0,), **form).resolved(1000)
            models = stages.train(head, settings, pool, 1_000_000)
            list(Applier(models, settings, sizes).posteriors(head, pool))
    settings = AlignerSettings(views=(0,)).resolved(1000)
    models = stages.train(head, settings, pool, 1_000_000)
    _contrastive(head, settings, models, pool)
    reconstruct(head, list(models), settings, pool, 1_000_000, ReconstructionSettings(2, mre_smoothing=1.0))
    pieces = train_subwords(head, replace(settings, subwords=9), pool, 1_000_000)
    applier = Applier(models, settings, sizes, subwords=pieces)
    list(applier.posteriors(head, pool, viterbi=True))
    for posteriors in applier.posteriors(read, pool):
        for way in (MEAN, JOINT):
            pairs, offsets, p = decide(posteriors, way, 0.4, pool)
    believed = GivenLinks.of(Links.from_lists([[(0, 0)]] * len(head)))
    list(applier.posteriors(head, pool, believed=[believed]))
    links = Links(pairs, offsets)
    data = pharaoh.format_pharaoh(links, "target", None, compiled=True)
    pharaoh.format_pharaoh(links, "source", p, compiled=True)
    links = pharaoh.parse_pharaoh(data, compiled=True)
    link_costs(head, Links.from_lists([[]] * len(head)), None, pool)
    for flavor in ("atools", "symal"):
        symmetrize.symmetrize(links, links, "grow-diag-final-and", flavor, compiled=True)


def _contrastive(bitext: corpus.Bitext, settings: ResolvedSettings, members: list[LexicalModel], pool: Pool) -> None:
    """Compile what learning weights, aligning by them and teaching use, by a base model of a small text."""
    source, target = bitext.source_vocabulary, bitext.target_vocabulary
    assert isinstance(source, Vocabulary)
    assert isinstance(target, Vocabulary)
    model = AlignmentModel(settings, source, target, members)
    plan = tasks.learning_plan("all", sentences=10, learning=WeightLearning(passes=1))
    finder = CandidateFinder(model, pool, plan.network)
    weights = tasks.learn_weights(finder, [bitext], plan)
    links = Links.from_lists([[(0, 0)] for _ in range(len(bitext))])
    tasks.learn_from_gold(finder, bitext, Gold(links, links, "pharaoh", 0), plan, folds=0)
    for constraint in ("none", "block-itg"):
        chosen = replace(weights, search=replace(weights.search, constraint=constraint))
        list(tasks.align(finder, bitext, chosen, pool, decisions=Decisions(phrases=True)))
    short = TeachingSettings(students=(50,), lessons=10, networks=1, passes=1)
    distillation.learn_start([distillation.lessons_of(bitext, model, short, pool)], short, pool)


_SOURCE = ("x y z", "y z", "u x", "z y x u")
_TARGET = ("a b c", "b c", "d a", "c b a d")


def translating(folder: Path, pool: Pool) -> None:
    """Compile what ``train-lm``, ``extract-grammar``, ``translate`` and ``imputed-risk`` use."""
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
    source_text = tokens_of_side(text.source, text.source_vocabulary)
    target_text = tokens_of_side(text.target, text.target_vocabulary)
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
    list(language_model.score_text(model, text, pool))
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
    """Compile the functions for tables that grow and for sorting in several runs."""
    build_trie(np.arange(3001, dtype=np.int64), np.arange(1, 3001, dtype=np.int32))
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
    kernels_grammar.enter_rows(small[:0], np.zeros((0, 2), np.int64), large, np.zeros((8, 2), np.int64))
    kernels_lm.regrow(small, np.zeros((4, 2), np.float32), large, np.zeros((8, 2), np.float32))


def parsing(folder: Path, pool: Pool) -> None:
    """Compile what training parsers, transferring them and parsing use."""
    words, tags = b"a dog barks . the dogs bark .".split(), b"D N V P D N V P".split()
    offsets = np.array([0, 4, 8], np.int64)
    heads = np.array([2, 3, 0, 3, 2, 3, 0, 3], np.int32)
    odd = np.array([0, 0, 1, 2, 3, 4, 0, 3], np.int32)  # two roots; crossing edges
    text, links = TaggedText(words, tags, offsets), Links.from_lists([[(k, k) for k in range(4)]] * 2)
    induced, _ = valence.train(tags, offsets, pool=pool)
    induced.parse(induced.sentences(words, [*tags[:-1], b"."], offsets), pool)  # punctuation is attached apart
    ids = np.zeros(300, np.int32)
    expected_counts(induced.parameters, ids, np.array([0, 300], np.int64), pool)  # the sums in log space
    for projective in (True, False):
        settings = ParserSettings(bits=8, min_count=1, projective=projective, iterations=2)
        treebank.train(words, tags, offsets, odd, [b"x"] * 8, settings, pool)
        parser, _ = treebank.train(words, tags, offsets, heads, [b"x"] * 8, settings, pool)
        sentences = parser.sentences(words, tags, offsets)
        found, *_ = parser.parse(sentences, pool)
        assert parser.labeler is not None
        parser.labeler.label(sentences, found)
        for method in ("full", "projected"):
            chosen = TransferSettings(
                bits=8, min_count=1, projective=projective, method=method, iterations=2, rounds=1, l2=1.0
            )
            learning.train([learning.TransferSource(parser, text, text, links)], text, chosen, pool)
        scores = np.linspace(-1e4, 1e4, int(sentences.edges[-1]))  # far apart: the sums in log space
        scores[:20], scores[[2, 6]] = -1e3, 0.0  # two words that want each other as head
        trees = TreeConstraints(projective)
        inference.sums(scores, offsets, trees, pool)
        inference.entropy(scores, offsets, trees, pool)


def tagging(folder: Path, pool: Pool) -> None:
    """Compile what training a tagger, inducing one and tagging use."""
    words, tags = b"a dog barks . the dogs bark .".split(), b"D N V P D N V P".split()
    offsets = np.array([0, 4, 8], np.int64)
    tokens = np.array([0, 1, 2, 3, 0, 1, 2, 3], np.int32)
    text = ChainText(tokens, offsets, 4)
    chain = induce_chain(tokens, offsets, 4, pool, InductionSettings(2, iterations=1)).model
    reconstruct_chain(chain, text, pool, 1)
    even = Chain(np.full(2, 0.5), np.full((2, 2), 0.4), np.full(2, 0.2), np.full((2, 2), 0.5))
    for tagger in (
        train_supervised(words, offsets, tags, pool, TaggerSettings(latent=2, members=2, iterations=1)),
        from_chain(even, words[:2], np.ones((2, 2))),
    ):
        for decoder in DECODERS:
            tagger.tag(words, offsets, pool, decoder)
        own = Sequences(tagger, words, offsets, pool)
        own.log_probabilities()
        own.best(2)
        own.samples(1, 1)


_TREES = (
    "(S (NP (D a) (N dog)) (VP (V barks)) (P .))",
    "(S (NP (N cats)) (VP (V see) (NP (D the) (N dog))) (P .))",
)


def constituents(folder: Path, pool: Pool) -> None:
    """Compile what training grammars and parsing with them use."""
    trees = [tree for _, tree in parse_trees(_TREES, "warming")]
    for estimator in ("em", "vb"):
        found = induce_grammar(
            [["D", "N", "V", "N", "P"]], InducedGrammarSettings(symbols=2, iterations=1, estimator=estimator), pool
        )
        assert found is not None
        found[0].parse([list("abc")], [["D", "N", "V"]], pool=pool)
    for latent in (0, 1):
        model = train_grammar(trees, GrammarSettings(latent=latent, iterations=1), pool)
        for lists in (TreeLists(n_best=2), TreeLists(samples=1)):
            model.listed([tree.words() for tree in trees], lists, pool=pool)
        for decode in DECODE:
            model.parse([tree.words() for tree in trees], None, GrammarDecisions(decode=decode), pool)  # type: ignore[arg-type]


_WIDTH, _PIECES, _HEADS = 32, 8, 2


def encoding(folder: Path, pool: Pool) -> None:
    """Compile what states of words need; no encoder has to be installed."""
    rng = np.random.default_rng(1)

    def numbers(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, np.float32)

    def dense(inputs: int, outputs: int) -> Dense:
        return dense_of(numbers(inputs, outputs), numbers(outputs))

    def normalization() -> Normalization:
        return numbers(_WIDTH), numbers(_WIDTH)

    layer = Layer(
        dense(_WIDTH, 3 * _WIDTH),
        dense(_WIDTH, _WIDTH),
        normalization(),
        dense(_WIDTH, 2 * _WIDTH),
        dense(2 * _WIDTH, _WIDTH),
        normalization(),
    )
    embeddings = numbers(_PIECES, _WIDTH)
    weights = EncoderWeights(
        _HEADS, 1e-5, lambda pieces: embeddings[pieces], numbers(_PIECES, _WIDTH), normalization(), [layer]
    )
    pieces = np.arange(_PIECES, dtype=np.int32)
    (states,) = encoder.run(weights, [pieces], (1,), pool)
    kernels_layers.means(states[0], pieces, pieces, np.zeros((_PIECES, _WIDTH), np.float32))


def clustering(folder: Path, pool: Pool) -> None:
    """Compile what clustering words uses."""
    words, offsets = np.array([1, 2, 1, 3], np.int32), np.array([0, 2, 4], np.int64)
    cluster(count_text(words, offsets, 4), ClassSettings(number=2), pool)


def sentences(folder: Path, pool: Pool) -> None:
    """Compile what aligning sentences uses, with vectors and without."""
    texts = [text_of([f"{word} {n} ." for n in range(12)]) for word in ("a", "b")]
    rng = np.random.default_rng(1)
    vectors = [
        (
            unit_from_mean(rng.standard_normal((12, _WIDTH), np.float32)),
            rng.standard_normal((len(text.words), _WIDTH), np.float32),
        )
        for text in texts
    ]
    for encoded in (None, vectors, [vectors[0], vectors[0]]):
        align_sentences(texts[0], texts[1], kinds=kinds_of(2, 2, 4), encoded=encoded, pool=pool)


def warm(part: str) -> None:
    """Compile all that one of the functions above uses."""
    with tempfile.TemporaryDirectory() as folder, Pool(1) as pool:
        globals()[part](Path(folder), pool)
