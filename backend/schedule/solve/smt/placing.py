"""Conflicts of single phases: no device that may run it, or none with the memory.  No solver needed."""

from __future__ import annotations

from dataclasses import replace

from .....lang.codes import Code
from ...answer import Conflict
from ...constraints import allowed_devices, devices_named, restrictions
from ...problem import DeviceIndex, Directive, Keep, LimitMemory, NoSplit, PhaseIndex, Place, Problem, Split
from ...timeline.timing import Timer
from ..costs import Costs
from ..filling import bytes_text, limit_text, most


def placing_conflict(problem: Problem) -> Conflict | None:
    """SCH104, SCH105, or SCH101 of directives that ask for different devices or cuts of one phase."""
    for p, phase in enumerate(problem.phases):
        asked = [d for d in problem.directives if isinstance(d, Place | Split | NoSplit) and p in _phases(d)]
        runs = _runs(problem, p)
        if not runs:
            able = ", ".join(sorted(phase.ticks)) or "no class"
            present = ", ".join(sorted({group.kind for group in problem.devices}))
            return Conflict(
                Code.SCH104, (), (f"`{phase.id}` runs on {able}; the devices are {present}",), "add a device of such a class"
            )
        for directive in asked:
            named = _asked_devices(problem, directive, p)
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
        contrary = _contrary(problem, p, asked)
        if contrary is not None:
            return contrary
    return None


def directive_device(directive: Directive) -> str:
    return directive.device if isinstance(directive, Place | Keep) else "that device"


def _phases(directive: Place | Split | NoSplit) -> tuple[PhaseIndex, ...]:
    return directive.phases if isinstance(directive, Place) else (directive.phase,)


def _runs(problem: Problem, p: int) -> frozenset[int]:
    """Devices with a kernel for the phase."""
    free = restrictions(replace(problem, directives=()))
    free.devices[p] = None
    return frozenset(allowed_devices(problem, free, p))


def _asked_devices(problem: Problem, directive: Place | Split | NoSplit, p: int) -> frozenset[int] | None:
    if isinstance(directive, Place):
        return devices_named(problem, directive.device)
    if isinstance(directive, Split):
        return frozenset(device for name in directive.devices for device in devices_named(problem, name))
    return None


def _contrary(problem: Problem, p: int, asked: list[Place | Split | NoSplit]) -> Conflict | None:
    """Two directives, or three, that no mode of the phase obeys together."""
    if _together(problem, p, asked):
        return None
    kept = list(asked)
    for directive in reversed(asked):
        rest = [other for other in kept if other is not directive]
        if not _together(problem, p, rest):
            kept = rest
    phase = problem.phases[p]
    if len(kept) == 1:
        return Conflict(Code.SCH101, tuple(kept), (f"`{phase.id}` cannot be cut so",), None)
    return Conflict(Code.SCH101, tuple(kept), (), f"`{phase.id}` can be in one place only")


def _together(problem: Problem, p: int, asked: list[Place | Split | NoSplit]) -> bool:
    allowed = frozenset(range(len(problem.device_names())))
    allowed &= _runs(problem, p)
    cut: tuple[tuple[int, int], ...] | None = None
    whole = problem.phases[p].rows == 0
    for directive in asked:
        if isinstance(directive, Place):
            allowed &= devices_named(problem, directive.device)
        elif isinstance(directive, NoSplit):
            whole = True
        else:
            limits = restrictions(replace(problem, directives=(directive,)))
            mode = limits.fixed.get(p)
            if mode is None or (cut is not None and cut != mode):
                return False
            cut = mode
    if cut is not None and ((whole and len(cut) > 1) or not {d for d, _ in cut} <= allowed):
        return False
    return bool(allowed)


