"""Kernels touch nothing beside their arrays, and threads may compile and run them at once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.long


@pytest.mark.skipif(sys.platform == "win32", reason="pages are fenced with mprotect")
def test_between_fenced_pages_and_in_threads() -> None:
    """In a process of its own: a stray access ends it."""
    found = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "rho.tests.kernels.guarded"],
        env=os.environ | {"RHO_KERNEL_CACHE": "off"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
