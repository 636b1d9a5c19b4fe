"""Loops that know where they are: what is proved of every turn, what is checked and when, and that nothing leaves the body."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from rho import backend
from rho.backend.graph import traverse
from rho.backend.graph.phases import Loop
from rho.backend.reference.interpreter import interpret
from rho.backend.vm.values import Array
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.core.operations import Core
from rho.typechecker.elements import Kind

Inputs = Mapping[str, np.ndarray]
VECTOR = "input x : f64[n]\nn ← ≢x\n"
TWO = "input x : f64[n]\ninput y : f64[m]\nn ← ≢x\n"


def core_of(text: str, *codes: str) -> Core:
    """The checked program, which has exactly these diagnostics."""
    found = check(Source("<test>", text))
    assert tuple(d.code for d in found.diagnostics) == codes, found.diagnostics
    assert found.core is not None
    return found.core


def values(core: Core, inputs: Inputs) -> list[list[float]]:
    """What the plan prints, which the reference prints as well."""
    bound = backend.load(core, inputs, {})
    shown = [s.value.ravel().tolist() for s in backend.execute(backend.plan(bound), bound, inputs).printed]
    exact = interpret(core, arrays(inputs), {})
    assert [[float(item) for item in a.data] for a in exact.printed] == [pytest.approx(row, rel=1e-14) for row in shown]
    return shown


def arrays(inputs: Inputs) -> dict[str, Array]:
    return {name: Array(Kind.F64, x.shape, tuple(x.ravel().tolist())) for name, x in inputs.items()}


def code_of(core: Core, inputs: Inputs) -> str:
    """The code that a run is refused with, the reference's too."""
    codes = []
    for run in (lambda: values(core, inputs), lambda: interpret(core, arrays(inputs), {})):
        with pytest.raises(RhoError) as refused:
            run()
        codes.append(refused.value.diagnostics[0].code)
    assert codes[0] == codes[1]
    return codes[0]


def some(n: int, *more: int) -> np.ndarray:
    return 1.0 + np.arange(float(np.prod((n, *more), dtype=int))).reshape((n, *more))


# ------------------------------------------------------------------------------------------ proved


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("{⍵ + +/⍺↑x}⍣(⍳n)", lambda x, i: x[:i].sum()),
        ("{⍵ + +/(⍺+1)↑x}⍣(⍳n)", lambda x, i: x[: i + 1].sum()),
        ("{⍵ + +/(n-⍺)↑x}⍣(⍳n)", lambda x, i: x[: len(x) - i].sum()),
        ("{⍵ + +/(⌊⍺÷2)↑x}⍣(⍳n)", lambda x, i: x[: i // 2].sum()),
        ("{⍵ + +/(-⍺)↑x}⍣(⍳n)", lambda x, i: x[len(x) - i :].sum()),
        ("{⍵ + +/x[⍳⍺]}⍣(⍳n)", lambda x, i: x[:i].sum()),
        ("{⍵ + +/x[⍺-⍳⍺+1]}⍣(⍳n)", lambda x, i: x[: i + 1].sum()),
        ("{⍵ + x[(n-1)-⍺]×10*⍺}⍣(⍳n)", lambda x, i: x[len(x) - 1 - i] * 10.0**i),
        ("{⍵ + (⍺↑x)+.×⌽⍺↑x}⍣(⍳n)", lambda x, i: x[:i] @ x[:i][::-1]),
        ("{⍵ + (⍺↓x)+.×(n-⍺)↑x}⍣(⍳n)", lambda x, i: x[i:] @ x[: len(x) - i]),
        ("{i←⍺ ⋄ ⍵+{⍵+x[⍺]×x[i]}⍣(⍳i) ⊢ 0.0}⍣(⍳n)", lambda x, i: sum(x[j] * x[i] for j in range(i))),
        ("{i←⍺ ⋄ ⍵+{⍵+x[⍺]×x[i]}⍣((i+1)+⍳n-i+1) ⊢ 0.0}⍣(⍳n)", lambda x, i: sum(x[j] * x[i] for j in range(i + 1, len(x)))),
        ("{i←⍺ ⋄ ⍵+{⍵+x[⍺-i]}⍣(i+⍳n-i) ⊢ 0.0}⍣(⍳n)", lambda x, i: x[: len(x) - i].sum()),
        ("{⍵ + ⌈/(⍺+1)↑x}⍣(⍳n)", lambda x, i: x[: i + 1].max()),
        ("{⍵ + (x[⍺]-⊃x)×⍺}⍣(⍳n)", lambda x, i: (x[i] - x[0]) * i),
    ],
)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_every_turn_is_proved(body: str, wanted: object, n: int) -> None:
    core = core_of(VECTOR + body + " ⊢ 0.0")
    assert not core.guards
    x = some(n)
    assert values(core, {"x": x}) == [[pytest.approx(sum(wanted(x, i) for i in range(n)), rel=1e-14)]]  # type: ignore[operator]


