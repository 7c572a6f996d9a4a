"""Options that several commands share: the same flag, the same meaning, the same help everywhere."""

import copy
import logging
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable
from typing import Any

import click
from click.core import ParameterSource

from aligntools import Loading, PieceReading, Reading, Tokenizing
from aligntools.cli import declarations, flags, kinds
from aligntools.cli.kinds import Decorator
from aligntools.cli.kinds import Number as Number
from aligntools.cli.kinds import Place as Place
from aligntools.cli.kinds import choice as choice
from aligntools.cli.kinds import file as file
from aligntools.cli.kinds import group as group
from aligntools.cli.kinds import option as option
from aligntools.cli.kinds import written as written
from aligntools.cli.programs import docstring
from aligntools.formats.opening import files, live_inputs
from aligntools.ground import memory, ranges
from aligntools.ground.declarations import check_rules
from aligntools.ground.errors import UsageProblem, harmless
from aligntools.ground.parallel import available_cores
from aligntools.ground.run import Run

#: Given to every command: ``-h`` as well as ``--help``, and defaults shown.
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
#: Where a command's context keeps what is done once its outputs are in their places.
AFTERWARDS = "aligntools.afterwards"
#: Title of the options that have none of their own.
OTHERS = "Other options"
#: Title of the options that ``--help`` shows of a command with many.
ESSENTIAL = "Options"
#: Title of the fields that have no option.
FIELDS = "Fields for experiments (--set NAME=VALUE, as often as needed)"
#: Where a command's context keeps whether its help shows all options.
WHOLE = "aligntools.whole_help"


