"""What tagging, parsing and alignment errors cost a transferred tree: PUD has gold trees on both sides."""

from pathlib import Path

import numpy as np

from bench import code, measuring, report, transfer_texts

#: Target languages, and the text that is aligned together with PUD's.
LANGUAGES = {"de": "en-de/train", "es": "en-es/train", "fr": "en-fr/general", "sv": "en-sv/train"}
#: Pairs of that text.
MORE = 60_000
SOURCE = ("--l2", 5, "--iterations", 150, "--tolerance", 1e-4)


def arguments(parser):
    parser.add_argument("--treebanks", required=True, type=Path, metavar="DIR", help="folder of ud/")
    parser.add_argument("--languages", default=",".join(LANGUAGES), metavar="A,B", help="[%(default)s]")


def run(o):
    from aligntools.ground.parallel import Pool
    from aligntools.parsing.parser import ParserModel

    folder = code.place(o.work, "transfer_pud", run)
    english = _plain(o, "en_pud", folder / "en.conllu")
    tagger, parser = folder / "en.tagger", folder / "en.parser"
    if not parser.exists():
        bank = folder / "ewt.conllu"
        sentences = _plain(o, "en_ewt-train", bank)
        transfer_texts.tagged(folder / "ewt.tagged", [list(zip(*s[:2], strict=True)) for s in sentences])
        _run(o, "train-hmm", "-q", *transfer_texts.TAGGER, "--tagged", folder / "ewt.tagged", "-o", tagger)
        _run(o, "train-parser", "-q", "--no-labels", *SOURCE, "--treebank", bank, "-o", parser)
    _run(o, "tag", "-m", tagger, folder / "en.conllu", "--column", 4, "-o", folder / "en.auto")
    auto = _tags(folder / "en.auto")
    rows, names = [], None
    with Pool(o.threads) as pool:
        model = ParserModel.load(parser)
        for language in o.languages.split(","):
            target = _plain(o, f"{language}_pud", folder / f"{language}.conllu")
            tagged = _in_folds(o, folder, target)
            few, many = (_align(o, folder, language, english, target, n) for n in (0, MORE))
            found = _conditions(model, pool, english, auto, target, tagged, few, many)
            names = list(found)
            rows.append([language, *(f"{100 * x:.1f}" for x in found.values())])
            measuring.note(f"{language}: " + ", ".join(f"{k} {100 * v:.1f}" for k, v in found.items()))
    means = [f"{np.mean([float(row[k]) for row in rows]):.1f}" for k in range(1, len(names) + 1)]
    body = [
        "UD's PUD: the same 1,000 sentences with gold trees in every language; everything is scored on the last 500."
        " UAS in percent, punctuation counted, of the trees of the largest expected score under the transferring"
        " distribution, on the target side itself. The source parser learned from EWT. The columns: the share of the"
        " target words that are aligned one to one; how many gold English edges with both ends aligned are gold target"
        " edges (no parser in it); UAS with gold English trees and gold tags, and of the aligned words; with links"
        f" of PUD's text alone instead of with up to {MORE:,} more pairs; with parsed English and gold tags; with"
        " predicted English tags; with predicted tags on both sides (the target's by a tagger that learned from the"
        " other three quarters of PUD). Then the source parser without its words, with no links at all, by gold and"
        " predicted tags; and a parser that learned from the transferred trees of the first 500 sentences, all"
        " predicted.",
        report.table(["language", *names], [*rows, ["mean", *means]]),
        "There are no gold links for PUD, so wrong links and true differences between trees cannot be told apart"
        " here: both contribute to the difference between the second column and 100.",
        report.circumstances(o.threads),
    ]
    return "What errors of tags, trees and links cost transferred trees", "\n\n".join(body)


def _run(o, *args):
    measuring.run(measuring.aligntools(*args, "--threads", o.threads))


