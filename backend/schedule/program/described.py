"""V12: what a stored plan says about itself beside its steps is what its program and devices give.

Labels, spans, sizes, bytes and operations of phases, buffers and peaks, devices and links, objectives and baselines follow from
the program, the profile and the steps.  They are made again and compared, so that none of them can be edited unnoticed; steps
are the other checks' (V1 to V10).

Neighbours: `plan_of` (makes the plan again), `planning` (asks, when nothing else is wrong).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ...graph import traverse
from ...graph.bind import BoundGraph
from ..costs import Costs
from ..describe import describe
from ..heuristics import baselines
from ..one_device import HOME, Numbers, plan_one_device
from ..plan import Device, Plan
from ..plan_json import plan_object
from ..problem import Answer, Baseline
from ..timing import Timer
from .plan_of import plan_of
from .problem_of import ProgramProblem

CODE: Final = "V12"
PARTS: Final = ("devices", "links", "tick_ns", "inputs", "outputs", "phases", "directives", "spread")
METHODS: Final = ("none", "bound", "certificate", "search", "z3")


def description_faults(plan: Plan, program: ProgramProblem, answer: Answer, compared: ProgramProblem) -> list[str]:
    """What the plan says otherwise than its program, profile and steps do; baselines are of `compared`."""
    made, said = plan_object(plan_of(program, answer, plan.program)), plan_object(plan)
    found = [fault for part in PARTS for fault in _differences(said[part], made[part], part)]
    for part in ("buffers", "peak"):
        found += _differences(said["main"][part], made["main"][part], f"main.{part}")
    found += _queue_faults(said["main"]["queues"], made["main"]["queues"])
    if plan.prediction is not None:
        aims = [objective.value for objective in program.problem.objectives]
        if [name for name, _ in plan.prediction.objectives] != aims:
            found.append(_fault("prediction.objectives", [name for name, _ in plan.prediction.objectives], aims))
        found += _differences(said["prediction"]["objectives"], made["prediction"]["objectives"], "prediction.objectives")
        if plan.prediction.proof.method not in METHODS:
            found.append(_fault("prediction.proof.method", plan.prediction.proof.method, "none of the methods of proof"))
        if plan.prediction.proof.lower_bound != plan.prediction.lower_bound:
            found.append(_fault("prediction.proof.lower_bound", plan.prediction.proof.lower_bound, plan.prediction.lower_bound))
        found += _baseline_faults(plan.prediction.baselines, compared)
    return found


def label_faults(plan: Plan, bound: BoundGraph) -> list[str]:
    """The same where no profile is known: of the phases of the program."""
    numbers = Numbers()
    spread = {one.phase for one in plan.spread}  # whose turns are other phases under the same ids
    bodies = [graph for phase in bound.graph.phases if phase.id in spread for graph in traverse.subgraphs(phase)]
    turned = {phase.id for body in bodies for phase in traverse.all_phases(body)}
    known = {phase.id: phase for phase in traverse.all_phases(bound.graph) if phase.id not in turned}
    found: list[str] = []
    for place, phase in enumerate(plan.phases):
        if phase.id in known and phase != describe(known[phase.id], bound.graph, numbers.cap, phase.device):
            found.append(_fault(f"phases[{place}]", phase.label, "another phase of the program"))
    return found


def single_faults(plan: Plan, bound: BoundGraph) -> list[str]:
    """The same of a plan of one device, which follows from the program alone, but for how many threads a machine has."""
    device = Device(HOME, "cpu", plan.devices[0].threads)
    made = plan_object(plan_one_device(bound, device, plan.program))
    said = plan_object(plan)
    return [fault for part in sorted(made) for fault in _differences(said[part], made[part], part)]


def _queue_faults(said: Sequence[Any], made: Sequence[Any]) -> Iterator[str]:
    """Which devices and channels have queues, and how many bytes each transfer moves."""
    names, right = ([f"{queue['kind']} of {queue['device']}" for queue in queues] for queues in (said, made))
    for name in names:
        if name not in right:
            yield _fault("main.queues", name, ", ".join(right))
    moved = {_transfer(step): step["bytes"] for queue in made for step in queue["steps"] if step["step"] == "transfer"}
    for queue in said:
        for step in queue["steps"]:
            if step["step"] == "transfer" and (size := moved.get(_transfer(step))) is not None and size != step["bytes"]:
                yield _fault(f"bytes of the transfer of %{step['value']} to {step['target']}", step["bytes"], size)


def _transfer(step: Any) -> tuple[Any, ...]:
    return (step["value"], step["source"], step["target"], *step["units"], step["partial"], step["start"])


def _baseline_faults(said: tuple[Baseline, ...], program: ProgramProblem) -> Iterator[str]:
    made = {one.name: one.ticks for one in baselines(Costs(Timer(program.problem)))}
    if [one.name for one in said] != list(made):
        yield _fault("prediction.baselines", ", ".join(one.name for one in said), ", ".join(made))
    for one in said:
        if one.name in made and made[one.name] != one.ticks:
            yield _fault(f"prediction.baselines of {one.name}", one.ticks, made[one.name])


def _differences(said: Any, made: Any, where: str) -> Iterator[str]:
    """Where two JSON values differ, down to the leaves."""
    if isinstance(said, dict) and isinstance(made, dict):
        for key in sorted(said.keys() | made.keys()):
            if said.get(key) != made.get(key):
                yield from _differences(said.get(key), made.get(key), f"{where}.{key}")
    elif isinstance(said, list) and isinstance(made, list) and len(said) == len(made):
        for place, (one, other) in enumerate(zip(said, made, strict=True)):
            if one != other:
                yield from _differences(one, other, f"{where}[{place}]")
    elif said != made:
        yield _fault(where, said, made)


def _fault(where: str, said: object, made: object) -> str:
    return f"{CODE}: `{where}` says {_short(said)}, and the program and its devices give {_short(made)}"


def _short(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 60 else text[:57] + "…"
