"""Checking documented claims: runs the programs of `shell.execution.examples` and says where they do not hold."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...lang import tree
from ...lang.diagnostics import Diagnostic
from ...lang.parser import parse_program
from ...lang.render import render_text
from ...lang.source import Source
from ..cli.arguments import UsageError
from ..cli.exits import Exit
from ..cli.requests import Request
from ..session import Session
from ..stages import Checked
from .examples import Case, Claim, EqualCase, ExpressionCase, ProgramCase, Step, claimed_lines, without_last_statement
from .outcome import nothing
from .permissions import Permissions
from .running import Report, run_program


@dataclass(frozen=True, slots=True)
class Failure:
    """A claim that does not hold: the file, the 1-based line of the claim, what is wrong."""

    file: str
    line: int
    message: str


def check_case(case: Case, file: str, text: str) -> list[Failure]:
    """The claims of one case of `file`, whose whole text is `text`."""
    runner = _Runner(file)
    if isinstance(case, EqualCase):
        return runner.equal(case)
    if isinstance(case, ExpressionCase):
        return runner.expression(case, text)
    return runner.program(case)


class _Runner:
    """Programs of one file: they stand in its folder and may read what is in it."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.folder = os.path.dirname(file)
        self.session = Session(self.folder, Permissions.of([self.folder or "."], [file]))

    def failure(self, line: int, message: str) -> list[Failure]:
        return [Failure(self.file, line, message)]

    def run(self, text: str) -> Report:
        source = Source("<example>", text)
        try:
            return run_program(source, self.session, Request())
        except UsageError as error:
            raise _CannotRun(error.message) from None

    def check(self, text: str) -> Checked:
        return self.session.check(Source("<example>", text))

    # -------------------------------------------------------------------- programs

    def program(self, case: ProgramCase) -> list[Failure]:
        kept: list[str] = []
        failures: list[Failure] = []
        for step in case.steps:
            match step.claim:
                case Claim.ERROR:
                    failures += self._rejected(kept, step)
                    sound = without_last_statement(step.text)
                    if sound.strip() and self.check("\n".join([*kept, sound])).accepted:
                        kept.append(sound)
                    continue
                case Claim.WARNING:
                    failures += self._warned([*kept, step.text], step)
                case Claim.TYPE:
                    failures += self._typed([*kept, step.text], step)
                case _:
                    pass
            kept.append(step.text)
        if case.runs:
            return failures + self._printed(case, "\n".join(kept))
        checked = self.check("\n".join(kept))
        if not checked.accepted and not failures:
            failures += self.failure(case.line, "this program is rejected:\n" + _rendered(checked.diagnostics, checked.sources))
        return failures

    def _rejected(self, kept: list[str], step: Step) -> list[Failure]:
        before = "\n".join(kept)
        report = self._outcome(f"{before}\n{step.text}" if before else step.text)
        code, _, words = step.expected[0].partition(" ")
        found = [d for d in report.diagnostics if d.code == code and words.strip() in d.message]
        if found and report.exit is not Exit.OK:
            return []
        if report.exit is Exit.OK:
            return self.failure(step.line, f"{code} is expected, but the program is accepted")
        given = _rendered(report.diagnostics, report.sources)
        return self.failure(step.line, f"{step.expected[0]} is expected, but it gives\n{given}")

    def _outcome(self, text: str) -> Report:
        """Checked, and run only if it is accepted (some codes appear only then)."""
        try:
            return self.run(text)
        except _CannotRun:
            checked = self.check(text)
            return Report(Exit.OK if checked.accepted else Exit.REJECTED, nothing(), checked.diagnostics, checked.sources)

    def _warned(self, lines: list[str], step: Step) -> list[Failure]:
        checked = self.check("\n".join(lines))
        code = step.expected[0].partition(" ")[0]
        if any(d.code == code for d in checked.diagnostics):
            return []
        return self.failure(step.line, f"the warning {code} is expected, but it is not given")

    def _typed(self, lines: list[str], step: Step) -> list[Failure]:
        checked = self.check("\n".join(lines))
        if not checked.accepted:
            return self.failure(step.line, "this program is rejected:\n" + _rendered(checked.diagnostics, checked.sources))
        if checked.last == step.expected[0]:
            return []
        return self.failure(step.line, f"the type is {checked.last}, not {step.expected[0]}")

    def _printed(self, case: ProgramCase, text: str) -> list[Failure]:
        try:
            report = self.run(text)
        except _CannotRun as error:
            return self.failure(case.line, str(error))
        if report.exit is not Exit.OK:
            return self.failure(case.line, "this program does not run:\n" + _rendered(report.diagnostics, report.sources))
        actual = [line.rstrip() for shown in report.outcome.printed for line in shown.text().split("\n")]
        failures: list[Failure] = []
        at = 0
        for step in case.steps:
            if step.claim is not Claim.PRINTS:
                continue
            expected, found = _paired([line.rstrip() for line in step.expected], actual[at:])
            at += len(found)
            if found != expected:
                return [*failures, *self.failure(step.line, _difference(expected, found))]
        if at < len(actual) and case.steps[-1].claim is not None:
            return self.failure(case.steps[-1].line, "more is printed: " + " / ".join(actual[at : at + 4]))
        return failures

    # ----------------------------------------------------------------- expressions

    def equal(self, case: EqualCase) -> list[Failure]:
        before = case.before + "\n" if case.before.strip() else ""
        if case.code is not None:
            step = Step(case.line, case.expression, Claim.ERROR, (case.code,))
            return self._rejected([case.before], step)
        prelude = definitions(before)
        return self._same_print(prelude + case.expression, prelude + case.expected, case.line)

    def _same_print(self, actual: str, expected: str, line: int) -> list[Failure]:
        texts = []
        for text in (actual, expected):
            report = self.run(text)
            if report.exit is not Exit.OK:
                return self.failure(line, "this does not run:\n" + _rendered(report.diagnostics, report.sources))
            texts.append([shown.text() for shown in report.outcome.printed])
        if texts[0] == texts[1]:
            return []
        return self.failure(line, f"prints {' / '.join(texts[0])}, not {' / '.join(texts[1])}")

    def expression(self, case: ExpressionCase, text: str) -> list[Failure]:
        stem = os.path.basename(self.file).removesuffix(".rho")
        if f"{stem}." in case.expression:
            prelude = f'use "./{stem}.rho"\n'
        else:
            prelude = definitions(text)
        try:
            report = self.run(prelude + case.expression)
        except _CannotRun as error:
            return self.failure(case.line, str(error))
        if report.exit is not Exit.OK:
            return self.failure(case.line, "this example does not run:\n" + _rendered(report.diagnostics, report.sources))
        actual = [line.rstrip() for shown in report.outcome.printed for line in shown.text().split("\n")]
        expected = [line.rstrip() for line in case.expected]
        return [] if actual == expected else self.failure(case.line, _difference(expected, actual))


def _paired(claims: Sequence[str], actual: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines that claims expect beside those that are printed; lines of which only the number is claimed are themselves."""
    expected: list[str] = []
    for claim in claims:
        count = claimed_lines(claim)
        if count is None:
            expected.append(claim)
        else:
            told = list(actual[len(expected) : len(expected) + count])
            expected += told if len(told) == count else [claim]
    return expected, list(actual[: len(expected)])


def definitions(text: str) -> str:
    """The text without the statements that print or save, blanked so that lines keep their numbers."""
    program, _ = parse_program(Source("<example>", text))
    characters = list(text)
    for statement in program.statements:
        if isinstance(statement, tree.Evaluate | tree.Output):
            for at in range(statement.span.start, statement.span.end):
                if characters[at] != "\n":
                    characters[at] = " "
    return "".join(characters).rstrip("\n") + "\n"


class _CannotRun(Exception):
    """A program needs what an example cannot give (an input without a file)."""


def _difference(expected: list[str], actual: list[str]) -> str:
    return "expected\n  " + "\n  ".join(expected) + "\nbut it prints\n  " + ("\n  ".join(actual) or "(nothing)")


def _rendered(diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> str:
    return render_text(diagnostics, sources).rstrip("\n")
