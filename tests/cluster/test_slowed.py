"""Workers that a control group or a link slows down: rows follow speed, and the results are those of one process.

Predicted and measured times are properties of the report (`--junitxml`): nothing is asserted about them."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import accumulate, chain, repeat
from types import SimpleNamespace
from typing import Any

import pytest

from rho.backend.cluster import wire
from rho.backend.cluster.client import ClusterClient
from rho.lang.support.processes import doing
from rho.tests.cluster import unlike_processes
from rho.tests.cluster.residents import OWN, Some, Spawned

pytestmark = pytest.mark.long


def planned(slowed_by: str, record: Callable[[str, object], None]) -> dict[str, Any]:
    """What is planned where the second worker is slowed down, and how the run ends; skips where the machine lacks the rights."""
    apart = ["unshare", "-n"] if slowed_by == "link" else []
    if slowed_by == "link" and not all(map(shutil.which, ("unshare", "nsenter", "ip", "tc"))):
        pytest.skip("needs unshare, nsenter, ip and tc")
    command = [*apart, sys.executable, "-m", unlike_processes.__name__, slowed_by]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    if ran.stderr.startswith("unshare:"):
        pytest.skip(ran.stderr.strip())
    assert not ran.returncode, ran.stderr[-2000:]
    if ran.stdout.startswith("skip: "):
        pytest.skip(ran.stdout.removeprefix("skip: ").strip())
    shown: dict[str, Any] = json.loads(ran.stdout)
    for name, value in shown.items():
        record(name, json.dumps(value))
    return shown


@pytest.mark.parametrize(("silences", "lost_after"), [((), 8), ((0.9,), 8), ((3,), 24), ((3, 20), 60), ((9,), 8)])
def test_who_answers_late_is_waited_for_longer(
    silences: tuple[float, ...], lost_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker with a hundredth of a processor was declared lost, as its answers took more than eight seconds."""
    now, answers = 0.0, list(accumulate(silences))

    def poll(milliseconds: int) -> bool:
        nonlocal now
        now += milliseconds / 1000
        return bool(answers) and now >= answers[0]

    monkeypatch.setattr(wire, "monotonic", lambda: now)
    with closing(socket.socketpair()[0]) as one:
        connection = wire.Connection(one, 1)
        with pytest.raises(wire.Lost, match=f"it has said nothing for {lost_after} seconds"):
            while True:
                connection._wait(SimpleNamespace(poll=poll))
                answers.pop(0)


@pytest.mark.parametrize(("seen", "lost_after"), [
    (["working"] * 9, 60), (["stopped"], 8), (["waiting"], 24), ([""], 24), (["working", "working", "stopped"], 24),
])
def test_who_works_is_waited_for_and_who_is_stopped_is_not(
    seen: list[str], lost_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first silence of more than eight seconds lost a worker whose process only computed with Python's lock, or was starved."""
    now, looks = 0.0, chain(seen, repeat(seen[-1]))

    def poll(milliseconds: int) -> bool:
        nonlocal now
        now += milliseconds / 1000
        return False

    monkeypatch.setattr(wire, "monotonic", lambda: now)
    with closing(socket.socketpair()[0]) as one:
        connection = wire.Connection(one, 1)
        connection.longest_silence, connection.doing = 3.0, partial(next, looks)
        with pytest.raises(wire.Lost, match=f"it has said nothing for {lost_after} seconds"):
            connection._wait(SimpleNamespace(poll=poll))


LOCKED = "import re, sys\nfor line in sys.stdin: re.match('(a+)+$', 'a' * 26 + 'b')"
"""Computes with Python's lock, so that no other of its threads does."""


def test_what_a_process_is_seen_to_do() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            assert any(doing(busy.pid) == "working" for _ in range(100))
            busy.send_signal(signal.SIGSTOP)
            assert any(doing(busy.pid) == "stopped" for _ in range(100)) and doing(busy.pid) == "stopped"
        finally:
            busy.kill()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as idle:
        assert any(doing(idle.pid) == "waiting" for _ in range(100)) and doing(idle.pid) == "waiting"
        idle.communicate(b"")
    assert doing(idle.pid) == ""


class Locked(Spawned):
    PROGRAM = Spawned.PROGRAM.replace("sys.stdin.read()", f"exec({LOCKED!r})")


@pytest.mark.parametrize("stopped", [False, True])
def test_a_worker_that_computes_with_pythons_lock_is_not_lost(*, stopped: bool) -> None:
    with closing(Locked(1)) as spawned, ClusterClient(Some(spawned, 1), OWN) as cluster:
        (worker,) = cluster.connected()
        cluster.workers.ask([worker], wire.MessageKind.REST)
        worker.connection.patience = 1.2  # home speaks each second
        stdin = spawned.processes[0][0].stdin
        assert stdin is not None
        if stopped:
            spawned.signal(0, signal.SIGSTOP)
            with pytest.raises(wire.Lost, match="its process is stopped"):
                cluster.workers.ask([worker], wire.MessageKind.REST)
        else:
            worker.connection.longest_silence = 0.0
            while worker.connection.longest_silence < 2:
                stdin.write("\n")
                stdin.flush()
                cluster.workers.ask([worker], wire.MessageKind.REST)


def test_a_worker_with_little_of_a_processor_gets_fewer_rows(record_property: Callable[[str, object], None]) -> None:
    shown = planned("quota", record_property)
    assert shown["rows"]["w1"] < shown["rows"]["w0"], shown
    assert shown["launch_ns"]["w1"] > shown["launch_ns"]["w0"] and shown["same"], shown


def test_a_worker_behind_a_slow_link_gets_fewer_rows(record_property: Callable[[str, object], None]) -> None:
    shown = planned("link", record_property)
    assert 20 * shown["message_ns"]["w0"] < shown["message_ns"]["w1"], shown
    assert 2 * shown["rows"]["w1"] < shown["rows"]["w0"] and shown["same"], shown
