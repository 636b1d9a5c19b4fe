"""Files are replaced whole, and several together: whatever call fails, wherever the process is killed."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from share import share

from rho.lang.support import files as replacing, files as temporaries
from rho.lang.support.files import FileReplacement, recover, replace_file

from .system_calls import at_call, killed_at

pytestmark = pytest.mark.long

MOST_CALLS = 50


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here cuts the power."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture(params=["one", "two", "three", "two folders", "three folders"])
def targets(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    """Files with old contents, but the last, which is not there."""
    names = {
        "one": ["x"], "two": ["x", "y"], "three": ["x", "y", "z"], "two folders": ["a/x", "a/y", "b/z"],
        "three folders": ["a/x", "b/y", "c/z"],
    }[request.param]  # fmt: skip
    paths = [tmp_path / name for name in names]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text("old")
    if len(paths) > 1:
        paths[-1].unlink()
    return paths


def write(paths: Sequence[Path]) -> None:
    with FileReplacement() as files:
        for path in paths:
            files.add(path, lambda file: file.write(b"new"))
        files.commit()


def contents(paths: Sequence[Path]) -> list[str | None]:
    return [path.read_text() if path.exists() else None for path in paths]


def old(paths: Sequence[Path]) -> list[str | None]:
    return ["old" if len(paths) == 1 or path != paths[-1] else None for path in paths]


def left_over(paths: Sequence[Path]) -> list[str]:
    folders = {path.parent for path in paths}
    return sorted(name for folder in folders for name in os.listdir(folder) if ".rho-" in name)


def reset(paths: Sequence[Path]) -> None:
    for path, text in zip(paths, old(paths), strict=True):
        path.write_text("old")
        if text is None:
            path.unlink()


def numbers(targets: Sequence[Path]) -> Iterator[int]:
    """The calls that a replacement makes, one at a time, from old files each time."""
    with at_call(0, lambda name: None) as seen:
        write(targets)
    assert "replace" in seen and contents(targets) == ["new"] * len(targets)
    for number in share(range(1, len(seen) + 1)):
        reset(targets)
        yield number


def test_a_kill_at_any_call_leaves_old_or_new_together(targets: list[Path]) -> None:
    for number in numbers(targets):
        assert killed_at(number, partial(write, targets)), number
        found = contents(targets)
        assert all(text in ("new", was) for text, was in zip(found, old(targets), strict=True)), (number, found)
        for folder in dict.fromkeys(path.parent for path in reversed(targets)):
            recover(str(folder))
        recover(str(targets[0].parent))
        found = contents(targets)
        assert found in (old(targets), ["new"] * len(targets)), (number, found)
        assert left_over(targets) == [], number


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EMFILE, errno.EACCES, "interrupt", "memory"])
def test_a_failure_at_any_call_leaves_old_or_new_together(error: int | str, targets: list[Path]) -> None:
    def fail(name: str) -> None:
        if isinstance(error, int):
            raise OSError(error, os.strerror(error))
        raise KeyboardInterrupt if error == "interrupt" else MemoryError

    for number in numbers(targets):
        with at_call(number, fail) as seen, suppress(OSError, KeyboardInterrupt, MemoryError):
            write(targets)
        assert len(seen) >= number
        found = contents(targets)
        assert found in (old(targets), ["new"] * len(targets)), (number, found)
        for path in targets:
            recover(str(path.parent))
        assert contents(targets) == found and left_over(targets) == [], number


def test_a_file_that_has_changed_since_is_left_alone(tmp_path: Path) -> None:
    paths = [tmp_path / "x", tmp_path / "y"]
    number = next(n for n in range(1, MOST_CALLS) if _killed_between_renames(n, paths))
    assert contents(paths) == ["new", "old"], number
    paths[1].write_text("the user's")
    recover(str(tmp_path))
    assert contents(paths) == ["new", "the user's"] and left_over(paths) == []


def _killed_between_renames(number: int, paths: Sequence[Path]) -> bool:
    for path in paths:
        path.write_text("old")
    killed_at(number, partial(write, paths), ("replace",))
    if contents(paths) == ["new", "old"]:
        return True
    recover(str(paths[0].parent))
    return False


def test_what_a_living_process_writes_is_not_swept(tmp_path: Path) -> None:
    with FileReplacement() as files:
        files.add(tmp_path / "x", lambda file: file.write(b"new"))
        child = os.fork()
        if child == 0:
            os.close(files._parts[0].handle)
            recover(str(tmp_path))
            os._exit(0)
        os.waitpid(child, 0)
        files.commit()
    assert (tmp_path / "x").read_text() == "new"


def test_only_own_regular_files_are_swept(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    name = ".x.rho-0123456789abcde{}.tmp"
    (tmp_path / name.format(0)).symlink_to(precious)
    os.mkfifo(tmp_path / name.format(1))
    (tmp_path / name.format(2)).mkdir()
    (tmp_path / name.format(3)).write_text("stale")
    recover(str(tmp_path))
    assert precious.read_text() == "mine"
    assert left_over([precious]) == [name.format(n) for n in range(3)]


@pytest.mark.parametrize(
    "entry",
    [
        {"temporary": "../in/.x.rho-0123456789abcdef.tmp", "target": "y", "before": None},
        {"temporary": ".x.rho-0123456789abcdef.tmp", "target": "../out/y", "before": None},
        {"temporary": ".x.rho-0123456789abcdef.tmp", "target": "..", "before": None},
        {"temporary": "precious", "target": "y", "before": None},
        {"temporary": ".x.rho-0123456789abcdef.tmp", "target": "precious", "before": None},
        {"temporary": ".x.rho-0123456789abcdef.tmp", "target": 1, "before": None},
        {"temporary": ".x.rho-0123456789abcdef.tmp"},
        "nonsense",
    ],
)
def test_a_journal_moves_nothing_elsewhere_and_nothing_that_changed(entry: object, tmp_path: Path) -> None:
    folder, outside = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    outside.mkdir()
    (folder / "precious").write_text("mine")
    (folder / ".x.rho-0123456789abcdef.tmp").write_text("theirs")
    journal = folder / ".rho-0123456789abcdef.journal"
    journal.write_text(json.dumps({"format": replacing.FORMAT, "decided_by": None, "others": [], "entries": [entry]}))
    recover(str(folder))
    assert os.listdir(outside) == [] and os.listdir(folder) == ["precious"]
    assert (folder / "precious").read_text() == "mine"


@pytest.mark.parametrize("kind", ["fifo", "link", "folder"])
def test_a_journal_that_is_no_file_is_not_read(kind: str, tmp_path: Path) -> None:
    journal = tmp_path / ".rho-0123456789abcdef.journal"
    match kind:
        case "fifo":
            os.mkfifo(journal)
        case "link":
            journal.symlink_to("/dev/zero")
        case _:
            journal.mkdir()
    replace_file(tmp_path / "x", lambda file: file.write(b"new"))
    assert (tmp_path / "x").read_text() == "new"


def test_live_temporaries_are_known_and_removed(tmp_path: Path) -> None:
    with FileReplacement() as files:
        files.add(tmp_path / "x", lambda file: file.write(b"new"))
        assert [path for path in temporaries.live() if os.path.dirname(path) == str(tmp_path)]
        temporaries.remove_live()
        assert os.listdir(tmp_path) == []
    assert not temporaries.live()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_a_forked_child_removes_no_temporary_of_its_parent(tmp_path: Path) -> None:
    with FileReplacement() as files:
        files.add(tmp_path / "x", lambda file: file.write(b"new"))
        child = os.fork()
        if not child:
            temporaries.remove_live()
            os._exit(len(temporaries.live()))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert len(os.listdir(tmp_path)) == len(temporaries.live()) == 1


def test_permissions_are_kept_and_new_files_follow_the_mask(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    (tmp_path / "x").chmod(0o604)
    before = os.umask(0o027)
    try:
        write([tmp_path / "x", tmp_path / "y"])
    finally:
        os.umask(before)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "xy"] == [0o604, 0o640]


