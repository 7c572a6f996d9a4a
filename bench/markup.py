"""Tags of help texts carried over to their translations: how many stand exactly where they do in the original."""

import json
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import aligntools as at
from aligntools.formats.markup.segments import BrokenSegment, decoded, parse_segment
from aligntools.projecting.markup.markup_transfer import MarkupTransfer, finders, trained
from aligntools.projecting.markup.placement import word_span
from aligntools.projecting.markup.transfer import prepare
from bench import code, markup_texts, markup_weights, measuring, peers, report

#: What finds the words of a language where Unicode does not, and the columns.
TOKENIZE = {"ja": "icu"}
OTHERS = ("fast_align", "eflomal")
COLUMNS = (
    "script",
    *(f"script, {tool} {how}" for tool in OTHERS for how in ("gdfa", "intersection")),
    "transfer-markup",
    "2,000 pairs alone",
    "`--best`",
    "`--best`, 2,000 pairs alone",
)


def script(one, links):
    """Return the elements of a translation as a script of thirty lines has them: from first to last linked word."""
    ours, theirs = one.sides
    rows = [(min(spans)[0], max(spans)[1]) for spans in _by_word(ours)]
    columns = [(min(spans)[0], max(spans)[1]) for spans in _by_word(theirs)]
    begins, ends = (np.array([row[side] for row in rows]) for side in (0, 1))
    found = []
    for mark in one.marks:
        first, last = word_span(begins, ends, mark)
        linked = [j for i, j in links if first <= i < last]
        text = theirs.text[columns[min(linked)][0] : columns[max(linked)][1]] if linked else ""
        found.append((mark.name, text))
    return found


def _by_word(side):
    words = [[] for _ in side.words]
    for span, word in zip(side.spans, side.word_of, strict=True):
        words[word].append(span)
    return words


class _Language:
    """The segments of a language, cut into words, and what aligners learn from besides."""

    def __init__(self, o, language):
        self.o, self.language = o, language
        self.pairs = markup_texts.segments(o.markup, language)
        self.tagged = markup_texts.with_tags(self.pairs)
        self.how = at.Tokenizing(tokenize=TOKENIZE.get(language))
        self.plain = [(parse_segment(a), markup_texts.strip(b)) for a, b in self.pairs]

    def ours(self, count, keep=None, best=False):
        """Return elements right by transfer-markup and by the script over the same links, and CPU milliseconds."""
        if keep is not None and keep.exists():
            model = at.Aligner.load(keep)
        else:
            more = markup_texts.more(self.o.data, self.language, count)
            model = trained(self.plain, more, self.how, best=best, threads=self.o.threads)
            if keep is not None:
                model.save(keep)
        transfer = MarkupTransfer(model, tokenizing=self.how)
        pairs = [self.plain[k] for k in self.tagged]
        next(transfer.transfer_pairs(pairs[:1]))
        began = time.process_time()
        found = list(transfer.transfer_pairs(pairs))
        took = (time.process_time() - began) / len(pairs) * 1000
        formed = sum(_formed(one.text) for one in found) / len(found)
        prepared = [prepare(*pair, finders(self.how, model)) for pair in pairs]
        links = model.align_batch(*([one.words[side] for one in prepared] for side in (0, 1)))
        ours = self._share(markup_texts.elements(parse_segment(one.text)) for one in found)
        return ours, self._share(map(script, prepared, [one.links for one in links])), formed, took

    def others(self, tool, count):
        """Return elements right by the script over another aligner's links, by way of symmetrizing."""
        cut = finders(self.how)
        prepared = [prepare(*pair, cut) for pair in self.plain]
        sides = [[one.words[side] for one in prepared] for side in (0, 1)]
        for texts in markup_texts.more(self.o.data, self.language, count):
            for side, finder, text in zip(sides, cut, texts, strict=True):
                side.append(finder(text).words)
        with tempfile.TemporaryDirectory(dir=self.o.work) as folder:
            text = SimpleNamespace(**{name: Path(folder) / name for name in ("source", "target", "joint")})
            written = [[" ".join(words).lower() or "." for words in side] for side in sides]
            for path, side in zip((text.source, text.target), written, strict=True):
                path.write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
            pairs = zip(*written, strict=True)
            text.joint.write_text("".join(f"{a} ||| {b}\n" for a, b in pairs), encoding="utf-8")
            peers.align(tool, self.o, text, folder)
            found = []
            for name in ("grow-diag-final-and", "intersect"):
                peers.symmetrize(self.o, folder, name, name)
                rows = (Path(folder) / name).read_text().splitlines()
                links = [[tuple(map(int, link.split("-"))) for link in rows[k].split()] for k in self.tagged]
                found.append(self._share(map(script, [prepared[k] for k in self.tagged], links)))
        return found

    def _share(self, found):
        """Return which part of the elements is as in the originals: name and text."""
        right = total = 0
        for k, elements in zip(self.tagged, found, strict=True):
            a, b = markup_texts.common(self.pairs[k][1], elements)
            right, total = right + a, total + b
        return right / total


