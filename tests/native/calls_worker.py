"""Calls through the runtime as the system's compiler built it: `python calls_worker.py library` (started by `test_sanitized`)."""

from __future__ import annotations

import ctypes
import sys

import numpy as np

import rho
from rho.backend.jit import tiering
from rho.backend.vm import runtime
from rho.backend.vm.bytecode import NOT_APPLICABLE
from rho.backend.vm.runtime import describe_host

PROGRAMS = (
    ("{1+2×⍵}", lambda x: 1 + 2 * x),
    ("{+/⍵×⍵}", lambda x: (x * x).sum()),
    ("{(+/⍵)÷≢⍵}", lambda x: x.mean()),
    ("{(⍵>3)/⍵}", lambda x: x[x > 3]),
    ("{+/(⍵>3)/⍵}", lambda x: x[x > 3].sum()),
    ("{⍵[⍋⍵]}", np.sort),
    ("{⌽⍵}", lambda x: x[::-1]),
    ("{(0.5×⍵)⍣3⊢⍵}", None),
    ("{+\\⍵}", np.cumsum),
)


def main() -> None:
    host = describe_host()
    assert host is not None
    library = ctypes.CDLL(sys.argv[1])
    started = runtime.start_runtime(host, ctypes.cast(library.kernel, ctypes.c_void_p).value or 0)
    runtime._made[:] = [started]
    tiering.COMPILE_NANOSECONDS = 1.0
    linked = 0
    for text, expected in PROGRAMS:
        if expected is None:
            continue
        function = rho.compile(text)
        for size in (1, 10, 100_000):
            x = (np.arange(float(size)) * 7) % 11
            for _ in range(8):
                assert np.allclose(function(x), expected(x), 1e-14, 1e-14), text
            linked += function._latest(x) is not NOT_APPLICABLE
            for most in range(min(size, 40)):  # other counts of what is selected
                assert np.allclose(function(np.minimum(x, most)), expected(np.minimum(x, most)), 1e-14, 1e-14), text
            assert np.allclose(function(x[::2]), expected(x[::2]), 1e-14, 1e-14)
            assert np.allclose(function(list(x[:3])), expected(x[:3]), 1e-14, 1e-14)
    assert linked >= len(PROGRAMS), linked
    print("fine", linked)


main()
