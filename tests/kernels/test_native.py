"""The runtime is had wherever it can be: without it every call would go through Python, with no word of it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from rho.backend.jit import compiler
from rho.backend.lower import loop_order
from rho.backend.vm import runtime
from rho.backend.vm.bytecode import Opcode
from rho.backend.vm.runtime import FOLDER, HostStruct, Runtime, describe_host

ROOT = Path(__file__).parent.parent.parent


def test_native_calls_are_there() -> None:
    if describe_host() is None:
        pytest.skip("another Python, or another system")
    assert runtime.native() is not None


@pytest.mark.parametrize("processor", ["x86_64", "aarch64", "riscv64"])
def test_text_is_a_module(processor: str) -> None:
    compiler.binding().parse_assembly(Runtime(processor).text()).verify()


@pytest.mark.parametrize("source", ["vm/runtime.c", "io/records.c"])
def test_text_is_that_of_the_sources(source: str) -> None:
    spec = importlib.util.spec_from_file_location("runtime_tool", ROOT / "tools" / "runtime.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    path = ROOT / "backend" / source
    assert path in tool.SOURCES
    first, text = path.with_suffix(".ll").read_text("utf-8").split("\n", 1)
    assert first == f"; sha256 {tool.digest(path.parent)}", "run tools/runtime.py"
    assert "target " not in text and "x86" not in text


def test_what_stands_in_c_and_in_python_is_the_same() -> None:
    calls = (FOLDER / "run.c").read_text("utf-8")
    listed = calls.split("enum operation {")[1].split("};")[0]
    names = [line.split(",")[0].strip() for line in listed.splitlines() if "/*" in line]
    assert names == [operation.name for operation in Opcode]
    assert f"NO_MEMORY = {loop_order.NO_MEMORY}," in (FOLDER / "launch.c").read_text("utf-8")
    header = (FOLDER / "host.h").read_text("utf-8").split("struct host {")[1].split("};")[0]
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    fields: list[str] = []
    for declaration in header.split(";"):
        pointer = re.search(r"\(\*(\w+)\)\(", declaration)
        fields += [pointer[1]] if pointer else re.findall(r"\*?(\w+)\s*(?:,|$)", declaration)
    assert fields == [name for name, _ in HostStruct._fields_]
