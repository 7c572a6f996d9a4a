import pytest

from aligntools.formats.links.giza import format_giza_a3, read_giza_a3
from aligntools.formats.links.pharaoh import parse_pharaoh
from aligntools.ground.errors import DataError

A3 = b"""# Sentence pair (2) source length 2 target length 3 alignment score : 0.01
la maison bleue
NULL ({ }) blue ({ 1 3 }) house ({ 2 })
# Sentence pair (1) source length 3 target length 1 alignment score : 1e-05
x
NULL ({ 1 }) ({ ({ }) }) ({ }) 5 ({ })
"""


def test_giza_files_are_put_in_the_order_of_their_numbers(file):
    links, missing = read_giza_a3(file(A3))
    assert links.tolists() == [[], [(0, 0), (0, 2), (1, 1)]]
    assert missing == 0
    links, missing = read_giza_a3(file(A3.replace(b"(1) s", b"(4) s")))
    assert (len(links), missing) == (4, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((b"(1) s", b"(2) s"), ":4: sentence pair 2 comes twice"),
        ((b"# Sentence pair (1)", b"# (1)"), ":4: '# Sentence pair"),
        ((b"({ 1 3 })", b"({ 1 4 })"), ":3: a position outside 1 to 3"),
        ((b"({ 1 3 })", b"({ 1 %s })" % (b"9" * 5000)), ":3: 2 words where NULL and 2"),
        ((b"(1) s", b"(999999999) s"), ": has a sentence pair 999999999 and only 2 pairs"),
        ((b"({ 1 3 })", b"({ 1 2 })"), ":3: a target position comes twice"),
        ((b"source length 2", b"source length 4"), ":3: 3 words where NULL and 4"),
        ((b"x\nNULL ({ 1 }) ({ ({ }) }) ({ }) 5 ({ })\n", b"x\n"), ":4: the file ends within"),
    ],
)
def test_giza_files_that_are_wrong(file, change, message):
    with pytest.raises(DataError) as caught:
        read_giza_a3(file(A3.replace(*change)))
    assert message in str(caught.value)


def test_words_in_a3_have_no_carriage_return():
    links = parse_pharaoh(b"0-0\n")
    one = format_giza_a3(links, b"a b", b"c")
    assert format_giza_a3(links, b"a b\r", b"c\r") == one
