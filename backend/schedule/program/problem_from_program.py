"""A bound graph on the devices of a profile, as a scheduling problem.

Phase i of the graph is phase i of the problem.  Each phase has the rows of each of its cuts (`axis_choice`), or none: loops,
branches, maps and phases with run-time sizes are atomic.  Inputs are at home or in a store, cut so that parts of them can be
transferred; constants are at home; printing and saving run there, in program order, except outputs in a store.

Note [Edges].  One edge joins two phases however many values it carries; a transfer moves all results of its phase.  A phase that
mentions a run-time size depends on the phase that defines it.

Note [Ticks].  `tick_ns` is 1, 2 or 5 times a power of ten, such that all phases together take at most a million ticks on the
slowest class that runs them, arms of branches beside them; every cost is then rounded up once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise, product
from math import prod
from typing import Final

from ....lang.diagnostics.model import Code, Diagnostic, Refused
from ....lang.support.records import dataclass, replace
from ....typechecker.sizes.polynomials import SizeVariable
from ...devices.cost_functions import Ticks
from ...devices.phase_cost import (
    ExecutionKind,
    combine_ticks,
    making_ticks,
    missing_operation,
    packing_ticks,
    phase_ticks,
    with_messages,
)
from ...devices.profile import DeviceProfile, Profile
from ...graph import traverse
from ...graph.bind_sizes import BoundGraph
from ...graph.partial_graphs import LoopIteration, broadcast_inputs, divide_phases, hoist_arms
from ...graph.phases import Constant, Input, LibraryPhase, Output, Phase, PhaseId, Print, ValueId
from ...graph.symbolic_costs import reduced_axes
from ..instances.instance_json import to_devices
from ..plan.plan import ALIGNMENT, ExecutionPlan, PlannedCut
from ..plan.plan_text import op_name
from ..problem import Answer, AxisSpace, Combine, DeviceGroup, Edge, Keep, Objective, PhaseIndex, PhaseTask, Problem, SourceLine
from ..program_facts.partitioning import (
    BLOCK,
    Cut,
    axes_of,
    cuts_of,
    exchanged_values,
    full_box,
    max_subtrees,
    operand_boxes,
    reads_of,
    reason_not_cut,
    space_of,
    stored_value,
)
from ..program_facts.scratch_memory import Numbers, rounded_to_alignment
from ..search.axis_search import home_sends_in_turn, least_bytes
from ..search.portfolio import plan_objectives
from ..search.strategy import FAST
from ..single_device import working_bytes
from ..timeline.objective_values import energy_of_schedule
from .axis_choice import AlignedRows, Axes, AxisChoice, PhaseCut, choice_of, operand_access, options_along, options_of
from .distributed_loop import CostContext, DistributedLoop, ProgramProblem, TicksOf

# ---------------------------------------------------------------------------------------------------- problem of a program

MOST_TICKS: Final = 1_000_000
CHUNKS: Final = 32
"""The most chunks that a phase may have on one device (one, if the program has distributed loops)."""
_FREE: Final = Ticks(((1, 0),))


def problem_of(
    bound: BoundGraph,
    profile: Profile,
    objectives: Sequence[Objective] = (Objective.LATENCY,),
    unaligned: frozenset[tuple[int, int]] = frozenset(),
    ticks_of: TicksOf | None = None,
    distributed_loops: Mapping[PhaseId, DistributedLoop] | None = None,
    chunks: int = 1,
    cut: Mapping[PhaseId, PhaseCut] | None = None,
    axes: Axes | None = None,
) -> ProgramProblem:
    """The problem of a program.  Raises Refused: SCH104, a phase that no device of the profile can run.

    `unaligned`: edges (pairs of phase indices) whose target needs the full operand.  `ticks_of`: measured ticks instead of the
    cost model's.  `distributed_loops`: the loops to distribute.  `chunks`: the most chunks per device (1 with such loops).
    `cut`: the given cuts of phases; `axes`: the only allowed axes of phases.  The problem is along the axes that move the fewest
    bytes, and states the others."""

    together = {
        p: distributed_loops[phase.id]
        for p, phase in enumerate(bound.graph.phases)
        if distributed_loops and phase.id in distributed_loops
    }
    fixed = {**(cut or {}), **{distributed.loop.id: distributed.phase_cut for distributed in together.values()}}
    options = options_of(bound.graph, fixed, axes)
    finest = _cost_context(profile, 1, ticks_of, ExecutionKind.FIRST)
    if ticks_of is None:
        _require_kernels(bound, profile, finest.groups)
    context = _cost_context(profile, _tick_ns(bound, finest), ticks_of, ExecutionKind.FIRST)
    builder = _ProblemBuilder(bound, options, context, unaligned, together)
    space = builder.space()
    chosen = least_bytes(space)
    stated = Problem(
        context.groups, context.links, (), (), builder.kept_inputs(), tuple(objectives), tick_ns=context.tick_ns,
        memory_grain=ALIGNMENT, power_off_unused=profile.power_off_unused, chunks=1 if together else chunks, axes=space,
    )  # fmt: skip
    problem = replace(stated.along(chosen), axes=space)
    return ProgramProblem(problem, bound, bound.graph.phases, choice_of(options, chosen), options, profile, together)


def with_broadcasts(program: ProgramProblem, bound: BoundGraph) -> ProgramProblem:
    """The problem of a form of the graph `bound`, with the inputs that some form broadcasts: none where that cannot be sooner."""
    return replace(program, broadcasts=broadcast_inputs(bound.graph) if home_sends_in_turn(program.problem) else ())


def along_only(program: ProgramProblem, axes: Mapping[PhaseIndex, int]) -> ProgramProblem:
    """The problem whose axis space holds only these axes for these phases."""
    space = program.problem.axes
    if not axes or space is None:
        return program
    remaining = [
        [k for k, one in enumerate(options) if p not in axes or (one.cut is not None and one.cut.axis == axes[PhaseIndex(p)])]
        for p, options in enumerate(program.options)
    ]
    edges: list[Mapping[tuple[int, int], Edge]] = []
    for edge in space.edges:
        one = next(iter(edge.values()))
        pairs = product(enumerate(remaining[one.source]), enumerate(remaining[one.target]))
        edges.append({(i, j): edge[k, m] for (i, k), (j, m) in pairs})
    phases = tuple(tuple(tasks[k] for k in ks) for tasks, ks in zip(space.phases, remaining, strict=True))
    options = tuple(tuple(cuts[k] for k in ks) for cuts, ks in zip(program.options, remaining, strict=True))
    narrow = AxisSpace(phases, tuple(edges))
    chosen = least_bytes(narrow)
    problem = replace(replace(program.problem, axes=narrow).along(chosen), axes=narrow)
    return replace(program, problem=problem, cuts=choice_of(options, chosen), options=options)


def cost_context_of(program: ProgramProblem, profile: Profile, ticks_of: TicksOf | None = None) -> CostContext:
    """The cost context for planning iterations of the program's loops; `ticks_of` as for the problem."""
    return _cost_context(profile, program.problem.tick_ns, ticks_of, ExecutionKind.AGAIN)


