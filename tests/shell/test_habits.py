"""Habits from other languages: each names its Rho spelling, with a fix; nobody who writes APL is told anything."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray
from share import SEED, repeats

import rho
from rho.lang.diagnostics.model import Code, Diagnostic, Edit, Fix, Severity
from rho.lang.foreign import hints
from rho.lang.foreign.function_names import METHODS
from rho.lang.syntax.source import Source, Span
from rho.shell.console.apply_fixes import apply_safe_fixes
from rho.shell.main import main
from rho.shell.pipeline import Session

from .conftest import Rho

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "corpora" / "data"
BEFORE = "x ← 5 3 8 1 9\na ← 2 2⍴⍳4\nb ← 1=1\nn ← 2\n"

TOLD = (
    ("for i in range(3):", "{…}¨⍳3"), ("while x > 3:", "⍣"), ("while x", "⍣"), ("if x > 3:", "¿"), ("if x then 2", "¿"),
    ("else:", "¿"), ("def f(x):", "f ← {…⍵…}"), ("for i in range(3): print(i)", "{…⍵…}¨⍳3"), ("for i in x: n += i", "{…⍵…}¨x"),
    ("sum(a, 0)", "+/a"), ("a.sum(axis=2)", "+/x"), ("np.clip(x, 2)", "n⌊2⌈x"), ("np.linspace(0, 1)", "0+(1-0)×(⍳n)÷n-1"),
    ("round(x, 2)", "2 stats.round x"), ("min(3, 4, 1)", "⌊/3 4 1"), ("foo.min()", "⌊/x"),
    ("a(n,:)", "a[…;]"), ("a(1,2:)", "a[0;…]"), ("x≥2 && x<4", "(…)∧…"),
)  # fmt: skip
LEGAL = (
    ("x**2", "x*2"), ("1/3", "1÷3"), ("2*3+4", "(2×3)+4"), ("2 * 3 + 4", "(2 × 3) + 4"), ("x = 5", "x ← 5"), ("x <- 3", "x ← 3"),
    ("-1", "¯1"), ("-1 + 3", "¯1 + 3"), ("y ← -1", "y ← ¯1"), ("!b", "~b"), ("b || b", "b ∨ b"), ("a[0,1]", "a[0;1]"),
    ("x[0] = 5", "x[0] ← 5"), ("x/2", "x÷2"), ("⎕date 2026-02-20", "⎕date '2026-02-20'"),
    ("7≥i64 ⎕date 2026-02-20", "7≥i64 ⎕date '2026-02-20'"),
    ("1 / x", "1÷x"), ("8 / 4 / 2", "(8 ÷ 4) ÷ 2"), ("5 - 3 - 1", "(5 - 3) - 1"), ("x - 3 - n", "(x - 3) - n"),
    ("2 < x < 9", "(2<x)∧x<9"), ("9 > x > 2", "(9>x)∧x>2"), ("(x > 1) | (x < 7)", "(x > 1)∨(x < 7)"),
)  # fmt: skip


def notes_on(source: Source) -> tuple[Diagnostic, ...]:
    session = Session()
    return hints.lint_foreign_syntax(source, session.check(source).diagnostics, lambda text: session.check(text).diagnostics)


def repaired(text: str, found: Diagnostic) -> str:
    (fix,) = found.fixes
    for edit in sorted(fix.edits, key=lambda edit: -edit.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


RANKS = {"v": "3 1 2", "m": "2 2⍴3 1 0 5", "c": "2 2 2⍴⍳8"}
NUMPY: dict[str, Callable[[NDArray[np.int64]], object]] = {
    "{x}.sum()": np.sum, "np.sum({x})": np.sum, "np.prod({x})": np.prod, "np.max({x})": np.max, "{x}.min()": np.min,
    "np.mean({x})": np.mean, "np.argmax({x})": np.argmax, "np.argmin({x})": np.argmin, "np.cumsum({x})": np.cumsum,
    "np.argsort({x})": np.argsort, "{x}.T": np.transpose, "len({x})": len, "{x}.shape": np.shape, "np.ravel({x})": np.ravel,
    "{x}[-1]": lambda x: x[-1], "{x}[-2]": lambda x: x[-2], "{x}[::-1]": lambda x: x[::-1], "{x}[0:2]": lambda x: x[0:2],
    "{x}[1:]": lambda x: x[1:], "{x}[:-1]": lambda x: x[:-1], "{x}[-1:]": lambda x: x[-1:], "{x}[:1]": lambda x: x[:1],
    "np.diff({x})": np.diff, "np.max({x}*2+1)": lambda x: np.max(x * 2 + 1), "np.sum({x})+1": lambda x: np.sum(x) + 1,
    "({x} > 1).all()": lambda x: np.all(x > 1), "np.all({x})": np.all, "np.any({x})": np.any,
    "{x}>1 and {x}<4": lambda x: (x > 1) & (x < 4),
    "y = 2*{x}+1\ny": lambda x: 2 * x + 1, "y = {x}**2\ny": lambda x: x**2, "y = {x}-1-1\ny": lambda x: x - 1 - 1,
}


@pytest.mark.parametrize("typed", NUMPY)
@pytest.mark.parametrize("name", RANKS)
def test_a_fix_means_what_numpy_means_whatever_the_rank(name: str, typed: str) -> None:
    source = Source("<habit>", "".join(f"{one} ← {value}\n" for one, value in RANKS.items()) + typed.format(x=name) + "\n")
    session = Session()
    text = apply_safe_fixes(source, lambda text: session.check(text).diagnostics).source.text
    assert session.check(Source("<habit>", text)).accepted, text
    meant = NUMPY[typed](np.asarray(rho.eval(RANKS[name])))
    assert np.array_equal(np.asarray(rho.eval(text)), np.asarray(meant)), text


@pytest.mark.parametrize(("typed", "named"), TOLD)
def test_what_has_no_one_repair_is_told(typed: str, named: str) -> None:
    (found,) = [one for one in Session().check(Source("<habit>", BEFORE + typed + "\n")).diagnostics if one.is_error]
    assert named in found.message and found.fixes and not found.fixes[0].edits


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_tables_and_texts_name_the_library(method: str) -> None:
    """Also in a chain, where its end is what cannot be read; the functions that the hint names exist."""
    for typed in (f"x.{method}('k')", f"x['k'].{method}('k').sum()", f"y ← x.{method}(2).w.mean()", f"'a,b'.{method}('k')"):
        (said,) = [one for one in Session().check(Source("<test>", f"{BEFORE}{typed}")).diagnostics if one.is_error]
        assert said.message == METHODS[method], typed
    named = re.findall(r"\b(set|group|series|rolling|missing|stats|text|dates|table)\.([a-z_]+)", METHODS[method])
    for module, function in named:
        assert re.search(rf"^{function} ←", (ROOT / "stdlib" / f"{module}.rho").read_text(encoding="utf-8"), re.M), function
    assert {module for module, _ in named} == set(re.findall(r"`use (\w+)`", METHODS[method]))


def test_an_update_by_pairs_of_positions_names_a_form_that_works() -> None:
    before = "m ← 3 4⍴0 ⋄ rows ← 0 2 ⋄ columns ← 1 2 ⋄ v ← 5 6 ⋄ "
    (said,) = [one for one in Session().check(Source("<test>", f"{before}m[rows;columns] ← v")).diagnostics if one.is_error]
    (form,) = re.findall(r"index the ravel: `([^`]+)`", said.notes[0])
    assert rho.eval(before + form).tolist() == [[0, 5, 0, 0], [0, 0, 0, 0], [0, 0, 6, 0]]


@pytest.mark.parametrize(("typed", "meant"), LEGAL)
def test_a_legal_text_gets_a_note(typed: str, meant: str) -> None:
    source = Source("<habit>", BEFORE + typed + "\n")
    checked = Session().check(source)
    assert checked.accepted and not checked.diagnostics
    (note,) = notes_on(source)
    assert (note.code, note.severity) == ("N001", Severity.NOTE)
    text = repaired(source.text, note)
    assert text == BEFORE + meant + "\n" and Session().check(Source("<habit>", text)).accepted


def test_eval_says_the_note_and_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "2*3+4"]) == 0
    said = capsys.readouterr()
    assert said.out == "128\n" and "note[N001]" in said.err and "(2×3)+4" in said.err


def test_check_says_the_note_and_run_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.rho").write_text("2*3+4\n", encoding="utf-8")
    assert main(["run", str(tmp_path / "p.rho")]) == 0
    said = capsys.readouterr()
    assert said.out == "128\n" and "N001" not in said.err
    assert main(["check", str(tmp_path / "p.rho")]) == 0
    said = capsys.readouterr()
    assert "note[N001]" in said.out and "1 note in 1 file" in said.err


def test_a_session_says_the_note(capsys: pytest.CaptureFixture[str]) -> None:
    from rho.shell.workspace.workspace import Workspace

    workspace = Workspace(Session())
    assert workspace.enter("x ← 2 3 4").diagnostics == ()
    (note,) = workspace.enter("x**2").diagnostics
    assert note.code == "N001" and note.span.file == "<entry 2>"
    (error,) = workspace.enter("sum(x)").diagnostics
    assert "+/,x" in error.message and repaired("sum(x)", error) == "+/,x"


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


@pytest.mark.long
def test_no_recorded_apl_gets_a_note_or_an_explanation() -> None:
    told = []
    session = Session()
    for name, text in texts():
        source = Source("<apl>", text)
        told += [(name, one.message) for one in notes_on(source)]
        if name.startswith("apl"):  # each line a program of its own; those that Rho refuses are refused in its own words
            checked = session.check(source)
            told += [(name, one.message) for one in checked.diagnostics if "write `" in one.message and one.fixes]
    assert told == []


def test_what_is_quoted_or_remarked_is_nobodys_habit() -> None:
    assert notes_on(Source("<t>", "a ← 'it''s # no remark' ⋄ b ← \"2*3+4\" ⍝ -1\n")) == ()


MIXED = "x = [1,2,3]\ny = x**2\nprint(sum(y))\nlen(x)\nx[-1]\nx[0:2]\n10 % 3\n"


def test_fixes_of_what_fixes_uncover_are_applied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.rho"
    file.write_text(MIXED, encoding="utf-8")
    assert main(["check", "--fix", str(file)]) == 0
    assert capsys.readouterr().out == ""
    assert main(["run", str(file)]) == 0
    assert capsys.readouterr().out.split("\n") == ["14", "3", "3", "1 2", "1", ""]


def diagnosed(*words: str, text: str = "") -> list[Diagnostic]:
    span = Span("p.rho", 0, 1)
    fixes = (Fix(f"write `{text}`", (Edit(span, text),)),) if text else ()
    return [Diagnostic(Code.E001, word, span, fixes=fixes) for word in words]


def test_what_a_fix_uncovers_is_counted_after_its_own_fixes() -> None:
    found = {"a": diagnosed("first", text="b"), "b": diagnosed("second", "third", text="c"), "c": []}
    after = apply_safe_fixes(Source("p.rho", "a"), lambda source: found[source.text])
    assert (after.source.text, after.count, after.refused) == ("c", 2, ())


def test_a_fix_that_is_not_applied_is_named_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {"a": diagnosed("first", text="b"), "b": diagnosed("second", "third")}
    after = apply_safe_fixes(Source("p.rho", "a"), lambda source: found[source.text])
    assert (after.source.text, after.count) == ("a", 0)
    (refused,) = after.refused
    assert (refused.diagnostic.message, refused.errors) == ("first", 2) and refused.first == found["b"][0]
    monkeypatch.setattr("rho.shell.verbs.check.apply_safe_fixes", lambda source, check: after)
    (tmp_path / "p.rho").write_text("a", encoding="utf-8")
    main(["check", "--fix", str(tmp_path / "p.rho")])
    said = capsys.readouterr().err
    assert "not applied at p.rho:1:1: write `b`; with it there would be 2 errors, such as E001: second" in said


def test_what_a_key_cannot_reduce_by_a_loop_can(rho: Rho, tmp_path: Path) -> None:
    """The loop that E620 proposes is right as it stands."""
    head = "i ← 0 1 0 2 1\nv ← 1 2 3 4 5\nk ← 3\nf ← {⍵+2×⍺}\n"
    (tmp_path / "key.rho").write_text(head + "k f⌸(i⋄v)\n", encoding="utf-8")
    refused = rho("check", str(tmp_path / "key.rho"))
    assert refused.code == 3 and "E620" in refused.out
    loop = refused.out.partition("write a loop: `")[2].partition("`\n")[0]
    (tmp_path / "loop.rho").write_text(head + loop + "\n", encoding="utf-8")
    assert rho("run", str(tmp_path / "loop.rho")).out.split() == ["5", "9", "4"]


COMPARED = ("x", "n", "n+1", "2*n", "x[1]", "(n)")
PARTS = ("x", "n", "m", "2", "10", "1.5", "x[0]", "(n+1)", "a[0,1]", "x[0,1]", "!n", "!b", "-3")
SIGNS = ("+", "-", "*", "/", "**", "<", ">", "=", "==", "|", "||")
STATEMENTS = ("{0}", "y ← {0}", "y <- {0}", "n = {0}", "x[0] = {0}", "f ← {{n ← ⍵ ⋄ n={0} : 0 ⋄ n}}",
              "{{n ← ⍵ ⋄ n = {0} : 0 ⋄ n}} 3", "g ← {{\n  n ← ⍵\n  n = {0} : 0\n  n\n}}\ng 3")  # fmt: skip


def test_the_fix_of_a_note_is_accepted_and_gets_no_note() -> None:
    random = Random(SEED)
    session = Session()
    count = 0
    for _ in range(repeats(400)):
        blank = random.choice(("", " "))
        parts = [random.choice(PARTS) for _ in range(random.randint(1, 4))]
        value = parts[0] + "".join(f"{blank}{random.choice(SIGNS)}{blank}{part}" for part in parts[1:])
        source = Source("<t>", BEFORE + "m ← 7\n" + random.choice(STATEMENTS).format(value) + "\n")
        before = sum(one.is_error for one in session.check(source).diagnostics)
        for note in notes_on(source):
            after = Source("<t>", repaired(source.text, note))
            count += 1
            assert sum(one.is_error for one in session.check(after).diagnostics) <= before, (source.text, after.text)
            edit = note.fixes[0].edits[0]
            end = edit.span.start + len(edit.text)
            assert not [one for one in notes_on(after) if edit.span.start <= one.span.start < end], (source.text, after.text)
    assert count


@pytest.mark.parametrize("value", COMPARED)
@pytest.mark.parametrize("target", ("x", "n", "x[0]", "b"))
def test_a_comparison_that_a_fix_wrote_is_not_offered_as_an_assignment(target: str, value: str) -> None:
    source = Source("<t>", f"{BEFORE}{target} == {value}\n")
    session = Session()
    after = apply_safe_fixes(source, lambda text: session.check(text).diagnostics).source
    assert "==" not in after.text and session.check(after).accepted
    assert not [note.message for note in notes_on(after) if "←" in note.message]
    assert apply_safe_fixes(after, lambda text: session.check(text).diagnostics).source == after


@pytest.mark.parametrize("guard", ("n=1 : 0", "n = 1 : 0", "n = (1+1) : 0", "n = x[0] : 0", "n = f 1 : 0", "z = 1 : 0"))
@pytest.mark.parametrize("shape", ("f ← {{n ← ⍵ ⋄ {} ⋄ n+1}}", "{{n ← ⍵ ⋄ {} ⋄ n+1}} 2", "f ← {{\n  n ← ⍵\n  {}\n  n\n}}"))
def test_a_guard_is_no_assignment(guard: str, shape: str) -> None:
    source = Source("<t>", f"x ← 2 3\n{shape.format(guard)}\n")
    said = (*Session().check(source).diagnostics, *notes_on(source))
    assert not [one.message for one in said if "gets a value by" in one.message]


def test_fixes_that_change_results_are_left_and_counted(rho: Rho, tmp_path: Path) -> None:
    file = tmp_path / "p.rho"
    file.write_text("x ← 3\nx == 4\n2*3+4\n", encoding="utf-8")
    said = rho("check", "--fix", str(file))
    assert file.read_text(encoding="utf-8") == "x ← 3\nx=4\n2*3+4\n"
    assert "1 fix applied" in said.err and "the fix of 1 note (N001)" in said.err and "not applied" in said.err
    said = rho("check", "--diff", str(file))
    assert said.code == 0 and said.out == "" and "not applied" in said.err
