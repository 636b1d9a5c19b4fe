"""Linked calls of library phases, of sizes that a run finds, of branches and loops: what running the plan gives, bit for bit."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from without_code import forget_code

import rho
from rho.backend.cpu import templates
from rho.backend.jit import compiler, tiering
from rho.backend.vm import runtime
from rho.backend.vm.bytecode import NOT_APPLICABLE
from rho.backend.vm.call_sites import CallSite
from rho.backend.vm.executor import never_applicable
from rho.shell.embedding.functions import Function
from rho.typechecker.elements import Kind

from .test_linked import each_plainly, linked, plainly, same

pytestmark = [pytest.mark.skipif(runtime.native() is None, reason="no native calls in this Python"), pytest.mark.long]

VECTORS = [
    "{⍵[⍋⍵]}", "{⍵[⍒⍵]}", "{⍋⍵}", "{⍒⍵}", "{⍋⍋⍵}", "{⊃⍒⍵}", "{+\\⍵}", "{×\\⍵}", "{⌈\\⍵}", "{⌊\\⌽⍵}", "{(⍵>1)⌿⍵}", "{⍸⍵>1}",
    "{+/(⍵>1)/⍵}", "{t←(⍵>1)/⍵ ⋄ (+/t)÷≢t}", "{1+√|(⍵>1)/⍵}", "{⌈/(⍵>1)/⍵}", "{⌊/(⍵>1)/⍵}", "{×/(⍵>1)/⍵}", "{∧/0<(⍵>1)/⍵}",
    "{≢⍸⍵>1}",
    "{∪⍵}", "{≢∪⍵}", "{+/∪⍵}", "{⌽(⍵>1)/⍵}", "{⍋(⍵>1)/⍵}", "{t←(⍵>1)/⍵ ⋄ t[⍋t]}", "{t←(⍵>1)/⍵ ⋄ t-(+/t)÷≢t}", "{((⍵>1)/⍵)∘.+⍳3}",
    "{t←(⍵>1)/⍵ ⋄ t∘.-t}", "{t←(⍵>1)/⍵ ⋄ (t>2)/t}", "{+\\(⍵>1)/⍵}", "{(⍵>1)/⍳≢⍵}", "{1↓(⍵>1)/⍵}", "{¯1↓⍸⍵>1}", "{3↑(⍵>1)/⍵}",
    "{t←(⍵>1)/⍵ ⋄ (1↓t)-¯1↓t}", "{(+/t ⋄ ≢t ⋄ t←(⍵>1)/⍵)}", "{(⍵>1)⌿⍵∘.×⍳3}", "{3⌽⍵}", "{⍵,0}", "{⍵,⍪⍵}", "{2/⍵}", "{⍵≡⌽⍵}",
    "{⍸1,(1↓⍵)≠¯1↓⍵}", "{⍵∊1 2}", "{1 2⍳⍵}", "{-/⍵}", "{3 4⍴⍵}", "{0@(⍸⍵>1)⊢⍵}", "{⍵[⍸⍵>1]}", "{x←(⍵>1)/⍵ ⋄ x,x}", "{⌽+\\⌽⍵}",
    "{⍵⍳⌽⍵}", "{⍵∊⌽⍵}", "{(⌽⍵)~1 2}", "{⍵≡⍵}", "{({⍵[⍋⍵]}⍤1)⍵∘.×3 ¯1 2}",
    "{({⍵[⍒⍵]}⍤1)⍵∘.×3 ¯1 2}", "{¯4⌽⍵}", "{2⊖⍵∘.×⍳3}", "{0@0⊢⍵}", "{(⌽⍵)@(⍋⍵)⊢⍵}", "{(⍵>1)∊⍵>2}",
    "{⌈/0,(⍵>1)/⍵}", "{(⌊/(⍵>1)/⍵),⌊/9,(⍵>2)/⍵}",
]  # fmt: skip
CONTROL = [
    "{0<+/⍵: ⍵×2 ⋄ ⍵-1}", "{0<+/⍵: (⍵>1)/⍵ ⋄ ⍵}", "{t←(0<+/⍵)¿(⌽⍵ ⋄ ⍵) ⋄ t+⍵}", "{0<+/⍵: ⍵ ⋄ ⌽⍵}",
    "{{+\\⍵}⍣5⊢⍵}", "{{(1⌽⍵)+⍵}⍣3⊢⍵}", "{{⌽⍵}⍣3⊢⍵}", "{{⍵[⍋⍵]}⍣2⊢⍵}",
    "{{+\\⍵}⍣(9 ⋄ {20<+/⍺})⊢⍵}", "{{⍺+2×⍵}/⍵}", "{{⍺-⍵}\\⍵}",
    "{{+\\⍵}⍣\\3⊢⍵}",
    "{{+/⍵[⍋⍵]}⍤1⊢⍵∘.+⍳3}", "{{+\\⍵}⍣0⊢⍵}", "{{(0<+/⍵)¿(⍵-1 ⋄ ⍵+1)}⍣6⊢⍵}", "{{(⌽⍵)∘.×1}⍤1⊢⍵∘.+⍳3}",
]  # fmt: skip
FOLDS = ["{{⌈/⍺,⍵}/⍵}", "{{⍺⌈+/(⍵>1)/⍵}/⍵}"]
"""Each item is a call: on few of them."""
KINDS = [np.float64, np.float32, np.int64, np.int32, np.bool_]


def examples(size: int, dtype: Any) -> list[Any]:
    """What selects some, none, all and one; for floats NaN and both zeros too."""
    rng = np.random.default_rng(size)
    some = rng.integers(-3, 6, size)
    one = np.zeros(size, np.int64)
    one[size // 2 :][:1] = 4
    found = [given.astype(dtype) for given in (some, rng.integers(-3, 6, size), np.zeros(size), np.full(size, 3), one)]
    if np.dtype(dtype).kind == "f":
        odd = found[0].copy()
        odd[::3] = np.nan
        odd[1::4] = -0.0
        found += [odd, -np.abs(found[0]) * 0.0, rng.standard_normal(size).astype(dtype) * 3]
    return found


def often(function: Function, *arguments: Any) -> Any:
    for _ in range(8):
        found = function(*arguments)
    return found


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are compiled when they are first asked for."""
    monkeypatch.setattr(tiering, "COMPILE_NANOSECONDS", 1.0)


