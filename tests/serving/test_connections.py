"""What clients may do to a service that runs: all is answered in JSON, nothing is printed, nobody is held up."""

import errno
import http.client
import json
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from aligntools.ground.errors import DataError, UsageProblem
from aligntools.serving import service
from aligntools.serving.http import AllowedHosts
from tests.cli.running import fails, run
from tests.serving.services import asked, served

ROUTES = ("/align", "/check", "/transfer-markup")
PAIR = {"source": "Der Zug fährt ab.", "target": "The train leaves."}
JSON = "Content-Type: application/json\r\n"
LIMIT, SECONDS = 2000, 1.0


@pytest.fixture(scope="module")
def place(model, tmp_path_factory):
    """Where a service answers that prints nothing, whatever the tests of this module do."""
    options = ("--max-body", str(LIMIT), "--max-seconds", str(SECONDS), "--allow-host", "*.example.org")
    with served(model, tmp_path_factory.mktemp("service"), *options) as (_, address):
        yield "127.0.0.1", urlsplit(address).port


def said(place, *parts, host="localhost"):
    """Send the parts of a request, its Host header put in; return status, what JSON says, and the seconds it took."""
    begun = time.monotonic()
    with socket.create_connection(place, 20) as connection:
        for part in parts:
            connection.sendall(part if isinstance(part, bytes) else part.replace("HOST", f"Host: {host}\r\n").encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        found = json.loads(answer.read() or "{}")
        ended = connection.recv(1) == b"" if answer.will_close else None
    return answer.status, found, time.monotonic() - begun, ended


@pytest.mark.parametrize(
    ("head", "status", "why"),
    [  # where it waited for more, the status would be 408
        ("GET /nope HTTP/1.1", 404, "there is no /nope; there are /align, "),
        ("POST /align/ HTTP/1.1", 404, "there is no /align/"),
        ("OPTIONS * HTTP/1.1", 404, "there is no"),
        *((f"GET {route} HTTP/1.1", 405, "does not take GET, but POST") for route in ROUTES),
        ("DELETE / HTTP/1.1", 405, "does not take DELETE, but GET"),
        ("POST /openapi.json HTTP/1.1", 405, "does not take POST"),
        *((f"POST {route} HTTP/1.1", 415, "application/json") for route in ROUTES),
        *((f"POST {route} HTTP/1.1\r\n{JSON}", 422, "not JSON") for route in ROUTES),
        *((f"POST {route} HTTP/1.1\r\n{JSON}Content-Length: 9999999999", 413, "over 2000 bytes") for route in ROUTES),
        (f"POST /align HTTP/1.1\r\n{JSON}Expect: 100-continue\r\nContent-Length: 2001", 413, "over 2000 bytes"),
        ("POST /nope HTTP/1.1\r\nContent-Length: 9999999999", 404, "there is no"),
        ("GET / HTTP/1.1\r\nContent-Length: -1", 400, "no request of HTTP/1.1"),
        ("\x16\x03\x01 hello", 400, "no request of HTTP/1.1"),
        (
            "POST /align HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + JSON + "HOST\r\nzzz",
            400,
            "no request of HTTP/1.1",
        ),
    ],
)
def test_what_is_wrong_is_answered_in_json_at_once(place, head, status, why):
    found = said(place, f"{head.rstrip()}\r\n{'' if 'HOST' in head else 'HOST'}\r\n")
    assert found[0] == status
    assert why in found[1]["error"]
    assert found[3] is not False


@pytest.mark.parametrize("route", [*ROUTES, "/nope"])
@pytest.mark.parametrize("chunked", [False, True])
def test_what_is_sent_after_the_answer_does_not_take_it_away(place, route, chunked):
    head = "Transfer-Encoding: chunked" if chunked else "Content-Length: 8000000"
    part = b"f4240\r\n" + b"x" * 1_000_000 + b"\r\n" if chunked else b"x" * 1_000_000
    with_body = said(place, f"POST {route} HTTP/1.1\r\n{JSON}{head}\r\nHOST\r\n", *[part] * 4)
    assert with_body[0] == (404 if route == "/nope" else 413)
    assert with_body[3]


def test_what_does_not_come_to_its_end_ends_and_holds_nobody_up(place):
    slow = [
        (f"POST /align HTTP/1.1\r\nHOST{JSON}Content-Length: 100\r\n\r\n{{", "the body of the request"),
        ("POST /align HTTP/1.1\r\nHOST", "the head of the request"),
        ("GET /nope HTTP/1.0\r\nX", "the head of the request"),
    ]
    with ThreadPoolExecutor(len(slow)) as pool:
        found = [pool.submit(said, place, text) for text, _ in slow]
        idle = [socket.create_connection(place, 20) for _ in range(40)]
        assert asked("http://{}:{}".format(*place), PAIR)[0] == 200
        for one, (_, why) in zip(found, slow, strict=True):
            status, answer, seconds, ended = one.result()
            assert (status, ended) == (408, True)
            assert why in answer["error"]
            assert SECONDS * 0.9 < seconds < SECONDS * 8
    for connection in idle:
        with connection:
            assert connection.recv(1) == b""


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("route", ROUTES)
def test_clients_that_break_off_print_nothing(place, route, reset):
    body = json.dumps(PAIR)
    head = f"POST {route} HTTP/1.1\r\nHost: localhost\r\n{JSON}"
    for text in (
        f"POST {route}",
        f"{head}Content-Length: 100\r\n\r\n{{",
        f"{head}Content-Length: {len(body)}\r\n\r\n{body}",
    ):
        with socket.create_connection(place, 20) as connection:
            connection.sendall(text.encode())
            if reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *((name, 200) for name in ("localhost", "LOCALHOST:80", "localhost.", "127.0.0.1:1", "[::1]", "a.example.org")),
        *((name, 421) for name in ("evil.example", "127.0.0.2", "", "example.org", "localhost.evil.example", "a b")),
        *((name, 421) for name in ("localhost@evil.example", "evil.example:80", "[::2]", "aexample.org")),
    ],
)
def test_names_that_are_not_allowed_are_refused(place, host, status):
    body = json.dumps(PAIR)
    for route in ROUTES:
        head = f"POST {route} HTTP/1.1\r\nHOST{JSON}Content-Length: {len(body)}\r\n\r\n"
        found = said(place, head, body, host=host)
        assert found[0] == status
        assert ("can allow the name" in found[1].get("error", "")) == (status == 421)


