"""Running a program in memory and in tiles."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rho.backend.io.writing import prepare_values, write_together
from rho.lang.support import files
from rho.lang.syntax.source import Source, Span
from rho.shell.execution.run_request import Limits, RunRequest
from rho.shell.pipeline import Session
from rho.shell.pipeline_types import LoadedProgram


def loaded(
    text: str, folder: Path, limit: int | None, *, write: bool = True, files: Mapping[str, str] | None = None, suffix: str = "npy"
) -> LoadedProgram:
    """The program with every input from `folder` (from `files` those named there), every output to it as `suffix`."""
    session = Session()
    checked = session.check(Source("p.rho", text))
    assert checked.core is not None, checked.diagnostics
    inputs = {entry.name: str(folder / (files or {}).get(entry.name, f"{entry.name}.npy")) for entry in checked.core.data}
    outputs = {entry.name: str(folder / f"out-{entry.name}-{limit}.{suffix}") for entry in checked.core.outputs} if write else {}
    return session.load(checked, RunRequest(inputs, {}, outputs, Limits(limit)))


def results(program: LoadedProgram) -> list[Any]:
    """What is printed and put out, as arrays; what is streamed is written and read again."""
    printed = store(program)
    return [*printed, *(np.load(path) for path in program.request.outputs.values())]


def store(program: LoadedProgram) -> list[Any]:
    """What is printed; what is put out is in its files."""
    outcome = Session().run(program)
    span = Span("p.rho", 0, 0)
    paths = {name: program.request.outputs[name] for name in outcome.outputs}
    outputs = outcome.outputs.items()
    write_together([
        prepare_values(paths[name], one.value, one.kind, span, name=name, reading=one.reading) for name, one in outputs
    ])  # fmt: skip
    return [np.asarray(shown.value) for shown in outcome.printed]


def same_bits(left: list[Any], right: list[Any]) -> bool:
    return len(left) == len(right) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(left, right, strict=True)
    )


def unfinished() -> list[str]:
    """The temporaries of streams that are left; the compiler may be storing kernels in the meantime."""
    return [path for path in files.live() if not path.startswith(os.environ["RHO_KERNEL_CACHE"])]
