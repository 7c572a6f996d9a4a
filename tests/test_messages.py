"""What messages say, as far as the code shows it."""

import re

from tests.sources import MODULES, package_of, strings

#: An option as the shell has it; not the title of a section of an ARPA file, ``\\1-grams:``.
FLAG = re.compile(r"(^|[ (`'\"])--[a-z]")


def test_messages_below_the_command_line_name_no_options_of_it():
    """They name fields and functions between backquotes, which Python and the command line show as their own."""
    breaches = [
        f"{name}:{node.lineno}: {node.value}"
        for name, tree in MODULES.items()
        if package_of(name) != "cli"
        for node in strings(tree)
        if FLAG.search(node.value)
    ]
    assert not breaches
