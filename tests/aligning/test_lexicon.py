from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.bitext import read_bitext
from aligntools.links import translation_tables

word = st.sampled_from(["a", "b", "B", "ß", "NULL", "zz", "'"])


@st.composite
def corpora(draw):
    rows = draw(
        st.lists(
            st.tuples(st.lists(word, min_size=1, max_size=5), st.lists(word, min_size=1, max_size=5)),
            min_size=1,
            max_size=6,
        )
    )
    links = [
        draw(st.sets(st.tuples(st.integers(0, len(f) - 1), st.integers(0, len(e) - 1)), max_size=6)) for f, e in rows
    ]
    return rows, links


def load(folder, rows, links):
    for name, side in (("f", 0), ("e", 1)):
        (folder / name).write_text("".join(" ".join(row[side]) + "\n" for row in rows), encoding="utf-8")
    bitext = read_bitext(str(folder / "f"), str(folder / "e"), lowercase=False)
    return translation_tables.count_links(bitext, Links.from_lists(links))


def naive_tables(rows, links):
    """Count as Moses says it does; return the lines of lex.f2e and lex.e2f."""
    pairs = Counter()
    for (f, e), row in zip(rows, links, strict=True):
        pairs.update((f[i], e[j]) for i, j in row)
        pairs.update((w, "NULL") for i, w in enumerate(f) if i not in {i for i, _ in row})
        pairs.update(("NULL", w) for j, w in enumerate(e) if j not in {j for _, j in row})
    of_f, of_e = Counter(), Counter()
    for (a, b), count in pairs.items():
        of_f[a] += count
        of_e[b] += count
    f2e = [(b, a, f"{count / of_f[a]:.7f}") for (a, b), count in pairs.items()]
    e2f = [(a, b, f"{count / of_e[b]:.7f}") for (a, b), count in pairs.items()]
    return [[" ".join(row) for row in sorted(rows)] for rows in (f2e, e2f)]


@given(corpora())
def test_tables_are_moses_tables(tmp_path_factory, corpus):
    counted = load(tmp_path_factory.mktemp("lexicon"), *corpus)
    for given_side, expected in zip(("source", "target"), naive_tables(*corpus), strict=True):
        assert b"".join(counted.lines(given_side)).decode().splitlines() == expected


def test_shortlists_and_links_out_of_range(tmp_path):
    rows = [(list("xxxxxy"), list("cbbade"))]
    counted = load(tmp_path, rows, [[(0, 0), (1, 1), (2, 2), (3, 3)]])
    # x: twice b, once c and a, once NULL; y: NULL only
    expected = b"b x 0.40000000\na x 0.20000000\n"
    assert b"".join(counted.shortlist(2).lines()) == expected
    assert b"".join(counted.shortlist(9).lines()) == expected + b"c x 0.20000000\n"
    for name in "fe":
        (tmp_path / name).write_text("a b\nc\n")
    bitext = read_bitext(str(tmp_path / "f"), str(tmp_path / "e"))
    links = Links.from_lists([[(0, 0), (1, 2)], [(1, 0)]])
    assert translation_tables.out_of_range(bitext, links).tolist() == [False, True, True]
    with pytest.raises(ValueError, match="links of 1 sentences for 2"):
        translation_tables.count_links(bitext, links[:1])
