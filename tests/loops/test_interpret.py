"""What loop programs mean: held to NumPy and to plain loops, and what no program may do is told."""

from __future__ import annotations

import numpy as np
import pytest

from rho.backend.loopir.text import parse
from rho.tests.loops import interpreter

from .fixtures import BRANCHES, SCAN, STENCIL, TRIANGLE
from .running import arrays, backwards, meaning, results


@pytest.mark.parametrize("n", [0, 1, 7])
def test_a_scan(n: int) -> None:
    memory = arrays(parse(SCAN), {"n": n})
    assert interpreter.run(parse(SCAN), {"n": n}, memory, meaning) is None
    s = 0.0
    for i in range(n):
        s = s * 0.5 + memory["x"][i]
        assert memory["y"][i] == s


def test_a_triangular_solve() -> None:
    memory = arrays(parse(TRIANGLE), {"n": 5}) | {"a": np.tril(np.arange(1.0, 26).reshape(5, 5)), "b": np.ones(5)}
    interpreter.run(parse(TRIANGLE), {"n": 5}, memory, meaning)
    assert np.allclose(np.tril(memory["a"]) @ memory["x"], memory["b"])


@pytest.mark.parametrize(("n", "m"), [(0, 3), (1, 1), (2, 3), (5, 6)])
def test_a_stencil_in_any_order(n: int, m: int) -> None:
    sizes = {"n": n, "m": m, "steps": 2}
    memory = arrays(parse(STENCIL), sizes)
    interpreter.run(parse(STENCIL), sizes, memory, meaning)
    expected = memory["x"].copy()
    for _ in range(2):
        new = expected.copy()
        if n > 2 and m > 2:
            new[1:-1, 1:-1] = ((expected[:-2, 1:-1] + expected[2:, 1:-1])
                               + (expected[1:-1, :-2] + expected[1:-1, 2:])) * 0.25  # fmt: skip
        expected = new
    assert memory["y"].tobytes() == expected.tobytes()
    assert results(parse(STENCIL), sizes) == results(parse(STENCIL), sizes, order=backwards)


def test_branches_reductions_and_early_ends() -> None:
    program = parse(BRANCHES)
    memory = {"p": np.array([0, 2, 1, 255, 0], np.uint8), "x": np.array([3, 4, 5, 6, 0]), "y": np.zeros(5, np.int64),
              "sum": np.array(0)}  # fmt: skip
    assert interpreter.run(program, {"n": 5, "k": 1}, memory, meaning) is None
    assert memory["sum"] == 3
    assert memory["y"].tolist() == [0, 4, 0, 4, 0]
    memory["x"][3] = 3
    assert interpreter.run(program, {"n": 5, "k": 1}, memory, meaning) == interpreter.FailureRecord(7, (3, 3), (3,))


def test_a_reduction_whose_steps_are_used_is_a_scan() -> None:
    """Whatever the order in which iterations of vector loops are taken."""
    program = parse("""program running(n) {
      input x: i64[n] output y: i64[n] output last: i64[] start: i64 = 10
      for i in 0..n vector carried (s: i64 = start -> t => total by add) { v = x[i] t: i64 = add(s, v) y[i] = t }
      last[] = total
    }""")
    memory = {"x": np.array([3, 1, 4, 1, 5]), "y": np.zeros(5, np.int64), "last": np.array(0)}
    assert interpreter.run(program, {"n": 5}, memory, meaning, order=backwards) is None
    assert memory["y"].tolist() == [13, 14, 18, 19, 24]
    assert memory["last"] == 24


UNDEFINED = [
    ("output y: i64[n] k: i64 = 1 y[n] = k", "of shape"),
    ("output y: i64[n] k: i64 = 1 y[-1] = k", "of shape"),
    ("input y: i64[n] k: i64 = 1 y[0] = k", "only read"),
    ("scratch y: i64[n] k = y[0] j: i64 = neg(k)", "nothing was written"),
    ("scratch y: i64[n] k: i64 = 1 y[0] = k by add", "nothing was written there"),
    ("k = index 9223372036854775807*n", "not an i64"),
    ("f: f64 = nan k: i64 = floor:f64(f)", "without a check"),
]


@pytest.mark.parametrize(("body", "message"), UNDEFINED)
def test_what_no_program_may_do(body: str, message: str) -> None:
    program = parse(f"program p(n) {{ {body} }}")
    with pytest.raises(interpreter.Undefined, match=message):
        interpreter.run(program, {"n": 2}, arrays(program, {"n": 2}), meaning)


def test_a_checked_function_leaves_a_record() -> None:
    program = parse("program p() { f: f64 = inf for i in 0..3 serial { k: i64 = floor:f64(f) check 4 } }")
    assert interpreter.run(program, {}, {}, meaning) == interpreter.FailureRecord(4, (float("inf"),), (0,))
