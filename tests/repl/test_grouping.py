"""`)tree`: the text with all parentheses means the same as the statement.  `)trace`: the last step has the statement's value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from share import share

from rho.lang.diagnostics.model import Rejected
from rho.lang.syntax.parser import parse
from rho.lang.syntax.source import Source
from rho.lang.tree import expressions as tree
from rho.shell.console.process_exit import Exit
from rho.shell.repl.commands import handle_entry, run_command
from rho.shell.repl.grouping import GroupedStatement, grouping_of, in_one_line

from .conftest import Table

ROOT = Path(__file__).parents[2]
GROUPED = (tree.BindArray, tree.BindFunction, tree.Evaluate)
UNCOMPARED = ("span", "definition", "captures", "parsed", "scope", "uses_alpha")


def shape_of(node: Any) -> Any:
    """The structure of a node without its spans."""
    if isinstance(node, tuple):
        return tuple(map(shape_of, node))
    if not is_dataclass(node):
        return node
    return type(node).__name__, *[shape_of(getattr(node, field.name)) for field in fields(node) if field.name not in UNCOMPARED]


def programs() -> list[Path]:
    return share(sorted([*(ROOT / "examples").glob("*.rho"), *(ROOT / "stdlib").glob("*.rho")]))


def statements(body: Any) -> Iterator[tree.Statement]:
    """All statements, also those of dfns."""
    for statement in body:
        yield statement
        stack = [statement]
        while stack:
            node = stack.pop()
            if isinstance(node, tree.Dfn):
                yield from statements(node.body)
            elif isinstance(node, tuple):
                stack += node
            elif is_dataclass(node):
                stack += [getattr(node, field.name) for field in fields(node) if field.name not in UNCOMPARED]


def classes_in(node: Any) -> dict[str, tree.NameClass]:
    """The classes of the names that are used in a node; a name may stand for others elsewhere in the file."""
    if isinstance(node, tuple):
        return {name: kind for item in node for name, kind in classes_in(item).items()}
    if not is_dataclass(node):
        return {}
    own = {tree.Name: tree.NameClass.ARRAY, tree.FunctionName: tree.NameClass.FUNCTION}.get(type(node))
    inside = [getattr(node, field.name) for field in fields(node) if field.name not in UNCOMPARED]
    return classes_in(tuple(inside)) | ({node.name: own} if own is not None and node.name.isalnum() else {})  # type: ignore[attr-defined]


def reread(text: str, classes: Any) -> Any:
    """The value of `∆ ← text` inside a dfn, where ⍺ and ⍵ mean something."""
    parsed = parse(Source("<again>", f"∆∆ ← {{⍺ ⋄ ⍵ ⋄ ∆ ← {text}\n∆}}"), names=classes)
    assert not [one for one in parsed.diagnostics if one.is_error], (text, parsed.diagnostics)
    dfn = parsed.program.statements[0].value  # type: ignore[union-attr]
    return dfn.body[2].value  # type: ignore[union-attr]


@pytest.mark.parametrize("path", programs(), ids=lambda path: path.name)
def test_the_text_with_parentheses_groups_as_the_statement_does(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    parsed = parse(Source(path.name, text))
    compared = 0
    for statement in statements(parsed.program.statements):
        if isinstance(statement, GROUPED) and not isinstance(statement.value, tree.Dfn):
            shown = GroupedStatement(text, statement.value).parenthesised(statement.value)
            inside = {symbol.name: symbol.name_class for symbol in parsed.index.symbols} | classes_in(statement.value)
            assert shape_of(reread(shown, inside)) == shape_of(statement.value), shown
            assert len(GroupedStatement(text, statement.value).lines()) > 1
            compared += 1
    assert compared or "⍺⍺" in text  # operators bind their bodies where they are applied


TRACED = [
    "(+/x)÷≢x", "y ← {⍵+1}⍤1 ⊢ 2 3⍴⍳6", "2×(a←2+3)×x", "x[1 2]+1", "(≢x),⌈/x", "[x ⋄ 2×x]", "x", "(+⌿÷≢)x", "x ⌊⍨ 3", "⎕←2+3",
]  # fmt: skip


@pytest.mark.parametrize("statement", TRACED)
def test_the_last_step_is_the_value_and_the_session_stays(table: Table, statement: str) -> None:
    handle_entry("x ← 1 2 3 4 5.5", table.context)
    handle_entry("x" if statement == "x" else f"∆ ← {statement.removeprefix('y ← ')}\n∆", table.context)
    value = table.workspace.value("ans")
    before = table.workspace.state
    shown = len(table.out.getvalue())
    assert run_command(f")trace {statement}", table.context)[1] is Exit.OK
    assert table.workspace.state is before
    last = table.out.getvalue()[shown:].splitlines()[-1]
    assert last.startswith(statement.removeprefix("y ← "))
    assert value is None or last.endswith(f"{value.reshape(-1)[-1]:g}"), last


def test_the_steps_before_an_error_are_shown(table: Table) -> None:
    handle_entry("x ← 0⍴1.5", table.context)
    assert run_command(")trace 3+÷⌹2 2⍴≢x", table.context)[1] is Exit.FAILED
    assert table.out.getvalue().splitlines()[0].split() == ["≢x", "0"] and "error[E7" in table.err.getvalue()


def test_a_function_of_several_lines_is_traced_in_one(table: Table) -> None:
    handle_entry("y ← {  ⍝ twice\n  a ← ⍵+1\n\n  b ← 'x ⋄ y'  ⍝ unused\n  2×a\n}¨ 1 2", table.context)
    assert run_command(")trace {  ⍝ twice\n  a ← ⍵+1\n\n  b ← 'x ⋄ y'  ⍝ unused\n  2×a\n}¨ 1 2", table.context)[1] is Exit.OK
    assert table.out.getvalue().splitlines()[-1].endswith("4 6")
    assert in_one_line("{  ⍝ c\n  a ← 1\n\n  'x ⋄ y'  ⍝ d\n}") == "{a ← 1 ⋄ 'x ⋄ y'}"


def test_the_page_shows_what_the_session_prints(table: Table) -> None:
    page = (ROOT / "docs" / "repl.md").read_text(encoding="utf-8")
    block = re.search(r"## Steps and groups\n\n```text\n(.*?)```", page, re.DOTALL)
    assert block
    for line in block[1].splitlines():
        if line.startswith("      "):
            handle_entry(line.strip(), table.context)
    shown = [line for line in block[1].splitlines() if not line.startswith("      ")]
    assert table.out.getvalue().splitlines() == shown and not table.err.getvalue()


REFUSED = [")tree", ")tree 2+", ")tree use stats", ")trace", ")trace 2+'a'", ")fix", ")tree (", ")trace use stats"]


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_groups_is_refused(table: Table, text: str) -> None:
    assert run_command(text, table.context)[1] is not Exit.OK and table.err.getvalue()


def test_names_of_functions_decide_how_a_text_groups(table: Table) -> None:
    kinds = table.workspace.state.kinds
    with pytest.raises(Rejected):
        grouping_of("f 1 2", kinds)
    handle_entry("f ← {⍵+1}", table.context)
    assert grouping_of("f 1 2", table.workspace.state.kinds).lines()[:2] == ["f 1 2", "f"]
