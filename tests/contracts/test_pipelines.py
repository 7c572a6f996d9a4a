"""What commands keep that take a text through a model: a sentence in, a sentence out, however it is worked on."""

import re

import pytest

import aligntools as at
from aligntools.aligning import aligner
from aligntools.aligning.contrastive import aligner as contrastive_aligner
from aligntools.constituents.model import ConstituentModel
from aligntools.formats.annotation.tagged_text import parse_text
from aligntools.ground.parallel import Pool
from aligntools.parsing.parsers import Parser
from aligntools.pipeline import Part, Request, Sinks, Tally, Worked, map_parts, parts_of, write_parts
from aligntools.tagging import tag_files
from aligntools.tagging.taggers import Tagger
from aligntools.tools import parse_files
from aligntools.translating import translation_files
from aligntools.translating.translator import Translator
from tests import models
from tests.cli.running import ran, run, through_head
from tests.cli.test_translate import GRAMMAR, LM

WORDS = b"The man sleeps .\n\nzzyzx \xff , the\nWe know the answer .\n\nHamburg\nIt was in the house\n"
TAGGED = b"The_DET man_NOUN sleeps_VERB ._PUNCT\n\nzzyzx_NEW\nWe_PRON know_VERB\n\nRain_NOUN\nIt_PRON was_OLD in_ADP\n"
GERMAN = b"das haus ist klein\n\nhaus qu\xffx\ndas\n\nklein\ndas das haus ist klein\n"
SENTENCES = 7
#: The text of each command, where it takes its parts from, and what works on a part.
COMMANDS = {
    "tag": (WORDS, tag_files, (Tagger, "tag_text")),
    "parse": (TAGGED, parse_files, (Parser, "parse_text")),
    "trees": (WORDS, parse_files, (ConstituentModel, "parse")),
    "translate": (GERMAN, translation_files, (Translator, "translate_batch")),
}
#: What is written in the place of one answer a sentence, or beside it.
LISTS = {
    "tag": (("--n-best", 2), ("--samples", 3), ("--scores", "OUT", "--posteriors", "OUT.2")),
    "trees": (("--n-best", 2), ("--samples", 3)),
    "translate": (("--n-best", 2, "--hypergraphs", "OUT", "--derivations", "OUT.2"), ("--samples", 3)),
}
LISTED = [(name, more) for name, rows in LISTS.items() for more in rows]
every_command = pytest.mark.parametrize("name", COMMANDS)


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """The beginning of each command's line, with a model."""
    folder = tmp_path_factory.mktemp("pipelines")
    (folder / "grammar").write_text(GRAMMAR)
    (folder / "lm").write_text(LM)
    return {
        "tag": ("tag", "-m", models.model("small-tagger")),
        "parse": ("parse", "-m", models.model("small-parser")),
        "trees": ("parse", "-m", models.model("trees")),
        "translate": ("translate", "--grammar", folder / "grammar", "--lm", folder / "lm"),
    }


def answers(name, output):
    """Return the answers of an output: lines, or the blocks of CoNLL."""
    return re.findall(rb"(?:.+\n)*\n" if name == "parse" else rb".*\n", output)


def done(line, *more, stdin=b""):
    """Run a command that ends well; return its output and what it says, without the time."""
    found = ran(*line, *more, stdin=stdin)
    return found.stdout, re.sub(rb" in [\d.]+ s.*", b"", found.stderr)


@every_command
def test_a_sentence_out_for_each_sentence_in(lines, name):
    out = done(lines[name], stdin=COMMANDS[name][0])[0]
    assert len(answers(name, out)) == SENTENCES
    assert b"".join(answers(name, out)) == out
    for text in (b"", b"\n", COMMANDS[name][0][:-1]):
        assert len(answers(name, done(lines[name], stdin=text)[0])) == text.count(b"\n") + (text[-1:] > b"\n")


@every_command
def test_several_texts_are_one_output(lines, name, tmp_path):
    text = COMMANDS[name][0]
    (tmp_path / "a").write_bytes(text)
    (tmp_path / "b").write_bytes(b"".join(text.splitlines(True)[2:4]))
    own = [done(lines[name], tmp_path / one)[0] for one in ("a", "b")]
    assert done(lines[name], tmp_path / "a", tmp_path / "b")[0] == b"".join(own)
    assert done(lines[name], tmp_path / "a", "-o", tmp_path / "out")[0] == b""
    assert (tmp_path / "out").read_bytes() == own[0]


