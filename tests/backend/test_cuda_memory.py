"""Memory of a card: transfers through pinned buffers, the pool and its limit, and what is told when CUDA fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rho.backend.gpu.cuda import CudaDriver
from rho.lang.diagnostics.model import RhoError
from rho.tests.backend import cuda_stub
from rho.tests.backend.test_cuda_backend import run_on_card
from rho.tests.harness.tiers import checked
from rho.tests.kernels import cuda_host

pytestmark = pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler")


def test_large_values_travel_through_pinned_memory_beside_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy waits for what was computed, and what follows for the copy; results are waited for."""
    monkeypatch.setattr("rho.backend.gpu.device._cards", {})
    core = checked("input x : f64[n]\noutput r ← x+1\n")
    assert core is not None
    cuda_stub.log.clear()
    run_on_card(core, {"x": np.zeros(20_000)})
    kinds = [entry[0] for entry in cuda_stub.log if entry[0] not in ("enter", "leave", "pinned")]
    there, back = ["record", "wait", "set", "record", "wait"], ["record", "wait", "get", "record", "synchronize"]
    assert kinds == ["limit", *there, "launch", *back]
    streams = [entry[1] for entry in cuda_stub.log if entry[0] in ("record", "wait")]
    compute, copies = streams[0], streams[1]
    assert compute != copies and streams == [compute, copies, copies, compute, compute, copies, copies]


def test_values_larger_than_a_buffer_go_through_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two buffers of pinned memory, whatever the size; one is not filled again before the card has copied it."""
    monkeypatch.setattr("rho.backend.gpu.driver.STAGE", 1 << 16)
    monkeypatch.setattr("rho.backend.gpu.device._cards", {})
    core = checked("input x : f64[n]\ninput M : c128[r c]\noutput r ← x+1\noutput s ← ⌽⍉M\n")
    assert core is not None
    rng = np.random.default_rng(4)
    given = {"x": rng.standard_normal(50_001), "M": np.asfortranarray(rng.standard_normal((90, 211)) + 1j)}
    cuda_stub.log.clear()
    got = run_on_card(core, given)
    assert np.array_equal(got.outputs["r"].value, given["x"] + 1)
    assert np.array_equal(got.outputs["s"].value, given["M"].T[:, ::-1])
    assert [entry for entry in cuda_stub.log if entry[0] == "pinned"] == [("pinned", 1 << 16)] * 2
    sets = [entry[1] for entry in cuda_stub.log if entry[0] == "set"]
    assert max(sets) == 1 << 16 and sum(sets) == given["x"].nbytes + given["M"].nbytes
    order = [entry[0] for entry in cuda_stub.log if entry[0] in ("set", "synchronize")]
    assert order[:3] == ["set", "set", "synchronize"], "the third piece waits for the first"


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (cuda_stub.CUDARuntimeError("cudaErrorIllegalAddress: an illegal access"), "E710", "IllegalAddress"),
        (ImportError("libnvrtc.so.12: cannot open shared object file"), "E710", "libnvrtc"),
        (cuda_stub.CompileException("kern.cu(3): error"), "E710", "kern.cu"),
        (cuda_stub.CUDARuntimeError("cudaErrorMemoryAllocation: out of memory"), "E702", "memory ran out"),
    ],
)  # fmt: skip
def test_failures_of_the_card_are_told(error: Exception, code: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    core = checked("input x : f64[n]\noutput r ← x+1\n")
    assert core is not None

    def fail(*args: Any, **more: Any) -> None:
        raise error

    monkeypatch.setattr("rho.backend.gpu.device._cards", {})
    monkeypatch.setattr(cuda_stub, "RawModule", fail)
    with pytest.raises(RhoError) as told:
        run_on_card(core, {"x": np.zeros(20)})
    (diagnostic,) = told.value.diagnostics
    assert diagnostic.code == code and text in diagnostic.message and diagnostic.span is not None


def test_small_values_do_not() -> None:
    core = checked("input x : f64[n]\noutput r ← x+1\n")
    assert core is not None
    cuda_stub.log.clear()
    run_on_card(core, {"x": np.zeros(20)}, limit=1 << 20)
    assert [entry[0] for entry in cuda_stub.log if entry[0] not in ("enter", "leave")] == ["limit", "set", "launch", "get"]
    assert ("limit", 1 << 20) in cuda_stub.log


def test_memory_that_runs_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    core = checked("input x : f64[n]\noutput r ← x+1\n")
    assert core is not None

    def refuse(*args: Any) -> None:
        raise cuda_stub.OutOfMemoryError(8, 0)

    monkeypatch.setattr(cuda_stub.MemoryPool, "malloc", refuse)
    with pytest.raises(RhoError) as told:
        run_on_card(core, {"x": np.zeros(20)})
    assert told.value.diagnostics[0].code == "E702"


def test_what_the_pool_keeps_for_later_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """CuPy's pool counts it towards its limit; only what is needed at once may be more than there is."""
    monkeypatch.setattr("rho.backend.gpu.device._cards", {})
    driver = CudaDriver(0, cuda_stub)
    driver.limit(1000)
    with driver.here():
        driver.pool.kept = 900
        assert cuda_stub.allocators[-1](600) and not driver.pool.kept
    with pytest.raises(MemoryError), driver.here():
        cuda_stub.allocators[-1](1001)
