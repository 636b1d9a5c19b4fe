"""Random programs with loops, and random ways to run their loops on several devices together."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from rho.backend.devices.profile import Profile
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.partial_graphs import is_distributable
from rho.backend.graph.phases import Loop
from rho.backend.schedule.plan.plan import ExecutionPlan
from rho.backend.schedule.problem import Mode
from rho.backend.schedule.program.distributed_loop import DistributedLoop, ProgramProblem
from rho.backend.schedule.program.distributed_loop_search import _axes
from rho.backend.schedule.program.iteration_plan import distributed_loop_of, iteration_template
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.problem_from_program import cost_context_of, problem_of
from rho.tests.backend.quick import with_modes
from rho.tests.backend.test_programs_on_devices import random_modes

VECTOR = [
    "S+0.25×(¯1⌽S)+(1⌽S)-2×S", "(K⌽S)-S", "S+(0,¯1↓S)-((1↓S),1)", "S×X", "S-(+/S)÷7.0", "S÷1⌈⌈/|S", "⌽S", "(S+1)÷2", "+\\S",
    "(2 1⌽¨S)⊢S", "S+(⌽X)×0.5", "(X<S)¿(S ⋄ X)", "S-Y", "(S,S)[⍳≢S]", "(-S)+(3⌽S)×(¯2⌽S)",
]  # fmt: skip
MATRIX = [
    "M+0.25×(¯1⊖M)+(1⊖M)-2×M", "(1⌽M)-0.5×M", "M-(+⌿M)÷⍤1⊢9.0", "⊖M", "M+(K⊖N)×0.5", "M÷1⌈⌈/,|M", "M+N", "(0⍪¯1↓M)+0.5×M",
    "((1↓M)⍪1)-N", "M×⍤0 1⊢X", "(N<M)¿(M ⋄ N)",
]  # fmt: skip


def loop_program(seed: int) -> tuple[str, dict[str, np.ndarray]]:
    """A text, and data for its inputs `x[n]`, `y[n]`, `m[n 4]`, `w[n 4]`."""
    chance = random.Random(seed)
    rows = chance.choice([5, 11, 24])
    shift = chance.choice(["1", "¯1", "2", "¯3"])
    rng = np.random.default_rng(seed)
    data = {"x": rng.standard_normal(rows), "y": rng.standard_normal(rows)}
    data |= {"m": rng.standard_normal((rows, 4)), "w": rng.standard_normal((rows, 4))}

    def chain(of: list[str], name: str) -> list[str]:
        picked = [text for text in chance.sample(of, chance.randint(1, 3)) if "¨" not in text]
        return [f"{name} ← {text.replace('K', shift).replace('X', 'x').replace('Y', 'y').replace('N', 'w')}" for text in picked]

    kind = chance.choice(["vector", "matrix", "both", "scalar"])
    turns = chance.randint(1, 4)
    head = "input x : f64[n]\ninput y : f64[n]\ninput m : f64[n 4]\ninput w : f64[n 4]\n"
    if kind == "vector":
        lines = ["step ← {", "  S ← ⍵", *(f"  {line}" for line in chain(VECTOR, "S")), "  S", "}"]
        count = f"({turns} ⋄ {{9.0>+/|⍺-⍵}})" if chance.random() < 0.5 else turns
        tail = [f"r ← step⍣{count} ⊢ x+y", "output r", "⎕←+/r"]
    elif kind == "matrix":
        lines = ["step ← {", "  M ← ⍵", *(f"  {line}" for line in chain(MATRIX, "M")), "  M", "}"]
        tail = [f"r ← step⍣{turns} ⊢ m", "output r", "⎕←+⌿r"]
    elif kind == "both":
        inner = chain(VECTOR, "S") + chain(MATRIX, "M")
        chance.shuffle(inner)
        lines = ["step ← {", "  (S M) ← ⍵", *(f"  {line}" for line in inner), "  (S ⋄ M)", "}"]
        tail = [f"(r q) ← step⍣{turns} ⊢ (x ⋄ m)", "output r", "⎕←+/r", "output q"]
    else:
        inner = [*chain(VECTOR, "S"), "a ← +/S×y", "S ← S÷1+|a", "T ← T+a"]
        lines = ["step ← {", "  (S T) ← ⍵", *(f"  {line}" for line in inner), "  (S ⋄ T)", "}"]
        tail = [f"(r t) ← step⍣{turns} ⊢ (x ⋄ 0.0)", "output r", "⎕←t"]
    return head + "\n".join([*lines, *tail]), data


def random_distributed_loops(
    program: ProgramProblem, profile: Profile, given: Any, chance: random.Random
) -> dict[Any, DistributedLoop]:
    """Every loop of a program that can be, on random devices with random rows, cut along random axes."""
    setting = cost_context_of(program, profile, given)
    found: dict[Any, DistributedLoop] = {}
    for phase in program.phases:
        if not isinstance(phase, Loop) or not is_distributable(phase, program.bound.graph):
            continue
        one = iteration_template(program.bound, phase, chance.choice(_axes(program.bound, phase)), setting)
        devices = len(program.problem.device_names())
        if one is None or devices < 2:
            continue
        count = chance.randint(2, min(devices, one.rows))
        home = int(program.problem.home)
        chosen = [home, *chance.sample([d for d in range(devices) if d != home], count - 1)]
        chance.shuffle(chosen)
        ends = sorted(chance.sample(range(1, one.rows), count - 1))
        parts = [b - a for a, b in zip([0, *ends], [*ends, one.rows], strict=True)]
        distributed = distributed_loop_of(one, tuple(zip(chosen, parts, strict=True)))
        if distributed is not None:
            found[phase.id] = distributed
    return found


def planned_together(
    bound: BoundGraph, profile: Profile, given: Any, chance: random.Random
) -> tuple[ProgramProblem, Any, ExecutionPlan] | None:
    """A random plan in which at least one loop is run together; None: the program has no such loop."""
    bare = problem_of(bound, profile, ticks_of=given)
    chosen_loops = random_distributed_loops(bare, profile, given, chance)
    if not chosen_loops:
        return None
    made = problem_of(bound, profile, ticks_of=given, distributed_loops=chosen_loops)
    modes: list[Mode] = random_modes(made.problem, chance)
    for place, distributed in made.distributed_loops.items():
        modes[place] = distributed.mode
    answer = with_modes(made.problem, modes)
    assert answer is not None
    return made, answer, plan_of(made, answer)
