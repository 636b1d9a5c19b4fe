"""Compress and where through kernels select what NumPy selects, whatever the mask, the layout and the number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from rho.backend.cpu import templates
from rho.backend.cpu.views import DTYPES
from rho.backend.jit import tiering
from rho.typechecker.elements import Kind

SHAPES = [
    ((1,), 0),
    ((7,), 0),
    ((8,), 0),
    ((1000,), 0),
    ((900, 3), 0),
    ((30, 501), 1),
    ((3, 50, 7), 1),
    ((2, 2000), 1),
    ((300, 1), 0),
]
SHARES = (0, 0.01, 0.5, 0.99, 1)


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "always")
    monkeypatch.setattr(templates, "PARALLEL", 0)


@pytest.mark.parametrize("kind", list(Kind))
def test_compress(kind: Kind) -> None:
    rng = np.random.default_rng(1)
    done = 0
    for shape, axis in SHAPES:
        array = (rng.random(shape) * 100).astype(DTYPES[kind])
        for share in SHARES:
            mask = rng.random(shape[axis]) < share
            for threads in (1, 3):
                for one in (array, array[::-1], np.asfortranarray(array), np.broadcast_to(array[:1], shape)):
                    made = templates.compress_items(mask, one, axis, threads)
                    done += made is not None
                    assert made is None or np.array_equal(made, np.compress(mask, one, axis)), (shape, axis, share, threads)
    assert done > 200


@pytest.mark.parametrize("shape", [(1,), (9,), (5000,), (70, 33), (1, 9), (9, 1), (120, 70)])
def test_where(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    for share in SHARES:
        mask = rng.random(shape) < share
        for threads in (1, 3):
            made = templates.true_positions(mask, threads)
            assert made is not None and np.array_equal(made, np.argwhere(mask) if mask.ndim > 1 else np.flatnonzero(mask))


def test_truth_is_any_byte_but_zero() -> None:
    mask = np.frombuffer(bytes([0, 2, 255, 1, 0, 0, 7, 1, 128]) * 101, np.uint8).view(np.bool_)
    made = templates.true_positions(mask, 1)
    assert made is not None and np.array_equal(made, np.flatnonzero(mask))
    items = np.arange(len(mask), dtype=np.float32)
    found = templates.compress_items(mask, items, 0, 2)
    assert found is not None and np.array_equal(found, items[mask])


def test_what_numpy_does() -> None:
    assert templates.true_positions(np.ones((2, 2, 2), np.bool_), 1) is None
    assert templates.true_positions(np.ones(40, np.bool_)[::2], 1) is None
    assert templates.compress_items(np.ones(3, np.bool_), np.zeros(4), 0, 1) is None
    assert templates.compress_items(np.ones(0, np.bool_), np.zeros(0), 0, 1) is None


@pytest.mark.parametrize("shape", [(4096,), (4099,), (64, 33)])
def test_a_mask_that_changes_after_it_was_counted_writes_no_further(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another thread may do: the result is anyone's, but no memory beside it is touched."""
    mask = np.zeros(shape, np.bool_)
    mask.reshape(-1)[: mask.size // 2] = True
    rooms: list[tuple[np.ndarray, int]] = []

    def guarded(wanted: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        size = int(np.prod(wanted)) * dtype.itemsize
        whole = np.full(size + (1 << 17), 0xA5, np.uint8)
        rooms.append((whole, size))
        mask[...] = True
        return whole[:size].view(dtype).reshape(wanted)

    monkeypatch.setattr(templates, "pooled_empty", guarded)
    for threads in (1, 3):
        mask.reshape(-1)[mask.size // 2 :] = False
        assert templates.true_positions(mask, threads) is not None
        if mask.ndim == 1:
            for array in (np.arange(mask.size), np.zeros((mask.size, 3)), np.zeros(mask.size, np.uint8)):
                mask[mask.size // 2 :] = False
                assert templates.compress_items(mask, array, 0, threads) is not None
    assert rooms and all((whole[size:] == 0xA5).all() for whole, size in rooms)
