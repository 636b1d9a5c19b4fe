"""Plans programs for declared devices (`--devices`, `--simulate`, `--cluster`, `--schedule`), loads stored plans (`--plan`)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from ...lang.diagnostics.model import Code, Diagnostic, Refused, Rejected, RhoError, RunFailed
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Source, Span
from ...lang.tree.program import ScheduleBlock
from ..console.process_exit import UsageError
from .stored_plans import read_plan, require_valid

if TYPE_CHECKING:
    from ...backend.devices.profile import Profile
    from ...backend.graph.bind_sizes import BoundGraph
    from ...backend.io.external_arrays import StoredInput, StoredOutput
    from ...backend.schedule.plan.plan import ExecutionPlan
    from ...backend.schedule.problem import Objective
    from ...backend.schedule.program.plan_program import PlannedProgram
    from ...backend.schedule.search.strategy import Budget
    from ...backend.vm.run_state import Observer, RunResults
    from ...typechecker.core.operations import Core
    from ..console.standard_streams import Console
    from ..pipeline_types import LoadedProgram
    from .clusters import ClusterConnection, RemoteRunner
    from .loading import InputFile
    from .params import Permissions

class PlanningEffort(Enum):
    FAST = "baselines, annealing and bounds"
    DEFAULT = "and the solver, within a fixed count of its steps"
    PROVE = "and the solver for as long as it takes"


class PlanPurpose(Enum):
    """The purpose of a plan."""

    LOOK = "to be read"
    RUN = "to run on this machine's devices"
    SIMULATE = "to run here as if on the declared devices"
    CHECK = "none: a stored one is to be compared with the program"


@dataclass(frozen=True, slots=True)
class Scheduling:
    """The request for a plan: devices (a shipped profile or a file; None: this machine), purpose, objectives and effort.

    `budget` is seconds of search, which scale the default effort; `plan` the path of a stored plan to run instead; `without` the
    names of strategies to leave out; `cluster` the workers that are the devices; `deadline` the nanoseconds within which a run
    has to end.
    """

    purpose: PlanPurpose
    devices: str | None = None
    objectives: tuple[str, ...] = ()
    effort: PlanningEffort = PlanningEffort.DEFAULT
    budget: float | None = None
    plan: str | None = None
    without: tuple[str, ...] = ()
    cluster: ClusterConnection | None = None
    deadline: int | None = None
    in_place: bool = False
    """Whether workers may write outputs to files, which then have the only copy of the values."""

    @property
    def requests_devices(self) -> bool:
        """Do these options ask for declared devices or for a search?"""
        options = self.devices, self.objectives, self.without, self.budget, self.cluster, self.deadline
        return any(options) or self.purpose is PlanPurpose.SIMULATE or self.effort is not PlanningEffort.DEFAULT

    @property
    def may_deal_tiles(self) -> bool:
        """May a program that is too large for memory run in tiles on the devices of a cluster?"""
        is_planned = self.purpose in (PlanPurpose.RUN, PlanPurpose.LOOK) and self.plan is None
        return self.cluster is not None and is_planned and not self.objectives and self.deadline is None

    @property
    def is_held_elsewhere(self) -> bool:
        """Are values held by devices of a profile or a cluster, and not by this process alone?"""
        return self.cluster is not None or (self.devices is not None and self.purpose in (PlanPurpose.LOOK, PlanPurpose.CHECK))


def place_stored_files(
    core: Core, bound: BoundGraph, files: Mapping[str, InputFile], scheduling: Scheduling,
    outputs: Mapping[str, StoredOutput] = MappingProxyType({}),
) -> tuple[Profile, Mapping[str, StoredInput | StoredOutput], BoundGraph]:  # fmt: skip
    """The profile for planning a program, the inputs and `outputs` in its stores by name, and the graph with these stores."""
    from .clusters import inputs_read_in_place, stores_by_name

    profile = profile_of(scheduling)
    stored: dict[str, StoredInput | StoredOutput] = {}
    if scheduling.cluster is not None and (files or outputs):
        from ...backend.cluster.client import commonly_visible

        cluster, folders = scheduling.cluster.cluster, {os.path.dirname(one.file) for one in outputs.values()}
        inputs, shared = commonly_visible(cluster, inputs_read_in_place(core, bound, files), folders)
        stored = {**inputs, **{name: one for name, one in outputs.items() if os.path.dirname(one.file) in shared}}
        profile = cluster.profile_for(stored.values())
    elif profile.has_stores:
        stored = {**inputs_read_in_place(core, bound, files)}
    stores = stores_by_name(profile, stored)
    return profile, stored, replace(bound, stores=stores) if stores else bound


def plan_loaded(loaded: LoadedProgram, scheduling: Scheduling) -> PlannedProgram:
    """Plan a loaded program for the devices of `scheduling`.  Raises as `plan_program`."""
    return plan_on(loaded.core, loaded.bound, profile_of(scheduling), scheduling)


def profile_of(scheduling: Scheduling) -> Profile:
    """The profile that `scheduling` asks for: a cluster's, a declared one, or this machine's.  Refused: E704, E705."""
    from .stored_plans import profile_named, this_machine

    if scheduling.cluster is not None:
        return scheduling.cluster.cluster.profile
    return this_machine() if scheduling.devices is None else profile_named(scheduling.devices)


def plan_on(core: Core, bound: BoundGraph, profile: Profile, scheduling: Scheduling) -> PlannedProgram:
    """Plan a program for the devices of a profile.  Raises as `plan_program`, with a note on each worker that was lost."""
    from ...backend.schedule.program.plan_program import plan_program, plan_within_deadline

    objectives, budget = _objectives(scheduling), budget_of(scheduling)
    try:
        if scheduling.deadline is not None:
            return plan_within_deadline(core, bound, profile, scheduling.deadline, objectives=objectives, budget=budget)
        return plan_program(core, bound, profile, objectives=objectives, budget=budget)
    except RhoError as error:
        lost = [] if scheduling.cluster is None else scheduling.cluster.cluster.lost
        left = ", ".join(device.name for device in profile.devices if device.kind == "worker") or "none"
        notes = tuple(f"a worker was lost: {one.words}; those that are left are {left}" for one in lost)
        raise type(error)([replace(one, notes=(*one.notes, *notes)) for one in error.diagnostics]) from None


def remote_runner(
    attachment: ClusterConnection, core: Core, bound: BoundGraph, scheduling: Scheduling, without: frozenset[str] = frozenset()
) -> RemoteRunner:
    """A function that runs plans of a program on a cluster, and makes a new plan with little effort when a worker is lost."""
    quickly = replace(scheduling, effort=PlanningEffort.FAST, budget=None)

    def again(profile: Profile) -> ExecutionPlan:
        return plan_on(core, bound, profile, quickly).plan

    def run(plan: ExecutionPlan, inputs: Mapping[str, Any], observe: Observer | None) -> RunResults:
        return attachment.cluster.run(plan, again, bound, inputs, without, observe)

    return run


def _objectives(scheduling: Scheduling) -> tuple[Objective, ...]:
    from ...backend.schedule.problem import Objective

    return tuple(Objective(name) for name in scheduling.objectives)


def budget_of(scheduling: Scheduling) -> Budget:
    from ...backend.schedule.search.strategy import DEFAULT, FAST, PROVE

    base = {PlanningEffort.FAST: FAST, PlanningEffort.DEFAULT: DEFAULT, PlanningEffort.PROVE: PROVE}[scheduling.effort]
    base = replace(base, without=frozenset(scheduling.without))
    return base if scheduling.budget is None else base.for_seconds(scheduling.budget)


def load_stored_plan(loaded: LoadedProgram, scheduling: Scheduling) -> tuple[ExecutionPlan, Profile | None]:
    """The plan of `--plan`, checked against the program, and the profile it was made for, if that is known.

    Refused: SCH301 out of date, E705 not a plan or an invalid one.
    """
    assert scheduling.plan is not None
    from ...backend.devices.profile_toml import fingerprint
    from .stored_plans import profile_named

    plan = read_plan(scheduling.plan)
    profile = profile_of_plan(plan) if scheduling.devices is None else profile_named(scheduling.devices)
    if scheduling.cluster is not None and profile is not None and fingerprint(profile) != plan.profile:
        profile = None  # its links or stores were measured; the workers are compared below
    require_fitting(plan, loaded.core, loaded.bound, profile, scheduling.plan)
    if scheduling.cluster is not None:
        from ...backend.cluster.cluster_profile import require_fitting_workers

        cluster = scheduling.cluster.cluster
        require_fitting_workers(plan, cluster.profile, cluster.devices, scheduling.plan)
    return plan, profile


def require_fitting(plan: ExecutionPlan, core: Core, bound: BoundGraph, profile: Profile | None, where: str) -> None:
    """Raise Refused unless a plan belongs to this program: SCH301 out of date, E705 invalid."""
    from ...backend.schedule.program.plan_program import faults_of_stored, require_current

    require_current(plan, core, bound, profile, where)
    require_valid(faults_of_stored(plan, bound, core, profile), where)


def profile_of_plan(plan: ExecutionPlan) -> Profile | None:
    """The profile that a plan was made for, if it is this machine's or a shipped one; else None."""
    from ...backend.devices.profile_toml import fingerprint
    from ...backend.devices.this_machine import load_profile, shipped_names
    from .stored_plans import this_machine

    if not plan.profile:
        return None
    for profile in (this_machine(), *map(load_profile, shipped_names())):
        if fingerprint(profile) == plan.profile:
            return profile
    return None


