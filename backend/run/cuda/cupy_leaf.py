"""The only module that imports CuPy, when it is first asked for: importing it takes long, and most machines have none.

Neighbours: everything in this package takes the module as `xp`; `shell` asks which devices there are.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any


@dataclass(frozen=True, slots=True)
class Gpu:
    """A card that CuPy can use; memory in bytes."""

    number: int
    name: str
    memory: int
    capability: str


@cache
def is_installed() -> bool:
    """Is CuPy there to be imported?  (Importing it takes long; this does not.)"""
    return find_spec("cupy") is not None


@cache
def cupy() -> Any:
    """CuPy with at least one usable card; None otherwise."""
    if not is_installed():
        return None
    try:
        import cupy as found

        return found if found.cuda.runtime.getDeviceCount() > 0 else None
    except (ImportError, OSError, RuntimeError):
        return None


def errors(xp: Any) -> tuple[type[BaseException], ...]:
    """What CuPy raises where a card, its driver or a library of CUDA fails."""
    return RuntimeError, OSError, ImportError, MemoryError, xp.cuda.compiler.CompileException


def raising(xp: Any) -> Any:
    """A context in which linear algebra without a result raises `LinAlgError`; CuPy does not by itself."""
    if getattr(xp, "__name__", "") != "cupy":
        return nullcontext()
    import cupyx

    return cupyx.errstate(linalg="raise")


def gpus() -> tuple[Gpu, ...]:
    """The cards of this machine; none without CuPy."""
    found = cupy()
    if found is None:
        return ()
    made = []
    for number in range(found.cuda.runtime.getDeviceCount()):
        facts = found.cuda.runtime.getDeviceProperties(number)
        name = facts["name"]
        made.append(
            Gpu(number, name.decode() if isinstance(name, bytes) else str(name), int(facts["totalGlobalMem"]),
                f"{facts['major']}.{facts['minor']}")
        )  # fmt: skip
    return tuple(made)


def tier() -> str:
    """How phases run on a card of this machine, in words; or why they do not."""
    if not is_installed():
        return "none (CuPy is not installed)"
    found = gpus()
    if not found:
        return "none (CuPy finds no usable card)"
    return f"CUDA through CuPy, generated kernels: {', '.join(f'{gpu.name} ({gpu.capability})' for gpu in found)}"
