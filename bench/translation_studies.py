"""The studies of Li et al. 2011: supervised and imputed text by size, the reverse language model, k, round trips."""

import gzip
import json
import time
from pathlib import Path

import numpy as np

from bench import measuring, report
from bench.translation import Systems

#: Sentences that weights are learned from, all of imputed text beside them, tables 4 and 5.
SIZES, IMPUTED, ALONE, KS, K_SIZE = (20, 50, 100, 200, 1014), 300, (50, 100, 200, 500), (1, 2, 3, 4, 5), 100
#: Chosen on parts of dev that nothing was learned from.
TUNING = {"loss": "sentence", "rounds": 6, "patience": 3}
REVERSE = {"method": "risk", "loss": "sentence", "rounds": 4, "patience": 3}
#: What an imputed sentence counts beside a supervised one.
SHARE = 0.1
POPS, BIGRAMS, SPAN, DRAWN = 50, 500, 10, 1000
#: Sentences that the reverse weights are learned from where no text is supervised.
REVERSED = 100


def arguments(parser):
    parser.add_argument("--texts", required=True, type=Path, metavar="DIR", help="folder of train.de.gz, dev.de.gz ...")
    parser.add_argument("--treebanks", required=True, type=Path, metavar="DIR", help="folder of ud/: the tagger's text")
    parser.add_argument("--draws", default="1,2,3", metavar="N,N", help="parts of dev drawn [%(default)s]")
    parser.add_argument("--tables", default="small,4,5", metavar="A,B", help="[%(default)s]")


def run(o):
    study = _Study(o)
    tables = o.tables.split(",")
    body = [
        f"German to English, grammar and language model as above; pop limit {POPS} where weights are learned, 100 on"
        f" test2016; risk of sentence BLEU, at most {TUNING['rounds']} rounds, the best of which on all text is taken."
        f" Draws: {len(study.draws)} different orders of dev, whose first sentences are the supervised part. The"
        " reverse system has the same text behind it, and weights learned from the same supervised part by risk of"
        " sentences, which imputed better weights than likelihood did where it was tried. By the package's"
        " functions, as `imputed-risk` calls them."
    ]
    if "small" in tables:
        body += _small(study)
    if "4" in tables:
        body += _alone(study)
    if "5" in tables:
        body += _by_k(study)
    return "What imputed text gives to translation", "\n\n".join([*body, report.circumstances(o.threads)])


def _small(study):
    rows = []
    for bigrams in (False, True):
        for size in SIZES:
            row = [f"{size:,}, {f'{BIGRAMS} bigrams' if bigrams else 'dense'}"]
            supervised = [study.score(d, size, 0, bigrams) for d in study.draws]
            both = [study.score(d, size, IMPUTED, bigrams) for d in study.draws]
            row += [_several(supervised), _several(both)]
            rows.append([*row, *_change(study, supervised, both)])
    start = study.score(study.draws[0], 0, 0, False)["bleu"]
    head = ["sentences, features", "supervised", f"+ {IMPUTED} imputed", "gain", "95 % of each draw", "p of each draw"]
    return [
        f"BLEU on test2016, mean of the draws (each draw's in brackets); untuned weights, which all runs begin with:"
        f" {start:.2f}.",
        report.table(head, rows),
    ]


def _alone(study):
    rows = []
    for size in ALONE:
        row = [f"{size:,}"]
        for lm in (True, False):
            found = [study.score(d, 0, size, False, lm=lm) for d in study.draws]
            row += [f"{np.mean([f['imputed'] for f in found]):.1f}", _several(found)]
        rows.append(row)
    head = ["sentences", "imputed BLEU, with LM", "test2016", "imputed BLEU, without", "test2016"]
    return ["From target text alone (table 4), with and without the reverse language model:", report.table(head, rows)]


def _by_k(study):
    rows = []
    for how in ("kbest", "samples"):
        for k in KS:
            rows.append([f"{how}, k = {k}", _several([study.score(d, 0, K_SIZE, False, how, k) for d in study.draws])])
    rows.append(["rules", _several([study.score(d, 0, K_SIZE, False, "rules") for d in study.draws])])
    return [f"By what is imputed for {K_SIZE} sentences (table 5):", report.table(["imputation", "test2016"], rows)]


def _several(found):
    each = ", ".join(f"{f['bleu']:.2f}" for f in found)
    return f"{np.mean([f['bleu'] for f in found]):.2f} ({each})"


def _change(study, first, second):
    """Return the mean gain, and each draw's interval and p."""
    gains, intervals, ps = [], [], []
    for a, b in zip(first, second, strict=True):
        gain, low, high, p = study.paired(a, b)
        gains.append(gain)
        intervals.append(f"{low:+.2f} to {high:+.2f}")
        ps.append(f"{p:.3f}")
    return f"{np.mean(gains):+.2f}", "; ".join(intervals), "; ".join(ps)


