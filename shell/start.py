"""The entry point of the process `rho`, which can be interrupted from its first line on.

While modules are imported there is nothing to clean up, and KeyboardInterrupt would be raised in the middle of an import, so an
interrupt ends the process at once.  `shell.main` installs its handlers when it begins.  This module imports nothing that Python
has not loaded already.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` wraps, without its enums, which take longer to import than this
import os

_INTERRUPTED = 130


def _exit_at_once(number: int, frame: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(_INTERRUPTED)


def main() -> int:
    """Run the command of this process; returns its exit code.

    OpenBLAS gets one thread, since Rho uses it with one.  Otherwise it would start a thread for each core when it is loaded, and
    where the system refuses them send its process SIGINT.
    """
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if _signal.getsignal(_signal.SIGINT) not in (_signal.SIG_IGN, None):
        _signal.signal(_signal.SIGINT, _exit_at_once)
    from .main import main as run

    return run()
