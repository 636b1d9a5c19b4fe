"""The only module that imports llvmlite: it compiles LLVM text to object code, loads the code, and caches both.

One dedicated thread makes all calls of llvmlite, because an interrupt inside its lock would leave the lock taken.  Code in the
disk cache is loaded without LLVM, whose library takes as long to load as NumPy.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import struct
import subprocess
import sys
import threading
from _blake2 import blake2b
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache, wraps
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter_ns
from typing import IO, TYPE_CHECKING, Any, Final, Generic, NamedTuple, ParamSpec, Protocol, TypeVar

from ... import __version__
from ...lang.support import processes
from ...lang.support.caches import Cache, code_version
from ...lang.support.files import Durability, replace_file
from ...lang.support.processes import acquire, in_children, keep_forever
from ...lang.support.records import dataclass, field
from ..lower.loop_order import NAME
from ..scalar import coefficient_tables

if TYPE_CHECKING:
    from ..loopir.ir import LoopProgram

# ---------------------------------------------------------------------------------------------- dedicated thread
#
# A dedicated thread makes a library's calls, out of reach of interrupts.
#
# Interrupts are raised in the main thread, and by sessions in the thread that evaluates.  One that is raised just after a library
# has taken its lock would leave the lock taken, and the next call would wait forever.  So the dedicated thread makes such calls;
# the caller waits for the result and may be interrupted while it waits.
#
# A process that ends destroys a library's objects while daemon threads go on.  So Python's end waits for the call at hand, and
# calls of other threads are refused from then on.

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Stored = TypeVar("_Stored")


@dataclass(slots=True)
class _CompileRequest:
    """A call to be made.  The lock `waiting` is held until it returns; an interrupt could leave the lock of an event taken."""

    work: Callable[[], Any]
    waiting: Any = field(default_factory=threading.Lock)
    value: Any = None
    error: BaseException | None = None


class DedicatedThread:
    """A thread that runs functions for other threads; it starts with the first request, and anew in a forked process."""

    def __init__(self, name: str) -> None:
        self._name, self._ending = name, 0
        self._forget()
        in_children(self._forget)

    def _forget(self) -> None:
        self._thread: threading.Thread | None = None
        self._requests, self._claim = SimpleQueue[_CompileRequest](), threading.Lock()  # several callers may start a thread

    def run_on(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """Decorator: every call of the function runs on this thread or, if no thread can be started, on the caller's."""

        @wraps(function)
        def asking(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if not self._is_elsewhere():
                return function(*args, **kwargs)
            value: _R = self._answer(lambda: function(*args, **kwargs))
            return value

        return asking

    def end(self) -> None:
        """Wait for the call at hand.  From now on calls are run on this thread, which ends Python, and refused to others."""
        self._ending = threading.get_ident()
        if self._thread is not None:
            with contextlib.suppress(Unsupported):
                self._answer(lambda: None)

    def _answer(self, work: Callable[[], Any]) -> Any:
        request = _CompileRequest(work)
        request.waiting.acquire()
        self._requests.put(request)
        acquire(request.waiting)
        if request.error is not None:
            raise request.error
        return request.value

    def _is_elsewhere(self) -> bool:
        """Starts the thread if needed; returns whether it exists and is not the current thread."""
        if self._ending == threading.get_ident():
            return False
        if self._thread is None:
            try:
                threading.Thread(target=self._serve, args=(self._requests, self._claim), name=self._name, daemon=True).start()
            except RuntimeError:  # the system allows no more threads
                return False
        return threading.current_thread() is not self._thread

    def _serve(self, requests: SimpleQueue[_CompileRequest], claim: threading.Lock) -> None:
        if not claim.acquire(blocking=False):
            return
        self._thread = threading.current_thread()
        while True:
            request = requests.get()
            try:
                if self._ending:
                    raise Unsupported("Python is ending")
                request.value = request.work()
            except BaseException as error:
                request.error = error
            request.waiting.release()
            del request


# --------------------------------------------------------------------------------------------- llvmlite binding

class Unsupported(Exception):
    """Raised where LLVM refuses the text or the object; the caller then computes without a kernel."""


@cache
def is_installed() -> bool:
    """Returns whether llvmlite is installed, without importing it (which takes long)."""
    return find_spec("llvmlite") is not None


def is_loaded() -> bool:
    """Returns whether llvmlite has been imported in this process."""
    return "llvmlite.binding" in sys.modules


_llvm: Final = DedicatedThread("rho llvm")
atexit.register(_llvm.end)


@cache
@_llvm.run_on
@cache
def binding() -> Any:
    """Returns llvmlite's binding, initialised for this machine; None if it is missing, too old or does not work."""
    try:
        import llvmlite.binding as llvm
    except (ImportError, OSError):
        return None
    if llvm.llvm_version_info < OLDEST_LLVM:
        return None
    try:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        _machine(llvm)
    except (RuntimeError, OSError, AttributeError):
        return None
    return llvm


OLDEST_LLVM: Final = (20,)
"""The version in llvmlite 0.45.  Earlier ones print messages about opaque pointers to standard error, and do not accept
kernels."""


C_FUNCTIONS = ("sin", "cos", "tan", "fmod")
"""Functions of the C library that kernels call as `rho_…`; Python's `math` calls the same."""
MEMORY_FUNCTIONS = ("malloc", "free", "pthread_getspecific", "pthread_setspecific")
"""Functions of the C library that kernels call for their thread's scratch block (`llvm_builder.ThreadArena`)."""
BLOCK_KEY = "rho_block_key"
FUSED = ("fma", "fmaf")
"""Functions of the C library that kernels call on processors without such an instruction."""


@cache
def _symbol(name: str) -> int:
    """Returns the address of the function that kernels call by this name.  Raises OSError or AttributeError if there is none."""
    table = name.removeprefix("rho_table_")
    if table in coefficient_tables.TABLES:
        return _in_memory(coefficient_tables.stored(table))
    return _block_key() if name == BLOCK_KEY else _c_function(name.removeprefix("rho_"))


def _block_key() -> int:
    """Returns the address of the thread-specific key of scratch blocks; the C library frees a thread's block when it ends."""
    import ctypes

    key = ctypes.c_uint64()
    if ctypes.CDLL(None).pthread_key_create(ctypes.byref(key), ctypes.c_void_p(_c_function("free"))):
        raise OSError("no key")
    keep_forever(key)
    return ctypes.addressof(key)


def _c_function(name: str) -> int:
    import ctypes

    address = ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value
    if not address:
        raise OSError(name)
    return address


def _in_memory(data: bytes) -> int:
    """Copies bytes to memory that is never freed; returns its address, a multiple of 64."""
    import ctypes

    room = ctypes.create_string_buffer(len(data) + 64)
    keep_forever(room)
    address = (ctypes.addressof(room) + 63) & -64
    ctypes.memmove(address, data, len(data))
    return address


RELOCATION, CODE_MODEL = "static", "large"
"""Code and constants may be any distance apart, since large arrays may lie between them."""

UNOPTIMIZED: Final = "; quick\n"
"""The first line of a text that is compiled without optimisation, in a fifth of the time, because it runs rarely or has no
loops."""
_machines: dict[int, Any] = {}
_engines: list[Any] = []


TARGET: Final = "RHO_TARGET"
"""The environment variable that names an older processor to compile for; `x86-64-v3` gives code without AVX-512."""
_V2: Final = frozenset(("64bit", "cmov", "cx16", "cx8", "fxsr", "mmx", "popcnt", "sahf", "sse", "sse2",
                        "sse3", "sse4.1", "sse4.2", "ssse3"))  # fmt: skip
_LEVELS: Final = {"x86-64-v2": _V2, "x86-64-v3": _V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}}
"""Processor features, named as in LLVM, of the levels of the x86-64 psABI."""


