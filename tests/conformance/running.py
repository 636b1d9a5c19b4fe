"""A program's printed values by the plan and by the reference interpreter, as the tables write them."""

from __future__ import annotations

import numpy as np

from rho import backend
from rho.backend.reference.interpreter import interpret
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

from .expected import Item, Value

Answer = tuple[Value, ...] | str


def answers(program: str) -> tuple[Answer, Answer]:
    """What the plan and the reference print, or the code of the first error."""
    try:
        found = check(Source("<case>", program + "\n"))
    except RhoError as error:
        return (error.diagnostics[0].code,) * 2
    if found.core is None:
        return (next(d.code for d in found.diagnostics if d.is_error),) * 2
    core = found.core
    try:
        bound = backend.load(core, {}, {})
        shown = backend.execute(backend.plan(bound), bound, {}).printed
        planned: Answer = tuple([Value(tuple(s.value.shape), _items(np.ravel(s.value).tolist(), s.kind.value)) for s in shown])
    except RhoError as error:
        planned = error.diagnostics[0].code
    try:
        arrays = interpret(core, {}, {}).printed
        exact: Answer = tuple(Value(tuple(a.shape), _items(list(a.data), a.kind.value)) for a in arrays)
    except RhoError as error:
        exact = error.diagnostics[0].code
    return planned, exact


def _items(data: list[object], kind: str) -> tuple[Item, ...]:
    if kind == "char":
        return tuple(str(x) or "\0" for x in data)
    return tuple(complex(x) for x in data)  # type: ignore[call-overload]


def spelled(answer: Answer) -> str:
    return answer if isinstance(answer, str) else " ⋄ ".join(map(str, answer))
