"""Pieces of compiled code: all are run, and the first that fails is told, by whichever threads."""

from __future__ import annotations

import numpy as np
import pytest

from rho.backend.kernels.ir import NO_MEMORY, Step
from rho.backend.kernels.store import address_of
from rho.backend.loops.written import Scatter
from rho.backend.run.cpu import sharing
from rho.backend.run.cpu.launching import Block
from rho.typechecker.elements import Kind

pytest.importorskip("llvmlite")


@pytest.mark.parametrize("has_native", [True, False])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("nanoseconds", [0.0, 1e5, 1e12])
def test_the_first_piece_that_fails(has_native: bool, threads: int, nanoseconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that ascend: one below the one before is check 1, one that is no entry check 0."""
    if not has_native:
        monkeypatch.setattr(sharing, "native", lambda: None)
    address = address_of(Scatter("add", Kind.I64, 1, True, Step.UNIT, True))
    assert address is not None
    rows = {(0, 1, 2): 0, (0, 2, 1): 2, (1, 2, 3): 1}
    for order, want in (((0, 0, 0), 0), ((0, 1, 2), 2), ((0, 2, 1), 1), ((2, 0, 0), 1)):
        keys = np.array([list(rows)[place] for place in order])
        items, tables = np.arange(9).reshape(3, 3), np.zeros((3, 1, 3), np.int64)
        starts = [[array.ctypes.data + place * array.strides[0] for array in (keys, items, tables)] for place in range(3)]
        calls = [(3, 3, *own, 24) for own in starts]
        assert sharing.run_once(address, calls, threads, nanoseconds, (keys, items, tables)) == want
        if not want:
            assert tables.reshape(-1).tolist() == items.reshape(-1).tolist()
        blocks = [Block([3, 3, 0, 0, 0, 24], [(2 + base, (base, 24 * place)) for base in range(3)]) for place in range(3)]
        pieces = sharing.Pieces(address, blocks, 3, threads, nanoseconds)
        is_native = has_native and threads > 1 and nanoseconds < 1e12 and sharing.native() is not None
        assert (pieces._launch is not None) == is_native
        assert pieces.run(starts[0], (keys, items, tables)) == want


def test_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing.Pieces, "on", lambda pieces, words: NO_MEMORY)
    with pytest.raises(MemoryError):
        sharing.run_once(0, [()], 1, 0.0, None)
