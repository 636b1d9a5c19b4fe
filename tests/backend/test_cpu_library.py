"""Every library op on NumPy arrays agrees with the reference interpreter, on cells and over frames."""

from __future__ import annotations

import itertools
import math
import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from rho.backend.graph.phases import LibraryPhase, PhaseId, ValueId
from rho.backend.graph.registry import LIBRARY
from rho.backend.run.cpu.context import Context
from rho.backend.run.cpu.kinds import DTYPES
from rho.backend.run.cpu.library import IMPLEMENTATIONS, keys, library_kernel
from rho.backend.run.reference import linear, reductions, searching, selection, structure
from rho.backend.run.reference.failures import CheckFailed
from rho.backend.run.reference.indexing import assemble, cells
from rho.backend.run.reference.operations import uniform
from rho.backend.run.text import format_items
from rho.backend.run.values import Array, array, scalar, to_numpy
from rho.lang.diagnostics import RunFailed
from rho.lang.source import Span
from rho.typechecker.elements import Element, Kind
from rho.typechecker.scalars import FUNCTIONS, ResultKind
from rho.typechecker.sizes import SizeOrigin, SizeVariable, number
from rho.typechecker.types import ArrayType

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
    draw = random.Random(f"{kind.value}{tuple(shape)}{seed}")
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
    context = Context(types, {})
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        found = IMPLEMENTATIONS[op](phase, tuple(arrays), context)
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


def test_every_op_has_an_implementation() -> None:
    assert set(IMPLEMENTATIONS) == set(LIBRARY)


# ------------------------------------------------------------------------------------------ moving


def test_size_vector() -> None:
    for sizes in ((), (3,), (2, 0, -5)):
        found = run("size_vector", [], [(Kind.I64, (len(sizes),))], {"sizes": tuple(map(number, sizes))})
        assert found[0].tolist() == list(sizes)


@pytest.mark.parametrize("kind", ALL)
def test_join_and_stack(kind: Kind) -> None:
    for shape in SHAPES:
        many = [fresh(kind, shape, seed) for seed in range(3)]
        for count, axis in itertools.product((1, 3), range(len(shape) + 1)):
            compare("stack", many[:count], lambda *a, axis=axis: structure.stack(a, axis), axis=axis)
        for axis in range(len(shape)):
            longer = fresh(kind, (*shape[:axis], shape[axis] + 2, *shape[axis + 1 :]), 7)
            compare("join", [*many[:2], longer], lambda *a, axis=axis: structure.join(a, axis), axis=axis)
            compare("join", many[:1], lambda *a, axis=axis: structure.join(a, axis), axis=axis)


def test_rotate() -> None:
    for shape in [*SHAPES[1:], (3, 70), (70, 2), (2, 65, 2)]:
        value = fresh(Kind.F64, shape)
        for axis in range(len(shape)):
            rest = shape[:axis] + shape[axis + 1 :]
            for amount in (
                scalar(Kind.I64, 0),
                scalar(Kind.I64, -2),
                scalar(Kind.I64, 2**63 - 1),
                indices(rest, 9, 3, -9),
                array(Kind.I64, rest, [-(2**63)] * math.prod(rest)),
            ):
                compare("rotate", [value, amount], lambda v, a, axis=axis: structure.rotate(v, a, axis), axis=axis)


@pytest.mark.parametrize("kind", ALL)
def test_cycling_reshape(kind: Kind) -> None:
    for old, new in itertools.product(SHAPES, [*SHAPES, (17,), (3, 7)]):
        value = fresh(kind, old)
        results = [(kind, new)]
        found = run("reshape_cycle", [value], results, {})
        assert agree(found[0], structure.reshape(value, new))
    lifted("reshape_cycle", [fresh(kind, (2, 3))], [True], (2,), lambda v: structure.reshape(v, (2, 4)))
    lifted("reshape_cycle", [fresh(kind, (2, 0))], [True], (2,), lambda v: structure.reshape(v, (3,)))


# --------------------------------------------------------------------------------------- selecting


@pytest.mark.parametrize("kind", [Kind.BOOL, Kind.CHAR, Kind.F64])
def test_gather(kind: Kind) -> None:
    for shape, own, fills in itertools.product(SHAPES[1:], [(), (0,), (4,), (2, 2)], (False, True)):
        for axis, length in enumerate(shape):
            if not length and math.prod(own) and not fills:
                continue
            chosen = indices(own, length, 5, -1 if fills else 0)
            value = fresh(kind, shape)
            compare(
                "gather",
                [value, chosen],
                lambda v, i, axis=axis, fills=fills: selection.gather(v, i, axis, True, fills),
                axis=axis,
                checked=True,
                fills=fills,
            )


def test_gather_checks_every_index() -> None:
    value = fresh(Kind.F64, (3, 2))
    for bad, fills in (([0, 3], False), ([1, -1, 5], False), ([-2], True), ([2**62], False)):
        compare(
            "gather",
            [value, array(Kind.I64, (len(bad),), bad)],
            lambda v, i, fills=fills: selection.gather(v, i, 0, True, fills),
            axis=0,
            checked=True,
            fills=fills,
        )
    with pytest.raises(AssertionError):
        run("gather", [value, array(Kind.I64, (1,), [-1])], [(Kind.F64, (1, 2))], {"axis": 0, "checked": False, "fills": False})
    compare(
        "gather",
        [fresh(Kind.F64, (0, 2)), array(Kind.I64, (1,), [0])],
        lambda v, i: selection.gather(v, i, 0, True, False),
        axis=0,
        checked=True,
        fills=False,
    )


