"""``aligntools filter``: parallel text without the pairs that are no translations, by how their words align."""

import contextlib
from collections import Counter

import click

from aligntools import AlignerSettings, FilterSettings, Reading
from aligntools.cli import alignment_options as aligning
from aligntools.cli import declared, options
from aligntools.cli.reporting import reporting
from aligntools.ground.errors import UsageProblem
from aligntools.ground.running import Run

#: Rows of text are put in this order and form.
_ROW = "line TAB reason TAB score TAB source TAB target"


@click.command("filter", cls=options.Command)
@options.group(
    "Common options",
    click.option("-s", "--source", metavar="FILE", help="Source side, one sentence per line."),
    click.option("-t", "--target", metavar="FILE", help="Target side, the same number of lines."),
    click.option(
        "-i",
        "--input",
        "joint_file",
        metavar="FILE",
        help="Both sides in one file, ' ||| ' or a tab between them (- is standard input).",
    ),
    options.output(help="Write the pairs that pass here instead of standard output, both sides on a line."),
    click.option("-m", "--model", metavar="FILE", help="Judge by a saved model; else by one trained on this text."),
)
@declared.group(FilterSettings, title="Limits")
@options.group(
    "More output",
    click.option("--all", "everything", is_flag=True, help=f"Write all pairs to -o, as {_ROW}."),
    click.option("--rejected", metavar="FILE", type=options.WRITTEN, help=f"Write the others here, as {_ROW}."),
    click.option(
        "--source-output",
        metavar="FILE",
        type=options.WRITTEN,
        help="Write the source side of pairs that pass here, and nothing to -o.",
    ),
    click.option("--target-output", metavar="FILE", type=options.WRITTEN, help="Write their target side here."),
    click.option(
        "--scores",
        metavar="FILE",
        type=options.WRITTEN,
        help="Write a line for every line of input: score, coverage of source and target, ln p per word,"
        " copied part, reason.",
    ),
    click.option("--save-model", metavar="FILE", type=options.WRITTEN, help="Save the model that was trained."),
)
@options.group(
    "Text and resources",
    click.option("--fast", is_flag=True, help="Train the HMM alone, one view of the text: quickest."),
    options.tokenize,
    options.tokenizer,
    declared.group(Reading, without=["strict"]),
    options.max_memory(),
    options.verify,
    options.threads,
    options.seed,
    options.verbosity,
)
def command(**o):
    """Keep the sentence pairs that are translations of each other, and say what was left out and why.

    A pair's score, 0 to 1, is how far the words of its worse side are linked, lowered where the words are improbable
    as translations. Copies of the source are found by words that both sides have. Every line is accounted for:
    standard error says how many were left out for which reason, and --rejected or --all has them, with their line
    numbers.

    \b
    Example:
      aligntools filter -i data/samples/de-en.txt --rejected rejected.tsv -o kept.txt
    """
    chosen = aligning.given()
    aligning.check_text(o)
    settled = sorted(chosen & {"fast", "seed", "case_sensitive", "save_model"})
    if o["model"] and settled:
        raise UsageProblem(f"--{settled[0].replace('_', '-')} is for a new model; -m applies a saved one")
    sides = [o["source_output"], o["target_output"]]
    if any(sides) and not all(sides):
        raise UsageProblem("give both --source-output and --target-output")
    if all(sides) and (o["everything"] or "output" in chosen):
        raise UsageProblem("pairs that pass are written to -o or to --source-output and --target-output, not to both")
    run(o)


class Written:
    """What becomes of judged pairs."""

    def __init__(self, stack, o):
        from aligntools.formats.opening.files import writing

        self.reasons, self.count = Counter(), 0
        self._everything = o["everything"]
        sides = [o["source_output"], o["target_output"]]
        names = {"output": None if all(sides) else o["output"], "rejected": o["rejected"], "scores": o["scores"]}
        names |= {"source": sides[0], "target": sides[1]}
        self._files = {name: stack.enter_context(writing(path)) for name, path in names.items() if path}

    def add(self, found, sides, tabbed):
        """Write the next pairs, each by what was found; those that pass with a tab or bars between their sides."""
        rows = {name: [] for name in self._files}

        def put(name, line):
            if name in rows:
                rows[name].append(line)

        for number, (quality, source, target) in enumerate(zip(found, *sides, strict=True), self.count + 1):
            self.reasons[quality.reason] += 1
            reason = quality.reason.encode()
            figures = "\t".join(f"{x:.6g}" for x in quality[:-1]).encode()
            put("scores", figures + b"\t" + reason)
            row = b"\t".join([b"%d" % number, reason or b"kept", b"%.4f" % quality.score, plain(source), plain(target)])
            if self._everything:
                put("output", row)
            if quality.kept:
                if not self._everything:
                    put(
                        "output",
                        plain(source) + b"\t" + plain(target) if tabbed else source + b" ||| " + target,
                    )
                put("source", source)
                put("target", target)
            else:
                put("rejected", row)
        self.count += len(found)
        for name, lines in rows.items():
            self._files[name].write(b"".join(line + b"\n" for line in lines))

    def summary(self):
        """Return how many pairs passed, and why others did not."""
        reasons = ", ".join(f"{self.reasons[r]} {r}" for r in sorted(self.reasons) if r)
        rejected = self.count - self.reasons[""]
        return f"{self.reasons['']} of {self.count} pairs kept, {rejected} rejected" + (
            f" ({reasons})" if reasons else ""
        )


def plain(sentence):
    """Return a sentence as a field: tabs and carriage returns as spaces."""
    return sentence.translate(bytes.maketrans(b"\t\r", b"  "))


def run(o):
    """Filter as the options say."""
    from aligntools.api.align.filtering import FilteredText

    with contextlib.ExitStack() as stack:
        reporter = stack.enter_context(reporting(o))
        text = FilteredText(
            aligning.text_files(o),
            declared.settings(FilterSettings, o),
            AlignerSettings(fast=o["fast"], seed=o["seed"]),
            declared.settings(Reading, o),
            declared.settings(Run, o),
            reporter,
            model=o["model"],
            verify=o["verify"],
            save_model=o["save_model"],
        )
        out = Written(stack, o)
        for found, sides in text:
            out.add(found, sides, text.tabbed)
        reporter.close()
        if unread := text.tally.skipped.summary():
            reporter.say(f"rejected unaligned: {unread}")
        reporter.say(out.summary())
