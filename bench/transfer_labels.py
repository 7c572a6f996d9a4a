"""Labelled trees for languages without treebanks: UAS and LAS of transferred parsers on UD's PUD and ParTUT."""

import json
from itertools import islice
from pathlib import Path

from bench import measuring, report, transfer_texts

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
        " sentences, in Italian from ParTUT's dev part.",
    ]
    for tags in ("gold", "auto"):
        rows = []
        for name in SYSTEMS:
            found = [bench.scores(language, name)[tags] for language in languages]
            means = [100 * sum(x[k] for x in found) / len(found) for k in ("uas", "las")]
            cells = [f"{100 * x['uas']:.1f} / {100 * x['las']:.1f}" for x in found]
            rows.append([name, *cells, f"{means[0]:.1f} / {means[1]:.1f}"])
        body += [f"{'Gold' if tags == 'gold' else 'Predicted'} tags:", report.table(["", *languages, "mean"], rows)]
    return "Labels of transferred parsers", "\n\n".join([*body, report.circumstances(o.threads)])


class Bench:
    """Makes what is asked for, once: texts, models and scores stay in the work folder."""

    def __init__(self, o):
        self.o, self.folder = o, o.work / "transfer_labels"
        self.folder.mkdir(parents=True, exist_ok=True)
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
        """Parse a language's treebank, with gold and predicted tags, and score the trees."""
        found, parsed, report_ = {}, folder / "parsed.conllu", folder / "score.json"
        for tags in ("gold", "auto"):
            self.command("parse", "-q", "-m", model, folder / f"{tags}.conllu", "-o", parsed)
            flags = ("--json", "--bootstrap", 0, "--no-subtypes")
            self.command("eval-uas", *flags, folder / "gold.conllu", parsed, output=report_)
            result = json.loads(report_.read_text())["results"][0]
            found[tags] = {"uas": result["uas"], "las": result["las"]}
        return found
