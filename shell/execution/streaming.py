"""What does not fit in memory, run tile by tile from the files of its inputs.

Neighbours: `session` (asks before it refuses), `loading` (the other inputs), `backend.schedule.streams` (plans), `refusals`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from ...lang.certain import certain
from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Refused
from ...lang.source import Span
from ..cli.streams import stream_of
from ..display.durations import duration
from ..stages import Loaded
from . import machine
from .loading import InputFile
from .stored_plans import Kept, require_right

if TYPE_CHECKING:
    from ...backend.graph.bind import BoundGraph
    from ...backend.run.files import RowSource
    from ...backend.run.streams.driver import Stores
    from ...backend.schedule.plan.model import Device, Plan, PlannedFile, StreamStep
    from ...backend.schedule.single.one_device import Detail
    from ...backend.schedule.streams.planning import Streaming, Target
    from ...typechecker.core import Core
    from ..cli.requests import Request

_SMALL: Final = 16
"""An input of at most this part of the memory is read whole."""
READ_RATE: Final = 1.5e9
WRITE_RATE: Final = 0.4e9
"""Bytes a second of a usual disk: nothing measures those of this machine yet."""


def sources_of(core: Core, files: Mapping[str, InputFile], limit: int) -> dict[str, RowSource]:
    """The inputs that can be read tile by tile, and are large."""
    from ...backend.run.files import bytes_of, located, row_source

    found: dict[str, RowSource] = {}
    for name, file in files.items():
        type = core.types[file.entry.value]
        if type.permutation or bytes_of(type.element.kind, file.shape) * _SMALL <= limit:
            continue
        with located(file.shown, file.entry.span):
            source = row_source(file.path, file.wanted, file.shape)
        if source is not None:
            found[name] = source
    return found


def sinks_of(request: Request, core: Core, *, runs: bool) -> dict[str, Target]:
    """The outputs that can be written tile by tile; one without a file goes to an npy file if the plan does not run."""
    from ...backend.run.files import sink_type
    from ...backend.schedule.streams.planning import Target

    paths = Counter(request.outputs.values())
    found = {}
    for entry in core.outputs:
        path = request.outputs.get(entry.name, "" if runs else f"{entry.name}.npy")
        if stream_of(path) is not None or paths[path] > 1:
            continue
        sink = sink_type(path, core.types[entry.value].element.kind, entry.reading)
        if sink is not None:
            found[entry.name] = Target(sink.beside, sink.any_axis)
    return found


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be planned in tiles: within `limit` bytes, outputs of these names to files; as `kept`, where that is given."""

    limit: int
    sinks: Mapping[str, Target]
    kept: Kept | None = None


def asked_of(request: Request, core: Core, allowed: int | None, kept: Kept | None, *, runs: bool) -> Asked:
    """Of a request; a plan that does not run writes every output to a file.  Refused: the plan that is kept writes files that
    are not given."""
    from ...backend.schedule.plan.model import Access

    sinks = sinks_of(request, core, runs=runs)
    if kept is None:
        assert allowed is not None, "what fits is not streamed"
        return Asked(allowed, sinks)
    read = {store.name for store in kept.plan.stores if store.access is Access.READ}  # what is both is scratch
    written = {store.name for store in kept.plan.stores if store.access is Access.WRITE} - read
    if missing := sorted(written - sinks.keys()):
        message = f"the plan writes `{missing[0]}` as it comes, and there is no file for it"
        raise Refused([Diagnostic(Code.E702, message, Span(kept.path, 0, 0), notes=(f"add `--out {missing[0]}=FILE.npy`",))])
    limit = allowed or request.limits.memory or machine.memory() or max(count for _, count in kept.plan.main.peak)
    return Asked(limit, {name: sinks[name] for name in written}, kept)


def no_devices(kept: Kept) -> Refused:
    """A plan with passes is run on declared devices, or simulated."""
    message = "a plan that reads inputs in tiles runs on this machine's processors"
    return Refused([Diagnostic(Code.E702, message, Span(kept.path, 0, 0), notes=("run it without --devices and --simulate",))])