@pytest.mark.parametrize("framed", [(True, True), (True, False), (False, True)])
def test_gather_over_frames(framed: tuple[bool, bool]) -> None:
    for frame, cell, own, fills in itertools.product(
        [(2,), (2, 3)], [(4,), (3, 4), (2, 3, 4)], [(), (2,), (2, 2)], (False, True)
    ):
        for axis, length in enumerate(cell):
            value = fresh(Kind.I64, (*frame, *cell) if framed[0] else cell)
            chosen = indices((*frame, *own) if framed[1] else own, length, 1, -1 if fills else 0)
            lifted(
                "gather",
                [value, chosen],
                framed,
                frame,
                lambda v, i, axis=axis, fills=fills: selection.gather(v, i, axis, True, fills),
                axis=axis,
                checked=True,
                fills=fills,
            )
    nothing = [fresh(Kind.I64, (0, 4) if framed[0] else (4,)), indices((0, 2), 3) if framed[1] else array(Kind.I64, (2,), [9, 9])]
    lifted("gather", nothing, framed, (0,), lambda v, i: v, cell=(Kind.I64, (2,)), axis=0, checked=True, fills=False)


def test_update() -> None:
    cases: list[tuple[tuple[int, ...], tuple[tuple[int, ...] | None, ...]]] = [
        ((5,), ((),)),
        ((5,), ((4,),)),
        ((5,), ((2, 3),)),
        ((5,), ((0,),)),
        ((3, 4), ((2,), None)),
        ((3, 4), (None, (6,))),
        ((3, 4), ((4,), (3,))),
        ((3, 4), ((), ())),
        ((3, 4), (None, None)),
        ((2, 3, 4), ((3,), None, (2,))),
        ((), ()),
        ((0, 3), (None, (2,))),
        ((3, 0), ((2,), None)),
        ((2, 3, 2), (None, (5,), None)),
    ]
    for shape, choice in cases:
        value = fresh(Kind.I64, shape)
        present = [indices(own, shape[axis], axis) for axis, own in enumerate(choice) if own is not None]
        selected = tuple(n for axis, own in enumerate(choice) for n in ((shape[axis],) if own is None else own))
        attributes = {"indexed": tuple(own is not None for own in choice), "checked": True}

        def reference(v: Array, *rest: Array, choice: Any = choice) -> Array:
            supply = iter(rest[:-1])
            return selection.update(v, [None if own is None else next(supply) for own in choice], rest[-1], True)

        for new in (fresh(Kind.I64, selected, 9), scalar(Kind.I64, 42)):
            compare("update", [value, *present, new], reference, **attributes)
            frame = (2,)
            for flags in itertools.product((False, True), repeat=2 + len(present)):
                if any(flags):
                    own = [fresh(Kind.I64, (2, *shape), 4) if flags[0] else value]
                    own += [
                        array(Kind.I64, (2, *p.shape), p.data + p.data[::-1]) if f else p
                        for p, f in zip(present, flags[1:-1], strict=True)
                    ]
                    own += [fresh(Kind.I64, (2, *new.shape), 6) if flags[-1] else new]
                    lifted("update", own, flags, frame, reference, **attributes)
    compare(
        "update",
        [fresh(Kind.I64, (3,)), array(Kind.I64, (2,), [0, 3]), scalar(Kind.I64, 1)],
        lambda v, i, r: selection.update(v, [i], r, True),
        indexed=(True,),
        checked=True,
    )


def test_the_last_of_many_duplicates_wins() -> None:
    count = 20_000
    draw = np.random.default_rng(0)
    chosen, new = draw.integers(0, 7, count), np.arange(count)
    want = np.zeros(9, np.int64)
    for i, v in zip(chosen.tolist(), new.tolist(), strict=True):
        want[i] = v
    vectors = [
        array(Kind.I64, (9,), [0] * 9),
        array(Kind.I64, (count,), chosen.tolist()),
        array(Kind.I64, (count,), new.tolist()),
    ]
    assert run("update", vectors, [(Kind.I64, (9,))], {"indexed": (True,), "checked": True}, True)[0].tolist() == want.tolist()
    rows = [array(Kind.I64, (9, 2), [0] * 18), vectors[1], array(Kind.I64, (count, 2), np.repeat(new, 2).tolist())]
    found = run("update", rows, [(Kind.I64, (9, 2))], {"indexed": (True, False), "checked": True}, True)[0]
    assert found[:, 0].tolist() == found[:, 1].tolist() == want.tolist()


# ----------------------------------------------------------------------------------------- masking


