"""The search for distributed loops: which loops several devices run together, on which devices, with how many rows each.

For every choice of axes of the states, and for unions of device classes with home, rows are distributed so that all devices take
equally long for an iteration, or as many as fit in a device's memory.  The best candidates are planned in the program and kept
where the plan is better than with the loop on one device, by the objectives in their order.

Note [Bound].  Every considered plan runs a loop no faster than its fastest device alone, or than the number of iterations times a
lower bound of an iteration that holds for all modes; and after its first states are produced and before its results are read.
Replacing each loop by that shortest duration, at home, is a relaxation; its bounds and its infeasibility, under any objective or
deadline, hold for every plan.  The critical path also counts scattering the states from home and gathering them
(`loop_round_trip_bound`): a device with more rows takes longer for iterations and for transfers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Final, TypeAlias

from ....lang.support.records import dataclass, field, replace
from ...devices.cost_functions import Ticks
from ...graph import traverse
from ...graph.bind_sizes import BoundGraph
from ...graph.partial_graphs import StateAxes, is_distributable
from ...graph.phases import Loop, PhaseId
from ..bounds.bound_strategies import best_bound, objective_lower_bound
from ..bounds.head_tail_bounds import BoundSet, Costs, apportion_within, bisect_max, bisect_min
from ..bounds.single_phase_split import nested_device_subsets
from ..exact.infeasibility import certified_bound, memory_conflict, without_cuts
from ..plan.plan import ALIGNMENT
from ..problem import (
    Answer,
    Before,
    BoundCertificate,
    Conflict,
    Directive,
    LimitMemory,
    Mode,
    Objective,
    PhaseIndex,
    PhaseTask,
    Problem,
    SourceLine,
    Status,
    directive_constraints,
)
from ..program_facts.partitioning import shape_of
from ..program_facts.scratch_memory import rounded_to_alignment
from ..search.strategy import FAST, Budget, Planner
from ..timeline.serial_sgs import FOREVER, ScheduleDecoder
from .axis_choice import AlignedRows
from .distributed_loop import CostContext, DistributedLoop, ProgramProblem
from .iteration_plan import IterationTemplate, distributed_loop_of, iteration_template

# ---------------------------------------------------------------------------------------------------- loop round trip bound
#
# A lower bound of a distributed loop that includes scattering its initial states from home and gathering its results.
#
# All devices of the loop begin and end it in one tick.  So each channel carries their parts of the initial states before it and
# of the results after it, and all devices have the same time between for iterations.

STEP: Final = 256
"""Durations of a loop are tried in steps of 1/STEP."""


@dataclass(slots=True)
class _LoopRoundTrip:
    """Devices that share the channels from and to home.  `each`: ticks of transferring all rows there and back; `fixed`: ticks of
    transferring none."""

    each: Fraction
    fixed: int
    devices: list[int] = field(default_factory=list)

    def rows(self, time: int, rows: int) -> int:
        """An upper bound of the rows that can be transferred there and back in `time` ticks."""
        if not self.each:
            return rows
        return min(rows, max(0, int((time - self.fixed) * rows / self.each)) + len(self.devices))


def loop_round_trip_bound(program: ProgramProblem, loop_index: int, one: IterationTemplate, loop_ticks: int) -> int:
    """A lower bound of the ticks from when a loop's initial states are produced until its results are read, on one device or
    distributed along these cuts; `loop_ticks`: a lower bound of its iterations."""
    problem, decoder, loop = program.problem, ScheduleDecoder(program.problem), program.phases[loop_index]
    assert isinstance(loop, Loop)
    sizes = _transferred_bytes(program, loop)
    alone = {device: problem.phases[loop_index].ticks.get(kind) for device, kind in enumerate(decoder.kinds)}
    by_one = min(_ticks_on_one_device(decoder, device, table, sizes) for device, table in alone.items() if table is not None)
    cut = [axis is not None for axis in one.partition.axes]
    groups = _groups(decoder, [sum(size for size, is_cut in zip(each, cut, strict=True) if is_cut) for each in sizes])
    bounds, trip = BoundSet(Costs(ScheduleDecoder(one.unscheduled().problem))), loop.trip.constant or 0
    waits = [_waits(bounds, one.rows, device) for device in range(len(decoder.kinds))]
    best, low = by_one, loop_ticks
    while low < best:
        high = max(low + trip, low * (STEP + 1) // STEP)
        room = [sum(_rows(bounds, waits[device], device, high // trip, one.rows) for device in route.devices) for route in groups]
        if sum(room) >= one.rows:
            best = min(best, low + _exchange_ticks(groups, room, one.rows, best - low))
        low = high
    return best


def _exchange_ticks(groups: Sequence[_LoopRoundTrip], room: Sequence[int], rows: int, most: int) -> int:
    """The least ticks in which all rows reach groups of devices with room for so many each, and return (by bisection)."""

    def enough(time: int) -> bool:
        return sum(min(most_rows, route.rows(time, rows)) for most_rows, route in zip(room, groups, strict=True)) >= rows

    return bisect_min(0, most, enough)


def _transferred_bytes(program: ProgramProblem, loop: Loop) -> tuple[list[int], list[int]]:
    """Bytes of each initial state that is at home from the start, and of each result that is read there whole."""
    types, tasks = program.bound.graph.types, program.problem.phases
    sizes = [
        [types[value].element.kind.bytes * prod(shape_of(value, types) or (0,)) for value in values]
        for values in (loop.initial, loop.results)
    ]
    each = list(zip(program.phases, tasks, strict=True))
    given = [phase for phase, task in each if is_at_home_from_start(task)]
    there = {value for phase in given for value in traverse.results(phase)}
    back = {value for phase, task in each if reads_at_home(task) for value in traverse.uses(phase)}
    return (
        [size * (value in there) for value, size in zip(loop.initial, sizes[0], strict=True)],
        [size * (value in back) for value, size in zip(loop.results, sizes[1], strict=True)],
    )


def is_at_home_from_start(task: PhaseTask) -> bool:
    """Is the phase's output at home before anything runs?"""
    return task.home and not any(table.at(task.units) for table in task.ticks.values())


