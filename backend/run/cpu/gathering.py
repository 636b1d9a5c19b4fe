"""Gathers through kernels: an element-wise body with one item by index, bound and cut like any other.

An index outside its axis ends the kernel; the gather on NumPy then finds it again and says so.

Neighbours: `loops.lower.kernel` (the code), `compiled` (binding), `library.selecting` (the same on NumPy), `bindings`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, NoReturn

from ....typechecker.elements import Kind
from ...graph.cells import frame_of
from ...graph.phases import LibraryPhase, ValueId
from ...kernels import policy
from ...kernels.fetching import gathering
from ...kernels.ir import Kernel
from ...kernels.kept import Kept
from ...kernels.llvm_leaf import is_installed
from .compiled import CompiledRun
from .kinds import DTYPES, NumArray

LEAST_ROW: Final = 16
"""Items of what an index picks (if it is not one item), from which a kernel copies them better than NumPy."""
LEAST: Final = 1 << 12
_KINDS: Final = frozenset({Kind.BOOL, Kind.U8, Kind.I32, Kind.I64, Kind.F32, Kind.F64, Kind.CHAR})
_INDICES: Final = frozenset({Kind.BOOL, Kind.U8, Kind.I32, Kind.I64})


class Outside(Exception):
    """An index is outside its axis."""


class GatherRun(CompiledRun):
    """One gather; None where NumPy has to do it."""

    def fail(self, kernel: Kernel, place: int, word: int) -> NoReturn:
        raise Outside

    def gathered(self, table: NumArray, indices: NumArray) -> NumArray | None:
        (table_at, _), (indices_at, _) = self.views
        try:
            found = self.run({table_at: table, indices_at: indices}, None)
        except Outside:
            return None
        made: NumArray | None = found[0] if found else None
        return made


def gather_run(
    phase: LibraryPhase, kinds: Sequence[Kind], table: NumArray, indices: NumArray, threads: int, least: int = LEAST
) -> GatherRun | None:
    """Kept with the phase; `kinds` of table and indices; of fewer than `least` points there is none."""
    mode = policy.mode()
    if mode is policy.Mode.OFF or not is_installed() or not table.flags.c_contiguous:
        return None
    key = (id(phase), table.shape, indices.shape, threads, mode, least)
    return _kept.of(key, (phase,), lambda: _made(phase, kinds, table.shape, indices.shape, threads, mode, least))


_kept: Final[Kept[GatherRun | None]] = Kept(256)


def _made(
    phase: LibraryPhase, kinds: Sequence[Kind], table: tuple[int, ...], indices: tuple[int, ...], threads: int,
    mode: policy.Mode, least: int,
) -> GatherRun | None:  # fmt: skip
    axis, attributes = phase.attributes["axis"], phase.attributes
    assert isinstance(axis, int)
    if frame_of(phase) or attributes.get("fills") or attributes.get("sorts") is not None or not set(kinds[:1]) <= _KINDS:
        return None
    space = (*table[:axis], *indices, *table[axis + 1 :])
    inner = prod(table[axis + 1 :])
    points = prod(space)
    if not points or not prod(table) or kinds[1] not in _INDICES or not (inner == 1 or inner >= LEAST_ROW or points < LEAST):
        return None
    if points < least and mode is not policy.Mode.ALWAYS:
        return None
    scalars = [table[axis], inner * DTYPES[kinds[0]].itemsize]
    body = gathering(kinds[0], kinds[1], None, proved=False)
    at_first: tuple[Any, ...] = (*(slice(None),) * axis, 0, *(None,) * len(indices), ...)  # an item would be a copy
    wide: tuple[Any, ...] = (*(None,) * axis, *(slice(None),) * len(indices), *(None,) * (len(table) - axis - 1), ...)
    source, places = phase.args[:2]
    views: list[tuple[ValueId, Callable[[Any], Any]]] = [
        (source, lambda array: array[at_first]),
        (places, lambda array: array[wide]),
    ]
    return GatherRun(body, views, space, list(kinds), scalars, threads, mode, _nothing, 0)


def _nothing(values: Any, overwrite: Any) -> tuple[Any, ...]:
    return ()
