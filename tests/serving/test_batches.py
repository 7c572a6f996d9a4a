"""Requests of several threads that are worked at together."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from aligntools.serving.answers import Gathering


class Work:
    """Doubles numbers; the first call waits until all others have come."""

    def __init__(self):
        self.calls, self.begun, self.going_on = [], threading.Event(), threading.Event()

    def __call__(self, key, items):
        self.calls.append((key, list(items)))
        if not self.begun.is_set():
            self.begun.set()
            assert self.going_on.wait(20)
        if "bad" in items:
            raise ValueError("bad")
        return [2 * item for item in items]


def asked(gathering, work, requests):
    """Return the results of requests, of which all but the first come while it is worked at."""
    with ThreadPoolExecutor(len(requests)) as pool:
        found = [pool.submit(gathering, *requests[0])]
        assert work.begun.wait(20)
        for number, request in enumerate(requests[1:], 1):
            found.append(pool.submit(gathering, *request))
            while sum(map(len, gathering._waiting.values())) < number:
                pass
        work.going_on.set()
        return [one.exception() or list(one.result()) for one in found]


def test_batches_and_errors():
    work = Work()
    requests = [("a", [1]), ("a", [2, 3]), ("b", [4]), ("a", [5]), ("a", [6, 7, 8, 9])]
    found = asked(Gathering(work, 1, 4), work, requests)
    assert found == [[2 * item for item in items] for _, items in requests]
    assert sorted(work.calls) == [("a", [1]), ("a", [2, 3, 5]), ("a", [6, 7, 8, 9]), ("b", [4])]
    work = Work()
    found = asked(Gathering(work, 1, 9), work, [("a", [1]), ("a", [2]), ("a", ["bad"]), ("a", [3])])
    assert found[:2] + found[3:] == [[2], [4], [6]]
    assert isinstance(found[2], ValueError)


def test_turns_bound_the_calls_at_a_time():
    busy, most, lock = [0], [0], threading.Lock()

    def work(_, items):
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        threading.Event().wait(0.002)
        with lock:
            busy[0] -= 1
        return items

    gathering = Gathering(work, 2, 1)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda n: gathering(n % 3, [n])[0], range(40))) == list(range(40))
    assert most[0] == 2


@pytest.mark.parametrize("items", [[], [1], list(range(9))])
def test_a_request_alone_has_its_results(items):
    work = Work()
    work.going_on.set()
    assert list(Gathering(work, 1, 4)("a", items)) == [2 * item for item in items]
