"""Text that was copied from a session or saved from one, without prompts and output."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..execution.examples import SESSION_INDENT

CONTINUED = "    … "
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*(\w*)(.*)$")


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
