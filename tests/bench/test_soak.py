"""The soak test: what it sends and what it sees."""

import sys

from bench import soak


def test_requests_and_answers():
    for name in ("align", "tag", "parse", "translate"):
        asked = list(soak.requests(name, 300, 1))
        assert asked == list(soak.requests(name, 300, 1)) != list(soak.requests(name, 300, 2))
        assert len(asked) == 300
        assert all(line.count(b"\n") == 1 and line.endswith(b"\n") for line in asked)
        assert b"\n" in asked
        assert any(b"\xff" in line for line in asked)
    echo = [sys.executable, "-c", "import sys, time\nfor k, line in enumerate(sys.stdin.buffer):\n    if k != 7:\n"
            "        sys.stdout.buffer.write(line); sys.stdout.buffer.flush()\ntime.sleep(0.5)"]  # fmt: skip
    found = soak.soak(echo, [b"x\n"] * 40, 40, "tag")
    assert (found["requests"], found["answers"], found["status"]) == (40, 39, 0)
    assert len(found["seconds"]) == len(found["cpu"]) == 9  # the last tenth lacks an answer
    assert found["memory"][0] > 1 << 20
    trees = soak.soak([echo[0], echo[1], echo[2].replace("7", "-1")], [b"x\n", b"\n"] * 20, 40, "parse")
    assert trees["answers"] == 20
