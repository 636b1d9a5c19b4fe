"""Gathers, rotations and cyclic reshapes on a card: one kernel each, the same values, the same failures."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from rho import backend
from rho.lang.diagnostics.model import RhoError
from rho.tests.backend import cuda_stub
from rho.tests.backend.test_cuda_backend import disagreements, run_on_card
from rho.tests.harness.tiers import checked
from rho.tests.kernels import cuda_host, nvrtc
from rho.tests.kernels.test_cuda_text import recorded, together

pytestmark = pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler")

DECLARED = """input x : f64[n]
input z : c128[n]
input s : f32[n]
input w : c64[n]
input b : bool[n]
input u : u8[n]
input t : char[n]
input M : f64[r c]
input i : i64[k]
input J : i64[k 2]
input d : i64
input e : i64[r]
"""


def data(n: int = 9, r: int = 4, c: int = 6, k: int = 5) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    z = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    return {
        "x": rng.standard_normal(n), "z": z, "s": rng.standard_normal(n).astype(np.float32), "w": z.astype(np.complex64),
        "b": rng.random(n) < 0.5, "u": rng.integers(0, 256, n, np.uint8), "t": np.array(list("abcdefghijkl"[:n])),
        "M": rng.standard_normal((r, c)), "i": rng.integers(0, min(n, r, c), k), "J": rng.integers(0, min(n, r, c), (k, 2)),
        "d": np.array(-7), "e": rng.integers(-40, 40, r),
    }  # fmt: skip


GATHERS = """x[i]
z[i]
s[J]
w[i]
b[i]
u[J]
t[i]
M[i;]
M[;i]
M[;J]
M[i;i]
(⍉M)[i;]
(⌽x)[i]
x[b⍳1]
d⌽x
d⌽z
d⊖M
d⌽M
e⌽M
25⍴x
3 7⍴w
2 3⍴M
{⍵[1 0 2]}⍤1 ⊢ M
{⍵[⍋⍵]}⍤1 ⊢ M
{x[⍵]}⍤1 ⊢ J
1 ¯2 1/3↑t
1 0 1\\2↑z
1 ¯1 1/3↑x""".splitlines()


@pytest.mark.parametrize("text", GATHERS)
def test_values(text: str) -> None:
    core = checked(DECLARED + f"output r ← {text}\n")
    assert core is not None, text
    for sizes in ((9, 4, 6, 5), (12, 3, 3, 1), (7, 5, 4, 0)):
        hosted: Counter[str] = Counter()
        assert not disagreements(core, data(*sizes), hosted), (text, sizes)
        assert not hosted, text


@pytest.mark.parametrize("text", ["x[i]", "z[i]", "M[i;]", "M[;i]", "M[;J]", "d⌽x", "25⍴z"])
def test_one_kernel(text: str) -> None:
    core = checked(DECLARED + f"output r ← {text}\n")
    assert core is not None
    cuda_stub.log.clear()
    run_on_card(core, data())
    assert sum(entry[0] == "launch" for entry in cuda_stub.log) == 1


@pytest.mark.parametrize("text", ["x[i]", "w[i]", "t[i]", "M[i;]", "M[;J]", "{x[⍵]}⍤1 ⊢ J", "(0⍴x)[i]"])
@pytest.mark.parametrize("bad", [-1, -2, 40, 1 << 62, -(1 << 63)])
def test_failures_are_those_of_the_processor(text: str, bad: int) -> None:
    """The same code, sentence and place; the first index that is outside is the one that is named."""
    core = checked(DECLARED + f"output r ← {text}\noutput q ← x\n")
    assert core is not None
    given = data(k=300)
    given["i"][137], given["J"][137, 1] = bad, bad
    given["i"][250], given["J"][250, 0] = 77, 77
    bound = backend.load(core, given, {})
    told = []
    for run in (lambda: run_on_card(core, given), lambda: backend.execute(backend.plan(bound), bound, given)):
        with pytest.raises(RhoError) as caught:
            run()
        told.append([(d.code, d.message, d.span) for d in caught.value.diagnostics])
    assert told[0] == told[1] and told[0][0][0] == "E310"


@pytest.mark.parametrize(("text", "waits"), [("x[⌽⍋x]", 0), ("d⌽M", 0), ("25⍴x", 0), ("x[i]", 1)])
def test_only_indices_that_may_be_outside_are_waited_for(text: str, waits: int) -> None:
    core = checked(DECLARED + f"output r ← {text}\n")
    assert core is not None
    cuda_stub.log.clear()
    run_on_card(core, data())
    assert cuda_stub.log.count(("get", 4)) == waits


@pytest.mark.skipif(nvrtc.library() is None, reason="nvidia-cuda-nvrtc-cu12 is not installed")
def test_nvrtc_accepts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = recorded(monkeypatch)
    for text in ("x[i]", "w[J]", "M[;i]", "e⌽M", "d⌽z", "25⍴t"):
        core = checked(DECLARED + f"output r ← {text}\n")
        assert core is not None
        run_on_card(core, data())
    assert len(seen) >= 6 and any("failed = 1; return;" in code for code in seen)
    assert not nvrtc.compile_text(together(list(seen))).log
