"""Programs on declared devices: what `--devices`, `--plan`, `--simulate` and the planner's options ask of `plan` and `run`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...lang.diagnostics.model import Code, Diagnostic, Refused, RhoError, RunFailed
from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from .stored_plans import read_plan, require_right

if TYPE_CHECKING:
    from ...backend.devices.profile import Profile
    from ...backend.graph.bind_sizes import BoundGraph
    from ...backend.io.external_arrays import StoredInput, StoredOutput
    from ...backend.schedule.plan.plan import ExecutionPlan
    from ...backend.schedule.problem import Objective
    from ...backend.schedule.program.plan_program import PlannedProgram
    from ...backend.schedule.search.strategy import Budget
    from ...backend.vm.run_state import Observer, RunResults
    from ...typechecker.core.blocks import Core
    from ..pipeline_types import Loaded, Runner
    from .clusters import Attachment
    from .loading import InputFile
    from .params import Permissions

class PlanningEffort(Enum):
    FAST = "baselines, annealing and bounds"
    DEFAULT = "and the solver, within a fixed count of its steps"
    PROVE = "and the solver for as long as it takes"


class PlanPurpose(Enum):
    """What the plan is for."""

    LOOK = "to be read"
    RUN = "to run on this machine's devices"
    SIMULATE = "to run here as if on the declared devices"
    CHECK = "none: a stored one is to be compared with the program"


@dataclass(frozen=True, slots=True)
class Scheduling:
    """How to plan: on which devices (a shipped profile or a file; None: this machine), for what, with how much effort.

    `plan`: a stored plan to run instead; `without`: names of strategies; `cluster`: whose workers are the devices.  `budget`
    scales the default effort.  `deadline`: nanoseconds within which a run is to end."""

    use: PlanPurpose
    devices: str | None = None
    objectives: tuple[str, ...] = ()
    effort: PlanningEffort = PlanningEffort.DEFAULT
    budget: float | None = None
    plan: str | None = None
    without: tuple[str, ...] = ()
    cluster: Attachment | None = None
    deadline: int | None = None
    in_place: bool = False
    """May workers write outputs?  Nobody asks for their values then, unless by reading the files."""

    @property
    def asks_devices(self) -> bool:
        """Is a plan for declared devices asked for, or a search?"""
        asked = self.devices, self.objectives, self.without, self.budget, self.cluster, self.deadline
        return any(asked) or self.use is PlanPurpose.SIMULATE or self.effort is not PlanningEffort.DEFAULT

    @property
    def is_held_elsewhere(self) -> bool:
        """Are values held by the devices of a profile or of a cluster, and not by this process alone?"""
        return self.cluster is not None or (self.devices is not None and self.use in (PlanPurpose.LOOK, PlanPurpose.CHECK))


def stored_for(
    core: Core, bound: BoundGraph, files: Mapping[str, InputFile], scheduling: Scheduling,
    outputs: Mapping[str, StoredOutput] = MappingProxyType({}),
) -> tuple[Profile, Mapping[str, StoredInput | StoredOutput], BoundGraph]:  # fmt: skip
    """The profile that a program is planned for, the inputs and `outputs` that lie in stores of it, and the program that knows
    where."""
    from .clusters import lying, storable

    profile = profile_of(scheduling)
    stored: dict[str, StoredInput | StoredOutput] = {}
    if scheduling.cluster is not None and (files or outputs):
        from ...backend.cluster.client import seen_by_all

        cluster, folders = scheduling.cluster.cluster, {os.path.dirname(one.file) for one in outputs.values()}
        inputs, shared = seen_by_all(cluster, storable(core, bound, files), folders)
        stored = {**inputs, **{name: one for name, one in outputs.items() if os.path.dirname(one.file) in shared}}
        profile = cluster.profile_for(stored.values())
    elif profile.has_stores:
        stored = {**storable(core, bound, files)}
    stores = lying(profile, stored)
    return profile, stored, replace(bound, stores=stores) if stores else bound


def scheduled(loaded: Loaded, scheduling: Scheduling) -> PlannedProgram:
    """The program of a load on the devices asked for.  Raises as `plan_program`."""
    return planned_on(loaded.core, loaded.bound, profile_of(scheduling), scheduling)


def profile_of(scheduling: Scheduling) -> Profile:
    """Refused: E704, E705."""
    from ...backend.devices.this_machine import load_profile
    from .stored_plans import this_machine

    if scheduling.cluster is not None:
        return scheduling.cluster.cluster.profile
    return this_machine() if scheduling.devices is None else load_profile(scheduling.devices)


def planned_on(core: Core, bound: BoundGraph, profile: Profile, scheduling: Scheduling) -> PlannedProgram:
    """A program on the devices of a profile.  Raises as `plan_program`."""
    from ...backend.schedule.program.plan_program import plan_by, plan_program

    objectives, budget = _objectives(scheduling), budget_of(scheduling)
    try:
        if scheduling.deadline is not None:
            return plan_by(core, bound, profile, scheduling.deadline, objectives=objectives, budget=budget)
        return plan_program(core, bound, profile, objectives=objectives, budget=budget)
    except RhoError as error:
        lost = [] if scheduling.cluster is None else scheduling.cluster.cluster.lost
        left = ", ".join(device.name for device in profile.devices if device.kind == "worker") or "none"
        notes = tuple(f"a worker was lost: {one.words}; those that are left are {left}" for one in lost)
        raise type(error)([replace(one, notes=(*one.notes, *notes)) for one in error.diagnostics]) from None


def runner_on(
    attachment: Attachment, core: Core, bound: BoundGraph, scheduling: Scheduling, without: frozenset[str] = frozenset()
) -> Runner:
    """How plans of a program run on a cluster, and are made again for fewer workers."""
    quickly = replace(scheduling, effort=PlanningEffort.FAST, budget=None)

    def again(profile: Profile) -> ExecutionPlan:
        return planned_on(core, bound, profile, quickly).plan

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
    return base if scheduling.budget is None else base.lasting(scheduling.budget)


def stored(loaded: Loaded, scheduling: Scheduling) -> ExecutionPlan:
    """The plan of `--plan`, fit to run here.  Refused: SCH301 out of date, E705 not a plan or not a right one."""
    assert scheduling.plan is not None
    plan = read_plan(scheduling.plan)
    profile = known_profile(plan) if scheduling.devices is None else profile_of(scheduling)
    fitting(plan, loaded.core, loaded.bound, profile, scheduling.plan)
    return plan


def fitting(plan: ExecutionPlan, core: Core, bound: BoundGraph, profile: Profile | None, where: str) -> None:
    """Refused: SCH301 out of date, E705 not a right plan of this program."""
    from ...backend.schedule.program.plan_program import faults_of_stored, require_current

    require_current(plan, core, bound, profile, where)
    require_right(faults_of_stored(plan, bound, core, profile), where)


def known_profile(plan: ExecutionPlan) -> Profile | None:
    """The profile that a plan was made for, if it is this machine's or a shipped one."""
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
    """RunFailed SCH302: the plan is not proved optimal."""
    from ...backend.schedule.plan.plan_text import judged
    from ...backend.schedule.solution import Status

    prediction = plan.prediction
    if prediction is not None and prediction.status is Status.GAP:
        message = f"the plan is not proved optimal ({judged(plan)})"
        notes = ("search longer with `--budget SECONDS`, or without a limit with `--prove`",)
        raise RunFailed([Diagnostic(Code.SCH302, message, Span(where, 0, 0), notes=notes)])