def reads_at_home(task: PhaseTask) -> bool:
    return task.home and not task.rows


def _ticks_on_one_device(decoder: ScheduleDecoder, device: int, table: Ticks, sizes: Sequence[Sequence[int]]) -> int:
    """Ticks of the loop on one device, including transfers from and to home."""
    moved = [(sum(size), ends) for size, ends in zip(sizes, ((decoder.home, device), (device, decoder.home)), strict=True)]
    total = table.at(1)
    for size, ends in moved:
        path = decoder.routes.path(*ends) if device != decoder.home and size else ()
        total += sum(decoder.problem.links[hop.link].occupied(size) + hop.latency for hop in path or ())
    return total


def _groups(decoder: ScheduleDecoder, sizes: Sequence[int]) -> list[_LoopRoundTrip]:
    """Home, and the other devices grouped by the channels that connect them with home."""
    routes: dict[object, _LoopRoundTrip] = {decoder.home: _LoopRoundTrip(Fraction(0), 0, [decoder.home])}
    for device in range(len(decoder.kinds)):
        if device == decoder.home:
            continue
        hops = [decoder.routes.path(*ends) or () for ends in ((decoder.home, device), (device, decoder.home))]
        used = [hop for path, size in zip(hops, sizes, strict=True) if size for hop in path]
        rates = [
            (decoder.problem.links[hop.link].bytes_per_tick, size) for path, size in zip(hops, sizes, strict=True) for hop in path
        ]
        each = sum((size / rate for rate, size in rates if rate is not None), Fraction(0))
        route, channels = _LoopRoundTrip(each, sum(hop.latency for hop in used)), tuple(hop.channel for hop in used)
        known = routes.setdefault(channels if channels and None not in channels else device, route)
        known.each, known.fixed = min(known.each, route.each), min(known.fixed, route.fixed)
        known.devices.append(device)
    return list(routes.values())


