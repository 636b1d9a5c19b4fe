"""Executes passes over stored inputs: each runs the plan of its tiles' graph on every tile, in order."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from types import TracebackType
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from ...lang.support.processes import POLL_SECONDS, take
from ...lang.support.records import dataclass, field
from ...typechecker.elements import identity_of
from ..distributed.steps import PairwiseFunction, pairwise_function
from ..graph import traverse
from ..graph.phases import ARGUMENT_REDUCTIONS, Input, LibraryPhase, Output, Structured, ValueId
from ..io.formats import FileTrouble
from ..io.reading import RowSource, located
from ..io.sources_and_sinks import RowSink, new_array
from ..io.writing import system_trouble
from ..schedule.plan.plan import Device, DeviceId, StreamStep
from ..schedule.program_facts.partitioning import joining_function
from ..schedule.single_device import Detail, plan_one_device
from ..schedule.streams.pass_partitioning import partition_passes
from ..schedule.streams.stream_planning import MOST_KINDS
from ..schedule.streams.tile_demands import (
    OutputKind,
    PassOutput,
    PassPartitioning,
    Rows as RowRange,
    TileDemand,
    TilePass,
    demand,
    function_of,
    has_rounds,
    part_of,
    selects,
    tiles_of,
)
from ..schedule.streams.tile_graph import Tile as GraphTile, TileState, key_of, tile_of
from ..vm.executor import PreparedPlan
from ..vm.run_state import Action, Memory, OutputValue, Progress, RunState, Types
from .spill import SelectedRows, SortedRuns

# ---------------------------------------------------------------------------------------------------- partial results
#
# Partial results of a reduction are subtrees of the order of sums, combined as they arrive from any device.
#
# Tiles begin at multiples of a power of two times the block, so each is one subtree.  The two halves of a subtree are combined
# when both are there, the remaining ones at the end from the right.  That is the tree of the order of sums, so the bits are those
# of a reduction in memory, whichever device runs which tile.

@dataclass(slots=True)
class PartialTree:
    """The partial results of one reduction, by the first tile and the number of tiles of each subtree."""

    pair: PairwiseFunction
    parts: dict[tuple[int, int], Any] = field(default_factory=dict)

    def add(self, first: int, size: int, partial: Any) -> None:
        """Adds the partial result of a subtree."""
        while (other := (first ^ size, size)) in self.parts:
            sibling = self.parts.pop(other)
            partial = self.pair(partial, sibling) if first < other[0] else self.pair(sibling, partial)
            first, size = min(first, other[0]), 2 * size
        self.parts[first, size] = partial

    def result(self) -> Any:
        """Returns the result of all tiles."""
        *before, last = sorted(self.parts)
        total = self.parts.pop(last)
        for key in reversed(before):
            total = self.pair(self.parts.pop(key), total)
        return total


def pair_of_places(function: str) -> PairwiseFunction:
    """Returns the function that combines two (position, item) pairs of an argument reduction, the earlier tile's first.

    See `schedule.streams.tile_demands`, Note [Places].
    """

    def pair(left: Any, right: Any) -> Any:
        import numpy

        first, second = left[1], right[1]
        beyond = second < first if function == "argmin" else second > first
        if second.dtype.kind == "f":
            beyond |= numpy.isnan(second) & ~numpy.isnan(first)
        return numpy.where(beyond, right[0], left[0]), numpy.where(beyond, second, first)

    return pair


# ---------------------------------------------------------------------------------------------------- prefetch ring
#
# A ring of buffers that a prefetching thread fills with tiles, in order, ahead of the consumer.

Rows: TypeAlias = tuple[int, int]
Tile: TypeAlias = Mapping[str, Rows]
"""The rows of each input that a tile needs; inputs that it does not need are absent."""


class Ring:
    """A prefetcher of tiles, with `depth` of them in memory: the current one, and those being read.

    A tile's arrays are views of the buffers; they are overwritten once the next tile has been taken.
    """

    def __init__(self, sources: Mapping[str, RowSource], tiles: Sequence[Tile], depth: int) -> None:
        self._sources, self._tiles = sources, tiles
        rows = {name: max((t[name][1] - t[name][0] for t in tiles if name in t), default=0) for name in sources}
        self._free: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        for _ in range(depth):
            self._free.put({name: new_array((rows[name], *source.shape[1:]), source.kind) for name, source in sources.items()})
        self._full: queue.SimpleQueue[tuple[dict[str, Any], dict[str, Any]] | BaseException | None] = queue.SimpleQueue()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read, name="rho reader", daemon=True)
        self.bytes = 0
        self.reading = ""
        """The source that is being read."""

    def __enter__(self) -> Ring:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._free.put(None)
        while self._thread.is_alive():
            self._thread.join(POLL_SECONDS)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yields the arrays of each tile.  Raises FileTrouble."""
        while True:
            filled = take(self._full)
            if filled is None:
                return
            if isinstance(filled, BaseException):
                raise filled
            buffers, arrays = filled
            yield arrays
            del arrays
            self._free.put(buffers)

    def _read(self) -> None:
        handles: dict[str, Any] = {}
        try:
            for name, source in self._sources.items():
                self.reading = name
                handles[name] = source.open()
            for tile, later in zip(self._tiles, [*self._tiles[1:], {}], strict=True):
                buffers = self._free.get()
                if buffers is None or self._over.is_set():
                    return
                arrays = {}
                for name, (start, stop) in tile.items():
                    arrays[name] = buffers[name][: stop - start]
                    self.reading, source = name, self._sources[name]
                    source.read(handles[name], start, arrays[name], later[name][0] if name in later else stop)
                    self.bytes += source.bytes * (stop - start) // max(1, source.shape[0])
                self._full.put((buffers, arrays))
            for name, source in self._sources.items():
                self.reading = name
                source.require_same(handles[name])
            self._full.put(None)
        except BaseException as error:
            self._full.put(error)
        finally:
            for name, handle in handles.items():
                self._sources[name].close(handle)


