"""A process ends while its threads compile, call and wait: with the code it was given, at once, and without a word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from share import share

WATCHDOG = 120.0
CODE = 7
BEGIN = """
import atexit, os, signal, sys, threading
from concurrent.futures import ThreadPoolExecutor
import numpy as np, rho
functions = [rho.compile("{+/⍵×%d+⌽⍵}" % number) for number in range(30)]
going = threading.Event()
def work(count=30):
    for number, function in enumerate(functions[:count]):
        going.set()
        function(np.arange(5000.0 + number))
def in_background():
    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    going.wait()
"""
ENDS = {
    "sys.exit": "in_background()\nsys.exit(7)",
    "os._exit": "in_background()\nos._exit(7)",
    "a signal": "signal.signal(signal.SIGTERM, lambda *about: sys.exit(7))\nin_background()"
    "\nos.kill(os.getpid(), signal.SIGTERM)\nsys.exit(7)",
    "threads that end later": "for _ in range(3): threading.Thread(target=work, args=(3,)).start()\nsys.exit(7)",
    "calls at the end": "atexit.register(lambda: functions[0](np.arange(9000.0)))\nwork(1)\nsys.exit(7)",
    "an executor": "pool = ThreadPoolExecutor(3)\nfor _ in range(6): pool.submit(work, 2)\nsys.exit(7)",
    "an executor that is shut down": "pool = ThreadPoolExecutor(3)\nfor _ in range(6): pool.submit(work, 2)"
    "\npool.shutdown(cancel_futures=True)\nsys.exit(7)",
}


@pytest.mark.parametrize("kernels", ["cold", "warm"])
@pytest.mark.parametrize("end", share([*ENDS], seed=31))
def test_a_process_ends_while_its_threads_work(end: str, kernels: str, tmp_path: Path) -> None:
    environment = {**os.environ, "RHO_KERNELS": "always", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    if kernels == "cold":  # compiled meanwhile
        environment["XDG_CACHE_HOME"] = str(tmp_path)
    given = [sys.executable, "-c", BEGIN + ENDS[end]]
    done = subprocess.run(given, capture_output=True, text=True, timeout=WATCHDOG, env=environment, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (CODE, "", ""), end
