"""A file that somebody writes while it is read is refused (E705): never old and new items together."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rho.backend.io import reading
from rho.backend.io.external_arrays import stored_input
from rho.backend.io.npy import NpySource
from rho.backend.io.reading import InputSpec, SequentialSource, read_shape, read_values
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Span
from rho.typechecker.elements import Kind

from .running import loaded, results

pytestmark = pytest.mark.long

COUNT = 300_000
LIMITS = {".npy": 3_500_000, ".npz": 3_500_000, ".parquet": 20_000_000}
CENTRED = "input x : f64[n] where n ≥ 8\ny ← x-(+/x)÷≢x\noutput y\n"
ITEMS = np.arange(COUNT, dtype="f8")
WANTED = InputSpec(Kind.F64, 1, Span("p.rho", 0, 0))


def _zarr(folder: Path, version: int) -> tuple[str, str]:
    zarr: Any = pytest.importorskip("zarr")
    path = str(folder / "y.zarr")
    array = zarr.create_array(path, shape=ITEMS.shape, chunks=(10_000,), dtype="f8", zarr_format=version, compressors=None)
    array[:] = ITEMS
    return "y.zarr", "y.zarr/" + ("c/29" if version == 3 else "29")


def _parquet(folder: Path) -> tuple[str, str]:
    pa: Any = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"x": ITEMS})
    parquet.write_table(table, folder / "x.parquet", row_group_size=10_000, compression="none", use_dictionary=False)
    return "x.parquet", "x.parquet"


def _npy(folder: Path) -> tuple[str, str]:
    np.save(folder / "x.npy", ITEMS)
    return "x.npy", "x.npy"


def _npz(folder: Path) -> tuple[str, str]:
    np.savez(folder / "x.npz", x=ITEMS)
    return "x.npz:x", "x.npz"


def _text(folder: Path, name: str) -> tuple[str, str]:
    (folder / name).write_text("\n".join(map(str, range(COUNT))) + "\n", encoding="utf-8")
    return name, name


def _archive(folder: Path) -> tuple[str, str]:
    from rho.backend.io.writing import write_values

    write_values(str(folder / "x.zarr.zip"), ITEMS, Kind.F64, Span("p", 0, 0))
    return "x.zarr.zip", "x.zarr.zip"


FORMATS: dict[str, Callable[[Path], tuple[str, str]]] = {
    "npy": _npy, "npz": _npz, "csv": lambda folder: _text(folder, "x.csv"), "tsv": lambda folder: _text(folder, "x.tsv"),
    "parquet": _parquet, "zarr.zip": _archive, "zarr 2": lambda folder: _zarr(folder, 2),
    "zarr 3": lambda folder: _zarr(folder, 3),
}  # fmt: skip


@pytest.fixture(params=FORMATS)
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """The input's path, and the file in which its last items are, written long ago."""
    name, changed = FORMATS[request.param](tmp_path)
    os.utime(tmp_path / changed, ns=(10**18, 10**18))
    return name, tmp_path / changed


def _overwrite(path: Path) -> None:
    """Some of its bytes become others, in place."""
    at = path.stat().st_size * 3 // 4
    with path.open("r+b") as file:
        file.seek(at)
        some = file.read(64)
        file.seek(at)
        file.write(some[::-1])


def _on_call(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, number: int, act: Callable[[], None]) -> list[int]:
    original, calls = getattr(owner, name), [0]

    def counted(*arguments: Any, **named: Any) -> Any:
        calls[0] += 1
        if calls[0] == number:
            act()
        return original(*arguments, **named)

    monkeypatch.setattr(owner, name, counted)
    return calls


@pytest.mark.parametrize("share", [0.3, 0.8], ids=["first pass", "second pass"])
def test_a_stream_of_a_file_that_changes(
    stored: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, share: float, tmp_path: Path
) -> None:
    name, changed = stored
    if changed.suffix == ".zip":
        pytest.skip("is one chunk")
    files, limit = {"x": name}, LIMITS.get(changed.suffix, 7_000_000)
    owner = NpySource if changed.suffix in (".npy", ".npz") else SequentialSource
    with monkeypatch.context() as counting:
        calls = _on_call(counting, owner, "read", 0, lambda: None)
        (found,) = results(loaded(CENTRED, tmp_path, limit, files=files))
        assert found.tolist() == (ITEMS - ITEMS.mean()).tolist() and calls[0] >= 4
    _on_call(monkeypatch, owner, "read", max(2, int(calls[0] * share)), lambda: _overwrite(changed))
    with pytest.raises(RhoError) as caught:
        results(loaded(CENTRED, tmp_path, limit - 1, files=files))
    assert [one.code for one in caught.value.diagnostics] == ["E705"]
    assert not list(tmp_path.glob(f"out-*-{limit - 1}.npy"))


