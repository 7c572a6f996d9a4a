"""align, tag, parse and translate on a live pipe: an answer to everything, at once, and a quiet end."""

import contextlib
import signal
import subprocess
import sys
import threading

import pytest

from tests.cli.running import ROOT
from tests.cli.test_translate import GRAMMAR, LM
from tests.models import model

CONLL = b"".join(b"%d\t%s\t_\t%s\t_\t_\t_\t_\t_\t_\n" % row for row in ((1, b"dogs", b"NOUN"), (2, b"sleep", b"VERB")))
BLANK_TREE = b"# text =\n\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    (folder / "grammar").write_text(GRAMMAR)
    (folder / "lm").write_text(LM)
    return {
        "align": ("align", "-m", model("align"), "-i", "-"),
        "tag": ("tag", "-m", model("tagger")),
        "parse": ("parse", "-m", model("parser")),
        "translate": ("translate", "--grammar", folder / "grammar", "--lm", folder / "lm"),
    }


class Live:
    """A command whose standard input and output are pipes."""

    def __init__(self, *args):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "aligntools", *map(str, args), "--unbuffered", "--threads", "1"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT,
        )  # fmt: skip
        self.watchdog = threading.Timer(100, self.process.kill)  # an answer that never comes fails the test
        self.watchdog.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.watchdog.cancel()
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def ask(self, data, block=False):
        """Return the line, or the lines up to a blank one, that answers this."""
        self.send(data)
        answer = line = self.process.stdout.readline()
        while block and line.strip():
            line = self.process.stdout.readline()
            answer += line
        return answer

    def end(self):
        """Return what comes after the last answer, the status, and the messages."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        out = self.process.stdout.read()  # not communicate(), which passes over what readline() has in its buffer
        messages = self.process.stderr.read()
        return out, self.process.wait(), messages.decode()


ASKED = {
    "align": (b"Der Zug . ||| The train .\n", b"0-0 1-1 2-2\n"),
    "tag": (b"My sister leaves .\n", b"My_PRON sister_NOUN leaves_VERB ._PUNCT\n"),
    "translate": (b"das haus\n", b"the house\n"),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_line_in_a_line_out_whatever_it_is(models, name):
    (asked, answer), align = ASKED[name], name == "align"
    with Live(*models[name]) as live:
        assert live.ask(b"\n") == b"\n"  # first: nothing is waited for to tell the format
        assert live.ask(asked) == answer
        for line in (b"\xff\xfe \xff", b"x" * (1 << 20), b"\0\r", "\u2028 \ufeff".encode()):
            found = live.ask(line + (b" ||| a\n" if align else b"\n"))
            assert found.endswith(b"\n")
        assert live.ask(b"a " * 30_001 + (b"||| b\n" if align else b"\n")) == b"\n"
        assert live.ask(b"y" * (5 << 20) + b"\n") == b"\n"
        assert live.ask(asked) == answer
        out, status, messages = live.end()
    assert (out, status) == (b"", 0), messages
    assert "2 over-long" in messages
    assert "Traceback" not in messages


def test_a_sentence_in_a_tree_out(models):
    with Live(*models["parse"]) as live:
        tree = live.ask(CONLL + b"\n", block=True)
        assert [line.split(b"\t")[6] for line in tree.splitlines()[:2]] == [b"2", b"0"]
        assert live.ask(b"1\tno\tcolumns\n\n", block=True) == BLANK_TREE
        assert live.ask(b"dogs sleep\n\n", block=True) == BLANK_TREE
        assert live.ask(b"1\t" + b"x" * (5 << 20) + b"\n\n", block=True) == BLANK_TREE
        assert live.ask(CONLL + b"\n", block=True) == tree
        live.send(CONLL)
        out, status, messages = live.end()
    assert (out.strip(), status) == (tree.strip(), 0), messages
    assert "blank answers for: 2 malformed, 1 over-long; first at <stdin>:4" in messages
    with Live(*models["parse"]) as live:
        assert live.ask(b"\n", block=True) == BLANK_TREE
        tree = live.ask(b"dogs_NOUN sleep_VERB\n", block=True)
        assert [line.split(b"\t")[6] for line in tree.splitlines()[:2]] == [b"2", b"0"]
        assert live.ask(b"dogs sleep\n", block=True) == BLANK_TREE
        assert live.ask(b"dogs_NOUN sleep_VERB\n", block=True) == tree


@pytest.mark.parametrize("name", ASKED)
def test_sigterm_ends_it_when_what_was_read_is_answered(models, name):
    asked, answer = ASKED[name]
    with Live(*models[name]) as live:
        assert live.ask(asked) == answer
        live.send(asked * 50)
        assert live.process.stdout.readline() == answer  # all 50 have been read, as they came in one piece
        live.process.send_signal(signal.SIGTERM)
        out, status, messages = live.end()
    assert status == 143, messages
    assert out == answer * 49


def test_sigterm_ends_a_service_that_waits(models):
    with Live(*models["tag"]) as live:
        live.ask(b"dogs\n")
        live.process.send_signal(signal.SIGTERM)
        assert live.end()[:2] == (b"", 143)
