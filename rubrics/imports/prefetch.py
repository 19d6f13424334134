"""Parses a file in a thread while earlier rows are written, so that parser and database do not wait for each other."""

from __future__ import annotations

import gc
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from dataclasses import field as made_by
from typing import Any, Generic, TypeVar

from rubrics.parsing.faults import Faults

T = TypeVar("T")

AHEAD = 2  # chunks that were read and wait to be written
FIRST = 500  # rows of the first chunk, which is small because writing waits for it
WAIT_SECONDS = 0.2
# After each answer of the database the writing thread waits until the reading thread gives up the interpreter: 5 ms by
# default, several times for each statement, which adds up to a fifth of an import.
TURN_SECONDS = 50e-6
# Records hold no reference cycles. With Python's own thresholds of garbage collection, an import that changes nothing
# takes a third more CPU.
SELDOM = (100_000, 20, 100)


@dataclass(slots=True)
class _Chunk(Generic[T]):
    rows: list[T] = made_by(default_factory=list)
    faults: Faults = made_by(default_factory=Faults)
    error: BaseException | None = None
    last: bool = False


def prefetch_chunks(
    read: Callable[[Faults], Iterator[T]],
    faults: Faults,
    *,
    rows: int,
    weight: int,
    weigh: Callable[[T], int],
) -> Iterator[list[T]]:
    """Lists of what ``read(faults)`` yields: at most ``rows`` of them, or as many as weigh ``weight`` in all.

    The first ones are shorter, each twice as long as the one before, so that writing begins soon.

    ``read`` runs in a separate thread, so it must not touch the database. Faults arrive in ``faults`` together with
    their chunk, as they would without the thread; an exception in ``read`` is raised here.
    """
    ready: queue.Queue[_Chunk[T]] = queue.Queue(maxsize=AHEAD)
    abandoned = threading.Event()

    def hand_over(chunk: _Chunk[T]) -> bool:
        while not abandoned.is_set():
            try:
                ready.put(chunk, timeout=WAIT_SECONDS)
            except queue.Full:
                continue
            return True
        return False

    def run() -> None:
        # One object collects the faults of the whole file; only those since the last chunk are handed over.
        faults, reported = Faults(), 0
        chunk: _Chunk[T] = _Chunk()
        load, most = 0, min(rows, FIRST)
        try:
            for row in read(faults):
                chunk.rows.append(row)
                load += weigh(row)
                if len(chunk.rows) >= most or load >= weight:
                    chunk.faults, reported = faults.since(reported), faults.total
                    if not hand_over(chunk):
                        return
                    chunk, load, most = _Chunk(), 0, min(rows, 2 * most)
        except BaseException as error:  # raised where the rows are taken
            chunk.error = error
        chunk.faults, chunk.last = faults.since(reported), True
        hand_over(chunk)

    reader = threading.Thread(target=run, name="read ahead", daemon=True)
    reader.start()
    usual, often = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(min(usual, TURN_SECONDS))
    gc.set_threshold(*SELDOM)
    try:
        while True:
            chunk: _Chunk[Any] = ready.get()
            faults.absorb(chunk.faults)
            if chunk.error is not None:
                raise chunk.error
            if chunk.rows:
                yield chunk.rows
            if chunk.last:
                return
    finally:
        abandoned.set()
        reader.join()
        sys.setswitchinterval(usual)
        gc.set_threshold(*often)
