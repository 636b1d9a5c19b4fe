"""What is wrong with a `schedule` block on any devices is an error of the check: verbs, names, objectives, order before itself.

The same words in the same places for `rho check`, sessions and editors, because all of them ask the same check.
"""

from __future__ import annotations

import pytest

from rho.backend.schedule.files.directive_reader import Reader
from rho.backend.schedule.problem import Objective
from rho.lang.directives import OBJECTIVES, VERBS, DirectiveReader
from rho.lang.source import Source
from rho.typechecker.check import check

PROGRAM = "input x : f64[n]\ny ← x+2\nz ← y×3\nf ← {⍵+1}\nm ← f x\nm\nz\n"


def wrong(block: str, program: str = PROGRAM) -> list[tuple[str, str, str]]:
    """Codes, messages, and what is underlined."""
    text = program + "schedule {\n" + block + "\n}\n"
    result = check(Source("<test>", text))
    assert (result.core is None) == bool(result.diagnostics)
    return [(one.code, one.message, text[one.span.start : one.span.end]) for one in result.diagnostics]


@pytest.mark.parametrize(
    ("block", "code", "message", "at"),
    [
        ("plce y on cpu", "SCH107", "`plce` is no directive; did you mean `place`?", "plce"),
        ("y befor z", "SCH107", "`y` is no directive", "y"),
        ("y before y", "SCH101", "`y` cannot come before itself", "y"),
        ("y z before m y", "SCH101", "`y` cannot come before itself", "y"),
        ("y issue_before y", "SCH101", "`y` cannot come before itself", "y"),
        ("order y … z y", "SCH101", "an order names each phase once", "order"),
        ("adjacent y y", "SCH107", "at least two different phases are adjacent", "adjacent"),
        ("minimize foo", "SCH107", "`foo` is no objective; one of latency, ", "foo"),
        ("minimize enrgy", "SCH107", "`enrgy` is no objective; did you mean `energy`?", "enrgy"),
        ("place q on cpu", "SCH107", "there is no phase `q`", "q"),
        ("cpu { y ⋄ zz }", "SCH107", "there is no phase `zz`; did you mean `z`?", "zz"),
        ("place f on cpu", "SCH107", "`f` is a function; the name of a value is wanted here", "f"),
        ("place y", "SCH107", "`place` needs `on` and devices after it", "place"),
        ("place y on cpu gpu", "SCH107", "`place` takes one device after `on`", "place"),
        ("split y over cpu", "SCH107", "a split is written", "split"),
        ("split y rows 0:0 over cpu gpu", "SCH107", "shares are whole numbers", "0:0"),
        ("split y rows over gpu gpu", "SCH201", "a device is named twice", "gpu"),
        ("limit machines 0", "SCH107", "`0` is not a number of machines from 1", "0"),
        ("limit memory gpu much", "SCH107", "`much` is not a number of bytes such as 200MB", "much"),
        ("deadline 5 fortnights", "SCH107", "a deadline is a time such as `5ms`", "5"),
        ("nosplit", "SCH107", "`nosplit` lacks the name of a phase here", "nosplit"),
    ],
)
def test_what_no_device_could_mean(block: str, code: str, message: str, at: str) -> None:
    ((found, said, underlined),) = wrong(block)
    assert (found, said[: len(message)]) == (code, message)
    assert underlined.startswith(at)


def test_everything_wrong_is_said_at_once() -> None:
    assert [code for code, _, _ in wrong("plce y on cpu\ny before y\nminimize foo\nplace q on cpu")] == [
        "SCH107", "SCH101", "SCH107", "SCH107",
    ]  # fmt: skip


def test_a_name_of_two_values() -> None:
    ((code, message, at),) = wrong("place y on cpu", PROGRAM.replace("z ← y×3", "y ← y×3\nz ← y+1"))
    assert (code, at) == ("SCH201", "y") and "means 2 values" in message


@pytest.mark.parametrize(
    "block",
    [
        "place y z on anything", "gpu { y ⋄ z }", "y, z before m", "y issue_before z", "print z before m",
        "split y rows 3:1 over a b",
        "nosplit y", "replicate y", "keep y on gpu0", "limit memory gpu0 200 MB", "limit machines 40", "minimize energy latency",
        "deadline 5ms", "order x … z", "order … y …", "adjacent x z", "speculate z", "move y gpu0", "print before m",
    ],
)  # fmt: skip
def test_what_some_devices_could_mean_is_left_to_the_planner(block: str) -> None:
    assert wrong(block) == []


def test_no_name_is_missed_where_its_binding_cannot_be_read() -> None:
    codes = [code for code, _, _ in wrong("place y on cpu\nplce z on cpu", PROGRAM.replace("y ← x+2", "y ← x+)2"))]
    assert codes.count("SCH107") == 1


def test_there_is_one_reader() -> None:
    assert issubclass(Reader, DirectiveReader)
    assert tuple(objective.value for objective in Objective) == OBJECTIVES
    for verb in VERBS:
        assert not any("is no directive" in message for _, message, _ in wrong(verb + " y"))
