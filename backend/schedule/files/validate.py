"""What must hold of a whole problem, whoever made it: the invariants that `Problem` promises and every planner trusts.

Paths are those of `instance/1`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import TypeVar

from ....lang.codes import Code
from ....lang.primitives import nearest
from ...devices.fields import Problems
from ..problem import Contention, Problem, Ticks

Id = TypeVar("Id", bound=Hashable)


def require_valid(problem: Problem, problems: Problems) -> None:
    """Refused: E705, SCH201, everything wrong with `problem`, in order of its fields."""
    for part in (_devices, _links, _phases, _edges, _cycle, _selects):
        part(problem, problems)
    problems.stop()


def first_duplicate(ids: Sequence[Id]) -> tuple[int, int] | None:
    """The places of the first id that was there before, and of that one first."""
    seen: dict[Id, int] = {}
    for place, id in enumerate(ids):
        if id in seen:
            return seen[id], place
        seen[id] = place
    return None


def _devices(problem: Problem, problems: Problems) -> None:
    if not problem.devices:
        problems.add("devices", "there is no device")
        return
    twice = first_duplicate([group.id for group in problem.devices])
    if twice is not None:
        id = problem.devices[twice[1]].id
        problems.add(f"devices[{twice[1]}].id", f"`{id}` is the id of devices[{twice[0]}] too")
    elif first_duplicate(problem.device_names()) is not None:
        problems.add("devices", "an id is the same as the name of an instance of another group")
    homes = [place for place, group in enumerate(problem.devices) if group.home]
    if not homes:
        problems.add("devices", "no device is home; one must say `home`: true, where inputs are and printing happens")
    elif len(homes) > 1:
        problems.add(f"devices[{homes[1]}].home", f"devices[{homes[0]}] is home already; only one can be")
    for at, group in enumerate(problem.devices):
        if group.count < 1:
            problems.add(f"devices[{at}].count", "must be at least 1")


def _links(problem: Problem, problems: Problems) -> None:
    known = {group.id for group in problem.devices} | set(problem.device_names())
    for place, link in enumerate(problem.links):
        for field, name in (("src", link.source), ("dst", link.target)):
            if name not in known:
                problems.add(f"links[{place}].{field}", f"there is no device `{name}`{_meant(name, known)}")
        if link.source == link.target and not any(g.id == link.source and g.count > 1 for g in problem.devices):
            problems.add(f"links[{place}]", f"joins `{link.source}` to itself")
        if link.bytes_per_tick is not None and link.bytes_per_tick <= 0:
            problems.add(f"links[{place}].bytes_per_tick", "must be above 0")
    ways = first_duplicate([f"`{link.source}` to `{link.target}`" for link in problem.links])
    if ways is not None:
        one = problem.links[ways[1]]
        problems.add(f"links[{ways[1]}]", f"leads from `{one.source}` to `{one.target}`, as links[{ways[0]}] does")
    twice = first_duplicate([link.id for link in problem.links])
    if twice is not None:
        problems.add(f"links[{twice[1]}].id", f"`{problem.links[twice[1]].id}` is the id of links[{twice[0]}] too")


def _meant(name: str, known: set[str]) -> str:
    guess = nearest(name, sorted(known)) if len(known) <= 1000 else None
    return f"; did you mean `{guess}`?" if guess else ""


def _phases(problem: Problem, problems: Problems) -> None:
    twice = first_duplicate([phase.id for phase in problem.phases])
    if twice is not None:
        id = problem.phases[twice[1]].id
        problems.add(f"phases[{twice[1]}].id", f"`{id}` is the id of phases[{twice[0]}] too", code=Code.SCH201)
    kinds = {group.kind for group in problem.devices}
    for place, phase in enumerate(problem.phases):
        path = f"phases[{place}]"
        if not phase.ticks:
            problems.add(f"{path}.ticks", "no class of device can run it")
        elif not kinds & phase.ticks.keys():
            named = ", ".join(f"`{kind}`" for kind in sorted(phase.ticks))
            meant = _meant(min(phase.ticks), kinds)
            problems.add(f"{path}.ticks", f"no device is of a class it speaks of: {named}{meant}")
        for kind, ticks in phase.ticks.items():
            _table(f"{path}.ticks.{kind}", ticks, phase.rows, problems)
        if phase.combine is not None and phase.rows == 0:
            problems.add(f"{path}.combine", "needs `rows`: an atomic phase has no partial results to combine")
        if phase.home and phase.ticks and problem.devices and any(g.home and g.kind not in phase.ticks for g in problem.devices):
            problems.add(f"{path}.home", "must run on home, and has no ticks for home's class")
        for name in ("rows", "out_bytes", "scratch", "ready"):
            if getattr(phase, name) < 0:
                problems.add(f"{path}.{name}", "must be at least 0")


def _table(path: str, ticks: Ticks, rows: int, problems: Problems) -> None:
    points = ticks.points
    if not points:
        problems.add(path, "a table needs at least one point")
    elif rows == 0 and (len(points) > 1 or points[0][0] != 1):
        problems.add(path, "an atomic phase (no `rows`) takes one number of ticks, not a table")
    elif len(points) == 1 and points[0][0] < 1:
        problems.add(path, "a single point needs at least one row")
    elif negative := [ticks for _, ticks in points if ticks < 0]:
        problems.add(path, f"ticks must be at least 0, not {negative[0]}")
    for (low, first), (high, last) in pairwise(points if rows else ()):
        if high <= low:
            problems.add(path, f"rows must increase: {high} comes after {low}")
        elif last < first:
            problems.add(path, f"ticks must not decrease: {high} rows take {last}, and {low} rows take {first}")


def _edges(problem: Problem, problems: Problems) -> None:
    count = len(problem.phases)
    for place, edge in enumerate(problem.edges):
        if not (0 <= edge.source < count and 0 <= edge.target < count):
            problems.add(f"edges[{place}]", "speaks of a phase that is not there")
        elif edge.ticks is not None and problem.links and problem.contention is Contention.GROUP:
            message = 'a delay needs a problem without links, or `"contention": "off"`; say `bytes` instead'
            problems.add(f"edges[{place}].ticks", message)
        if edge.halo and not problem.phases[edge.source].rows:
            problems.add(f"edges[{place}].halo", f"`{problem.phases[edge.source].id}` has no rows")
    twice = first_duplicate([(edge.source, edge.target) for edge in problem.edges])
    if twice is not None:
        problems.add(f"edges[{twice[1]}]", f"the same as edges[{twice[0]}]; one edge carries everything")


def _selects(problem: Problem, problems: Problems) -> None:
    """Arms belong to one select alone, or to one within an arm of the other."""
    readers: dict[int, set[int]] = {}
    for edge in problem.edges:
        readers.setdefault(edge.source, set()).add(edge.target)
    for place, select in enumerate(problem.selects):
        path = f"selects[{place}]"
        if select.phase not in readers.get(select.condition, ()):
            problems.add(path, "the select does not read its condition: an edge must join them")
        for name, arm in (("then", select.then), ("otherwise", select.otherwise)):
            for phase in arm:
                others = readers.get(phase, set()) - {*arm, select.phase}
                if others or phase in (select.phase, select.condition):
                    who = f"`{problem.phases[min(others)].id}` reads it" if others else "it is the select itself or its condition"
                    message = f"`{problem.phases[phase].id}` is read by its arm and the select alone; {who}"
                    problems.add(f"{path}.{name}", message)
        if set(select.then) & set(select.otherwise):
            problems.add(path, "a phase is in both arms")
    twice = first_duplicate([select.phase for select in problem.selects])
    if twice is not None:
        problems.add(f"selects[{twice[1]}].phase", f"the select of selects[{twice[0]}] too")


def _cycle(problem: Problem, problems: Problems) -> None:
    count = len(problem.phases)
    followers: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for edge in problem.edges:
        if 0 <= edge.source < count and 0 <= edge.target < count:
            followers[edge.source].append(edge.target)
            waiting[edge.target] += 1
    free = [phase for phase in range(count) if waiting[phase] == 0]
    for phase in free:
        for other in followers[phase]:
            waiting[other] -= 1
            if waiting[other] == 0:
                free.append(other)
    if len(free) == count:
        return
    stuck = {phase for phase in range(count) if waiting[phase] > 0}
    back: dict[int, int] = {edge.target: edge.source for edge in problem.edges if edge.source in stuck and edge.target in stuck}
    trail: list[int] = [min(stuck)]
    while trail[-1] not in trail[:-1]:
        trail.append(back[trail[-1]])
    circle = trail[trail.index(trail[-1]) :][::-1]
    names = " → ".join(problem.phases[phase].id for phase in circle)
    problems.add("edges", f"the phases wait for each other: {names}")
