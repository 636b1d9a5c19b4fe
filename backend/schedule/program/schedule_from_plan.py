"""The schedule of a stored plan in terms of its program's problem, so that `schedule_checks` can verify it; and the consistency
of what the plan says about itself with its steps."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ....lang.support.records import replace
from ...graph import traverse
from ...graph.bind_sizes import BoundGraph
from ...graph.partial_graphs import divisions, in_form, speculable_branches
from ...graph.phases import Input, Loop, Output, PhaseId
from ..bounds.head_tail_bounds import Costs
from ..plan.plan import (
    ALIGNMENT,
    BranchStep,
    CellsStep,
    CombineStep as PlanCombine,
    Device,
    ExecutionPlan,
    FreeStep,
    JoinStep,
    LoopStep,
    PlannedPhase,
    RunStep,
    SubPlan,
    TransferStep,
    WaitStep,
    plan_object,
)
from ..problem import (
    Answer,
    Baseline,
    BoundCertificate,
    DeviceIndex,
    Objective,
    PhaseIndex,
    QueueKind,
    Schedule,
    ScheduledCombine,
    Shard,
    Status,
    Transfer,
)
from ..program_facts.partitioning import regions_of
from ..program_facts.scratch_memory import Numbers
from ..search.list_scheduling import baselines
from ..single_device import HOME, describe_phase, plan_one_device, step_of
from ..timeline.problem_index import Routes
from ..timeline.serial_sgs import ScheduleDecoder
from ..verify.schedule_checks import verify_schedule
from .distributed_loop import CostContext, DistributedLoop, PlannedIteration, ProgramProblem
from .iteration_plan import gather_iteration, iteration_template
from .plan_from_schedule import plan_of, sub_plan_of
from .problem_from_program import CHUNKS, faults_of_axes

# ---------------------------------------------------------------------------------------------------- schedule of a plan

class PlanMismatch(ValueError):
    """Raised where a plan names phases, devices or links that the problem lacks, or cuts phases in another way."""


def schedule_of(plan: ExecutionPlan, program: ProgramProblem) -> Schedule:
    """The schedule that a plan follows."""
    problem = program.problem
    devices = {name: DeviceIndex(index) for index, name in enumerate(problem.device_names())}
    phases = {phase.id: PhaseIndex(p) for p, phase in enumerate(program.phases)}
    maker = {value: PhaseIndex(p) for p, phase in enumerate(program.phases) for value in traverse.results(phase)}
    first_result = {p: traverse.results(phase)[:1] for p, phase in enumerate(program.phases)}
    links = {link.id: index for index, link in enumerate(problem.links)}
    shards: list[Shard] = []
    combines: list[ScheduledCombine] = []
    transfers: list[Transfer] = []
    try:
        for queue in plan.main.queues:
            for step in queue.steps:
                match step:
                    case JoinStep(rows=None):
                        continue
                    case RunStep() | LoopStep() | JoinStep() | BranchStep() | CellsStep():
                        p = phases[step.phase]
                        rows = _rows(step, program, p)
                        shards.append(Shard(p, devices[queue.device], *rows, step.start, step.end))
                    case PlanCombine():
                        combines.append(ScheduledCombine(phases[step.phase], step.start, step.end))
                    case TransferStep():
                        p = maker[step.value]
                        if step.value not in first_result[p]:
                            continue  # one transfer carries all results of a phase
                        task = problem.phases[p]
                        first, stop = step.units
                        span = task.out_bytes if task.rows == 0 or task.is_gathered else task.rows
                        size = -(-task.out_bytes * stop // max(1, span)) - -(-task.out_bytes * first // max(1, span))
                        if step.partial and task.combine is not None:
                            size = task.combine.bytes
                        link = links[step.link] if step.link else None
                        source, target = devices[step.source], devices[step.target]
                        ticks = (step.start, step.busy, step.arrive)
                        transfers.append(Transfer(p, source, target, *step.units, size, link, *ticks, step.partial))
                    case _:
                        continue
    except KeyError as missing:
        raise PlanMismatch(f"{missing.args[0]} is not in the problem") from None
    transfers += _sizes_sent(program, shards, {combine.phase: combine.end for combine in combines})
    return Schedule(
        tuple(sorted(shards, key=lambda s: (s.start, s.phase, s.device))),
        tuple(sorted(combines, key=lambda c: (c.start, c.phase))),
        tuple(sorted(transfers, key=lambda t: (t.start, t.phase, t.source, t.target))),
    )


def _sizes_sent(program: ProgramProblem, shards: Sequence[Shard], combined: Mapping[PhaseIndex, int]) -> list[Transfer]:
    """Transfers of run-time sizes.  They have no bytes and are no steps of the plan; each starts when its size is computed."""
    problem, routes = program.problem, Routes(program.problem)
    finders: dict[PhaseIndex, list[PhaseIndex]] = defaultdict(list)
    for edge in problem.edges:
        if not traverse.results(program.phases[edge.source]):
            finders[edge.target].append(edge.source)
    shard_of = {shard.phase: shard for shard in shards}
    transfers: dict[tuple[PhaseIndex, int, int], Transfer] = {}
    for shard in shards:
        for p in finders[shard.phase]:
            if p not in shard_of:
                continue
            source, at = shard_of[p].device, combined.get(p, shard_of[p].end)
            for hop in routes.path(source, shard.device) or () if source != shard.device else ():
                ends = DeviceIndex(hop.source), DeviceIndex(hop.target)
                transfers[p, *ends] = Transfer(p, *ends, 0, 0, 0, hop.link, at, at, at + hop.latency, False)
                at += hop.latency
    return list(transfers.values())


def chunks_of_bound(plan: ExecutionPlan) -> int:
    """The most chunks per device in the schedules over which the plan's bound ranges."""
    return plan.space.chunks


