"""`--schedule FILE`: the schedule blocks of a file beside a program, so that what is computed and where it runs are kept apart.

The blocks follow the program's text, so a stored plan has them too.  A block that names a device which the profile does not have
is for other devices, and ignored with a note.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...lang.diagnostics.model import Rejected
from ...lang.syntax.parser import parse
from ...lang.syntax.source import Source
from ...lang.tree.program import ScheduleBlock
from ..console.process_exit import UsageError
from ..console.standard_streams import read_source
from .scheduling import PlanPurpose, Scheduling, profile_of

if TYPE_CHECKING:
    from ...backend.devices.profile import Profile
    from ..cli.arguments import Arguments
    from ..console.standard_streams import Console


def with_schedule_file(arguments: Arguments, program: Source, scheduling: Scheduling | None, console: Console) -> Source:
    """The program followed by the blocks of `--schedule` that are for its devices.  UsageError: the file has other text.
    Rejected: its text is not Rho."""
    file = arguments.value("--schedule")
    if file is None:
        return program
    source = read_source(file)
    parsed = parse(source)
    if errors := [one for one in parsed.diagnostics if one.is_error]:
        raise Rejected(errors, {source.name: source})
    profile, texts = profile_of(scheduling or Scheduling(PlanPurpose.LOOK)), [program.text]
    for statement in parsed.program.statements:
        if not isinstance(statement, ScheduleBlock):
            raise UsageError(f"--schedule {file}: only `schedule {{ … }}` blocks are read from it", "values are the program's")
        if absent := [name for name in _devices_named(statement) if name not in _names(profile)]:
            console.note(f"--schedule {file}: a block for `{absent[0]}` is ignored, since the devices are {_listed(profile)}")
            continue
        texts.append(source.text[statement.span.start : statement.span.end])
    return Source(program.name, "\n".join(texts) + "\n")


def _devices_named(block: ScheduleBlock) -> Iterator[str]:
    """The devices and classes that a block names, without numbers of instances."""
    from ...backend.schedule.program.plan_program import devices_mentioned

    for word in devices_mentioned(block):
        yield word.partition("[")[0]


def _names(profile: Profile) -> set[str]:
    return {name for device in profile.devices for name in (device.name, device.kind, device.kind.partition("/")[0])}


def _listed(profile: Profile) -> str:
    return ", ".join(device.name for device in profile.devices)
