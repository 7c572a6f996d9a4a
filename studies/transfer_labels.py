"""Labelled trees for languages without treebanks: UAS and LAS of transferred parsers on UD's PUD and ParTUT."""

import json
from itertools import islice
from pathlib import Path

from bench import code, measuring, report, transfer_texts

#: By language: the treebank that is scored on, and its part that the tagger learns from (None: the other half of it).
BANKS = {
    "de": ("de_pud", None), "es": ("es_pud", None), "fr": ("fr_pud", None), "it": ("it_partut-test", "it_partut-dev"),
    "sv": ("sv_pud", None),
}  # fmt: skip
#: Sentence pairs that parsers are transferred through, and that are aligned with them.
PAIRS, ALIGNED = 5_000, 20_000
#: How the source parsers are trained, and limits of L-BFGS of the target parsers.
SOURCE, LIMITS = ("--tolerance", 2e-4), ("--iterations", 80, "--tolerance", 2e-4)
#: Rows of the table: the options of `transfer-parse`; None is the source parser that never saw words, as it is.
SYSTEMS = {
    "direct": ("--method", "direct"),
    "delexicalized": None,
    "projected": ("--method", "projected"),
    "full": (),
}


#: Several source languages: those, the targets, and where PUD's sentences for source treebanks and for pairs end.
SOURCES, TARGETS, TREEBANK, THROUGH = ("en", "de", "es"), ("fr", "pt", "sv"), 400, 700


def arguments(parser):
    parser.add_argument("--treebanks", required=True, type=Path, metavar="DIR", help="folder of ud/")
    parser.add_argument("--languages", default=",".join(BANKS), metavar="A,B", help="[%(default)s]")


def run(o):
    bench = Bench(o)
    languages = o.languages.split(",")
    body = [
        f"UAS and LAS in percent (relations without subtypes, as at CoNLL 2018) through {PAIRS:,} sentence pairs of"
        f" {transfer_texts.SHORTEST} to {transfer_texts.LONGEST} words. The source parser learned from English EWT,"
        " with labels. direct: that parser without its words; delexicalized: one that was trained without them;"
        " projected and full: `transfer-parse --method`. Scored on the last 500 sentences of PUD, in Italian on"
        " ParTUT's test part; the tagger of the parallel text, and of the predicted tags, learned from PUD's first 500"
        " sentences, in Italian from ParTUT's dev part (156).",
    ]
    for tags in ("gold", "auto"):
        rows = []
        for name in SYSTEMS:
            found = [bench.scores(language, name)[tags] for language in languages]
            means = [100 * sum(x[k] for x in found) / len(found) for k in ("uas", "las")]
            cells = [f"{100 * x['uas']:.1f} / {100 * x['las']:.1f}" for x in found]
            rows.append([name, *cells, f"{means[0]:.1f} / {means[1]:.1f}"])
        body += [f"{'Gold' if tags == 'gold' else 'Predicted'} tags:", report.table(["", *languages, "mean"], rows)]
    body += [
        "How much the target edge's tags count for its label (0.7) and the size of the labeler's steps were chosen"
        " by LAS with gold tags on the first 500 sentences of PUD in de and es. LAS there with labels of the aligned"
        " source edge alone 62.1 and 65.9, of the target edge's tags alone 63.5 and 69.2, of both by arithmetic mean"
        " (de) 64.2, by geometric mean 65.1 and 69.6 (with smaller steps, 0.03 instead of 0.1, 65.1 and 69.7). Labels"
        " of the source edge on each word's best edge: 62.0 (de).",
        "Several source languages at once, UAS and LAS with gold tags: source parsers of PUD's first"
        f" {TREEBANK} sentences, in English of EWT; pairs of the next {THROUGH - TREEBANK}, aligned by PUD's 1,000"
        " pairs alone (`--min-aligned 0.5`); scored on the last 300. Nothing was chosen on these.",
        bench.several(),
    ]
    return "Labels of transferred parsers", "\n\n".join([*body, report.circumstances(o.threads)])


