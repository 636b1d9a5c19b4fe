"""The only module that imports llvmlite: text to object code, object code to an address.

All calls of llvmlite are made by one thread, as an interrupt within its lock would leave that taken (`one_thread`).

Neighbours: `store` (caches what this makes).
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from typing import Any, Final

from ..scalar import tables
from .ir import NAME
from .one_thread import OneThread


class Unsupported(Exception):
    """LLVM refuses the text or the object: the caller computes without a kernel."""


@cache
def is_installed() -> bool:
    """Is llvmlite there to be imported?  (Importing it takes long; this does not.)"""
    return find_spec("llvmlite") is not None


def is_loaded() -> bool:
    """Has it been imported, by whomever?"""
    return "llvmlite.binding" in sys.modules


_llvm: Final = OneThread("rho llvm")


@cache
@_llvm.does
@cache
def binding() -> Any:
    """llvmlite's binding, set up for this machine; None where it is missing or does not work."""
    try:
        import llvmlite.binding as llvm
    except (ImportError, OSError):
        return None
    try:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        _machine(llvm)
        for name in C_FUNCTIONS:
            llvm.add_symbol(f"rho_{name}", _c_function(name))
        for name in ("fma", "fmaf"):  # what processors without such an instruction call
            llvm.add_symbol(name, _c_function(name))
        for name in tables.TABLES:
            llvm.add_symbol(f"rho_table_{name}", _in_memory(tables.stored(name)))
        for name in MEMORY_FUNCTIONS:
            llvm.add_symbol(f"rho_{name}", _c_function(name))
        llvm.add_symbol("rho_block_key", _block_key())
    except (RuntimeError, OSError, AttributeError):
        return None
    return llvm


C_FUNCTIONS = ("sin", "cos", "tan", "fmod")
"""What kernels call of the C library, as `rho_…`; Python's `math` calls the same."""


MEMORY_FUNCTIONS = ("malloc", "free", "pthread_getspecific", "pthread_setspecific")
"""What kernels call for the block of their thread (`rooms`)."""


def _block_key() -> int:
    """The address of the key of every thread's block, whom the C library frees when the thread ends."""
    import ctypes

    key = ctypes.c_uint64()
    if ctypes.CDLL(None).pthread_key_create(ctypes.byref(key), ctypes.c_void_p(_c_function("free"))):
        raise OSError("no key")
    _tables.append(key)
    return ctypes.addressof(key)


def _c_function(name: str) -> int:
    import ctypes

    address = ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value
    if not address:
        raise OSError(name)
    return address


_tables: list[Any] = []


def _in_memory(data: bytes) -> int:
    """Where the bytes are from now on, at a multiple of 64."""
    import ctypes

    room = ctypes.create_string_buffer(len(data) + 64)
    _tables.append(room)
    address = (ctypes.addressof(room) + 63) & -64
    ctypes.memmove(address, data, len(data))
    return address


RELOCATION, CODE_MODEL = "static", "large"
"""The linker may put code and constants any distance apart: large arrays lie between."""

QUICK: Final = "; quick\n"
"""Begins a text that is compiled without pains: it takes a fifth of the time, and is run little or has no loops."""
_machines: dict[int, Any] = {}
_engines: list[Any] = []


def _machine(llvm: Any, level: int = 2) -> Any:
    if level not in _machines:
        target = llvm.Target.from_default_triple()
        features = llvm.get_host_cpu_features().flatten()
        _machines[level] = target.create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=features, opt=level, reloc=RELOCATION, codemodel=CODE_MODEL
        )
    return _machines[level]


@cache
@_llvm.does
def identity() -> str:
    """What object code depends on beside the text; nothing where there is no LLVM."""
    llvm = binding()
    if llvm is None:
        return ""
    import llvmlite

    features = ",".join(sorted(f for f, on in llvm.get_host_cpu_features().items() if on))
    machine = f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features}"
    return f"{RELOCATION} {CODE_MODEL} {llvmlite.__version__} {llvm.llvm_version_info} {machine}"


@_llvm.does
def processor() -> str:
    """The processor that code is made for, as LLVM names it; nothing where there is no LLVM."""
    llvm = binding()
    return "" if llvm is None else str(llvm.get_host_cpu_name())


@cache
@_llvm.does
def has_feature(name: str) -> bool:
    """Has this processor a feature, as LLVM names it?"""
    llvm = binding()
    return llvm is not None and bool(llvm.get_host_cpu_features().get(name, False))


def vector_bytes() -> int:
    """Of this processor's registers."""
    return 64 if has_feature("avx512f") else 32 if has_feature("avx2") else 16


@_llvm.does
def compile_text(text: str) -> bytes:
    """Object code.  Unsupported: LLVM does not accept the text."""
    llvm = binding()
    try:
        module = llvm.parse_assembly(text)
        return bytes(_machine(llvm, 0 if text.startswith(QUICK) else 2).emit_object(module))
    except RuntimeError as error:
        raise Unsupported(str(error)) from None


@_llvm.does
def assembly(text: str) -> str:
    """What the machine code of a text is, for people.  Unsupported: LLVM does not accept the text."""
    llvm = binding()
    try:
        return str(_machine(llvm, 0 if text.startswith(QUICK) else 2).emit_assembly(llvm.parse_assembly(text)))
    except RuntimeError as error:
        raise Unsupported(str(error)) from None


@_llvm.does
def code_bytes(code: bytes) -> int:
    """How many bytes of an object are instructions."""
    sections = binding().object_file.ObjectFileRef.from_data(code).sections()
    return sum(section.size() for section in sections if section.is_text())


@_llvm.does
def link(code: bytes) -> int:
    """The address of the kernel of an object.  Unsupported: the object is no good.

    Code stays loaded with the process.  So do engines of bad objects: an engine owns the machine it was made with, and would take
    it along."""
    llvm = binding()
    try:
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(llvm))
        _engines.append(engine)
        engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
        engine.finalize_object()
        address = int(engine.get_function_address(NAME))
    except RuntimeError as error:
        raise Unsupported(str(error)) from None
    if not address:
        raise Unsupported("no kernel in the object")
    return address