# ---------------------------------------------------------------------------------------------------- execution of passes

LEFT: Final = -1
"""Stands for a sink's number: the message has the totals that tiles leave."""

States: TypeAlias = Mapping[str, Any]
"""The states that tiles carry, by name."""


class SharedPass(Protocol):
    """A pass of which other devices run tiles."""

    step: StreamStep

    def operands(self) -> Mapping[ValueId, Any]:
        """The whole values that tiles read."""
        ...

    def take(self, sink: int, rows: Rows, arrays: Sequence[Any], value: int) -> None:
        """Takes the rows of a sink, or the partial results of the subtree (first tile, tiles) of its result `value`; of sink
        `LEFT` the totals, in the order of the states' names, that the tiles `rows` leave."""
        ...


class OtherDevices(Protocol):
    """The devices other than home that run tiles (`cluster.client`)."""

    def begin(
        self, shared: SharedPass, sinks: Mapping[DeviceId, Mapping[str, RowSink]], states: Mapping[DeviceId, States] | None = None
    ) -> None:  # fmt: skip
        """Begins the pass on all devices with a share of it, with the sinks of its rows, and the states before it; without
        `states`, only the round that computes the totals which their tiles leave."""
        ...

    def check(self) -> None:
        """Raises the error with which one of them ended."""
        ...

    def wait(self) -> None:
        """Waits until all of them have ended.  Raises RunFailed and Lost."""
        ...


