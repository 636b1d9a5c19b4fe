"""Claims about programs in Markdown and `.rho` files: what they are, those that hold and those that do not."""

from __future__ import annotations

import pytest

from rho.shell.execution.doctest import DoctestRunner
from rho.shell.execution.doctest_parser import (
    ClaimKind,
    DoctestClaim,
    DoctestStep,
    ExpressionCase,
    LineCase,
    ProgramCase,
    markdown_cases,
    rho_cases,
    without_last_statement,
)


def said(*claims: tuple[int, ClaimKind, str]) -> tuple[DoctestClaim, ...]:
    return tuple(DoctestClaim(*claim) for claim in claims)


def test_a_block_is_cut_at_its_claims() -> None:
    text = "# T\n\n```rho\nx ← 1 2\nx\n⍝ → 1 2\nx + 1 2 3\n⍝ error: E101 line up\n⍝ note: 2 = 3\n+/x\n⍝ → 3\n```\n"
    assert list(markdown_cases(text)) == [
        ProgramCase(
            4,
            (
                DoctestStep(4, "x ← 1 2\nx", said((6, ClaimKind.PRINTS, "1 2"))),
                DoctestStep(7, "x + 1 2 3", said((8, ClaimKind.ERROR, "E101 line up"), (9, ClaimKind.NOTE, "2 = 3"))),
                DoctestStep(10, "+/x", said((11, ClaimKind.PRINTS, "3"))),
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
    assert case.steps[-1].claims == said((13, ClaimKind.PRINTS, "1"))


def test_lines_that_claim_see_the_definitions_above() -> None:
    text = "```rho\nf ← {⍵+1}\n3 ⇐ f 2\nE101 ⇐ 1 2+1 2 3\ntype: i64, plan n=9: a, b, note: c ⇐ f 3\n```\n"
    first, second, third, check = markdown_cases(text)
    assert first == LineCase("f ← {⍵+1}", DoctestStep(3, "f 2", said((3, ClaimKind.EQUALS, "3"))))
    assert isinstance(second, LineCase) and second.step.claims == said((4, ClaimKind.ERROR, "E101"))
    assert isinstance(third, LineCase) and third.step.claims == (
        DoctestClaim(5, ClaimKind.TYPE, "i64"), DoctestClaim(5, ClaimKind.PLAN, "a, b", (("n", 9),)),
        DoctestClaim(5, ClaimKind.NOTE, "c"),
    )  # fmt: skip
    assert isinstance(check, ProgramCase) and not check.runs


WRONG = {
    "⍝ → 3": "expected\n  3",
    "⍝ type: i64[2]": "the type is i64[3]",
    "⍝ error: E101": "accepted",
    "⍝ warning: W201": "no message",
    "⍝ note: words": "no message is claimed",
    "⍝ fix: x": "no message is claimed",
    "⍝ reads: x 2": "what is read is x 1",
    "⍝ plan: gpu9": "no line of the plan",
    "⍝ plan n=3: error": "no line of the plan",
}


@pytest.mark.parametrize("claim", WRONG)
def test_a_wrong_claim_says_what_is_so(claim: str) -> None:
    text = f"```rho\nx ← 1 2 3\nx\n⍝ type: i64[3]\n{claim}\n```\n"
    (case,) = markdown_cases(text)
    (failure,) = DoctestRunner("claims.md").case(case, text)
    assert failure.line == 5 and WRONG[claim] in failure.message


WARNED = "input x : f64[n]\ninput y : f64[m]\nx+y\n⍝ warning: W201 n and m at `+`\n"
REFUSED = "1 2+1 2 3\n⍝ error: E101 line up at `+`\n"
HELD = (
    WARNED + "⍝ note: n=0, m=1\n⍝ note: needed: n = m\n⍝ fix: input y : f64[m] where n = m\n⍝ type: f64[n]",
    WARNED + "⍝ fix: input … where n = m",
    REFUSED + "⍝ note: needed: 2 = 3\n⍝ note: i64[2]",
    "x ← 3\n+/⍳x\n⍝ reads: \n⍝ plan: print",
    "input x : f64[n]\n+/x\n⍝ plan n=9: 72 B",
    "input x : f64[n]\nx∘.×x\n⍝ reads: x 2×n",
    "input x : f64[n m]\n8 _⍴x\n⍝ plan n=3 m=3: error[E701]",
)
BROKEN = (
    (WARNED.replace("n and m", "n or m"), "W201 n or m at `+` is expected"),
    (WARNED.replace("`+`", "`x`"), "W201 n and m at `x` is expected"),
    (WARNED.replace("warning: W201 n and m at `+`", "type: f64[n]"), "no claim names\nwarning[W201]"),
    (WARNED + "⍝ fix: x", "no fix makes this line"),
    (WARNED.replace("warning", "error"), "accepted"),
    (REFUSED + "⍝ note: 1 2+1 2 3", "is not in the notes of"),
    ("q\n3¨4\n⍝ error: E001 at `q`", "no claim names\nerror[E008]"),
    ("1 2+1 2 3\n⍝ error:", "is expected"),
)


@pytest.mark.parametrize("program", HELD)
def test_claims_that_hold(program: str) -> None:
    text = f"```rho\n{program}\n```\n"
    assert [DoctestRunner("claims.md").case(case, text) for case in markdown_cases(text)] == [[]]


@pytest.mark.parametrize(("program", "wrong"), BROKEN)
def test_claims_of_messages_that_do_not_hold(program: str, wrong: str) -> None:
    text = f"```rho\n{program}\n```\n"
    (case,) = markdown_cases(text)
    failures = DoctestRunner("claims.md").case(case, text)
    assert failures and wrong in failures[0].message


def test_a_line_has_its_value_in_its_shape() -> None:
    text = "```rho\n3 ⇐ ,3\n```\n"
    (failure,) = [failure for case in markdown_cases(text) for failure in DoctestRunner("claims.md").case(case, text)]
    assert failure.message == "prints 3 of shape 1, not 3 of shape ⍬"


def test_a_session_is_typed_and_printed() -> None:
    text = "```rho\n      x ← ⍳3\n      x\n0 1 2\n      2 2⍴1\n1 1\n1 1\n\n```\n"
    (case,) = markdown_cases(text)
    assert isinstance(case, ProgramCase)
    assert case.steps == (
        DoctestStep(4, "x ← ⍳3\nx", said((4, ClaimKind.PRINTS, "0 1 2"))),
        DoctestStep(6, "2 2⍴1", said((6, ClaimKind.PRINTS, "1 1"), (6, ClaimKind.PRINTS, "1 1"))),
    )


def test_examples_above_definitions() -> None:
    text = "⍝ The mean.\n⍝ >>> mean 1 2 3\n⍝ 2\n⍝ >>> mean 2 2⍴1\n⍝ 1 1\nmean ← {(+⌿⍵)÷≢⍵}\n"
    program, first, second = rho_cases(text)
    assert isinstance(program, ProgramCase) and not program.runs
    assert first == ExpressionCase(2, "mean 1 2 3", ("2",))
    assert second == ExpressionCase(4, "mean 2 2⍴1", ("1 1",))


def test_a_file_of_comments_has_no_program() -> None:
    assert list(rho_cases("⍝ nothing here\n\n")) == []
