"""How parsing and binding stop: a `Problem` carries one diagnostic to the nearest statement boundary."""

from __future__ import annotations

from .diagnostics import Diagnostic


class Problem(Exception):
    """This statement is wrong; `diagnostic` is None when the cause is reported already."""

    def __init__(self, diagnostic: Diagnostic | None) -> None:
        self.diagnostic = diagnostic
        super().__init__("" if diagnostic is None else diagnostic.message)
