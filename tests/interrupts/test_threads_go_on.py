"""A loop that runs as native words lets other threads of Python go on: they get the lock in turn, and can stop it."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

SCRIPT = r"""
import _thread, ctypes, threading
import numpy as np
import rho

loop = rho.compile(r"{{+\⌽⍵÷2}⍣(1000000000000 ⋄ {0<+/⍵}) ⊢ ⍵}")
for _ in range(400):
    loop(np.arange(30.0) + 1)
ENDLESS = np.arange(30.0) - 1e300

class Stop(BaseException):
    pass

def busy():
    for _ in range(3_000_000):  # of Python, for longer than it takes to begin
        pass

def main_is_interrupted():
    def other():
        busy()
        _thread.interrupt_main()
    threading.Thread(target=other).start()
    try:
        loop(ENDLESS)
    except KeyboardInterrupt:
        print("interrupted")

def thread_is_stopped():
    ended = []
    def run():
        try:
            loop(ENDLESS)
        except Stop:
            ended.append("stopped")
    thread = threading.Thread(target=run)
    thread.start()
    busy()
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Stop))
    thread.join()
    print(*ended)
"""
WATCHDOG = 120.0


@pytest.mark.parametrize(("what", "said"), [("main_is_interrupted", "interrupted"), ("thread_is_stopped", "stopped")])
def test_other_threads_go_on(what: str, said: str) -> None:
    done = subprocess.run([sys.executable, "-c", f"{SCRIPT}\n{what}()"], capture_output=True, text=True, timeout=WATCHDOG)
    assert (done.stdout.strip(), done.returncode) == (said, 0), done.stderr
