"""The planned peak is a bound: what NumPy allocates during a run stays below it, for every library op at real sizes.

And it is no lazy one: at the median over the set it is at most half as large again as what was measured."""

from __future__ import annotations

import gc
import statistics
import tracemalloc
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from share import SEED, SHARE

from rho import backend
from rho.backend.cpu import parallel_for
from rho.backend.graph import traverse
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.phases import LibraryPhase
from rho.backend.graph.registry import LIBRARY
from rho.backend.schedule.plan.plan import RowsStep
from rho.backend.vm import run_state
from rho.tests.harness.tiers import checked

pytestmark = pytest.mark.long

N = 150_000
SLACK = 256 * 1024
"""The interpreter's own objects, and NumPy's buffers of 8192 items an operand."""
RNG = np.random.default_rng(11)
ROWS = 400


def rows(texts: Any) -> Any:
    """A matrix of characters with a text in each row."""
    return np.array(texts).view("U1").reshape(len(texts), -1)


INPUTS: dict[str, tuple[str, Any]] = {
    "x": ("f64[n]", RNG.standard_normal(N)),
    "y": ("f64[n]", RNG.standard_normal(N)),
    "i": ("i64[n]", RNG.integers(0, 1 << 60, N)),
    "j": ("i64[n]", RNG.integers(0, 1000, N)),
    "p": ("idx<n>[n]", RNG.permutation(N)),
    "b": ("bool[n]", RNG.random(N) < 0.9),
    "t": ("char[n]", np.array(list("abcdefgh"), "U1")[RNG.integers(0, 8, N)]),
    "s": ("f32[n]", RNG.standard_normal(N).astype(np.float32)),
    "u": ("u8[n]", RNG.integers(0, 200, N).astype(np.uint8)),
    "z": ("c128[n]", RNG.standard_normal(N) + 1j * RNG.standard_normal(N)),
    "A": ("f64[r r]", RNG.standard_normal((ROWS, ROWS))),
    "B": ("f64[r r]", RNG.standard_normal((ROWS, ROWS))),
    "P": ("f64[r r]", np.eye(ROWS) * 3 + 0.001),
    "I": ("i64[r r]", RNG.integers(-9, 9, (ROWS, ROWS))),
    "J": ("i64[r r]", RNG.integers(-(1 << 60), 1 << 60, (ROWS, ROWS))),
    "M": ("bool[r r]", RNG.random((ROWS, ROWS)) < 0.5),
    "Z": ("c128[r r]", RNG.standard_normal((ROWS, ROWS)) + 1j * RNG.standard_normal((ROWS, ROWS))),
    "N": ("f64[n 2]", RNG.standard_normal((N, 2))),
    "W": ("i64[n 3]", RNG.integers(0, 1 << 60, (N, 3))),
    "q": ("i64[n]", RNG.integers(0, 7 * N, N)),
    "h": ("i64[n]", RNG.integers(0, 1 << 60, 1000)[RNG.integers(0, 1000, N)]),
    "d": ("f64[n]", RNG.integers(0, 9, N).astype(float)),
    "e": ("f64[n]", np.where(RNG.random(N) < 0.01, np.nan, RNG.standard_normal(N))),
    "V": ("i64[n 2]", RNG.integers(0, 50, (N, 2))),
    "T": ("char[n 8]", rows([f"{value:8.4f}" for value in RNG.standard_normal(N)])),
    "D": ("char[n 10]", rows(RNG.integers(0, 20_000, N).astype("M8[D]").astype("U10"))),
    "v": ("i64[v]", RNG.integers(0, 1 << 60, 1000)),
    "k": ("i64[r]", RNG.integers(0, ROWS, ROWS)),
}  # fmt: skip

