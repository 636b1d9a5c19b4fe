"""Structured phases through generated CUDA kernels: binds a kernel to arrays of a device and launches it on the current stream.

A kernel is printed for the layout of its operands and compiled once a text (`modules`).  Results are laid out as the nest of
loops has them, so neighbouring threads touch neighbouring items.  A kernel with checks is waited for; where one failed, the phase
runs on the host, which knows what to say.

Note [Views].  CuPy arrays over given memory do not say whom they share it with, so no such array becomes a value: a phase that
only renames indices copies.

Neighbours: `kernels.cuda_text` (the text), `layouts` (reads), `loops` (repeated bodies), `cpu.compiled` (the same on the host).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph.phases import AxisKind, ReadNode, Structured, ValueId
from ...kernels.build import Body, build_body, build_kernel, joining_body
from ...kernels.complexes import PART
from ...kernels.cuda_parameters import Output, Parameter, Role, outputs
from ...kernels.cuda_reductions import THREADS, across_blocks, along_blocks
from ...kernels.cuda_text import FINISH, NAME, CudaText, cuda_text
from ...kernels.ir import BLOCK, Form, Kernel
from ...kernels.narrowing import narrow
from ...kernels.nest import Nest, plan_nest
from ...kernels.nvrtc_leaf import OPTIONS
from ..cpu.kinds import DTYPES, FILLS
from ..cpu.reduce import identity_array
from ..cpu.structured import Kernel as Run
from .layouts import Placed, Reading, compile_reading, whole

Values: TypeAlias = Mapping[ValueId, Any]

MOST_BLOCKS: Final = 1 << 20
_VECTOR: Final = 16
"""Of the vector registers that the IR's builder asks for, which have no meaning here."""