def test_masks() -> None:
    for shape in SHAPES[1:]:
        value = fresh(Kind.CHAR, shape)
        for rank in {1, len(shape)}:
            mask = fresh(Kind.BOOL, shape[:rank], 1)
            places = sum(map(bool, mask.data))
            for new in (fresh(Kind.CHAR, (places, *shape[rank:]), 2), scalar(Kind.CHAR, "z")):
                compare("mask_update", [value, mask, new], selection.mask_update)
        for axis, length in enumerate(shape):
            mask = fresh(Kind.BOOL, (length,), 3)
            compare("compress", [mask, value], lambda m, v, axis=axis: selection.compress(m, v, axis), axis=axis)
            wide = array(Kind.BOOL, (length + 2,), [True] * length + [False, False])
            compare("expand", [wide, value], lambda m, v, axis=axis: selection.expand(m, v, axis), axis=axis, checked=True)
    short = [fresh(Kind.I64, (3,)), array(Kind.BOOL, (3,), [1, 1, 0]), array(Kind.I64, (1,), [7])]
    compare("mask_update", short, selection.mask_update)
    compare("expand", [short[1], short[0]], lambda m, v: selection.expand(m, v, 0), axis=0, checked=True)


def test_masks_over_frames() -> None:
    mask = array(Kind.BOOL, (2, 3), [1, 0, 1, 1, 1, 0])
    lifted(
        "mask_update",
        [fresh(Kind.I64, (2, 3)), mask, fresh(Kind.I64, (2, 2), 5)],
        (True, True, True),
        (2,),
        selection.mask_update,
    )
    lifted(
        "expand",
        [mask, fresh(Kind.F64, (2, 2, 2))],
        (True, True),
        (2,),
        lambda m, v: selection.expand(m, v, 0),
        axis=0,
        checked=True,
    )
    one = array(Kind.BOOL, (3,), [1, 0, 1])
    lifted(
        "expand",
        [one, fresh(Kind.F64, (2, 3, 2))],
        (False, True),
        (2, 3),
        lambda m, v: selection.expand(m, v, 0),
        axis=0,
        checked=True,
    )
    lifted(
        "expand", [one, fresh(Kind.F64, (0, 3))], (False, True), (0,), lambda m, v: v, cell=(Kind.F64, (3,)), axis=0, checked=True
    )


def test_where_and_sizes() -> None:
    for shape in SHAPES:
        compare("where", [fresh(Kind.BOOL, shape, 4)], selection.where)
    size = SizeVariable("k", 1, SizeOrigin.RUNTIME, number(5))
    types = {ValueId(0): ArrayType(Element(Kind.I64), ())}
    phase = LibraryPhase(PhaseId(0), SPAN, "runtime_size", (ValueId(0),), (), {}, (size,), ())
    context = Context(types, {})
    assert IMPLEMENTATIONS["runtime_size"](phase, (np.array(5),), context) == () and context.sizes == {size: 5}
    for bad in (-1, 6):
        with pytest.raises(RunFailed) as caught:
            IMPLEMENTATIONS["runtime_size"](phase, (np.array(bad),), context)
        assert caught.value.diagnostics[0].code == "E403"


# ------------------------------------------------------------------------------- reductions, scans

DYADIC = [
    (row.name, kind)
    for row in FUNCTIONS.values()
    if row.arity == 2
    for kind in ALL
    if kind in row.kinds and kind is not Kind.CHAR
]
ROUNDED = {"pow", "log", "root", "binomial", "residue", "gcd", "lcm", "div", "mul"}


CHAOTIC = {"pow", "log", "root", "binomial", "residue"}
"""Of complex numbers: at a pole the result is not fixed, and repeated application magnifies rounding."""


def operands(function: str, kind: Kind, shape: Sequence[int]) -> Array:
    if function == "ipow":  # a greater base overflows into negative exponents
        return array(kind, shape, [random.Random(i).randint(0, 2) for i in range(math.prod(shape))])
    if function in ("min", "max") and kind.is_float:  # which of 0.0 and ¯0.0 is smaller is not fixed
        return array(kind, shape, [v + 0.0 for v in fresh(kind, shape, 11).data])  # type: ignore[operator]
    if function in CHAOTIC and kind.is_complex:
        return array(kind, shape, [v or 1.5 for v in fresh(kind, shape, 11, plain=True).data])
    if function in ("gcd", "lcm") and (kind.is_float or kind.is_complex):
        return array(kind, shape, [random.Random(i).randint(1, 12) for i in range(math.prod(shape))])
    return fresh(kind, shape, 11, plain=function in ROUNDED)


@pytest.mark.parametrize(("function", "kind"), DYADIC)
def test_reductions_and_scans(function: str, kind: Kind) -> None:
    tolerance = 64.0 if function in ROUNDED and (kind.is_float or kind.is_complex) else 0.0
    if kind.is_complex:
        tolerance = 64.0
    for shape in [(0,), (1,), (2,), (3,), (9,), (4, 3), (3, 11), (0, 2), (2, 0), (2, 5, 2), (0, 0)]:
        value = operands(function, kind, shape)
        for axis in range(len(shape)):
            if kind.is_complex and function in CHAOTIC and shape[axis] > 2:
                continue
            compare(
                "scan", [value], lambda v, axis=axis: reductions.scan(function, v, axis), tolerance, function=function, axis=axis
            )
            if function not in ("add", "mul") and not (shape == (0, 0) or shape == (2, 0)):
                compare(
                    "reduce_sequential",
                    [value],
                    lambda v, axis=axis: reductions.reduce(function, v, axis),
                    tolerance,
                    function=function,
                    axis=axis,
                )