def test_names_are_those_of_this_machine_and_what_is_allowed():
    hosts = AllowedHosts("0.0.0.0", ["Example.org", "10.0.0.1", "[fe80::1]"])
    allowed = ["example.org", "10.0.0.1", "[FE80:0::1]:80", "172.17.0.2", "localhost"]
    assert hosts.refused(allowed, ("172.17.0.2", 80)) is None
    assert hosts.refused(["localhost", "b.example.org"], ("172.17.0.2", 80)) == "b.example.org"
    assert hosts.refused(["172.17.0.2"], ("::ffff:172.17.0.2", 80)) is None
    assert hosts.refused([], None) is None
    assert AllowedHosts("127.0.0.1", ["*"]).refused(["evil.example", ""], None) is None
    for name in ("http://example.org", "example.org:80", "", "a b", "*x", "a,b"):
        with pytest.raises(UsageProblem, match="a name without scheme and port"):
            AllowedHosts("127.0.0.1", [name])


def test_ports_that_cannot_be_taken_are_named(monkeypatch):
    with service.listening_at("[::1]" if socket.has_ipv6 else "127.0.0.1", 0) as taken:
        address, port = taken.getsockname()[:2]
        fails(run("serve", "-m", "m.atm", "--port", port, "--host", address), f"{port}: the port is in use; choose")

    def refused(*_, **__):
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket, "create_server", refused)
    with pytest.raises(DataError, match="ports below 1024"):
        service.listening_at("127.0.0.1", 80)
