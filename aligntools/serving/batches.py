"""Requests of several threads worked at together: a pair among many costs a fraction of a pair alone."""

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class _Request(Generic[_Item, _Result]):
    """What a thread asks for, and what comes of it."""

    def __init__(self, items: Sequence[_Item]) -> None:
        self.items = items
        self.found: Future[Sequence[_Result]] = Future()


class Gathering(Generic[_Item, _Result]):
    """Calls a function for the items of all threads that wait with the same key.

    work: Called with a key and items; returns a result for each, which does not depend on the other items.
    turns: Calls at a time.
    most: Items of a call; a request with more has a call of its own.
    """

    def __init__(self, work: Callable[[Hashable, Sequence[_Item]], Sequence[_Result]], turns: int, most: int) -> None:
        self._work, self._most = work, most
        self._turn, self._lock = threading.Semaphore(turns), threading.Lock()
        self._waiting: dict[Hashable, list[_Request[_Item, _Result]]] = {}

    def __call__(self, key: Hashable, items: Sequence[_Item]) -> Sequence[_Result]:
        """Return a result for each item, or raise what the function raises for these items."""
        own: _Request[_Item, _Result] = _Request(items)
        with self._lock:
            self._waiting.setdefault(key, []).append(own)
        with self._turn:
            taken = self._taken(key, own)
            if taken:
                self._answer(key, taken)
        return own.found.result()

    def _taken(self, key: Hashable, own: _Request[_Item, _Result]) -> list[_Request[_Item, _Result]]:
        """Take a request with those that fit into its call; none when it is in the call of another thread."""
        with self._lock:
            waiting = self._waiting.get(key, [])
            if own not in waiting:
                return []
            taken, size = [own], len(own.items)
            left: list[_Request[_Item, _Result]] = []
            for one in waiting:
                if one is own:
                    continue
                fits = size + len(one.items) <= self._most
                size += len(one.items) * fits
                (taken if fits else left).append(one)
            self._waiting[key] = left
            if not left:
                del self._waiting[key]
            return taken

    def _answer(self, key: Hashable, requests: list[_Request[_Item, _Result]]) -> None:
        try:
            results = self._work(key, [item for one in requests for item in one.items])
        except BaseException as error:
            if len(requests) == 1:
                requests[0].found.set_exception(error)
                return
            for one in requests:  # whose fault it was shows when each is alone
                self._answer(key, [one])
            return
        at = 0
        for one in requests:
            one.found.set_result(results[at : at + len(one.items)])
            at += len(one.items)
