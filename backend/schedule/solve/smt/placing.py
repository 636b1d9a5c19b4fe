"""Conflicts of single phases: no device that may run it, or none that directives leave.  No solver needed."""

from __future__ import annotations

from dataclasses import replace

from .....lang.codes import Code
from ...answer import Conflict
from ...constraints import allowed_devices, devices_named, restrictions
from ...problem import DeviceIndex, Directive, Keep, NoSplit, PhaseIndex, Place, Problem, Split


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
