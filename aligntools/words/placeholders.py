"""Placeholders of programs and formats in a text, tags, addresses, plurals of ICU."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

#: HTML's elements that have no end tag.
VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")
)
_PRINTF = r"%(?:\d+\$)?[-+#0']*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh?|ll?|[qjztL])?[sdiuxXofeEgGcn@](?![^\W\d_])"
_NAME = r"[A-Za-z_][\w.-]*"
_ADDRESS = r"(?:\b(?:https?|ftp)://|\bwww\.)(?:[^\s<>\"'{}$%]|%[0-9A-Fa-f]{2})+(?<=[\w/=&#])"
#: Placeholders of one piece: `{0}`, `{name}`, `${x}`, `{{x}}`, `%s`, `%1$d`, `%(x)s`, `%1`, `$(x)`, `%NAME%`, ...
_SIMPLE = rf"""
    \{{\{{\{{?[^{{}}]{{1,80}}\}}?\}}\}} | \{{%[^{{}}%]{{1,80}}%\}} | <%[^<>%]{{1,80}}%>
  | (?P<brace>(?:[$%@]|\#(?=\{{[A-Za-z_]))?)\{{(?:
        \s*(?P<name>[$-]?\w[\w.\[\]-]*)(?:![rsa])?
        (?:\s*,\s*(?P<type>number|date|time|spellout|ordinal|duration|list)\s*(?:,[^{{}}]*)?|,-?\d+(?::[^{{}}]*)?|:[^{{}}]*)?\s*
      | \s*(?P<call>[A-Z]+\(\s*\$[\w-]+)[^{{}}()]*\)\s*
      | (?P<none>(?::[^{{}}\s]*)?)
    )\}}
  | %\({_NAME}\)[sdifr] | %<{_NAME}>[sdif] | (?P<printf>{_PRINTF})
  | %%{_NAME}%% | %(?!(?:hh?|ll?|[qjztL])?[A-Za-z]%){_NAME}%(?!%)
  | %L?(?:\d{{1,2}}(?!\d)|n(?![^\W\d_]))
  | \#{{1,2}}[A-Za-z_][A-Za-z0-9_.]*\#{{1,2}}
  | \$[A-Za-z]*\({_NAME}\) | (?<![\w$])\$[A-Za-z_]\w+\$? | \$\[\w+\]
  | (?<![^\s("'\[«„“]):[a-z]\w*[a-z0-9](?!\w)
"""
#: What may look like a placeholder and is none: a percentage, a sign that stands for itself.
_PLAIN = r"\d[\d.,]*\s?%(?![sd@](?![^\W\d_])|[\d({]|[A-Z_]{2,}%) | %%(?!\w+%%)"
_TAG = (
    r"<!--[^<>]*--> | <(?P<close>/?)(?P<tag>[A-Za-z][\w:.-]*|\d+)"
    r"(?P<attributes>(?:\s(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*|\s[^<>]*)?)/?>"
)
#: The head of what has branches: ICU's plurals and selections, Fluent's.
_HEAD = r"""
    \{\s*(?P<of>[\w.-]+)\s*,\s*(?P<how>plural|select|selectordinal)\s*,
  | \{\s*(?P<fluent>\$[\w-]+|[A-Z]+\(\s*\$[\w-]+[^{}()]*\))\s*->
"""
_ANY = re.compile(
    rf"(?P<head>{_HEAD}) | (?P<plain>{_PLAIN}) | (?P<address>{_ADDRESS}) | (?P<markup>{_TAG})"
    rf" | (?P<simple>{_SIMPLE}) | (?P<sign>\#)",
    re.VERBOSE | re.DOTALL,
)
_BEGINS = re.compile(r"[{<%#$@:]|www\.")
_SAME = re.compile(rf"{_ADDRESS} | %% | {_SIMPLE}", re.VERBOSE)
#: Attributes by which tags of translation files are known; those of links, classes and titles may differ.
_KNOWN_BY = re.compile(r"""\s(?:id|x|i|rid|xid)\s*=\s*["']?([^\s"'>]+)""")
_BRANCH = re.compile(r"\s*(?:offset\s*:\s*\d+\s*)?(?P<branch>=\d+|[\w-]+)\s*\{")
_VARIANT = re.compile(r"(?P<default>\*?)\[\s*(?P<branch>[\w.-]+)\s*\]")
_BRACE, _BLANK = re.compile(r"[{}]"), re.compile(r"\s*")
#: Branches within branches, at most.
_DEEPEST = 8


class Placeholders(NamedTuple):
    """The placeholders and tags of a text."""

    #: those of the text, of branches those of the one for all other cases; written in one way
    needed: list[str]
    #: those of all branches, as many as any of them has
    there: Counter[str]
    #: places of what is not text: of placeholders, tags, addresses, and of all branches but one
    hidden: list[tuple[int, int]]


def same_placeholders(text: str) -> Iterator["re.Match[str]"]:
    """Find the placeholders and addresses that are the same in every language."""
    return _SAME.finditer(text) if _BEGINS.search(text) else iter(())


def placeholders(text: str) -> Placeholders:
    """Return the placeholders of a text, and what of it is no text."""
    if not _BEGINS.search(text):
        return Placeholders([], Counter(), [])
    closing: dict[int, int] = {}  # by what is behind an opening brace, where it is closed
    opened: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace.group() == "{":
            opened.append(brace.end())
        elif opened:
            closing[opened.pop()] = brace.start()
    return _within(text, 0, len(text), "", 0, closing)


def visible(text: str, hidden: Sequence[tuple[int, int]]) -> str:
    """Return a text with spaces in the place of what is hidden."""
    parts, at = [], 0
    for begin, end in hidden:
        parts += [text[at:begin], " " * (end - begin)]
        at = end
    return "".join(parts) + text[at:]


def _within(text: str, at: int, end: int, number: str, deep: int, closing: Mapping[int, int]) -> Placeholders:
    """Return those between two places; in plurals ``#`` is written for a number."""
    found = Placeholders([], Counter(), [])
    while one := _ANY.search(text, at, end):
        begin, at = one.span()
        if one["head"]:
            branches, last = _branches(text, one, end, closing) if deep < _DEEPEST else ([], 0)
            if not branches:  # it is not whole
                at = begin + 1
                continue
            at = last
            more = _of_branches(text, one, branches, last, number, deep, closing)
            found.needed.extend(more.needed)
            found.there.update(more.there)
            found.hidden.extend(more.hidden)
        elif not one["plain"] and (number or not one["sign"]):
            if key := number if one["sign"] else _key(one):
                found.needed.append(key)
                found.there[key] += 1
            found.hidden.append((begin, at))
    return found


def _branches(
    text: str, head: "re.Match[str]", end: int, closing: Mapping[int, int]
) -> tuple[list[tuple[str, int, int]], int]:
    """Return the branches behind a head, with where they begin and end, and the end of all; none where braces lack."""
    found: list[tuple[str, int, int]] = []
    at = head.end()
    close = closing.get(head.start() + 1, end)
    if close >= end:
        return [], 0
    if head["fluent"]:
        variants = list(_VARIANT.finditer(text, at, close))
        for one, following in pairwise([*variants, None]):
            assert one is not None
            branch = "other" if one["default"] else one["branch"]
            found.append((branch, one.end(), following.start() if following else close))
        return found, close + 1
    while one := _BRANCH.match(text, at, close):
        at = closing[one.end()] + 1
        found.append((one["branch"], one.end(), at - 1))
    return (found, close + 1) if _BLANK.fullmatch(text, at, close) else ([], 0)


def _of_branches(
    text: str,
    head: "re.Match[str]",
    branches: Sequence[tuple[str, int, int]],
    last: int,
    number: str,
    deep: int,
    closing: Mapping[int, int],
) -> Placeholders:
    """Return the placeholders of what has branches: languages have others, but for what a program chooses by."""
    name = head["of"] or _BLANK.sub("", head["fluent"])
    kind = head["how"] or "select"
    own = [f"{{{name},{kind}}}"]
    if kind == "select" and not head["fluent"]:
        own += [f"{{{name},{kind},{branch}}}" for branch, _, _ in branches]
    elif any(branch == "other" for branch, _, _ in branches):
        own.append(f"{{{name},{kind},other}}")
    inner = f"{{{name}}}" if head["how"] not in (None, "select") else number
    chosen = Placeholders([], Counter(), [])
    there: Counter[str] = Counter()
    for branch, begin, end in branches:
        found = _within(text, begin, end, inner, deep + 1, closing)
        there |= found.there
        if branch == "other" or ((branch, begin, end) == branches[-1] and not chosen.hidden):
            hidden = [(head.start(), begin), *found.hidden, (end, last)]
            chosen = Placeholders(own + found.needed, chosen.there, hidden)
    return Placeholders(chosen.needed, there + Counter(own), chosen.hidden)


def _key(one: "re.Match[str]") -> str:
    """Return a placeholder or tag in the one way that it is written here; nothing for comments and addresses."""
    if one["tag"]:
        name = one["tag"].lower()
        if one["close"]:
            return f"</{name}>"
        known = _KNOWN_BY.search(one["attributes"])
        empty = "/" if one.group().endswith("/>") and name not in VOID else ""
        return f"<{name}{' id=' + known[1].rstrip('/') if known else ''}{empty}>"
    if not one["simple"]:
        return ""
    if one["brace"] is not None:
        inner = one["name"] or (_BLANK.sub("", one["call"]) + ")" if one["call"] else "")
        return f"{one['brace']}{{{inner}}}"
    return _BLANK.sub("", one["simple"]).replace("%L", "%")
