"""Run programs and report what the process came to hold: one JSON object a line on standard input and output.

A program of its own, as the memory of C libraries (LAPACK, pocketfft) is seen by the system only.  Asked for
`{"program", "shapes": {name: [kind, sizes]}}` it answers `{"planned", "held"}`: the planned peak and the highest resident size
above the one before, both beside the inputs.  Run with blocks of any size given back at once (`MALLOC_…`, see `test_resident`).
"""

from __future__ import annotations

import contextlib
import gc
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from rho import backend
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Source
from rho.typechecker.check import check


def _status(word: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(word + ":"):
            return int(line.split()[1]) * 1024
    raise AssertionError(word)


def _array(name: str, kind: str, shape: list[int]) -> Any:
    rng = np.random.default_rng(len(name))
    made = rng.standard_normal(shape)
    if name in ("S", "P"):  # symmetric, and positive definite
        made = np.asarray(made + np.swapaxes(made, -1, -2))
        if name == "P":
            made[..., np.arange(shape[-1]), np.arange(shape[-1])] += 4 * shape[-1]
    if name == "N":
        made[..., 1, :] = made[..., 0, :] * (1 + 1e-10)
    if name == "I":
        made[..., 0, 0] = np.inf
    imaginary = rng.standard_normal(shape) if kind[0] == "c" and name not in ("S", "P") else 0.0
    return (made + 1j * imaginary if kind[0] == "c" else made).astype(kind)


def measure(program: str, shapes: dict[str, tuple[str, list[int]]]) -> dict[str, int]:
    inputs = {name: _array(name, kind, shape) for name, (kind, shape) in shapes.items()}
    core = check(Source("<resident>", program)).core
    assert core is not None, program
    bound = backend.load(core, inputs, {})
    plan = backend.plan(bound)
    given = sum(value.nbytes for value in inputs.values())
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    results = None
    with contextlib.suppress(RhoError):  # a matrix without an inverse
        results = backend.execute(plan, bound, inputs)
    held = _status("VmHWM") - before
    del results
    return {"planned": max(plan.peak.values()) - given, "held": held}


if __name__ == "__main__":
    for line in sys.stdin:
        question = json.loads(line)
        print(json.dumps(measure(question["program"], question["shapes"])), flush=True)
