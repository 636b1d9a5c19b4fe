"""Habits from other languages: each names its Rho spelling, with a fix; nobody who writes APL is told anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rho.lang import habits
from rho.lang.diagnostics import Diagnostic, Severity
from rho.lang.source import Source
from rho.shell.main import main
from rho.shell.session import Session

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "corpora" / "data"
BEFORE = "x ← 5 3 8 1 9\na ← 2 2⍴⍳4\nb ← 1=1\nn ← 2\n"

WRONG = (
    ("y = 5", "y ← 5"), ("y <- 3", "y ← 3"), ("y := 3", "y ← 3"), ("x += 1", "x +← 1"), ("x -= 1", "x -← 1"),
    ("x *= 2", "x ×← 2"),
    ("x++", "x +← 1"), ("x == 5", "x = 5"), ("1 != 2", "1 ≠ 2"), ("x <= 3", "x ≤ 3"), ("b && b", "b ∧ b"), ("7 % 2", "2|7"),
    ("x ^ 2", "x*2"), ("a @ a", "a+.×a"), ("a@a", "a+.×a"), ("7 // 2", "⌊7÷2"),
    ("# a remark, don't read", "⍝ a remark, don't read"),
    ("1+1 # two", "1+1 ⍝ two"), ("x[1:3]", "x[1+⍳2]"), ("x[:3]", "3↑x"), ("x[2:]", "2↓x"), ("x[1:n]", "x[1+⍳n-1]"),
    ("x[::-1]", "⌽x"), ("x[-1]", "⊃⌽x"), ("x[-2]", "x[(≢x)-2]"), ("x.shape", "⍴x"), ("x.T", "⍉x"), ("x.sum()", "+/x"),
    ("len(x)", "≢x"), ("[1, 2, 3]", "1 2 3"), ("[1, -2]", "1 ¯2"), ("[[1, 2], [3, 4]]", "[1 2 ⋄ 3 4]"), ("True", "1"),
    ("False", "0"), ("None", "⎕nan"), ("sum(x)", "+/x"), ("sum(x) + 1", "(+/x) + 1"), ("sum x", "+/x"), ("mean(x)", "(+⌿÷≢)x"),
    ("mean x", "(+⌿÷≢)x"), ("max(x)", "⌈/x"), ("arange(5)", "⍳5"), ("np.arange(5)", "⍳5"), ("np.sqrt(x)", "√x"),
    ("print(3)", "⎕←3"), ('print("hi")', '⎕←"hi"'), ("pi", "○1"), ("np.pi", "○1"), ("inf", "∞"), ("0x10", "16"),
    ('"a" + "b"', '"a","b"'), ("for i in range(3): i*2", "{⍵*2}¨⍳3"), ("if b then 1 else 2", "(b) ¿ (1 ⋄ 2)"),
    ("1 if b else 2", "(b) ¿ (1 ⋄ 2)"), ("def f(y): return y+1", "f ← {⍵+1}"), ("f ← lambda y: y+1", "f ← {⍵+1}"),
    ("g ← lambda y, z: y-z", "g ← {⍺-⍵}"), ("import numpy as np", ""), ("from numpy import pi", ""),
)  # fmt: skip
TOLD = (
    ("for i in range(3):", "{…}¨⍳3"), ("while x > 3:", "⍣"), ("while x", "⍣"), ("if x > 3:", "¿"), ("if x then 2", "¿"),
    ("else:", "¿"), ("def f(x):", "f ← {…⍵…}"),
)  # fmt: skip
LEGAL = (
    ("x**2", "x*2"), ("1/3", "1÷3"), ("2*3+4", "(2×3)+4"), ("2 * 3 + 4", "(2 × 3) + 4"), ("x = 5", "x ← 5"), ("x <- 3", "x ← 3"),
    ("-1", "¯1"), ("-1 + 3", "¯1 + 3"), ("y ← -1", "y ← ¯1"), ("!b", "~b"), ("b || b", "b ∨ b"),
)  # fmt: skip


def repaired(text: str, found: Diagnostic) -> str:
    (fix,) = found.fixes
    for edit in sorted(fix.edits, key=lambda edit: -edit.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


@pytest.mark.parametrize(("typed", "meant"), WRONG)
def test_an_error_names_the_spelling_and_its_fix_is_accepted(typed: str, meant: str) -> None:
    source = Source("<habit>", BEFORE + typed + "\n")
    (found,) = [one for one in Session().check(source).diagnostics if one.is_error]
    text = repaired(source.text, found)
    assert text == BEFORE + meant + "\n"
    assert Session().check(Source("<habit>", text)).accepted
    shown = found.fixes[0].edits[0].text.strip()
    assert f"`{shown}`" in found.message or (not shown and "leave it out" in found.message)


@pytest.mark.parametrize(("typed", "named"), TOLD)
def test_what_has_no_one_repair_is_told(typed: str, named: str) -> None:
    (found,) = [one for one in Session().check(Source("<habit>", BEFORE + typed + "\n")).diagnostics if one.is_error]
    assert named in found.message and found.fixes and not found.fixes[0].edits


@pytest.mark.parametrize(("typed", "meant"), LEGAL)
def test_a_legal_text_gets_a_note(typed: str, meant: str) -> None:
    source = Source("<habit>", BEFORE + typed + "\n")
    checked = Session().check(source)
    assert checked.accepted and not checked.diagnostics
    (note,) = habits.notes(source)
    assert (note.code, note.severity) == ("N001", Severity.NOTE)
    text = repaired(source.text, note)
    assert text == BEFORE + meant + "\n" and Session().check(Source("<habit>", text)).accepted


def test_eval_says_the_note_and_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "2*3+4"]) == 0
    said = capsys.readouterr()
    assert said.out == "128\n" and "note[N001]" in said.err and "(2×3)+4" in said.err


def test_run_and_check_say_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.rho").write_text("2*3+4\n", encoding="utf-8")
    assert main(["run", str(tmp_path / "p.rho")]) == 0 and main(["check", str(tmp_path / "p.rho")]) == 0
    said = capsys.readouterr()
    assert said.out == "128\n" and "N001" not in said.err


def test_a_session_says_the_note(capsys: pytest.CaptureFixture[str]) -> None:
    from rho.shell.workspace.workspace import Workspace

    workspace = Workspace(Session())
    assert workspace.enter("x ← 2 3 4").diagnostics == ()
    (note,) = workspace.enter("x**2").diagnostics
    assert note.code == "N001" and note.span.file == "<entry 2>"
    (error,) = workspace.enter("sum(x)").diagnostics
    assert "+/x" in error.message and repaired("sum(x)", error) == "+/x"


def test_other_errors_keep_their_words() -> None:
    texts = {
        "sum ← {⍺+⍵}\n1 2 sum(1 2 3)": "E101", "total ← 1\n+/totl": "`totl` has no value here",
        "x ← ⍳4\nx[7]": "out of range: positions", "sum ← {+/⍵}\nsum(y)": "`y` has no value", "1 2 3@4 5 6": "E134",
    }
    for text, words in texts.items():
        told = Session().check(Source("<t>", text)).diagnostics
        assert any(words in f"{one.code} {one.message}" for one in told), (text, told)
        assert not any("write `" in one.message for one in told), told


def texts() -> Iterator[tuple[str, str]]:
    for name in ("apl_expressions.jsonl", "apl_idioms.jsonl"):
        for number, line in enumerate((DATA / name).read_text(encoding="utf-8").splitlines()):
            row = json.loads(line)
            yield f"{name}:{number}", row.get("expr") or row["program"]
    for folder, ending in ((DATA / "apl_programs", "*.apl"), (ROOT / "examples", "**/*.rho"), (ROOT / "stdlib", "**/*.rho")):
        for path in sorted(folder.glob(ending)):
            yield str(path), path.read_text(encoding="utf-8")


def test_no_recorded_apl_gets_a_note_or_an_explanation() -> None:
    told = []
    session = Session()
    for name, text in texts():
        source = Source("<apl>", text)
        told += [(name, one.message) for one in habits.notes(source)]
        if name.startswith("apl"):  # each line a program of its own; those that Rho refuses are refused in its own words
            checked = session.check(source)
            told += [(name, one.message) for one in checked.diagnostics if "write `" in one.message and one.fixes]
    assert told == []


def test_what_is_quoted_or_remarked_is_nobodys_habit() -> None:
    assert habits.notes(Source("<t>", "a ← 'it''s # no remark' ⋄ b ← \"2*3+4\" ⍝ -1\n")) == ()
