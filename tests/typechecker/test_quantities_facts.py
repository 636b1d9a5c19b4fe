"""Facts that quantities give a scheduler (types.md 4.4)."""

from __future__ import annotations

from rho.lang.source import Source
from rho.typechecker.check import check
from rho.typechecker.core import Core
from rho.typechecker.quantities.demand import demands_of
from rho.typechecker.quantities.facts import Facts, Sharing, facts_of

INPUTS = "input x : f64[n]\ninput z : f64[n]\ninput y : f64[m]\ninput A : f64[n m]\ninput c : bool\nparam p ← 3\n"


def facts(text: str) -> tuple[Core, Facts, dict[str, Sharing]]:
    core = check(Source("<test>", INPUTS + text)).core
    assert core is not None
    found = facts_of(core, demands_of(core))
    return core, found, {name: found.sharing[value] for value, name in core.names.items()}


def named(core: Core, name: str) -> int:
    return next(value for value, given in core.names.items() if given == name)


def test_sharing_follows_the_grade() -> None:
    _, _, sharing = facts("output r ← (x∘.×y)+≢z")
    assert (sharing["x"], sharing["z"]) == (Sharing.SHARED, Sharing.ERASED)
    assert facts("output r ← x+z")[2]["x"] is Sharing.MOVABLE


def test_conditional_values_may_stay_unread() -> None:
    core, found, _ = facts("output r ← {c : x+z ⋄ x}⍬")
    assert named(core, "z") in found.conditional
    assert named(core, "x") not in found.conditional


def test_replicated_along_the_axes_an_operand_lacks() -> None:
    core, found, _ = facts("output r ← A+x")
    (entry,) = found.replicated
    assert (entry.value, entry.by, entry.axes) == (named(core, "x"), named(core, "r"), 1)


def test_in_place_needs_the_last_aligned_read() -> None:
    core, found, _ = facts("t ← x+z\noutput r ← t×2.0")
    assert found.in_place[named(core, "r")] == named(core, "t")
    core, found, _ = facts("t ← x+z\nr ← t×2.0\noutput r\noutput q ← t-r")
    assert named(core, "r") not in found.in_place, "t is read later"
    core, found, _ = facts("t ← x+z\noutput r ← t+⌽t")
    assert named(core, "r") not in found.in_place, "the reversed read is not aligned"
    core, found, _ = facts("output r ← x+z")
    assert named(core, "r") not in found.in_place, "the buffers of inputs are not the program's"


def test_a_buffer_kept_by_an_output_is_not_written_over() -> None:
    core, found, _ = facts("t ← x+z\noutput t\noutput r ← t×2.0")
    assert named(core, "r") not in found.in_place


def test_an_arm_does_not_take_an_outer_buffer() -> None:
    core, found, _ = facts("t ← x+z\nr ← {c : t×2.0 ⋄ t}⍬\noutput q ← r+t")
    assert named(core, "q") not in found.in_place.values()
    assert named(core, "t") not in found.in_place.values() or found.in_place.get(named(core, "q")) == named(core, "t")


def test_aligned_loop_state_needs_one_buffer() -> None:
    core, found, _ = facts("output r ← {1.0+⍵×2.0}⍣p ⊢ x")
    assert named(core, "r") in found.single_buffer
    core, found, _ = facts("output r ← {⍵+⌽⍵}⍣p ⊢ x")
    assert named(core, "r") not in found.single_buffer


def replicated(text: str) -> list[tuple[str | None, int]]:
    core, found, _ = facts(text)
    return [(core.names.get(entry.value), entry.axes) for entry in found.replicated]


def test_cells_of_a_lift_are_replicated_along_the_frames_they_lack() -> None:
    for left, right, expected in (("T", "A", [("A", 1)]), ("A", "T", [("A", 1)]), ("T", "T", []), ("A", "A", []), ("A", "y", [])):
        assert replicated(f"input T : f64[n m m]\noutput r ← {left} ({{1>+/⍺: ⍺ ⋄ ⍵}}⍤1 1) {right}") == expected


def test_a_loop_that_keeps_or_tests_its_states_needs_them() -> None:
    for loop in ("{1.0+⍵×2.0}⍣\\p", "{1.0+⍵×2.0}⍣(p ⋄ {1>+/⍵})"):
        core, found, _ = facts(f"output r ← {loop} ⊢ x")
        assert named(core, "r") not in found.single_buffer, loop
