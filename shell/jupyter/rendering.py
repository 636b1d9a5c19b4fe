"""What a cell shows of a value: text always, a table for a matrix, a picture for what was plotted; and messages in colour.

Neighbours: `shell.display.values` (the text), `shell.plotting` (pictures), `notebook`.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from typing import TypeAlias

from ...lang.diagnostics import Diagnostic
from ...lang.render import Ink, render_text
from ...lang.source import Source
from ...typechecker.elements import Kind
from ..display.values import LIMIT, display, matrix_cells
from ..execution.outcome import WHOLE_TEXT_LIMIT, Shown
from ..plotting import figures
from ..plotting.drawable import Picture
from ..plotting.terminal import HEIGHT, drawing
from ..repl.settings import Settings
from ..repl.showing import concrete_type

Bundle: TypeAlias = dict[str, str]
"""Representations by their media type."""
WIDTH = 80

_STYLE = "text-align: right; font-family: monospace"


def bundle(shown: Shown, settings: Settings) -> Bundle:
    """A value: its type where it is not a scalar, then its elements, cut like those of a session."""
    limit = WHOLE_TEXT_LIMIT if shown.kind is Kind.CHAR else LIMIT
    lines = display(shown.value, kind=shown.kind, digits=settings.digits, limit=limit, width=WIDTH)
    header = concrete_type(shown) if shown.shape and settings.types else ""
    found = {"text/plain": "\n".join([*([header] if header else []), *lines])}
    if len(shown.shape) == 2 and shown.kind is not Kind.CHAR:
        found["text/html"] = _table(shown, header, settings)
    return found


def _table(shown: Shown, header: str, settings: Settings) -> str:
    rows = matrix_cells(shown.value, kind=shown.kind, digits=settings.digits, limit=LIMIT)
    cells = [[f'<td style="{_STYLE}">{escape(cell.strip())}</td>' for cell in row] for row in rows]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    caption = f'<caption style="text-align: left; caption-side: top">{escape(header)}</caption>' if header else ""
    return f'<table class="rho">{caption}{body}</table>'


def picture_bundle(picture: Picture) -> Bundle:
    """Characters, and an image where matplotlib is installed."""
    found = {"text/plain": "\n".join(drawing(picture, WIDTH, HEIGHT, colour=False))}
    if figures.is_there():
        found["image/png"] = base64.b64encode(figures.figure(picture, "png")).decode("ascii")
    return found


def messages_text(found: Sequence[Diagnostic], sources: Mapping[str, Source], ink: Ink = Ink.ANSI) -> str:
    return render_text(found, sources, ink=ink).rstrip("\n")
