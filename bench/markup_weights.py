"""Learns the weights by which `transfer-markup` chooses spans, from the messages of a website in nine languages.

``python -m bench.markup_weights --www CHECKOUT --data DIR -o FILE``: a checkout of mozilla-l10n/www-l10n. Its tags are
carried over by models that learn links from these messages themselves, in some languages from more text of ``DIR``.
"""

import argparse
from pathlib import Path

import numpy as np

import aligntools as at
from aligntools.formats.markup.segments import BrokenSegment, decoded, parse_segment
from aligntools.formats.models.modelfile import write_model
from aligntools.projecting.markup import transfer
from aligntools.projecting.markup.markup_transfer import MarkupTransfer, trained
from aligntools.projecting.markup.placement import DENSE, EDGE, SIZE, WITHIN, Evidence, MarkupSide, word_span
from aligntools.projecting.markup.words import between_pieces
from bench import markup_fluent, markup_texts, measuring

#: Precision of the weights' Gaussian prior: of pairs of classes of characters, and of all others.

TABLES, OTHERS = 3.0, 0.3
LONGEST = 300
#: Languages and their folders; those whose models learn from more text, how much, and whose words are ICU's.
LANGUAGES = {
    "de": "de",
    "fr": "fr",
    "ja": "ja",
    "ru": "ru",
    "zh": "zh-CN",
    "tr": "tr",
    "ko": "ko",
    "it": "it",
    "cs": "cs",
}
WITH_MORE, PAIRS, BY_ICU = ("de", "fr"), 20_000, ("ja", "zh")
SOURCE = "github.com/mozilla-l10n/www-l10n at 442e139499cb, MPL 2.0"


class Item:
    """An element: the features of all spans, and those spans that are right for it."""

    def __init__(self, evidence, span, gold):
        self.features, self.gold = evidence.features(*span), gold


def evidences(model, pairs, numbers):
    """Yield what is known of the segments, with the words that their marks are around and those of the original's."""
    carrier = MarkupTransfer(model)
    prepared = [
        transfer.prepare(parse_segment(pairs[k][0]), markup_texts.strip(pairs[k][1]), carrier._finders) for k in numbers
    ]
    for k, one, links in zip(numbers, prepared, carrier._links([p.words for p in prepared], at.Run()), strict=True):
        sides = [MarkupSide(side.text, side.spans) for side in one.sides]
        yield k, one, Evidence(*sides, between_pieces(*one.sides, links))


def items(model, pairs, numbers):
    """Return what is learned from, by segment."""
    found = []
    for k, one, evidence in evidences(model, pairs, numbers):
        target = evidence.target
        if not 0 < len(target.spans) <= LONGEST:
            continue
        original = parse_segment(pairs[k][1])
        _, places = decoded(original.text)
        at_raw = {place: n for n, place in enumerate(places)}
        firsts, lasts = ({int(x): n for n, x in enumerate(side)} for side in (target.begins, target.ends))
        for mark in one.marks:
            span = word_span(evidence.source.begins, evidence.source.ends, mark)
            if not mark.closing or span[0] == span[1] or span == (0, len(evidence.source.spans)):
                continue
            same = [(at_raw[m.begin], at_raw[m.end]) for m in original.marks if m.name == mark.name]
            gold = [(firsts[a], lasts[b]) for a, b in same if a in firsts and b in lasts and a < b]
            if gold:
                found.append((k, Item(evidence, span, gold)))
    return found


def learn(chosen):
    """Return the weights that make right spans most probable (L-BFGS); which of several is right is not known."""
    from scipy.optimize import minimize

    n, w = len(EDGE), len(WITHIN)
    prior = np.full(SIZE, OTHERS)
    for edge in (0, n):
        prior[edge + len(DENSE) : edge + n] = TABLES

    def objective(weights):
        loss, gradient = 0.5 * (prior * weights) @ weights, prior * weights
        for item in chosen:
            scores = item.features.scores(weights)
            top = scores.max()
            shares = np.exp(scores - top)
            total = shares.sum()
            own = np.array([scores[span] for span in item.gold])
            best = own.max()
            parts = np.exp(own - best)
            loss -= best + np.log(parts.sum()) - top - np.log(total)
            shares /= total
            for span, part in zip(item.gold, parts / parts.sum(), strict=True):
                shares[span] -= part
            begins, ends = shares.sum(1), shares.sum(0)
            gradient[:n] += begins @ item.features.first
            gradient[n : 2 * n] += ends @ item.features.last
            inside = np.cumsum(begins) - np.append(0, np.cumsum(ends)[:-1])
            gradient[2 * n : 2 * n + w] += inside @ item.features.within
            gradient[2 * n + w :] += np.tensordot(item.features.whole, shares, ([1, 2], [0, 1]))
        return loss, gradient

    start = np.zeros(SIZE)
    return minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 60}).x


def taught(checkout, data, language, folder):
    """Return what is learned from a language, a folder of the checkout."""
    pairs = []
    for pair in markup_fluent.pairs(checkout, folder):
        try:
            segment, target = parse_segment(pair[0]), parse_segment(pair[1])
        except BrokenSegment:
            continue
        pairs.append((pair, (segment, target.text)))
    more = markup_texts.more(data, language, PAIRS) if language in WITH_MORE else []
    how = at.Tokenizing(tokenize="icu" if language in BY_ICU else None)
    model = trained([pair for _, pair in pairs], more, how)
    written = [pair for pair, _ in pairs]
    return items(model, written, markup_texts.with_tags(written))


def main():
    parser = argparse.ArgumentParser()
    for name in ("www", "data", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    o = parser.parse_args()
    found = []
    for language, folder in LANGUAGES.items():
        found += [item for _, item in taught(o.www, o.data, language, folder)]
        measuring.note(f"{language}: {len(found)} elements so far")
    header = {"taught": {"source": SOURCE, "languages": list(LANGUAGES), "elements": len(found)}}
    write_model(o.output, transfer.KIND, header, {"weights": learn(found).astype(np.float32)})


if __name__ == "__main__":
    main()
