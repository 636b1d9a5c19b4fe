"""SIGINT and SIGTERM at drawn calls of `rho run`: compiled loops, streams in tiles, several outputs, the caches of kernels.

Whatever the moment, the exit code is that of the signal, at their final names are the old or the new files of all outputs, no
temporary is left, and the next run reads the caches that the stopped one wrote.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from share import SEED, repeats

from rho.tests.interrupts.moments import NEVER, Ended, command, process

from . import commands
from .commands import Command

pytestmark = pytest.mark.long

MOMENTS = 1_000
FIRST = 5
"""Before this call Rho has not said that it hears signals."""
SENT = {signal.SIGINT: (130, "interrupted\n"), signal.SIGTERM: (143, "terminated\n")}
PROGRAMS = {
    "loop": ('input x : f64[n] ← "x.npy"\noutput y ← {{+\\⌽⍵÷2}⍣30 ⊢ ⍵} x\noutput z ← +/y\n',
             ["--out", "y=y.npy", "--out", "z=z.csv"]),
    "tiles of zarr": ('input x : f64[n m] ← "x.zarr"\noutput y ← 1+2×x\noutput z ← +⌿x\n',
                      ["--out", "y=y.npy", "--out", "z=z.csv", "--max-memory", "4MB"]),
    "tiles of csv": ('input x : f64[n m] ← "x.csv"\noutput y ← √1+x×x\n', ["--out", "y=y.csv", "--max-memory", "20MB"]),
    "reductions": ('input x : f64[n] ← "x.npy"\noutput y ← x÷+/*x\noutput z ← ⌈/⌽√x\n',
                   ["--out", "y=y.txt", "--out", "z=z.json"]),
}  # fmt: skip


def make(folder: Path) -> None:
    items = np.arange(40_000.0).reshape(-1, 4) / 7
    np.save(folder / "x.npy", items.ravel()[:3000])
    np.savetxt(folder / "x.csv", items[:2000], delimiter=",", header="a,b,c,d", comments="")
    zarr = folder / "x.zarr"
    zarr.mkdir()
    said = '{"zarr_format": 2, "shape": [10000, 4], "chunks": [2500, 4], "dtype": "<f8", "fill_value": 0.0, "order": "C"'
    (zarr / ".zarray").write_text(said + ', "compressor": null, "filters": null}')
    for part in range(4):
        (zarr / f"{part}.0").write_bytes(items[2500 * part : 2500 * (part + 1)].tobytes())
    for name, (text, _) in PROGRAMS.items():
        (folder / f"{name}.rho").write_text(text, encoding="utf-8")


def outputs(folder: Path, words: list[str]) -> dict[str, dict[str, bytes] | bytes | None]:
    """What lies at the names of a command's outputs: a file, the files of a folder, or nothing."""
    found: dict[str, dict[str, bytes] | bytes | None] = {}
    for word in words:
        if "=" in word:
            path = folder / word.partition("=")[2]
            inside = {str(one.relative_to(path)): one.read_bytes() for one in sorted(path.rglob("*")) if one.is_file()}
            found[path.name] = inside if path.is_dir() else path.read_bytes() if path.exists() else None
    return found


def remove(folder: Path, names: list[str]) -> None:
    for name in names:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)


def left_over(folder: Path) -> list[str]:
    return sorted(name for root, folders, names in os.walk(folder) for name in (*folders, *names) if ".rho-" in name)


@pytest.mark.parametrize("cache", ["warm", "cold"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_is_stopped_at_any_call(name: str, cache: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RHO_KERNEL_CACHE", str(tmp_path / "kernels"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # nothing here cuts the power
    make(folder)
    given = PROGRAMS[name][1]
    work = command(["run", f"{name}.rho", *given])

    def run(number: int, sent: signal.Signals = signal.SIGINT) -> Ended:
        if cache == "cold":
            shutil.rmtree(tmp_path / "kernels", ignore_errors=True)
        return process(work, folder, number, sent)

    monkeypatch.setenv("RHO_KERNELS", "off")
    commands.run(Command(("run", f"{name}.rho", *given)))  # what is imported once
    monkeypatch.setenv("RHO_KERNELS", "always")
    process(work, folder, NEVER)  # what is compiled once
    whole = run(NEVER)
    assert whole.code == 0 and whole.calls > 1000, whole
    new = outputs(folder, given)
    assert None not in new.values(), new
    moments = MOMENTS // len(PROGRAMS) // 5 * (1 if cache == "cold" else 4)  # what is compiled each time takes long
    draw = random.Random(f"signals {SEED} {name} {cache}")
    for turn in range(repeats(moments)):
        sent = draw.choice([*SENT])
        number = whole.calls - draw.randrange(400) if turn % 3 == 0 else draw.randint(FIRST, whole.calls)
        if draw.random() < 0.5:
            remove(folder, [*new])
        old = outputs(folder, given)
        ended = run(number, sent)
        what = (turn, number, whole.calls, sent, ended)
        found = outputs(folder, given)
        assert found in (old, new), (what, {key: value is not None for key, value in found.items()})
        assert left_over(tmp_path) == [], (what, left_over(tmp_path))
        assert "Traceback" not in ended.err and "a bug in Rho" not in ended.err and "Exception" not in ended.err, what
        if ended.code == 0:  # it was over, or all but
            assert found == new, what
        else:
            code, said = SENT[sent]
            assert ended.code == code and ended.err.endswith(said), what
        if turn % 10 == 9:
            after = process(work, folder, NEVER)
            assert (after.code, after.out, outputs(folder, given)) == (0, whole.out, new), (what, after)
