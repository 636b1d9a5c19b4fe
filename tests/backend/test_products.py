"""Matrix products in the cheapest order: what is reordered, and that values stay what they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rho
from rho import backend
from rho.backend.graph.passes.contractions import ContractionOperand, IndexRegion, best_tree
from rho.backend.graph.phases import LibraryPhase, Structured, ValueId
from rho.backend.graph.traverse import all_phases, results
from rho.backend.graph.verify import verify
from rho.tests.harness.tiers import agree, checked, run_plan
from rho.typechecker.elements import Kind

DECLARED = "input A : {k}[a b]\ninput B : {k}[b c]\ninput C : {k}[c d]\ninput D : {k}[d e]\ninput v : {k}[c]\ninput w : {k}[a]\n"
SIZES = dict(zip("abcde", (30, 2, 40, 3, 20), strict=True))
REORDERED = """(A+.×B)+.×v
w+.×A+.×B
((A+.×B)+.×C)+.×D
A+.×B+.×C+.×D
(w+.×A+.×B)+.×C
(⍉D)+.×(⍉C)+.×⍉A+.×B
1+(A+.×B)+.×v
{⍵+(A+.×B)+.×v}⍣2 ⊢ w""".splitlines()
KEPT = """A+.×B
A+.×B+.×v
A+.×(B+.×C)+.×D
w+.×A
(2×A+.×B)+.×v
v+.×v""".splitlines()


def inputs(kind: str) -> dict[str, Any]:
    rng = np.random.default_rng(4)
    dtype = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "c128": np.complex128}[kind]
    shapes = {"A": "ab", "B": "bc", "C": "cd", "D": "de", "v": "c", "w": "a"}
    return {n: rng.integers(-9, 9, tuple(SIZES[a] for a in shape)).astype(dtype) for n, shape in shapes.items()}


def work(graph: Any) -> int:
    total = 0
    for phase in all_phases(graph):
        if isinstance(phase, LibraryPhase) and phase.op == "contract":
            left, right = (graph.types[arg].shape for arg in phase.args)
            total += int(np.prod([size.constant for size in (*left, *right[1:])], dtype=np.int64))
    return total


@pytest.mark.parametrize("kind", ["f64", "i64", "c128"])
@pytest.mark.parametrize("text", REORDERED + KEPT)
def test_order(text: str, kind: str) -> None:
    core = checked(DECLARED.format(k=kind) + f"output r ← {text}\n")
    assert core is not None
    given = inputs(kind)
    plain = backend.load(core, given, {}, without=frozenset({"products"}))
    ordered = backend.load(core, given, {})
    verify(ordered.graph, "products")
    assert (work(ordered.graph) < 0.76 * work(plain.graph)) == (text in REORDERED), (work(ordered.graph), work(plain.graph))
    assert not agree(core, given)


def test_a_product_that_is_shown_stays() -> None:
    core = checked("input A : f64[a b]\ninput B : f64[b c]\ninput v : f64[c]\nP ← A+.×B\noutput P\noutput r ← P+.×v\n")
    assert core is not None
    given = {name: value for name, value in inputs("f64").items() if name in "ABv"}
    plain = backend.load(core, given, {}, without=frozenset({"products"}))
    assert work(backend.load(core, given, {}).graph) == work(plain.graph)


def test_the_best_order_of_a_textbook() -> None:
    sizes = dict(enumerate((30, 35, 15, 5, 10, 20, 25)))
    operands = [ContractionOperand(ValueId(place), (place, place + 1)) for place in range(6)]
    tree = best_tree(IndexRegion(Kind.F64, (0, 6), sizes, operands))
    assert (tree.part, tree.cost[0]) == (((0, (1, 2)), ((3, 4), 5)), 15125)


SUMS = """+/A+.×B
+⌿A+.×B
+/+/A+.×B
+/A+.×B×v∘.×v
+/w+.×A+.×B
+/0 0⍉Q+.×Q
(+/A+.×B)×w
(A+.×B)+.×v×v
+/(w∘.×w)+.×Q""".splitlines()

@pytest.mark.parametrize("kind", ["f64", "f32", "i64", "c128"])
@pytest.mark.parametrize("text", SUMS)
def test_sums_of_products(text: str, kind: str) -> None:
    """Reductions go where their index last occurs, and values stay what they were."""
    core = checked(DECLARED.format(k=kind) + f"input Q : {kind}[a a]\noutput r ← {text.replace('v∘.×v', '⍉v∘.×(≢B)⍴1')}\n")
    assert core is not None
    given = {**inputs(kind), "Q": np.random.default_rng(7).integers(-9, 9, (30, 30)).astype(inputs(kind)["A"].dtype)}
    bound = backend.load(core, given, {})
    verify(bound.graph, "products")
    assert any(note.says.startswith("regrouped: ") for note in bound.graph.rewritten)
    assert not agree(core, given)


def test_what_is_written_without_a_product_keeps_its_order() -> None:
    """A float `+/` over `×` has bits of its own: only regions that hold a contraction are regrouped."""
    core = checked("input A : f64[n n]\ninput v : f64[n]\noutput r ← +/+/A×v∘.×v\n")
    assert core is not None
    bound = backend.load(core, {"A": np.ones((90, 90)), "v": np.ones(90)}, {})
    assert not bound.graph.rewritten
    assert all(len(bound.graph.types[r].shape) < 2 for p in bound.graph.phases if isinstance(p, Structured) for r in results(p))


@pytest.mark.parametrize("count", [0, 1, 2, 500])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.complex128])
@pytest.mark.parametrize(
    ("text", "left", "right", "expected"),
    [
        ("{⍺ (+.×⍤2) ⍵}", (-1, 3, 4), (4, 5), "nij,jk->nik"),
        ("{⍺ (+.×⍤2) ⍵}", (3, 4), (-1, 4, 5), "ij,njk->nik"),
        ("{⍺ (+.×⍤2) ⍵}", (-1, 3, 4), (-1, 4, 5), "nij,njk->nik"),
        ("{⍺ (+.×⍤2 1) ⍵}", (3, 4), (-1, 4), "ij,nj->ni"),
        ("{⍺ (+.×⍤2 1) ⍵}", (-1, 3, 4), (4,), "nij,j->ni"),
        ("{⍺ (+.×⍤1 2) ⍵}", (-1, 4), (4, 5), "nj,jk->nk"),
        ("{⍺ (+.×⍤2 1) ⍵}", (3, 0), (-1, 0), "ij,nj->ni"),
    ],
)
def test_frames_of_products(
    text: str, left: tuple[int, ...], right: tuple[int, ...], expected: str, kind: Any, count: int
) -> None:
    """A matrix by many vectors, and many matrices by one, are one product."""
    chance = np.random.default_rng(5)
    shapes = [tuple(count if size < 0 else size for size in shape) for shape in (left, right)]
    given = [chance.integers(-9, 10, shape).astype(kind) for shape in shapes]
    made = rho.compile(text)(*given)
    assert np.array_equal(made, np.einsum(expected, *given))


def test_another_order_is_offered() -> None:
    """Nothing changes; the plan says what `+.×` would spare."""
    core = checked("input A : f64[n m]\ninput v : f64[m]\ninput w : f64[k]\noutput r ← +/+/+/A∘.×v∘.×w\n")
    assert core is not None
    given = {"A": np.ones((90, 9)), "v": np.ones(9), "w": np.ones(30)}
    (note,) = backend.load(core, given, {}).graph.rewritten
    assert note.rule == "offer" and "fewer operations" in note.says
    assert not agree(core, {"A": given["A"][:3], "v": given["v"], "w": given["w"]})


REPEATED: dict[str, Callable[..., Any]] = {
    "+/+/(m n)⍴(y+.×y)×y": lambda n, m, A, x, y: m * (y @ y) * y.sum(),
    "A+.×+⌿(7 m)⍴x": lambda n, m, A, x, y: A @ (7 * x),
    "(+⌿(5 n)⍴y)+.×A": lambda n, m, A, x, y: (5 * y) @ A,
    "A+.×+⌿9⌿(1 m)⍴x": lambda n, m, A, x, y: A @ (9 * x),
    "x×+⌿(7 m)⍴x": lambda n, m, A, x, y: 7 * x * x,
    "y+.×A+.×+⌿(n m)⍴x": lambda n, m, A, x, y: n * (y @ A @ x),
    "+/+⌿(m n m)⍴(y+.×A)×⍤1⊢A": lambda n, m, A, x, y: m * ((y @ A) * A).sum(1),
    "(+/+⌿(m n m)⍴A+.×(⍉A)+.×A)×y": lambda n, m, A, x, y: m * (A @ A.T @ A).sum(1) * y,
    "{⍵+A+.×+⌿(m m)⍴x}⍣2⊢y": lambda n, m, A, x, y: y + 2 * (A @ (m * x)),
}


@pytest.mark.parametrize("shape", [(3, 4), (1, 5), (4, 1), (0, 2), (2, 0), (30, 20)])
@pytest.mark.parametrize("kind", ["f64", "f32", "i64", "c128"])
def test_sums_of_repeated_rows_count_them(kind: str, shape: tuple[int, int]) -> None:
    """An index that no operand has still has an extent: the sum along it is a multiplication."""
    n, m = shape
    rng = np.random.default_rng(n + m)
    dtype = inputs(kind)["A"].dtype
    A, x, y = (rng.integers(-3, 4, one).astype(dtype) for one in ((n, m), m, n))
    declared = f"input A : {kind}[n m]\ninput x : {kind}[m]\ninput y : {kind}[n]\nn ← ≢y\nm ← ≢x\n"
    for text, meaning in REPEATED.items():
        core = checked(declared + f"output r ← {text}")
        assert core is not None, text
        made = run_plan(core, {"A": A, "x": x, "y": y}).outputs["r"].value
        assert np.array_equal(made, meaning(n, m, A, x, y)), text
