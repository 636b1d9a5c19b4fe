"""Rho: a rank-polymorphic array language checked before it runs.

    import rho
    mean = rho.compile("{(+⌿⍵)÷≢⍵}")
    mean(numpy.arange(10.0))                    # 4.5
    program = rho.load("kmeans.rho")
    program.run(points=xs, k=8)["labels"]

Everything is imported when it is first used, so `import rho` costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as `typing` has it, which would take longer to import than this

if TYPE_CHECKING:
    import os
    from typing import Any

    from .lang.diagnostics.model import Refused, Rejected, RhoError, RunFailed
    from .shell.embedding.functions import Function
    from .shell.embedding.programs import Bounds, Cluster, Plan, Program, Result
    from .shell.pipeline import Session
    from .shell.pipeline_types import Checked

__version__ = "0.2.0"
__all__ = [
    "Bounds", "Checked", "Cluster", "Function", "Plan", "Program", "Refused", "Rejected", "Result", "RhoError", "RunFailed",
    "Session", "check", "compile", "eval", "grad", "load", "value_and_grad",
]  # fmt: skip

_MODULES = {
    "RhoError": "lang.diagnostics.model", "Rejected": "lang.diagnostics.model", "Refused": "lang.diagnostics.model",
    "RunFailed": "lang.diagnostics.model", "Session": "shell.pipeline", "Checked": "shell.pipeline_types",
    "Function": "shell.embedding.functions", "Program": "shell.embedding.programs", "Bounds": "shell.embedding.programs",
    "Result": "shell.embedding.programs", "Plan": "shell.embedding.programs", "Cluster": "shell.embedding.programs",
}  # fmt: skip


def compile(text: str, session: Session | None = None) -> Function:
    """Compile the text of a Rho function into a Python function of arrays.

    A function of `⍵` takes one argument, one of `⍺` and `⍵` takes two: `rho.compile("{⍺+2×⍵}")(a, w)`.
    Raises `Rejected` if the text is not a function or does not parse."""
    function: Function = _module("shell.embedding.functions").compile_text(
        _text(text, "rho.compile takes the text of a function"), session
    )
    return function


def grad(function: Function | str, session: Session | None = None) -> Function:
    """The gradient of a function whose value is one number, by its right argument, as a compiled function.

    `rho.grad("{+/⍵*2}")(x)` is `f∂ x`; a function of `⍺` and `⍵` is called with both: `rho.grad("{+/(⍺+.×⍵)*2}")(a, x)`.
    Raises `Rejected` as `rho.compile` does, and at a call where there is no gradient (E630)."""
    gradient: Function = _module("shell.embedding.functions").gradient_of(function, session, with_value=False)
    return gradient


def value_and_grad(function: Function | str, session: Session | None = None) -> Function:
    """As `rho.grad`, of which a call returns the pair (value, gradient); both share their work."""
    gradient: Function = _module("shell.embedding.functions").gradient_of(function, session, with_value=True)
    return gradient


def load(path: str | os.PathLike[str], session: Session | None = None) -> Program:
    """Check the script in a file and return it as a `Program`.

    Raises `Rejected` if the script has errors and `RunFailed` if the file cannot be read."""
    if not isinstance(path, str) and not hasattr(path, "__fspath__"):
        raise TypeError(f"rho.load takes the path of a program's file, not {type(path).__name__}")
    program: Program = _module("shell.embedding.programs").load_program(path, session)
    return program


def eval(text: str, session: Session | None = None) -> Any:
    """Run a text and return the value that it shows last, as a new array; None if it shows nothing.

    A text is checked and planned once.  Raises `Rejected`, `Refused` and `RunFailed` as any program does."""
    return _module("shell.embedding.evaluating").evaluate(_text(text, "rho.eval takes the text of a program"), session)


def check(text: str, session: Session | None = None) -> Checked:
    """Check the text of a program without running it: `.accepted`, `.diagnostics`, `.types`.  Raises nothing."""
    source = _module("lang.syntax.source").Source("<rho.check>", _text(text, "rho.check takes the text of a program"))
    checked: Checked = (session or _module("shell.pipeline").Session()).check(source)
    return checked


def _text(given: object, wanted: str) -> str:
    if not isinstance(given, str):
        raise TypeError(f"{wanted}, not {type(given).__name__}")
    return given


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext rho` in IPython: the magics `%rho` and `%%rho`."""
    _module("shell.jupyter.magic").load_extension(ipython)


def __dir__() -> list[str]:
    return sorted({*__all__, *[name for name in globals() if name.startswith("__")]})


def __getattr__(name: str) -> Any:
    place = _MODULES.get(name)
    if place is None:
        raise AttributeError(f"module 'rho' has no attribute {name!r}")
    return getattr(_module(place), name)


def _module(place: str) -> Any:
    from importlib import import_module

    return import_module(f".{place}", __name__)
