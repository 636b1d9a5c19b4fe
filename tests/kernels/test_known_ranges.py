"""Integers in a known range are counted, bucketed and looked up with NumPy's answers: every kind, with and without kernels."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rho import backend
from rho.backend.jit import tiering
from rho.backend.library import hash, search
from rho.backend.library.hash import ValueRange, value_range
from rho.backend.schedule.plan.plan import Device
from rho.lang.syntax.source import Source
from rho.tests.harness.share import SEED, drawing, repeats
from rho.typechecker.check import check

DTYPES = {"bool": np.bool_, "u8": np.uint8, "i32": np.int32, "i64": np.int64}
LENGTHS = (0, 1, 2, 63, 64, 700, 1025, 5000, 40_000)
WIDTHS = (1, 2, 7, 300, 3000, 100_000, 1 << 33, 1 << 64)


def drawn(draw: random.Random, kind: str, length: int) -> Any:
    """Items between bounds anywhere in the kind, the extreme ones among them."""
    least, greatest = (0, 1) if kind == "bool" else (np.iinfo(DTYPES[kind]).min, np.iinfo(DTYPES[kind]).max)
    width = min(draw.choice(WIDTHS), int(greatest) - int(least) + 1)
    start = draw.choice((int(least), int(greatest) - width + 1, max(int(least), min(-(width // 2), int(greatest) - width + 1))))
    generator = np.random.default_rng(draw.randrange(1 << 32))
    items = generator.integers(start, start + width - 1, length, np.int64, endpoint=True)
    if length and draw.random() < 0.5:
        items[generator.integers(0, length, 2)] = start, start + width - 1
    if draw.random() < 0.2:
        items.sort()
    elif width >= length and draw.random() < 0.3:
        items = start + generator.permutation(length)
        items[:1] += draw.choice((0, length > 1))  # nearly a permutation
    return items.astype(DTYPES[kind])


def first_of(table: Any, words: Any) -> Any:
    known: dict[int, int] = {}
    for position, item in enumerate(table.tolist()):
        known.setdefault(item, position)
    return np.array([known.get(item, len(table)) for item in words.tolist()], np.int64)


def descending_grade(x: Any) -> Any:
    return len(x) - 1 - np.argsort(x[::-1], kind="stable")[::-1]


EXPRESSIONS: dict[str, Callable[[Any, Any], Any]] = {
    "∪x": lambda x, y: x[np.sort(np.unique(x, return_index=True)[1])],
    "≠x": lambda x, y: first_of(x, x) == np.arange(len(x)),
    "⍋x": lambda x, y: np.argsort(x, kind="stable"),
    "⍒x": lambda x, y: descending_grade(x),
    "⍋⍋x": lambda x, y: np.argsort(np.argsort(x, kind="stable"), kind="stable"),
    "⍒⍋x": lambda x, y: descending_grade(np.argsort(x, kind="stable")),
    "x[⍋x]": lambda x, y: np.sort(x),
    "x[⍒x]": lambda x, y: np.sort(x)[::-1],
    "x⍳y": first_of,
    "y⍳x": lambda x, y: first_of(y, x),
    "x∊y": lambda x, y: np.isin(x, y),
    "(y[⍋y])⍸x": lambda x, y: np.searchsorted(np.sort(y), x, "right") - 1,
}


@pytest.fixture(params=["off", "always"])
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(tiering.SWITCH, request.param)
    monkeypatch.setattr(hash, "PARALLEL", 0)
    monkeypatch.setattr(search, "PIECES_NANOSECONDS", 0)
    return str(request.param)


def compared(type: str, x: Any, y: Any, threads: int) -> list[str]:
    """The expressions whose results differ from NumPy's in a bit, a kind or a shape."""
    lines = [f"input x : {type}[n]", f"input y : {type}[m]", *[f"output r{i} ← {e}" for i, e in enumerate(EXPRESSIONS)], ""]
    checked = check(Source("<test>", "\n".join(lines)))
    assert checked.core is not None, checked.diagnostics
    given = {"x": x, "y": y}
    bound = backend.load(checked.core, given, {})
    results = backend.execute(backend.plan(bound, Device("cpu0", "cpu", threads)), bound, given).outputs
    wrong = []
    for number, (expression, expected) in enumerate(EXPRESSIONS.items()):
        result, wanted = np.asarray(results[f"r{number}"].value), expected(x, y)
        if result.shape != wanted.shape or result.dtype != wanted.dtype or result.tobytes() != wanted.tobytes():
            wrong.append(expression)
    return wrong


