"""What loops cost that are compiled whole: their loop programs, worked out by hand, and none of what steps cost."""

from __future__ import annotations

from typing import Any

import pytest

from rho import backend
from rho.backend.devices import loop_cost
from rho.backend.devices.op_tables import Rates
from rho.backend.devices.phase_cost import step_ns
from rho.backend.devices.profile import CostTable, DeviceProfile, Profile
from rho.backend.graph.phases import Fold, Loop, Map
from rho.backend.loopir.text import parse
from rho.backend.lower.scope import NotLowerable
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

LAUNCH = 1_000_000
"""Nanoseconds of a step: no loop of these tests may pay it in each turn."""


def line(nanoseconds: int) -> CostTable:
    """So many a 1000 bytes."""
    return CostTable((1000, 10**9), (nanoseconds, nanoseconds * 10**6))


def machine() -> DeviceProfile:
    rates = {f"{stem}{name}.f64": line(1) for stem in ("", "point.", "ufunc.") for name in ("add", "mul", "exp")}
    others = {f"{name}.f64": line(1) for name in ("row.add", "read", "write", "step")}
    return DeviceProfile("cpu0", "cpu", home=True, launch_ns=LAUNCH, ops={**rates, **others})


def estimate(text: str, **shapes: tuple[int, ...]) -> int:
    core = check(Source("<test>", text)).core
    assert core is not None
    bound = backend.bind_shapes(core, shapes)
    (loop,) = (phase for phase in bound.graph.phases if isinstance(phase, Loop | Fold | Map))
    device = machine()
    found = step_ns(loop, bound, device, Profile((device,)).calibration)
    assert found is not None
    return found.ns


SCAN = "input x : f64[n]\noutput y ← {(0.9×⍺)+0.1×⍵}\\x\n"
SOLVE = "input L : f64[n n]\ninput b : f64[n]\noutput x ← {x ← ⍵ ⋄ x[⍺] ← (b[⍺]-(⍺↑L[⍺;])+.×⍺↑x)÷L[⍺;⍺] ⋄ x}⍣(⍳≢b) ⊢ 0×b\n"


def test_a_turn_pays_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = estimate(SCAN, x=(100_000,))
    assert whole < 5 * LAUNCH

    def refused(*given: object) -> Any:
        raise NotLowerable("for this test")

    monkeypatch.setattr(loop_cost, "lower_region", refused)
    assert estimate(SCAN, x=(100_000,)) > 100_000 * LAUNCH, "phase by phase, every turn does"


def test_a_row_that_is_read_costs_a_row() -> None:
    """Twice as many rows, each twice as long: four times the time and not eight, as if every turn read the matrix."""
    small, large = (estimate(SOLVE, L=(n, n), b=(n,)) - LAUNCH for n in (16_000, 32_000))
    assert 3 < large / small < 5


PROGRAM = """program p(n) {{
  input x: f64[n, n]
  output y: f64[]
  z: f64 = 0.0
  for i in 0..n serial {{
    for j in 0..{upper} {kind}{carried} {{
      v = x[i, j]
      w: f64 = add({first}, v)
    }}
  }}
}}
"""


def time_of(upper: str, kind: str = "serial", *, carried: bool = False) -> float:
    handed = " carried (s: f64 = z -> w => t)" if carried else ""
    program = parse(PROGRAM.format(upper=upper, kind=kind, carried=handed, first="s" if carried else "v"))
    return loop_cost._Time(Rates(machine()), {view.name: view for view in program.views}).block(program.body, {"n": 1000})


def test_triangles_vectors_and_values_handed_on() -> None:
    assert time_of("i") == pytest.approx(time_of("n") / 2, rel=0.02)
    assert time_of("n", "vector") < time_of("n") / 4
    assert time_of("n", carried=True) > 1.2 * time_of("n")