@pytest.mark.parametrize("keep", ["", "\\"])
def test_the_order_of_turns(keep: str) -> None:
    x = some(4)
    for cells, order in (("⍳n", (0, 1, 2, 3)), ("⌽⍳n", (3, 2, 1, 0)), ("1+⍳n-1", (1, 2, 3)), ("⌽1+⍳n-1", (3, 2, 1)),
                         ("2↓⍳n", (2, 3)), ("(n-1)-⍳n", (3, 2, 1, 0)), ("2×⍳⌊n÷2", (0, 2)), ("3 0 1", (3, 0, 1)),
                         ("⍳0", ())):  # fmt: skip
        text = "input x : f64[n] where n ≥ 4\nn ← ≢x\n" + f"{{(10×⍵)+x[⍺]}}⍣{keep}({cells}) ⊢ 0.0"
        states = [0.0]
        for i in order:
            states.append(10 * states[-1] + x[i])
        assert values(core_of(text), {"x": x}) == [states if keep else states[-1:]]


def test_cells_of_rank_one_are_data() -> None:
    core = core_of("input A : f64[n m]\n{⍵×⍺+1}⍣A ⊢ (⊃⌽⍴A)⍴1.0")
    a = some(3, 2)
    assert values(core, {"A": a}) == [[pytest.approx(v, rel=1e-14) for v in (a + 1).prod(axis=0)]]
    assert values(core, {"A": a[:0]}) == [[1.0, 1.0]]


def test_a_bounded_item_of_data_is_a_size() -> None:
    core = core_of(VECTOR + "g ← ⍒x\n{⍵ + +/⍺↑x}⍣g ⊢ 0.0")
    x = some(5)
    assert values(core, {"x": x}) == [[sum(x[:i].sum() for i in range(5))]]


def test_stopping_early_sees_both_states() -> None:
    core = core_of(VECTOR + "{⍵+x[⍺]}⍣(⍳n ⋄ {5<⍵+⍺}) ⊢ 0.0")
    assert values(core, {"x": some(9)}) == [[6.0]]


def test_a_frame_around_the_loop() -> None:
    core = core_of("input A : f64[m n]\n{y←⍵ ⋄ {⍵ + y[⍺]×+/⍺↑y}⍣(⍳≢y) ⊢ 0.0}⍤1 ⊢ A\n{⍺+2×⍵}⍣(⍉A)⊢(≢A)⍴0.0")
    a = some(3, 4)
    turned = np.zeros(3)
    for column in a.T:
        turned = column + 2 * turned
    rows = [pytest.approx(sum(row[i] * row[:i].sum() for i in range(4)), rel=1e-14) for row in a]
    assert values(core, {"A": a}) == [rows, turned.tolist()]


# ----------------------------------------------------------------------------------------- checked


def test_ends_of_the_index_are_checked_when_it_is_loaded() -> None:
    core = core_of(TWO + "{⍵ + +/(⍺↕y)[0;]}⍣(1+⍳n) ⊢ 0.0", "W201")
    assert {str(guard.fact) for guard in core.guards} == {"1 ≤ m", "n ≤ m"}
    assert values(core, {"x": some(3), "y": some(3)}) == [[10.0]]
    assert values(core, {"x": some(0), "y": some(0)}) == [[0.0]]  # of no turn nothing is asked
    assert code_of(core, {"x": some(4), "y": some(3)}) == "E701"


