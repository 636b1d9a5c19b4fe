"""The error that a codec raises without knowing which line of the program asked for the file.

Codecs know the format, not the program: they raise `FileTrouble`.  Their callers (`reading`, `writing`) add the span and the
path and raise `RunFailed` (E704 unreadable, E705 damaged, E708 not written) or `Refused` (E706 disagrees with its declared type).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from ...lang.diagnostics.model import Code
from ...lang.support.files import NotRegular

_MOST_NAMES: Final = 20
_LONGEST_NAME: Final = 80


class FileTrouble(Exception):
    """One problem with one file: `code`, a sentence that reads on after the file's name, further lines."""

    def __init__(self, code: Code, message: str, *notes: str) -> None:
        self.code = code
        self.message = message
        self.notes = notes
        super().__init__(f"{code}: {message}")


def damaged(message: str, *notes: str) -> FileTrouble:
    """E705: the file does not hold what its format promises."""
    return FileTrouble(Code.E705, message, *notes)


def disagrees(message: str, *notes: str) -> FileTrouble:
    """E706: the file is sound but not of the declared type."""
    return FileTrouble(Code.E706, message, *notes)


def missing_package(extra: str, package: str, *, writes: bool = False) -> FileTrouble:
    """E704, E708: the format is read or written by a package that is not installed."""
    cure = (f"`pip install 'rho-lang[{extra}]'`",) if extra else ()
    code, verb = (Code.E708, "written") if writes else (Code.E704, "read")
    return FileTrouble(code, f"is {verb} by {package}, which is not installed", *cure)


def first_line(error: BaseException | None) -> str:
    """What a package said, in one line."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


def listed(names: Iterable[str]) -> str:
    """Some of the names that a file has, on one line."""
    every = list(names)
    shown = ["".join(c if c.isprintable() else "?" for c in name[:_LONGEST_NAME]) for name in every[:_MOST_NAMES]]
    more = [f"and {len(every) - _MOST_NAMES} more"] if len(every) > _MOST_NAMES else []
    return ", ".join(shown + more) or "none"


@contextmanager
def system_errors() -> Iterator[None]:
    """Errors of the operating system while reading become E704."""
    try:
        yield
    except FileNotFoundError:
        raise FileTrouble(Code.E704, "does not exist") from None
    except IsADirectoryError:
        raise FileTrouble(Code.E704, "is a folder, not a file") from None
    except PermissionError:
        raise FileTrouble(Code.E704, "may not be read: permission denied") from None
    except NotRegular:
        raise FileTrouble(Code.E704, "is not a regular file") from None
    except NotADirectoryError:
        raise FileTrouble(Code.E704, "does not exist: a folder on its path is a file") from None
    except ValueError as error:  # a NUL in the path
        if "null" not in str(error):
            raise
        raise FileTrouble(Code.E704, "is not a path") from None
    except OSError as error:
        raise FileTrouble(Code.E704, f"cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise FileTrouble(Code.E702, "does not fit in memory") from None
