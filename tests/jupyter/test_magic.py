"""`%load_ext rho` in a Python notebook, run headless."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

SECONDS = 60


@pytest.fixture(scope="module")
def run(jupyter: Path) -> Iterator[Any]:
    """Runs cells in one Python kernel; a cell's outputs."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook()
    client = NotebookClient(notebook, kernel_name="python3", timeout=SECONDS, allow_errors=True)

    def execute(text: str) -> list[Any]:
        notebook.cells.append(nbformat.v4.new_code_cell(text))
        at = len(notebook.cells) - 1
        found: list[Any] = client.execute_cell(notebook.cells[at], at)["outputs"]
        return found

    with client.setup_kernel():
        execute("import numpy as np")
        assert execute("%load_ext rho") == []
        yield execute


def value(outputs: list[Any]) -> str:
    assert len(outputs) == 1 and "data" in outputs[0], outputs
    return str(outputs[0]["data"]["text/plain"])


def test_a_line_gives_its_value_to_python(run: Any) -> None:
    assert value(run("%rho +/⍳10")) == "45"
    assert run("mean = %rho {(+/⍵)÷≢⍵} 1 2 6") == []
    assert value(run("mean, type(mean)")) == "(3.0, float)"
    assert value(run("%rho ⌽'abc'")) == "'cba'"


def test_values_go_in_and_out_by_name(run: Any) -> None:
    run("xs = np.array([[5.0, 1.0], [2.0, 4.0]]); n = 3; word = 'text'")
    shown = run("%%rho -i xs,n -i word -o labels,pair,scaled\nlabels ← {⊃⍋⍵}⍤1 ⊢ xs\npair ← (n ⋄ word)\nscaled ← n×xs\n⌽word")
    assert "txet" in value(shown)
    assert value(run("labels.tolist(), pair, scaled.tolist()")) == "([1, 0], (3, 'text'), [[15.0, 3.0], [6.0, 12.0]])"


def test_values_are_copies(run: Any) -> None:
    run("a = np.arange(3.0)")
    run("%%rho -i a -o b\nb ← a")
    run("a[0] = 9; b[1] = 9")
    assert value(run("%rho a")) == value(run("np.arange(3.0)")) == value(run("%rho b"))


def test_the_session_lives_on_until_a_new_one(run: Any) -> None:
    run("%%rho\nkept ← 4")
    assert value(run("%rho kept+1")) == "5"
    assert run("%%rho --new\nkept")[0]["ename"] == "RhoFailed"


def test_errors_show_diagnostics_and_no_python(run: Any) -> None:
    (shown,) = run("%%rho\n1 2+1 2 3")
    text = "\n".join(shown["traceback"])
    assert "E101" in text and "do not line up" in text and "Traceback" not in text and ".py" not in text
    (shown,) = run("%rho 1 2+1 2 3")
    assert "E101" in "\n".join(shown["traceback"])


@pytest.mark.parametrize(
    ("cell", "said"),
    [("%%rho -i nope\n1", "Python has no `nope`"), ("%%rho -o nope\n1", "no name `nope`"), ("%%rho -x\n1", "is not an option"),
    ("%rho", "an expression"),
     ("%%rho -i np\n1", "not an array"), ("%%rho -o f\nf ← {⍵+1}", "is a function")],
)  # fmt: skip
def test_wrong_options_are_said_in_one_line(run: Any, cell: str, said: str) -> None:
    outputs = run(cell)
    text = "".join(str(one.get("text", one.get("evalue", ""))) for one in outputs)
    assert said in text and "Traceback" not in text
