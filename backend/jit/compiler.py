"""The only module that imports llvmlite: it compiles LLVM text to object code, loads it, and caches both.

All calls of llvmlite are made by one dedicated thread, as an interrupt within its lock would leave that taken.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import field
from functools import cache, wraps
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter_ns
from typing import IO, TYPE_CHECKING, Any, Final, Generic, ParamSpec, Protocol, TypeVar

from ...lang.support import processes
from ...lang.support.caches import Cache
from ...lang.support.files import Durability, replace_file
from ...lang.support.processes import acquire, in_children
from ...lang.support.records import dataclass
from ..lower.kernel_ir import NAME
from ..scalar import coefficient_tables

if TYPE_CHECKING:
    from ..loopir.ir import LoopProgram

# ---------------------------------------------------------------------------------------------- dedicated thread
#
# Work that only one thread does, and that no interrupt reaches.
#
# Interrupts are raised in the main thread, and by sessions in the thread that evaluates; where one is raised just after a lock of
# a library was taken, nobody gives that back and the next call waits for ever.  So such calls are handed to a thread of their
# own; who asked waits for the answer, and is interrupted there.

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(slots=True)
class _CompileRequest:
    """`waiting` is taken until there is an answer.  (An event has a lock that an interrupt could leave taken.)"""

    work: Callable[[], Any]
    waiting: Any = field(default_factory=threading.Lock)
    value: Any = None
    error: BaseException | None = None


class DedicatedThread:
    """A thread that runs functions for others; it begins with the first request, and anew in a process that was forked."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._forget()
        in_children(self._forget)

    def _forget(self) -> None:
        self._thread: threading.Thread | None = None
        self._requests: SimpleQueue[_CompileRequest] = SimpleQueue()

    def run_on(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """Decorator: the function runs on this thread whoever calls it; where no thread can begin, the caller runs it."""

        @wraps(function)
        def asking(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if not self._is_elsewhere():
                return function(*args, **kwargs)
            request = _CompileRequest(lambda: function(*args, **kwargs))
            request.waiting.acquire()
            self._requests.put(request)
            acquire(request.waiting)
            if request.error is not None:
                raise request.error
            value: _R = request.value
            return value

        return asking

    def _is_elsewhere(self) -> bool:
        """Is there the thread, and is it another than this one?"""
        if self._thread is None:
            thread = threading.Thread(target=self._serve, args=(self._requests,), name=self._name, daemon=True)
            try:
                thread.start()
            except RuntimeError:  # there are no more threads
                return False
            self._thread = thread
        return threading.current_thread() is not self._thread

    @staticmethod
    def _serve(requests: SimpleQueue[_CompileRequest]) -> None:
        while True:
            request = requests.get()
            try:
                request.value = request.work()
            except BaseException as error:
                request.error = error
            request.waiting.release()
            del request


# --------------------------------------------------------------------------------------------- llvmlite binding

class Unsupported(Exception):
    """LLVM refuses the text or the object: the caller computes without a kernel."""


@cache
def is_installed() -> bool:
    """Is llvmlite there to be imported?  (Importing it takes long; this does not.)"""
    return find_spec("llvmlite") is not None


def is_loaded() -> bool:
    """Has it been imported, by whomever?"""
    return "llvmlite.binding" in sys.modules


_llvm: Final = DedicatedThread("rho llvm")


@cache
@_llvm.run_on
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
        for name in coefficient_tables.TABLES:
            llvm.add_symbol(f"rho_table_{name}", _in_memory(coefficient_tables.stored(name)))
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

UNOPTIMIZED: Final = "; quick\n"
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
@_llvm.run_on
def identity() -> str:
    """What object code depends on beside the text; nothing where there is no LLVM."""
    llvm = binding()
    if llvm is None:
        return ""
    import llvmlite

    features = ",".join(sorted(f for f, on in llvm.get_host_cpu_features().items() if on))
    machine = f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features}"
    return f"{RELOCATION} {CODE_MODEL} {llvmlite.__version__} {llvm.llvm_version_info} {machine}"


@_llvm.run_on
def processor() -> str:
    """The processor that code is made for, as LLVM names it; nothing where there is no LLVM."""
    llvm = binding()
    return "" if llvm is None else str(llvm.get_host_cpu_name())


@cache
@_llvm.run_on
def has_feature(name: str) -> bool:
    """Has this processor a feature, as LLVM names it?"""
    llvm = binding()
    return llvm is not None and bool(llvm.get_host_cpu_features().get(name, False))


def vector_bytes() -> int:
    """Of this processor's registers."""
    return 64 if has_feature("avx512f") else 32 if has_feature("avx2") else 16


@_llvm.run_on
def compile_text(text: str) -> bytes:
    """Object code.  Unsupported: LLVM does not accept the text."""
    llvm = binding()
    try:
        module = llvm.parse_assembly(text)
        return bytes(_machine(llvm, 0 if text.startswith(UNOPTIMIZED) else 2).emit_object(module))
    except RuntimeError as error:
        raise Unsupported(str(error)) from None


@_llvm.run_on
def assembly(text: str) -> str:
    """What the machine code of a text is, for people.  Unsupported: LLVM does not accept the text."""
    llvm = binding()
    try:
        return str(_machine(llvm, 0 if text.startswith(UNOPTIMIZED) else 2).emit_assembly(llvm.parse_assembly(text)))
    except RuntimeError as error:
        raise Unsupported(str(error)) from None


@_llvm.run_on
def code_bytes(code: bytes) -> int:
    """How many bytes of an object are instructions."""
    sections = binding().object_file.ObjectFileRef.from_data(code).sections()
    return sum(section.size() for section in sections if section.is_text())


@_llvm.run_on
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


# ---------------------------------------------------------------------------------- out-of-process compiler
#
# Compiling in a process of its own, for runs whose memory is bounded.
#
# A compiler takes tens of megabytes and keeps most of them for the next module, where no plan counts them.  While somebody asks
# for it (`compiling_apart`), text goes to a child that compiles and sends the object code back; the child begins with the first
# text, and ends when nobody asks any more.  Where there can be no child this process compiles.
#
# A request is a line with its length in bytes and then the text; the answer likewise, where a negative length stands before
# what LLVM has against the text.

_T = TypeVar("_T")
_asking: Final = DedicatedThread("rho compiler")
_START: Final = "import sys; sys.path[:] = {path!r}; from {module} import serve; serve()"
_LONGEST: Final = 1 << 28
"""Bytes of an answer: a child that says more is none of ours."""
_PATIENCE: Final = 60.0
"""Seconds for an answer: what is silent longer is none of ours either (the executable of a host that embeds Python)."""


@dataclass(slots=True)
class _CompilerState:
    """`users`: how many runs ask for a child now; `is_lost`: one was no good, and no other is tried."""

    users: int = 0
    is_lost: bool = False
    child: subprocess.Popen[bytes] | None = None

    def forget(self) -> None:
        """A process that was forked has not this child."""
        self.users, self.child = 0, None


_state: Final = _CompilerState()
in_children(_state.forget)


@contextlib.contextmanager
def compiling_apart() -> Iterator[None]:
    """Code that is made meanwhile is compiled by another process."""
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def as_now(work: Callable[[_T], object]) -> Callable[[_T], None]:
    """Work for a thread that may outlive the run: its code is compiled where it would be compiled now."""
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
    """Object code, as of `compile_text`.  Unsupported."""
    if _state.users > 0 and not _state.is_lost:
        with contextlib.suppress(OSError, ValueError):
            return _answered(text)
        _state.is_lost = True
        _end()
    return compile_text(text)


def _answered(text: str) -> bytes:
    """By the child.  OSError, ValueError: there is none, or it is no good.  Unsupported."""
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
    """The child is gone."""
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
    """The sign of the length, and what is so long.  ValueError: it ended before that."""
    length = int(file.readline(32))
    if abs(length) > _LONGEST:
        raise ValueError("too long")
    content = file.read(abs(length))
    if len(content) < abs(length):
        raise ValueError("ended")
    return (-1 if length < 0 else 1), content


def serve() -> None:
    """What the child does until its parent is gone.  An interrupt of the keyboard is for the parent."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    taken, given = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
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
# What the compiler makes, for people and profilers.
#
# `RHO_DUMP=DIR` writes machine code that is made into DIR: `NAME.ll` (LLVM), `NAME.s` (assembly), `NAME.loops` (the loop program
# after each transformation that changed it), and `NAME.words` (the steps of a plan as they are run).  NAME is a digest of what
# is written, so equal programs write equal files.  `RHO_PERF_MAP=on` tells Linux's `perf` the same names.  What is in the kernel
# cache is not made, so a dump wants `RHO_KERNEL_CACHE=off` to be complete.
#
# Note [Failing].  A folder that cannot be written stops no run: the first failure is told on standard error.

FOLDER: Final = "RHO_DUMP"
PERF_MAP: Final = "RHO_PERF_MAP"
_failed: list[OSError] = []


def is_wanted() -> bool:
    """Is there a folder for what is made?"""
    return bool(os.environ.get(FOLDER)) and not _failed


def name_of(text: str) -> str:
    """The name of files about something that is written like this."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def write(name: str, suffix: str, text: str) -> None:
    """A file of the folder, if one is wanted."""
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
    """Does `perf` want to know where code is?"""
    return os.environ.get(PERF_MAP, "").lower() in ("on", "1", "yes")


def tell_perf(name: str, address: int, count: int) -> None:
    """A line of the map that `perf` reads: `count` bytes of code at `address`."""
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


# ---------------------------------------------------------------------------------------------------- dumping
#
# Loop programs after each transformation, for people (`RHO_DUMP`).

_MOST: Final = 64
_stages: dict[LoopProgram, list[str]] = {}


def stage(before: LoopProgram, after: LoopProgram, name: str) -> None:
    """A transformation has made `after` of `before`."""
    from ..loopir.text import show

    if is_wanted():
        while len(_stages) >= _MOST:
            _stages.pop(next(iter(_stages)))
        _stages[after] = [*_stages.pop(before, [f"# lowered\n{show(before)}\n"]), f"# after {name}\n{show(after)}\n"]


def code(program: LoopProgram, text: str) -> None:
    """LLVM text has been made of a program."""
    from ..loopir.text import show

    if is_wanted():
        write(name_of(text), "loops", "\n".join(_stages.pop(program, [f"# as it is\n{show(program)}\n"])))


# ----------------------------------------------------------------------------------------------- code cache
#
# Machine code of kernels: kept in the process, and on disk in the user's cache folder.
#
# An entry holds one object, named by the digest of its text and of what else it depends on (processor, features, LLVM).  Entries
# are code: only those that this user's runs wrote, under the name that they have, are read (`lang.support.caches`); one that is
# damaged, foreign, exchanged or unreadable is as good as absent, and a folder that cannot be written is no error.
# `RHO_KERNEL_CACHE` names another folder; `off`: none.

SWITCH = "RHO_KERNEL_CACHE"
CACHE = Cache("kernels", SWITCH, ".o", 4 << 20, 4096)


class MachineCode(Protocol):
    """What has a text."""

    def text(self) -> str: ...
    def __hash__(self) -> int: ...


@dataclass(slots=True)
class CompileStatistics:
    """What this process spent on machine code: modules compiled, their nanoseconds, and modules that were in the cache."""

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
"""A child must not find LLVM in the middle of something."""


def address_of(kernel: MachineCode) -> int | None:
    """Where the kernel's code is, compiled now if need be; None if this machine cannot have it."""
    address = _addresses.get(kernel, 0)
    if address != 0:
        return address
    with _lock:
        if kernel not in _addresses:
            _addresses[kernel] = _made(kernel)
        return _addresses[kernel]


def is_ready(kernel: MachineCode) -> bool:
    """Is the code in the process?"""
    return kernel in _addresses


def is_stored(kernel: MachineCode) -> bool:
    """Is there a file that should hold the code?"""
    file = CACHE.file(_key(kernel.text()))
    return file is not None and file.exists()


def _made(kernel: MachineCode) -> int | None:
    if binding() is None:
        return None
    text = kernel.text()
    key = _key(text)
    code = CACHE.read(key)
    if code is not None:
        with contextlib.suppress(Unsupported):
            address = link(code)
            compilation_totals.stored += 1
            return _told(text, code, address)
    began = perf_counter_ns()
    try:
        code = compile_text_out_of_process(text)
        address = link(code)
    except Unsupported:
        return None
    compilation_totals.add(perf_counter_ns() - began)
    CACHE.write(key, code)
    if is_wanted():
        name = name_of(text)
        write(name, "ll", text)
        write(name, "s", assembly(text))
    return _told(text, code, address)


def _told(text: str, code: bytes, address: int) -> int:
    if is_mapped():
        tell_perf(name_of(text), address, code_bytes(code))
    return address


def _key(text: str) -> str:
    return f"{identity()}\n{text}"


# ------------------------------------------------------------------------------------------ bounded caches
#
# Caches of a bounded number of values by key; the oldest entry is dropped first.
#
# Keys contain `id(phase)`; the entry keeps the phase alive, so that the id stays unique.

_Made = TypeVar("_Made")


class LruCache(Generic[_Made]):
    """A cache of at most `most` values; the oldest entry is dropped first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._rows: dict[Hashable, tuple[Sequence[object], _Made]] = {}

    def of(self, key: Hashable, about: Sequence[object], make: Callable[[], _Made]) -> _Made:
        """Returns the value of the key if its entry is about the same objects; else makes and stores it."""
        entry = self._rows.get(key)
        if entry is not None and all(map(_is, entry[0], about)):
            return entry[1]
        return self.put(key, about, make())

    def get(self, key: Hashable) -> _Made | None:
        entry = self._rows.get(key)
        return None if entry is None else entry[1]

    def put(self, key: Hashable, about: Sequence[object], value: _Made) -> _Made:
        while len(self._rows) >= self.most:
            self._rows.pop(next(iter(self._rows)), None)
        self._rows[key] = about, value
        return value

    def values(self) -> list[_Made]:
        """All values in the cache."""
        return [value for _, value in self._rows.values()]

    def clear(self) -> None:
        self._rows.clear()


def _is(one: object, other: object) -> bool:
    return one is other
