"""Teaching the contrastive aligner's start by large text, without gold links: from Python, and by files."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, Union, Unpack

import numpy as np

from aligntools.aligning.aligner import Aligner, check_lengths
from aligntools.aligning.alignment import read_bitext
from aligntools.aligning.applying.applier import Applier, decide
from aligntools.aligning.applying.kernels_decoding import JOINT
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidate_links import CandidateLinks
from aligntools.aligning.contrastive.candidates import CELLS, CandidateFinder, mean
from aligntools.aligning.contrastive.network_learning import STEP, Lesson, fit, part_of
from aligntools.aligning.contrastive.settings import GIVEN, LARGEST, STARTS, TeachingSettings
from aligntools.aligning.contrastive.weights import ContrastiveStart
from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.settings import AlignerSettings
from aligntools.aligning.training.train_model import train_model
from aligntools.formats.inputs.sentences import Sentences, text_path
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.bitext import name_of
from aligntools.formats.text.corpus import Bitext, in_ids_of, pick, with_own_words
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import Pool, pool_of
from aligntools.ground.progress import Progress, Step, Watch, reporter
from aligntools.ground.run import Report, Run

if TYPE_CHECKING:
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
    given = Keywords("teach", options)
    settings = given.take(TeachingSettings, settings)
    reading, run = given.take(Reading, reading), given.take(Run, run)
    given.end()
    texts = list(texts)
    if not texts:
        raise UsageProblem("there is no text to teach from")
    if aligners is not None and len(aligners) != len(texts):
        raise UsageProblem(f"{len(aligners)} aligners for {len(texts)} texts; give one for each text, or none")
    tell, found = reporter(progress), []

    def told(stage: str) -> Report:
        return lambda figures: tell(Step(stage.format(**figures), None, None, figures))

    with pool_of(run.threads) as pool:
        for n, text in enumerate(texts):
            aligner = aligners[n] if aligners is not None else None
            if aligner is not None and aligner.settings.direction != "both":
                raise UsageProblem("a teacher has one direction alone; this needs one with both")
            lowercase = aligner.model.lowercase if aligner is not None else not reading.case_sensitive
            bitext = text
            if not isinstance(bitext, Bitext):
                cased = replace(reading, case_sensitive=not lowercase)
                bitext = read_bitext(*(text if isinstance(text, tuple) else (text, None)), reading=cased)
            check_lengths(bitext)
            tell(Step("reading", None, None, {"text": n + 1, "of": len(texts), "lines": len(bitext)}))

            check_size(bitext, settings, name_of(text[0] if isinstance(text, tuple) else text))
            if aligner is None:  # a model of all of the text, of every view
                own = AlignerSettings(views=TEACHER_VIEWS, seed=settings.seed).resolved(len(bitext.source.tokens))
                teacher = train_model(bitext, own, pool, lowercase=lowercase, report=told("teacher, {stage}"))
            else:
                teacher = aligner.model
            parts, about = lessons_of(bitext, teacher, settings, pool, told("students"), n)
            sides = text if isinstance(text, tuple) else (text,)  # without folders, which say nothing to others
            own_files = [os.path.basename(os.fspath(side)) for side in sides if isinstance(side, str | os.PathLike)]
            name = names[n] if names is not None else ", ".join(own_files) or f"text {n + 1}"
            found.append((parts, {"name": name} | about))

        return learn_start(found, settings, pool, told("network"))


def resolved_start(start: SomeStart | None) -> tuple[str | None, ContrastiveStart | None]:
    """Return what settings call a start, and the start itself where it is given."""
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

    joint_file: Texts with both sides in one file; they come after the others.
    model: Teachers, one for each text; empty: they are trained.
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


# Teaching the network that judges links by scale: a model of much text corrects models of little text.
#
# A *teacher* is a model of a large text. *Students* are models of samples of it, of several sizes. *Lessons* are
# sentence pairs that both align: the student's candidates are the questions, the teacher's posteriors the answers. So
# no gold links are needed, and there can be any number of lessons. The network learns how far a small model's
# features can be trusted, whatever the language, and so helps with languages of which there is only a small text.
#
# Large texts are often made of several kinds of text. So a student's sample comes from one stretch of the text, and
# half of the lessons of larger students from other places: they are of another domain than the student's text.

#: Pairs with a longer side, or with less than two words on one, are no lessons.
LONGEST = 60
#: Students up to this size have lessons only from their own text.
SMALL = 300
#: A student's stretch is so many times its size, and at most this share of the text.
STRETCH, WIDEST = 4, 0.75
#: A student with so many candidates has weight 1 for each; larger ones have less for each, smaller ones more.
SHARE = 8000.0
#: By how much a teacher's log-odds are moved towards its decision; least distance of posteriors from 0 and 1.
DECIDED, SURE = 1.0, 1e-6
#: Nothing is learned from teachers all of whose links have a probability below this, or above 1 less this.
LEAST = 0.02
#: Weight of the base model's own log-odds; that of the network's is 1.
LEAN = 1.0
#: Views of the teacher's words, whatever the size of its text.
TEACHER_VIEWS = (0, 5, 4, 3)


#: Lessons from one text: of each student candidates with the teacher's probabilities; and what is said of it.
Lessons: TypeAlias = tuple[list[Lesson], dict[str, Any]]


def draw(bitext: Bitext, size: int, lessons: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Draw a student's pairs, longer ones more often; return them, lessons first, and the number of lessons."""
    lengths = np.stack([bitext.source.lengths(), bitext.target.lengths()])
    fit = np.flatnonzero((lengths.min(0) > 1) & (lengths.max(0) <= LONGEST))
    words = lengths.min(0).astype(np.float64)

    def some(rows: np.ndarray, n: int) -> np.ndarray:
        n = min(n, len(rows))
        return rng.choice(rows, n, replace=False, p=words[rows] / words[rows].sum()) if n else rows[:0]

    width = min(len(fit), max(int(WIDEST * len(fit)), size), max(STRETCH * size, 4 * lessons))
    at = int(rng.integers(0, len(fit) - width + 1))
    inside, outside = fit[at : at + width], np.concatenate([fit[:at], fit[at + width :]])
    own = some(inside, size)
    far = some(outside, lessons if size > SMALL else 0)
    return np.concatenate([own[:lessons], far, own[lessons:]]), min(lessons, len(own)) + len(far)


