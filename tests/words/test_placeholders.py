"""Placeholders of every kind: kept ones are none too many or too few, and what only looks like one is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.tools.checks.judgements import compared
from aligntools.words.placeholders import placeholders, visible


def different_placeholders(source, target):
    return compared(placeholders(source), placeholders(target))


#: Of whose messages they are, and some of them.
KINDS = {
    "printf": ["%s", "%d", "%1$s", "%2$d", "%5.2f", "%-10s", "%lld", "%zu", "%u", "%x", "%c", "%.*f"],
    "Python": ["%(name)s", "%(count)d", "{}", "{0}", "{name}", "{user.name}", "{items[0]}", "{x!r}", "{:>10}"],
    "Apple": ["%@", "%1$@", "%ld"],
    "Qt": ["%1", "%2", "%12", "%L1", "%n", "%Ln"],
    "ICU": ["{count, number}", "{day, date, short}", "{0,number,#.##}"],
    "C#": ["{0:N2}", "{0,10:F1}"],
    "Fluent": ["{$name}", "{ $name }", "{-brand}", '{NUMBER($n, style: "percent")}'],
    "JavaScript": ["${x}", "${user.name}", "{{x}}", "{{ user.name }}", "{{{raw}}}", "$t(key)"],
    "Ruby": ["%{name}", "%<name>s", "#{name}"],
    "Qt Creator, MSBuild": ["$(x)", "$(Project.Name)"],
    "Windows, Symfony": ["%NAME%", "%name%", "%user_name%", "%%NAME%%"],
    "SDL and others": ["#NAME#", "#name#", "##NAME##", "$NAME$", "$name", "$[officename]"],
    "Laravel": [":name", ":user_name"],
    "templates": ["{% if x %}", "<%= x %>", "{{#if x}}"],
    "tags": ["<b>", "</b>", "<br/>", '<x id="1"/>', "<0/>", "<1>", "</1>", "<a href='/x'>"],
}


@pytest.mark.parametrize("one", [one for own in KINDS.values() for one in own])
def test_each_kind_is_known(one):
    source, target = f"Fahrt nach {one} um acht, 100 % sicher.", f"At eight to {one}: 100% sure."
    assert different_placeholders(source, target) == ([], [])
    (known,) = placeholders(one).needed
    assert different_placeholders(source, "At eight.") == ([known], [])
    assert different_placeholders("Um acht.", target) == ([], [known])
    assert not visible(one, placeholders(one).hidden).strip()


@pytest.mark.parametrize(
    "text",
    [
        *(
            *("100% sure", "5 % der Züge", "20%iger Alkohol", "50% des", "a < b > c", "x<y", "<a@b.de>", "3 <5"),
            "C# und F#",
        ),
        *(
            *("5 $", "$5", "US$ 1,000", "um 10:30", "{ user profile }", "{guess,sub}", "{ }", "#5", "Nr. #1", "a:b"),
            *(":-)", ":D"),
        ),
        *(
            *("100 %%", "http://example.org/%20a?b=%s#c", "Hashtag #Zug", "List<", "{", "}", "%", "50%-60%", "10%–20%"),
            "::name",
        ),
    ],
)
def test_what_only_looks_like_one_is_none(text):
    assert placeholders(text.replace("%s", "x")).needed == []


@pytest.mark.parametrize(
    ("source", "target", "found"),
    [
        ("{0} of {name}", "{name} : { 0 }", ([], [])),
        ("%s and %1$d at 5 % sure", "%1$d", (["%s"], [])),
        ("${user} <b>x</b>", "x", (["${user}", "<b>", "</b>"], [])),
        ("100% sure, a < b", "", ([], [])),
        ("x", "{{x}}", ([], ["{{x}}"])),
        ("a<br>b", "a<br />b", ([], [])),
        ("a<BR>b", "a<br/>b", ([], [])),
        ('<a href="/de/zug">Zug</a>', '<a href="/en/train" class="x">train</a>', ([], [])),
        ("""<a title="der 'Zug' > hier">x</a>""", """<a title='the "train"'>x</a>""", ([], [])),
        ('<x id="1"/> a <x id="2"/>', '<x id="2"/> b <x id="1"/>', ([], [])),
        ('<x id="1"/>', '<x id="2"/>', (["<x id=1/>"], ["<x id=2/>"])),
        ("<b>a</b>", "a", (["<b>", "</b>"], [])),
        ("https://example.org/de", "https://example.org/en", ([], [])),
        ("%s von %s", "%2$s of %1$s", ([], [])),
        ("%1$s von %2$s", "%s of %s", ([], [])),
        ("%s von %d", "%d of %s", ([], [])),
        ("%s von %s", "%2$s of", (["%1$s"], [])),
        ("{} von {}", "{1} of {0}", ([], [])),
        ("%L1 Züge", "%1 trains", ([], [])),
        ("{ $name }, {n,number}", "{$name}: {n, number, integer}", ([], [])),
        ("am {0:dd.MM.yyyy}", "on {0:MM/dd/yyyy}", ([], [])),
        ("50 %s", "%s 50", ([], [])),
    ],
)
def test_spellings_that_mean_the_same(source, target, found):
    assert different_placeholders(source, target) == found


DE = "{n, plural, one {# Zug} other {# Züge}}"
RIGHT = [
    "{n, plural, one {# train} other {# trains}}",
    "{n,plural,=0 {no train} one {one train} few {# trains} many {# trains} other {# trains}}",
    "{n, plural, offset:1 other {{n} trains}}",
    "{ n , plural ,\n one { # train }\n other { # trains }\n}",
]
WRONG = {
    "{n, plural, one {# train} many {# trains}}": (["{n,plural,other}"], []),
    "{m, plural, one {# train} other {# trains}}": None,
    "{n, plural, one {# train} other {trains}}": ([], []),  # the number stands in the other branch
    "{n, plural, one {a train} other {trains}}": (["{n}"], []),
    "{n, plural, one {# train} other {# {x} trains}}": ([], ["{x}"]),
    "{n, plural, one {# train} other {# trains}": None,
    "{n} trains": None,
}


@pytest.mark.parametrize("target", RIGHT)
def test_plurals_may_have_the_forms_of_their_language(target):
    assert different_placeholders(DE, target) == ([], [])
    assert different_placeholders(target, DE) == ([], [])
    shown = visible(target, placeholders(target).hidden).split()
    assert shown == ["trains"]


@pytest.mark.parametrize(("target", "found"), WRONG.items())
def test_plurals_that_lack_something_are_found(target, found):
    wrong = different_placeholders(DE, target)
    assert wrong == found if found is not None else wrong[0]


def test_branches_within_branches():
    source = "{g, select, female {Sie hat {n, plural, one {# Zug} other {# Züge <b>hier</b>}}} other {Er hat {n} Züge}}"
    target = "{g, select, female {She has {n, plural, one {# train} other {# <b>trains</b>}}} other {They have {n}}}"
    assert different_placeholders(source, target) == ([], [])
    assert different_placeholders(source, target.replace("female", "f"))[0] == ["{g,select,female}"]
    fluent = "{ $n -> [one] { $n } Zug *[other] { $n } Züge }"
    assert different_placeholders(fluent, "{ $n -> [one] one train [few] x *[other] { $n } trains }") == ([], [])
    assert different_placeholders(fluent, "{ $n -> [one] one train *[other] trains }") == (["{$n}"], [])


@given(
    st.lists(
        st.sampled_from(["{n, plural,", "other {", "one {", "}", "#", "{n}", "{", " a", "{$n ->", "*[x]", "<b>", "%s"])
    )
)
def test_anything_is_read_and_is_its_own_translation(parts):
    text = "".join(parts)
    found = placeholders(text)
    assert different_placeholders(text, text) == ([], [])
    assert [span for span in found.hidden if span[0] >= span[1]] == []
    assert found.hidden == sorted(found.hidden)
    assert len(visible(text, found.hidden)) == len(text)


def test_what_is_nested_deep_or_broken_costs_no_more_than_its_length():
    for part in ("{", "{n, plural, one {", "{n, plural, other {x} ", "{$n -> [a] ", '<a x="', "<!--", "%", "{{", "#a"):
        placeholders(part * 3000)
