"""What a session remembers: values, captures, `ans`; and that what fails leaves no trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rho.shell.console.process_exit import Exit
from rho.shell.pipeline import Session
from rho.shell.workspace.entry_program import TextItem, ValueItem
from rho.shell.workspace.workspace import Workspace

Enter = Callable[..., list[str]]
BIG = "x ← 5000⍴1.5"
"""Too long to be folded: computed, and kept as an array."""


def test_assignments_are_silent_and_expressions_print(enter: Enter) -> None:
    assert enter("x ← ⍳3") == []
    assert enter("x+1") == ["1 2 3"]
    assert enter("x[1]←7") == []
    assert enter("x +← 1") == []
    assert enter("x") == ["1 8 3"]


def test_a_function_keeps_what_it_captured(enter: Enter) -> None:
    assert enter("a ← 5", "f ← {a+⍵}", "a ← 7", "f 1") == ["6"]
    assert enter(BIG, "g ← {⍵+⊃x}", "x ← 5000⍴3.5", "g 0") == ["1.5"]
    assert enter("h ← {⍵+⊃x}", "x ← 2", "h 0", "(g 0),(h 0),x") == ["1.5 3.5 2"]


def test_a_function_keeps_the_functions_it_mentioned(enter: Enter) -> None:
    assert enter("f ← {⍵+1}", "g ← {f f ⍵}", "f ← {⍵×10}", "g 1") == ["3"]
    assert enter("f g 1") == ["30"]


def test_one_entry_may_shadow_within_itself(enter: Enter) -> None:
    assert enter("b ← 100 ⋄ g ← {b+⍵} ⋄ b ← 5000⍴2.5 ⋄ (g 1),⊃b") == ["101 2.5"]
    assert enter("g 2") == ["102"]


def test_a_value_is_computed_once(enter: Enter, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(BIG, "y ← x×x")
    computed: list[str] = []
    real = Session.run
    monkeypatch.setattr(Session, "run", lambda own, loaded: (computed.append(loaded.checked.source.text), real(own, loaded))[1])
    assert enter("⊃y") == ["2.25"]
    assert len(computed) == 1 and "x×x" not in computed[0] and "input y : f64[5000]" in computed[0]


def test_sizes_are_numbers_and_static_values_stay_static(enter: Enter, workspace: Workspace) -> None:
    assert enter("n ← 4", "⍳n") == ["0 1 2 3"]
    assert enter("n ← 3÷2", "n") == ["1.5"]
    assert enter(BIG, "y ← (x>⍳5000)/x", "y+1 2") == ["2.5 3.5"], "the size of y is the number 2 now"
    assert workspace.state.types["y"] == "f64[2]"
    assert workspace.enter("y+1 2 3").exit is Exit.REJECTED


def test_weak_literals_stay_weak(enter: Enter, workspace: Workspace) -> None:
    enter("k ← 2", "v ← f32 1.5 2", "w ← v×k")
    assert workspace.state.types["w"].startswith("f32")


def test_positions_and_permutations_keep_their_types(enter: Enter, workspace: Workspace) -> None:
    enter(BIG, "p ← ⍋x", "i ← x⍳1.5 2.5")
    assert workspace.state.types["p"] == "perm<5000>"
    assert enter("≢x[p]") == ["5000"]
    enter("j ← ⊃p")
    assert enter("x[j]") == ["1.5"], "an index of the right type needs no check"


def test_ans_is_the_last_expression(enter: Enter, workspace: Workspace) -> None:
    assert enter("2+3", "ans×2", "ans") == ["10"]
    assert enter("5000⍴0.5", "+/ans") == ["2500"]
    enter("q ← 4")
    assert enter("ans") == ["2500"], "an assignment leaves ans alone"
    assert workspace.enter("ans+⍳2 ⋄ nothing").exit is Exit.REJECTED
    assert enter("ans") == ["2500"]


def test_chains_of_ans_do_not_grow(enter: Enter, workspace: Workspace) -> None:
    enter("1")
    for _ in range(30):
        enter("ans+1")
    layout = workspace.check("ans").layout
    assert layout.text.count("\n") == 2


def test_quad_prints_once(enter: Enter) -> None:
    assert enter("⎕←3") == ["3"]
    assert enter("{⍵ ⋄ ⎕←3}5") == ["3"]
    assert enter("2+⎕←1") == ["1", "3"]
    assert enter("⎕←z←4 5") == ["4 5"]
    assert enter("z") == ["4 5"], "and is not printed again when z is used"


def test_tuples(enter: Enter) -> None:
    enter(BIG, "t ← (x ⋄ (2×x ⋄ 'ab'))", "(a (b c)) ← t")
    assert enter("(⊃b),⊃a") == ["3 1.5"]
    assert enter("c") == ["ab"]
    assert enter("(1 ⋄ 2 3)") == ["1", "2 3"]
    assert enter("(p q) ← ans", "q") == ["2 3"]


@pytest.mark.parametrize(
    ("text", "exit"),
    [
        ("x ← 1 2 + 1 2 3", Exit.REJECTED),
        ("y ← 1 ⋄ x ← y + nothing", Exit.REJECTED),
        ("(", Exit.REJECTED),
        ("'abc", Exit.REJECTED),
        ("`nosuchglyph 3", Exit.REJECTED),
        ('use "./missing.rho"', Exit.REJECTED),
        ("x ← u8 300×⊃x", Exit.FAILED),
        ('input z : f64[n] ← "missing.npy"', Exit.FAILED),
        ("input z : f64[n]", Exit.REFUSED),
        ("⎕IO←1", Exit.REJECTED),
        ("1 ⋄ u8 300×⊃x", Exit.FAILED),
    ],
)
def test_what_fails_leaves_no_trace(enter: Enter, workspace: Workspace, text: str, exit: Exit) -> None:
    enter(BIG)
    before = workspace.state
    entered = workspace.enter(text)
    assert entered.exit is exit and entered.diagnostics and not entered.printed
    assert workspace.state is before
    assert enter("⊃x") == ["1.5"]


def test_an_interrupt_leaves_no_trace(enter: Enter, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(BIG)
    before = workspace.state

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        workspace.enter("x ← x×2 ⋄ x")
    monkeypatch.undo()
    assert workspace.state is before and enter("⊃x") == ["1.5"]


def test_messages_point_into_what_was_typed(enter: Enter, workspace: Workspace) -> None:
    enter(BIG, "y ← 3⍴⊃x")
    entered = workspace.enter("1 ⋄ x + y")
    (found,) = entered.diagnostics
    text = workspace.sources[found.span.file].text
    assert text[found.span.start : found.span.end] == "+"
    entered = workspace.enter("`iota 3 + y")
    assert entered.exit is Exit.REJECTED
    for label in entered.diagnostics[0].labels:
        source = workspace.sources[label.span.file].text
        assert 0 <= label.span.start < label.span.end <= len(source)


def test_signatures_go_with_their_binding(enter: Enter, workspace: Workspace) -> None:
    enter("mean : f64[n] → f64\nmean ← {(+/⍵)÷≢⍵}", BIG)
    assert enter("mean x") == ["1.5"]
    assert "mean" in workspace.state.types


def test_params_and_sizes_of_inputs_are_numbers(enter: Enter, workspace: Workspace, tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", np.arange(8.0).reshape(4, 2))
    enter('input p : f64[n 2] ← "p.npy"', "param k ← 2", "w : f64[n] ← p[;0]", "h : f64[m k] → f64[m]\nh ← {+/⍵}")
    assert enter("h p") == ["1 5 9 13"]
    assert enter("⍳k") == ["0 1"]
    assert workspace.enter("w : f64[n] ← 1.5 2").exit is Exit.REJECTED
    assert workspace.enter("h 4 3⍴1.5").exit is Exit.REJECTED
    np.save(tmp_path / "p.npy", np.zeros((1, 2)))
    assert enter("+/,p") == ["28"], "the data was read once"


def test_modules(enter: Enter, workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "twice.rho").write_text("twice ← {⍵×2}\n", encoding="utf-8")
    assert enter('use "./twice.rho"', "twice.twice 4") == ["8"]
    assert enter("use stats", "stats.mean 1 2 3.0") == ["2"]
    assert workspace.state.types["stats"] == "module"


def test_index_origin_of_a_session(enter: Enter, workspace: Workspace) -> None:
    assert enter("⎕IO←1", "⍳3") == ["1 2 3"]
    enter("x ← 5000⍴0.5", "i ← ⍋x")
    assert enter("⊃i") == ["1"]
    assert enter("x[i[1]]") == ["0.5"]


def test_printed_text_may_be_named_once_it_is_ans(enter: Enter) -> None:
    assert enter("⍕5000⍴1.5")[0].startswith("1.5 1.5")


def test_forgetting(enter: Enter, workspace: Workspace) -> None:
    enter("a ← 1", "b ← 2")
    workspace.forget("a")
    assert "a" not in workspace.state.types and workspace.enter("a").exit is Exit.REJECTED
    assert enter("b") == ["2"]


def test_what_is_kept_as_what(enter: Enter, workspace: Workspace) -> None:
    enter("f ← {⍵}", "n ← 3", BIG, "y ← x")
    kinds = {name: type(item) for item in workspace.state.items for name in item.names}
    assert kinds == {"f": TextItem, "n": TextItem, "x": ValueItem, "y": ValueItem}
    assert workspace.state.bytes >= 40_000


def test_schedules_are_only_checked(enter: Enter, workspace: Workspace) -> None:
    enter(BIG)
    entered = workspace.enter("schedule { cpu { x } }")
    assert entered.exit is Exit.OK and "only checked" in entered.notes[0]
    wrong = workspace.enter("schedule { plce x on cpu ⋄ x before x ⋄ place q on cpu }")
    assert wrong.exit is Exit.REJECTED and [one.code for one in wrong.diagnostics] == ["SCH107", "SCH101", "SCH107"]
    enter("x2 ← x")


def test_kept_values_are_not_written_to(enter: Enter, workspace: Workspace) -> None:
    enter(BIG, "y ← x", "x[0]←9", "x +← 1")
    assert enter("(⊃x),⊃y") == ["10 1.5"]
    array = workspace.value("y")
    assert array is not None and float(array.sum()) == 7500.0


def test_what_stands_in_a_text_is_no_printing(enter: Enter) -> None:
    """A statement is kept without its printing; `⎕←` inside a text, or a name in a comment, is neither printing nor a need."""
    assert enter("s ← ⎕ ← '⎕←'", "f ← {s,⍵} ⍝ not of g", "g ← 3", "f 'x'") == ["⎕←x"]


@pytest.mark.parametrize(
    ("typed", "meant", "fixes"),
    [("totl", "total", 1), ("1+totl", "total", 1), ("y ← totl", "total", 1), ("bgi[2]", "big", 1), ("meen 1 2 3", "mean", 0),
     ("meen¨1 2 3", "mean", 1), ("stats.meen 1 2", "stats.mean", 0)],
)  # fmt: skip
def test_names_of_earlier_entries_are_offered(typed: str, meant: str, fixes: int) -> None:
    """An entry is checked after what it mentions, and what it misspells it does not mention."""
    workspace = Workspace(Session())
    for text in ("total ← 3", "big ← 5000⍴1.5", "mean ← {(+⌿⍵)÷≢⍵}", "use stats"):
        assert workspace.enter(text).exit is Exit.OK
    entered = workspace.enter(typed)
    (error,) = entered.diagnostics
    assert entered.exit is Exit.REJECTED and error.code.name == "E001" and f"did you mean `{meant}`?" in error.message
    assert len(error.fixes) == fixes and error.span.file == "<entry 5>"
    assert workspace.enter("total").exit is Exit.OK
