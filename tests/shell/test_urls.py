"""Inputs from URLs: allowed or not, read by ranges, and what servers do wrong."""

from __future__ import annotations

import builtins
import itertools
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving import Served, serving

from rho.backend.io import remote

from .conftest import Rho

pytestmark = pytest.mark.long

pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")
SUM = "input x : f64[n]\n+/x\n"


@pytest.fixture
def files(project: Path) -> Iterator[Served]:
    x = np.arange(30_000.0)
    folder = project / "served"
    folder.mkdir()
    np.save(folder / "x.npy", x)
    np.savez(folder / "x.npz", a=x, b=x[:3])
    np.savez_compressed(folder / "c.npz", a=x)
    lines = "".join(f'"{at}, ""b""",{item}\r\n' for at, item in enumerate(x.tolist()))
    (folder / "x.csv").write_text("name,price\r\n" + lines, newline="")
    (project / "sum.rho").write_text(SUM)
    with serving(folder) as served:
        yield served


@pytest.mark.parametrize("name", ["x.npy", "x.npz:a", "c.npz", "x.csv:price", "x.npy?signature=a%2Fb"])
def test_formats(rho: Rho, files: Served, name: str) -> None:
    ran = rho("run", "sum.rho", "--in", f"x={files.url(name)}", "--allow-read", files.address)
    assert (ran.code, ran.out, ran.err) == (0, "449985000\n", "")


def test_parquet(rho: Rho, files: Served) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").table({"x": np.arange(30_000.0)})
    parquet.write_table(table, files.folder / "x.parquet", row_group_size=7_000)
    ran = rho("run", "sum.rho", "--in", f"x={files.url('x.parquet:x')}", "--allow-read", files.address)
    assert (ran.code, ran.out) == (0, "449985000\n")


def test_formats_that_are_read_whole(rho: Rho, files: Served, project: Path) -> None:
    """What Rho has written, from a server: chunks in a zip file, a picture, text."""
    (project / "write.rho").write_text("output a ← 3 4⍴⍳12\noutput t ← 'abc'\n")
    assert rho("run", "write.rho", "--out", "a=served/a.png", "--out", "t=served/t.txt").code == 0
    (project / "again.rho").write_text("output z ← 2÷⍨3 4⍴⍳12\n")
    assert rho("run", "again.rho", "--out", "z=served/z.zarr.zip").code == 0
    (project / "all.rho").write_text(
        f'input a : i64[n m] ← "{files.url("a.png")}"\ninput t : char[k] ← "{files.url("t.txt")}"\n'
        f'input z : f64[p q] ← "{files.url("z.zarr.zip")}"\na\nt\n2×z\n'
    )
    ran = rho("run", "all.rho", "--allow-read", files.address)
    assert ran.code == 0, ran.err
    assert ran.out.split() == [*map(str, range(12)), "abc", *map(str, range(12))]
    (project / "all.rho").write_text(f'input z : f64[p q] ← "{files.url("z.zarr")}"\nz\n')
    assert "E704" in rho("run", "all.rho", "--allow-read", files.address).err


def test_scheme_and_host_are_compared_in_small_letters(rho: Rho, files: Served) -> None:
    url = files.url("x.npy").replace("http", "HTTP")
    ran = rho("run", "sum.rho", "--in", f"x={url}", "--allow-read", files.address)
    assert (ran.code, ran.out) == (0, "449985000\n"), ran.err


def test_formats_of_urls_are_listed_as_urls_have_them(rho: Rho, files: Served) -> None:
    ran = rho("run", "sum.rho", "--in", f"x={files.url('x.xyz')}", "--allow-read", files.address)
    assert "E704" in ran.err and "URLs that can be read: .npy .npz " in ran.err
    assert " .zarr.zip " in ran.err and " .zarr " not in ran.err


def test_plans(rho: Rho, files: Served) -> None:
    given = ("--in", f"x={files.url('x.npy')}")
    assert "E707" in rho("plan", "sum.rho", *given).err
    assert rho("plan", "sum.rho", *given, "--allow-read", files.address).code == 0


