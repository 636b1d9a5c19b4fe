"""Programs on the OpenCL devices of this machine: the processor's bits, its failures, and what a device refuses."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import numpy as np
import pytest
from share import share

from rho import backend
from rho.backend.codegen.gpu_targets import ATOMICS, DOUBLE, OPENCL, missing, needed_extensions
from rho.backend.gpu.device import card_backend
from rho.backend.gpu.driver import CardModel
from rho.backend.gpu.opencl import OpenClDriver
from rho.backend.graph import traverse
from rho.backend.schedule.plan.plan import Device, DeviceId
from rho.backend.vm.check_failures import CheckFailed
from rho.lang.diagnostics.model import RhoError
from rho.tests.devices.opencl_devices import DEVICES, cases, loadable, needs_opencl, on_device, on_processor
from rho.tests.harness.tiers import checked

pytestmark = [needs_opencl, pytest.mark.long]


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: f"ocl{device.number}")
def test_programs_have_the_bits_of_the_processor(device: CardModel) -> None:
    ran, declared, hosted = 0, set[str](), Counter[str]()
    for text, given in share(cases(), device.number)[::2]:
        core = loadable(text, given)
        if core is not None:
            ran += 1
            bound = backend.load(core, given, {})
            declared |= {str(missing(phase, bound.graph.types, OPENCL)) for phase in traverse.all_phases(bound.graph)}
            assert on_device(core, given, device.number, hosted) == on_processor(core, given), text
    assert ran and set(hosted) <= declared, "what ran on the host is what planners are told"


def test_products_are_the_loop_in_the_order_of_sums() -> None:
    """Within rounding of the processor's, which is BLAS's; all devices agree."""
    core = checked("input A : f64[r k]\ninput B : f64[k c]\noutput r ← A+.×B\n")
    assert core is not None
    rng = np.random.default_rng(5)
    given = {"A": rng.standard_normal((40, 300)), "B": rng.standard_normal((300, 7))}
    found = {repr(on_device(core, given, device.number)) for device in DEVICES}
    assert len(found) == 1
    got = on_device(core, given, DEVICES[0].number)
    assert isinstance(got, dict)
    bound = np.abs(given["A"]) @ np.abs(given["B"]) * 300 * np.finfo(float).eps
    assert (np.abs(np.frombuffer(got["r"]).reshape(40, 7) - given["A"] @ given["B"]) <= bound).all()


def test_a_whole_program_on_a_device_with_a_limit() -> None:
    core = checked("input x : f64[n]\noutput r ← +/x\noutput s ← 1+x\n")
    assert core is not None
    given = {"x": np.random.default_rng(2).standard_normal(50_000)}
    bound = backend.load(core, given, {})

    def run(memory: int) -> Any:
        device = Device(DeviceId(f"ocl{DEVICES[0].number}"), "opencl", memory=memory)
        return backend.execute(backend.plan(bound, device), bound, given).outputs

    wanted = backend.execute(backend.plan(bound), bound, given).outputs
    assert all(run(1 << 21)[name].value.tobytes() == wanted[name].value.tobytes() for name in wanted)
    card = card_backend("opencl", DEVICES[0].number, 500_000)
    with pytest.raises(MemoryError, match="500000"), card.card.driver.here():
        card.card.empty((100_000,), np.dtype(float))


def test_memory_is_given_back() -> None:
    core = checked("input x : f64[n]\noutput r ← +/{⍵×0.5}⍣9 ⊢ x\n")
    assert core is not None
    used = []
    for _ in range(3):
        on_device(core, {"x": np.arange(30_000.0)}, DEVICES[0].number)
        used.append(card_backend("opencl", DEVICES[0].number, None).card.driver.used)  # type: ignore[attr-defined]
    assert used[0] == used[1] == used[2] <= 4096, "all but constants that programs share"


def test_memory_that_is_dropped_waits_for_an_array_of_its_size_within_the_limit() -> None:
    device = driver()
    device._simulates = False  # these keep none
    first, other = device.allocate(4096), device.allocate(512)
    buffers = first.buffer, other.buffer
    del first, other
    again = device.allocate(4096)
    assert again.buffer is buffers[0] and device.used == 4096 and device.idle == [(512, buffers[1])]
    del again
    device.limit(8 * 1024)
    assert sum(size for size, _ in device.idle) <= 1024, "a part of the memory"
    kept = device.allocate(8 * 1024)
    assert kept.buffer not in buffers and device.idle == [], "none where arrays need all"
    with pytest.raises(MemoryError):
        device.allocate(1)


def test_threads_count_memory_together() -> None:
    device = driver()

    def work() -> None:
        for _ in range(300):
            device.allocate(64)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert device.used == 0


# -------------------------------------------------------------------------------------------- what a device refuses


def driver() -> OpenClDriver:
    return OpenClDriver(DEVICES[0].number)


def test_a_text_that_does_not_build_is_e710_with_the_words_of_the_compiler() -> None:
    device = driver()
    with pytest.raises(CheckFailed) as told, device.here():
        device.launch("__kernel void nest0(void) { nonsense; }", "nest0", 1, ())
    assert told.value.code == "E710" and device.name in told.value.message and "nonsense" in told.value.message


def test_kernels_need_the_extensions_that_plans_count(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, built = list[str](), 0
    card = card_backend("opencl", DEVICES[0].number, None).card
    usual = card.driver._build  # type: ignore[attr-defined]
    monkeypatch.setattr(card.driver, "_build", lambda source: (texts.append(source), usual(source)))
    for text, given in share(cases(), 7)[::2]:
        core = loadable(text, given)
        if core is None:
            continue
        texts.clear()
        card.driver._kernels.clear()  # type: ignore[attr-defined]
        on_device(core, given, DEVICES[0].number)
        graph = backend.load(core, given, {}).graph
        counted = frozenset[str]().union(*(needed_extensions(phase, graph.types) for phase in graph.phases))
        for source in texts:
            assert "double " not in source or DOUBLE in counted, (text, source)
            assert "atom_" not in source or counted.issuperset(ATOMICS), (text, source)
        built += len(texts)
    assert built, "the device has compiled something"


def test_a_device_that_is_lost_is_e710(monkeypatch: pytest.MonkeyPatch) -> None:
    core = checked("input x : f64[n]\noutput r ← x+1\n")
    assert core is not None
    driver = card_backend("opencl", DEVICES[0].number, None).card.driver

    def lost(*args: Any, **more: Any) -> None:
        raise driver.cl.LogicError("clFinish failed: DEVICE_NOT_AVAILABLE")  # type: ignore[attr-defined]

    monkeypatch.setattr(driver, "read", lost)
    bound = backend.load(core, {"x": np.arange(9.0)}, {})
    with pytest.raises(RhoError) as told:
        backend.execute(backend.plan(bound, Device(DeviceId("ocl0"), "opencl")), bound, {"x": np.arange(9.0)})
    (diagnostic,) = told.value.diagnostics
    assert diagnostic.code == "E710" and "DEVICE_NOT_AVAILABLE" in diagnostic.message
