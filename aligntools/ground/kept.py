"""What the jobs of a process have in common, such as a model: made by the first of them and kept for the others."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

_Thing = TypeVar("_Thing")

#: Things that a process keeps; the one that was not asked for longest gives way.
MOST = 16
_things: "OrderedDict[Hashable, tuple[Hashable, Any]]" = OrderedDict()
_turn = threading.Lock()


def kept(key: Hashable, make: Callable[[], _Thing], version: Hashable = None) -> _Thing:
    """Return what ``make()`` returned when it was first called under this key in this process.

    version: Where another one is asked for than is kept under the key, the thing is made anew and the old one dropped.
    """
    with _turn:
        if key in _things and _things[key][0] != version:
            del _things[key]
        if key not in _things:
            while len(_things) >= MOST:
                _things.popitem(last=False)
            _things[key] = version, make()
        _things.move_to_end(key)
        found: _Thing = _things[key][1]
        return found


def forget() -> None:
    """Let go of all of them: jobs that still want one make it again."""
    with _turn:
        _things.clear()