class Command(click.Command):
    """A command whose help groups its options, with ``--debug`` and old spellings taken quietly or with a notice.

    renamed: Old spellings, and what they are called now.
    once: Whether standard input can be one of its files alone.
    types: What ``--model`` may be besides a file's name, as it was once: then it is ``--model-type``.
    basic: The values whose options ``--help`` shows, with spaces between; empty: all.
    """

    def __init__(
        self,
        *args: Any,
        renamed: dict[str, str] | None = None,
        once: bool = True,
        types: Callable[[], Collection[str]] = tuple,
        basic: str = "",
        **kwargs: Any,
    ) -> None:
        kwargs["context_settings"] = SETTINGS | (kwargs.get("context_settings") or {})
        super().__init__(*args, **kwargs)
        self.help = self.help or docstring(self.callback)
        self.renamed, self.types, self.once = renamed or {}, types, once
        if any(parameter.name == "cluster" for parameter in self.params):
            self.renamed = self.renamed | flags.renamed(Run)
        self.basic = basic.split()
        self._help_all = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            hidden=not self.basic,
            callback=_show_all,
            help="Show all options and exit.",
        )
        for parameter in self.params:
            named = parameter.metavar or ""
            if type(parameter.type) is click.types.StringParamType and (
                isinstance(parameter, click.Argument) or named in ("FILE", "DIR", "A", "B")
            ):
                parameter.type = Place("dir" if named == "DIR" else "file")
            elif type(parameter.type) is click.types.StringParamType and named != "TEXT" and not parameter.callback:
                parameter.type = kinds.Word()

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, ``--help-all`` and ``--help``; the first is listed where it shows more."""
        *params, help_option = super().get_params(ctx)
        return [*params, self._help_all, help_option]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, old spellings replaced."""
        flags.of_command({parameter.name or "": parameter.opts for parameter in self.params})
        try:
            return super().parse_args(ctx, self._modern(args))
        except click.UsageError as error:
            positional = any(isinstance(parameter, click.Argument) for parameter in self.params)
            if error.message.startswith("Got unexpected extra") and not positional and (readers := self._readers()):
                vars(error)["message"] += f"; files are named by options: {', '.join(readers)}"
            raise

    def _readers(self) -> list[str]:
        """Return the first options that name a file to be read, as they are mostly written."""
        read = (p for p in self.params if isinstance(p.type, Place) and p.type.kind == "file" and not p.type.written)
        return [min(parameter.opts, key=len) for parameter in read][:3]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command between the files that it was given; see `kinds.placed`. Then do what waits for them."""
        read, written = self._named(ctx, False), self._named(ctx, True)
        own = [named.path for named in read]
        if self.once and own.count("-") > 1:
            raise UsageProblem("standard input ('-') can be only one of the files")
        self._check_rules(ctx)
        waiting = live_inputs.of_command(own, ctx.params.get("tmpdir"))
        with kinds.placed(read, written, ctx.params.get("quiet", False)), waiting:
            result = super().invoke(ctx)
        for action in ctx.meta.get(AFTERWARDS, ()):
            action()
        return result

    def _named(self, ctx: click.Context, written: bool) -> list[kinds.Named]:
        """Return the files that a command line names, those to be written or those to be read."""
        found: list[kinds.Named] = []
        for parameter in self.params:
            kind = parameter.type
            if isinstance(kind, Place) and kind.kind == "file" and kind.written == written:
                value = ctx.params.get(parameter.name)
                flag = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.metavar or parameter.name
                for path in [value] if isinstance(value, str) else value or ():
                    found += [kinds.Named(flag, path + ending) for ending in kind.endings]
        return found

    def _check_rules(self, ctx: click.Context) -> None:
        """Refuse options that were given with what they exclude, or without what they need."""

        def given(name: str) -> bool:
            said = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
            if any(one.of == name and given(str(one.name)) for one in former):
                return True
            return said and ctx.params[name] not in (None, ()) and (ctx.params[name] is not False or name in switches)

        former = [parameter for parameter in self.params if isinstance(parameter, kinds.Former)]
        switches = {parameter.name for parameter in self.params if parameter.secondary_opts}
        for parameter in self.params:
            name = parameter.name or ""
            for rule in getattr(parameter, "rules", ()) if given(name) else ():
                check_rules(name, rule, ctx.params[name], ctx.params, given)

    def _modern(self, args: Iterable[str]) -> list[str]:
        """Return the arguments with what was renamed as it is called now, and fields as the options that take them."""
        args, out = list(args), list[str]()
        expert = {name: f"{p.name}={'true' if p.is_flag else '...'}" for p in self._expert() for name in p.opts}
        expert |= {name: f"{p.name}=false" for p in self._expert() for name in p.secondary_opts}
        former = {name: p.now for p in self.params if isinstance(p, kinds.Former) for name in p.opts}
        while args:
            argument = args.pop(0)
            if argument == "--":
                return [*out, argument, *args]
            if argument == "--debug":  # `main.run` has seen it
                continue
            name, sign, value = argument.partition("=")
            if not argument.startswith("--"):  # -mFILE
                name, sign, value = argument[:2], "", argument[2:]
            if name == "--set" and self._expert():
                out += self._assigned(value if sign else args.pop(0) if args else "")
                continue
            if name in former:
                sys.stderr.write(f"note: {name} is {former[name]} now\n")
            if name in expert:
                sys.stderr.write(f"note: {name} is --set {expert[name]} now\n")
            if name in ("-m", "--model") and (value or (not sign and args and args[0])) in self.types():
                kind = value or args.pop(0)
                if os.path.exists(kind):
                    out += [name, kind]
                else:
                    sys.stderr.write("note: --model hmm and the like are called --model-type now; --model is a file\n")
                    out += ["--model-type", kind]
                continue
            if name in self.renamed and argument.startswith("-"):
                now = self.renamed[name]
                sys.stderr.write(f"note: {name} is called {now} now\n")
                argument = now + (sign if now.startswith("--") else "") + value
                if value and not sign:
                    out.append(now)
                    argument = value
            out.append(argument)
        return out

    def _expert(self) -> list[kinds.Field]:
        """Return the options that are no longer shown, whose fields ``--set`` gives."""
        return [p for p in self.params if isinstance(p, kinds.Field)]

    def _assigned(self, field: str) -> list[str]:
        """Return the arguments that give a field its value: ``tension=4``."""
        name, sign, value = field.partition("=")
        found = next((p for p in self._expert() if p.name == name.replace("-", "_")), None)
        if found is None or not sign:
            known = ", ".join(sorted(str(p.name) for p in self._expert()))
            problem = f"takes NAME=VALUE, not '{harmless(field)}'" if not sign else f"has no '{harmless(name)}' here"
            raise click.UsageError(f"--set {problem}; the names here: {known}")
        if not found.is_flag:
            return [f"{found.opts[0]}={value}"]
        if value not in ("true", "false"):
            raise click.UsageError(f"--set {found.name} is true or false, not '{harmless(value)}'")
        return found.opts[:1] if value == "true" else found.secondary_opts[:1]

    def shown(self, ctx: click.Context, whole: bool = True) -> dict[str, list[tuple[str, str]]]:
        """Return names and help of the options by their titles: all, as ``--help-all`` does, or those of ``--help``."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None or not isinstance(parameter, click.Option):
                continue
            title = getattr(parameter, "group", OTHERS)
            if not whole:
                if parameter.name not in self.basic and parameter.name not in ("help", "help_all"):
                    continue
                record = _short(*record)
                title = title if title == OTHERS else ESSENTIAL
            elif isinstance(parameter.type, Number):
                record = _with_range(*record, parameter.type.allowed)
            groups.setdefault(title, []).append(record)
        if whole and (fields := [_field(one, ctx) for one in self._expert()]):
            groups[FIELDS] = fields
        groups[OTHERS] = groups.pop(OTHERS, [])  # last
        return {title: records for title, records in groups.items() if records}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their groups' titles."""
        whole = not self.basic or ctx.meta.get(WHOLE, False)
        for title, records in self.shown(ctx, whole).items():
            with formatter.section(title):
                formatter.write_dl(records, col_max=30 if whole else 24)


