"""Taggers for languages without tagged text, from English tags that word alignments carry over."""

import json
import random
from collections import Counter, defaultdict

from bench import code, measuring, report, transfer_texts, treebanks

#: By language: parallel text, and what taggers are scored on, by tag set. Portuguese has PUD's own pairs.
LANGUAGES = {
    "de": ("alignment", "en-de/train", {"upos": "ud/de_pud.conllu.gz", "12": "google/de-test.conll.gz"}),
    "fr": ("alignment", "en-fr/general", {"upos": "ud/fr_pud.conllu.gz", "12": "google/fr-dev.conll.gz"}),
    "es": ("alignment", "en-es/train", {"upos": "ud/es_pud.conllu.gz", "12": "google/es-test.conll.gz"}),
    "it": ("alignment", "en-it/train", {"upos": "ud/it_partut-test.conllu.gz", "12": "google/it-dev.conll.gz"}),
    "sv": ("alignment", "en-sv/train", {"upos": "ud/sv_pud.conllu.gz", "12": "google/sv-test.conll.gz"}),
    "pt": ("pud", "pt", {"12": "google/pt-br-dev.conll.gz"}),
}
#: Languages that settings were chosen on.
CHOSEN = ("de", "fr")
#: Words of a sentence that is used.
SHORTEST, LONGEST = 5, 40
#: UD's tags among the 12 universal ones, where they differ.
UNIVERSAL = {
    b"PROPN": b"NOUN", b"AUX": b"VERB", b"SCONJ": b"CONJ", b"CCONJ": b"CONJ", b"PART": b"PRT", b"PUNCT": b".",
    b"SYM": b"X", b"INTJ": b"X",
}  # fmt: skip
#: Substates of the last column.
LATENT = {"latent": 4, "members": 2, "iterations": 10}
#: Columns: how the tagger learns from projected tags; ways to choose links.
SYSTEMS = {
    "types": ("best", "each word its most frequent tag, sentences with a word without one left out"),
    "filled": ("best", "words that are not reached get their most frequent tag, NOUN where they have none"),
    "filled, 1-1": ("one-to-one", "the same over links between words that have no other"),
    "token": ("one-to-one", "`--partial` over these"),
    "type": ("one-to-one", "`--partial` with the dictionary alone, no word's own tag"),
    "token, type": ("one-to-one", "`--partial --dictionary` over these"),
    "latent": ("one-to-one", f"the same with substates (`--latent {LATENT['latent']}`), all others without"),
}


def run(o):
    bench = _Bench(o)
    languages = o.languages.split(",")
    body = [
        f"Accuracy in percent of taggers that learned from English tags, carried over word alignments of up to"
        f" {o.pairs:,} sentence pairs of {SHORTEST} to {LONGEST} words (it: software descriptions, sv: software;"
        " pt: PUD's 1,000 pairs; the others are mostly Tatoeba). The English tagger learned from EWT; for the 12"
        " universal tags from EWT, mapped, and Google's English treebank. `align --link-probabilities`, `project`,"
        " `train-tagger`, at their defaults. No tag of the language was seen.",
        "Columns: " + "; ".join(f"{name}: {about}" for name, (_, about) in SYSTEMS.items()) + ".",
        f"Links, `--min-share` and the iterations of EM were chosen on {' and '.join(CHOSEN)} (Google's de-dev, PUD and"
        " ParTUT in French), so these two are apart; on the others nothing was chosen.",
    ]
    for tags, title in (("upos", "UD's tags, on PUD (it: ParTUT)"), ("12", "12 universal tags, on Google's treebanks")):
        rows, sums = [], defaultdict(list)
        for language in [x for x in languages if tags in LANGUAGES[x][2]]:
            found = [bench.score(language, tags, system) for system in SYSTEMS]
            rows.append([language, *(f"{100 * x:.1f}" for x in found)])
            sums["chosen" if language in CHOSEN else "others"].append(found)
        for name, found in sums.items():
            about = f"mean, {' and '.join(CHOSEN)}" if name == "chosen" else "mean of the others"
            rows.append([about, *(f"{100 * sum(x) / len(x):.1f}" for x in zip(*found, strict=True))])
        body += [f"{title}:", report.table(["language", *SYSTEMS], rows)]
    body.append(
        "Published, on other test sets (CoNLL's of their time, the same 12 tags), with Europarl: projection over a"
        " graph of contexts, Das & Petrov (2011): de 82.8, es 84.2, it 86.8, pt 87.9, sv 80.5."
    )
    return "\n\n".join([*body, report.circumstances(o.threads)])


