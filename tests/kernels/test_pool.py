"""Large buffers come back to the pool when nobody sees them, are aligned, and never outlive the bound."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from rho.backend.graph.phases import ValueId
from rho.backend.run import pool
from rho.backend.run.memory import sole_owner

F64 = np.dtype(np.float64)
COUNT = pool.LEAST // 8


@pytest.fixture(autouse=True)
def empty_pool() -> Iterator[None]:
    pool.trim()
    yield
    pool.trim()


def test_used_again_once_unseen() -> None:
    first = pool.room((COUNT,), F64)
    address = first.ctypes.data
    assert address % pool.ALIGNMENT == 0
    view = first[5:]
    del first
    assert pool.room((COUNT,), F64).ctypes.data != address
    view[:] = 3.0
    del view
    kept = {pool.room((COUNT,), F64).ctypes.data for _ in range(3)}
    assert len(kept) == 1 or address in kept


def test_small_arrays_are_not_leased() -> None:
    assert pool.room((3,), F64).base is None


def test_what_is_kept_gives_way() -> None:
    rooms = [pool.room((COUNT,), F64) for _ in range(3)]
    rooms.clear()
    assert pool.kept_bytes() == 3 * pool.LEAST
    larger = pool.room((2 * COUNT,), F64)
    assert pool.kept_bytes() == pool.LEAST
    del larger
    pool.trim()
    assert pool.kept_bytes() == 0


def test_leased_arrays_have_one_owner() -> None:
    value = ValueId(0)
    memory = {value: pool.room((COUNT,), F64)}
    assert sole_owner(memory, value)
    view = memory[value][1:]
    assert not sole_owner(memory, value)
    del view
    assert sole_owner(memory, value)


def test_a_lease_nobody_sees_is_shown_again() -> None:
    first = pool.room((COUNT,), F64)
    lease = first.base
    assert isinstance(lease, pool.Lease)
    del first
    second = pool.room((COUNT,), F64)
    assert second.base is not lease  # which is seen here
    known = id(second.base)
    del second
    assert id(pool.room((COUNT,), F64).base) == known
    assert type(pool.room((COUNT,), F64)) is np.ndarray


def test_memory_serves_another_shape() -> None:
    address = pool.room((COUNT,), F64).ctypes.data
    again = pool.room((2, COUNT), np.dtype(np.float32))
    assert again.ctypes.data == address and again.flags.c_contiguous and again.flags.writeable
    assert pool.kept_bytes() == 0


def test_many_of_a_shape_are_each_their_own() -> None:
    rooms = [pool.room((COUNT,), F64) for _ in range(9)]
    assert len({room.ctypes.data for room in rooms}) == 9
    rooms.clear()
    assert pool.kept_bytes() == 9 * pool.LEAST
    rooms = [pool.room((COUNT,), F64) for _ in range(9)]
    assert pool.kept_bytes() == 0


def test_shapes_at_hand_are_bounded() -> None:
    count = pool._MOST_SHOWN // 8
    alive = [pool.room((count, *(1,) * rank), F64) for rank in range(12)]
    assert sum(lease.nbytes for row in pool._at_hand.values() for lease in row) <= pool._MOST_AT_HAND
    alive.clear()
    assert pool.kept_bytes() == 12 * pool._MOST_SHOWN


def test_threads_never_get_the_same_memory() -> None:
    wrong: list[int] = []

    def use(number: int) -> None:
        for turn in range(300):
            mine = pool.room((COUNT,), F64)
            mine[::512] = number * 1000 + turn
            other = pool.room((COUNT,), F64)
            other[::512] = -1
            if (mine[::512] != number * 1000 + turn).any():
                wrong.append(number)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