@pytest.mark.parametrize("number", range(repeats(60)))
def test_every_kind_and_range_has_the_answers_of_numpy(number: int, tier: str) -> None:
    draw = drawing("ranges", number)
    kind = draw.choice(list(DTYPES))
    x, y = (drawn(draw, kind, draw.choice(LENGTHS)) for _ in range(2))
    if draw.random() < 0.5 and len(x):
        y = x[: draw.choice((1, len(x)))]
    assert not compared(kind, x, y, draw.choice((1, 3))), f"RHO_SEED={SEED} {kind} {len(x)} {len(y)}"


@pytest.mark.parametrize("bound", [1, 256, 5000])
def test_the_range_of_an_index_is_that_of_its_type(bound: int, tier: str) -> None:
    draw = drawing("idx", bound)
    generator = np.random.default_rng(draw.randrange(1 << 32))
    x, y = generator.integers(0, bound, 30_000), generator.integers(0, bound, 700)
    assert not compared(f"idx<{bound}>", x, y, 2), f"RHO_SEED={SEED}"


def test_a_range_is_found_by_type_or_by_one_pass() -> None:
    least, greatest = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    assert value_range(np.array([3, 5]), 10) == ValueRange(3, 3)
    assert value_range(np.array([3, 5]), 10, (0, 8)) == ValueRange(0, 9)
    assert value_range(np.array([3, 5]), 3, (0, 8)) == ValueRange(3, 3)
    assert value_range(np.array([3, 5]), 2) is None
    assert value_range(np.array([least, greatest]), 1 << 40) is None
    assert value_range(np.array([least, least + 1]), 4) == ValueRange(int(least), 2)
    assert value_range(np.array([7], np.uint8), 300) == ValueRange(0, 256)
    assert value_range(np.array([True]), 300) == ValueRange(0, 2)
    assert value_range(np.array([1.0]), 300) is None
    assert value_range(np.array([], np.int64), 300) is None
    late = np.zeros(10_000, np.int64)
    late[9_999] = greatest
    assert value_range(late, 300) is None


def test_bounds_are_searched_for_floats_as_by_numpy(tier: str) -> None:
    draw = drawing("bounds")
    generator = np.random.default_rng(draw.randrange(1 << 32))
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324]
    for dtype in (np.float64, np.float32):
        for length in (1, 2, 3, 4, 7, 8, 9, 1000):
            bounds = np.sort(np.concatenate((generator.standard_normal(length), special))[:length].astype(dtype))
            items = np.concatenate((generator.standard_normal(1021), bounds, special)).astype(dtype)
            kind = "f64" if dtype is np.float64 else "f32"
            checked = check(Source("<test>", f"input s : {kind}[m]\ninput x : {kind}[n]\noutput r ← s⍸x\n"))
            assert checked.core is not None, checked.diagnostics
            given = {"s": bounds, "x": items}
            bound = backend.load(checked.core, given, {})
            result = np.asarray(backend.execute(backend.plan(bound), bound, given).outputs["r"].value)
            wanted = np.where(np.isnan(items), -1, np.searchsorted(bounds, items, "right") - 1)
            assert result.tolist() == wanted.tolist(), (kind, length, os.environ[tiering.SWITCH], SEED)