class Bench:
    """Makes what is asked for, once: texts, models and scores stay in the work folder."""

    def __init__(self, o):
        self.o, self.folder = o, code.place(o.work, "transfer_labels", Bench)
        self.kept = self.folder / "scores.json"
        self.found = json.loads(self.kept.read_text()) if self.kept.exists() else {}

    def command(self, *args, output=None):
        """Run one of our commands."""
        more = [] if args[0] == "eval-uas" else ["--threads", self.o.threads]
        return measuring.run(measuring.aligntools(*args, *more), *([output] if output else []))

    def source(self, features="full"):
        """Return the source parser, with or without words."""
        model = self.folder / f"en.{features}.parser"
        if not model.exists():
            bank = self.o.treebanks / "ud" / "en_ewt-train.conllu.gz"
            self.command("train-parser", "-q", "--treebank", bank, "-o", model, "--features", features, *SOURCE)
        return model

    def tagger(self, name, bank):
        """Return a tagger that learned from a treebank."""
        model = self.folder / f"{name}.tagger"
        if not model.exists():
            self.command("train-hmm", "-q", *transfer_texts.TAGGER, "--tagged", bank, "-o", model)
        return model

    def texts(self, language):
        """Return a language's folder, in which its texts are."""
        folder = self.folder / language
        if (folder / "done").exists():
            return folder
        folder.mkdir(exist_ok=True)
        scored, learned = BANKS[language]
        if learned is None:
            self.split(scored, folder / "learn.conllu", folder / "gold.conllu")
        else:
            self.split(learned, folder / "learn.conllu")
            self.split(scored, folder / "gold.conllu")
        tagger = self.tagger(language, folder / "learn.conllu")
        english = self.tagger("en", self.o.treebanks / "ud" / "en_ewt-train.conllu.gz")
        self.command("tag", "-q", "-m", tagger, folder / "gold.conllu", "--column", 4, "-o", folder / "auto.conllu")
        texts, _ = transfer_texts.parallel(self.o, language)
        for side, name in enumerate(("en", language)):
            lines = [pair[side] + "\n" for pair in islice(texts, ALIGNED)]
            (folder / f"text.{name}").write_text("".join(lines), encoding="utf-8")
            (folder / f"head.{name}").write_text("".join(lines[:PAIRS]), encoding="utf-8")
        sides = [folder / f"text.{name}" for name in ("en", language)]
        self.command("align", "-q", *transfer_texts.ALIGNER, "-s", sides[0], "-t", sides[1], "-o", folder / "all.links")
        with open(folder / "all.links", encoding="utf-8") as links:
            (folder / "links").write_text("".join(islice(links, PAIRS)), encoding="utf-8")
        for name, model in (("en", english), (language, tagger)):
            self.command("tag", "-q", "-m", model, folder / f"head.{name}", "-o", folder / f"{name}.tagged")
        (folder / "done").write_text("")
        measuring.note(f"{language}: texts")
        return folder

    def several(self):
        """Return the table of several source languages."""
        alone, joined = [(source,) for source in SOURCES], "+".join(SOURCES)
        rows = {name[0]: (name, ()) for name in alone}
        rows |= {joined: (SOURCES, ()), f"{joined}, projected": (SOURCES, ("--method", "projected"))}
        rows[f"{joined}, --non-projective"] = (SOURCES, ("--non-projective",))
        table = []
        for name, (sources, flags) in rows.items():
            found = [self.through_pud(target, name, sources, flags) for target in TARGETS]
            table.append([name, *(f"{100 * x['uas']:.1f} / {100 * x['las']:.1f}" for x in found)])
        return report.table(["from", *TARGETS], table)

    def pud(self, language, begin, end, name):
        """Return a file with some sentences of PUD."""
        out = self.folder / f"pud.{language}.{name}"
        if not out.exists():
            self.split(f"{language}_pud", whole := self.folder / f"pud.{language}")
            sentences = whole.read_text(encoding="utf-8").split("\n\n")[begin:end]
            out.write_text("\n\n".join(sentences).strip("\n") + "\n\n", encoding="utf-8")
        return out

    def links(self, source, target):
        """Return the links of PUD's pairs to transfer through."""
        out = self.folder / f"pud.{source}-{target}"
        if not out.exists():
            sides = []
            for language in (source, target):
                rows = self.pud(language, 0, 1000, "all").read_text(encoding="utf-8").strip("\n").split("\n\n")
                words = [" ".join(line.split("\t")[1] for line in row.split("\n")) for row in rows]
                sides.append(self.folder / f"pud.{language}.txt")
                sides[-1].write_text("\n".join(words) + "\n", encoding="utf-8")
            self.command("align", "-q", *transfer_texts.ALIGNER, "-s", sides[0], "-t", sides[1], "-o", f"{out}.all")
            lines = Path(f"{out}.all").read_text().splitlines(keepends=True)
            out.write_text("".join(lines[TREEBANK:THROUGH]))
        return out

    def through_pud(self, target, name, sources, flags):
        """Return UAS and LAS of a parser that was transferred through PUD."""
        key = f"pud {target} {name}"
        if key not in self.found:
            model, args = self.folder / "pud.parser", []
            ewt = self.o.treebanks / "ud" / "en_ewt-train.conllu.gz"
            banks = [ewt if s == "en" else self.pud(s, 0, TREEBANK, "treebank") for s in sources]
            for source, bank in zip(sources, banks, strict=True):
                own = self.source() if source == "en" else self.folder / f"pud.{source}.parser"
                if not own.exists():
                    self.command("train-parser", "-q", "--treebank", bank, "-o", own, *SOURCE)
                sides = (self.pud(x, TREEBANK, THROUGH, "through") for x in (source, target))
                for flag, value in zip(("--source-model", "--source", "--target", "-a"),
                                       (own, *sides, self.links(source, target)), strict=True):  # fmt: skip
                    args += [flag, value]
            self.command("transfer-parse", "-q", *args, "--set", "min_aligned=0.5", *LIMITS, *flags, "-o", model)
            gold = self.pud(target, THROUGH, 1000, "test")
            self.found[key] = self.figures(model, gold, gold)
            self.kept.write_text(json.dumps(self.found, indent=1))
            measuring.note(f"{key}: {self.found[key]}")
        return self.found[key]

    def split(self, name, *outs):
        """Write a treebank's syntactic words to files, as many sentences to each."""
        sentences, own = [], []
        for line in transfer_texts.lines_of(self.o.treebanks / "ud" / f"{name}.conllu"):
            row = line.split("\t")
            if len(row) == 10 and row[0].isdigit():
                own.append("\t".join([row[0], row[1].replace(" ", "\u00a0"), *row[2:8], "_", "_"]) + "\n")
            elif not line and own:
                sentences.append("".join(own) + "\n")
                own = []
        share = len(sentences) // len(outs)
        for k, out in enumerate(outs):
            out.write_text("".join(sentences[k * share : (k + 1) * share]), encoding="utf-8")

    def scores(self, language, name):
        """Return UAS and LAS of a system, by tags."""
        key = f"{language} {name}"
        if key not in self.found:
            folder = self.texts(language)
            model = folder / f"{name}.parser"
            if SYSTEMS[name] is None:
                model = self.source("delexicalized")
            elif name == "direct":
                self.command("transfer-parse", "--source-model", self.source(), *SYSTEMS[name], "-o", model)
            else:
                sides = ("--source", folder / "en.tagged", "--target", folder / f"{language}.tagged")
                self.command(
                    "transfer-parse", "-q", "--source-model", self.source(), *sides, "-a", folder / "links", *LIMITS,
                    *SYSTEMS[name], "-o", model,
                )  # fmt: skip
            self.found[key] = self.score(model, folder)
            self.kept.write_text(json.dumps(self.found, indent=1))
            measuring.note(f"{key}: {self.found[key]}")
        return self.found[key]

    def score(self, model, folder):
        """Score what a parser finds in a language's treebank with gold and predicted tags."""
        return {
            tags: self.figures(model, folder / f"{tags}.conllu", folder / "gold.conllu") for tags in ("gold", "auto")
        }

    def figures(self, model, text, gold):
        """Return UAS and LAS of the trees that a parser finds in a text."""
        parsed, scores = self.folder / "parsed.conllu", self.folder / "score.json"
        self.command("parse", "-q", "-m", model, text, "-o", parsed)
        self.command("eval-uas", "--json", "--bootstrap", 0, "--set", "subtypes=false", gold, parsed, output=scores)
        result = json.loads(scores.read_text())["results"][0]
        return {"uas": result["uas"], "las": result["las"]}
