"""Run an iterator one step ahead of its consumer, on a thread of its own; and see how far it has come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from rankeval_cli.readers.format import Progress

S = TypeVar("S")
T = TypeVar("T")

AT_ONCE = 16
STOP_S = 1.0  # how long a consumer that stops early waits for the thread, which may hang on a pipe


def prefetch(items: Iterable[T]) -> Generator[T, None, None]:
    """The same items in the same order; the next one is made while the consumer works on the last.

    Exceptions of the iterator are raised in the consumer, in their place. When the consumer stops early, or is
    interrupted, the iterator is closed on its thread and the thread ends.
    """
    step = _Step(items)
    thread = threading.Thread(target=step.run, name="prefetch", daemon=True)
    thread.start()
    try:
        yield from step.items()
    finally:
        step.stop()
        thread.join(STOP_S)


def apart(work: Callable[[], T]) -> T:
    """What `work` gives, done on a thread of its own: Ctrl-C is heard meanwhile, unlike during a call into Polars."""
    with closing(prefetch(work() for _ in range(1))) as results:
        return next(results)


def several_at_once(work: Callable[[S], T], items: Iterable[S]) -> list[T]:
    """What `work` gives for each item, in their order, on some threads: for what waits for a network."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        return list(pool.map(work, items))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@dataclass
class Counted:
    """Counts what has been read of an input, and passes it on.

    size : bytes of the input, None where that is not known
    """

    size: int | None
    tell: Progress
    done: int = 0

    def __call__(self, count: int) -> None:
        """Take note of some more bytes."""
        self.done += count
        self.tell(count)

    def share(self) -> float:
        """Which part of the input has been read, above 0; 1.0 where that is not known, or nothing has been read."""
        return min(1.0, self.done / self.size) if self.size and self.done > 0 else 1.0


class _Step(Generic[T]):
    """One place between two threads: at most one item is in it, and one more in the making."""

    def __init__(self, items: Iterable[T]) -> None:
        self._items = iter(items)
        self._place: list[T] = []
        self._problem: BaseException | None = None
        self._is_done = self._is_stopped = False
        self._changed = threading.Condition()

    def run(self) -> None:
        """Fill the place until the items end; the thread's work."""
        try:
            for item in self._items:
                if not self._put(item):
                    break
                del item  # else its memory would be held while the next one is made
        except BaseException as problem:
            self._problem = problem
        finally:
            self._close()
            with self._changed:
                self._is_done = True
                self._changed.notify_all()

    def _put(self, item: T) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: not self._place or self._is_stopped)
            self._place.append(item)
            self._changed.notify_all()
            return not self._is_stopped

    def _close(self) -> None:
        close = getattr(self._items, "close", None)
        try:
            if close:
                close()
        except BaseException as problem:
            self._problem = self._problem or problem

    def items(self) -> Iterator[T]:
        """What has been put, until the end; the consumer's side."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._place or self._is_done)
                if not self._place:
                    break
                item = self._place.pop()
                self._changed.notify_all()
            yield item
            del item
        if self._problem is not None:
            raise self._problem

    def stop(self) -> None:
        """Tell the thread that nothing more is wanted."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