@pytest.mark.parametrize("text", [*VECTORS, *CONTROL, *FOLDS])
def test_of_a_vector(text: str) -> None:
    for dtype in KINDS:
        for size in (0, 1, 2, 10) if text in FOLDS else (0, 1, 10, 1000):
            given = examples(size, dtype)
            try:
                expected = each_plainly(text, [(x,) for x in given])
            except rho.RhoError:  # a type or a size that the function is not for
                continue
            function = rho.compile(text)
            before = [x.copy() for x in given]
            for x in (given[0], given[0], *given, *given):
                often(function, x)
            for x, kept, value in zip(given, before, expected, strict=True):
                found = function(x)
                assert same(found, value), (dtype, size, x, found, value)
                assert same(x, kept)
                for part in found if isinstance(found, tuple) else (found,):
                    assert not np.may_share_memory(part, x)


@pytest.mark.parametrize("text", ["{⍵[⍋⍵]}", "{⍋⍵}", "{+/(⍵>1)/⍵}", "{+\\⍵}", "{∪⍵}", "{⍵,0}", *CONTROL[:8], "{{⍺+2×⍵}/⍵}"])
def test_it_is_linked(text: str) -> None:
    x = np.arange(10.0)
    function = linked(text, x)
    assert function._latest(x) is not NOT_APPLICABLE


