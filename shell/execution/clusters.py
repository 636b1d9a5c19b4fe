"""`--cluster`: connects to a cluster when its devices are needed, disconnects at the end, and places files on its workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...lang.diagnostics.model import RhoError
from ...lang.support.records import cached_property
from ..console.process_exit import is_command
from ..console.standard_streams import stream_of
from ..console.usage_errors import UsageError

if TYPE_CHECKING:
    from ...backend.cluster.client import ClusterClient
    from ...backend.devices.profile import Profile
    from ...backend.graph.bind_sizes import BoundGraph
    from ...backend.io.external_arrays import StoredInput, StoredOutput
    from ...backend.vm.run_state import Observer, RunResults
    from ...typechecker.core.blocks import Core
    from ..pipeline_types import Loaded
    from .loading import InputFile
    from .params import Permissions


# ---------------------------------------------------------------------------------------------------- clusters

RESTARTS = 3


class Attachment:
    """`where`: what `membership.attach` takes."""

    def __init__(self, where: object, restarts: int = RESTARTS) -> None:
        self.where, self.restarts = where, restarts
        self.tell: Callable[[str], None] = lambda words: None
        """Is told why a run begins again; set it before the cluster is asked for."""

    @cached_property
    def cluster(self) -> ClusterClient:
        """UsageError: it is not a cluster.  RunFailed E710: it does not answer."""
        from ...backend.cluster.client import ClusterClient
        from ...backend.cluster.membership import BadCluster, attach
        from .stored_plans import this_machine

        if is_command():
            _no_words_of_semaphores()
        try:
            membership = attach(self.where)
        except BadCluster as error:
            raise UsageError(f"--cluster: {error}") from None
        try:
            return ClusterClient(membership, this_machine(), self.restarts, self.tell)
        except BaseException:
            membership.close()
            raise

    def close(self) -> None:
        cluster = self.__dict__.pop("cluster", None)
        if cluster is not None:
            cluster.close()


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


@contextmanager
def let_go(attachment: Attachment | None) -> Iterator[None]:
    """At the end of the block the cluster is closed, if there is one."""
    try:
        yield
    finally:
        if attachment is not None:
            attachment.close()


# ---------------------------------------------------------------------------------------------------- storing
#
# Inputs and outputs that lie in a store: which, and runs that read them where they are used and write them where they are made.
#
# A file is in a store if some phase reads it, its format can be read in boxes, nothing is declared of its items that is checked
# on all of them, and the profile's stores serve its path; of a cluster, if every worker sees the very same file.  All others are
# read here.

def storable(core: Core, bound: BoundGraph, files: Mapping[str, InputFile]) -> dict[str, StoredInput]:
    """Those that can be read in boxes.  RhoError: as reading them."""
    from ...backend.graph import traverse
    from ...backend.graph.phases import Input
    from ...backend.io.external_arrays import stored_input

    phases = bound.graph.phases
    used = {value for phase in phases for value in traverse.uses(phase)}
    read = {phase.name for phase in phases if isinstance(phase, Input) and phase.result in used}
    stored_inputs: dict[str, StoredInput] = {}
    for name, file in files.items():
        if name not in read:
            continue
        element = core.types[file.entry.value].element
        limits = element.low, element.high, element.most, element.below
        stored = stored_input(file.path, file.wanted, file.stored) if limits == (None,) * len(limits) else None
        if stored is not None:
            stored_inputs[name] = stored
    return stored_inputs


def writable(core: Core, bound: BoundGraph, paths: Mapping[str, str], permissions: Permissions) -> dict[str, StoredOutput]:
    """The outputs that can be written where they are made, by `output NAME`: numbers to a file of their own that has known places
    for them, as many as are known, of a value that a phase makes and no other output is of."""
    from ...backend.graph.phases import Constant, Input, Output
    from ...backend.io.external_arrays import stored_output
    from ...backend.schedule.program_facts.partitioning import shape_of, written_as

    given = {phase.result for phase in bound.graph.phases if isinstance(phase, Input | Constant)}
    outputs = {phase.name: phase for phase in bound.graph.phases if isinstance(phase, Output)}
    stored_outputs: dict[str, StoredOutput] = {}
    for entry in core.outputs:
        phase, path = outputs.get(entry.name), paths.get(entry.name, "")
        if phase is None or not path or stream_of(path) is not None or not permissions.may_write(path):
            continue
        shape, kind = shape_of(phase.arg, bound.graph.types), bound.graph.types[phase.arg].element.kind
        alone = [*paths.values()].count(path) == 1 and sum(one.arg == phase.arg for one in outputs.values()) == 1
        stored = stored_output(path, kind, shape, entry.name, entry.reading, entry.span) if shape and 0 not in shape else None
        if stored is not None and alone and phase.arg not in given:
            stored_outputs[written_as(entry.name)] = stored
    return stored_outputs


def lying(profile: Profile, stored: Mapping[str, StoredInput | StoredOutput]) -> dict[str, str]:
    """By name, the stores of a profile that inputs and outputs lie in."""
    stores = {name: profile.store_of(one.file) for name, one in stored.items()}
    return {name: store for name, store in stores.items() if store is not None}


def with_files(
    core: Core, files: Mapping[str, InputFile], sizes: Mapping[Any, int], stored: Mapping[str, StoredInput],
    run: Callable[[Mapping[str, Any]], RunResults],
) -> RunResults:  # fmt: skip
    """What a run leaves whose inputs come from files, some of which it reads by itself.

    Where anything fails, what failed is what would have failed first if all had been read before."""
    from .loading import read_inputs

    try:
        return run({**read_inputs(core, files, sizes, stored), **stored})
    except RhoError:
        for name, file in files.items() if stored else ():
            read_inputs(core, {name: file}, sizes)
        raise


def run_there(loaded: Loaded, values: Mapping[str, Any], observe: Observer | None) -> RunResults:
    """A program that runs elsewhere, on `values` beside what files hold; what it writes itself lies beside its targets then."""
    from ...backend.io.external_arrays import StoredInput, StoredOutput
    from ...backend.schedule.program_facts.partitioning import written_as
    from ...backend.vm.run_state import OutputValue

    there, plan = loaded.elsewhere, loaded.plan
    assert there is not None
    inputs = {name: one for name, one in loaded.stored.items() if isinstance(one, StoredInput)}
    written = {name: one.anew() for name, one in loaded.stored.items() if isinstance(one, StoredOutput)}
    try:
        for one in written.values():
            one.begin()
        given = {**values, **written}
        results = with_files(
            loaded.core, loaded.files, loaded.bound.sizes, inputs, lambda read: there(plan, {**given, **read}, observe)
        )
        for one in written.values():
            one.end()
    except BaseException:
        for one in written.values():
            one.sink.discard()
        raise
    outputs = dict(results.outputs)
    for name in outputs:
        if written_as(name) in written:
            sink = written[written_as(name)].sink
            outputs[name] = OutputValue(sink.kind, sink)
    return results._replace(outputs=outputs)
