"""The bit functions on every edge: each kind, each count, against Python's integers, by the plan and the reference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import rho
from rho import backend
from rho.backend.reference.interpreter import interpret
from rho.backend.vm.values import from_numpy
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

KINDS = {"u8": np.uint8, "i32": np.int32, "i64": np.int64}
BOTH: dict[str, Callable[[int, int], int]] = {
    "⎕band": lambda x, y: x & y, "⎕bor": lambda x, y: x | y, "⎕bxor": lambda x, y: x ^ y,
}  # fmt: skip


def edges(kind: str) -> np.ndarray:
    """0, 1, ends, alternating bits, single bits and their opposites."""
    info = np.iinfo(KINDS[kind])
    found = {0, 1, 2, 3, info.min, info.max, info.max - 1, info.max // 3, info.max // 5}
    found |= {1 << place for place in range(info.bits - 1)} | {-x for x in found} | {~x for x in found}
    return np.array(sorted(x for x in found if info.min <= x <= info.max), KINDS[kind])


def wrapped(value: int, kind: str) -> int:
    info = np.iinfo(KINDS[kind])
    value %= 1 << info.bits
    return value - (1 << info.bits) if value > info.max else value


def shown(text: str, inputs: dict[str, np.ndarray]) -> np.ndarray:
    """The last value printed by the plan, which the reference prints too."""
    core = check(Source("<test>", text)).core
    assert core is not None, check(Source("<test>", text)).diagnostics
    bound = backend.load(core, inputs, {})
    found = np.asarray(backend.execute(backend.plan(bound), bound, inputs).printed[-1].value)
    exact = interpret(core, {name: from_numpy(x) for name, x in inputs.items()}, {}).printed[-1]
    assert repr(found.ravel().tolist()) == repr(list(exact.data))  # NaN is NaN
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", BOTH)
def test_both(function: str, kind: str) -> None:
    x = edges(kind)
    found = shown(f"input x : {kind}[n]\nx∘.{function} x", {"x": x})
    assert found.dtype == KINDS[kind]
    assert found.tolist() == [[BOTH[function](p, q) for q in x.tolist()] for p in x.tolist()]


@pytest.mark.parametrize("kind", KINDS)
def test_complement(kind: str) -> None:
    x = edges(kind)
    assert shown(f"input x : {kind}[n]\n⎕bnot x", {"x": x}).tolist() == [wrapped(~v, kind) for v in x.tolist()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", ["⎕shl", "⎕shr", "⎕shru"])
def test_shifts_by_every_count(function: str, kind: str) -> None:
    x, width = edges(kind), np.iinfo(KINDS[kind]).bits
    found = shown(f"input x : {kind}[n]\n(⍳{width})∘.{function} x", {"x": x})
    assert found.dtype == KINDS[kind]
    for count, row in enumerate(found.tolist()):
        for value, got in zip(x.tolist(), row, strict=True):
            unsigned = value % (1 << width)
            wanted = {"⎕shl": value << count, "⎕shr": value >> count, "⎕shru": unsigned >> count}[function]
            assert got == wrapped(wanted, kind), (value, count)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", BOTH)
@pytest.mark.parametrize("form", ["{}/x", "{}\\x", "3{}/x", "{}⌿4 _⍴(4×⌊(≢x)÷4)↑x", "{}⍀4 _⍴(4×⌊(≢x)÷4)↑x",
                                  "3 {}⌸ (3|⍳≢x ⋄ x)", "{}/0↑x", "5 {}⌸ (0×⍳≢x ⋄ x)"])  # fmt: skip
def test_reductions_and_scans(form: str, function: str, kind: str) -> None:
    found = shown(f"input x : {kind}[n]\n{form.format(function)}", {"x": edges(kind)})
    if form == "{}/x":
        whole = {"⎕band": np.bitwise_and, "⎕bor": np.bitwise_or, "⎕bxor": np.bitwise_xor}[function].reduce(edges(kind))
        assert found.item() == whole.item()


def test_kinds_promote_and_bools_are_numbers() -> None:
    assert shown("(u8 200)⎕bor i32 ¯1", {}).item() == -1
    assert shown("(1 0=1 1)⎕bxor 6", {}).tolist() == [7, 6]
    assert shown("⎕bnot 1=0", {}).item() == -1
    assert shown("3⎕shl 1=1", {}).item() == 8


def test_a_mask_of_bits_is_an_index() -> None:
    text = "input x : i64[n]\ntable ← ⍳256\n+/table[255⎕band x] + table[(56⎕shru x)] + table[15⎕band 4⎕shr x]"
    assert check(Source("<test>", text)).diagnostics == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [("64⎕shl 1", "E310"), ("¯1⎕shr 1", "E310"), ("8⎕shl u8 1", "E310"), ("32⎕shru i32 1", "E310"), ("1.5⎕band 1", "E300"),
     ("⎕bnot 2.0", "E300"), ("'a'⎕bor 1", "E300"), ("1⎕shl 1.5", "E300"), ("300⎕band u8 1", "E302"), ("⎕band 1", "E133"),
     ("1⎕bnot 1", "E133")],
)  # fmt: skip
def test_refused(text: str, code: str) -> None:
    assert [d.code for d in check(Source("<test>", text)).diagnostics] == [code]


@pytest.mark.parametrize("bad", [-1, 32, 64, 2**40])
def test_a_count_of_data_is_checked_when_it_runs(bad: int) -> None:
    text = "input k : i64[n]\ninput x : i32[n]\nk⎕shl x"
    found = check(Source("<test>", text))
    assert [d.code for d in found.diagnostics] == ["W310"]
    assert found.core is not None
    inputs = {"k": np.array([0, 31, bad]), "x": np.array([1, 1, 1], np.int32)}
    for run in (lambda: shown(text, inputs), lambda: interpret(found.core, {n: from_numpy(x) for n, x in inputs.items()}, {})):
        with pytest.raises(RhoError) as refused:
            run()
        assert refused.value.diagnostics[0].code == "E310"
    assert shown(text, {**inputs, "k": np.array([0, 31, 1])}).tolist() == [1, -(2**31), 2]


def test_nan() -> None:
    assert np.isnan(shown("⎕nan", {})).item()
    assert shown("⎕nan=⎕nan", {}).item() is False
    assert shown("(f32 1 2)×⎕nan", {}).dtype == np.float32
    assert shown("1 ⎕nan 3≠1 ⎕nan 3", {}).tolist() == [False, True, False]
    for name in ("NaN", "nan"):
        (said,) = check(Source("<test>", f"1+{name}")).diagnostics
        assert said.code == "E001"
        assert "`⎕nan`" in said.message


def test_a_table_of_bits_shifted_by_each_item(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rule 110 of cellular automata: at the ends of the ring the shift is of one item, its count known to be small."""
    monkeypatch.setenv("RHO_KERNELS", "always")
    cells = np.arange(101) % 3 == 0
    text = "{{1=1⎕band ((4×¯1⌽⍵)+(2×⍵)+1⌽⍵)⎕shr 110}⍣\\20 ⊢ ⍵}"
    expected = [cells]
    for _ in range(20):
        left, here, right = np.roll(expected[-1], 1), expected[-1], np.roll(expected[-1], -1)
        expected.append(110 >> (4 * left + 2 * here + right) & 1 == 1)
    assert (rho.compile(text)(cells) == expected).all()