PROGRAMS = """x,y
(⍳≢x)-i
2×⍳≢x
x[p]+x[p]
(N[p;])×N[p;]
1+A[k;k]
C ← A+.×B ⋄ C+C
y ← ⍸b ⋄ y+y
y ← ÷\\x ⋄ y+y
x,⍪y
A,[0]B
3⌽x
k⌽A
k⊖A
5⌽⍉A
100000⍴x
400000⍴x
(2×≢x)↑x
¯300000↑x
x[p]
x[j]
N[p;]
A[;k]
A[k;k]
N[j;1]
i[⍋i]
x[⍒x]
y ← x ⋄ y[p] ← 0 ⋄ y
y ← x ⋄ y[b/⍳≢x] ← 1 ⋄ y
C ← A ⋄ C[k;] ← 0 ⋄ C
C ← A ⋄ C[k;k] ← 1 ⋄ C
b/x
b/i
b⌿N
b\\b/x
⍸b
⍸M
-/x
-/i
-/A
-⌿A
÷/x
÷⌿A
÷/A
*/x
</i
=/j
≠/b
<⌿A
+\\x
+\\A
-\\x
-⍀A
÷\\x
⌈\\i
×⍀A
≠\\b
<\\j
A+.×B
I+.×I
J+.×J
A+.×x[⍳≢A]
x+.×x
x[⍳≢A]+.×A
(⍉A)+.×x[⍳≢A]
A[;⍳20]+.×x[⍳20]
(⍉A[;⍳2])+.×A[;⍳3]
Z+.×Z[0;]
A+.×⍤2⊢3 400 400⍴x
(⍉A)+.×B
Z+.×Z
⍋⍤1⊢A
⍋⍤1⊢I
'hgfedcba'⍋t
A⍳⍤1⊢A
t∊'abc'
'ab'⍷t
1 2 3⍷j
(2 2⍴0)⍷I
(x[⍋x])⍸y
(j[⍋j])⍸j
(N[⍋N;])⍸N
x≡y
A≡B
2⊥b
2⊥j
x⊥y
2⊥I
2 2 2⊤j
0 24 60 60⊤i
10 10⊤x
⍕j[⍳5000]
⌹P
A⌹P
x[⍳≢A]⌹P
(N[⍳≢N;])⌹⍨x
x+y
√x×y
2×x+y×i
+/x×y
+/N
+⌿N
⌈⌿A×B
⍉1+⍉A
,⍉A
(1○x)∘.×1 2 3
(*k)∘.+*k
5⌽⌽x
N+⍤1⊢1 2
⌊x
⌈x
x|y
j|i
⌊x÷y
!u
x*y
i*2
{⍵+1}⍣5 ⊢ x
1○x
7○x
*x
⍟x
!x
*s
1○s
⍟s
d!d
x∨y
i∧j
z÷z
⌊z
×z
*z
⎕erf x
⎕lgamma x
⎕digamma x
{⍵[⍋⍵]}⍣3 ⊢ x
1000 +⌸ (j ⋄ x)
1000 ×⌸ (j ⋄ x)
1000 ×⌸ (j ⋄ i)
1000 +⌸ (j ⋄ N)
1000 -⌸ (j ⋄ x)
1000 -⌸ (j ⋄ N)
1000 ÷⌸ (j ⋄ x)
1000 ∨⌸ (j ⋄ b)
1000 ≠⌸ (j ⋄ b)
1000 <⌸ (j ⋄ x)
1000 +⌸ (j ⋄ z)
1000 +⌸ (j ⋄ s)
1000 +⌸ (j ⋄ 1)
1000 +⌸ (j ⋄ -d)
1000 -⌸ (j ⋄ i)
1 -⌸ (0×j ⋄ i)
400 +⌸ (I-⌊/,I ⋄ A)
5 ? 100000
[x ⋄ y]
⎕fft x
⎕ifft z
⎕rfft x
⎕irfft z
⎕fft A
⎕fft s
⎕cholesky P
⎕det A
(s l) ← ⎕slogdet A ⋄ s×l
⎕qr A
⎕svd A
⎕eigh P
(-@(>∘0))x
0@(0.5∘<)⊢x
⍕x[⍳5000]
⍕z[⍳5000]
⍕I[⍳40;⍳40]
⍕b[⍳5000]
≢x
(⍴A),⍴x
x ← (+/b)↑x ⋄ x+1
q∊q
i∊v
v∊i
v⍳i
i⍳v
x⍳d
t∊'aeiou'
(d[⍋d])⍸x
(i[⍋i])⍸i
(q[⍋q])⍸h
(⍉A)⍳⍉B
∪⍉A
(⍉A)∊B
⍋⍉A
⍋⍤1⊢⍉A
(,⍉A)∊x
⌹⍉P
⎕svd ⍉A
(⍉A)[k;]
-/⍉A
-⍀⍉A
÷\\⍉A
2⊥⍉I
10 10⊤⍉I
⍸⍉M
M≡M
i≡v
1000 +⌸ (j ⋄ ⌽x)
x⍳⌽y
⍋⌽i
⎕number T
⎕date D
⎕time D
(⎕date D[⍳9;])+⎕days ⍳9""".splitlines()