def _rows(bounds: BoundSet, waits: Mapping[int, int], device: int, time: int, rows: int) -> int:
    """An upper bound of a device's rows in an iteration of `time` ticks, if another device has at least one row."""
    return min(
        (bounds.decoder.max_rows_within(p, device, time - wait) if time >= wait else 0 for p, wait in waits.items()), default=rows
    )


def _waits(bounds: BoundSet, rows: int, device: int) -> dict[int, int]:
    """By phase with the distributed rows: the ticks of an iteration in which its shard on a device cannot run, because a phase
    that reads rows of neighbours waits for a transfer."""
    decoder, kind = bounds.decoder, bounds.costs.class_of[device]
    paths = [path for near in range(len(decoder.kinds)) if near != device and (path := decoder.routes.path(near, device))]
    travel = min((sum(hop.latency for hop in path) for path in paths), default=0) + (decoder.syncs[device] if paths else 0)
    waits = {}
    for p, task in enumerate(bounds.phases):
        if task.rows != rows or kind not in bounds.heads[p]:
            continue
        sources = [(edge, bounds.phases[decoder.sources[edge]]) for edge in decoder.incoming[p] if decoder.delays[edge] is None]
        halo = any(decoder.problem.edges[edge].halo and source.rows > 1 and not source.is_gathered for edge, source in sources)
        waits[p] = max(bounds.heads[p][kind], travel if halo else 0) + bounds.tail_with_combine(p, kind)
    return waits


# ---------------------------------------------------------------------------------------------------- distributed loops

MOST_DEVICES: Final = 64
MOST_LOOPS: Final = 8
MOST_TRIED: Final = 16
"""Modes of a loop that are evaluated."""
MOST_PLANNED: Final = 2
"""The best of these modes, which are planned in the program."""
MEMORY_ROUNDS: Final = 4
"""Rounds of redistributing rows where memory is short."""

ROUNDING_RESERVE: Final = 8 * ALIGNMENT
"""Bytes reserved for rounding in these rounds."""

ProblemFactory: TypeAlias = Callable[[Mapping[PhaseId, DistributedLoop]], ProgramProblem]


def plan_distributed_loops(
    program: ProgramProblem,
    answer: Answer,
    context: CostContext,
    build_problem: ProblemFactory,
    budget: Budget,
    planner: Planner,
    every: Sequence[ProgramProblem],
) -> tuple[ProgramProblem, Answer]:
    """The better of the program as planned, and with distributed loops.

    `every`: the forms of the program's branches, or a relaxation of them; the bound ranges over all of them."""
    problem, options = program.problem, _options(program, context)
    if not options and not any(_options(form, context) for form in every):
        return program, answer
    chosen: dict[PhaseId, DistributedLoop] = {}
    best, of = answer, program
    for loop_index, templates in options.items():
        alone = None if answer.schedule is None else min(table.at(1) for table in problem.phases[loop_index].ticks.values())
        for distributed in _best_candidates(templates, problem, alone):
            form = build_problem({**chosen, distributed.loop.id: distributed})
            tried = planner(form.problem, FAST)
            if tried.schedule is not None and (best.schedule is None or tried.values < best.values):
                best, of = tried, form
        chosen = {distributed.loop.id: distributed for distributed in of.distributed_loops.values()}
    if chosen and budget != FAST:
        again = planner(of.problem, budget)
        if again.schedule is not None and best.schedule is not None and again.values <= best.values:
            best = again
    if best.schedule is None:
        return _without_plan(every, context, planner)
    bound = bound_with_distributed_loops(every, context) or 0
    best = best.bounded(BoundCertificate("bound" if bound else "none", bound))
    return of, replace(best, baselines=answer.baselines or best.baselines)