def streamed_plan(
    core: Core, bound: BoundGraph, files: Mapping[str, InputFile], asked: Asked, device: Device,
    texts: tuple[PlannedFile, ...], detail: Detail,
) -> tuple[Plan, Streaming]:  # fmt: skip
    """The plan and what it is of.  CannotStream: by which phase there is none.  Refused: the plan that is kept is not
    what is made with its tiles."""
    from ...backend.schedule.plan.model import Access
    from ...backend.schedule.program.planning import require_current
    from ...backend.schedule.streams.flow import CannotStream
    from ...backend.schedule.streams.judge import faults_of_streams
    from ...backend.schedule.streams.planning import Stored, Streaming, plan_streams

    limit, kept, rows = asked.limit, asked.kept, None
    if kept is None:
        sources = sources_of(core, files, limit)
    else:
        require_current(kept.plan, core, bound, None, kept.path)
        names = {store.name for store in kept.plan.stores if store.access is Access.READ}
        sources = {name: one for name, one in sources_of(core, files, 0).items() if name in names}
        rows = tuple(step.rows for step in passes_of(kept.plan))
    if not sources:
        raise CannotStream(bound.graph.phases[0], "")
    stored = {name: Stored(source.bytes, source.beside, source.going_back) for name, source in sources.items()}
    made, planned = plan_streams(Streaming(bound, stored, asked.sinks, limit, rows), device, texts, detail)
    faults = faults_of_streams(made, planned.bound, planned.sources, limit)
    if kept is not None:
        same = (made.main.queues, made.stores) == (kept.plan.main.queues, kept.plan.stores)
        require_right(faults or ([] if same else [_OTHER]), kept.path)
    certain(not faults, f"a plan that streams is right: {faults[:1]}")
    return made, planned


_OTHER: Final = "its passes and steps are not those of a plan with its tiles"


def stores_of(loaded: Loaded) -> Stores:
    """The files behind the stores of a plan, opened by nobody yet."""
    from ...backend.run.files import check_declared, located, row_source, sink_type
    from ...backend.run.files.trouble import damaged
    from ...backend.run.streams.driver import Stores
    from ...backend.run.streams.sorting import SortedRuns
    from ...backend.schedule.plan.model import Access

    core, sources, checks = loaded.core, {}, {}
    runs = {scratch.name: SortedRuns(scratch) for scratch in loaded.scratch}
    for name in [store.name for store in loaded.plan.stores if store.access is Access.READ and store.name not in runs]:
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
    sinks = {}
    for entry in core.outputs:
        if entry.name in written:
            type = core.types[entry.value]
            shape = tuple(size.evaluate(loaded.bound.sizes) for size in type.shape)
            path = loaded.request.outputs[entry.name]
            sink = sink_type(path, type.element.kind, entry.reading)
            assert sink is not None, "only outputs whose files take tiles are written so"
            sinks[entry.name] = sink(path, type.element.kind, shape, entry.name)
    return Stores({**sources, **runs}, {**sinks, **runs}, checks)


def require_one_run(loaded: Loaded, what: str) -> None:
    """Refused: something that needs the inputs as a whole."""
    if loaded.plan.stores:
        message = f"{what} needs the inputs in memory as a whole, and they are read in tiles"
        raise Refused([Diagnostic(Code.E702, message, Span(loaded.checked.source.name, 0, 0))])


def stream_lines(loaded: Loaded) -> list[str]:
    """What the passes of a plan read, write and take: `streams x: 1.0 GB in 1 pass of 64 tiles, about 0.7 s`."""
    from ...backend.schedule.plan.explain import bytes_text

    if not loaded.plan.stores:
        return []
    steps = passes_of(loaded.plan)
    names = ", ".join(f"`{store.name}`" for store in loaded.plan.stores if store.name in loaded.files)
    reads, writes = sum(step.reads for step in steps), sum(step.writes for step in steps)
    tiles = sum(step.tiles for step in steps)
    passes = "1 pass" if len(steps) == 1 else f"{len(steps)} passes"
    wrote = f", {bytes_text(writes)} written" if writes else ""
    if loaded.scratch:
        wrote += f" ({bytes_text(sum(one.bytes for one in loaded.scratch))} of them in temporary files)"
    return [
        f"streams {names}: {bytes_text(reads)} read in {passes} of {tiles:,} tiles in all{wrote}, "
        f"about {duration(round(predicted_seconds(loaded) * 1e9))}"
    ]  # fmt: skip


def predicted_seconds(loaded: Loaded) -> float:
    """Of the passes of a plan: the longest of reading, computing and writing, which go on together."""
    from ..display.estimates import predicted_ns

    steps = passes_of(loaded.plan)
    reads, writes = sum(step.reads for step in steps), sum(step.writes for step in steps)
    return max(reads / READ_RATE, (predicted_ns(loaded.bound) or 0) / 1e9, writes / WRITE_RATE)


def passes_of(plan: Plan) -> list[StreamStep]:
    """In order."""
    from ...backend.schedule.plan.model import StreamStep

    return [step for queue in plan.main.queues for step in queue.steps if isinstance(step, StreamStep)]