def require_optimal(plan: ExecutionPlan, where: str) -> None:
    """Raise RunFailed SCH302 unless the plan is proved optimal."""
    from ...backend.schedule.plan.plan_text import bound_text
    from ...backend.schedule.problem import Status

    prediction = plan.prediction
    if prediction is not None and prediction.status is Status.GAP:
        message = f"the plan is not proved optimal ({bound_text(plan)})"
        notes = ("search longer with `--budget SECONDS`, or without a limit with `--prove`",)
        raise RunFailed([Diagnostic(Code.SCH302, message, Span(where, 0, 0), notes=notes)])


def require_local_devices(plan: ExecutionPlan, bound: BoundGraph, where: str, profile: Profile | None) -> None:
    """Raise Refused SCH104 if this machine lacks a device of the plan, or a device lacks an ability that a phase needs.
    `profile` is the one that the plan was made for, if it is known."""
    for device in plan.devices:
        declared = None if profile is None or device.backend == "store" else profile.device(str(device.id))
        if profile is not None and declared is not None and declared.node != profile.home.node:
            message = f"device {device.id} is on node `{declared.node}`, and home on `{profile.home.node}`, which is this machine"
            raise Refused([Diagnostic(Code.SCH104, message, Span(where, 0, 0), notes=(_SIMULATE,))])
    missing = [device for device in plan.devices if device.backend not in ("cpu", "store")]
    if not missing:
        return
    from ...backend.codegen.gpu_targets import needed_extensions
    from ...backend.gpu.device import card_kinds, cards_of, missing_card
    from ...backend.schedule.plan.plan import phases_of

    phases = {phase.id: phase for phase in bound.graph.phases}
    for device, number in cards_of(plan.devices):
        reason = missing_card(device.backend, number)
        lacking = card_kinds()[device.backend].models()[number].lacking if reason is None else ()
        steps = [step for queue in plan.main.queues if lacking and queue.device == device.id for step in queue.steps]
        for phase in [phases[id] for step in steps for id in phases_of(step) if id in phases]:
            if absent := sorted(needed_extensions(phase, bound.graph.types).intersection(lacking)):
                message = f"device {device.id} has no {absent[0]}, which this needs there"
                raise Refused([Diagnostic(Code.SCH104, message, phase.span, notes=("plan again for this machine",))])
        if reason is None:
            missing.remove(device)
        elif reason:
            message = f"device {device.id} ({device.backend}) runs no programs: {reason}"
            raise Refused([Diagnostic(Code.SCH104, message, Span(where, 0, 0), notes=(_SIMULATE,))])
    if missing:
        message = f"device {missing[0].id} ({missing[0].backend}) is not on this machine"
        raise Refused([Diagnostic(Code.SCH104, message, Span(where, 0, 0), notes=(_SIMULATE,))])


