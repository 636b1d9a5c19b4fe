"""What kernels need while they run: no more stack than threads have, and a diagnostic where there is no memory."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

import pytest

from rho.backend.codegen.llvm_builder import ON_STACK, IrBuilder, ThreadArena

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="blocks of threads are those of POSIX")

_START: Final = """
import threading
import numpy as np, rho
from rho.shell.embedding import functions
from rho.tests.kernels.guarded import with_small_stacks
"""

_MANY_PIECES: Final = (
    _START
    + """
functions.cores = lambda: 64
x, A = np.arange(40000.0) % 31, np.arange(600000.0).reshape(2000, 300) % 17
f, g, h = rho.compile("{⌊⍵×⍵+1}"), rho.compile("{+⌿⍵}"), rho.compile("{+\\\\⍵}")
y = np.where(np.arange(40000) == 37777, 1e300, x)

def work():
    for _ in range(300):
        assert np.array_equal(f(x), x * (x + 1)) and np.array_equal(g(A), A.sum(0)) and np.array_equal(h(x), np.cumsum(x))
        try:
            f(y)
        except rho.RhoError as error:
            assert "E703" in str(error)
        else:
            raise AssertionError

with_small_stacks(work)
"""
)

_NO_MEMORY: Final = (
    _START
    + """
import ctypes
from rho.backend.jit import compiler as llvm_leaf
never = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(lambda bytes: None)
symbol = llvm_leaf._symbol
llvm_leaf._symbol = lambda name: ctypes.cast(never, ctypes.c_void_p).value if name == "rho_malloc" else symbol(name)
A = np.arange(600000.0).reshape(2000, 300) % 17
for text in ("{+⌿⍵}",):
    function = rho.compile(text)
    for _ in range(3):
        try:
            function(A)
        except rho.RhoError as error:
            assert "E702" in str(error), error
        else:
            raise AssertionError(text)
assert np.array_equal(rho.compile("{⍵+1}")(A), A + 1)
"""
)


@pytest.mark.parametrize("text", [_MANY_PIECES, _NO_MEMORY], ids=["many pieces", "no memory"])
def test_in_a_process_of_its_own(text: str) -> None:
    found = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", text],
        env=os.environ | {"RHO_KERNEL_CACHE": "off", "RHO_KERNELS": "always"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr


def test_no_more_than_some_kib_lie_on_the_stack() -> None:
    rooms = ThreadArena(IrBuilder())
    for bytes in (ON_STACK // 2, ON_STACK, 8, ON_STACK // 2 - 8, 8):
        rooms.room(bytes)
    entry = rooms.entry()
    assert sum("alloca" in line for line in entry) == 3
    assert any(f"@block_of_thread(i64 {ON_STACK + ON_STACK // 2})" in line for line in entry)
