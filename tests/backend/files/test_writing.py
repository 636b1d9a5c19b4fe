"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from rho.backend.io.writing import check_writable, write_values
from rho.backend.vm.values import Array, array
from rho.lang.diagnostics.model import RunFailed
from rho.tests.backend.files.loading import I64, SPAN
from rho.tests.harness.values import text


def refused(path: Path | str, value: Array) -> str:
    with pytest.raises(RunFailed) as caught:
        write_values(str(path), value, value.kind, SPAN)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E708" and diagnostic.span == SPAN
    return diagnostic.message


def test_what_a_format_cannot_hold_is_refused(tmp_path: Path) -> None:
    vector, words, cube = array(I64, (2,), [1, 2]), text("ab"), array(I64, (1, 1, 5), range(5))
    assert "not a picture" in refused(tmp_path / "x.png", vector)
    assert "not a picture" in refused(tmp_path / "x.png", cube)
    assert "at least one pixel" in refused(tmp_path / "x.png", array(I64, (0, 3), ()))
    assert "text or dates" in refused(tmp_path / "x.png", words)
    assert "text" in refused(tmp_path / "x.csv", words)
    assert "3 axes" in refused(tmp_path / "x.csv", cube)
    assert "not a known format" in refused(tmp_path / "x.dat", vector)
    assert "no suffix" in refused(tmp_path / "x", vector)
    assert "not a character of UTF-8" in refused(tmp_path / "x.txt", text("\ud800"))
    assert "its folder does not exist" in refused(tmp_path / "none" / "x.npy", vector)
    assert "not a path" in refused(f"{tmp_path}/\0.npy", vector)
    (tmp_path / "d.npy").mkdir()
    assert "is a folder" in refused(tmp_path / "d.npy", vector)
    os.mkfifo(tmp_path / "p.npy")
    assert "not a regular file" in refused(tmp_path / "p.npy", vector)
    assert sorted(os.listdir(tmp_path)) == ["d.npy", "p.npy"]


def test_outputs_are_checked_before_anything_runs(tmp_path: Path) -> None:
    check_writable(str(tmp_path / "x.npy"), SPAN)
    for path in (tmp_path / "x.dat", tmp_path / "none" / "x.npy"):
        with pytest.raises(RunFailed):
            check_writable(str(path), SPAN)


@pytest.mark.parametrize("step", ["os.fsync", "os.replace", "os.chmod", "os.open", "os.fdopen"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    step: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("old")

    def fail(*args: object, **more: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(step, fail)
        with pytest.raises(KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else RunFailed):
            write_values(str(path), array(I64, (1,), [1]), I64, SPAN)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["x.csv"]


def test_permissions_and_links_are_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "x.csv", tmp_path / "link.csv"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_values(str(link), array(I64, (1,), [1]), I64, SPAN)
    assert link.is_symlink() and path.read_text() == "1\n" and stat.S_IMODE(path.stat().st_mode) == 0o640
