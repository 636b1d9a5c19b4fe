"""Standard input and output as `--in x=-:csv` and `--out y=-:npy`: in every format, once, and nothing between."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rho.backend.io.writing import write_values
from rho.lang.syntax.source import Span
from rho.shell.console.standard_streams import Console
from rho.shell.main import main
from rho.typechecker.elements import Kind

PROGRAM = "input x : f64[n]\ninput y : f64[m k] ← \"y.csv\"\noutput w ← x×2\noutput z ← y+1\n+/x\n"
ITEMS = np.array([1.5, -2.0, 1e300, 0.1])


class Tty(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


class Run:
    """A command on streams of bytes."""

    def __init__(self, words: list[str], stdin: bytes = b"", wrapper: type[io.TextIOWrapper] = io.TextIOWrapper) -> None:
        out, err = io.BytesIO(), io.StringIO()
        text = wrapper(out, encoding="utf-8", newline="")
        self.code = int(main(words, Console(text, err, io.TextIOWrapper(io.BytesIO(stdin)), {"NO_COLOR": "1"})))
        text.flush()
        self.out, self.err = out.getvalue(), err.getvalue()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.rho").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "y.csv").write_text("1,2\n3,4\n", encoding="utf-8")
    np.save(tmp_path / "x.npy", ITEMS)
    np.savez(tmp_path / "x.npz", a=ITEMS, b=ITEMS + 1)
    return lambda words, *rest: Run(["run", "p.rho", *words.split()], *rest)


def _bytes_of(folder: Path, suffix: str) -> bytes:
    if suffix not in (".npy", ".npz"):
        write_values(str(folder / f"x{suffix}"), ITEMS, Kind.F64, Span("t", 0, 0))
    return (folder / f"x{suffix}").read_bytes()


@pytest.mark.parametrize(
    ("stream", "suffix"),
    [("-", ".csv"), ("-", ".npy"), ("-:csv", ".csv"), ("-:tsv", ".tsv"), ("-:npy", ".npy"), ("-:NPZ:a", ".npz")],
)
def test_an_input_from_standard_input(run: Callable[..., Run], tmp_path: Path, stream: str, suffix: str) -> None:
    ran = run(f"--in x={stream} --out w=w.npy --verify", _bytes_of(tmp_path, suffix))
    assert ran.code == 0, ran.err
    assert np.array_equal(np.load(tmp_path / "w.npy"), ITEMS * 2) and ran.out.decode() == "1E300\n"


def test_text_and_pictures_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.rho").write_text("input t : char[n]\n⌽t\n", encoding="utf-8")
    (tmp_path / "g.rho").write_text("input g : u8[h w]\n+/,i64 g\n", encoding="utf-8")
    write_values("g.png", np.array([[1, 2], [3, 250]], np.uint8), Kind.U8, Span("t", 0, 0))
    assert Run(["run", "t.rho", "--in", "t=-:txt"], "añb".encode()).out.decode() == "bña\n"
    assert Run(["run", "g.rho", "--in", "g=-:png"], (tmp_path / "g.png").read_bytes()).out == b"256\n"


@pytest.mark.parametrize("format", ["csv", "tsv", "npy", "txt", "json", ""])
def test_an_output_to_standard_output_is_what_a_file_would_hold(run: Callable[..., Run], tmp_path: Path, format: str) -> None:
    stream = f"-:{format}" if format else "-"
    ran = run(f"--in x=x.npy --out w={stream} --out z=z.csv")
    assert ran.code == 0 and ran.err == "1E300\n"  # what is printed
    assert run(f"--in x=x.npy --out w=w.{format or 'csv'}").code == 0
    assert ran.out == (tmp_path / f"w.{format or 'csv'}").read_bytes()
    assert (tmp_path / "z.csv").read_text() == "2,3\n4,5\n"


def test_both_at_once(run: Callable[..., Run]) -> None:
    assert run("--in x=- --out w=-", b"1\n2\n").out == b"2\n4\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--in x=- --in y=-:csv", "read by --in x already"), ("--in x=x.npy --out w=- --out z=-:csv", "--out w's already"),
        ("--in x=-.csv", "`-:csv`"), ("--in x=x.npy --out w=-.csv", "`./-.csv`"), ("--in x=-:cvs", "did you mean `-:csv`"),
        ("--in x=-:zarr", "no format `zarr`"), ("--in x=x.npy --out w=-:npz", "no format `npz`"), ("--in x=-:", "no format"),
        ("--in x=-:txt:a", "has no name"), ("--in x=x.npy --out w=-:npy:a", "has no name"),
        ("--in x=x.npy --out w=- --json", "--json"),
    ],
)  # fmt: skip
def test_streams_that_are_refused(run: Callable[..., Run], tmp_path: Path, words: str, said: str) -> None:
    before = sorted(tmp_path.iterdir())
    ran = run(words, b"1\n")
    assert ran.code == 2 and said in ran.err and sorted(tmp_path.iterdir()) == before


def test_binary_is_not_written_to_a_terminal(run: Callable[..., Run]) -> None:
    ran = run("--in x=x.npy --out w=-:npy", b"", Tty)
    assert ran.code == 2 and "terminal" in ran.err and ran.out == b""
    assert run("--in x=x.npy --out w=-:csv", b"", Tty).code == 0


def test_standard_input_is_not_program_and_data(tmp_path: Path) -> None:
    assert Run(["run", "-", "--in", "x=-"], PROGRAM.encode()).code == 2


def test_more_than_there_is_memory_for_is_not_read(run: Callable[..., Run]) -> None:
    ran = run("--in x=- --max-memory 1MB", b"1\n" * 600_000)
    assert ran.code == 4 and "E702" in ran.err and "1,000,000 bytes" in ran.err


def test_damaged_input_and_empty_input(run: Callable[..., Run]) -> None:
    assert "E705" in run("--in x=-:npy", b"1,2\n").err
    assert "`-:csv`" in run("--in x=-:csv", b"a\nb\n").err
    assert run("--in x=-").code in (0, 1, 4)


def test_a_full_standard_output_and_one_that_is_closed(run: Callable[..., Run], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rho.shell", "run", "p.rho", "--in", "x=x.npy", "--out", "w=-:npy"]
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 1 and "standard output cannot be written" in ran.stderr and "Traceback" not in ran.stderr