def _level() -> str:
    """Returns the requested psABI level; empty if code is for this processor."""
    asked = os.environ.get(TARGET, "").lower()
    return asked if asked in _LEVELS else ""


def _processor(llvm: Any) -> str:
    return _level() or str(llvm.get_host_cpu_name())


def _features(llvm: Any) -> Any:
    """Returns the features that code may use: those of this processor, restricted to a requested level."""
    features, level = llvm.get_host_cpu_features(), _level()
    if level:
        features.update({name: is_there and name in _LEVELS[level] for name, is_there in features.items()})
    return features


def _machine(llvm: Any, level: int = 2) -> Any:
    if level not in _machines:
        target = llvm.Target.from_default_triple()
        _machines[level] = target.create_target_machine(
            cpu=_processor(llvm), features=_features(llvm).flatten(), opt=level, reloc=RELOCATION, codemodel=CODE_MODEL
        )
    return _machines[level]


@dataclass(frozen=True, slots=True)
class CodeTarget:
    """The processor that code is compiled for, according to LLVM.

    `identity`: all that object code depends on besides its text.  `processor`: LLVM's name.  `features`: those that code may
    use."""

    identity: str
    processor: str
    features: frozenset[str]


@cache
def _target() -> CodeTarget | None:
    """Returns the target that another process left in the disk cache, else LLVM's answer; None without LLVM."""
    key = _processor_key()
    stored = None if key is None else CACHE.read(key)
    if stored is not None:
        identity, processor, *features = stored.decode().splitlines()
        return CodeTarget(identity, processor, frozenset(features))
    target = _target_of_llvm()
    if target is not None and key is not None:
        CACHE.write(key, "\n".join([target.identity, target.processor, *sorted(target.features)]).encode())
    return target