@pytest.mark.parametrize("function", ["nand", "nor", "eq", "ne", "lt", "le", "ge", "gt"])
def test_truth_functions_on_every_short_vector(function: str) -> None:
    for length in range(1, 7):
        items = list(itertools.product((False, True), repeat=length))
        value = array(Kind.BOOL, (len(items), length), [v for row in items for v in row])
        compare("scan", [value], lambda v: reductions.scan(function, v, 1), function=function, axis=1)
        compare("reduce_sequential", [value], lambda v: reductions.reduce(function, v, 1), function=function, axis=1)


@pytest.mark.parametrize(
    ("function", "kind"), [row for row in DYADIC if row[1] in (Kind.BOOL, Kind.I64, Kind.U8, Kind.F32, Kind.F64)]
)
def test_keyed_reductions(function: str, kind: Kind) -> None:
    tolerance = 64.0 if function in ROUNDED - {"mul"} and kind.is_float else 0.0
    has_identity = FUNCTIONS[function].identity is not None
    for own, cell in itertools.product([(0,), (1,), (12,), (3, 4)], [(), (2,), (0,), (70,)]):
        chosen = indices(own, 3 if not has_identity else 4, 8)
        bins = 4 if has_identity else len(set(chosen.data)) or 3
        if not has_identity:
            order = {v: i for i, v in enumerate(sorted(set(chosen.data)))}  # type: ignore[type-var]
            chosen = array(Kind.I64, own, [order[v] for v in chosen.data])
        value = operands(function, kind, (*own, *cell))

        def reference(i: Array, v: Array, bins: int = bins) -> Array:
            return reductions.key_reduce(function, i, v, bins, True)

        try:
            want = reference(chosen, value)
        except CheckFailed as failure:
            with pytest.raises(RunFailed) as caught:
                run("key_reduce", [chosen, value], [(kind, (bins, *cell))], {"function": function, "checked": True})
            assert caught.value.diagnostics[0].code == failure.code == "E204"
            continue
        found = run("key_reduce", [chosen, value], [(want.kind, want.shape)], {"function": function, "checked": True}, True)
        assert agree(found[0], want, tolerance), (function, kind, chosen, value, found, want)
    for framed in ((True, True), (False, True), (True, False)):
        chosen = array(Kind.I64, (2, 4), [0, 1, 1, 0, 1, 0, 1, 1]) if framed[0] else array(Kind.I64, (4,), [1, 0, 1, 1])
        value = operands(function, kind, (2, 4, 2) if framed[1] else (4, 2))
        lifted(
            "key_reduce",
            [chosen, value],
            framed,
            (2,),
            lambda i, v: reductions.key_reduce(function, i, v, 2, True),
            tolerance,
            function=function,
            checked=True,
        )


def test_keyed_sums_keep_order_and_signs() -> None:
    draw = random.Random(5)
    for kind in (Kind.F32, Kind.F64):
        value = array(kind, (300,), [draw.choice([1e8, -1e8, 1.0, 0.1, 1e-9]) for _ in range(300)])
        chosen = indices((300,), 4, 2)
        compare(
            "key_reduce", [chosen, value], lambda i, v: reductions.key_reduce("add", i, v, 4, True), function="add", checked=True
        )  # type: ignore[arg-type]
    value = array(Kind.F64, (5,), [-0.0, -0.0, 0.0, -0.0, 1.0])
    compare(
        "key_reduce",
        [array(Kind.I64, (5,), [0, 1, 1, 2, 2]), value],
        lambda i, v: reductions.key_reduce("add", i, v, 4, True),
        function="add",
        checked=True,
    )


def test_keyed_reduction_of_large_groups() -> None:
    draw = random.Random(1)
    chosen = array(Kind.I64, (900,), [draw.choice([0, 0, 0, 1, 2]) for _ in range(900)])
    for function, kind in (("sub", Kind.I64), ("lcm", Kind.I32), ("lt", Kind.F64), ("nand", Kind.BOOL)):
        value = operands(function, kind, (900,))
        run_want = reductions.key_reduce(function, chosen, value, 3, True)
        found = run("key_reduce", [chosen, value], [(kind, (3,))], {"function": function, "checked": True})
        assert agree(found[0], run_want)


def test_keys_are_checked() -> None:
    bad = [array(Kind.I64, (3,), [0, 3, 1]), fresh(Kind.F64, (3,))]
    with pytest.raises(RunFailed) as caught:
        run("key_reduce", bad, [(Kind.F64, (3,))], {"function": "add", "checked": True})
    assert caught.value.diagnostics[0].code == "E310"


@pytest.mark.parametrize("kind", NUMBERS)
def test_contract(kind: Kind) -> None:
    tolerance = 0.0 if kind.is_integer else 32.0
    for left, right in [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 4)),
        ((2, 2, 3), (3, 2, 2)),
        ((0,), (0,)),
        ((2, 0), (0, 3)),
        ((0, 3), (3, 2)),
        ((9, 12), (12, 10)),
    ]:
        plain = not kind.is_integer
        compare("contract", [fresh(kind, left, plain=plain), fresh(kind, right, 1, plain=plain)], reductions.contract, tolerance)
    for framed in ((True, True), (False, True), (True, False)):
        left_cell = fresh(kind, (2, 2, 3) if framed[0] else (2, 3), 2, plain=True)
        right_cell = fresh(kind, (2, 3, 4) if framed[1] else (3, 4), 3, plain=True)
        lifted("contract", [left_cell, right_cell], framed, (2,), reductions.contract, tolerance)


