"""`rho version`: which Rho this is."""

from __future__ import annotations

from ... import __version__
from ..cli.arguments import Arguments
from ..cli.console import Console
from ..cli.exits import Exit


def run(arguments: Arguments, console: Console) -> Exit:
    console.print(f"rho {__version__}")
    return Exit.OK
