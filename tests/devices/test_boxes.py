"""Boxes of arrays reach cards and the host with their bits, copied as they lie where their rows are long enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from share import seeds

from rho.backend.codegen.gpu_targets import LEAST_ROW
from rho.backend.gpu.driver import Card, DeviceArray, Driver
from rho.backend.gpu.launch import to_host
from rho.backend.gpu.opencl import OpenClDriver
from rho.tests.backend import cuda_stub
from rho.tests.devices.late_driver import LateDriver
from rho.tests.devices.opencl_devices import DEVICES
from rho.tests.kernels import cuda_host

pytestmark = pytest.mark.long

Drivers = dict[str, Callable[[], Driver]]
DRIVERS: Drivers = {model.name: lambda number=model.number: OpenClDriver(number) for model in DEVICES}  # type: ignore[misc]
if cuda_host.COMPILER is not None:
    DRIVERS |= {"stub": lambda: cuda_stub.CudaDriver(0, cuda_stub), "late": lambda: LateDriver(5)}

Box = tuple[slice, ...]


def boxes(rng: np.random.Generator, shape: Sequence[int]) -> Box:
    """A box that cuts some axes; one in ten is empty."""
    cuts = list[slice]()
    for length in shape:
        start, stop = sorted(rng.integers(0, length + 1, 2).tolist())
        cuts.append(slice(start, stop) if rng.random() < 0.6 else slice(0, length))
    return tuple(cuts)


def drawn(rng: np.random.Generator) -> tuple[np.ndarray[Any, Any], Box]:
    kind = np.dtype(rng.choice(["u1", "i4", "f8", "c16"]))
    shape = [int(n) for n in rng.integers(1, 9, rng.integers(1, 4))] + [int(rng.choice([3, 40, 600]))]
    host = rng.integers(0, 256, (*shape, kind.itemsize), np.uint8).view(kind)[..., 0]
    order = rng.permutation(len(shape)) if rng.random() < 0.2 else range(len(shape))
    host = host.transpose(tuple(order))
    return host, boxes(rng, host.shape)


@pytest.fixture
def small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most boxes go by the queue of copies, in several pieces."""
    monkeypatch.setattr("rho.backend.gpu.driver.PINNED", 1 << 10)
    monkeypatch.setattr("rho.backend.gpu.driver.STAGE", 1000)


@pytest.mark.usefixtures("small_buffers")
@pytest.mark.parametrize("name", DRIVERS)
@pytest.mark.parametrize("seed", seeds(60, least=2))
def test_boxes_of_all_kinds(name: str, seed: int) -> None:
    rng, card = np.random.default_rng(seed), Card(DRIVERS[name]())
    for _ in range(4):
        host, box = drawn(rng)
        with card.driver.here():
            up = card.up(host)
            assert to_host(card, up).tobytes() == host.tobytes()
            assert to_host(card, card.up(host[box])).tobytes() == host[box].tobytes()
            assert to_host(card, up[box]).tobytes() == host[box].tobytes()
            room = np.zeros_like(host, order="C")
            shown = to_host(card, up[box], room[box])
        assert shown.base is not None and shown.tobytes() == host[box].tobytes()
        wanted = np.zeros_like(room)
        wanted[box] = host[box]
        assert room.tobytes() == wanted.tobytes(), "items outside of the box are as they were"


@pytest.mark.parametrize("name", DRIVERS)
@pytest.mark.parametrize("axis", range(3))
def test_what_is_cut_along_one_axis_is_not_packed(name: str, axis: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No kernel runs for rows of `LEAST_ROW` bytes, and one packs shorter rows."""
    card, launched = Card(DRIVERS[name]()), list[str]()
    launch = type(card.driver).launch

    def counted(driver: Any, source: str, name: str, blocks: int, words: Sequence[int | DeviceArray]) -> None:
        launched.append(name)
        launch(driver, source, name, blocks, words)

    monkeypatch.setattr(type(card.driver), "launch", counted)
    host = np.random.default_rng(axis).standard_normal((6, 8, 2 * LEAST_ROW // 8))
    box = tuple(slice(n // 4, n // 2 + n // 4) if at == axis else slice(None) for at, n in enumerate(host.shape))
    with card.driver.here():
        up = card.up(host)
        assert to_host(card, up[box]).tobytes() == host[box].tobytes() and not launched
        thin = (slice(None), slice(None), slice(1, LEAST_ROW // 8))
        assert to_host(card, up[thin]).tobytes() == host[thin].tobytes() and launched