def _processor_key() -> str | None:
    """Returns the facts that determine LLVM's answers: its library's file, the system and the processor; None if they are
    unknown."""
    package = find_spec("llvmlite")
    if package is None or package.origin is None:
        return None
    try:
        with open("/proc/cpuinfo", "rb") as file:
            first = file.read(1 << 13).partition(b"\n\n")[0].decode(errors="replace")
        library = os.stat(Path(package.origin).with_name("binding") / "libllvmlite.so")
    except OSError:
        return None
    lines = [line for line in first.splitlines() if line.partition(":")[0].strip() in _PROCESSOR_FACTS]
    return "\n".join([package.origin, f"{library.st_size} {library.st_mtime_ns}", *os.uname(), _level(), *lines])


_PROCESSOR_FACTS: Final = frozenset((
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags",
    "Features", "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision",
))  # fmt: skip
"""The lines of `/proc/cpuinfo` that distinguish processors, for x86-64 and ARM; other lines change over time."""


@_llvm.run_on
def _target_of_llvm() -> CodeTarget | None:
    llvm = binding()
    if llvm is None:
        return None
    import llvmlite

    features = sorted(name for name, is_there in _features(llvm).items() if is_there)
    machine = f"{llvm.get_process_triple()} {_processor(llvm)} {','.join(features)}"
    identity = f"{RELOCATION} {CODE_MODEL} {llvmlite.__version__} {llvm.llvm_version_info} {machine}"
    return CodeTarget(identity, _processor(llvm), frozenset(features))


def identity() -> str:
    """Returns all that object code depends on besides its text (processor, features, LLVM); empty without LLVM."""
    target = _target()
    return "" if target is None else target.identity


def processor() -> str:
    """Returns LLVM's name of the processor that code is compiled for; empty without LLVM."""
    target = _target()
    return "" if target is None else target.processor


def has_feature(name: str) -> bool:
    """Returns whether code may use a processor feature, named as in LLVM."""
    target = _target()
    return target is not None and name in target.features


