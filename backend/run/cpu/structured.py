"""Structured phases on arrays: through kernels where they are worth it, else on NumPy.

On NumPy a body of ufuncs works on views of the operands.  A phase that only renames indices returns a view.

Neighbours: `views`, `body` (compile a phase), `slices` (run it on NumPy), `compiled` (through kernels); `CpuBackend` asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.scalars import SUMMED, is_sequential
from ....typechecker.sizes import Size
from ...graph import traverse
from ...graph.phases import ApplyNode, AxisKind, ConstantNode, ReadNode, Structured, ValueId
from ...kernels import policy
from ...kernels.constants import FIXED_POWERS, real_constant
from ...kernels.kept import Kept
from ..pool import room
from .body import compile_body
from .deferred import Deferred
from .kinds import DTYPES, NumArray, constant
from .reduce import Reduction, identity_array
from .slices import MappedRun, ReducedRun
from .unravelled import joined, unravelled
from .views import View, compile_views

Kernel: TypeAlias = Callable[[Mapping[ValueId, Any], Any], tuple[Any, ...]]
"""From the values of a memory, and an array to write the first result over, to the results."""


def compile_structured(
    phase: Structured, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int], threads: int
) -> Kernel:
    """The kernel of a phase for known sizes; kept with the phase as long as these are the same in every run.

    What is kept asks nothing of the run it was made in, whose values would be held with it."""
    if any(size.constant is None for size in traverse.sizes(phase)):
        return _compiled(phase, kinds, number, threads)

    def make() -> Kernel:
        known = {value: kinds(value) for value in (*traverse.operands(phase), *traverse.results(phase))}
        return _compiled(phase, known.__getitem__, _itself, threads)

    return _kept.of((id(phase), threads, policy.mode()), (phase,), make)


def _itself(size: Size) -> int:
    assert size.constant is not None
    return int(size.constant)


_kept: Final[Kept[Kernel]] = Kept(1024)


def _compiled(phase: Structured, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int], threads: int) -> Kernel:
    space = tuple(number(axis.size) for axis in phase.axes)
    reduces = any(a.kind is AxisKind.REDUCE for a in phase.axes)
    parallel = space[:-1] if reduces else space
    if 0 in space:
        return _empty(phase, parallel, kinds)
    apart = unravelled(phase, space, kinds, number) if reduces else None
    if apart is not None:
        return _over_axes(phase, len(parallel), _compiled(apart, kinds, number, threads), kinds)
    views, varying = compile_views(phase, space, kinds, number)
    if reduces:
        reductions = [Reduction(r.node, r.reduction or "", kinds(r.value)) for r in phase.results]
        body = compile_body(phase.body, [r.node for r in reductions], varying, space, number)
        run = ReducedRun(body, views, space, reductions).run
        return _through_kernels(phase, views, space, kinds, number, threads, run)
    if all(isinstance(phase.body[r.node], ReadNode) for r in phase.results):
        return _renaming(phase, views, space)
    constants = all(isinstance(phase.body[r.node], ConstantNode) for r in phase.results)
    if constants and prod(space) >= policy.SMALL:
        return _filling(phase, space)
    nodes = [r.node for r in phase.results]
    body = compile_body(phase.body, nodes, varying, space, number)
    run = MappedRun(body, views, space, nodes, [DTYPES[kinds(r.value)] for r in phase.results]).run
    return _through_kernels(phase, views, space, kinds, number, threads, run)


def _over_axes(phase: Structured, rank: int, run: Kernel, kinds: Callable[[ValueId], Kind]) -> Kernel:
    """A reduction of a ravel by `run` over the axes of what was ravelled."""
    known = {result.value: kinds(result.value) for result in phase.results}
    return lambda values, overwrite: joined(phase, rank, known.__getitem__, run(values, None))


def _through_kernels(
    phase: Structured, views: Sequence[tuple[ValueId, View]], space: tuple[int, ...], kinds: Callable[[ValueId], Kind],
    number: Callable[[Size], int], threads: int, run: Kernel,
) -> Kernel:  # fmt: skip
    """The run of a phase through kernels, at once or when it has been run often; `run`, on NumPy, where it stays there."""
    mode = policy.mode()
    if mode is policy.Mode.OFF:
        return run

    def through() -> Kernel:
        from .compiled import compile_kernel

        return compile_kernel(phase, views, space, kinds, number, threads, run)

    applied = [node.function for node in phase.body if isinstance(node, ApplyNode) and not _is_product(phase, node)]
    one_by_one = any(is_sequential(r.reduction or "") for r in phase.results)
    sums = any(r.reduction in SUMMED and kinds(r.value).is_float for r in phase.results)
    if mode is policy.Mode.ALWAYS or one_by_one or policy.is_candidate(prod(space), applied, sums=sums):
        return through()
    return _Small(run, through).run


def _is_product(phase: Structured, node: ApplyNode) -> bool:
    """Is it a power that is a product or a root?"""
    return node.function == "pow" and real_constant(phase.body, node.args[1]) in FIXED_POWERS


class _Small:
    """A small phase, on NumPy; its kernel is there for native programs."""

    def __init__(self, run: Kernel, through: Callable[[], Kernel]) -> None:
        self._run, self._through = run, through
        self._compiled: Kernel | None = None

    def compiled(self) -> Kernel:
        if self._compiled is None:
            self._compiled = self._through()
        return self._compiled

    def run(self, values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        return self._run(values, overwrite)


def compiled_of(kernel: Kernel) -> object:
    """What owns the phase's run through kernels, if there is one."""
    owner = getattr(kernel, "__self__", None)
    return getattr(owner.compiled(), "__self__", None) if isinstance(owner, _Small) else owner


def _empty(phase: Structured, parallel: tuple[int, ...], kinds: Callable[[ValueId], Kind]) -> Kernel:
    """No points: empty results, or identities where only the reduce axis is empty."""

    def run(values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        return tuple(identity_array(r.reduction, kinds(r.value), parallel) for r in phase.results)

    return run


def _renaming(phase: Structured, views: Sequence[tuple[ValueId, View]], space: tuple[int, ...]) -> Kernel:
    """Every result is an operand under other indices: a view, replicated by stride 0."""
    picks = []
    for result in phase.results:
        node = phase.body[result.node]
        assert isinstance(node, ReadNode)
        picks.append(views[node.index])

    def run(values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
        found = [view(values[value]) for value, view in picks]
        found = [v.into(room(v.shape, v.dtype)) if isinstance(v, Deferred) else v for v in found]
        return tuple(v if v.shape == space else np.broadcast_to(v, space) for v in found)

    return run


def _filling(phase: Structured, space: tuple[int, ...]) -> Kernel:
    """One item each, replicated by stride 0."""
    nodes = [phase.body[result.node] for result in phase.results]
    made = tuple(np.broadcast_to(constant(n.kind, n.value), space) for n in nodes if isinstance(n, ConstantNode))
    return lambda values, overwrite: made
