"""A worker lost at each message of a run that writes a file: the right bytes or E710, the old file or the new, no temporary."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import SEED, share

import rho
from rho.backend.cluster.client import ClusterClient
from rho.backend.cluster.cluster_transport import Process
from rho.backend.cluster.membership import ClusterMember, Worker, Workers
from rho.backend.cluster.wire import Connection, Message, MessageKind
from rho.lang.support import files
from rho.shell.execution.clusters import ClusterConnection
from rho.shell.execution.stored_plans import this_machine
from rho.shell.execution.streaming import passes_of
from rho.tests.cluster.residents import Some, Threads, Unseen, cluster_of
from rho.tests.cluster.stored import writers
from rho.tests.cluster.test_tiles import dealt
from rho.tests.cluster.test_writing import saved_by
from rho.tests.streams.running import loaded, results, same_bits
from rho.tests.streams.test_random_programs import LIMIT, ROWS, stored_vectors

pytestmark = pytest.mark.long

TEXT = 'input m : f64[r c] ← "m.npy"\ns ← +⌿m\noutput y ← (m+1)÷1+⌈/|s\nschedule {\n  place y on worker\n  place s on worker\n}\n'
OF_TIME = (MessageKind.PING, MessageKind.PONG, MessageKind.REST)
WORKERS = 2


class Counting(Workers):
    """Counts the messages of home, both ways, without those whose number depends on time; at the last, its connection ends."""

    def __init__(self, last: int) -> None:
        super().__init__(None)
        self.last, self.count, self.is_cut = last, 0, False

    def passing(self, kind: MessageKind, connection: Connection) -> None:
        if kind in OF_TIME:
            return
        with self.change:
            self.count += 1
            cut = self.count == self.last
        if cut:
            self.is_cut = True
            connection.sock.shutdown(socket.SHUT_RDWR)

    def connect(self, member: ClusterMember, process: Process) -> Worker:
        known = self.connected.get(member.address)
        worker = super().connect(member, process)
        if worker is not known:
            send: Callable[..., None] = worker.connection.send

            def sending(kind: MessageKind, *given: Any) -> None:
                self.passing(kind, worker.connection)
                send(kind, *given)

            worker.connection.send = sending  # type: ignore[method-assign]
        return worker

    def handle(self, worker: Worker, message: Message) -> None:
        self.passing(message.kind, worker.connection)
        super().handle(worker, message)


class Given(Unseen):
    """Members as somebody says."""

    def __init__(self, known: Sequence[ClusterMember]) -> None:
        self.known = known

    def members(self) -> list[ClusterMember]:
        return [*self.known]

    def close(self) -> None:
        pass


def counted(threads: Threads, last: int, restarts: int) -> tuple[rho.Cluster, Counting]:
    made, home = rho.Cluster.__new__(rho.Cluster), ClusterClient(Some(threads, WORKERS), this_machine(), restarts)
    home.workers = Counting(last)
    made.connection = ClusterConnection("residents of this process")
    made.connection.__dict__["cluster"] = home
    return made, home.workers


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("small")
    np.save(folder / "m.npy", np.random.default_rng(3).standard_normal((3_000, 7)))
    yield folder


@pytest.mark.parametrize("restarts", [0, 3])
@pytest.mark.parametrize("suffix", ["npy", "zarr.zip"])
def test_a_worker_is_lost_at_a_message(threads: Threads, small: Path, tmp_path: Path, suffix: str, restarts: int) -> None:
    target = tmp_path / f"y.{suffix}"
    cluster, all_of_them = counted(threads, -1, restarts)
    assert writers(saved_by(cluster, small, TEXT, target))
    cluster.connection.close()
    right, ended = target.read_bytes(), set[str]()
    assert all_of_them.count > 10
    for last in share(range(1, all_of_them.count + 1), seed=71):
        target.write_bytes(b"old")
        cluster, workers = counted(threads, last, restarts)
        try:
            saved_by(cluster, small, TEXT, target)
            ended.add("right")
        except rho.RhoError as error:
            assert [one.code.name for one in error.diagnostics] == ["E710"] and restarts == 0 and workers.is_cut, (SEED, last)
            assert "127.0.0.1" in error.diagnostics[0].message
            ended.add("refused")
        finally:
            cluster.connection.close()
        expected = b"old" if ended == {"refused"} else right
        assert target.read_bytes() == expected and [path.name for path in tmp_path.iterdir()] == [target.name], (SEED, last)
        ended.clear()
    cluster, _ = counted(threads, -1, 0)  # the residents are free for the next home
    saved_by(cluster, small, TEXT, target)
    cluster.connection.close()
    assert target.read_bytes() == right


def test_a_worker_is_lost_in_the_rounds_of_a_scan(threads: Threads, tmp_path: Path) -> None:
    """Running products in tiles: what one device leaves is where the next begins, and a device that is lost leaves nothing."""
    folder = stored_vectors(tmp_path, ROWS)
    text = "input x : f64[n] where n ≥ 8\nz ← ×\\0.5+x\noutput z\n⌈/×\\x"
    alone = results(loaded(text, folder, LIMIT))
    cluster, all_of_them = counted(threads, -1, 0)
    planned = dealt(text, folder, LIMIT, cluster)
    assert any(len(step.shares) > 1 for step in passes_of(planned.plan)) and same_bits(results(planned), alone)
    cluster.connection.close()
    for last in share(range(1, all_of_them.count + 1), seed=73):
        restarts = last % 2
        cluster, workers = counted(threads, last, restarts)
        try:
            assert same_bits(results(dealt(text, folder, LIMIT, cluster)), alone), (SEED, last)
        except rho.RhoError as error:
            assert [one.code.name for one in error.diagnostics] == ["E710"] and restarts == 0 and workers.is_cut, (SEED, last)
        finally:
            cluster.connection.close()
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    files.remove_live()


@pytest.mark.parametrize("wrong", [{0}, {1}, {0, 1}])
@pytest.mark.parametrize("token", ["0" * 32, "", "é" * 16])
def test_homes_with_wrong_tokens(threads: Threads, small: Path, tmp_path: Path, wrong: set[int], token: str) -> None:
    """Those that know one of two tokens go on with one worker; those that know none are refused; both are told of it."""
    members = [replace(one, token=token) if at in wrong else one for at, one in enumerate(threads.members()[:WORKERS])]
    cluster, words = cluster_of(Given(members), WORKERS), list[str]()
    home, target = cluster.connection.cluster, tmp_path / "y.npy"
    home.tell = words.append
    cure = "before its first answer (a worker that was restarted has another token: attach again)"
    if len(wrong) < WORKERS:
        saved_by(cluster, small, TEXT, target)
        m = np.load(small / "m.npy")
        assert np.load(target).shape == m.shape and len(home.members) == 1 and home.members[0].token != token
    else:
        with pytest.raises(rho.RhoError) as refused:
            saved_by(cluster, small, TEXT, target)
        (one,) = refused.value.diagnostics
        words += [one.message, *one.notes]
        assert one.code == "E710" and not target.exists()
    cluster.connection.close()
    for at in wrong:
        told = [one for one in words if members[at].address in one]  # or the links are measured as the connection is reset
        assert any(cure in one or "the connection ended" in one for one in told), words
    cluster = cluster_of(threads, WORKERS)  # the residents serve those that know them
    saved_by(cluster, small, TEXT, target)
    cluster.connection.close()


@pytest.mark.parametrize("wrong", [{0}, {0, 1}])
def test_homes_with_wrong_tokens_and_no_schedule(threads: Threads, small: Path, tmp_path: Path, wrong: set[int]) -> None:
    """Where all workers turned it away, the program ran at home without a word."""
    members = [replace(one, token="0" * 32) if at in wrong else one for at, one in enumerate(threads.members()[:WORKERS])]
    cluster, words = cluster_of(Given(members), WORKERS), list[str]()
    cluster.connection.cluster.tell = words.append
    (tmp_path / "p.rho").write_text("input m : f64[n k]\noutput y ← 2×m\n", encoding="utf-8")
    program, m = rho.load(tmp_path / "p.rho"), np.load(small / "m.npy")
    if len(wrong) < WORKERS:
        assert np.array_equal(program.run(m=m, cluster=cluster)["y"], 2 * m)
    else:
        with pytest.raises(rho.RhoError) as refused:
            program.run(m=m, cluster=cluster)
        (one,) = refused.value.diagnostics
        assert (one.code.name, one.message) == ("E710", "no worker of the cluster takes part")
        words += one.notes
    cluster.connection.close()
    assert all(any(members[at].address in one and "attach again" in one for one in words) for at in wrong), words
