"""One expression over constants, with the constants at every place where a value may become known."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Source
from rho.shell.console.standard_streams import EVAL
from rho.shell.execution.run_request import RunRequest, as_numpy
from rho.shell.pipeline import Session

SESSION = Session()
DTYPES = {"bool": np.bool_, "u8": np.uint8, "i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64,
          "c128": np.complex128}  # fmt: skip
KINDS = {np.dtype(dtype).name: kind for kind, dtype in DTYPES.items()}
EDGES = {
    "bool": "0 1",
    "u8": "0 1 2 7 128 255",
    "i32": "0 1 ¯1 2 ¯7 31 ¯2147483648 2147483647",
    "i64": "0 1 ¯1 2 3 ¯7 20 63 64 170 4294967296 9007199254740993 ¯9223372036854775808 9223372036854775807",
    "f32": "0.0 ¯0.0 1.0 ¯2.5 0.1 16777217.0 1e38 ∞ ⎕nan",
    "f64": "0.0 ¯0.0 1.0 ¯1.0 0.5 ¯2.5 3.0 170.0 171.0 9007199254740992.0 9223372036854775808.0 1e308 ¯1e308 5e¯324 ∞ ¯∞ ⎕nan",
    "c128": "0J0 1J1 ¯2.5J0.5 0J1 1e308J1e308",
}
MONADIC = ("+", "-", "×", "÷", "*", "⍟", "√", "⌊", "⌈", "|", "!", "○", "~", "⎕erf ", "⎕lgamma ", "⎕bnot ", "⎕expm1 ", "⎕log1p ",
           "u8 ", "i32 ", "i64 ", "f32 ", "f64 ", "bool ", "char ", "2 2 2⊤", "1○", "7 8⍴", "4⊃5⍴", "1 2 3⌽⍨", "1 2 3↓⍨",
           "+/3⍴", "×/3⍴", "+\\3⍴", "⍕")  # fmt: skip
DYADIC = ("+", "-", "×", "÷", "*", "⍟", "√", "⌊", "⌈", "|", "!", "∧", "∨", "⍲", "⍱", "<", "≤", "=", "≥", ">", "≠", "⊥", "⊤", "≡",
          "∊", "⍳⍨", "~", "∪", "∩", "⍷", "⎕atan2", "⎕band", "⎕bor", "⎕bxor", "⎕shl", "⎕shr", "⎕shru", ",", "↓", "⌽", "⊃",
          "⌷")  # fmt: skip

REAL = re.compile(r"-?[0-9.]+(?:e[-+]?[0-9]+)?|-?inf")
Result = tuple[str, Any]
"""("value", its type and items) or ("refused", a code)."""


def number(text: str) -> int | float | complex:
    """What a literal says."""
    plain = text.replace("¯", "-").replace("∞", "inf").replace("⎕", "").replace("_", "")
    if "J" in plain:
        real, imaginary = plain.split("J")
        return complex(float(real), float(imaginary))
    return float(plain) if any(letter in plain for letter in ".nae") else int(plain)


def result(text: str, arrays: dict[str, Any] | None = None, settings: dict[str, str] | None = None) -> Result:
    """What a program shows last, to the bit but for the sign of a NaN, or how it is refused."""
    try:
        checked = SESSION.check(Source(EVAL, text))
        errors = [d.code for d in checked.diagnostics if d.is_error]
        if errors or checked.core is None:
            return "refused", str(errors[0])
        loaded = SESSION.load(checked, RunRequest(params=settings or {}, arrays=arrays or {}))
        value = np.asarray(as_numpy(SESSION.run(loaded).printed[-1].value))
    except RhoError as error:
        return "refused", str(error.diagnostics[0].code)
    items = ["NaN" if item != item else repr(item) for item in value.ravel().tolist()]
    return "value", (value.dtype.name, value.shape, items)


def is_of_checking(code: str) -> bool:
    return code < "E7"


def everywhere(expression: str, constants: dict[str, tuple[str, str]]) -> dict[str, Result]:
    """By place, what an expression over `{a}` and `{b}` gives; `constants`: of each its kind and its literal."""
    literals = {name: f"({kind} {text})" for name, (kind, text) in constants.items()}
    names, texts = expression.format(a="a", b="b"), {name: text.replace("⎕", "") for name, (_, text) in constants.items()}
    with np.errstate(all="ignore"):
        arrays = {name: np.array(number(text)).astype(DTYPES[kind]) for name, (kind, text) in constants.items()}
    kinds = {name: kind for name, (kind, _) in constants.items()}
    any_of = {name: "¯1" if kind in ("i32", "i64") else "1" for name, kind in kinds.items()}  # a natural i64 would be a size
    dyadic = len(constants) > 1
    inside = expression.format(a="⍺" if dyadic else "⍵", b="⍵")
    call = f"{literals['a']} f {literals['b']}" if dyadic else f"f {literals['a']}"
    made = {
        "input": result("".join(f"input {n} : {k}\n" for n, k in kinds.items()) + names, arrays),
        "inline": result(expression.format(**literals)),
        "local": result("".join(f"{n} ← {text}\n" for n, text in literals.items()) + names),
        "template": result(f"f ← {{{inside}}}\n{call}"),
        "param": result("".join(f"param {n} ← {text}\n" for n, text in literals.items()) + names),
        "set": result("".join(f"param {n} ← {k} {any_of[n]}\n" for n, k in kinds.items()) + names, settings=texts),
        "one item": result("".join(f"input {n} : {k}[1]\n" for n, k in kinds.items()) + expression.format(a="(⊃a)", b="(⊃b)"),
                           {n: array.reshape(1) for n, array in arrays.items()}),
    }  # fmt: skip
    how, what = made["input"]
    if how == "value" and what[1] == () and what[0] in KINDS:
        made["signature"] = result(f"f : {' → '.join(kinds.values())} → {KINDS[what[0]]}\nf ← {{{inside}}}\n{call}")
    return made


def differences(made: dict[str, Result], *, typed: bool = True, sizes: bool = False) -> list[str]:
    """Where a place has another value than an input has.  What is known may be refused sooner (E330, a size that cannot be), and
    what is not known may be refused for that; nothing else differs.  `typed`: kinds too.  `sizes`: numbers that
    have to be known may be among them."""
    wanted_how, wanted = made["input"]
    problems = []
    for place, (how, got) in made.items():
        if how == wanted_how == "value":
            wrong = got != wanted if typed else untyped(got) != untyped(wanted)
        elif how == "value":
            wrong = not is_of_checking(wanted)
        elif wanted_how == "value":
            wrong = got not in ("E330", "E201", "E202") and not (sizes and is_of_checking(got))
        else:
            wrong = got != wanted and not is_of_checking(got)
        if wrong:
            problems.append(f"{place}: {got}, not {wanted}")
    return problems


def untyped(value: tuple[str, Any, list[str]]) -> tuple[Any, list[object]]:
    """Shape and items as numbers: what is known to be a truth value or a whole number may be stored as one."""
    truths = {"True": 1.0, "False": 0.0}
    return value[1], [truths[item] if item in truths else float(item) if REAL.fullmatch(item) else item for item in value[2]]
