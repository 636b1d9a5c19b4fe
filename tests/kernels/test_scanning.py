"""Scans through kernels have the bits of NumPy's in the order of scans, on any number of threads; so has their CUDA text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from without_code import forget_code

import rho
from rho.backend.cpu import templates as cpu_templates
from rho.backend.cpu.numpy_reductions import scan_axis
from rho.backend.cpu.numpy_scalars import UFUNC_FUNCTIONS
from rho.backend.gpu.launch import run_text, text_for
from rho.backend.jit import tiering
from rho.backend.jit.compiler import LruCache
from rho.backend.loopir import templates
from rho.backend.loopir.templates import GpuScanForm, gpu_scan
from rho.backend.lower.loop_order import BLOCK
from rho.backend.vm import run_state
from rho.tests.backend import cuda_stub
from rho.tests.kernels import cuda_host
from rho.tests.kernels.phases import data, same_bits
from rho.typechecker.elements import Kind

SHAPES = [
    ((1,), 0), ((63,), 0), ((64,), 0), ((600,), 0), ((4096,), 0), ((4097,), 0), ((100_000,), 0), ((3, 5000), 1), ((500, 3), 0),
    ((2, 130, 3), 1), ((5, 4200, 37), 1), ((40, 300), 1), ((200, 300), 0), ((70, 530), 0), ((2, 40_000), 1), ((3, 7, 1), 1),
    ((40, 7), 1), ((33, 65), 1), ((20, 512), 1), ((200_000,), 0),
]  # fmt: skip
FUNCTIONS = [
    *((kind, f) for kind in (Kind.F64, Kind.F32, Kind.I64, Kind.I32, Kind.U8) for f in ("add", "mul", "min", "max")),
    (Kind.BOOL, "and"), (Kind.BOOL, "or"), (Kind.BOOL, "ne"), (Kind.BOOL, "eq"),
]  # fmt: skip


def wanted(function: str, kind: Kind, array: Any, axis: int) -> Any:
    with np.errstate(all="ignore"):
        if kind.is_float and function in ("add", "mul"):
            return scan_axis(function, kind, array, axis)
        return UFUNC_FUNCTIONS[function].accumulate(array, axis, array.dtype)


def layouts(array: Any, axis: int) -> Iterator[Any]:
    yield array
    yield np.asfortranarray(array)
    yield np.repeat(array, 2, axis)[(slice(None),) * axis + (slice(None, None, 2),)]
    yield array[::-1]
    yield np.broadcast_to(array[:1], array.shape)


def test_a_native_chain_has_a_carry_for_each_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them were in the two items that tasks of other scans share, and overwrote what lay behind."""
    monkeypatch.setenv(tiering.SWITCH, "always")
    monkeypatch.setattr(tiering, "LONG_NANOSECONDS", 1)
    monkeypatch.setattr(cpu_templates, "_INTERRUPT_BYTES", 8 * BLOCK)
    monkeypatch.setattr(cpu_templates, "_scan_cache", LruCache(256))
    memory = np.full(64, -0.0)
    monkeypatch.setattr(cpu_templates, "_carry", lambda function, kind: memory[:2])
    array = np.random.default_rng(0).random(5 * BLOCK + 7)
    function, expected = rho.compile("{+\\⍵}"), scan_axis("add", Kind.F64, array, 0)
    for _ in range(5):
        assert same_bits(function(array), expected)
    assert not memory.any()


@pytest.mark.parametrize(("kind", "function"), FUNCTIONS)
@pytest.mark.parametrize("threads", [1, 3])
def test_bits(kind: Kind, function: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "always")
    monkeypatch.setattr(cpu_templates, "PARALLEL", 0)
    monkeypatch.setattr(cpu_templates, "STREAMING_BYTES", 1 << 16)
    monkeypatch.setattr(run_state, "MIN_POOLED", 0)
    monkeypatch.setattr(cpu_templates, "_scan_cache", LruCache(256))
    refused = 0
    for shape, axis in SHAPES:
        array = data(kind, int(np.prod(shape)), 3).reshape(shape)
        if kind.is_float:
            array.reshape(-1)[300:] = np.where(np.isfinite(array.reshape(-1)[300:]), array.reshape(-1)[300:], 1)
        for one in layouts(array, axis):
            made = cpu_templates.scan_lines(function, kind, one, axis, threads)
            refused += made is None
            assert made is None or same_bits(made, wanted(function, kind, one, axis)), (shape, axis, one.strides)
    assert refused <= 12  # axes behind that do not lie next to each other


