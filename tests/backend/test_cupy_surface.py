"""The stand-in for CuPy takes what CuPy takes, and CuPy has what the table of its functions says."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from rho.tests.backend import cuda_stub
from rho.tests.backend.cupy_surface import SURFACE, signature_of

OWN: dict[str, Any] = {
    "RawModule": cuda_stub.RawModule, "RawModule.get_function": cuda_stub.RawModule.get_function, "array": cuda_stub.array,
    "asarray": cuda_stub.asarray, "empty": cuda_stub.empty, "zeros": cuda_stub.zeros, "cuda.Device": cuda_stub.cuda.Device,
    "cuda.Event": cuda_stub.Event, "cuda.Event.record": cuda_stub.Event.record,
    "cuda.Event.synchronize": cuda_stub.Event.synchronize,
    "cuda.MemoryPool": cuda_stub.MemoryPool, "cuda.MemoryPool.malloc": cuda_stub.MemoryPool.malloc,
    "cuda.MemoryPool.free_all_blocks": cuda_stub.MemoryPool.free_all_blocks,
    "cuda.MemoryPool.set_limit": cuda_stub.MemoryPool.set_limit, "cuda.Stream": cuda_stub.Stream,
    "cuda.Stream.synchronize": cuda_stub.Stream.synchronize, "cuda.Stream.wait_event": cuda_stub.Stream.wait_event,
    "cuda.alloc_pinned_memory": cuda_stub.cuda.alloc_pinned_memory, "cuda.using_allocator": cuda_stub.using_allocator,
    "cuda.runtime.getDeviceCount": cuda_stub.runtime.getDeviceCount,
    "cuda.runtime.getDeviceProperties": cuda_stub.runtime.getDeviceProperties,
    "ndarray": cuda_stub.ndarray, "ndarray.get": cuda_stub.DeviceArray.get, "ndarray.set": cuda_stub.DeviceArray.set,
    "ndarray.item": cuda_stub.DeviceArray.item,
}  # fmt: skip


def named(function: Callable[..., Any] | inspect.Signature) -> dict[str, str]:
    """The parameters by name: may they be left out, are they keywords alone?"""
    signature = function if isinstance(function, inspect.Signature) else inspect.signature(function)
    return {p.name: p.kind.name for p in signature.parameters.values() if p.name not in ("self", "args", "more")}


@pytest.mark.parametrize("name", OWN)
def test_what_the_stand_in_has_of_its_own(name: str) -> None:
    """It may lack parameters, not have others, and those without a name to call them by are in CuPy's order."""
    own, wanted = named(OWN[name]), named(signature_of(name))
    assert set(own) <= set(wanted) or len(own) == len(wanted) == 1, (own, wanted)
    places = [list(wanted).index(parameter) for parameter in own if parameter in wanted]
    assert places == sorted(places)


def test_other_calls_are_refused() -> None:
    array = cuda_stub.asarray(np.arange(5))
    for call in (lambda: cuda_stub.argsort(array, order="x"), lambda: array.astype(np.int32, copy=True, extra=1),
                 lambda: cuda_stub.take(array, array, mode="clip"), lambda: array.max(0, None, False, 0)):  # fmt: skip
        with pytest.raises(TypeError, match="cupy"):
            call()
    for absent in ("unique", "einsum"):
        with pytest.raises(AttributeError, match="cupy_surface"):
            getattr(cuda_stub, absent)
    with pytest.raises(AttributeError, match="cupy_surface"):
        array.argpartition(2)


def parameters_of(found: Any) -> list[str]:
    """Those of a function of CuPy; functions that are compiled say theirs in the first line of their text."""
    try:
        return list(named(found))
    except (ValueError, TypeError):
        line = (found.__doc__ or "").splitlines()[0]
        listed = re.match(r"[\w.]+\((.*)\)", line)
        parts = [] if listed is None or not listed.group(1) else re.split(r",\s*", listed.group(1))
        names = [part.split("=")[0].split()[-1].lstrip("*") for part in parts if part not in ("/", "*", "\\*")]
        return [name for name in names if name not in ("self", "args", "kwargs")]


@pytest.mark.skipif(find_spec("cupy") is None, reason="CuPy is not installed")
def test_the_table_is_true() -> None:
    """Each name is there, with these parameters in this order (CuPy may have more)."""
    import cupy

    for name in SURFACE:
        found: Any = cupy
        for part in name.split("."):
            found = getattr(found, part)
        theirs = [one for one in parameters_of(found) if one != "kwargs"]
        ours = [one for one in named(signature_of(name)) if one != "shape"]
        if theirs and name != "ndarray":  # which says *args
            assert [one for one in theirs if one in ours] == ours, (name, theirs, ours)