def _without_plan(forms: Sequence[ProgramProblem], context: CostContext, planner: Planner) -> tuple[ProgramProblem, Answer]:
    """The answer where no plan was found: a conflict of memory that is independent of the loops, or one that the relaxation has
    too."""
    from ..search.portfolio import explained

    conflicts = [(form, _conflict_beside_loops(form, _options(form, context))) for form in forms]
    if all(conflict is not None for _, conflict in conflicts):
        form, conflict = conflicts[0]
        answer = Answer(Status.IMPOSSIBLE, None, 0, (), BoundCertificate("none", 0), conflict=conflict)
        return form, explained(form.problem, answer)
    eased = [replace(form, problem=_relaxed_program(form, _options(form, context))[0]) for form in forms]
    answers = [(program, planner(program.problem, FAST)) for program in eased]
    unsure = [program for program, answer in answers if answer.status is not Status.IMPOSSIBLE]
    if unsure:
        return min(unsure, key=lambda one: certified_bound(one.problem)), Answer(Status.ABORTED, None, 0, (),
            BoundCertificate("none", 0))
    program, answer = answers[0]
    if answer.conflict is None:
        return program, answer
    written = tuple(directive for directive in answer.conflict.directives if directive.line.text)
    return program, replace(answer, conflict=replace(answer.conflict, directives=written))


def _conflict_beside_loops(program: ProgramProblem, options: Mapping[int, object]) -> Conflict | None:
    """A memory conflict that exists however the loops are run."""
    others = without_cuts(program.problem, options)
    return memory_conflict(replace(others, chunks=program.problem.chunks))


def bound_with_distributed_loops(forms: Sequence[ProgramProblem], context: CostContext) -> int | None:
    """A bound over all plans of the program; None where it has no loops that could be distributed."""
    options = [_options(form, context) for form in forms]
    return min(map(_bound, forms, options)) if any(options) else None


def distributable_loops(program: ProgramProblem, context: CostContext) -> tuple[PhaseId, ...]:
    """The loops that could be distributed."""
    return tuple(sorted(program.phases[loop_index].id for loop_index in _options(program, context)))


def _options(program: ProgramProblem, context: CostContext) -> dict[int, list[IterationTemplate]]:
    """By phase index of a loop that could be distributed, its iteration templates."""
    templates_of = {
        loop_index: _iteration_templates(program.bound, program.phases[loop_index], context) for loop_index in _loops(program)
    }
    return {loop_index: turnings for loop_index, turnings in templates_of.items() if turnings}


def _loops(program: ProgramProblem) -> list[int]:
    """The phase indices of loops that could be distributed, the longest first."""
    problem = program.problem
    if len(problem.device_names()) not in range(2, MOST_DEVICES + 1):
        return []
    named = {phase for directive in problem.directives for phase in _mentioned_phases(directive)}
    loops = [
        p for p, phase in enumerate(program.phases)
        if isinstance(phase, Loop) and program.cuts.cut_of[p] is None and p not in named
        and is_distributable(phase, program.bound.graph)
    ]  # fmt: skip
    return sorted(loops, key=lambda p: -max(table.at(1) for table in problem.phases[p].ticks.values()))[:MOST_LOOPS]


def _mentioned_phases(directive: object) -> Iterator[int]:
    """The phases that a directive speaks of."""
    for name in ("phase", "phases", "first", "then", "items"):
        phases = getattr(directive, name, ())
        yield from (int(one) for one in (phases if isinstance(phases, tuple) else (phases,)) if one is not None)


# ----------------------------------------------------------------------------------------- candidates


def _iteration_templates(bound: BoundGraph, loop: object, context: CostContext) -> list[IterationTemplate]:
    """The iteration templates of a loop, one for each choice of axes of its states."""
    assert isinstance(loop, Loop)
    templates = (iteration_template(bound, loop, axes, context) for axes in _axes(bound, loop))
    return [one for one in templates if one is not None]