PROGRAMS.append(" ⋄ ".join([
    "g0 : f64[n] → f64[n]", "g0 ← {1+⌽⍵}",
    *[f"g{at} : f64[n] → f64[n] ⋄ g{at} ← {{g{at - 1} g{at - 1} ⍵}}" for at in range(1, 11)],
    "g10 g10 x",
]))  # fmt: skip

PARTS = 4
VECTORS = "xijtubshdeqzNWV"
PROGRAMS += [f"{function}{name}" for function in "∪≠⍋⍒" for name in VECTORS if not (name == "z" and function in "⍋⍒")]
PROGRAMS += [f"{name}{function}{name}" for function in "⍳∊" for name in VECTORS]


def loaded(program: str) -> tuple[BoundGraph, Mapping[str, Any]]:
    """A program with its inputs."""
    used = {name: INPUTS[name] for name in INPUTS if name in program.replace("⌈", "").replace("⌊", "")}
    declared = "".join(f"input {name} : {type}\n" for name, (type, _) in used.items())
    core = checked(declared + program.replace(" ⋄ ", "\n"))
    assert core is not None, program
    inputs: Mapping[str, Any] = {name: value for name, (_, value) in used.items()}
    return backend.load(core, inputs), inputs


def ops_of(bound: BoundGraph) -> set[str]:
    return {p.op for p in traverse.all_phases(bound.graph) if isinstance(p, LibraryPhase)}


