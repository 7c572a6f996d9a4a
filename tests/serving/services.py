"""Services that run in a process of their own, and what is asked of them."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

from tests.cli.running import ROOT


def asked(address, body):
    """Return the status of the answer to a request for links, and the limit that it names, if it names one."""
    request = urllib.request.Request(address.rstrip("/") + "/align", json.dumps(body).encode(), method="POST")
    request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, None
    except urllib.error.HTTPError as error:
        with error:
            said = json.loads(error.read())["error"]
        return error.code, int(re.findall(r"[0-9]+", said.replace(",", ""))[-1])


@contextlib.contextmanager
def served(model, folder, *options):
    """Run a service; yield its process and its address, and expect that SIGTERM ends it without a word."""
    path = folder / "de-en.atm"
    model.save(path)
    command = [sys.executable, "-m", "aligntools", "serve", "-m", path, "--host", "127.0.0.1", "--port", "0", *options]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)})
    with process.stderr as said:
        line = said.readline().decode()
        assert line.startswith("serving de-en on http://127.0.0.1:")
        yield process, line.split()[3]
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in (143, -signal.SIGTERM)
        assert said.read() == b""