def _axes(bound: BoundGraph, loop: Loop) -> list[StateAxes]:
    """The choices of axes: each axis for the states that are longest along it, the others whole at home; and all at home."""
    shapes = [[size.constant or 0 for size in bound.graph.types[value].shape] for value in loop.initial]
    axes_tried: dict[StateAxes, None] = {}
    for axis in range(max(map(len, shapes))):
        longest = max(shape[axis] for shape in shapes if len(shape) > axis)
        if longest > 1:
            axes_tried[tuple(axis if len(shape) > axis and shape[axis] == longest else None for shape in shapes)] = None
    return [*axes_tried, tuple(None for _ in shapes)]


def _best_candidates(templates: Sequence[IterationTemplate], problem: Problem, alone: int | None) -> list[DistributedLoop]:
    """The best distributed loops; `alone`: the ticks on one device, which they must beat."""
    tried: list[tuple[int, int, IterationTemplate, Mode]] = []
    for number, one in enumerate(templates):
        for devices in _subsets(problem):
            mode = _row_distribution(one, problem, devices, {})
            if mode is not None and len(mode) > 1:
                names = [group for group in problem.devices for _ in range(group.count)]
                longest = max(one.device_ticks(names[device], rows) or 0 for device, rows in mode)
                tried += [(longest, number, one, ordered) for ordered in _orders(mode, int(problem.home))]
    tried.sort(key=lambda item: (item[0], item[1], len(item[3]), item[3]))
    distributed_loops = (_fit_to_memory(one, problem, mode) for _, _, one, mode in tried[:MOST_TRIED])
    ranked = sorted(
        (distributed for distributed in distributed_loops if distributed is not None),
        key=lambda distributed: (distributed.ticks, len(distributed.mode)),
    )
    return [distributed for distributed in ranked if alone is None or distributed.ticks < alone][:MOST_PLANNED]


def _orders(mode: Mode, home: int) -> list[Mode]:
    """Orders of the devices: as given, and with home in the middle, next to devices that are linked to home only."""
    others = [part for part in mode if part[0] != home]
    middle = len(others) // 2
    around = (*others[:middle], *(part for part in mode if part[0] == home), *others[middle:])
    return list(dict.fromkeys((mode, around)))


def _subsets(problem: Problem) -> list[list[int]]:
    """Sets of devices: home with whole classes, with nearby fast ones, and with the first one, two, four… of a class."""
    home = int(problem.home)
    groups: list[list[int]] = []
    first = 0
    for group in problem.devices:
        members = [device for device in range(first, first + group.count) if device != home]
        first += group.count
        if members:
            groups.append(members)
    subsets_tried: dict[tuple[int, ...], None] = {}
    sizes = range(len(groups), 0, -1) if len(groups) <= 4 else (len(groups), 1)
    for size in sizes:
        for some in combinations(groups, size):
            subsets_tried[tuple(sorted([home, *(device for devices_of_group in some for device in devices_of_group)]))] = None
    at = [index for index, group in enumerate(problem.devices) for _ in range(group.count)]
    for groups_used in nested_device_subsets(problem):
        subsets_tried[tuple(device for device, group_index in enumerate(at) if group_index in groups_used)] = None
    for members in groups:
        count = 1
        while count < len(members):
            subsets_tried[tuple(sorted([home, *members[:count]]))] = None
            count *= 2
    return [list(devices) for devices in subsets_tried]


def _row_distribution(one: IterationTemplate, problem: Problem, devices: Sequence[int], limits: Mapping[int, int]) -> Mode | None:
    """The mode in which the last device ends as early as possible (water-filling); home has at least one row."""
    groups = [group for group in problem.devices for _ in range(group.count)]
    home = int(problem.home)
    able = [device for device in devices if one.device_ticks(groups[device], 1) is not None]
    room = {device: min(one.rows, limits.get(device, one.rows)) for device in able}
    if home not in able or sum(room.values()) < one.rows or one.rows < len(able):
        return None

    def within(device: int, time: int) -> int:
        return bisect_max(room[device], lambda rows: rows == 0 or (one.device_ticks(groups[device], rows) or 0) <= time)

    ceiling = max(one.device_ticks(groups[device], one.rows) or 0 for device in able)
    time = bisect_min(0, ceiling, lambda time: sum(within(device, time) for device in able) >= one.rows)
    dealt = [within(device, time) for device in able]
    if sum(dealt) < one.rows:
        return None  # where ticks fall with rows the bisection misses some
    counts = apportion_within(dealt, one.rows)
    if not counts[able.index(home)]:
        counts[able.index(home)] += 1
        counts[counts.index(max(counts))] -= 1
    return tuple((device, rows) for device, rows in zip(able, counts, strict=True) if rows)


