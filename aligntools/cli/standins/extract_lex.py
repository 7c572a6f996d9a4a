"""Stands in for Marian's extract_lex: its arguments, its numbers, its messages; lines are sorted, theirs are not."""

import sys
from pathlib import Path

from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins.arguments import Wrong, program

USAGE = "Usage: ./extract_lex corpus.tgt corpus.src grow-diag-final.align output.s2t output.t2s\n"
_NAMES = ("corpus.tgt", "corpus.src", "align", "output.s2t", "output.t2s")


@program("extract_lex", USAGE)
def command(args: list[str]) -> int:
    """Write translation tables as extract_lex does."""
    if len(args) != 5:
        raise Wrong
    sys.stderr.write("Starting...\n")
    files = [Named(name, path) for name, path in zip(_NAMES, args, strict=True)]
    target, source, alignments, s2t, t2s = args
    with placed(files[:3], files[3:]):
        from aligntools.links.alignments import with_blanks
        from aligntools.links.translation_tables import extract_lexicon

        tables = extract_lexicon(with_blanks(source, target), None, Path(alignments), skip_bad_links=True)
        tables.write(s2t, "source", single=True)
        tables.write(t2s, "target", single=True)
    sys.stderr.write("\nFinished\n")
    return 0
