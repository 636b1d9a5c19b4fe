"""The driver of OpenCL 1.2 and later, through pyopencl.  The only module that imports it, and only on first use.

Each array has its own buffer; the driver counts the bytes and enforces the plan's limit.  Freed buffers are kept for later arrays
of their size, because the first use of new memory takes longer than most kernels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock, RLock
from typing import Any, Final

import numpy as np

from ...lang.diagnostics.model import Code
from ..codegen.gpu_targets import ATOMICS, DOUBLE, EXTENSIONS, OPENCL, THREADS
from ..cpu.views import NumArray
from ..loopir.reductions import SHARED_BYTES
from ..vm.check_failures import CheckFailed
from .driver import CardModel, DeviceArray

_SIMULATORS: Final = ("Oclgrind",)
_NO_MEMORY: Final = ("MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_HOST_MEMORY", "INVALID_BUFFER_SIZE")
_simulating: Final = RLock()
"""Simulators run kernels on the calling threads and do not support several at a time."""
_building: Final = Lock()
"""Guards the warnings filter, which is global to the process."""


@cache
def _devices() -> tuple[tuple[Any, str], ...]:
    """The devices of all platforms, each with the reason why it runs no programs; usable devices first, simulators last."""
    try:
        import pyopencl
    except (ImportError, OSError):
        return ()
    rows = list[tuple[Any, str]]()
    for platform in _unless_failing(pyopencl.get_platforms):
        rows += [(device, _lacks(device)) for device in _unless_failing(platform.get_devices)]
    return tuple(sorted(rows, key=lambda row: (bool(row[1]), row[0].platform.name in _SIMULATORS)))


def _unless_failing(ask: Callable[[], list[Any]]) -> list[Any]:
    import pyopencl

    try:
        return ask()
    except pyopencl.Error:  # there is no platform, or its driver is broken
        return []


def gpus() -> tuple[CardModel, ...]:
    """The OpenCL devices of this machine; empty without pyopencl or a platform."""
    return tuple(
        CardModel(
            number, device.name.strip(), int(device.global_mem_size), f"{device.platform.name.strip()}, {device.version.strip()}",
            lacks, tuple(name for name in EXTENSIONS if name not in device.extensions.split()), int(device.max_compute_units),
            device.platform.name in _SIMULATORS,
        )
        for number, (device, lacks) in enumerate(_devices())
    )  # fmt: skip


def _lacks(device: Any) -> str:
    """The reason why no program runs on a device: a limit that is too small, or the compiler's message for a small program."""
    import pyopencl

    if device.max_work_group_size < THREADS:
        return f"it runs {device.max_work_group_size} threads together, kernels want {THREADS}"
    if device.local_mem_size < SHARED_BYTES:
        return f"it has {device.local_mem_size} bytes of memory for threads together, kernels want {SHARED_BYTES}"
    try:
        _built(pyopencl.Context([device]), "__kernel void none(void) {}", [])
    except pyopencl.Error as error:
        return _words(error)
    return ""


def _built(context: Any, source: str, options: list[str]) -> Any:
    """Compiles a text to a program, without the compiler's messages if it succeeds."""
    import pyopencl

    with _building, warnings.catch_warnings():
        warnings.simplefilter("ignore", pyopencl.CompilerWarning)
        program: Any = pyopencl.Program(context, source)  # the declared type of `cache_dir` lacks False, which disables the cache
        return program.build(options, cache_dir=False)


def _words(error: Exception) -> str:
    """A device's message in one line; of a compiler the first error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return next((line for line in lines if "error:" in line), lines[0])


def _rectangle(array: DeviceArray, host: NumArray, offset: str) -> tuple[NumArray, Mapping[str, Any]]:
    """The memory of the host's matrix of bytes, and which bytes of it and of the device's buffer are copied."""
    (rows, width), pitch, reach = host.shape, array.strides[0], host.strides[0]
    if rows == 1:
        return host.reshape(-1), {offset: array.offset}
    row, column = divmod(array.offset, pitch)
    return np.lib.stride_tricks.as_strided(host, ((rows - 1) * reach + width,), (1,)), {
        "buffer_origin": (column, row, 0), "host_origin": (0, 0, 0), "region": (width, rows, 1),
        "buffer_pitches": (pitch, pitch * rows), "host_pitches": (reach, reach * rows),
    }  # fmt: skip


_IDLE: Final = 8
"""Kept buffers may take 1/_IDLE of a device's memory."""


class _Memory:
    """A buffer, whose bytes are counted until it is dropped."""

    __slots__ = ("buffer", "driver", "size")

    def __init__(self, driver: OpenClDriver, buffer: Any, size: int) -> None:
        self.driver, self.buffer, self.size = driver, buffer, size

    def __del__(self) -> None:
        with self.driver.counting:
            self.driver.used -= self.size
            self.driver.idle.append((self.size, self.buffer))


