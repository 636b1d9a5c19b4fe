"""Each transformation by itself, from text to text, and all of them on whole programs: outputs keep their bits."""

from __future__ import annotations

import pytest

from rho.backend.loopir.ir import For, LoopKind, walk
from rho.backend.loopir.text import parse, show, show_statement
from rho.backend.loopir.verifier import problems
from rho.backend.transform import loop_shapes, simplify
from rho.backend.transform.pipeline import optimise
from rho.backend.transform.simplify import Direction, Progression

from .fixtures import ALL
from .running import results
from .transformations import CASES

SIZES = [{"n": 0, "m": 3, "steps": 2, "k": 0}, {"n": 1, "m": 1, "steps": 1, "k": 1}, {"n": 2, "m": 5, "steps": 2, "k": 1},
         {"n": 6, "m": 3, "steps": 2, "k": 2}]  # fmt: skip


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", ALL)
def test_outputs_keep_their_bits(name: str, sizes: dict[str, int]) -> None:
    program = parse(ALL[name])
    assert results(optimise(program), sizes, 3) == results(program, sizes, 3)
    assert not problems(optimise(program))


@pytest.mark.parametrize("name", CASES)
def test_from_text_to_text(name: str) -> None:
    transformation, before, after = CASES[name]
    program = parse(f"program p(n, m) {{ {before} }}")
    expected = program if after is None else parse(f"program p(n, m) {{ {after} }}")
    assert show(transformation(program)) == show(expected)
    if after is None:
        assert transformation(program) is program
    for sizes in ({"n": 0, "m": 2}, {"n": 3, "m": 2}, {"n": 5, "m": 5}):
        if not problems(program):
            assert results(expected, sizes) == results(program, sizes)


def test_the_interior_of_a_stencil_has_no_mask() -> None:
    """Fixed edges are small loops; in the interior all reads are affine and nothing is chosen."""
    program = optimise(parse(ALL["stencil"]))
    loops = [s for s in walk(program.body) if isinstance(s, For) and s.kind is LoopKind.VECTOR]
    (interior,) = [loop for loop in loops if "mul" in _words(loop)]
    assert not {"if", "select"} & _words(interior)


def test_two_parts_that_are_joined_need_no_memory() -> None:
    """A rotation by way of scratch: the parts are chosen where they are read, and the reader is split where they meet."""
    program = optimise(parse("""
        program rotate(n, k) given k, n - k {
          input x: f64[n] output y: f64[n] scratch t: f64[n] two: f64 = 2.0
          for i in 0..n - k vector { v = x[i + k] t[i] = v }
          for j in 0..k vector { w = x[j] t[j + n - k] = w }
          for l in 0..n vector { u = t[l] r: f64 = mul(u, two) y[l] = r }
        }
        """))
    assert show(program) == parsed_and_shown("""
        program rotate(n, k) given k, n - k {
          input x: f64[n] output y: f64[n] two: f64 = 2.0
          for l.1 in 0..n - k vector { v.2 = x[k + l.1] r.1: f64 = mul(v.2, two) y[l.1] = r.1 }
          for l in n - k..n vector { w.1 = x[k + l - n] r: f64 = mul(w.1, two) y[l] = r }
        }
        """)


def parsed_and_shown(text: str) -> str:
    return show(parse(text))


def _words(loop: For) -> set[str]:
    return {word for s in loop.body for line in show_statement(s) for word in line.replace("(", " ").split()}


def test_index_vectors_that_count_are_computed() -> None:
    program = parse("""
        program p(n) given n - 3 {
          input x: f64[n] input up: i64[n - 2] input down: i64[n] output y: f64[n] output z: f64[n]
          for i in 0..n - 2 serial { j = up[i] v = x[j] y[j] = v }
          for k in 0..n serial { l = down[k] w = x[l] z[k] = w }
        }
        """)
    counted = simplify.propagate_progressions(program, {"up": Progression(1), "down": Progression(0, Direction.DOWN)})
    assert show(optimise(counted)) == parsed_and_shown("""
        program p(n) given n - 3 {
          input x: f64[n] input up: i64[n - 2] input down: i64[n] output y: f64[n] output z: f64[n]
          for i in 0..n - 2 vector { v = x[i + 1] y[i + 1] = v }
          for k in 0..n vector { w = x[n - k - 1] z[k] = w }
        }
        """)
    assert not problems(optimise(counted))
    assert simplify.propagate_progressions(program, {}) is program


def test_rows_that_lie_one_after_the_other_are_one_axis() -> None:
    """Where the caller knows it, short ones; not those that are given to routines."""
    program = parse("""
        program p(n) {
          input z: f64[n, 2] input far: f64[n, 2] input long: f64[n, 9] output y: f64[n, n, 3] output called: f64[n, 2]
          for i in 0..n vector { a = z[i, 1] b = far[i, 0] c = long[i, 8] y[i, 0, 2] = a y[i, i, 1] = b called[i, 0] = c }
          call 0 () into (called[0:n, 0:2])
        }
        """)
    collapsed = loop_shapes.collapse_loops(program, {"z", "long", "y", "called"})
    assert show(collapsed) == parsed_and_shown("""
        program p(n) {
          input z: f64[2*n] input far: f64[n, 2] input long: f64[n, 9] output y: f64[n, 3*n] output called: f64[n, 2]
          for i in 0..n vector { a = z[2*i + 1] b = far[i, 0] c = long[i, 8] y[i, 2] = a y[i, 3*i + 1] = b called[i, 0] = c }
          call 0 () into (called[0:n, 0:2])
        }
        """)
    assert loop_shapes.collapse_loops(program, set()) is program
