"""Sessions as Markdown that `rho test` accepts, and text that was copied from a session, without prompts and output.

Saved entries stand at the margin, what they printed behind `⍝ →`.  A program has no `ans`, so where a later entry mentions
it the expression that it stands for is named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from ..claims import check_case
from ..examples import SESSION_INDENT, markdown_cases
from .items import Entry, State
from .program import ANSWER
from .statements import Form, statements_of, words

CONTINUED = "    … "
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*(\w*)(.*)$")
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
        text = statement.text if whole else statement.quiet()
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


def typed(text: str) -> str:
    """The statements of a transcript: Markdown, or what a terminal showed; other text as it is."""
    if _FENCE.search(text) or any(_FENCE.match(line) for line in text.splitlines()):
        return "\n".join(typed("\n".join(block)) for block in _blocks(text))
    lines = text.splitlines()
    if not is_transcript(lines):
        return text
    kept = []
    for line in lines:
        if line.startswith(CONTINUED):
            kept.append(line.removeprefix(CONTINUED))
        elif line.startswith(SESSION_INDENT) and line.strip():
            kept.append(line.removeprefix(SESSION_INDENT))
    return "\n".join(kept)


def is_transcript(lines: Sequence[str]) -> bool:
    """Does the first line carry the prompt, and some line none?  (Text that is only indented is no transcript.)"""
    written = [line for line in lines if line.strip()]
    if not written or not written[0].startswith(SESSION_INDENT):
        return False
    return len(written) == 1 or not all(line.startswith((SESSION_INDENT, CONTINUED)) for line in written) or len(lines) > 1


def _blocks(text: str) -> list[list[str]]:
    """The lines of the `rho` fences."""
    found: list[list[str]] = []
    mark, wanted = "", False
    for line in text.splitlines():
        fence = _FENCE.match(line)
        if not mark and fence:
            mark, wanted = fence[1], fence[2] == "rho" and "skip" not in fence[3]
            if wanted:
                found.append([])
        elif mark and fence and fence[1].startswith(mark) and not fence[2]:
            mark = ""
        elif mark and wanted:
            found[-1].append(line)
    return found


def title_of(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]