@pytest.mark.parametrize(
    ("text", "good", "bad"),
    [
        ("{⍵[i64 ⍵]}", [0.0, 1.0], [0.0, 5.0]), ("{0<+/⍵: ⌊⍵ ⋄ ⍵[i64 ⍵]}", [0.0, 1.0], [0.0, np.nan]),
        ("{{⌊⍵×2}⍣3⊢⍵}", [1.0, 2.0], [4e18, 1.0]), ("{+/⌊(⍵>1)/⍵}", [1.0, 2.0], [1.0, 1e300]),
        ("{{⍺+⌊⍵}/⍵}", [1.0, 2.0, 3.0], [1.0, 2.0, np.nan]), ("{(⍵⍳2)⌷⍵}", [2.0, 1.0], [1.0, 1.0]),
    ],
)  # fmt: skip
def test_failures_say_what_the_plan_says(text: str, good: list[float], bad: list[float]) -> None:
    right, wrong = np.array(good), np.array(bad)
    function = rho.compile(text)
    expected = often(function, right)
    with pytest.raises(rho.RhoError) as plain:
        plainly(text, wrong)
    for _ in range(3):
        with pytest.raises(rho.RhoError) as found:
            function(wrong)
        assert str(found.value) == str(plain.value)
        assert same(function(right), expected)


def test_a_size_that_is_found_twice() -> None:
    """Two phases find the size of one mask: the first result is as long as found then, not in a call before."""
    text = "{m←⍵=⍺ ⋄ (m/⍺ ⋄ m/⍺+⍵)}"
    function, rng = rho.compile(text), np.random.default_rng(3)
    for size in (7, 7, 3, 0, 5, 1, 7, 2) * 5:
        left = rng.integers(-99, 99, 7)
        right = left + (np.arange(7) >= size)
        assert same(function(left, right), (left[:size], 2 * left[:size]))


@pytest.mark.parametrize("text", ["{1⌽⍵}", "{+⌿¯1⊖⊖⍵}", "{+⌿1⌽⍵}", "{+/⍵,⍵}", "{+⌿⍵⍪⍵}", "{+/{⍵[⍋⍵]}⍤1⊢⍵}", "{(⊖⍵)⌈+/1⌽⍵}"])
def test_operands_that_lie_column_by_column(text: str) -> None:
    given = np.asfortranarray(np.arange(15.0).reshape(3, 5) % 7)
    assert same(often(rho.compile(text), given), plainly(text, given))


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[CallSite]:
    """Who asks Python, from now on."""
    asked: list[CallSite] = []
    ask = CallSite.__call__

    def asking(site: CallSite, *given: Any) -> Any:
        asked.append(site)
        return ask(site, *given)

    monkeypatch.setattr(CallSite, "__call__", asking)
    return asked


@pytest.mark.parametrize("text", ["{+\\⍵}", "{+/⍵}", "{1+⍵×2}", "{⍵[2 0]}"])
def test_short_arrays_have_their_kernels_after_some_calls(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread compiles them while calls go on; then no call asks Python."""
    monkeypatch.setattr(tiering, "COMPILE_NANOSECONDS", 10e9)
    forget_code(monkeypatch)
    monkeypatch.setenv("RHO_KERNEL_CACHE", "off")
    asked, function, given = recorded(monkeypatch), rho.compile(text), np.arange(10.0)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and (asked or function._latest is never_applicable):
        asked.clear()
        for _ in range(100):
            function(given)
    assert not asked


def test_code_that_a_test_has_compiled_anew_is_in_no_launch_of_later_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """`test_tuning` found the scan of ten items at another address than those of all other sizes."""
    monkeypatch.setenv(tiering.SWITCH, "always")
    with monkeypatch.context() as patch:
        forget_code(patch)
        rho.compile("{+\\⍵}")(np.arange(10.0))
    plan = templates.scan_plan("add", Kind.F64, np.arange(10.0), 0, 1)
    assert plan is not None and plan.pieces.address == compiler.address_of(plan.code)


@pytest.mark.parametrize("text", ["{(⍵>0.5)/⍵}", "{⍸⍵>0.5}"])
@pytest.mark.parametrize("size", [10, 300, 10_000])
def test_masks_of_new_counts_do_not_ask_python(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "always")
    asked = recorded(monkeypatch)
    function, rng = rho.compile(text), np.random.default_rng(size)
    for _ in range(9):
        function(rng.random(size))
    warm = len(asked)
    assert warm
    for share in np.linspace(0, 1, 60):
        given = rng.random(size) * share
        expected = given[given > 0.5] if "/" in text else np.flatnonzero(given > 0.5)
        np.testing.assert_array_equal(function(given), expected)
    assert len(asked) == warm
