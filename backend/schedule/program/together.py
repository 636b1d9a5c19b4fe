"""A loop that several devices run together, as what is around it sees it: the devices, a turn with its schedule, the gang.

Note [Needs of a loop].  Over an edge into the loop, devices need their rows of a state that is cut, and of another value what
the phases of the body need that read it.  Those have their own rows, whose bounds lie within a row of the loop's proportion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from ...devices.profile import Profile
from ...graph import traverse
from ...graph.bind import BoundGraph
from ...graph.phases import Loop, Phase, PhaseId, ValueId
from ...graph.turns import Turn
from ..answer import Schedule
from ..facts.sharding import Cut, reads_of, shape_of
from ..plan.model import ALIGNMENT, Spread, SubPlan
from ..plan.parts import DeviceId
from ..problem import DeviceGroup, DeviceIndex, Edge, Line, Link, PhaseIndex, PhaseTask, Problem, Replicate, Ticks, Together
from ..timeline.timing import Mode
from .cuts import Cuts, Given
from .needs import WHOLE, Aligned, Need, Whole, need_of

TicksOf = Callable[[Phase, DeviceGroup, Cut | None, int], Ticks | None]


@dataclass(frozen=True, slots=True)
class Setting:
    """The devices, and what phases of a turn cost on them; `making`: what their first executions take more."""

    groups: tuple[DeviceGroup, ...]
    links: tuple[Link, ...]
    ticks: Callable[[Phase, DeviceGroup, Cut | None, BoundGraph], Ticks | None]
    combined: Callable[[int], int]
    making: Callable[[Sequence[Phase], DeviceGroup], int]
    tick_ns: int

    def problem(self, tasks: tuple[PhaseTask, ...], edges: tuple[Edge, ...], told: Sequence[PhaseIndex] = ()) -> Problem:
        """Memory is counted where the loop is placed, not here."""
        groups = tuple(replace(group, memory=None) for group in self.groups)
        told_all = tuple(Replicate(Line(0, "every device is told whether to go on"), phase) for phase in told)
        return Problem(groups, self.links, tasks, edges, told_all, tick_ns=self.tick_ns, memory_grain=ALIGNMENT)


@dataclass(frozen=True, slots=True)
class ProgramProblem:
    """`problem` and what its indices mean: `phases` and `cuts` by place."""

    problem: Problem
    bound: BoundGraph
    phases: tuple[Phase, ...]
    cuts: Cuts
    profile: Profile | None = None
    gangs: Mapping[int, Gang] = field(default_factory=dict)
    """By place, the loops that several devices run together."""
    dealt: tuple[PhaseId, ...] = ()
    """The loops whose iterations several devices may share in the plans that what is claimed ranges over."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A turn, or what follows the last, as a problem with its schedule and plan."""

    turn: Turn
    program: ProgramProblem
    schedule: Schedule = field(default_factory=lambda: Schedule((), (), ()))
    plan: SubPlan = field(default_factory=lambda: SubPlan((), (), ()))

    @property
    def problem(self) -> Problem:
        return self.program.problem

    @property
    def cuts(self) -> Cuts:
        return self.program.cuts


@dataclass(frozen=True, slots=True)
class Gang:
    """A loop on the devices of `mode`, (device, rows) in the order of rows; see `turning`."""

    spread: Spread
    mode: Mode
    body: Planned
    leave: Planned | None
    making: int

    @property
    def loop(self) -> Loop:
        return self.body.turn.loop

    @property
    def rows(self) -> int:
        return sum(rows for _, rows in self.mode)

    @property
    def is_gathered(self) -> bool:
        return self.leave is not None

    @property
    def ticks(self) -> int:
        """See Note [Period] of `turning`."""
        trip = self.loop.trip.constant or 0
        last = 0 if self.leave is None else self.leave.schedule.makespan
        return max(1, self.making + trip * self.body.schedule.makespan + last)

    @property
    def plans(self) -> tuple[Planned, ...]:
        return (self.body,) if self.leave is None else (self.body, self.leave)

    def peak(self, device: int) -> int:
        """The most bytes of a turn, or of what follows the last, on a device."""
        name = DeviceId(self.body.problem.device_names()[device])
        return max(dict(one.plan.peak).get(name, 0) for one in self.plans)

    @property
    def uses(self) -> tuple[ValueId, ...]:
        """What a device reads of what is around the loop."""
        phases = self.body.turn.bound.graph.phases
        made = {value for phase in phases for value in traverse.results(phase)}
        return tuple(v for v in dict.fromkeys(v for phase in phases for v in traverse.uses(phase)) if v not in made)

    @property
    def given(self) -> Given:
        axes = {value: axis for value, axis in self.body.cuts.axis.items() if value not in self.loop.body.params}
        axes |= {value: axis or 0 for value, axis in zip(self.loop.initial, self.spread.axes, strict=True)}
        axes |= {value: axis or 0 for value, axis in zip(self.loop.results, self.spread.axes, strict=True)}
        return Given(None if self.is_gathered else Cut(self.spread.axes[0] or 0, self.rows), axes)

    def together(self, out: Sequence[int]) -> Together:
        """`out`: the bytes that each device has of the results, in the order of the mode."""
        moved = [moved for one in self.plans for moved in one.schedule.transfers]
        moves = sorted({(one.link, one.source, one.target) for one in moved if one.link is not None})
        scratch = tuple(max(0, self.peak(device) - own) for (device, _), own in zip(self.mode, out, strict=True))
        mode = tuple((DeviceIndex(device), rows) for device, rows in self.mode)
        return Together(mode, scratch, tuple(moves), self.is_gathered, sum(map(self.picojoules, self.plans)))

    def picojoules(self, one: Planned) -> int:
        """Of the links, in all turns or in what follows the last."""
        links, times = one.problem.links, (self.loop.trip.constant or 0) if one is self.body else 1
        sent = (links[moved.link].nj_per_byte * moved.bytes for moved in one.schedule.transfers if moved.link is not None)
        return ceil(times * 1000 * sum(sent))

    def need(self, value: ValueId, axis: int) -> Need:
        """What a device needs of a value along its axis.  See Note [Needs of a loop]."""
        found: list[Need] = [
            Aligned(0) if cut is not None and cut == axis else WHOLE
            for initial, cut in zip(self.loop.initial, self.spread.axes, strict=True) if initial == value
        ]  # fmt: skip
        types = self.body.turn.bound.graph.types
        shape = shape_of(value, types)
        inner = zip(self.body.turn.bound.graph.phases, self.body.cuts.of, strict=True)
        for phase, cut in list(inner)[len(self.loop.initial) :]:
            if value not in traverse.uses(phase):
                continue
            places = [place for place, one in enumerate(reads_of(phase, types)) if one == value]
            if cut is None or not places or not shape:
                return WHOLE
            beside = 0 if cut.rows == self.rows else -(-shape[axis] // cut.rows) + 1
            for place in places:
                need = need_of(phase, cut, place, axis, types)
                found.append(need if isinstance(need, Whole) else Aligned(need.halo + beside))
        halos = [need.halo for need in found if isinstance(need, Aligned)]
        if len(halos) < len(found) or not shape or not found or 2 * max(halos) >= shape[axis]:
            return WHOLE
        return Aligned(max(halos))
