"""NVRTC through ctypes: CUDA C++ to PTX on any machine, with or without a card, to test whether a kernel compiles.

The library comes with the package `nvidia-cuda-nvrtc-cu12` (extra `cuda`) or, for CUDA 13, `nvidia-cuda-nvrtc`.  Programs are
compiled by CuPy, which calls NVRTC itself.
"""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from rho.backend.codegen.gpu_targets import CUDA
from rho.lang.support.records import dataclass

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
        options = [option.encode() for option in (*CUDA.options, *ADDED, f"--gpu-architecture={architecture}")]
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
