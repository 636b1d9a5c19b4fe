"""A plan back as a schedule of its program's problem, so that the independent verifier can judge stored plans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ...graph import traverse
from ..answer import Answer, CombineStep, Proof, Schedule, Shard, Status, Transfer
from ..plan.model import BranchStep, CellsStep, JoinStep, LoopStep, Plan, RunStep, TransferStep
from ..plan.model import CombineStep as PlanCombine
from ..problem import DeviceIndex, Objective, PhaseIndex
from ..timeline.routes import Routes
from .together import ProgramProblem


class NotOfThisProblem(ValueError):
    """The plan speaks of phases, devices or links that the problem does not have, or cuts them otherwise."""


def schedule_of(plan: Plan, program: ProgramProblem) -> Schedule:
    """The schedule that a plan follows."""
    problem = program.problem
    devices = {name: DeviceIndex(place) for place, name in enumerate(problem.device_names())}
    phases = {phase.id: PhaseIndex(place) for place, phase in enumerate(program.phases)}
    maker = {value: PhaseIndex(place) for place, phase in enumerate(program.phases) for value in traverse.results(phase)}
    first_result = {place: traverse.results(phase)[:1] for place, phase in enumerate(program.phases)}
    links = {link.id: place for place, link in enumerate(problem.links)}
    shards: list[Shard] = []
    combines: list[CombineStep] = []
    transfers: list[Transfer] = []
    try:
        for queue in plan.main.queues:
            for step in queue.steps:
                match step:
                    case JoinStep(rows=None):
                        continue
                    case RunStep() | LoopStep() | JoinStep() | BranchStep() | CellsStep():
                        place = phases[step.phase]
                        rows = _rows(step, program, place)
                        shards.append(Shard(place, devices[queue.device], *rows, step.start, step.end))
                    case PlanCombine():
                        combines.append(CombineStep(phases[step.phase], step.start, step.end))
                    case TransferStep():
                        place = maker[step.value]
                        if step.value not in first_result[place]:
                            continue  # the results of a phase travel together
                        task = problem.phases[place]
                        first, stop = step.units
                        span = task.out_bytes if task.rows == 0 or task.is_gathered else task.rows
                        size = -(-task.out_bytes * stop // max(1, span)) - -(-task.out_bytes * first // max(1, span))
                        if step.partial and task.combine is not None:
                            size = task.combine.bytes
                        link = links[step.link] if step.link else None
                        source, target = devices[step.source], devices[step.target]
                        ticks = (step.start, step.busy, step.arrive)
                        transfers.append(Transfer(place, source, target, *step.units, size, link, *ticks, step.partial))
                    case _:
                        continue
    except KeyError as missing:
        raise NotOfThisProblem(f"{missing.args[0]} is not in the problem") from None
    transfers += _sizes_sent(program, shards, {combine.phase: combine.end for combine in combines})
    return Schedule(
        tuple(sorted(shards, key=lambda s: (s.start, s.phase, s.device))),
        tuple(sorted(combines, key=lambda c: (c.start, c.phase))),
        tuple(sorted(transfers, key=lambda t: (t.start, t.phase, t.source, t.target))),
    )


def _sizes_sent(program: ProgramProblem, shards: Sequence[Shard], combined: Mapping[PhaseIndex, int]) -> list[Transfer]:
    """Transfers of run-time sizes, which have no bytes and are no steps: they start when the size is found."""
    problem, routes = program.problem, Routes(program.problem)
    finders: dict[PhaseIndex, list[PhaseIndex]] = defaultdict(list)
    for edge in problem.edges:
        if not traverse.results(program.phases[edge.source]):
            finders[edge.target].append(edge.source)
    made = {shard.phase: shard for shard in shards}
    found: dict[tuple[PhaseIndex, int, int], Transfer] = {}
    for shard in shards:
        for place in finders[shard.phase]:
            if place not in made:
                continue
            source, at = made[place].device, combined.get(place, made[place].end)
            for hop in routes.path(source, shard.device) or () if source != shard.device else ():
                ends = DeviceIndex(hop.source), DeviceIndex(hop.target)
                found[place, *ends] = Transfer(place, *ends, 0, 0, 0, hop.link, at, at, at + hop.latency, False)
                at += hop.latency
    return list(found.values())


def space_of(plan: Plan) -> int:
    """The most chunks a device of the schedules that the plan's bound is of."""
    return plan.space.chunks


def answer_of(plan: Plan, program: ProgramProblem) -> Answer:
    """What a plan says of itself, as an answer to verify."""
    schedule, said = schedule_of(plan, program), plan.prediction
    chunks = space_of(plan)
    if said is None:
        return Answer(Status.GAP, schedule, 0, (schedule.makespan,), Proof("none", 0), chunks=chunks)
    known = {objective.value for objective in Objective}
    values = tuple(value for name, value in said.objectives if name in known)
    return Answer(said.status, schedule, said.lower_bound, values, said.proof, said.baselines, chunks=chunks)


def _rows(
    step: RunStep | LoopStep | JoinStep | BranchStep | CellsStep, program: ProgramProblem, place: PhaseIndex
) -> tuple[int, int]:
    if isinstance(step, LoopStep | JoinStep) and step.rows is not None:
        return step.rows
    cut, task = program.cuts.of[place], program.problem.phases[place]
    box = step.box if isinstance(step, RunStep) else None
    if box is None or any(edge.target == place and edge.only is not None for edge in program.problem.edges):
        return 0, max(1, task.rows)
    if cut is None or cut.axis >= len(box):
        raise NotOfThisProblem(f"phase {task.id} is not cut there")
    start, stop = box[cut.axis]
    if start % cut.grain or (stop % cut.grain and stop != cut.size):
        raise NotOfThisProblem(f"phase {task.id} is not cut at a row")
    return start // cut.grain, -(-stop // cut.grain)
