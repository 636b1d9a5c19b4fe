"""Every command that reads or writes, with the n-th call into the system failing, or the process killed there, for n = 1, 2, …"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from share import share

from . import commands
from .commands import COMMANDS, Command, contents, left_over, make, make_old, require_clear, require_sound, run
from .system_calls import at_call, in_child, killed_at

pytestmark = pytest.mark.long

CALLS = (
    "open", "fdopen", "fsync", "replace", "unlink", "chmod", "write", "mkdir", "link", "file.read", "file.write", "file.flush",
)  # fmt: skip
FAILURES = (errno.ENOSPC, errno.EIO, errno.EMFILE, errno.EACCES, errno.EINTR)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # nothing here cuts the power
    assert real is not os.fsync
    make(tmp_path)
    return tmp_path


def soundly(name: str, project: Path) -> tuple[Command, dict[str, bytes], dict[str, bytes], int]:
    """The command, its old and new files, and how many calls it makes."""
    command = COMMANDS[name]
    run(command)  # what is imported and made once
    make_old(project)
    old = contents(project, command)
    with at_call(0, lambda call: None, CALLS) as seen:
        ran = run(command)
    assert ran.code == 0, ran
    new = contents(project, command)
    assert all(old[file] != new[file] for file in new), name
    return command, old, new, len(seen)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_call_that_fails(name: str, project: Path) -> None:
    command, old, new, count = soundly(name, project)
    assert count or name == "lines", "it reads something"
    for number in share(range(1, count + 1), seed=len(name)):
        make_old(project)
        code = FAILURES[number % len(FAILURES)]

        def fail(call: str, code: int = code) -> None:
            raise OSError(code, os.strerror(code))

        with at_call(number, fail, CALLS) as seen:
            ran = run(command)
        what = (name, number, seen[number - 1] if len(seen) >= number else "", errno.errorcode[code])
        require_clear(ran, what)
        if ran.code == 0 and "cannot be written" not in ran.err:  # a session goes on after a command of its own that fails
            assert all(commands.same_kind(found, new[file]) for file, found in contents(project, command).items()), what
        require_sound(project, command, old, new, what)


@pytest.mark.parametrize("kind", [MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_call_that_is_interrupted_or_finds_no_memory(name: str, kind: type[BaseException], project: Path) -> None:
    command, old, new, count = soundly(name, project)

    def fail(call: str) -> None:
        raise kind

    for number in share(range(1, count + 1), seed=len(name) + 1):
        make_old(project)
        with at_call(number, fail, CALLS):
            ran = run(command)
        require_clear(ran, (name, number, kind))
        require_sound(project, command, old, new, (name, number, kind))


@pytest.mark.parametrize("name", sorted(name for name, command in COMMANDS.items() if command.writes))
def test_a_kill_at_any_call(name: str, project: Path) -> None:
    command, old, new, count = soundly(name, project)
    for number in share(range(1, count + 1), seed=len(name) + 2):
        make_old(project)
        assert killed_at(number, lambda: run(command), CALLS), (name, number)
        for file, found in contents(project, command).items():
            whole = found == old[file] or commands.same_kind(found, new[file])
            assert whole, (name, number, file, found)
        require_sound(project, command, old, new, (name, number))


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("name", sorted(name for name, command in COMMANDS.items() if command.writes and not command.typed))
def test_a_signal_at_any_call(name: str, sent: signal.Signals, project: Path) -> None:
    """As the process of a command hears it: no temporary is left, not even until the next one."""
    command, old, new, count = soundly(name, project)
    for number in share(range(1, count + 1), seed=len(name) + 3):
        make_old(project)
        code = in_child(_process(command, number, sent))
        what = (name, number, sent.name)
        assert code in (0, 128 + sent), (what, code)
        assert left_over(project) == [], what
        require_sound(project, command, old, new, what)


def _process(command: Command, number: int, sent: signal.Signals) -> Callable[[], int]:
    """The command as a process of its own would run it, with a signal before its n-th call."""

    def work() -> int:
        import sys

        from rho.shell import main as shell

        sys.argv = ["rho", *command.words]
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        sys.stdin, sys.stdout, sys.stderr = (open(n, m, encoding="utf-8") for n, m in ((0, "r"), (1, "w"), (2, "w")))  # noqa: SIM115
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with at_call(number, lambda call: os.kill(os.getpid(), sent), CALLS):
            return int(shell.main())

    return work


def test_a_full_device_and_a_limit_of_file_size(project: Path) -> None:
    import resource

    if os.path.exists("/dev/full"):
        ran = run(Command(("run", "p.rho", "--out", "y=/dev/full")))
        require_clear(ran, "/dev/full")
        assert ran.code != 0
    for name, command in COMMANDS.items():
        if not command.writes:
            continue
        _, old, new, _ = soundly(name, project)
        for limit in (0, 4):
            make_old(project)

            def limited(command: Command = command, limit: int = limit) -> int:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                return run(command).code

            assert in_child(limited) in (1, 2), (name, limit)
            assert contents(project, command) == old, (name, limit)
            require_sound(project, command, old, new, (name, limit))


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_streams_that_are_closed(closed: tuple[int, ...], project: Path) -> None:
    for name in share(sorted(COMMANDS), seed=sum(closed)):
        command = COMMANDS[name]
        make_old(project)

        def shut(command: Command = command) -> int:
            import sys

            from rho.shell import main as shell

            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            streams = {0: "stdin", 1: "stdout", 2: "stderr"}
            for stream, attribute in streams.items():
                opened = None if stream in closed else open(stream, "r" if stream == 0 else "w", encoding="utf-8")  # noqa: SIM115
                setattr(sys, attribute, opened)
            for stream in closed:
                os.close(stream)
            sys.argv = ["rho", *command.words]
            return int(shell.main())

        assert in_child(shut) in (0, 1), (name, closed)
        with suppress(FileNotFoundError):
            assert left_over(project) == []