_SIMULATE: Final = "add --simulate to run the plan here all the same (in Python: `plan.simulated()`)"


def with_scheduled_plan(loaded: LoadedProgram, scheduling: Scheduling, permissions: Permissions) -> LoadedProgram:
    """The program with the plan that `scheduling` asks for, in place of the plan for this machine's processors."""
    from ..pipeline_types import InMemory
    from .clusters import OnCluster, outputs_written_in_place

    if scheduling.purpose is PlanPurpose.CHECK:
        return loaded
    there: Mapping[str, StoredInput | StoredOutput] = {}
    bound = loaded.bound
    if scheduling.plan is None or scheduling.cluster is not None:
        paths = loaded.request.outputs if scheduling.in_place else {}
        if scheduling.purpose is PlanPurpose.LOOK and scheduling.cluster is not None:  # to files, as in plans with passes
            paths = {entry.name: f"{entry.name}.npy" for entry in loaded.core.outputs}
        outputs = outputs_written_in_place(loaded.core, bound, paths, permissions)
        profile, there, bound = place_stored_files(loaded.core, bound, loaded.files, scheduling, outputs)
    if scheduling.plan is None:
        planned = plan_on(loaded.core, bound, profile, scheduling)
        loaded = replace(loaded, bound=bound, plan=planned.plan, warnings=planned.diagnostics)
        declared: Profile | None = profile
    else:
        plan, declared = load_stored_plan(loaded, scheduling)
        loaded = replace(loaded, plan=plan)
        if scheduling.cluster is not None:
            loaded, there = _with_stores_of_plan(loaded, there, scheduling.plan)
    if scheduling.purpose is not PlanPurpose.RUN:
        return replace(loaded, run=InMemory(simulated=scheduling.purpose is PlanPurpose.SIMULATE))
    if scheduling.cluster is not None:
        without = loaded.request.grouping.disabled_passes
        runner = remote_runner(scheduling.cluster, loaded.core, loaded.bound, scheduling, without)
        return replace(loaded, run=OnCluster(runner, there))
    require_local_devices(loaded.plan, loaded.bound, loaded.checked.source.name, declared)
    return loaded


