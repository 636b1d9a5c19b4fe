"""Loops over rows of their state in tiles: which programs have them, and that no tiles, threads or stretches change a bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.cpu import regions, regions as ranges, regions as tiles
from rho.backend.cpu.parallel_for import TiledRows, TimeTiles, time_tiles_of
from rho.backend.jit.compiler import LruCache
from rho.backend.loopir.facts import IterationEstimate
from rho.backend.loopir.text import parse
from rho.backend.loopir.verifier import problems
from rho.backend.transform.pipeline import optimise, runs_in_tiles
from rho.backend.transform.time_tiling import PARAMETERS, TimeTiling, tile_in_time
from rho.tests.loops import interpreter

from .running import meaning

HEAT = "0.1×((1⊖⍵)+(¯1⊖⍵)+(1⌽⍵)+¯1⌽⍵)-4×⍵"
PROGRAMS = {
    "a torus": f"{{{{⍵+{HEAT}}}⍣11 ⊢ ⍵}}",
    "a torus with far neighbours": "{{⍵+0.25×(3⊖⍵)-¯2⊖⍵}⍣11 ⊢ ⍵}",
    "a rotation of a rotation": "{{0.5×⍵+1⌽¯1⊖⍵}⍣11 ⊢ ⍵}",
    "edges fixed by a choice": "{n ← ≢⍵ ⋄ e ← (0=⍳n)∨(n-1)=⍳n ⋄ {e {⍺¿(⍵ ⋄ 0)}⍤0 1 ⊢ 0.5×(1⊖⍵)+¯1⊖⍵}⍣11 ⊢ ⍵}",
    "edges fixed by joining": "{{(1↑⍵)⍪(0.5×(¯2↓⍵)+2↓⍵)⍪¯1↑⍵}⍣11 ⊢ ⍵}",
    "edges fixed by an update": "{i ← 1+⍳(≢⍵)-2 ⋄ j ← 1+⍳(≢⍉⍵)-2 ⋄ "
                                "{u ← ⍵ ⋄ u[i;j] ← 0.25×⍵[i-1;j]+⍵[i+1;j]+⍵[i;j-1]+⍵[i;j+1] ⋄ u}⍣11 ⊢ ⍵}",
    "an update of rows, and another": "{i ← 1+⍳(≢⍵)-2 ⋄ {u ← ⍵ ⋄ u[i;] ← 0.5×⍵[i-1;]+⍵[i+1;] ⋄ u[0;] ← 1.5 ⋄ u}⍣11 ⊢ ⍵}",
    "life": "{{s ← {(¯1⊖⍵)+⍵+1⊖⍵}{(¯1⌽⍵)+⍵+1⌽⍵}⍵ ⋄ (s=3)∨⍵∧s=4}⍣11 ⊢ ⍵>0.5}",
    "life by rotations of each": "{{p ← ⍵ ⋄ n ← +⌿{⍵⌽p}¨¯1 0 1 ⋄ s ← +⌿{⍵⊖n}¨¯1 0 1 ⋄ (s=3)∨p∧s=4}⍣11 ⊢ ⍵>0.5}",
    "a wave, two states": "{(a b) ← {(p q) ← ⍵ ⋄ (q ⋄ (q+q-p)+0.1×((1⊖q)+¯1⊖q)-q+q)}⍣9 ⊢ (⍵ ⋄ ⍵×0.5) ⋄ a+b}",
    "rows made on the way": "{{y ← (1⊖⍵)+¯1⊖⍵ ⋄ 0.1×⍵+y+(1⌽y)+¯1⌽y×2}⍣11 ⊢ ⍵}",
    "rows made on the way, edges fixed": "{{y ← (¯2↓⍵)+2↓⍵ ⋄ (1↑⍵)⍪(0.2×y+(1⌽y)+¯1⌽y×3)⍪¯1↑⍵}⍣11 ⊢ ⍵}",
    "two sums on the way": "{{y ← (1⊖⍵)+¯1⊖⍵ ⋄ z ← ⍵+(1⌽y)+¯1⌽y ⋄ 0.1×(1⌽z)+(2⌽z)+y×⍵}⍣11 ⊢ ⍵}",
    "planes": "{,{x ← (1⊖⍵)+¯1⊖⍵ ⋄ y ← {(1⊖⍵)+¯1⊖⍵}⍤2 ⊢ x ⋄ 0.1×x+y+(1⌽y)+¯1⌽y}⍣11 ⊢ ((≢⍵),3 3)⍴⍵}",
    "two steps in an iteration": "{(a b) ← {(h e) ← ⍵ ⋄ f ← e+0.5×h-1⊖h ⋄ (h+0.5×(¯1⊖f)-f ⋄ f)}⍣9 ⊢ (⍵ ⋄ ⍵-1) ⋄ a×b}",
}
VECTORS = {
    "a ring": "{{⍵+0.1×(1⌽⍵)+(¯1⌽⍵)-2×⍵}⍣13 ⊢ ⍵}",
    "a rod": "{{(1↑⍵),(0.5×(¯2↓⍵)+2↓⍵),¯1↑⍵}⍣13 ⊢ ⍵}",
}


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Callable[[TimeTiles], list[int]]:
    """Cut into these tiles; the list gets an item for each run in tiles."""
    monkeypatch.setattr(regions, "_runs", LruCache(256))

    def to(stretches: TimeTiles) -> list[int]:
        ran: list[int] = []

        def stretches_of(rows: TiledRows, turns: int, threads: int) -> TimeTiles | None:
            shrinks = 2 * rows.halo * rows.stages * stretches.iterations
            return stretches if rows.count // stretches.bands >= shrinks else None

        real = tiles.run_tiles
        monkeypatch.setattr(ranges, "time_tiles_of", stretches_of)
        monkeypatch.setattr(ranges, "run_tiles", lambda *args: (ran.append(1), real(*args))[1])
        return ran

    return to


def _bits(text: str, array: Any, mode: str, monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.setenv("RHO_KERNELS", mode)
    return np.asarray(rho.compile(text)(array)).tobytes()


@pytest.mark.parametrize("stretches", [TimeTiles(2, 1), TimeTiles(2, 4), TimeTiles(3, 2), TimeTiles(5, 1)], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_tiles_change_no_bit(name: str, stretches: TimeTiles, cut: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text, array = PROGRAMS[name], np.random.default_rng(1).random((67, 9))
    expected = _bits(text, array, "off", monkeypatch)
    ran = cut(stretches)
    assert _bits(text, array, "always", monkeypatch) == expected
    assert ran or name == "edges fixed by a choice" or stretches.iterations * stretches.bands * 12 > 67


@pytest.mark.parametrize("stretches", [TimeTiles(2, 4), TimeTiles(7, 3)], ids=str)
@pytest.mark.parametrize("name", VECTORS)
def test_tiles_of_vectors(name: str, stretches: TimeTiles, cut: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text, array = VECTORS[name], np.random.default_rng(2).random(301)
    expected = _bits(text, array, "off", monkeypatch)
    ran = cut(stretches)
    assert _bits(text, array, "always", monkeypatch) == expected
    assert ran


def test_states_of_other_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    """What wraps around has one length; a state that is three times as long has rows that no tile of the other has."""
    array = np.random.default_rng(4).random(100_000)
    ring, rod = "a+0.5×1⌽a", "(1↑a),(0.5×(¯2↓a)+2↓a),¯1↑a"
    for text in (
        f"{{(a b) ← {{(a b) ← ⍵ ⋄ ({ring} ⋄ b×1.5)}}⍣20 ⊢ (⍵ ⋄ ⍵,⍵,⍵) ⋄ a,b}}",
        f"{{(b a) ← {{(b a) ← ⍵ ⋄ (b×1.5 ⋄ {ring})}}⍣20 ⊢ (⍵,⍵,⍵ ⋄ ⍵) ⋄ a,b}}",
        f"{{(b a) ← {{(b a) ← ⍵ ⋄ (b+0.5×1⌽b ⋄ {ring})}}⍣20 ⊢ (⍵,⍵,⍵ ⋄ ⍵) ⋄ a,b}}",
        f"{{(b a) ← {{(b a) ← ⍵ ⋄ (b×1.5 ⋄ {rod})}}⍣20 ⊢ (⍵,⍵,⍵ ⋄ ⍵) ⋄ a,b}}",
        f"{{(b a) ← {{(b a) ← ⍵ ⋄ (b×1.5 ⋄ {rod})}}⍣20 ⊢ (300↑⍵ ⋄ ⍵) ⋄ a,b}}",
        f"{{(a b) ← {{(a b) ← ⍵ ⋄ ({rod} ⋄ b×1.5)}}⍣20 ⊢ (⍵ ⋄ ⍵,⍵,⍵) ⋄ a,b}}",
        f"{{(a b) ← {{(a b) ← ⍵ ⋄ ({rod} ⋄ b×1.5)}}⍣20 ⊢ (300↑⍵ ⋄ ⍵) ⋄ a,b}}",
    ):
        assert _bits(text, array, "always", monkeypatch) == _bits(text, array, "off", monkeypatch), text


@pytest.mark.parametrize("rows", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["a torus", "life", "two steps in an iteration"])
def test_few_rows(name: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.random.default_rng(3).random((rows, 5))
    assert _bits(PROGRAMS[name], array, "always", monkeypatch) == _bits(PROGRAMS[name], array, "off", monkeypatch)


def test_a_band_never_vanishes() -> None:
    """Bands that get smaller must have rows left, or what lies between two of them would be done twice."""
    for count in (1, 2, 7, 40, 1000, 100_000):
        for reach in (1, 3):
            for levels in (1, 2):
                for threads in (1, 2, 7):
                    for row in (8, 10_000, 10_000_000):
                        stretches = time_tiles_of(TiledRows(count, row, row * 1.0, reach, levels, True), 50, threads)
                        if stretches is not None:
                            assert count // stretches.bands >= 2 * reach * levels * stretches.iterations
                            assert 1 <= stretches.iterations <= 50


# ------------------------------------------------------------------------------------------ the program

LOOP = """
program loop(first, last, n) given first, n - 3 {{
  output x: f64[{shape}]
  two: i64 = 2
  half: f64 = 0.5
  v: i64 = residue(two, first)
  for k in first..last serial carried (b: i64 = v -> c => d) {{
    {body}
    c = index -b + 1
  }}
}}
"""


def _tiled(body: str, shape: str = "2, n") -> TimeTiling | None:
    return tile_in_time(parse(LOOP.format(shape=shape, body=body)))


ROD = "for i in 1..n - 1 serial { p = x[b, i - 1] q = x[b, i + 1] r: f64 = add(p, q) s: f64 = mul(half, r) x[-b + 1, i] = s }"


def test_reach_and_levels() -> None:
    made = _tiled(ROD)
    assert made is not None
    assert (made.halo, made.stages, made.wraps) == (1, 1, False)
    both = _tiled(ROD + " for j in 2..n - 2 serial { u = x[-b + 1, j + 2] w: f64 = mul(half, u) x[b, j] = w }")
    assert both is not None
    assert (both.halo, both.stages) == (2, 2)
    around = _tiled("for i in 0..n - 1 serial { p = x[b, i + 1] x[-b + 1, i] = p } q = x[b, 0] x[-b + 1, n - 1] = q")
    assert around is not None
    assert (around.halo, around.stages, around.wraps) == (1, 1, True)


def test_a_value_that_is_read_twice_at_every_step_is_one_load() -> None:
    """The work grows with the statements, not with the ways from a value back to what it was computed of (2⁶⁰ here)."""
    doubled = "".join(f"q{step + 1}: f64 = add(q{step}, q{step}) " for step in range(60))
    shifted = "for i in 0..n - 1 serial { p = x[b, i + 1] x[-b + 1, i] = p } q0 = x[b, 0] "
    made = _tiled(shifted + doubled + "x[-b + 1, n - 1] = q60")
    assert made is not None and made.wraps


@pytest.mark.parametrize("body", [
    "for i in 0..n serial { p = x[b, 0] x[-b + 1, i] = p }",  # every row reads one
    "for i in 0..n serial { p = x[b, n - i - 1] x[-b + 1, i] = p }",  # the other way round
    "for i in 1..n serial { p = x[b, i - 1] x[b, i] = p }",  # a row reads what the iteration has made of another
    "for i in 0..n serial { p = x[b, i] w: bool = lt:f64(p, half) fail 1 if w x[-b + 1, i] = p }",  # which fails first?
    "for i in 0..n serial carried (s: f64 = half -> t => z) { p = x[b, i] t: f64 = add(s, p) x[-b + 1, i] = t }",
    "q = x[b, 0] for i in 0..n serial { x[-b + 1, i] = q }",
    "for i in 0..2 serial { for j in 0..n serial { p = x[b, j] x[-b + 1, j] = p } }",  # rows are not what it counts
])  # fmt: skip
def test_what_has_no_tiles(body: str) -> None:
    assert _tiled(body) is None


FILL = "for j{0} in 0..n serial {{ p{0} = x[b, {1}] t[0] = p{0} }} "
READ = "q{0} = t[0] x[-b + 1, {1}] = q{0} "


@pytest.mark.parametrize(("body", "is_one"), [
    (FILL.format(1, 0) + READ.format(1, 0), True),
    (FILL.format(1, 0) + READ.format(1, 0) + "for i in 1..n serial { p = x[b, i] t[0] = p q = t[0] x[-b + 1, i] = q }", True),
    (FILL.format(1, 0) + READ.format(1, 0) + FILL.format(2, "n - 1") + READ.format(2, "n - 1"), True),
    (READ.format(1, 0), False),  # nobody filled it
    (FILL.format(1, 0), False),  # nobody reads it
    (FILL.format(1, 0) + READ.format(1, 0) + READ.format(2, "n - 1"), False),  # a row reads what another filled
    (FILL.format(1, 0) + "for i in 0..n serial { q = t[0] x[-b + 1, i] = q }", False),
])  # fmt: skip
def test_local_scratch_is_filled_and_read_for_a_row_together(body: str, is_one: bool) -> None:
    text = LOOP.format(shape="2, n", body=body).replace("two: i64", "scratch t: f64[1] private local  two: i64")
    made = tile_in_time(parse(text))
    assert (made is not None) == is_one
    assert made is None or not problems(made.program)


@pytest.mark.parametrize("count", [3, 8, 23])
def test_trapezoids_interpreted(count: int) -> None:
    """Bands inwards, then what lies between them, give what the whole gives."""
    made = _tiled(ROD + " p2 = x[b, 0] x[-b + 1, 0] = p2 q2 = x[b, n - 1] x[-b + 1, n - 1] = q2")
    assert made is not None
    assert not problems(made.program)
    assert optimise(made.program).parameters == made.program.parameters
    start = np.random.default_rng(0).random((2, count))
    middle, results = count // 2, []
    for bounds in ([(0, count, 0, 0)], [(0, middle, 0, -1), (middle, count, 1, 0), (middle, middle, -1, 1)]):
        array = start.copy()
        for of_rows in bounds:
            numbers = {"first": 0, "last": 2, "n": count, **dict(zip(PARAMETERS, of_rows, strict=True))}
            interpreter.run(made.program, numbers, {"x": array}, meaning)
        results.append(array[0].tobytes())
    assert results[0] == results[1]


def test_large_loops_are_regions_where_threads_share_their_rows() -> None:
    """Others are better phase by phase, each on all threads."""
    shared = parse(LOOP.format(shape="2, n", body=ROD))
    alone = parse(LOOP.format(shape="2, n", body="for i in 0..n serial { p = x[b, 0] x[-b + 1, i] = p }"))
    large, small = (IterationEstimate(4, points, points, 0, 20) for points in (1 << 30, 1 << 10))
    for program, is_shared in ((shared, True), (alone, False)):
        assert large.is_for_region(calls=False, in_tiles=lambda program=program: runs_in_tiles(program)) is is_shared
        assert small.is_for_region(calls=False, in_tiles=lambda program=program: runs_in_tiles(program))
    assert not large.is_for_region(calls=True, in_tiles=lambda: runs_in_tiles(shared))
