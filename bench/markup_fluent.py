"""Messages of a website in many languages, with tags, from a checkout of github.com/mozilla-l10n/www-l10n (MPL 2.0)."""

import re
from pathlib import Path

_MESSAGE = re.compile(r"([a-zA-Z][\w-]*) = ?(.*)$")
_BRAND = re.compile(r"\{ *-([a-z0-9-]+)(?:\([^}]*\))? *\}")
_LITERAL = re.compile(r'\{ *"([^"]*)" *\}')
_VARIABLE = re.compile(r"\{ *\$(\w+) *\}")


def messages(text):
    """Return the messages of a Fluent file by name, on one line; none with variants or attributes."""
    found, name = {}, ""
    for line in text.split("\n"):
        if begun := _MESSAGE.match(line):
            name = begun[1]
            found[name] = [begun[2]]
        elif line[:1] in (" ", "\t") and name:
            found[name].append(line)
        else:
            name = ""
    joined = {name: " ".join(part.strip() for part in parts if part.strip()) for name, parts in found.items()}
    return {name: _plain(text) for name, text in joined.items() if text and "->" not in text and text[0] != "."}


def _plain(text):
    """Return a message with names of brands for their terms, and {name} for variables."""

    def brand(found):
        words = found[1].removeprefix("brand-name-").removeprefix("brand-").split("-")
        return " ".join(word.capitalize() for word in words)

    return _VARIABLE.sub(r"{\1}", _LITERAL.sub(r"\1", _BRAND.sub(brand, text)))


def pairs(checkout: Path, language):
    """Return all messages of a language, a folder of the checkout, that differ from the English ones, with these."""
    found = {}
    for path in sorted((checkout / language).rglob("*.ftl")):
        english = checkout / "en" / path.relative_to(checkout / language)
        if english.exists():
            ours, theirs = (messages(one.read_text("utf-8")) for one in (english, path))
            found |= dict.fromkeys((ours[name], text) for name, text in theirs.items() if name in ours)
    return [pair for pair in found if pair[0] != pair[1]]