def _field(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    """Return the line of help of a field that ``--set`` gives."""
    seen = copy.copy(option)
    seen.hidden = False
    names, help = seen.get_help_record(ctx) or ("", "")
    if isinstance(option.type, Number):
        names, help = _with_range(names, help, option.type.allowed)
    if option.is_flag:
        return f"{option.name}=true|false", re.sub(
            r"(?<=\[default: )(no-)?[\w-]+(?=\]$)", lambda flag: "false" if flag[1] else "true", help
        )
    return f"{option.name}={names.partition(' ')[2]}", help


def _show_all(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[WHOLE] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _short(names: str, help: str) -> tuple[str, str]:
    """Return an option's line of help cut to its first clause, with a default and choices that are short."""
    text, *default = re.split(r"(?=  \[[^][]*\]$)", help)
    first = re.split(r"(?<=[^.]{12})(?:[.;:](?=\s|$)|,? \((?!s\)))", text, maxsplit=1)[0]
    return re.sub(r"\[[^]]{24,}\]$", "NAME", names), first + "".join(d for d in default if len(d) < 24)


def _with_range(names: str, help: str, allowed: ranges.Range) -> tuple[str, str]:
    """Return an option's line of help with its range, where the default stands."""
    if re.search(r"  \[[^][]*\]$", help):
        return names, f"{help[:-1]}; {allowed.short}]"
    return names, f"{help}  [{allowed.short}]"


#: Where the work is done, of commands that can do it in several processes or on a cluster: align and other long ones.
ENGINES = ("workers", "cluster", "tmpdir")
#: Their options.
engines = declarations.group(Run, *ENGINES)
#: ``--threads N``, passed as ``threads`` (int).
threads = declarations.option(Run, "threads", default=available_cores, show_default="all cores")


def _quiet(_context: click.Context, _parameter: click.Parameter, value: bool) -> bool:
    if value:
        for name in ("compiling", "hints"):
            logging.getLogger(f"aligntools.{name}").setLevel(logging.ERROR)
    return value


def verbosity(function: Any) -> Any:
    """Add ``-q/--quiet`` and ``-v/--verbose``, passed as ``quiet`` and ``verbose`` (bool)."""
    for one in (
        click.option("-v", "--verbose", is_flag=True, help="More figures on standard error."),
        click.option("-q", "--quiet", is_flag=True, callback=_quiet, help="Nothing but errors on standard error."),
    ):
        function = one(function)
    return function


def output(
    help: str = "Write to this file instead of standard output, completely or not at all.",
) -> Decorator:
    """Return ``-o/--output FILE``, passed as ``output`` (str; ``-``, the default, is standard output)."""
    return written("-o", "--output", default="-", help=help)


#: ``--seed N``, passed as ``seed`` (int).
seed = click.option(
    "--seed",
    type=Number(ranges.SEED),
    default=1,
    show_default=True,
    metavar="N",
    help="Seed of everything random; the same seed gives the same bytes.",
)


#: ``--set verify=false``, passed as ``verify`` (bool), of commands that load models.
verify = declarations.option(Loading, "verify")
#: ``--input-format FORMAT`` of parallel text, passed as ``input_format``.
input_format = declarations.option(Reading, "input_format")
#: ``--languages SRC,TGT`` of TMX and the like, passed as ``languages`` (str or None).
languages = declarations.option(Reading, "languages")
#: ``--set scheme=SCHEME`` of text in pieces, passed as ``scheme`` (str).
scheme = declarations.option(PieceReading, "scheme")
#: ``--tokenize SRC-TGT`` of raw text, passed as ``tokenize`` (str or None).
tokenize = declarations.option(Tokenizing, "tokenize")
#: ``--set tokenizer=NAME`` of raw text, passed as ``tokenizer`` (str or None).
tokenizer = declarations.option(Tokenizing, "tokenizer")
#: ``--split HOW`` of text in words, passed as ``split`` (str).
split = declarations.option(Reading, "split")


def tag_separator(_ctx: click.Context, _option: click.Parameter, value: str | None) -> bytes | None:
    """Read what stands between word and tag, as bytes."""
    if value is not None and re.search(r"^$|[ \t\r\n]", value):
        raise click.BadParameter("one or more characters, none of them a space")
    return None if value is None else value.encode("utf-8", "surrogateescape")


def _bounding(_ctx: click.Context, _option: click.Parameter, value: int | None) -> int | None:
    if value is not None:
        memory.set_limit(value)
    return value


def max_memory(help: str | None = None) -> Decorator:
    """Return ``--max-memory SIZE``, passed as ``max_memory`` (int, bytes); if it is given, it bounds the process."""
    instead = {} if help is None else {"help": help}
    return declarations.option(Run, "max_memory", callback=_bounding, **instead)


#: The same, of commands whose tables go to temporary files.
table_memory = max_memory(
    "Use at most this much memory, for instance 800M or 4G; tables that do not fit go to temporary files."
    "  [default: 2G of tables, 75% of the memory in all]"
)


def write_text(path: str, text: str) -> None:
    """Write a command's result, in UTF-8, to a file or to standard output (``-``)."""
    with files.writing(path) as out:
        out.write(text.encode("utf-8", "surrogateescape"))