def answer_of(plan: ExecutionPlan, program: ProgramProblem) -> Answer:
    """The answer that a plan states, to be verified."""
    schedule, said = schedule_of(plan, program), plan.prediction
    chunks = chunks_of_bound(plan)
    every_axis = plan.space.every_axis
    apart = tuple(PhaseIndex(p) for p, phase in enumerate(program.phases) if phase.id in plan.form)
    if said is None:
        return Answer(
            Status.GAP, schedule, 0, (schedule.makespan,), BoundCertificate("none", 0), speculated=apart, chunks=chunks,
            every_axis=every_axis,
        )  # fmt: skip
    known = {objective.value for objective in Objective}
    values = tuple(value for name, value in said.objectives if name in known)
    return Answer(
        said.status, schedule, said.lower_bound, values, said.proof, said.baselines, speculated=apart, chunks=chunks,
        every_axis=every_axis,
    )  # fmt: skip


def _rows(
    step: RunStep | LoopStep | JoinStep | BranchStep | CellsStep, program: ProgramProblem, p: PhaseIndex
) -> tuple[int, int]:
    if isinstance(step, LoopStep | JoinStep) and step.rows is not None:
        return step.rows
    cut, task = program.cuts.cut_of[p], program.problem.phases[p]
    box = step.box if isinstance(step, RunStep) else None
    if box is None or any(edge.target == p and edge.only is not None for edge in program.problem.edges):
        return 0, max(1, task.rows)
    if cut is None or cut.axis >= len(box):
        raise PlanMismatch(f"phase {task.id} is not cut there")
    start, stop = box[cut.axis]
    if start % cut.grain or (stop % cut.grain and stop != cut.size):
        raise PlanMismatch(f"phase {task.id} is not cut at a row")
    return start // cut.grain, -(-stop // cut.grain)


# ---------------------------------------------------------------------------------------------------- consistency of a plan
#
# V12: what a stored plan states beside its steps agrees with its program and devices.
#
# Labels, spans, sizes, bytes and operations of phases, buffers and peaks, devices and links, objectives and baselines follow from
# the program, the profile and the steps.  They are computed again and compared, so that an edit is noticed; the steps are checked
# by V1 to V10.

CODE: Final = "V12"
ADVISORY: Final = ("BoundCertificate.method", "BoundCertificate.detail", "Space.chunks", "Space.every_axis",
    "PlannedPhase.span", "PlannedFile.name")
"""Fields of a stored plan from which nothing is concluded: the method of its bound, its number of chunks and whether it is along
any axis (`--prove` derives the bound again), and the names of source files."""
PARTS: Final = ("devices", "links", "tick_ns", "inputs", "outputs", "phases", "directives", "spread", "chunks", "space")
METHODS: Final = ("none", "bound", "certificate", "z3")


