"""CUDA text of complex numbers, of places of extremes, and of reductions of every shape: the bits of NumPy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from rho import backend
from rho.backend.graph.phases import Structured
from rho.backend.jit import tiering
from rho.backend.loopir.reductions import SHARED_BYTES
from rho.backend.vm.check_failures import CheckFailed
from rho.tests.backend import cuda_stub
from rho.tests.backend.test_cuda_backend import disagreements, outputs
from rho.tests.harness.tiers import checked
from rho.tests.kernels import cuda_host
from rho.tests.kernels.phases import apply, phase, projection, read, run
from rho.tests.kernels.test_complexes import KINDS, PART, numbers, same
from rho.tests.kernels.test_cuda_semantics import on_card
from rho.tests.kernels.test_cuda_text import kernel_of, text_of
from rho.typechecker.elements import Kind

pytestmark = pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler")


def agree(made: Structured, arrays: list[Any]) -> None:
    wanted = run(made, arrays, tiering.Mode.OFF)
    for place, (got, want) in enumerate(zip(on_card(made, arrays), wanted, strict=True)):
        assert same(got, np.asarray(want)), (place, got, want)


# ------------------------------------------------------------------------------------------ complexes


@pytest.mark.parametrize("kind", KINDS)
def test_functions_of_complex_numbers(kind: Kind) -> None:
    """Beside each other: one result a function."""
    count = 1500
    line, back = projection([count], [count], [0]), projection([count], [count], [0], [-1], [count - 1])
    body = [read(0, kind), read(1, kind), *(apply(f, (0, 1), kind) for f in ("add", "sub", "mul", "div", "eq", "ne")),
            *(apply(f, (0,), kind) for f in ("neg", "conj", "abs", "reciprocal")),
            *(apply("circular", (0,), kind, p, PART[kind]) for p in (9, 10, 11)),
            apply("select", (6, 0, 1), kind)]  # fmt: skip
    agree(phase([count], [line, back], body, range(2, len(body))), [numbers(kind, count, 1), numbers(kind, count, 2)])


@pytest.mark.parametrize("kind", KINDS)
def test_layouts_of_complex_numbers(kind: Kind) -> None:
    space = [37, 41]
    reads = [projection(space, space, [0, 1]), projection(space, [41, 37], [1, 0]), projection(space, [41], [1]),
             projection(space, [37, 130], [0, 1], [1, 3], [0, 2])]  # fmt: skip
    body = [*(read(i, kind) for i in range(4)), apply("mul", (0, 1), kind), apply("sub", (4, 2), kind),
            apply("eq", (0, 3), kind), apply("select", (6, 5, 3), kind), apply("abs", (7,), kind)]  # fmt: skip
    arrays = [numbers(kind, 37 * 41, 1).reshape(space), numbers(kind, 41 * 37, 2).reshape(41, 37), numbers(kind, 41, 3),
              numbers(kind, 37 * 130, 4).reshape(37, 130)]  # fmt: skip
    agree(phase(space, reads, body, [4, 5, 7, 8]), arrays)


@pytest.mark.parametrize("kind", KINDS)
def test_complex_sums(kind: Kind) -> None:
    """Two sums each, joined at the end; beside a sum of floats, along rows, down columns, over several blocks."""
    for space, axes in (([3, 9000], [0, 1]), ([70, 300], [0, 1]), ([300, 70], [0, 1]), ([5000], [0])):
        rng = np.random.default_rng(7)
        x = (rng.standard_normal(space) + 1j * rng.standard_normal(space)).astype(numbers(kind, 1, 0).dtype)
        body = [read(0, kind), apply("mul", (0, 0), kind), apply("abs", (0,), kind)]
        agree(phase(space, [projection(space, space, axes)], body, [1, 2, 0], "add"), [x])
        flipped = np.ascontiguousarray(np.moveaxis(x, -1, 0))
        axes = [len(space) - 1, *range(len(space) - 1)]
        agree(phase(space, [projection(space, flipped.shape, axes)], body, [0], "add"), [flipped])


COMPLEX = """output r ← z×z-÷2+z
output r ← |z
output r ← +/z×z
output r ← {z+⍵×⍵×0.5}⍣7 ⊢ z
output r ← {(¯1⌽⍵)+0.25×⍵}⍣3 ⊢ z
output r ← +⌿Z
output r ← (+z)=z
output r ← 0 0.5>9○z""".splitlines()


@pytest.mark.parametrize("text", COMPLEX)
def test_programs_of_complex_numbers_stay_on_the_card(text: str) -> None:
    core = checked("input z : c128[n]\ninput Z : c128[r c]\n" + text.replace("0 0.5>", "0.5>"))
    assert core is not None
    rng = np.random.default_rng(4)
    given = {"z": rng.standard_normal(700) + 1j * rng.standard_normal(700),
             "Z": rng.standard_normal((30, 20)) - 1j * rng.standard_normal((30, 20))}  # fmt: skip
    bound = backend.load(core, given, {})
    wanted = [shown.value.tobytes() for shown in backend.execute(backend.plan(bound), bound, given).outputs.values()]
    got, hosted = outputs(core, given)
    assert got == wanted and not hosted
    assert not disagreements(core, given)


# --------------------------------------------------------------------------------------------- places


@pytest.mark.parametrize("kind", [Kind.BOOL, Kind.U8, Kind.I32, Kind.I64, Kind.F32, Kind.F64])
@pytest.mark.parametrize("function", ["argmin", "argmax"])
def test_places(kind: Kind, function: str) -> None:
    """Many equal items, zeros of both signs, NaN; rows, columns, one line of several blocks."""
    rng = np.random.default_rng(3)
    for space, turned in (([40, 70], False), ([70, 40], True), ([3, 9001], False), ([9001], False), ([2, 1], False)):
        items = rng.integers(0, 2 if kind is Kind.BOOL else 5, space).astype(numbers_of(kind))
        if kind.is_float:
            items[..., ::3] = -items[..., ::3]
            items[..., ::7] = np.nan
        axes = list(range(len(space)))
        array = np.ascontiguousarray(items.T) if turned else items
        made = phase(space, [projection(space, array.shape, axes[::-1] if turned else axes)], [read(0, kind)], [0], function)
        keys = items.astype(float) + 0.0
        best = np.where(np.isnan(keys), np.inf, keys if function == "argmin" else -keys).argmin(-1)
        (got,) = on_card(made, [array])
        assert got.dtype == np.int64 and np.array_equal(got, best)


def test_the_place_of_nothing_but_nan_is_the_first() -> None:
    made = phase([4, 9000], [projection([4, 9000], [4, 9000], [0, 1])], [read(0, Kind.F64)], [0], "argmin")
    (got,) = on_card(made, [np.full((4, 9000), np.nan)])
    assert not got.any()


def test_places_in_programs_stay_on_the_card() -> None:
    core = checked("input M : f64[r c]\noutput r ← {⊃⍋⍵}⍤1 ⊢ M\noutput s ← {⊃⍒⍵}⍤1 ⊢ M*2\n")
    assert core is not None
    got, hosted = outputs(core, {"M": np.random.default_rng(1).integers(0, 9, (200, 33)) / 4})
    assert len(got) == 2 and not hosted


def numbers_of(kind: Kind) -> Any:
    from rho.backend.cpu.views import DTYPES

    return DTYPES[kind]


# --------------------------------------------------------------------------------------------- shapes


@pytest.mark.parametrize("length", [1, 2, 5, 31, 32, 63, 64, 65, 127, 200, 255, 256, 300, 4095, 4097])
def test_rows_and_columns_of_every_length(length: int) -> None:
    """Short rows lie side by side in a block of threads; the lanes of long columns are shared by threads."""
    for cells in (1, 3, 33, 270):
        if cells * length > 100_000:
            continue
        x = np.random.default_rng(length).standard_normal((cells, length))
        space = [cells, length]
        agree(phase(space, [projection(space, space, [0, 1])], [read(0, Kind.F64)], [0], "add"), [x])
        columns = np.ascontiguousarray(x.T)
        agree(phase(space, [projection(space, columns.shape, [1, 0])], [read(0, Kind.F64)], [0], "add"), [columns])


def test_more_states_than_shared_memory_holds() -> None:
    """Fewer lanes are held there; their threads join the others."""
    count, lots = 700, 30
    body = [read(0, Kind.F64), *(apply("mul", (0, i), Kind.F64) for i in range(lots))]
    for space, strides in (([3, count], (count * 8, 8)), ([count, 3], (8, count * 8))):
        made = phase(space, [projection(space, space, [0, 1])], body, range(lots), "add")
        source = text_of(kernel_of(made, [Kind.F64], [strides], tuple(space))).source
        rooms = re.findall(r"__shared__ double \w+\[(\d+)\];", source)
        assert len(rooms) == lots and 8 * sum(map(int, rooms)) <= SHARED_BYTES
    x = np.random.default_rng(1).standard_normal((3, count)) * 1.01
    agree(phase([3, count], [projection([3, count], [3, count], [0, 1])], body, range(lots), "add"), [x])
    turned = [projection([3, count], [count, 3], [1, 0])]
    agree(phase([3, count], turned, body, range(lots), "add"), [np.ascontiguousarray(x.T)])


def test_a_phase_that_may_fail_overwrites_nothing() -> None:
    """What failed is found out on the host, from the operands as they were."""
    count = 300
    body = [read(0, Kind.I64), apply("convert", (0,), Kind.I64, to=Kind.F64), apply("mul", (1, 1), Kind.F64),
            apply("floor", (2,), Kind.F64, to=Kind.I64)]  # fmt: skip
    made = phase([count], [projection([count], [count], [0])], body, [3])
    items = np.arange(count)
    items[77] = 1 << 60
    own = items.copy()
    with pytest.raises(CheckFailed):
        on_card(made, [items], cuda_stub.over(own))
    assert np.array_equal(own, items)
