"""Fixes beside NumPy: over drawn arguments a fix that is offered has NumPy's or Python's value, shape and kind of items.

Each spelling is a row of the tables, an operator, a builtin of Python or a reshape; arguments have ranks 0 to 3, are truth
values or numbers of any kind with NaN, ∞, zeros, ties and no items at all, and come as inputs (of which the checker knows the
type) or as literals (of which it knows all).
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from share import again, drawing, repeats
from values import is_within

import rho
from rho.lang.foreign.function_names import ALONG_FIRST_AXIS, CALLS, JOINING_FUNCTIONS, MONADIC_FUNCTIONS, ROW_BY_ROW
from rho.lang.syntax.source import Source
from rho.shell.console.apply_fixes import apply_safe_fixes
from rho.shell.pipeline import Session

pytestmark = pytest.mark.long

SESSION = Session()
KINDS = {"bool": "bool", "int64": "i64", "float64": "f64", "float32": "f32", "uint8": "u8", "complex128": "c128"}
INTEGERS = (-3, -2, -1, 0, 0, 1, 1, 2, 2, 3, 4, 5, 7, 2**53 + 1, 2**62)
FLOATS = (-2.5, -1.5, -0.5, 0.0, 0.49999999999999994, 0.5, 1.0, 1.0, 2.0, 2.5, 7.25, math.inf, -math.inf, math.nan)
NUMBERS = ("0", "1", "2", "3", "-1", "2.5", "0.5", "10")
OPERATORS = ("%", "//", "+", "-", "**", "@", "&", "|", "<<", ">>", "==", "!=", "<", "<=", ">", ">=")
"""Operators of Python; `*` is Rho's power, of which Rho's own fixes are."""
SLICES = (
    "[0]",
    "[-1]",
    "[:2]",
    "[1:]",
    "[:-1]",
    "[-2:]",
    "[1:3]",
    "[::-1]",
    "[:y]",
    "[y:]",
    "[::2]",
    "[x > 1]",
    "[:, 0]",
    "[0, :]",
)
OUTSIDE = frozenset({"print", "array", "list", "asarray", "copy", "arange", "full", "random", "strip", "upper", "lower", "where",
                     "str", "int"})  # fmt: skip
"""Those whose arguments are no arrays."""
LINEAR = ("svd", "qr", "eigh", "eig", "slogdet", "cholesky", "inv", "det")
PYTHON = ("sum(x)", "max(x)", "min(x)", "any(x)", "all(x)", "abs(x)", "len(x)", "round(x)", "sorted(x)", "list(x)", "sum(x) + 1",
          "[a * 2 for a in x]", "[a + y for a in x]", "float(x)", "int(x)", "math.floor(x)", "math.ceil(x)", "math.trunc(x)",
          "math.comb(x, y)")  # fmt: skip
SHAPES = ("-1", "(-1, 2)", "(2, -1)", "(-1, 1)", "(1, -1)", "(3, 2)", "(2, 3)", "(-1, 3)", "6", "(3, 1)", "(2, 2)", "x.shape")


def spellings() -> Iterator[str]:
    for word in MONADIC_FUNCTIONS:
        for package, module in {"np": np, "np.linalg": np.linalg, "np.fft": np.fft}.items():
            if word not in OUTSIDE and callable(getattr(module, word, None)):
                yield f"{package}.{word}(x)"
                if word in ALONG_FIRST_AXIS or word in ROW_BY_ROW:
                    yield from (f"{package}.{word}(x, axis={axis})" for axis in (0, 1, -1))
                break
    for word, count in CALLS:
        if word not in OUTSIDE and callable(getattr(np, word, None)) and (word, count) not in {("log", 2)}:
            yield f"np.{word}({', '.join('xyz'[:count])})"
    yield from (f"np.{word}([x, y])" for word in JOINING_FUNCTIONS if hasattr(np, word))
    yield from (f"x {operator} y" for operator in OPERATORS)
    yield from (f"x{part}" for part in SLICES)
    yield from (f"np.linalg.{word}(x)" for word in LINEAR)
    yield from PYTHON
    for shape in SHAPES:
        yield from (f"np.reshape(x, {shape})", f"x.reshape({shape.strip('()')})", f"x.reshape({shape}).sum()")
    yield from ("np.where(x, y, z)", "np.where(x)[0]", "np.nonzero(x)[0]", "np.nonzero(x)", "np.zeros(3)", "np.ones((2, 3))",
                "~x", "np.eye(3)", "np.arange(5)", "np.full((2, 3), 1.5)", "np.linspace(0, 1, 1)", "np.linspace(-1, 2.5, 4)",
                "x.astype(int)", "x.astype(float)", "x.astype(bool)", "x.sum() / len(x)", "x > 1 and x < 4",
                "math.floor(x)", "math.log(x, y)", "math.factorial(x)", "math.gcd(x, y)", "str(x)", "int(x)", "round(x)",
                "max(x, y)", "divmod(x, y)", "sorted(x)", "-x", "x - np.mean(x, axis=0)", "x.T", "x.ravel()",
                "y in x",
                "np.tile(x, (2, 1))", "np.roll(x, (1, 1))")  # fmt: skip


def drawn(choose: random.Random) -> NDArray[np.generic]:
    shape = tuple([choose.choice((0, 1, 2, 2, 3, 3)) for _ in range(choose.choice((0, 0, 1, 1, 1, 2, 2, 3)))])
    if len(shape) == 2 and choose.random() < 0.4:
        shape = (shape[0], shape[0])
    size, kind = math.prod(shape), choose.choice("biffbiffbiffgzu")
    items = {"b": (False, True), "i": INTEGERS[:-2] if choose.random() < 0.7 else INTEGERS, "u": (0, 1, 2, 3, 250)}.get(
        kind, FLOATS[:-3] if choose.random() < 0.6 or kind == "z" else FLOATS)  # fmt: skip
    values = [choose.choice(items) for _ in range(size)]
    if choose.random() < 0.3:
        values.sort(key=lambda one: (one != one, one))
    # NumPy's products of infinite complex numbers begin with a product by 1, which makes NaN of them
    dtypes = {"b": bool, "i": np.int64, "f": float, "g": np.float32, "u": np.uint8, "z": np.complex128}
    array = np.array(values, dtypes[kind]).reshape(shape)
    if kind == "f" and len(shape) == 2 and shape[0] == shape[1] and choose.random() < 0.5 and np.isfinite(array).all():
        return np.asarray(array @ array.T + np.eye(shape[0]))  # which has all decompositions
    return array


def literal(value: NDArray[np.generic]) -> str:
    kind = KINDS[value.dtype.name]
    as_python = int if kind in ("bool", "i64", "u8") else float
    written = " ".join(repr(one).replace("-", "¯").replace("nan", "⎕nan").replace("inf", "∞")
                       for one in map(as_python, value.real.ravel()))  # fmt: skip
    shape = " ".join(map(str, value.shape))
    items = f"{kind} {written}" if written else f"0⍴{kind} 0"
    return f"{shape}⍴{items}" if shape else items


def declared(name: str, value: NDArray[np.generic]) -> str:
    return f"input {name} : {KINDS[value.dtype.name]}" + (f"[{' '.join(map(str, value.shape))}]" if value.shape else "")


def arguments(typed: str, choose: random.Random) -> tuple[str, dict[str, NDArray[np.generic]]]:
    """The spelling with numbers for some names, and values for the others."""
    values: dict[str, NDArray[np.generic]] = {"x": drawn(choose)}
    for name in "yz":
        if choose.random() < 0.35 and "[" not in typed:
            typed = typed.replace(f"({name},", f"({choose.choice(NUMBERS)},").replace(f", {name}", f", {choose.choice(NUMBERS)}")
            typed = typed.removesuffix(f" {name}") + (f" {choose.choice(NUMBERS)}" if typed.endswith(f" {name}") else "")
        other = drawn(choose)
        if choose.random() < 0.5 and other.size:
            other = np.resize(other, values["x"].shape)
        values[name] = other
    return typed, values


def difference(typed: str, values: dict[str, NDArray[np.generic]], literally: bool) -> tuple[str, str]:
    """What became of a fix (`none`, `same`, `refused`, `differs`), and how."""
    head = "".join([(f"{name} ← {literal(one)}" if literally else declared(name, one)) + "\n" for name, one in values.items()])
    source = Source("<habit>", f"{head}r ← {typed}\noutput r\n")
    text = apply_safe_fixes(source, lambda text: SESSION.check(text).diagnostics).source
    checked = SESSION.check(text)
    if text.text == source.text or not checked.accepted:
        return "none", ""
    as_number = typed in PYTHON or typed.startswith(("math.", "str(", "max(", "divmod("))
    python = {name: one.item() if as_number and not one.shape else one for name, one in values.items()}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            meant = as_array(eval(typed, {"np": np, "math": math, **python}))
    except Exception:
        meant = None
    try:
        result = np.asarray(rho.Program(checked, SESSION).run(**({} if literally else values))["r"])
    except rho.RhoError:
        return "refused", "here"
    if meant is None:
        return "refused", "there"
    written = text.text.removeprefix(head)
    is_sum_of_none = typed.startswith("sum(") and not values["x"].size  # 0, whatever the type
    if (meant.dtype.kind, meant.dtype == np.float32) != (result.dtype.kind, result.dtype == np.float32) and not (
        is_sum_of_none or {meant.dtype.kind, result.dtype.kind} == {"u", "i"}
    ):
        return "differs", f"{written}: {result.dtype} for {meant.dtype}"
    if typed in ("max(x)", "min(x)", "sorted(x)") and np.isnan(values["x"]).any():
        return "same", "but for NaN, as a note says"
    joint = np.result_type(meant, result) if meant.dtype.kind in "bif" else meant.dtype
    if not is_within(result.astype(joint), meant.astype(joint)):
        return "differs", f"{written}: {result!r} for {meant!r}"
    return "same", written


def as_array(meant: object) -> NDArray[np.generic]:
    """A value of Python as an array; several arrays of unlike shapes are none, and neither is a list without items and a type."""
    meant = meant[0] if isinstance(meant, tuple) and len(meant) == 1 and isinstance(meant[0], np.ndarray) else meant
    array = np.array(list(meant)) if isinstance(meant, str) else np.asarray(meant)
    if array.dtype.kind not in "bifuUc" or (isinstance(meant, list | tuple) and not meant):
        raise TypeError(array.dtype)
    return array


@pytest.mark.parametrize("part", range(4))
def test_a_fix_that_is_offered_has_the_value_that_numpy_has(part: int) -> None:
    choose, known = drawing("habits", part), list(spellings())
    for _ in range(repeats(750)):
        typed, values = arguments(choose.choice(known), choose)
        became, how = difference(typed, values, literally=choose.random() < 0.4)
        assert became != "differs", f"{typed} of {values}\n{how}\n{again('tests/shell/test_habit_domains.py')}"
