"""Minimal conflicts of a problem without a schedule: directives, capacities and data that contradict each other, none of which
can be omitted.

The tests go from cheap to expensive: devices of single phases, orders (a graph), memory of single phases, bounds against limits,
and at last the solver, where a minimal set of directives and capacities is obtained by deletion.  None says only that no conflict
was proved.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from ....lang.diagnostics.model import Code
from ....lang.support.records import dataclass, replace
from ...devices.cost_functions import Ticks
from ..bounds.bound_strategies import best_bound
from ..bounds.head_tail_bounds import BoundSet, Costs, bisect_max, bytes_text
from ..bounds.single_phase_split import split_single_phase
from ..problem import (
    Conflict,
    Deadline,
    DeviceIndex,
    Directive,
    IssueBefore,
    Keep,
    LimitMachines,
    LimitMemory,
    NoSplit,
    PhaseIndex,
    PlaceDirective,
    Problem,
    Split,
    allowed_devices,
    devices_named,
    directive_constraints,
)
from ..search.instance_transformations import chunkable_phases
from ..search.mode_enumeration import candidate_modes
from ..timeline.problem_index import topological_order
from ..timeline.serial_sgs import ScheduleDecoder
from .makespan_bisection import MakespanSearch
from .z3_solver import ProbeVerdict, SolverSteps, available

# ---------------------------------------------------------------------------------------------------- memory conflicts
#
# Conflicts of memory: a phase that exceeds the memory of its devices, or results that stay to the end.  No solver is needed.
#
# All sizes are lower bounds over the schedules that the problem allows: the largest chunk of a phase has at least the rows of
# equal chunks.

MOST_FOLLOWED: Final = 400
"""Phases up to which results that stay on a device from before a phase are counted."""


def memory_conflict(problem: Problem) -> Conflict | None:
    """The conflict SCH103 if one phase, or results that stay to the end, exceed the memory of devices."""
    conflict = _phase_memory_conflict(problem) or _retained_memory_conflict(problem)
    if conflict is None:
        return None
    short = _phase_memory_conflict if _phase_memory_conflict(problem) is not None else _retained_memory_conflict
    blamed = [one for one in problem.directives if isinstance(one, LimitMemory | PlaceDirective | Split | NoSplit | Keep)]
    others = tuple(one for one in problem.directives if one not in blamed)
    for directive in list(reversed(blamed)):
        rest = [one for one in blamed if one is not directive]
        again = short(replace(problem, directives=(*others, *rest)))
        if again is not None:
            blamed, conflict = rest, again
    return replace(conflict, directives=tuple(blamed))


def _phase_memory_conflict(problem: Problem) -> Conflict | None:
    """The conflict of a phase that its devices cannot hold with its operands."""
    decoder = ScheduleDecoder(problem)
    if not decoder.constraints.is_consistent:
        return None
    costs = Costs(decoder)
    for p, phase in enumerate(problem.phases):
        devices, fixed = costs.allowed[p], decoder.constraints.fixed_modes.get(p)
        if phase.combine is not None:
            need = decoder.grain(phase.combine.bytes) + decoder.grain(phase.out_bytes)
            if need > (cap := _cap(decoder, decoder.home, need)):
                words = f"`{phase.id}` needs {bytes_text(need)} to put its partial results together"
                return _memory_conflict_of(problem, decoder, (words,), [decoder.home], need - cap, p)
        if fixed is not None:
            for device, rows in fixed:
                need = min_bytes(decoder, p, device, rows)
                if need > (cap := _cap(decoder, device, need)):
                    return _memory_conflict_of(
                        problem, decoder, (f"`{phase.id}` needs {bytes_text(need)} there",), [device], need - cap, p
                    )
            continue
        if phase.distributed is not None or not devices or any(decoder.memory_limits[d] is None for d in devices):
            continue
        rows = phase.units
        cut = bool(phase.rows) and p not in decoder.constraints.undivided

        room = [bisect_max(rows, _within(decoder, p, device)) for device in devices]
        if (sum(room) if cut else max(room)) >= rows:
            continue
        parts = f" in {_chunks(decoder, p)} parts" if _chunks(decoder, p) > 1 else ""
        if cut and len(devices) > 1:
            return _rows_memory_conflict(problem, decoder, p, dict(zip(devices, room, strict=True)), parts)
        need, device = min((min_bytes(decoder, p, device, rows), device) for device in devices)
        words = f"`{phase.id}` needs {bytes_text(need)} with its operands{parts}"
        return _memory_conflict_of(problem, decoder, (words,), [device], need - (decoder.memory_limits[device] or 0), p)
    return None


def _rows_memory_conflict(problem: Problem, decoder: ScheduleDecoder, p: int, room: dict[int, int], parts: str) -> Conflict:
    """The conflict of a phase whose rows fit nowhere, stated for the device that lacks the fewest bytes.  `room`: rows that fit,
    by device."""
    phase, caps = problem.phases[p], {device: decoder.memory_limits[device] or 0 for device in room}
    left = phase.units - sum(room.values())
    needs = {device: min_bytes(decoder, p, device, rows + left) for device, rows in room.items()}
    missing, short = min((needs[device] - caps[device], device) for device in room)
    used = [device for device in room if room[device] or device == short]
    need = min(min_bytes(decoder, p, device, phase.units) for device in used)
    if need - sum(caps[device] for device in used) == missing:
        words = f"`{phase.id}` needs {bytes_text(need)} with its operands{parts}"
    else:  # each device has its own operands
        names, shares = problem.device_names(), {device: min_bytes(decoder, p, device, room[device]) for device in used}
        shares[short] = needs[short]
        shown = " + ".join(f"{bytes_text(size)} on {names[device]}" for device, size in shares.items())
        words = f"`{phase.id}` needs {shown} with its operands{parts}"
    return _memory_conflict_of(problem, decoder, (words,), used, missing, p)


def _retained_memory_conflict(problem: Problem) -> Conflict | None:
    """The conflict of results that are on a device at the end: unread outputs, and outputs that directives keep there."""
    decoder = ScheduleDecoder(problem)
    if not decoder.constraints.is_consistent:
        return None
    costs = Costs(decoder)
    held: list[tuple[frozenset[int], int, int]] = []
    for p, phase in enumerate(problem.phases):
        wanted = _retaining_device(problem, p)
        if wanted is not None:
            held.append((frozenset((wanted,)), decoder.grain(phase.out_bytes), p))
        elif not decoder.outgoing[p] and phase.distributed is None:
            held.append((frozenset((decoder.home,)) if phase.is_gathered else frozenset(costs.allowed[p]), phase.out_bytes, p))
    for devices in dict.fromkeys((*(devices for devices, _, _ in held), frozenset().union(*(devices for devices, _, _ in held)))):
        if any(decoder.memory_limits[d] is None for d in devices):
            continue
        inside = [(size, p) for where, size, p in held if where <= devices and size]
        need, have = sum(size for size, _ in inside), sum(decoder.memory_limits[d] or 0 for d in devices)
        if need > have:
            names = [f"`{problem.phases[p].id}`" for _, p in inside]
            shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
            stays = "stays" if len(names) == 1 else "stay"
            words = f"{shown} {stays} there to the end: {bytes_text(need)}"
            return _memory_conflict_of(problem, decoder, (words,), sorted(devices), need - have, inside[0][1])
    return None


def _retaining_device(problem: Problem, p: int) -> int | None:
    """The one device on which an output must be at the end."""
    for directive in problem.directives:
        if isinstance(directive, Keep) and directive.phase == p:
            named = devices_named(problem, directive.device)
            if len(named) == 1:
                return min(named)
    return None


def _memory_conflict_of(
    problem: Problem, decoder: ScheduleDecoder, words: tuple[str, ...], devices: list[int], missing: int, p: int
) -> Conflict:
    names = problem.device_names()
    caps = [f"{bytes_text(decoder.memory_limits[d] or 0)} on {names[d]}" for d in devices]
    total = f"{bytes_text(sum(decoder.memory_limits[d] or 0 for d in devices))} on {len(caps)} devices"
    facts = (*words, f"memory is {' + '.join(caps) if len(caps) <= 8 else total}")
    return Conflict(Code.SCH103, (), (*facts, f"short {bytes_text(missing)}") if missing else facts, None, PhaseIndex(p))


def _within(decoder: ScheduleDecoder, p: int, device: int) -> Callable[[int], bool]:
    """Do so many rows fit?"""
    return lambda rows: rows == 0 or min_bytes(decoder, p, device, rows) <= (decoder.memory_limits[device] or 0)


def _cap(decoder: ScheduleDecoder, device: int, otherwise: int) -> int:
    cap = decoder.memory_limits[device]
    return otherwise if cap is None else cap


def _chunks(decoder: ScheduleDecoder, p: int) -> int:
    """The most shards that a phase may have on one device."""
    return min(decoder.problem.chunks, decoder.problem.phases[p].rows) if p in chunkable_phases(decoder.problem) else 1


def min_bytes(decoder: ScheduleDecoder, p: int, device: int, rows: int) -> int:
    """A lower bound of the peak bytes on a device while it runs `rows` rows of a phase.

    Counts output, scratch and operands (of the largest chunk), and results that stay there from before the phase on."""
    phase, chunks, standing = decoder.problem.phases[p], _chunks(decoder, p), _retained_inputs(decoder, p, device)
    read = -(-rows // chunks)
    need = _running(decoder, p, read, standing)
    if _is_collected(decoder, p, device):
        need = max(need, _running(decoder, p, 1, standing, rows))
    if decoder.outgoing[p] or phase.combine is not None:
        return need
    return max(need, decoder.grain(phase.out_bytes * rows // phase.units))


def _is_collected(decoder: ScheduleDecoder, p: int, device: int) -> bool:
    """Are all chunks of a phase on the device when its last one runs, because a phase there reads them together?"""
    problem, phases = decoder.problem, decoder.problem.phases
    if phases[p].combine is not None or phases[p].distributed is not None:
        return False
    edges = [problem.edges[edge] for edge in decoder.outgoing[p]]
    return any(
        (edge.whole or (phases[edge.target].rows == 0 and edge.only is None))
        and allowed_devices(problem, decoder.constraints, edge.target) == [device]
        for edge in edges
    )


def _retained_inputs(decoder: ScheduleDecoder, p: int, device: int) -> frozenset[int]:
    """The undivided outputs that are on the device before a phase and stay there to the end."""
    only = frozenset((device,))
    candidates = {
        q
        for q, devices in decoder.constraints.required_copies.items()
        if devices == only and decoder.constraints.devices[q] == only
    }
    candidates -= chunkable_phases(decoder.problem)
    before: set[int] = set()
    pending = [p] if candidates and len(decoder.problem.phases) <= MOST_FOLLOWED else []
    while pending:
        sources = {decoder.sources[edge] for edge in decoder.incoming[pending.pop()]} - before
        before |= sources
        pending += sources
    return frozenset(candidates & before)


def _running(decoder: ScheduleDecoder, p: int, rows: int, standing: Collection[int], collected: int = 0) -> int:
    """The bytes in use while a chunk of `rows` rows runs; `collected`: rows of the output that are there by then."""
    phase, grain = decoder.problem.phases[p], decoder.grain
    present = max(rows, collected)
    written = grain(phase.out_bytes * present // phase.units if phase.combine is None else phase.combine.bytes)
    operands: dict[int, int] = {}
    largest = 0
    for edge in decoder.incoming[p]:
        described = decoder.problem.edges[edge]
        source = int(described.source)
        out = decoder.problem.phases[source].out_bytes
        size = out if described.bytes is None else min(out, described.bytes)
        largest = max(largest, out, described.bytes or 0)
        if described.only is not None:
            size = 0
        elif rows < phase.units and not described.whole:
            size = size * rows // phase.units
        if source in standing:
            continue
        operands[source] = max(operands.get(source, 0), grain(size))
    read = sum(operands.values())
    inside = phase.inplace and grain(largest) >= written
    there = sum(grain(decoder.problem.phases[q].out_bytes) for q in standing)
    return (
        there + max(read, written) + grain(_ceil_div(phase.scratch * rows, phase.units)) + (0 if inside else min(read, written))
    )


def _ceil_div(number: int, size: int) -> int:
    return -(-number // size)


def without_cuts(problem: Problem, cut: Collection[int]) -> Problem:
    """A relaxation without chunks: phases that may have chunks, and in-place readers of their outputs, take no time and no
    memory.  It has a schedule if `problem` has one."""
    free = set(cut)
    for edge in sorted(problem.edges, key=lambda edge: edge.target):
        if edge.source in free and problem.phases[edge.target].inplace:
            free.add(int(edge.target))
    phases = list(problem.phases)
    for phase_index in free:
        phase = replace(phases[phase_index], out_bytes=0, scratch=0, inplace=False)
        if phase_index in cut:
            phase = replace(phase, rows=0, ticks={kind: Ticks(((1, 0),)) for kind in phase.ticks}, combine=None)
        elif phase.combine is not None:
            phase = replace(phase, combine=replace(phase.combine, bytes=0))
        phases[phase_index] = phase
    edges = tuple(
        replace(edge, bytes=0, whole=False, halo=0, only=None) if edge.source in free or edge.target in free else edge
        for edge in problem.edges
    )
    return replace(problem, phases=tuple(phases), edges=edges, chunks=1)


# ---------------------------------------------------------------------------------------------------- precedence conflicts
#
# Conflicts of order: the precedences of directives and data as a graph, and a minimal set of contradicting facts.
#
# No solver is needed: precedences are satisfiable if there is no cycle.

Arc: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class OrderFact:
    """A fact that demands an order: `arcs` (first, then).  `directive`: its source; None where data or effects demand it, then in
    words."""

    arcs: tuple[Arc, ...]
    directive: Directive | None = None
    words: str = ""


def order_facts(problem: Problem) -> list[OrderFact]:
    """The demands of directives and effects on the order."""
    result: list[OrderFact] = []
    plain = directive_constraints(replace(problem, directives=()))
    for q, earlier in enumerate(plain.start_after):
        for p in earlier:
            words = f"`{problem.phases[p].id}` comes before `{problem.phases[q].id}`: effects keep their order"
            result.append(OrderFact(((p, q),), words=words))
    for directive in problem.directives:
        constraints = directive_constraints(replace(problem, directives=(directive,)))
        arcs = [(p, q) for q, earlier in enumerate(constraints.start_after) for p in earlier if p not in plain.start_after[q]]
        arcs += [(p, q) for q, earlier in enumerate(constraints.issue_after) for p in earlier]
        if arcs:
            result.append(OrderFact(tuple(dict.fromkeys(arcs)), directive))
    return result


def data_arcs(problem: Problem) -> list[Arc]:
    return list(dict.fromkeys((int(edge.source), int(edge.target)) for edge in problem.edges))


def order_conflict(problem: Problem) -> Conflict | None:
    """A minimal set of contradicting facts of order; None if an order of all phases obeys them."""
    facts, data = order_facts(problem), data_arcs(problem)
    if is_satisfiable(len(problem.phases), facts, data):
        return None
    cycle = shortest_cycle(problem, facts, data)
    directives = {fact.directive.line: fact.directive for fact in cycle if fact.directive is not None}
    words = tuple(fact.words for fact in cycle if fact.directive is None)
    code = Code.SCH102 if words and len(directives) < 2 else Code.SCH101
    return Conflict(code, tuple(directives.values()), words, _suggested_line(problem, cycle, facts, data))


def is_satisfiable(count: int, facts: Iterable[OrderFact], data: Iterable[Arc]) -> bool:
    """Whether some order of all phases obeys the facts and the data."""
    return _ordered(count, [*data, *(arc for fact in facts for arc in fact.arcs)]) is not None


def _ordered(count: int, arcs: Iterable[Arc]) -> list[int] | None:
    before: list[set[int]] = [set() for _ in range(count)]
    for p, q in arcs:
        before[q].add(p)
    return topological_order(before)


def shortest_cycle(problem: Problem, facts: Sequence[OrderFact], data: Sequence[Arc]) -> list[OrderFact]:
    """A cycle of the fewest facts; a dependence of data, also an indirect one, is one fact."""
    needs = closure(len(problem.phases), data)
    steps: dict[int, list[tuple[int, int]]] = {}
    for index, fact in enumerate(facts):
        for p, q in fact.arcs:
            steps.setdefault(p, []).append((q, index))
    direct = set(data)
    best: tuple[tuple[int, int], list[tuple[int, int, int]]] | None = None
    for index, fact in enumerate(facts):
        for p, q in fact.arcs:
            path = _path(q, p, steps, needs, index)
            if path is not None:
                used = len({i if i >= 0 else (a, b) for a, b, i in path} | {index})
                far = sum(1 for a, b, i in path if i < 0 and (a, b) not in direct)
                if best is None or (used, far) < best[0]:
                    best = ((used, far), [(p, q, index), *path])
    assert best is not None
    result: list[OrderFact] = []
    for p, q, index in best[1]:
        fact = facts[index] if index >= 0 else data_fact(problem, p, q)
        if fact not in result:
            result.append(fact)
    return result


def _path(
    start: int, goal: int, steps: dict[int, list[tuple[int, int]]], needs: Sequence[set[int]], free: int
) -> list[tuple[int, int, int]] | None:
    """The path from one phase to another with the fewest facts (-1 stands for data); arcs of the fact `free` cost nothing."""
    if start == goal:
        return []
    came: dict[tuple[int, bool], tuple[int, bool, int]] = {}
    queue: deque[tuple[int, bool]] = deque([(start, False)])
    seen = {(start, False)}
    while queue:
        p, by_data = queue.popleft()
        options = [(q, index) for q, index in steps.get(p, ())]
        options.sort(key=lambda option: option[1] != free)
        if not by_data:
            options += [(q, -1) for q in sorted(needs[p])]
        for q, index in options:
            state = (q, index < 0)
            if state in seen:
                continue
            seen.add(state)
            came[state] = (p, by_data, index)
            if q == goal:
                path: list[tuple[int, int, int]] = []
                while state != (start, False):
                    before, kind, used = came[state]
                    path.append((before, state[0], used))
                    state = (before, kind)
                return path[::-1]
            if index == free:
                queue.appendleft(state)
            else:
                queue.append(state)
    return None


def data_fact(problem: Problem, p: int, q: int) -> OrderFact:
    return OrderFact(((p, q),), words=f"`{problem.phases[q].id}` needs `{problem.phases[p].id}`")


def closure(count: int, arcs: Sequence[Arc]) -> list[set[int]]:
    """The transitive closure: by phase, its direct and indirect successors."""
    after: list[list[int]] = [[] for _ in range(count)]
    for p, q in arcs:
        after[p].append(q)
    order = _ordered(count, arcs) or list(range(count))
    result: list[set[int]] = [set() for _ in range(count)]
    for p in reversed(order):
        for q in after[p]:
            result[p] |= {q} | result[q]
    return result


def _suggested_line(
    problem: Problem, cycle: Sequence[OrderFact], facts: Sequence[OrderFact], data: Sequence[Arc]
) -> str | None:  # fmt: skip
    """An `order` that the data and all other facts allow, instead of one in the cycle."""
    for line in dict.fromkeys(fact.directive.line for fact in cycle if fact.directive is not None):
        asked = [one for one in problem.directives if isinstance(one, IssueBefore) and one.line == line]
        if not asked or not line.text.startswith("order "):
            continue
        rest = [fact for fact in facts if fact.directive is None or fact.directive.line != line]
        names = _by_data(problem, [*asked[0].first, *(p for one in asked for p in one.then)])
        if is_satisfiable(len(problem.phases), [*rest, OrderFact(tuple(pairwise(names)))], data):
            return f"write `order {' '.join(problem.phases[p].id for p in names)}`"
    return None


def _by_data(problem: Problem, names: Sequence[PhaseIndex]) -> list[PhaseIndex]:
    """The names in an order that the data allow; unchanged if there is none."""
    before: dict[int, set[int]] = {int(p): set() for p in range(len(problem.phases))}
    for source, target in data_arcs(problem):
        before[target].add(source)
    order: list[PhaseIndex] = []
    left = list(names)
    while left:
        free = next((p for p in left if not any(q != p and _reaches(before, p, q) for q in left)), left[0])
        order.append(free)
        left.remove(free)
    return order


def _reaches(before: dict[int, set[int]], target: int, source: int) -> bool:
    """Does `target` depend on `source`, directly or transitively?"""
    seen: set[int] = set()
    stack = [target]
    while stack:
        p = stack.pop()
        for q in before[p] - seen:
            if q == source:
                return True
            seen.add(q)
            stack.append(q)
    return False


# ---------------------------------------------------------------------------------------------------- placement conflicts
#
# Conflicts of single phases: no device that may run it, or none that directives leave.  No solver needed.

def placement_conflict(problem: Problem) -> Conflict | None:
    """The conflict of a phase without a device (SCH104, SCH105), or of directives that demand different devices or cuts
    (SCH101)."""
    for p, phase in enumerate(problem.phases):
        asked = [d for d in problem.directives if isinstance(d, PlaceDirective | Split | NoSplit) and p in _phases(d)]
        runs = _capable_devices(problem, p)
        if not runs:
            able = ", ".join(sorted(phase.ticks)) or "no class"
            present = ", ".join(sorted({group.kind for group in problem.devices}))
            return Conflict(
                Code.SCH104, (), (f"`{phase.id}` runs on {able}; the devices are {present}",), "add a device of such a class"
            )
        for directive in asked:
            named = _demanded_devices(problem, directive, p)
            if named is None:
                continue
            if phase.home and int(problem.home) not in named:
                home = problem.device_names()[problem.home]
                return Conflict(
                    Code.SCH105,
                    (directive,),
                    (f"`{phase.id}` does input or output, which is done on `{home}`",),
                    "place what it reads" if any(edge.target == p for edge in problem.edges) else "place what reads it",
                )
            if isinstance(directive, Split):
                impossible = named - runs
            else:
                impossible = named if not named & runs else frozenset()
            if impossible:
                kinds = sorted({problem.group_of(DeviceIndex(d)).kind for d in sorted(impossible)})
                shown = " or ".join(kinds) or directive_device(directive)
                return Conflict(
                    Code.SCH104,
                    (directive,),
                    (f"`{phase.id}` has no kernel for {shown}",),
                    f"it runs on {', '.join(sorted(phase.ticks))}",
                )
        contrary = _contradictory_placements(problem, p, asked)
        if contrary is not None:
            return contrary
    return None


def directive_device(directive: Directive) -> str:
    return directive.device if isinstance(directive, PlaceDirective | Keep) else "that device"


def _phases(directive: PlaceDirective | Split | NoSplit) -> tuple[PhaseIndex, ...]:
    return directive.phases if isinstance(directive, PlaceDirective) else (directive.phase,)


def _capable_devices(problem: Problem, p: int) -> frozenset[int]:
    """Devices with a kernel for the phase."""
    free = directive_constraints(replace(problem, directives=()))
    free.devices[p] = None
    return frozenset(allowed_devices(problem, free, p))


def _demanded_devices(problem: Problem, directive: PlaceDirective | Split | NoSplit, p: int) -> frozenset[int] | None:
    if isinstance(directive, PlaceDirective):
        return devices_named(problem, directive.device)
    if isinstance(directive, Split):
        return frozenset(device for name in directive.devices for device in devices_named(problem, name))
    return None


def _contradictory_placements(problem: Problem, p: int, asked: list[PlaceDirective | Split | NoSplit]) -> Conflict | None:
    """A minimal set of directives that no single mode of the phase satisfies."""
    if _are_compatible(problem, p, asked):
        return None
    necessary = list(asked)
    for directive in reversed(asked):
        rest = [other for other in necessary if other is not directive]
        if not _are_compatible(problem, p, rest):
            necessary = rest
    phase = problem.phases[p]
    if len(necessary) == 1:
        return Conflict(Code.SCH101, tuple(necessary), (f"`{phase.id}` cannot be cut so",), None)
    return Conflict(Code.SCH101, tuple(necessary), (), f"`{phase.id}` can be in one place only")


def _are_compatible(problem: Problem, p: int, asked: list[PlaceDirective | Split | NoSplit]) -> bool:
    allowed = frozenset(range(len(problem.device_names())))
    allowed &= _capable_devices(problem, p)
    cut: tuple[tuple[int, int], ...] | None = None
    undivided = problem.phases[p].rows == 0
    for directive in asked:
        if isinstance(directive, PlaceDirective):
            allowed &= devices_named(problem, directive.device)
        elif isinstance(directive, NoSplit):
            undivided = True
        else:
            constraints = directive_constraints(replace(problem, directives=(directive,)))
            mode = constraints.fixed_modes.get(p)
            if mode is None or (cut is not None and cut != mode):
                return False
            cut = mode
    if cut is not None and ((undivided and len(cut) > 1) or not {d for d, _ in cut} <= allowed):
        return False
    return bool(allowed)


# ---------------------------------------------------------------------------------------------------- minimal conflicts

STEPS: Final = 20_000_000
MOST_PHASES: Final = 40
"""Phases up to which the solver is asked."""


def find_conflict(problem: Problem, steps: SolverSteps | None = None) -> Conflict | None:
    """A minimal set of contradicting facts of `problem`, if one can be proved."""
    conflict = placement_conflict(problem)
    if conflict is not None:
        return conflict
    conflict = order_conflict(problem)
    if conflict is not None:
        return conflict
    conflict = memory_conflict(problem)
    if conflict is not None:
        return conflict
    conflict = limit_conflict(problem)
    if conflict is not None or not available() or len(problem.phases) > MOST_PHASES:
        return conflict
    cut = chunkable_phases(problem)
    if cut and any(task.rows > 1 and index not in cut for index, task in enumerate(problem.phases)):
        return None  # the shards of a phase that directives cut start at different times
    return _Deletion(without_cuts(problem, cut) if cut else problem, steps or SolverSteps(STEPS)).conflict()


# ------------------------------------------------------------------------------ limits and bounds


def certified_bound(problem: Problem) -> int:
    """A lower bound of the makespan (0: none is known)."""
    costs = Costs(ScheduleDecoder(problem))
    if not problem.phases or not costs.is_plannable:
        return 0
    answer = None if chunkable_phases(problem) else split_single_phase(costs)
    bound = best_bound(BoundSet(costs)).ticks
    return bound if answer is None else max(bound, answer.lower_bound)


def limit_conflict(problem: Problem) -> Conflict | None:
    """The conflict SCH106 if the lower bound is above the deadline."""
    deadlines = [d for d in problem.directives if isinstance(d, Deadline)]
    if not deadlines:
        return None
    tightest = min(deadlines, key=lambda d: d.ticks)
    bound = certified_bound(problem)
    if bound <= tightest.ticks:
        return None
    return _deadline_conflict(problem, tightest, bound, certified_bound)


def _deadline_conflict(problem: Problem, deadline: Deadline, bound: int, certify: Callable[[Problem], int]) -> Conflict:
    """The conflict of a deadline: a minimal set of directives with which the bound is above it."""
    necessary: list[Directive] = [d for d in problem.directives if not isinstance(d, Deadline)]
    for directive in list(necessary):
        rest = tuple(d for d in necessary if d is not directive)
        again = certify(replace(problem, directives=rest))
        if again > deadline.ticks:
            necessary.remove(directive)
            bound = again
    words = f"no schedule is shorter than {bound} ticks"
    if any(isinstance(d, LimitMachines) for d in necessary):
        words += " on so few machines"
    return Conflict(
        Code.SCH106,
        (*necessary, deadline),
        (words,),
        f"the deadline is {deadline.ticks} ticks: {bound - deadline.ticks} ticks too few",
    )


# ----------------------------------------------------------------------------------------- solver


class _Deletion:
    """The deletion filter: removes directives and capacities one by one while the solver still refutes the remaining ones."""

    def __init__(self, problem: Problem, steps: SolverSteps) -> None:
        self.problem = problem
        self.steps = steps

    def conflict(self) -> Conflict | None:
        directives = list(self.problem.directives)
        capped = [index for index, group in enumerate(self.problem.devices) if group.memory is not None]
        if not self.is_refuted(directives, capped):
            return None
        for directive in list(reversed(directives)):
            rest = [other for other in directives if other is not directive]
            if self.is_refuted(rest, capped):
                directives = rest
        for index in list(capped):
            others = [other for other in capped if other != index]
            if self.is_refuted(directives, others):
                capped = others
        return self._explain(directives, capped)

    def _with(self, directives: list[Directive], capped: list[int]) -> Problem:
        devices = tuple(
            group if index in capped else replace(group, memory=None) for index, group in enumerate(self.problem.devices)
        )
        return replace(self.problem, directives=tuple(directives), devices=devices)

    def is_refuted(self, directives: list[Directive], capped: list[int]) -> bool:
        """Does the solver refute every schedule with these directives and capacities?"""
        return _refuted(self._with(directives, capped), self.steps)

    def _explain(self, directives: list[Directive], capped: list[int]) -> Conflict:
        problem = self.problem
        limits = [d for d in directives if isinstance(d, LimitMemory)]
        deadlines = [d for d in directives if isinstance(d, Deadline)]
        if deadlines:
            tightest = min(deadlines, key=lambda d: d.ticks)
            return Conflict(
                Code.SCH106, tuple(directives), (f"no schedule takes {tightest.ticks} ticks or fewer",), "give it more time"
            )
        if any(isinstance(d, LimitMachines) for d in directives):
            return Conflict(Code.SCH106, tuple(directives), ("no schedule uses so few machines",), "allow one more machine")
        if not limits and not capped:
            return Conflict(Code.SCH102 if problem.edges else Code.SCH101, tuple(directives), self._missing_links(directives))
        facts: list[str] = []
        names = problem.device_names()
        for index in capped:
            group = problem.devices[index]
            facts.append(f"`{group.id}` has {bytes_text(group.memory or 0)}" + (" each" if group.count > 1 else ""))
        need = self._sufficient_memory(directives, limits, capped)
        devices = sorted({d for limit in limits for d in devices_named(problem, limit.device)})
        if need is not None:
            have = limits[0].bytes if limits else problem.devices[capped[0]].memory or 0
            device = names[devices[0]] if limits else problem.devices[capped[0]].id
            facts = [
                f"every order needs {bytes_text(need)} on `{device}`",
                f"it has {bytes_text(have)}",
                f"short {bytes_text(need - have)}",
            ]
        return Conflict(Code.SCH103, tuple(directives), tuple(facts))

    def _missing_links(self, directives: list[Directive]) -> tuple[str, ...]:
        if not self.problem.links:
            return ()
        decoder = ScheduleDecoder(self._with(directives, []))
        costs = Costs(decoder)
        for edge in self.problem.edges:
            ends = [(a, b) for a in costs.allowed[edge.source] for b in costs.allowed[edge.target]]
            if 0 < len(ends) <= MOST_PHASES**2 and all(a != b and decoder.routes.path(a, b) is None for a, b in ends):
                source, target = self.problem.phases[edge.source].id, self.problem.phases[edge.target].id
                return (f"`{target}` needs `{source}`", "no link brings it there, nor two through home")
        return ("no link brings the data where it is wanted",)

    def _sufficient_memory(self, directives: list[Directive], limits: list[LimitMemory], capped: list[int]) -> int | None:
        """The least memory of the conflict's one device with which a schedule exists."""
        if len(limits) + len(capped) != 1:
            return None

        def problem_with(size: int) -> Problem:
            if limits:
                return self._with([replace(d, bytes=size) if d is limits[0] else d for d in directives], capped)
            base = self._with(directives, capped)
            devices = tuple(replace(g, memory=size) if i == capped[0] else g for i, g in enumerate(base.devices))
            return replace(base, devices=devices)

        low = limits[0].bytes if limits else self.problem.devices[capped[0]].memory or 0
        high = sum(phase.out_bytes + phase.scratch for phase in self.problem.phases) * 2 + self.problem.memory_grain * 64
        while low + 1 < high:
            middle = (low + high) // 2
            if _refuted(problem_with(middle), self.steps):
                low = middle
            elif not self.steps.remaining:
                return None
            else:
                high = middle
        return high


def _refuted(problem: Problem, steps: SolverSteps) -> bool:
    """Does the solver show that there is no schedule?  False also where it cannot decide."""
    decoder = ScheduleDecoder(problem)
    costs = Costs(decoder)
    if not costs.is_plannable:
        return True
    modes = candidate_modes(costs)
    if not modes.complete:
        return False
    search = MakespanSearch(problem, modes.choices, steps)
    deadline = decoder.constraints.deadline
    horizon = deadline if deadline is not None else search.horizon()
    return search.probe(horizon, steps.remaining) is ProbeVerdict.UNSAT
