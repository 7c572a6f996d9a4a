"""Translations in files checked: every pair judged, the worst first, with its line number."""

import json
from typing import Literal

from aligntools.aligning.alignments import AlignmentTally
from aligntools.aligning.settings import CheckSettings
from aligntools.formats.links.findings import as_text
from aligntools.formats.opening.files import writing
from aligntools.ground.errors import UsageProblem
from aligntools.tools.checks.check import Checked, Checker, PairCheck
from aligntools.tools.text_work import TextWork
from aligntools.words.vocabulary import split_words

CheckFormat = Literal["tsv", "json"]

#: Tabs and carriage returns, which cannot stand within a field, as spaces.
_PLAIN = str.maketrans("\t\r", "  ")


def row(pair: PairCheck, source: str, target: str, form: CheckFormat) -> str:
    """Return the line of a pair."""
    found = pair.finding
    if form == "json":
        return json.dumps(pair.as_dict() | {"source": source, "target": target}, ensure_ascii=False)
    shares = (f"{pair.source_unlinked:.3f}", f"{pair.target_unlinked:.3f}")
    figures = (str(pair.line), f"{pair.score:.2f}", f"{pair.below:.4f}", "flagged" if pair.flagged else "passed")
    told = as_text(found.words, found.differences).replace("\t", " ")
    return "\t".join([*figures, *shares, told, *(text.translate(_PLAIN) for text in (source, target))])


def check_files(
    work: TextWork,
    settings: CheckSettings,
    output: str = "-",
    *,
    output_format: CheckFormat = "tsv",
    summary: bool = False,
    flagged: bool = False,
    in_order: bool = False,
) -> Checked:
    """Check all pairs of a text, by a saved model or by one that is trained on it, write what was found and return it.

    The text is kept in memory: the pairs have to be put in order, and what is usual is learned from all of them.
    """
    work.check()
    if summary and (flagged or in_order or output_format != "tsv"):
        raise UsageProblem("`summary` writes one line; leave out what is about the lines of pairs")
    tally, watch = AlignmentTally(), work.watch
    shown: tuple[list[str], list[str]] = ([], [])
    with work.opened() as text, watch.stage("checking"):
        model, blocks = text.aligned()
        checker = Checker(model, settings)
        for block in blocks:
            lines = text.raw.read(len(block))
            texts = [[line.decode("utf-8", "replace") for line in side] for side in lines]
            spaced = text.tokens.read(len(block)) if text.tokens else lines
            if text.reading.split == "unicode":
                spaced = (text.tokens or text.raw).spaced(spaced)
            words = [[split_words(line.decode("utf-8", "replace")) for line in side] for side in spaced]
            checker.add(block, words, texts)
            for side in (0, 1):
                shown[side].extend(texts[side])
            tally.add(block)
            watch.tell(f"checking: {tally.pairs} pairs")
    found = checker.judged()
    with writing(output) as out:
        if summary:
            out.write(found.summary().encode() + b"\n")
        else:
            for pair in found.pairs if in_order else found.worst:
                if pair.flagged or not flagged:
                    source, target = (side[pair.line - 1] for side in shown)
                    out.write(row(pair, source, target, output_format).encode("utf-8", "replace") + b"\n")
    watch.close()
    if unread := tally.skipped.summary():
        watch.say(f"not checked: {unread}")
    if not summary:
        watch.say(found.summary())
    return found