def description_faults(plan: ExecutionPlan, program: ProgramProblem, answer: Answer, compared: ProgramProblem) -> list[str]:
    """Where the plan differs from its program, profile and steps; baselines are those of `compared`."""
    expected, said = _object(plan_of(program, answer)), _object(plan)
    faults = [fault for part in PARTS for fault in _differences(said[part], expected[part], part)]
    for part in ("buffers", "peak"):
        faults += _differences(said["main"][part], expected["main"][part], f"main.{part}")
    faults += _queue_faults(said["main"]["queues"], expected["main"]["queues"])
    if plan.prediction is None:
        faults.append(_fault("prediction", None, "a prediction"))
    else:
        if plan.prediction.status not in (Status.OPTIMAL, Status.GAP):
            faults.append(_fault("prediction.status", plan.prediction.status.value, "optimal or gap"))
        waits = sum(isinstance(s, WaitStep) for q in plan.main.queues if q.kind is QueueKind.COMPUTE for s in q.steps)
        for name, value in plan.prediction.objectives:
            if name == Objective.SYNCS.value and value != waits:
                faults.append(_fault("prediction.objectives of syncs", value, waits))
        aims = [objective.value for objective in program.problem.objectives]
        if [name for name, _ in plan.prediction.objectives] != aims:
            faults.append(_fault("prediction.objectives", [name for name, _ in plan.prediction.objectives], aims))
        faults += _differences(said["prediction"]["objectives"], expected["prediction"]["objectives"], "prediction.objectives")
        if plan.prediction.proof.method not in METHODS:
            faults.append(_fault("prediction.proof.method", plan.prediction.proof.method, "none of the methods of proof"))
        if plan.prediction.proof.lower_bound != plan.prediction.lower_bound:
            faults.append(_fault("prediction.proof.lower_bound", plan.prediction.proof.lower_bound, plan.prediction.lower_bound))
        faults += _baseline_faults(plan.prediction.baselines, compared)
    return faults


def program_faults(plan: ExecutionPlan, bound: BoundGraph) -> list[str]:
    """Where the plan differs from its program, independent of the devices."""
    faults: list[str] = []
    choices = frozenset(speculable_branches(bound.graph))
    graph = in_form(bound.graph, plan.form)
    if not set(plan.speculated) <= choices or len(set(plan.speculated)) < len(plan.speculated):
        faults.append(_fault("speculated", list(plan.speculated), sorted(choices)))
    if plan.divided not in divisions(bound.graph):
        faults.append(_fault("divided", list(plan.divided), list(divisions(bound.graph))))
    inputs = [(p.name, p.result) for p in graph.phases if isinstance(p, Input)]
    outputs = [(p.name, p.arg) for p in graph.phases if isinstance(p, Output)]
    for part, said, right in (("inputs", plan.inputs, inputs), ("outputs", plan.outputs, outputs)):
        if list(said) != right:
            faults.append(_fault(part, list(said), right))
    regions = regions_of(graph, {one.phase for one in plan.spread})
    if plan.regions != regions:
        faults.append(_fault("regions", [one.phase for one in plan.regions], [one.phase for one in regions]))
    boxes = Counter(
        (queue.device, step.phase) for queue in plan.main.queues for step in queue.steps
        if isinstance(step, RunStep) and step.box is not None
    )  # fmt: skip
    most: dict[int, int] = {}
    for (_, phase), count in boxes.items():
        most[phase] = max(count, most.get(phase, 0))
    counts = [(phase.id, most[phase.id]) for phase in graph.phases if most.get(phase.id, 0) > 1]
    if [(one.phase, one.count) for one in plan.chunks] != counts:
        faults.append(_fault("chunks", [(one.phase, one.count) for one in plan.chunks], counts))
    if plan.space.chunks not in (1, CHUNKS) or plan.space.chunks < max((1, *most.values())):
        faults.append(_fault("space.chunks", plan.space.chunks, CHUNKS if most and max(most.values()) > 1 else 1))
    faults += [_fault(*fault) for fault in faults_of_axes(plan, replace(bound, graph=graph))]
    devices = {device.id for device in plan.devices}
    if len(devices) < len(plan.devices):
        faults.append(_fault("devices", [device.id for device in plan.devices], "each once"))
    ids = [phase.id for phase in plan.phases]
    if len(set(ids)) < len(ids) or not {phase.id for phase in graph.phases} <= set(ids):
        faults.append(_fault("phases", ids, "each phase once"))
    away = [(at, one.device) for at, one in enumerate(plan.phases) if one.device not in devices]
    faults += [_fault(f"phases[{at}].device", device, "a device of the plan") for at, device in away]
    values = {value for phase in traverse.all_phases(graph) for value in traverse.results(phase)}
    for index, buffer in enumerate(plan.main.buffers):
        where = f"main.buffers[{index}]"
        if buffer.device not in devices or buffer.value not in values:
            faults.append(_fault(where, f"%{buffer.value} on {buffer.device}", "a value on a device of the plan"))
        if buffer.alias_of is not None or buffer.reuses is not None or buffer.offset % ALIGNMENT or buffer.first > buffer.last:
            faults.append(_fault(where, "an alias, another's place, an odd address or a life that ends first", "none of these"))
    known = {phase.id: phase for phase in graph.phases}
    for queue in plan.main.queues:
        for step in queue.steps:
            if isinstance(step, LoopStep | BranchStep | CellsStep) and not (isinstance(step, LoopStep) and step.rows):
                rebuilt = step_of(known[step.phase], graph, Device(queue.device, "cpu"))
                expected = isinstance(rebuilt, LoopStep | BranchStep | CellsStep) and replace(rebuilt, start=step.start,
                    end=step.end)
                if step != expected:
                    faults.append(_fault(f"the inside of #{step.phase}", "other steps or buffers", "those of one device"))
            elif isinstance(step, RunStep) and step.overwrite is not None:
                faults.append(_fault(f"overwrite of #{step.phase}", step.overwrite, None))
            elif isinstance(step, FreeStep) and not step.values:
                faults.append(_fault("values of a free", "nothing", "what is freed"))
    return faults


