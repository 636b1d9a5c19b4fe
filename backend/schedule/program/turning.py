"""A loop run by several devices together: the problem and the schedule of one of its turns, and what the loop then takes.

The states of the loop are cut along an axis each, or lie whole at home, and do so before and after every turn.  A turn is planned
like a program of its own (`graph.turns`): its entries have the states where they lie already and take no time, its other phases
are cut in the proportion of the mode or run at home, and the phases that make the next states leave them where the turn
found them.  What the body reads from around the loop has been brought before the loop starts.

Note [Period].  All devices begin a turn together, so that each takes as long as the schedule of a turn; the loop takes that many
times the number of turns, with the making of kernels before and the bringing home of states after them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...graph import traverse
from ...graph.bind import BoundGraph
from ...graph.phases import Loop, Phase, PhaseId, ValueId
from ...graph.turns import Axes, Turn, leaving, turn_of
from ..facts.sharding import Cut, cuts_of, shape_of
from ..plan.model import Spread
from ..problem import DeviceGroup, Problem, Ticks
from ..timeline.timing import Decisions, Mode, Queueing, Sending, Timer
from .cuts import Cuts, Given, choose_cuts
from .plan_of import sub_plan_of
from .problem_of import turn_problem
from .together import Gang, Planned, Setting


def proportional(mode: Mode, rows: int) -> Mode:
    """Rows in the proportion of a mode, its bounds rounded to the nearest."""
    total = sum(share for _, share in mode)
    found: list[tuple[int, int]] = []
    at = last = 0
    for device, share in mode:
        at += share
        stop = (2 * at * rows + total) // (2 * total)
        if stop > last:
            found.append((device, stop - last))
            last = stop
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Turning:
    """A turn with its cuts, before anything is placed: `rows` that a mode deals out, `tables` of ticks by phase and class."""

    bound: BoundGraph
    spread: Spread
    turn: Turn
    cuts: Cuts
    rows: int
    setting: Setting
    tables: tuple[Mapping[str, Ticks | None], ...]

    @property
    def making(self) -> int:
        return max(self.setting.making(self.turn.bound.graph.phases, group) for group in self.setting.groups)

    def empty(self) -> Planned:
        """A turn whose schedule is still to come."""
        return Planned(self.turn, turn_problem(self.turn, self.cuts, self.tables, self.setting))

    def device_ticks(self, group: DeviceGroup, rows: int) -> int | None:
        """What so many rows of a turn take on a device, without what it waits for; None: it cannot take part."""
        total = 0
        for phase, table, cut in zip(self.turn.bound.graph.phases, self.tables, self.cuts.of, strict=True):
            ticks = table[group.kind]
            if ticks is None:
                return None
            if cut is not None:
                total += ticks.at(max(1, min(cut.rows, -(-rows * cut.rows // self.rows))))
            elif group.home and phase.id not in self.turn.edges:
                total += ticks.at(1)
        return total


def turning(bound: BoundGraph, loop: Loop, axes: Axes, setting: Setting) -> Turning | None:
    """The turn of a loop whose states are cut along these axes; None: there is nothing to deal out."""
    turn = turn_of(bound, loop, axes)
    cuts, rows = _turn_cuts(turn)
    if rows < 2:
        return None
    return Turning(bound, Spread(loop.id, axes), turn, cuts, rows, setting, _tables(turn, cuts, setting))


def _tables(turn: Turn, cuts: Cuts, setting: Setting) -> tuple[Mapping[str, Ticks | None], ...]:
    """By phase and class; the entries have the states already."""
    return tuple(
        {
            group.kind: Ticks(((1, 0),)) if place < len(turn.axes) else setting.ticks(phase, group, cut, turn.bound)
            for group in setting.groups
        }
        for place, (phase, cut) in enumerate(zip(turn.bound.graph.phases, cuts.of, strict=True))
    )


def gang_of(one: Turning, mode: Mode) -> Gang | None:
    """The loop on the devices of a mode; None where they cannot tell each other what they need."""
    body = _planned(one.empty(), mode)
    leave = _planned(left_by(one), mode) if None in one.turn.axes else None
    if body is None or (leave is None and None in one.turn.axes):
        return None
    return Gang(one.spread, mode, body, leave, one.making)


def left_by(one: Turning) -> Planned:
    """What follows the last turn, its schedule still to come."""
    setting, last = one.setting, leaving(one.bound, one.turn.loop, one.turn)
    forced = {phase.id: Given(None) for phase in last.bound.graph.phases} | _placed(last, {})
    cuts = choose_cuts(last.bound.graph, forced)
    unsplit = replace(cuts, of=(None,) * len(cuts.of))
    return Planned(last, turn_problem(last, cuts, _tables(last, unsplit, setting), setting))


def _planned(empty: Planned, mode: Mode) -> Planned | None:
    """The schedule of a turn in which all that is cut is in the proportion of the mode."""
    turn, problem = empty.turn, empty.problem
    modes = _modes(problem, mode)
    timer, order = Timer(problem), tuple(range(len(modes)))
    found = [timer.lay_out(Decisions(modes, order, queueing, sending)) for queueing in Queueing for sending in Sending]
    best = min((one for one in found if one is not None), key=lambda schedule: schedule.makespan, default=None)
    if best is None:
        return None
    return replace(empty, schedule=best, plan=sub_plan_of(empty.program, best, turn.left))


def _modes(problem: Problem, mode: Mode) -> tuple[Mode, ...]:
    """What is cut in the proportion of the mode; rows that come round where they lie; the rest at home."""
    found: list[Mode] = []
    for place, task in enumerate(problem.phases):
        edge = next((e for e in problem.edges if e.target == place and e.only is not None), None)
        if task.rows:
            found.append(proportional(mode, task.rows))
        elif edge is None or edge.only is None or not problem.phases[edge.source].rows:
            found.append(((int(problem.home), 1),))
        else:
            found.append(((_owner(found[edge.source], edge.only[0]), 1),))
    return tuple(found)


def _owner(mode: Mode, row: int) -> int:
    at = 0
    for device, rows in mode:
        at += rows
        if row < at:
            return device
    raise IndexError(row)


# --------------------------------------------------------------------------------------------- cuts


def _placed(turn: Turn, makers: Mapping[ValueId, Phase]) -> dict[PhaseId, Given]:
    """What the placement of the states says of the phases that have and make them, and of those that take edges."""
    types = turn.bound.graph.types
    found: dict[PhaseId, Given] = {}
    for phase, axis in zip(turn.bound.graph.phases, turn.axes, strict=False):
        (value,) = traverse.results(phase)
        shape = shape_of(value, types) or ()
        found[phase.id] = Given(None if axis is None else Cut(axis, shape[axis]), {value: axis or 0})
    for value, axis in zip(turn.next, turn.axes, strict=True):
        maker = makers.get(value)
        if maker is None:
            continue
        shape = shape_of(value, types) or ()
        others = [cut for cut in cuts_of(maker, types) if cut.combines] if axis is None else []
        cut = min(others, key=lambda cut: cut.axis, default=None) if axis is None else Cut(axis, shape[axis])
        found[maker.id] = Given(cut, {} if cut is None or cut.combines else dict.fromkeys(traverse.results(maker), axis or 0))
    if turn.stop is not None and turn.stop in makers and makers[turn.stop].id not in found:
        maker = makers[turn.stop]
        found[maker.id] = Given(next((cut for cut in cuts_of(maker, types) if cut.combines), None))
    return found


def _turn_cuts(turn: Turn) -> tuple[Cuts, int]:
    """The cuts of the phases of a turn, and the rows that a mode deals out: those of the states, or of what is longest."""
    graph = turn.bound.graph
    makers = {value: phase for phase in graph.phases for value in traverse.results(phase)}
    given = _placed(turn, makers)
    given |= {phase.id: Given(None) for phase in graph.phases if phase.id in turn.edges}
    outside = [value for phase in graph.phases for value in traverse.uses(phase) if value not in makers]
    cuts = choose_cuts(graph, given, outside)
    sizes = [cut.size for cut in cuts.of[: len(turn.axes)] if cut is not None]
    rows = sizes[0] if sizes else max((cut.size for cut in cuts.of if cut is not None), default=0)
    small = {p.id: Given(None) for p, cut in zip(graph.phases, cuts.of, strict=True) if cut is not None and 2 * cut.size < rows}
    if not small:
        return cuts, rows
    return choose_cuts(graph, given | small, outside), rows
