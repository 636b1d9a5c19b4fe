"""What a card takes, from a few kernels and copies: time of a launch, operations and bytes a second, transfers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from time import perf_counter_ns
from typing import Final

import numpy as np

from ...typechecker.elements import Kind
from ..codegen.gpu_targets import DOUBLE
from ..cpu.views import DTYPES
from ..devices.profile import BackendKind, CostTable, DeviceProfile, Roofline
from ..graph.phases import ApplyNode, ReadNode
from ..lower.body import Body, BodyResult, Node
from .device import card_backend
from .driver import Card, CardModel, DeviceArray
from .launch import computed

TRANSFER: Final = "transfer.u8"
"""The table of copies between the card and the host."""
_CHAIN: Final = 32
"""Operations on an item of the kernel that computes."""
_SMALL, _LONG_NS, _MOST_ITEMS = 64, 4_000_000, 1 << 23
_TRANSFERS: Final = (1 << 12, 1 << 18, 1 << 22)
_ROUNDS: Final = 5


def measured_card(name: str, backend: BackendKind, model: CardModel) -> DeviceProfile:
    """A card of this machine as a device, with the table `TRANSFER`."""
    back_end = card_backend(backend.value, model.number, None)
    card, driver = back_end.card, back_end.card.driver
    kind = Kind.F32 if DOUBLE in model.lacking else Kind.F64

    def idle() -> None:
        driver.finish(driver.record(driver.compute))

    def taken(work: Callable[[], object]) -> int:
        """The least of a few rounds, until the card has done it."""
        times = []
        for _ in range(_ROUNDS):
            start = perf_counter_ns()
            work()
            idle()
            times.append(perf_counter_ns() - start)
        return max(1, min(times))

    with driver.here():
        start = perf_counter_ns()
        small = card.up(np.ones(_SMALL, DTYPES[kind]))
        _run(card, kind, 1, small)
        idle()
        first = perf_counter_ns() - start
        sync = taken(lambda: None)
        launch = max(1, taken(lambda: _run(card, kind, 1, small)) - sync)
        rates = []
        for operations in (1, _CHAIN):
            items = _SMALL
            while True:
                array = card.up(np.ones(items, DTYPES[kind]))
                ns = taken(lambda operations=operations, array=array: _run(card, kind, operations, array))  # type: ignore[misc]
                if ns > _LONG_NS or items >= _MOST_ITEMS or 64 * items > model.memory:
                    break
                items *= 4
            amount = operations * items if operations > 1 else 3 * kind.bytes * items
            rates.append(max(1, amount * 10**9 // max(1, ns - launch - sync)))
        transfers = []
        for size in _TRANSFERS:
            host = np.ones(size, np.uint8)
            transfers.append(taken(lambda host=host: card.down(array := card.up(host), array)) // 2)  # type: ignore[misc]
    return DeviceProfile(
        name, "gpu", backend, memory_bytes=model.memory, memory_reserve=Fraction(1, 10), launch_ns=launch, sync_ns=sync,
        host_dispatch_ns=first, alloc_ns=launch // 4, roofline=Roofline(rates[1], rates[0]),
        ops={TRANSFER: CostTable(_TRANSFERS, _rising(transfers))},
    )  # fmt: skip


def _run(card: Card, kind: Kind, operations: int, array: DeviceArray) -> None:
    """Two operands, and a result of so many operations on each item."""
    nodes: list[Node] = [ReadNode(0, kind), ReadNode(1, kind)]
    for _ in range(operations):
        nodes.append(ApplyNode("mul", (len(nodes) - 1, 0), kind))
    body = Body(tuple(nodes), (BodyResult((len(nodes) - 1,), kind, None),))
    computed(card, body, array.shape, (kind, kind), [array, array])


def _rising(times: list[int]) -> tuple[int, ...]:
    """A larger copy takes no less."""
    return tuple(max(times[: at + 1]) for at in range(len(times)))