class _Study:
    """Systems in memory; every run's BLEU and statistics are kept in a folder."""

    def __init__(self, o):
        self.o = o
        self.systems = Systems(o.texts, o.work / "translation", o.threads)
        self.draws = [int(d) for d in o.draws.split(",")]
        self.folder = self.systems.folder / "studies"
        self.folder.mkdir(exist_ok=True)
        self.loaded, self.reversed = {}, {}

    # Texts and systems

    def read(self, path):
        from aligntools.formats.bitext import read_side
        from aligntools.translating.parts import Text

        path = str(path)
        if path not in self.loaded:
            self.loaded[path] = Text.of(*read_side(path, lowercase=False))
        return self.loaded[path]

    def part(self, name, rows):
        """Return some sentences of a text."""
        from aligntools.translating.parts import Text

        text, words = self.read(self.systems.text(name)), []
        for row in rows:
            words += text.words[text.offsets[row] : text.offsets[row + 1]]
        sizes = np.diff(text.offsets)[list(rows)]
        return Text(words, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))

    def order(self, draw):
        """Return the rows of dev in a draw's order."""
        return np.random.default_rng(draw).permutation(len(self.read(self.systems.text("dev.en"))))

    def target(self, draw, supervised, size):
        """Return English sentences to impute sources for: of dev, behind the supervised ones; captions behind dev."""
        rows = self.order(draw)
        if supervised + size <= len(rows):
            return self.part("dev.en", rows[len(rows) - size :])
        total = len(self.read(self.systems.text("mono.en")))
        return self.part("mono.en", np.random.default_rng(draw).permutation(total)[:size])

    def model(self, language):
        from aligntools.translating import lm

        if language not in self.loaded:
            self.loaded[language] = lm.load(str(self.systems.language_model(language)))
        return self.loaded[language]

    def system(self, grammar, model, pops=POPS):
        from aligntools.translating import decoder
        from aligntools.translating.weights import default_weights

        names = decoder.feature_names(grammar)
        return decoder.System(grammar, model, default_weights(names), decoder.Settings(pop_limit=pops, span_limit=SPAN))

    def rules(self, source, target, texts):
        """Return what texts can use of a grammar."""
        from aligntools.translating.grammar import read_grammar
        from aligntools.translating.parts import numbered

        return read_grammar(str(self.systems.grammar(source, target)), only_for=numbered(texts), span=SPAN)

    def tags(self):
        from aligntools.formats.tagged import read_tags
        from aligntools.translating.features import dominant_tags

        if "tags" not in self.loaded:
            tagged = read_tags(str(tagged_text(self.systems, self.o.treebanks)))
            self.loaded["tags"] = dominant_tags(tagged.words, tagged.tags)
        return self.loaded["tags"]

    def bigrams(self):
        """Return the bigrams of most rules that dev can use."""
        from aligntools.translating.features import add_bigrams

        if "bigrams" not in self.loaded:
            rules = self.rules("de", "en", [self.read(self.systems.text("dev.de"))])
            self.loaded["bigrams"] = add_bigrams(rules, self.tags(), most=BIGRAMS).sparse_names
        return self.loaded["bigrams"]

    # Learning

    def reverse(self, draw, size, lm):
        """Return a maker of reverse systems for a text; weights are learned from the first sentences of a draw."""
        from aligntools.translating import parts, tuning

        model = self.model("de") if lm else None
        if (draw, size, lm) not in self.reversed:
            rows = self.order(draw)[:size]
            source, reference = self.part("dev.en", rows), self.part("dev.de", rows)
            system = self.system(self.rules("en", "de", [source]), model)
            found = tuning.tune([parts.part(system, source, [reference])], system.weights, tuning.Settings(**REVERSE))
            self.reversed[draw, size, lm] = found.best
        return lambda text: self.system(self.rules("en", "de", [text]), model).with_weights(
            self.reversed[draw, size, lm]
        )

    def score(self, draw, supervised, imputed, bigrams, how="kbest", k=1, lm=True):
        """Return a run's BLEU on the test text, each sentence's statistics, and BLEU of what was imputed."""
        name = f"{draw}.{supervised}.{imputed}.{'bigrams' if bigrams else 'dense'}.{how}.{k}.{'lm' if lm else 'no-lm'}"
        path = self.folder / f"{name}.json"
        if not path.exists():
            began = time.perf_counter()
            found = self._learn(draw, supervised, imputed, bigrams, how, k, lm)
            path.write_text(json.dumps(found))
            measuring.note(f"{name}: {found['bleu']:.2f}, {time.perf_counter() - began:.0f} s, {found['rounds']}")
        return json.loads(path.read_text())

    def _learn(self, draw, supervised, imputed, bigrams, how, k, lm):
        from aligntools.translating import decoder, imputation, parts, tuning
        from aligntools.translating.features import add_bigrams

        rows, found = self.order(draw)[:supervised], {"imputed": None, "rounds": []}
        source, reference = self.part("dev.de", rows), self.part("dev.en", rows)
        test = self.read(self.systems.text("test2016.de"))
        texts, made = [source, test], []
        if imputed:
            target = self.target(draw, supervised or REVERSED, imputed)
            reverse = self.reverse(draw, supervised or REVERSED, lm)(target)
            if how == "rules":
                texts.append(_sides(reverse.grammar))
            else:
                sources, of = parts.impute_text(reverse, target, how, k, 1.0, draw)
                found["imputed"] = self._imputed_bleu(draw, imputed, supervised, reverse, sources, of)
                texts.append(sources)
        rules = self.rules("de", "en", texts)
        if bigrams:
            rules = add_bigrams(rules, self.tags(), names=self.bigrams())
        system, frozen = self.system(rules, self.model("en")), {}
        names = list(system.features)
        start = list(system.weights)
        if supervised:
            made.append(parts.part(system, source, [reference]))
        if imputed and how != "rules":
            made.append(parts.part(system, sources, [target], of.groups, SHARE * of.weights))
        if imputed and how == "rules":
            by_name = (dict(zip(s.features, s.weights, strict=True)) for s in (reverse, system))
            composed = self.system(imputation.compose(reverse.grammar, rules, *by_name), self.model("en"))
            names, start = [*names, imputation.IMPUTED], [*start, 1.0]
            frozen = {len(names) - 1: 1.0}
            made.append(parts.part(composed, target, [target], names=names))
        weights = np.array(start)
        if made:
            progress = tuning.tune(made, start, tuning.Settings(**TUNING), frozen)
            weights = progress.best
            found["rounds"] = [[round(b, 2) for b in r.bleu] for r in progress.rounds]
        final = decoder.Settings(span_limit=SPAN)
        system = decoder.System(rules, self.model("en"), weights[: len(system.features)], final)
        return found | self._bleu(system, test, self.read(self.systems.text("test2016.en")))

    @staticmethod
    def _bleu(system, text, reference):
        from aligntools.translating import bleu

        sentences = system.encode(text.words, text.offsets)
        side = (system.encode_target(reference.words, sentences), reference.offsets)
        out = system.translate(sentences)
        counts = bleu.statistics(out.tokens, out.offsets, [side])
        return {"bleu": 100 * bleu.score(counts).bleu, "counts": counts.tolist()}

    def _imputed_bleu(self, draw, size, supervised, reverse, sources, of):
        """Return BLEU of the first imputed source of each sentence against the true one, where there is one."""
        from aligntools.translating import bleu, parts

        rows = self.order(draw)
        if (supervised or REVERSED) + size > len(rows):
            return None
        true = self.part("dev.de", rows[len(rows) - size :])
        first = np.flatnonzero(np.diff(of.groups, prepend=-1))
        if len(first) != size:
            return None
        words, lengths = [], []
        for row in first:
            words += sources.words[sources.offsets[row] : sources.offsets[row + 1]]
            lengths.append(int(sources.offsets[row + 1] - sources.offsets[row]))
        ids = parts.numbered([parts.Text(words, np.concatenate([[0], np.cumsum(lengths)])), true])[0]
        middle = int(ids.offsets[size])
        sides = [
            (ids.tokens[:middle], ids.offsets[: size + 1]),
            (ids.tokens[middle:], ids.offsets[size:] - middle),
        ]
        return 100 * bleu.score(bleu.statistics(*sides[0], [sides[1]])).bleu

    def paired(self, first, second):
        """Return the second run's gain in BLEU, its 95 % interval, and p."""
        from aligntools.translating import bleu

        counts = [np.array(f["counts"]) for f in (second, first)]
        found = bleu.compare(*counts, samples=DRAWN)
        return 100 * found.value, *(100 * x for x in found.interval), found.p_value


def _sides(grammar):
    """Return a grammar's target sides as sentences, a word that is none for nonterminals."""
    from aligntools.translating.parts import Text

    words = [word.encode() for word in grammar.target_vocabulary.words()]
    return Text([words[t] if t > 0 else b"[X]" for t in grammar.target.tolist()], grammar.target_offsets)


def tagged_text(systems, treebanks):
    """Return the English training text with tags, of a tagger that learned from EWT in lower case."""
    path = systems.folder / "ewt.tagged"
    if not path.exists():
        lines, words = [], []
        with gzip.open(treebanks / "ud" / "en_ewt-train.conllu.gz", "rt", encoding="utf-8") as file:
            for line in file:
                fields = line.rstrip("\n").split("\t")
                if fields[0].isdigit():
                    words.append(f"{fields[1].lower().replace(' ', '')}_{fields[4]}")
                elif len(fields) == 1 and not fields[0]:
                    lines.append(" ".join(words))
                    words = []
        systems.write(path.name, lines)
    tagger = systems.make("tagger", "train-hmm", "--tagged", path)
    return systems.make("tagged", "tag", systems.text("train.en"), "-m", tagger)
