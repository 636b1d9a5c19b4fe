"""A distributed loop, one that several devices run together, as a phase of the program around it: its devices with their rows,
the schedule of one iteration, and what the loop needs and makes.

Note [Needs of a loop].  Over an edge into the loop, a device reads its rows of a state that is cut, and of another value what the
phases of the body read.  Phases of the body have rows of their own, whose bounds differ by less than a row from the loop's
proportion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil

from ....lang.support.records import dataclass, field, replace
from ...devices.cost_functions import Ticks
from ...devices.profile import Profile
from ...graph import traverse
from ...graph.bind_sizes import BoundGraph
from ...graph.partial_graphs import LoopIteration
from ...graph.phases import Input, Loop, Phase, PhaseId, ValueId
from ...graph.symbolic_costs import Types
from ..plan.plan import ALIGNMENT, Box, DeviceId, LoopPartition, SubPlan
from ..problem import (
    DeviceGroup,
    DeviceIndex,
    DistributedMode,
    Edge,
    Link,
    Mode,
    PhaseIndex,
    PhaseTask,
    Problem,
    Replicate,
    Schedule,
    Shard,
    SourceLine,
    Transfer,
)
from ..program_facts.partitioning import Cut, box_along_axis, box_of, reads_of, result_boxes, shape_of, space_of
from ..program_facts.scratch_memory import Numbers
from .axis_choice import (
    WHOLE_OPERAND,
    AlignedRows,
    Axes,
    AxisChoice,
    OperandAccess,
    PhaseCut,
    WholeOperand,
    choice_of,
    operand_access,
)

# ---------------------------------------------------------------------------------------------------- distributed loop

TicksOf = Callable[[Phase, DeviceGroup, Cut | None, int], Ticks | None]


@dataclass(frozen=True, slots=True)
class CostContext:
    """The devices, and the costs of phases of an iteration on them; `messages`: ticks of a phase with those of sending and
    receiving values of so many bytes in so many rows; `packing`: that of the rows of a value of so many bytes;
    `first_run_overhead`: additional ticks of first executions, for compiling kernels."""

    groups: tuple[DeviceGroup, ...]
    links: tuple[Link, ...]
    ticks: Callable[[Phase, DeviceGroup, Cut | None, BoundGraph], Ticks | None]
    messages: Callable[[Ticks, DeviceGroup, Sequence[int], int], Ticks]
    combine_ticks: Callable[[int], int]
    packing: Callable[[int], Fraction]
    first_run_overhead: Callable[[Sequence[Phase], DeviceGroup], int]
    tick_ns: int

    def problem(self, tasks: tuple[PhaseTask, ...], edges: tuple[Edge, ...], broadcast: Sequence[PhaseIndex] = ()) -> Problem:
        """The problem of an iteration; memory is counted in the problem around the loop, not here.

        `broadcast`: phases whose output every device needs, such as the stop condition."""
        groups = tuple(replace(group, memory=None) for group in self.groups)
        told_all = tuple(Replicate(SourceLine(0, "every device is told whether to go on"), phase) for phase in broadcast)
        return Problem(groups, self.links, tasks, edges, told_all, tick_ns=self.tick_ns, memory_grain=ALIGNMENT)


@dataclass(frozen=True, slots=True)
class ProgramProblem:
    """The problem of a program: `phases` and `cuts` (those along the chosen axes) by the indices of `problem`; `options`: the
    cuts of each phase, by the indices of `problem.axes`."""

    problem: Problem
    bound: BoundGraph
    phases: tuple[Phase, ...]
    cuts: AxisChoice
    options: tuple[tuple[PhaseCut, ...], ...] = ()
    profile: Profile | None = None
    distributed_loops: Mapping[int, DistributedLoop] = field(default_factory=dict)
    """By phase index, the distributed loops."""
    shared_loops: tuple[PhaseId, ...] = ()
    """The loops that the plans of the bound may distribute."""
    broadcasts: tuple[PhaseId, ...] = ()
    """The inputs that the plans of the bound may broadcast."""

    def along(self, chosen: Sequence[int] = ()) -> ProgramProblem:
        """The problem along these axes alone (empty: the problem's own)."""
        chosen = chosen or self.problem.chosen
        return replace(self, problem=self.problem.along(chosen), cuts=choice_of(self.options, chosen))

    def along_axes(self, axes: Axes) -> ProgramProblem:
        """The problem along the axes of its phases that a plan states."""
        chosen = [
            next((k for k, one in enumerate(options) if one.cut is not None and one.cut.axis == axes.get(phase.id)), 0)
            for phase, options in zip(self.phases, self.options, strict=True)
        ]
        return self.along(chosen)


@dataclass(frozen=True, slots=True)
class PlannedIteration:
    """The problem of an iteration, or of the epilogue, with its schedule and plan."""

    iteration: LoopIteration
    program: ProgramProblem
    schedule: Schedule = field(default_factory=lambda: Schedule((), (), ()))
    plan: SubPlan = field(default_factory=lambda: SubPlan((), (), ()))

    @property
    def problem(self) -> Problem:
        return self.program.problem

    @property
    def cuts(self) -> AxisChoice:
        return self.program.cuts


@dataclass(frozen=True, slots=True)
class DistributedLoop:
    """A loop run by the devices of `mode`, (device, rows) in the order of rows.  `epilogue`: brings the states home, None if they
    stay on their devices."""

    partition: LoopPartition
    mode: Mode
    body: PlannedIteration
    epilogue: PlannedIteration | None
    first_run_overhead: int

    @property
    def loop(self) -> Loop:
        return self.body.iteration.loop

    @property
    def rows(self) -> int:
        return sum(rows for _, rows in self.mode)

    @property
    def is_gathered(self) -> bool:
        return self.epilogue is not None

    @property
    def ticks(self) -> int:
        """The ticks of the loop.  See Note [Period] of `iteration_plan`."""
        trip = self.loop.trip.constant or 0
        last = 0 if self.epilogue is None else self.epilogue.schedule.makespan
        return max(1, self.first_run_overhead + trip * self.body.schedule.makespan + last)

    @property
    def plans(self) -> tuple[PlannedIteration, ...]:
        return (self.body,) if self.epilogue is None else (self.body, self.epilogue)

    def peak(self, device: int) -> int:
        """The most bytes of an iteration or of the epilogue on a device."""
        name = DeviceId(self.body.problem.device_names()[device])
        return max(dict(one.plan.peak).get(name, 0) for one in self.plans)

    @property
    def outer_values(self) -> tuple[ValueId, ...]:
        """The values from around the loop that its body reads."""
        phases = self.body.iteration.bound.graph.phases
        defined = {value for phase in phases for value in traverse.results(phase)}
        return tuple(v for v in dict.fromkeys(v for phase in phases for v in traverse.uses(phase)) if v not in defined)

    @property
    def phase_cut(self) -> PhaseCut:
        axes = {value: axis or 0 for value, axis in zip(self.loop.results, self.partition.axes, strict=True)}
        return PhaseCut(None if self.is_gathered else Cut(self.partition.axes[0] or 0, self.rows), axes)

    def distributed_mode(self, out: Sequence[int]) -> DistributedMode:
        """The loop as a phase of the problem around it; `out`: bytes of the results by device, in the order of the mode."""
        moved = [moved for one in self.plans for moved in one.schedule.transfers]
        moves = sorted({(one.link, one.source, one.target) for one in moved if one.link is not None})
        scratch = tuple(max(0, self.peak(device) - out_bytes) for (device, _), out_bytes in zip(self.mode, out, strict=True))
        mode = tuple((DeviceIndex(device), rows) for device, rows in self.mode)
        return DistributedMode(mode, scratch, tuple(moves), self.is_gathered, sum(map(self.picojoules, self.plans)))

    def picojoules(self, one: PlannedIteration) -> int:
        """Energy of the links in all iterations, or in the epilogue."""
        links, times = one.problem.links, (self.loop.trip.constant or 0) if one is self.body else 1
        sent = (links[moved.link].nj_per_byte * moved.bytes for moved in one.schedule.transfers if moved.link is not None)
        return ceil(times * 1000 * sum(sent))

    def access(self, value: ValueId, axis: int) -> OperandAccess:
        """The access of a device to a value along its axis.  See Note [Needs of a loop]."""
        needs: list[OperandAccess] = [
            AlignedRows(0) if cut is not None and cut == axis else WHOLE_OPERAND
            for initial, cut in zip(self.loop.initial, self.partition.axes, strict=True) if initial == value
        ]  # fmt: skip
        types = self.body.iteration.bound.graph.types
        shape = shape_of(value, types)
        inner = zip(self.body.iteration.bound.graph.phases, self.body.cuts.cut_of, strict=True)
        for phase, cut in list(inner)[len(self.loop.initial) :]:
            if value not in traverse.uses(phase):
                continue
            places = [operand for operand, one in enumerate(reads_of(phase, types)) if one == value]
            if cut is None or not places or not shape:
                return WHOLE_OPERAND
            halo_of_cut = 0 if cut.rows == self.rows else -(-shape[axis] // cut.rows) + 1
            for operand in places:
                need = operand_access(phase, cut, operand, axis, types)
                needs.append(need if isinstance(need, WholeOperand) else AlignedRows(need.halo + halo_of_cut))
        halos = [need.halo for need in needs if isinstance(need, AlignedRows)]
        if len(halos) < len(needs) or not shape or not needs or 2 * max(halos) >= shape[axis]:
            return WHOLE_OPERAND
        return AlignedRows(max(halos))


# ---------------------------------------------------------------------------------------------------- boxes of shards
#
# The boxes of shards and transfers of a schedule: rows of the problem as intervals of axes.
#
# A phase that one device runs undivided has no box, so that it runs as in a plan of one device.

@dataclass(slots=True)
class Boxes:
    """`shards`: those of the schedule."""

    program: ProgramProblem
    shards: Sequence[Shard]
    numbers: Numbers = field(default_factory=Numbers)
    is_whole: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        phases = self.program.problem.phases
        shards = Counter(shard.phase for shard in self.shards)
        self.is_whole = {phase: count == 1 and phases[phase].combine is None for phase, count in shards.items()}

    def of_shard(self, shard: Shard) -> tuple[Box | None, ...]:
        """The box of each result that a shard computes; of partial results, their box of the iteration space."""
        phase = self.program.phases[shard.phase]
        values = traverse.results(phase)
        if shard.phase in self.program.distributed_loops:
            return self.rows_boxes(shard.phase, shard.first, shard.stop)
        box = self.of_run(shard)
        if box is None:
            return (None,) * len(values)
        if self.program.problem.phases[shard.phase].combine is not None:
            return (box,) * len(values)
        return tuple(self.or_none(v, b) for v, b in zip(values, result_boxes(phase, self.types, box), strict=True))

    @property
    def types(self) -> Types:
        return self.program.bound.graph.types

    def or_none(self, value: ValueId, box: Box) -> Box | None:
        """The box, or None if it is all of the value."""
        shape = [size.constant for size in self.types[value].shape]
        return None if box == tuple((0, n) for n in shape) else box

    def rows_boxes(self, phase_index: int, first: int, stop: int) -> tuple[Box | None, ...]:
        """The box of rows [first, stop) of each result of a distributed loop."""
        distributed = self.program.distributed_loops[phase_index]
        if distributed.is_gathered:
            return (None,) * len(distributed.loop.results)
        shapes = [[self.numbers.cap(size) for size in self.types[value].shape] for value in distributed.loop.results]
        return tuple(
            box_along_axis(shape, axis, (first, stop)) for shape, axis in zip(shapes, distributed.partition.axes, strict=True)
        )

    def of_run(self, shard: Shard) -> Box | None:
        cut = self.program.cuts.cut_of[shard.phase]
        narrow = any(edge.target == shard.phase and edge.only is not None for edge in self.program.problem.edges)
        if (cut is None or self.is_whole[shard.phase]) and not narrow:
            return None
        space = space_of(self.program.phases[shard.phase], self.types)
        assert space is not None, "what is cut has known sizes"
        return tuple((0, n) for n in space) if cut is None else box_of(cut, space, shard.first, shard.stop)

    def of_transfer(self, moved: Transfer) -> tuple[Box | None, ...]:
        """The box of each result that a transfer carries: rows of the cut, or the part of an atomic output rounded outwards."""
        phase, task = self.program.phases[moved.phase], self.program.problem.phases[moved.phase]
        values = traverse.results(phase)
        if moved.partial:
            return self.of_shard(Shard(moved.phase, moved.source, moved.first, moved.stop, 0, 0))
        cut = self.program.cuts.cut_of[moved.phase]
        if cut is not None and moved.phase in self.program.distributed_loops:
            boxes = self.rows_boxes(moved.phase, moved.first, moved.stop)
            return tuple(None if box is None else self.or_none(v, box) for v, box in zip(values, boxes, strict=True))
        if cut is not None and task.combine is None:
            if isinstance(phase, Input):
                shape = [self.numbers.cap(size) for size in self.types[phase.result].shape]
                return (self.or_none(phase.result, box_of(cut, shape, moved.first, moved.stop)),)
            space = space_of(phase, self.types)
            assert space is not None, "what is cut has known sizes"
            boxes = result_boxes(phase, self.types, box_of(cut, space, moved.first, moved.stop))
            return tuple(self.or_none(v, b) for v, b in zip(values, boxes, strict=True))
        return tuple(self.byte_range_box(value, moved, task.out_bytes) for value in values)

    def byte_range_box(self, value: ValueId, moved: Transfer, out: int) -> Box | None:
        """The rows of a value in the bytes [first, stop) of `out` bytes."""
        shape = [size.constant for size in self.types[value].shape]
        if not shape or any(n is None for n in shape) or (moved.first == 0 and moved.stop >= out) or not out:
            return None
        known = [n for n in shape if n is not None]
        low, high = moved.first * known[0] // out, -(-moved.stop * known[0] // out)
        return self.or_none(value, ((low, high), *((0, n) for n in known[1:])))