def vector_bytes() -> int:
    """Returns the width in bytes of the vector registers that code may use."""
    return 64 if has_feature("avx512f") else 32 if has_feature("avx2") else 16


@_llvm.run_on
def compile_text(text: str) -> bytes:
    """Returns the object code of LLVM text.  Raises Unsupported if LLVM does not accept it."""
    try:
        module = _verified(text)
        return bytes(_machine(binding(), 0 if text.startswith(UNOPTIMIZED) else 2).emit_object(module))
    except RuntimeError as error:
        raise Unsupported(str(error)) from None


def _verified(text: str) -> Any:
    """Returns the verified module of a text.  Intrinsics differ between versions of LLVM, whose code generator would abort the
    process where an operand is missing; its verifier raises a RuntimeError instead."""
    module = binding().parse_assembly(text)
    module.verify()
    return module


@_llvm.run_on
def assembly(text: str) -> str:
    """Returns the assembly of LLVM text.  Raises Unsupported if LLVM does not accept it."""
    try:
        return str(_machine(binding(), 0 if text.startswith(UNOPTIMIZED) else 2).emit_assembly(_verified(text)))
    except RuntimeError as error:
        raise Unsupported(str(error)) from None


@_llvm.run_on
def code_bytes(code: bytes) -> int:
    """Returns the size of an object's code section in bytes."""
    sections = binding().object_file.ObjectFileRef.from_data(code).sections()
    return sum(section.size() for section in sections if section.is_text())


# ---------------------------------------------------------------------------------------------------- loader
#
# ELF objects for x86-64 that refer to everything else by absolute 64-bit addresses (the large code model) are loaded here; LLVM
# loads all other objects.

_ELF: Final = b"\x7fELF\x02\x01"  # ELF, 64-bit, little-endian
_RELOCATABLE, _X86_64, _ABSOLUTE_64 = 1, 62, 1
_CONTENT, _SYMBOLS, _RELOCATIONS, _ZEROS = 1, 2, 4, 8
_WRITABLE, _IN_MEMORY = 1, 2


