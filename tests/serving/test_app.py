"""A service over HTTP: what it answers, what it refuses, and its page in a browser."""

import json
import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aligntools.words.tokenizers import tokenizer
from tests.places import SAMPLES
from tests.serving.services import asked, served

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
client_of = pytest.importorskip("starlette.testclient", exc_type=Exception).TestClient

from aligntools.serving.answers import Answers, ServiceLimits  # noqa: E402
from aligntools.serving.app import application  # noqa: E402
from aligntools.serving.service import listening_at  # noqa: E402

PAIR = {"source": "Der Zug fährt um acht Uhr ab.", "target": "The train leaves at eight o'clock."}


@pytest.fixture(scope="module")
def client(model):
    limits = ServiceLimits(max_body=20_000, max_pairs=10, max_words=20)
    with client_of(application({"de-en": model, "other": model}, limits, threads=2)) as client:
        yield client


def test_links_have_probabilities_and_places_in_the_text(client, model):
    found = client.post("/align", json=PAIR).json()
    spans = [found[side]["spans"] for side in ("source", "target")]
    words = [found[side]["words"] for side in ("source", "target")]
    expected = ["Der Zug fährt um acht Uhr ab .", "The train leaves at eight o'clock ."]
    assert [" ".join(side) for side in words] == expected
    assert [[PAIR[name][a:b] for a, b in own] for name, own in zip(PAIR, spans, strict=True)] == words
    own = model.align(*words)
    assert [(link["source"], link["target"]) for link in found["links"]] == own.links
    assert [link["probability"] for link in found["links"]] == pytest.approx(own.probabilities.tolist(), abs=1e-4)
    tokenized = client.post("/align", json={"source": "Der  Zug", "target": "The train", "tokenized": True}).json()
    assert tokenized["source"] == {"words": ["Der", "Zug"], "spans": [[0, 3], [5, 8]]}
    sure = client.post("/align", json=PAIR | {"threshold": 0.9999, "model": "other"}).json()
    assert sure["model"] == "other"
    assert len(sure["links"]) < len(found["links"])


def test_bad_pairs_and_checks(client):
    bad = [{"source": "", "target": "x"}, 5, {"source": 3, "target": "x"}, {"source": "a " * 21, "target": "x"}]
    bad += [{"source": ["a b"], "target": "x"}, {"source": ["\u3000"], "target": "x"}]
    bad += [{"source": "\ud800", "target": "x"}]
    body = json.dumps({"pairs": [PAIR, *bad, PAIR]})
    for route in ("/align", "/check", "/transfer-markup"):
        found = client.post(route, content=body, headers={"Content-Type": "application/json"}).json()["pairs"]
        assert [list(pair) == ["error"] for pair in found] == [False, *[True] * 7, False], route
        assert found[0] == found[-1]
    alone = client.post("/align", json=bad[0])
    assert (alone.status_code, alone.json()) == (422, {"error": "'source' has no words"})
    target = "The train leaves at at eight o'clock."
    found = client.post("/check", json=PAIR | {"target": target}).json()
    (span,) = found["repeated"]
    assert target[span["begin_character"] : span["end_character"]] == "at" == span["text"]
    assert found["problems"] == ["repeated"]


