"""Text that was copied from a session or saved from one, without prompts and output."""

from __future__ import annotations

from collections.abc import Sequence

from ..execution.examples import FENCE, SESSION_INDENT, fences

CONTINUED = "    … "


def typed(text: str) -> str:
    """The statements of a transcript: Markdown, or what a terminal showed; other text as it is."""
    lines = text.splitlines()
    if any(FENCE.match(line) for line in lines):
        return "\n".join(typed("\n".join(fence.lines)) for fence, _ in fences(text))
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
    """Does the first line carry the prompt, and some line none?  (Text that is only indented is not a transcript.)"""
    written = [line for line in lines if line.strip()]
    if not written or not written[0].startswith(SESSION_INDENT):
        return False
    return len(written) == 1 or not all(line.startswith((SESSION_INDENT, CONTINUED)) for line in written) or len(lines) > 1
