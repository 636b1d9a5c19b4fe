"""Programs of every kind of phase under `--max-memory`: they take no more than that beside the process itself, or are refused.

Each is a process of its own, whose highest resident size the system tells.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache

import pytest
from share import share

from .programs import PROGRAMS

pytestmark = pytest.mark.long

MB = 1 << 20
LIMITS = (25, 100, 400)
SLACK = 40 * MB
"""What libraries take that are loaded for some programs only: LAPACK, an FFT, kernels of several phases."""
WATCHDOG = 300
STARTED = "+/{⍵[⍋⍵]}1○√⍳100000"
RUN = """
import json, resource, subprocess, sys
ran = subprocess.run([sys.executable, "-m", "rho.shell", *sys.argv[1:]], capture_output=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([ran.returncode, used.ru_maxrss * 1024, ran.stdout.decode(), ran.stderr.decode("utf-8", "replace")]))
"""


def short(program: str) -> str:
    """Two turns, and a reduction of some million items, take as much memory as many."""
    return re.sub(r"10000000000\b", "30000000", re.sub(r"⍣\d+", "⍣2", program)).replace("2000000000", "3000000")


def taken(program: str, *words: str) -> tuple[int, int, str]:
    """The exit code, the highest resident bytes, and what was said."""
    done = subprocess.run([sys.executable, "-c", RUN, "eval", program, *words], capture_output=True, text=True, timeout=WATCHDOG)
    code, most, out, err = json.loads(done.stdout)
    return code, most, out + err


@cache
def alone(mode: str) -> int:
    """What the process takes for little work."""
    code, most, said = taken(STARTED)
    assert code == 0, (mode, said)
    return most


CASES = [(name, mode, limit) for name in PROGRAMS if name != "LAPACK" for mode in ("auto", "always") for limit in LIMITS]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="resident sizes are those of Linux")
@pytest.mark.parametrize(("name", "mode", "limit"), share(share(CASES, seed=61), seed=62))
def test_no_more_than_allowed(name: str, mode: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", mode)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    code, most, said = taken(short(PROGRAMS[name]), "--max-memory", f"{limit}MB", "--max-time", "30")
    assert code in (0, 4, 5), said
    assert code != 4 or "E702" in said, said
    assert most <= alone(mode) + limit * MB + SLACK, (most // MB, alone(mode) // MB)
