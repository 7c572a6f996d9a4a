"""Commands whose pipes one program feeds, the second side first: what memory does not keep goes to --tmpdir."""

import os
import tempfile
import threading

import pytest

from aligntools.formats.opening import live_inputs
from tests.cli.running import ran, run
from tests.places import SAMPLES

TIMES = 13  # the samples are repeated: more than the pipes hold
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


@pytest.mark.parametrize("held", [live_inputs.HELD, 1000])
def test_what_waits_goes_to_the_folder_of_tmpdir(tmp_path, monkeypatch, held):
    texts = {side: (SAMPLES / f"de-en.{side}").read_bytes() * TIMES for side in ("de", "en")}
    assert min(map(len, texts.values())) > 2 * (1 << 16)
    (tmp_path / "links").write_bytes(b"0-0 1-1\n" * texts["de"].count(b"\n"))
    folder, folders = tmp_path / "kept", []
    folder.mkdir()
    for side, text in texts.items():
        (tmp_path / f"file.{side}").write_bytes(text)
        os.mkfifo(tmp_path / f"pipe.{side}")
    common = ("-q", "-a", tmp_path / "links", "--tmpdir", folder)
    expected = ran("extract-grammar", "-s", tmp_path / "file.de", "-t", tmp_path / "file.en", *common)

    def feed():
        for side in ("en", "de"):
            (tmp_path / f"pipe.{side}").write_bytes(texts[side])

    def temporary(*args, **more):
        if more.get("prefix") == "aligntools.":
            folders.append(more["dir"])
        return real(*args, **more)

    real = tempfile.TemporaryFile
    monkeypatch.setattr(live_inputs, "HELD", held)
    monkeypatch.setattr(tempfile, "TemporaryFile", temporary)
    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    found = run("extract-grammar", "-s", tmp_path / "pipe.de", "-t", tmp_path / "pipe.en", *common)
    feeder.join(60)
    assert not feeder.is_alive()
    assert (found.returncode, found.stderr) == (0, b"")
    assert found.stdout == expected.stdout
    assert set(folders) == ({str(folder)} if held == 1000 else set())
    assert os.listdir(folder) == []
