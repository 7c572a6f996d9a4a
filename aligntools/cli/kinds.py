"""Options by what they need and exclude, their types (places, numbers in a range, sizes), their groups in the help."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from aligntools.cli.flags import EXPERT, said
from aligntools.formats.opening.files import Named as Named
from aligntools.formats.opening.files import check as check
from aligntools.ground import ranges
from aligntools.ground.declarations import Option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import Range
from aligntools.store import atomic_write

#: What adds options to a function, or to a command.
Decorator: TypeAlias = Callable[[Any], Any]


class Word(click.types.StringParamType):
    """A str that is not empty: the value of a variable that is not set would be taken for an option not given."""

    what = "value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse what is empty."""
        if value == "":
            self.fail(f"the {self.what} is empty", param, ctx)
        return super().convert(value, param, ctx)


class Place(Word):
    """A file or a folder, which the shell completes; ``endings`` make several files of one name."""

    what = "name"

    def __init__(self, kind: str = "file", written: bool = False, endings: Sequence[str] = ("",)) -> None:
        self.kind, self.written, self.endings = kind, written, endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Take a name, or True and False of an option that may stand by itself; several files need a name."""
        if value == "-" and len(self.endings) > 1:
            self.fail("several files are written; give the beginning of their names", param, ctx)
        return value if isinstance(value, bool) else super().convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Leave it to the shell."""
        return [CompletionItem(incomplete, type=self.kind)]


