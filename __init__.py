"""Rho: a rank-polymorphic array language checked before it runs.

    import rho
    mean = rho.compile("{(+⌿⍵)÷≢⍵}")
    mean(numpy.arange(10.0))                    # 4.5
    program = rho.load("kmeans.rho")
    program.run(points=xs, k=8)["labels"]

Everything is imported when it is first used, so `import rho` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

    from .lang.diagnostics import Refused, Rejected, RhoError, RunFailed
    from .shell.embedding.functions import Function
    from .shell.embedding.programs import Bounds, Program, Result
    from .shell.session import Checked, Session

__version__ = "0.1.0"
__all__ = [
    "Bounds", "Checked", "Function", "Program", "Refused", "Rejected", "Result", "RhoError", "RunFailed", "Session",
    "check", "compile", "load",
]  # fmt: skip

_PLACES = {
    "RhoError": "lang.diagnostics", "Rejected": "lang.diagnostics", "Refused": "lang.diagnostics",
    "RunFailed": "lang.diagnostics", "Session": "shell.session", "Checked": "shell.session",
    "Function": "shell.embedding.functions", "Program": "shell.embedding.programs", "Bounds": "shell.embedding.programs",
    "Result": "shell.embedding.programs",
}  # fmt: skip


def compile(text: str, session: Session | None = None) -> Function:
    """A Rho function, as text, made into a Python function of arrays.  Rejected: it is none, or does not parse."""
    from .shell.embedding.functions import compile_text

    return compile_text(text, session)


def load(path: str | os.PathLike[str], session: Session | None = None) -> Program:
    """The script of a file, checked.  Rejected: it has errors; RunFailed: the file cannot be read."""
    from .shell.embedding.programs import load_program

    return load_program(path, session)


def check(text: str, session: Session | None = None) -> Checked:
    """What checking a program's text finds: `.accepted`, `.diagnostics`, `.types`.  Runs nothing and raises nothing."""
    from .lang.source import Source
    from .shell.session import Session

    return (session or Session()).check(Source("<rho.check>", text))


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'rho' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{place}", __name__), name)
