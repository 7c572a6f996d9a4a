"""Stands in for mkcls: its flags, its files; classes are clustered by `aligntools train-classes`."""

import sys
from typing import Any

from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins import Wrong, program

USAGE = """mkcls - a program for making word classes: Usage:
 mkcls [-nnum] [-ptrain] [-Vfile] opt
-V output classes (Default: no file)
-n number of optimization runs (Default: 1); larger number => better results
-p filename of training corpus (Default: 'train')
Example:
 mkcls -c80 -n10 -pin -Vout opt
 (generates 80 classes for the corpus 'in' and writes the classes in 'out')
"""
#: Flags with whole numbers, and the least of them.
_NUMBERS = {"n": ("runs", 1), "c": ("classes", 2), "m": ("min_count", 0), "r": ("seed", 0)}
#: Flags that say how mkcls searches and what it tells: they change nothing here.
_IGNORED = "avwkMsN"


def parse(args: list[str]) -> dict[str, Any]:
    """Read mkcls' arguments."""
    found: dict[str, Any] = {"runs": 1, "classes": 100, "min_count": 0, "seed": 1, "corpus": "train", "output": ""}
    rest = list(args)
    while rest and rest[0].startswith("-"):
        argument = rest.pop(0)
        flag, value = argument[1:2], argument[2:]
        if flag in _NUMBERS:
            name, least = _NUMBERS[flag]
            if not value.isdecimal() or not value.isascii() or not least <= int(value) < 2**31:
                raise Wrong(f"{argument}: a whole number from {least} on is expected behind -{flag}")
            found[name] = int(value)
        elif flag in ("p", "V"):
            found["corpus" if flag == "p" else "output"] = value or next(iter(rest), "")
            del rest[: 0 if value else 1]
        elif flag == "e":  # a parameter of the search, and its value
            del rest[:1]
        elif not flag or flag not in _IGNORED:
            raise Wrong(f"Fehlerhafte Option: {argument}")
    if rest not in ([], ["opt"]):
        raise Wrong(f"{' '.join(rest)}: only 'opt' is done")
    return found


@program("mkcls", USAGE)
def command(args: list[str]) -> int:
    """Cluster words as mkcls does."""
    o = parse(args)
    outputs = [Named("-V", o["output"]), Named("-V", f"{o['output']}.cats")] if o["output"] else []
    with placed([Named("-p", o["corpus"])], outputs):
        from aligntools import ClassSettings, train_classes

        settings = ClassSettings(
            number=o["classes"], restarts=o["runs"], min_count=max(o["min_count"], 1), seed=o["seed"]
        )
        found = train_classes(o["corpus"], settings.checked())
        if o["output"]:
            found.save(o["output"])
            found.save(f"{o['output']}.cats", "cats")
    sys.stdout.write(
        f"\n***** {o['runs']} runs. (algorithm:exchange)*****\n"
        f";KategProblem:cats: {o['classes']}   words: {len(found) + 1}\n\n     end-pp: MIN: {found.perplexity:g}\n"
    )
    return 0
