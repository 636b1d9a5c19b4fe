"""Every check of values is made in every call: arguments that are taken and refused come in turn to one function and one program,
and each has the verdict that it has with a function of its own."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import drawing, seeds

import rho

Maker = Callable[[], Any]
NOTHING = float("nan")


def _strided(*items: Any, dtype: Any = np.float64) -> Any:
    return np.repeat(np.array(items, dtype), 2)[::2]


def _masked(mask: bool) -> Any:
    return np.ma.masked_array([1.0, 2.0, 3.0], [False, mask, False])


# Pairs alike but for a value: same element types, shapes and layouts, so that what is kept for one is asked about the other.
PAIRS: Mapping[str, tuple[Maker, Maker]] = {
    "floats": (lambda: np.array([1.0, 2.0, 0.0]), lambda: np.array([1.0, NOTHING, 0.0])),
    "too large": (lambda: np.array([1.0, 2.0, 0.0]), lambda: np.array([1.0, 1e300, 0.0])),
    "halves": (lambda: np.array([1.0, 2.0, 0.0]), lambda: np.array([1.0, 0.5, 0.0])),
    "infinite": (lambda: np.array([2.0, 1.0, 0.0]), lambda: np.array([2.0, np.inf, 0.0])),
    "strided": (lambda: _strided(1.0, 2.0, 0.0), lambda: _strided(1.0, NOTHING, 0.0)),
    "other bytes": (lambda: np.array([1, 2, 0], ">f8"), lambda: np.array([1, 1e300, 0], ">f8")),
    "f32": (lambda: np.array([1, 2, 0], np.float32), lambda: np.array([1, 3e38, 0], np.float32)),
    "f16": (lambda: np.array([1, 2, 0], np.float16), lambda: np.array([1, np.inf, 0], np.float16)),
    "integers": (lambda: np.array([1, 2, 0]), lambda: np.array([1, 3, 0])),
    "negative": (lambda: np.array([1, 2, 0]), lambda: np.array([1, -4, 0])),
    "wide": (lambda: np.array([1, 2, 0]), lambda: np.array([1, 2**62, 0])),
    "strided integers": (lambda: _strided(1, 2, 0, dtype=np.int64), lambda: _strided(1, 99, 0, dtype=np.int64)),
    "other bytes of integers": (lambda: np.array([1, 2, 0], ">i8"), lambda: np.array([1, 256, 0], ">i8")),
    "i32": (lambda: np.array([1, 2, 0], np.int32), lambda: np.array([1, 300, 0], np.int32)),
    "i8": (lambda: np.array([1, 2, 0], np.int8), lambda: np.array([1, -2, 0], np.int8)),
    "u8": (lambda: np.array([1, 2, 0], np.uint8), lambda: np.array([1, 200, 0], np.uint8)),
    "u64": (lambda: np.array([1, 2, 0], np.uint64), lambda: np.array([1, 2**63, 0], np.uint64)),
    "other bytes of u64": (lambda: np.array([1, 2, 0], ">u8"), lambda: np.array([1, 2**63, 0], ">u8")),
    "strided u64": (lambda: _strided(1, 2, 0, dtype=np.uint64), lambda: _strided(1, 2**64 - 1, 0, dtype=np.uint64)),
    "one u64": (lambda: np.uint64(2), lambda: np.uint64(2**63)),
    "0-d u64": (lambda: np.array(2, np.uint64), lambda: np.array(2**63, np.uint64)),
    "0-d": (lambda: np.array(1.0), lambda: np.array(NOTHING)),
    "a float": (lambda: 1.0, lambda: 1e300),
    "an integer": (lambda: 1, lambda: 2**70),
    "a small integer": (lambda: 1, lambda: -3),
    "truth": (lambda: np.array([True, False, True]), lambda: np.array([2, 0, 1])),
    "one truth": (lambda: True, lambda: 2),
    "a list": (lambda: [1, 2, 0], lambda: [1, 2**63, 0]),
    "a list of floats": (lambda: [1.0, 2.0, 0.0], lambda: [1.0, NOTHING, 0.0]),
    "a list with none": (lambda: [1, 2, 0], lambda: [1, None, 0]),
    "a ragged list": (lambda: [[1, 2], [0, 1]], lambda: [[1, 2], [0]]),
    "a list of lists": (lambda: [[1, 2], [0, 1]], lambda: [[1, 2], [0, "a"]]),
    "objects": (lambda: np.array([1, 2, 0], object), lambda: np.array([1, "a", 0], object)),
    "decimals": (lambda: [decimal.Decimal(1)], lambda: [decimal.Decimal("NaN")]),
    "days": (lambda: np.array(["2024-01-05"] * 3, "M8[D]"), lambda: np.array(["2024-01-05", "NaT", "2024-01-06"], "M8[D]")),
    "moments": (lambda: np.array(["2024-01-05"] * 3, "M8[s]"), lambda: np.array(["2024-01-05", "NaT", "2024-01-06"], "M8[s]")),
    "years": (lambda: np.array([1, 2, 3], "M8[Y]"), lambda: np.array([1, 2**60, 3], "M8[Y]")),
    "spans": (lambda: np.array([1, 2, 0], "m8[s]"), lambda: np.array([1, "NaT", 0], "m8[s]")),
    "text": (lambda: "abc", lambda: "ab\0"),
    "characters": (lambda: np.array(["a", "b", "c"]), lambda: np.array(["a", "bc", "c"])),
    "complex": (lambda: np.array([1, 2, 0j]), lambda: np.array([1, NOTHING, 0j])),
    "masked": (lambda: _masked(False), lambda: _masked(True)),
    "a record": (lambda: np.array([1.0, 2.0, 0.0]), lambda: np.zeros(3, [("a", "f8"), ("b", "i8")])),
    "a shorter one": (lambda: np.array([1, 2, 0]), lambda: np.array([1, 2])),
    "no items": (lambda: np.array([1.0, 2.0, 0.0]), lambda: np.zeros(0)),
    "a matrix": (lambda: np.array([1, 2, 0]), lambda: np.ones((2, 3), np.int64)),
    "no array": (lambda: np.array([1, 2, 0]), lambda: {"a": 1}),
}  # fmt: skip
FUNCTIONS = (
    "{⍵}", "{+/⍵}", "{2×⍵}", "{⌊⍵}", "{1 2 3[⍵]}", "{i64 ⍵}", "{u8 ⍵}", "{bool ⍵}", "{⌈/⍵}", "{⍵÷2}", "{⍵ ⎕shl 1}", "{5⍴⍵}",
    "{⍋⍵}", "{(⍵=1)/⍵}", "{∧/⍵}",
)  # fmt: skip
LEFT = ("{⍺[⍵]}", "{⍺+⍵}", "{⍺⍴⍵}", "{⍺↑⍵}", "{⍵∊⍺}")
TYPES = ("f64[3]", "f64[n]", "i64[n]", "i32[n]", "u8[n]", "bool[n]", "idx<3>[n]", "int<0..2>[n]", "char[n]", "f32[n]", "c128[n]",
         "f64", "i64", "bool")  # fmt: skip


def verdict(ask: Callable[..., Any], *arguments: Any) -> object:
    """The bits of the result, or what is said of a refusal."""
    try:
        result = ask(*arguments)
    except (rho.RhoError, TypeError, ValueError, OverflowError) as refusal:
        return type(refusal), str(refusal)
    result = np.asarray(result)
    return result.dtype, result.shape, result.tobytes()


def turns(*names: object) -> list[tuple[str, Maker]]:
    """Each pair good, bad, good, bad, bad, good, the pairs in an order of their own."""
    chosen = list(PAIRS.items())
    drawing(*names).shuffle(chosen)
    order = (0, 1, 0, 1, 1, 0)
    return [(f"{name}, {'good' if place == 0 else 'bad'}", pair[place]) for name, pair in chosen for place in order]


def in_turn(fresh: Callable[[], Callable[..., Any]], steps: list[tuple[str, Maker]], *left: Any) -> int:
    """How many verdicts differ between arguments; each is that of something fresh."""
    one, alone, before = fresh(), dict[str, object](), "nothing"
    for name, make in steps:
        if name not in alone:
            alone[name] = verdict(fresh(), *left, make())
        assert verdict(one, *left, make()) == alone[name], f"{name}, after {before}"
        before = name
    return len(set(map(repr, alone.values())))


@pytest.mark.parametrize("seed", seeds(40))
def test_a_function(seed: int) -> None:
    text = FUNCTIONS[seed % len(FUNCTIONS)]
    assert in_turn(lambda: rho.compile(text), turns(text, seed)) > 5


@pytest.mark.parametrize("seed", seeds(20))
def test_a_function_of_two(seed: int) -> None:
    draw, others = drawing("two", seed), [np.array([1, 2, 0]), np.array([1.5, 2, 0]), 2, True, np.array([3, 1], np.uint64)]
    text, left = draw.choice(LEFT), draw.choice(others)
    assert in_turn(lambda: rho.compile(text), turns(text, seed), left) > 2


@pytest.mark.parametrize("seed", seeds(40))
def test_a_program(seed: int, tmp_path: Path) -> None:
    kind, path = TYPES[seed % len(TYPES)], tmp_path / "p.rho"
    path.write_text(f"input x : {kind}\noutput r ← x\n", encoding="utf-8")

    def fresh() -> Callable[..., Any]:
        program = rho.load(str(path))
        return lambda x: program.run(x=x)["r"]

    assert in_turn(fresh, turns(kind, seed)) > 5
