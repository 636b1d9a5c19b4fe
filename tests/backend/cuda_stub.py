"""A CuPy of NumPy arrays: device memory is the host's, kernels are compiled for the host (`cuda_host`).

Arrays refuse what CuPy's refuse: to become NumPy arrays silently, and to be mixed with them; functions and methods take what
CuPy's take (`cupy_surface`).  What is asked of streams, events, pools and transfers is written to `log`.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from rho.backend.gpu import device, driver as gpu_driver
from rho.backend.gpu.cuda import CudaDriver
from rho.backend.gpu.driver import Card
from rho.tests.backend.cupy_surface import require, signature_of
from rho.tests.kernels.cuda_host import host_module

log: list[tuple[Any, ...]] = []


class Pointer:
    """`MemoryPointer`: an address and what keeps it alive."""

    def __init__(self, owner: np.ndarray[Any, Any], ptr: int) -> None:
        self.owner, self.ptr = owner, ptr

    def __add__(self, offset: int) -> Pointer:
        return Pointer(self.owner, self.ptr + offset)

    def copy_from_device_async(self, src: Pointer, size: int, stream: Any = None) -> None:
        assert stream is not None
        ctypes.memmove(self.ptr, src.ptr, size)


def _in(value: Any) -> Any:
    if isinstance(value, DeviceArray):
        return value.host
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("unsupported type: a NumPy array among CuPy arrays")
    if isinstance(value, tuple | list):
        return type(value)(map(_in, value))
    return value


def _out(value: Any, base: Any = None) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return DeviceArray(np.asarray(value), base)
    if isinstance(value, tuple):
        return tuple(map(_out, value))
    if isinstance(value, list):
        return [_out(item) for item in value]
    return value


class Flags(SimpleNamespace):
    """No `writeable`, as CuPy's."""


class DeviceArray:
    __array_priority__ = 1000

    def __init__(self, host: np.ndarray[Any, Any], base: Any = None) -> None:
        self.host, self.base = host, base
        self.memory: Any = None

    shape = property(lambda self: self.host.shape)
    strides = property(lambda self: self.host.strides)
    dtype = property(lambda self: self.host.dtype)
    ndim = property(lambda self: self.host.ndim)
    size = property(lambda self: self.host.size)
    nbytes = property(lambda self: self.host.nbytes)
    T = property(lambda self: _out(self.host.T, self))
    real = property(lambda self: _out(self.host.real, self))
    imag = property(lambda self: _out(self.host.imag, self))

    @property
    def data(self) -> Pointer:
        return Pointer(self.host, self.host.ctypes.data)

    @property
    def flags(self) -> Flags:
        flags = self.host.flags
        return Flags(c_contiguous=flags.c_contiguous, f_contiguous=flags.f_contiguous, owndata=self.base is None)

    def __array__(self, *args: Any, **more: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")

    def __len__(self) -> int:
        return len(self.host)

    def __bool__(self) -> bool:
        log.append(("item",))
        return bool(self.host)

    def __int__(self) -> int:
        log.append(("item",))
        return int(self.host)

    def item(self) -> Any:
        log.append(("item",))
        return self.host.item()

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> np.ndarray[Any, Any]:
        log.append(("get", self.nbytes))
        if out is None:
            return np.array(self.host, order="C")
        out[...] = self.host
        return out  # type: ignore[no-any-return]

    def set(self, arr: np.ndarray[Any, Any], stream: Any = None) -> None:
        assert isinstance(arr, np.ndarray) and arr.dtype == self.dtype and arr.shape == self.shape
        log.append(("set", self.nbytes))
        self.host[...] = arr

    def __getitem__(self, index: Any) -> Any:
        return _out(self.host[_in(index)], self)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.host[_in(index)] = _in(value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        signature_of(f"ndarray.{name}")
        method = getattr(self.host, name)

        def call(*args: Any, **more: Any) -> Any:
            require(f"ndarray.{name}", args, more)
            made = method(*map(_in, args), **{key: _in(value) for key, value in more.items()})
            shares = isinstance(made, np.ndarray) and np.may_share_memory(made, self.host)
            return _out(made, self if shares else None)

        return call


def _operator(name: str) -> Any:
    def apply(self: DeviceArray, *args: Any) -> Any:
        return _out(getattr(self.host, name)(*map(_in, args)))

    return apply


_OPERATORS = """add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod and rand or ror xor rxor lshift rshift
lt le eq ge gt ne neg invert abs matmul"""
for _name in _OPERATORS.split():
    setattr(DeviceArray, f"__{_name}__", _operator(f"__{_name}__"))


class RawModule:
    """Kernels for the host."""

    def __init__(self, code: str, options: Sequence[str] = (), backend: str = "nvrtc") -> None:
        assert "--fmad=false" in options
        self.module = host_module(code)

    def get_function(self, name: str) -> Any:
        def launch(grid: tuple[int, ...], block: tuple[int, ...], args: Sequence[Any]) -> None:
            assert all(isinstance(arg, np.int64) for arg in args), "every argument is a word"
            log.append(("launch", name))
            self.module.launch(name, grid[0], block[0], [int(arg) for arg in args])

        return launch


class Event:
    def __init__(self, block: bool = False, disable_timing: bool = False) -> None:
        self.recorded = False

    def record(self, stream: Any = None) -> None:
        self.recorded = True
        log.append(("record", getattr(stream, "name", "")))

    @property
    def done(self) -> bool:
        return True

    def synchronize(self) -> None:
        assert self.recorded
        log.append(("synchronize", "event"))


class Stream:
    count = 0

    def __init__(self, non_blocking: bool = False) -> None:
        Stream.count += 1
        self.name, self.ptr = f"stream{Stream.count}", Stream.count

    def wait_event(self, event: Event) -> None:
        assert event.recorded
        log.append(("wait", self.name))

    def synchronize(self) -> None:
        log.append(("synchronize", self.name))

    def __enter__(self) -> Stream:
        log.append(("enter", self.name))
        return self

    def __exit__(self, *args: Any) -> None:
        log.append(("leave", self.name))


class MemoryPool:
    """As in CuPy's, what is kept counts towards the limit and is not let go when that is reached."""

    def __init__(self) -> None:
        self.limit = self.kept = 0

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        assert size is not None
        self.limit = size
        log.append(("limit", size))

    def malloc(self, size: int) -> Any:
        if self.limit and self.kept + size > self.limit:
            raise OutOfMemoryError(size, self.kept, self.limit)
        memory = np.empty(size + 64, np.uint8)
        return Pointer(memory, memory.ctypes.data + -memory.ctypes.data % 64)

    def free_all_blocks(self, stream: Any = None) -> None:
        self.kept = 0


class OutOfMemoryError(MemoryError):
    pass


class CompileException(Exception):
    pass


class CUDARuntimeError(RuntimeError):
    pass


@contextlib.contextmanager
def _device(number: int) -> Iterator[None]:
    yield


allocators: list[Any] = []


@contextlib.contextmanager
def using_allocator(allocator: Any = None) -> Iterator[None]:
    allocators.append(allocator)
    try:
        yield
    finally:
        allocators.pop()


def _memcpy2d(dst: int, dpitch: int, src: int, spitch: int, width: int, height: int, kind: int, stream: int) -> None:
    assert width <= min(dpitch, spitch) and stream
    log.append(("set" if kind == 1 else "get", width * height))
    for row in range(height):
        ctypes.memmove(dst + row * dpitch, src + row * spitch, width)


_PROPERTIES = {"name": b"Stub", "totalGlobalMem": 1 << 33, "major": 9, "minor": 0}
runtime = SimpleNamespace(
    getDeviceCount=lambda: 1, getDeviceProperties=lambda number: _PROPERTIES, memcpy2DAsync=_memcpy2d, memcpyHostToDevice=1,
    memcpyDeviceToHost=2,
)  # fmt: skip
cuda = SimpleNamespace(
    alloc_pinned_memory=lambda size: _pinned(size), runtime=runtime, Device=_device, Stream=Stream, Event=Event,
    MemoryPool=MemoryPool, using_allocator=using_allocator,
    memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError), compiler=SimpleNamespace(CompileException=CompileException),
)  # fmt: skip


def _pinned(size: int) -> bytearray:
    log.append(("pinned", size))
    return bytearray(size)


def ndarray(shape: tuple[int, ...], dtype: Any, memptr: Pointer, strides: tuple[int, ...]) -> DeviceArray:
    """An array over given memory; it does not say whose."""
    base = memptr.owner
    while isinstance(base.base, np.ndarray):
        base = base.base
    if 0 in shape:
        return DeviceArray(np.empty(shape, dtype))
    low, high = np.lib.array_utils.byte_bounds(base)
    reach = sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if s > 0)
    below = sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if s < 0)
    size = np.dtype(dtype).itemsize
    assert memptr.ptr + below >= low and memptr.ptr + reach + size <= high, "outside the memory"
    raw = np.frombuffer((ctypes.c_char * size).from_address(memptr.ptr), dtype)
    made = DeviceArray(np.lib.stride_tricks.as_strided(raw.reshape(()), shape, strides))
    made.memory = base
    return made


