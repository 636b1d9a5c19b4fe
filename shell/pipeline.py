"""`Session` takes a program through the stages check, load (with planning) and run; the command line, notebooks, editors and
Python use it.

A `Session` has the settings that are the same for all programs (permissions, strictness) and no program state, so that threads
may share it.  Problems are returned (`Checked.diagnostics`) or raised (`RhoError`); nothing is printed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..lang.diagnostics.model import Diagnostic, RhoError
from ..lang.support.processes import is_numpy_installed
from ..lang.support.records import dataclass, replace
from ..lang.syntax.source import Source
from .execution.modules import ModuleLoader, read_checked, write_checked
from .execution.params import UNRESTRICTED, Permissions, param_values_of
from .execution.stored_plans import cores, stored_streaming_plan
from .pipeline_types import Checked, LoadedProgram, Strictness

if TYPE_CHECKING:
    from ..backend.graph.bind_sizes import BoundGraph
    from ..backend.schedule.plan.plan import ExecutionPlan, PlannedFile
    from ..backend.vm.run_state import Observer
    from ..lang.foreign.equivalence_domains import FactQuery
    from ..typechecker.check import Checker
    from ..typechecker.core.operations import Core
    from .execution.admission_control import FileMemory
    from .execution.loading import InputFile
    from .execution.run_request import Outcome, RunRequest
    from .execution.scheduling import Scheduling

@dataclass(frozen=True, slots=True)
class Session:
    """Settings for checking and running programs: `rho.Session(max_memory="2GB", allow_read=["data"])`.

    `max_memory`: programs and functions whose planned peak exceeds it are refused (E702); bytes, or text such as "500MB".
    `allow_read`: the folders, files and URLs that programs may read, modules too; None allows all, an empty list nothing.
    `folder`: the folder for relative paths in a text without a file.  `devices`: the profile, shipped or in a file, against which
    schedule blocks are checked.

    Rho's commands give `permissions` in place of `allow_read`, `strictness`, and `texts`, modules that are not read from disk.
    """

    folder: str = ""
    permissions: Permissions = UNRESTRICTED
    strictness: Strictness = Strictness.GUARDED
    texts: Mapping[str, Source] | None = None
    devices: str | None = None
    max_memory: int | str | None = None
    allow_read: Sequence[str | os.PathLike[str]] | None = None

    def __post_init__(self) -> None:
        if self.allow_read is not None:
            if isinstance(self.allow_read, (str, os.PathLike)):
                raise TypeError(f"allow_read is a list of folders: [{os.fspath(self.allow_read)!r}]")
            given = tuple([os.fspath(path) for path in self.allow_read])
            object.__setattr__(self, "allow_read", given)
            object.__setattr__(self, "permissions", Permissions.of(given, ()))
        if self.max_memory is not None:
            object.__setattr__(self, "max_memory", _bytes_of(self.max_memory))

    @property
    def memory_limit(self) -> int | None:
        """The bytes of `max_memory`."""
        return self.max_memory if isinstance(self.max_memory, int) else None

    def checker(self) -> Checker:
        """A checker for `check` of each version of a program, so that a check costs only what changed (editors, `--watch`)."""
        from ..typechecker.check import Checker

        return Checker(strict=self.strictness is Strictness.STRICT)

    def check_file(self, source: Source) -> Checked:
        """Check a file, or load the outcome of an earlier check of the same texts; the outcome has no `result`."""
        if source.name.startswith("<"):
            return self.check(source)
        loader = ModuleLoader(self.folder, self.permissions, self.texts)
        settings = f"{self.folder}\n{self.strictness.name}"
        stored = read_checked(source, loader, settings)
        if stored is not None:
            return Checked(source, *stored, {one.name: one for one in (*loader.sources, source)})
        checked = self.check(source, loader=loader)
        if checked.core is not None and not checked.core.schedules:
            write_checked(source, loader, settings, checked.core, checked.diagnostics)
        return replace(checked, result=None)

    def check(
        self, source: Source, checker: Checker | None = None, *, checkpoints: bool = False, loader: ModuleLoader | None = None
    ) -> Checked:
        """Check types; reads the program's modules and no data.

        `checkpoints`: gradients of loops store few states and recompute the others."""
        from ..typechecker.check import check as check_program

        loader = loader or ModuleLoader(self.folder, self.permissions, self.texts)
        try:
            if checker is None:
                strict = self.strictness is Strictness.STRICT
                result = check_program(source, load_module=loader.load, strict=strict, checkpoints=checkpoints)
            else:
                result = checker.check(source, loader.load)
        except RhoError as error:
            sources = {one.name: one for one in (*loader.sources, source)}
            return Checked(source, None, error.diagnostics, sources)
        sources = {one.name: one for one in (*loader.sources, source)}
        core, diagnostics = check_schedule_blocks(result.core, result.diagnostics, self.devices)

        def judging(of: Source) -> FactQuery:
            from ..typechecker.check import ExpressionFacts

            return ExpressionFacts((checker or self.checker()).sibling, loader.load, of.name)

        return Checked(source, core, order_and_explain(diagnostics, source, sources, judging), sources, result)

    def with_patterns(self, checked: Checked, texts: Mapping[str, str]) -> Checked:
        """The program with other regular expressions as the defaults of its params, checked again; itself if none differs."""
        text = checked.source.text
        for entry in sorted(checked.require().settings, key=lambda entry: entry.span.start, reverse=True):
            given, span = texts.get(entry.name), entry.pattern
            if given is not None and span is not None and tuple(given) != entry.default:
                quoted = given.replace('"', '""').replace("\n", "\\n").replace("\r", "\\r")
                text = f'{text[: span.start]}"{quoted}"{text[span.end :]}'
        return checked if text == checked.source.text else self.check(Source(checked.source.name, text))

    def load(
        self, checked: Checked, request: RunRequest, scheduling: Scheduling | None = None, *, full: bool = False
    ) -> LoadedProgram:  # fmt: skip
        """Find the files, bind the sizes from their headers, check the guards, plan, and check the limits on memory and time.

        `full`: the plan also has phases in numbers and addresses, to be shown.  If the request has sizes, or inputs have no
        files, headers give only the remaining sizes, and the plan cannot be run.  Raises Refused (guard, permission, limit, type
        of a file), RunFailed (a file that cannot be read) or MissingSizes (for a request with sizes).
        """
        from ..backend import plan
        from ..backend.schedule.plan.plan import Device
        from ..backend.schedule.single_device import HOME, Detail
        from ..lang.syntax.glyph_input import to_glyphs
        from .execution.admission_control import PlanCandidate, check_time, exceeded_memory

        checked = self.with_patterns(checked, request.params)
        core = checked.require()
        if request.limits.memory is None and self.max_memory is not None:
            request = replace(request, limits=replace(request.limits, memory=self.memory_limit))
        files, bound = self._bound(checked, core, request)
        texts: tuple[PlannedFile, ...] = ()
        if full:
            from ..backend.schedule.program.plan_program import texts_of  # only plans that are shown name their files

            texts = texts_of(core)
        steps = Detail.FULL if full else Detail.STEPS
        local_plan = plan(bound, Device(HOME, "cpu", cores()), program=texts, detail=steps)
        candidate = PlanCandidate(core, bound, checked.sources, checked.source, request.outputs)
        taken = file_memory(bound, request, files)
        loaded = LoadedProgram(checked, request, files, bound, local_plan, file_bytes=taken.bytes)
        limited = scheduling is None or request.limits.memory is not None or not scheduling.is_held_elsewhere
        allowed = exceeded_memory(local_plan, request.limits.memory, taken) if limited else None  # else by the profile's devices
        connection = scheduling.cluster if scheduling is not None and scheduling.may_deal_tiles and files else None
        if connection is not None and request.limits.memory is None:
            from .execution.clusters import fleet_memory

            fleet = fleet_memory(connection)
            allowed = None if fleet is None else exceeded_memory(local_plan, fleet, taken)
        if allowed is not None and any("∂" in to_glyphs(source).text for source in core.sources):
            few = self.check(checked.source, checkpoints=True)
            if few.core is not None and len(few.core.recomputed) > len(core.recomputed):
                return self.load(few, request, scheduling, full=full)
        stored = None if scheduling is None or scheduling.plan is None else stored_streaming_plan(scheduling.plan)
        if allowed is not None or stored is not None:
            from ..backend.schedule.streams.pass_partitioning import CannotStream
            from .execution.admission_control import refuse_memory, sufficient_memory
            from .execution.streaming import in_tiles

            try:
                loaded = in_tiles(loaded, allowed, stored, scheduling, connection, texts, steps)
            except CannotStream as trouble:
                advice: tuple[str, ...] = ()
                if request.limits.memory is not None and stored is None and connection is None and trouble.why:
                    in_memory = loaded

                    def planned(limit: int) -> LoadedProgram:
                        return in_tiles(in_memory, limit, None, scheduling, None, texts, Detail.STEPS)

                    advice = (sufficient_memory(planned, request.limits.memory, local_plan, taken),)
                refuse_memory(candidate, local_plan, request.limits.memory, taken, trouble, advice=advice)
        check_time(candidate, request.limits.seconds)
        if loaded.streams or (scheduling is None and not core.schedules):
            return loaded
        from .execution.scheduling import PlanPurpose, Scheduling, with_scheduled_plan

        return with_scheduled_plan(loaded, scheduling or Scheduling(PlanPurpose.RUN), self.permissions)

    def _bound(self, checked: Checked, core: Core, request: RunRequest) -> tuple[Mapping[str, InputFile], BoundGraph]:
        """The files of the inputs, and the program with its sizes bound by their headers and by the request."""
        from ..backend import bind_shapes

        folder, settings = self.folder_of(checked.source), param_values_of(core, request.params)
        shapes = {name: array.shape for name, array in {**settings.arrays, **request.arrays}.items()}
        absent, without = [entry for entry in core.data if entry.name not in request.arrays], request.grouping.disabled_passes
        if request.sizes or any(entry.path is None and entry.name not in request.inputs for entry in absent):
            from .execution.modules import bind_known_sizes, header_reader

            numbers, headers = {**settings.sizes, **request.sizes}, header_reader(folder, self.permissions, request.inputs)
            return {}, bind_known_sizes(core, numbers, shapes, headers, without, request.inputs)
        files: Mapping[str, InputFile] = {}
        if absent:
            from .execution.loading import find_inputs  # imports NumPy, which a program without data may never need
            from .execution.modules import with_only_inputs

            memory, stream = request.limits.memory, request.standard_input
            files = find_inputs(with_only_inputs(core, absent), request.inputs, folder, self.permissions, memory, stream)
        shapes = {name: file.shape for name, file in files.items()} | shapes
        return files, bind_shapes(core, shapes, settings.sizes, without=without)

    def require_memory(
        self, plan: ExecutionPlan, core: Core, bound: BoundGraph, sources: Mapping[str, Source], main: Source, *,
        advice: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """Raise Refused E702, with advice, if a plan takes more memory than this session allows."""
        if self.max_memory is None:
            return
        from .execution.admission_control import FileMemory, PlanCandidate, exceeded_memory, refuse_memory

        if exceeded_memory(plan, self.memory_limit) is not None:
            refuse_memory(PlanCandidate(core, bound, sources, main, {}), plan, self.memory_limit, FileMemory(), advice=advice)

    def run(self, loaded: LoadedProgram, observe: Observer | None = None) -> Outcome:
        """Read the data and compute; `observe` is called with the time of each step.  Nothing is printed or written.  Without
        NumPy, as in a browser, the reference interpreter runs the program.

        Raises RunFailed or Refused."""
        from .execution.run_request import constant_results, outcome_of

        if not is_numpy_installed():
            return self.interpret(loaded)
        folded = None if loaded.streams else constant_results(loaded.bound)
        if folded is not None:
            loaded.values()  # reports files with errors
            return outcome_of(loaded.core, *folded, plan_summary(loaded.plan, file_bytes=loaded.file_bytes))
        results = loaded.run.results(loaded, observe)
        printed = [shown.value for shown in results.printed]
        outputs = {name: shown.value for name, shown in results.outputs.items()}
        summary = plan_summary(loaded.plan, results.held, loaded.file_bytes)
        if results.tiles:
            named = ("passes", "tiles", "read_bytes")
            summary["tiles"] = {str(device): dict(zip(named, one, strict=True)) for device, one in results.tiles.items()}
        return outcome_of(loaded.core, printed, outputs, summary)

    def interpret(self, loaded: LoadedProgram) -> Outcome:
        """Read the data and compute with the reference interpreter.  Raises RunFailed or Refused."""
        from ..backend.reference.interpreter import interpret
        from ..backend.vm.values import from_numpy
        from .execution.run_request import outcome_of

        if loaded.streams:
            from .execution.streaming import require_one_run

            require_one_run(loaded, "the reference interpreter")
        arrays = {name: from_numpy(value) for name, value in loaded.values().items()}
        exact = interpret(loaded.core, arrays, param_values_of(loaded.core, loaded.request.params).sizes)
        return outcome_of(loaded.core, exact.printed, exact.outputs)

    def folder_of(self, source: Source) -> str:
        """The folder that relative paths in a program start from."""
        return self.folder if source.name.startswith("<") else os.path.dirname(source.name)


def _bytes_of(given: object) -> int:
    """The number of bytes that a number or text states.  TypeError, ValueError: neither is given."""
    from ..lang.bind.directives import bytes_of

    if isinstance(given, str):
        if (count := bytes_of("".join(given.split()))) is None:
            raise ValueError(f"max_memory is a number of bytes such as 500_000_000, or text such as '500MB', not {given!r}")
        return count
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(f"max_memory is a number of bytes or text such as '500MB', not {type(given).__name__}")
    if given < 0:
        raise ValueError(f"max_memory is a natural number of bytes, not {given}")
    return given


def file_memory(bound: BoundGraph, request: RunRequest, files: Mapping[str, InputFile]) -> FileMemory:
    """The memory for reading inputs and writing outputs in addition to their arrays; files are read and written one at a time."""
    from .execution.admission_control import FileMemory

    taken = [(file.working_memory, f"reading `{name}` from `{file.shown}`") for name, file in files.items()]
    if request.outputs:
        from ..backend.graph.phases import Output
        from ..backend.io.reading import writing_bytes
        from ..backend.schedule.program_facts.scratch_memory import Numbers

        cap = Numbers().cap
        for phase in bound.graph.phases:
            if not isinstance(phase, Output):
                continue
            type = bound.graph.types[phase.arg]
            shape = tuple(cap(size) for size in type.shape)
            for path in [path for name, path in request.written if name == phase.name]:
                taken.append((writing_bytes(path, type.element.kind, shape), f"writing `{phase.name}` to `{path}`"))
    return FileMemory(*max(taken, default=(0, "")), any(size for size, _ in taken[len(files) :]))


def check_schedule_blocks(
    core: Core | None, diagnostics: Sequence[Diagnostic], devices: str | None = None
) -> tuple[Core | None, tuple[Diagnostic, ...]]:  # fmt: skip
    """The core and the diagnostics of checking, with those of the program's schedule blocks for `devices`.

    The core is None if a block has an error.  Refused: `devices` names no profile.
    """
    if core is None or not core.schedules:
        return core, tuple(diagnostics)
    from ..backend.schedule.program.plan_program import check_blocks
    from .execution.stored_plans import profile_named

    more = check_blocks(core, None if devices is None else profile_named(devices))
    return None if any(one.is_error for one in more) else core, (*diagnostics, *more)


def order_and_explain(
    diagnostics: Sequence[Diagnostic], main: Source, sources: Mapping[str, Source], judging: Callable[[Source], FactQuery]
) -> tuple[Diagnostic, ...]:  # fmt: skip
    """The diagnostics in the order of messages: the main program's first, each file's from top to bottom; foreign syntax is
    explained."""
    if any(one.is_error for one in diagnostics):
        from ..lang.foreign.hints import explain_errors

        diagnostics = explain_errors(diagnostics, sources, judging)
    return tuple(sorted(diagnostics, key=lambda d: (d.span.file != main.name, d.span.file, d.span.start)))


def plan_summary(plan: ExecutionPlan, held: Mapping[Any, int] | None = None, file_bytes: int = 0) -> dict[str, Any]:
    """The `plan` of `--json`: sizes, devices, the number of steps and the peak bytes of each device.

    A plan for several devices also has its prediction and `held`, the most bytes each device held.  `file_bytes` is the memory
    for reading or writing one file.
    """
    from .execution.scheduling import prediction_json

    prediction_fields = prediction_json(plan, held or {})
    return {
        "schema": plan.schema,
        "sizes": dict(plan.sizes),
        "devices": [device.id for device in plan.devices],
        "steps": sum(len(queue.steps) for queue in plan.main.queues),
        "peak_bytes": {str(device): count for device, count in plan.main.peak},
        **({"file_bytes": file_bytes} if file_bytes else {}),
        **({"stores": {store.name: store.access.value for store in plan.stores}} if plan.stores else {}),
        **({"prediction": prediction_fields} if prediction_fields else {}),
    }
