"""``aligntools serve``: links, checks and tags carried over, by HTTP."""

from typing import Any

import click

from aligntools.cli import alignment_options as aligning
from aligntools.cli import declarations, options
from aligntools.cli.reporter import say
from aligntools.ground.ranges import counts
from aligntools.ground.run import Run
from aligntools.serving.answers import ServiceLimits


@click.command("serve", cls=options.Command)
@options.group(
    "Common options",
    options.file(
        "-m",
        "--model",
        "models",
        multiple=True,
        required=True,
        help="A saved model, which requests call by its name without endings; several times for several.",
    ),
    click.option(
        "--port", type=options.Number(counts(0, 65535)), default=8080, show_default=True, help="0 takes a free one."
    ),
    click.option(
        "--host",
        default="127.0.0.1",
        show_default=True,
        metavar="ADDRESS",
        help="Address that is listened at; by default this machine alone is answered.",
    ),
    click.option(
        "--allow-host",
        "allow_hosts",
        metavar="NAME",
        multiple=True,
        help="A name by which clients may call the service, besides localhost and --host; *.NAME for those below it,"
        " '*' for all; several times for several.",
    ),
)
@declarations.group(ServiceLimits)
@options.group(
    "Resources",
    aligning.encoder,
    options.verify,
    declarations.option(
        Run,
        "threads",
        default=1,
        show_default=True,
        help="Threads of each process that look for links. For more speed, give more processes instead.",
    ),
    declarations.option(Run, "workers", help="Answer in N processes; they share the models' memory."),
    declarations.option(Run, "tmpdir", help="Folder where processes share the models."),
    options.verbosity,
)
def command(**o: Any) -> None:
    """Answer over HTTP: links between words, checks of translations, tags carried over.

    GET / is a page on which two sentences are typed and their links seen; GET /docs says what POST /align, /check and
    /transfer-markup take, /openapi.json says it to programs. SIGTERM ends the service once what it works at is
    answered. Needs the extra serve: pip install 'aligntools[serve]'.

    \b
    Example:
      aligntools align -q -i data/samples/de-en.txt --save-model de-en.atm -o de-en.align
      timeout --preserve-status 5 aligntools serve -m de-en.atm --port 0 || test $? = 143
    """
    from aligntools.serving.service import serve

    told = (lambda _: None) if o["quiet"] else say
    declarations.call(serve, o, say=told, asked=aligning.evidence_of(o, applying=True))
