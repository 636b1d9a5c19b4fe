"""A peer between a home and a resident that passes on bytes until so many have gone one way, and then cuts both."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Cut:
    """Listens at `port`; a connection is to `door` until `count` bytes have come from who asked (`outwards`) or from the door."""

    def __init__(self, port: int, count: int, *, outwards: bool) -> None:
        self.door, self.count, self.outwards = port, count, outwards
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        self.is_cut = threading.Event()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", self.door))
                for source, target, outwards in ((near, far, True), (far, near, False)):
                    threading.Thread(target=self.carry, args=(source, target, outwards), daemon=True).start()

    def carry(self, source: socket.socket, target: socket.socket, outwards: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if outwards == self.outwards:
                    data, self.count = data[: self.count], self.count - len(data)
                target.sendall(data)
                if self.count <= 0:
                    self.is_cut.set()
                    break
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.listener.close()