def peaks(program: str) -> tuple[int, int, set[str]]:
    """Measured and planned bytes beside the inputs, and the library ops at work."""
    bound, inputs = loaded(program)
    plan = backend.plan(bound)
    backend.execute(plan, bound, inputs)
    backend.execute(plan, bound, inputs)
    gc.collect()
    run_state.trim()
    tracemalloc.start()
    try:
        backend.execute(plan, bound, inputs)
        measured = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    held = sum(-(-value.nbytes // 512) * 512 for value in inputs.values())
    return measured, max(plan.peak.values()) - held, ops_of(bound)


def above(found: Mapping[str, tuple[int, int, set[str]]]) -> list[str]:
    return [f"{p}: measured {m:,}, planned {n:,}" for p, (m, n, _) in found.items() if m > n + SLACK]


@pytest.mark.parametrize("program", ["</i", "≥/x", "≠⌿A"])
def test_comparisons_from_the_right_keep_their_items(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by another half of the programs: they are copied."""
    monkeypatch.setenv("RHO_KERNELS", "off")
    assert not above({program: peaks(program)})


@pytest.mark.parametrize("part", range(PARTS))
def test_the_planned_peak_bounds_every_program_and_is_tight_at_the_median(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "off")
    drawn = PROGRAMS[part::PARTS] if SHARE >= 1 else PROGRAMS[part + SEED % 4 * PARTS :: 4 * PARTS]
    found = {program: peaks(program) for program in drawn}
    assert not above(found)
    if SHARE >= 1:  # a sixteenth of the programs, which are alike, has a median of its own
        assert statistics.median(planned / measured for measured, planned, _ in found.values()) <= 1.5


def test_every_library_op_is_among_the_programs() -> None:
    apart = {"scan_totals", "scan_before", "sort_runs", "grade_runs", "merge_runs"}  # of several devices (`test_two_passes`)
    apart |= {"select_runs", "join_runs", "sum_runs", "join_sums", "broadcast"}
    assert set().union(*(ops_of(loaded(program)[0]) for program in PROGRAMS)) == set(LIBRARY) - apart


def test_compiled_phases_stay_below_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "always")
    at = PROGRAMS.index("x+y")
    peaks("x+y")  # what the first program imports is not its own
    assert not above({program: peaks(program) for program in PROGRAMS[at : at + 26]})


TURNING = """{⍵+0.1×((1⊖⍵)+(¯1⊖⍵)+(1⌽⍵)+¯1⌽⍵)-4×⍵}⍣20 ⊢ A
{⍵+0.1×((1⊖⍵)+(¯1⊖⍵)+(1⌽⍵)+¯1⌽⍵)-4×⍵}⍣21 ⊢ ⍉A
{s ← (¯1⌽⍵)+⍵+1⌽⍵ ⋄ n ← (¯1⊖s)+s+1⊖s ⋄ (n=3)∨⍵∧n=4}⍣9 ⊢ M
{0.5×⍵+2⊖⍵}⍣30 ⊢ Q
{0.5×⍵+7⊖⍵}⍣30 ⊢ T
{0.5×⍵+7⊖⍵}⍣30 ⊢ L
{0.5×⍵+60⊖⍵}⍣15 ⊢ L
{a ← 1⊖⍵ ⋄ a-1}⍣15 ⊢ L
{0.5×⍵+200⌽⍵}⍣9 ⊢ A
{0.5×(70000⌽⍵)+¯70000⌽⍵}⍣9 ⊢ x
{0.5×⍵+⍤1 ⊢ T[;3]}⍣5 ⊢ A""".splitlines()


NEIGHBOURS = """(1⊖A)+(¯1⊖A)+(1⌽A)
x ← 2×A ⋄ ((1⊖x)×(¯1⊖x))+(1⌽x)×¯1⌽x
x ← 2×A ⋄ y ← (1⊖x)+(¯1⊖x)-4×x ⋄ (1⌽y)+(¯1⌽y)×y
x ← 2×A ⋄ z ← 3×A ⋄ y ← x-((1⊖z)+(¯1⊖z))×((1⌽z)+¯1⌽z) ⋄ (1⌽y)×(¯1⌽y)
x ← 2×A ⋄ (⍉x)+(1⊖⍉A)×¯1⊖⍉A
x ← (1⊖A)×2 ⋄ y ← (¯1⊖A)×3 ⋄ (x×y)+(1⊖A)×(1⌽A)×¯1⌽A""".splitlines()


@pytest.mark.parametrize("kernels", ["off", "always"])
def test_groups_of_neighbours_are_planned_as_their_members_one_by_one(kernels: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", kernels)
    assert not above({program: peaks(program) for program in NEIGHBOURS})


@pytest.mark.parametrize("program", NEIGHBOURS)
def test_an_operand_that_dies_in_a_group_does_not_keep_it_apart(program: str) -> None:
    bound, _ = loaded(program)
    rotations = {phase.id for phase in bound.graph.phases if isinstance(phase, LibraryPhase) and phase.op == "rotate"}
    (queue,) = backend.plan(bound).main.queues
    assert rotations <= {member for step in queue.steps if isinstance(step, RowsStep) for member in step.phases}


def test_loops_in_tiles_and_packed_operands_are_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "always")
    monkeypatch.setattr(parallel_for, "cache_bytes", lambda: 16 << 20)  # a machine with a large cache
    monkeypatch.setitem(INPUTS, "Q", ("f64[200 q]", RNG.standard_normal((200, 300))))
    monkeypatch.setitem(INPUTS, "T", ("f64[r 40]", RNG.standard_normal((ROWS, 40))))
    monkeypatch.setitem(INPUTS, "L", ("f64[64 l]", RNG.standard_normal((64, 2500))))
    packing = ["+/(A (-⍤1⍤1 2) B[⍳90;])*2", "⌈/A (+⍤1⍤1 2) ⍉T", "A×⍤1 ⊢ T[;3]"]
    assert not above({program: peaks(program) for program in [*TURNING, *packing]})
