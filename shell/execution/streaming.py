"""Runs programs whose data exceeds memory tile by tile from the files of their inputs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ...backend.schedule.plan.plan import Access, StreamStep
from ...lang.diagnostics.model import Code, Diagnostic, Refused, RhoError
from ...lang.support.records import replace, require_invariant
from ...lang.syntax.source import Span
from ...typechecker.elements import Kind
from ..console.standard_streams import stream_of
from ..display.estimates import duration
from ..pipeline_types import LoadedProgram, StreamRequest, TileWorkers
from . import stored_plans
from .params import param_values_of
from .stored_plans import StoredPlan, require_valid

if TYPE_CHECKING:
    from ...backend.cluster.client import TiledAttempt
    from ...backend.graph.bind_sizes import BoundGraph
    from ...backend.io.reading import RowSource
    from ...backend.io.row_sinks import RowSink
    from ...backend.schedule.plan.plan import Device, ExecutionPlan, PlannedFile
    from ...backend.schedule.single_device import Detail
    from ...backend.schedule.streams.stream_planning import (
        PhaseCheck,
        PlanSelection,
        Selection,
        SelectionStage,
        Streaming,
        Target,
    )
    from ...backend.streams.spill import SelectedRows
    from ...backend.streams.stream_executor import TiledFiles
    from ...backend.vm.run_state import Observer, RunResults
    from ...typechecker.core.blocks import Core
    from .loading import InputFile
    from .run_request import RunRequest

_SMALL_FRACTION: Final = 16
"""An input below this fraction (one 16th) of the memory is read as a whole."""


def sources_of(core: Core, files: Mapping[str, InputFile], limit: int) -> dict[str, RowSource]:
    """By name, the large inputs whose files can be read tile by tile.  `limit`: bytes of memory."""
    from ...backend.io.byte_source import bytes_of
    from ...backend.io.reading import located, row_source

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
    """By name, the outputs that can be written tile by tile; one without a file counts as an npy file unless the plan `runs`."""
    from ...backend.io.writing import sink_type
    from ...backend.schedule.streams.stream_planning import Target

    paths = Counter(request.outputs.values())
    sinks = {}
    for entry in core.outputs:
        path = request.outputs.get(entry.name, "" if runs else f"{entry.name}.npy")
        if stream_of(path) is not None or paths[path] > 1 or entry.name in request.headers:
            continue
        sink = sink_type(path, core.types[entry.value].element.kind, entry.reading)
        if sink is not None:
            sinks[entry.name] = Target(sink.working_memory, sink.any_axis)
    return sinks


def stream_request_of(
    request: RunRequest, core: Core, allowed: int | None, stored: StoredPlan | None, workers: TileWorkers | None = None, *,
    runs: bool,
) -> StreamRequest:  # fmt: skip
    """The stream request of a run request; `allowed`: bytes of memory, `stored`: a stored plan to follow, `workers`: devices of a
    cluster to which tiles are dealt.

    Refused E702: the stored plan writes an output to a file, and the request names none."""
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
    """The error of a plan with passes that would run on declared devices or be simulated."""
    message = "a plan that reads inputs in tiles runs on this machine's processors"
    notes = ("run it without --devices, --simulate and --cluster",)
    return Refused([Diagnostic(Code.E702, message, Span(stored.path, 0, 0), notes=notes)])


def plan_in_tiles(
    core: Core, bound: BoundGraph, files: Mapping[str, InputFile], asked: StreamRequest, device: Device,
    texts: tuple[PlannedFile, ...], detail: Detail, settle: PlanSelection | None = None,
) -> tuple[ExecutionPlan, Streaming, tuple[SelectionStage, ...]]:  # fmt: skip
    """Plan a program in tiles: the plan, the program that it is of, and the selection stages before it.

    `settle` gives the number of items that a stage selects; without it stages are planned for the most there can be.
    CannotStream: the phase that needs its operands as a whole.  Refused: a stored plan differs from the one made with its
    tiles."""
    from ...backend.schedule.program.plan_program import require_current
    from ...backend.schedule.program.schedule_from_plan import differing_parts
    from ...backend.schedule.single_device import Detail
    from ...backend.schedule.streams.pass_partitioning import CannotStream
    from ...backend.schedule.streams.stream_planning import Stored, Streaming, plan_streams
    from ...backend.schedule.streams.verify_passes import faults_of_streams

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
    if stored_plan is not None:  # in full detail, for the comparison with the stored plan
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
    from ...backend.schedule.streams.stream_planning import SelectionStage, plan_streams
    from ...backend.schedule.streams.verify_passes import faults_of_streams

    plan, planned = plan_streams(asked, device, (), detail, settle)
    faults = faults_of_streams(plan, planned.bound, planned.sources, asked.limit)
    require_invariant(not faults, f"a stage that selects is right: {faults[:1]}")
    return SelectionStage(plan, planned, selection)


def run_selection_stages(
    loaded: LoadedProgram, observe: Observer | None, attempt: TiledAttempt | None = None
) -> LoadedProgram:  # fmt: skip
    """Run the selection stages, which count what masks select, and plan the rest of the program with these sizes.  `attempt`: the
    workers that run tiles.

    The checker has left no fact about such a size open.  Raises RunFailed and Refused."""
    from ...backend import execute
    from ...backend.schedule.single_device import Detail
    from ...backend.schedule.streams.pass_partitioning import CannotStream
    from ...backend.streams.spill import SelectedRows

    staged, selected = loaded.staged, dict[str, SelectedRows]()
    assert staged is not None, "there are sizes that are not known"

    def select(asked: Streaming, selection: Selection) -> int:
        stage = plan_stage(asked, selection, staged.device, select, Detail.STEPS)
        rows = {store.name: SelectedRows(store) for store in selection.stores}
        selected.update(rows)
        known = replace(loaded, staged=None, mask_selections=selected)
        stage_program = replace(
            known, plan=stage.plan, bound=stage.request.bound, scratch=stage.request.scratch, streaming=stage.request
        )  # fmt: skip
        stores = stores_of(stage_program, attempt)
        execute(stage_program.plan, stage_program.bound, values_of(stage_program, stores), observe, stores=stores)
        (count,) = {one.count for one in rows.values()}
        return count

    try:
        plan, planned, _ = plan_in_tiles(
            loaded.core, staged.bound, loaded.files, staged.request, staged.device, (), Detail.STEPS, select
        )  # fmt: skip
    except CannotStream as trouble:
        message = f"what follows from the items selected does not fit: {trouble.why}"
        raise Refused([Diagnostic(Code.E702, message, trouble.phase.span)]) from None
    except BaseException as failure:
        for one in selected.values():
            one.discard()
        raise first_failure(loaded, failure) from None
    return replace(
        loaded, plan=plan, bound=planned.bound, scratch=planned.scratch, streaming=planned, staged=None, mask_selections=selected
    )


def first_failure(loaded: LoadedProgram, failure: BaseException) -> BaseException:
    """The error with which a run in memory ends where the run in tiles ended with `failure`.

    In memory inputs are read before all, and each phase completes before the next.  So the phases that may fail are computed
    again in this order, each alone."""
    from ...backend import execute
    from ...backend.schedule.streams.pass_partitioning import CannotStream
    from ...backend.schedule.streams.stream_planning import Target, axes_before_tiles, checks_of, plan_streams
    from ...backend.streams.spill import CheckedRows
    from ...backend.vm.backend_interface import DATA_DEPENDENT_CHECKS

    if not isinstance(failure, RhoError) or failure.diagnostics[0].code not in {*DATA_DEPENDENT_CHECKS, Code.E706}:
        return failure
    assert loaded.streaming is not None, "it runs in tiles"
    streaming, device = replace(loaded.streaming, devices=()), loaded.plan.devices[0]
    if loaded.staged is not None:
        streaming = replace(streaming, bound=loaded.staged.bound, scratch=())
    elements = {entry.name: loaded.core.types[entry.value].element for entry in loaded.core.data}
    limited = {name for name, one in elements.items() if (one.low, one.high, one.index_bound) != (None, None, None)}

    def request_for(check: PhaseCheck) -> Streaming:
        sinks = {name: Target() for name in (*check.outputs, *(scratch.name for scratch in streaming.scratch))}
        return replace(streaming, bound=check.bound, sinks=sinks, rows=None)

    def failure_of(check: PhaseCheck) -> RhoError | None:
        plan, planned = plan_streams(request_for(check), device)
        program = replace(loaded, plan=plan, bound=planned.bound, scratch=planned.scratch, staged=None)
        stores = stores_of(program)
        stores = replace(stores, sinks={**stores.sinks, **{name: CheckedRows("", Kind.BOOL, ()) for name in check.outputs}})
        try:
            execute(plan, planned.bound, values_of(program, stores), stores=stores)
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


def first_in_order(check: PhaseCheck, axes: int, failure_of: Callable[[PhaseCheck], RhoError | None]) -> RhoError | None:
    """The failure of the first item in order, where tiles go along a later axis: the first failing slice of each of `axes`, by
    halving.  None if there are no such axes."""
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


def values_of(loaded: LoadedProgram, stores: TiledFiles | None) -> dict[str, Any]:
    """By name, the values of inputs that are not read tile by tile."""
    from ...backend.graph.phases import Input

    request = loaded.request
    values: dict[str, Any] = {**param_values_of(loaded.core, request.params).arrays, **request.arrays}
    sources = {} if stores is None else stores.sources
    needed = {phase.name for phase in loaded.bound.graph.phases if isinstance(phase, Input)} - sources.keys()
    if loaded.files:
        from .loading import read_inputs

        without = sources.keys() | (loaded.files.keys() - needed if loaded.mask_selections else set())
        values |= read_inputs(loaded.core, loaded.files, loaded.bound.sizes, without)
    selected = loaded.mask_selections or {}
    return values | {name: one.array() for name, one in selected.items() if name in needed and one.file is not None}


def on_those_left(loaded: LoadedProgram) -> LoadedProgram:
    """The program planned for the workers that are left of those that it was planned for."""
    from ...backend.schedule.single_device import Detail
    from ...backend.schedule.streams.stream_planning import plan_streams

    workers, streaming = loaded.workers, loaded.streaming
    assert workers is not None and streaming is not None, "it runs in tiles on workers"
    left = workers.connection.cluster.devices
    devices = tuple(one for at, one in enumerate(workers.devices) if at == 0 or one.device.id in left)
    if len(devices) == len(workers.devices):
        return loaded
    rows = tuple(step.rows for step in passes_of(loaded.plan))
    asked, workers = replace(streaming, devices=devices, rows=rows), replace(workers, devices=devices)
    staged = loaded.staged
    if staged is not None:
        staged = replace(staged, request=replace(staged.request, workers=workers))
        return replace(loaded, staged=staged, workers=workers)
    plan, streaming = plan_streams(asked, loaded.plan.devices[0], loaded.plan.program, Detail.STEPS)
    return replace(loaded, plan=plan, streaming=streaming, workers=workers)


def run_on_workers(loaded: LoadedProgram, observe: Observer | None) -> RunResults:
    """Run a program whose tiles are dealt to the workers of a cluster, again on those that are left when one is lost."""
    from ...backend import execute

    workers = loaded.workers
    assert workers is not None, "its tiles are dealt"

    def run(attempt: TiledAttempt) -> RunResults:
        program = on_those_left(loaded)
        if program.staged is not None:
            program = run_selection_stages(program, observe, attempt)
        stores = stores_of(program, attempt)
        try:
            results = execute(program.plan, program.bound, values_of(program, stores), observe, stores=stores)
        except BaseException as failure:
            try:
                raise first_failure(program, failure) from None
            finally:
                stores.discard()
        return results._replace(tiles={**stores.read, **attempt.read})

    return workers.connection.cluster.run_in_tiles(os.path.basename(loaded.checked.source.name), run)


def stores_of(loaded: LoadedProgram, attempt: TiledAttempt | None = None) -> TiledFiles:
    """The files behind the stores of a plan, not opened yet; `attempt`: the workers that run tiles."""
    from ...backend.io.errors import damaged
    from ...backend.io.reading import check_declared, located, row_source
    from ...backend.io.writing import sink_type
    from ...backend.streams.spill import SortedRuns
    from ...backend.streams.stream_executor import TiledFiles

    core, checks = loaded.core, {}
    scratch_stores: dict[str, SortedRuns | SelectedRows] = {scratch.name: SortedRuns(scratch) for scratch in loaded.scratch}
    scratch_stores |= loaded.mask_selections or {}
    read = [store.name for store in loaded.plan.stores if store.access is Access.READ]
    sources: dict[str, RowSource] = {name: scratch_stores[name] for name in read if name in scratch_stores}
    for name in [name for name in read if name not in scratch_stores]:
        file = loaded.files[name]
        type = core.types[file.entry.value]
        with located(file.shown, file.entry.span):
            source = row_source(file.path, file.wanted, file.shape)
            if source is None:
                raise damaged("changed while it was read")
        sources[name] = source
        checks[name] = partial(
            check_declared, declared=type, sizes=loaded.bound.sizes, path=file.shown, span=file.entry.span
        )  # fmt: skip
    written = {store.name for store in loaded.plan.stores if store.access is Access.WRITE}
    sinks: dict[str, RowSink | SortedRuns | SelectedRows] = {name: one for name, one in scratch_stores.items() if name in written}
    for entry in core.outputs:
        if entry.name in written:
            type = core.types[entry.value]
            shape = tuple(size.evaluate(loaded.bound.sizes) for size in type.shape)
            path = loaded.request.outputs[entry.name]
            sink = sink_type(path, type.element.kind, entry.reading)
            assert sink is not None, "only outputs whose files take tiles are written so"
            sinks[entry.name] = sink(path, type.element.kind, shape, entry.name)
    if attempt is not None and loaded.workers is not None and loaded.streaming is not None:
        from ...backend.cluster.wire import stream_shipment

        disabled = loaded.request.grouping.disabled_passes
        shipment = stream_shipment(core, loaded.streaming, loaded.bound.sizes, disabled)
        attempt.use(shipment, loaded.workers.inputs, loaded.workers.undivided)
    return TiledFiles(sources, sinks, checks, others=attempt)


def require_one_run(loaded: LoadedProgram, what: str) -> None:
    """Raise Refused if a program reads inputs in tiles, since `what` needs them as a whole."""
    if loaded.streams:
        message = f"{what} needs the inputs in memory as a whole, and they are read in tiles"
        raise Refused([Diagnostic(Code.E702, message, Span(loaded.checked.source.name, 0, 0))])


def require_sizes_known(loaded: LoadedProgram, what: str) -> None:
    """Raise Refused if a size is only known when the program runs, since `what` needs all sizes before; or if tiles are dealt to
    workers, as many as they are quick when it runs."""
    if loaded.workers is not None:
        message = f"{what} has tiles of one device, and these are dealt to the workers of a cluster when the program runs"
        span = Span(loaded.checked.source.name, 0, 0)
        raise Refused([Diagnostic(Code.E702, message, span, notes=("plan it without --cluster",))])
    if loaded.staged is not None:
        span = loaded.staged.stages[0].selection.span
        message = f"{what} needs all sizes, and how many items this selects is counted when the program runs"
        notes = (
            "`rho run` plans what follows once it has counted; `rho plan` alone shows each stage for the most there can be",
            "a run within memory is one plan, which is kept: give it more by --max-memory",
        )
        raise Refused([Diagnostic(Code.E702, message, span, notes=notes)])


def stream_lines(loaded: LoadedProgram) -> list[str]:
    """A line on what the passes of a plan read and write and how long: `streams x: 1.0 GB read in 1 pass of 64 tiles in all,
    about 0.7 s`."""
    from ...backend.schedule.plan.plan_text import bytes_text

    if not loaded.streams:
        return []
    plans = _plans(loaded)
    steps = [step for plan in plans for step in passes_of(plan)]
    if not steps:
        return []
    stored = dict.fromkeys(store.name for plan in plans for store in plan.stores if store.name in loaded.files)
    names = ", ".join(f"`{name}`" for name in stored)
    reads, writes = sum(step.reads for step in steps), sum(step.writes for step in steps)
    tiles = sum(step.tiles for step in steps)
    passes = passes_text(len(steps))
    wrote = f", {bytes_text(writes)} written" if writes else ""
    stages = () if loaded.staged is None else loaded.staged.stages
    picked = sum(step.writes for stage in stages for step in passes_of(stage.plan))
    if loaded.scratch or picked:
        wrote += f" ({bytes_text(sum(one.bytes for one in loaded.scratch) + picked)} of them in temporary files)"
    most = ", where masks select everything" if stages else ""
    shares = [share for step in steps for share in step.shares]
    devices = [
        f"  {device}: {bytes_text(sum(one.reads for one in shares if one.device == device))} read in "
        f"{passes_text(sum(one.device == device for one in shares))} of "
        f"{sum(one.stop - one.first for one in shares if one.device == device):,} tiles, "
        f"{bytes_text(max(one.memory for one in shares if one.device == device))} of memory"
        for device in dict.fromkeys(one.device for one in shares)
    ]
    return [
        f"streams {names}: {bytes_text(reads)} read in {passes} of {tiles:,} tiles in all{wrote}, "
        f"about {duration(round(predicted_seconds(loaded) * 1e9))}{most}",
        *devices,
    ]  # fmt: skip


def passes_text(count: int) -> str:
    """`1 pass`, `2 passes`."""
    return "1 pass" if count == 1 else f"{count} passes"


def tile_lines(summary: Mapping[str, Any]) -> list[str]:
    """A line on what each device has read, of the summary of a run whose tiles were dealt."""
    from ...backend.schedule.plan.plan_text import bytes_text

    return [
        f"  {device} has read {bytes_text(one['read_bytes'])} in {passes_text(one['passes'])} of {one['tiles']:,} tiles"
        for device, one in summary.get("tiles", {}).items()
    ]


def predicted_seconds(loaded: LoadedProgram) -> float:
    """The predicted time of a program that streams, all its stages together, by this machine's cost tables."""
    from ..display.analysis import PassTimes
    from .stored_plans import this_machine

    stages = () if loaded.staged is None else loaded.staged.stages
    selected = {store.name for stage in stages for store in stage.selection.stores}
    plans = [(stage.plan, stage.request.bound, stage.request.scratch) for stage in stages]
    plans.append((loaded.plan, loaded.bound, loaded.scratch))
    profile = this_machine()
    planned = [PassTimes(plan, bound, scratch, selected | {one.name for one in scratch}) for plan, bound, scratch in plans]
    return sum(one.ns(profile) for one in planned) / 1e9


def _plans(loaded: LoadedProgram) -> list[ExecutionPlan]:
    """The plans of the selection stages and of the program, in the order in which they run."""
    stages = () if loaded.staged is None else loaded.staged.stages
    return [*(stage.plan for stage in stages), loaded.plan]


def passes_of(plan: ExecutionPlan) -> list[StreamStep]:
    """The passes of a plan, in order."""
    return [step for queue in plan.main.queues for step in queue.steps if isinstance(step, StreamStep)]
