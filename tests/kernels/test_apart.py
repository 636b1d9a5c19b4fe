"""Compiling in a process of its own: the same code, the same refusals, and no child afterwards."""

from __future__ import annotations

import inspect
import os
import signal
from pathlib import Path

import pytest

from rho.backend.jit import compiler


@pytest.fixture(autouse=True)
def none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler._state, "is_lost", False)


TEXT = f"define i64 @{compiler.NAME}(ptr %w) {{\n  ret i64 2\n}}\n"
GATHER_OF_ANOTHER_VERSION = f"""define <4 x i64> @{compiler.NAME}(<4 x ptr> %w) {{
  %r = call <4 x i64> @llvm.masked.gather.v4i64.v4p0(<4 x ptr> %w, <4 x i1> splat (i1 true))
  ret <4 x i64> %r
}}
declare <4 x i64> @llvm.masked.gather.v4i64.v4p0(<4 x ptr>, <4 x i1>)
"""


def test_the_code_is_that_of_this_process() -> None:
    with compiler.compiling_apart():
        made = compiler.compile_text_out_of_process(TEXT)
        child = compiler._state.child
        assert child is not None
        assert compiler.compile_text_out_of_process(compiler.UNOPTIMIZED + TEXT)
        assert compiler._state.child is child
    assert made == compiler.compile_text(TEXT)


def test_nobody_asks_and_no_process_begins() -> None:
    assert compiler.compile_text_out_of_process(TEXT) == compiler.compile_text(TEXT)
    assert compiler._state.child is None


def test_the_child_ends_with_the_last_who_asked() -> None:
    with compiler.compiling_apart():
        with compiler.compiling_apart():
            compiler.compile_text_out_of_process(TEXT)
        child = compiler._state.child
        assert child is not None
        assert child.poll() is None
    assert child.returncode is not None
    assert compiler._state.child is None


def test_what_outlives_the_run_is_compiled_where_the_run_had_it() -> None:
    """Else a kernel that was begun behind a run takes the compiler's memory beside the limit of the next one."""
    children = list[object]()

    def work(text: str) -> None:
        compiler.compile_text_out_of_process(text)
        children.append(compiler._state.child)

    with compiler.compiling_apart():
        bounded = compiler.as_now(work)
    bounded(TEXT)
    compiler.as_now(work)(TEXT)
    assert children[0] is not None and children[1] is None and compiler._state.child is None


def test_what_is_refused_says_why_and_the_child_goes_on() -> None:
    with compiler.compiling_apart():
        with pytest.raises(compiler.Unsupported, match="expected"):
            compiler.compile_text_out_of_process("this is no module")
        assert compiler.compile_text_out_of_process(TEXT)
        assert compiler._state.child is not None


def test_an_intrinsic_of_another_llvm_is_refused_and_ends_no_process() -> None:
    """LLVM's code generator aborts the process where an operand is missing, as in texts for a newer version."""
    for quick in ("", compiler.UNOPTIMIZED):
        for made in (compiler.compile_text, compiler.assembly):
            with pytest.raises(compiler.Unsupported, match="gather"):
                made(f"{quick}{GATHER_OF_ANOTHER_VERSION}")


def test_an_old_llvm_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiler.binding() is not None
    monkeypatch.setattr(compiler, "OLDEST_LLVM", (1_000,))
    assert inspect.unwrap(compiler.binding)() is None


def test_a_child_that_was_killed_is_replaced_by_this_process() -> None:
    with compiler.compiling_apart():
        compiler.compile_text_out_of_process(TEXT)
        child = compiler._state.child
        assert child is not None
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        assert compiler.compile_text_out_of_process(TEXT) == compiler.compile_text(TEXT)


@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/true", "/bin/echo"])
def test_where_no_child_can_begin_this_process_compiles(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler.sys, "executable", program)
    with compiler.compiling_apart():
        assert compiler.compile_text_out_of_process(TEXT) == compiler.compile_text(TEXT)
        assert compiler._state.child is None


def test_what_never_answers_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The executable of a host that embeds Python may do anything with `-c`; a host may have none."""
    host = tmp_path / "host"
    host.write_text("#!/bin/sh\nexec cat >/dev/null\n")
    host.chmod(0o755)
    monkeypatch.setattr(compiler, "_PATIENCE", 0.1)
    for program in (str(host), None):
        monkeypatch.setattr(compiler.sys, "executable", program)
        with compiler.compiling_apart():
            assert compiler.compile_text_out_of_process(TEXT) == compiler.compile_text(TEXT)
            assert compiler._state.child is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_has_no_part_in_the_child() -> None:
    with compiler.compiling_apart():
        compiler.compile_text_out_of_process(TEXT)
        child = os.fork()
        if child == 0:  # pragma: no cover
            os._exit(0 if compiler._state.users == 0 and compiler._state.child is None else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert compiler.compile_text_out_of_process(TEXT)