def _plain(o, name, out):
    """Write a treebank's words, tags and heads alone; return the sentences (words, tags, heads)."""
    sentences, lines = [], []
    for line in [*transfer_texts.lines_of(o.treebanks / "ud" / f"{name}.conllu"), ""]:
        row = line.split("\t")
        if len(row) == 10 and row[0].isdigit():
            lines.append((row[1].replace(" ", "\u00a0"), row[3], int(row[6])))
        elif lines and not line:
            sentences.append(tuple(map(list, zip(*lines, strict=True))))
            lines = []
    _write(out, sentences)
    return sentences


def _write(out, sentences):
    with open(out, "w", encoding="utf-8") as file:
        for sentence in sentences:
            for k, (word, tag, head) in enumerate(zip(*sentence, strict=True), 1):
                file.write(f"{k}\t{word}\t_\t{tag}\t_\t_\t{head}\t_\t_\t_\n")
            file.write("\n")


def _tags(path):
    found = [[]]
    for line in transfer_texts.lines_of(path):
        row = line.split("\t")
        if len(row) == 10:
            found[-1].append(row[3])
        elif found[-1]:
            found.append([])
    return [row for row in found if row]


def _in_folds(o, folder, sentences):
    found, folds = [None] * len(sentences), transfer_texts.FOLDS
    for fold in range(folds):
        others = [list(zip(*s[:2], strict=True)) for k, s in enumerate(sentences) if k % folds != fold]
        transfer_texts.tagged(folder / "fold.tagged", others)
        _run(o, "train-hmm", "-q", *transfer_texts.TAGGER, "--tagged", folder / "fold.tagged", "-o", folder / "fold")
        own = range(fold, len(sentences), folds)
        _write(folder / "fold.conllu", [sentences[k] for k in own])
        _run(o, "tag", "-m", folder / "fold", folder / "fold.conllu", "--column", 4, "-o", folder / "fold.auto")
        for k, tags in zip(own, _tags(folder / "fold.auto"), strict=True):
            found[k] = tags
    return found


def _align(o, folder, language, english, target, more):
    """Return one-to-one links of PUD, aligned together with more text."""
    from aligntools.formats.links.pharaoh import read_pharaoh
    from aligntools.parsing.transfer.projection import one_to_one

    texts = [[" ".join(w.lower() for w in s[0]) for s in side] for side in (english, target)]
    if more:
        sides = (transfer_texts.lines_of(o.data / f"{LANGUAGES[language]}.{s}") for s in ("en", language))
        taken = [p for p in zip(*sides, strict=True) if all(0 < len(x.split()) <= 60 for x in p)][:more]
        texts = [text + [p[k].lower() for p in taken] for k, text in enumerate(texts)]
    files = [folder / f"{language}.{k}" for k in range(2)]
    for file, text in zip(files, texts, strict=True):
        file.write_text("".join(f"{line}\n" for line in text), encoding="utf-8")
    links = folder / f"{language}.{more}.links"
    _run(o, "align", "-q", *transfer_texts.ALIGNER, "-s", files[0], "-t", files[1], "-o", links)
    found = read_pharaoh(str(links))[: len(target)]
    return one_to_one(found.pairs, found.offsets, _offsets(target))


def _offsets(sentences):
    return np.concatenate([[0], np.cumsum([len(s[0]) for s in sentences])]).astype(np.int64)


