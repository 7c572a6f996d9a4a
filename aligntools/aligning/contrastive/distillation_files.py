"""Teaching by texts in files: their teachers read, and what was learned written."""

from collections.abc import Sequence

from aligntools.aligning.aligner import Aligner
from aligntools.aligning.contrastive.distillation import TeachingText, teach
from aligntools.aligning.contrastive.taught import TeachingSettings
from aligntools.formats.inputs.texts import text_path
from aligntools.formats.text.reading import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Watch
from aligntools.ground.running import Run


def teach_by_files(
    source: Sequence[str],
    target: Sequence[str],
    joint_file: Sequence[str],
    output: str,
    settings: TeachingSettings,
    reading: Reading,
    run: Run,
    watch: Watch,
    *,
    model: Sequence[str] = (),
    verify: bool = True,
) -> None:
    """Teach a start and save it.

    source, target: The sides of texts, as many of the one as of the other.
    joint_file: Texts with both sides in one file; they come after the others.
    model: Teachers, one for each text; empty: they are trained.
    Raises UsageProblem when files and options do not go together. Raises DataError when a file cannot be read or
    written, or a text is too small.
    """
    if len(source) != len(target) or not (source or joint_file):
        as_many = "`source` and `target`, as many of the one as of the other, or `joint_file`"
        raise UsageProblem(f"give a text to teach from: {as_many}")
    count = len(source) + len(joint_file)
    if len(model) not in (0, count):
        once = "`model` comes once for each text or not at all"
        raise UsageProblem(f"{once}; there are {count} texts and {len(model)} `model`")
    if model and reading.case_sensitive:
        raise UsageProblem("`model` takes a teacher as it is; `case_sensitive` is for one that is trained here")
    split = reading.split
    texts: list[TeachingText] = [
        (text_path(s, split), text_path(t, split)) for s, t in zip(source, target, strict=True)
    ]
    texts += [text_path(joint, split) for joint in joint_file]
    with pool_of(run.threads) as pool:
        aligners = [Aligner.load(path, threads=pool, verify=verify) for path in model] or None
        start = teach(texts, settings, aligners=aligners, reading=reading, run=Run(threads=pool), progress=watch)
        start.save(output)
    watch.close()
    students = sum(sum(text["students"].values()) for text in start.about["texts"])
    pairs = sum(text["pairs"] for text in start.about["texts"])
    watch.say(f"taught by {pairs} pairs of {count} {'text' if count == 1 else 'texts'} and {students} students")
