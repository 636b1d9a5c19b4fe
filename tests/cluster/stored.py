"""Programs whose inputs and outputs lie in files: what they are, and what their plans on clusters do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.schedule.plan.plan import ExecutionPlan, TransferStep
from rho.lang.syntax.source import Span

NOWHERE = Span("p.rho", 0, 0)
SHARED = "input x : f64[n] ← \"x.npy\"\noutput y ← √1+x×x\nschedule {\n  split y rows 1:1 over w0 w1\n}\n"  # fmt: skip


def zarr_folder(path: Path, array: Any) -> None:
    """Version 2, in chunks of 500 rows that are not compressed."""
    path.mkdir()
    rows, columns = array.shape
    (path / ".zarray").write_text(
        f'{{"zarr_format": 2, "shape": [{rows}, {columns}], "chunks": [500, {columns}], "dtype": "<f8", "compressor": null,'
        '"fill_value": 0, "order": "C", "filters": null}'
    )
    for place in range(0, rows, 500):
        (path / f"{place // 500}.0").write_bytes(np.ascontiguousarray(array[place : place + 500]).tobytes())


def loaded(folder: Path, text: str) -> rho.Program:
    (folder / "p.rho").write_text(text, encoding="utf-8")
    return rho.load(folder / "p.rho")


def cluster_plan(program: Any) -> ExecutionPlan:
    (found,) = [plan for _, plan in program._plans.values() if plan.prediction is not None]
    return found


def readers(plan: ExecutionPlan) -> set[str]:
    """Who reads from the store."""
    steps = [step for queue in plan.main.queues for step in queue.steps if isinstance(step, TransferStep)]
    return {str(step.target) for step in steps if step.source == "files"}


def by_name(result: Any) -> dict[str, bytes]:
    return {key: value.tobytes() for key, value in result.items()}


def failure(run: Callable[[], object]) -> list[tuple[str, str]]:
    with pytest.raises(rho.RhoError) as raised:
        run()
    return [(str(one.code), one.message) for one in raised.value.diagnostics]


def writers(plan: ExecutionPlan) -> set[str]:
    steps = [step for queue in plan.main.queues for step in queue.steps if isinstance(step, TransferStep)]
    return {str(step.source) for step in steps if step.target == "files"}
