"""Plans of drawn programs as everyone gets them: JSON, beside the bound graph and the profile as TOML."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rho import backend
from rho.backend.devices.reading import read_profile
from rho.backend.graph.phases import Graph
from rho.backend.schedule.plan.stored import encode_plan
from rho.backend.schedule.problem import Objective
from rho.backend.schedule.program.planning import Planned, plan_program
from rho.backend.schedule.solve.budget import Budget
from rho.lang.source import Source
from rho.typechecker.check import check

from .drawn import Drawn

QUICK = Budget(moves=60, steps=0)


@dataclass(frozen=True)
class Case:
    """A plan as it is stored, and what it is judged by."""

    plan: dict[str, Any]
    profile: dict[str, Any]
    graph: Graph
    planned: Planned


def case_of(drawn: Drawn, budget: Budget = QUICK, objectives: Sequence[Objective] = ()) -> Case:
    """Plan a drawn program.  Refused and Rejected are passed on."""
    core = check(Source("<plans>", drawn.text)).core
    bound = backend.bind_shapes(core, drawn.shapes)
    planned = plan_program(core, bound, read_profile("<drawn>", drawn.profile), objectives=objectives, budget=budget)
    return Case(json.loads(encode_plan(planned.plan)), tomllib.loads(drawn.profile), planned.program.bound.graph, planned)
