"""``aligntools teach``: the start of contrastive-align, taught by large text."""

import contextlib

import click

from aligntools import Reading, TeachingSettings
from aligntools.cli import declared, options, training
from aligntools.ground.errors import UsageProblem
from aligntools.ground.running import Run


@click.command("teach", cls=options.Command)
@options.group(
    "Common options",
    click.option(
        "-s",
        "--source",
        metavar="FILE",
        multiple=True,
        help="Source side, one sentence per line. May come several times, with as many -t.",
    ),
    click.option("-t", "--target", metavar="FILE", multiple=True, help="Target side, the same number of lines."),
    click.option(
        "-i",
        "--input",
        "joint_file",
        metavar="FILE",
        multiple=True,
        help="Both sides in one file, ' ||| ' between them; may come several times.",
    ),
    click.option(
        "-o", "--output", required=True, metavar="FILE", type=options.WRITTEN, help="Write the start to this file."
    ),
)
@options.group(
    "Teaching",
    click.option(
        "-m",
        "--model",
        metavar="FILE",
        multiple=True,
        help="The teacher of a text, from align --save-model: one for each text, in their order.  [default:"
        " train them]",
    ),
    declared.group(TeachingSettings, without=["seed"]),
    training.log_json,
    options.verify,
)
@options.group(
    "Text and resources",
    declared.group(Reading),
    options.threads,
    options.seed,
    options.verbosity,
)
def command(**o):
    """Teach contrastive-align's start by large text, without gold links.

    What a model of 300 sentence pairs gets wrong, one of 200,000 pairs of the same text gets right. Models of samples
    (students) say what they know of links, a model of all of the text (the teacher) says what is linked, and a small
    network learns how far the students' evidence is to be trusted. What it learns is not bound to words or languages:
    contrastive-align --start FILE uses it on any text. Several texts, of several languages, teach more.

    \b
    Example:
      aligntools teach -s data/samples/de-en.de -t data/samples/de-en.en --students 60,100 -o /tmp/start
      aligntools contrastive-align -s data/samples/fr-en.fr -t data/samples/fr-en.en --start /tmp/start -o /tmp/links
    """
    if len(o["source"]) != len(o["target"]) or not (o["source"] or o["joint_file"]):
        raise UsageProblem("give a text to teach by: -s and -t, as many of the one as of the other, or -i")
    n = len(o["source"]) + len(o["joint_file"])
    if o["model"] and len(o["model"]) != n:
        raise UsageProblem(f"-m comes once for each text or not at all; there are {n} texts and {len(o['model'])} -m")
    if o["model"] and o["case_sensitive"]:
        raise UsageProblem("-m takes a teacher as it is; --case-sensitive is for one that is trained here")
    with contextlib.ExitStack() as stack:
        _run(o, stack)


def _run(o, stack):
    from aligntools.api.align.aligner import Aligner
    from aligntools.api.align.teaching import teach
    from aligntools.api.running.threads import pool_of
    from aligntools.cli.reporting import reporting

    reporter = stack.enter_context(reporting(o))
    pool = stack.enter_context(pool_of(o["threads"]))
    texts = [
        (options.text_path(s, o["split"]), options.text_path(t, o["split"]))
        for s, t in zip(o["source"], o["target"], strict=True)
    ]
    texts += [options.text_path(joint, o["split"]) for joint in o["joint_file"]]
    aligners = [Aligner.load(path, threads=pool, verify=o["verify"]) for path in o["model"]] or None
    start = teach(
        texts,
        declared.settings(TeachingSettings, o),
        aligners=aligners,
        reading=declared.settings(Reading, o),
        run=Run(threads=pool),
        progress=reporter,
    )
    start.save(o["output"])
    reporter.close()
    students = sum(sum(text["students"].values()) for text in start.about["texts"])
    pairs = sum(text["pairs"] for text in start.about["texts"])
    reporter.say(
        f"taught by {pairs} pairs of {len(texts)} {'text' if len(texts) == 1 else 'texts'} and {students} students"
    )
