"""Dates, times and differences beside NumPy's, in expressions drawn at random (dates.md: types and refusals)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from share import SEED, repeats

import rho

DTYPES = {"date": "M8[D]", "time": "M8[ns]", "days": "m8[D]", "duration": "m8[ns]"}
POINTS = {"date": "days", "time": "duration"}
NAT = -(2**63)


def items(draw: random.Random, unit: str, count: int) -> np.ndarray[Any, Any]:
    """Near and far ones, and missing ones."""
    far = 2**62 if unit in ("time", "duration") else 10**6
    numbers = [draw.choice([0, 1, -1, NAT, draw.randint(-far, far), draw.randint(-100, 100)]) for _ in range(count)]
    return np.array(numbers, np.int64).view(DTYPES[unit])


def add(x: Any, y: Any, dtype: str, sign: int = 1) -> Any:
    """The sum or difference of integers, exact; missing where an operand is, and beyond 64 bits."""
    exact = x.astype(np.int64).astype(object) + sign * y.astype(np.int64).astype(object)
    outside = (exact < NAT + 1) | (exact >= 2**63)
    missing = np.isnat(x) | np.isnat(y) | outside.astype(bool)
    return np.where(missing, NAT, np.where(missing, 0, exact)).astype(np.int64).view(dtype)


def quotient(x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        return x / y


def same(value: Any, expected: Any) -> bool:
    value, expected = np.asarray(value), np.asarray(expected)
    return value.dtype == expected.dtype and value.shape == expected.shape and bool(
        np.array_equal(value.view(np.int64), expected.view(np.int64))
        if value.dtype.kind in "mM"
        else np.array_equal(value, expected, equal_nan=value.dtype.kind == "f")
    )


def test_functions_are_those_of_numpy() -> None:
    draw, tried = random.Random(SEED), 0
    functions: dict[str, rho.Function[Any]] = {}

    def run(text: str, *arguments: Any) -> Any:
        functions.setdefault(text, rho.compile(text))
        return functions[text](*arguments)

    for _ in range(repeats(200)):
        count = draw.choice([0, 1, 2, 9])
        point = draw.choice([*POINTS])
        difference = POINTS[point]
        p, q = items(draw, point, count), items(draw, point, count)
        d, e = items(draw, difference, count), items(draw, difference, count)
        numbers = [x.astype(np.int64) for x in (p, q)]
        x, y = (p, q) if draw.random() < 0.5 else (d, e)
        integers = [v.astype(np.int64) for v in (x, y)]
        cases: list[tuple[str, tuple[Any, ...], Any]] = [
            ("{⍺-⍵}", (p, q), add(p, q, DTYPES[difference], -1)), ("{⍺+⍵}", (p, d), add(p, d, DTYPES[point])),
            ("{⍺+⍵}", (d, p), add(d, p, DTYPES[point])), ("{⍺-⍵}", (p, d), add(p, d, DTYPES[point], -1)),
            ("{⍺+⍵}", (d, e), add(d, e, DTYPES[difference])), ("{⍺-⍵}", (d, e), add(d, e, DTYPES[difference], -1)),
            ("{⍵[⍋⍵]}", (x,), np.sort(integers[0]).view(x.dtype)), ("{⍺⌈⍵}", (x, y), np.maximum(*integers).view(x.dtype)),
            ("{⍺<⍵}", (x, y), integers[0] < integers[1]), ("{⍺=⍵}", (x, y), integers[0] == integers[1]),
            ("{∪⍵}", (x,), np.array(list(dict.fromkeys(integers[0].tolist())), np.int64).view(x.dtype)),
            ("{⍺∊⍵}", (x, y), np.isin(*integers)), ("{⌽⍵}", (x,), x[::-1]), ("{⍺,⍵}", (x, y), np.concatenate([x, y])),
            ("{i64 ⍵}", (x,), integers[0]),
            ("{12↑⍵}", (x,), np.concatenate([x, np.full(12 - count, NAT, np.int64).view(x.dtype)])),
            ("{⍺÷⍵}", (d, e), quotient(d, e)),
        ]
        if point == "time":
            days = np.array([NAT if n == NAT else n // (86400 * 10**9) for n in numbers[0].tolist()], np.int64)
            cases.append(("{⎕date ⍵}", (p,), days.view("M8[D]")))
        if count:
            total = sum(d.astype(np.int64).tolist())
            if (NAT < total < 2**63 and abs(total) < 2**62) or np.isnat(d).any():
                cases.append(("{+/⍵}", (d,), np.array(NAT if np.isnat(d).any() else total).view(d.dtype)))
            cases.append(("{⌈/⍵}", (x,), np.array(integers[0].max()).view(x.dtype)))
        for text, arguments, expected in cases:
            with np.errstate(all="ignore"):
                value = run(text, *arguments)
            assert same(value, expected), (text, arguments, value, expected)
            tried += 1
    assert tried


def test_texts_of_times_are_read_to_the_nanosecond() -> None:
    draw = random.Random(SEED)
    for _ in range(repeats(100)):
        moment = np.array([draw.randint(-(9 * 10**18), 9 * 10**18)], np.int64).view("M8[ns]")
        text = str(moment[0])
        assert same(rho.eval(f"⎕time '{text}'"), moment.reshape(())), text
    assert same(rho.eval("⎕time '1970-01-01T01:00+01:00'"), np.array(0).view("M8[ns]"))
    assert same(rho.eval("2⍴⎕nat"), np.array(["NaT", "NaT"], "M8[D]"))