@dataclass(slots=True)
class TiledFiles:
    """The inputs that are read, and outputs that are written, tile by tile in a run, and its progress; `others`: the devices that
    run tiles beside this process."""

    sources: Mapping[str, RowSource]
    sinks: Mapping[str, Any] = field(default_factory=dict)
    """By name a `RowSink`, `SortedRuns` or `SelectedRows`; on a worker a `StoredOutput`, without the sinks that home receives."""
    checks: Mapping[str, Callable[[Any], None]] = field(default_factory=dict)
    """By input, the check of its items, which raises RhoError."""
    progress: Progress = field(default_factory=Progress)
    others: OtherDevices | None = None
    read: dict[DeviceId, tuple[int, int, int]] = field(default_factory=dict)
    """By device, the passes in which it took part, their tiles, and the bytes that it has read."""

    def count(self, device: DeviceId, tiles: int, reads: int, *, delivers: bool) -> None:
        """Counts a pass of a device, and what the device read in the round before it."""
        passes, before, so_far = self.read.get(device, (0, 0, 0))
        self.read[device] = passes + delivers, before + tiles * delivers, so_far + reads

    def discard(self) -> None:
        """Discards partial outputs of a failed run."""
        for sink in self.sinks.values():
            sink.discard()

    def action(self, machine: RunState, step: StreamStep, device: DeviceId) -> Action:
        """Returns the action that executes one pass."""
        assert machine.around is not None, "streams are run with their graph"
        flow = partition_passes(machine.around.graph, self.sources, self.sinks, lambda count: True)
        one = pass_of(flow, step)
        backend: Any = machine.backends[device]
        self.progress.total += next((share.reads for share in step.shares if share.device == device), step.reads)

        def run(memory: Memory) -> None:
            machine.current = one.sinks[0].phase
            StreamRun(machine, self, flow, one, step, Device(device, "cpu", backend.threads), memory).run()

        return run


def pass_of(flow: PassPartitioning, step: StreamStep) -> TilePass:
    """Returns the pass that a step runs.  Raises ValueError if there is none."""
    (one,) = [p for p in flow.passes if tuple(phase.id for phase in p.phases) == step.phases and p.results == step.results]
    return one


