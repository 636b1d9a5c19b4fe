"""A process ends while its threads compile, call and wait: with the code it was given, at once, and without a word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from share import share

pytestmark = pytest.mark.long

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


AT_THE_END = """
import atexit, builtins, rho, numpy as np

class Last:
    function = rho.compile("{+/⍵×2}")

    def __del__(self):
        print(float(self.function(np.arange(5.0))))
        print(self.function(np.ones((2, 3))).tolist())

last = Last()
last.function(np.arange(5.0))
"""


KEPT = ["", "builtins.last = last", "last.last = last", "atexit.register(lambda: last.function(np.ones((2, 3))))"]


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("kernels", ["off", "always"])
def test_a_call_while_python_ends(kept: str, kernels: str) -> None:
    """Types that have been prepared are computed; of new ones it is said what to do, as Python loads no modules then."""
    given = [sys.executable, "-c", f"{AT_THE_END}{kept}\n"]
    environment = {**os.environ, "RHO_KERNELS": kernels, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(given, capture_output=True, text=True, timeout=WATCHDOG, env=environment, check=False)
    assert (done.returncode, done.stdout.split("\n")[0]) == (0, "20.0"), done
    if "atexit" in kept:
        assert (done.stdout, done.stderr) == ("20.0\n[6.0, 6.0]\n", "")
    else:
        assert "ImportError" not in done.stderr and "Python is ending" in done.stderr and "atexit.register" in done.stderr


AFTER_PYTHON = """
import ctypes, rho
from rho.backend.jit import compiler
rho.compile("{+/⍵}")(list(range(9)))
code = compiler.compile_text(f"define i64 @{compiler.NAME}(ptr %block) {{\\n  ret i64 0\\n}}\\n")
assert ctypes.CDLL(None).__cxa_atexit(ctypes.c_void_p(compiler.link(code)), None, None) == 0
"""


def test_code_stays_where_threads_run_it_until_the_process_is_gone() -> None:
    """A thread of the pool may be anywhere in its code when Python ends, with the memory of what Python has dropped."""
    given = [sys.executable, "-c", AFTER_PYTHON]
    environment = {**os.environ, "RHO_KERNELS": "always", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(given, capture_output=True, text=True, timeout=WATCHDOG, env=environment, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


IN_HAND = """
import os, sys, threading, rho
from rho.backend.jit import compiler
begun = threading.Event()

@compiler._llvm.run_on
def work():
    begun.set()
    sum(range(5_000_000))
    os.write(1, b"done")

def forever():
    while True:
        work()

threading.Thread(target=forever, daemon=True).start()
begun.wait()
sys.excepthook = threading.excepthook = lambda *about: os.write(2, about[0][0].__name__.encode())
sys.exit(7)
"""


def test_the_end_waits_for_the_compiler_and_lets_it_begin_nothing() -> None:
    """LLVM's objects are destroyed when the process ends: a thread that still compiled crashed it in two of five runs."""
    given = [sys.executable, "-c", IN_HAND]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(given, capture_output=True, text=True, timeout=WATCHDOG, env=environment, check=False)
    assert (done.returncode, set(done.stdout.split("done"))) == (7, {""}), done
    assert done.stdout and done.stderr in ("", "Unsupported"), done


IN_A_LAUNCH = """
import builtins, hashlib, sys, threading
import numpy as np, rho
from rho.backend.jit import compiler
from rho.backend.vm.runtime import native

text = f'''define i64 @{compiler.NAME}(ptr %block) {{
  br label %again
again:
  %i = phi i64 [ 0, %0 ], [ %next, %good ]
  %word = load volatile i64, ptr %block
  %next = add i64 %i, 1
  %is_good = icmp eq i64 %word, 42
  br i1 %is_good, label %good, label %bad
good:
  %more = icmp ult i64 %i, 2000000
  br i1 %more, label %again, label %end
end:
  ret i64 0
bad:
  store volatile i64 0, ptr null
  unreachable
}}'''
tasks, long, words = 500, 10**10, 1
launch = np.array([compiler.link(compiler.compile_text(text)), tasks, words, 1, long, 1, 0, 0] + [42] * tasks)
failure, slots = np.zeros(1, int), np.zeros(1, int)
runtime = native()
runtime.ask_for_helpers(1)
begun = threading.Event()

def work(deep=300):
    if deep:  # beyond what the system leaves of the stack of a thread that has ended
        return sorted([deep - 1], key=work)
    begun.set()
    runtime.launch(launch.ctypes.data, slots.ctypes.data, failure.ctypes.data)

class Last:
    def __del__(self, sha=hashlib.sha256, data=bytes(1 << 20)):
        for _ in range(300):
            sha(data)

builtins.last = Last()
threading.Thread(target=work, daemon=True).start()
begun.wait()
sys.exit(7)
"""


def test_a_launch_outlives_the_thread_that_began_it() -> None:
    """A daemon thread that looks for interrupts while Python ends is gone with its stack, and workers still read its blocks."""
    given = [sys.executable, "-c", IN_A_LAUNCH]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(given, capture_output=True, text=True, timeout=WATCHDOG, env=environment, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")