@pytest.mark.parametrize("kind", [Kind.U8, Kind.I32, Kind.I64])
def test_large_integers_multiply_exactly(kind: Kind) -> None:
    info = np.iinfo(DTYPES[kind])
    draw = np.random.default_rng(3)
    for high in (100, int(info.max), min(int(info.max), 2**40), min(int(info.max), 2**30)):  # the last limb carries the sign
        low = -high if info.min < 0 else 0
        a = draw.integers(low, high, (10, 40), endpoint=True, dtype=DTYPES[kind])
        b = draw.integers(low, high, (40, 9), endpoint=True, dtype=DTYPES[kind])
        args = [array(kind, m.shape, m.reshape(-1).tolist()) for m in (a, b)]
        assert np.array_equal(run("contract", args, [(kind, (10, 9))], {})[0], np.matmul(a, b))


@pytest.mark.parametrize("kind", NUMBERS)
def test_decode(kind: Kind) -> None:
    tolerance = 32.0 if kind.is_complex else 0.0
    pairs: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
        ((), ()),
        ((), (4,)),
        ((3,), (3,)),
        ((1,), (3,)),
        ((3,), (1,)),
        ((3,), ()),
        ((2, 3), (3,)),
        ((2, 3), (3, 2)),
        ((2, 1), (3, 2)),
        ((2, 3), (1, 2)),
        ((0,), (0,)),
        ((), (0,)),
        ((2, 0), (0, 3)),
        ((0, 3), (3, 2)),
        ((1,), (20,)),
    ]
    for radix, value in pairs:
        args = [fresh(kind, radix, 3, plain=True), fresh(kind, value, 4, plain=True)]
        compare("decode", args, reductions.decode, tolerance)
        for framed in ((True, True), (False, True), (True, False)):
            own = [fresh(kind, (2, *a.shape) if f else a.shape, 5, plain=True) for a, f in zip(args, framed, strict=True)]
            lifted("decode", own, framed, (2,), reductions.decode, tolerance)


@pytest.mark.parametrize("kind", NUMBERS)
def test_encode(kind: Kind) -> None:
    tolerance = 32.0 if kind.is_complex else 0.0
    if kind.is_integer:
        signed = kind is not Kind.U8
        extreme = [int(np.iinfo(DTYPES[kind]).min), int(np.iinfo(DTYPES[kind]).max)]
        bases, numbers = (
            [0, 2, 8, 10, 3, 1, *([-3, -1, -8] if signed else [])],
            [0, 1, 7, 100, *([-1, -29] if signed else []), *extreme],
        )
        values = array(kind, (len(numbers),), numbers)
        for base in bases:
            compare("encode", [array(kind, (3,), [base] * 3), values], reductions.encode)
            compare("encode", [scalar(kind, base), values], reductions.encode)
        compare("encode", [array(kind, (3, 2), [0, 2, 4, 5, 7, 0]), values], reductions.encode)
    for radix, shape in itertools.product([(), (3,), (2, 2), (0,)], [(), (4,), (2, 3), (0,)]):
        args = [fresh(kind, radix, 7, plain=True), fresh(kind, shape, 8, plain=True)]
        compare("encode", args, reductions.encode, tolerance)
        for framed in ((True, True), (False, True), (True, False)):
            own = [fresh(kind, (2, *a.shape) if f else a.shape, 9, plain=True) for a, f in zip(args, framed, strict=True)]
            lifted("encode", own, framed, (2,), reductions.encode, tolerance)


# --------------------------------------------------------------------------------------- searching


@pytest.mark.parametrize("kind", ALL)
def test_grades(kind: Kind) -> None:
    for descending in (False, True):

        def reference(v: Array, descending: bool = descending) -> Array:
            return searching.grade(v, descending)

        for shape in [*SHAPES[1:], (40,), (30, 2), (600,), (520, 2)]:
            compare("grade", [fresh(kind, shape, 6)], reference, descending=descending)
        for frame, cell in (((2,), (5,)), ((2, 2), (4, 2)), ((3,), (0,))):
            lifted("grade", [fresh(kind, (*frame, *cell), 2)], (True,), frame, reference, descending=descending)
        lifted("grade", [fresh(kind, (0, 3))], (True,), (0,), reference, cell=(Kind.I64, (3,)), descending=descending)


@pytest.mark.parametrize("width", [8, 20, 40, 63])
def test_grades_of_many_integers_are_stable(width: int) -> None:
    draw = np.random.default_rng(width)
    keys = draw.integers(-(2 ** (width - 1)), 2 ** (width - 1), 3000)
    keys[1::3] = keys[::3]
    value = array(Kind.I64, (3000,), keys.tolist())
    for descending in (False, True):
        found = run("grade", [value], [(Kind.I64, (3000,))], {"descending": descending})[0]
        assert found.tolist() == sorted(range(3000), key=lambda i: -int(keys[i]) if descending else int(keys[i]))


