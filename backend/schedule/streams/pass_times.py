"""The predicted time of a plan with passes, by the cost model and the disk's cost tables.

In a pass one thread reads, and merges sorted runs from disk, while another computes, sorts and writes: the pass takes as long as
the slower one.  It computes the graph of a tile once for each tile.  Passes, and the phases between them, run one after the
other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from ....lang.support.records import cached_property, dataclass
from ....lang.syntax.source import Source
from ....typechecker.check import check
from ...devices.phase_cost import step_ns
from ...devices.profile import Profile
from ...devices.this_machine import READ, SCRATCH_READ, SCRATCH_WRITE, WRITE, disk_ns
from ...graph.bind_sizes import BoundGraph, bind
from ...graph.lowering.blocks import lower
from ...graph.passes.pipeline import optimise
from ...graph.phases import Constant, Input, Output, Phase, Print
from ..plan.plan import Access, ExecutionPlan, StreamStep
from .pass_partitioning import partition_passes
from .stream_planning import Scratch
from .tile_demands import (
    PassPartitioning,
    demand,
    tiles_of,
)
from .tile_graph import tile_of

_SORT_EXPRESSION: Final = "x[⍋x]"
_GRADE_EXPRESSION: Final = "x[⍋y]"
"""Items in the order of a grade that is computed: it sorts runs of positions, and merges by grading the heads of the runs."""


@dataclass(frozen=True)
class PassTimes:
    """Predicts the time of a plan with passes, of the program `bound`.  `temporary`: names of the stores that are temporary
    files, of which those in `scratch` are sorted."""

    plan: ExecutionPlan
    bound: BoundGraph
    scratch: Sequence[Scratch]
    temporary: Collection[str]

    def ns(self, profile: Profile) -> int:
        """Returns the predicted nanoseconds of the plan."""
        steps = [step for queue in self.plan.main.queues for step in queue.steps if isinstance(step, StreamStep)]
        inside = {phase for step in steps for phase in step.phases}
        between = [phase for phase in self.bound.graph.phases if phase.id not in inside]
        return computing_ns(between, self.bound, profile) + sum(self.pass_ns(step, profile) for step in steps)

    @cached_property
    def flow(self) -> PassPartitioning:
        names = {access: [store.name for store in self.plan.stores if store.access is access] for access in Access}
        return partition_passes(self.bound.graph, names[Access.READ], names[Access.WRITE], lambda count: True)

    def tiles_ns(self, step: StreamStep, profile: Profile) -> int:
        """Returns the computing nanoseconds of all tiles of a pass, as if each cost as much as the middle one."""
        same = (one for one in self.flow.passes if tuple(p.id for p in one.phases) == step.phases and one.results == step.results)
        one = next(same)
        tiles = [*tiles_of(one, step.rows)]
        tile = tiles[len(tiles) // 2]
        bound = tile_of(self.flow, one, demand(self.flow, one, tile), tile).bound
        return computing_ns(bound.graph.phases, bound, profile, len(tiles)) + len(tiles) * profile.home.host_dispatch_ns

    def pass_ns(self, step: StreamStep, profile: Profile) -> int:
        device, ids = profile.home, set(step.phases)
        phases = [phase for phase in self.bound.graph.phases if phase.id in ids]
        names_read = {phase.name for phase in phases if isinstance(phase, Input)}
        produced = {phase.name for phase in phases if isinstance(phase, Output)}
        back, scratch_write = min(step.reads, self.bytes(names_read)), min(step.writes, self.bytes(produced))
        merged = sum(sorting_ns(one, one.merged, profile, _GRADE_EXPRESSION) for one in self.scratch if one.name in names_read)
        ordered = sum(
            sorting_ns(one, step.rows, profile, _GRADE_EXPRESSION if one.grades else _SORT_EXPRESSION)
            for one in self.scratch if one.name in produced
        )  # fmt: skip
        reading = disk_ns(device, READ, step.reads - back) + disk_ns(device, SCRATCH_READ, back) + merged
        writing = disk_ns(device, WRITE, step.writes - scratch_write) + disk_ns(device, SCRATCH_WRITE, scratch_write)
        ns = max(reading, self.tiles_ns(step, profile) + ordered + writing)
        largest = max((share.stop - share.first for share in step.shares if share.device == self.plan.home), default=step.tiles)
        return ns * largest // step.tiles  # the other devices run as many tiles as fit in this time

    def bytes(self, names: Collection[str]) -> int:
        """Returns the bytes of the temporary stores with these names."""
        stored = {store.name: store.bytes for store in self.plan.stores if store.name in self.temporary}
        return sum(stored.get(name, 0) for name in names)


def computing_ns(phases: Iterable[Phase], bound: BoundGraph, profile: Profile, times: int = 1) -> int:
    """Nanoseconds of executing each phase `times` times; a phase without a cost table counts as 0."""
    real = [phase for phase in phases if not isinstance(phase, Constant | Input | Output | Print)]
    estimates = [step_ns(phase, bound, profile.home, profile.calibration, times) for phase in real]
    return sum(one.ns for one in estimates if one is not None)


def sorting_ns(scratch: Scratch, piece: int, profile: Profile, expression: str) -> int:
    """Nanoseconds of sorting the items of a scratch store once, in pieces of `piece` items, each by `expression`."""
    declared = "".join(f"input {name} : {scratch.kind.value}[n]\n" for name in "xy")
    core = check(Source("<order>", f"{declared}output z ← {expression}\n")).core
    assert core is not None, "numbers have an order"
    piece = max(1, min(piece, scratch.size))
    bound = bind(
        optimise(lower(core)),
        {variable: piece for size in core.types[core.inputs[0].value].shape for variable in size.variables()},
    )
    return computing_ns(bound.graph.phases, bound, profile, -(-scratch.size // piece))