def _fit_to_memory(one: IterationTemplate, problem: Problem, mode: Mode) -> DistributedLoop | None:
    """The loop on these devices, with rows redistributed where a device has too little memory; None if that fails."""
    caps = directive_constraints(problem).memory_limits
    limits: dict[int, int] = {}
    for _ in range(MEMORY_ROUNDS):
        distributed = distributed_loop_of(one, mode)
        if distributed is None:
            return None
        short = {
            device: rows
            for device, rows in mode
            if (cap := caps[device]) is not None and _bytes_held(distributed, device, rows, one) > cap
        }
        if not short:
            return distributed
        for device, rows in short.items():
            cap = max(0, (caps[device] or 0) - ROUNDING_RESERVE)
            limits[device] = min(rows - 1, rows * cap // max(1, _bytes_held(distributed, device, rows, one)))
        again = _row_distribution(one, problem, [device for device, _ in mode], limits)
        if again is None or not all(limit > 0 for limit in limits.values()):
            return None
        order = {device: index for index, (device, _) in enumerate(mode)}
        mode = tuple(sorted(again, key=lambda part: order[part[0]]))
    return None


def _bytes_held(distributed: DistributedLoop, device: int, rows: int, one: IterationTemplate) -> int:
    """An estimate of the bytes on a device while the loop runs: outer values that it reads, and those of an iteration."""
    types = one.bound.graph.types
    total = 0
    for value in distributed.outer_values:
        shape = [size.constant or 0 for size in types[value].shape]
        size = prod(shape) * types[value].element.kind.bytes
        need = distributed.access(value, distributed.body.cuts.axis_of.get(value, 0))
        if isinstance(need, AlignedRows):
            size = min(size, -(-size * rows // distributed.rows))
        total += rounded_to_alignment(size)
    return total + distributed.peak(device)


# ---------------------------------------------------------------------------------------------- bound of programs with loops


def _bound(program: ProgramProblem, options: Mapping[int, Sequence[IterationTemplate]]) -> int:
    """The bound of the first objective.  See Note [Bound].

    Energy: either no loop is distributed, or one runs on home and some other device."""
    eased, longer = _relaxed_program(program, options)
    costs = Costs(ScheduleDecoder(eased))
    if not all(costs.allowed):
        return 0
    phases = tuple(longer.get(p, task) for p, task in enumerate(eased.phases))
    moved = replace(
        eased, phases=phases, directives=tuple(one for one in eased.directives if _holds_with_transfers(one, program, options))
    )
    shortest = max(best_bound(BoundSet(costs)).ticks, BoundSet(Costs(ScheduleDecoder(moved))).path.ticks)
    objective = eased.objectives[0]
    if objective is Objective.LATENCY:
        return shortest
    floor = objective_lower_bound(eased, objective, shortest)
    if objective is not Objective.ENERGY:
        return floor
    alone, away = (
        objective_lower_bound(program.problem, objective, shortest),
        [group for group in eased.devices if not group.home],
    )
    work = min((table.at(1) for loop_index in options for table in eased.phases[loop_index].ticks.values()), default=0)
    extra_energy = eased.tick_ns * work * max(0, min((group.active_mw - group.idle_mw for group in away), default=0))
    return -(-min(alone, floor + extra_energy) // 10**9)


def _holds_with_transfers(directive: Directive, program: ProgramProblem, options: Mapping[int, object]) -> bool:
    """Does the directive still hold if loops include their round trip?  Yes where the initial states are at home from the start
    and no phase but readers at home waits for the returned results."""
    if not isinstance(directive, Before) or directive.line.text:
        return True
    (first,), (then,), tasks = directive.first, directive.then, program.problem.phases
    if then in options:
        return is_at_home_from_start(tasks[first])
    readers = [phase for phase, task in zip(program.phases, tasks, strict=True) if reads_at_home(task)]
    back = {value for phase in readers for value in traverse.uses(phase)}
    wanted = back & set(traverse.results(program.phases[first]))
    return reads_at_home(tasks[then]) and wanted <= set(traverse.uses(program.phases[then]))


def _relaxed_program(
    program: ProgramProblem, options: Mapping[int, Sequence[IterationTemplate]]
) -> tuple[Problem, dict[int, PhaseTask]]:
    """The relaxation with shortened loops, and the loops' tasks including their round trips.  See Note [Bound]."""
    problem, phases = program.problem, list(program.problem.phases)
    directives = [directive for directive in problem.directives if not isinstance(directive, LimitMemory)]
    longer: dict[int, PhaseTask] = {}
    makers = {value: p for p, phase in enumerate(program.phases) for value in traverse.results(phase)}
    readers = [(int(edge.source), int(edge.target)) for edge in problem.edges]
    for loop_index, templates in options.items():
        alone = min(table.at(1) for table in phases[loop_index].ticks.values())
        task = phases[loop_index]
        ticks_of_templates = [(one, _iterations_bound(one)) for one in templates]
        work, with_ways = (
            min([alone, *(ticks for _, ticks in ticks_of_templates)]),
            min(loop_round_trip_bound(program, loop_index, one, ticks) for one, ticks in ticks_of_templates),
        )
        phases[loop_index], longer[loop_index] = (
            replace(task, ticks={group.kind: Ticks(((1, ticks),)) for group in problem.devices}, out_bytes=0, scratch=0)
            for ticks in (work, max(work, with_ways))
        )
        loop = program.phases[loop_index]
        assert isinstance(loop, Loop)
        before = sorted({makers[value] for value in loop.initial})
        after = sorted({target for source, target in readers if source == loop_index})
        for first, then in [*((source, loop_index) for source in before), *((loop_index, target) for target in after)]:
            directives.append(Before(SourceLine(0, ""), (PhaseIndex(first),), (PhaseIndex(then),)))
    edges = tuple(edge for edge in problem.edges if edge.source not in options and edge.target not in options)
    groups = tuple(replace(group, memory=None) for group in problem.devices)
    return replace(problem, devices=groups, phases=tuple(phases), edges=edges, directives=tuple(directives)), longer


def _iterations_bound(one: IterationTemplate) -> int:
    """A lower bound of the ticks of all iterations of a distributed loop along these cuts.

    Home and some other device take part, each with a row of every phase that has the distributed rows; undivided phases run at
    home (or on the device of their one row)."""
    problem = one.unscheduled().problem
    apart = {int(edge.target) for edge in problem.edges if edge.only is not None}
    tasks = tuple(task if task.rows or p in apart else replace(task, home=True) for p, task in enumerate(problem.phases))
    costs = Costs(ScheduleDecoder(replace(problem, phases=tasks)))
    if not all(costs.allowed):
        return 1
    bounds = BoundSet(costs)
    dealt = [p for p, task in enumerate(tasks) if task.rows == one.rows]
    home = costs.class_of[int(problem.home)]

    def through(kind: int) -> int:
        """The least ticks of an iteration in which devices of a class take part."""
        if any(kind not in costs.allowed_classes[p] for p in dealt):
            return FOREVER
        return max(
            (bounds.heads[p][kind] + bounds.min_shard_ticks(p, kind) + bounds.tail_with_combine(p, kind) for p in dealt),
            default=0,
        )

    others = min((through(kind) for kind in range(len(costs.members)) if kind != home), default=FOREVER)
    iteration_ticks = max(best_bound(bounds).ticks, through(home), others)
    return max(1, (one.iteration.loop.trip.constant or 0) * iteration_ticks) if iteration_ticks < FOREVER else FOREVER
