"""The entry point of the process `rho`, which can be interrupted from its first line on.

While modules are imported there is nothing to be kept, and an exception would come out of the middle of an import: whoever
interrupts then ends the process at once.  `main` takes interrupts over when it begins.

Imports nothing that Python has not loaded by itself.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` wraps, without its enums, which take longer to import than this
import os

_INTERRUPTED = 130


def _leave(number: int, frame: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(_INTERRUPTED)


def main() -> int:
    """Run the command of this process.

    Rho calls BLAS on one thread.  OpenBLAS starts one for each core when it is loaded all the same, and where the system has none
    to give it sends its process the signal of Ctrl-C; so it is told beforehand."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if _signal.getsignal(_signal.SIGINT) not in (_signal.SIG_IGN, None):
        _signal.signal(_signal.SIGINT, _leave)
    from .main import main as run

    return run()