def causes(text, path):
    """Return how many wrong elements have the text of another tag of ours, and how many begin or end within a word."""
    model = at.Aligner.load(path)
    transfer = MarkupTransfer(model, tokenizing=text.how)
    pairs = [text.plain[k] for k in text.tagged]
    exchanged = within = 0
    for k, pair, found in zip(text.tagged, pairs, transfer.transfer_pairs(pairs), strict=True):
        original = parse_segment(text.pairs[k][1])
        gold, ours = (Counter(markup_texts.elements(one)) for one in (original, parse_segment(found.text)))
        others = Counter(words for _, words in (ours - gold).elements())
        left = gold - ours
        for element in list(left.elements()):
            if others[element[1]]:
                others[element[1]] -= 1
                left[element] -= 1
                exchanged += 1
        cut = _cut_words(original, prepare(*pair, finders(text.how, model)).sides[1].spans)
        within += (+left & cut).total()
    return exchanged, within


def _cut_words(original, spans):
    """Return the elements of an original that do not begin and end where words do."""
    begins, ends = {a for a, _ in spans}, {b for _, b in spans}
    plain, places = decoded(original.text)
    at_plain = {place: n for n, place in enumerate(places)}
    found = Counter()
    for mark, element in zip((m for m in original.marks if m.closing), markup_texts.elements(original), strict=True):
        begin, end = at_plain[mark.begin], at_plain[mark.end]
        inner = plain[begin:end]
        begin, end = begin + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip())
        if begin < end and not (begin in begins and end in ends):
            found[element] += 1
    return found


def _range(figures):
    found = list(figures)
    return " to ".join(f"{one:.1f}" for one in sorted({min(found), max(found)}))


def _formed(text):
    try:
        return bool(parse_segment(text))
    except BrokenSegment:
        return False


def run(o):
    """Measure each language, and return the section."""
    folder = code.place(o.work, "markup", _Language, script)
    kept = folder / f"figures.{o.pairs}.json"
    figures = json.loads(kept.read_text()) if kept.exists() else {}
    for language in o.languages.split(","):
        here = figures.setdefault(language, {})
        text = _Language(o, language)
        here["segments"], here["all"] = len(text.tagged), len(text.pairs)
        here["total"] = sum(markup_texts.common(text.pairs[k][1], ())[1] for k in text.tagged)
        if "large" not in here:
            here["large"] = text.ours(o.pairs, folder / f"{language}.{o.pairs}.atm")
            measuring.note(f"{language}: {o.pairs:,} pairs more")
        if "small" not in here:
            here["small"] = text.ours(0)
            measuring.note(f"{language}: the segments alone")
        for title, count in (("best", o.pairs), ("best, small", 0)):
            if title not in here:
                here[title] = text.ours(count, best=True)
                measuring.note(f"{language}: {title}")
        if "causes" not in here:
            here["causes"] = causes(text, folder / f"{language}.{o.pairs}.atm")
        for tool in peers.available(o):
            if tool not in here:
                here[tool] = text.others(tool, o.pairs)
                measuring.note(f"{language}: {tool}")
        kept.write_text(json.dumps(figures))
    rows, wrong, languages = [], [], o.languages.split(",")
    took, best_took = (_range(figures[name][title][3] for name in languages) for title in ("large", "best"))
    for language in languages:
        here = figures[language]
        theirs = [share for tool in OTHERS for share in here.get(tool, ["", ""])]
        own = [here[title][0] for title in ("large", "small", "best", "best, small")]
        shares = [here["large"][1], *theirs, *own]
        cells = [f"{100 * share:.1f}" if share != "" else "" for share in shares]
        formed = here["large"][2]
        counts = [here["total"], round(here["total"] * (1 - here["large"][0])), *here["causes"]]
        rows.append([f"en-{language}, {here['segments']}", *cells, f"{100 * formed:.0f}"])
        wrong.append([f"en-{language}", *map(str, counts)])
    return "\n\n".join(
        [
            "Help texts in English and their translations (2,000 pairs a language; those with the same tags on both"
            " sides, how many, are scored). The translation's tags are taken off, and the source's carried over; an"
            " element is right if it has exactly the text that it has in the original. In percent of the elements."
            f" Links are learned from the 2,000 pairs without tags and {o.pairs:,} pairs of Tatoeba and others"
            " (en-de.train, en-fr.general, en-ja.train), or from the 2,000 alone. Japanese words are ICU's.",
            "The script puts a tag from the first to the last word that is linked to one of its words, over the links"
            " of `align`, and over fast_align's and eflomal's; words are the same everywhere. Well-formed: percent of"
            f" the segments. A segment takes {took} ms of CPU time with a loaded model, in one thread, 500 together:"
            f" finding words, aligning, placing tags. `--best`: models of `align --best` with the encoder, which reads"
            f" the segments too: {best_took} ms. Single runs.",
            report.table(["text, segments", *COLUMNS, "well-formed"], rows),
            "Of the elements that are wrong, some have in the original the text of another tag of the segment, mostly"
            " since the original has two tags in each other's place; some begin or end within a word, such as in"
            " `<ph>Transaktionssicherheit</ph>srichtlinien`, where no tag is put:",
            report.table(["text", "elements", "wrong", "another tag's text", "within a word"], wrong),
            "Nothing was learned from these texts: the weights that choose spans were learned from the messages of a"
            f" website ({markup_weights.SOURCE}) in {', '.join(markup_weights.LANGUAGES)}, by `python -m"
            " bench.markup_weights`. What the weights see was chosen on the German texts here, and on the French and"
            " Japanese ones with even numbers. That brackets which a translation adds belong to the tag was seen in"
            " the Japanese texts: without it the same weights have about 46 there. That blocks take the stop behind"
            " them, and what is done where sentences touch, was seen in the German ones.",
            report.circumstances(o.threads),
        ]
    )
