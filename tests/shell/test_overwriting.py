"""No command writes over a file that it reads, whatever options name them; every option that names a file says what it does."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from rho.shell.cli.arguments import VERBS, FileUse, Takes

from .conftest import Rho

PROGRAM = """\
use "./m.rho"
input x : f64[n] ← "x.csv"
y ← m.twice x
output y
"""
NAMES = ("main.rho", "m.rho", "x.csv", "other.csv", "plan.json", "cpu.toml", "link.csv")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rho: Rho) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.rho").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "m.rho").write_text("twice ← {2×⍵}\n", encoding="utf-8")
    for name in ("x.csv", "other.csv"):
        (tmp_path / name).write_text("1\n2\n")
    assert rho("plan", "main.rho", "-o", "plan.json", "--format", "json").code == 0
    assert rho("devices", "--devices", "laptop", "-o", "cpu.toml").code == 0
    (tmp_path / "link.csv").symlink_to("x.csv")
    return tmp_path


READERS = {
    "x.csv": (), "link.csv": (), "main.rho": (), "m.rho": (), "other.csv": ("--in", "x=other.csv"),
    "plan.json": ("--plan", "plan.json"), "cpu.toml": ("--devices", "cpu.toml", "--simulate"),
}  # fmt: skip


@pytest.mark.parametrize("target", sorted(READERS))
@pytest.mark.parametrize("option", ["--out y=", "--trace ", "--plot y=", "plan -o "])
def test_what_is_read_is_not_written(option: str, target: str, project: Path, rho: Rho) -> None:
    before = {name: (project / name).read_bytes() for name in NAMES}
    verb = "plan" if option.startswith("plan") else "run"
    words = option.removeprefix("plan ").split(" ")
    written = [words[0], words[1] + target]
    read = list(READERS[target])
    if verb == "plan" and target == "plan.json":
        read = ["--diff", "plan.json"]
    if verb == "plan" and "--simulate" in read:
        read.remove("--simulate")
    ran = rho(verb, "main.rho", *read, *written)
    plot = option.startswith("--plot")
    assert ran.code == 2, ran
    assert "that file is" in ran.err or (plot and "pictures are" in ran.err), ran.err
    assert {name: (project / name).read_bytes() for name in NAMES} == before
    assert not [name for name in os.listdir(project) if ".rho-" in name]


def test_two_options_do_not_write_one_file(project: Path, rho: Rho) -> None:
    ran = rho("run", "main.rho", "--out", "y=z.json", "--trace", "./z.json")
    assert ran.code == 2 and "--trace ./z.json: that file is --out y already" in ran.err and not (project / "z.json").exists()


def test_an_instance_and_its_devices_are_not_written(project: Path, rho: Rho) -> None:
    (project / "i.json").write_text("{}")
    for words in (["--instance", "i.json"], ["--instance", "x.json", "--devices", "i.json"]):
        ran = rho("plan", *words, "-o", "i.json")
        assert ran.code == 2 and "that file is read by" in ran.err and (project / "i.json").read_text() == "{}"


def test_a_folder_of_outputs_holds_no_input(project: Path, rho: Rho) -> None:
    (project / "outs").mkdir()
    np.save(project / "outs" / "y.npy", np.arange(3.0))
    (project / "f.rho").write_text("input x : f64[n]\ny ← x+1\nz ← x\noutput y\noutput z\n", encoding="utf-8")
    ran = rho("run", "f.rho", "--in", "x=outs/y.npy", "--out-dir", "outs")
    assert ran.code == 2 and "outs/y.npy: that file is read" in ran.err
    ran = rho("run", "f.rho", "--in", "x=outs/y.npy", "--out", "y=outs/z.npy", "--out-dir", "outs")
    assert ran.code == 2 and "outs/z.npy: that file is --out y already" in ran.err
    (project / "bad.rho").write_text("y ← 1 2+1 2 3\noutput y\n", encoding="utf-8")
    assert rho("run", "bad.rho", "--out-dir", "new").code == 3 and not (project / "new").exists()
    assert os.listdir(project / "outs") == ["y.npy"] and np.load(project / "outs" / "y.npy").tolist() == [0, 1, 2]


def test_a_profile_is_not_written_over(project: Path, rho: Rho) -> None:
    ran = rho("devices", "--devices", "cpu.toml", "-o", "cpu.toml")
    assert ran.code == 2 and "that file is read by --devices" in ran.err


def test_every_option_that_names_a_file_says_what_becomes_of_it() -> None:
    silent = {"--allow-read", "--allow-write", "--out-dir", "--prefix"}  # folders
    for verb in VERBS:
        for option in verb.options:
            names = option.takes is not Takes.NOTHING and any(word in option.value for word in ("FILE", "PATH", "PLAN", "DIR"))
            assert names == (option.file is not FileUse.NONE) or option.name in silent, (verb.name, option.name)


def test_a_trace_outside_the_permitted_folders_is_refused(project: Path, rho: Rho) -> None:
    (project / "w").mkdir()
    ran = rho("run", "main.rho", "--allow-write", "w", "--trace", "t.json")
    assert ran.code == 4 and "E707" in ran.err and not (project / "t.json").exists()
