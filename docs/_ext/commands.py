"""Writes a page for each command, from the command itself: usage, text, options by group, old spellings, example."""

import re
from pathlib import Path

import click

from aligntools.cli.main import COMMANDS, cli


def _plain(text):
    """Mark what looks like code in a help text, and keep the rest from being read as markup."""
    text = re.sub(r"([*_<>$|{}])", r"\\\1", text)
    return re.sub(r"(?<![\w`-])(--?[a-z][a-z0-9-]*)", r"`\1`", text)


def _paragraphs(text):
    r"""Yield (is code, text) of a help text, where ``\b`` keeps the lines of a paragraph as they are."""
    for part in re.split(r"\n\s*\n", text):
        if part.startswith("\b"):
            yield True, part.removeprefix("\b").strip("\n")
        else:
            yield False, " ".join(part.split())


def page(name):
    """Return a command's page, in Markdown."""
    command = cli.get_command(None, name)
    context = click.Context(command, info_name=f"aligntools {name}")
    help_text, _, example = command.help.partition("Example:")
    out = [f"(command-{name})=", f"# {name}", ""]
    usage = " ".join(command.collect_usage_pieces(context))
    out += ["```text", f"aligntools {name} {usage}", "```", ""]
    for as_it_is, text in _paragraphs(help_text.strip().removesuffix("\b").strip("\n ")):
        out += ["```text", text, "```", ""] if as_it_is else [_plain(text), ""]
    for title, records in command.shown(context).items():
        out += [f"## {_plain(title)}", "", *(f"`` {names} ``\n: {_plain(about) or '-'}\n" for names, about in records)]
    if getattr(command, "renamed", None):
        out += ["## Old spellings", ""]
        out += [f"`{old}`\n: now `{new}`\n" for old, new in sorted(command.renamed.items())]
    out += ["## Example", "", "```sh"]
    for line in example.replace("\b", "").splitlines():
        if line.strip():
            out.append(("    " if out[-1].endswith("\\") else "$ ") + line.strip())
    out += ["```", ""]
    return "\n".join(out)


def write_pages(app):
    """Write the pages where they changed, and remove those of commands that are gone."""
    folder = Path(app.srcdir) / "reference" / "commands"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.md"):
        if old.stem not in COMMANDS:
            old.unlink()
    for name in COMMANDS:
        path, text = folder / f"{name}.md", page(name)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app):
    """Write the pages before sources are read."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
