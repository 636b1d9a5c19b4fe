"""What becomes of an exception that no verb has handled: the diagnostics that it carries, a lack of memory or threads, or a bug.

Where memory runs out while a library is loaded, what comes up is an ImportError or an OSError in the words of the dynamic linker;
it is told from others by those words and by what it was raised from.

Neighbours: `main` (catches), `crash` (bugs).
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence

from ...lang.diagnostics import RhoError
from ...lang.opening import KERNEL_TEXT, read_text
from . import messages
from .arguments import Arguments
from .console import Console
from .exits import Exit

_CLOSE = 48 << 20
_NO_MEMORY = (
    "failed to map segment", "cannot allocate memory", "cannot create shared object descriptor", "out of memory",
    "can't allocate lock",
)  # fmt: skip


def refused(error: Exception, arguments: Arguments, console: Console) -> Exit:
    """Say why a verb has no result.  What is not an error of a stage is raised again."""
    if not isinstance(error, RhoError):
        raise error
    return messages.refuse(arguments, console, error)


def exit_for(error: Exception, words: Sequence[str], console: Console) -> Exit:
    """Say what happened; the code to exit with."""
    if lacks_memory(error):
        console.note("error[E703]: there is not enough memory to go on; nothing was saved")
        return Exit.FAILED
    if lacks_threads(error):
        console.note("rho: the system gives this process no more threads; nothing was saved")
        return Exit.FAILED
    from .crash import report

    report(error, words, console, traceback="--debug" in words)
    return Exit.BUG


def lacks_memory(error: BaseException) -> bool:
    """Did it come from a lack of memory, as what it was raised from says, or as the limit shows that the process is at?"""
    return is_at_limit() or any(
        isinstance(one, MemoryError)
        or (isinstance(one, OSError) and one.errno == errno.ENOMEM)
        or (isinstance(one, ImportError | OSError | RuntimeError) and any(text in str(one).lower() for text in _NO_MEMORY))
        for one in _chain(error)
    )


def lacks_threads(error: BaseException) -> bool:
    """Did it come from a thread that could not be started?"""
    return any(isinstance(one, RuntimeError) and "can't start new thread" in str(one) for one in _chain(error))


def is_at_limit() -> bool:
    """Has the process all but used the address space that it may have?  (Libraries then fail in any words.)"""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(read_text("/proc/self/statm", KERNEL_TEXT).split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return False
    return limit != resource.RLIM_INFINITY and limit - used < _CLOSE


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__