def test_a_file_that_changes_while_all_of_it_is_read(
    stored: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name, changed = stored
    path = str(tmp_path / name)
    shape = read_shape(path, WANTED)
    assert read_values(path, WANTED, shape).tolist() == ITEMS.tolist()
    _on_call(monkeypatch, reading, "identity_of", 2, lambda: _overwrite(changed))  # asked for after the items have come
    with pytest.raises(RhoError, match="changed while it was read"):
        read_values(path, WANTED, shape)


def test_a_box_of_a_file_that_changes(stored: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    name, changed = stored
    part = stored_input(str(tmp_path / name), WANTED, (COUNT,))
    if part is None:
        pytest.skip("is not read by boxes")
    box = part.window(((0, COUNT // 2),))
    assert box.read().tolist() == ITEMS[: COUNT // 2].tolist()
    owner = NpySource if changed.suffix in (".npy", ".npz") else SequentialSource
    _on_call(monkeypatch, owner, "read", 1, lambda: _overwrite(changed))
    with pytest.raises(RhoError, match=r"changed while it was read|damaged member"):
        box.read()


@pytest.mark.parametrize("version", [2, 3])
def test_chunks_that_come_or_go_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    _, chunk = _zarr(tmp_path, version)
    path, kept = str(tmp_path / "y.zarr"), tmp_path / "kept"
    _on_call(monkeypatch, reading, "identity_of", 2, lambda: (tmp_path / chunk).rename(kept))
    with pytest.raises(RhoError, match="changed while it was read"):
        read_values(path, WANTED, (COUNT,))
    monkeypatch.undo()
    assert read_values(path, WANTED, (COUNT,)).tolist() == [*ITEMS[:290_000].tolist(), *[0] * 10_000]
    _on_call(monkeypatch, reading, "identity_of", 2, lambda: kept.rename(tmp_path / chunk))
    with pytest.raises(RhoError, match="changed while it was read"):
        read_values(path, WANTED, (COUNT,))


def test_other_arrays_of_a_group_may_be_written_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zarr: Any = pytest.importorskip("zarr")
    group = zarr.open_group(str(tmp_path / "g.zarr"), mode="w")
    for name in ("a", "b"):
        group.create_array(name, shape=(4,), dtype="f8")[:] = [1, 2, 3, 4]
    os.utime(tmp_path / "g.zarr/b/c/0", ns=(10**18, 10**18))
    _on_call(monkeypatch, reading, "identity_of", 2, lambda: _overwrite(tmp_path / "g.zarr/b/c/0"))
    assert read_values(str(tmp_path / "g.zarr:a"), WANTED, (4,)).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("separator", [".", "/"])
def test_chunks_that_are_not_there_cost_nothing(tmp_path: Path, separator: str) -> None:
    import json

    folder = tmp_path / "s.zarr"
    folder.mkdir()
    metadata = {
        "zarr_format": 2, "shape": [10**9, 3], "chunks": [1, 2], "dtype": "|u1", "compressor": None, "fill_value": 7,
        "order": "C",
        "filters": None, "dimension_separator": separator,
    }  # fmt: skip
    (folder / ".zarray").write_text(json.dumps(metadata), encoding="utf-8")
    last = folder / separator.join(["999999999", "1"])
    last.parent.mkdir(exist_ok=True)
    last.write_bytes(b"\1\2")
    source = stored_input(str(folder), InputSpec(Kind.I64, 2, Span("p", 0, 0)), (10**9, 3))
    assert source is not None
    assert source.window(((10**9 - 2, 10**9), (0, 3))).read().tolist() == [[7, 7, 7], [7, 7, 1]]


@pytest.mark.parametrize("kind", ["link", "folder", "link to a folder"])
def test_chunks_that_are_no_files_are_refused(tmp_path: Path, kind: str) -> None:
    _, chunk = _zarr(tmp_path, 3)
    path = tmp_path / chunk
    if kind == "link to a folder":
        path = path.parent
    path.rename(tmp_path / "elsewhere")
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RhoError, match=r"that is a link|is not a regular file"):
        read_values(str(tmp_path / "y.zarr"), WANTED, (COUNT,))
