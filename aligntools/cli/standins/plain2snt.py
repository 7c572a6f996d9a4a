"""Stands in for GIZA++'s plain2snt: its arguments, its files, its messages."""

import sys

from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins.arguments import Wrong, program
from aligntools.ground.errors import harmless

USAGE = """plain2snt txt1 txt2 [txt3 txt4 -weight w -vcb1 output1.vcb -vcb2 output2.vcb -snt1 output1_output2.snt -snt2\
 output2_output1.snt]
 Converts plain text into GIZA++ snt-format.
"""
_ENDS = (".tok", ".txt")


def _base(name: str) -> str:
    """Return a name behind its last slash; as it is where that is nothing."""
    return name[name.rfind("/") + 1 :] or name


@program("plain2snt")
def command(args: list[str]) -> int:
    """Write a text's vocabularies and sentence pairs in numbers."""
    weights: list[float] = []
    names: dict[str, str] = {}
    texts: list[str] = []
    rest = iter(args)
    for argument in rest:
        if argument in ("-weight", "-snt1", "-snt2", "-vcb1", "-vcb2"):
            value = next(rest, None)
            if value is None:
                raise Wrong(f"{argument} takes a value\n{USAGE}".rstrip("\n"))
            if argument == "-weight":
                try:
                    weights.append(float(value))
                except ValueError:
                    raise Wrong(f"-weight '{value}' is not a number") from None
            else:
                names[argument] = value
        else:
            texts.append(argument)
    if len(texts) % 2 or not texts:
        raise Wrong(USAGE.rstrip("\n"))
    first, second = texts[:2]
    if any(first.endswith(end) and second.endswith(end) and min(len(first), len(second)) > 4 for end in _ENDS):
        first, second = first[:-4], second[:-4]
        sys.stderr.write(harmless(f"w1:{first} w2:{second}\n"))
    sys.stdout.write(harmless(f"{first} -> {_base(first)}\n{second} -> {_base(second)}\n"))
    made = {
        "-snt1": f"{first}_{_base(second)}.snt",
        "-snt2": f"{second}_{_base(first)}.snt",
        "-vcb1": f"{first}.vcb",
        "-vcb2": f"{second}.vcb",
    } | names
    with placed([Named("", text) for text in texts], [Named(flag, path) for flag, path in made.items()]):
        from aligntools.cli.standins.giza_numbers import number_texts

        vcb, snt = ((made[f"-{kind}1"], made[f"-{kind}2"]) for kind in ("vcb", "snt"))
        left_out = number_texts(list(zip(texts[::2], texts[1::2], strict=True)), weights, vcb, snt)
    for source, a, target, b in left_out:
        about = f"(source: {source} {a} target: {target} {b})"
        sys.stderr.write(harmless(f"WARNING: filtered out empty sentence {about}.\n"))
    return 0