@dataclass(slots=True)
class StreamRun:
    """A run of a pass, or of a device's share of it."""

    machine: RunState
    stores: TiledFiles
    flow: PassPartitioning
    one: TilePass
    step: StreamStep
    device: Device
    memory: Memory
    plans: dict[tuple[object, ...], tuple[GraphTile, PreparedPlan]] = field(default_factory=dict)
    joined: dict[ValueId, PartialTree] = field(default_factory=dict)
    states: dict[str, Any] = field(default_factory=dict)
    """The state that the last tile left, by name."""
    carried: dict[str, TileState] = field(default_factory=dict)
    totals: dict[str, list[Any]] = field(default_factory=dict)
    """By state, the totals of the blocks of each tile."""
    left: dict[int, Sequence[Any]] = field(default_factory=dict)
    """By first tile of a share, the totals that the share leaves."""
    deliver: Callable[[int, Rows, Sequence[Any], int], None] | None = None
    """Sends results to home (`SharedPass.take`); None at home."""
    lock: Any = field(default_factory=threading.Lock)

    def run(self) -> None:
        for sink in self.one.sinks:
            self.begin(sink)
        others = self.stores.others if self.step.shares else None
        before = {} if others is None else self.rounds(others)
        self.states |= before.get(self.device.id, {})
        if others is not None:
            others.begin(self, self.sinks_elsewhere(), before)
        share = next((share for share in self.step.shares if share.device == self.device.id), None)
        if share is not None or not self.step.shares:
            self.run_tiles(*((0, self.step.tiles) if share is None else (share.first, share.stop)))
        if others is not None:
            others.wait()
        for sink in self.one.sinks:
            self.end(sink)

    def sinks_elsewhere(self) -> dict[DeviceId, dict[str, RowSink]]:
        """Returns by device, other than this one, the sinks of the outputs through which it writes the rows of its share."""
        tiles = list(tiles_of(self.one, self.step.rows))
        sinks: dict[DeviceId, dict[str, RowSink]] = {}
        for share in self.step.shares:
            of_share = sinks.setdefault(share.device, {})
            for sink in self.one.sinks:
                store = self.stores.sinks[sink.phase.name] if isinstance(sink.phase, Output) else None
                if isinstance(sink.phase, Output) and isinstance(store, RowSink) and share.device != self.device.id:
                    first, _ = part_of(sink, tiles[share.first])
                    with located(store.path, sink.phase.span), system_trouble():
                        of_share[sink.phase.name] = store.elsewhere(first)
        return sinks

    def run_share(self, first: int, stop: int) -> None:
        """Runs the tiles [first, stop) on a device other than home; home begins and ends the pass."""
        for sink in self.one.sinks:
            if sink.kind is OutputKind.JOINED:
                self.begin(sink)
        self.run_tiles(first, stop)

    def rounds(self, others: OtherDevices) -> dict[DeviceId, States]:
        """Returns the states before the tiles of each device, after a round that computes the totals each leaves (`tile_demands`,
        Note [Rounds]); none if nothing is carried."""
        shares = self.step.shares
        if not has_rounds(self.flow, self.one):
            return {}
        others.begin(self, {})
        for share in shares[:-1]:
            if share.device == self.device.id:
                self.leave(share.first, share.stop)
        others.wait()
        carried = self.all_states()
        pairs, backend = list[PairwiseFunction](), self.machine.backends[self.device.id]
        for _, state in carried:
            (phase,) = (phase for phase in self.one.phases if phase.id == state.phase)
            assert isinstance(phase, LibraryPhase), "scans carry states"
            types = Types({state.made: state.type}, {}, ())
            pairs.append(pairwise_function(phase, function_of(phase), state.made, types, backend))
        before: dict[DeviceId, States] = {}
        total: list[Any] = [beginning(state) for _, state in carried]
        for share in shares:
            before[share.device] = {name: array for (name, _), array in zip(carried, total, strict=True)}
            if share is not shares[-1]:
                left = self.left[share.first]
                for at, (pair, totals) in enumerate(zip(pairs, left, strict=True)):
                    total[at] = reduce(pair, (totals[block : block + 1] for block in range(len(totals))), total[at])
        return before

    def all_states(self) -> list[tuple[str, TileState]]:
        """Returns the states that the tiles of the pass carry, by name."""
        (tile, *_) = tiles_of(self.one, self.step.rows)
        return sorted(tile_of(self.flow, self.one, demand(self.flow, self.one, tile), tile).states.items())

    def leave(self, first: int, stop: int) -> None:
        """Runs the tiles [first, stop) only for the totals of their blocks."""
        self.run_tiles(first, stop, delivers=False)
        arrays = [np.concatenate([beginning(state)[:0], *self.totals.pop(name, ())]) for name, state in self.all_states()]
        if self.deliver is None:
            self.left[first] = arrays
        else:
            self.deliver(LEFT, (first, stop), arrays, 0)

    def run_tiles(self, first: int, stop: int, *, delivers: bool = True) -> None:
        """Runs the tiles [first, stop), and delivers their results."""
        tiles = list(tiles_of(self.one, self.step.rows))
        numbers = [*reversed(range(len(tiles)))] if self.one.backward else [*range(len(tiles))]
        tiles, numbers = tiles[first:stop], numbers[first:stop]
        needs = [demand(self.flow, self.one, tile) for tile in tiles]
        sources = {p.name: p for p in self.one.phases if isinstance(p, Input)}
        rows = [{name: n.rows[p.result] for name, p in sources.items() if p.result in n.rows} for n in needs]
        ring = Ring({name: self.stores.sources[name] for name in sources}, rows, self.step.depth)
        before = self.stores.progress.done
        with ring:
            read = iter(ring)
            for number, tile, needed in zip(numbers, tiles, needs, strict=True):
                arrays = self.next(read, ring, sources)
                if self.stores.others is not None:
                    self.stores.others.check()
                self.tile(number, tile, needed, arrays, delivers=delivers)
                del arrays
                self.stores.progress.done = before + ring.bytes
            self.next(read, ring, sources)
        self.stores.count(self.device.id, len(tiles), ring.bytes, delivers=delivers)
        if self.deliver is not None and delivers:
            for index, sink in enumerate(self.one.sinks):
                for at, value in enumerate(traverse.results(sink.phase) if sink.kind is OutputKind.JOINED else ()):
                    for subtree, partial in sorted(self.joined.pop(value).parts.items()):
                        self.deliver(index, subtree, partial if isinstance(partial, tuple) else (partial,), at)

    def operands(self) -> Mapping[ValueId, Any]:
        return {value: self.memory[value] for phase in self.one.phases for value in self.flow.whole_operands(phase)}

    def take(self, sink: int, rows: Rows, arrays: Sequence[Any], value: int) -> None:
        if sink == LEFT:
            self.left[rows[0]] = arrays
            return
        target = self.one.sinks[sink]
        if target.kind is not OutputKind.JOINED:
            self.put(target, rows, arrays[0])
            return
        with self.lock:
            self.joined[traverse.results(target.phase)[value]].add(*rows, tuple(arrays) if len(arrays) > 1 else arrays[0])

    def next(self, read: Iterator[dict[str, Any]], ring: Ring, sources: Mapping[str, Input]) -> dict[str, Any]:
        """Returns the arrays of the next tile, checked against the declared types; empty after the last tile."""
        try:
            arrays = next(read, {})
        except FileTrouble as trouble:
            with located(self.stores.sources[ring.reading].path, sources[ring.reading].span):
                raise trouble from None
        for name, array in arrays.items():
            if name in self.stores.checks:
                self.stores.checks[name](array)
        return arrays

    def begin(self, sink: PassOutput) -> None:
        match sink.kind:
            case OutputKind.JOINED:
                phase = sink.phase
                assert isinstance(phase, Structured | LibraryPhase), "only reductions and products are joined"
                for value in phase.results if isinstance(phase, LibraryPhase) else [one.value for one in phase.results]:
                    self.joined[value] = self.joining(phase, value)
            case OutputKind.CARRIED:
                pass
            case OutputKind.COLLECTED:
                assert sink.value is not None
                kind, shape = self.machine.kind(sink.value), self.machine.shape(sink.value)
                self.memory[sink.value] = self.machine.backends[self.device.id].empty(kind, shape)
            case OutputKind.WRITTEN:
                assert isinstance(sink.phase, Output)
                self.write(sink.phase, lambda store: store.begin())

    def joining(self, phase: Structured | LibraryPhase, value: ValueId) -> PartialTree:
        """Returns the tree that combines partial results of a value."""
        function = joining_function(phase, value)
        if function in ARGUMENT_REDUCTIONS:
            return PartialTree(pair_of_places(function))
        return PartialTree(pairwise_function(phase, function, value, self.machine, self.machine.backends[self.device.id]))

    def end(self, sink: PassOutput) -> None:
        if sink.kind is OutputKind.WRITTEN:
            assert isinstance(sink.phase, Output)
            self.write(sink.phase, lambda store: store.end())
            sink_store = self.stores.sinks[sink.phase.name]
            if not isinstance(sink_store, SortedRuns | SelectedRows):  # scratch stores are no outputs of the program
                self.machine.outputs[sink.phase.name] = OutputValue(sink_store.kind, sink_store)
        elif sink.kind is OutputKind.JOINED:
            for value in traverse.results(sink.phase):
                total = self.joined[value].result()
                self.memory[value] = total[0] if isinstance(total, tuple) else total
        elif sink.kind is OutputKind.CARRIED:
            assert isinstance(sink.phase, LibraryPhase)
            states = [(state, self.states[name]) for name, state in self.carried.items() if state.phase == sink.phase.id]
            (total,) = [array for state, array in states if not state.occupied]
            for _, occupied in [one for one in states if one[0].occupied]:
                kind = self.machine.kind(sink.phase.results[0])
                total[~occupied] = identity_of(function_of(sink.phase), kind)
            self.memory[sink.phase.results[0]] = total

    def write(self, output: Output, act: Callable[[Any], None]) -> None:
        sink = self.stores.sinks[output.name]
        with located(sink.path, output.span), system_trouble():
            act(sink)

    def tile(
        self, number: int, tile: RowRange, needed: TileDemand, arrays: Mapping[str, Any], *, delivers: bool
    ) -> None:  # fmt: skip
        key = delivers, *key_of(self.flow, self.one, needed)
        if key not in self.plans:
            while len(self.plans) >= MOST_KINDS:
                self.plans.pop(next(iter(self.plans)))
            graph = tile_of(self.flow, self.one, needed, tile, delivers=delivers)
            plan = plan_one_device(graph.bound, self.device, detail=Detail.STEPS)
            self.plans[key] = graph, PreparedPlan(plan, graph.bound)
        graph, prepared = self.plans[key]
        wanted = {phase.name for phase in graph.bound.graph.phases if isinstance(phase, Input)}
        given = {name: array for name, array in arrays.items() if name in wanted}
        given |= {name: self.memory[value] for name, value in graph.operands.items() if name in wanted}
        for name, (phase, axis) in graph.starts.items():
            if name in wanted:
                given[name] = np.array(needed.boxes[phase][axis][0], np.int64)
        for name, state in graph.states.items():
            if name in wanted:
                given[name] = self.states.pop(name) if name in self.states else beginning(state)
        outputs = prepared.run(given).outputs
        if not delivers:
            for name in graph.states:
                self.totals.setdefault(name, []).append(outputs[name].value)
            return
        self.states |= {name: outputs[name].value for name in graph.states}
        self.carried |= graph.states
        values = {value: outputs[name].value for name, value in graph.results.items()}
        for value, best in graph.bests.items():
            values[value] = values[value] + self.origin(value, needed), values[best]
        for sink in self.one.sinks:
            start, stop = part_of(sink, tile)
            if start < stop:
                self.keep(number, sink, values, (start, stop), needed)

    def origin(self, value: ValueId, needed: TileDemand) -> int:
        """Returns the start of an argument reduction's box along its reduced axis, to be added to positions."""
        (phase,) = [sink.phase for sink in self.one.sinks if value in traverse.results(sink.phase)]
        return needed.boxes[phase.id][-1][0]

    def keep(
        self, number: int, sink: PassOutput, values: Mapping[ValueId, Any], rows: RowRange, needed: TileDemand
    ) -> None:  # fmt: skip
        if sink.kind is OutputKind.JOINED:
            with self.lock:
                for value in traverse.results(sink.phase):
                    self.joined[value].add(number, 1, values[value])
        if sink.value is None:
            return
        value = sink.value
        part = values[value]
        if not any(selects(phase) and value in traverse.results(phase) for phase in self.one.phases):
            origin, before = needed.rows[value][0], (slice(None),) * self.flow.axes[value]
            part = part[*before, rows[0] - origin : rows[1] - origin]
        if self.deliver is not None and (not isinstance(sink.phase, Output) or sink.phase.name not in self.stores.sinks):
            self.deliver(self.one.sinks.index(sink), rows, (part,), 0)
        else:
            self.put(sink, rows, part)


    def put(self, sink: PassOutput, rows: RowRange, part: Any) -> None:
        """Puts rows of a sink where they are collected or written; for selected cells, those that a mask selects from the
        rows."""
        value = sink.value
        assert value is not None, "partial results are joined"
        axis = self.flow.axes[value]
        with self.lock:
            if sink.kind is OutputKind.COLLECTED:
                self.memory[value][*(slice(None),) * axis, rows[0] : rows[1]] = part
            else:
                assert isinstance(sink.phase, Output)
                self.write(sink.phase, lambda store: store.put(part, axis, rows[0]))


def beginning(state: TileState) -> Any:
    """Returns the state before the first tile."""
    initial = new_array(tuple(size.evaluate({}) for size in state.type.shape), state.type.element.kind)
    initial[...] = state.neutral
    return initial
