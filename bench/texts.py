"""Gold sets and the text that aligners are trained on with them."""

import gzip
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bench import code

#: Training text of a gold set that is not its pair's ``train``.
TRAINING = {("en-es", "gold"): ("europarl",)}
#: What a gold set's name has before the pairs of it that are a text of their own, as in ``en-cs.gold@0-105``.
CUT = "@"
#: A large text to measure speed and memory on.
MILLION = "en-fr.million"


@dataclass(frozen=True)
class Text:
    """Lower-cased, line-aligned text; where it has gold links they are those of its first lines.

    Attributes
    ----------
    source, target, joint : Path
        Two files, and the same in one with `` ||| `` between.
    gold : Path or None
    n_gold, n_pairs : int
    """

    name: str
    source: Path
    target: Path
    joint: Path
    gold: Path | None
    n_gold: int
    n_pairs: int


def gold_sets(data):
    """Return ``pair.set`` of every gold file in a folder, small training texts first."""
    found = {}
    for path in sorted(data.glob("*/*.wa")):
        pair, name = path.parent.name, path.stem
        found[f"{pair}.{name}"] = sum(_size(data, pair, part) for part in _parts(data, pair, name))
    return sorted(found, key=found.get)


def _parts(data, pair, name):
    training = TRAINING.get((pair, name), ("train",))
    return [name, *(part for part in training if _path(data, pair, part, "en"))]


def _path(data, pair, part, language):
    plain = data / pair / f"{part}.{language}"
    packed = plain.with_name(plain.name + ".gz")
    return plain if plain.exists() else packed if packed.exists() else None


def _size(data, pair, part):
    path = _path(data, pair, part, "en")
    return path.stat().st_size * (3 if path.suffix == ".gz" else 1)


def folder(work):
    """Return the folder of texts, which is there afterwards."""
    return code.place(work, "text", text, beginning)


def text(data, name, work) -> Text:
    """Write a gold set's text, then its training text, lower-cased; return where.

    Training pairs with a blank side or a `` ||| `` are left out, since not every aligner takes them. Of
    ``pair.set@a-b`` it is the gold pairs from ``a`` to before ``b`` alone.
    """
    if CUT in name:
        return _cut(text(data, name.split(CUT)[0], work), *map(int, name.split(CUT)[1].split("-")), work)
    if name == MILLION:
        pair, parts = "en-fr", ["dev", "train", "laws"]
    else:
        pair, first = name.split(".")
        parts = _parts(data, pair, first)
    files = [folder(work) / f"{name}.{kind}" for kind in ("source", "target", "joint")]
    gold = data / pair / f"{parts[0]}.wa"
    if not all(path.exists() for path in files):
        unfinished = [path.with_name(path.name + ".part") for path in files]
        with ExitStack() as stack:
            outs = [stack.enter_context(open(p, "w", encoding="utf-8", newline="\n")) for p in unfinished]
            for number, part in enumerate(parts):
                for a, b in zip(lines(data, pair, part, "en"), lines(data, pair, part, pair[3:]), strict=True):
                    if number and not _clean(a, b):
                        continue
                    for out, line in zip(outs, (a, b, f"{a} ||| {b}"), strict=True):
                        out.write(line + "\n")
        for before, after in zip(unfinished, files, strict=True):
            before.rename(after)
    return Text(name, *files, gold, count_lines(gold), count_lines(files[0]))


def _cut(whole, begin, end, work):
    name = f"{whole.name}{CUT}{begin}-{end}"
    files = [folder(work) / f"{name}.{kind}" for kind in ("source", "target", "joint", "wa")]
    for old, new in zip((whole.source, whole.target, whole.joint, whole.gold), files, strict=True):
        if not new.exists():
            unfinished = new.with_name(new.name + ".part")
            with open(old, "rb") as source, open(unfinished, "wb") as out:
                out.writelines(islice(source, begin, end))
            unfinished.rename(new)
    return Text(name, *files, end - begin, end - begin)


def lines(data, pair, part, language, *, lowercase=True):
    """Yield the lines of a text, lower-cased or as they are written."""
    path = _path(data, pair, part, language)
    with gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb") as file:
        for line in file:
            found = line.decode().rstrip("\r\n")
            yield found.lower() if lowercase else found


def _clean(a, b):
    return bool(a.strip() and b.strip()) and "|||" not in a.split(" ") and "|||" not in b.split(" ")


def beginning(whole: Text, n, work) -> Text:
    """Return the first ``n`` pairs of a text as a text of its own."""
    name = f"{whole.name}.{n}"
    files = [folder(work) / f"{name}.{kind}" for kind in ("source", "target", "joint")]
    for old, new in zip((whole.source, whole.target, whole.joint), files, strict=True):
        if not new.exists():
            unfinished = new.with_name(new.name + ".part")
            with open(old, "rb") as source, open(unfinished, "wb") as out:
                out.writelines(islice(source, n))
            unfinished.rename(new)
    return Text(name, *files, None, 0, min(n, whole.n_pairs))


def given(source, target, work) -> Text:
    """Return two files as a text."""
    name = f"{source.stem}-{source.suffix[1:]}-{target.suffix[1:]}"
    joint = folder(work) / f"{name}.joint"
    with open(source, "rb") as a, open(target, "rb") as b, open(joint, "wb") as out:
        out.writelines(x.rstrip(b"\r\n") + b" ||| " + y for x, y in zip(a, b, strict=True))
    return Text(name, source, target, joint, None, 0, count_lines(source))


def samples(work) -> Text:
    """Return the German-English sample text."""
    from bench.report import ROOT

    here = ROOT / "data" / "samples"
    return given(here / "de-en.de", here / "de-en.en", work)


def count_lines(path):
    """Return the number of lines of a file."""
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 22), b""))


def count_words(path):
    """Return the number of words of a file."""
    with open(path, "rb") as file:
        return sum(len(line.split()) for line in file)
