"""Reads stored plans and rejects invalid ones; calibrates this machine and loads its profile."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ...lang.diagnostics.model import Code, Diagnostic, Refused
from ...lang.support.files import Pipes, read_text
from ...lang.support.processes import cores as cores, memory as memory, model as model
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Source, Span

if TYPE_CHECKING:
    from ...backend.devices.profile import DeviceProfile, Profile
    from ...backend.devices.this_machine import HostFacts
    from ...backend.gpu.driver import CardModel
    from ...backend.schedule.plan.plan import ExecutionPlan


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """A stored plan with passes over inputs, and its path."""

    plan: ExecutionPlan
    path: str


def read_plan(path: str) -> ExecutionPlan:
    """The plan in a file.  Refused: E704 unreadable, E705 not a plan."""
    from ...backend.schedule.plan.plan import LARGEST_PLAN, PlanFormatError, decode_plan

    try:
        text = read_text(path, 4 * LARGEST_PLAN, Pipes.READ)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise Refused([Diagnostic(Code.E704, f"`{path}` cannot be read: {reason}", Span(path, 0, 0))]) from None
    try:
        return decode_plan(text)
    except PlanFormatError as error:
        message = f"`{path}` is not a plan that can be read: {error}"
        notes = (f"make it again from its script: `rho plan SCRIPT -o {path}`",)
        raise Refused([Diagnostic(Code.E705, message, Span(path, 0, 0), notes=notes)]) from None


def stored_streaming_plan(path: str) -> StoredPlan | None:
    """The stored plan if it has passes over its inputs, else None.  Raises as `read_plan`."""
    plan = read_plan(path)
    if not plan.stores:
        return None
    return StoredPlan(plan, path)


def program_in(plan: ExecutionPlan, path: str) -> tuple[Source, dict[str, Source]]:
    """The source text that a stored plan contains, with paths relative to the plan's folder, and its modules by name.

    Refused E705: the plan contains none.
    """
    if not plan.program:
        raise Refused([Diagnostic(Code.E705, f"`{path}` holds no program: name its script too", Span(path, 0, 0))])
    folder, old = os.path.dirname(path), os.path.dirname(plan.program[0].name)

    if nameless := [index for index, file in enumerate(plan.program) if not file.name]:
        message = f"`{path}` is not a plan that can be read: program[{nameless[0]}] has no name"
        raise Refused([Diagnostic(Code.E705, message, Span(path, 0, 0), notes=("make it again from its script",))])

    def moved(name: str) -> str:
        return name if name.startswith("<") else os.path.normpath(os.path.join(folder, os.path.relpath(name, old or ".")))

    sources = [Source(moved(file.name), file.text) for file in plan.program]
    return sources[0], {source.name: source for source in sources[1:] if not source.name.startswith("<")}


def require_valid(faults: list[str], path: str) -> None:
    if faults:
        more = tuple(faults[1:4])
        raise Refused([Diagnostic(Code.E705, f"the plan in `{path}` is wrong: {faults[0]}", Span(path, 0, 0), notes=more)])


# ---------------------------------------------------------------------------------------------------- this machine
#
# Cost tables come from the user's calibration, or are the default ones.

def host_facts() -> HostFacts:
    from ...backend.devices.this_machine import HostFacts

    return HostFacts(cores(), memory(), model(), os.cpu_count() or 0)


def this_machine() -> Profile:
    """The profile of this machine, as calibrated or with default tables."""
    from ...backend.devices.this_machine import machine_profile
    from ...backend.jit.tiering import numpy_version, tier_name

    return machine_profile(host_facts(), tier_name(), numpy_version())


def profile_named(name: str) -> Profile:
    """The profile for `--devices`: devices of this machine, separated by commas, a shipped profile, or one in a file.

    Refused: E704, there is no such profile; E705, it is not a profile; SCH104, a device of this machine runs no programs.
    """
    from ...backend.devices.this_machine import load_profile, shipped_names

    names = name.split(",")
    if name in shipped_names() or os.path.exists(name):
        return load_profile(name)
    from ...backend.gpu.device import back_end_of, cards_here

    if not all(one == "cpu0" or back_end_of(one) for one in names):
        return load_profile(name)

    machine, cards = this_machine(), dict(cards_here())
    known = [machine.home.name, *cards]
    if unknown := [one for one in names if one not in known]:
        message = f"`{unknown[0]}` is no device of this machine"
        raise Refused([Diagnostic(Code.E704, message, Span(name, 0, 0), notes=(f"here: {', '.join(known)}",))])
    if lacking := [one for one in names if one in cards and cards[one].lacks]:
        message = f"`{lacking[0]}` ({cards[lacking[0]].name}) runs no programs: {cards[lacking[0]].lacks}"
        raise Refused([Diagnostic(Code.SCH104, message, Span(name, 0, 0))])
    return _combined(machine, [_card_profile(one, cards[one]) for one in dict.fromkeys(names) if one in cards], names)


def _combined(machine: Profile, cards: list[DeviceProfile], names: list[str]) -> Profile:
    """The profile of the processor, if it is named, and of cards, each with a link to home."""
    from ...backend.calibration.cards import TRANSFER
    from ...backend.devices.profile import LinkProfile, Profile

    home = machine.home if machine.home.name in names else replace(cards.pop(0), home=True)
    links = [LinkProfile(home.name, card.name, card.ops[TRANSFER].ns[0] // 2, card.ops[TRANSFER]) for card in cards]
    devices = (replace(one, ops={name: table for name, table in one.ops.items() if name != TRANSFER}) for one in (home, *cards))
    return Profile(tuple(devices), tuple(links), calibration=machine.calibration)


def _card_profile(name: str, model: CardModel) -> DeviceProfile:
    """The measured profile of a card, which is stored like the calibration of the machine."""
    from ...backend.calibration.cards import measured_card
    from ...backend.devices.profile import Calibration, DeviceProfile, Profile
    from ...backend.devices.this_machine import VERSION, UnusableCalibration, cache_file, keep_calibration, stored_calibration
    from ...backend.gpu.device import back_end_of

    backend = back_end_of(name)
    assert backend is not None, name
    facts: dict[str, str | int] = {
        "card": model.name, "driver": model.version, "units": model.units, "cpu": host_facts().model, "version": VERSION,
    }  # fmt: skip
    bare = Profile((DeviceProfile(name, "gpu", backend, home=True),), calibration=Calibration(facts=facts))
    path = cache_file(bare)
    try:
        stored = None if path is None else stored_calibration(path, bare)
    except UnusableCalibration:
        stored = None
    device = measured_card(name, backend, model) if stored is None else replace(stored.home, name=name, home=False)
    if stored is None:
        with suppress(OSError, UnusableCalibration):  # if it cannot be stored, it is measured again next time
            keep_calibration(replace(bare, devices=(replace(device, home=True),)))
    return replace(device, memory_bytes=model.memory, lacks=model.lacking)


def calibrate(
    *, refine: bool, force: bool = False, report: Callable[[str], None] = lambda words: None
) -> tuple[Profile, Path | str]:
    """Measure this machine; returns its profile and the path of the stored calibration, or the reason why it is not stored.

    `refine`: measure longer and merge with the stored calibration; `report` as `calibrate`'s.  RunFailed: other programs disturb
    the measurement, unless `force`."""
    from ...backend.calibration.calibrate import REFINED, CalibrationEffort, calibrate as measure
    from ...backend.devices.this_machine import UnusableCalibration, cache_file, keep_calibration, merged

    known = this_machine()
    profile = measure(host_facts(), effort=replace(REFINED if refine else CalibrationEffort(), force=force), report=report)
    if refine and known.calibration.calibrated is not None:
        profile = merged(known, profile)
    try:
        return profile, keep_calibration(profile)
    except UnusableCalibration as error:
        return profile, f"`{cache_file(profile)}` {error}"
    except OSError as error:
        path = cache_file(profile)
        return profile, f"{'' if path is None else f'`{path}` cannot be written: '}{error.strerror or error}"


def default_tables(unusable: str) -> str:
    """The text that estimates use default tables, with the reason; `unusable` is what is wrong with the stored calibration."""
    because = f", because {unusable}" if unusable else ""
    return f"default tables{because}; `rho devices --calibrate` measures this machine"
