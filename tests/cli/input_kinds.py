"""What kinds of text each command reads: the table of docs/reference/formats.md, which the tests try."""

from typing import NamedTuple

from aligntools.formats.annotation.text_kinds import FORMATS


class Input(NamedTuple):
    """An input of commands.

    flag: As the command line has it.
    commands: Names, each with what it is about in brackets, if that matters.
    reads: Kinds; see `aligntools.formats.annotation.text_kinds.KINDS`.
    """

    flag: str
    commands: tuple[str, ...]
    reads: tuple[str, ...]


#: Sentences are words, whatever else the text has; or words with tags; or lines, in which positions count.
WORDS, TAGGED, LINES = FORMATS, FORMATS[:-1], ("text",)
PAIRS = ("pairs", "table", "tmx", "xliff")
CONLL, TREES = ("conll",), ("trees",)
_OF_PAIRS = (
    *("align", "contrastive-align", "mre-align", "teach", "filter", "check", "terms", "lexicon", "view", "train-hmm"),
)

INPUTS = (
    Input("TEXT", ("tag", "train-classes", "train-lm", "eval-lm", "translate", "parse (a grammar)"), WORDS),
    Input("--text", ("train-hmm", "train-tagger", "train-grammar (words)", "extract-grammar", "filter-grammar"), WORDS),
    Input("-s, -t", (*_OF_PAIRS[:4], "train-hmm", "extract-grammar", "lexicon"), WORDS),
    Input("-t", ("train-classes", "project"), WORDS),
    Input("--train", ("eval-tags",), WORDS),
    Input("REFERENCE, TRANSLATION", ("eval-bleu",), WORDS),
    Input("--supervised, --reference", ("imputed-risk",), WORDS),
    Input("TEXT", ("parse (a parser)",), TAGGED),
    Input("--tagged", ("train-hmm", "train-tagger"), TAGGED),
    Input("--text", ("train-grammar (tags)",), TAGGED),
    Input("GOLD, TAGGED", ("eval-tags",), TAGGED),
    Input("-s, -t, --unlabeled", ("transfer-parse",), TAGGED),
    Input("--source-tags, --target-tags", ("terms", "view"), TAGGED),
    Input("CONLL", ("conll (--to words, tagged)",), TAGGED),
    Input("CONLL", ("conll (--to column, text, raw, --put)",), CONLL),
    Input("--treebank", ("train-parser",), CONLL),
    Input("-s", ("project",), CONLL),
    Input("GOLD, PARSED", ("eval-uas",), CONLL),
    Input("--treebank", ("train-grammar",), TREES),
    Input("-s", ("project (--spans brackets)",), TREES),
    Input("GOLD, PARSED", ("eval-brackets",), TREES),
    Input("-i", (*_OF_PAIRS, "extract-grammar"), PAIRS),
    Input("--check", ("symmetrize",), LINES),
    Input("-s, -t (documents)", ("align-sentences",), (*LINES, "html", "a ZIP archive")),
    Input("-s, -t", ("filter", "check", "terms", "view", "eval-aer", "align (--output-format tsv)"), LINES),
)


def table() -> str:
    """Return the table in Markdown: a row for each input, a column for each kind that some input reads."""
    columns = {"text": "plain text", "tagged": "tagged text", "columns": "columns", "conll": "CoNLL", "trees": "trees"}
    columns |= {"pairs": "` ||| `", "table": "tabs", "tmx": "TMX", "xliff": "XLIFF"}
    rows = [["input", "commands", *columns.values()], ["---"] * (2 + len(columns))]
    for one in INPUTS:
        marks = ["yes" if kind in one.reads else "" for kind in columns]
        rows.append([f"`{one.flag}`", ", ".join(map(_named, one.commands)), *marks])
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def _named(name: str) -> str:
    command, _, about = name.partition(" ")
    return f"`{command}` {about}".rstrip(" ")
