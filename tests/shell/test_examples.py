"""Extracting documented examples from Markdown and `.rho` files."""

from __future__ import annotations

from rho.shell.execution.examples import (
    Claim,
    EqualCase,
    ExpressionCase,
    ProgramCase,
    Step,
    markdown_cases,
    rho_cases,
    without_last_statement,
)


def test_a_block_is_cut_at_its_claims() -> None:
    text = "# T\n\n```rho\nx ← 1 2\nx\n⍝ → 1 2\nx + 1 2 3\n⍝ error: E101 line up\n+/x\n⍝ → 3\n```\n"
    assert list(markdown_cases(text)) == [
        ProgramCase(
            4,
            (
                Step(6, "x ← 1 2\nx", Claim.PRINTS, ("1 2",)),
                Step(8, "x + 1 2 3", Claim.ERROR, ("E101 line up",)),
                Step(10, "+/x", Claim.PRINTS, ("3",)),
            ),
        )
    ]


def test_only_the_last_statement_is_expected_to_fail() -> None:
    text = "```rho\nf ← {\n  ⍵+1\n}\nf {\n  ⍵\n}\n⍝ error: E134\n```\n"
    (case,) = markdown_cases(text)
    assert isinstance(case, ProgramCase)
    assert [step.text for step in case.steps] == ["f ← {\n  ⍵+1\n}\nf {\n  ⍵\n}"]
    assert without_last_statement(case.steps[0].text) == "f ← {\n  ⍵+1\n}"
    assert not case.runs


def test_blocks_continue_and_skip() -> None:
    text = "```rho\nx ← 1\n```\n\n```python\nx = 2\n```\n```rho skip\n)(\n```\n~~~rho continued\nx\n⍝ → 1\n~~~\n"
    (case,) = markdown_cases(text)
    assert isinstance(case, ProgramCase)
    assert case.steps[-1].line == 13
    assert case.steps[-1].expected == ("1",)


def test_equal_lines_see_the_definitions_above() -> None:
    text = "```rho\nf ← {⍵+1}\n3 ⇐ f 2\nE101 ⇐ 1 2+1 2 3\n```\n"
    first, second, check = markdown_cases(text)
    assert first == EqualCase(3, "f ← {⍵+1}", "3", "f 2")
    assert isinstance(second, EqualCase) and second.code == "E101"
    assert isinstance(check, ProgramCase) and not check.runs


def test_a_session_is_typed_and_printed() -> None:
    text = "```rho\n      x ← ⍳3\n      x\n0 1 2\n      2 2⍴1\n1 1\n1 1\n\n```\n"
    (case,) = markdown_cases(text)
    assert isinstance(case, ProgramCase)
    assert case.steps == (
        Step(4, "x ← ⍳3\nx", Claim.PRINTS, ("0 1 2",)),
        Step(6, "2 2⍴1", Claim.PRINTS, ("1 1", "1 1")),
    )


def test_examples_above_definitions() -> None:
    text = "⍝ The mean.\n⍝ >>> mean 1 2 3\n⍝ 2\n⍝ >>> mean 2 2⍴1\n⍝ 1 1\nmean ← {(+⌿⍵)÷≢⍵}\n"
    program, first, second = rho_cases(text)
    assert isinstance(program, ProgramCase) and not program.runs
    assert first == ExpressionCase(2, "mean 1 2 3", ("2",))
    assert second == ExpressionCase(4, "mean 2 2⍴1", ("1 1",))


def test_a_file_of_comments_has_no_program() -> None:
    assert list(rho_cases("⍝ nothing here\n\n")) == []
