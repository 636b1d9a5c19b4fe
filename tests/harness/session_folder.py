"""One folder for the temporary files of a session of tests and of the processes that it starts; it goes with the session.

A session that is killed leaves its folder, which the next one removes: folders are named by the process.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "rho-tests-"


def begin() -> Path:
    """Let all temporary files of this process and its children lie in a new folder, but pytest's own, which are read later."""
    parent = Path(tempfile.gettempdir())
    for left in parent.glob(f"{PREFIX}*-*"):
        if not is_running(left.name.removeprefix(PREFIX).split("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(parent))
    owner = os.getpid()
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{owner}-"))
    folder.chmod(0o711)  # tests become users who may only pass through it
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
    return folder


def is_running(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:  # of another user
        pass
    return True
