"""Stands in for eflomal-makepriors: its flags, in their long forms too, and its file."""

import io

from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins.arguments import ProgramParser, eflomal_parser, program
from aligntools.cli.standins.eflomal_align import sides_of, texts
from aligntools.ground.errors import DataError

PROGRAM = "eflomal-makepriors"


def parser() -> ProgramParser:
    """Return eflomal-makepriors' command line."""
    p = eflomal_parser(PROGRAM, "Counts priors over aligned text, for eflomal-align -p and align --priors.")
    p.add_argument("-f", "--forward-alignments", metavar="FILE", required=True, help="forward or symmetrized links")
    p.add_argument(
        "-r",
        "--reverse-alignments",
        metavar="FILE",
        required=True,
        help="reverse or symmetrized links; may be the same file",
    )
    p.add_argument("--reverse-priors", action="store_true", help="priors for the opposite direction")
    p.add_argument("-p", "--priors", metavar="FILE", default="-", help="write them here [standard output]")
    return p


@program(PROGRAM, prefix=f"{PROGRAM}: ")
def command(args: list[str]) -> int:
    """Count priors as eflomal-makepriors does."""
    from aligntools.adapters.eflomal import calculate_priors, write_priors
    from aligntools.adapters.eflomal.priors import AlignedTextError
    from aligntools.formats.opening.files import text_lines, writing

    o = parser().parse_args(args)
    links = [Named("-f", o.forward_alignments), Named("-r", o.reverse_alignments)]
    with placed([*texts(o), *links], [Named("-p", o.priors)]), sides_of(o) as sides:
        alignments = text_lines(o.forward_alignments), text_lines(o.reverse_alignments)
        try:
            counted = calculate_priors(*sides, *alignments, o.reverse_priors)
        except AlignedTextError as error:
            source, target = (o.input, o.input) if o.input else (o.source, o.target)
            path = (source, target, o.forward_alignments, o.reverse_alignments)[error.which]
            raise DataError(path, error.line, error.problem) from None
        write_priors(text := io.StringIO(), *counted)
        with writing(o.priors) as out:
            out.write(text.getvalue().encode("utf-8", "surrogateescape"))
    return 0
