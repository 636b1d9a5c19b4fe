"""What is wrong with the schedule blocks of a program that is only checked: it has no sizes, and perhaps no devices.

Directives are resolved as planning does, for a phase a name with the data flow of the core.  Found without devices: orders that
contradict each other or the data (SCH101, SCH102).  Found with a profile: devices and classes that it does not have (SCH107,
SCH201, SCH202), input and output off home (SCH105), a phase on two devices (SCH101).  What depends on sizes and times is the
planner's to find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....lang.codes import Code
from ....lang.diagnostics import Diagnostic
from ....lang.directives import PRINT, DirectiveReader
from ....lang.program_tree import DirectiveWord
from ....lang.source import Source
from ....typechecker.core import Print, ValueId
from ....typechecker.core_blocks import Core
from ....typechecker.core_walk import blocks_of, captured, operands_of, results_of
from ...devices.profile import Profile
from ..answer import Conflict
from ..files.directive_reader import Named, Scope
from ..files.directives import resolve
from ..machines import to_devices
from ..problem import DeviceGroup, Directive, Edge, PhaseIndex, PhaseTask, Problem, Ticks
from ..solve.smt.order_texts import order_hint
from ..solve.smt.orders import order_conflict
from ..solve.smt.placing import placing_conflict
from .planning import conflict_diagnostic

ONCE = Ticks(((1, 1),))


def wrong_in_blocks(core: Core, profile: Profile | None = None) -> tuple[Diagnostic, ...]:
    """Errors and warnings; of an accepted program, whose names the check has found."""
    if not core.schedules:
        return ()
    names = _names(core)
    groups = _said_devices(core, names) if profile is None else to_devices(profile)[0]
    problem = _problem(core, names, groups)
    ordered = tuple(PhaseIndex(place) for place, phase in enumerate(problem.phases) if not phase.home)
    scope = Scope(problem, {name: [Named(PhaseIndex(place))] for place, name in enumerate(names)}, ordered)
    texts = {source.name: source for source in core.sources}
    found: list[Diagnostic] = []
    directives: list[Directive] = []
    for block in core.schedules:
        resolved = resolve(block.directives, scope, texts.get(block.span.file, Source(block.span.file, "")))
        directives += resolved.directives
        found += resolved.diagnostics if profile is not None else ()
    if any(diagnostic.is_error for diagnostic in found):
        return tuple(found)
    asked = Problem(problem.devices, (), problem.phases, problem.edges, tuple(directives))
    conflict = _order(asked) or (None if profile is None else placing_conflict(asked))
    if conflict is not None:
        found.append(conflict_diagnostic(conflict, core.schedules[0].span, 1))
    return tuple(found)


def _order(problem: Problem) -> Conflict | None:
    facts = order_conflict(problem)
    if facts is None:
        return None
    lines = tuple(fact.directive for fact in facts if fact.directive is not None)
    words = tuple(fact.words for fact in facts if fact.directive is None)
    several = len({directive.line for directive in lines}) > 1
    return Conflict(Code.SCH102 if words and not several else Code.SCH101, lines, words, order_hint(problem, facts))


def _names(core: Core) -> list[str]:
    """Values that have names, and what prints them."""
    printed = [op.arg for op in core.block.ops if isinstance(op, Print)]
    named = list(dict.fromkeys(core.names.values()))
    return [*named, *dict.fromkeys(f"{PRINT} {core.names[arg]}" for arg in printed if arg in core.names), PRINT]


def _problem(core: Core, names: Sequence[str], groups: Sequence[DeviceGroup]) -> Problem:
    """A phase a name, of one row that every device can run; an edge where the core needs one for the other."""
    place = {name: PhaseIndex(at) for at, name in enumerate(names)}
    inputs = {entry.name for entry in core.inputs}
    ticks = {group.kind: ONCE for group in groups}
    phases = tuple(
        PhaseTask(name, ticks, rows=2, home=name in inputs or name.partition(" ")[0] == PRINT) for name in names
    )  # fmt: skip
    edges = [Edge(place[source], place[target]) for target, needed in _flow(core).items() for source in needed]
    edges += [Edge(place[one], place[f"{PRINT} {one}"]) for one in names if f"{PRINT} {one}" in place]
    return Problem(tuple(groups), (), phases, tuple(edges))


def _flow(core: Core) -> dict[str, list[str]]:
    """By the name of each value, the nearest named values that it is computed of."""
    of: dict[ValueId, list[str]] = {}
    found: dict[str, list[str]] = {}
    for op in core.block.ops:
        read = (*operands_of(op), *(value for block in blocks_of(op) for value in captured(block)))
        needed = list(dict.fromkeys(name for value in read for name in _known(value, core, of)))
        for result in results_of(op):
            of[result] = needed
            if (name := core.names.get(result)) is not None:
                found[name] = [one for one in needed if one != name]
    return found


def _known(value: ValueId, core: Core, of: Mapping[ValueId, list[str]]) -> list[str]:
    return [core.names[value]] if value in core.names else of.get(value, [])


class _Words(DirectiveReader[str]):
    def phase(self, word: DirectiveWord) -> str:
        return word.text


def _said_devices(core: Core, names: Sequence[str]) -> tuple[DeviceGroup, ...]:
    """The devices that the blocks speak of, as if they were there."""
    reader = _Words(frozenset(names))
    for block in core.schedules:
        for words in block.directives:
            reader.statement(words)
    count: dict[str, int] = {"cpu0": 1}
    for word in (word.text for one in reader.said for word in one.devices):
        base, _, numbers = word.partition("[")
        last = numbers.removesuffix("]").rpartition("..")[2]
        most = int(last) + 1 if last.isascii() and last.isdigit() and len(last) < 5 else 1
        count[base] = max(count.get(base, 1), most)
    return tuple(DeviceGroup(name, name, number, home=place == 0) for place, (name, number) in enumerate(count.items()))