class _Bench:
    """Makes texts and scores once, and keeps them in the work folder."""

    def __init__(self, o):
        self.o, self.folder = o, code.place(o.work, "projection", _Bench)
        self.kept = self.folder / f"scores.{o.pairs}.json"
        self.found = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        self.projections = {}

    def _run(self, *args):
        measuring.run(measuring.aligntools(*args, "--threads", self.o.threads))

    def tagger(self, tags):
        """Return the English tagger of a tag set."""
        model = self.folder / f"en.{tags}.tagger"
        if not model.exists():
            ewt = treebanks.read(self.o.treebanks, ("ud/en_ewt-train.conllu.gz",), "upos")
            if tags != "upos":
                ewt.tags = [UNIVERSAL.get(tag, tag) for tag in ewt.tags]
            treebanks.write(model.with_suffix(".tagged"), ewt)
            if tags != "upos":
                wsj = treebanks.read(self.o.treebanks, treebanks.TAGGED["wsj"][:1], "upos")
                treebanks.write(self.folder / "wsj", wsj)
                with open(model.with_suffix(".tagged"), "ab") as file:
                    file.write((self.folder / "wsj").read_bytes())
            self._run("train-tagger", "-q", "--members", 2, "--tagged", model.with_suffix(".tagged"), "-o", model)
            measuring.note(f"English tagger, {tags}")
        return model

    def pairs(self, language):
        """Return the files of a language's parallel text and its links, both sides tokenized."""
        place = self.folder / language
        place.mkdir(exist_ok=True)
        sides, links = [place / "en", place / language], place / f"links.{self.o.pairs}"
        if not links.exists():
            kind, name, _ = LANGUAGES[language]
            if kind == "pud":
                for side, path in zip(("en", language), sides, strict=True):
                    text = treebanks.read(self.o.treebanks, (f"ud/{side}_pud.conllu.gz",), "upos")
                    treebanks.write(path, text, tags=False)
            else:
                self._sample(name, language, sides)
            self._run("align", "-q", "-s", sides[0], "-t", sides[1], "--link-probabilities", "-o", links)
            measuring.note(f"{language}: aligned")
        return *sides, links

    def _sample(self, name, language, sides):
        texts = (transfer_texts.lines_of(self.o.data / f"{name}.{side}") for side in ("en", language))
        chosen = {}
        for pair in zip(*texts, strict=True):
            n, m = (len(text.split()) for text in pair)
            if SHORTEST <= n <= LONGEST and SHORTEST <= m <= LONGEST and max(n, m) <= 2 * min(n, m):
                chosen.setdefault(pair)
        found = list(chosen)
        random.Random(1).shuffle(found)
        for k, path in enumerate(sides):
            path.write_text("".join(pair[k] + "\n" for pair in found[: self.o.pairs]), encoding="utf-8")

    def projected(self, language, tags, links):
        """Return what is projected, at most for one language and tag set at a time."""
        import aligntools as at

        if (language, tags) not in self.projections:
            en, other, path = self.pairs(language)
            source = other.with_name(f"en.{tags}.{self.o.pairs}.conllu")
            if not source.exists():
                self._run("tag", "-q", "-m", self.tagger(tags), "--to", "conll", en, "-o", source)
            self.projections = {(language, tags): {}}
            for way in ("best", "one-to-one"):
                found = at.project(source, str(other), path, links=way)
                self.projections[language, tags][way] = found
        return self.projections[language, tags][links]

    def _gold(self, path):
        """Return what is scored on; Google's files are mended first (see `transfer_texts.treebank`)."""
        kind, name = path.split("/")
        if kind != "google":
            return treebanks.read(self.o.treebanks, (path,), "upos")
        transfer_texts.treebank(self.o.treebanks, name.removesuffix(".conll.gz"), self.folder / "gold.conll")
        return treebanks.read(self.folder, ("gold.conll",), "upos")

    def score(self, language, tags, system):
        """Return the accuracy of a tagger."""
        import numpy as np

        import aligntools as at

        key = f"{language} {tags} {system}"
        if key not in self.found:
            text, how = _text(self.projected(language, tags, SYSTEMS[system][0]), system)
            tagger = at.train_tagger(text, threads=self.o.threads, **how)
            gold = self._gold(LANGUAGES[language][2][tags])
            found = tagger.tag_text(gold, threads=self.o.threads)
            right = [tagger.tags[k].encode() == tag for k, tag in zip(found.ids, gold.tags, strict=True)]
            self.found[key] = float(np.mean(right))
            self.kept.write_text(json.dumps(self.found, indent=1))
            measuring.note(f"{key}: {100 * self.found[key]:.2f}")
        return self.found[key]


def _text(projection, system):
    """Return the text that a system learns from, and how it learns."""
    import numpy as np

    from aligntools.formats.annotation.tagged import Tokens

    words, offsets, tags = projection.source.words, projection.source.offsets, list(projection.columns[3])
    how = {"latent": 1}
    if system.startswith(("types", "filled")):
        counts = defaultdict(Counter)
        for word, tag in zip(words, tags, strict=True):
            if tag != b"_":
                counts[word][tag] += 1
        best = {word: found.most_common(1)[0][0] for word, found in counts.items()}
        if system == "types":
            kept = [k for k in range(len(offsets) - 1) if all(w in best for w in words[offsets[k] : offsets[k + 1]])]
            where = [t for k in kept for t in range(offsets[k], offsets[k + 1])]
            lengths = np.diff(offsets)[kept]
            words, tags = [words[t] for t in where], [best[words[t]] for t in where]
            offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        else:
            tags = [best.get(w, b"NOUN") if t == b"_" else t for w, t in zip(words, tags, strict=True)]
    else:
        how["partial"] = True
        if system != "token":
            how["dictionary"] = projection.dictionary()
        if system == "type":
            tags = [b"_"] * len(words)
        if system == "latent":
            how |= LATENT
    return Tokens(words, offsets, tags, np.arange(1, len(offsets)), "tagged"), how