class _ElfSection(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int

    def content(self, code: bytes) -> bytes:
        return code[self.offset : self.offset + self.size]

    def entries(self, code: bytes, layout: str) -> list[tuple[Any, ...]]:
        return [*struct.iter_unpack(layout, self.content(code))]


def link(code: bytes) -> int:
    """Returns the address of an object's kernel.  Code stays loaded until the process ends.

    Raises Unsupported if the object cannot be loaded.
    """
    try:
        return _load(code)
    except (struct.error, LookupError, ValueError, OSError, AttributeError):
        return _load_by_llvm(code)


def _load(code: bytes) -> int:
    """Loads an object of the kind described above.  Raises one of the errors that `link` catches for others."""
    import ctypes
    import mmap

    if not code.startswith(_ELF) or struct.unpack_from("<HH", code, 16) != (_RELOCATABLE, _X86_64):
        raise ValueError("another kind of object")
    (table,), (count,) = struct.unpack_from("<Q", code, 40), struct.unpack_from("<H", code, 60)
    sections = [_ElfSection(*fields) for fields in struct.iter_unpack("<IIQQQQIIQQ", code[table : table + 64 * count])]
    offsets: dict[int, int] = {}
    end = fixed = 0
    for writable in (0, _WRITABLE):
        for number, section in enumerate(sections):
            if section.flags & _IN_MEMORY and section.kind in (_CONTENT, _ZEROS) and section.flags & _WRITABLE == writable:
                offsets[number] = end = _rounded_up(end, max(section.alignment, 1))
                end += section.size
        if not writable:
            fixed = end = _rounded_up(end, mmap.PAGESIZE)
    image = mmap.mmap(-1, end, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    base = ctypes.addressof(ctypes.c_char.from_buffer(image))
    (symbol_table,) = [section for section in sections if section.kind == _SYMBOLS]
    symbols, strings = symbol_table.entries(code, "<IBBHQQ"), sections[symbol_table.link].content(code)

    def name_of(symbol: tuple[Any, ...]) -> str:
        return strings[symbol[0] : strings.index(0, symbol[0])].decode()

    def address_of(symbol: tuple[Any, ...]) -> int:
        _, _, _, number, value, _ = symbol
        return base + offsets[number] + int(value) if number else _symbol(name_of(symbol))

    for number, offset in offsets.items():
        if sections[number].kind == _CONTENT:
            image[offset : offset + sections[number].size] = sections[number].content(code)
    for section in sections:
        if section.kind == _RELOCATIONS and section.info in offsets:
            for offset, what, addend in section.entries(code, "<QQq"):
                if what & 0xFFFFFFFF != _ABSOLUTE_64:
                    raise ValueError("another kind of relocation")
                struct.pack_into("<Q", image, offsets[section.info] + offset, address_of(symbols[what >> 32]) + addend)
    (kernel,) = [address_of(symbol) for symbol in symbols if symbol[3] and name_of(symbol) == NAME]
    if ctypes.CDLL(None).mprotect(ctypes.c_void_p(base), ctypes.c_size_t(fixed), mmap.PROT_READ | mmap.PROT_EXEC):
        raise OSError("the system allows no new code")
    keep_forever(image)
    return kernel


def _rounded_up(size: int, unit: int) -> int:
    return -(-size // unit) * unit


@_llvm.run_on
def _load_by_llvm(code: bytes) -> int:
    """Loads an object by LLVM.  The engines of bad objects stay loaded as well, because an engine owns its target machine and
    would destroy it."""
    llvm = binding()
    try:
        _add_symbols(llvm)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(llvm))
        _engines.append(engine)
        engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
        engine.finalize_object()
        address = int(engine.get_function_address(NAME))
    except (RuntimeError, OSError, AttributeError) as error:
        raise Unsupported(str(error)) from None
    if not address:
        raise Unsupported("no kernel in the object")
    return address


@cache
def _add_symbols(llvm: Any) -> None:
    functions = [f"rho_{name}" for name in (*C_FUNCTIONS, *MEMORY_FUNCTIONS)]
    for name in (*functions, *FUSED, *(f"rho_table_{name}" for name in coefficient_tables.TABLES), BLOCK_KEY):
        llvm.add_symbol(name, _symbol(name))


# ---------------------------------------------------------------------------------- out-of-process compiler
#
# Compilation in a child process, for runs with a memory limit.
#
# A compiler takes tens of megabytes, keeps most of them for the next module, and no plan counts them.  As long as some run
# requests it (`compiling_apart`), a child process compiles the text and sends the object code back.  The child starts with the
# first text and ends with the last such run.  If no child can be started, this process compiles.
#
# A request is a line with the length in bytes, then the text.  The answer has the same form; a negative length marks an error
# message of LLVM.

_T = TypeVar("_T")
_asking: Final = DedicatedThread("rho compiler")
_START: Final = "import sys; sys.path[:] = {path!r}; from {module} import serve; serve()"
_LONGEST: Final = 1 << 28
"""The most bytes of an answer; a longer one is not from a compiler child."""
_PATIENCE: Final = 60.0
"""Seconds to wait for an answer; `sys.executable` may be a program that embeds Python and never answers."""


@dataclass(slots=True)
class _CompilerState:
    """The compiler child of this process; `users`: runs that currently request it; `is_lost`: it failed, and none is started
    again."""

    users: int = 0
    is_lost: bool = False
    child: subprocess.Popen[bytes] | None = None

    def forget(self) -> None:
        """Drops the parent's child in a forked process."""
        self.users, self.child = 0, None


_state: Final = _CompilerState()
in_children(_state.forget)


@contextlib.contextmanager
def compiling_apart() -> Iterator[None]:
    """Within this context a child process compiles code."""
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def as_now(work: Callable[[_T], object]) -> Callable[[_T], None]:
    """Wraps work for a thread that may outlive the run, so that it compiles in the process in which the run would compile now."""
    apart = _state.users > 0

    def later(code: _T) -> None:
        with compiling_apart() if apart else contextlib.nullcontext():
            work(code)

    return later


@_asking.run_on
def _count(more: int) -> None:
    _state.users += more
    if _state.users <= 0:
        _end()


@_asking.run_on
def compile_text_out_of_process(text: str) -> bytes:
    """Returns object code as `compile_text` does, compiled by the child if some run requests that.  Raises Unsupported."""
    if _state.users > 0 and not _state.is_lost:
        with contextlib.suppress(OSError, ValueError):
            return _answered(text)
        _state.is_lost = True
        _end()
    return compile_text(text)


def _answered(text: str) -> bytes:
    """Returns object code from the child.  Raises OSError or ValueError if the child does not start or fails; Unsupported."""
    if _state.child is None:
        path = [os.path.abspath(folder) for folder in sys.path]
        _state.child = subprocess.Popen(
            [sys.executable or "", "-c", _START.format(path=path, module=__name__)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    child = _state.child
    assert child.stdin is not None and child.stdout is not None, "both are pipes"
    _send(child.stdin, text.encode(), 1)
    if os.name == "posix" and not select.select([child.stdout], [], [], _PATIENCE)[0]:
        raise ValueError("silent")
    sign, answer = _received(child.stdout)
    if sign < 0:
        raise Unsupported(answer.decode(errors="replace"))
    return answer


def _end() -> None:
    """Ends the child, if there is one."""
    child, _state.child = _state.child, None
    if child is not None:
        with contextlib.suppress(OSError):
            child.kill()
            child.communicate()


def _send(file: IO[bytes], content: bytes, sign: int) -> None:
    file.write(b"%d\n" % (sign * len(content)))
    file.write(content)
    file.flush()


def _received(file: IO[bytes]) -> tuple[int, bytes]:
    """Returns the sign of a message's length, and its content.  Raises ValueError at a premature end."""
    length = int(file.readline(32))
    if abs(length) > _LONGEST:
        raise ValueError("too long")
    content = file.read(abs(length))
    if len(content) < abs(length):
        raise ValueError("ended")
    return (-1 if length < 0 else 1), content


def serve() -> None:
    """The main loop of the child, which ends with its parent.  It ignores keyboard interrupts, which are meant for the parent."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    taken, given = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # prints of libraries must not mix with the answers
    while True:
        try:
            _, text = _received(taken)
        except ValueError:
            return
        try:
            _send(given, compile_text(text.decode()), 1)
        except Unsupported as trouble:
            _send(given, str(trouble).encode() or b"no", -1)


# ---------------------------------------------------------------------------------------------------- dumping
#
# Dumps of compiled code, for people and profilers.
#
# `RHO_DUMP=DIR` writes compiled code into DIR: `NAME.ll` (LLVM), `NAME.s` (assembly), `NAME.loops` (the loop program after each
# transformation that changed it), and `NAME.words` (a plan's bytecode).  NAME is a digest of the content, so equal programs write
# equal files.  `RHO_PERF_MAP=on` gives the same names to Linux's `perf`.  Code from the kernel cache is not compiled and not
# dumped; `RHO_KERNEL_CACHE=off` makes a dump complete.
#
# A folder that cannot be written stops no run: the first failure is reported on standard error.

FOLDER: Final = "RHO_DUMP"
PERF_MAP: Final = "RHO_PERF_MAP"
_failed: list[OSError] = []


def is_wanted() -> bool:
    """Returns whether there is a writable folder for dumps."""
    return bool(os.environ.get(FOLDER)) and not _failed


def name_of(text: str) -> str:
    """Returns the file name of a text, a digest."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def write(name: str, suffix: str, text: str) -> None:
    """Writes `name.suffix` to the folder for dumps, if there is one."""
    if not is_wanted():
        return
    folder = Path(os.environ[FOLDER])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / f"{name}.{suffix}", lambda file: file.write(text.encode()), Durability.PROCESS)
    except OSError as error:
        _failed.append(error)
        sys.stderr.write(f"rho: {FOLDER}: {folder}: nothing can be written there: {error.strerror or error}\n")


def is_mapped() -> bool:
    """Returns whether `RHO_PERF_MAP` requests a map of code for `perf`."""
    return os.environ.get(PERF_MAP, "").lower() in ("on", "1", "yes")


def tell_perf(name: str, address: int, count: int) -> None:
    """Appends a line to the map that `perf` reads: `count` bytes of code at `address`."""
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(f"/tmp/perf-{os.getpid()}.map", flags, 0o600)
        try:
            os.write(handle, f"{address:x} {count:x} rho:{name}\n".encode())
        finally:
            os.close(handle)
    except OSError as error:
        os.environ.pop(PERF_MAP)
        sys.stderr.write(f"rho: {PERF_MAP}: {error.strerror or error}\n")


# ---------------------------------------------------------------------------------------------------- dumps of loop programs

_MOST: Final = 64
_stages: dict[LoopProgram, list[str]] = {}


def stage(before: LoopProgram, after: LoopProgram, name: str) -> None:
    """Records for a dump that the transformation `name` rewrote `before` to `after`."""
    from ..loopir.text import show

    if is_wanted():
        while len(_stages) >= _MOST:
            _stages.pop(next(iter(_stages)))
        _stages[after] = [*_stages.pop(before, [f"# lowered\n{show(before)}\n"]), f"# after {name}\n{show(after)}\n"]


def code(program: LoopProgram, text: str) -> None:
    """Dumps the recorded transformations of a program whose LLVM text is `text`."""
    from ..loopir.text import show

    if is_wanted():
        write(name_of(text), "loops", "\n".join(_stages.pop(program, [f"# as it is\n{show(program)}\n"])))


# ----------------------------------------------------------------------------------------------- code cache
#
# Machine code of kernels, cached in the process and on disk in the user's cache folder.
#
# An entry holds one object, named by the digest of its text and of all else that it depends on (processor, features, LLVM), or it
# holds LLVM's description of the processor.  Entries are code: only those that this user's runs wrote under that name are read
# (`lang.support.caches`).  An entry that is damaged, foreign, renamed or unreadable counts as absent, and a folder that cannot be
# written is no error.  `RHO_KERNEL_CACHE` names another folder; `off`: none.

SWITCH = "RHO_KERNEL_CACHE"
CACHE = Cache("kernels", SWITCH, ".o", 4 << 20, 4096)


class MachineCode(Protocol):
    """Code that can be compiled to an object: `repr`, the processor and the code generator determine its LLVM text."""

    def text(self) -> str: ...
    def __hash__(self) -> int: ...


@dataclass(slots=True)
class CompileStatistics:
    """The costs of machine code in this process: modules compiled, their nanoseconds, and modules read from the cache."""

    compiled: int = 0
    nanoseconds: int = 0
    longest: int = 0
    stored: int = 0

    def add(self, nanoseconds: int) -> None:
        self.compiled += 1
        self.nanoseconds += nanoseconds
        self.longest = max(self.longest, nanoseconds)


compilation_totals: Final = CompileStatistics()
_addresses: dict[MachineCode, int | None] = {}
_lock = processes.lock()
"""Held while LLVM works, and during forks, so that a forked child finds LLVM in a consistent state."""


def address_of(kernel: MachineCode) -> int | None:
    """Returns the address of a kernel's code, compiling it if needed; None if it cannot be compiled on this machine."""
    address = _addresses.get(kernel, 0)
    if address != 0:
        return address
    with _lock:
        if kernel not in _addresses:
            try:
                _addresses[kernel] = _compiled_or_cached(kernel)
            except Unsupported:
                _addresses[kernel] = None
        return _addresses[kernel]


def is_ready(kernel: MachineCode) -> bool:
    """Returns whether the code is loaded, or known to be impossible to compile."""
    return kernel in _addresses


def is_stored(kernel: MachineCode) -> bool:
    """Returns whether the disk cache has an entry for the code."""
    file = CACHE.file(_key(kernel))
    return file is not None and file.exists()


def _compiled_or_cached(kernel: MachineCode) -> int | None:
    """Returns what `address_of` does.  Raises Unsupported."""
    key = _key(kernel)
    code = CACHE.read(key)
    if code is not None:
        with contextlib.suppress(Unsupported):
            address = link(code)
            compilation_totals.stored += 1
            return _reported_to_perf(kernel, code, address)
    if binding() is None:
        return None
    text = kernel.text()
    began = perf_counter_ns()
    code = compile_text_out_of_process(text)
    address = link(code)
    compilation_totals.add(perf_counter_ns() - began)
    CACHE.write(key, code)
    if is_wanted():
        name = name_of(text)
        write(name, "ll", text)
        write(name, "s", assembly(text))
    return _reported_to_perf(kernel, code, address)


def _reported_to_perf(kernel: MachineCode, code: bytes, address: int) -> int:
    if is_mapped():
        tell_perf(name_of(kernel.text()), address, code_bytes(code))
    return address


def stored_value(key: object, make: Callable[[], _Stored]) -> _Stored:
    """Returns the value that the disk cache has by the `repr` of a key; makes and stores it if that is absent."""
    value: _Stored | None = read_value(key)
    if value is None:
        value = make()
        CACHE.write_value(f"value\n{_key(key)}", value)
    return value


def read_value(key: object) -> Any:
    """Returns the value that `stored_value` has stored; None if it is absent."""
    return CACHE.read_value(f"value\n{_key(key)}")


def _key(kernel: object) -> str:
    return f"{identity()}\n{__version__} {code_version(*_GENERATOR)}\n{kernel!r}"


_GENERATOR: Final = ("backend/codegen", "backend/graph", "backend/jit", "backend/library", "backend/loopir", "backend/lower",
                     "backend/scalar", "backend/transform", "backend/vm", "typechecker")  # fmt: skip
"""The packages whose modules write or determine LLVM text, or lower regions."""


# ------------------------------------------------------------------------------------------ bounded caches
#
# Caches of a bounded number of values by key; the least recently used entry is evicted first.
#
# Keys contain `id(phase)`; the entry keeps the phase alive, so that the id stays unique.

_Value = TypeVar("_Value")


class LruCache(Generic[_Value]):
    """A cache of at most `most` values; the least recently used entry is evicted first.  Threads may share it."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._rows: OrderedDict[Hashable, tuple[Sequence[object], _Value]] = OrderedDict()

    def of(self, key: Hashable, about: Sequence[object], make: Callable[[], _Value]) -> _Value:
        """Returns the value of the key if its entry is about the same objects; else makes and stores it."""
        entry = self._rows.get(key)
        if entry is not None and all(map(_is, entry[0], about)):
            self.get(key)
            return entry[1]
        return self.put(key, about, make())

    def get(self, key: Hashable) -> _Value | None:
        rows = self._rows
        try:
            rows.move_to_end(key)
            return rows[key][1]
        except KeyError:  # or another thread has just evicted it
            return None

    def put(self, key: Hashable, about: Sequence[object], value: _Value) -> _Value:
        self._rows[key] = about, value
        self.get(key)
        while len(self._rows) > self.most:
            try:
                self._rows.popitem(last=False)
            except KeyError:  # another thread has evicted it
                break
        return value

    def values(self) -> list[_Value]:
        """All values in the cache."""
        return [value for _, value in list(self._rows.values())]

    def clear(self) -> None:
        self._rows.clear()


def _is(one: object, other: object) -> bool:
    return one is other
