"""Exchanges values of a session with Python (`%%rho -i xs -o labels`), saves sessions as Markdown, and reads transcripts.

Values are copied in both directions, so that Python cannot change a value of the session.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...backend.io.formats import FileTrouble
from ...lang.bind.statement_dependencies import StatementKind, statements_of, words
from ...lang.primitives.operators import RESERVED_WORDS
from ...lang.primitives.table import ELEMENT_NAMES
from ...lang.support.records import replace
from ...lang.syntax.source import NAME, Span
from ..console.process_exit import Exit, UsageError, did_you_mean
from ..embedding.evaluating import as_array
from ..execution.doctest import DoctestRunner
from ..execution.doctest_parser import FENCE, SESSION_INDENT, fences, lines_claim, markdown_cases
from ..execution.run_request import as_numpy
from .entry_program import ANSWER, Leaf, SessionEntry, SessionState, SessionValue, ValueItem, ValueTree
from .workspace import EntryResult, Workspace

PYTHON = "<python>"


def bind_value(workspace: Workspace, name: str, value: object) -> None:
    """Bind a name of the session to a copy of a Python value.  UsageError: not a name, or not an array."""
    if re.fullmatch(NAME, name) is None or name in RESERVED_WORDS | ELEMENT_NAMES:
        raise UsageError(f"`{name}` cannot be a name in Rho")
    try:
        source, kind, unit = as_array(value, f"`{name}`")
    except TypeError as error:
        raise UsageError(str(error)) from None
    except FileTrouble as trouble:
        raise UsageError(f"`{name}` {trouble.message}", " ".join(trouble.notes)) from None
    array = np.array(source, copy=True, order="C")
    state = workspace.state
    shape = " ".join(map(str, array.shape))
    element = kind.value if unit is None else unit.value
    type_ = f"{element}[{shape}]" if array.ndim else element
    leaf = Leaf(f"∆∆{state.counter + 1}", type_, array, kind)
    workspace.state = replace(
        state.with_items([ValueItem(name, leaf, Span(PYTHON, 0, 0))], {**state.types, name: type_}),
        sizes={size: number for size, number in state.sizes.items() if size != name}, params=state.params - {name},
        counter=state.counter + 1,
    )  # fmt: skip


def fetch_value(workspace: Workspace, name: str) -> Any:
    """The value of a name as a Python value: an array, a number, text as `str`, a tuple.  UsageError: no such name, or it has no
    value."""
    type_ = workspace.state.types.get(name)
    if type_ is None:
        raise UsageError(f"there is no name `{name}` in the session{did_you_mean(name, list(workspace.state.types))}")
    if type_ in ("function", "operator", "module"):
        raise UsageError(f"`{name}` is a {type_}: only values go to Python", "rho.compile makes a Python function of Rho text")
    item = workspace.state.latest.get(name)
    if isinstance(item, ValueItem):
        return _python_tree(item.value)
    entered, _ = workspace.evaluate(name)
    return result_of(entered)


def result_of(entered: EntryResult) -> Any:
    """The value that was printed last; None if nothing was."""
    return python_value(entered.printed[-1].value) if entered.exit is Exit.OK and entered.printed else None


def _python_tree(value: SessionValue) -> Any:
    if isinstance(value, ValueTree):
        return tuple(_python_tree(item) for item in value.items)
    return python_value(value.array)


def python_value(value: Any) -> Any:
    """A copy of a value for Python: scalars as scalars, a vector of characters as `str`."""
    array = np.asarray(as_numpy(value))
    if array.dtype.kind == "U" and array.ndim <= 1:
        return "".join(character or "\0" for character in array.reshape(-1).tolist())
    return array.copy() if array.ndim else array[()].item()


# ---------------------------------------------------------------------------------------------------- saved sessions
#
# Sessions as Markdown that `rho test` accepts: entries at the margin, printed lines after `⍝ →`, long output as its number of
# lines. A program has no `ans`, so an expression whose value a later entry mentions as `ans` is bound to that name.

def session_markdown(state: SessionState, title: str) -> str:
    """The Markdown of a session: its entries and what they printed."""
    lines = [f"# {title}", "", "```rho"]
    if state.origin:
        lines.append("⎕IO←1")
    for index, entry in enumerate(state.log):
        lines += _entry_lines(entry, _answer_is_used(state.log[index + 1 :]))
    return "\n".join([*lines, "```", ""])


def _answer_is_used(later: Sequence[SessionEntry]) -> bool:
    """Does an entry mention `ans` before another expression gives it a value?"""
    for entry in later:
        if ANSWER in words(entry.text):
            return True
        if any(statement.kind is StatementKind.EXPRESSION for statement in statements_of(entry.text)):
            return False
    return False


def _entry_lines(entry: SessionEntry, answered: bool) -> list[str]:
    statements = statements_of(entry.text)
    expressions = [statement for statement in statements if statement.kind is StatementKind.EXPRESSION]
    lines: list[str] = []
    for statement in statements:
        if statement.kind is StatementKind.ORIGIN:
            continue
        if statement.kind is StatementKind.EXPRESSION and (answered and statement is expressions[-1]):
            lines.append(f"{ANSWER} ← {statement.text}")
            lines += [ANSWER] if not statement.prints_its_value else []
        else:
            lines.append(statement.text)
    for printed in entry.printed:
        lines += [lines_claim(printed)] if isinstance(printed, int) else [f"⍝ → {line}" for line in printed.split("\n")]
    return lines


def doctest_problems(text: str, path: str) -> list[str]:
    """The failures that `rho test` would report for a saved session."""
    runner = DoctestRunner(path)
    failures = [failure for case in markdown_cases(text) for failure in runner.case(case, text)]
    return [f"line {failure.line}: {failure.message}" for failure in failures]


def title_of(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


# ---------------------------------------------------------------------------------------------------- transcripts
#
# Extracts the statements from text that was copied from a session or saved by one, without prompts and output.

CONTINUATION = "    … "


def statements_of_transcript(text: str) -> str:
    """The statements of a transcript: Markdown, or what a terminal showed; other text as it is."""
    lines = text.splitlines()
    if any(FENCE.match(line) for line in lines):
        return "\n".join(statements_of_transcript("\n".join(fence.lines)) for fence, _ in fences(text))
    if not is_transcript(lines):
        return text
    typed_lines = []
    for line in lines:
        if line.startswith(CONTINUATION):
            typed_lines.append(line.removeprefix(CONTINUATION))
        elif line.startswith(SESSION_INDENT) and line.strip():
            typed_lines.append(line.removeprefix(SESSION_INDENT))
    return "\n".join(typed_lines)


def is_transcript(lines: Sequence[str]) -> bool:
    """Does the first line start with the prompt, and some line without it?  (Text in which all lines are indented is no
    transcript.)"""
    written = [line for line in lines if line.strip()]
    if not written or not written[0].startswith(SESSION_INDENT):
        return False
    return len(written) == 1 or not all(line.startswith((SESSION_INDENT, CONTINUATION)) for line in written) or len(lines) > 1