def asarray(a: Any, dtype: Any = None) -> DeviceArray:
    if isinstance(a, DeviceArray):
        return a if dtype is None or a.dtype == dtype else DeviceArray(a.host.astype(dtype))
    return array(a, dtype)


def array(obj: Any, dtype: Any = None) -> DeviceArray:
    log.append(("set", np.asarray(obj).nbytes))
    return DeviceArray(np.array(obj, dtype))


def empty(shape: Any, dtype: Any) -> DeviceArray:
    return DeviceArray(np.empty(shape, dtype))


def zeros(shape: tuple[int, ...], dtype: Any) -> DeviceArray:
    return DeviceArray(np.zeros(shape, dtype))


class _Wrapped:
    """The functions of a NumPy module on device arrays."""

    def __init__(self, module: Any, prefix: str) -> None:
        self._module, self._prefix = module, prefix

    def __getattr__(self, name: str) -> Any:
        full = self._prefix + name
        signature_of(full)
        found = getattr(self._module, name)

        def call(*args: Any, **more: Any) -> Any:
            require(full, args, more)
            return _out(found(*map(_in, args), **{key: _in(value) for key, value in more.items()}))

        return call


linalg, fft = _Wrapped(np.linalg, "linalg."), _Wrapped(np.fft, "fft.")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_Wrapped(np, ""), name)


def card(limit: int | None = None) -> device.CardBackend:
    """A back end over this module."""
    card = device._cards.setdefault(("stub", 0), Card(CudaDriver(0, sys.modules[__name__])))
    card.driver.limit(limit)
    return device.CardBackend(card)


def over(host: np.ndarray[Any, Any]) -> gpu_driver.DeviceArray:
    """Memory of the host as an array of the card."""
    return gpu_driver.DeviceArray(Pointer(host, host.ctypes.data), 0, host.shape, host.strides, host.dtype)