def test_grade_by() -> None:
    for order in ("", "ba", "aab⍴", "⍴ "):
        for shape, descending in itertools.product([(0,), (7,), (4, 3), (2, 0)], (False, True)):
            args = [array(Kind.CHAR, (len(order),), order), fresh(Kind.CHAR, shape, 3)]
            compare(
                "grade_by", args, lambda o, v, descending=descending: searching.grade_by(o, v, descending), descending=descending
            )


@pytest.mark.parametrize("kind", ALL)
def test_equality_of_cells(kind: Kind) -> None:
    for shape in [*SHAPES[1:], (50,), (40, 2), (30, 3), (12, 40)]:
        compare("first_occurrence", [fresh(kind, shape, 1)], searching.first_occurrence)
        for frame in [(), (0,), (6,), (2, 3)]:
            args = [fresh(kind, shape, 2), fresh(kind, (*frame, *shape[1:]), 3)]
            compare("index_of", args, searching.index_of)
            compare("member_of", [args[1], args[0]], searching.member_of)
            assert_match(args[0], args[1])
            assert_match(args[0], args[0])
    args = [fresh(kind, (3, 4), 2), fresh(kind, (3, 2), 3)]
    for flags in ((True, True), (True, False), (False, True)):
        pair = [fresh(kind, (3, 4) if flags[0] else (4,), 2), fresh(kind, (3, 2) if flags[1] else (2,), 3)]
        lifted("index_of", pair, flags, (3,), searching.index_of)
        lifted("member_of", pair[::-1], flags[::-1], (3,), searching.member_of)
        rows = [fresh(kind, (3, 4, 2) if flags[0] else (4, 2), 2), fresh(kind, (3, 5, 2) if flags[1] else (5, 2), 3)]
        lifted("index_of", rows, flags, (3,), searching.index_of)
        empty = [fresh(kind, (3, 0) if flags[0] else (0,), 2), fresh(kind, (3, 2) if flags[1] else (2,), 3)]
        lifted("index_of", empty, flags, (3,), searching.index_of)
    lifted("index_of", [fresh(kind, (0, 4)), fresh(kind, (0, 2))], (True, True), (0,), searching.index_of, cell=(Kind.I64, (2,)))
    lifted("first_occurrence", [fresh(kind, (2, 2, 6, 2), 2)], (True,), (2, 2), searching.first_occurrence)
    lifted("member_of", [args[1], args[0]], (True, True), (3,), searching.member_of)
    lifted("first_occurrence", [args[0]], (True,), (3,), searching.first_occurrence)
    for framed in ((True, True), (False, True), (True, False)):
        pair = [fresh(kind, (3, 2) if f else (2,), 4) for f in framed]
        lifted("match", pair, framed, (3,), lambda a, b: scalar(Kind.BOOL, searching.match(a, b)))


def assert_match(left: Array, right: Array) -> None:
    compare("match", [left, right], lambda a, b: scalar(Kind.BOOL, searching.match(a, b)))


def test_wide_range_tables() -> None:
    draw = np.random.default_rng(0)
    table = draw.integers(-(2**63), 2**63 - 1, 3000).tolist()
    table[500] = table[20]
    arg = table[::-1][:2000] + draw.integers(-(2**63), 2**63 - 1, 100).tolist()
    args = [array(Kind.I64, (3000,), table), array(Kind.I64, (2100,), arg)]
    first: dict[int, int] = {}
    for i, v in enumerate(table):
        first.setdefault(v, i)
    assert run("index_of", args, [(Kind.I64, (2100,))], {})[0].tolist() == [first.get(v, 3000) for v in arg]
    firsts = run("first_occurrence", args[:1], [(Kind.BOOL, (3000,))], {})[0]
    assert firsts.tolist() == [first[v] == i for i, v in enumerate(table)]


def test_rows_too_wide_for_a_word() -> None:
    draw = np.random.default_rng(1)
    rows = draw.integers(-(2**63), 2**63 - 1, (2000, 3))
    rows[1000:] = rows[draw.permutation(1000)]
    arg = rows[draw.integers(0, 2000, 500)].copy()
    arg[::5, 2] ^= 1
    first: dict[tuple[int, ...], int] = {}
    for i, row in enumerate(map(tuple, rows.tolist())):
        first.setdefault(row, i)
    args = [array(Kind.I64, m.shape, m.reshape(-1).tolist()) for m in (rows, arg)]
    assert run("index_of", args, [(Kind.I64, (500,))], {})[0].tolist() == [first.get(tuple(r), 2000) for r in arg.tolist()]


def test_text_never_equals_numbers() -> None:
    text, numbers = array(Kind.CHAR, (2,), "ab"), array(Kind.I64, (2,), [97, 98])
    for left, right in ((text, numbers), (numbers, text), (array(Kind.CHAR, (0,), ""), array(Kind.I64, (0,), []))):
        assert_match(left, right)
        compare("index_of", [left, right], searching.index_of)
        compare("member_of", [left, right], searching.member_of)
        compare("find", [left, right], searching.find)


