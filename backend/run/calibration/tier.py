"""Which kernels the CPU back end uses: part of what a calibration is for.

Compiled kernels come into use once they have paid for themselves; a calibration measures that state, with every kernel
compiled that can be.

Neighbours: `backend.kernels.policy` (the switch), `measure`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

from ...kernels import policy


def tier_name() -> str:
    """`numpy`, or `llvm` with the version of what makes code.  Loads neither."""
    if policy.mode() is policy.Mode.OFF:
        return "numpy"
    try:
        return f"llvm {version('llvmlite')}"
    except PackageNotFoundError:
        return "numpy"


def numpy_version() -> str:
    return version("numpy")


@contextmanager
def warm_kernels() -> Iterator[None]:
    """Kernels as if they had been used for long, unless they are switched off."""
    with _switched(policy.Mode.WARM if policy.mode() is policy.Mode.AUTO else policy.mode()):
        yield


@contextmanager
def without_kernels() -> Iterator[None]:
    """NumPy calls only."""
    with _switched(policy.Mode.OFF):
        yield


@contextmanager
def _switched(mode: policy.Mode) -> Iterator[None]:
    before = os.environ.get(policy.SWITCH)
    os.environ[policy.SWITCH] = mode.value
    try:
        yield
    finally:
        if before is None:
            del os.environ[policy.SWITCH]
        else:
            os.environ[policy.SWITCH] = before
