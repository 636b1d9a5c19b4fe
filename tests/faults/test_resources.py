"""Little memory, few descriptors, little stack; kernels and proofs that cannot be had.  A clear error, or the answer."""

from __future__ import annotations

import io
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import share
from without_code import forget_code

from rho.backend.jit import compiler
from rho.shell.console.standard_streams import Console
from rho.shell.main import main
from rho.typechecker.proof import solver, z3_process

pytestmark = pytest.mark.long

LIMIT = 60
TEXTS = ["+/⍳10", "+/√⍳100000", "⌹2 2⍴4 1 2 3", "⍋⌽⍳5000", "'abc'⍳'b'"]


def started(words: list[str], limit: Callable[[], object]) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own that has little of something, with as many threads of BLAS as Rho sees fit."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    return subprocess.run(
        [sys.executable, "-m", "rho.shell", *words], capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False,
        preexec_fn=limit, env=environment | {"RHO_KERNELS": "always"},
    )  # fmt: skip


def require_told(done: subprocess.CompletedProcess[str], what: object) -> None:
    """A documented outcome.  A library may end the process itself where it finds no memory; Python too, before Rho starts."""
    if done.returncode == 0:
        return
    assert "a bug in Rho" not in done.stderr and done.stderr.strip(), (what, done)
    words = ("OpenBLAS", "Fatal Python", "Error while finding module spec", "shared librar", "std::bad_alloc")
    foreign = any(text in done.stderr for text in words)
    assert done.returncode in (1, 3, 4) or (foreign and done.returncode != 130), (what, done)
    assert "Traceback" not in done.stderr or "shell/main.py" not in done.stderr, (what, done)


@pytest.mark.parametrize("megabytes", share([*range(30, 400, 21), *range(400, 1400, 200)], seed=11))
def test_little_memory(megabytes: int) -> None:
    limit, text = megabytes << 20, TEXTS[megabytes % len(TEXTS)]
    done = started(["eval", text], lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    require_told(done, (megabytes, text))


@pytest.mark.parametrize("megabytes", share(range(60, 400, 10), seed=14))
def test_nobody_interrupts_where_threads_cannot_begin(megabytes: int) -> None:
    """OpenBLAS sends SIGINT to its process when it cannot start one, as where there is no memory for its stack."""
    limit = megabytes << 20
    text = "+/+/(200 200⍴⍳40000)+.×200 2⍴1.5"
    done = started(["eval", text], lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    require_told(done, megabytes)
    assert "interrupted" not in done.stderr


@pytest.mark.parametrize("count", share(range(3, 24), seed=12))
def test_few_descriptors(count: int) -> None:
    text = TEXTS[count % len(TEXTS)]
    done = started(["eval", text], lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count)))
    require_told(done, (count, text))


@pytest.mark.parametrize("kilobytes", share([128, 192, 256, 512, 1024], seed=13))
def test_little_stack(kilobytes: int) -> None:
    limit = kilobytes << 10
    deep = "(" * 90 + "1" + ")" * 90
    for text in [*share(TEXTS, seed=kilobytes), deep]:
        done = started(["eval", text], lambda: resource.setrlimit(resource.RLIMIT_STACK, (limit, limit)))
        require_told(done, (kilobytes, text))


# ------------------------------------------------------------------------------ what is asked for and not given


def evaluated(text: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return int(main(["eval", text], Console(out, err, io.StringIO(), {}))), out.getvalue(), err.getvalue()


def failing(real: Callable[..., Any], number: int, error: BaseException, seen: list[object]) -> Callable[..., Any]:
    """The `number`-th call fails."""

    def call(*args: Any, **more: Any) -> Any:
        seen.append(None)
        if len(seen) == number:
            raise error
        return real(*args, **more)

    return call


def attempts(patched: Callable[[pytest.MonkeyPatch, int, list[object]], None], text: str, most: int = 40) -> int:
    """Run with the first, second, … request refused, until there are no more; how many there were."""
    expected = evaluated(text)
    assert expected[0] == 0, expected
    for number in range(1, most):
        seen: list[object] = []
        with pytest.MonkeyPatch.context() as patch:
            patched(patch, number, seen)
            code, out, err = evaluated(text)
        assert "a bug in Rho" not in err and "Traceback" not in err, (number, err)
        assert (code, out) == expected[:2] or (code in (1, 3, 4, 5) and err), (number, code, out, err)
        if len(seen) < number:
            return number - 1
    raise AssertionError("it never stopped asking")


@pytest.mark.parametrize("error", [compiler.Unsupported("no"), MemoryError()], ids=["unsupported", "memory"])
@pytest.mark.parametrize("what", ["compile_text", "link"])
def test_a_kernel_that_cannot_be_made(what: str, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNEL_CACHE", "off")
    monkeypatch.setenv("RHO_KERNELS", "always")
    real = getattr(compiler, what)

    def patched(patch: pytest.MonkeyPatch, number: int, seen: list[object]) -> None:
        forget_code(patch)
        patch.setattr(compiler, what, failing(real, number, error, seen))

    assert attempts(patched, "(+/√⍳5000),⌈/⌽(⍳5000)×2.5") > 0


@pytest.mark.parametrize("error", [None, OSError(12, "no memory"), MemoryError()], ids=["no answer", "system", "memory"])
def test_a_solver_that_does_not_answer(error: Exception | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "a.npy", np.arange(30.0))
    script = tmp_path / "x.rho"
    script.write_text('input a : f64[n] ← "a.npy"\nn ← ≢a\n+/((2×⌊(n×1+n)÷2)⍴a)-(n×1+n)⍴⌽a\n', encoding="utf-8")

    def run() -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr(solver, "_verdicts", {})
        return int(main(["run", str(script)], Console(out, err, io.StringIO(), {}))), out.getvalue(), err.getvalue()

    expected = run()
    assert expected[0] == 0, expected
    real = z3_process._process._exchange

    for number in range(1, 5):
        seen: list[object] = []

        def exchange(*args: Any, number: int = number, seen: list[object] = seen) -> Any:
            seen.append(None)
            if len(seen) != number:
                return real(*args)
            if error is None:
                return None
            raise error

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(z3_process._process, "_exchange", exchange)
            patch.setattr(z3_process._process, "deaths", 0)
            code, out, err = run()
        assert "a bug in Rho" not in err and (out == expected[1] or code != 0), (number, code, out, err)
        if len(seen) < number:
            break
    else:
        raise AssertionError("it never stopped asking")
