"""What tests of aligning commands share: the sample text, and checks of what comes out."""

import re

from tests.cli.running import ROOT
from tests.cli.running import succeeds as done  # noqa: F401

SAMPLES = ROOT / "data" / "samples"
SOURCE, TARGET, JOINT = SAMPLES / "de-en.de", SAMPLES / "de-en.en", SAMPLES / "de-en.txt"
TEXT = ("-s", SOURCE, "-t", TARGET)
LENGTHS = [
    tuple(len(side.split()) for side in line.split(" ||| ")) for line in JOINT.read_text(encoding="utf-8").splitlines()
]
LINK = re.compile(r"\d+-\d+")


def proper(data, lengths=LENGTHS, pattern=LINK):
    """Check lines of links: one a pair, within the sentences, sorted, none twice; return them."""
    assert data == b"" or data.endswith(b"\n")
    lines = data.decode().split("\n")[:-1]
    assert len(lines) == len(lengths)
    out = []
    for line, (i, j) in zip(lines, lengths, strict=True):
        words = line.split(" ") if line else []
        assert all(pattern.fullmatch(w) for w in words), line
        links = [tuple(map(int, w.split(":")[0].split("-"))) for w in words]
        assert links == sorted(set(links))
        assert all(a < i and b < j for a, b in links)
        out.append(links)
    return out


def lower_case(folder, pairs=60):
    """Write the beginning of the samples in lower case, ``de`` and ``en``; return the options that name them."""
    for name in ("de", "en"):
        lines = (SAMPLES / f"de-en.{name}").read_text().lower().splitlines(keepends=True)[:pairs]
        (folder / name).write_text("".join(lines))
    return "-s", folder / "de", "-t", folder / "en"
