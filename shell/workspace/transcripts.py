"""Sessions as Markdown that `rho test` accepts.

Saved entries stand at the margin, what they printed behind `⍝ →`.  A program has no `ans`, so where a later entry mentions
it the expression that it stands for is named.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..claims import check_case
from ..examples import markdown_cases
from .items import Entry, State
from .program import ANSWER
from .statements import Form, quiet, statements_of, words

MOST_LINES = 200
"""Of output that is saved; an entry that printed more is saved without its expressions."""


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
    printed = [line for text in entry.printed for line in text.split("\n")]
    expressions = [statement for statement in statements if statement.form is Form.EXPRESSION]
    lines: list[str] = []
    whole = len(printed) <= MOST_LINES
    for statement in statements:
        text = statement.text if whole else quiet(statement.text)
        if statement.form is Form.ORIGIN:
            continue
        if statement.form is Form.EXPRESSION and (answered and statement is expressions[-1]):
            lines.append(f"{ANSWER} ← {text}")
            lines += [ANSWER] if whole and not statement.printed_last else []
        elif statement.form is not Form.EXPRESSION or whole:
            lines.append(text)
    return [*lines, *([f"⍝ → {line}" for line in printed] if whole else [])]


def problems(text: str, path: str) -> list[str]:
    """What `rho test` would say about a saved session."""
    found = []
    for case in markdown_cases(text):
        found += [f"line {failure.line}: {failure.message}" for failure in check_case(case, path, text)]
    return found


def title_of(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]
