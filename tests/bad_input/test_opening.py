"""Every reader opens its files in one way, and what is not a regular file is neither read nor waited for."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from share import share

import rho
from rho.backend.cpu import parallel_for
from rho.lang.support.bounded_parsing import TooManyValues, decode
from rho.lang.support.files import KERNEL_TEXT, NotRegular, Pipes, TooLarge, open_beneath, open_regular, read_bytes, read_text

pytestmark = pytest.mark.long

PACKAGE = Path(rho.__file__).parent
PACKAGES = ("lang", "typechecker", "backend", "shell")

ALLOWED = {
    "lang/support/files.py": "the one way, and temporaries that replace files",
    "lang/primitives/generate_docs.py": "writes the documentation of this repository",
    "shell/display/documentation.py": "writes the documentation of this repository",
    "shell/editors/__main__.py": "writes files of this repository",
    "shell/console/standard_streams.py": "os.devnull, for a stream that is closed",
    "shell/main.py": "os.devnull, for a stream that is closed",
    "shell/jupyter/kernel.py": "writes into a folder of its own",
    "shell/console/error_boundary.py": "writes a reproducer into a new file",
    "backend/jit/compiler.py": "appends to the map that perf reads, whose name perf says; no link is followed",
    "lang/support/caches.py": "opens a folder that is the user's alone, and entries by its handle",
    "backend/streams/spill.py": "a scratch file without a name",
    "backend/calibration/probes.py": "a scratch file without a name",
    "backend/io/external_arrays.py": "only os.open",  # to write into what home has made; no link is followed
    "backend/cluster/dask_settings.py": "only Path(path).write_text",  # into a temporary folder of its own
    "shell/repl/commands.py": "only target.write_text",
}
"""Modules that may call what opens files, and why, or only one call."""

_METHODS = {
    "read_text", "read_bytes", "write_text", "write_bytes", "fromfile", "memmap", "open_memmap", "genfromtxt", "savetxt",
    "mkstemp", "NamedTemporaryFile", "TemporaryFile", "open_group", "open_array", "LocalStore", "ZipStore",
}  # fmt: skip
_FUNCTIONS = {
    "open", "os.open", "io.open", "codecs.open", "np.load", "numpy.load", "np.save", "numpy.save", "zarr.open", "zarr.load",
    "tomllib.load", "gzip.open", "bz2.open", "lzma.open", "Path.open",
}  # fmt: skip
_OWN = ("read_text", "read_bytes")
"""Names of `lang.support.files` that are called without an owner."""


def _calls(path: Path) -> list[str]:
    """Calls of a module by which a file could be opened, as they are written."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in _FUNCTIONS or (name.rpartition(".")[2] in _METHODS and name not in _OWN):
                found.append(f"{path.name}:{node.lineno}: {name}")
    return found


def test_nobody_else_opens_files() -> None:
    wrong = []
    for package in PACKAGES:
        for path in sorted((PACKAGE / package).rglob("*.py")):
            allowed = ALLOWED.get(path.relative_to(PACKAGE).as_posix(), "")
            if not allowed or allowed.startswith("only "):
                wrong += [call for call in _calls(path) if call.partition(": ")[2] != allowed[len("only ") :]]
    assert not wrong, "open files by lang.opening: " + "; ".join(wrong)


@pytest.mark.parametrize("text", [
    "open('x')", "os.open('x', 0)", "Path('x').read_text()", "np.load('x')", "numpy.fromfile('x')", "p.write_text('')",
])  # fmt: skip
def test_the_test_above_sees_what_opens(text: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(text)
    assert _calls(tmp_path / "m.py")


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "file").write_bytes(b"abc")
    for name in ("pipe", "device"):
        with pytest.raises(NotRegular):
            open_regular(tmp_path / name)
        with pytest.raises(NotRegular):
            read_bytes(tmp_path / name, 10)
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path / "folder")
    with pytest.raises(NotRegular):
        read_bytes(tmp_path / "device", 10, Pipes.READ)
    assert read_bytes(tmp_path / "link", 3) == b"abc"
    with pytest.raises(TooLarge):
        read_bytes(tmp_path / "file", 2)


