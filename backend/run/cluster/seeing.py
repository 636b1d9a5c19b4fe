"""Files that are the same for every process of a cluster, and how fast each process reads them.

Neighbours: `home` (whose workers are asked), `sights` (what each answers), `profile` (makes a store of it).
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from ....lang import temporaries
from ...devices.tables import Table
from ..files.stored import Mark, StoredInput, mark_of
from .sights import HERE, sight
from .wire import Kind, Lost

if TYPE_CHECKING:
    from .home import Cluster


def seen_by_all(
    cluster: Cluster, inputs: Mapping[str, StoredInput], folders: Collection[str] = ()
) -> tuple[dict[str, StoredInput], set[str]]:
    """Those that every worker has the very file of, and the folders in which all see what home writes; none if a worker does not
    answer, which a run will notice.

    RunFailed: as `Cluster.worker`."""
    with ExitStack() as stack:
        marks = {folder: stack.enter_context(_written_in(folder)) for folder in folders}
        return _seen(cluster, inputs, {folder: found for folder, found in marks.items() if found is not None})


@contextmanager
def _written_in(folder: str) -> Iterator[tuple[str, Mark] | None]:
    """A file that is there for as long as the block lasts; None: it cannot be written."""
    try:
        path, handle = temporaries.create(folder, "seen")
    except OSError:
        yield None
        return
    try:
        os.write(handle, secrets.token_bytes(32))
        mark = mark_of(path)
        yield None if mark is None else (path, mark)
    finally:
        temporaries.discard(path)
        os.close(handle)


def _seen(
    cluster: Cluster, inputs: Mapping[str, StoredInput], written: Mapping[str, tuple[str, Mark]]
) -> tuple[dict[str, StoredInput], set[str]]:  # fmt: skip
    if not inputs and not written:
        return {}, set()
    addresses = [HERE, *(member.address for member in cluster.members)]
    probe = not {*addresses} <= cluster.reading.keys()
    marks = [*written.values()]
    facts = {"inputs": [one.facts() for one in inputs.values()], "marks": marks, "probe": probe}
    try:
        sights = cluster.workers.ask(cluster.connected(), Kind.SEE, facts)
    except Lost:
        return {}, set()
    sights.insert(0, sight([*inputs.values()], marks, probe=probe))
    same = {name: one for at, (name, one) in enumerate(inputs.items()) if all(found["same"][at] for found in sights)}
    if same and probe:
        read = zip(addresses, sights, strict=True)
        cluster.reading = {address: Table(tuple(found["size"]), tuple(found["ns"])) for address, found in read if found["ns"]}
    return same, {folder for at, folder in enumerate(written) if all(found["there"][at] for found in sights)}
