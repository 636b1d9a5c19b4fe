"""Workers that cannot write their part of a file: E708 that names the file and who could not, the old file, no temporary."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import SEED, share

import rho
from rho.backend.cluster import client
from rho.backend.io import external_arrays, sources_and_sinks
from rho.tests.cluster.residents import Spawned, Threads, cluster_of
from rho.tests.cluster.stored import writers
from rho.tests.cluster.test_writing import saved_by

pytestmark = pytest.mark.long

TEXT = 'input m : f64[r c] ← "m.npy"\noutput y ← m+1\nschedule {\n  split y rows 1:1 over w0 w1\n}\n'
ERRORS = ("ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES", "EFBIG", "ESTALE")
CALLS = ("open", "write", "posix_fallocate", "close")


class Disk:
    """The system's calls about outputs, numbered; at the last of them something happens, or from there on."""

    def __init__(self, happens: Callable[..., Any], last: int, always: bool = False) -> None:
        self.happens, self.last, self.always, self.count = happens, last, always, 0
        self.of_workers = set[int]()
        self.struck = set[str]()

    def called(self, who: str, name: str, *given: Any) -> Any:
        """By whom: a look whether all see the folder, or who writes, of whom home has its handle from elsewhere."""
        self.count += 1
        call = getattr(os, name)
        who = who or ("worker" if given[0] in self.of_workers else "home")
        if self.count == self.last or (self.always and self.count > self.last > 0):
            self.struck.add(who)
            return self.happens(name, call, given)
        result = call(*given)
        if name == "open":
            self.of_workers.add(result)
        elif name == "close":
            self.of_workers.discard(given[0])
        return result


class Calls:
    """What a module has for `os`."""

    def __init__(self, disk: Disk, who: str) -> None:
        self.disk, self.who = disk, who

    def __getattr__(self, name: str) -> Any:
        return partial(self.disk.called, self.who, name) if name in CALLS else getattr(os, name)


MODULES = ((client, "look"), (external_arrays, "worker"), (sources_and_sinks, ""))


def void(*given: object) -> None:
    pass


def fails(number: int) -> Callable[..., Any]:
    def happens(name: str, call: Callable[..., Any], given: tuple[Any, ...]) -> Any:
        if name == "close":
            call(*given)
        raise OSError(number, os.strerror(number))

    return happens


