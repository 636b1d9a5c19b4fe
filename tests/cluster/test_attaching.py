"""Workers and schedulers that hang or die while home attaches: it goes on with those that answer, or says who does not."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from operator import truediv
from pathlib import Path
from types import SimpleNamespace

import pytest

from rho.backend.cluster import membership
from rho.backend.cluster.client import ClusterClient
from rho.backend.cluster.membership import Membership, attach
from rho.backend.cluster.wire import answer, answers
from rho.lang.diagnostics.model import RunFailed
from rho.tests.cluster.residents import OWN

pytestmark = pytest.mark.long

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def workers() -> Iterator[Membership]:
    made = attach("local:2")
    yield made
    made.close()


def pids_of(workers: Membership) -> dict[str, int]:
    found: dict[str, int] = workers.client.run(os.getpid)
    return found


def test_a_worker_that_hangs_is_not_waited_for(workers: Membership, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "SILENCE", 1.0)
    pids, told = pids_of(workers), list[str]()
    (stopped, pid), (other, _) = pids.items()
    os.kill(pid, signal.SIGSTOP)
    try:
        cluster = ClusterClient(workers, OWN, tell=told.append)
        assert [member.address for member in cluster.members] == [other]
        silence = f"{stopped}: it has said nothing for 1 seconds"
        assert told == [f"a worker does not answer: {silence}; the program runs on the 1 that do"]
        cluster.workers.close()
        os.kill(pids[other], signal.SIGSTOP)
        with pytest.raises(RunFailed, match="E710") as caught:
            workers.members()
        assert "no worker of the cluster answers: " in caught.value.diagnostics[0].message
    finally:
        for one in pids.values():
            os.kill(one, signal.SIGCONT)


def test_questions_that_are_answered_late_or_never() -> None:
    never, undone = threading.Event(), list[bool]()
    found = answers({"here": lambda: True, "never": never.wait, "wrong": lambda: bool([][0])}, 0.0)
    assert found["here"] is True and isinstance(found["never"], TimeoutError) and isinstance(found["wrong"], IndexError)
    with pytest.raises(TimeoutError, match="it has said nothing for 0 seconds"):
        answer(never.wait, 0.0, undone.append)
    with pytest.raises(IndexError):
        answer(lambda: [][0], 1.0, undone.append)
    never.set()
    for thread in threading.enumerate():
        if thread.name == "rho asks":
            thread.join()
    assert undone == [True]


def test_what_a_worker_raises_is_told(workers: Membership, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "start_resident", truediv)
    with pytest.raises(RunFailed, match="cannot run Rho: truediv expected 2 arguments"):
        workers.members()


def test_a_scheduler_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """It accepts connections, and says nothing."""
    monkeypatch.setattr(membership, "PATIENCE", 1.0)
    with closing(socket.create_server(("127.0.0.1", 0))) as silent, pytest.raises(RunFailed, match="no scheduler answers"):
        attach(f"tcp://127.0.0.1:{silent.getsockname()[1]}")


class Hanging:
    """A client whose scheduler has stopped, and one whose scheduler is gone."""

    def __init__(self, error: Exception | None = None) -> None:
        self.never, self.error, self.asked = threading.Event(), error, threading.Event()
        self.security = SimpleNamespace(get_connection_args=lambda role: {})

    def close(self, *given: object) -> None:
        self.asked.set()
        if self.error is not None:
            raise self.error
        self.never.wait()

    nthreads = cancel = close

    def wait_for_workers(self, count: int, timeout: float) -> None:
        raise TimeoutError


@pytest.mark.parametrize("error", [None, OSError("gone")])
def test_a_cluster_is_let_go_although_its_scheduler_is_gone(error: Exception | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "PATIENCE", 0.0)
    client = Hanging(error)
    cluster = Membership(client)
    with pytest.raises(RunFailed, match="the workers cannot be asked"):
        cluster.members()
    client.asked.clear()
    cluster.show("p.rho", "r", [])()
    assert client.asked.wait(60.0)
    cluster.close()
    client.never.set()


def test_dask_says_nothing_of_its_own(workers: Membership) -> None:
    for name in ("distributed.client", "distributed.core", "distributed.scheduler"):
        assert logging.getLogger(name).getEffectiveLevel() == logging.CRITICAL


def listening(pids: set[int]) -> set[int]:
    """The TCP ports at which these processes listen, by /proc."""
    inodes = set[str]()
    for pid in pids:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                inodes.add(os.readlink(entry).removeprefix("socket:[").removesuffix("]"))
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A" and row[9] in inodes}


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the ports of a process are listed by Linux")
def test_no_port_of_local_workers_answers_who_does_not_encrypt(workers: Membership) -> None:
    """Of the scheduler, of workers, of residents: nothing is said to HTTP but that there is nothing."""
    assert workers.members() and workers.dashboard == ""
    ports = listening({os.getpid(), *pids_of(workers).values()})
    assert len(ports) >= 5
    for port in ports:
        for path in ("/status", "/info/main/workers.html", "/metrics", "/health", "/json/counts.json", "/"):
            with closing(socket.create_connection(("127.0.0.1", port), 60.0)) as peer, suppress(ConnectionError):
                peer.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
                said = peer.recv(1000)
                assert not said or said.startswith((b"HTTP/1.1 404 Not Found", b"\x15\x03")), (port, path, said)


def test_a_worker_that_is_killed_is_left_out(workers: Membership) -> None:
    """Dask starts another in its place, which may be there already."""
    (lost, pid), (other, _) = pids_of(workers).items()
    os.kill(pid, signal.SIGKILL)
    addresses = {member.address for member in workers.members()}
    assert other in addresses and lost not in addresses
