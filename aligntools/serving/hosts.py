"""The names that a service answers to: another name shows that a page of another site asks, by DNS rebinding."""

import re
from collections.abc import Sequence
from ipaddress import IPv6Address, ip_address

from aligntools.ground.errors import UsageProblem

#: Names of this machine alone.
_OWN = ("localhost", "127.0.0.1", "::1")
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+(?:%[\w.-]+)?\]|[^\[\]:@/\s]*)(?::\d*)?")
_NAME = re.compile(r"(?:\*\.)?(?!-)[\w-]+(?:\.[\w-]+)*")


def _plain(name: str) -> str:
    """Return a name as it is compared: addresses in one form, no dot at the end."""
    name = name.strip("[]").partition("%")[0].lower().removesuffix(".")
    try:
        address = ip_address(name)
    except ValueError:
        return name
    return str((isinstance(address, IPv6Address) and address.ipv4_mapped) or address)


class AllowedHosts:
    """The names in the Host header that a service answers to: this machine's, the address listened at, more.

    Of these `example.org` is one name, `*.example.org` are those below it and `*` is all; others are a `UsageProblem`.
    """

    def __init__(self, host: str, more: Sequence[str] = ()) -> None:
        for name in more:
            if name != "*" and not _NAME.fullmatch(name) and not _is_address(name):
                raise UsageProblem(
                    f"`allow_host` takes a name without scheme and port, such as example.org, not '{name}'"
                )
        self._all = "*" in more
        self._names = {_plain(name) for name in (*_OWN, host, *more)} - {""}
        self._endings = tuple(name[1:] for name in self._names if name.startswith("*."))

    def refused(self, names: Sequence[str], server: Sequence[object] | None) -> str | None:
        """Return which of the names in a request's head is not allowed, None where all are; `server` is where it came.

        A request of HTTP/1.0 may have none: no browser sends such.
        """
        here = _plain(str(server[0])) if server else ""
        return None if self._all else next((name for name in names if not self._allowed(name, here)), None)

    def _allowed(self, name: str, here: str) -> bool:
        found = _HOST.fullmatch(name.strip(" \t"))
        plain = _plain(found[1]) if found else ""
        return plain != "" and (plain == here or plain in self._names or plain.endswith(self._endings))


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
