"""The scripts of a page, put together from modules.

A page has one script, so that it is one file. The modules in ``assets/scripts`` are ordinary ES modules of a plain
form, which the rule here turns into that script: each module becomes a function that is called once, in the order in
which modules need each other, and returns what it exports. A module may say, each in lines of its own,

    import { first, second } from "./other.js";
    export function first(...) {
    export class Second {
    export const third = ...

and nothing else of ``import`` and ``export``.
"""

import re
from collections.abc import Callable

_IMPORT = re.compile(r'^import \{([\w,\s]+)\} from "\./([\w-]+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_LEFT_OVER = re.compile(r"^\s*(?:import|export)\b.*$", re.MULTILINE)


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """Return the script that runs a module and, before it, those that it needs.

    entry: Name of the module, without ``.js``.
    read: Returns the text of a module by its name.
    Raises ValueError when a module has an import or export of another form, or modules need each other.
    """
    done: dict[str, str] = {}
    waiting: list[str] = []

    def add(name: str) -> None:
        if name in done:
            return
        if name in waiting:
            raise ValueError(f"{' -> '.join([*waiting, name])}: modules need each other")
        waiting.append(name)
        text = read(name)
        for _, needed in _IMPORT.findall(text):
            add(needed)
        done[name] = _as_function(name, text)
        waiting.remove(name)

    add(entry)
    return '"use strict";\n' + "".join(done.values())


def _as_function(name: str, text: str) -> str:
    exported = [match[1] for match in _EXPORT.finditer(text)]
    text = _IMPORT.sub(lambda m: f"const {{{m[1]}}} = {_variable(m[2])};", text)
    text = _EXPORT.sub("", text)
    if wrong := _LEFT_OVER.search(text):
        raise ValueError(f"{name}.js: '{wrong[0].strip()}' is an import or export of another form")
    return f"// {name}.js\nconst {_variable(name)} = (() => {{\n{text}return {{ {', '.join(exported)} }};\n}})();\n"


def _variable(name: str) -> str:
    """Return the name of the object with what a module exports."""
    return "$" + name.replace("-", "_")
