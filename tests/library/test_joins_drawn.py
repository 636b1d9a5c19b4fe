"""Joins beside their definition: every pair of rows is compared.

Keys of every type, missing ones and both zeros; sizes from no row on, drawn for each run of a compiled program.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import drawing, is_drawn, repeats, share

import rho

KEYS = {
    "whole": "i64[{}]", "float": "f64[{}]", "row": "i64[{} 2]", "date": "date[{}]", "text": "char[{} w]",
    "small": "int<0..5>[{}]", "truth": "bool[{}]", "time": "time[{}]",
}  # fmt: skip
ORDERED = ("whole", "float", "date", "time")
NAT = -(2**63)


def keys(draw: random.Random, kind: str, count: int) -> Any:
    items, most = np.random.default_rng(draw.randrange(1 << 30)), draw.choice([2, 3, 9, 40])
    match kind:
        case "row":
            return items.integers(0, 3, (count, 2))
        case "text":
            return np.array([[draw.choice("ab ") for _ in range(2)] for _ in range(count)], "U1").reshape(count, 2)
        case "small" | "truth":
            return items.integers(0, 6, count) if kind == "small" else items.integers(0, 2, count).astype(bool)
        case "float":
            values = items.integers(-most, most, count).astype(float)
            return np.where(items.random(count) < 0.2, draw.choice([np.nan, -0.0, np.inf]), values)
    whole = items.integers(-most, most, count) * draw.choice([1, 1, 10**12])
    unit = {"date": "M8[D]", "time": "M8[ns]"}.get(kind)
    return whole if unit is None else np.where(items.random(count) < 0.15, NAT, whole).view(unit)


def numbers(values: Any) -> Any:
    return values.view(np.int64) if values.dtype.kind == "M" else values


def matches(a: Any, b: Any) -> list[list[int]]:
    """For each row of the first, the rows of the second with its key; missing dates are equal, NaN equals nothing."""
    a, b = numbers(a), numbers(b)
    return [[j for j in range(len(b)) if np.all(a[i] == b[j])] for i in range(len(a))]


def pairs(kind: str, a: Any, b: Any) -> list[tuple[int, int]]:
    found = matches(a, b)
    rows = [(i, j) for i, own in enumerate(found) for j in (own or ([len(b)] if kind != "inner" else []))]
    return rows + [(len(a), j) for j in range(len(b)) if kind == "outer" and not any(j in own for own in found)]


def last_before(a: Any, t: Any, b: Any, u: Any) -> list[int]:
    t, u, same, by_time = numbers(t), numbers(u), matches(b, a), np.argsort(numbers(t), kind="stable").tolist()
    return [([len(a)] + [i for i in by_time if i in same[j] and t[i] <= u[j]])[-1] for j in range(len(b))]


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], rho.Program]:
    def written(text: str) -> rho.Program:
        (tmp_path / "p.rho").write_text(f"use table\n{text}", encoding="utf-8")
        return rho.load(tmp_path / "p.rho")

    return written


@pytest.mark.parametrize("join", share(["inner", "left", "outer", "asof"], 7))
def test_joins(join: str, program: Callable[[str], rho.Program], monkeypatch: pytest.MonkeyPatch) -> None:
    draw = drawing("joins", join)
    monkeypatch.setenv("RHO_KERNELS", "always" if is_drawn(f"compiled {join}", 12) else draw.choice(["off", "auto"]))
    key, time = draw.choice([*KEYS]), draw.choice(ORDERED)
    head = f"input a : {KEYS[key].format('n')}\ninput b : {KEYS[key].format('m')}\n"
    if join == "asof":
        head += f"input t : {KEYS[time].format('n')}\ninput u : {KEYS[time].format('m')}\n"
        joined = program(head + "output l ← (a ⋄ t) table.asof (b ⋄ u)\n")
    else:
        joined = program(head + f"(l r) ← a table.{join} b\noutput l\noutput r\n")
    for _ in range(repeats(150)):
        n, m = draw.choice([0, 1, 2, 3, 9, 17]), draw.choice([0, 1, 2, 3, 9, 17])
        a, b = keys(draw, key, n), keys(draw, key, m)
        if join == "asof":
            t, u = keys(draw, time, n), keys(draw, time, m)
            assert joined.run(a=a, b=b, t=t, u=u)["l"].tolist() == last_before(a, t, b, u), (key, time, a, t, b, u)
        else:
            rows = joined.run(a=a, b=b)
            assert list(zip(rows["l"].tolist(), rows["r"].tolist(), strict=True)) == pairs(join, a, b), (key, a, b)
