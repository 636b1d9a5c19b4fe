"""What the CUDA back end may ask of CuPy: the parameters of each function, those that CuPy 13.6 and 14.2 both have.

The stand-in (`cuda_stub`) refuses calls that these do not take.  Where CuPy is installed (a card is not needed), a test compares
the table with it.  `=0` marks a parameter that may be left out, whatever its default.
"""

from __future__ import annotations

import inspect
from typing import Any

SURFACE: dict[str, str] = {
    "RawModule": "code=0, *, path=0, options=0, backend=0, translate_cucomplex=0, enable_cooperative_groups=0",
    "RawModule.get_function": "name",
    "abs": "x, out=0, *, casting=0, dtype=0",
    "add": "x1, x2, out=0, *, casting=0, dtype=0",
    "arange": "start, stop=0, step=0, dtype=0",
    "argsort": "a, axis=0, kind=0",
    "argwhere": "a",
    "array": "obj, dtype=0, copy=0, order=0, subok=0, ndmin=0, *, blocking=0",
    "asarray": "a, dtype=0, order=0, *, blocking=0",
    "ascontiguousarray": "a, dtype=0",
    "bincount": "x, weights=0, minlength=0",
    "broadcast_to": "array, shape",
    "concatenate": "tup, axis=0, out=0, *, dtype=0, casting=0",
    "cuda.Device": "device=0",
    "cuda.Event": "block=0, disable_timing=0, interprocess=0",
    "cuda.Event.done": "",
    "cuda.Event.record": "stream=0",
    "cuda.Event.synchronize": "",
    "cuda.MemoryPool": "allocator=0",
    "cuda.MemoryPool.free_all_blocks": "stream=0",
    "cuda.MemoryPool.malloc": "size",
    "cuda.MemoryPool.set_limit": "size=0, fraction=0",
    "cuda.Stream": "null=0, non_blocking=0, ptds=0",
    "cuda.Stream.synchronize": "",
    "cuda.Stream.wait_event": "event",
    "cuda.alloc_pinned_memory": "size",
    "cuda.compiler.CompileException": "msg, source, name, options, backend=0",
    "cuda.get_current_stream": "device_id=0",
    "cuda.memory.OutOfMemoryError": "size, total, limit=0",
    "cuda.runtime.getDeviceCount": "",
    "cuda.runtime.getDeviceProperties": "device",
    "cuda.runtime.memcpy2DAsync": "dst, dpitch, src, spitch, width, height, kind, stream",
    "cuda.using_allocator": "allocator=0",
    "cumsum": "a, axis=0, dtype=0, out=0",
    "diagonal": "a, offset=0, axis1=0, axis2=0",
    "empty": "shape, dtype=0, order=0",
    "eye": "N, M=0, k=0, dtype=0, order=0",
    "fft.fft": "a, n=0, axis=0, norm=0",
    "fft.ifft": "a, n=0, axis=0, norm=0",
    "fft.irfft": "a, n=0, axis=0, norm=0",
    "fft.rfft": "a, n=0, axis=0, norm=0",
    "flatnonzero": "a",
    "full": "shape, fill_value, dtype=0, order=0",
    "full_like": "a, fill_value, dtype=0, order=0, subok=0, shape=0",
    "invert": "x, out=0, *, casting=0, dtype=0",
    "isnan": "x, out=0, *, casting=0, dtype=0",
    "linalg.cholesky": "a",
    "linalg.det": "a",
    "linalg.eigh": "a, UPLO=0",
    "linalg.qr": "a, mode=0",
    "linalg.solve": "a, b",
    "linalg.svd": "a, full_matrices=0, compute_uv=0",
    "matmul": "*args, axes=0, axis=0, keepdims=0, casting=0, dtype=0, signature=0, order=0, out=0",
    "minimum": "x1, x2, out=0, *, casting=0, dtype=0",
    "moveaxis": "a, source, destination",
    "ndarray": "shape, dtype=0, memptr=0, strides=0, order=0",
    "ndarray.all": "axis=0, out=0, keepdims=0",
    "ndarray.any": "axis=0, out=0, keepdims=0",
    "ndarray.astype": "dtype, order=0, casting=0, subok=0, copy=0",
    "ndarray.copy": "order=0",
    "ndarray.get": "stream=0, order=0, out=0, blocking=0",
    "ndarray.item": "",
    "ndarray.max": "axis=0, out=0, keepdims=0",
    "ndarray.min": "axis=0, out=0, keepdims=0",
    "ndarray.reshape": "*shape, order=0",
    "ndarray.set": "arr, stream=0",
    "ndarray.squeeze": "axis=0",
    "ndarray.sum": "axis=0, dtype=0, out=0, keepdims=0",
    "ndarray.transpose": "*axes",
    "ndarray.view": "dtype=0, type=0",
    "ones": "shape, dtype=0, order=0",
    "searchsorted": "a, v, side=0, sorter=0",
    "sort": "a, axis=0, kind=0",
    "stack": "tup, axis=0, out=0, *, dtype=0, casting=0",
    "take": "a, indices, axis=0, out=0",
    "take_along_axis": "a, indices, axis",
    "where": "condition, x=0, y=0",
    "zeros": "shape, dtype=0, order=0",
}


def signature_of(name: str) -> inspect.Signature:
    """AttributeError: nothing of that name may be asked for."""
    if name not in SURFACE:
        raise AttributeError(f"cupy.{name} is not in tests/backend/cupy_surface.py")
    made: dict[str, Any] = {}
    exec(f"def function({SURFACE[name]}): ...", made)
    return inspect.signature(made["function"])


def require(name: str, args: Any, more: Any) -> None:
    """TypeError: CuPy's function does not take these."""
    try:
        signature_of(name).bind(*args, **more)
    except TypeError as error:
        raise TypeError(f"cupy.{name}: {error}") from None