@pytest.mark.parametrize("kind", ALL)
def test_find(kind: Kind) -> None:
    shapes = [
        ((), (5,)),
        ((1,), (5,)),
        ((2,), (30,)),
        ((0,), (3,)),
        ((0,), (0,)),
        ((2,), (1,)),
        ((2,), (3, 4)),
        ((2, 2), (4, 5)),
        ((2, 2), (5,)),
        ((3, 0), (4, 2)),
        ((0, 3), (4, 2)),
        ((), ()),
        ((2, 1, 2), (3, 2, 4)),
        ((1,), (0, 2)),
        ((3,), (40,)),
    ]
    for pattern, shape in shapes:
        compare("find", [fresh(kind, pattern, 3), fresh(kind, shape, 4)], searching.find)
    value = array(Kind.CHAR, (12,), "abracadabrab")
    for pattern_text in ("abra", "ab", "a", "zz", "rab", "abracadabrab"):
        compare("find", [array(Kind.CHAR, (len(pattern_text),), pattern_text), value], searching.find)
    for framed in ((True, True), (False, True), (True, False)):
        pair = [fresh(kind, (2, 2) if framed[0] else (2,), 5), fresh(kind, (2, 9) if framed[1] else (9,), 6)]
        lifted("find", pair, framed, (2,), searching.find)


@pytest.mark.parametrize("kind", ORDERED)
def test_interval_index(kind: Kind) -> None:
    def ascending(value: Array) -> Array:
        order = [int(i) for i in searching.grade(value, False).data]  # type: ignore[arg-type]
        rows = cells(value, 1)
        return assemble(kind, value.shape[:1], value.shape[1:], [rows[i] for i in order])

    for size, frame in itertools.product((0, 1, 6), [(), (0,), (7,), (2, 3)]):
        compare("interval_index", [ascending(fresh(kind, (size,))), fresh(kind, frame, 1)], searching.interval_index)
        compare("interval_index", [ascending(fresh(kind, (size, 2))), fresh(kind, (*frame, 2), 1)], searching.interval_index)
    lifted("interval_index", [fresh(kind, (2, 3)), fresh(kind, (2, 4), 1)], (True, True), (2,), searching.interval_index)


# ------------------------------------------------------------------------------ random, text, frames


def test_random() -> None:
    for shape in [*SHAPES, (1000,)]:
        for key in (scalar(Kind.I64, 7), scalar(Kind.I64, -(2**63)), array(Kind.I64, (2,), [3, -4])):
            compare_shape = [(Kind.F64, shape)]
            assert agree(run("random", [key], compare_shape, {})[0], uniform(key, shape))
    lifted("random", [array(Kind.I64, (3,), [1, 2, 3])], (True,), (3,), lambda key: uniform(key, (2, 2)))
    lifted("random", [array(Kind.I64, (2, 2), [1, 2, 3, 4])], (True,), (2,), lambda key: uniform(key, (5,)))


@pytest.mark.parametrize("kind", ALL)
def test_format(kind: Kind) -> None:
    def reference(value: Array) -> Array:
        characters, shape = format_items(value.kind, value.data, value.shape)
        return Array(Kind.CHAR, shape, tuple(characters))

    for shape in SHAPES:
        compare("format", [fresh(kind, shape, 2)], reference)


def test_kernels_take_items_from_cells() -> None:
    """A cell of rank 0 reaches a kernel as a NumPy scalar."""

    class Known:
        def kind(self, value: ValueId) -> Kind:
            return Kind.I64

        def shape(self, value: ValueId) -> tuple[int, ...]:
            return (2,)

        def cap_shape(self, value: ValueId) -> tuple[int, ...]:
            return (2,)

        def number(self, size: Any) -> int:
            return int(size.constant)

    phase = LibraryPhase(PhaseId(0), SPAN, "stack", (ValueId(0), ValueId(1)), (ValueId(2),), {"axis": 0}, (), ())
    kernel = library_kernel(phase, Known())
    assert kernel({ValueId(0): np.int64(4), ValueId(1): np.array(5)}, None)[0].tolist() == [4, 5]


# ------------------------------------------------------------------------------------ linear algebra

MATRICES = [(1, 1), (2, 2), (4, 4), (5, 2), (2, 5)]


def matrix(kind: Kind, shape: Sequence[int], seed: int = 0) -> Array:
    draw = random.Random(f"{shape}{seed}")
    items = [complex(draw.uniform(-2, 2), draw.uniform(-2, 2) if kind.is_complex else 0) for _ in range(math.prod(shape))]
    return array(kind, shape, items if kind.is_complex else [v.real for v in items])


def library(name: str, args: Sequence[Array], results: Sequence[tuple[Kind, tuple[int, ...]]], tolerance: float = 2000.0) -> None:
    compare(name, args, lambda *a: linear.library(name, a, [k for k, _ in results], [s for _, s in results]), tolerance)


