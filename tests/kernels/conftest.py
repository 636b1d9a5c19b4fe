"""What several tests of kernels look at."""

from __future__ import annotations

from typing import Any

import pytest

from rho.backend.cpu import kernels as compiled
from rho.backend.lower.body import Kernel


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> list[Kernel]:
    """The kernels that are bound while the test runs, in order."""
    seen: list[Kernel] = []
    original = compiled.CompiledRun.bind

    def bind(self: compiled.CompiledRun, code: Any, arrays: Any) -> Any:
        seen.append(code.kernel)
        return original(self, code, arrays)

    monkeypatch.setattr(compiled.CompiledRun, "bind", bind)
    return seen
