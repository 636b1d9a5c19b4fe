"""Public scheduling instances with known optima: every file reaches its table's length, and says so.

data/schedules/README.md says where they come from.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from rho.backend.schedule.instances.solve_instance import read_instance, solve
from rho.backend.schedule.problem import Status

pytestmark = pytest.mark.long

DATA = Path(__file__).parent / "data" / "schedules"


def rows(folder: str) -> list[dict[str, str]]:
    with (DATA / folder / "optima.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", rows("auckland"), ids=lambda row: row["file"])
def test_auckland_is_proved_optimal(row: dict[str, str]) -> None:
    file = DATA / "auckland" / row["file"]
    answer = solve(read_instance(file.name, file.read_text())).answer
    assert answer.schedule is not None
    assert (answer.schedule.makespan, answer.lower_bound, answer.status) == (int(row["length"]),) * 2 + (Status.OPTIMAL,)


@pytest.mark.parametrize("row", rows("stg"), ids=lambda row: f"{row['file']}-{row['procs']}")
def test_stg_reaches_the_table(row: dict[str, str]) -> None:
    """Proved: the table's optimum meets a bound for every one of them."""
    file = DATA / "stg" / row["file"]
    answer = solve(read_instance(file.name, file.read_text(), int(row["procs"]))).answer
    assert answer.schedule is not None
    assert (answer.schedule.makespan, answer.status) == (int(row["ub"]), Status.OPTIMAL)
