"""Kernels cut into very many short pieces (as long work is, so that interrupts are heard) give the same bits."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from rho.backend.cpu import parallel_for
from rho.backend.cpu.parallel_for import ArgumentBlock, TaskSplit, blocks_of
from rho.backend.jit import tiering
from rho.tests.kernels.phases import apply, data, phase, projection, read, run, same_bits
from rho.typechecker.elements import Kind

SPACES = [((3, 20_000), 2), ((5, 3, 9_000), 3), ((700, 33), 2), ((2, 2048, 9), 3), ((40_000,), 1)]


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a few hundred points were long work."""
    monkeypatch.setattr(tiering, "LONG_NANOSECONDS", 0)
    monkeypatch.setattr(tiering, "INTERRUPT_NANOSECONDS", 400.0)
    monkeypatch.setattr(parallel_for, "LONG_NANOSECONDS", 0)


@pytest.mark.parametrize("reduction", [None, "add", "max"])
@pytest.mark.parametrize(("shape", "rank"), SPACES)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", [Kind.F64, Kind.C128])
def test_short_pieces_do_not_show(
    shape: tuple[int, ...], rank: int, reduction: str | None, turned: bool, kind: Kind
) -> None:  # fmt: skip
    if kind.is_complex and reduction == "max":
        return  # they have no order
    axes = [*range(1, rank), 0] if turned else [*range(rank)]
    array = data(Kind.F64, prod(shape) * kind.bytes // 8, 5).view(np.complex128 if kind.is_complex else np.float64)
    array = array.reshape([shape[axis] for axis in axes])
    body = [read(0, kind), apply("mul", (0, 0), kind)]
    made = phase(shape, [projection(shape, array.shape, axes)], body, [1], reduction)
    plain = run(made, [array], tiering.Mode.OFF)
    for threads in (1, 3):
        for found, wanted in zip(run(made, [array], tiering.Mode.ALWAYS, threads), plain, strict=True):
            assert same_bits(found, wanted)


def test_every_loop_is_cut_until_pieces_are_short() -> None:
    whole = TaskSplit.none((3, 20_000))
    cut = whole.cut(0, [0, 1]).cut(1, range(0, 20_000, 4096), reduced=True)
    assert (cut.count, cut.partials, cut.most(0), cut.most(1)) == (10, 5, 2, 4096)
    block = ArgumentBlock([3, 20_000, 0, 0, 0], [(4, (0, 0))])
    seen = [(*one.words[:4], one.addresses[0][1][1]) for one in blocks_of(block, cut.loops([[], [(4, 0, 1)]]))]
    assert seen[0] == (1, 4096, 0, 0, 0)
    assert seen[-1] == (2, 20_000 - 16_384, 1, 16_384, 4)