def _with_stores_of_plan(
    loaded: LoadedProgram, there: Mapping[str, StoredInput | StoredOutput], where: str
) -> tuple[LoadedProgram, Mapping[str, StoredInput | StoredOutput]]:  # fmt: skip
    """The program with the files that its stored plan has in stores.  Refused: a worker cannot read or write one there."""
    from ...backend.schedule.program_facts.partitioning import stored_on

    stores = stored_on(loaded.plan, loaded.bound)
    missing = [name for name in stores if name not in there]
    if missing:
        what = f"`{missing[0].removeprefix('output ')}`"
        message = f"the workers of the plan read or write {what} in a file, and here there is none that all of them see"
        notes = ("a file of an input, or `--out NAME=FILE.npy`, in a folder that all workers share", "or plan again for this run")
        raise Refused([Diagnostic(Code.SCH301, message, Span(where, 0, 0), notes=notes)])
    return replace(loaded, bound=replace(loaded.bound, stores=stores)), {name: there[name] for name in stores}


def prediction_json(plan: ExecutionPlan, held: Mapping[str, int]) -> dict[str, Any]:
    """The `prediction` of a plan in `--json`; empty if the plan has none.  `held` is the most bytes that each device held."""
    prediction = plan.prediction
    if prediction is None:
        return {}
    from ...backend.schedule.plan.plan_text import busy_of, space_lines

    return {
        "tick_ns": plan.tick_ns,
        "makespan": prediction.makespan,
        "lower_bound": prediction.lower_bound,
        "status": prediction.status.value,
        "bound_over": space_lines(plan),
        "busy": busy_of(plan),
        "held_bytes": dict(held),
    }


def simulation_lines(plan: ExecutionPlan) -> list[str]:
    """The lines that `--simulate` prints: the predicted time, and how long each device is busy."""
    from ...backend.schedule.plan.plan_text import busy_of, prediction_text, time_text

    prediction = plan.prediction
    if prediction is None:
        return []
    busy = busy_of(plan)
    shown = [f"{device} {time_text(ticks * plan.tick_ns)}" for device, ticks in list(busy.items())[:16]]
    more = f" and {len(busy) - 16} more" if len(busy) > 16 else ""
    text = prediction_text(plan)
    count = f"{len(plan.devices)} device" + ("s" if len(plan.devices) > 1 else "")
    return [f"simulated on {count}: {text}", f"busy: {', '.join(shown)}{more}"]


# ---------------------------------------------------------------------------------------------------- schedule files
#
# `--schedule FILE`: the schedule blocks of a file beside a program, so that what is computed and where it runs are kept apart.
#
# The blocks follow the program's text, so a stored plan has them too.  A block that names a device which the profile does not
# have is for other devices, and ignored with a note.

def with_schedule_file(file: str | None, program: Source, scheduling: Scheduling | None, console: Console) -> Source:
    """The program followed by the blocks of the file that are for its devices.  UsageError: the file has other text.
    Rejected: its text is not Rho."""
    if file is None:
        return program
    from ...lang.syntax.parser import parse
    from ..console.standard_streams import read_source

    source = read_source(file)
    parsed = parse(source)
    if errors := [one for one in parsed.diagnostics if one.is_error]:
        raise Rejected(errors, {source.name: source})
    profile, texts = profile_of(scheduling or Scheduling(PlanPurpose.LOOK)), [program.text]
    for statement in parsed.program.statements:
        if not isinstance(statement, ScheduleBlock):
            raise UsageError(f"--schedule {file}: only `schedule {{ … }}` blocks are read from it", "values are the program's")
        if absent := [name for name in _devices_named(statement) if name not in _names(profile)]:
            console.note(f"--schedule {file}: a block for `{absent[0]}` is ignored, since the devices are {_listed(profile)}")
            continue
        texts.append(source.text[statement.span.start : statement.span.end])
    return Source(program.name, "\n".join(texts) + "\n")


def _devices_named(block: ScheduleBlock) -> Iterator[str]:
    """The devices and classes that a block names, without numbers of instances."""
    from ...backend.schedule.program.plan_program import devices_mentioned

    for word in devices_mentioned(block):
        yield word.partition("[")[0]


def _names(profile: Profile) -> set[str]:
    return {name for device in profile.devices for name in (device.name, device.kind, device.kind.partition("/")[0])}


def _listed(profile: Profile) -> str:
    return ", ".join(device.name for device in profile.devices)
