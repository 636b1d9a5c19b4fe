"""Whether a card gives the processor's results: a few programs of each kind, for `rho devices --check`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ...backend import execute, load, plan
from ...backend.schedule.plan.plan import Device
from ...lang.diagnostics.model import RhoError
from ...lang.syntax.source import Source
from ...typechecker.check import check

INPUTS: Final = {
    "x": "input x : f64[n]", "s": "input s : f32[n]", "i": "input i : idx<n>[n]", "k": "input k : i64[n]",
    "b": "input b : bool[n]", "z": "input z : c128[n]", "M": "input M : f64[r c]",
}  # fmt: skip
PROGRAMS: Final = """1+x×x
*-x×x
(⍟1+|x)÷3+x
1○x
s÷1+s×s
⌊0.5+x×9
k|7-k
(k×k)⌊100000
z×z+1
(x>0)∧b
+/x
+/⍤1 ⊢ M
+⌿M×0.1
⌈/x
×/1+x÷1000000
+/k
∨⌿M>3
⍉M
2⌽x
x[i]
+\\x
⌈\\M
{e ← *⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ M
{(¯1⌽⍵)+0.25×1⌽⍵}⍣9 ⊢ x
{⍵-⍨0.3×⍵×⍵}⍣25 ⊢ x
x,1-x
9+⌸(9|i ⋄ k)
9+⌸(9|i ⋄ x)
M+.×⍉M""".splitlines()
"""Expressions of the inputs that they name."""
COUNTS: Final = (5, 1000, 100_003)
"""Items, of which a matrix has a tenth as rows of 9 at most 3000."""


def differences(device: Device) -> Iterator[tuple[str, str]]:
    """The programs, each with what is wrong on a device, or an empty text."""
    for text in PROGRAMS:
        yield text, next((wrong for count in COUNTS if (wrong := _difference(text, count, device))), "")


def _difference(text: str, count: int, device: Device) -> str:
    names = [name for name in INPUTS if name in text]
    core = check(Source("<check>", "\n".join([*(INPUTS[name] for name in names), f"output r ← {text}", ""]))).core
    assert core is not None, text
    given = {name: array for name, array in _data(count).items() if name in names}
    bound = load(core, given)
    wanted = execute(plan(bound), bound, given).outputs["r"].value
    try:
        got = execute(plan(bound, device), bound, given).outputs["r"].value
    except RhoError as error:
        return str(error)
    if got.tobytes() == wanted.tobytes():
        return ""
    rounding = 4 * np.finfo(float).eps * count
    if ".×" in text and np.allclose(got, wanted, rounding, rounding * np.abs(wanted).max()):
        return ""
    return f"{np.count_nonzero(got != wanted)} of {wanted.size} items differ, for {count} items"


def _data(count: int) -> dict[str, Any]:
    rng = np.random.default_rng(count)
    rows = min(3000, 1 + count // 10)
    return {
        "x": rng.standard_normal(count), "s": rng.standard_normal(count).astype(np.float32), "i": rng.integers(0, count, count),
        "k": rng.integers(-1000, 1000, count), "b": rng.random(count) < 0.5, "M": rng.standard_normal((rows, 9)),
        "z": rng.standard_normal(count) + 1j * rng.standard_normal(count),
    }  # fmt: skip
