"""`rho.Cluster`: workers for `Program.run(cluster=…)`, attached to once and used for many runs.

Neighbours: `programs`, `shell.execution.clusters`.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Final

from ..cli.arguments import UsageError
from ..execution.clusters import RESTARTS, Attachment
from .showing import shown

_PACKAGE: Final = __name__.removesuffix(".shell.embedding.clusters")
_ROOMS: Final = (f"{_PACKAGE}.shell.", f"{_PACKAGE}.backend.")


def _warn(words: str) -> None:
    """Of the line that called Rho."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(_ROOMS):
        frame, level = frame.f_back, level + 1
    warnings.warn(words, RuntimeWarning, stacklevel=level)


class Cluster:
    """Workers: `local:2`, the address of a Dask scheduler, the path of a `scheduler.json`, or a `distributed.Client`.

    ValueError: it is none of these, or `distributed` is not installed.  RunFailed (E710): it does not answer, or has no workers.
    Programs on it run one after the other; a lost worker is replanned around, with a RuntimeWarning, at most `restarts` times a
    run.  Close it, or use it in a `with`."""

    def __init__(self, where: str | os.PathLike[str] | object, *, restarts: int = RESTARTS) -> None:
        if isinstance(restarts, bool) or not isinstance(restarts, int) or restarts < 0:
            raise ValueError(f"restarts is a natural number, not {restarts!r}")
        self.attachment = Attachment(where, restarts)
        self.attachment.tell = _warn
        try:
            with shown({}):
                self.attachment.cluster  # noqa: B018  connect now
        except UsageError as error:
            raise ValueError(error.message.removeprefix("--cluster: ")) from None

    @property
    def workers(self) -> tuple[str, ...]:
        """The addresses of the workers that are left."""
        return tuple(member.address for member in self.attachment.cluster.members)

    @property
    def dashboard(self) -> str:
        """The address of Dask's dashboard, empty if there is none."""
        return self.attachment.cluster.membership.dashboard

    def close(self) -> None:
        """Let the workers go; those of `local:N` end."""
        self.attachment.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *about: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<rho cluster: {len(self.workers)} workers>"
