"""`--cluster`: a cluster that is attached to when its devices are asked for, and let go when the command ends.

Neighbours: `scheduling` (plans for it), `backend.run.cluster` (does the work), `session` (runs).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...lang.numerals import natural
from ...lang.properties import cached_property
from ..cli.arguments import Arguments, UsageError
from ..cli.ending import is_command

if TYPE_CHECKING:
    from ...backend.run.cluster.home import Cluster

RESTARTS = 3
_MOST_RESTARTS = 1000


class Attachment:
    """`where`: what `membership.attach` takes."""

    def __init__(self, where: object, restarts: int = RESTARTS) -> None:
        self.where, self.restarts = where, restarts
        self.tell: Callable[[str], None] = lambda words: None
        """Is told why a run begins again; set it before the cluster is asked for."""

    @cached_property
    def cluster(self) -> Cluster:
        """UsageError: it is not a cluster.  RunFailed E710: it does not answer."""
        from ...backend.run.cluster.home import Cluster
        from ...backend.run.cluster.membership import BadCluster, attach
        from .profiles import this_machine

        if is_command():
            _no_words_of_semaphores()
        try:
            membership = attach(self.where)
        except BadCluster as error:
            raise UsageError(f"--cluster: {error}") from None
        try:
            return Cluster(membership, this_machine(), self.restarts, self.tell)
        except BaseException:
            membership.close()
            raise

    def close(self) -> None:
        found = self.__dict__.pop("cluster", None)
        if found is not None:
            found.close()


def _no_words_of_semaphores() -> None:
    """What a command that is interrupted leaves behind of Python's semaphores a process of Python's removes, and warns of it."""
    if os.name != "posix":
        return
    from multiprocessing import resource_tracker

    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker" if before is None else f"{before},ignore:resource_tracker"
    try:
        resource_tracker.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


def attachment_of(arguments: Arguments) -> Attachment | None:
    """What `--cluster` asks.  UsageError: beside what it has no use for."""
    where = arguments.value("--cluster")
    if where is None:
        if arguments.has("--restarts"):
            raise UsageError("--restarts is for --cluster")
        return None
    if unfit := [name for name in ("--devices", "--simulate", "--plan") if arguments.has(name)]:
        raise UsageError(f"--cluster has its own devices: it goes without {unfit[0]}")
    text = arguments.value("--restarts") or str(RESTARTS)
    if (restarts := natural(text, _MOST_RESTARTS)) is None:
        raise UsageError(f"--restarts {text}: write a number from 0 to {_MOST_RESTARTS}")
    return Attachment(where, restarts)


@contextmanager
def let_go(attachment: Attachment | None) -> Iterator[None]:
    """At the end of the block the cluster is closed, if there is one."""
    try:
        yield
    finally:
        if attachment is not None:
            attachment.close()
