"""Workers that a control group or a link slows down: rows follow speed, and the results are those of one process.

Predicted and measured times are properties of the report (`--junitxml`): nothing is asserted about them."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

import pytest

from rho.backend.cluster import wire
from rho.tests.cluster import unlike_processes

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


def test_a_worker_with_little_of_a_processor_gets_fewer_rows(record_property: Callable[[str, object], None]) -> None:
    shown = planned("quota", record_property)
    assert shown["rows"]["w1"] < shown["rows"]["w0"], shown
    assert shown["launch_ns"]["w1"] > shown["launch_ns"]["w0"] and shown["same"], shown


def test_a_worker_behind_a_slow_link_gets_fewer_rows(record_property: Callable[[str, object], None]) -> None:
    shown = planned("link", record_property)
    assert 20 * shown["message_ns"]["w0"] < shown["message_ns"]["w1"], shown
    assert 2 * shown["rows"]["w1"] < shown["rows"]["w0"] and shown["same"], shown