@every_command
def test_parts_threads_and_workers_do_not_show(lines, name, tmp_path, monkeypatch):
    """Nor in what is said, by numbers of sentences that count on in each text."""
    (tmp_path / "a").write_bytes(COMMANDS[name][0])
    line = (*lines[name], "-v", tmp_path / "a", tmp_path / "a")
    whole = done(line)
    for size, *more in ((1,), (2, "--threads", 1), (3, "--workers", 1), (100, "--threads", 2)):
        for part in ("PART", "TREE_PART", "JOB"):
            monkeypatch.setattr(COMMANDS[name][1], part, size, raising=False)
        assert done(line, *more) == whole


@pytest.mark.parametrize(("name", "more"), LISTED)
def test_nor_in_lists_and_in_other_outputs(lines, name, more, tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(COMMANDS[name][0])
    line = (*lines[name], tmp_path / "a", tmp_path / "a", *(tmp_path / m if str(m)[:3] == "OUT" else m for m in more))
    found = []
    workers = [(3, "--workers", 1)] if more == LISTS[name][0] else []  # each starts a process, for a second
    for size, *own in ((100,), (2, "--threads", 2), *workers):
        if "--samples" in more and name == "translate":
            size = 100  # what is drawn of a translation depends on its place in its part
        for part in ("PART", "TREE_PART", "JOB"):
            monkeypatch.setattr(COMMANDS[name][1], part, size, raising=False)
        found.append((*done(line, *own), *(path.read_bytes() for path in sorted(tmp_path.glob("OUT*")))))
    assert found[1:] == found[:1] * (len(found) - 1)
    if more[0] in ("--n-best", "--samples"):  # numbers go on in the next text
        assert int(found[0][0].splitlines()[-1].split(b" ")[0]) == 2 * SENTENCES - 1


@every_command
def test_answers_at_once_are_those_of_a_whole_text(lines, name, tmp_path):
    text = COMMANDS[name][0]
    (tmp_path / "a").write_bytes(text)
    assert done(lines[name], "--unbuffered", stdin=text) == done(lines[name], stdin=text)
    twice = (tmp_path / "a", tmp_path / "a")
    assert done(lines[name], "--unbuffered", *twice) == done(lines[name], *twice)


@every_command
def test_a_line_that_fails_has_a_blank_answer(lines, name, monkeypatch):
    """So has one that is too long; what is said of the others does not change."""
    text, _, (kind, method) = COMMANDS[name]
    rows, work, left = text.splitlines(True), getattr(kind, method), [2]

    def failing(*args, **more):
        left[0] -= 1
        if left[0] == 0:
            raise MemoryError
        return work(*args, **more)

    rows[4] = rows[3].split(b" ")[0].strip() + b" "
    whole = done(lines[name], stdin=b"".join([rows[0], b"\n", *rows[2:4], b"\n", *rows[5:]]))
    monkeypatch.setattr(kind, method, failing)
    rows[1], rows[4] = rows[2], rows[4] * 30_001 + b"\n"
    out, said = done(lines[name], "--unbuffered", stdin=b"".join(rows))
    blank = b"blank answers for: 1 failed, 1 over-long; first at <stdin>:2: out of memory\n"
    assert out == whole[0]
    assert said.replace(blank, b"") == whole[1]
    assert blank in said


@every_command
def test_what_is_wrong_is_said_after_what_was_right(lines, name, tmp_path, monkeypatch):
    for part in ("PART", "TREE_PART", "JOB"):
        monkeypatch.setattr(COMMANDS[name][1], part, 2, raising=False)
    (tmp_path / "a").write_bytes(COMMANDS[name][0])
    whole = done(lines[name], tmp_path / "a")[0]
    workers = [("--workers", 1)] if name in ("tag", "translate") else []
    found = [run(*lines[name], tmp_path / "a", tmp_path / "none", *more) for more in ((), *workers)]
    for one in found:
        assert one.returncode == 1
        assert one.stderr.startswith(b"error: ")
        assert one.stderr.endswith(b"No such file or directory\n")
        assert one.stdout == (b"" if name == "translate" else whole)  # whose texts are read before its grammar
    failed = run(*lines[name], tmp_path / "a", tmp_path / "none", "-o", tmp_path / "out")
    assert failed.returncode == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["translate", "align", "symmetrize"])  # of which each has a way of writing