def _cost_context(profile: Profile, tick_ns: int, ticks_of: TicksOf | None, execution: ExecutionKind) -> CostContext:
    groups, links = to_devices(profile, tick_ns)

    def ticks(phase: Phase, group: DeviceGroup, cut: Cut | None, bound: BoundGraph) -> Ticks | None:
        if ticks_of is not None:
            return ticks_of(phase, group, cut, tick_ns)
        return _profile_ticks(phase, group, cut, tick_ns, bound, profile, execution)

    def messages(ticks: Ticks, group: DeviceGroup, sizes: Sequence[int], rows: int) -> Ticks:
        device = None if ticks_of is not None else profile.device(group.id)
        return ticks if device is None else with_messages(ticks, sizes, device, rows, tick_ns)

    def making(phases: Sequence[Phase], group: DeviceGroup) -> int:
        return 0 if ticks_of is not None else making_ticks(phases, profile, group.id, tick_ns)

    def combined(partial: int) -> int:
        return combine_ticks(partial, profile, tick_ns)

    def packing(size: int) -> Fraction:
        return packing_ticks(size, profile, tick_ns)

    return CostContext(groups, links, ticks, messages, combined, packing, making, tick_ns)


def iteration_problem(iteration: LoopIteration, cuts: AxisChoice, tables: Sequence[Mapping[str, Ticks | None]],
    context: CostContext) -> ProgramProblem:
    """The problem of an iteration, whose phases have these ticks; wrapped-around rows are transferred by themselves."""
    bound = iteration.bound
    places = {phase.id: p for p, phase in enumerate(bound.graph.phases)}

    def ticks(phase: Phase, group: DeviceGroup, cut: Cut | None, bound: BoundGraph) -> Ticks | None:
        return tables[places[phase.id]][group.kind]

    alone = replace(context, ticks=ticks, messages=_without_messages)
    builder = _ProblemBuilder(bound, options_along(bound.graph, cuts), alone, frozenset(), {})
    space = builder.space()
    edges = [_with_rows_read(edge[0, 0], iteration, cuts) for edge in space.edges]
    stop = [PhaseIndex(p) for p, phase in enumerate(bound.graph.phases) if iteration.stop in traverse.results(phase)]
    tasks = tuple(task for (task,) in space.phases)
    return ProgramProblem(context.problem(tasks, tuple(edges), stop), bound, bound.graph.phases, cuts)


