"""How long the passes of a program that is read in tiles take, by the cost model and the tables of the disk.

In a pass one thread reads, and merges what is ordered on disk, while another computes, sorts and writes: it takes as long as the
slower of the two.  What is computed is the graph of a tile, as often as there are tiles.  Passes, and what is computed between
them, come one after the other.

Neighbours: `shell.execution.streaming` (asks), `backend.devices.disks` and `cost` (tables).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ...backend.devices.cost import step_ns
from ...backend.devices.disks import READ, SCRATCH_READ, SCRATCH_WRITE, WRITE, disk_ns
from ...backend.devices.profile import Profile
from ...backend.graph import BoundGraph, bind, lower, optimise
from ...backend.graph.phases import Constant, Input, Output, Phase, Print
from ...backend.schedule.plan.model import Plan, StreamStep
from ...backend.schedule.plan.parts import Access
from ...backend.schedule.streams.flow import flow_of
from ...backend.schedule.streams.passes import Flow, demand
from ...backend.schedule.streams.planning import tiles_of
from ...backend.schedule.streams.scratch import Scratch
from ...backend.schedule.streams.tiles import tile_of
from ...lang.properties import cached_property
from ...lang.source import Source
from ...typechecker.check import check

_SORTED: Final = "x[⍋x]"
_GRADED: Final = "x[⍋y]"
"""Items that are taken by a grade, which is made: runs of places, and a merge, which grades the heads of its runs."""


@dataclass(frozen=True)
class Planned:
    """A plan with passes, of `bound`; `temporary`: stores that are not files of the program, of which `scratch` are ordered."""

    plan: Plan
    bound: BoundGraph
    scratch: Sequence[Scratch]
    temporary: Collection[str]

    def ns(self, profile: Profile) -> int:
        steps = [step for queue in self.plan.main.queues for step in queue.steps if isinstance(step, StreamStep)]
        inside = {phase for step in steps for phase in step.phases}
        between = [phase for phase in self.bound.graph.phases if phase.id not in inside]
        return computing(between, self.bound, profile) + sum(self.of_pass(step, profile) for step in steps)

    @cached_property
    def flow(self) -> Flow:
        names = {access: [store.name for store in self.plan.stores if store.access is access] for access in Access}
        return flow_of(self.bound.graph, names[Access.READ], names[Access.WRITE], lambda count: True)

    def of_tiles(self, step: StreamStep, profile: Profile) -> int:
        """A tile in the middle stands for all."""
        same = (one for one in self.flow.passes if tuple(p.id for p in one.phases) == step.phases and one.results == step.results)
        one = next(same)
        tiles = [*tiles_of(one, step.rows)]
        tile = tiles[len(tiles) // 2]
        bound = tile_of(self.flow, one, demand(self.flow, one, tile), tile).bound
        return computing(bound.graph.phases, bound, profile, len(tiles)) + len(tiles) * profile.home.host_dispatch_ns

    def of_pass(self, step: StreamStep, profile: Profile) -> int:
        device, ids = profile.home, set(step.phases)
        phases = [phase for phase in self.bound.graph.phases if phase.id in ids]
        taken = {phase.name for phase in phases if isinstance(phase, Input)}
        given = {phase.name for phase in phases if isinstance(phase, Output)}
        back, kept = min(step.reads, self.bytes(taken)), min(step.writes, self.bytes(given))
        merged = sum(ordering_ns(one, one.merged, profile, _GRADED) for one in self.scratch if one.name in taken)
        ordered = sum(
            ordering_ns(one, step.rows, profile, _GRADED if one.grades else _SORTED) for one in self.scratch if one.name in given
        )  # fmt: skip
        reading = disk_ns(device, READ, step.reads - back) + disk_ns(device, SCRATCH_READ, back) + merged
        writing = disk_ns(device, WRITE, step.writes - kept) + disk_ns(device, SCRATCH_WRITE, kept)
        return max(reading, self.of_tiles(step, profile) + ordered + writing)

    def bytes(self, names: Collection[str]) -> int:
        """Of the temporary stores of these names."""
        stored = {store.name: store.bytes for store in self.plan.stores if store.name in self.temporary}
        return sum(stored.get(name, 0) for name in names)


def computing(phases: Iterable[Phase], bound: BoundGraph, profile: Profile, times: int = 1) -> int:
    """So many executions of each.  What there is no table for counts as nothing."""
    real = [phase for phase in phases if not isinstance(phase, Constant | Input | Output | Print)]
    found = [step_ns(phase, bound, profile.home, profile.calibration, times) for phase in real]
    return sum(one.ns for one in found if one is not None)


def ordering_ns(scratch: Scratch, piece: int, profile: Profile, made: str) -> int:
    """Ordering the items of a scratch store once, in pieces of so many."""
    declared = "".join(f"input {name} : {scratch.kind.value}[n]\n" for name in "xy")
    core = check(Source("<order>", f"{declared}output z ← {made}\n")).core
    assert core is not None, "numbers have an order"
    piece = max(1, min(piece, scratch.size))
    bound = bind(
        optimise(lower(core)),
        {variable: piece for size in core.types[core.inputs[0].value].shape for variable in size.variables()},
    )
    return computing(bound.graph.phases, bound, profile, -(-scratch.size // piece))
