"""What a run takes: memory by the operating system's account, and bytes read by its counters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from share import half

from rho.shell.execution.streaming import InTiles

from .programs import CASES
from .running import loaded

pytestmark = pytest.mark.long

LIMIT = 8_000_000
OWN = 1 << 20
"""What a process takes meanwhile that no plan counts: stacks of threads, objects of Python (at most 480 kB were seen, loaded)."""
_PEAK = """
import sys
from pathlib import Path
sys.path[:0] = [{tests!r}]
from streams.running import loaded
from rho.backend.jit import compiler
from rho.shell.pipeline import Session

def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))

def read():
    with open("/proc/self/io") as file:
        return int(file.readline().split()[1])

text = {text!r}
folders = [Path(name) for name in sys.argv[1:]]
warm = loaded(text, folders[0], {limit} // 4)
assert warm.plan.stores
outcome = Session().run(warm)
for shown in outcome.outputs.values():
    if hasattr(shown.value, "discard"):
        shown.value.discard()
del outcome, warm
big = loaded(text, folders[1], {limit})
assert big.plan.stores
if compiler.is_installed():  # LLVM takes 45 MB, at first here if the run in small tiles met stored kernels alone
    compiler.compile_text("define void @none() {{ ret void }}")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before, bytes_before = peak(), read()
outcome = Session().run(big)
after, bytes_after = peak(), read()
for shown in outcome.outputs.values():
    if hasattr(shown.value, "discard"):
        shown.value.discard()
print(after - before, bytes_after - bytes_before)
"""
_NAMES = ("hypotenuse", "stencil", "variance", "written", "sorted", "grade", "columns of a matrix")


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's accounts of a process")
@pytest.mark.parametrize("name", half(_NAMES, "a file"))
def test_a_file_five_times_the_limit(name: str, tmp_path: Path) -> None:
    (case,) = [case for case in CASES if case.name == name]
    draw = np.random.default_rng(1)
    for folder, n in (("small", 700_000), ("big", 5_000_000)):
        (tmp_path / folder).mkdir()
        numbers = draw.standard_normal(n)
        np.save(tmp_path / folder / "x.npy", numbers)
        np.save(tmp_path / folder / "m.npy", numbers[: n // 12 * 12].reshape(-1, 12))
    code = _PEAK.format(tests=str(Path(__file__).parents[1]), text=case.text, limit=LIMIT)
    command = [sys.executable, "-c", code, str(tmp_path / "small"), str(tmp_path / "big")]
    stored = {name: text for name, text in os.environ.items() if name != "RHO_KERNEL_CACHE"}
    stored["XDG_CACHE_HOME"] = str(tmp_path)  # is empty: what is compiled is compiled now
    program = loaded(case.text, tmp_path / "big", LIMIT)
    assert max(count for _, count in program.plan.main.peak) <= LIMIT
    assert isinstance(program.run, InTiles)
    scratch = sum(one.bytes for one in program.run.streaming.scratch)
    for kernels in ("compiled", "some compiled", "in the cache"):
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, env=stored)
        assert ran.returncode == 0, ran.stderr
        grown, read = map(int, ran.stdout.split())
        assert grown <= LIMIT + OWN, f"{grown:,} bytes more than a run in few small tiles, kernels {kernels}"
    assert read <= 1.05 * ((case.passes - bool(scratch)) * 40_000_000 + scratch) + 1_000_000
