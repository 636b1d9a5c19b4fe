"""The error boundary: converts an exception that no command has handled to diagnostics, a resource error or a bug report.

Where memory runs out while a library is loaded, Python raises ImportError or OSError with the dynamic linker's message.  The
message, the exception's causes and the process's limit tell it from other errors.
"""

from __future__ import annotations

import errno
import os
import platform
import shlex
import tempfile
import traceback as tracebacks
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ... import __version__
from ...lang.support.files import KERNEL_TEXT, read_bytes, read_text
from ...lang.support.processes import is_numpy_installed
from .process_exit import Exit
from .standard_streams import Console

_NEAR_LIMIT = 48 << 20
"""Bytes of address space below which memory counts as exhausted."""
_NO_MEMORY = (
    "failed to map segment", "cannot allocate memory", "cannot create shared object descriptor", "out of memory",
    "can't allocate lock",
)  # fmt: skip


def report_uncaught(error: Exception, words: Sequence[str], console: Console) -> Exit:
    """Report an exception that no command has handled; returns the exit code."""
    if lacks_memory(error):
        console.note("error[E703]: there is not enough memory to go on; nothing was saved")
        return Exit.FAILED
    if lacks_threads(error):
        console.note("rho: the system gives this process no more threads; nothing was saved")
        return Exit.FAILED
    if isinstance(error, ModuleNotFoundError) and error.name == "numpy" and not is_numpy_installed():
        console.note("rho: this needs NumPy, which is not installed: pip install numpy")
        return Exit.FAILED

    report_bug(error, words, console, traceback="--debug" in words)
    return Exit.BUG


def lacks_memory(error: BaseException) -> bool:
    """Does the error, or one that it was raised from, say that memory ran out, or is the process at its limit?"""
    return is_at_limit() or any(
        isinstance(one, MemoryError)
        or (isinstance(one, OSError) and one.errno == errno.ENOMEM)
        or (isinstance(one, ImportError | OSError | RuntimeError) and any(text in str(one).lower() for text in _NO_MEMORY))
        for one in _chain(error)
    )


def lacks_threads(error: BaseException) -> bool:
    """Does the error, or one that it was raised from, say that no thread could be started?"""
    return any(isinstance(one, RuntimeError) and "can't start new thread" in str(one) for one in _chain(error))


def is_at_limit() -> bool:
    """Has the process nearly used up its address space?  (Libraries then fail with any message.)"""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(read_text("/proc/self/statm", KERNEL_TEXT).split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return False
    return limit != resource.RLIM_INFINITY and limit - used < _NEAR_LIMIT


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__


# ---------------------------------------------------------------------------------------------------- bug reports
#
# A bug in Rho writes a reproducer file into the temporary folder and prints one line with its path.

def report_bug(error: BaseException, words: Sequence[str], console: Console, *, traceback: bool) -> None:
    """Write the reproducer and print where it is; with `traceback` also print the traceback."""
    trace = "".join(tracebacks.format_exception(error))
    try:
        path = write_reproducer(trace, words)
        console.note(f"rho: a bug in Rho ({type(error).__name__}); everything needed to reproduce it is in {path}")
    except OSError:
        console.note(f"rho: a bug in Rho ({type(error).__name__}); run again with --debug for the details")
    if traceback:
        console.note(trace.rstrip())


def write_reproducer(trace: str, words: Sequence[str]) -> str:
    """Write the command, the versions, the texts of the .rho files it names and the traceback; returns the file's path."""
    parts = [
        "# Reproducer of a bug in Rho",
        f"rho {__version__} · Python {platform.python_version()} · {platform.platform()}",
        f"working folder: {os.getcwd()}",
        "command: rho " + shlex.join(words),
    ]
    for word in words:
        if word.endswith(".rho") and os.path.isfile(word):
            with suppress(OSError):
                parts.append(f"\n## {word}\n{read_bytes(word, 1_000_000).decode('utf-8', 'replace')}")
    parts.append("\n## traceback\n" + trace)
    handle, path = tempfile.mkstemp(prefix="rho-bug-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write("\n".join(parts))
    return path