class OpenClDriver:
    """The driver of one device, with its own context."""

    xp: Any = None
    pinned = None

    def __init__(self, number: int) -> None:
        import pyopencl

        self.cl, (self.device, _) = pyopencl, _devices()[number]
        self.name, self.dialect = f"ocl{number} ({self.device.name.strip()})", OPENCL
        self.context = pyopencl.Context([self.device])
        self.compute, self.copies = (pyopencl.CommandQueue(self.context) for _ in range(2))
        self.used, self.most = 0, int(self.device.global_mem_size)
        self.idle: list[tuple[int, Any]] = []
        """Buffers with their sizes, the one that was used last at the end."""
        self._kernels: dict[tuple[str, str], Any] = {}
        self._simulates = self.device.platform.name in _SIMULATORS
        self._calls: AbstractContextManager[Any] = _simulating if self._simulates else nullcontext()
        self._lock, self.counting = Lock(), RLock()  # the collector may drop memory while some is counted

    def limit(self, size: int | None) -> None:
        with self.counting:
            self.most = int(self.device.global_mem_size) if size is None else size
            self._release(self.most - self.used)

    @contextmanager
    def here(self) -> Iterator[None]:
        cl = self.cl
        try:
            with self._calls:
                yield
        except cl.Error as error:
            if isinstance(error, cl.MemoryError) or any(code in str(error) for code in _NO_MEMORY):
                raise MemoryError(_words(error)) from error
            raise CheckFailed(Code.E710, f"{self.name}: {_words(error)}") from error

    def allocate(self, size: int) -> Any:
        with self.counting:
            if self.used + size > self.most:
                raise MemoryError(f"{self.name}: {self.used + size} bytes, of {self.most}")
            self.used += size
            for at in range(len(self.idle) - 1, -1, -1):
                if self.idle[at][0] == size:  # the compute queue is in order, and the copy queue waits for it
                    return _Memory(self, self.idle.pop(at)[1], size)
            self._release(self.most - self.used)
        try:
            buffer = self.cl.Buffer(self.context, self.cl.mem_flags.READ_WRITE, size)
        except BaseException:
            with self.counting:
                self.used -= size
            raise
        return _Memory(self, buffer, size)

    def _release(self, room: int) -> None:
        """Releases kept buffers, the oldest first, until they fit in their share and the limit; for simulators all of them, as
        they check reads of uninitialised memory."""
        total, most = sum(size for size, _ in self.idle), 0 if self._simulates else max(0, min(room, self.most // _IDLE))
        while total > most:
            total -= self.idle.pop(0)[0]

    def view(self, array: DeviceArray) -> Any:
        raise AssertionError("there is no library of arrays")

    adopt = view

    def write(self, queue: Any, target: DeviceArray, host: NumArray, *, wait: bool) -> None:
        buffer, (flat, box) = target.memory.buffer, _rectangle(target, host, "dst_offset")
        self.cl.enqueue_copy(queue, buffer, flat, is_blocking=False, **box).wait()  # threads go on

    def read(self, queue: Any, source: DeviceArray, host: NumArray, *, wait: bool) -> None:
        buffer, (flat, box) = source.memory.buffer, _rectangle(source, host, "src_offset")
        self.cl.enqueue_copy(queue, flat, buffer, is_blocking=False, **box).wait()

    def copy(self, source: DeviceArray, target: DeviceArray) -> None:
        self.cl.enqueue_copy(
            self.compute, target.memory.buffer, source.memory.buffer, byte_count=source.nbytes, src_offset=source.offset,
            dst_offset=target.offset,
        )  # fmt: skip

    def launch(self, source: str, name: str, blocks: int, words: Sequence[int | DeviceArray]) -> None:
        args = list[Any]()
        for word in words:
            args += (word.memory.buffer, np.int64(word.offset)) if isinstance(word, DeviceArray) else (np.int64(word),)
        with self._lock:  # arguments are state of the kernel
            if (source, name) not in self._kernels:
                self._build(source)
            kernel = self._kernels[source, name]
            kernel.set_args(*args)
            self.cl.enqueue_nd_range_kernel(self.compute, kernel, (blocks * THREADS,), (THREADS,))

    def _build(self, source: str) -> None:
        """Compile a text."""
        needs = {DOUBLE: "double " in source, **dict.fromkeys(ATOMICS, "atom_" in source)}
        options, rounded = list(OPENCL.options), self.cl.device_fp_config
        if self.device.single_fp_config & rounded.CORRECTLY_ROUNDED_DIVIDE_SQRT:
            options.append("-cl-fp32-correctly-rounded-divide-sqrt")
        if self._simulates:
            options.append("-cl-opt-disable")  # its optimiser miscompiles `x < 0 ? -x : x`
        enabled = "".join(f"#pragma OPENCL EXTENSION {name} : enable\n" for name, is_needed in needs.items() if is_needed)
        for kernel in _built(self.context, enabled + source, options).all_kernels():
            self._kernels[source, kernel.function_name] = kernel

    def record(self, queue: Any) -> Any:
        marker = self.cl.enqueue_marker(queue)
        queue.flush()
        return marker

    def wait(self, queue: Any, event: Any) -> None:
        self.cl.enqueue_barrier(queue, wait_for=[event])

    def finish(self, event: Any) -> None:
        event.wait()
