"""A card that fails at each call of a run: the failure in its words, no memory left behind, and the next run is right."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from share import again, share

from rho.backend.gpu import device
from rho.backend.gpu.launch import to_host
from rho.lang.diagnostics.model import RhoError
from rho.tests.backend import cuda_stub
from rho.tests.backend.test_cuda_backend import run_on_card
from rho.tests.harness.tiers import checked
from rho.tests.kernels import cuda_host
from rho.typechecker.core.operations import Core

pytestmark = [pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler"), pytest.mark.long]

PROGRAM = """input x : f64[n]
input k : i64[m]
a ← 1+x
output r ← a[k]
output s ← +/a×x
output t ← {⍵×0.5}⍣3 ⊢ x
output u ← +\\x
"""
CALLS = {"malloc", "copy", "set", "get", "record", "wait", "synchronize", "launch"}
LAUNCH = cuda_stub.CUDARuntimeError("cudaErrorLaunchFailure: unspecified launch failure")
GONE = cuda_stub.CUDARuntimeError("cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy or unavailable")


class Calls(list[tuple[Any, ...]]):
    """What the stub writes down; `fail` is asked before each call of the card, by its number and name."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.fail: Callable[[int, str], BaseException | None] = lambda number, name: None
        self.live = weakref.WeakValueDictionary[int, Any]()

    def append(self, entry: tuple[Any, ...]) -> None:
        if entry[0] in CALLS:
            self.names.append(entry[0])
            if (error := self.fail(len(self.names) - 1, entry[0])) is not None:
                raise type(error)(*error.args)  # one that is kept would keep the frames that it went through

    def begin(self, fail: Callable[[int, str], BaseException | None] | None = None) -> None:
        self.names.clear()
        self.fail = fail or (lambda number, name: None)

    def bytes(self) -> int:
        """Of the card's memory that something refers to."""
        gc.collect()
        return sum(block.size for block in list(self.live.values()))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Calls]:
    log, malloc, copy = Calls(), cuda_stub.MemoryPool.malloc, cuda_stub.Pointer.copy_from_device_async

    def counted(pool: Any, size: int) -> Any:
        log.append(("malloc", size))
        pointer = malloc(pool, size)
        log.live[id(pointer.owner)] = pointer.owner
        return pointer

    def copied(pointer: Any, *args: Any, **more: Any) -> None:
        log.append(("copy",))
        copy(pointer, *args, **more)

    monkeypatch.setattr(device, "_cards", {})
    monkeypatch.setattr("rho.backend.gpu.driver.PINNED", 1 << 10)
    monkeypatch.setattr("rho.backend.gpu.driver.STAGE", 1 << 13)
    monkeypatch.setattr(cuda_stub, "log", log)
    monkeypatch.setattr(cuda_stub.MemoryPool, "malloc", counted)
    monkeypatch.setattr(cuda_stub.Pointer, "copy_from_device_async", copied)
    yield log
    log.begin()


def program() -> tuple[Core, dict[str, Any]]:
    core = checked(PROGRAM)
    assert core is not None
    rng = np.random.default_rng(7)
    return core, {"x": rng.standard_normal(3000), "k": rng.integers(0, 3000, 2000)}


def bits(core: Core, given: dict[str, Any]) -> dict[str, bytes]:
    return {name: shown.value.tobytes() for name, shown in run_on_card(core, given).outputs.items()}


def test_a_failure_at_each_call_is_told_and_leaves_nothing(calls: Calls) -> None:
    core, given = program()
    wanted = bits(core, given)
    calls.begin()
    assert bits(core, given) == wanted
    names, kept = list(calls.names), calls.bytes()
    assert set(names) >= {"malloc", "set", "get", "record", "wait", "synchronize", "launch"}
    for place in share(range(len(names)), 3):
        raised = cuda_stub.OutOfMemoryError(8, 0) if names[place] == "malloc" else LAUNCH
        calls.begin(lambda number, name, place=place, raised=raised: raised if number == place else None)  # type: ignore[misc]
        try:
            got: Any = bits(core, given)
        except RhoError as error:
            (told,) = error.diagnostics
            got = str(told.code), told.message
        calls.begin()
        # an allocation that fails is asked for again, when the pool has let go what it keeps
        wants = wanted if names[place] == "malloc" else ("E710", f"card 0: {LAUNCH}")
        assert got == wants, (again(__file__), place, names[place], got)
        assert bits(core, given) == wanted and calls.bytes() == kept, (place, names[place])


def test_memory_that_another_process_has_is_told_until_it_gives_it_back(calls: Calls) -> None:
    """Whatever part of a run finds none."""
    core, given = program()
    wanted = bits(core, given)
    kept, count = calls.bytes(), calls.names.count("malloc")
    for place in share(range(count), 4):
        asked = iter(range(2 * count + 2))
        full = cuda_stub.OutOfMemoryError(8, 0)
        calls.begin(lambda _, name, asked=asked, place=place, full=full:  # type: ignore[misc]
                    full if name == "malloc" and next(asked) >= place else None)  # fmt: skip
        with pytest.raises(RhoError) as told:
            bits(core, given)
        assert [one.code for one in told.value.diagnostics] == ["E702"]
        del told
        calls.begin()
        assert bits(core, given) == wanted and calls.bytes() == kept, place


def test_a_device_that_is_lost_fails_every_run(calls: Calls) -> None:
    core, given = program()
    wanted = bits(core, given)
    kept, count = calls.bytes(), len(calls.names)
    for place in share(range(count), 5)[:6]:
        calls.begin(lambda number, name, place=place: GONE if number >= place else None)  # type: ignore[misc]
        for _ in range(2):
            with pytest.raises(RhoError) as told:
                bits(core, given)
            assert [(one.code, one.message) for one in told.value.diagnostics] == [("E710", f"card 0: {GONE}")]
            calls.begin(lambda number, name: GONE)
        del told
    calls.begin()
    assert bits(core, given) == wanted and calls.bytes() == kept


def test_an_interrupt_at_each_call_leaves_nothing(calls: Calls) -> None:
    core, given = program()
    wanted = bits(core, given)
    names, kept = list(calls.names), calls.bytes()
    for place in share(range(len(names)), 6):
        calls.begin(lambda number, name, place=place: KeyboardInterrupt() if number == place else None)  # type: ignore[misc]
        with suppress(KeyboardInterrupt):
            bits(core, given)
            pytest.fail(f"call {place}, {names[place]}, was not interrupted")
        calls.begin()
        assert bits(core, given) == wanted and calls.bytes() == kept, (place, names[place])


def test_two_processes_on_one_device(calls: Calls) -> None:
    """Each with a driver of its own; memory that one has is none for the other."""
    core, given = program()
    wanted, failures = bits(core, given), list[Any]()

    def another() -> None:
        made = device.CardBackend(device.Card(cuda_stub.CudaDriver(0, cuda_stub)))
        for _ in range(3):
            with made.card.driver.here():
                found = made.card.up(given["x"])
                if to_host(made.card, found).tobytes() != given["x"].tobytes():
                    failures.append("bits")

    others = [threading.Thread(target=another) for _ in range(2)]
    for one in others:
        one.start()
    assert bits(core, given) == wanted
    for one in others:
        one.join()
    assert not failures
