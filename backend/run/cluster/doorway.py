"""The port of a resident: a connection comes in when its first message has the token.

Before that a peer is a stranger.  A stranger may encrypt and send one message of at most `LARGEST_HELLO` bytes without arrays, in
`WELCOME` seconds in all; nothing larger is received or decoded for it, and whatever else it does closes the connection.  At most
`MOST_STRANGERS` are waited for at a time: the oldest of them gives way to the newest, so that silent peers keep nobody out.

Neighbours: `wire`, `resident` (has one).
"""

from __future__ import annotations

import hmac
import secrets
import select
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from .wire import Connection, Kind, Lost

LARGEST_HELLO: Final = 512
"""Bytes of facts."""
WELCOME: Final = 5.0
MOST_STRANGERS: Final = 32
_EXHAUSTED_MS: Final = 100
"""Before another connection is accepted where the process has no descriptor or thread for it."""


class Doorway:
    """Listens from when it is made; `admit` gets each connection that has come in, with its facts, on a thread of its own."""

    def __init__(
        self, host: str, accepting: ssl.SSLContext | None, admit: Callable[[Connection, dict[str, Any]], None]
    ) -> None:  # fmt: skip
        self.token = secrets.token_hex(16)
        self.accepting, self.admit = accepting, admit
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.create_server((host, 0), family=family)
        self.listener.setblocking(False)
        self.host, self.port = host, int(self.listener.getsockname()[1])
        self.strangers: list[Connection] = []
        self._guard = threading.Lock()
        threading.Thread(target=self._accept, name="rho resident", daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for it
        self.listener.close()

    def _accept(self) -> None:
        coming, pausing = select.poll(), select.poll()
        coming.register(self.listener, select.POLLIN)
        while self.listener.fileno() != -1:
            coming.poll()
            try:
                sock, _ = self.listener.accept()
            except BlockingIOError:
                continue
            except OSError:
                pausing.poll(_EXHAUSTED_MS)
                continue
            try:
                stranger = self._stranger(sock)
                threading.Thread(target=self._welcome, args=(stranger,), daemon=True).start()
            except (OSError, ValueError, RuntimeError, MemoryError):
                sock.close()
                pausing.poll(_EXHAUSTED_MS)

    def _stranger(self, sock: socket.socket) -> Connection:
        if self.accepting is not None:
            sock = self.accepting.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
        stranger = Connection(sock, until=monotonic() + WELCOME)
        with self._guard:
            self.strangers.append(stranger)
            oldest = self.strangers[:-MOST_STRANGERS]
        for one in oldest:
            self._dismiss(one)
        return stranger

    def _dismiss(self, stranger: Connection) -> None:
        with self._guard:
            self.strangers = [one for one in self.strangers if one is not stranger]
        stranger.close()

    def _welcome(self, stranger: Connection) -> None:
        try:
            facts = self._facts_of(stranger)
        except Exception:  # whatever a stranger sends, it is not heard
            self._dismiss(stranger)
            return
        with self._guard:
            self.strangers = [one for one in self.strangers if one is not stranger]
        stranger.until = None
        self.admit(stranger, facts)

    def _facts_of(self, stranger: Connection) -> dict[str, Any]:
        """Of its first message.  Lost: it is not one of a process that knows the token."""
        stranger.shake_hands()
        message = stranger.receive(LARGEST_HELLO, with_arrays=False)
        token = str(message.facts.pop("token", "")).encode("utf-8", "surrogatepass")
        if message.kind is not Kind.HELLO or not hmac.compare_digest(token, self.token.encode()):
            raise Lost(stranger.process, "it does not know the token")
        return message.facts
