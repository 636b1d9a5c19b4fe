"""Rho: a rank-polymorphic array language checked before it runs.

    import rho
    mean = rho.compile("{(+⌿⍵)÷≢⍵}")
    mean(numpy.arange(10.0))                    # 4.5
    program = rho.load("kmeans.rho")
    program.run(points=xs, k=8)["labels"]

Everything is imported when it is first used, so `import rho` costs nothing.  Type checkers read `__init__.pyi`.
"""

__version__ = "0.3.0"
__all__ = [
    "Array", "Bounds", "Checked", "Cluster", "Function", "Plan", "Program", "Refused", "Rejected", "ResidentArray", "Result",
    "RhoError", "RunFailed", "Session", "check", "compile", "eval", "grad", "load", "plain", "value_and_grad",
]  # fmt: skip

_MODULES = {
    "RhoError": "lang.diagnostics.model", "Rejected": "lang.diagnostics.model", "Refused": "lang.diagnostics.model",
    "RunFailed": "lang.diagnostics.model", "Session": "shell.pipeline", "Checked": "shell.pipeline_types",
    "Function": "shell.embedding.functions", "Program": "shell.embedding.programs", "Bounds": "shell.embedding.programs",
    "ResidentArray": "shell.embedding.programs", "Result": "shell.embedding.programs", "Plan": "shell.embedding.programs",
    "Cluster": "shell.embedding.programs",
}  # fmt: skip


def compile(text, session=None, *, returns=None):
    """Compile the text of a Rho function into a Python function of arrays.

    A function of `⍵` takes one argument, one of `⍺` and `⍵` takes two: `rho.compile("{⍺+2×⍵}")(a, w)`.
    `returns`: the NumPy type of the result's elements (for a tuple of results, a tuple of types); other elements are a TypeError.
    Raises `Rejected` if the text is not a function or does not parse."""
    try:
        text = _text(text, "rho.compile takes the text of a function")
        return _module("shell.embedding.functions").compile_text(text, _session(session), returns)
    except Exception as error:
        raise _for_caller(error) from error.__cause__


def grad(function, session=None):
    """The gradient, by the right argument, of a function whose value is one number; a compiled function.

    `rho.grad("{+/⍵*2}")(x)` is `f∂ x`; a function of `⍺` and `⍵` is called with both: `rho.grad("{+/(⍺+.×⍵)*2}")(a, x)`.
    Raises `Rejected` as `rho.compile` does, and at a call where there is no gradient (E630)."""
    try:
        return _module("shell.embedding.functions").gradient_of(function, _session(session), with_value=False)
    except Exception as error:
        raise _for_caller(error) from error.__cause__


def value_and_grad(function, session=None):
    """Like `rho.grad`, but a call returns the pair (value, gradient), which is computed in one pass."""
    try:
        return _module("shell.embedding.functions").gradient_of(function, _session(session), with_value=True)
    except Exception as error:
        raise _for_caller(error) from error.__cause__


def load(path, session=None):
    """Check the script in a file and return it as a `Program`.

    Raises `Rejected` if the script has errors and `RunFailed` if the file cannot be read."""
    try:
        if not isinstance(path, str) and not hasattr(path, "__fspath__"):
            raise TypeError(f"rho.load takes the path of a program's file, not {type(path).__name__}")
        return _module("shell.embedding.programs").load_program(path, _session(session))
    except Exception as error:
        raise _for_caller(error) from error.__cause__


def eval(text, session=None, *, returns=None):
    """Run a text and return the last value that it shows, as a new array; None if it shows nothing.

    `returns`: the NumPy type of its elements (for several results, a tuple of types); other elements are a TypeError.
    A text is checked and planned once.  Raises `Rejected`, `Refused` and `RunFailed` as any program does."""
    try:
        text = _text(text, "rho.eval takes the text of a program")
        return _module("shell.embedding.evaluating").evaluate(text, _session(session), returns)
    except Exception as error:
        raise _for_caller(error) from error.__cause__


def check(text, session=None):
    """Check the text of a program without running it: `.accepted`, `.diagnostics`, `.types`.  Raises nothing."""
    try:
        source = _module("lang.syntax.source").Source("<rho.check>", _text(text, "rho.check takes the text of a program"))
        return (_session(session) or _module("shell.pipeline").Session()).check(source)
    except Exception as error:
        raise _for_caller(error) from error.__cause__


def plain(value):
    """A value of Rho as numbers, texts and lists, which `json.dumps` takes: `json.dumps(result, default=rho.plain)`.

    Complex numbers become pairs, rows of characters become texts, NaN and infinities the texts `nan`, `inf` and `-inf`, as in the
    output of `rho run --json`.  Raises TypeError for other values than arrays, numbers and results."""
    try:
        return _module("shell.embedding.evaluating").plain(value)
    except Exception as error:
        raise _for_caller(error) from error.__cause__


def _for_caller(error):
    """The error without the frames inside Rho, if a statement of Rho raises it."""
    return _module("shell.embedding.evaluating").for_caller(error)


def _text(given, wanted):
    if not isinstance(given, str):
        raise TypeError(f"{wanted}, not {type(given).__name__}")
    return given


def _session(given):
    if given is not None and not isinstance(given, _module("shell.pipeline").Session):
        raise TypeError(f"session is a rho.Session, not {type(given).__name__}")
    return given


def load_ipython_extension(ipython):
    """`%load_ext rho` in IPython: the magics `%rho` and `%%rho`."""
    _module("shell.jupyter.magic").load_extension(ipython)


def __dir__():
    return sorted({*__all__, *[name for name in globals() if name.startswith("__")]})


def __getattr__(name):
    if name == "Array":
        from numpy.typing import NDArray

        return NDArray
    place = _MODULES.get(name)
    if place is None:
        raise AttributeError(f"module 'rho' has no attribute {name!r}")
    return getattr(_module(place), name)


def _module(place):
    from importlib import import_module

    return import_module(f".{place}", __name__)
