"""Peers that do not know the token of a resident: they are turned away, cost next to nothing, and keep no home out."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest
from share import SEED, repeats

from rho.backend.cluster import worker as doorway
from rho.backend.cluster.wire import Door, Lost, link_table
from rho.backend.cluster.worker import MOST_STRANGERS, Resident
from rho.tests.cluster.hostile import NAMED, drawn, hello

pytestmark = pytest.mark.long

WATCHDOG = 60.0
SERVING = """import sys
from pathlib import Path
from rho.backend.cluster.worker import Resident
resident = Resident("127.0.0.1")
print(resident.port, resident.token, flush=True)
sys.stdin.readline()
status = Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
print(next((int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")), 0), flush=True)
sys.stdin.read()
"""


class Worker:
    """A resident in a process of its own."""

    def __init__(self) -> None:
        given = [sys.executable, "-c", SERVING]
        self.process = subprocess.Popen(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None and self.process.stdin is not None
        port, token = self.process.stdout.readline().split()
        self.door: Door = ("127.0.0.1", int(port), token)

    def end(self) -> tuple[int, str]:
        """The most memory that it had, in MB, and what it has written on its standard error."""
        said, errors = self.process.communicate("\n", WATCHDOG)
        return int(said), errors


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.process.kill()
    made.process.communicate()


def stranger(door: Door, data: bytes = b"") -> socket.socket:
    made = socket.create_connection(door[:2], WATCHDOG)
    with suppress(OSError):  # it was turned away before it had said everything
        made.sendall(data)
    return made


def is_turned_away(peer: socket.socket) -> bool:
    """The other end closes without a word."""
    with closing(peer), suppress(ConnectionError):
        return peer.recv(1) == b""
    return True


def test_whatever_strangers_send_they_are_turned_away_and_a_home_is_served(worker: Worker) -> None:
    token = worker.door[2]
    for name, data in NAMED.items():
        peer = stranger(worker.door, data(token))
        if name in ("nothing", "a byte"):
            peer.shutdown(socket.SHUT_WR)
        assert is_turned_away(peer), name
    chance = random.Random(SEED)
    for number in range(repeats(2000)):
        peer = stranger(worker.door, drawn(chance, token))
        with suppress(OSError):
            peer.shutdown(socket.SHUT_WR)
        assert is_turned_away(peer), (SEED, number)
    assert link_table(worker.door, None).ns
    used, errors = worker.end()
    assert errors == "" and used < 300


def test_silent_and_slow_strangers_give_way_to_a_home(worker: Worker) -> None:
    """More than there may be, each with the start of a message; the newest say a byte now and then."""
    peers = [stranger(worker.door, NAMED["facts of 128 MB"]("")[: at % 12]) for at in range(3 * MOST_STRANGERS - 3)]
    peers += [stranger(worker.door) for _ in range(3)]
    for byte in hello("0" * 32)[:28]:
        for peer in peers[-3:]:
            with suppress(OSError):
                peer.sendall(bytes([byte]))
        if byte == ord("0"):
            assert link_table(worker.door, None).ns
    assert all(map(is_turned_away, peers[: 2 * MOST_STRANGERS]))
    used, errors = worker.end()
    assert errors == "" and used < 300
    for peer in peers:
        peer.close()


def test_strangers_who_do_not_encrypt() -> None:
    security = pytest.importorskip("distributed.security").Security.temporary()
    accepting = security.get_listen_args("worker")["ssl_context"]
    connecting = security.get_connection_args("worker")["ssl_context"]
    resident = Resident("127.0.0.1", accepting, connecting)
    door = "127.0.0.1", resident.port, resident.token
    for name, data in NAMED.items():
        peer = stranger(door, data(door[2]))
        with suppress(OSError):
            peer.shutdown(socket.SHUT_WR)
        peer.settimeout(WATCHDOG)
        with closing(peer), suppress(ConnectionError):  # TLS may say what was wrong
            while peer.recv(100):
                assert name
    silent = [stranger(door, b"\x16\x03\x01"[: at % 4]) for at in range(2 * MOST_STRANGERS)]
    assert link_table(door, connecting).ns
    for peer in silent:
        peer.close()
    resident.close()


def test_a_stranger_who_never_ends_its_hello_is_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it says something: `WELCOME` seconds are for all of it."""
    monkeypatch.setattr(doorway, "WELCOME", 0.05)
    resident = Resident("127.0.0.1")
    peer = socket.create_connection(("127.0.0.1", resident.port), WATCHDOG)
    with suppress(ConnectionError), closing(peer):
        peer.setblocking(False)
        for byte in hello("0" * 200).ljust(1 << 20):
            peer.sendall(bytes([byte]))
            with suppress(BlockingIOError):
                assert peer.recv(1) == b""
                break
    assert not resident.doorway.strangers
    resident.close()


def test_a_doorway_that_is_closed_ends_its_thread() -> None:
    resident = Resident("127.0.0.1")
    door = "127.0.0.1", resident.port, resident.token
    assert link_table(door, None).ns
    resident.close()
    with pytest.raises(Lost):
        link_table(door, None)
