"""What would do instead: cures of a conflict, each of which was planned before it is offered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, TypeAlias

from ....lang.codes import Code
from ..answer import Conflict
from ..problem import Directive, LimitMachines, LimitMemory, NoSplit, Place, Problem, Split
from .filling import bytes_text, least, limit_bytes, limit_text
from .smt.memory_conflict import memory_conflict

Planner: TypeAlias = Callable[[Problem], bool]
"""Is a plan of the problem known?"""

TRIES: Final = 6
"""Plans tried for one number."""
MOST_PHASES: Final = 64
"""Phases up to which cures are tried."""


def cured(problem: Problem, conflict: Conflict, is_planned: Planner) -> Conflict:
    """The conflict with a cure, or without one where none is known."""
    if conflict.code not in (Code.SCH103, Code.SCH106) or len(problem.phases) > MOST_PHASES:
        return conflict
    hint = next(_cures(problem, conflict, is_planned), None)
    return replace(conflict, hint=hint or (conflict.hint if conflict.code is Code.SCH106 else None))


def _cures(problem: Problem, conflict: Conflict, is_planned: Planner) -> Iterator[str]:
    """Memory that would do: of a limit that was set, of one device, of all; or one directive fewer."""
    limits = [one for one in conflict.directives if isinstance(one, LimitMemory)]
    for limit in limits:
        size = _enough(limit.bytes, _most(problem), lambda size, limit=limit: _limited(problem, limit, size), is_planned)  # type: ignore[misc]
        if size is not None:
            yield f"`limit memory {limit.device} {limit_text(size)}` would fit"
    for index, group in enumerate(problem.devices) if conflict.code is Code.SCH103 and not limits else ():
        if group.memory is not None:
            size = _enough(group.memory, _most(problem), lambda size, index=index: _with_memory(problem, index, size), is_planned)  # type: ignore[misc]
            if size is not None:
                yield f"`{group.id}` with {bytes_text(size)}{' each' if group.count > 1 else ''} would fit"
    for one in conflict.directives:
        if isinstance(one, LimitMachines):
            devices = sum(group.count for group in problem.devices)
            for count in range(one.count + 1, min(devices, one.count + TRIES) + 1):
                if is_planned(_replaced(problem, one, replace(one, count=count))):
                    yield f"`limit machines {count}` would do"
                    break
    for one in conflict.directives:
        if isinstance(one, Place | Split | NoSplit | LimitMachines) and is_planned(_replaced(problem, one, None)):
            yield f"without `{one.line.text}` it would fit"


def _most(problem: Problem) -> int:
    """Bytes with which memory is no limit."""
    sizes = [phase.out_bytes + phase.scratch for phase in problem.phases]
    sizes += [phase.combine.bytes * max(1, phase.rows) for phase in problem.phases if phase.combine is not None]
    sizes += [edge.bytes or 0 for edge in problem.edges]
    buffers = 4 * (len(problem.phases) + len(problem.edges)) * max(1, problem.chunks) * len(problem.device_names())
    return 2 * sum(sizes) + problem.memory_grain * min(buffers, 1 << 16)


def _enough(low: int, high: int, problem_of: Callable[[int], Problem], is_planned: Planner) -> int | None:
    """A number of bytes above `low` with which there is a plan, as it is written: the least that may do, if it does."""
    high = limit_bytes(max(low + 1, high))
    if memory_conflict(problem_of(high)) is not None:
        return None
    may = limit_bytes(least(low + 1, high, lambda size: memory_conflict(problem_of(size)) is None))
    if is_planned(problem_of(may)):
        return may
    if may >= high or not is_planned(problem_of(high)):
        return None
    for _ in range(TRIES):
        middle = limit_bytes((may + high) // 2)
        if not may < middle < high:
            break
        may, high = (may, middle) if is_planned(problem_of(middle)) else (middle, high)
    return high


def _limited(problem: Problem, limit: LimitMemory, size: int) -> Problem:
    return _replaced(problem, limit, replace(limit, bytes=size))


def _with_memory(problem: Problem, chosen: int, size: int) -> Problem:
    groups = (replace(group, memory=size) if index == chosen else group for index, group in enumerate(problem.devices))
    return replace(problem, devices=tuple(groups))


def _replaced(problem: Problem, old: Directive, new: Directive | None) -> Problem:
    others = (one if one != old else new for one in problem.directives)
    return replace(problem, directives=tuple(one for one in others if one is not None))