def test_ends_that_depend_on_another_index_are_checked_in_each_turn() -> None:
    text = TWO + "{i←⍺ ⋄ ⍵+{⍵ + ≢(⍺+i)↕y}⍣(1+⍳i) ⊢ 0}⍣(⍳n) ⊢ 0"
    core = core_of(text, "W201")
    assert code_of(core, {"x": some(3), "y": some(3)}) == "E701"
    assert values(core, {"x": some(3), "y": some(4)}) == [[sum(4 - (j + 1 + i) + 1 for i in range(3) for j in range(i))]]
    assert values(core, {"x": some(1), "y": some(0)}) == [[0.0]]


def test_what_is_not_affine_is_checked_in_each_turn() -> None:
    core = core_of(VECTOR + "{⍵ + +/+/3 _⍴⍺↑x}⍣(⍳n) ⊢ 0.0", "W201")
    assert values(core, {"x": some(1)}) == [[0.0]]
    assert code_of(core, {"x": some(2)}) == "E701"
    stepped = core_of(VECTOR + "{⍵ + +/+/3 _⍴⍺↑x}⍣(3×⍳⌊n÷3) ⊢ 0.0")
    assert values(stepped, {"x": some(7)}) == [[6.0]]


def test_an_index_out_of_range_is_found_in_its_turn() -> None:
    core = core_of(TWO + "{⍵ + y[⍺]}⍣(⍳n) ⊢ 0.0", "W310")
    assert values(core, {"x": some(2), "y": some(2)}) == [[3.0]]
    assert code_of(core, {"x": some(3), "y": some(2)}) == "E310"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("f : f64[n] → f64[m] → f64\nf ← {x←⍺ ⋄ y←⍵ ⋄ {⍵ + +/(⍺↕y)[0;]}⍣(1+⍳≢x) ⊢ 0.0}", "E202"),
        ("f : f64[n] → f64\nf ← {x←⍵ ⋄ {⍵ + +/+/3 _⍴⍺↑x}⍣(⍳≢x) ⊢ 0.0}", "E201"),
        ("f : f64[n] → f64[m] → f64\nf ← {x←⍺ ⋄ y←⍵ ⋄ {⍵ + +/(⍺↑x)+y}⍣(⍳≢x) ⊢ 0.0}", "E101"),
    ],
)
def test_a_signature_must_prove_every_turn(text: str, code: str) -> None:
    assert next(d.code for d in check(Source("<test>", text)).diagnostics) in (code, "E140")


def test_a_signature_may_state_the_ends() -> None:
    core_of("f : f64[n] → f64[m] → f64 where m≥1, n≤m\nf ← {x←⍺ ⋄ y←⍵ ⋄ {⍵ + +/(⍺↕y)[0;]}⍣(1+⍳≢x) ⊢ 0.0}")


# ------------------------------------------------------------------------------ nothing leaves the body


def loops(core: Core) -> list[Loop]:
    graph = backend.load(core, {"x": np.zeros(3)}, {}).graph
    return [phase for phase in traverse.all_phases(graph) if isinstance(phase, Loop)]


@pytest.mark.parametrize("body", ["{⍵ + y[0]}", "{⍵ + ⊃y}", "{⍵ + ⌈/y}", "{⍵ + y[≢1↓y]}"])
def test_of_no_turn_nothing_is_read(body: str) -> None:
    core = core_of(f"input x : f64[n]\ny ← ⌽x+1\n{body}⍣(⍳≢x) ⊢ 0.0")
    assert values(core, {"x": np.zeros(0)}) == [[0.0]]
    (loop,) = loops(core)
    assert loop.needs_iteration
    at_least_one = core_of(f"input x : f64[n] where n≥1\ny ← ⌽x+1\n{body}⍣(⍳≢x) ⊢ 0.0")
    assert not loops(at_least_one)[0].needs_iteration


def test_what_needs_no_turn_is_computed_before_the_loop() -> None:
    core = core_of("input x : f64[n]\n{⍵ + (+/*x)×⍺}⍣(⍳≢x) ⊢ 0.0")
    (loop,) = loops(core)
    assert not loop.needs_iteration
    assert len(loop.body.phases) == 1
    assert values(core, {"x": np.zeros(3)}) == [[9.0]]