def answers(applier: Applier, text: Bitext, candidates: CandidateLinks, pool: Pool) -> np.ndarray:
    """Return a teacher's probabilities of candidates, float32 [candidates]; the text is in its ids.

    Posteriors do not tell what `align` decides: whether a further link of a word is made depends on where it is. So
    their log-odds are moved by DECIDED towards the decision.
    """
    out = np.zeros(len(candidates.rows), np.float32)
    lengths = text.target.lengths()
    threshold = applier.settings.threshold(len(applier.models) + (applier.subwords is not None))
    for p in applier.posteriors(text, pool):
        size = int(p.cell_offsets[-1])
        means, linked = mean(p.forward[:size], p.reverse[:size]), np.zeros(size, bool)
        own = lengths[p.k0 : p.k1]
        links = Links(*decide(p, JOINT, threshold, pool)[:2])
        k = links.sentences()
        linked[p.cell_offsets[k] + links.pairs[:, 0] * own[k] + links.pairs[:, 1]] = True
        a, b = candidates.starts[p.k0], candidates.starts[p.k1]
        k = np.repeat(np.arange(p.k1 - p.k0), np.diff(candidates.starts[p.k0 : p.k1 + 1]))
        cells = p.cell_offsets[k] + candidates.rows[a:b] * own[k] + candidates.columns[a:b]
        means = np.clip(means[cells].astype(np.float64), SURE, 1 - SURE)
        odds = np.log(means / (1 - means)) + np.where(linked[cells], DECIDED, -DECIDED)
        out[a:b] = 1 / (1 + np.exp(-odds))
    return out


def check_size(bitext: Bitext, settings: TeachingSettings, name: str) -> None:
    """Refuse a text that is too small for any student; ``name`` is what messages call it."""
    if not len(bitext.source.tokens):
        raise DataError(
            name, max(len(bitext), 1), "up to here every line has a blank side; there is nothing to teach from"
        )
    if not settings.drawn(len(bitext)):
        problem = f"{len(bitext)} pairs teach no student of {min(settings.students)}: there must be"
        raise DataError(
            name, len(bitext), f"{problem} {1 / LARGEST:g} times as many; give more text or smaller students"
        )


def lessons_of(
    bitext: Bitext,
    teacher: AlignmentModel,
    settings: TeachingSettings,
    pool: Pool,
    report: Report | None = None,
    number: int = 0,
) -> Lessons:
    """Train students of a text; return their candidates with the teacher's answers.

    report: Called after each student with a dict: student (its pairs), candidates; ``number`` is the text's.
    """
    drawn = settings.drawn(len(bitext))
    applier = Applier(teacher.views, teacher.settings, teacher.sizes, CELLS, teacher.subwords)
    parts = []
    for size, draws, views in drawn:
        rng = np.random.default_rng([settings.seed, number, size, draws])
        rows, n = draw(bitext, size, settings.lessons, rng)
        text, asked = with_own_words(pick(bitext, rows)), pick(bitext, rows[:n])
        own = AlignerSettings(views=views, seed=settings.seed).resolved(len(text.source.tokens))
        student = train_model(text, own, pool, lowercase=teacher.lowercase)
        candidates = CandidateFinder(student, pool).find_all(pick(text, np.arange(n)))
        known = in_ids_of(asked, teacher.source_vocabulary, teacher.target_vocabulary, teacher.lowercase)
        links = answers(applier, known, candidates, pool)
        share = np.float32((SHARE / max(len(links), 1)) ** 0.5)
        parts.append(part_of(candidates, links, np.full(len(links), share)))
        if report:
            report({"student": size, "candidates": len(candidates.rows)})
    sizes = sorted({size for size, _, _ in drawn})
    return parts, {"pairs": len(bitext), "students": {str(s): sum(x == s for x, _, _ in drawn) for s in sizes}}


def learn_start(
    lessons: Iterable[Lessons], settings: TeachingSettings, pool: Pool, report: Report | None = None
) -> ContrastiveStart:
    """Learn the network that judges links from lessons; the start's weights rest on it and on the base model.

    UsageProblem when teachers link nothing, or all that students ask about.
    """
    lessons = list(lessons)
    parts = [part for own, _ in lessons for part in own if len(part.links)]
    if not any(part.links.max() > LEAST for part in parts) or not any(part.links.min() < 1 - LEAST for part in parts):
        raise UsageProblem("every training example has the same label; give more text")
    passes = settings.enough(2 * sum(len(part.links) for part in parts) / STEP)
    (network,) = fit([parts], settings.networks, passes, pool, settings.seed, report)
    weights = np.zeros(kf.FEATURES)
    weights[[kf.TREES, kf.POSTERIOR]] = 1.0, LEAN
    about = {"texts": [about for _, about in lessons], "lessons": settings.lessons}
    return ContrastiveStart(network, weights, {**about, "passes": passes, "seed": settings.seed})
