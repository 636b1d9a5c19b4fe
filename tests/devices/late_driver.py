"""A driver whose queues run as late as they may: a command runs when an event that somebody waits for needs it, not before.

Memory is the host's and kernels are compiled for it (`cuda_host`).  New memory is full of a poison, and what nobody refers to any
more is given out again at once, as a pool does, although commands that use it may not have run.  Before each wait of the host an
adversary runs the other queue for some commands, with seed 0 for none.  So a wait that is missing shows as a wrong result.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from rho.backend.codegen.gpu_targets import CUDA, THREADS
from rho.backend.gpu.driver import DeviceArray
from rho.tests.kernels.cuda_host import host_module

POISON = 0xA5


class Memory:
    def __init__(self, driver: LateDriver, block: np.ndarray[Any, Any]) -> None:
        self.driver, self.block = driver, block

    def __del__(self) -> None:
        self.driver.free[self.block.size].append(self.block)


class Queue:
    """Commands that have not run; `done`: how many have."""

    def __init__(self) -> None:
        self.commands: list[Callable[[], None]] = []
        self.done = 0

    def run(self, until: int) -> None:
        while self.done < until:
            command = self.commands[self.done]
            self.done += 1
            command()


class LateDriver:
    """`skipped`: the line of `gpu/driver.py` whose waits are left out."""

    xp: Any = None

    def __init__(self, seed: int, skipped: int | None = None) -> None:
        self.name, self.dialect, self.random, self.skipped = "late", CUDA, random.Random(seed), skipped
        self.eagerness = seed % 4 / 4
        self.compute, self.copies = Queue(), Queue()
        self.free: dict[int, list[np.ndarray[Any, Any]]] = defaultdict(list)
        self.waits = set[int]()

    def limit(self, size: int | None) -> None: ...

    @contextmanager
    def here(self) -> Iterator[None]:
        yield

    def is_left_out(self) -> bool:
        """Is the wait that is asked for the one that is left out?"""
        line = sys._getframe(2).f_lineno
        self.waits.add(line)
        return line == self.skipped

    def allocate(self, size: int) -> Memory:
        blocks = self.free[size]
        block = blocks.pop() if blocks else np.full(size, POISON, np.uint8)
        return Memory(self, block)

    def pinned(self, size: int) -> np.ndarray[Any, Any]:
        return np.full(size, POISON, np.uint8)

    def put(self, queue: Queue, command: Callable[[], None]) -> None:
        queue.commands.append(command)

    def rows(self, array: DeviceArray) -> np.ndarray[Any, Any]:
        """A matrix of bytes with contiguous rows."""
        (rows, width), (pitch, one) = array.shape, array.strides
        assert one == 1 and width <= pitch and array.offset + (rows - 1) * pitch + width <= array.memory.block.size
        return np.lib.stride_tricks.as_strided(array.memory.block[array.offset :], array.shape, array.strides)

    def write(self, queue: Queue, target: DeviceArray, host: np.ndarray[Any, Any], *, wait: bool) -> None:
        source, there = (host.copy() if wait else host), self.rows(target)
        self.put(queue, lambda: np.copyto(there, source))

    def read(self, queue: Queue, source: DeviceArray, host: np.ndarray[Any, Any], *, wait: bool) -> None:
        there = self.rows(source)
        self.put(queue, lambda: np.copyto(host, there))
        if wait:
            queue.run(len(queue.commands))

    def copy(self, source: DeviceArray, target: DeviceArray) -> None:
        there, here = (one.memory.block[one.offset : one.offset + one.nbytes] for one in (source, target))
        self.put(self.compute, lambda: np.copyto(here, there))

    def launch(self, source: str, name: str, blocks: int, words: Sequence[int | DeviceArray]) -> None:
        args = list[int]()
        for word in words:
            args += (word.memory.block.ctypes.data, word.offset) if isinstance(word, DeviceArray) else (word,)
        module = host_module(source)
        self.put(self.compute, lambda: module.launch(name, blocks, THREADS, args))

    def record(self, queue: Queue) -> tuple[Queue, int]:
        return queue, len(queue.commands)

    def wait(self, queue: Queue, event: tuple[Queue, int]) -> None:
        if not self.is_left_out():
            self.put(queue, lambda: event[0].run(event[1]))

    def finish(self, event: tuple[Queue, int]) -> None:
        if self.is_left_out():
            return
        other = self.copies if event[0] is self.compute else self.compute
        if self.random.random() < self.eagerness:
            other.run(self.random.randint(other.done, len(other.commands)))
        event[0].run(event[1])