def cuts_of_fewest_bytes(bound: BoundGraph, fixed: Mapping[PhaseId, PhaseCut], context: CostContext) -> AxisChoice:
    """The cuts of a graph's phases that move the fewest bytes in addition to the shards' parts."""
    options = options_of(bound.graph, fixed)
    free = replace(context, ticks=lambda *_: None, combine_ticks=lambda _: 0, packing=lambda _: Fraction(0))
    return choice_of(options, least_bytes(_ProblemBuilder(bound, options, free, frozenset(), {}).space()))


def _without_messages(ticks: Ticks, group: DeviceGroup, sizes: Sequence[int], rows: int) -> Ticks:
    """The ticks of a phase without messages."""
    return ticks


def _with_rows_read(edge: Edge, iteration: LoopIteration, cuts: AxisChoice) -> Edge:
    """An edge into a phase that takes wrapped-around rows: it reads only those rows."""
    phase, cut, types = iteration.bound.graph.phases[edge.target], cuts.cut_of[edge.source], iteration.bound.graph.types
    if phase.id not in iteration.wraparounds or cut is None or cut.combines or cut.grain != 1:
        return edge
    space = space_of(phase, types)
    assert space is not None, "iterations have known sizes"
    (value,), (box,) = reads_of(phase, types), operand_boxes(phase, types, full_box(space))
    return replace(edge, only=box[cuts.axis_of.get(value, 0)])


def _require_kernels(bound: BoundGraph, profile: Profile, groups: Sequence[DeviceGroup]) -> None:
    problems: list[Diagnostic] = []
    for phase in bound.graph.phases:
        if isinstance(phase, Input | Constant | Print | Output):
            continue
        if all(phase_ticks(phase, bound, profile, group.id) is None for group in groups):
            device = next((one for one in profile.devices if one.lacks), profile.devices[0])
            operation = missing_operation(phase, bound, device) or op_name(phase)
            names = ", ".join(group.id for group in groups)
            message = f"no device can run `{operation}`: no table of {names} is for it"
            notes = (f'add `[device.op."{operation}"]` to a device of the profile (docs/devices.md)',)
            if operation in device.lacks:
                message = f"no device can run `{op_name(phase)}`: {device.name} has no {operation}, which it needs"
                notes = ("name the processor beside it (`--devices cpu0,…`), which then runs it",)
            problems.append(Diagnostic(Code.SCH104, message, phase.span, notes=notes))
    if problems:
        raise Refused(problems)


def _tick_ns(bound: BoundGraph, finest: CostContext) -> int:
    """See Note [Ticks]."""
    total, graph = 0, divide_phases(hoist_arms(bound.graph))
    bound = replace(bound, graph=graph)
    for phase in graph.phases:
        if isinstance(phase, LibraryPhase) and phase.op == "broadcast":
            continue  # all forms have the same ticks
        cost_of_group = [finest.ticks(phase, group, None, bound) for group in finest.groups]
        total += max((one.at(1) for one in cost_of_group if one is not None), default=0)
    size = 1
    while True:
        for step in (1, 2, 5):
            if total <= MOST_TICKS * size * step:
                return size * step
        size *= 10


