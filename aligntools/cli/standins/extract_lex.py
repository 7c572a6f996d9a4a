"""Stands in for Marian's extract_lex: its arguments, its numbers, its messages; lines are sorted, theirs are not."""

import sys

import click

from aligntools.cli.kinds import Named, placed

USAGE = "Usage: ./extract_lex corpus.tgt corpus.src grow-diag-final.align output.s2t output.t2s\n"
_NAMES = ("corpus.tgt", "corpus.src", "align", "output.s2t", "output.t2s")


@click.command("extract_lex", add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("args", nargs=-1)
def command(args: tuple[str, ...]) -> int:
    """Write translation tables as extract_lex does."""
    if len(args) != 5:
        sys.stderr.write(USAGE)
        return 1
    sys.stderr.write("Starting...\n")
    files = [Named(name, path) for name, path in zip(_NAMES, args, strict=True)]
    with placed(files[:3], files[3:]):
        _run(*args)
    sys.stderr.write("\nFinished\n")
    return 0


def _run(target: str, source: str, alignments: str, s2t: str, t2s: str) -> None:
    from pathlib import Path

    from aligntools.links.alignments import with_blanks
    from aligntools.links.translation_tables import extract_lexicon

    bitext = with_blanks(source, target)
    tables = extract_lexicon(bitext, None, Path(alignments), skip_bad_links=True)
    tables.write(s2t, "source", single=True)
    tables.write(t2s, "target", single=True)
