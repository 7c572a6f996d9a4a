"""Teaching the contrastive aligner's start by large text, without gold links: from Python, and by files."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, Union, Unpack

from aligntools.aligning.aligner import Aligner, check_lengths
from aligntools.aligning.alignment import read_bitext
from aligntools.aligning.contrastive.settings import GIVEN, STARTS, TeachingSettings
from aligntools.formats.inputs.sentences import Sentences, text_path
from aligntools.formats.text.bitext import name_of
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.declarations import Given, taking
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Progress, Step, Watch, reporter
from aligntools.ground.run import Run

if TYPE_CHECKING:
    from aligntools.aligning.contrastive.weights import ContrastiveStart
    from aligntools.formats.text.corpus import Bitext
    from aligntools.ground.keywords import TeachKeywords

#: A text to teach by: two sides, a file of both, or a `Bitext`.
TeachingText: TypeAlias = Union["Bitext", str, os.PathLike[str], tuple[Sentences, Sentences]]
#: A start as users give it: a name, a file, or what `teach` returned.
SomeStart: TypeAlias = Union[str, os.PathLike[str], "ContrastiveStart"]


@taking(TeachingSettings, Reading, Run)
def teach(
    texts: Iterable[TeachingText],
    settings: TeachingSettings | None = None,
    *,
    aligners: Sequence[Aligner | None] | None = None,
    names: Sequence[str] | None = None,
    reading: Reading | None = None,
    run: Run | None = None,
    progress: Progress = None,
    **options: "Unpack[TeachKeywords]",
) -> "ContrastiveStart":
    """Teach the network that judges links by large text, without gold links: a start for `train_contrastive_aligner`.

    A model of all of a text, the teacher, says what is linked in sentence pairs of samples of it; models of these
    samples alone, the students, say what they know of the same links. The network learns the one from the other. It
    sees no words, so that it serves other languages; several languages teach more than one.

    Parameters
    ----------
    texts : iterable of (sources, targets), paths or Bitext
        Each as `train_aligner` takes it: two sides, or one file with both.
    aligners : sequence of Aligner or None
        Teachers that there are already, one for each text; None trains one on the text.
    names : sequence of str or None
        What the texts are called in the start's ``about``. None: the files' names.
    settings, reading, run : TeachingSettings, Reading, Run or None
        The options below, whole. With an aligner, case is kept apart as the aligner has it.
    progress : callable, True or None
        As for `train_aligner`.
    **options

    Returns
    -------
    ContrastiveStart
        ``save`` writes it to a file.

    Raises
    ------
    DataError
        When a text cannot be read, its sides differ in length, or it is too small.
    UsageProblem
        When a setting is out of range, or there is nothing to learn.

    Examples
    --------
    >>> import aligntools as at
    >>> start = at.teach([("data/samples/de-en.de", "data/samples/de-en.en")], students=[100], lessons=50, passes=2)
    >>> model = at.train_contrastive_aligner("data/samples/de-en.txt", fast=True, start=start)
    """
    from aligntools.aligning.contrastive import taught_text

    given = Given("teach", options)
    settings = given.take(TeachingSettings, settings)
    reading, run = given.take(Reading, reading), given.take(Run, run)
    given.end()
    texts = list(texts)
    if not texts:
        raise UsageProblem("there is no text to teach from")
    if aligners is not None and len(aligners) != len(texts):
        raise UsageProblem(f"{len(aligners)} aligners for {len(texts)} texts; give one for each text, or none")
    tell, found = reporter(progress), []
    with pool_of(run.threads) as pool:
        for n, text in enumerate(texts):
            aligner = aligners[n] if aligners is not None else None
            if aligner is not None and aligner.settings.direction != "both":
                raise UsageProblem("a teacher has one direction alone; this needs one with both")
            lowercase = aligner.model.lowercase if aligner is not None else not reading.case_sensitive
            bitext = _read(text, replace(reading, case_sensitive=not lowercase))
            tell(Step("reading", None, None, {"text": n + 1, "of": len(texts), "lines": len(bitext)}))

            def trained(figures: dict[str, Any]) -> None:
                tell(Step(f"teacher, {figures['stage']}", None, None, figures))

            def learned(figures: dict[str, Any]) -> None:
                tell(Step("students", None, None, figures))

            taught_text.check_size(bitext, settings, _first_file(text))
            if aligner is None:
                teacher = taught_text.teacher_of(bitext, settings, pool, lowercase, trained)
            else:
                teacher = aligner.model
            part = taught_text.lessons_of(bitext, teacher, settings, pool, learned, n)
            part.about = {"name": names[n] if names is not None else _name(text, n)} | part.about
            found.append(part)

        def passed(figures: dict[str, Any]) -> None:
            tell(Step("network", None, None, figures))

        return taught_text.learn_start(found, settings, pool, passed)


def _read(text: TeachingText, reading: Reading) -> "Bitext":
    from aligntools.formats.text.corpus import Bitext

    if isinstance(text, Bitext):
        check_lengths(text)
        return text
    sides = text if isinstance(text, tuple) else (text, None)
    bitext = read_bitext(*sides, reading=reading)
    check_lengths(bitext)
    return bitext


def _name(text: TeachingText, number: int) -> str:
    """Return the names of a text's files, or its number; without folders, which say nothing to others."""
    sides = text if isinstance(text, tuple) else (text,)
    files = [os.path.basename(os.fspath(side)) for side in sides if isinstance(side, str | os.PathLike)]
    return ", ".join(files) or f"text {number + 1}"


def _first_file(text: TeachingText) -> str:
    first = text[0] if isinstance(text, tuple) else text
    return name_of(first)


def resolved_start(start: SomeStart | None) -> "tuple[str | None, ContrastiveStart | None]":
    """Return what settings call a start, and the start itself where it is given.

    Raises ModelError when it names a file that is not a start.
    """
    from aligntools.aligning.contrastive.weights import ContrastiveStart

    if start is None or (isinstance(start, str) and start in STARTS):
        return start, None
    if isinstance(start, ContrastiveStart):
        return GIVEN, start
    return GIVEN, ContrastiveStart.load(os.fspath(start))


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
