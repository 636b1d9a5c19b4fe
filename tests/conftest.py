"""Tests keep no verdicts in the user's cache, and their kernels and temporary files in a folder of the session, which workers of
pytest-xdist and processes that tests start share.  What they draw follows from the commit (`share`, hypothesis too).

A stage of a planner that fails is left out for users and an error here (RHO_STAGES).  Large tables (TABLES) and tests that take
long (`pytest.mark.long`) are most of what tests take: a run draws a share of them, and all with RHO_SHARE=1 (`.ci/nightly`) and
of a test that is named.  Processes that tests start find their modules compiled (`__pycache__`), whatever the shell that started
the tests says: reading them costs a third of compiling them."""

import gc
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Generator
from typing import Any

import pluggy
import pytest
import session_folder
from hypothesis import HealthCheck, is_hypothesis_test, seed, settings
from share import SEED, SHARE, again, is_drawn, share_of_names

os.environ["RHO_VERDICTS"] = os.environ["RHO_PROGRAM_CACHE"] = "off"
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["RHO_KERNEL_CACHE"] = str(session_folder.begin() / "kernels")
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

TABLES = tuple(f"tests/{room}" for room in (
    "kernels/", "backend/", "loops/", "graph/", "streams/", "lsp/", "shell/", "typechecker/", "schedule/", "plans/", "calls/",
    "cluster/", "examples/", "repl/", "library/", "devices/", "gradients/", "bits/", "lang/test_reader.py",
))  # fmt: skip
"""Rooms and files whose parametrised tests are tables of alike cases: a run draws a share of each file's, at least one."""
QUICK = 6
"""With `--quick` a run draws one in so many of the tests of every room."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help=f"one in {QUICK} of the tests of every room, others at every commit")


def drawn(items: list[pytest.Item]) -> set[str]:
    """The names of the tests of this run.  Random programs (`seed`) and nets that call `share` are drawn there."""
    names: set[str] = set()
    groups: dict[str, list[str]] = defaultdict(list)
    for item in items:
        name, file = item.nodeid, item.nodeid.partition("::")[0]
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if item.get_closest_marker("long"):
            groups["long " + file.rpartition("/")[0]].append(name)
        elif parameters and "seed" not in parameters and name.startswith(TABLES):
            groups[file].append(name)
        else:
            names.add(name)
    return names.union(*map(share_of_names, groups.values()))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A worker has the cases of a module one after another, so that what they share is made once; who is done takes others'."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Generator[None]:
    """What collecting makes lives as long as the session: no search for garbage goes through it again."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


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
    if config.option.keyword or any("::" in argument for argument in config.args):  # who names a test wants it
        return
    names = drawn(items)
    if config.getoption("--quick"):
        names = {name for name in names if is_drawn(f"quick {name}", QUICK)}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in names])
    items[:] = [item for item in items if item.nodeid in names]
