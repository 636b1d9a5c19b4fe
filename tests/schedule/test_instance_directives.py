"""Directive texts: what each means, and what is said of those that mean nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.instances.directive_resolution import (
    DirectiveScope,
    DirectivesRejected,
    NamedPhase,
    resolve,
    resolve_texts,
)
from rho.backend.schedule.instances.solve_instance import solve
from rho.backend.schedule.problem import (
    Before,
    Deadline,
    DeviceGroup,
    Directive,
    IssueBefore,
    Keep,
    LimitMachines,
    LimitMemory,
    Link,
    NoSplit,
    Objective,
    PhaseIndex,
    PhaseTask,
    PlaceDirective,
    Problem,
    Replicate,
    SourceLine,
    Split,
)
from rho.backend.schedule.search.strategy import FAST
from rho.backend.schedule.verify.judge import Rule
from rho.backend.schedule.verify.schedule_checks import verify
from rho.lang.syntax.parser import parse_program
from rho.lang.syntax.source import Source, Span
from rho.lang.tree.program import ScheduleBlock

BOTH = {kind: Ticks(((1, 1),)) for kind in ("cpu", "gpu")}
A, B, M, W, PA, PB = map(PhaseIndex, range(6))
PROBLEM = Problem(
    (DeviceGroup("cpu0", "cpu", home=True), DeviceGroup("gpu0", "gpu"), DeviceGroup("node", "gpu", 40)),
    (),
    (
        PhaseTask("a", BOTH), PhaseTask("b", BOTH), PhaseTask("m", BOTH, rows=8), PhaseTask("w", BOTH, rows=4),
        PhaseTask("print a", BOTH, home=True, effect=True), PhaseTask("print_b", BOTH, home=True, effect=True),
    ),
    (),
    tick_ns=1000,
)  # fmt: skip
ANY = SourceLine(1, "")


def meaning(text: str) -> list[Directive]:
    return [replace(d, line=ANY) for d in resolve_texts(PROBLEM, [text], []).directives]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("place a b on gpu0", [PlaceDirective(ANY, (A, B), "gpu0")]),
        ("place a, b on gpu", [PlaceDirective(ANY, (A, B), "gpu")]),
        ("place print on gpu", [PlaceDirective(ANY, (PA, PB), "gpu")]),
        ("gpu { a ⋄ b m }", [PlaceDirective(ANY, (A, B, M), "gpu"), IssueBefore(ANY, (A,), (B, M))]),
        ("a b before m", [Before(ANY, (A, B), (M,))]),
        ("a,b before m,w", [Before(ANY, (A, B), (M, W))]),
        ("print a before b", [Before(ANY, (PA,), (B,))]),
        ("a before print b", [Before(ANY, (A,), (PB,))]),
        ("a issue_before b", [IssueBefore(ANY, (A,), (B,))]),
        ("split m rows 3:1 over gpu0 node[7]", [Split(ANY, M, (3, 1), ("gpu0", "node[7]"))]),
        ("split m rows over node[0..2]", [Split(ANY, M, (), ("node[0]", "node[1]", "node[2]"))]),
        ("split m rows over cpu gpu0", [Split(ANY, M, (), ("cpu0", "gpu0"))]),
        ("nosplit m w", [NoSplit(ANY, M), NoSplit(ANY, W)]),
        ("replicate w", [Replicate(ANY, W)]),
        ("keep b on gpu0", [Keep(ANY, B, "gpu0")]),
        ("move b gpu0", [Keep(ANY, B, "gpu0")]),
        ("limit memory gpu0 200MB", [LimitMemory(ANY, "gpu0", 200_000_000)]),
        ("limit memory gpu0 1.5 GiB", [LimitMemory(ANY, "gpu0", 3 << 29)]),
        ("limit machines 40", [LimitMachines(ANY, 40)]),
        ("deadline 5ms", [Deadline(ANY, 5000)]),
        ("deadline 1500ns", [Deadline(ANY, 1)]),
        ("deadline 10us", [Deadline(ANY, 10)]),
        ("deadline 77", [Deadline(ANY, 77)]),
        ("order a b m", [IssueBefore(ANY, (A,), (B,)), IssueBefore(ANY, (B,), (M,))]),
        ("nosplit m ⋄ replicate w ⍝ two", [NoSplit(ANY, M), Replicate(ANY, W)]),
    ],
)
def test_meanings(text: str, expected: list[Directive]) -> None:
    assert meaning(text) == expected


def test_objectives_keep_their_order() -> None:
    resolved = resolve_texts(PROBLEM, ["minimize energy"], ["syncs", "minimize latency energy"])
    assert resolved.objectives == (Objective.ENERGY, Objective.SYNCS, Objective.LATENCY)
    assert resolve_texts(PROBLEM, [], []).objectives == (Objective.LATENCY,)
    assert resolve_texts(PROBLEM, [], ["deadline 9"]).directives == (Deadline(SourceLine(1, "deadline 9", 0, 10), 9),)


@pytest.mark.parametrize(
    ("text", "code", "message", "at"),
    [
        ("place aa on gpu", "SCH107", "there is no phase `aa`", "aa"),
        ("place a on gpuu", "SCH107", "there is no device or class `gpuu`; did you mean `gpu0`?", "gpuu"),
        ("plase a on gpu", "SCH107", "`plase` is not a directive; did you mean `place`?", "plase"),
        ("place a", "SCH107", "`place` needs `on`", "place"),
        ("place on gpu", "SCH107", "lacks the name of a phase", "place"),
        ("place gpu0 on a", "SCH107", "it is a device, and a phase is wanted here", "gpu0"),
        ("a before", "SCH107", "lacks the name of a phase", "before"),
        ("print x before a", "SCH107", "there is no phase `x`", "x"),
        ("split a rows over gpu0 cpu0", "SCH107", "`a` is one step that cannot be split", "a"),
        ("split m rows 1:2:3 over gpu0 cpu0", "SCH107", "3 shares for 2 devices", "gpu0"),
        ("split m rows 0:0 over gpu0 cpu0", "SCH107", "shares are whole numbers", "0:0"),
        ("split m rows over gpu0 gpu0", "SCH201", "a device is named twice", "gpu0"),
        ("limit memory gpu0 lots", "SCH107", "`lots` is not a number of bytes", "lots"),
        ("limit machines 0", "SCH107", "is not a number of machines", "0"),
        ("limit speed 3", "SCH107", "a limit is written", "limit"),
        ("deadline soon", "SCH107", "a deadline is a time such as `5ms`", "soon"),
        ("minimize latenzy", "SCH107", "`latenzy` is not an objective; did you mean `latency`?", "latenzy"),
        ("adjacent a b", "SCH107", "`adjacent` is not a directive", "adjacent"),
        ("order a", "SCH107", "an order names at least two phases", "order"),
        ("order a … b", "SCH107", "`…` is not needed: an order lets others come before, between and after", "…"),
        ("order a b a", "SCH101", "an order names each phase once", "order"),
        ("gpu { a ⋄ cpu { b } }", "SCH107", "groups do not hold groups", "cpu { b }"),
        ("gpu { a", "E003", "this brace is not closed", "{"),
        ("a }", "E003", "this brace closes nothing", "}"),
    ],
)
def test_what_cannot_be_meant(text: str, code: str, message: str, at: str) -> None:
    with pytest.raises(DirectivesRejected) as caught:
        resolve_texts(PROBLEM, ["nosplit m", text], [])
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.file) == (code, "directives[1]")
    assert message in found.message
    assert text[found.span.start : found.span.end] == at


def test_every_bad_directive_is_reported() -> None:
    with pytest.raises(DirectivesRejected) as caught:
        resolve_texts(PROBLEM, ["place x on gpu", "place y on gpu"], ["speed"])
    assert [(d.code, d.span.file) for d in caught.value.diagnostics] == [
        ("SCH107", "directives[0]"), ("SCH107", "directives[1]"), ("SCH107", "objective[0]"),
    ]  # fmt: skip


def test_a_near_name_is_offered_as_an_edit() -> None:
    problem = replace(PROBLEM, phases=tuple(replace(p, id=p.id * 4) if p.id == "w" else p for p in PROBLEM.phases))
    with pytest.raises(DirectivesRejected) as caught:
        resolve_texts(problem, ["replicate wwwv"], [])
    (found,) = caught.value.diagnostics
    assert [edit.text for fix in found.fixes for edit in fix.edits] == ["wwww"]


def test_split_values_are_kept_on_one_device_and_waited_for_whole() -> None:
    with pytest.raises(DirectivesRejected) as caught:
        resolve_texts(PROBLEM, ["keep m on gpu", "split m rows over gpu0 cpu0"], [])
    assert [d.code for d in caught.value.diagnostics] == ["SCH202"]
    warned = resolve_texts(PROBLEM, ["split m rows over gpu0 cpu0", "split w rows over gpu0 cpu0", "m before w"], [])
    assert [d.code for d in warned.diagnostics] == ["SCH203"]
    assert not warned.diagnostics[0].is_error


def test_a_program_s_block_is_read_the_same() -> None:
    source = Source("p.rho", "a ← 1\nschedule {\n  place a on gpu0\n  gpu { a ⋄ b }\n  place c on gpu\n}\n")
    program, diagnostics = parse_program(source)
    assert not diagnostics
    (block,) = (s for s in program.statements if isinstance(s, ScheduleBlock))
    bound = [NamedPhase(A, Span("p.rho", 0, 1)), NamedPhase(B, Span("p.rho", 2, 3))]
    scope = DirectiveScope(PROBLEM, {"a": bound[:1], "b": bound[1:], "c": bound})
    resolved = resolve(block.directives, scope, source)
    assert [type(d) for d in resolved.directives] == [PlaceDirective, PlaceDirective, IssueBefore]
    assert (resolved.directives[0].line.number, resolved.directives[0].line.text) == (3, "place a on gpu0")
    (ambiguous,) = resolved.diagnostics
    assert (ambiguous.code, len(ambiguous.labels)) == ("SCH201", 2)


def test_a_phase_called_rows_is_split_like_any_other() -> None:
    named = replace(PROBLEM, phases=(*PROBLEM.phases[:2], replace(PROBLEM.phases[2], id="rows"), *PROBLEM.phases[3:]))
    found = resolve_texts(named, ["split rows rows 3:1 over cpu0 gpu0"], []).directives
    assert [replace(d, line=ANY) for d in found] == [Split(ANY, M, (3, 1), ("cpu0", "gpu0"))]


def test_a_device_called_like_a_class_has_the_share_that_it_is_given() -> None:
    """`gpu` is one device here and the class of two; a split over it was called impossible."""
    devices = (DeviceGroup("cpu0", "cpu", home=True), DeviceGroup("gpu", "gpu"), DeviceGroup("far", "gpu"))
    links = (Link("l", "cpu0", "gpu"), Link("m", "cpu0", "far"))
    task = PhaseTask("m", {"cpu": Ticks(((8, 80),)), "gpu": Ticks(((8, 8),))}, rows=8, out_bytes=8)
    problem = Problem(devices, links, (task,), (), (Split(ANY, PhaseIndex(0), (3, 1), ("gpu", "far")),))
    solved = solve(problem, FAST)
    assert solved.answer.schedule is not None
    assert [(shard.device, shard.stop - shard.first) for shard in solved.answer.schedule.shards] == [(1, 6), (2, 2)]
    assert verify(solved.problem, solved.answer, solved.sync) == ()
    swapped = replace(solved.problem, directives=(Split(ANY, PhaseIndex(0), (1, 3), ("gpu", "far")),))
    assert Rule.V8 in {violation.code for violation in verify(swapped, solved.answer, solved.sync)}
