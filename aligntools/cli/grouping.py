"""Options under titles in a command's help."""


def group(title, *options):
    """Return one decorator for several options, which come in this order under this title in the help.

    >>> @click.command(cls=Command)
    ... @group("Common options", click.option("--fast", is_flag=True, help="Do less."))
    ... def command(fast): ...
    """

    def decorate(function):
        before = len(getattr(function, "__click_params__", ()))
        for option in reversed(options):
            function = option(function)
        for parameter in function.__click_params__[before:]:
            if not hasattr(parameter, "group"):
                parameter.group = title
        return function

    return decorate
