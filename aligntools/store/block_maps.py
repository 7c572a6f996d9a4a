"""A map over the blocks of a text, in order, by an engine: blocks and results pass through a folder.

A window of blocks is written, worked on and read, then the next one: disk and memory are bounded whatever the text's
length, nothing is read twice, and output begins before the input ends.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from aligntools.ground.engines import Engine
from aligntools.ground.parallel import Pool
from aligntools.store.objects import Kept, read_object, write_object
from aligntools.store.stores import Store

_Block = TypeVar("_Block")
_Result = TypeVar("_Result")

#: Blocks of a window, for all workers and for each.
WINDOW, EACH = 64, 16


class BlockMap:
    """Maps blocks through an engine's workers.

    store: All workers see its folder.
    """

    def __init__(self, engine: Engine, store: Store) -> None:
        self.store, self._engine, self._names = store, engine, 0

    @property
    def workers(self) -> int:
        """How many jobs run at a time."""
        return self._engine.workers

    def _name(self, what: str) -> str:
        self._names += 1
        return f"{what}.{self._names:06d}"

    def keep(self, thing: Any) -> Kept:
        """Return a thing that jobs share, such as a model, as they can be given it."""
        kept = Kept(self.store, self._name("kept"))
        write_object(self.store, kept.name, thing)
        return kept

    def run(
        self, stage: str, function: Callable[[_Block, Pool], _Result], blocks: Iterable[_Block]
    ) -> Iterator[_Result]:
        """Yield ``function(block, pool)`` of each block, in order.

        stage: What is done, for a person.
        function: Of a module, or a `functools.partial` of such a one; it can be called again for the same block.
        blocks: Can be pickled, as results can. As many are asked for as are worked on together.
        Raises Exception: What the blocks or the function raised, once the results of all blocks before were taken.
        """
        own, waiting, first, size = self._name("map"), iter(blocks), 0, self._engine.workers
        while True:
            count, failed = 0, None
            try:
                for block in islice(waiting, size):
                    write_object(self.store, _before(own, first + count), block)
                    count += 1
            except Exception as error:
                failed = error
            numbers = range(first, first + count)
            try:
                self._engine.run(stage, partial(_work, self.store, own, function), numbers, lambda: None)
            except Exception as error:
                failed = error
            self.store.remove(*(_before(own, number) for number in numbers))
            for number in numbers:
                if not self.store.has(_after(own, number)):
                    break
                yield read_object(self.store, _after(own, number))
                self.store.remove(_after(own, number))
            if failed is not None:
                raise failed
            if count < size:
                return
            first += count
            size = min(2 * size, max(WINDOW, EACH * self._engine.workers))


def _before(own: str, number: int) -> str:
    return f"{own}.{number:09d}.block"


def _after(own: str, number: int) -> str:
    return f"{own}.{number:09d}.result"


def _work(store: Store, own: str, function: Callable[[Any, Pool], Any], number: int, pool: Pool) -> None:
    """Do a block's job."""
    if not store.has(_after(own, number)):
        write_object(store, _after(own, number), function(read_object(store, _before(own, number)), pool))
