"""Segments with tags: what is parsed, what is refused and where, what is put together again."""

import pytest

from aligntools.formats.markup.segments import BrokenSegment, decoded, parse_segment, render


def shape(line):
    """The text, and of each mark its tags, where it is, and in which it lies."""
    found = parse_segment(line)
    return found.text, [(m.opening, m.closing, m.begin, m.end, m.parent) for m in found.marks]


@pytest.mark.parametrize(
    ("line", "text", "marks"),
    [
        ("a < b & c", "a < b & c", []),
        ('a <b class="x>y">c</b>', "a c", [('<b class="x>y">', "</b>", 2, 3, -1)]),
        ("<i><b>c</b></i>", "c", [("<i>", "</i>", 0, 1, -1), ("<b>", "</b>", 0, 1, 0)]),
        ("a<br>b<br/>c", "abc", [("<br>", "", 1, 1, -1), ("<br/>", "", 2, 2, -1)]),
        ("a<!-- <b> -->b", "ab", [("<!-- <b> -->", "", 1, 1, -1)]),
        ("<![CDATA[a<b]]>c", "a&lt;bc", [("<![CDATA[", "]]>", 0, 6, -1)]),
        ("<1>a <0/></1> b<2 />", "a  b", [("<1>", "</1>", 0, 2, -1), ("<0/>", "", 2, 2, 0), ("<2 />", "", 4, 4, -1)]),
        ("1<2>0 or <3", "1<2>0 or <3", []),
        ("<größe a='<'>x</größe>", "x", [("<größe a='<'>", "</größe>", 0, 1, -1)]),
        ("a &lt;b&gt; &amp;", "a &lt;b&gt; &amp;", []),
        ('<bpt id="1">[</bpt>a<ept id="1">]</ept>', "a", [('<bpt id="1">[</bpt>', '<ept id="1">]</ept>', 0, 1, -1)]),
        ('a<ph id="1">{}</ph>b', "ab", [('<ph id="1">{}</ph>', "", 1, 1, -1)]),
        ("a<ph>b</ph>", "ab", [("<ph>", "</ph>", 1, 2, -1)]),
        ('<sc id="1"/>a<ec startRef="1"/>', "a", [('<sc id="1"/>', '<ec startRef="1"/>', 0, 1, -1)]),
        ('<bx id="1"/><b>a<ex id="1"/></b>', "a", None),
    ],
)
def test_what_is_parsed(line, text, marks):
    if marks is None:  # its two tags cross an element: each by itself
        assert [(m.closing, m.parent) for m in parse_segment(line).marks] == [("", -1), ("</b>", -1), ("", 1)]
    else:
        assert shape(line) == (text, marks)
    found = parse_segment(line)
    assert render(found.text, found.marks, [[(m.begin, m.end)] for m in found.marks]) == line


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("a <b>c", 3, "is not closed"),
        ("a</b>", 2, "closes what is not open"),
        ("<b><i>a</b></i>", 8, "crosses <i>"),
        ("a <b c", 3, "begins like a tag"),
        ('<bpt id="1">a', 1, "is not closed"),
    ],
)
def test_what_is_refused(line, column, words):
    with pytest.raises(BrokenSegment, match=words) as refused:
        parse_segment(line)
    assert str(refused.value.as_error("a.xml", 7)).startswith(f"a.xml:7: column {column}: ")


def test_entities_are_resolved_with_their_places():
    text, places = decoded("a &amp;&#x41;b")
    assert text == "a &Ab"
    assert [places[k] for k in range(len(text) + 1)] == [0, 1, 2, 7, 13, 14]
