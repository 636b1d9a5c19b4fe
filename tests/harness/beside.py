"""Functions of the library beside other libraries: a program has an output for each case and runs on each set of data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from share import share

import rho

Data = Mapping[str, Any]
Cases = Mapping[str, Callable[..., Any]]
"""An expression of Rho, and what it is beside: a function of the inputs by name."""


def disagreements(folder: Path, head: str, cases: Cases, data: Mapping[str, Data], within: float = 1e-12) -> list[str]:
    """The cases whose values differ from the reference by more than rounding, with the name of the data.

    `head` is the text of the program before its outputs: `use`, inputs and definitions.  A reference that is `None` has no say on
    these data.  Of the cases a run takes three shares.
    """
    some = {case for number in range(3) for case in share(list(cases), number)}
    cases = {expression: reference for expression, reference in cases.items() if expression in some}
    path = folder / "beside.rho"
    outputs = "".join(f"output case{number} ← {expression}\n" for number, expression in enumerate(cases))
    path.write_text(f"{head}\n{outputs}", encoding="utf-8")
    program = rho.load(path)
    wrong = []
    for name, given in data.items():
        result = program.run(**given)
        for number, (expression, reference) in enumerate(cases.items()):
            with np.errstate(all="ignore"):
                expected = reference(**given)
            if expected is None:
                continue
            value, expected = np.asarray(result[f"case{number}"]), np.asarray(expected)
            if value.shape != expected.shape or not same(value, expected, within):
                wrong.append(f"{name}: {expression} is {value}, not {expected}")
    return wrong


def same(value: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], within: float) -> bool:
    """Equal text, dates or times, or numbers that agree within a relative and absolute error, NaN with NaN."""
    if value.dtype.kind in "USmM" or expected.dtype.kind in "USmM":
        return bool((value == expected).all())
    return bool(np.allclose(value, expected, rtol=within, atol=within, equal_nan=True))