def test_a_part_of_a_folder_is_no_link_and_lies_inside(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").write_bytes(b"in")
    (tmp_path / "secret").write_bytes(b"out")
    (tmp_path / "a" / "away").symlink_to(tmp_path)
    (tmp_path / "a" / "b" / "link").symlink_to(tmp_path / "secret")
    with open_beneath(tmp_path / "a", ("b", "c")) as file:
        assert file.read() == b"in"
    for parts in (("away", "secret"), ("b", "link"), ("..", "secret"), ("b", "../../secret"), (), ("b", "")):
        with pytest.raises(OSError):
            open_beneath(tmp_path / "a", parts)
    with pytest.raises(FileNotFoundError):
        open_beneath(tmp_path / "a", ("b", "d"))


def test_files_of_the_system_have_no_length_and_are_read() -> None:
    if os.path.exists("/proc/self/status"):
        assert "Pid" in read_text("/proc/self/status", KERNEL_TEXT)


@pytest.mark.skipif(not parallel_for._CACHE.exists(), reason="this system does not say how large its caches are")
def test_files_of_the_system_that_claim_a_page_are_read() -> None:
    assert parallel_for._CACHE.stat().st_size > 64
    size = parallel_for._CACHE.read_text(encoding="ascii").strip()
    assert size.endswith("K") and parallel_for.cache_bytes() == int(size[:-1]) << 10


def test_values_of_json_are_counted_before_they_are_made() -> None:
    assert decode('{"a": [1, 2]}', 5) == {"a": [1, 2]}
    with pytest.raises(TooManyValues):
        decode("[" + "[]," * 1000 + "[]]", 1000)


def rho_command(*words: str, folder: Path, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "rho.shell", *words], cwd=folder, input=stdin, capture_output=True, timeout=100)


def test_a_pipe_that_the_user_named_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text("input x : f64[n]\n+/x\n")
    os.mkfifo(tmp_path / "x.csv")
    command = f"""(printf '1\\n2\\n4\\n' > x.csv) & exec {sys.executable} -m rho.shell run p.rho --in x=x.csv"""
    found = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, timeout=100)
    assert (found.stdout, found.returncode) == (b"7\n", 0), found.stderr
    small = command.replace("--in", "--max-memory 3 --in")
    found = subprocess.run(["bash", "-c", small], cwd=tmp_path, capture_output=True, timeout=100)
    assert found.returncode == 4 and b"E702" in found.stderr, found.stderr


def test_a_pipe_that_the_program_names_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text('input x : f64[n] ← "x.csv"\n+/x\n')
    os.mkfifo(tmp_path / "x.csv")
    found = rho_command("run", "p.rho", folder=tmp_path)
    assert found.returncode == 1 and b"is not a regular file" in found.stderr, (found.returncode, found.stderr)


@pytest.mark.parametrize("words", share([
    ("run", "p.rho", "--plan", "/dev/zero"), ("plan", "p.rho", "--devices", "/dev/zero"), ("plan", "--check", "/dev/zero"),
    ("run", "/dev/zero"), ("estimate", "/dev/zero"), ("estimate", "p.rho", "--devices", "/dev/zero"),
    ("check", "/dev/zero"), ("plan", "--instance", "/dev/zero"), ("devices", "/dev/zero"),
    ("plan", "--instance", "i.json", "--devices", "zero.json"), ("eval", "--lines", "/dev/zero"), ("run", "m.rho"),
], 13))  # fmt: skip
def test_a_device_without_an_end_is_refused_at_once(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text("+/⍳10\n")
    (tmp_path / "m.rho").write_text('use "./zero.rho"\n1\n')
    (tmp_path / "i.json").write_text("{}")
    for name in ("zero.json", "zero.rho"):
        (tmp_path / name).symlink_to("/dev/zero")
    limited = f"ulimit -v 2000000; exec {sys.executable} -m rho.shell " + " ".join(words)
    found = subprocess.run(["bash", "-c", limited], cwd=tmp_path, capture_output=True, timeout=100)
    assert found.returncode in (1, 2, 3, 4) and b"Traceback" not in found.stderr, (found.returncode, found.stderr)


def test_caches_and_settings_that_are_pipes_or_devices_are_as_good_as_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rho.backend.devices.this_machine import HostFacts, cache_file, host_profile, machine_profile
    from rho.shell.repl import status_line
    from rho.typechecker.proof import solver

    facts = HostFacts(2, 1 << 30, "model")
    kept = cache_file(host_profile(facts, "numpy", {**facts.facts(), "numpy": np.__version__}), tmp_path)
    state = tmp_path / "rho"
    state.mkdir()
    monkeypatch.setenv("RHO_VERDICTS", str(tmp_path / "rho" / "verdicts"))
    solver.CACHE.write("question", b"{}")
    (tmp_path / "rho" / "verdicts").joinpath(solver.CACHE._name("question")).unlink()
    for name in (kept, state / "repl.json", solver.CACHE.file("question")):
        os.mkfifo(name)
    assert machine_profile(facts, "numpy", np.__version__, tmp_path).calibration.calibrated is None
    assert status_line.load_settings({"XDG_STATE_HOME": str(tmp_path)}) == status_line.ReplSettings()
    assert solver.read("question") is None