@pytest.mark.parametrize(("kind", "function"), FUNCTIONS)
def test_a_long_line_is_scanned_batch_by_batch(kind: Kind, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "always")
    monkeypatch.setattr(tiering, "LONG_NANOSECONDS", 0.0)
    monkeypatch.setattr(cpu_templates, "_INTERRUPT_BYTES", 1 << 16)
    monkeypatch.setattr(cpu_templates, "_scan_cache", LruCache(256))
    array = data(kind, 70_001, 3)
    if kind.is_float:
        array[300:] = np.where(np.isfinite(array[300:]), array[300:], 1)
    for one in (array, array[::-1], np.repeat(array, 2)[::2]):
        made = cpu_templates.scan_lines(function, kind, one, 0, 1)
        assert made is not None
        assert same_bits(made, wanted(function, kind, one, 0))
    assert all(kept.is_chain and kept.pieces.count > 1 for kept in cpu_templates._scan_cache.values())


@pytest.mark.parametrize("bytes", [16, 32, 64])
@pytest.mark.parametrize(("kind", "function"), FUNCTIONS)
def test_registers_of_any_width(kind: Kind, function: str, bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of those that are not full: rows that are turned, and lanes that are joined with what is not there."""
    monkeypatch.setenv(tiering.SWITCH, "always")
    monkeypatch.setattr(templates, "vector_bytes", lambda: bytes)
    forget_code(monkeypatch)
    for shape, axis in (((5001,), 0), ((700,), 0), ((37, 45), 1), ((9, 203), 1), ((3, 1100), 1), ((70, 41), 0), ((11, 3), 1)):
        array = data(kind, int(np.prod(shape)), 3).reshape(shape)
        if kind.is_float:
            array = np.where(np.isfinite(array), array, 1).astype(array.dtype)
        for one in (array, array[::-1]):
            made = cpu_templates.scan_lines(function, kind, one, axis, 1)
            assert made is not None
            assert same_bits(made, wanted(function, kind, one, axis)), (shape, axis)


def test_nothing_to_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "always")
    assert cpu_templates.scan_lines("add", Kind.F64, np.zeros((3, 0)), 1, 2) is None


@pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler")
@pytest.mark.parametrize(("kind", "function"), [FUNCTIONS[0], FUNCTIONS[5], FUNCTIONS[11], FUNCTIONS[-3]])
def test_on_cards(kind: Kind, function: str) -> None:
    card = cuda_stub.card().card
    for lines, length in ((1, 1), (3, 65), (2, BLOCK), (1, 2 * BLOCK + 70)):
        array = data(kind, lines * length, 5).reshape(lines, length)
        want, blocks, step = wanted(function, kind, array, 1), -(-length // BLOCK), array.dtype.itemsize
        turned = np.ascontiguousarray(array.T)
        for form, source, sizes, strides in (
            (GpuScanForm.LINES, array, (lines, length, 1), (length * step, step)),
            (GpuScanForm.LINES, turned, (1, length, lines), (0, lines * step)),
            (GpuScanForm.BLOCKS if blocks > 1 else GpuScanForm.BLOCK, array, (lines, length, *([blocks] * (blocks > 1))),
            (length * step,)),
        ):
            result = np.empty_like(source)
            words = (*sizes, cuda_stub.over(source), *strides, cuda_stub.over(result), *strides)
            assert not run_text(card, text_for(card, gpu_scan(function, kind, form)), words)
            assert same_bits(result if source is array else np.ascontiguousarray(result.T), want), form
