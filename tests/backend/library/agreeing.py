"""Operands for library ops, and their results compared with the reference interpreter: on cells, strided, over frames."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from share import drawing

from rho.backend.cpu.views import DTYPES
from rho.backend.graph.phases import LibraryPhase, PhaseId, ValueId
from rho.backend.graph.registry import LIBRARY
from rho.backend.library.operation import OperationContext
from rho.backend.library.operation_table import OPERATIONS
from rho.backend.reference.arrays import assemble, cells
from rho.backend.vm.check_failures import CheckFailed
from rho.backend.vm.values import Array, array, to_numpy
from rho.lang.diagnostics.model import RunFailed
from rho.lang.syntax.source import Span
from rho.typechecker.elements import ArrayType, Element, Kind
from rho.typechecker.sizes.polynomials import SizeOrigin, SizeVariable, number

SPAN = Span("test", 3, 7)
FLOATS = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, math.inf, -math.inf, math.nan, 1e300, 3.0, 0.1]
NUMBERS = [Kind.U8, Kind.I32, Kind.I64, Kind.F32, Kind.F64, Kind.C64, Kind.C128]
ALL = [Kind.BOOL, Kind.CHAR, *NUMBERS]
ORDERED = [k for k in ALL if not k.is_complex]
SHAPES: list[tuple[int, ...]] = [(), (0,), (1,), (5,), (2, 3), (0, 3), (3, 0), (2, 3, 2), (1, 1, 4)]


def item(kind: Kind, draw: random.Random, *, plain: bool = False) -> Any:
    if kind is Kind.BOOL:
        return draw.random() < 0.5
    if kind is Kind.CHAR:
        return draw.choice("ab ⍴\U0001f600")
    if kind.is_integer:
        info = np.iinfo(DTYPES[kind])
        if not plain and draw.random() < 0.1:
            return draw.choice([int(info.min), int(info.max)])
        return draw.randint(0 if kind is Kind.U8 else -3, 4)
    if kind.is_complex:
        return complex(item(Kind.F64, draw, plain=True), item(Kind.F64, draw, plain=True))
    return draw.choice([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -3.25] if plain or draw.random() < 0.6 else FLOATS)


def fresh(kind: Kind, shape: Sequence[int], seed: int = 0, *, plain: bool = False) -> Array:
    draw = drawing(kind.value, tuple(shape), seed)
    return array(kind, shape, [item(kind, draw, plain=plain) for _ in range(math.prod(shape))])


def indices(shape: Sequence[int], below: int, seed: int = 0, least: int = 0) -> Array:
    draw = random.Random(seed)
    return array(Kind.I64, shape, [draw.randint(least, below - 1) for _ in range(math.prod(shape))])


def raw(value: Array) -> Any:
    """As stored on the CPU back end, read only."""
    found = to_numpy(value)
    if value.kind is Kind.CHAR:
        found = np.array(list(map(ord, value.data)), np.uint32).reshape(value.shape)  # type: ignore[arg-type]
    found.flags.writeable = False
    return found


def bits(kind: Kind, value: Any) -> str:
    """Text that tells 0.0 from ¯0.0 and lets NaN equal NaN."""
    if kind is Kind.CHAR:
        return chr(value) if not isinstance(value, str) else value
    return repr(complex(value)) if kind.is_complex else repr(float(value)) if kind.is_float else repr(int(value))


def run(
    op: str,
    args: Sequence[Array],
    results: Sequence[tuple[Kind, Sequence[int]]],
    attributes: dict[str, object],
    strided: bool = False,
) -> tuple[Any, ...]:
    """One execution of the phase; checks dtypes, shapes, and that operands are neither changed nor shared."""
    size = SizeVariable("k", 900, SizeOrigin.RUNTIME, number(10**6))
    defines = (size,) if LIBRARY[op].defines else ()
    names = [ValueId(i) for i in range(len(args) + len(results))]
    described = [(a.kind, a.shape) for a in args] + [(kind, tuple(shape)) for kind, shape in results]
    types = {n: ArrayType(Element(kind), tuple(map(number, shape))) for n, (kind, shape) in zip(names, described, strict=True)}
    phase = LibraryPhase(PhaseId(0), SPAN, op, tuple(names[: len(args)]), tuple(names[len(args) :]), attributes, defines, ())
    arrays = [raw(a) for a in args]
    if strided:
        arrays = [np.stack([a, a], -1)[..., 0] for a in arrays]
    before = [a.copy() for a in arrays]
    context = OperationContext(types, {})
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        found = OPERATIONS[op].run(phase, tuple(arrays), context)
    assert len(found) == len(results)
    for made, (kind, shape) in zip(found, results, strict=True):
        assert isinstance(made, np.ndarray) and made.dtype == DTYPES[kind] and made.shape == tuple(shape), (
            op,
            made.dtype,
            made.shape,
        )
        assert not any(np.shares_memory(made, a) for a in arrays)
    for now, then in zip(arrays, before, strict=True):
        assert np.array_equal(now, then, equal_nan=now.dtype.kind in "fc")
    if defines and results:
        axis = attributes.get("axis", -1 if op == "format" else 0)
        assert context.sizes[size] == found[0].shape[axis]  # type: ignore[index]
    return found


def agree(found: Any, want: Array, tolerance: float = 0.0) -> bool:
    if want.kind is Kind.CHAR or not tolerance:
        return [bits(want.kind, v) for v in found.reshape(-1).tolist()] == [bits(want.kind, v) for v in want.data]
    expected = np.array(want.data, found.dtype).reshape(want.shape)
    epsilon = float(np.finfo(found.dtype).eps)
    scale = float(np.abs(expected[np.isfinite(expected)]).max(initial=1.0))
    return bool(np.allclose(found, expected, rtol=tolerance * epsilon, atol=tolerance * epsilon * scale, equal_nan=True))


Reference = Callable[..., Any]


def compare(op: str, args: Sequence[Array], reference: Reference, tolerance: float = 0.0, **attributes: object) -> None:
    """The op against `reference` of the same operands (no frame)."""
    try:
        want = reference(*args)
    except CheckFailed as failure:
        with pytest.raises(RunFailed) as caught:
            run(op, args, [(args[0].kind, ())], attributes)
        diagnostic = caught.value.diagnostics[0]
        assert (diagnostic.code, diagnostic.message, diagnostic.span) == (failure.code, failure.message, SPAN)
        return
    expected = want if isinstance(want, tuple) else (want,)
    for strided in (False, True):
        found = run(op, args, [(w.kind, w.shape) for w in expected], attributes, strided)
        for made, w in zip(found, expected, strict=True):
            assert agree(made, w, tolerance), f"{op} {attributes} {args}: {made!r}, not {w}"


def lifted(
    op: str,
    args: Sequence[Array],
    framed: Sequence[bool],
    frame: Sequence[int],
    reference: Reference,
    tolerance: float = 0.0,
    cell: tuple[Kind, Sequence[int]] | None = None,
    **attributes: object,
) -> None:
    """The op over a frame against `reference` of each cell; `cell` is the result's cell where the frame is empty."""
    rank = len(frame)
    parts = [cells(a, rank) if carries else [a] * math.prod(frame) for a, carries in zip(args, framed, strict=True)]
    made = [reference(*own) for own in zip(*parts, strict=True)] if math.prod(frame) else []
    kind, shape = (made[0].kind, made[0].shape) if made else cell  # type: ignore[misc]
    want = assemble(kind, frame, shape, made)
    attributes = {**attributes, "frame": rank, "framed": tuple(framed)}
    for strided in (False, True):
        found = run(op, args, [(want.kind, want.shape)], attributes, strided)
        assert agree(found[0], want, tolerance), f"{op} {attributes} {args}: {found[0]!r}, not {want}"
