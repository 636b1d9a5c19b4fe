"""`rho run`: data beside the script, permissions, limits, what is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import MEAN, Rho


def test_run_reads_beside_the_script_and_saves(rho: Rho, project: Path) -> None:
    ran = rho("run", "src/mean.rho", "--set", "k=10", "--out", "mean=m.json")
    assert (ran.code, ran.out) == (0, "30\n")
    assert json.loads((project / "m.json").read_text(encoding="utf-8"))["data"] == 3.0


def test_run_with_other_data(rho: Rho, project: Path) -> None:
    (project / "y.csv").write_text("10\n20\n", encoding="utf-8")
    found = rho("run", "src/mean.rho", "--in", "x=y.csv", "--json").json()
    assert [(value["name"], value["data"]) for value in found["values"]] == [("", 30.0), ("mean", 15.0)]
    assert found["plan"]["sizes"] == {"k": 2, "n": 2}


def test_a_file_elsewhere_needs_permission(rho: Rho, project: Path) -> None:
    (project / "src" / "mean.rho").write_text(MEAN.replace("x.csv", "../data/x.csv"), encoding="utf-8")
    (project / "data").mkdir()
    (project / "data" / "x.csv").write_text("4\n", encoding="utf-8")
    refused = rho("run", "src/mean.rho")
    assert refused.code == 4 and "E707" in refused.err
    assert rho("run", "src/mean.rho", "--allow-read", "data").out == "8\n"


def test_a_link_does_not_lead_out(rho: Rho, project: Path) -> None:
    (project / "secret.csv").write_text("4\n", encoding="utf-8")
    (project / "src" / "x.csv").unlink()
    (project / "src" / "x.csv").symlink_to(project / "secret.csv")
    assert rho("run", "src/mean.rho").code == 4


def test_outputs_stay_in_the_allowed_folders(rho: Rho, project: Path) -> None:
    (project / "out").mkdir()
    refused = rho("run", "src/mean.rho", "--out", "mean=m.npy", "--allow-write", "out")
    assert refused.code == 4 and not (project / "m.npy").exists()
    assert rho("run", "src/mean.rho", "--out", "mean=out/m.npy", "--allow-write", "out").code == 0
    assert (project / "out" / "m.npy").exists()


def test_a_failed_run_leaves_no_output(rho: Rho, project: Path) -> None:
    (project / "src" / "mean.rho").write_text(MEAN + "i ← ⌊x[2]\n(⍳3)[i]\n", encoding="utf-8")
    ran = rho("run", "src/mean.rho", "--out", "mean=m.npy")
    assert (ran.code, ran.out) == (1, "")
    assert sorted(path.name for path in project.iterdir()) == ["src"]


def test_memory_is_bounded_before_the_run(rho: Rho, project: Path) -> None:
    assert rho("run", "src/mean.rho", "--max-memory", "1GiB").code == 0
    refused = rho("run", "src/mean.rho", "--max-memory", "16")
    assert refused.code == 4 and "E702" in refused.err and "n=3" in refused.err


def test_time_is_bounded(rho: Rho, project: Path) -> None:
    (project / "long.rho").write_text("{1+⍵}⍣20000000000 ⊢ 1\n", encoding="utf-8")
    ran = rho("run", "long.rho", "--max-time", "0.2", "--out", "x=y.npy")
    assert ran.code == 2
    ran = rho("run", "long.rho", "--max-time", "0.2")
    assert (ran.code, ran.out) == (5, "")
    assert "E709" in ran.err


def test_what_names_no_cluster_is_refused(rho: Rho, project: Path) -> None:
    ran = rho("run", "src/mean.rho", "--cluster", "10.0.0.1:7000")
    assert ran.code == 2 and "local:2" in ran.err
    assert rho("run", "src/mean.rho", "--restarts", "2").code == 2
    assert rho("run", "src/mean.rho", "--cluster", "local:2", "--restarts", "many").code == 2


@pytest.mark.parametrize(("name", "text"), [("bad.csv", "1,2,a\n"), ("long.csv", "1\n2\n3\n4\n"), ("gone.csv", None)])
@pytest.mark.parametrize("verb", ["run", "plan"])
def test_a_file_is_told_by_its_option(rho: Rho, tmp_path: Path, verb: str, name: str, text: str | None) -> None:
    (tmp_path / "p.rho").write_text("input x : f64[3]\noutput r ← +/x\n", encoding="utf-8")
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    ran = rho(verb, str(tmp_path / "p.rho"), "--in", f"x={tmp_path / name}")
    assert ran.code != 0 or (verb, name) == ("plan", "bad.csv")
    assert ran.code == 0 or f"= the file was given by `--in x={tmp_path / name}`" in ran.err