def test_a_closed_pipe_ends_quietly(lines, pairs, name, tmp_path):
    line = {"symmetrize": ("symmetrize", "-c", "convert"), "align": pairs[1]["align"]} | lines
    text = {"symmetrize": b"0-0 1-1\n" * 40, "align": pairs[0].read_bytes()} | {k: v[0] for k, v in COMMANDS.items()}
    (tmp_path / "long").write_bytes(text[name] * 5000)
    first, status, errors = through_head(*line[name], "-q", *(["-i"] if name == "align" else []), tmp_path / "long")
    assert (first[-1:], status, errors) == (b"\n", 0, b"")


@pytest.mark.parametrize("requests", [False, True])
def test_nothing_is_read_before_what_came_before_is_written(requests):
    """So memory does not grow with a text, and who asks line by line has an answer to each."""
    seen = []

    class Seen(Sinks):
        def write(self, written, flush=True):
            seen.append(("written", written["output"]))

    def read(path):
        for number in range(4):
            seen.append(("read", b"%d" % number))
            text = parse_text([b"%d" % number], number + 1)
            yield Request(text, number + 1) if requests else text

    def work(model, part, pool):
        return Worked({"output": part.text.words[0]}, {"sentences": len(part.text)})

    tally = Tally()
    with Pool(1) as pool:
        done = map_parts(work, None, parts_of(["a", "b"], read), at.Run(), pool, tally)
        write_parts(done, Seen(), tally, None)
    assert seen == [(what, b"%d" % number) for number in range(4) for what in ("read", "written")] * 2
    assert tally.counts["sentences"] == 8


def test_the_first_places_and_a_few_names_are_kept():
    tally = Tally()
    for part in (Part("-", 0, 0, None), Part("b", 4, 9, None)):
        tally.add(Worked({}, {"odd": 2}, {"odd": part.place(1)}, {"odd": [b"%d" % k for k in range(9)]}))
    assert (tally.counts["odd"], tally.places["odd"], tally.names("odd")) == (4, "<stdin>, sentence 2", "0 1 2 3 4")
    assert part.place(0) == "b, sentence 5"
    assert list(tally.lines()) == []


#: Where the commands of `pairs` take their parts from.
ALIGNERS = {"align": aligner, "contrastive": contrastive_aligner}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """A text of both sides, with lines that get a blank answer, and what aligns it."""
    text = tmp_path_factory.mktemp("pairs") / "text"
    text.write_bytes(b"das Haus ||| the house\n\nein Buch ||| a book\nx \xff ||| y\ndas Buch ||| the book\n")
    model = ("-m", models.model("align"))
    return text, {
        "align": ("align", *model),
        "contrastive": ("contrastive-align", *model, "-w", models.model("weights")),
    }


@pytest.mark.parametrize("name", ALIGNERS)
def test_pairs_are_answered_the_same_however_they_are_worked_on(pairs, name, monkeypatch, tmp_path):
    text, lines = pairs
    whole = done(lines[name], "-i", text)
    assert whole[0].count(b"\n") == text.read_bytes().count(b"\n")
    flushed, write = [], Sinks.write
    with monkeypatch.context() as patch:
        patch.setattr(Sinks, "write", lambda self, out, flush=True: flushed.append(flush) or write(self, out, flush))
        assert done(lines[name], "-i", text, "--unbuffered") == whole
    assert flushed.count(True) == whole[0].count(b"\n")
    (tmp_path / "bad").write_bytes(b"no separator\n" * 2)
    assert run(*lines[name], "-i", tmp_path / "bad", "--unbuffered").stdout == b"\n" * 2  # an answer to any line
    monkeypatch.setattr(ALIGNERS[name], "JOB", 2)
    for more in (("--threads", 2), ("--workers", 1)):
        assert done(lines[name], "-i", text, *more) == whole


@pytest.mark.parametrize("name", ALIGNERS)
def test_a_pair_that_fails_has_a_blank_answer(pairs, name, monkeypatch):
    text, lines = pairs
    whole, left, texts = done(lines[name], "-i", text)[0].split(b"\n"), [3], aligner.text_of

    def failing(*args):
        left[0] -= 1
        if left[0] == 0:
            raise MemoryError
        return texts(*args)

    monkeypatch.setattr(ALIGNERS[name], "text_of", failing)
    out, said = done(lines[name], "-i", text, "--unbuffered")
    assert out.split(b"\n") == [*whole[:2], b"", *whole[3:]]
    assert b"blank answers for: 1 failed; first at %s:3: out of memory\n" % str(text).encode() in said