@pytest.mark.parametrize("kind", [Kind.F32, Kind.F64, Kind.C64, Kind.C128])
def test_linear_algebra(kind: Kind) -> None:
    part = {Kind.C64: Kind.F32, Kind.C128: Kind.F64}.get(kind, kind)
    for frame, (m, n) in itertools.product([(), (2,), (2, 1), (0,)], MATRICES):
        a, k = matrix(kind, (*frame, m, n)), min(m, n)
        library("inverse", [a], [(kind, (*frame, n, m))])
        library("solve", [matrix(kind, (*frame, m, 3), 1), a], [(kind, (*frame, n, 3))])
        library("solve", [matrix(kind, (*frame, m), 1), a], [(kind, (*frame, n))])
        library("qr", [a], [(kind, (*frame, m, k)), (kind, (*frame, k, n))])
        library("svd", [a], [(kind, (*frame, m, k)), (part, (*frame, k)), (kind, (*frame, k, n))])
        if m == n:
            library("det", [a], [(kind, frame)])
            raised = to_numpy(a)
            positive = raised @ np.conjugate(np.swapaxes(raised, -1, -2)) + np.eye(n)
            hermitian = array(kind, positive.shape, positive.reshape(-1).tolist())
            library("cholesky", [hermitian], [(kind, hermitian.shape)])
            library("eigh", [hermitian], [(part, (*frame, n)), (kind, hermitian.shape)])


def test_matrices_of_lower_rank_and_without_items() -> None:
    kind = Kind.F64
    library("inverse", [matrix(kind, (3,))], [(kind, (3,))])
    library("inverse", [matrix(kind, ())], [(kind, ())])
    library("solve", [matrix(kind, (3,)), matrix(kind, (3,), 1)], [(kind, ())])
    library("det", [matrix(kind, (0, 0))], [(kind, ())])
    library("inverse", [matrix(kind, (0, 0))], [(kind, (0, 0))])
    library("inverse", [matrix(kind, (3, 0))], [(kind, (0, 3))])
    library("qr", [matrix(kind, (3, 0))], [(kind, (3, 0)), (kind, (0, 0))])
    library("qr", [matrix(kind, (0, 3))], [(kind, (0, 0)), (kind, (0, 3))])
    library("svd", [matrix(kind, (0, 3))], [(kind, (0, 0)), (kind, (0,)), (kind, (0, 3))])
    library("cholesky", [matrix(kind, (0, 0))], [(kind, (0, 0))])
    library("eigh", [matrix(kind, (0, 0))], [(kind, (0,)), (kind, (0, 0))])


@pytest.mark.parametrize(
    ("name", "items", "shape", "count"),
    [
        ("inverse", [1.0, 2.0, 2.0, 4.0], (2, 2), 1),
        ("inverse", [0.0] * 4, (2, 2), 1),
        ("inverse", [1.0, 1.0] * 3, (3, 2), 1),
        ("inverse", [1.0, 1.0, 1.0] * 2, (2, 3), 1),
        ("cholesky", [1.0, 2.0, 2.0, 1.0], (2, 2), 1),
        ("cholesky", [0.0], (1, 1), 1),
        ("cholesky", [math.nan], (1, 1), 1),
    ],
)
def test_matrices_without_an_answer(name: str, items: list[float], shape: tuple[int, int], count: int) -> None:
    library(name, [array(Kind.F64, shape, items)], [(Kind.F64, shape[::-1])] * count)


def test_a_matrix_that_is_not_finite_gives_nan_alone() -> None:
    value = matrix(Kind.F64, (2, 2, 2))
    bad = array(Kind.F64, (2, 2, 2), [math.nan, *value.data[1:]])
    u, s, v = run("svd", [bad], [(Kind.F64, (2, 2, 2)), (Kind.F64, (2, 2)), (Kind.F64, (2, 2, 2))], {})
    assert np.isnan(s[0]).all() and np.isfinite(s[1]).all() and np.allclose(u[1] * s[1] @ v[1], to_numpy(value)[1])
    assert np.isnan(run("eigh", [bad], [(Kind.F64, (2, 2)), (Kind.F64, (2, 2, 2))], {})[0][0]).all()


@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_transforms(length: int) -> None:
    for frame in [(), (3,), (2, 2), (0,)]:
        for kind in (Kind.C64, Kind.C128):
            library("fft", [matrix(kind, (*frame, length))], [(kind, (*frame, length))])
            library("ifft", [matrix(kind, (*frame, length))], [(kind, (*frame, length))])
        for kind, wide in ((Kind.F32, Kind.C64), (Kind.F64, Kind.C128)):
            library("rfft", [matrix(kind, (*frame, length))], [(wide, (*frame, length // 2 + 1))])
            library("irfft", [matrix(wide, (*frame, length // 2 + 1))], [(kind, (*frame, length))])


def test_comparisons_reduce_in_the_operands_kind() -> None:
    assert all(FUNCTIONS[name].result is ResultKind.BOOL for name in ("lt", "le", "eq", "ge", "gt", "ne"))
    value = array(Kind.F64, (4,), [2.0, 1.0, math.nan, 1.0])
    compare("scan", [value], lambda v: reductions.scan("lt", v, 0), function="lt", axis=0)


@pytest.mark.parametrize("shape", [(0, 10**7), (3, 0)])
def test_cells_without_items_have_no_keys(shape: tuple[int, int]) -> None:
    """However wide they would be: `⍳ ~ ⍋` of no cells took as long as a cell has items."""
    rows = np.empty(shape)
    assert keys.row_columns(rows) == []
    words, lost = keys.row_words(rows)
    assert not words.any() and len(words) == shape[0] and lost is None
