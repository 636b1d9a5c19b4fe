"""Code on disk: found again, rejected when damaged or not private, and never needed."""

from __future__ import annotations

import ctypes
import inspect
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from without_code import forget_code

from rho.backend.jit import compiler, tiering
from rho.backend.vm import runtime
from rho.tests.kernels.phases import apply, phase, projection, read, run
from rho.typechecker.elements import Kind


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for thread in threading.enumerate():  # what earlier tests still compile is not for this folder
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join()
    runtime.native()  # compiled once a process, here or before
    monkeypatch.setenv(compiler.SWITCH, str(tmp_path / "kernels"))
    forget_code(monkeypatch)
    return tmp_path / "kernels"


def entries(place: Path) -> list[Path]:
    """What is kept, beside the key."""
    return list(place.glob("*.o"))


def triple(monkeypatch: pytest.MonkeyPatch) -> int:
    """Run one phase as a new process would; how often something was compiled."""
    compiled: list[str] = []
    original = compiler.compile_text

    def counting(text: str) -> bytes:
        compiled.append(text)
        return original(text)

    with monkeypatch.context() as patch:
        patch.setattr(compiler, "compile_text", counting)
        forget_code(patch)
        body = [read(0, Kind.F64), apply("add", (0, 0), Kind.F64), apply("add", (0, 1), Kind.F64)]
        made = phase([9], [projection([9], [9], [0])], body, [2])
        (result,) = run(made, [np.arange(9.0)], tiering.Mode.ALWAYS)
    assert np.array_equal(result, 3 * np.arange(9.0))
    return len(compiled)


def test_found_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [triple(monkeypatch), triple(monkeypatch)] == [1, 0]
    assert len(entries(place)) == 1
    assert os.stat(place).st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "foreign", "head"])
def test_damaged_files_are_made_again(damage: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    triple(monkeypatch)
    (file,) = entries(place)
    good = file.read_bytes()
    middle = len(good) // 2
    flipped = good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :]
    bad = {"flipped": flipped, "cut": good[:middle], "empty": b"", "foreign": b"x" * 999, "head": b"x" + good[1:]}
    file.write_bytes(bad[damage])
    assert triple(monkeypatch) == 1
    assert file.read_bytes() == good


def test_a_folder_that_others_may_write_is_not_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    triple(monkeypatch)
    os.chmod(place, 0o777)
    assert triple(monkeypatch) == 1


REFERRING = f"""
@rho_table_inverse = external global [128 x double]
@many = internal constant [4 x double] [double 1.0, double 2.0, double 4.0, double 8.0]
@calls = internal global i64 40
@zeros = internal global [9 x i64] zeroinitializer
declare double @rho_fmod(double, double)
declare double @fma(double, double, double)
define i64 @{compiler.NAME}(ptr %w) {{
  %index = load i64, ptr %w
  %before = load i64, ptr @calls
  %after = add i64 %before, 1
  store i64 %after, ptr @calls
  %slot = getelementptr i64, ptr @zeros, i64 %index
  store i64 %after, ptr %slot
  %stored = load i64, ptr %slot
  %at = getelementptr double, ptr @many, i64 %index
  %number = load double, ptr %at
  %entry = getelementptr double, ptr @rho_table_inverse, i64 5
  %inverse = load double, ptr %entry
  %rest = call double @rho_fmod(double %number, double %inverse)
  %sum = call double @fma(double %rest, double 1000.0, double %number)
  %whole = fptosi double %sum to i64
  %result = add i64 %whole, %stored
  ret i64 %result
}}
"""


def test_objects_are_loaded_as_llvm_loads_them() -> None:
    code = compiler.compile_text(REFERRING)
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
    loaders = (compiler._load, compiler._load, compiler._load_by_llvm)  # each image has its own variables
    results = []
    for load in loaders:
        kernel = call(load(code))
        results.append([kernel(ctypes.addressof(ctypes.c_int64(index))) for index in (0, 3, 2, 3)])
    assert results[0] == results[1] == results[2] and len(set(results[0])) == 4


@pytest.mark.parametrize("change", ["relocation", "machine", "symbol", "kernel", "cut"])
def test_other_objects_are_loaded_by_llvm(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = compiler.compile_text(REFERRING)
    relocation = next(kind for symbol in range(1, 20) if (kind := struct.pack("<II", 1, symbol)) in code)
    other = {
        "relocation": code.replace(relocation, struct.pack("<I", 2) + relocation[4:]),
        "machine": code[:18] + struct.pack("<H", 183) + code[20:],
        "symbol": code.replace(b"rho_fmod", b"rho_none"),
        "kernel": code.replace(b"\0kernel\0", b"\0kernal\0"),
        "cut": code[: len(code) // 2],
    }[change]
    asked: list[bytes] = []
    monkeypatch.setattr(compiler, "_load_by_llvm", lambda content: asked.append(content) or 7)
    assert compiler.link(code) != 7 and not asked
    assert other != code and compiler.link(other) == 7 and asked == [other]


def test_what_llvm_says_of_the_processor_is_stored(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = compiler._target_of_llvm()
    for _ in range(2):
        assert inspect.unwrap(compiler._target)() == said
        monkeypatch.setattr(compiler, "_target_of_llvm", lambda: None)
    monkeypatch.setenv(compiler.TARGET, "x86-64-v2")
    assert inspect.unwrap(compiler._target)() is None, "another target is not the one that is stored"


def test_a_second_run_loads_its_code_without_llvm(tmp_path: Path) -> None:
    (tmp_path / "small.rho").write_text("x ← ⍳100\n+/{1+⍵÷2}⍣9 ⊢ x×0.5\n", encoding="utf-8")
    script = "import sys\nfrom rho.shell.main import main\nmain(['run', 'small.rho'])\nprint('llvmlite' in sys.modules)"
    environment = {**os.environ, compiler.SWITCH: str(tmp_path / "kernels"), tiering.SWITCH: "always"}
    lines = [
        subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True, capture_output=True, encoding="utf-8"
        ).stdout.splitlines()
        for _ in range(2)
    ]  # fmt: skip
    assert lines[0][:-1] == lines[1][:-1] and [one[-1] for one in lines] == ["True", "False"]


def test_no_folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("off", str(place / "file" / "below")):
        place.mkdir(exist_ok=True)
        (place / "file").write_text("")
        monkeypatch.setenv(compiler.SWITCH, value)
        assert [triple(monkeypatch), triple(monkeypatch)] == [1, 1]
