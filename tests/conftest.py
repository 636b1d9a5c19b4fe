"""Tests keep no verdicts in the user's cache, and their kernels in a folder of the session, which workers of pytest-xdist and
processes that tests start share.  What they draw follows from the commit (`share`, hypothesis too).

A stage of a planner that fails is left out for users and an error here (RHO_STAGES).  The large tables (HALVED) are half of what
tests take: the gate draws half of their cases (`share.is_drawn`).  Processes that tests start find their modules
compiled (`__pycache__`), whatever the shell that started the tests says: reading them costs a third of compiling them."""

import atexit
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator
from typing import Any

import pluggy
import pytest
from hypothesis import HealthCheck, is_hypothesis_test, seed, settings
from share import SEED, SHARE, again, is_drawn

os.environ["RHO_VERDICTS"] = "off"
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["RHO_KERNEL_CACHE"] = tempfile.mkdtemp(prefix="rho-kernels-of-tests-")
    atexit.register(shutil.rmtree, os.environ["RHO_KERNEL_CACHE"], ignore_errors=True)
os.environ["RHO_STAGES"] = "strict"
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
for size in ("COLUMNS", "LINES"):  # pytest-xdist sets them in its workers; terminals of tests have sizes of their own
    os.environ.pop(size, None)
# A busy machine is slow: no test fails for the time it took.
settings.register_profile("gate", database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gate")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in background jobs of a shell; tests interrupt themselves
    signal.signal(signal.SIGINT, signal.default_int_handler)

HALVED = (
    "tests/kernels/", "tests/backend/", "tests/loops/", "tests/graph/", "tests/streams/", "tests/lsp/test_robust.py",
    "tests/shell/test_simulated_examples.py", "tests/plans/test_stages.py", "tests/typechecker/test_rules_values.py",
)  # fmt: skip


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A worker has the cases of a module one after another, so that what they share is made once; who is done takes others'."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Also where `-q` leaves pytest's own header out."""
    if terminal := session.config.pluginmanager.get_plugin("terminalreporter"):
        terminal.write_line(f"draws of RHO_SEED={SEED}, RHO_SHARE={SHARE:g}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pluggy.Result[pytest.TestReport]]:
    """Who reads of a failure finds the command that draws the same cases again."""
    report = (yield).get_result()
    if report.failed:
        report.sections.append(("Run it again", again(item.nodeid)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and is_hypothesis_test(item.function):
            seed(SEED)(item.function)
    named = any("::" in argument for argument in config.args)  # who names a test wants it
    tables = [item for item in items if not named and item.nodeid.startswith(HALVED) and hasattr(item, "callspec")]
    left = [item for item in tables if "seed" not in item.callspec.params]  # of random programs, `seeds` draws a share
    dropped = {item.nodeid for item in left if not is_drawn(item.nodeid)}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in dropped])
    items[:] = [item for item in items if item.nodeid not in dropped]
