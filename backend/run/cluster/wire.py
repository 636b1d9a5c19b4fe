"""Messages between processes: a kind, a few facts as JSON, and arrays that are received straight into their own memory.

A connection may be read by one thread and written by others.  Its socket never blocks: whoever waits, waits for the socket
outside the lock, which is held around single calls (an encrypted socket may not be read and written at once).  Every byte that
comes is a sign of life; a silence longer than `patience` is `Lost`, as is the end of the connection.

Neighbours: `crossing`, `resident`, `home` (who speak), `membership` (encryption).
"""

from __future__ import annotations

import json
import math
import select
import socket
import ssl
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import IntEnum
from threading import Lock
from time import monotonic
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

_HEAD: Final = struct.Struct("!BIQ")
LARGEST_FACTS: Final = 128 << 20
PATIENCE: Final = 8.0
"""Seconds of silence after which the other end is taken for dead: `home` says something every `PULSE` seconds."""
PULSE: Final = 1.0
_LOOKING_MS: Final = 200
"""How often a wait looks whether the connection was closed."""
Door: TypeAlias = tuple[str, int, str]
"""The host and port of a resident, and the token that it lets in."""
_ELEMENTS: Final = frozenset("?bBhHiIlLqQefdgFDGU")


class Kind(IntEnum):
    """What a message says; `home` speaks first."""

    HELLO = 1  # a process that may come in: its token, and as what
    PING = 2  # also to see how long this takes
    PONG = 3
    LEASE = 4  # a question: home wants this worker for itself; what is there of programs and values?
    LOAD = 5  # a question: a program with its plan
    MEASURE = 6  # a question: how long do messages to another worker take?
    SEE = 7  # a question: are these files the same to you, and how quickly do you read them?
    REST = 8  # a question: is everything at rest?
    ANSWER = 9  # to a question, by its number
    RUN = 10
    DATA = 11  # arrays of a transfer
    FENCE = 12  # a queue has come to a fence
    DROP = 13  # what is held of a transfer: it has another value now
    FAILED = 14  # a queue ended by a failure of the program
    LOST = 15  # another worker does not answer
    STOP = 16  # let no queue go on
    DONE = 17  # with when the steps took place, if home observes the run
    RELEASE = 18


class Message(NamedTuple):
    kind: Kind
    facts: dict[str, Any]
    arrays: list[Any]


class Lost(Exception):
    """The other end is gone: `process` by number, and its last words."""

    def __init__(self, process: int, words: str) -> None:
        super().__init__(words)
        self.process, self.words = process, words


class Connection:
    """To one process."""

    def __init__(
        self, sock: socket.socket, process: int = -1, patience: float = PATIENCE, until: float | None = None
    ) -> None:  # fmt: skip
        """`until`: a moment after which nothing is waited for, whatever comes by then."""
        sock.setblocking(False)
        if sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock, self.process, self.patience, self.until = sock, process, patience, until
        self.closed = False
        self._writing, self._socket = Lock(), Lock()
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(sock, select.POLLIN)
        self._writable.register(sock, select.POLLOUT)

    def send(self, kind: Kind, facts: Mapping[str, Any] | None = None, arrays: Sequence[Any] = ()) -> None:
        """Lost: nobody takes it."""
        whole = [np.ascontiguousarray(array).reshape(np.shape(array)) for array in arrays]
        said = dict(facts or {})
        if whole:
            said["arrays"] = [[array.dtype.str, array.shape] for array in whole]
        text = json.dumps(said, separators=(",", ":")).encode() if said else b""
        head = _HEAD.pack(kind, len(text), sum(array.nbytes for array in whole))
        with self._writing:
            for data in (memoryview(head + text), *map(bytes_of, whole)):
                self._move("send", self._writable, data)

    def receive(self, largest: int = LARGEST_FACTS, *, with_arrays: bool = True) -> Message:
        """Lost: nothing comes any more, or no message with at most so many bytes of facts and the arrays that it may have."""
        number, length, size = _HEAD.unpack(self._read(bytearray(_HEAD.size)))
        try:
            if length > largest or (size and not with_arrays):
                raise ValueError(length, size)
            facts = json.loads(self._read(bytearray(length))) if length else {}
            forms = [_form(*one) for one in facts.pop("arrays", ())]
            if sum(math.prod(shape) * kind.itemsize for kind, shape in forms) != size:
                raise ValueError(size)
            message = Message(Kind(number), facts, [np.empty(shape, kind) for kind, shape in forms])
        except MemoryError:
            raise Lost(self.process, f"it sent {length + size} bytes, for which there is no memory") from None
        except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
            raise Lost(self.process, "it sent something that is not a message") from None
        for array in message.arrays:
            self._move("recv_into", self._readable, bytes_of(array))
        return message

    def shake_hands(self) -> None:
        """Of TLS, where the connection is encrypted.  Lost: it fails."""
        if isinstance(self.sock, ssl.SSLSocket):
            self._retried("do_handshake", self._readable)

    def close(self) -> None:
        """Who waits for this connection is told that it is lost."""
        self.closed = True
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        with self._socket:
            self.sock.close()

    # ------------------------------------------------------------------------------------------------

    def _read(self, room: bytearray) -> bytearray:
        self._move("recv_into", self._readable, memoryview(room))
        return room

    def _move(self, call: str, ready: Any, left: memoryview) -> None:
        """Send all of these bytes, or receive as many."""
        while left:
            count: int = self._retried(call, ready, left)
            if count == 0:
                raise Lost(self.process, "the connection ended")
            left = left[count:]

    def _retried(self, call: str, ready: Any, *arguments: memoryview) -> Any:
        """The result of a method of the socket, as soon as it does not have to wait."""
        while True:
            try:
                with self._socket:
                    return getattr(self.sock, call)(*arguments)
            except BlockingIOError:
                self._wait(ready)
            except ssl.SSLWantReadError:
                self._wait(self._readable)
            except ssl.SSLWantWriteError:
                self._wait(self._writable)
            except (OSError, ValueError) as error:
                raise Lost(self.process, getattr(error, "strerror", None) or "the connection ended") from None

    def _wait(self, ready: Any) -> None:
        until = monotonic() + self.patience
        if self.until is not None:
            if monotonic() > self.until:
                raise Lost(self.process, "it took too long to say who it is")
            until = min(until, self.until)
        while not ready.poll(_LOOKING_MS):
            if self.closed:
                raise Lost(self.process, "the connection was closed")
            if monotonic() > until:
                raise Lost(self.process, f"it has said nothing for {self.patience:.0f} seconds")


def bytes_of(array: Any) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8))


def _form(dtype: str, shape: Sequence[int]) -> tuple[Any, tuple[int, ...]]:
    kind = np.dtype(dtype)
    if kind.char not in _ELEMENTS or kind.hasobject or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(dtype, shape)
    return kind, tuple(shape)


def connect(
    to: Door, process: int, hello: Mapping[str, Any], context: ssl.SSLContext | None, timeout: float = 10.0
) -> Connection:  # fmt: skip
    """A connection to a resident.  Lost: there is none."""
    host, port, token = to
    try:
        sock = socket.create_connection((host, port), timeout)
        if context is not None:
            sock = context.wrap_socket(sock, server_hostname=host if context.check_hostname else None)
    except OSError as error:
        raise Lost(process, f"{host}:{port} does not answer ({error.strerror or error})") from None
    made = Connection(sock, process)
    made.send(Kind.HELLO, {"token": token, **hello})
    return made
