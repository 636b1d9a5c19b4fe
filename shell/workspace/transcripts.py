"""Sessions as Markdown that `rho test` accepts.

Saved entries stand at the margin, what they printed behind `⍝ →`; of long output only the number of lines is kept, in the
session too.  A program has no `ans`, so where a later entry mentions it the expression that it stands for is named.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ...lang.resolution.entries import Form, statements_of, words
from ..execution.claims import check_case
from ..execution.examples import lines_claim, markdown_cases
from .items import Entry, State
from .program import ANSWER


def markdown(state: State, title: str) -> str:
    """The entries with what they printed."""
    lines = [f"# {title}", "", "```rho"]
    if state.origin:
        lines.append("⎕IO←1")
    for place, entry in enumerate(state.log):
        lines += _entry(entry, _answer_wanted(state.log[place + 1 :]))
    return "\n".join([*lines, "```", ""])


def _answer_wanted(later: Sequence[Entry]) -> bool:
    """Does an entry mention `ans` before another expression gives it a value?"""
    for entry in later:
        if ANSWER in words(entry.text):
            return True
        if any(statement.form is Form.EXPRESSION for statement in statements_of(entry.text)):
            return False
    return False


def _entry(entry: Entry, answered: bool) -> list[str]:
    statements = statements_of(entry.text)
    expressions = [statement for statement in statements if statement.form is Form.EXPRESSION]
    lines: list[str] = []
    for statement in statements:
        if statement.form is Form.ORIGIN:
            continue
        if statement.form is Form.EXPRESSION and (answered and statement is expressions[-1]):
            lines.append(f"{ANSWER} ← {statement.text}")
            lines += [ANSWER] if not statement.printed_last else []
        else:
            lines.append(statement.text)
    for printed in entry.printed:
        lines += [lines_claim(printed)] if isinstance(printed, int) else [f"⍝ → {line}" for line in printed.split("\n")]
    return lines


def problems(text: str, path: str) -> list[str]:
    """What `rho test` would say about a saved session."""
    found = []
    for case in markdown_cases(text):
        found += [f"line {failure.line}: {failure.message}" for failure in check_case(case, path, text)]
    return found


def title_of(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]
