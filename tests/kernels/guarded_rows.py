"""Row kernels between pages that must not be touched: `python -m rho.tests.kernels.guarded_rows`.

Operands and results lie flush against an inaccessible page, so that a load or store beside them ends the process.
"""

from __future__ import annotations

from typing import Any

import pytest

from rho.backend.cpu import kernels, phases
from rho.backend.schedule import single_device
from rho.backend.vm import run_state
from rho.tests.kernels.chains import FLOATS, MANY, SHORT, WHOLE, WHOLES, given, program, run
from rho.tests.kernels.guarded import guarded, inside, with_small_stacks
from rho.tests.kernels.phases import same_bits
from rho.typechecker.elements import Kind

SHAPES = ((3, 33), (5, 64), (2, 255), (4, 256), (9, 257), (2, 4099))


def check(text: str, kind: Kind, shape: tuple[int, int], threads: int) -> None:
    source = program(text, kind)
    inputs: dict[str, Any] = {name: inside(array) for name, array in given(shape, kind).items()}
    for name, value in run(source, inputs, "always", threads).items():
        assert same_bits(value, run(source, inputs, "off")[name]), (text, shape, name)


def main() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_device, "stays_within_peak", lambda chained, apart: True)
        patch.setattr(kernels, "pooled_empty", guarded)
        for place, text in enumerate([*FLOATS, *WHOLE, *WHOLES]):
            for turn, shape in enumerate(SHAPES):
                if (place + turn) % 2 == 0:
                    check(text, Kind.F32 if place % 3 == 1 else Kind.F64, shape, 1 + turn % 3)
        for place, text in enumerate(SHORT):
            check(text, Kind.F32 if place % 2 else Kind.F64, MANY[place % len(MANY)], 1 + place % 3)
        patch.setattr(kernels, "pooled_empty", run_state.pooled_empty)
        patch.setattr(run_state, "MIN_POOLED", 0)
        patch.setattr(phases, "STREAMING_BYTES", 1)
        for shape in ((3, 64), (2, 4096)):
            check(FLOATS[0], Kind.F64, shape, 2)


if __name__ == "__main__":
    with_small_stacks(main)