def memory_conflict(problem: Problem) -> Conflict | None:
    """SCH103 where the output, scratch and operands of one phase are more than all its devices can hold."""
    timer = Timer(problem)
    if not timer.limits.possible:
        return None
    costs = Costs(timer)
    for p, phase in enumerate(problem.phases):
        devices = costs.allowed[p]
        if not devices or any(timer.caps[d] is None for d in devices):
            continue
        rows = phase.units
        cut = bool(phase.rows) and p not in timer.limits.unsplit and len(devices) > 1
        fixed = timer.limits.fixed.get(p)
        if fixed is not None:
            short = [(d, least_bytes(timer, p, d, count)) for d, count in fixed]
            broken = [(d, size) for d, size in short if size > (timer.caps[d] or 0)]
            if broken:
                return _short(problem, timer, p, [broken[0][0]], broken[0][1], broken[0][1] - (timer.caps[broken[0][0]] or 0))
            continue
        room = [most(rows, lambda r, d=d, p=p: r == 0 or least_bytes(timer, p, d, r) <= (timer.caps[d] or 0)) for d in devices]  # type: ignore[misc]
        if cut and sum(room) < rows:
            need = min(least_bytes(timer, p, d, rows) for d in devices)
            missing = -(-need * (rows - sum(room)) // rows)
            return _short(problem, timer, p, devices, need, missing)
        if not cut and max(room) < rows:
            short_by = min((least_bytes(timer, p, d, rows) - (timer.caps[d] or 0), d) for d in devices)
            device = short_by[1]
            return _short(problem, timer, p, [device], least_bytes(timer, p, device, rows), short_by[0])
    return None


def least_bytes(timer: Timer, p: int, device: int, rows: int) -> int:
    """At least so many bytes are there while `rows` rows run: their output, scratch and operands."""
    phase = timer.problem.phases[p]
    output = phase.out_bytes * rows // phase.units if phase.combine is None else phase.combine.bytes
    output = timer.grain(output) if rows == phase.units and phase.combine is None else output
    operands: dict[int, int] = {}
    for edge in timer.incoming[p]:
        described = timer.problem.edges[edge]
        source = int(described.source)
        size = timer.problem.phases[source].out_bytes
        if described.bytes is not None:
            size = min(size, described.bytes)
        if rows < phase.units and not described.whole:
            size = size * rows // phase.units
        operands[source] = max(operands.get(source, 0), size)
    replaced = max((size for size in operands.values() if size >= output), default=0) if phase.inplace else 0
    return max(output + sum(operands.values()) - min(replaced, output), output) + phase.scratch * rows // phase.units


def _short(problem: Problem, timer: Timer, p: int, devices: list[int], need: int, missing: int) -> Conflict:
    names = problem.device_names()
    involved: list[Directive] = []
    for directive in problem.directives:
        match directive:
            case LimitMemory(_, name, size):
                if any(timer.caps[d] == size for d in devices_named(problem, name) & frozenset(devices)):
                    involved.append(directive)
            case Place(_, phases, _):
                if p in phases:
                    involved.append(directive)
            case Split(_, phase, _, _) | NoSplit(_, phase):
                if p == phase:
                    involved.append(directive)
            case _:
                pass
    kept = [d for d in involved if memory_needed(problem, d, p)]
    caps = [f"{bytes_text(timer.caps[d] or 0)} on {names[d]}" for d in devices]
    shown = (
        " + ".join(caps) if len(caps) <= 8 else f"{bytes_text(sum(timer.caps[d] or 0 for d in devices))} on {len(caps)} devices"
    )
    others = [name for d, name in enumerate(names) if d not in devices and d in _runs(problem, p)]
    hint = "stream it in parts, or add a device" if not others else f"stream it in parts, or let `{others[0]}` have a share"
    limits = [d for d in kept if isinstance(d, LimitMemory)]
    if len(devices) == 1 and limits:
        hint = f"`limit memory {limits[0].device} {limit_text(need)}` would fit; or {hint}"
    elif len(devices) == 1:
        hint = f"a device with {bytes_text(need)} would fit; or {hint}"
    need_words = f"`{problem.phases[p].id}` needs {bytes_text(need)} with its operands"
    facts = (need_words, f"memory is {shown}", f"short {bytes_text(missing)}")
    return Conflict(Code.SCH103, tuple(kept), facts, hint, PhaseIndex(p))


def memory_needed(problem: Problem, directive: Directive, p: int) -> bool:
    """Whether the phase would fit without the directive."""
    rest = replace(problem, directives=tuple(d for d in problem.directives if d is not directive))
    again = _fits(rest, p)
    return again


def _fits(problem: Problem, p: int) -> bool:
    timer = Timer(problem)
    devices = Costs(timer).allowed[p]
    phase = problem.phases[p]
    fixed = timer.limits.fixed.get(p)
    if fixed is not None:
        return all(timer.caps[d] is None or least_bytes(timer, p, d, count) <= (timer.caps[d] or 0) for d, count in fixed)
    if any(timer.caps[d] is None for d in devices):
        return bool(devices)
    cut = bool(phase.rows) and p not in timer.limits.unsplit
    room = [
        most(phase.units, lambda r, d=d: r == 0 or least_bytes(timer, p, d, r) <= (timer.caps[d] or 0))  # type: ignore[misc]
        for d in devices
    ]
    return (sum(room) if cut else max(room, default=0)) >= phase.units