def _conditions(parser, pool, english, auto, target, tagged, few, many):
    from aligntools.parsing.features.space import TAGS
    from aligntools.parsing.text import TaggedText
    from aligntools.parsing.transfer import kernels_transfer as kernels
    from aligntools.parsing.transfer import projection
    from aligntools.parsing.trees import inference

    x, y = _offsets(english), _offsets(target)
    words = [[w.encode() for s in side for w in s[0]] for side in (english, target)]
    gold = [[t.encode() for s in side for t in s[1]] for side in (english, target)]
    predicted = [[t.encode() for s in side for t in s] for side in (auto, tagged)]
    given, heads = (np.array([h for s in side for h in s[2]], np.int32) for side in (english, target))

    def expected(aligned, source_tags, target_tags, trees=None):
        source = parser.sentences(words[0], source_tags, x)
        sentences = parser.sentences(words[1], target_tags, y)
        if trees is None:
            return projection.expected_edges(parser, source, sentences, aligned, parser.trees, pool, "posterior")
        theirs = np.full(int(source.edges[-1]), np.log(projection.LEAST))
        s = np.repeat(np.arange(len(source)), source.lengths)
        theirs[source.edges[s] + (np.arange(len(s)) - x[s]) * (source.lengths[s] + 1) + trees] = 0
        own = inference.sums(parser.scores(sentences, pool, only=TAGS), y, parser.trees, pool).marginals
        scores = np.log(np.clip(own, projection.LEAST, 1))
        kernels.transfer_edges(
            aligned, y, sentences.lengths, sentences.edges, 0, len(sentences), theirs, source.lengths, source.edges,
            scores,
        )  # fmt: skip
        return inference.sums(scores, y, parser.trees, pool).marginals

    half = len(target) // 2
    unseen = np.arange(len(heads)) >= y[half]

    def right(marginals):
        return inference.best_trees(marginals, y, parser.trees, pool)[0] == heads

    def direct(tags):
        scores = parser.scores(parser.sentences(words[1], tags, y), pool, only=TAGS)
        return right(inference.sums(scores, y, parser.trees, pool).marginals)[unseen]

    best = right(expected(many, gold[0], gold[1], given))
    found = {
        "aligned": np.mean(many[unseen] >= 0),
        "edges agree": _agreement(many, given, heads, x, y, half),
        "gold": np.mean(best[unseen]),
        "of aligned": np.mean(best[unseen & (many >= 0)]),
        "PUD's links": np.mean(right(expected(few, gold[0], gold[1], given))[unseen]),
        "parsed English": np.mean(right(expected(many, gold[0], gold[1]))[unseen]),
        "English tags": np.mean(right(expected(many, predicted[0], gold[1]))[unseen]),
        "both tags": np.mean(right(expected(many, predicted[0], predicted[1]))[unseen]),
        "direct, gold tags": np.mean(direct(gold[1])),
        "direct": np.mean(direct(predicted[1])),
    }
    text = TaggedText(words[1], predicted[1], y)
    keep = np.arange(len(target)) < half
    learned = _learn(text.chosen(keep), expected(many, predicted[0], predicted[1]), parser, pool)
    rest = text.chosen(~keep)
    trees = learned.parse(learned.sentences(rest.words, rest.tags, rest.offsets), pool).heads
    return found | {"learned": np.mean(trees == heads[y[half] :])}


def _agreement(aligned, given, heads, x, y, first):
    """Return the share of gold source edges with both ends aligned that are gold target edges."""
    right = []
    for s in range(first, len(y) - 1):
        own, trees = aligned[y[s] : y[s + 1]], given[x[s] : x[s + 1]]
        places = {0: 0} | {i + 1: j + 1 for j, i in enumerate(own.tolist()) if i >= 0}
        for j, i in enumerate(own.tolist()):
            if i >= 0 and int(trees[i]) in places:
                right.append(places[int(trees[i])] == heads[y[s] + j])
    return np.mean(right)


def _learn(text, expected, parser, pool):
    from aligntools.parsing.features.space import FeatureSpace, templates_of
    from aligntools.parsing.features.vocabularies import Vocabularies
    from aligntools.parsing.learning import training
    from aligntools.parsing.parser import ParserModel
    from aligntools.parsing.settings import TransferSettings

    settings = TransferSettings()
    vocabularies = Vocabularies.of(text.words, text.tags, settings.min_count)
    sentences = vocabularies.sentences(text.words, text.tags, text.offsets)
    space = FeatureSpace.fitted(templates_of(settings.features), sentences, settings.bits, pool=pool)
    loss = training.ExpectedLoss(sentences, expected[: sentences.edges[-1]], parser.trees)
    fit = training.minimize(training.Objective(space, [loss], settings.l2, pool), None, 100, settings.tolerance)
    return ParserModel(vocabularies, space, fit.weights, parser.trees, {})
