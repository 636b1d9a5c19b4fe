"""`rho check` and `rho type`: formats, strictness, modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Rho


def test_check_formats(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.rho").write_text("+/⍳3\n", encoding="utf-8")
    Path("bad.rho").write_text("𝑥 ← 1\n1 2+⍳3\n", encoding="utf-8")
    assert rho("check", "good.rho").code == 0
    ran = rho("check", ".", "--json")
    assert ran.code == 3
    found = ran.json()
    assert found["files"] == ["bad.rho", "good.rho"] and found["version"] == 1
    assert found["summary"]["errors"] == len(found["diagnostics"])
    last = found["diagnostics"][-1]
    assert (last["code"], last["file"], last["range"]["start"]["line"]) == ("E101", "bad.rho", 1)
    assert rho("check", ".", "--format", "sarif").json()["runs"][0]["results"]
    assert rho("check", ".", "--format", "github").out.startswith("::error file=bad.rho,line=")


def test_strict_refuses_guards(rho: Rho) -> None:
    program = 'input x : f64[n] ← "x.npy"\n2 _⍴x\n'
    assert rho("check", "-", stdin=program).code == 0
    assert rho("check", "-", "--strict", stdin=program).code == 3


def test_checking_reads_no_data(rho: Rho, project: Path) -> None:
    (project / "src" / "x.csv").unlink()
    assert rho("check", "src/mean.rho").code == 0


def test_modules_beside_the_script(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "inner.rho").write_text("half ← {⍵÷2}\n", encoding="utf-8")
    (tmp_path / "lib" / "geometry.rho").write_text('use "./inner.rho"\narea ← {inner.half ×/⍵}\n', encoding="utf-8")
    (tmp_path / "main.rho").write_text('use "./lib/geometry.rho"\ngeometry.area 3 4\n', encoding="utf-8")
    assert rho("run", "main.rho").out == "6\n"


def test_modules_in_a_circle(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.rho").write_text('use "./b.rho"\nf ← {b.g ⍵}\n', encoding="utf-8")
    (tmp_path / "b.rho").write_text('use "./a.rho"\ng ← {a.f ⍵}\n', encoding="utf-8")
    (tmp_path / "main.rho").write_text('use "./a.rho"\na.f 1\n', encoding="utf-8")
    ran = rho("run", "main.rho")
    assert ran.code == 3 and "E600" in ran.err


def test_the_standard_library(rho: Rho) -> None:
    assert rho("eval", "use stats ⋄ stats.mean 1 2 3 6").out == "3\n"


def test_type_of_an_expression(rho: Rho) -> None:
    assert rho("type", "2 3⍴1.5").out == "f64[2 3]\n"
    assert rho("type", "--json", "2 3⍴1.5").json()["type"] == "f64[2 3]"
    assert rho("type", "1 2+1 2 3").code == 3
