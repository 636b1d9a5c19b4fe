"""Short axes written out and places of grades: the same values as the reference and as without the passes, fewer phases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rho import backend
from rho.backend.graph.bind_sizes import bind
from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes import unroll_short_axes
from rho.backend.graph.passes.pipeline import optimise, optimise_with_sizes
from rho.backend.graph.phases import Affine, LibraryPhase, Structured
from rho.backend.jit import tiering
from rho.backend.vm.input_sizes import bind_sizes
from rho.tests.harness.tiers import agree, checked

DECLARED = """input p : f64[n 3]
input q : f64[m 3]
input c : f32[k 8] where k ≥ 1
input x : f32[n 8]
input w : f64[n]
input I : i64[n 5]
input B : bool[n 4]
input G : f64[n k] where k ≥ 1
"""
PROGRAMS = """r ← +/(p (-⍤1⍤1 2) q)*2
r ← √+/p*2
r ← {⊃⍋⍵}⍤1 ⊢ +/(x (-⍤1⍤1 2) c)*2
r ← {⊃⍒⍵}⍤1 ⊢ +/(x (-⍤1⍤1 2) c)*2
r ← {⊃⍋⍵}⍤1 ⊢ G
r ← {⊃⍒⍵}⍤1 ⊢ G
r ← ⊃⍤1 ⊢ ⍋⍤1 ⊢ G
d ← p (-⍤1⍤1 2) p ⋄ r ← +⌿⍤2 ⊢ d×w (÷⍤1) 0.01++/d*2
r ← +/I
r ← {+/,⍵×3 3⍴⍳9}⌺3 3 ⊢ I
r ← {⌈/,⍵}⌺3 5 ⊢ p
r ← {+/⍵}⌺4 ⊢ w
r ← (5↕0 0 0 0 0,w)+.×⌽⍳5
r ← 2 3 4⊥⍉3↕0 0,I[;0]
r ← +⌿0 3 4⊤I[;0]
r ← (2 2 2⊤I[;0])[1;]-[w ⋄ 2×w ⋄ w][2;]
r ← 10⊥⍉(0.1×3)+2↕0,w
r ← {t ← 8⍴1 0 ⋄ t[2⊥⍉3↕(¯1↑⍵),⍵,1↑⍵]}⍣3 ⊢ w>0.5
r ← ×/I
r ← ⌈/I
r ← ∧/B
r ← +/B
r ← ⌊/p
r ← ×/p
r ← -/p
r ← ÷/1+p*2
r ← -/I
r ← |/I
r ← ≠/B
r ← </I[;0 1]=I[;1 2]
r ← (-/I)×+/I
r ← +⌿⍉p
r ← (+/p)÷⌈/p
r ← {⍵+{⊃⍋⍵}⍤1 ⊢ ⍵∘.-w}⍣2 ⊢ w
a ← {⊃⍋⍵}⍤1 ⊢ G ⋄ r ← G[0;]+a[0]""".splitlines()


@pytest.fixture(autouse=True)
def always_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unroll_short_axes, "MIN_POINTS", 1)


def given(n: int, m: int, k: int) -> dict[str, Any]:
    rng = np.random.default_rng(n + m + k)
    ties = rng.integers(0, 3, (n, k)).astype(float)
    ties[rng.random((n, k)) < 0.3] = np.nan
    special = rng.random((n, 3))
    special[: n // 2, 1] = [np.nan, -0.0, np.inf, -np.inf, 0.0][n % 5]
    return {
        "p": special, "q": rng.random((m, 3)), "c": rng.random((k, 8)).astype(np.float32),
        "x": rng.random((n, 8)).astype(np.float32), "w": rng.random(n), "I": rng.integers(-9, 9, (n, 5)),
        "B": rng.random((n, 4)) < 0.7, "G": ties,
    }  # fmt: skip


@pytest.mark.parametrize("mode", ["off", "always"])
@pytest.mark.parametrize("text", PROGRAMS)
def test_values(text: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, mode)
    core = checked(DECLARED + text.replace(" ⋄ ", "\n") + "\noutput r\n")
    assert core is not None, text
    for n, m, k in ((21, 5, 6), (4, 3, 1), (1, 1, 2), (0, 2, 3)):
        assert not agree(core, given(n, m, k)), (text, n, m, k)


@pytest.mark.parametrize("text", PROGRAMS)
def test_graphs_are_sound(text: str) -> None:
    core = checked(DECLARED + text.replace(" ⋄ ", "\n") + "\noutput r\n")
    assert core is not None
    sizes = bind_sizes(core, {name: value.shape for name, value in given(20, 5, 6).items()}, {})
    optimise_with_sizes(bind(optimise(lower(core)), sizes), verify_each=True)


def phases_of(text: str, data: dict[str, Any]) -> list[Any]:
    core = checked(text)
    assert core is not None
    return [p for p in backend.load(core, data, {}).graph.phases if isinstance(p, Structured | LibraryPhase)]


def test_a_difference_of_two_columns_is_one_map() -> None:
    (made,) = phases_of("input x : f64[n 2]\noutput r ← 2×-/x×x\n", {"x": np.ones((400, 2))})
    assert [axis.size.constant for axis in made.axes] == [400]
    assert made.results[0].reduction is None


def test_the_nearest_centre_is_one_phase() -> None:
    """And so has no table of distances."""
    text = "input x : f64[n f]\ninput c : f64[k f] where k ≥ 1\noutput r ← {⊃⍋⍵}⍤1 ⊢ +/(x (-⍤1⍤1 2) c)*2\n"
    rng = np.random.default_rng(1)
    first, *rest = phases_of(text, {"x": rng.random((400, 8)), "c": rng.random((7, 8))})
    assert [axis.size.constant for axis in first.axes] == [400, 7]
    assert first.results[0].reduction == "argmin"
    assert all(len(phase.body) == 1 for phase in rest)


def test_pairwise_forces_are_one_phase() -> None:
    text = "input p : f64[n 3]\ninput m : f64[n]\nd ← p (-⍤1⍤1 2) p\noutput r ← +⌿⍤2 ⊢ d×m (÷⍤1) 0.01++/d*2\n"
    found = phases_of(text, {"p": np.random.default_rng(1).random((60, 3)), "m": np.ones(60)})
    assert [len(phase.results) for phase in found if isinstance(phase, Structured)] == [3]
    assert [phase.op for phase in found if isinstance(phase, LibraryPhase)] == ["stack"]


def test_the_order_of_sums_is_kept() -> None:
    """Lanes are halved: of five items the first and the last are added first."""
    data = {"a": np.array([[1e300, 1.0, 2.0, 3.0, -1e300]] * 9)}
    (made,) = phases_of("input a : f64[n 5]\noutput r ← +/a\n", data)
    assert [axis.size.constant for axis in made.axes] == [9]
    core = checked("input a : f64[n 5]\noutput r ← +/a\n")
    assert core is not None
    bound = backend.load(core, data, {})
    found = backend.execute(backend.plan(bound), bound, data).outputs["r"]
    assert np.asarray(found.value).tolist() == [6.0] * 9


def test_windows_are_read_at_fixed_distances() -> None:
    """Each step of a window is a read of its own that copies no window."""
    found = phases_of("input I : i64[n m]\noutput r ← {+/,⍵×3 3⍴⍳9}⌺3 3 ⊢ I\n", {"I": np.ones((40, 30), np.int64)})
    reads = [read for phase in found if isinstance(phase, Structured) for read in phase.reads]
    assert len(reads) >= 8 and all(isinstance(stage, Affine) for read in reads for stage in read.projection.stages)


WINDOWED = ["((≢k)↕x)+.×⌽k", "⌽k+.×⍉(≢k)↕x", "2⊥⍉3↕x", "+/k(×⍤1)(≢k)↕x", "(≢k)⊥⍉(≢k)↕x"]


@pytest.mark.parametrize("text", WINDOWED)
def test_windows_with_weights_are_read_through(text: str) -> None:
    """No array of windows is made, nor one of products: one phase goes through what the windows are of."""
    data = {"x": np.random.default_rng(2).random(500), "k": np.arange(7.0)}
    (made,) = phases_of(f"input x : f64[n] where n ≥ 7\ninput k : f64[7]\noutput r ← {text}\n", data)
    assert len(made.axes) == 1 and made.results[0].reduction is None


def test_digits_that_are_added_up_are_not_made() -> None:
    """Nor is the stack of them, of which each reader wants one place."""
    (made,) = phases_of("input I : i64[n]\noutput r ← +⌿10 10 10⊤I\n", {"I": np.arange(500)})
    assert len(made.axes) == 1 and len(made.reads) == 1


@pytest.mark.parametrize("kind", ["f64", "f32", "i64", "u8", "bool"])
def test_places_of_long_vectors(kind: str) -> None:
    """Of equals the first; NaN is never the place where there is another."""
    dtype = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "u8": np.uint8, "bool": np.bool_}[kind]
    rng = np.random.default_rng(3)
    for n in (1, 7, 5000, 40_000):
        for share in (0.0, 0.01, 1.0):
            x = rng.integers(0, 2 if kind == "bool" else 90, n).astype(dtype)
            if kind.startswith("f"):
                x[rng.random(n) < share] = np.nan
            plain = np.where(np.isnan(x), -np.inf, x) if kind.startswith("f") else x
            core = checked(f"input x : {kind}[n] where n ≥ 1\noutput most ← ⊃⍒x\noutput least ← ⊃⍋x\n")
            assert core is not None
            found = backend.execute(backend.plan(bound := backend.load(core, {"x": x}, {})), bound, {"x": x}).outputs
            assert int(found["most"].value) == int(np.argmax(plain))
            assert int(found["least"].value) == int(np.argmin(np.where(np.isinf(plain), np.inf, plain)))


@pytest.mark.parametrize("mode", ["off", "always"])
@pytest.mark.parametrize("text", ["(50+/x)÷50", "17⌈/x", "64+/x", "(40+/x)÷⌈/x", "{+/⍵×⍵}⍤1 ⊢ 20↕x", "(31↕x)+.×⌽31↑x"])
def test_windows_are_steps(text: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of longer windows have the bits of windows summed one by one, and are not chains along rows."""
    monkeypatch.setenv(tiering.SWITCH, mode)
    core = checked(f"input x : f64[n] where n ≥ 64\noutput r ← {text}\n")
    assert core is not None
    data = {"x": np.random.default_rng(5).standard_normal(300)}
    assert not agree(core, data)
    found = []
    for without in (frozenset[str](), frozenset({"short axes"})):
        bound = backend.load(core, data, {}, without=without)
        found.append(np.asarray(backend.execute(backend.plan(bound), bound, data).outputs["r"].value))
    assert np.array_equal(*found)