def test_a_url_is_read_only_where_it_is_allowed(rho: Rho, files: Served) -> None:
    url = files.url("x.npy")
    ran = rho("run", "sum.rho", "--in", f"x={url}")
    assert ran.code and "E707" in ran.err and f"add `--allow-read {files.address}/ranges/`" in ran.err
    assert rho("run", "sum.rho", "--in", f"x={url}", "--allow-read", files.address + "/other/").code
    assert rho("run", "sum.rho", "--in", f"x={url}", "--allow-read", url).code == 0
    assert not files.sent.get("x.npy", 0) > 2 * Path("served/x.npy").stat().st_size


def test_a_line_of_the_program_names_a_url(rho: Rho, files: Served) -> None:
    Path("sum.rho").write_text(f'input x : f64[n] ← "{files.url("x.npy")}"\n+/x\n')
    assert "E707" in rho("run", "sum.rho").err
    ran = rho("run", "sum.rho", "--allow-read", files.url(""), "--verify")
    assert (ran.code, ran.out) == (0, "449985000\n")
    assert rho("check", "sum.rho").code == 0


def test_a_file_url_is_a_path_that_has_to_be_allowed(rho: Rho, files: Served, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("else where")
    np.save(folder / "x.npy", np.arange(30_000.0))
    url = (folder / "x.npy").as_uri()
    ran = rho("run", "sum.rho", "--in", f"x={url}")
    assert "E707" in ran.err and f"--allow-read {folder.as_uri()}/" in ran.err
    assert rho("run", "sum.rho", "--in", f"x={url}", "--allow-read", folder.as_uri()).out == "449985000\n"
    assert rho("run", "sum.rho", "--in", f"x={url}", "--allow-read", str(folder)).out == "449985000\n"
    (folder / "inner").mkdir()
    (folder / "inner" / "x.npy").symlink_to(folder / "x.npy")
    url = (folder / "inner" / "x.npy").as_uri()
    assert "E707" in rho("run", "sum.rho", "--in", f"x={url}", "--allow-read", (folder / "inner").as_uri()).err


WRONG = {
    "none.npy ranges": ("E704", "does not exist: the server answers 404"),
    "x.npy broken": ("E704", "cannot be read: the server answers 503"),
    "x.npy moved": ("E704", "is not there: the server answers 302 Found and names `http://127.0.0.1"),
    "x.npy removed": ("E704", "is not there: the server answers 302 Found and names `http://127.0.0.1"),
    "x.npy whole": ("E704", "does not serve ranges of bytes"),
    "x.npy cut": ("E705", "ended while it was read"),
    "x.csv:price cut": ("E705", "ended while it was read"),
    "x.npy silent": ("E704", "its server was silent for 0.2 seconds"),
    "x.npy unsized": ("E704", "does not say how large it is"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_servers_do_wrong(rho: Rho, files: Served, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    monkeypatch.setattr(remote, "PATIENCE", 0.2)
    (name, how), (code, words) = case.split(), WRONG[case]
    ran = rho("run", "sum.rho", "--in", f"x={files.url(name, how)}", "--allow-read", files.address)
    assert ran.code and code in ran.err and words in ran.err, ran.err


def test_nobody_listens(rho: Rho, files: Served) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
        ran = rho("run", "sum.rho", "--in", f"x=http://{place}/x.npy", "--allow-read", f"http://{place}")
    assert f"E704]: `http://{place}/x.npy` cannot be read: no connection to {place}" in ran.err


@pytest.mark.parametrize(
    ("url", "words"), [("http://h/../x.npy", "`..`"), ("nobody://h/x.npy", "cannot be read"), ("a.b::http://h/x.npy", "E704")]
)
def test_what_is_no_url_that_is_read(rho: Rho, files: Served, url: str, words: str) -> None:
    ran = rho("run", "sum.rho", "--in", f"x={url}", "--allow-read", "nobody://h")
    assert ran.code and "E70" in ran.err and words in ran.err


def test_without_the_package(rho: Rho, files: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def without(name: str, *given: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "fsspec":
            raise ImportError(name)
        return usual(name, *given, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    ran = rho("run", "sum.rho", "--in", f"x={files.url('x.npy')}", "--allow-read", files.address)
    assert "E704" in ran.err and "fsspec with aiohttp" in ran.err and "rho-lang[url]" in ran.err


def test_an_allowed_url_that_is_none(rho: Rho, files: Served) -> None:
    ran = rho("run", "sum.rho", "--in", "x=x.npy", "--allow-read", "http://h/../")
    assert ran.code == 2 and "`..`" in ran.err


STREAM = "input x : f64[n] where n ≥ 8\nz ← 2×x\noutput z\n+/x\n"


@pytest.mark.parametrize(("name", "limit"), [("x.npy", "6MB"), ("x.npz:a", "6MB"), ("x.csv:price", "13MB")])
def test_streams_read_every_byte_once(rho: Rho, files: Served, name: str, limit: str) -> None:
    x = np.random.default_rng(1).standard_normal(1_000_000)
    file = name.partition(":")[0]
    if file == "x.csv":
        (files.folder / file).write_text("name,price\r\n" + "".join(f'"a, b",{item!r}\r\n' for item in x.tolist()), newline="")
    else:
        (np.save if file == "x.npy" else np.savez)(files.folder / file, **({"arr": x} if file == "x.npy" else {"a": x}))
    Path("stream.rho").write_text(STREAM)
    size = (files.folder / file).stat().st_size
    given = ("run", "stream.rho", "--in", f"x={files.url(name)}", "--allow-read", files.address, "--out")
    ran = rho(*given, "z=tiles.npy", "--max-memory", limit)
    assert ran.code == 0 and "streams `x`" in ran.err, ran.err
    passes = 2 if file == "x.csv" else 1  # one counts lines
    assert files.sent[file] <= 1.05 * passes * size
    assert rho(*given, "z=whole.npy").out == ran.out
    assert Path("tiles.npy").read_bytes() == Path("whole.npy").read_bytes()
    too_little = f"{int(limit[:-2]) - 4}MB"  # what is kept of what was fetched counts
    assert "E702" in rho(*given, "z=none.npy", "--max-memory", too_little).err


def test_who_waits_for_what_another_fetches_hears_an_interrupt(tmp_path: Path) -> None:
    """The signal goes to another thread, so that nothing wakes the one that waits."""
    np.save(tmp_path / "x.npy", np.arange(30_000.0))
    url = (tmp_path / "x.npy").as_uri()
    waiting, version = threading.main_thread().ident, remote.current_version(url)
    part, is_mine = remote._CACHE.at((url, version.digest), 0, 100, version.size)
    assert is_mine and waiting is not None

    def is_waiting() -> bool:
        files = [frame.f_code.co_filename for frame, _ in traceback.walk_stack(sys._current_frames()[waiting])]
        return files[0] == threading.__file__ and remote.__file__ in files

    def signal_to_itself() -> None:
        patient = itertools.count()
        while not is_waiting() and next(patient) < 1_000_000:
            pass
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        while not part.bytes.done() and next(patient) < 50_000_000:
            pass
        if not part.bytes.done():
            part.bytes.set_result(b"too late")

    other = threading.Thread(target=signal_to_itself)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            remote.Remote(url, version).read(100)
    finally:
        if not part.bytes.done():
            part.bytes.set_result(b"")
        other.join()
        remote._CACHE.drop((url, version.digest), part)
    assert part.bytes.result() == b"", "the interrupt was heard when the wait was over"


def test_a_file_that_changes_while_it_is_streamed(rho: Rho, files: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(files.folder / "x.npy", np.arange(1_000_000.0))
    Path("stream.rho").write_text(STREAM)
    read, calls = remote.Remote.readinto, 0

    def late(self: remote.Remote, room: Any) -> int:
        nonlocal calls
        calls += 1
        if calls == 12:
            files.tag = '"2"'
        return read(self, room)

    monkeypatch.setattr(remote.Remote, "readinto", late)
    given = ("--in", f"x={files.url('x.npy')}", "--allow-read", files.address, "--out", "z=z.npy", "--max-memory", "6MB")
    ran = rho("run", "stream.rho", *given)
    assert ran.code and "E705" in ran.err and "changed while it was read" in ran.err
    assert not Path("z.npy").exists()