def test_tags_are_carried_over(client):
    found = client.post("/transfer-markup", json=PAIR | {"source": "Der <b>Zug</b> fährt um acht Uhr ab."}).json()
    assert found["target"] == "The <b>train</b> leaves at eight o'clock."
    (tag,) = found["tags"]
    assert (tag["tag"], PAIR["target"][tag["begin"] : tag["end"]]) == ("<b>", "train")
    assert 0 < tag["confidence"] <= 1
    lost = client.post(
        "/transfer-markup", json={"source": "Der {0} fährt <b>ab</b>.", "target": "It leaves {1}."}
    ).json()
    assert (lost["missing"], lost["added"]) == (["{0}"], ["{1}"])
    link = '<a href="https://www.example.org/de/fahrplan?nr=0&amp;tag=2024-05-01" class="external text">Zug</a>'
    found = client.post("/transfer-markup", json=PAIR | {"source": f"Der {link} fährt {link} um acht <b/> Uhr ab."})
    assert found.json()["target"].count("<a ") == 2  # 20 words at most: those of the text alone
    broken = client.post("/transfer-markup", json=PAIR | {"source": "Der <b>Zug"})
    assert broken.status_code == 422
    assert "not closed" in broken.json()["error"]


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        ("{", 422, "not JSON"),
        ("[]", 422, "a JSON object"),
        ('{"source": "a"}', 422, "'source' and 'target'"),
        ('{"pairs": 3}', 422, "'pairs' is a list"),
        ('{"source": "a", "target": "b", "model": "x"}', 422, "no such model; there are de-en, other"),
        ('{"source": "a", "target": "b", "threshold": 2}', 422, "'threshold'"),
        ('{"source": "a", "target": "b", "tags": 2}', 422, "'tags'"),
        ('{"source": "a", "target": "b", "tokenize": "german"}', 422, "such as de-en, not 'german'"),
        ('{"source": "a", "target": "b", "tokenize": 3}', 422, "'tokenize'"),
        ('{"source": "a", "target": "b", "tokenizer": "icu"}', 422, "'tokenizer' goes with 'tokenize'"),
        ('{"source": "a", "target": "b", "tokenize": "de-en", "tokenized": true}', 422, "'tokenized' out"),
        (json.dumps({"pairs": [PAIR] * 11}), 413, "11 pairs, over 10"),
        ("x" * 20_001, 413, "over 20000 bytes"),
    ],
)
def test_what_is_wrong_with_a_request_is_said(client, body, status, why):
    answer = client.post("/align", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status
    assert why in answer.json()["error"]


def test_other_pages_cannot_ask_and_the_interface_is_described(client):
    assert client.post("/align", content="{}", headers={"Content-Type": "text/plain"}).status_code == 415
    described = client.get("/openapi.json").json()
    assert set(described["paths"]) == {"/align", "/check", "/transfer-markup"}
    for route, path in described["paths"].items():
        example = path["post"]["requestBody"]["content"]["application/json"]["example"]
        assert client.post(route, json=example).status_code == 200
    assert "/transfer-markup" in client.get("/docs").text
    assert "connect-src &#39;self&#39;" in client.get("/").text


def test_words_are_found_as_a_request_asks(client):
    pytest.importorskip("icu4py.breakers", exc_type=Exception)
    given = {"source": "Er hat's z.B. dort!", "target": "He isn't there, e.g. now."}
    expected = []
    for name in ("moses", "icu"):
        found = client.post("/align", json=given | {"tokenize": "de-en", "tokenizer": name}).json()
        for side, language in (("source", "de"), ("target", "en")):
            expected.append(tokenizer(language, name)(given[side].encode()).decode().split(" "))
            assert found[side]["words"] == expected[-1]
    assert expected[:2] != expected[2:]
    assert client.post("/align", json=given | {"tokenize": "icu"}).status_code == 200
    for route in ("/check", "/transfer-markup"):
        assert client.post(route, json=given | {"tokenize": "de-en"}).status_code == 200


def test_requests_that_come_together_are_answered_as_alone(client, model):
    texts = [line.split(" ||| ") for line in (SAMPLES / "de-en.txt").read_text("utf-8").splitlines()[:40]]
    asked = [{"source": s[:60], "target": t[:60], "tokenized": True} for s, t in texts]
    alone = [client.post("/align", json=body).json() for body in asked]
    answers = Answers({"de-en": model}, ServiceLimits())
    with ThreadPoolExecutor(20) as pool:
        together = list(pool.map(answers.align, asked))
    assert json.loads(json.dumps(together)) == alone


def test_too_many_and_too_slow_requests_are_refused(model, monkeypatch):
    ending, begun = threading.Event(), threading.Event()

    def slow(_, body):
        if body.get("source") == "slow":
            begun.set()
            ending.wait(20)
        return {}

    monkeypatch.setattr(Answers, "align", slow)
    app = application({"m": model}, ServiceLimits(max_waiting=1, max_seconds=0.5), threads=1)
    with client_of(app) as client:
        late = client.post("/align", json={"source": "slow", "target": "x"})
        assert begun.is_set()
        assert (late.status_code, late.headers["Retry-After"]) == (503, "1")
        assert "no answer within 0.5 s" in late.json()["error"]
        more = client.post("/align", json=PAIR)  # its thread is still taken
        assert (more.status_code, more.headers["Retry-After"]) == (429, "1")
        ending.set()


def test_a_service_ends_with_its_answers(model, tmp_path):
    limits = ["--max-body", "2000", "--max-pairs", "2", "--max-words", "9", "--max-seconds", "60", "--max-waiting", "3"]
    with served(model, tmp_path, *limits) as (_, address):
        assert asked(address, PAIR)[0] == 200
        assert asked(address, {"pairs": [PAIR] * 3}) == (413, 2)
        assert asked(address, PAIR | {"source": "Zug " * 600}) == (413, 2000)


def test_connections_send_at_once():
    with listening_at("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        taken, _ = listening.accept()
        with taken:
            assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def children(process):
    """Return the processes that a process has started."""
    return list(map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="which processes there are is asked of Linux")
def test_a_worker_that_dies_is_replaced_and_all_end_together(model, tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    options = ["--workers", "2", "--threads", "1", "--tmpdir", folder, "--max-seconds", "50"]
    long = {name: " ".join([words] * 12) for name, words in PAIR.items()}
    with served(model, tmp_path, *options) as (process, address):
        before = children(process)
        assert len(before) == 2
        assert any(str(folder) in line for line in Path(f"/proc/{before[0]}/maps").read_text().splitlines())
        os.kill(before[0], signal.SIGKILL)
        told = process.stderr.readline().decode()
        assert told == f"warning: worker {before[0]} was killed by SIGKILL; another takes its place\n"
        assert {asked(address, PAIR)[0] for _ in range(4)} == {200}
        after = children(process)
        assert len(after) == 2
        assert before[1] in after
        with ThreadPoolExecutor(2) as pool:  # worked at when the end comes
            late = [pool.submit(asked, address, {"pairs": [long] * 900}) for _ in range(2)]
            time.sleep(1)
            assert not any(one.done() for one in late)
            process.send_signal(signal.SIGTERM)
            assert [one.result()[0] for one in late] == [200, 200]
    assert not list(folder.iterdir())
    assert not any(Path(f"/proc/{pid}").exists() for pid in after)
