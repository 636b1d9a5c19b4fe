"""Queues of a card that run late, in adversarial order, over poisoned memory: right results, and each wait is needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from share import seeds, share

from rho import backend
from rho.backend.gpu.device import CardBackend
from rho.backend.gpu.driver import Card, DeviceArray
from rho.backend.gpu.launch import computed, to_host
from rho.backend.graph.phases import ApplyNode, ReadNode
from rho.backend.lower.body import Body, BodyResult
from rho.backend.vm.executor import execute_plan
from rho.tests.devices.late_driver import LateDriver
from rho.tests.devices.opencl_devices import cases, loadable, on_processor, outcome
from rho.tests.harness.tiers import checked
from rho.tests.kernels import cuda_host
from rho.typechecker.core.operations import Core
from rho.typechecker.elements import Kind

pytestmark = [pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler"), pytest.mark.long]


def late(core: Core, given: Any, driver: LateDriver) -> Any:
    bound = backend.load(core, given, {})
    plan, card = backend.plan(bound), CardBackend(Card(driver))
    return outcome(lambda: execute_plan(plan, bound, given, {plan.home: card}))


def test_programs() -> None:
    ran = 0
    for place, (text, given) in enumerate(share(cases(), 11)[::4]):
        core = loadable(text, given)
        if core is not None:
            ran += 1
            assert late(core, given, LateDriver(place)) == on_processor(core, given), text
    assert ran


TRANSFERS = """input x : f64[n]
input y : f64[n]
a ← 1+x
b ← a×y
c ← b-⌽a
output r ← c
output s ← +/⌊b
"""


@pytest.fixture
def small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values pass in several pieces."""
    monkeypatch.setattr("rho.backend.gpu.driver.PINNED", 1 << 10)
    monkeypatch.setattr("rho.backend.gpu.driver.STAGE", 1 << 10)


@pytest.mark.usefixtures("small_buffers")
@pytest.mark.parametrize("seed", seeds(20, least=3))
def test_transfers_in_pieces(seed: int) -> None:
    core = checked(TRANSFERS)
    assert core is not None
    rng = np.random.default_rng(seed)
    given = {name: rng.standard_normal(1000) for name in "xy"}
    assert late(core, given, LateDriver(seed)) == on_processor(core, given)


def moved(driver: LateDriver) -> list[bytes]:
    """Values up, through kernels, and down, of which the memory of the first is given out again."""
    card = Card(driver)
    x, y, one = np.arange(1000) / 7, np.arange(1000) / 3, np.arange(100) / 9
    up = card.up(x)
    halves = [doubled(card, up)]
    del up
    again = card.up(y)
    short = card.up(one)
    halves += [doubled(card, again), doubled(card, short)]
    return [to_host(card, value).tobytes() for value in (*halves, short)]


def doubled(card: Card, array: DeviceArray) -> DeviceArray:
    body = Body((ReadNode(0, Kind.F64), ApplyNode("add", (0, 0), Kind.F64)), (BodyResult((1,), Kind.F64, None),))
    result = computed(card, body, array.shape, (Kind.F64,), [array])
    assert result is not None
    return result


@pytest.mark.usefixtures("small_buffers")
def test_each_wait_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one line waits for, left out, changes a result in one of a few orders."""
    x, y, one = np.arange(1000) / 7, np.arange(1000) / 3, np.arange(100) / 9
    wanted, driver = [value.tobytes() for value in (x + x, y + y, one + one, one)], LateDriver(0)
    monkeypatch.setattr("rho.backend.gpu.driver.PINNED", 1 << 9)
    assert moved(driver) == wanted and len(driver.waits) == 5
    unseen = [line for line in driver.waits if all(moved(LateDriver(seed, line)) == wanted for seed in range(4))]
    assert not unseen


@pytest.mark.usefixtures("small_buffers")
@pytest.mark.parametrize("place", range(6))
def test_what_an_interrupted_transfer_left_under_way_meets_no_later_one(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt comes before the event of a piece that is being copied."""
    driver, record, first, second = LateDriver(0), LateDriver.record, np.arange(900) / 7, np.arange(900) / 3
    card = Card(driver)
    up = card.up(first)
    left = iter(range(place + 1))

    def interrupted(driver: LateDriver, queue: Any) -> Any:
        if next(left, None) == place:
            raise KeyboardInterrupt
        return record(driver, queue)

    monkeypatch.setattr(LateDriver, "record", interrupted)
    with pytest.raises(KeyboardInterrupt):
        to_host(card, up)
    again = card.up(second)
    assert np.array_equal(to_host(card, again), second) and np.array_equal(to_host(card, up), first)
