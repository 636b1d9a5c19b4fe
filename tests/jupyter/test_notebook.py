"""What cells do, without a kernel: nothing here needs Jupyter."""

from __future__ import annotations

from pathlib import Path

import pytest

from rho.shell.jupyter.notebook import CellResult, CellText, CellValue, Notebook
from rho.shell.plotting import figures

pytestmark = pytest.mark.long


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Notebook:
    monkeypatch.chdir(tmp_path)
    return Notebook()


def texts(cell: CellResult) -> list[str]:
    assert cell.failure is None, cell.failure
    return [output.text if isinstance(output, CellText) else output.data["text/plain"] for output in cell.outputs]


def test_several_statements_assignments_silent_values_typed(notebook: Notebook) -> None:
    cell = notebook.execute("x ← 2 3⍴⍳6\n⎕←'so far'\nx+1\n+/x")
    assert texts(cell) == ["char[6]\nso far", "i64[2 3]\n1 2 3\n4 5 6", "i64[2]\n3 12"]
    assert [output.result for output in cell.outputs if isinstance(output, CellValue)] == [False, False, True]
    assert texts(notebook.execute("y ← x×2")) == []
    assert texts(notebook.execute("⊃+/+/y")) == ["30"]


def test_a_matrix_is_a_table_too(notebook: Notebook) -> None:
    (output,) = notebook.execute("2 2⍴1.5 ¯2 3 4").outputs
    assert isinstance(output, CellValue)
    html = output.data["text/html"]
    assert html.count("<tr>") == 2 and html.count("<td") == 4 and ">¯2</td>" in html and "f64[2 2]</caption>" in html
    (output,) = notebook.execute("⍳40 50").outputs
    assert isinstance(output, CellValue) and set(output.data) == {"text/plain"}
    (output,) = notebook.execute("40 50⍴⍳2000").outputs
    assert isinstance(output, CellValue) and output.data["text/html"].count("<tr>") == 7 and "⋮" in output.data["text/html"]
    assert "text/html" not in notebook.execute("2 3⍴'abcdef'").outputs[0].data  # type: ignore[union-attr]
    notebook.execute("idx ← 2 2⍴⍳2")
    assert "idx&lt;2&gt;[2 2]" in notebook.execute("idx").outputs[0].data["text/html"]  # type: ignore[union-attr]


def test_messages(notebook: Notebook) -> None:
    notebook.execute("x ← 1 2 3")
    cell = notebook.execute("y ← 1\nx+1 2")
    assert cell.failure is not None and cell.failure.name == "E101"
    assert "<cell 2>:2" in cell.failure.plain and "\x1b" not in cell.failure.plain
    assert any("\x1b[" in line for line in cell.failure.lines)
    assert "y" not in notebook.workspace.state.types


def test_warnings_do_not_stop_a_cell(notebook: Notebook) -> None:
    cell = notebook.execute("f ← {a ← ⍵ ⋄ b ← 3 ⋄ a}\nf 2")
    assert cell.failure is None


def test_commands_between_statements(notebook: Notebook) -> None:
    assert texts(notebook.execute("x ← ⍳3\n)type x\nx")) == ["idx<3>[3]\n", "idx<3>[3]\n0 1 2"]
    assert "⍋" in texts(notebook.execute(")search argsort"))[0]
    cell = notebook.execute(")nosuch\nx")
    assert cell.failure is not None and "unknown command" in cell.failure.message and cell.outputs == []
    assert texts(notebook.execute(")set digits 3\n÷3")) == ["0.333"]


def test_brackets_that_begin_a_line_are_no_commands(notebook: Notebook) -> None:
    assert texts(notebook.execute("(a b) ← (1\n2\n)\na")) == ["1"]


def test_plots(notebook: Notebook) -> None:
    (output,) = notebook.execute(")plot 1○(⍳50)÷5").outputs
    assert isinstance(output, CellValue) and "┤" in output.data["text/plain"]
    assert ("image/png" in output.data) is figures.has_matplotlib()
    cell = notebook.execute(")plot 3")
    assert cell.failure is not None and "a scalar is not drawn" in cell.failure.message


def test_a_bug_is_a_failure_of_its_cell(notebook: Notebook, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(text: str, name: str) -> None:
        raise ValueError("no")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(notebook.workspace, "evaluate", broken)
    cell = notebook.execute("1+1")
    assert cell.failure is not None and "a bug in Rho" in cell.failure.message
    assert "1+1" in next(tmp_path.glob("rho-bug-*")).read_text(encoding="utf-8")


def test_an_interrupt_leaves_the_session(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook.execute("x ← 3")
    state = notebook.workspace.state

    def interrupted(work: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rho.shell.jupyter.notebook.interruptible", interrupted)
    cell = notebook.execute("x ← 4")
    assert cell.failure is not None and cell.failure.name == "KeyboardInterrupt"
    assert notebook.workspace.state is state


@pytest.mark.parametrize(
    ("code", "wanted", "start"),
    [("`iot", "⍳", 0), ("1+`i", "⍳", 2), ("`[", "←", 0), ("x ← me", "mean", 4), ("iota", "⍳", 0), (")ty", ")type", 0),
    ("use st", "stats", 4),
     ("stats.med", "median", 6), ("⎕ff", "⎕fft", 0)],
)  # fmt: skip
def test_completion(notebook: Notebook, code: str, wanted: str, start: int) -> None:
    notebook.execute("mean ← {(+⌿⍵)÷≢⍵}\nuse stats")
    found = notebook.complete(code, len(code))
    assert wanted in [text for text, _ in found.matches]
    assert (found.start, found.end) == (start, len(code))


@pytest.mark.parametrize(
    ("code", "cursor", "said"),
    [("mean x", 2, "mean : 1 f64[n] → f64"), ("x+1", 0, "x : f64[3]"), ("+⌿x", 1, "reduce first"), ("`iota 3", 2, "iota"),
     ("stats.median x", 9, "the middle value"), ("⎕fft x", 1, "Fourier"), ("1\n⍋x", 2, "grade up")],
)  # fmt: skip
def test_inspection(notebook: Notebook, code: str, cursor: int, said: str) -> None:
    notebook.execute("mean ← {(+⌿⍵)÷≢⍵}\nx ← 1.5 2 3\nuse stats")
    page = notebook.inspect(code, cursor)
    assert page is not None and said in page["text/plain"] and page["text/markdown"]
    assert notebook.inspect("12", 1) is None and notebook.inspect("", 0) is None


@pytest.mark.parametrize(
    ("code", "wanted"),
    [("1+1", ("complete", "")), ("f ← {", ("incomplete", "  ")), ("f ← {\n  ⍵+(", ("incomplete", "    ")), (")type x",
    ("complete", "")),
     ("mean : f64[n] → f64", ("incomplete", "")), ("", ("complete", "")), ("1+", ("complete", ""))],
)  # fmt: skip
def test_is_complete(notebook: Notebook, code: str, wanted: tuple[str, str]) -> None:
    assert notebook.is_complete(code) == wanted
