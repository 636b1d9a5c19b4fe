"""Chains along rows in linked calls.

Neighbours: `linker` (asks), `rows` and `row_kernels` (what is launched).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from ...graph.phases import Structured, ValueId
from ...kernels import policy
from ...kernels.ir import Stores
from ..native.words import Operation
from ..pool import ALIGNMENT, LEAST
from .compiled import layout_of
from .drafting import Refused, Verdict
from .kinds import DTYPES, NumArray
from .launching import Base, Block, moved, words_of
from .linked_values import Values
from .row_kernels import BoundRows, RowBinding
from .rows import RowsRun, compile_rows
from .structured import compiled_of


def link_rows(linker: Values, members: Sequence[Structured], wanted: Sequence[ValueId], overwrite: ValueId | None) -> None:
    """A chain along rows."""
    if overwrite is not None and linker.examples[overwrite].nbytes >= LEAST:
        raise Refused(Verdict.NEVER)
    found = {axis.size for member in members for axis in member.axes if axis.size.variables() & set(linker.found)}
    for size in sorted(found, key=str):  # an empty row has no kernel
        linker.steps.append((Operation.CHECK, linker.types.number(size) - 1))
    run = compiled_of(compile_rows(members, wanted, linker.types.kind, linker.types.number, linker.threads))
    if not isinstance(run, RowsRun) or run.compiled is None:
        raise Refused(Verdict.NEVER)
    arrays = [np.asarray(view(linker.examples[value])) for value, view in run.reads]
    operands = [linker.base(array, value, view) for array, (value, view) in zip(arrays, run.reads, strict=True)]
    bound = _bound(linker, run.compiled, arrays)
    made = [(run.space[:-1] if on_row else run.space, DTYPES[kind])
            for kind, on_row in zip(run.kinds, run.chain.is_row, strict=True)]  # fmt: skip
    results = [linker.make(shape, dtype) for shape, dtype in made]
    if bound is not None:
        pitch, duration = -(-bound.scratch // ALIGNMENT) * ALIGNMENT, policy.work(run.compiled.body, run.points)
        scratch = linker.make((len(bound.pieces) * pitch + ALIGNMENT,), np.dtype(np.uint8))
        linker.steps.append((Operation.ALIGN, scratch))
        linker.work(duration)
        blocks = []
        bases: list[Base] = [*operands, *((result, 0) for result in results)]
        for number, (words, sources, ahead) in enumerate(bound.pieces):
            addresses = moved((*bound.operand_places, *bound.result_places), bases, (*sources, *ahead))
            blocks.append(Block(words, [*addresses, (len(words) - 1, (scratch, number * pitch))]))
        address = ctypes.cast(bound.call, ctypes.c_void_p).value or 0  # type: ignore[arg-type]
        linker.launch(words_of(address, blocks, min(linker.threads, len(blocks)) - 1, duration), [*results, scratch])
        linker.drop(scratch)
    for value, result in zip(wanted, results, strict=True):
        linker.settle(value, result)


def _bound(linker: Values, run: RowBinding, arrays: Sequence[NumArray]) -> BoundRows | None:
    """The kernel for these operands; None if it is not there yet."""
    key = (Stores.PLAIN, *layout_of(arrays))
    found = run.kept[key] if key in run.kept else run.kernel(arrays, Stores.PLAIN)
    if found is not None and not isinstance(found, BoundRows) and linker.wants(found):
        found = run.bind(found, arrays)
    run.kept[key] = found
    return linker.checked(found, BoundRows)
