"""Runs programs whose data exceeds memory tile by tile from the files of their inputs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ...backend.schedule.plan.plan import Access, StreamStep
from ...backend.schedule.single_device import Detail
from ...backend.schedule.streams.pass_partitioning import CannotStream
from ...backend.schedule.streams.stream_planning import (
    PhaseCheck,
    PlanSelection,
    Selection,
    SelectionStage,
    Stored,
    Streaming,
    Target,
    axes_before_tiles,
    checks_of,
    plan_streams,
)
from ...lang.diagnostics.model import Code, Diagnostic, Refused, RhoError
from ...lang.support.records import dataclass, field, replace, require_invariant
from ...lang.syntax.source import Span
from ...typechecker.elements import Kind
from ..console.standard_streams import stream_of
from ..pipeline_types import LoadedProgram
from . import stored_plans
from .stored_plans import StoredPlan, require_valid

if TYPE_CHECKING:
    from ...backend.cluster.client import TiledAttempt
    from ...backend.graph.bind_sizes import BoundGraph
    from ...backend.io.reading import RowSource
    from ...backend.io.sources_and_sinks import RowSink
    from ...backend.schedule.plan.plan import Device, ExecutionPlan, PlannedFile
    from ...backend.streams.spill import SelectedRows
    from ...backend.streams.stream_executor import TiledFiles
    from ...backend.vm.run_state import Observer, RunResults
    from ...typechecker.core.operations import Core
    from .clusters import ClusterConnection, TileWorkers
    from .loading import InputFile
    from .run_request import RunRequest
    from .scheduling import Scheduling

_SMALL_FRACTION: Final = 16
"""An input smaller than this fraction of the memory (a 16th) is read as a whole."""


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """A request to plan in tiles: within `limit` bytes of memory, with the outputs in `sinks` written to files.

    `stored_plan` gives the tiles to use, and `workers` the devices to deal them to, if they are set.
    """

    limit: int
    sinks: Mapping[str, Target]
    stored_plan: StoredPlan | None = None
    workers: TileWorkers | None = None


def sources_of(core: Core, files: Mapping[str, InputFile], limit: int) -> dict[str, RowSource]:
    """The large inputs whose files can be read tile by tile, by name; `limit` is the bytes of memory."""
    from ...backend.io.reading import located, row_source
    from ...backend.io.sources_and_sinks import bytes_of

    sources: dict[str, RowSource] = {}
    for name, file in files.items():
        type = core.types[file.entry.value]
        if type.permutation or bytes_of(type.element.kind, file.shape) * _SMALL_FRACTION <= limit:
            continue
        with located(file.shown, file.entry.span):
            source = row_source(file.path, file.wanted, file.shape)
        if source is not None:
            sources[name] = source
    return sources


def sinks_of(request: RunRequest, core: Core, *, runs: bool) -> dict[str, Target]:
    """The outputs that can be written tile by tile, by name; one without a file counts as an npy file, unless the plan `runs`."""
    from ...backend.io.writing import sink_type

    paths, files = Counter(path for _, path in request.written), Counter(name for name, _ in request.written)
    sinks = {}
    for entry in core.outputs:
        path = request.outputs.get(entry.name, "" if runs else f"{entry.name}.npy")
        if stream_of(path) is not None or paths[path] > 1 or files[entry.name] > 1 or entry.name in request.headers:
            continue
        sink = sink_type(path, core.types[entry.value].element.kind, entry.reading)
        if sink is not None:
            sinks[entry.name] = Target(sink.working_memory, sink.any_axis)
    return sinks


def stream_request_of(
    request: RunRequest, core: Core, allowed: int | None, stored: StoredPlan | None, workers: TileWorkers | None = None, *,
    runs: bool,
) -> StreamRequest:  # fmt: skip
    """The stream request of a run request.

    `allowed` is the bytes of memory, `stored` a stored plan to follow, `workers` the devices of a cluster to which tiles are
    dealt. Refused E702: the stored plan writes an output to a file, and the request names none.
    """
    sinks = sinks_of(request, core, runs=runs)
    if stored is None:
        assert allowed is not None, "what fits is not streamed"
        return StreamRequest(allowed, sinks, workers=workers)
    read = {store.name for store in stored.plan.stores if store.access is Access.READ}  # what is both is scratch
    written = {store.name for store in stored.plan.stores if store.access is Access.WRITE} - read
    if missing := sorted(written - sinks.keys()):
        message = f"the plan writes `{missing[0]}` as it comes, and there is no file for it"
        raise Refused([Diagnostic(Code.E702, message, Span(stored.path, 0, 0), notes=(f"add `--out {missing[0]}=FILE.npy`",))])
    limit = allowed or request.limits.memory or stored_plans.memory() or max(count for _, count in stored.plan.main.peak)
    return StreamRequest(limit, {name: sinks[name] for name in written}, stored)


def requires_this_machine(stored: StoredPlan) -> Refused:
    """The error for a plan with passes on declared devices or in a simulation."""
    message = "a plan that reads inputs in tiles runs on this machine's processors"
    notes = ("run it without --devices, --simulate and --cluster",)
    return Refused([Diagnostic(Code.E702, message, Span(stored.path, 0, 0), notes=notes)])


def in_tiles(
    program: LoadedProgram, allowed: int | None, stored: StoredPlan | None, scheduling: Scheduling | None,
    cluster: ClusterConnection | None, texts: tuple[PlannedFile, ...], detail: Detail,
) -> LoadedProgram:  # fmt: skip
    """The program planned in tiles within `allowed` bytes, or by a stored plan; `cluster` has the workers to deal tiles to.

    CannotStream: the phase that needs its operands as a whole.  Refused: a stored plan is for other devices, or out of date.
    """
    from .scheduling import PlanPurpose

    core, request, bound, device = program.core, program.request, program.bound, program.plan.devices[0]
    requests_devices = scheduling is not None and scheduling.requests_devices
    if stored is not None and requests_devices:
        raise requires_this_machine(stored)
    elsewhere = cluster is None and scheduling is not None and (requests_devices or bool(scheduling.plan))
    if stored is None and (core.schedules or request.sizes or elsewhere):
        raise CannotStream(bound.graph.phases[0], "")
    workers = None
    if cluster is not None:
        from .clusters import tile_workers

        written = {entry.name: request.outputs.get(entry.name, f"{entry.name}.npy") for entry in core.outputs}
        memory = request.limits.memory
        workers = tile_workers(cluster, program.files, sources_of(core, program.files, memory or 0), written, memory)
        device = workers.devices[0].device
        allowed = min(one.device.memory for one in workers.devices if one.device.memory is not None)
    runs = detail is Detail.STEPS and (scheduling is None or scheduling.purpose is PlanPurpose.RUN)
    asked = stream_request_of(request, core, allowed, stored, workers, runs=runs)
    plan, streaming, stages = plan_in_tiles(core, bound, program.files, asked, device, texts, detail)
    run = InTiles(bound, asked, device, streaming, stages)
    return replace(program, bound=streaming.bound, plan=plan, run=run, file_bytes=0)


def plan_in_tiles(
    core: Core, bound: BoundGraph, files: Mapping[str, InputFile], asked: StreamRequest, device: Device,
    texts: tuple[PlannedFile, ...], detail: Detail, settle: PlanSelection | None = None,
) -> tuple[ExecutionPlan, Streaming, tuple[SelectionStage, ...]]:  # fmt: skip
    """Plan a program in tiles: the plan, the program it belongs to, and the selection stages before it.

    `settle` gives the number of items that a stage selects; without it stages are planned for the upper bound.  CannotStream: the
    phase that needs its operands as a whole.  Refused: a stored plan differs from the one made with its tiles.
    """
    from ...backend.schedule.program.plan_program import require_current
    from ...backend.schedule.program.schedule_from_plan import differing_parts
    from ...backend.schedule.streams.pass_checks import faults_of_streams

    stages: list[SelectionStage] = []

    def at_most(stage: Streaming, selection: Selection) -> int:
        stages.append(plan_stage(stage, selection, device, at_most, detail))
        return selection.most

    limit, stored_plan, rows = asked.limit, asked.stored_plan, None
    if stored_plan is None:
        sources = sources_of(core, files, limit)
    else:
        require_current(stored_plan.plan, core, bound, None, stored_plan.path)
        names = {store.name for store in stored_plan.plan.stores if store.access is Access.READ}
        sources = {name: one for name, one in sources_of(core, files, 0).items() if name in names}
        rows = tuple(step.rows for step in passes_of(stored_plan.plan))
    if not sources:
        raise CannotStream(bound.graph.phases[0], "")
    stored = {name: Stored(source.bytes, source.working_memory) for name, source in sources.items()}
    streaming = Streaming(bound, stored, asked.sinks, limit, rows)
    if asked.workers is not None:
        streaming = replace(streaming, devices=asked.workers.devices, undivided=asked.workers.undivided)
    if stored_plan is not None:  # in full detail, to be compared with the stored plan
        device, detail = replace(device,
            threads=stored_plan.plan.devices[0].threads if stored_plan.plan.devices else 1), Detail.FULL
    plan, planned = plan_streams(streaming, device, texts, detail, (settle or at_most) if stored_plan is None else None)
    faults = faults_of_streams(plan, planned.bound, planned.sources, limit)
    if stored_plan is not None:
        require_valid(faults or differing_parts(stored_plan.plan, plan), stored_plan.path)
    require_invariant(not faults, f"a plan that streams is right: {faults[:1]}")
    return plan, planned, tuple(stages)


def plan_stage(asked: Streaming, selection: Selection, device: Device, settle: PlanSelection, detail: Detail) -> SelectionStage:
    """Plan a selection stage, after those before it.  Raises CannotStream."""
    from ...backend.schedule.streams.pass_checks import faults_of_streams

    plan, planned = plan_streams(asked, device, (), detail, settle)
    faults = faults_of_streams(plan, planned.bound, planned.sources, asked.limit)
    require_invariant(not faults, f"a stage that selects is right: {faults[:1]}")
    return SelectionStage(plan, planned, selection)


@dataclass(frozen=True, slots=True)
class InTiles:
    """Executes a program tile by tile, by the plans of `streaming`.

    `bound` is the program with the sizes that are known before it runs; `request` is what it was planned for, on `device`;
    `stages` are its selection stages, planned for the upper bounds of their counts; `selected` has the items that they have
    selected, by name.
    """

    bound: BoundGraph
    request: StreamRequest
    device: Device
    streaming: Streaming
    stages: tuple[SelectionStage, ...] = ()
    selected: Mapping[str, SelectedRows] = field(default_factory=dict)

    @property
    def in_tiles(self) -> bool:
        return True

    def results(self, program: LoadedProgram, observe: Observer | None) -> RunResults:
        """Run on this machine, or with tiles dealt to workers; if a worker is lost, run again on the others."""
        workers = self.request.workers
        if workers is None:
            return self._executed(program, observe, None)

        def run(attempt: TiledAttempt) -> RunResults:
            run, planned = self._on_remaining_workers(program, workers)
            results = run._executed(planned, observe, attempt)
            return results._replace(tiles={**results.tiles, **attempt.read})

        return workers.cluster.run_in_tiles(os.path.basename(program.checked.source.name), run)

    def _executed(self, program: LoadedProgram, observe: Observer | None, attempt: TiledAttempt | None) -> RunResults:
        run, program = self._after_stages(program, observe, attempt) if self.stages else (self, program)
        stores = run._stores(program, attempt)
        try:
            return run._execute(program, stores, observe, attempt)
        except BaseException as failure:
            try:
                raise run.first_failure(program, failure) from None
            finally:
                stores.discard()

    def _execute(
        self, program: LoadedProgram, stores: TiledFiles, observe: Observer | None = None, attempt: TiledAttempt | None = None
    ) -> RunResults:  # fmt: skip
        """Execute the plan with the values of inputs that are not read tile by tile."""
        from ...backend import execute
        from ...backend.graph.phases import Input

        needed = {phase.name for phase in program.bound.graph.phases if isinstance(phase, Input)} - stores.sources.keys()
        values = program.values(stores.sources.keys() | (program.files.keys() - needed if self.selected else set()))
        values |= {name: one.array() for name, one in self.selected.items() if name in needed and one.file is not None}
        results = execute(program.plan, program.bound, values, observe, stores=stores)
        return results if attempt is None else results._replace(tiles=stores.read)

    def _planned(self, program: LoadedProgram, plan: ExecutionPlan, asked: Streaming, **changes: Any) -> _Planned:
        """The program with a plan, and this object adapted to it as its run."""
        return replace(self, streaming=asked, **changes), replace(program, plan=plan, bound=asked.bound)

    def _on_remaining_workers(self, program: LoadedProgram, workers: TileWorkers) -> _Planned:
        """The program planned for the workers that are left."""

        left = workers.cluster.devices
        devices = tuple(one for at, one in enumerate(workers.devices) if at == 0 or one.device.id in left)
        if len(devices) == len(workers.devices):
            return self, program
        request = replace(self.request, workers=replace(workers, devices=devices))
        if self.stages:
            return replace(self, request=request), program
        rows = tuple(step.rows for step in passes_of(program.plan))
        asked = replace(self.streaming, devices=devices, rows=rows)
        plan, asked = plan_streams(asked, program.plan.devices[0], program.plan.program, Detail.STEPS)
        return self._planned(program, plan, asked, request=request)

    def _after_stages(self, program: LoadedProgram, observe: Observer | None, attempt: TiledAttempt | None) -> _Planned:
        """Run the selection stages, which count what masks select, and plan the rest of the program with these sizes.

        The checker has left no fact about such a size open.  Raises RunFailed and Refused."""
        from ...backend.streams.spill import SelectedRows

        selected: dict[str, SelectedRows] = {}

        def select(asked: Streaming, selection: Selection) -> int:
            stage = plan_stage(asked, selection, self.device, select, Detail.STEPS)
            rows = {store.name: SelectedRows(store) for store in selection.stores}
            selected.update(rows)
            run, known = self._planned(program, stage.plan, stage.request, stages=(), selected=selected)
            run._execute(known, run._stores(known, attempt), observe)
            (count,) = {one.count for one in rows.values()}
            return count

        try:
            plan, planned, _ = plan_in_tiles(
                program.core, self.bound, program.files, self.request, self.device, (), Detail.STEPS, select
            )  # fmt: skip
        except CannotStream as trouble:
            message = f"what follows from the items selected does not fit: {trouble.why}"
            raise Refused([Diagnostic(Code.E702, message, trouble.phase.span)]) from None
        except BaseException as failure:
            for one in selected.values():
                one.discard()
            raise self.first_failure(program, failure) from None
        return self._planned(program, plan, planned, stages=(), selected=selected)

    def first_failure(self, program: LoadedProgram, failure: BaseException) -> BaseException:
        """The error with which a run in memory would end, where the run in tiles ended with `failure`.

        In memory all inputs are read first, and each phase completes before the next.  So the phases that may fail are computed
        again in this order, each alone.
        """
        from ...backend.streams.spill import CheckedRows
        from ...backend.vm.check_failures import DATA_DEPENDENT_CHECKS

        if not isinstance(failure, RhoError) or failure.diagnostics[0].code not in {*DATA_DEPENDENT_CHECKS, Code.E706}:
            return failure
        streaming, device = replace(self.streaming, devices=()), program.plan.devices[0]
        if self.stages:
            streaming = replace(streaming, bound=self.bound, scratch=())
        elements = {entry.name: program.core.types[entry.value].element for entry in program.core.data}
        limited = {name for name, one in elements.items() if (one.low, one.high, one.index_bound) != (None, None, None)}

        def request_for(check: PhaseCheck) -> Streaming:
            sinks = {name: Target() for name in (*check.outputs, *(scratch.name for scratch in streaming.scratch))}
            return replace(streaming, bound=check.bound, sinks=sinks, rows=None)

        def failure_of(check: PhaseCheck) -> RhoError | None:
            run, alone = self._planned(program, *plan_streams(request_for(check), device), stages=())
            stores = run._stores(alone, None)
            stores = replace(stores, sinks={**stores.sinks, **{name: CheckedRows("", Kind.BOOL, ()) for name in check.outputs}})
            try:
                run._execute(alone, stores)
            except RhoError as failed:
                return failed
            finally:
                stores.discard()
            return None

        try:
            for check in checks_of(streaming.bound, limited):
                if (first := failure_of(check)) is not None:
                    return first_in_order(check, axes_before_tiles(request_for(check), check.last), failure_of) or first
        except CannotStream:
            pass
        return failure

    def _stores(self, program: LoadedProgram, attempt: TiledAttempt | None) -> TiledFiles:
        """The files behind the stores of the plan, not opened yet; `attempt`: the workers that run tiles."""
        from ...backend.io.formats import damaged
        from ...backend.io.reading import check_declared, located, row_source
        from ...backend.io.writing import sink_type
        from ...backend.streams.spill import SortedRuns
        from ...backend.streams.stream_executor import TiledFiles

        core, sizes, checks = program.core, program.bound.sizes, {}
        temporary: dict[str, SortedRuns | SelectedRows] = {one.name: SortedRuns(one) for one in self.streaming.scratch}
        temporary |= self.selected
        read = [store.name for store in program.plan.stores if store.access is Access.READ]
        sources: dict[str, RowSource] = {name: temporary[name] for name in read if name in temporary}
        for name in [name for name in read if name not in temporary]:
            file = program.files[name]
            type, span = core.types[file.entry.value], file.entry.span
            with located(file.shown, span):
                source = row_source(file.path, file.wanted, file.shape)
                if source is None:
                    raise damaged("changed while it was read")
            sources[name] = source
            checks[name] = partial(check_declared, declared=type, sizes=sizes, path=file.shown, span=span)
        written = {store.name for store in program.plan.stores if store.access is Access.WRITE}
        sinks: dict[str, RowSink | SortedRuns | SelectedRows] = {name: one for name, one in temporary.items() if name in written}
        for entry in core.outputs:
            if entry.name in written:
                type = core.types[entry.value]
                shape, path = tuple(size.evaluate(sizes) for size in type.shape), program.request.outputs[entry.name]
                sink = sink_type(path, type.element.kind, entry.reading)
                assert sink is not None, "only outputs whose files take tiles are written so"
                sinks[entry.name] = sink(path, type.element.kind, shape, entry.name, entry.reading)
        if attempt is not None and (workers := self.request.workers) is not None:
            from ...backend.cluster.wire import stream_shipment

            shipment = stream_shipment(core, self.streaming, sizes, program.request.grouping.disabled_passes)
            attempt.use(shipment, workers.inputs, workers.undivided)
        return TiledFiles(sources, sinks, checks, others=attempt)


_Planned: TypeAlias = "tuple[InTiles, LoadedProgram]"


def first_in_order(check: PhaseCheck, axes: int, failure_of: Callable[[PhaseCheck], RhoError | None]) -> RhoError | None:
    """The failure of the first item in row-major order, if tiles go along a later axis; None if there are no such axes.

    The first failing slice of each of `axes` is found by bisection.
    """
    if not axes:
        return None
    box = [*check.box]
    for axis in range(axes):
        low, high = box[axis]
        while high - low > 1:
            middle = (low + high) // 2
            box[axis] = (low, middle)
            low, high = (middle, high) if failure_of(check.within(tuple(box))) is None else (low, middle)
        box[axis] = (low, high)
    return failure_of(check.within(tuple(box)))


def require_one_run(program: LoadedProgram, what: str) -> None:
    """Raise Refused if a program reads inputs in tiles, since `what` needs them as a whole."""
    if program.streams:
        message = f"{what} needs the inputs in memory as a whole, and they are read in tiles"
        raise Refused([Diagnostic(Code.E702, message, Span(program.checked.source.name, 0, 0))])


def require_sizes_known(program: LoadedProgram, what: str) -> None:
    """Raise Refused if a size is known only when the program runs, since `what` needs all sizes before.

    Also raised for tiles that are dealt to workers, since how many a worker gets depends on its speed during the run.
    """
    run = program.run
    if not isinstance(run, InTiles):
        return
    if run.request.workers is not None:
        message = f"{what} has tiles of one device, and these are dealt to the workers of a cluster when the program runs"
        span = Span(program.checked.source.name, 0, 0)
        raise Refused([Diagnostic(Code.E702, message, span, notes=("plan it without --cluster",))])
    if run.stages:
        span = run.stages[0].selection.span
        message = f"{what} needs all sizes, and how many items this selects is counted when the program runs"
        notes = (
            "`rho run` plans what follows once it has counted; `rho plan` alone shows each stage for the most there can be",
            "a run within memory is one plan, which is kept: give it more by --max-memory",
        )
        raise Refused([Diagnostic(Code.E702, message, span, notes=notes)])


def predicted_seconds(program: LoadedProgram) -> float:
    """The predicted time of a program that streams, all its stages together, by this machine's cost tables."""
    from ...backend.schedule.streams.pass_times import PassTimes
    from .stored_plans import this_machine

    run, profile = program.run, this_machine()
    assert isinstance(run, InTiles), "it streams"
    selected = {store.name for stage in run.stages for store in stage.selection.stores}
    planned = [*((stage.plan, stage.request) for stage in run.stages), (program.plan, run.streaming)]
    return sum(
        PassTimes(plan, asked.bound, asked.scratch, selected | {one.name for one in asked.scratch}).ns(profile)
        for plan, asked in planned
    ) / 1e9  # fmt: skip


def plans_of(program: LoadedProgram) -> list[ExecutionPlan]:
    """The plans of the selection stages and of the program, in the order in which they run."""
    return [*(stage.plan for stage in stages_of(program)), program.plan]


def stages_of(program: LoadedProgram) -> tuple[SelectionStage, ...]:
    """The selection stages of a program."""
    return program.run.stages if isinstance(program.run, InTiles) else ()


def passes_of(plan: ExecutionPlan) -> list[StreamStep]:
    """The passes of a plan, in order."""
    return [step for queue in plan.main.queues for step in queue.steps if isinstance(step, StreamStep)]
