"""The module that calls kernels is had wherever it can be: without it every call would go through Python, with no word of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rho.backend.kernels.native_text import Layout
from rho.backend.run import native

binding = pytest.importorskip("llvmlite.binding")


def layout() -> Layout:
    found = native._layout()
    if found is None:
        pytest.skip("another Python, or another system")
    return found


def test_native_calls_are_there() -> None:
    layout()
    assert native.native() is not None


@pytest.mark.parametrize("places", [False, True], ids=["no processors to choose", "processors to choose"])
@pytest.mark.parametrize("processor", ["x86_64", "riscv64"])
def test_text_is_a_module(processor: str, places: bool) -> None:
    text = replace(layout(), places=places, processor=processor).text()
    binding.parse_assembly(text).verify()
