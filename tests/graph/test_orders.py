"""Grades of which little is wanted are spared, and the values stay those of the reference."""

from __future__ import annotations

import numpy as np
import pytest

from rho import backend
from rho.backend.graph.phases import LibraryPhase
from rho.tests.harness.tiers import agree, checked
from rho.typechecker.core.operations import Core

KINDS = ("f64", "f32", "i64", "i32", "u8", "bool", "char")


def accepted(text: str) -> Core:
    core = checked(text)
    assert core is not None, text
    return core


def orders(text: str, inputs: dict[str, object]) -> list[tuple[str, object]]:
    """The library phases of the graph, and which positions each has to order."""
    bound = backend.load(accepted(text), inputs, {})
    return [(p.op, p.attributes.get("needed")) for p in bound.graph.phases if isinstance(p, LibraryPhase)]


def values(kind: str, count: int) -> object:
    rng = np.random.default_rng(count)
    match kind:
        case "char":
            return np.array(list("hello world, sort me"), "U1")[rng.integers(0, 20, count)]
        case "f64" | "f32":
            special = np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, 3.0])
            return rng.choice(special, count).astype({"f64": np.float64, "f32": np.float32}[kind])
    dtype = {"i64": np.int64, "i32": np.int32, "u8": np.uint8, "bool": np.bool_}[kind]
    return rng.integers(0, 2 if kind == "bool" else 9, count).astype(dtype)


def test_only_what_is_read_is_ordered() -> None:
    x = {"x": np.arange(5.0)}
    both = [("grade", None), ("gather", None)]
    assert orders("input x : f64[n]\noutput r ← x[⍋x]\n", x) == [("sort", None)]
    assert orders("input x : f64[n]\noutput r ← 2↑x[⍒x]\n", x) == [("sort", (0, 2))]
    assert orders("input x : f64[n]\noutput r ← x[2↑⍒x]\n", x) == [("sort", (0, 2))]
    assert orders("input A : f64[3 5]\noutput r ← {⍵[⍋⍵]}⍤1 ⊢ A\n", {"A": np.ones((3, 5))}) == [("sort", None)]
    assert orders("input x : f64[n]\ninput y : f64[n]\noutput r ← y[⍋x]\n", {**x, "y": np.arange(5.0)}) == both
    assert orders("input x : f64[n]\ng ← ⍋x\noutput r ← x[g]\noutput g\n", x) == both
    head = "input A : KIND[r c] where c ≥ 1\noutput r ← {⊃⍋⍵}⍤1 ⊢ A\n"
    assert orders(head.replace("KIND", "f64"), {"A": np.ones((3, 4))}) == [], "a reduction"
    assert orders(head.replace("KIND", "char"), {"A": np.full((3, 4), "a")}) == [("grade", (0, 1))]


@pytest.mark.parametrize("kind", KINDS)
def test_sorts(kind: str) -> None:
    for count in (0, 1, 2, 40):
        for grade in "⍋⍒":
            text = f"input x : {kind}[n]\noutput r ← x[{grade}x]\n"
            given = {"x": values(kind, count)}
            assert not agree(accepted(text), given), (kind, count)
            if kind in ("f64", "f32"):
                bound = backend.load(accepted(text), given, {})
                got = backend.execute(backend.plan(bound), bound, given).outputs["r"].value
                order = np.argsort(given["x"] if grade == "⍋" else -given["x"], kind="stable")
                assert np.array_equal(np.signbit(got), np.signbit(given["x"][order]))


@pytest.mark.parametrize("kind", KINDS)
def test_first_places(kind: str) -> None:
    for rows, columns in ((0, 3), (1, 1), (7, 5), (3, 30)):
        for grade in "⍋⍒":
            data = {"A": np.reshape(values(kind, rows * columns), (rows, columns))}
            assert not agree(accepted(f"input A : {kind}[r c] where c ≥ 1\noutput r ← {{⊃{grade}⍵}}⍤1 ⊢ A\n"), data)


def test_nan() -> None:
    x = np.array([2.0, np.nan, -1.0, 0.0, np.nan, -0.0])
    for program in ("x[⍋x]", "x[⍒x]", "⊃⍋x", "⊃⍒x"):
        assert not agree(accepted(f"input x : f64[n] where n ≥ 1\noutput r ← {program}\n"), {"x": x})
