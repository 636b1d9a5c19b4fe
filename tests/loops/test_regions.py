"""Regions against the same phases one by one: the same bits, whatever the sizes, the layout and the ranges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import share

import rho
from rho.backend.cpu import parallel_for, regions, regions as pointwise, regions as ranges
from rho.backend.jit import tiering
from rho.backend.jit.compiler import LruCache
from rho.backend.loopir.verifier import verify

from .programs import REFUSED, REGIONS, ROUTINES, Make


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The phases that ran as regions."""
    monkeypatch.setattr(regions, "_runs", LruCache(256))
    seen: list[str] = []
    real = ranges.RegionExecution.results

    def results(self: Any, *args: Any) -> Any:
        seen.append(type(self.phase).__name__)
        return real(self, *args)

    monkeypatch.setattr(ranges.RegionExecution, "results", results)
    repeated = pointwise.PointwiseLoop.repeated
    monkeypatch.setattr(pointwise.PointwiseLoop, "repeated", lambda *args: (seen.append("Loop"), repeated(*args))[1])
    return seen


def outcome(function: Any, args: tuple[Any, ...]) -> Any:
    try:
        made = function(*args)
        return [np.array(one) for one in made] if isinstance(made, tuple) else [np.array(made)]
    except rho.RhoError as error:
        return [(d.code, d.message) for d in error.diagnostics]


def same(left: Any, right: Any) -> bool:
    """Of arrays the bits, of diagnostics their codes and messages."""
    return [_bits(item) for item in left] == [_bits(item) for item in right]


def _bits(item: Any) -> Any:
    return (item.shape, item.dtype, item.tobytes()) if isinstance(item, np.ndarray) else item


CASES = [pytest.param(text, makes, id=text) for text, makes in REGIONS]


def test_stored_lowerings_are_those_that_lowering_makes(
    ran: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RHO_KERNEL_CACHE", str(tmp_path))
    monkeypatch.setenv("RHO_KERNELS", "always")
    lower, keyed, calls = regions.lower_region, dict[str, str](), 0

    def lowered(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        key, region = regions.lowering_key(*args, **options), lower(*args, **options)
        assert not key or keyed.setdefault(key, repr(region)) == repr(region), "the key of another region"
        return region

    monkeypatch.setattr(regions, "lower_region", lowered)
    for text, makes in share([*REGIONS, *((text, makes) for text, makes, _ in ROUTINES)]):
        given = [make(np.random.default_rng(7)) for make in makes]
        ran.clear()
        first = [outcome(rho.compile(text), arguments) for arguments in given]
        began, calls = len(ran), 0
        ran.clear()
        monkeypatch.setattr(regions, "_runs", LruCache(256))
        again = [outcome(rho.compile(text), arguments) for arguments in given]
        assert all(map(same, first, again)) and calls == 0 and len(ran) == began, text


@pytest.mark.parametrize(("text", "makes"), CASES)
def test_bits(text: str, makes: list[Make], ran: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    function = rho.compile(text)
    for place, make in enumerate(makes):
        args = make(np.random.default_rng(place))
        monkeypatch.setenv("RHO_KERNELS", "off")
        expected = outcome(function, args)
        monkeypatch.setenv("RHO_KERNELS", "always")
        for run in ("by Python", "bound", "native", "again"):
            made = outcome(function, args)
            assert same(made, expected), (run, args, made, expected)
        far = tuple(np.repeat(arg, 2, axis=-1)[..., ::2] for arg in args)
        assert same(outcome(function, far), expected), "strided"
    assert ran
    for run in regions._runs.values():
        if run.region is not None:
            verify(run.region.program)
            for code in run.codes.values():
                verify(code.optimised[0])


@pytest.mark.parametrize("text", [text for text, _ in REGIONS if "1⍴1++/" not in text][::4])
def test_ranges_change_no_bit(text: str, ran: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    makes = dict(REGIONS)[text]
    args = makes[-1](np.random.default_rng(5))
    monkeypatch.setenv("RHO_KERNELS", "off")
    expected = outcome(rho.compile(text), args)
    monkeypatch.setenv("RHO_KERNELS", "always")
    monkeypatch.setattr(tiering, "INTERRUPT_NANOSECONDS", 1)
    monkeypatch.setattr(parallel_for, "FIRST_OPERATIONS", 1)
    monkeypatch.setattr(parallel_for, "GROWTH", 1)
    assert same(outcome(rho.compile(text), args), expected)
    assert ran


def test_cells_go_on_in_longer_ranges_while_these_take_less_than_an_interrupt_may_wait() -> None:
    """Also where one cell could be much, as an estimate that knows sizes by their bounds says."""
    pace, seen = ranges.RangeSizer(0, 10_000, 2_500, 1 << 40), []
    for start, stop in pace.ranges():
        seen.append((start, stop - start))
        pace.took(stop - start, (stop - start) * 100)
    assert [count for _, count in seen] == [1, 16, 256, 2_500, 2_500, 2_500, 2_227]
    assert [start for start, _ in seen] == list(np.cumsum([0, 1, 16, 256, 2_500, 2_500, 2_500]))
    slow = ranges.RangeSizer(0, 100, 100, 1)
    next(left := slow.ranges())
    slow.took(100, 1 << 40)
    assert slow.count == 1 and list(left) == []


@pytest.mark.parametrize(("text", "makes", "op"), [pytest.param(*row, id=row[0]) for row in ROUTINES])
def test_routines_are_called(text: str, makes: list[Make], op: str, ran: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    test_bits(text, makes, ran, monkeypatch)
    called = [routine.phase for run in regions._runs.values() if run.region is not None for routine in run.region.routines]
    ops = [getattr(phase, "op", type(phase).__name__.lower()) for phase in called]
    assert op in ops
    assert op != "sort" or "grade" not in ops


@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize("text", {text: None for text, _ in REGIONS[::5]} | {"{{s←⍵ ⋄ s[0;]←s[1;]+s[;0] ⋄ ⍉s}⍣5 ⊢ ⍵}": None})
def test_narrower_vectors_change_no_bit(text: str, width: int, ran: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Processors without masks, and with fewer lanes."""
    function, makes = rho.compile(text), dict(REGIONS)[text]
    monkeypatch.setattr(regions, "vector_bytes", lambda: width)
    for make in makes[-2:]:
        args = make(np.random.default_rng(5))
        monkeypatch.setenv("RHO_KERNELS", "off")
        expected = outcome(function, args)
        monkeypatch.setenv("RHO_KERNELS", "always")
        assert same(outcome(function, args), expected)


@pytest.mark.parametrize(("text", "make", "reason"), REFUSED)
def test_what_is_no_region_says_why(text: str, make: Make, reason: str, ran: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "always")
    rho.compile(text)(*make(np.random.default_rng(1)))
    assert not ran
    assert any(reason in run.reason for run in regions._runs.values())
