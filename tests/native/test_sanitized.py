"""The runtime's C under gcc's sanitizers, where gcc is there: data races, memory, undefined behaviour."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rho.backend.vm.runtime import FOLDER, describe_host

HERE = Path(__file__).parent
GCC = shutil.which("gcc")
pytestmark = [pytest.mark.skipif(GCC is None or sys.platform != "linux", reason="no gcc"), pytest.mark.long]
COMMON = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fno-strict-aliasing", "-pthread"]


def built(flags: list[str], source: Path, target: Path) -> Path:
    assert GCC is not None
    done = subprocess.run([GCC, *COMMON, *flags, str(source), "-o", str(target)], capture_output=True, text=True)
    if "cannot find -l" in done.stderr:
        pytest.skip("gcc without this sanitizer")
    assert not done.returncode, done.stderr
    return target


@pytest.mark.parametrize("sanitizer", ["thread", "address", "undefined"])
def test_pool(sanitizer: str, tmp_path: Path) -> None:
    program = built([f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all"], HERE / "pool_test.c", tmp_path / "pool")
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr


@pytest.mark.parametrize("sanitizer", ["address", "undefined"])
@pytest.mark.parametrize("sources", [FOLDER / "runtime.c", FOLDER.parent / "io" / "records.c"], ids=["runtime", "records"])
def test_calls(sanitizer: str, sources: Path, tmp_path: Path) -> None:
    if describe_host() is None:
        pytest.skip("another Python, or another system")
    assert GCC is not None
    source = tmp_path / "library.c"
    source.write_text(f'#include "{sources}"\nvoid rho_pause(void) {{ }}\n', "utf-8")
    flags = ["-shared", "-fPIC", "-fvisibility=default", f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all"]
    library = built(flags, source, tmp_path / "library.so")
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0", RHO_KERNEL_CACHE=str(tmp_path / "cache"))
    if sanitizer == "address":
        found = subprocess.run([GCC, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
        environment["LD_PRELOAD"] = found.stdout.strip()
    worker = "calls_worker.py" if sources.name == "runtime.c" else "records_worker.py"
    command = [sys.executable, str(HERE / worker), str(library)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("fine")
