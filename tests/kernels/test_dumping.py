"""What the compiler makes can be looked at: RHO_DUMP, RHO_PERF_MAP, and what `--analyze` says of machine code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rho.backend.jit import compiler
from rho.backend.loopir.text import parse

pytestmark = pytest.mark.long

PROGRAM = "x ← 100000⍴1 2 3.5\ny ← {(⍵+¯1⌽⍵)÷2}⍣100 ⊢ x\ntotal ← +/y×y\ntotal\n"


def _run(folder: Path, *options: str, program: str = PROGRAM, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "p.rho").write_text(program, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "rho", "run", "p.rho", *options], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "RHO_KERNEL_CACHE": "off", **environment}, timeout=300,
    )  # fmt: skip


def test_a_dump_holds_words_loop_programs_llvm_and_assembly_and_changes_nothing(tmp_path: Path) -> None:
    plain = _run(tmp_path)
    dumped = _run(tmp_path, RHO_DUMP=str(tmp_path / "new" / "dump"))
    assert (dumped.stdout, dumped.stderr, dumped.returncode) == (plain.stdout, plain.stderr, 0)
    names: dict[str, set[str]] = {}
    for file in (tmp_path / "new" / "dump").iterdir():
        names.setdefault(file.suffix, set()).add(file.stem)
    assert names[".ll"] and names[".ll"] == names[".s"] and names[".loops"] <= names[".ll"] and names[".words"]
    for stem in names[".loops"]:
        for stage in (tmp_path / "new" / "dump" / f"{stem}.loops").read_text(encoding="utf-8").split("\n\n"):
            assert not stage.strip() or parse(stage).name
    (words,) = [(tmp_path / "new" / "dump" / f"{stem}.words").read_text(encoding="utf-8") for stem in names[".words"]]
    assert "LoopInstruction of=Loop" in words and " trip=100 " in words


@pytest.mark.skipif(not compiler.has_feature("avx512f"), reason="this processor has no AVX-512 to leave out")
def test_a_target_without_avx512_has_code_without_it_and_the_same_bits(tmp_path: Path) -> None:
    program = "x ← 3000⍴0.1 2.7 3.5 ÷ 7\n(+/x×x*3) ⋄ +/÷1+*-x\n"
    outputs, wide = [], []
    for target in ("", "x86-64-v3"):
        folder = tmp_path / f"dump{target}"
        outputs.append(_run(tmp_path, program=program, RHO_KERNELS="always", RHO_DUMP=str(folder), RHO_TARGET=target).stdout)
        wide.append(any("%zmm" in file.read_text(encoding="utf-8") for file in folder.glob("*.s")))
    assert outputs[0] == outputs[1] and outputs[0]
    assert wide == [True, False]


def test_words_of_a_loop_that_reads_its_index_can_be_written(tmp_path: Path) -> None:
    dumped = _run(tmp_path, program="{⍵+0.5×⍺}⍣(⍳9) ⊢ 0.0×⍳7\n", RHO_DUMP=str(tmp_path / "dump"))
    assert (dumped.returncode, dumped.stderr) == (0, "")
    assert any("index=" in file.read_text(encoding="utf-8") for file in (tmp_path / "dump").glob("*.words"))


def test_a_folder_that_cannot_be_written_is_told_once_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run = _run(tmp_path, RHO_DUMP=str(tmp_path / "file"))
    assert run.returncode == 0 and run.stdout
    assert run.stderr.count("RHO_DUMP") == 1 and "nothing can be written there" in run.stderr


def test_names_follow_from_the_text() -> None:
    assert compiler.name_of("a") == compiler.name_of("a") != compiler.name_of("b")


def test_perf_is_told_where_code_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int, int]] = []
    monkeypatch.setattr(compiler, "tell_perf", lambda *entry: told.append(entry))
    monkeypatch.setenv(compiler.PERF_MAP, "on")
    monkeypatch.setenv(compiler.SWITCH, "off")

    class Two:
        def text(self) -> str:
            return f"define i64 @{compiler.NAME}(ptr %w) {{\n  ret i64 2\n}}\n"

    address = compiler.address_of(Two())
    ((name, start, count),) = told
    assert start == address and 1 <= count < 64 and name == compiler.name_of(Two().text())


def test_the_map_is_no_link(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(compiler.PERF_MAP, "on")
    link = Path(f"/tmp/perf-{os.getpid()}.map")
    link.unlink(missing_ok=True)
    (tmp_path / "target").write_text("mine")
    link.symlink_to(tmp_path / "target")
    try:
        compiler.tell_perf("x", 16, 4)
    finally:
        link.unlink()
    assert (tmp_path / "target").read_text() == "mine" and compiler.PERF_MAP in capfd.readouterr().err


def test_analyze_says_what_machine_code_cost(tmp_path: Path) -> None:
    first = _run(tmp_path, "--analyze", "--json", RHO_KERNEL_CACHE=str(tmp_path / "cache"))
    second = _run(tmp_path, "--analyze", "--json", RHO_KERNEL_CACHE=str(tmp_path / "cache"))
    spent, again = (json.loads(run.stdout)["plan"]["machine_code"] for run in (first, second))
    assert spent["compiled"] >= 1 and 0 < spent["longest"] <= spent["seconds"] + 1e-9
    assert again["compiled"] == 0 and again["from_cache"] >= 1
    assert "from the cache" in _run(tmp_path, "--analyze", RHO_KERNEL_CACHE=str(tmp_path / "cache")).stderr
