"""Large buffers come back to the pool when nobody sees them, are aligned, and never outlive the bound."""

from __future__ import annotations

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