def writes_nothing(name: str, call: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    return 0 if name == "write" else fails(errno.ENOSPC)(name, call, given)


def writes_less(name: str, call: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """Not a failure: the rest is written next."""
    return call(given[0], given[1][: max(1, len(given[1]) // 2)]) if name == "write" else call(*given)


FAULTS: dict[str, Callable[..., Any]] = {
    "nothing is written": writes_nothing, "less is written": writes_less,
    **{name: fails(getattr(errno, name)) for name in ERRORS},
}  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("small")
    np.save(folder / "m.npy", np.random.default_rng(3).standard_normal((40, 6)))
    yield folder


def on_workers(one: rho.Diagnostic) -> list[str]:
    return [note for note in one.notes if note.startswith(("on worker w0 (tcp://127.0.0.1:", "on worker w1 (tcp://127.0.0.1:"))]


def refused(run: Callable[[], object]) -> rho.Diagnostic | None:
    try:
        run()
    except rho.RhoError as error:
        (one,) = error.diagnostics
        return one
    return None


def patched(monkeypatch: pytest.MonkeyPatch, disk: Disk) -> None:
    for module, who in MODULES:
        monkeypatch.setattr(module, "os", Calls(disk, who))


def counted(cluster: rho.Cluster, small: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, int]:
    """What is to be written, and by how many calls."""
    disk = Disk(void, -1)
    with monkeypatch.context() as patch:
        patched(patch, disk)
        assert writers(saved_by(cluster, small, TEXT, target)) == {"w0", "w1"}
    return target.read_bytes(), disk.count


@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("fault", share(sorted(FAULTS), seed=72))
@pytest.mark.parametrize("suffix", ["npy", "zarr.zip"])
def test_a_call_of_the_system_fails(
    threads: Threads, small: Path, tmp_path: Path, suffix: str, fault: str, always: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, cluster = tmp_path / f"y.{suffix}", cluster_of(threads, 2)
    right, count = counted(cluster, small, target, monkeypatch)
    for last in share(range(1, count + 1), seed=73):
        target.write_bytes(b"old")
        disk = Disk(FAULTS[fault], last, always)
        with monkeypatch.context() as patch:
            patched(patch, disk)
            one = refused(lambda: saved_by(cluster, small, TEXT, target))
        about = (SEED, last, disk.struck, one)
        assert [path.name for path in tmp_path.iterdir()] == [target.name], about
        if one is None:
            assert target.read_bytes() == right, about
            assert fault == "less is written" or disk.struck == {"look"}, about
        else:
            assert target.read_bytes() == b"old" and one.code == "E708" and f"`{target}` cannot be written" in one.message, about
            assert disk.struck != {"look"} and bool(on_workers(one)) == ("worker" in disk.struck), about
    saved_by(cluster, small, TEXT, target)
    assert target.read_bytes() == right
    cluster.connection.cluster.close()


def folder_removed(folder: Path) -> None:
    shutil.rmtree(folder)


def folder_replaced(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def file_in_its_place(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_bytes(b"a file")


def temporaries_removed(folder: Path) -> None:
    for path in folder.glob(".*.tmp"):
        path.unlink()


EVENTS: dict[Callable[[Path], None], str] = {
    folder_removed: "its folder does not exist", folder_replaced: "the temporary file beside it was removed meanwhile",
    file_in_its_place: "its folder is a file", temporaries_removed: "the temporary file beside it was removed meanwhile",
}  # fmt: skip


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("suffix", ["npy", "zarr.zip"])
def test_the_folder_or_the_temporary_vanishes(
    threads: Threads, small: Path, tmp_path: Path, suffix: str, event: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = tmp_path / "out", cluster_of(threads, 2)
    folder.mkdir()
    target = folder / f"y.{suffix}"
    right, count = counted(cluster, small, target, monkeypatch)

    def happens(name: str, call: Callable[..., Any], given: tuple[Any, ...]) -> Any:
        event(folder)
        return call(*given)

    for last in share(range(1, count + 1), seed=74):
        shutil.rmtree(folder) if folder.is_dir() else folder.unlink(missing_ok=True)
        folder.mkdir()
        target.write_bytes(b"old")
        disk = Disk(happens, last)
        with monkeypatch.context() as patch:
            patched(patch, disk)
            one = refused(lambda: saved_by(cluster, small, TEXT, target))
        left = {path.name: path.read_bytes() for path in folder.iterdir()} if folder.is_dir() else {}
        about = (SEED, last, disk.struck, one, left)
        if one is None:
            assert disk.struck == {"look"} and left == {target.name: right}, about
        else:
            assert one.code == "E708" and one.message == f"`{target}` cannot be written: {EVENTS[event]}", about
            assert left == ({target.name: b"old"} if event is temporaries_removed else {}), about
    cluster.connection.cluster.close()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of other processes are of Linux")
@pytest.mark.parametrize("suffix", ["npy", "zarr.zip"])
def test_a_worker_may_not_write_as_much(small: Path, tmp_path: Path, suffix: str) -> None:
    """In a process of its own; the other one, and the same once it may, are served as before."""
    target = tmp_path / f"y.{suffix}"
    target.write_bytes(b"old")
    with closing(Spawned(2)) as spawned:
        cluster = cluster_of(spawned, 2)
        (process, _) = spawned.processes[1]
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        one = refused(lambda: saved_by(cluster, small, TEXT, target))
        assert one is not None and one.code == "E708" and str(target) in one.message and "too large" in one.message
        assert [note.split()[2] for note in on_workers(one)] == ["w1"]
        assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(target.name, b"old")]
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert writers(saved_by(cluster, small, TEXT, target)) == {"w0", "w1"}
        assert len(target.read_bytes()) > 40 * 6 * 8
        cluster.connection.cluster.close()
