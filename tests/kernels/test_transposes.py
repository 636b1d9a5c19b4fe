"""Copies between any two layouts of a matrix, and of more axes, have NumPy's items: tiles, what remains of them, and tasks."""

from __future__ import annotations

import numpy as np
import pytest

from rho.backend.cpu import templates
from rho.backend.cpu.templates import contiguous_copy, copy_into
from rho.backend.jit import tiering
from rho.tests.harness.share import SEED, drawing, repeats

DTYPES = ("bool", "u1", "i4", "u4", "i8", "f4", "f8", "c8", "c16")
LENGTHS = (1, 2, 3, 7, 8, 9, 15, 16, 17, 40, 64, 65, 130, 300)


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "always")
    monkeypatch.setattr(templates, "POOLED_MIN_BYTES", 0)


@pytest.mark.parametrize("number", range(repeats(150)))
def test_every_layout_is_copied(number: int) -> None:
    draw = drawing("transposes", number)
    rank = draw.choice((2, 2, 2, 3))
    most = 300 if rank == 2 else 41
    shape = tuple(min(most, draw.choice(LENGTHS)) for _ in range(rank))
    dtype = np.dtype(draw.choice(DTYPES))
    generator = np.random.default_rng(draw.randrange(1 << 32))
    array = generator.integers(0, 256, (*[2 * size for size in shape], dtype.itemsize), np.uint8)
    if dtype.kind == "b":
        array &= 1
    items = array.view(dtype)[..., 0]
    cuts = tuple(draw.choice((slice(size), slice(size, 2 * size), slice(None, None, 2), slice(size, 0, -1))) for size in shape)
    axes = list(range(rank))
    draw.shuffle(axes)
    source = items[cuts].transpose(axes)
    threads = draw.choice((1, 3))
    seed = f"RHO_SEED={SEED} {number} {dtype} {source.shape} {source.strides}"
    if draw.random() < 0.5:
        source = np.ascontiguousarray(items[cuts]).transpose(axes)
    assert contiguous_copy(source, threads).tobytes() == source.tobytes(), seed
    room = np.zeros((source.shape[0], *[size + 5 for size in source.shape[1:]]), dtype)
    inside = tuple(slice(2, 2 + size) for size in source.shape[1:])
    copy_into(room[(slice(None), *inside)], source, threads)
    assert room[(slice(None), *inside)].tobytes() == source.tobytes(), seed
    room[(slice(None), *inside)] = 0
    assert not room.view(np.uint8).any(), seed
