"""Every example, planned for declared devices and run here as if on them, prints what it prints on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Rho

pytestmark = pytest.mark.long

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(path.name for path in EXAMPLES.glob("*.rho") if path.name != "digits_step.rho")  # whose inputs have no files


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("devices", ["laptop", "workstation"])
def test_simulated_devices_print_the_same(rho: Rho, name: str, devices: str) -> None:
    program = str(EXAMPLES / name)
    plain = rho("run", program)
    simulated = rho("run", program, "--simulate", "--devices", devices, "--fast")
    assert (simulated.code, simulated.out) == (0, plain.out), simulated.err
    assert "simulated on" in simulated.err
