"""Teaching by texts in files: their teachers read, and what was learned written."""

from collections.abc import Sequence
from dataclasses import dataclass

from aligntools.aligning.contrastive.taught import TeachingSettings
from aligntools.api.align.aligner import Aligner
from aligntools.api.align.teaching import TeachingText, teach
from aligntools.api.given.texts import text_path
from aligntools.api.running.threads import pool_of
from aligntools.api.running.watching import Watch
from aligntools.formats.text.reading import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.running import Run


@dataclass(frozen=True)
class TeachingFiles:
    """Files of the texts, and of the start that is taught by them.

    output: The start.
    source, target: The sides of texts, as many of the one as of the other.
    joint_file: Texts with both sides in one file; they come after the others.
    model: Teachers, one for each text; empty: they are trained.
    """

    output: str
    source: Sequence[str] = ()
    target: Sequence[str] = ()
    joint_file: Sequence[str] = ()
    model: Sequence[str] = ()

    def check(self, reading: Reading) -> None:
        """Refuse what does not go together."""
        if len(self.source) != len(self.target) or not (self.source or self.joint_file):
            as_many = "`source` and `target`, as many of the one as of the other, or `joint_file`"
            raise UsageProblem(f"give a text to teach from: {as_many}")
        texts, models = len(self.source) + len(self.joint_file), len(self.model)
        if models not in (0, texts):
            once = "`model` comes once for each text or not at all"
            raise UsageProblem(f"{once}; there are {texts} texts and {models} `model`")
        if self.model and reading.case_sensitive:
            raise UsageProblem("`model` takes a teacher as it is; `case_sensitive` is for one that is trained here")

    def texts(self, split: str | None) -> list[TeachingText]:
        """Return the texts as functions take them."""
        sides = zip(self.source, self.target, strict=True)
        texts: list[TeachingText] = [(text_path(s, split), text_path(t, split)) for s, t in sides]
        return texts + [text_path(joint, split) for joint in self.joint_file]


def teach_by_files(
    files: TeachingFiles, settings: TeachingSettings, reading: Reading, run: Run, watch: Watch, *, verify: bool = True
) -> None:
    """Teach a start and save it.

    Raises UsageProblem when files and options do not go together. Raises DataError when a file cannot be read or
    written, or a text is too small.
    """
    files.check(reading)
    with pool_of(run.threads) as pool:
        aligners = [Aligner.load(path, threads=pool, verify=verify) for path in files.model] or None
        texts = files.texts(reading.split)
        start = teach(texts, settings, aligners=aligners, reading=reading, run=Run(threads=pool), progress=watch)
        start.save(files.output)
    watch.close()
    students = sum(sum(text["students"].values()) for text in start.about["texts"])
    pairs = sum(text["pairs"] for text in start.about["texts"])
    what = "text" if len(texts) == 1 else "texts"
    watch.say(f"taught by {pairs} pairs of {len(texts)} {what} and {students} students")
