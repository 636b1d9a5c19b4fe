"""What is wrong with a `schedule` block on any devices is an error of the check: verbs, names, objectives, order before itself.

The same words in the same places for `rho check`, sessions and editors, because all of them ask the same check.
"""

from __future__ import annotations

from rho.backend.schedule.instances.directive_resolution import InstanceDirectiveReader
from rho.backend.schedule.problem import Objective
from rho.lang.bind.directives import OBJECTIVES, VERBS, DirectiveReader
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

PROGRAM = "input x : f64[n]\ny ← x+2\nz ← y×3\nf ← {⍵+1}\nm ← f x\nm\nz\n"


def wrong(block: str, program: str = PROGRAM) -> list[tuple[str, str, str]]:
    """Codes, messages, and what is underlined."""
    text = program + "schedule {\n" + block + "\n}\n"
    result = check(Source("<test>", text))
    assert (result.core is None) == bool(result.diagnostics)
    return [(one.code, one.message, text[one.span.start : one.span.end]) for one in result.diagnostics]


def test_no_name_is_missed_where_its_binding_cannot_be_read() -> None:
    codes = [code for code, _, _ in wrong("place y on cpu\nplce z on cpu", PROGRAM.replace("y ← x+2", "y ← x+)2"))]
    assert codes.count("SCH107") == 1


def test_there_is_one_reader() -> None:
    assert issubclass(InstanceDirectiveReader, DirectiveReader)
    assert tuple(objective.value for objective in Objective) == OBJECTIVES
    for verb in VERBS:
        assert not any("is not a directive" in message for _, message, _ in wrong(verb + " y"))
