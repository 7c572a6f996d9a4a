"""PLF and confusion networks: what Moses reads, what is written back, what is refused."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.translation.plf import EPSILON, Arc, WordLattice, parse_cn, parse_plf, stream_lattices
from aligntools.ground.errors import DataError

WORDS = st.one_of(
    st.just(EPSILON),
    st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=6).filter(lambda w: w.split() == [w]),
    st.sampled_from(["'", "\\", "a'b", '"', "(", ")", ",", "x=1", "0.5", "\\'", "é"]),
)
NUMBERS = st.floats(0, 1e6)


@st.composite
def lattices(draw, network=False):
    scores, size = draw(st.integers(0, 3)), draw(st.integers(0, 5))
    nodes = []
    for k in range(size):
        steps = st.just(1) if network else st.integers(1, size - k)
        names = st.lists(st.tuples(st.from_regex(r"[a-z]{1,4}", fullmatch=True), st.floats(-9, 9)), max_size=2)
        arcs = st.builds(
            Arc,
            WORDS,
            st.tuples(*[st.floats(0, 1) if network else NUMBERS] * scores),
            steps,
            st.just(()) if network else names.map(tuple),
        )
        nodes.append(tuple(draw(st.lists(arcs, min_size=1, max_size=3))))
    return WordLattice(tuple(nodes)), scores


@given(lattices())
def test_what_is_written_is_read_again(made):
    lattice, scores = made
    text = str(lattice)
    assert parse_plf(text, scores) == lattice
    if not any("," in arc.word for _, _, arc in lattice.arcs()):
        assert parse_plf(text.replace(",", " ,\t")) == lattice
    if not set("\\\0") & set(text) and not any(
        arc.named for _, _, arc in lattice.arcs()
    ):  # then it is a literal of Python
        assert ast.literal_eval(text) == tuple(
            tuple((arc.word, *arc.scores, arc.steps) for arc in arcs) for arcs in lattice.nodes
        )


def in_columns(network):
    """Return a confusion network as lines, a blank one at the end."""
    columns = (
        " ".join(" ".join([arc.word or EPSILON, *map(repr, arc.scores)]) for arc in arcs) for arcs in network.nodes
    )
    return "".join(column + "\n" for column in columns) + "\n"


@given(st.lists(lattices(network=True).map(lambda made: made[0]), max_size=4), st.integers(1, 2))
def test_confusion_networks_are_read_again(tmp_path_factory, found, scores):
    found = [
        WordLattice(tuple(tuple(Arc(a.word, (0.25,) * scores) for a in arcs) for arcs in one.nodes)) for one in found
    ]
    path = tmp_path_factory.mktemp("cn") / "cn"
    path.write_text("".join(map(in_columns, found)), encoding="utf-8")
    assert list(stream_lattices(str(path), "cn", scores)) == found


def test_what_moses_reads():
    assert parse_plf("()") == parse_plf("") == WordLattice()
    assert parse_plf(r"((('it\'s',0.5,1),('a\\b',.5,1)),(('',1e-2,1),),)").nodes == (
        (Arc("it's", (0.5,)), Arc("a\\b", (0.5,))),
        (Arc(EPSILON, (0.01,)),),
    )
    assert parse_plf("( ( ( 'a' , 1 , 2 , x=-3 , 1 ) , ) , )").nodes == ((Arc("a", (1.0, 2.0), 1, (("x", -3.0),)),),)
    assert parse_plf("((('a',1),),)").nodes == ((Arc("a"),),)
    assert parse_plf('((("it\'s",1,1),),)').nodes == ((Arc("it's", (1.0,)),),)
    assert parse_cn(["a 0.5 b 1.5", "*EPS* 0"]).nodes == ((Arc("a", (0.5,)), Arc("b", (1.0,))), (Arc(EPSILON, (0.0,)),))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("((('a',1.0,3),),)", "leads past the last node, 1"),
        ("((('a',-1,1),),)", "the score -1 is negative"),
        ("((('a',nan,1),),)", "'nan' stands where a number was expected"),
        ("((('a',1,1),)", "the line ends where ',' or ')' was expected"),
        ("((('a',1,1),))x", "'x' stands at character 15 after the lattice's end"),
        ("((a,1,1),)", "stands at character 3 where an arc's '(' was expected"),
        ("(((a,1,1),),)", "stands at character 4 where a word in quotes was expected"),
        ("((('a b',1,1),),)", "has a space in it"),
        ("((('a',1,0),),)", "leads '0' nodes further"),
        ("((('a',1,0.5),),)", "leads '0.5' nodes further"),
        (f"((('{'a' * 99}',1,{'9' * 5000}),),)", f"the arc '{'a' * 37}...' leads '{'9' * 37}...' nodes further"),
        ("((('a'),),)", "does not say how many nodes further"),
        ("((),)", "no arc leaves node 0"),
        ("((('a',1,1),('b',1)),)", "has 0 scores, not 1"),
        ("((('a',x=1,1,1),),)", "scores and then name=value were expected"),
        ("((('a',1,=1,1),),)", "scores and then name=value were expected"),
        ("das Haus", "'das Haus' stands at character 1 where '(' was expected"),
        ("(" * 100_000, "where an arc's '(' was expected"),
    ],
)
def test_what_is_wrong_with_a_line(line, problem, tmp_path):
    path = tmp_path / "plf"
    path.write_text("()\n" + line + "\n")
    with pytest.raises(DataError) as caught:
        list(stream_lattices(str(path), "plf"))
    message = str(caught.value)
    if len(line) < 1000:
        assert problem in message
    assert message.startswith(f"{path}:2: ")
    assert "a line of PLF is, for instance" in message
    assert "\n" not in message


def test_what_is_wrong_with_a_network(tmp_path):
    path = tmp_path / "cn"
    for text, line, problem in (
        ("a 1\n\nb 1 c\n", 3, "3 fields are not words with 1 score each"),
        ("a 1\nb c\n", 2, "'c' stands where a number was expected"),
        ("a -1\n", 1, "negative"),
    ):
        path.write_text(text)
        with pytest.raises(DataError, match="arc_scores") as caught:
            list(stream_lattices(str(path), "cn"))
        assert str(caught.value).startswith(f"{path}:{line}: ")
        assert problem in str(caught.value)
