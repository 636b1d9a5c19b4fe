"""Which kernels the CPU back end uses: part of what a calibration is for.

Compiled kernels come into use once they have paid for themselves; a calibration measures that state, with every kernel
compiled that can be.

Neighbours: `backend.kernels.policy` (the switch), `measure`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
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


def has_kernels() -> bool:
    return tier_name() != "numpy"


def numpy_version() -> str:
    return version("numpy")


def warm_kernels() -> AbstractContextManager[None]:
    """Kernels as if they had been used for long, unless they are switched off."""
    return kernels_as(policy.Mode.WARM if policy.mode() is policy.Mode.AUTO else policy.mode())


@contextmanager
def kernels_as(mode: policy.Mode) -> Iterator[None]:
    """Inside, the switch says so."""
    before = os.environ.get(policy.SWITCH)
    os.environ[policy.SWITCH] = mode.value
    try:
        yield
    finally:
        if before is None:
            del os.environ[policy.SWITCH]
        else:
            os.environ[policy.SWITCH] = before
