"""Reductions and scans by functions of bits are kernels, as those by every light function that is exact in any order."""

from __future__ import annotations

import numpy as np
import pytest

from rho.backend.cpu.views import DTYPES
from rho.tests.harness.tiers import agree, checked
from rho.typechecker.elements import Kind


@pytest.mark.parametrize("function", ["⎕band", "⎕bor", "⎕bxor"])
@pytest.mark.parametrize("kind", [Kind.I64, Kind.I32, Kind.U8], ids=lambda kind: kind.value)
def test_reductions_and_scans(function: str, kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "always")
    for shape in ((9000,), (300, 70), (7, 4000)):
        x = np.random.default_rng(3).integers(0, 200, shape).astype(DTYPES[kind]) | DTYPES[kind].type(1)
        for body in (f"{function}/x", f"{function}⌿x", f"{function}\\x", f"({function}/x⎕bxor 5)+⌈/x"):
            core = checked(f"input x : {kind.value}[{' '.join(map(str, shape))}]\n{body}\n")
            assert core is not None
            assert agree(core, {"x": x}) == []
