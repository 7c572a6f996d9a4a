"""One self-contained HTML file for something to look at: no network, opens from disk, text is data.

A kind of page is two or three files in ``assets``: ``KIND.html.j2``, which extends ``base.html.j2``, the module
``scripts/KIND.js``, which makes the page live (see `bundle`), and, where it has a style of its own, ``KIND.css``, which
is added to ``base.css`` and to what it shares with other kinds (`_STYLES`).

What keeps text from being run: Jinja2 escapes what goes into the template; data goes in as JSON, in which no character
of markup is left; scripts put text into the page as text (``dom.js``); and the page's content security policy allows
its own script and style alone, known by their hashes, and no connection at all. So there can be no ``style`` attributes
in what is written: use classes, and in SVG presentation attributes. Pictures of other programs go in as
``<img src="data:...">``.
"""

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from aligntools import __version__
from aligntools.ground.errors import visible

# The scripts of a page, put together from modules.
#
# A page has one script, so that it is one file. The modules in ``assets/scripts`` are ordinary ES modules of a plain
# form, which the rule here turns into that script: each module becomes a function that is called once, in the order in
# which modules need each other, and returns what it exports. A module may say, each in lines of its own,
#
#     import { first, second } from "./other.js";
#     export function first(...) {
#     export class Second {
#     export const third = ...
#
# and nothing else of ``import`` and ``export``.


_IMPORT = re.compile(r'^import \{([\w,\s]+)\} from "\./([\w-]+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_LEFT_OVER = re.compile(r"^\s*(?:import|export)\b.*$", re.MULTILINE)


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """Return the script of a module and those it needs, by name; ValueError for other imports, or a circle."""
    done: dict[str, str] = {}
    waiting: list[str] = []

    def variable(name: str) -> str:  # the object with what a module exports
        return "$" + name.replace("-", "_")

    def add(name: str) -> None:
        if name in done:
            return
        if name in waiting:
            raise ValueError(f"{' -> '.join([*waiting, name])}: modules need each other")
        waiting.append(name)
        text = read(name)
        for _, needed in _IMPORT.findall(text):
            add(needed)
        exported = [match[1] for match in _EXPORT.finditer(text)]
        text = _EXPORT.sub("", _IMPORT.sub(lambda m: f"const {{{m[1]}}} = {variable(m[2])};", text))
        if wrong := _LEFT_OVER.search(text):
            raise ValueError(f"{name}.js: '{wrong[0].strip()}' is an import or export of another form")
        returned = f"return {{ {', '.join(exported)} }};"
        done[name] = f"// {name}.js\nconst {variable(name)} = (() => {{\n{text}{returned}\n}})();\n"
        waiting.remove(name)

    add(entry)
    return '"use strict";\n' + "".join(done.values())


#: The style that kinds of pages share: those that draw links between words, and those that list sentences with trees.
_STYLES = {"alignments": "links", "serve": "links", "trees": "tree-list", "constituents": "tree-list"}
#: Characters that end a script or start markup, and ends of lines that JavaScript once did not allow in strings.
_ESCAPED = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def page(title: str, kind: str, data: object, *, connected: bool = False, **context: Any) -> str:
    """Return a page of a kind, to be written in UTF-8; ``context`` is what the template gets besides, escaped.

    data: For the script, as JSON can hold it. Strings are shown as they are: pass them through `errors.visible`.
    connected: Let the page ask the server that it comes from.
    """
    style, script, template = _assets(kind)
    own = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    policy = f"default-src 'none'; style-src 'sha256-{own[0]}'; script-src 'sha256-{own[1]}'; img-src data:"
    found: str = template.render(
        title=visible(title),
        style=style,
        script=script,
        policy=policy + ("; connect-src 'self'" if connected else ""),
        data=as_json(data),
        version=__version__,
        **context,
    )
    return found


def as_json(data: object) -> str:
    """Return JSON that can stand in a ``<script>`` element, in as few characters as may be."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPED)


@cache
def _assets(kind: str) -> tuple[str, str, Any]:
    """Return the style, the script and the template of a kind of page."""
    import jinja2

    loader = jinja2.PackageLoader("aligntools.viewing", "assets")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )

    def read(name: str) -> str:
        return loader.get_source(environment, name)[0]

    known = set(loader.list_templates())
    styles = ("base.css", f"{_STYLES.get(kind)}.css", f"{kind}.css")
    style = "".join(read(name) for name in styles if name in known)
    script = bundle(kind, lambda name: read(f"scripts/{name}.js"))
    return style, script, environment.get_template(f"{kind}.html.j2")


def framed(document: str) -> str:
    """Return a page in a frame, for notebooks: it can do nothing to what is around it."""
    sandbox = "allow-scripts allow-downloads allow-modals"
    return (
        f'<iframe sandbox="{sandbox}" width="100%" height="640" frameborder="0"'
        f' srcdoc="{html.escape(document)}"></iframe>'
    )
