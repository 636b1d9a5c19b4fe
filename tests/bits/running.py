"""A program through the reference interpreter and through the plan with kernels off, as they come, and always."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from rho import backend
from rho.backend.reference import interpret
from rho.backend.run.values import from_numpy, to_numpy
from rho.lang.source import Source
from rho.typechecker.check import check
from rho.typechecker.core_blocks import Core

MODES = ("off", "auto", "always")


def core_of(text: str) -> Core:
    """The core of a program that must be accepted."""
    checked = check(Source("<bits>", text))
    assert checked.core is not None, (text, [str(d.message) for d in checked.diagnostics])
    return checked.core


def by_reference(core: Core, inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """Outputs in the order of their names, then what is printed."""
    results = interpret(core, {name: from_numpy(value) for name, value in inputs.items()}, {})
    outputs = [results.outputs[name] for name in sorted(results.outputs)]
    return [to_numpy(value) for value in [*outputs, *results.printed]]


def by_plan(core: Core, inputs: Mapping[str, Any], mode: str) -> list[np.ndarray]:
    """As `by_reference`, through the plan of this machine."""
    with kernels(mode):
        bound = backend.load(core, inputs, {})
        results = backend.execute(backend.plan(bound), bound, inputs)
    outputs = [results.outputs[name] for name in sorted(results.outputs)]
    return [np.array(shown.value) for shown in [*outputs, *results.printed]]


@contextmanager
def kernels(mode: str) -> Iterator[None]:
    """`RHO_KERNELS` while a plan runs."""
    before = os.environ.get("RHO_KERNELS")
    os.environ["RHO_KERNELS"] = mode
    try:
        yield
    finally:
        if before is None:
            del os.environ["RHO_KERNELS"]
        else:
            os.environ["RHO_KERNELS"] = before
