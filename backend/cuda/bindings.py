"""The only module that imports CuPy, and only on first use: the import is slow, and most machines have no GPU."""

from __future__ import annotations

import ctypes
from contextlib import nullcontext
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from ...lang.support.records import dataclass

# ---------------------------------------------------------------------------------------------------- CuPy

@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU that CuPy can use; memory in bytes."""

    number: int
    name: str
    memory: int
    capability: str


@cache
def is_installed() -> bool:
    """Is CuPy installed?  (Does not import it, which is slow.)"""
    return find_spec("cupy") is not None


@cache
def cupy() -> Any:
    """CuPy if there is at least one usable GPU; else None."""
    if not is_installed():
        return None
    try:
        import cupy as found

        return found if found.cuda.runtime.getDeviceCount() > 0 else None
    except (ImportError, OSError, RuntimeError):
        return None


def errors(xp: Any) -> tuple[type[BaseException], ...]:
    """The exceptions that CuPy raises if a GPU, its driver or a CUDA library fails."""
    return RuntimeError, OSError, ImportError, MemoryError, xp.cuda.compiler.CompileException


def raising(xp: Any) -> Any:
    """A context in which CuPy's linear algebra raises `LinAlgError` if there is no result, which is not its default."""
    if getattr(xp, "__name__", "") != "cupy":
        return nullcontext()
    import cupyx

    return cupyx.errstate(linalg="raise")


def gpus() -> tuple[Gpu, ...]:
    """The GPUs of this machine; empty without CuPy."""
    module = cupy()
    if module is None:
        return ()
    devices = []
    for number in range(module.cuda.runtime.getDeviceCount()):
        facts = module.cuda.runtime.getDeviceProperties(number)
        name = facts["name"]
        devices.append(
            Gpu(number, name.decode() if isinstance(name, bytes) else str(name), int(facts["totalGlobalMem"]),
                f"{facts['major']}.{facts['minor']}")
        )  # fmt: skip
    return tuple(devices)


def tier() -> str:
    """How phases run on a GPU of this machine, or why they do not, for people."""
    if not is_installed():
        return "none (CuPy is not installed)"
    devices = gpus()
    if not devices:
        return "none (CuPy finds no usable card)"
    return f"CUDA through CuPy, generated kernels: {', '.join(f'{gpu.name} ({gpu.capability})' for gpu in devices)}"


# ---------------------------------------------------------------------------------------------------- NVRTC
#
# The only module that knows NVRTC: CUDA C++ to PTX, with or without a GPU.
#
# The library comes with the package `nvidia-cuda-nvrtc-cu12` (extra `cuda`) or, for CUDA 13, `nvidia-cuda-nvrtc`, and is called
# through ctypes.  Programs are compiled by CuPy, which calls NVRTC itself; this one tests on any machine whether a kernel
# compiles.

OPTIONS: Final = ("--std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")
"""Options of every compilation: no contraction to fma, denormals are kept, quotients and roots are correctly rounded."""
ADDED: Final = ("--device-as-default-execution-space",)
"""Options that CuPy adds, besides the architecture of the GPU."""
ARCHITECTURE: Final = "compute_90"


class CudaCompileError(Exception):
    """NVRTC cannot compile the text; the message is its log."""


@dataclass(frozen=True, slots=True)
class CompiledModule:
    """The PTX text of a module, and the compiler's log."""

    ptx: str
    log: str


@cache
def library() -> Any:
    """NVRTC through ctypes; None if it is not installed."""
    for folder in _folders():
        for pattern in ("lib/libnvrtc.so*", "bin/nvrtc64*.dll"):
            for file in sorted(Path(folder).glob(pattern)):
                if "builtins" in file.name or "alt" in file.name:
                    continue
                try:
                    return ctypes.CDLL(str(file))
                except OSError:
                    continue
    return None


def _folders() -> list[str]:
    """The folders in which the packages of CUDA 12 and 13 install it."""
    folders: list[str] = []
    for package in ("nvidia.cuda_nvrtc", "nvidia.cu13"):
        try:
            spec = find_spec(package)
        except ModuleNotFoundError:
            continue
        folders += () if spec is None else spec.submodule_search_locations or ()
    return folders


def compile_text(text: str, architecture: str = ARCHITECTURE) -> CompiledModule:
    """Unsupported: the text is no good.  AssertionError: there is no NVRTC."""
    nvrtc = library()
    assert nvrtc is not None, "nvidia-cuda-nvrtc-cu12 is not installed"
    program = ctypes.c_void_p()
    _call(nvrtc.nvrtcCreateProgram, ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
    try:
        options = [option.encode() for option in (*OPTIONS, *ADDED, f"--gpu-architecture={architecture}")]
        code = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        if code:
            raise CudaCompileError(log or f"NVRTC error {code}")
        return CompiledModule(_text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program), log)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(size_of: Any, fill: Any, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    _call(size_of, program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(max(1, size.value))
    _call(fill, program, buffer)
    return buffer.value.decode(errors="replace").strip()


def _call(function: Any, *args: Any) -> None:
    code = function(*args)
    if code:
        raise CudaCompileError(f"NVRTC error {code}")
