"""Keyed reductions on a card: items and cells, few bins and many, the bits of the processor, the same failures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rho import backend
from rho.lang.diagnostics.model import RhoError
from rho.tests.backend.test_cuda_backend import disagreements, outputs, run_on_card
from rho.tests.harness.tiers import checked
from rho.tests.kernels import cuda_host
from rho.tests.kernels.test_cuda_text import recorded

pytestmark = pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler")

DECLARED = """input i : i64[n]
input x : f64[n]
input z : c128[n]
input s : f32[n]
input j : i64[n]
input b : bool[n]
input M : f64[n c]
input J : i64[n c]
"""


def data(n: int, bins: int = 4) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    return {
        "i": rng.integers(0, bins, n), "x": rng.standard_normal(n), "z": rng.standard_normal(n) - 1j * rng.standard_normal(n),
        "s": rng.standard_normal(n).astype(np.float32), "j": rng.integers(-9, 9, n), "b": rng.random(n) < 0.5,
        "M": rng.standard_normal((n, 3)), "J": rng.integers(-9, 9, (n, 3)),
    }  # fmt: skip


CASES = [f"4{f}⌸(i ⋄ {v})" for f, v in (*(("+", v) for v in "xzsjMJ"), ("×", "x"), ("×", "j"), ("∨", "b"), ("∧", "b"))]


@pytest.mark.parametrize("text", CASES)
def test_the_bits_of_the_processor(text: str) -> None:
    core = checked(DECLARED + f"output r ← {text}\n")
    assert core is not None, text
    for n in (1000, 40):
        given = data(n)
        bound = backend.load(core, given, {})
        wanted = [shown.value.tobytes() for shown in backend.execute(backend.plan(bound), bound, given).outputs.values()]
        got, hosted = outputs(core, given)
        assert got == wanted and not hosted, (text, n)


@pytest.mark.parametrize("text", ["4+⌸(i ⋄ j)", "4+⌸(i ⋄ M)", "4+⌸(i ⋄ z)", "4∨⌸(i ⋄ b)"])
def test_nothing_and_bins_without_items(text: str) -> None:
    core = checked(DECLARED + f"output r ← {text}\n")
    assert core is not None
    for n in (0, 1, 3):
        assert not disagreements(core, data(n, 2)), n


def test_few_bins_are_joined_in_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    for n, bins, is_few in ((5000, 7, True), (100, 7, False), (90_000, 6000, False)):
        core = checked(f"input i : i64[n]\noutput r ← {bins}+⌸(i ⋄ i)\n")
        assert core is not None
        keys = np.random.default_rng(1).integers(0, bins, n)
        with monkeypatch.context() as patch:
            seen = recorded(patch)
            made = run_on_card(core, {"i": keys})
        assert np.array_equal(made.outputs["r"].value, np.bincount(keys, keys, bins).astype(int))
        (text,) = [one for one in seen if "keys" in one]
        assert ("__shared__" in text) is is_few


@pytest.mark.parametrize("text", ["4+⌸(i ⋄ j)", "4+⌸(i ⋄ x)", "4+⌸(i ⋄ J)", "4+⌸(i ⋄ z)"])
@pytest.mark.parametrize("bad", [4, -1, 1 << 62])
def test_keys_that_name_no_bin_write_nowhere(text: str, bad: int) -> None:
    core = checked(DECLARED + f"output r ← {text}\n")
    assert core is not None
    given = data(900)
    given["i"][311], given["i"][600] = bad, 99
    bound = backend.load(core, given, {})
    told = []
    for run in (lambda: run_on_card(core, given), lambda: backend.execute(backend.plan(bound), bound, given)):
        with pytest.raises(RhoError) as caught:
            run()
        told.append([(d.code, d.message, d.span) for d in caught.value.diagnostics])
    assert told[0] == told[1]
