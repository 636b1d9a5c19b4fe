"""Large spaces, which run in boxes on a team: sums keep their documented bits, memory stays what the plan says."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from rho import backend
from rho.backend.reference import reductions
from rho.lang.diagnostics.model import Refused
from rho.tests.harness.tiers import checked, run_plan

WORKSPACE = 24 * 1024 * 1024  # of the team, whatever the size of the operands
COLUMNS = "input A : f64[r c]\n"


def last(program: str, **inputs: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    core = checked(program)
    assert core is not None
    return np.asarray(run_plan(core, inputs).printed[-1].value)


def ordered(columns: np.ndarray) -> bytes:  # type: ignore[type-arg]
    """The documented sum of each column."""
    return np.array([reductions.combine(list(column), np.add) for column in columns.T]).tobytes()


@pytest.mark.parametrize("shape", [(70000, 2), (9000, 9), (5, 20000), (300, 200), (1, 130000), (4097, 17)])
def test_sums_of_products_in_boxes(shape: tuple[int, int]) -> None:
    values = np.random.default_rng(3).standard_normal(shape)
    squares = values * values + 1.0
    assert last(COLUMNS + "+⌿1+A×A", A=values).tobytes() == ordered(squares)
    assert last(COLUMNS + "+/1+A×A", A=values).tobytes() == ordered(squares.T)
    assert last(COLUMNS + "+/⍉1+A×A", A=values).tobytes() == ordered(squares)
    assert last(COLUMNS + "+/,1+A×A", A=values).tobytes() == ordered(squares.reshape(-1, 1))


@pytest.mark.parametrize("length", [1 << 20, 600_001])
def test_long_sums_on_a_team(length: int) -> None:
    values = np.random.default_rng(4).standard_normal(length)
    assert last("input x : f64[n]\n+/x", x=values).tobytes() == ordered(values.reshape(-1, 1))
    assert last("input x : f64[n]\n+/x×x", x=values).tobytes() == ordered((values * values).reshape(-1, 1))
    assert last("input x : f64[n]\n+/x>0.5", x=values) == np.count_nonzero(values > 0.5)
    assert last("input x : f64[n]\n⌈/x-1", x=values) == (values - 1).max()


def test_large_maps() -> None:
    rng = np.random.default_rng(5)
    values, other = rng.standard_normal((1200, 700)), rng.standard_normal(1200)
    declared = COLUMNS + "input v : f64[r]\n"
    assert np.array_equal(last(declared + "v+A×2", A=values, v=other), other[:, None] + values * 2)
    assert np.array_equal(last(declared + "1+⍉A", A=values, v=other), 1 + values.T)
    assert np.array_equal(last(declared + "(⍉A)+⍤1⊢v", A=values, v=other), values.T + other)
    assert np.array_equal(last(declared + "⌽A-1", A=values, v=other), (values - 1)[:, ::-1])
    assert np.array_equal(last("3+2×⍳1000000"), 3 + 2 * np.arange(1_000_000))
    assert np.array_equal(last("(⍳900)∘.×⍳900"), np.multiply.outer(np.arange(900), np.arange(900)))


@pytest.fixture(scope="module")
def compilers() -> None:
    """Loads what compiles, in the run after the first: modules are no part of what a later run allocates."""
    x = np.ones(1 << 20)
    core = checked("input x : f64[n]\nx×x")
    assert core is not None
    bound = backend.load(core, {"x": x})
    plan = backend.plan(bound)
    for _ in range(2):
        backend.execute(plan, bound, {"x": x})


@pytest.mark.usefixtures("compilers")
@pytest.mark.parametrize(
    "program,arrays",
    [
        ("x+y", 1), ("z ← 2×x+y\nz×z-1", 1), ("((x×3)+2)×x", 1), ("+/(x-y)*2", 0), ("⌽x", 1), ("√|x", 1),
        ("{(⍵×0.5)+x}⍣5 ⊢ y", 3),
    ],
)  # fmt: skip
def test_memory_is_what_the_plan_says(program: str, arrays: int) -> None:
    """Allocation during a run stays within the planned peak, which is the given number of arrays beside the inputs."""
    n = 1 << 20
    inputs = {"x": np.ones(n), "y": np.full(n, 2.0)}
    core = checked("input x : f64[n]\ninput y : f64[n]\n" + program)
    assert core is not None
    bound = backend.load(core, inputs)
    plan = backend.plan(bound)
    backend.execute(plan, bound, inputs)
    tracemalloc.start()
    try:
        results = backend.execute(plan, bound, inputs)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert results.printed
    planned = sum(plan.peak.values()) - sum(value.nbytes for value in inputs.values())
    assert planned <= arrays * 8 * n + WORKSPACE
    assert peak <= planned + 256 * 1024  # the interpreter's own objects


EMPTY = ["(≢x) 4611686018427387904⍴1.5", "{4611686018427387904↑⍵+x}¨x", "1+(≢x) 4611686018427387904⍴1.5"]


@pytest.mark.parametrize("program", EMPTY)
def test_no_items_along_axes_longer_than_memory(program: str) -> None:
    with pytest.raises(Refused, match="E702"):
        last("input x : f64[n]\n" + program, x=np.zeros(0))
    assert last("input x : f64[n]\n⍴" + program.removeprefix("1+"), x=np.zeros(0)).tolist() == [0, 4611686018427387904]
