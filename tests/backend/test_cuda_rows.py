"""Chains along rows on a card: one launch, the bits of the members one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rho import backend
from rho.backend.schedule import single_device
from rho.backend.vm.executor import execute_plan
from rho.tests.backend import cuda_stub
from rho.tests.kernels import cuda_host, nvrtc
from rho.tests.kernels.chains import FLOATS, MANY, SHORT, WHOLE, WHOLES, chains, given, planned, program, run
from rho.tests.kernels.phases import data, same_bits
from rho.tests.kernels.test_cuda_text import recorded, together
from rho.typechecker.elements import Kind

pytestmark = pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler")


@pytest.fixture(autouse=True)
def small_chains_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single_device, "stays_within_peak", lambda chained, apart: True)


def on_card(text: str, inputs: dict[str, Any]) -> tuple[dict[str, Any], int, int]:
    """Outputs, how many chains the plan has, how many kernels were launched."""
    plan, bound = planned(text, inputs)
    card = cuda_stub.card()
    cuda_stub.log.clear()
    made = execute_plan(plan, bound, inputs, {plan.home: card})
    assert not card.hosted
    launches = sum(entry[0] == "launch" for entry in cuda_stub.log)
    return {name: shown.value for name, shown in made.outputs.items()}, len(chains(plan)), launches


def compare(text: str, inputs: dict[str, Any]) -> None:
    expected = run(text, inputs, "apart")
    got, found, launches = on_card(text, inputs)
    assert found and launches <= found + 2, (text, found, launches)
    for name, value in got.items():
        assert same_bits(value, expected[name]), (text, name, inputs["A"].shape)


@pytest.mark.parametrize("place", range(len(FLOATS + WHOLE)))
def test_floats(place: int) -> None:
    text, kind = (FLOATS + WHOLE)[place], (Kind.F64, Kind.F32)[place % 2]
    for shape in ((3, 32), (5, 255), (4, 256), (3, 257), (2, 4097), (1, 9001)):
        compare(program(text, kind), given(shape, kind))


@pytest.mark.parametrize("place", range(len(SHORT)))
def test_short_rows(place: int) -> None:
    """Many rows to a block of threads, the last of which is not full."""
    for shape in MANY[place % 2 :: 3]:
        compare(program(SHORT[place], Kind.F64), given(shape, Kind.F64))


@pytest.mark.parametrize("text", WHOLES)
def test_whole_numbers_and_truths(text: str) -> None:
    for shape in ((7, 64), (3, 300)):
        compare(program(text, Kind.F64), given(shape, Kind.F64))


@pytest.mark.parametrize("text", [FLOATS[0], FLOATS[13], WHOLE[1]])
def test_operands_in_other_layouts(text: str) -> None:
    inputs, large = given((6, 300), Kind.F64), data(Kind.F64, 12 * 600, 8).reshape(12, 600)
    for array in (np.asfortranarray(inputs["A"]), inputs["A"][::-1, ::-1], large[::2, ::2]):
        compare(program(text, Kind.F64), dict(inputs, A=array))


def test_rows_of_any_frame() -> None:
    text = "input T : f64[a b c]\noutput r ← {e ← *⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ T\noutput s ← {(+/⍵)÷≢⍵}⍤1 ⊢ 1⊖T\n"
    for shape in ((2, 3, 40), (4, 1, 300), (0, 3, 40), (3, 0, 40)):
        items = data(Kind.F64, int(np.prod(shape)), 1).reshape(shape)
        got, _, _ = on_card(text, {"T": items})
        plan, bound = planned(text, {"T": items})
        wanted = backend.execute(plan, bound, {"T": items})
        assert all(same_bits(got[name], wanted.outputs[name].value) for name in got)


@pytest.mark.skipif(nvrtc.library() is None, reason="nvidia-cuda-nvrtc-cu12 is not installed")
def test_nvrtc_accepts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = recorded(monkeypatch)
    for text in (FLOATS[0], FLOATS[2], WHOLE[1], WHOLES[5]):
        on_card(program(text, Kind.F64), given((3, 300), Kind.F64))
    assert sum("__shared__" in code for code in seen) >= 4
    assert not nvrtc.compile_text(together(list(seen))).log
