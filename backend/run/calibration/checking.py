"""How well the tables of a calibration predict programs that they were not made of.

Neighbours: `measure` (asks), `programs` (what is run).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from ...devices.cost import step_ns
from ...devices.profile import Calibration, DeviceProfile
from ...graph.phases import LibraryPhase, Structured
from .probes import low
from .programs import Program, prepared

POINTS: Final = (1 << 14, 1 << 17, 1 << 20)
PROGRAMS: Final = (
    "(x×3)-y÷2", "*x-y", "+/x×y", "⌈/x-y", "(x⌈y)×√x", "+\\x×y", "x[⍋y]", "(x>y)⌿x", "(÷1+*-x)×y", "1⌽x+y",
)  # fmt: skip
LEAST_NS: Final = 20_000


def residuals(device: DeviceProfile, threads: int, rounds: int) -> tuple[Fraction, Fraction]:
    """How far below and above the estimate the middle eight in ten measured times lie, as shares of it."""
    ratios: list[Fraction] = []
    for points in POINTS:
        values = {name: _values(points, name) for name in "xy"}
        head = "input x : f64[n]\ninput y : f64[n]\noutput z ← "
        ready = [prepared(f"{head}{expression}\n", values, threads) for expression in PROGRAMS]
        for one in ready:
            ratios += _ratios(one, device, rounds)
    return shares(ratios)


def _values(points: int, name: str) -> Any:
    return np.random.default_rng([points, *name.encode()]).random(points) * 0.85 + 0.1


def _ratios(ready: Program, device: DeviceProfile, rounds: int) -> list[Fraction]:
    """Measured over estimated, of the phases that take long enough."""
    ready.run()
    runs = [ready.run() for _ in range(2 * rounds)]
    found = []
    for place, took in enumerate(runs[0]):
        phase = took.step
        if isinstance(phase, Structured | LibraryPhase):
            actual = low([run[place].ns for run in runs])
            estimate = step_ns(phase, ready.bound, device, Calibration())
            if estimate is not None and estimate.ns and actual >= LEAST_NS:
                found.append(Fraction(actual, estimate.ns))
    return found


def shares(ratios: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    if not ratios:
        return Fraction(1, 2), Fraction(1, 2)
    ordered = sorted(ratios)
    low, high = ordered[len(ordered) // 10], ordered[-(len(ordered) // 10) - 1]
    return _share(1 - low), _share(high - 1)


def _share(value: Fraction) -> Fraction:
    """To three places, from 0.02 to 0.9."""
    return Fraction(round(min(max(value, Fraction(2, 100)), Fraction(9, 10)) * 1000), 1000)