def test_facts_of_the_body_do_not_hold_after_it() -> None:
    core_of(VECTOR + "{⍵ + ⊃x}⍣(⍳n) ⊢ 0.0\n⊃x", "W201")
    core_of(TWO + "{⍵ + +/(⍺↕y)[0;]}⍣(1+⍳n) ⊢ 0.0\n1↕y", "W201", "W201")


# ------------------------------------------------------------------------------------------- W340


@pytest.mark.parametrize("count", ["⍴v", ",3"])
def test_a_vector_of_one_is_folded_and_said(count: str) -> None:
    text = f"v ← 4 5 6\n{{⍵+1}}⍣({count}) ⊢ 0"
    (warned,) = check(Source("<test>", text)).diagnostics
    assert warned.code == "W340"
    (fix,) = warned.fixes
    (edit,) = fix.edits
    repaired = text[: edit.span.start] + edit.text + text[edit.span.end :]
    assert values(core_of(repaired), {}) == [[3.0]]
    assert values(core_of(text, "W340"), {}) == [[1.0]]


# ------------------------------------------------------------------------------- counters in the state


@pytest.mark.parametrize(
    ("loop", "wanted"),
    [
        ("{(i s)←⍵ ⋄ (i+1 ⋄ s+x[i])}⍣n ⊢ (0 ⋄ 0.0)", lambda x: x.sum()),
        ("{(i s)←⍵ ⋄ (1+i ⋄ s+x[i-2])}⍣n ⊢ (2 ⋄ 0.0)", lambda x: x.sum()),
        ("{(i s)←⍵ ⋄ (i+2 ⋄ s+x[i])}⍣(⌊n÷2) ⊢ (0 ⋄ 0.0)", lambda x: x[: len(x) // 2 * 2 : 2].sum()),
        ("{(i s)←⍵ ⋄ ((i+2)-1 ⋄ s++/i↑x)}⍣n ⊢ (0 ⋄ 0.0)", lambda x: sum(x[:i].sum() for i in range(len(x)))),
        ("{(i s)←⍵ ⋄ (i+1 ⋄ s+x[i]×⍺)}⍣x ⊢ (0 ⋄ 0.0)", lambda x: (x * x).sum()),
        ("{(i s)←⍵ ⋄ (i+1 ⋄ s+x[i])}⍣(n ⋄ {(i s)←⍵ ⋄ s>4}) ⊢ (0 ⋄ 0.0)", lambda x: x[:3].sum()),
    ],
)
def test_a_counter_carried_by_hand_has_a_range(loop: str, wanted: object) -> None:
    core = core_of(VECTOR + "(_ s) ← " + loop + "\ns")
    for n in (0, 1, 7):
        x = some(n)
        assert values(core, {"x": x}) == [[pytest.approx(wanted(x), rel=1e-14)]]  # type: ignore[operator]


@pytest.mark.parametrize(
    "loop",
    [
        "{(i s)←⍵ ⋄ (i+1 ⋄ s+x[i])}⍣n ⊢ (1 ⋄ 0.0)",  # the last turn is beyond
        "{(i s)←⍵ ⋄ (i+2 ⋄ s+x[i])}⍣n ⊢ (0 ⋄ 0.0)",
        "{(i s)←⍵ ⋄ (i-1 ⋄ s+x[i])}⍣n ⊢ (0 ⋄ 0.0)",
        "{(i s)←⍵ ⋄ (i+i ⋄ s+x[i])}⍣n ⊢ (1 ⋄ 0.0)",
        "{(i s)←⍵ ⋄ (s>3 : (i ⋄ s) ⋄ (i+1 ⋄ s+x[i]))}⍣n ⊢ (0 ⋄ 0.0)",
        "{(i s)←⍵ ⋄ (i+4611686018427387904 ⋄ s+x[i])}⍣n ⊢ (0 ⋄ 0.0)",
    ],
)
def test_what_is_no_counter_is_checked(loop: str) -> None:
    found = check(Source("<test>", VECTOR + loop.replace("(s>3 : (i ⋄ s) ⋄ (i+1 ⋄ s+x[i]))", "s>3 : (i ⋄ s) ⋄ (i+1 ⋄ s+x[i])")))
    assert [d.code for d in found.diagnostics if d.code != "E310"] in (["W310"], [])
    assert found.diagnostics
