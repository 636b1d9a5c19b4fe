"""Values in a session: a header with the type where the value is not a scalar, then as many lines as the window has."""

from __future__ import annotations

import shutil

from ...typechecker.elements import Kind
from ..cli.console import Console
from ..display.values import LIMIT, ROWS_CUT, display
from ..execution.outcome import PIPE_LIMIT, WHOLE_TEXT_LIMIT, Shown
from .settings import Settings

DIM, PLAIN = "\x1b[2m", "\x1b[0m"


def show(shown: Shown, console: Console, settings: Settings) -> None:
    """Print a value."""
    if not console.out.isatty():
        console.print("\n".join(display(shown.value, kind=shown.kind, digits=settings.digits, limit=PIPE_LIMIT)))
        return
    if settings.types and shown.shape:
        header = concrete_type(shown)
        console.print(f"{DIM}{header}{PLAIN}" if console.colours_results else header)
    limit = WHOLE_TEXT_LIMIT if shown.kind is Kind.CHAR else LIMIT
    lines = display(shown.value, kind=shown.kind, digits=settings.digits, limit=limit, width=console.width)
    console.print("\n".join(cut(lines, max(8, shutil.get_terminal_size().lines - 4))))


def concrete_type(shown: Shown) -> str:
    """The type with the sizes that the value has."""
    element = shown.type.partition("[")[0]
    if element.startswith("perm<"):
        return shown.type
    return f"{element}[{' '.join(map(str, shown.shape))}]"


def cut(lines: list[str], most: int) -> list[str]:
    """The first and last lines of a value that is higher than the window."""
    if len(lines) <= most:
        return lines
    first = (most - 1) * 2 // 3
    return [*lines[:first], f"{ROWS_CUT}  ({len(lines) - most + 1} more lines)", *lines[len(lines) - (most - 1 - first) :]]