class Modules:
    """The compiled texts of one device."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp
        self._modules: dict[str, Any] = {}
        self._functions: dict[tuple[str, str], Any] = {}
        self.launches: dict[Any, Launch] = {}
        """Of library phases, by what they are for."""

    def function(self, source: str, name: str) -> Any:
        found = self._functions.get((source, name))
        if found is None:
            if source not in self._modules:
                self._modules[source] = self.xp.RawModule(code=source, options=OPTIONS)
            found = self._functions[source, name] = self._modules[source].get_function(name)
        return found

    def launch(self, source: str, name: str, blocks: int, args: Sequence[int]) -> None:
        """Every argument is a word of 64 bits: a size, a stride, an address."""
        words = tuple([np.int64(arg) for arg in args])
        self.function(source, name)((max(1, min(blocks, MOST_BLOCKS)),), (THREADS,), words)


def compile_structured(
    xp: Any, modules: Modules, phase: Structured, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int], on_host: Run
) -> Run | None:
    """The kernel of a phase for known sizes; None: the body has what kernels do not have."""
    space = tuple(number(axis.size) for axis in phase.axes)
    reduces = any(a.kind is AxisKind.REDUCE for a in phase.axes)
    if 0 in space:
        return _empty(xp, phase, space[:-1] if reduces else space, kinds)
    reads = [
        (read.value, compile_reading(xp, read.projection, space, FILLS[kinds(read.value)], number)) for read in phase.reads
    ]  # fmt: skip
    if not reduces and all(isinstance(phase.body[r.node], ReadNode) for r in phase.results):
        return _renaming(xp, phase, reads)
    body = build_body(phase, complexes=True)
    if body is None or body.is_from_the_right:
        return None
    body = narrow(body)
    operands = [kinds(read.value) for read in phase.reads]
    return Launch(xp, modules, body, reads, space, operands, [number(size) for size in body.sizes], on_host).run


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
    """A kernel for operands of one layout; `cells`: the sizes of its parallel loops, outermost first."""

    kernel: Kernel
    text: CudaText
    nest: Nest
    cells: tuple[int, ...]
    shape: tuple[int, ...]
    outputs: tuple[Output, ...]

    @property
    def is_checked(self) -> bool:
        return any(p.role is Role.FAILED for p in self.text.parameters)


class Launch:
    """A phase; its kernels by the layout of the operands."""

    def __init__(self, xp: Any, modules: Modules, body: Body, reads: Sequence[tuple[ValueId, Reading]], space: tuple[int, ...],
                 operands: Sequence[Kind], scalars: Sequence[int], on_host: Run | None) -> None:  # fmt: skip
        self.xp, self.modules, self.body, self.reads, self.space = xp, modules, body, reads, space
        self.operands, self.scalars, self.on_host = operands, list(scalars), on_host
        self.reduces = body.results[0].reduction is not None
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
            nest = plan_nest(self.space, self.reduces, flat, self.body.coordinates)
            kernel = build_kernel(self.body, nest, self.operands, _VECTOR)
            cells = nest.sizes if kernel.form is Form.MAP else nest.sizes[:-1]
            shape = tuple(self.space[axis] for axis in nest.order)
            found = self.kept[key] = Bound(kernel, cuda_text(kernel), nest, cells, shape, outputs(kernel))
        return found

    def room(self, bound: Bound, overwrite: Any) -> list[Any]:
        """An array for each output, laid out as the nest has it."""
        made: list[Any] = []
        if bound.is_checked:
            overwrite = None  # whoever says what failed needs the operands
        for place, output in enumerate(bound.outputs):
            dtype = DTYPES[output.kind]
            if place == 0 and overwrite is not None and overwrite.dtype == dtype and overwrite.shape == self.space:
                moved = overwrite.transpose(bound.nest.order)
                if moved.flags.c_contiguous:
                    made.append(moved)
                    continue
            made.append(self.xp.empty(bound.shape, dtype))
        return made

    def launch(self, bound: Bound, placed: Sequence[Placed], results: Sequence[Any], scalars: Sequence[int]) -> bool:
        """Enqueue the kernel; did a check fail?"""
        xp, kernel = self.xp, bound.kernel
        cells = prod(bound.cells)
        if kernel.form is Form.MAP:
            return self._call(bound, -(-cells // THREADS), placed, results, scalars)
        blocks = -(-bound.nest.sizes[-1] // BLOCK)
        along = kernel.form is Form.ALONG
        partials = results
        if blocks > 1:
            partials = [xp.empty((cells * blocks,), result.dtype) for result in results]
        work = (along_blocks if along else across_blocks)(cells, bound.nest.sizes[-1])
        if self._call(bound, work, placed, partials, scalars):
            return True
        if blocks > 1:
            ends = [result for result, output in zip(results, bound.outputs, strict=True) if output.result >= 0]
            steps = (blocks, 1) if along else (1, cells)
            words = (cells, blocks, *steps, *(int(array.data.ptr) for array in (*partials, *ends)))
            self.modules.launch(bound.text.source, FINISH, cells, words)
        return False

    def _call(self, bound: Bound, blocks: int, placed: Sequence[Placed], results: Sequence[Any], scalars: Sequence[int]) -> bool:
        failed = self.xp.zeros((1,), np.int32) if bound.is_checked else None
        words = [self._word(p, bound, placed, results, scalars, failed) for p in bound.text.parameters]
        self.modules.launch(bound.text.source, NAME, blocks, words)
        return failed is not None and bool(failed.item())

    def _word(self, parameter: Parameter, bound: Bound, placed: Sequence[Placed], results: Sequence[Any],
              scalars: Sequence[int], failed: Any) -> int:  # fmt: skip
        match parameter.role:
            case Role.SIZE:
                return bound.nest.sizes[parameter.which]
            case Role.SCALAR:
                return scalars[parameter.which]
            case Role.ADDRESS:
                return placed[parameter.which].address
            case Role.STRIDE:
                return bound.nest.strides[parameter.which][parameter.axis]
            case Role.RESULT:
                return int(results[parameter.which].data.ptr)
            case Role.FAILED:
                return int(failed.data.ptr)

    def finish(self, bound: Bound, outputs: Sequence[Any]) -> tuple[Any, ...]:
        """The results: complex sums joined from their parts, axes in the program's order."""
        results = [array for array, output in zip(outputs, bound.outputs, strict=True) if output.result >= 0]
        made: list[Any] = []
        for place, array in enumerate(results):
            if place in self.body.split:
                made.append(join_parts(self.xp, self.modules, array, results[place + 1]))
            elif place - 1 not in self.body.split:
                made.append(array)
        order = bound.nest.order
        if list(order) == sorted(order):
            return tuple(made)
        back = sorted(range(len(order)), key=order.__getitem__)
        return tuple(value.transpose(back) for value in made)


def join_parts(xp: Any, modules: Modules, real: Any, imaginary: Any) -> Any:
    """Complex numbers of two contiguous arrays of floats."""
    kind = Kind.C64 if real.dtype == np.float32 else Kind.C128
    if not real.size:
        return xp.empty(real.shape, DTYPES[kind])
    read = (ValueId(0), whole), (ValueId(1), whole)
    parts = [PART[kind]] * 2
    launch = Launch(xp, modules, joining_body(kind), read, (real.size,), parts, [], None)
    (made,) = launch.run({ValueId(0): real.reshape(-1), ValueId(1): imaginary.reshape(-1)}, None)
    return made.reshape(real.shape)