def without_file_name(phase: PlannedPhase) -> PlannedPhase:
    """The phase without its source file's name."""
    return replace(phase, span=("", *phase.span[1:]))


def _object(plan: ExecutionPlan) -> dict[str, Any]:
    """The compared fields of a plan as JSON: without file names and without the program text, which reading the plan has
    compared."""
    return plan_object(replace(plan, program=(), phases=tuple(map(without_file_name, plan.phases))))


def label_faults(plan: ExecutionPlan, bound: BoundGraph) -> list[str]:
    """The label faults that `description_faults` reports, without a profile: those of the program's phases."""
    bound = replace(bound, graph=in_form(bound.graph, plan.form))
    numbers = Numbers()
    spread = {one.phase for one in plan.spread}  # their iterations have other phases under the same ids
    bodies = [graph for phase in bound.graph.phases if phase.id in spread for graph in traverse.subgraphs(phase)]
    turned = {phase.id for body in bodies for phase in traverse.all_phases(body)}
    known = {phase.id: phase for phase in traverse.all_phases(bound.graph) if phase.id not in turned}
    faults: list[str] = []
    for index, phase in enumerate(plan.phases):
        if phase.id in known and without_file_name(phase) != without_file_name(
            describe_phase(known[phase.id], bound.graph, numbers, phase.device)
        ):
            faults.append(_fault(f"phases[{index}]", phase.label, "another phase of the program"))
    return faults


def single_device_faults(plan: ExecutionPlan, bound: BoundGraph) -> list[str]:
    """As `description_faults`, for a plan of one device, which follows from the program and the number of threads."""
    if len(plan.devices) != 1:
        return [_fault("devices", len(plan.devices), 1)]
    return differing_parts(plan, plan_one_device(bound, Device(HOME, "cpu", plan.devices[0].threads)))


def differing_parts(plan: ExecutionPlan, right: ExecutionPlan) -> list[str]:
    """The fields in which a plan differs from the plan computed from its program."""
    expected, said = _object(right), _object(plan)
    return [fault for part in sorted(expected) for fault in _differences(said[part], expected[part], part)]


def _queue_faults(said: Sequence[Any], expected: Sequence[Any]) -> Iterator[str]:
    """Faults in the queues of devices and channels, and in the bytes of transfers."""
    names, right = ([f"{queue['kind']} of {queue['device']}" for queue in queues] for queues in (said, expected))
    for name in names:
        if name not in right or names.count(name) > 1:
            yield _fault("main.queues", name, ", ".join(right))
    for queue in said:
        same = [step for other in expected if other["device"] == queue["device"] for step in other["steps"]]
        transfers_held = {_transfer(step) for step in same if step["step"] == "transfer"}
        strange = [step for step in queue["steps"] if step["step"] == "transfer" and _transfer(step) not in transfers_held]
        if strange and any(q["device"] == queue["device"] for q in expected):
            yield _fault(f"main.queues of {queue['device']}", f"the transfer of %{strange[0]['value']}", "another channel for it")
    moved = {_transfer(step): step["bytes"] for queue in expected for step in queue["steps"] if step["step"] == "transfer"}
    for queue in said:
        for step in queue["steps"]:
            if step["step"] == "transfer" and (size := moved.get(_transfer(step))) is not None and size != step["bytes"]:
                yield _fault(f"bytes of the transfer of %{step['value']} to {step['target']}", step["bytes"], size)


def _transfer(step: Any) -> tuple[Any, ...]:
    return (step["value"], step["source"], step["target"], *step["units"], step["partial"], step["start"])


