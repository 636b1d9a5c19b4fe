"""Large buffers come back to the pool when nobody sees them, are aligned, and never outlive the bound."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from rho.backend.graph.phases import ValueId
from rho.backend.vm import run_state
from rho.backend.vm.run_state import sole_owner

F64 = np.dtype(np.float64)
COUNT = run_state.MIN_POOLED // 8


@pytest.fixture(autouse=True)
def empty_pool() -> Iterator[None]:
    run_state.trim()
    yield
    run_state.trim()


def test_used_again_once_unseen() -> None:
    first = run_state.pooled_empty((COUNT,), F64)
    address = first.ctypes.data
    assert address % run_state.ALIGNMENT == 0
    view = first[5:]
    del first
    assert run_state.pooled_empty((COUNT,), F64).ctypes.data != address
    view[:] = 3.0
    del view
    kept = {run_state.pooled_empty((COUNT,), F64).ctypes.data for _ in range(3)}
    assert len(kept) == 1 or address in kept


def test_small_arrays_are_not_leased() -> None:
    assert run_state.pooled_empty((3,), F64).base is None


def test_what_is_kept_gives_way() -> None:
    rooms = [run_state.pooled_empty((COUNT,), F64) for _ in range(3)]
    rooms.clear()
    assert run_state.free_bytes() == 3 * run_state.MIN_POOLED
    larger = run_state.pooled_empty((2 * COUNT,), F64)
    assert run_state.free_bytes() == run_state.MIN_POOLED
    del larger
    run_state.trim()
    assert run_state.free_bytes() == 0


def test_leased_arrays_have_one_owner() -> None:
    value = ValueId(0)
    memory = {value: run_state.pooled_empty((COUNT,), F64)}
    assert sole_owner(memory, value)
    view = memory[value][1:]
    assert not sole_owner(memory, value)
    del view
    assert sole_owner(memory, value)


def test_a_lease_nobody_sees_is_shown_again() -> None:
    first = run_state.pooled_empty((COUNT,), F64)
    lease = first.base
    assert isinstance(lease, run_state.PooledBuffer)
    del first
    second = run_state.pooled_empty((COUNT,), F64)
    assert second.base is not lease  # which is seen here
    known = id(second.base)
    del second
    assert id(run_state.pooled_empty((COUNT,), F64).base) == known
    assert type(run_state.pooled_empty((COUNT,), F64)) is np.ndarray


def test_memory_serves_another_shape() -> None:
    address = run_state.pooled_empty((COUNT,), F64).ctypes.data
    again = run_state.pooled_empty((2, COUNT), np.dtype(np.float32))
    assert again.ctypes.data == address and again.flags.c_contiguous and again.flags.writeable
    assert run_state.free_bytes() == 0


def test_many_of_a_shape_are_each_their_own() -> None:
    rooms = [run_state.pooled_empty((COUNT,), F64) for _ in range(9)]
    assert len({room.ctypes.data for room in rooms}) == 9
    rooms.clear()
    assert run_state.free_bytes() == 9 * run_state.MIN_POOLED
    rooms = [run_state.pooled_empty((COUNT,), F64) for _ in range(9)]
    assert run_state.free_bytes() == 0


def test_shapes_at_hand_are_bounded() -> None:
    count = run_state._MAX_READY_SIZE // 8
    alive = [run_state.pooled_empty((count, *(1,) * rank), F64) for rank in range(12)]
    assert sum(lease.nbytes for row in run_state._ready.values() for lease in row) <= run_state._MAX_READY_BYTES
    alive.clear()
    assert run_state.free_bytes() == 12 * run_state._MAX_READY_SIZE


def test_threads_never_get_the_same_memory() -> None:
    wrong: list[int] = []

    def use(number: int) -> None:
        for turn in range(300):
            mine = run_state.pooled_empty((COUNT,), F64)
            mine[::512] = number * 1000 + turn
            other = run_state.pooled_empty((COUNT,), F64)
            other[::512] = -1
            if (mine[::512] != number * 1000 + turn).any():
                wrong.append(number)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
