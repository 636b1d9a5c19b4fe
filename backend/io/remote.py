"""Inputs at URLs: `http://…` and other URLs that fsspec reads, fetched by byte ranges.

Ranges grow while a file is read sequentially, and the latest are cached for all readers of the process.  Requests forbid
compression, redirections are not followed, and a server times out after `PATIENCE` seconds.  A file is identified by the size,
`ETag` and `Last-Modified` that its server reports once for each `Content`; later responses are compared with these.  No other
module imports fsspec and aiohttp.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urljoin

from ...lang.diagnostics.model import Code
from ...lang.support import processes
from ...lang.support.bounded_parsing import normalize_url
from ...lang.support.records import dataclass, field
from .formats import FileTrouble, damaged, first_line, missing_package

PATIENCE: Final = 20.0
"""Seconds to wait for a response, and for each next part of it."""
_LEAST: Final = 1 << 14
_MOST: Final = 1 << 20
"""The least and the most bytes of a fetched range, where fewer are requested."""
CACHE_BYTES: Final = 4 << 20
"""The most bytes of the cache of fetched ranges."""
_NAMES: Final = ("ETag", "Last-Modified")


class _HttpResponse(Exception):
    """Raised for a response that is not the file."""

    def __init__(self, status: int, reason: str, location: str) -> None:
        super().__init__(f"{status} {reason}".strip())
        self.status, self.location = status, location


async def _require_the_file(response: Any) -> None:
    """Checks that a response is the file, and records its validators."""
    if response.status < 300:
        _LATEST_VALIDATORS[str(response.url)] = tuple([response.headers.get(name) for name in _NAMES])
    else:
        named = response.headers.get("Location")
        raise _HttpResponse(response.status, response.reason or "", urljoin(str(response.url), named) if named else "")


def _system_of(url: str) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the path in it."""
    url = normalize_url(url)
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
def _as_file_trouble() -> Iterator[None]:
    """Turns the exceptions of fsspec's file systems, which have no common base class, into FileTrouble."""
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
        case _HttpResponse() if error.location:
            return FileTrouble(Code.E704, f"is not there: the server answers {error} and names `{error.location}`",
                "name that URL")
        case _HttpResponse(status=404):
            return FileTrouble(Code.E704, f"does not exist: the server answers {error}")
        case _HttpResponse():
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


@dataclass(frozen=True, slots=True)
class Version:
    """The version of a file: its size and a digest.  `validators`: `ETag` and `Last-Modified`, if every response has them;
    `location`: the URL of the responses."""

    size: int
    digest: str
    validators: tuple[str | None, ...]
    location: str

    def require_same(self) -> None:
        """Raises FileTrouble if the latest response has other validators."""
        if any(one and other and one != other for one, other in zip(self.validators, _LATEST_VALIDATORS.get(self.location, ()),
            strict=False)):
            raise damaged("changed while it was read")


_LATEST_VALIDATORS: Final[dict[str, tuple[str | None, ...]]] = {}
"""The validators of the latest response, by URL."""


def current_version(url: str) -> Version:
    """The version that the server reports at present.  Raises FileTrouble."""
    system, path = _system_of(url)
    with _as_file_trouble():
        system.invalidate_cache()
        facts = system.info(path)
    if facts.get("size") is None or facts.get("type") != "file":
        raise FileTrouble(Code.E704, "cannot be read: its server does not say how large it is")
    location = str(facts.get("url", ""))
    validators = tuple(facts.get(name) for name in _NAMES) if location in _LATEST_VALIDATORS else ()
    digest = sha256(repr(sorted(facts.items(), key=str)).encode()).hexdigest()
    return Version(int(facts["size"]), digest, validators, location)


@dataclass(frozen=True, slots=True, eq=False)
class _ByteRange:
    """A range of bytes of a file that has been fetched or is being fetched."""

    first: int
    stop: int
    bytes: Future[bytes] = field(default_factory=Future)


class _RangeCache:
    """An LRU cache of byte ranges for all readers of this process, of `CACHE_BYTES` bytes.

    A range that continues another one is twice as long, so that sequential readers make few requests, also several of them in
    different parts of a file.  With many ranges each is shorter, so that none is evicted before it is used."""

    def __init__(self) -> None:
        self._lock = processes.lock()
        self._parts: list[tuple[tuple[str, str], _ByteRange]] = []
        """The ranges, latest last, by URL and version."""
        processes.in_children(self._forget_unfetched)

    def _forget_unfetched(self) -> None:
        """Drops, after a fork, the ranges that a thread of the parent was fetching."""
        self._parts = [(of, part) for of, part in self._parts if part.bytes.done()]

    def at(self, key: tuple[str, str], at: int, count: int, size: int) -> tuple[_ByteRange, bool]:
        """The range that contains byte `at`, and whether the caller has to fetch it; `count` bytes are requested."""
        with self._lock:
            same = [part for of, part in self._parts if of == key]
            cached = next((part for part in same if part.first <= at < part.stop), None)
            if cached is None:
                before = next((part.stop - part.first for part in same if part.stop == at), 0)
                ahead = max(_LEAST, min(2 * before, _MOST, CACHE_BYTES // (1 + len(self._parts))))
                stop = min([at + max(count, ahead), size, *(part.first for part in same if part.first > at)])
                part = _ByteRange(at, stop)
            else:
                part = cached
                self._parts.remove((key, cached))
            if part.stop - part.first <= _MOST:
                self._parts.append((key, part))
            while sum(part.stop - part.first for _, part in self._parts) > CACHE_BYTES:
                del self._parts[0]
            return part, cached is None

    def drop(self, key: tuple[str, str], part: _ByteRange) -> None:
        """Drops a range that could not be fetched."""
        with self._lock:
            self._parts = [(of, one) for of, one in self._parts if of != key or one is not part]


_CACHE: Final = _RangeCache()
_NOTHING: Final = _ByteRange(0, 0)


class Remote(io.RawIOBase):
    """A file at a URL; its methods raise FileTrouble."""

    def __init__(self, url: str, version: Version) -> None:
        self._version, self._size, self._at, self._part = version, version.size, 0, _NOTHING
        self._key = url, version.digest
        system, path = _system_of(url)
        with _as_file_trouble():
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
        if not self._part.first <= self._at < self._part.stop and self._at < self._size:
            self._part = self._fetched(len(target))
        start = self._at - self._part.first
        part = self._part.bytes.result()[start : start + len(target)] if self._at < self._size else b""
        target[: len(part)] = part
        self._at += len(part)
        return len(part)

    def _fetched(self, count: int) -> _ByteRange:
        while True:
            part, is_mine = _CACHE.at(self._key, self._at, count, self._size)
            if is_mine:
                try:
                    part.bytes.set_result(self._fetch(part.first, part.stop))
                except BaseException as error:
                    _CACHE.drop(self._key, part)
                    part.bytes.set_exception(error)
                    raise
            if processes.wait_for(part.bytes).exception() is None:  # if another reader failed to fetch it, this one tries
                return part

    def _fetch(self, first: int, stop: int) -> bytes:
        with _as_file_trouble():
            self._file.seek(first)
            data: bytes = self._file.read(stop - first)
        self._version.require_same()
        if len(data) != stop - first:
            raise damaged(f"ended while it was read: of {stop - first} bytes its server sent {len(data)}")
        return data

    def close(self) -> None:
        self._part = _NOTHING
        super().close()
