"""The documents of all rooms: what they claim of their programs holds (`rho test`, docs/testing.md), and so do laws of them all.

A program is read and checked in this process; each claim of a line and each fence is a test of its own, named by file and line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import pytest
from share import is_drawn

from rho.lang.bind.statement_dependencies import StatementKind, statements_of
from rho.lang.diagnostics.model import Code, Severity
from rho.lang.syntax.source import Source
from rho.shell.console.apply_fixes import with_fixes
from rho.shell.execution.doctest import NAME, DoctestFailure, DoctestRunner
from rho.shell.execution.doctest_parser import Case, ClaimKind, LineCase, markdown_cases, rho_cases
from rho.shell.pipeline import Session
from rho.shell.pipeline_types import Checked, Strictness
from rho.typechecker.core.operations import Gather
from rho.typechecker.proof import constraints, prover
from rho.typechecker.proof.obligations import SizeFact

ROOT = Path(__file__).parents[2]
OF_VALUES = ("E10", "E11", "E12", "E130", "E131", "E132", "E133", "E14", "E2", "E3", "E4", "E6")
"""What codes of checks of values begin with."""
READING = "r+1\n⌽r\n⍴r\n+/,r\nr,r\nr=r\n⊂r\nf←{⍵}\nf r\n{⍵+1}¨r\n"
STRICTLY = {"W310": "E310"}
"""The codes of warnings that are no other message's."""
PATTERNS = ("README.md", "docs/*.md", "stdlib/*.rho", "examples/*.rho", "tests/*/*.md")
DOCUMENTS = [path for pattern in PATTERNS for path in sorted(ROOT.glob(pattern)) if path.name != "stdlib.md"]
"""`docs/stdlib.md` is made from `stdlib/*.rho`, which a test compares."""


LONG = ("stdlib", "models")
"""Documents whose examples take tenths of seconds: a run draws a third of them."""


def cases() -> Iterator[object]:
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        for case in markdown_cases(text) if path.suffix == ".md" else rho_cases(text):
            if {path.parent.name, path.stem} & {*LONG} and not is_drawn(f"{path.name}:{case.line}", 3):
                continue
            yield pytest.param(path, text, case, id=f"{path.relative_to(ROOT)}:{case.line}")


class Lawful(DoctestRunner):
    """Holds every program that is checked to the laws below; values are compared with the reference interpreter's."""

    verify = True

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.strict = Session(self.folder, self.session.permissions, Strictness.STRICT)
        self.strict_checker = self.strict.checker()

    def check(self, text: str) -> Checked:
        checked = super().check(text)
        self.strictly(checked)
        self.repairs(checked)
        if checked.core is not None:
            goals = {one.goal for one in checked.diagnostics if one.code is Code.W201}
            assert goals <= {str(guard.fact) for guard in checked.core.guards}
            warned = any(one.code is Code.W310 for one in checked.diagnostics)
            assert warned or not any(op.checked for op in checked.core.block.ops if isinstance(op, Gather))
        return checked

    def strictly(self, checked: Checked) -> None:
        """With `--strict` each warning is an error of the code that it stands for, and nothing else changes."""
        told = [one for one in checked.diagnostics if one.severity is not Severity.NOTE]
        strict = self.strict.check(checked.source, self.strict_checker)
        errors = [(one.code, one.span) for one in strict.diagnostics if one.severity is not Severity.NOTE]
        assert errors == [(one.origin or STRICTLY.get(one.code, one.code), one.span) for one in told]

    def repairs(self, checked: Checked) -> None:
        """A fix removes its message; messages are one line, with spans in the text."""
        for one in checked.diagnostics:
            assert one.message and "\n" not in one.message
            assert 0 <= one.span.start <= one.span.end <= len(checked.source.text) or one.span.file != NAME
            for fix in one.fixes:
                repaired = self.session.check(with_fixes(checked.source, [fix]), self.checker) if fix.edits else None
                assert repaired is None or one.message not in [left.message for left in repaired.diagnostics], fix.title

    def one_line(self, case: LineCase) -> list[DoctestFailure]:
        """What reads a refused value is not refused too."""
        failures = super().one_line(case)
        claims = case.step.of(ClaimKind.ERROR)
        if not failures and len(claims) == 1 and claims[0].expected.startswith(OF_VALUES) and is_expression(case.step.text):
            checked = self.session.check(Source(NAME, f"{case.before}\nr←{case.step.text}\n{READING}"), self.checker)
            assert [one.code for one in checked.diagnostics if one.is_error] == [claims[0].expected.partition(" ")[0]]
        return failures


def is_expression(text: str) -> bool:
    statements = statements_of(text)
    return len(statements) == 1 and statements[0].kind is StatementKind.EXPRESSION


@lru_cache(maxsize=2)
def runner(path: str) -> Lawful:
    """One for all cases of a document."""
    return Lawful(path)


@pytest.fixture(autouse=True)
def counterexamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that `prove` gives break their fact, and nothing that was supposed."""

    def watching(fact: SizeFact, premises: Sequence[SizeFact] = ()) -> prover.ProofResult:
        decision = prover.prove(fact, premises)
        if decision.counterexample is not None:
            sizes = dict(decision.counterexample)
            assert not fact.holds(sizes)
            assert all(premise.holds(sizes) for premise in prover.connected(fact, premises))
        return decision

    monkeypatch.setattr(constraints, "prove", watching)


@pytest.mark.parametrize(("path", "text", "case"), list(cases()))
def test_what_is_claimed_holds(path: Path, text: str, case: Case) -> None:
    failures = runner(str(path)).case(case, text)
    assert not failures, "\n".join(f"{path.name}:{failure.line}: {failure.message}" for failure in failures)
