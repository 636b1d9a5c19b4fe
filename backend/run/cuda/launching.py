"""Structured phases through generated CUDA kernels: binds a kernel to arrays of a device and launches it on the current stream.

A kernel is printed for the layout of its operands and compiled once a text (`modules`).  Results are laid out as the nest of
loops has them, so neighbouring threads touch neighbouring items.  A kernel with checks is waited for; where one failed, the phase
runs on the host, which knows what to say.

Note [Views].  CuPy arrays over given memory do not say whom they share it with, so no such array becomes a value: a phase that
only renames indices copies.

Neighbours: `loops.lower.cards` (the programs), `modules` (launches), `layouts` (reads), `regions` (loops),
`cpu.compiled` (the same on the host).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph.chains import LONGEST, Joined
from ...graph.phases import AxisKind, ReadNode, Structured, ValueId
from ...kernels.build import Body, build_body, build_kernel
from ...kernels.ir import BLOCK, Form, Kernel
from ...kernels.narrowing import narrow
from ...kernels.nest import Nest, plan_nest, row_nest
from ...loops.cuda import CudaText, cuda_text
from ...loops.lower.card_rows import card_rows
from ...loops.lower.cards import card_kernel, most_of
from ...loops.lower.rows import RowsCode
from ...loops.orders import MOST
from ..cpu.kinds import DTYPES
from ..cpu.layouts import contiguous
from ..cpu.reduce import identity_array
from ..cpu.structured import Kernel as Run
from .layouts import Placed, Reading, compile_readings
from .modules import Modules

Values: TypeAlias = Mapping[ValueId, Any]


def compile_structured(
    xp: Any, modules: Modules, phase: Structured, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int], on_host: Run
) -> Run | None:
    """The kernel of a phase for known sizes; None: the body has what kernels do not have."""
    space = tuple(number(axis.size) for axis in phase.axes)
    reduces = any(a.kind is AxisKind.REDUCE for a in phase.axes)
    if 0 in space:
        return _empty(xp, phase, space[:-1] if reduces else space, kinds)
    reads = compile_readings(xp, phase, space, kinds, number)
    if not reduces and all(isinstance(phase.body[r.node], ReadNode) for r in phase.results):
        return _renaming(xp, phase, reads)
    body = build_body(phase, complexes=True)
    if body is None or body.is_from_the_right:
        return None
    body = narrow(body)
    operands = [kinds(read.value) for read in phase.reads]
    return Launch(xp, modules, body, reads, space, operands, [number(size) for size in body.sizes], on_host).run


def compile_rows(
    xp: Any, modules: Modules, chain: Joined, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int]
) -> Run | None:
    """A chain along rows in one launch; None: its members run one by one."""
    phase, body = chain.phase, build_body(chain.phase)
    space = tuple(number(axis.size) for axis in phase.axes)
    if body is None or 0 in space or space[-1] > LONGEST:
        return None
    reads = compile_readings(xp, phase, space, kinds, number)
    operands, scalars = [kinds(read.value) for read in phase.reads], [number(size) for size in body.sizes]
    launch = Launch(xp, modules, body, reads, space, operands, scalars, None, chain.is_row)
    return lambda values, overwrite: launch.run(values, None)


def _empty(xp: Any, phase: Structured, parallel: tuple[int, ...], kinds: Callable[[ValueId], Kind]) -> Run:
    def run(values: Values, overwrite: Any) -> tuple[Any, ...]:
        return tuple(xp.asarray(identity_array(r.reduction, kinds(r.value), parallel)) for r in phase.results)

    return run


def _renaming(xp: Any, phase: Structured, reads: Sequence[tuple[ValueId, Reading]]) -> Run:
    """See Note [Views]."""
    picks = []
    for result in phase.results:
        node = phase.body[result.node]
        assert isinstance(node, ReadNode)
        picks.append(reads[node.index])

    def run(values: Values, overwrite: Any) -> tuple[Any, ...]:
        return tuple(read(values[value]).strided(xp).copy() for value, read in picks)

    return run


@dataclass(frozen=True, slots=True)
class Bound:
    """A kernel for operands of one layout; `shape`: of its results.  `is_row`: those that have an item a row, of a chain."""

    kernel: Kernel
    text: CudaText
    nest: Nest
    shape: tuple[int, ...]
    is_row: tuple[bool, ...] = ()

    def words(self, scalars: Sequence[int], operands: Sequence[int], results: Sequence[int]) -> list[int]:
        """What its functions take: scalars, addresses."""
        kernel, sizes = self.kernel, self.nest.sizes
        words = [*sizes, *(0 for _ in sizes), *scalars]
        if kernel.form is not Form.MAP:
            words.append(-(-sizes[-1] // BLOCK))
        for address, strides in zip(operands, self.nest.strides, strict=True):
            words += address, *strides
        for place, (address, result) in enumerate(zip(results, kernel.results, strict=True)):
            on_row = bool(self.is_row) and self.is_row[place]
            words += address, *contiguous(sizes[: kernel.result_axes - on_row], result.kind.bytes)[: kernel.result_axes]
        return words


class Launch:
    """A phase; its kernels by the layout of the operands.  `is_row`: of a chain along rows, which results have an item a row."""

    def __init__(
        self, xp: Any, modules: Modules, body: Body, reads: Sequence[tuple[ValueId, Reading]], space: tuple[int, ...],
        operands: Sequence[Kind], scalars: Sequence[int], on_host: Run | None, is_row: tuple[bool, ...] = (),
    ) -> None:  # fmt: skip
        self.xp, self.modules, self.body, self.reads, self.space = xp, modules, body, reads, space
        self.operands, self.scalars, self.on_host = operands, list(scalars), on_host
        self.reduces, self.is_row = body.results[0].reduction is not None, is_row
        self.kept: dict[tuple[tuple[int, ...], ...], Bound] = {}

    def run(self, values: Values, overwrite: Any) -> tuple[Any, ...]:
        placed = [read(values[value]) for value, read in self.reads]
        bound = self.bound([p.strides for p in placed])
        results = self.room(bound, overwrite)
        if self.launch(bound, placed, results, self.scalars):
            assert self.on_host is not None, "a body without checks does not fail"
            self.on_host(values, None)
            raise AssertionError("a check failed on the device and not on the host")
        return self.finish(bound, results)

    def bound(self, strides: Sequence[tuple[int, ...]]) -> Bound:
        key = tuple(strides)
        found = self.kept.get(key)
        if found is None:
            flat = [tuple(0 if n == 1 else s for n, s in zip(self.space, own, strict=True)) for own in strides]
            nest = row_nest(self.space, flat) if self.is_row else plan_nest(self.space, self.reduces, flat, self.body.coordinates)
            kernel, length = build_kernel(self.body, nest, self.operands), nest.sizes[-1]
            if self.is_row:
                program = card_rows(RowsCode(kernel, self.is_row, 1 << (length - 1).bit_length()))
            else:
                program = card_kernel(kernel, most_of(length) if self.reduces else MOST)
            shape = tuple(self.space[axis] for axis in nest.order)
            found = self.kept[key] = Bound(kernel, cuda_text(program), nest, shape, self.is_row)
        return found

    def room(self, bound: Bound, overwrite: Any) -> list[Any]:
        """An array for each result, laid out as the nest has it."""
        made: list[Any] = []
        if bound.text.is_checked:
            overwrite = None  # whoever says what failed needs the operands
        for place, result in enumerate(self.body.results):
            dtype = DTYPES[result.kind]
            if place == 0 and overwrite is not None and overwrite.dtype == dtype and overwrite.shape == self.space:
                moved = overwrite.transpose(bound.nest.order)
                if moved.flags.c_contiguous:
                    made.append(moved)
                    continue
            on_row = bool(self.is_row) and self.is_row[place]
            made.append(self.xp.empty(bound.shape[:-1] if on_row else bound.shape, dtype))
        return made

    def launch(self, bound: Bound, placed: Sequence[Placed], results: Sequence[Any], scalars: Sequence[int]) -> bool:
        """Enqueue the kernel; did a check fail?"""
        addresses = [int(result.data.ptr) for result in results]
        return self.modules.run(bound.text, bound.words(scalars, [p.address for p in placed], addresses))

    def finish(self, bound: Bound, results: Sequence[Any]) -> tuple[Any, ...]:
        """The results: complex sums joined from their parts, axes in the program's order."""
        made: list[Any] = []
        for place, array in enumerate(results):
            if place in self.body.split:
                made.append(join_parts(self.xp, array, results[place + 1]))
            elif place - 1 not in self.body.split:
                made.append(array)
        order = bound.nest.order
        if list(order) == sorted(order):
            return tuple(made)
        back = sorted(range(len(order)), key=order.__getitem__)
        return tuple(value.transpose(back) for value in made)


def join_parts(xp: Any, real: Any, imaginary: Any) -> Any:
    """Complex numbers of two arrays of floats."""
    made = xp.empty(real.shape, np.complex64 if real.dtype == np.float32 else np.complex128)
    made.real[...], made.imag[...] = real, imaginary
    return made
