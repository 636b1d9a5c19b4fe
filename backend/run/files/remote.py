"""Inputs at URLs: `http://…` and other URLs that fsspec reads, fetched by byte ranges.

Only the last range is cached, and ranges grow while a file is read in order.  Servers are asked not to compress, redirections are
not followed, and a server may be silent for `PATIENCE` seconds.  A file is identified by what its server reports: size, `ETag`
and `Last-Modified`.

The one module that knows fsspec and aiohttp.  Neighbours: `content` (opens URLs as it opens files), `lang.urls`.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urljoin

from ....lang.codes import Code
from ....lang.urls import normal
from .trouble import FileTrouble, damaged, first_line, missing_package

PATIENCE: Final = 20.0
"""Seconds in which a server has to answer, and between two parts of an answer."""
_LEAST: Final = 1 << 14
_MOST: Final = 1 << 20
"""Bytes that are fetched at a time where less is asked for."""


class _Answer(Exception):
    """What a server says instead of the file."""

    def __init__(self, status: int, reason: str, place: str) -> None:
        super().__init__(f"{status} {reason}".strip())
        self.status, self.place = status, place


async def _require_the_file(response: Any) -> None:
    if response.status >= 300:
        named = response.headers.get("Location")
        raise _Answer(response.status, response.reason or "", urljoin(str(response.url), named) if named else "")


def _system_of(url: str) -> tuple[Any, str]:
    """The file system of a URL, and what it calls it."""
    url = normal(url)
    scheme = url.partition("://")[0]
    options: dict[str, Any] = {}
    try:
        from fsspec.core import url_to_fs

        if scheme in ("http", "https"):
            import aiohttp

            timeout = aiohttp.ClientTimeout(total=None, sock_connect=PATIENCE, sock_read=PATIENCE)
            options = {
                "client_kwargs": {"timeout": timeout, "raise_for_status": _require_the_file},
                "headers": {"Accept-Encoding": "identity"}, "allow_redirects": False,
            }  # fmt: skip
        system, path = url_to_fs(url, **options)
    except ImportError as error:
        if scheme in ("http", "https"):
            raise missing_package("url", "fsspec with aiohttp") from None
        raise FileTrouble(Code.E704, f"is read by a package that is not installed: {first_line(error)}") from None
    except ValueError as error:
        raise FileTrouble(Code.E704, f"cannot be read: {first_line(error)}") from None
    return system, path


@contextmanager
def _told() -> Iterator[None]:
    """What file systems of fsspec raise, of which there is no one family, as trouble with a file."""
    try:
        yield
    except (FileTrouble, MemoryError):
        raise
    except Exception as error:
        wrapped = isinstance(error, FileNotFoundError) and error.__cause__ is not None
        raise _trouble(error.__cause__ if wrapped else error) from None


def _trouble(error: BaseException | None) -> FileTrouble:
    raised = {kind.__name__ for kind in type(error).__mro__}
    match error:
        case _Answer() if error.place:
            return FileTrouble(Code.E704, f"is not there: the server answers {error} and names `{error.place}`", "name that URL")
        case _Answer(status=404):
            return FileTrouble(Code.E704, f"does not exist: the server answers {error}")
        case _Answer():
            return FileTrouble(Code.E704, f"cannot be read: the server answers {error}")
        case TimeoutError():
            return FileTrouble(Code.E704, f"cannot be read: its server was silent for {PATIENCE:g} seconds")
        case _ if raised & {"ClientPayloadError", "ServerDisconnectedError", "ConnectionResetError"}:
            return damaged("ended while it was read: its server closed the connection")
        case _ if "ClientConnectorError" in raised:
            host = getattr(error, "host", ""), getattr(error, "port", "")
            return FileTrouble(Code.E704, f"cannot be read: no connection to {host[0]}:{host[1]}")
        case ValueError() if "range" in str(error):
            message = "cannot be read: its server does not serve ranges of bytes"
            return FileTrouble(Code.E704, message, "download it, and name the file")
        case FileNotFoundError():
            return FileTrouble(Code.E704, "does not exist")
    return FileTrouble(Code.E704, f"cannot be read: {first_line(error)}")


def known(url: str) -> tuple[int, str]:
    """The size of a file, and what tells it from another.  FileTrouble."""
    system, path = _system_of(url)
    with _told():
        system.invalidate_cache()
        found = system.info(path)
    if found.get("size") is None or found.get("type") != "file":
        raise FileTrouble(Code.E704, "cannot be read: its server does not say how large it is")
    return int(found["size"]), sha256(repr(sorted(found.items(), key=str)).encode()).hexdigest()


class Remote(io.RawIOBase):
    """A file that lies elsewhere.  FileTrouble, also when it is read."""

    def __init__(self, url: str) -> None:
        self._url, (self._size, _) = url, known(url)
        self._at, self._block, self._first, self._ahead = 0, b"", 0, _LEAST
        system, path = _system_of(url)
        with _told():
            self._file = system.open(path, "rb", block_size=_MOST, cache_type="none", size=self._size)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence])
        return self._at

    def readinto(self, room: Any) -> int:
        target = memoryview(room).cast("B")
        if not self._first <= self._at < self._first + len(self._block):
            self._fetch(len(target))
        start = self._at - self._first
        part = self._block[start : start + len(target)]
        target[: len(part)] = part
        self._at += len(part)
        return len(part)

    def _fetch(self, count: int) -> None:
        goes_on = self._at == self._first + len(self._block)
        self._ahead = min(2 * self._ahead, _MOST) if goes_on and self._block else _LEAST
        wanted = max(0, min(max(count, self._ahead), self._size - self._at))
        with _told():
            self._file.seek(self._at)
            found = self._file.read(wanted) if wanted else b""
        if len(found) != wanted:
            raise damaged(f"ended while it was read: of {wanted} bytes its server sent {len(found)}")
        self._first, self._block = self._at, found

    def close(self) -> None:
        self._block = b""
        super().close()
