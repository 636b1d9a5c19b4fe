"""The driver of OpenCL 1.2 and later, through pyopencl.  The only module that imports it, and only on first use.

Memory is a buffer of its own for each array; the driver counts the bytes and keeps to the limit of the plan.  Buffers that
no array has any more wait for one of their size, as the first use of new memory takes longer than most kernels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from importlib.util import find_spec
from threading import Lock, RLock
from typing import Any, Final

import numpy as np

from ...lang.diagnostics.model import Code
from ..codegen.gpu_targets import ATOMICS, DOUBLE, EXTENSIONS, OPENCL, THREADS
from ..cpu.views import NumArray
from ..loopir.reductions import SHARED_BYTES
from ..vm.run_state import CheckFailed
from .driver import CardModel, DeviceArray

_SIMULATORS: Final = ("Oclgrind",)
_NO_MEMORY: Final = ("MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_HOST_MEMORY", "INVALID_BUFFER_SIZE")
_simulating: Final = RLock()
"""Simulators run kernels on the threads that ask for them, and are not made for several."""
_building: Final = Lock()
"""Warnings are switched off for the whole process."""


@cache
def is_installed() -> bool:
    """Is pyopencl installed?  (Does not import it, which is slow.)"""
    return find_spec("pyopencl") is not None


@cache
def _devices() -> tuple[tuple[Any, str], ...]:
    """The devices of all platforms, with what is wrong with each; those that run programs first, simulators after the others."""
    if not is_installed():
        return ()
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
    except pyopencl.Error:  # no platform, or one whose driver is broken
        return []


def gpus() -> tuple[CardModel, ...]:
    """The OpenCL devices of this machine; empty without pyopencl or a platform."""
    rows = list[CardModel]()
    for number, (device, lacks) in enumerate(_devices()):
        version = f"{device.platform.name.strip()}, {device.version.strip()}"
        lacking = tuple(name for name in EXTENSIONS if name not in device.extensions.split())
        size, units = int(device.global_mem_size), int(device.max_compute_units)
        rows.append(CardModel(number, device.name.strip(), size, version, lacks, lacking, units))
    return tuple(rows)


def _lacks(device: Any) -> str:
    """Why no program runs on a device: what it has too little of, or what its compiler says of a small program."""
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
    """The program of a text, without what its compiler says when all is well."""
    import pyopencl

    with _building, warnings.catch_warnings():
        warnings.simplefilter("ignore", pyopencl.CompilerWarning)
        program: Any = pyopencl.Program(context, source)  # its declared type of `cache_dir` has no False, which means no cache
        return program.build(options, cache_dir=False)


def _words(error: Exception) -> str:
    """What a device says, in a line: of a compiler the first error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return next((line for line in lines if "error:" in line), lines[0])


def tier() -> str:
    """How phases run on OpenCL devices of this machine, or why they do not, for people."""
    if not is_installed():
        return "none (pyopencl is not installed)"
    return ", ".join(f"{gpu.name} ({gpu.lacks or gpu.version})" for gpu in gpus()) or "none (pyopencl finds no device)"


_IDLE: Final = 8
"""The part of a device's memory, an eighth, that buffers without arrays may take."""


class _Memory:
    """A buffer, whose bytes count until it is dropped."""

    __slots__ = ("buffer", "driver", "size")

    def __init__(self, driver: OpenClDriver, buffer: Any, size: int) -> None:
        self.driver, self.buffer, self.size = driver, buffer, size

    def __del__(self) -> None:
        with self.driver.counting:
            self.driver.used -= self.size
            self.driver.idle.append((self.size, self.buffer))


class OpenClDriver:
    """One device, with a context of its own."""

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
        self._lock, self.counting = Lock(), RLock()  # memory may be dropped, by the collector, while some is counted

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
                if self.idle[at][0] == size:  # the computing queue is in order, and the copying one waits for it
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
        """Give back buffers, those first that have waited longest, until they take no more than this and their part; simulators
        keep none, as they watch what new memory is read."""
        total, most = sum(size for size, _ in self.idle), 0 if self._simulates else max(0, min(room, self.most // _IDLE))
        while total > most:
            total -= self.idle.pop(0)[0]

    def view(self, array: DeviceArray) -> Any:
        raise AssertionError("there is no library of arrays")

    adopt = view

    def write(self, queue: Any, memory: Any, offset: int, host: NumArray, *, wait: bool) -> None:
        self.cl.enqueue_copy(queue, memory.buffer, host, dst_offset=offset, is_blocking=False).wait()  # others run meanwhile

    def read(self, queue: Any, memory: Any, offset: int, host: NumArray, *, wait: bool) -> None:
        self.cl.enqueue_copy(queue, host, memory.buffer, src_offset=offset, is_blocking=False).wait()

    def copy(self, source: DeviceArray, target: DeviceArray) -> None:
        self.cl.enqueue_copy(
            self.compute, target.memory.buffer, source.memory.buffer, byte_count=source.nbytes, src_offset=source.offset,
            dst_offset=target.offset,
        )  # fmt: skip

    def launch(self, source: str, name: str, blocks: int, words: Sequence[int | DeviceArray]) -> None:
        args = list[Any]()
        for word in words:
            args += (word.memory.buffer, np.int64(word.offset)) if isinstance(word, DeviceArray) else (np.int64(word),)
        with self._lock:  # arguments belong to the kernel
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
            options.append("-cl-opt-disable")  # it lacks what its optimiser makes of `x < 0 ? -x : x`
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