def _baseline_faults(said: tuple[Baseline, ...], program: ProgramProblem) -> Iterator[str]:
    expected = {one.name: one.ticks for one in baselines(Costs(ScheduleDecoder(program.problem)))}
    if [one.name for one in said] != list(expected):
        yield _fault("prediction.baselines", ", ".join(one.name for one in said), ", ".join(expected))
    for one in said:
        if one.name in expected and expected[one.name] != one.ticks:
            yield _fault(f"prediction.baselines of {one.name}", one.ticks, expected[one.name])


def _differences(said: Any, expected: Any, where: str) -> Iterator[str]:
    """Where two JSON values differ, down to the leaves."""
    if isinstance(said, dict) and isinstance(expected, dict):
        for key in sorted(said.keys() | expected.keys()):
            if said.get(key) != expected.get(key):
                yield from _differences(said.get(key), expected.get(key), f"{where}.{key}")
    elif isinstance(said, list) and isinstance(expected, list) and len(said) == len(expected):
        for index, (one, other) in enumerate(zip(said, expected, strict=True)):
            if one != other:
                yield from _differences(one, other, f"{where}[{index}]")
    elif said != expected:
        yield _fault(where, said, expected)


def _fault(where: str, said: object, expected: object) -> str:
    return f"{CODE}: `{where}` says {_short(said)}, and the program and its devices give {_short(expected)}"


def _short(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 60 else text[:57] + "…"


# ---------------------------------------------------------------------------------------------------- distributed loops of a plan
#
# The distributed loops of a stored plan, rebuilt as the planner makes them, so that their ticks can be verified.

def distributed_loops_of(plan: ExecutionPlan, program: ProgramProblem, context: CostContext) -> dict[PhaseId, DistributedLoop]:
    """The distributed loops of `ExecutionPlan.spread`.  Raises PlanMismatch if a loop cannot be distributed as stated."""
    loops = {phase.id: phase for phase in program.phases if isinstance(phase, Loop)}
    devices = {name: index for index, name in enumerate(program.problem.device_names())}
    distributed_loops: dict[PhaseId, DistributedLoop] = {}
    for spread in plan.spread:
        parts = list(_parts(plan, spread.phase))
        stated = [step for _, step in parts if isinstance(step, LoopStep)]
        one = iteration_template(program.bound, loops[spread.phase], spread.axes, context) if spread.phase in loops else None
        if one is None or len(stated) != 1:
            raise PlanMismatch(f"loop #{spread.phase} is not one that devices run together")
        rows = sorted((step.rows, devices[name]) for name, step in parts if step.rows is not None)
        mode = tuple((device, stop - first) for (first, stop), device in rows)
        body = _planned(plan, stated[0].body, one.unscheduled())
        leave = None
        if stated[0].leave is not None:
            leave = _planned(plan, stated[0].leave, gather_iteration(one))
        distributed_loops[spread.phase] = DistributedLoop(spread, mode, body, leave, one.first_run_overhead)
    return distributed_loops


def iteration_faults(distributed_loops: Mapping[PhaseId, DistributedLoop]) -> Iterator[str]:
    """The violations of the schedules of iterations."""
    for id, distributed in distributed_loops.items():
        for one in distributed.plans:
            violations = verify_schedule(one.problem, one.schedule)
            yield from (f"{fault.code.name}: an iteration of loop #{id}: {fault.message}" for fault in violations)


def iteration_memory_faults(distributed_loops: Mapping[PhaseId, DistributedLoop]) -> Iterator[str]:
    """Differences between the stated buffers and peaks of iterations and those computed from their steps."""
    for id, distributed in distributed_loops.items():
        for one in distributed.plans:
            expected = sub_plan_of(one.program, one.schedule, one.iteration.live_out)
            for what, said, right in (
                ("buffers", one.plan.buffers, expected.buffers),
                ("peak", sorted(one.plan.peak), sorted(expected.peak)),
            ):
                if said != right:
                    yield f"V12: `{what}` of an iteration of loop #{id} are not those of its steps"


def _parts(plan: ExecutionPlan, loop: PhaseId) -> Iterator[tuple[str, LoopStep | JoinStep]]:
    for queue in plan.main.queues:
        for step in queue.steps:
            if isinstance(step, LoopStep | JoinStep) and step.phase == loop and step.rows is not None:
                yield queue.device, step


def _planned(plan: ExecutionPlan, body: SubPlan, empty: PlannedIteration) -> PlannedIteration:
    """An iteration with the schedule that the plan has for it."""
    schedule = schedule_of(replace(plan, main=body, spread=()), empty.program)
    return replace(empty, schedule=schedule, plan=body)
