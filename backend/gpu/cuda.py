"""The driver of CUDA, through CuPy.  The only module that imports CuPy, and only on first use: the import is slow, and most
machines have no GPU.

Arrays are allocated from a memory pool of the GPU, limited to the memory that the plan of the run declares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np

from ...lang.diagnostics.model import Code
from ..codegen.gpu_targets import CUDA, THREADS
from ..cpu.views import NumArray
from ..vm.check_failures import CheckFailed
from .driver import CardModel, DeviceArray


@cache
def cupy() -> Any:
    """CuPy if there is at least one usable GPU; else None."""
    try:
        import cupy as module

        return module if module.cuda.runtime.getDeviceCount() > 0 else None
    except (ImportError, OSError, RuntimeError):
        return None


def raising(xp: Any) -> Any:
    """A context in which CuPy's linear algebra raises `LinAlgError` where there is no result, which is not its default."""
    if getattr(xp, "__name__", "") != "cupy":
        return nullcontext()
    import cupyx

    return cupyx.errstate(linalg="raise")


def gpus() -> tuple[CardModel, ...]:
    """The GPUs of this machine; empty without CuPy."""
    module = cupy()
    count = 0 if module is None else module.cuda.runtime.getDeviceCount()
    rows = [module.cuda.runtime.getDeviceProperties(number) for number in range(count)]
    return tuple(
        CardModel(
            number, name.decode() if isinstance(name := facts["name"], bytes) else str(name), int(facts["totalGlobalMem"]),
            f"compute capability {facts['major']}.{facts['minor']}",
        )
        for number, facts in enumerate(rows)
    )  # fmt: skip


class CudaDriver:
    """The driver of one GPU; memory is CuPy's `MemoryPointer`."""

    def __init__(self, number: int, xp: Any = None) -> None:
        xp = cupy() if xp is None else xp
        assert xp is not None, "there is no card"
        self.xp, self.number, self.name, self.dialect = xp, number, f"card {number}", CUDA
        with xp.cuda.Device(number):
            self.compute, self.copies = [xp.cuda.Stream(non_blocking=True) for _ in range(2)]
            self.pool = xp.cuda.MemoryPool()
        self._modules: dict[str, Any] = {}
        self._functions: dict[tuple[str, str], Any] = {}

    def limit(self, size: int | None) -> None:
        with self.xp.cuda.Device(self.number):
            self.pool.set_limit(size=size or 0)

    @contextmanager
    def here(self) -> Iterator[None]:
        xp = self.xp
        try:
            with xp.cuda.Device(self.number), xp.cuda.using_allocator(self.allocate), self.compute:
                yield
        except (RuntimeError, OSError, ImportError, MemoryError, xp.cuda.compiler.CompileException) as error:
            text = (str(error).strip().splitlines() or [type(error).__name__])[0]
            if isinstance(error, MemoryError) or "cudaErrorMemoryAllocation" in text:
                raise MemoryError(text) from error
            raise CheckFailed(Code.E710, f"{self.name}: {text}") from error

    def allocate(self, size: int) -> Any:
        """Allocates from the pool, after freeing its cached blocks if they would exceed the limit, which counts them too."""
        try:
            return self.pool.malloc(size)
        except self.xp.cuda.memory.OutOfMemoryError:
            self.pool.free_all_blocks()
            return self.pool.malloc(size)

    def pinned(self, size: int) -> NumArray:
        return np.frombuffer(self.xp.cuda.alloc_pinned_memory(size), np.uint8, size)

    def view(self, array: DeviceArray) -> Any:
        """An array as a CuPy array."""
        return self.xp.ndarray(array.shape, array.dtype, memptr=array.memory + array.offset, strides=array.strides)

    def adopt(self, array: Any) -> DeviceArray:
        """A CuPy array as a `DeviceArray`."""
        return DeviceArray(array.data, 0, tuple(array.shape), tuple(array.strides), array.dtype)

    def write(self, queue: Any, target: DeviceArray, host: NumArray, *, wait: bool) -> None:
        if len(host) == 1:
            self.view(target[0,]).set(host[0], stream=queue)  # CUDA copies unpinned memory before it returns
        else:
            there, here = (target.memory.ptr + target.offset, target.strides[0]), (host.ctypes.data, host.strides[0])
            self._copy_rows(*there, *here, host, "HostToDevice", queue, wait)

    def read(self, queue: Any, source: DeviceArray, host: NumArray, *, wait: bool) -> None:
        if len(host) == 1:
            self.view(source[0,]).get(stream=queue, out=host[0], blocking=wait)
        else:
            there, here = (source.memory.ptr + source.offset, source.strides[0]), (host.ctypes.data, host.strides[0])
            self._copy_rows(*here, *there, host, "DeviceToHost", queue, wait)

    def _copy_rows(self, to: int, pitch: int, start: int, reach: int, host: NumArray, kind: str, queue: Any, wait: bool) -> None:
        runtime, (rows, width) = self.xp.cuda.runtime, host.shape
        runtime.memcpy2DAsync(to, pitch, start, reach, width, rows, getattr(runtime, f"memcpy{kind}"), queue.ptr)
        if wait:
            queue.synchronize()

    def copy(self, source: DeviceArray, target: DeviceArray) -> None:
        (target.memory + target.offset).copy_from_device_async(source.memory + source.offset, source.nbytes, self.compute)

    def launch(self, source: str, name: str, blocks: int, words: Sequence[int | DeviceArray]) -> None:
        function = self._functions.get((source, name))
        if function is None:
            if source not in self._modules:
                self._modules[source] = self.xp.RawModule(code=source, options=CUDA.options)
            function = self._functions[source, name] = self._modules[source].get_function(name)
        args = list[Any]()
        for word in words:
            args += (word.memory.ptr, word.offset) if isinstance(word, DeviceArray) else (word,)
        function((blocks,), (THREADS,), tuple(map(np.int64, args)))

    def record(self, queue: Any) -> Any:
        event = self.xp.cuda.Event(disable_timing=True)
        event.record(queue)
        return event

    def wait(self, queue: Any, event: Any) -> None:
        queue.wait_event(event)

    def finish(self, event: Any) -> None:
        event.synchronize()