class Refusable(click.Option):
    """An option with a value that may be refused, by another flag; its value is False then."""

    def __init__(self, *args: Any, refused: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.secondary_opts = [refused]

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser know both."""
        super().add_to_parser(parser, ctx)
        parser.add_option(obj=self, opts=self.secondary_opts, dest=self.name, action="store_const", const=False)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return both; the value belongs to the first alone."""
        record = super().get_help_record(ctx)
        if record is None:  # hidden
            return None
        names, about = record
        return names.removesuffix(f" {self.metavar}"), about


class Field(click.Option):
    """An option that is no longer shown; ``--set`` gives its field."""

    def get_error_hint(self, ctx: click.Context | None) -> str:
        """Return what an error calls it."""
        return f"'--set {self.name}'"


class Former(click.Option):
    """An option that became part of another (``of``), whose rules hold for it; ``now`` is how it is written."""

    def __init__(self, *args: Any, of: str, now: str, **more: Any) -> None:
        super().__init__(*args, **{**more, "hidden": True})
        self.of, self.now = of, now


class Registered(click.Choice):
    """One of names that are asked for when they are needed: more may be made known."""

    def __init__(self, names: Callable[[], tuple[str, ...]]) -> None:
        self._names = names
        super().__init__(names())

    @property
    def choices(self) -> tuple[str, ...]:
        """The names."""
        return self._names()

    @choices.setter
    def choices(self, names: object) -> None:
        """Nothing is kept."""


#: The type of an option that names a file to be written. All others with the metavar FILE are read.
WRITTEN = Place(written=True)


class Number(click.ParamType):
    """A number within a range; any other, NaN and infinity too, is refused with exit status 2."""

    def __init__(self, allowed: Range) -> None:
        self.allowed, self.name = allowed, "integer" if allowed.whole else "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a number; those of other forms, infinite ones and NaN are not in any range."""
        try:
            number: float | None = int(value) if self.allowed.whole else float(value)
        except (ValueError, OverflowError):
            number = None
        if number not in self.allowed:
            self.fail(f"'{ranges.shown(value)}' is not {self.allowed}", param, ctx)
        return number


class Numbers(click.ParamType):
    """Several whole numbers, each within a range, with commas; a tuple of int."""

    name = "integers"

    def __init__(self, allowed: Range) -> None:
        self.allowed = allowed

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the numbers; whether they go together is for the settings to say."""
        if isinstance(value, tuple):
            return value
        try:
            found = tuple(int(x) for x in value.replace(",", " ").split())
        except ValueError:
            found = ()
        if not found:
            self.fail(f"'{ranges.shown(value)}': whole numbers, with commas", param, ctx)
        for number in found:
            if number not in self.allowed:
                self.fail(f"'{ranges.shown(number)}' is not {self.allowed}", param, ctx)
        return found


class Size(click.ParamType):
    """An amount of memory, such as 800M or 4G, in bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a size."""
        if isinstance(value, int):
            return value
        try:
            return ranges.size_of(value)
        except UsageProblem as error:
            self.fail(said(error), param, ctx)


class Column(click.ParamType):
    """A column of CoNLL: a name, or a number counted from 1."""

    name = "column"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a column; which ones there are is the format's to say."""
        if not isinstance(value, str) or not (value.isascii() and value.isdigit()):
            return value
        return Number(ranges.counts(1)).convert(value, param, ctx)


def tell_leftovers(outputs: Iterable[Named]) -> None:
    """Return what killed runs have left next to these outputs, one line for each output."""
    for named in outputs:
        found = [] if named.standard else atomic_write.leftovers(named.path)
        if not found:
            continue
        last = found[-1]
        which = os.path.join(os.path.dirname(named.path), os.path.basename(last.name))
        age, units = time.time() - last.changed, ((86400, "d"), (3600, "h"), (60, "min"))
        ago = next((f"{age / n:.0f} {unit}" for n, unit in units if age >= n), f"{max(age, 0):.0f} s")
        more = f", and {len(found) - 1} older" if len(found) > 1 else ""
        sys.stderr.write(
            f"warning: {which} was left by a killed run (process {last.process} on {last.host}, last written"
            f" {ago} ago, {last.size} bytes){more}; remove it if you do not need it\n"
        )


@contextmanager
def placed(inputs: Iterable[Named], outputs: Iterable[Named], quiet: bool = False) -> Iterator[None]:
    """Run a command's block between these files, once `check` has passed them."""
    inputs, outputs = list(inputs), list(outputs)
    check(inputs, outputs)
    if not quiet:
        tell_leftovers(outputs)
    # -o comes last: where it is, all others are
    ordered = sorted(outputs, key=lambda named: named.flag in ("-o", "--output"))
    with atomic_write.together(named.path for named in ordered if not named.standard):
        yield


def option(
    *flags: str,
    needs: tuple[str, ...] = (),
    excludes: tuple[str, ...] = (),
    when: str = "",
    said: str = "",
    **about: Any,
) -> Decorator:
    """Return click's option with what it needs and excludes; see `declarations.Option`. Of fields `--set` gives it."""
    plain = max(flags, key=len).partition("/")[0].lstrip("-").replace("-", "_")
    if next((flag for flag in flags if flag[0] != "-"), plain) in EXPERT:
        about = {"hidden": True, "cls": Field} | about

    def decorate(function: Any) -> Any:
        found: Any = click.option(*flags, **about)(function)
        found.__click_params__[-1].rules = [Option("", needs=needs, excludes=excludes, when=when, said=said)]
        return found

    return decorate


def file(*flags: str, **about: Any) -> Decorator:
    """Return an option that names a file; parameters are as for `option`."""
    return option(*flags, **{"metavar": "FILE"} | about)


def written(*flags: str, **about: Any) -> Decorator:
    """Return an option that names a file to be written; parameters are as for `option`."""
    return file(*flags, **{"type": WRITTEN} | about)


def choice(*flags: str, choices: Sequence[str], **about: Any) -> Decorator:
    """Return an option that takes one of several values, by default the first; parameters are as for `option`."""
    return option(*flags, type=click.Choice(choices), default=choices[0], show_default=True, **about)


def group(
    title: str,
    *options: Callable[[Any], Any],
    needs: tuple[str, ...] = (),
    excludes: tuple[str, ...] = (),
    said: str = "",
) -> Decorator:
    """Return one decorator for options under a title in the help, in this order; all have these rules."""

    def decorate(function: Any) -> Any:
        before = len(getattr(function, "__click_params__", ()))
        for option in reversed(options):
            function = option(function)
        for parameter in function.__click_params__[before:]:
            if title and not hasattr(parameter, "group"):
                parameter.group = title
            if needs or excludes:
                ruled = getattr(parameter, "rules", [])
                parameter.rules = [*ruled, Option("", needs=needs, excludes=excludes, said=said)]
        return function

    return decorate
