"""Exchanges values of a session with Python (`%%rho -i xs -o labels`); writes sessions as scripts and Markdown.

Both ways are copies, so that nothing outside changes a value that the session keeps.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...backend.io.errors import FileTrouble
from ...lang.bind.statement_dependencies import StatementKind, statements_of, words
from ...lang.primitives.operators import RESERVED_WORDS
from ...lang.primitives.table import ELEMENT_NAMES
from ...lang.syntax.lexer import NAME
from ...lang.syntax.source import Span
from ..console.process_exit import Exit
from ..console.usage_errors import UsageError, did_you_mean
from ..embedding.evaluating import as_array
from ..execution.doctest import check_case
from ..execution.doctest_parser import FENCE, SESSION_INDENT, fences, lines_claim, markdown_cases
from ..execution.outcome import as_numpy
from .entry_program import ANSWER, Kept, Leaf, SessionEntry, SessionState, ValueItem, ValueTree
from .workspace import Entered, Workspace

# ---------------------------------------------------------------------------------------------------- exchange

PYTHON = "<python>"


def bind(workspace: Workspace, name: str, value: object) -> None:
    """Name a Python value in the session.  UsageError: the name is none, or the value is not an array."""
    if re.fullmatch(NAME, name) is None or name in RESERVED_WORDS | ELEMENT_NAMES:
        raise UsageError(f"`{name}` cannot be a name in Rho")
    try:
        given, kind = as_array(value, f"`{name}`")
    except TypeError as error:
        raise UsageError(str(error)) from None
    except FileTrouble as trouble:
        raise UsageError(f"`{name}` {trouble.message}", " ".join(trouble.notes)) from None
    array = np.array(given, copy=True, order="C")
    state = workspace.state
    shape = " ".join(map(str, array.shape))
    type_ = f"{kind.value}[{shape}]" if array.ndim else kind.value
    leaf = Leaf(f"∆∆{state.counter + 1}", type_, array, kind)
    workspace.state = replace(
        state.entering([ValueItem(name, leaf, Span(PYTHON, 0, 0))], {**state.types, name: type_}),
        sizes={size: number for size, number in state.sizes.items() if size != name}, params=state.params - {name},
        counter=state.counter + 1,
    )  # fmt: skip


def fetch(workspace: Workspace, name: str) -> Any:
    """The value of a name for Python: an array, a number, text as `str`, a tuple.  UsageError: there is none of it."""
    type_ = workspace.state.types.get(name)
    if type_ is None:
        raise UsageError(f"there is no name `{name}` in the session{did_you_mean(name, list(workspace.state.types))}")
    if type_ in ("function", "operator", "module"):
        raise UsageError(f"`{name}` is a {type_}: only values go to Python", "rho.compile makes a Python function of Rho text")
    item = workspace.state.latest.get(name)
    if isinstance(item, ValueItem):
        return _of_kept(item.value)
    entered, _ = workspace.evaluate(name)
    return result_of(entered)


def result_of(entered: Entered) -> Any:
    """The value that was printed last; None if nothing was."""
    return python_value(entered.printed[-1].value) if entered.exit is Exit.OK and entered.printed else None


def _of_kept(value: Kept) -> Any:
    if isinstance(value, ValueTree):
        return tuple(_of_kept(item) for item in value.items)
    return python_value(value.array)


def python_value(value: Any) -> Any:
    """A copy as Python has it: scalars as scalars, a vector of characters as text."""
    array = np.asarray(as_numpy(value))
    if array.dtype.kind == "U" and array.ndim <= 1:
        return "".join(character or "\0" for character in array.reshape(-1).tolist())
    return array.copy() if array.ndim else array[()].item()


# ---------------------------------------------------------------------------------------------------- transcripts
#
# Sessions as Markdown that `rho test` accepts.
#
# Saved entries stand at the margin, what they printed behind `⍝ →`; of long output only the number of lines is kept, in
# the session too.  A program has no `ans`, so where a later entry mentions it the expression that it stands for is named.

def markdown(state: SessionState, title: str) -> str:
    """The entries with what they printed."""
    lines = [f"# {title}", "", "```rho"]
    if state.origin:
        lines.append("⎕IO←1")
    for index, entry in enumerate(state.log):
        lines += _entry(entry, _answer_wanted(state.log[index + 1 :]))
    return "\n".join([*lines, "```", ""])


def _answer_wanted(later: Sequence[SessionEntry]) -> bool:
    """Does an entry mention `ans` before another expression gives it a value?"""
    for entry in later:
        if ANSWER in words(entry.text):
            return True
        if any(statement.kind is StatementKind.EXPRESSION for statement in statements_of(entry.text)):
            return False
    return False


def _entry(entry: SessionEntry, answered: bool) -> list[str]:
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


def problems(text: str, path: str) -> list[str]:
    """What `rho test` would say about a saved session."""
    messages = []
    for case in markdown_cases(text):
        messages += [f"line {failure.line}: {failure.message}" for failure in check_case(case, path, text)]
    return messages


def title_of(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


# ---------------------------------------------------------------------------------------------------- pasting
#
# Text that was copied from a session or saved from one, without prompts and output.

CONTINUED = "    … "


def typed(text: str) -> str:
    """The statements of a transcript: Markdown, or what a terminal showed; other text as it is."""
    lines = text.splitlines()
    if any(FENCE.match(line) for line in lines):
        return "\n".join(typed("\n".join(fence.lines)) for fence, _ in fences(text))
    if not is_transcript(lines):
        return text
    typed_lines = []
    for line in lines:
        if line.startswith(CONTINUED):
            typed_lines.append(line.removeprefix(CONTINUED))
        elif line.startswith(SESSION_INDENT) and line.strip():
            typed_lines.append(line.removeprefix(SESSION_INDENT))
    return "\n".join(typed_lines)


def is_transcript(lines: Sequence[str]) -> bool:
    """Does the first line carry the prompt, and some line none?  (Text that is only indented is not a transcript.)"""
    written = [line for line in lines if line.strip()]
    if not written or not written[0].startswith(SESSION_INDENT):
        return False
    return len(written) == 1 or not all(line.startswith((SESSION_INDENT, CONTINUED)) for line in written) or len(lines) > 1