def _profile_ticks(
    phase: Phase, group: DeviceGroup, cut: Cut | None, tick_ns: int, bound: BoundGraph, profile: Profile,
    execution: ExecutionKind,
) -> Ticks | None:  # fmt: skip
    if cut is None:
        return phase_ticks(phase, bound, profile, group.id, tick_ns=tick_ns, execution=execution)
    axis = cut.axis
    if isinstance(phase, LibraryPhase):
        types = bound.graph.types
        reduced = [one for _, one in reduced_axes(phase, types)]
        entry = reduced[cut.axis - len(types[phase.results[0]].shape)] if cut.combines else None
        axis = next(
            index for index, one in enumerate(phase.signature)
            if (one is entry if entry is not None else one.result == cut.axis and one.combine is None)
        )
    return phase_ticks(
        phase, bound, profile, group.id, axis=axis, rows=cut.size, grain=cut.grain, tick_ns=tick_ns, execution=execution
    )


@dataclass(slots=True)
class _ProblemBuilder:
    bound: BoundGraph
    options: tuple[tuple[PhaseCut, ...], ...]
    context: CostContext
    unaligned: frozenset[tuple[int, int]]
    distributed_loops: Mapping[int, DistributedLoop]

    def space(self) -> AxisSpace:
        """The phases and edges along every axis."""
        numbers = Numbers()
        names, leaving = task_names(self.bound), self.leaving_bytes(numbers)
        phases = tuple(
            tuple(self.packed(self.task(p, phase, c.cut, names[p], numbers, leaving.get(p)), phase, c) for c in self.options[p])
            for p, phase in enumerate(self.bound.graph.phases)
        )
        edges = tuple(
            {
                (i, j): self.edge(source, target, values, self.options[source][i], self.options[target][j])
                for i in range(len(self.options[source])) for j in range(len(self.options[target]))
            }
            for (source, target), values in self.values_read()
        )  # fmt: skip
        return AxisSpace(phases, edges)

    # ------------------------------------------------------------------------------ phases

    def leaving_bytes(self, numbers: Numbers) -> dict[int, int]:
        """By print and output, the bytes that live to the end of the run: its operand itself, or a copy.

        Results of one phase leave together, inside its output, when the last of them does: they are one value of a problem."""
        leaving: dict[int, int] = {}
        maker: dict[ValueId, int] = {}
        of_maker: dict[int, list[int]] = {}
        for p, phase in enumerate(self.bound.graph.phases):
            if isinstance(phase, Print | Output):
                leaving[p] = numbers.bytes(self.bound.graph.types[phase.arg])
                if phase.arg in maker:
                    of_maker.setdefault(maker[phase.arg], []).append(p)
            elif not isinstance(phase, Input):
                maker.update(dict.fromkeys(traverse.results(phase), p))
        for places in of_maker.values():
            *earlier, last = places
            first_of = {traverse.operands(self.bound.graph.phases[p])[0]: p for p in reversed(places)}
            copies = {p: leaving[p] for p in places if p not in first_of.values()}
            together = sum(leaving[p] for p in first_of.values())
            leaving |= {**{p: copies.get(p, 0) for p in earlier}, last: together}
            if last in copies:
                leaving[earlier[-1]] += copies[last]
        return leaving

    def packed(self, task: PhaseTask, phase: Phase, cut: PhaseCut) -> PhaseTask:
        """The task with the time of packing its rows, if these are not contiguous along the cut."""
        types, apart, pieces, numbers = self.bound.graph.types, 0, 0, Numbers()
        if not cut.is_undivided and task.distributed is None:
            for value in traverse.results(phase):
                outside = prod(numbers.cap(size) for size in types[value].shape[: cut.axes.get(value, 0)])
                if outside > 1:
                    apart, pieces = apart + numbers.bytes(types[value]), pieces + outside
        return replace(task, packing=self.context.packing(apart), pieces=pieces) if apart and task.out_bytes else task

    def task(
        self, p: int, phase: Phase, cut: Cut | None, name: str, numbers: Numbers, leaving: int | None
    ) -> PhaseTask:  # fmt: skip
        results = traverse.results(phase)
        size = sum(numbers.bytes(self.bound.graph.types[value]) for value in results)
        filed = stored_value(phase)
        store = None if filed is None else self.bound.stores.get(filed[0])
        if isinstance(phase, Input | Constant) or store is not None:
            where = next(group for group in self.context.groups if (group.home if store is None else group.id == store))
            effect = isinstance(phase, Output)
            return PhaseTask(
                name, {where.kind: _FREE}, 0 if cut is None else cut.rows, None, size, home=where.home, effect=effect
            )
        if p in self.distributed_loops:
            return self.distributed_task(self.distributed_loops[p], name, size)
        effect = _has_effect(phase)
        if leaving is not None:
            size = leaving
        ticks: dict[str, Ticks] = {}
        exchanged, rows = self.exchanged(phase, numbers), 1 if cut is None else cut.rows
        for group in self.context.groups:
            if group.kind not in ticks and (table := self.context.ticks(phase, group, cut, self.bound)) is not None:
                ticks[group.kind] = self.context.messages(table, group, exchanged, rows)
        combine = None
        if cut is not None and cut.combines:
            partial = size * (max_subtrees(cut.rows) if cut.grain == BLOCK else 1)
            combine = Combine(self.context.combine_ticks(partial), partial)
        scratch = working_bytes(phase, self.bound.graph, numbers)
        if cut is not None:
            scratch = -(-scratch * cut.rows * cut.grain // cut.size)  # the last row may be shorter
        return PhaseTask(
            name, ticks, 0 if cut is None else cut.rows, combine, size, scratch, isinstance(phase, Print | Output), home=effect,
            effect=effect,
        )  # fmt: skip

    def exchanged(self, phase: Phase, numbers: Numbers) -> list[int]:
        """The bytes of the values that a device away from home receives from home for a phase, or sends there."""
        values = exchanged_values(self.bound).intersection((*traverse.uses(phase), *traverse.results(phase)))
        return [numbers.bytes(self.bound.graph.types[value]) for value in sorted(values)]

    def distributed_task(self, distributed: DistributedLoop, name: str, size: int) -> PhaseTask:
        """The phase of a distributed loop."""
        names = [group for group in self.context.groups for _ in range(group.count)]
        ticks = {names[device].kind: Ticks(((1, distributed.ticks), (2, distributed.ticks))) for device, _ in distributed.mode}
        ends = list(accumulate((rows for _, rows in distributed.mode), initial=0))
        parts = [-(-size * stop // distributed.rows) - -(-size * first // distributed.rows) for first, stop in pairwise(ends)]
        if distributed.is_gathered:
            parts = [size if names[device].home else 0 for device, _ in distributed.mode]
        together = distributed.distributed_mode([rounded_to_alignment(part) for part in parts])
        return PhaseTask(name, ticks, distributed.rows, None, size, distributed=together)

    def kept_inputs(self) -> tuple[Keep, ...]:
        """`keep` directives for inputs at home: they are the caller's and stay to the end, as in a plan of one device."""
        home = next(name for group in self.context.groups if group.home for name in group.names())
        names = task_names(self.bound)
        return tuple(
            Keep(SourceLine(0, f"{names[p]} stays with its caller"), PhaseIndex(p), home)
            for p, phase in enumerate(self.bound.graph.phases)
            if isinstance(phase, Input) and phase.name not in self.bound.stores
        )  # fmt: skip

    # ------------------------------------------------------------------------------ edges

    def values_read(self) -> list[tuple[tuple[int, int], list[ValueId | None]]]:
        """By edge, in the order of targets: the values that it carries; None: run-time sizes.  See Note [Edges]."""
        maker: dict[ValueId, int] = {}
        definer: dict[SizeVariable, int] = {}
        edges: dict[tuple[int, int], list[ValueId | None]] = {}
        for p, phase in enumerate(self.bound.graph.phases):
            for value in self.distributed_loops[p].outer_values if p in self.distributed_loops else traverse.uses(phase):
                if value in maker:
                    edges.setdefault((maker[value], p), []).append(value)
            for variable in _mentioned(phase, self.bound):
                if variable in definer and definer[variable] != p:
                    edges.setdefault((definer[variable], p), []).append(None)
            maker.update(dict.fromkeys(traverse.results(phase), p))
            definer.update(dict.fromkeys(traverse.defines(phase), p))
        return sorted(edges.items(), key=lambda item: (item[0][1], item[0][0]))

    def edge(
        self, source: int, target: int, values: Sequence[ValueId | None], source_cut: PhaseCut, target_cut: PhaseCut
    ) -> Edge:  # fmt: skip
        """The edge between two phases with these cuts."""
        halos = [self.halo(source, target, value, source_cut, target_cut) for value in values]
        lined = [halo for halo in halos if halo is not None]
        reads_all = len(lined) < len(halos)
        return Edge(PhaseIndex(source), PhaseIndex(target), whole=reads_all, halo=0 if reads_all else max(lined))

    def halo(self, source: int, target: int, value: ValueId | None, source_cut: PhaseCut, target_cut: PhaseCut) -> int | None:
        """The rows that a shard of the target reads beyond its proportional part of a value; None if it reads all of the
        value."""
        if value is None or (source, target) in self.unaligned:
            return None
        types, phase = self.bound.graph.types, self.bound.graph.phases[target]
        axis = 0 if source_cut.is_undivided else source_cut.axes.get(value, 0)  # parts of an undivided value are byte ranges
        if target in self.distributed_loops:
            needs = [self.distributed_loops[target].access(value, axis)]
            apart = source_cut.is_undivided and self.has_uneven_rows(value, self.distributed_loops[target].rows)
        elif target_cut.cut is None:
            return None
        else:
            cut, operands = target_cut.cut, [operand for operand, one in enumerate(reads_of(phase, types)) if one == value]
            needs = [operand_access(phase, cut, operand, axis, types) for operand in operands]
            apart = source_cut.is_undivided and (cut.size % cut.grain != 0 or self.has_uneven_rows(value, cut.rows))
        halos = [need.halo for need in needs if isinstance(need, AlignedRows)]
        if not halos or len(halos) < len(needs) or apart or (source_cut.is_undivided and max(halos)):
            return None
        return max(halos)

    def has_uneven_rows(self, value: ValueId, rows: int) -> bool:
        """Do rows of a phase read unequal numbers of rows of a value?  Then a shard's reads are no byte interval of it."""
        shape = self.bound.graph.types[value].shape
        length = shape[0].constant if shape else None
        return length is None or length == 0 or length % rows != 0


def _has_effect(phase: Phase) -> bool:
    pending: list[Phase] = [phase]
    while pending:
        current = pending.pop()
        if isinstance(current, Print | Output):
            return True
        for graph in traverse.subgraphs(current):
            pending.extend(graph.phases)
    return False


def _mentioned(phase: Phase, bound: BoundGraph) -> frozenset[SizeVariable]:
    """The run-time sizes that must be known before the phase runs."""
    variables: set[SizeVariable] = set()
    pending: list[Phase] = [phase]
    while pending:
        current = pending.pop()
        for size in _sizes(current, bound):
            if size.constant is None:
                variables |= size.variables()
        for graph in traverse.subgraphs(current):
            pending.extend(graph.phases)
    return frozenset(variables)


def _sizes(phase: Phase, bound: BoundGraph) -> Iterable:  # type: ignore[type-arg]
    yield from traverse.sizes(phase)
    for value in (*traverse.operands(phase), *traverse.results(phase)):
        yield from bound.graph.types[value].shape


def task_names(bound: BoundGraph) -> tuple[str, ...]:
    """A distinct name for each phase: the program's name of its result, else its operation and index."""
    graph = bound.graph
    counts: dict[str, int] = {}
    first: list[str] = []
    for phase in graph.phases:
        name = next((graph.names[v] for v in traverse.results(phase) if v in graph.names), "")
        if isinstance(phase, Print | Output):
            arg = graph.names.get(phase.arg, "")
            name = f"print {arg}" if isinstance(phase, Print) else f"output {phase.name}"
            name = name.strip() if arg or isinstance(phase, Output) else ""
        first.append(name)
        counts[name] = counts.get(name, 0) + 1
    return tuple(
        name if name and counts[name] == 1 else f"{name or op_name(phase)}#{int(phase.id)}"
        for name, phase in zip(first, graph.phases, strict=True)
    )


def names_in(bound: BoundGraph) -> Mapping[str, list[int]]:
    """By name in a schedule block: the indices of the phases that it denotes."""
    graph = bound.graph
    phases_named: dict[str, list[int]] = {}
    for p, phase in enumerate(graph.phases):
        for value in traverse.results(phase):
            if value in graph.names:
                phases_named.setdefault(graph.names[value], []).append(p)
        if isinstance(phase, Print):
            phases_named.setdefault("print", []).append(p)
            if phase.arg in graph.names:
                phases_named.setdefault(f"print {graph.names[phase.arg]}", []).append(p)
    return {name: list(dict.fromkeys(places)) for name, places in phases_named.items()}


# ---------------------------------------------------------------------------------------------------- costs of each axis
#
# The cost of cutting one phase, by axis and by number of devices: time, transferred bytes, and energy.
#
# The phase is planned by itself: its operands are at home before it, and its results after it.  Entries therefore differ only by
# the cut: operands copied to several shards, halos, partial results to combine.  Each entry is the best split over home and the
# devices that finish first, as the planner finds it without a solver; other devices are off.

@dataclass(frozen=True, slots=True)
class CutCost:
    """The phase cut into `shards` along `cut` (None: whole), by a plan for `devices` devices: `ns` from its operands at home to
    its results there, bytes `sent` from home and `returned` to it, `picojoules` (None: no power is known)."""

    cut: Cut | None
    devices: int
    shards: int
    ns: int
    sent: int
    returned: int
    picojoules: int | None


def cut_costs(bound: BoundGraph, phase: Phase, profile: Profile) -> tuple[CutCost, ...]:
    """The costs of the phase undivided, and along each axis over 2, 4, 8, … devices and all; those that fit in memory.

    Raises Refused: SCH104, no device can run it."""
    alone, profile = _alone(bound, phase), replace(profile, devices=tuple(d for d in profile.devices if not d.paths))
    answers: list[tuple[Cut | None, int, ProgramProblem, Answer]] = []
    ranked = _ranked(alone, phase, profile)
    for cut in (None, *cuts_of(phase, bound.graph.types)):
        for count in (2,) if cut is None else _counts(profile):
            program = _problem(alone, phase, cut, _first(ranked, count))
            answers.append((cut, count, program, plan_objectives(program.problem, FAST)))
    return tuple(row for each in answers if (row := _row(*each)) is not None)


def _counts(profile: Profile) -> Iterator[int]:
    total, count = sum(device.count for device in profile.devices), 2
    while count < total:
        yield count
        count *= 2
    if total > 1:
        yield total


def _alone(bound: BoundGraph, phase: Phase) -> BoundGraph:
    """A program of this phase alone, with its operands as inputs and its results as outputs."""
    graph = bound.graph
    number = max((int(one.id) for one in traverse.all_phases(graph)), default=0)
    operands = dict.fromkeys(traverse.uses(phase))
    inputs = [Input(PhaseId(number + at), phase.span, f"operand {at}", value) for at, value in enumerate(operands, 1)]
    number += len(inputs)
    results = enumerate(traverse.results(phase), 1)
    outputs = [Output(PhaseId(number + at), phase.span, f"result {at}", value) for at, value in results]
    return replace(bound, graph=replace(graph, phases=(*inputs, phase, *outputs), guards=()))


def _problem(alone: BoundGraph, phase: Phase, cut: Cut | None, profile: Profile) -> ProgramProblem:
    axes = dict.fromkeys(traverse.results(phase), 0 if cut is None or cut.combines else cut.axis)
    return problem_of(alone, profile, cut={phase.id: PhaseCut(cut, axes)}).along()


def _ranked(alone: BoundGraph, phase: Phase, profile: Profile) -> Profile:
    """The profile with home first, then the devices by when each would finish the undivided phase."""

    def ends(device: DeviceProfile) -> int:
        program = _problem(alone, phase, None, profile.restricted((replace(profile.home, count=1), replace(device,
            count=1))))
        problem = program.problem
        p = next(at for at, one in enumerate(program.phases) if one.id == phase.id)
        kind = next(group.kind for group in problem.devices if group.id == device.name)
        tasks = list(problem.phases)
        tasks[p] = replace(tasks[p], ticks={name: table for name, table in tasks[p].ticks.items() if name == kind})
        if not tasks[p].ticks:
            return 1 << 62
        answer = plan_objectives(replace(problem, phases=tuple(tasks)), FAST)
        return 1 << 62 if answer.schedule is None else answer.schedule.makespan * problem.tick_ns

    others = sorted((device for device in profile.devices if not device.home), key=ends)
    return replace(profile, devices=(profile.home, *others))


def _first(ranked: Profile, count: int) -> Profile:
    """The profile's first devices."""
    selected: list[DeviceProfile] = []
    for device in ranked.devices:
        used = min(device.count, count)
        count -= used
        if used:
            selected.append(replace(device, count=used))
    return ranked.restricted(selected)


def _row(cut: Cut | None, count: int, program: ProgramProblem, answer: Answer) -> CutCost | None:
    problem, schedule = program.problem, answer.schedule
    if schedule is None:
        return None
    p = next(at for at, one in enumerate(program.phases) if not isinstance(one, Input | Output))
    shards = sum(shard.phase == p for shard in schedule.shards)
    sent = sum(one.bytes for one in schedule.transfers if one.source == problem.home)
    returned = sum(one.bytes for one in schedule.transfers if one.target == problem.home)
    powered = program.profile is not None and any(device.power is not None for device in program.profile.devices)
    used = energy_of_schedule(problem, schedule) if powered else None
    return CutCost(cut, count, shards, schedule.makespan * problem.tick_ns, sent, returned, used)


# ---------------------------------------------------------------------------------------------------- axes in a plan
#
# The axes along which phases are cut, as a plan states them, and back from a stored plan.

def cuts_in(program: ProgramProblem) -> tuple[PlannedCut, ...]:
    """By phase, the axis along which it is cut and those along which it could be; distributed loops are not included."""
    apart = {*program.shared_loops, *(distributed.loop.id for distributed in program.distributed_loops.values())}
    planned_cuts: list[PlannedCut] = []
    for phase, cut in zip(program.phases, program.cuts.cut_of, strict=True):
        axes, because = _options(phase, program.bound)
        if phase.id not in apart and (axes or because):
            planned_cuts.append(PlannedCut(phase.id, None if cut is None else cut.axis, axes, because))
    return tuple(planned_cuts)


def is_narrowed(program: ProgramProblem) -> bool:
    """Was a phase's only axis given, though it could be cut along others?"""
    options = {phase.id: cuts for phase, cuts in zip(program.phases, program.options, strict=True)}
    return any(one.is_chosen and len(options[one.phase]) < len(one.axes) for one in cuts_in(program))


def axes_in(plan: ExecutionPlan) -> Axes:
    """By phase, the axis that the plan states."""
    return {one.phase: one.axis for one in plan.space.cuts if one.axes}


def faults_of_axes(plan: ExecutionPlan, bound: BoundGraph) -> Iterator[tuple[str, object, object]]:
    """Where a plan's axes differ from its program: (field, the plan's value, the program's)."""
    known = {phase.id: phase for phase in bound.graph.phases}
    apart = {*plan.space.dealt, *(one.phase for one in plan.spread)}
    expected: dict[PhaseId, tuple[tuple[int, ...], str]] = {
        id: options for id, phase in known.items() if id not in apart and any(options := _options(phase, bound))
    }
    said = [one.phase for one in plan.space.cuts]
    if said != list(expected):
        yield "space.cuts", said, list(expected)
        return
    for index, one in enumerate(plan.space.cuts):
        axes, because = expected[one.phase]
        if (one.axes, one.because) != (axes, because):
            yield f"space.cuts[{index}]", (*one.axes, one.because), (*axes, because)
        elif one.axis is not None and one.axis not in axes:
            yield f"space.cuts[{index}].axis", one.axis, f"one of {list(axes)}"


def _options(phase: Phase, bound: BoundGraph) -> tuple[tuple[int, ...], str]:
    axes = axes_of(phase, bound.graph.types)
    return axes, "" if axes or isinstance(phase, Input) else reason_not_cut(phase, bound.graph.types)