def require_here(plan: ExecutionPlan, where: str) -> None:
    """Refused: a device of the plan is not one of this machine's."""
    cards = 0
    if any(device.backend == "cuda" for device in plan.devices):
        from ...backend.cuda.bindings import gpus

        cards = len(gpus())
    usable = {device.id for device in [device for device in plan.devices if device.backend == "cuda"][:cards]}
    away = [device for device in plan.devices if device.backend not in ("cpu", "store") and device.id not in usable]
    if away:
        one = away[0]
        message = f"device {one.id} ({one.backend}) is not on this machine"
        notes = ("add --simulate to run the plan here all the same (in Python: `plan.simulated()`)",)
        raise Refused([Diagnostic(Code.SCH104, message, Span(where, 0, 0), notes=notes)])


def load_scheduled(loaded: Loaded, scheduling: Scheduling, permissions: Permissions) -> Loaded:
    """A loaded program with the plan that was asked for in place of the one for this machine's processors."""
    if scheduling.use is PlanPurpose.CHECK:
        return loaded
    if scheduling.plan is not None:
        plan, warnings = stored(loaded, scheduling), loaded.warnings
    else:
        from .clusters import writable

        paths = loaded.request.outputs if scheduling.in_place else {}
        if scheduling.use is PlanPurpose.LOOK and scheduling.cluster is not None:  # each goes to a file, as in plans with passes
            paths = {entry.name: f"{entry.name}.npy" for entry in loaded.core.outputs}
        outputs = writable(loaded.core, loaded.bound, paths, permissions)
        profile, there, bound = stored_for(loaded.core, loaded.bound, loaded.files, scheduling, outputs)
        loaded = replace(loaded, bound=bound, stored=there if scheduling.cluster is not None else {})
        planned = planned_on(loaded.core, loaded.bound, profile, scheduling)
        plan, warnings = planned.plan, planned.diagnostics
    if scheduling.cluster is not None and scheduling.use is PlanPurpose.RUN:
        without = loaded.request.grouping.without
        runner = runner_on(scheduling.cluster, loaded.core, loaded.bound, scheduling, without)
        return replace(loaded, plan=plan, warnings=warnings, elsewhere=runner)
    if scheduling.use is PlanPurpose.RUN:
        require_here(plan, loaded.checked.source.name)
    return replace(loaded, plan=plan, simulated=scheduling.use is PlanPurpose.SIMULATE, warnings=warnings)


def summary(plan: ExecutionPlan, held: Mapping[str, int]) -> dict[str, Any]:
    """What `--json` says of a prediction."""
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
    """What a simulation says: the predicted time, and how busy each device is."""
    from ...backend.schedule.plan.plan_text import busy_of, prediction_text, time_text

    prediction = plan.prediction
    if prediction is None:
        return []
    busy = busy_of(plan)
    shown = [f"{device} {time_text(ticks * plan.tick_ns)}" for device, ticks in list(busy.items())[:16]]
    more = f" and {len(busy) - 16} more" if len(busy) > 16 else ""
    promised = prediction_text(plan)
    count = f"{len(plan.devices)} device" + ("s" if len(plan.devices) > 1 else "")
    return [f"simulated on {count}: {promised}", f"busy: {', '.join(shown)}{more}"]
