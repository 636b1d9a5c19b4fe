"""Which kernels the CPU back end uses: part of what a calibration is for.

Compiled kernels come into use once they have paid for themselves; a calibration measures that state, with every kernel
compiled that can be.

Neighbours: `backend.kernels.policy` (the switch), `measure`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ...kernels import policy
from ...kernels.llvm_leaf import binding, identity


def tier_name() -> str:
    """`numpy`, or `llvm` with the version and processor that code is made for."""
    if policy.mode() is policy.Mode.OFF or binding() is None:
        return "numpy"
    return f"llvm {identity().split()[0]}"


@contextmanager
def warm_kernels() -> Iterator[None]:
    """Kernels as if they had been used for long, unless they are switched off."""
    before = os.environ.get(policy.SWITCH)
    if policy.mode() is not policy.Mode.AUTO:
        yield
        return
    os.environ[policy.SWITCH] = policy.Mode.ALWAYS.value
    try:
        yield
    finally:
        if before is None:
            del os.environ[policy.SWITCH]
        else:
            os.environ[policy.SWITCH] = before
