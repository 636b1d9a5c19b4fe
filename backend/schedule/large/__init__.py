"""Graphs of more phases, or on more devices, than the search can look at one by one."""

from __future__ import annotations

from collections.abc import Sequence

from ..budget import Budget
from ..costs import Costs
from ..heuristics import Candidate


def improve(costs: Costs, found: object, compared: Sequence[Candidate], budget: Budget) -> None:
    pass
