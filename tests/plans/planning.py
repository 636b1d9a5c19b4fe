"""Plans of drawn programs as everyone gets them: JSON, beside the bound graph and the profile as TOML."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rho import backend
from rho.backend.devices.profile import Profile
from rho.backend.devices.profile_toml import read_profile
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.phases import Graph
from rho.backend.schedule.plan.plan import encode_plan
from rho.backend.schedule.problem import Objective
from rho.backend.schedule.program.axis_choice import Axes
from rho.backend.schedule.program.plan_program import PlannedProgram, plan_program
from rho.backend.schedule.search.strategy import Budget
from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.core.operations import Core

from .drawn import Drawn

QUICK = Budget(moves=60, steps=0)


@dataclass(frozen=True)
class Case:
    """A plan as it is stored, and what it is judged by."""

    plan: dict[str, Any]
    profile: dict[str, Any]
    graph: Graph
    planned: PlannedProgram
    stored: str
    core: Core
    bound: BoundGraph


def case_of(
    drawn: Drawn, budget: Budget = QUICK, objectives: Sequence[Objective] = (), axes: Axes | None = None
) -> Case:  # fmt: skip
    """Plan a drawn program, along these axes where they are given.  Refused and Rejected are passed on."""
    core, bound = bound_of(drawn.text, tuple(sorted(drawn.shapes.items())))
    profile = profile_of(drawn.profile)
    planned = plan_program(core, bound, profile, objectives=objectives, budget=budget, axes=axes)
    stored = encode_plan(planned.plan)
    return Case(json.loads(stored), tomllib.loads(drawn.profile), planned.program.bound.graph, planned, stored, core, bound)


@lru_cache(maxsize=8)
def bound_of(text: str, shapes: tuple[tuple[str, tuple[int, ...]], ...]) -> tuple[Core, BoundGraph]:
    core = check(Source("<plans>", text)).core
    return core, backend.bind_shapes(core, dict(shapes))


@lru_cache(maxsize=8)
def profile_of(toml: str) -> Profile:
    return read_profile("<drawn>", toml)
