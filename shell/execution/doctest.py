"""Runs doctests: executes the programs of `shell.execution.doctest_parser` and reports each claim that does not hold."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from ...lang.diagnostics.model import Diagnostic, RhoError, Severity
from ...lang.diagnostics.render import render_text
from ...lang.support.records import dataclass
from ...lang.syntax.parser import parse_program
from ...lang.syntax.source import Source
from ...lang.tree import expressions, program as program_tree
from ...typechecker.usage.check_moves import grade_text
from ..console.apply_fixes import with_fixes
from ..console.process_exit import Exit, UsageError
from ..display.values import DisplayedValue
from ..pipeline import Session
from ..pipeline_types import Checked
from .doctest_parser import (
    Case,
    ClaimKind,
    DoctestClaim,
    DoctestStep,
    ExpressionCase,
    LineCase,
    ProgramCase,
    claimed_lines,
    without_last_statement,
)
from .params import Permissions
from .run_request import RunRequest, empty_outcome
from .running import RunReport, run_program

# ---------------------------------------------------------------------------------------------------- matching claims
#
# Compares diagnostics, their notes and numbers of reads with claims.

_MESSAGE = re.compile(r"(\S*)(?: (.*?))??(?: at `(.*)`)?")
_SOURCE_LINE = re.compile(r"\s*\d+ │")


def matches(claim: DoctestClaim, diagnostic: Diagnostic, source: Source) -> bool:
    """Is `diagnostic` the message that `claim` expects?  `source` is the text of its program."""
    read = _MESSAGE.fullmatch(claim.expected)
    if read is None or diagnostic.code != read[1] or (read[2] or "") not in diagnostic.message:
        return False
    if diagnostic.is_error is not (claim.kind is ClaimKind.ERROR):
        return False
    underlined = source.text[diagnostic.span.start : diagnostic.span.end].replace("\n", "⏎")
    return read[3] is None or (diagnostic.span.file == source.name and underlined == read[3])


def mentions(diagnostic: Diagnostic, shown: str, words: str) -> bool:
    """Does a message contain `words`, in its `shown` text outside of source lines, or in its goal?"""
    lines = [line for line in shown.split("\n") if not _SOURCE_LINE.match(line)]
    return any(words in line for line in (*lines, f"needed: {diagnostic.goal}"))


def matches_line(expected: str, line: str) -> bool:
    """Does a line match the expected one, in which `…` stands for any text?"""
    return re.fullmatch(".*".join(re.escape(part.strip()) for part in expected.split("…")), line.strip()) is not None


def read_counts(checked: Checked) -> list[str]:
    """The reads of the elements of each named value, as `x 2×n`, without values that are not read."""
    quantities = [] if checked.result is None else checked.result.quantities()
    return [f"{one.name} {grade_text(one.grade)}" for one in quantities if not one.grade.is_zero]


def rendered(diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> str:
    return render_text(diagnostics, sources).rstrip("\n")


# ---------------------------------------------------------------------------------------------------- runner

NAME = "<example>"


@dataclass(frozen=True, slots=True)
class DoctestFailure:
    """A claim that does not hold: the file, the 1-based line of the claim, what is wrong."""

    file: str
    line: int
    message: str


class DoctestRunner:
    """Runs the doctests of one file, whose modules it checks once.  The programs start in the file's folder and may read the
    files in it."""

    verify = False
    """Whether values are compared with those of the reference interpreter."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.folder = os.path.dirname(file)
        self.session = Session(self.folder, Permissions.of([self.folder or "."], [file]))
        self.checker = self.session.checker()

    def case(self, case: Case, text: str) -> list[DoctestFailure]:
        """The failures of one case; `text`: the text of the whole file."""
        try:
            if isinstance(case, LineCase):
                return self.one_line(case)
            if isinstance(case, ExpressionCase):
                return self.expression(case, text)
            return self.program(case)
        except _ProgramFails as fails:
            return self.failure(fails.line, str(fails))

    def failure(self, line: int, message: str) -> list[DoctestFailure]:
        return [DoctestFailure(self.file, line, message)]

    def run(self, text: str) -> RunReport:
        try:
            checked = self.check(text)
            return run_program(checked.source, self.session, RunRequest(), verify=self.verify, checked=checked)
        except UsageError as error:
            raise _CannotRun(error.message) from None

    def printed(self, text: str, line: int, what: str) -> list[DisplayedValue]:
        """The values that a program prints.  _ProgramFails, at `line`: it does not run to its end."""
        try:
            report = self.run(text)
        except _CannotRun as error:
            raise _ProgramFails(line, str(error)) from None
        if report.exit is not Exit.OK:
            raise _ProgramFails(line, f"{what} does not run:\n" + rendered(report.diagnostics, report.sources))
        return [*report.outcome.printed]

    def check(self, text: str) -> Checked:
        """Check a program of the file, also for subclasses that hold it to more."""
        return self.session.check(Source(NAME, text), self.checker)

    # -------------------------------------------------------------------- programs

    def program(self, case: ProgramCase) -> list[DoctestFailure]:
        lines: list[str] = []
        failures: list[DoctestFailure] = []
        for step in case.steps:
            before = "".join(f"{text}\n" for text in lines)
            failures += self._step_failures(before, step)
            if step.of(ClaimKind.ERROR):
                correct_text = without_last_statement(step.text)
                if correct_text.strip() and self.check(before + correct_text).accepted:
                    lines.append(correct_text)
                continue
            lines.append(step.text)
        if case.runs:
            try:
                return failures + self._print_failures(case, "\n".join(lines))
            except _ProgramFails as fails:
                return failures + self.failure(fails.line, str(fails))
        checked = self.check("\n".join(lines))
        if not checked.accepted and not failures:
            failures += self.failure(case.line, "this program is rejected:\n" + rendered(checked.diagnostics, checked.sources))
        return failures

    def _step_failures(self, before: str, step: DoctestStep) -> list[DoctestFailure]:
        """The failures of a step's claims about messages, types, reads and plans; `before` is the program text above the step."""
        text = before + step.text
        if step.of(ClaimKind.ERROR):
            report = self._outcome(text)
            if report.exit is Exit.OK:
                claim = step.of(ClaimKind.ERROR)[0]
                return self.failure(claim.line, f"{claim.expected} is expected, but the program is accepted")
            return self._message_failures(before, step, report.diagnostics, report.sources)
        claims = step.of(ClaimKind.WARNING, ClaimKind.TYPE, ClaimKind.READS, ClaimKind.PLAN)
        if not claims:
            return []
        checked = self.check(text)
        if not checked.accepted:
            return self.failure(claims[0].line, "this program is rejected:\n" + rendered(checked.diagnostics, checked.sources))
        failures: list[DoctestFailure] = []
        if step.of(ClaimKind.WARNING, ClaimKind.TYPE):
            failures += self._message_failures(before, step, checked.diagnostics, checked.sources)
        for claim in claims:
            wrong = self._claim_failure(claim, checked)
            failures += [] if wrong is None else self.failure(claim.line, wrong)
        return failures

    def _claim_failure(self, claim: DoctestClaim, checked: Checked) -> str | None:
        """The message of a failed claim about the type, the reads or the plan of an accepted program; None if it holds."""
        if claim.kind is ClaimKind.TYPE and (checked.last or "none") != claim.expected:
            return f"the type is {checked.last or 'none'}, not {claim.expected}"
        expected_reads = claim.expected.split(", ") if claim.expected else []
        if claim.kind is ClaimKind.READS and sorted(read_counts(checked)) != sorted(expected_reads):
            return f"what is read is {', '.join(read_counts(checked)) or 'nothing'}, not {claim.expected}"
        if claim.kind is ClaimKind.PLAN and claim.expected not in (shown := self._plan(checked, dict(claim.sizes))):
            return f"no line of the plan has `{claim.expected}`:\n{shown}"
        return None

    def _plan(self, checked: Checked, sizes: Mapping[str, int]) -> str:
        """The plan as `rho plan` prints it for these sizes."""
        from ..display.plan_output import plan_lines

        try:
            return plan_lines(self.session.load(checked, RunRequest(sizes=sizes), full=True))
        except RhoError as error:
            return rendered(error.diagnostics, checked.sources)
        except UsageError as error:
            return error.message

    def _message_failures(
        self, before: str, step: DoctestStep, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]
    ) -> list[DoctestFailure]:  # fmt: skip
        """The failed claims about messages, and the messages about the step that no claim names."""
        source = sources.get(NAME, Source(NAME, before + step.text))
        left = [diagnostic for diagnostic in diagnostics if diagnostic.severity is not Severity.NOTE]
        about: Diagnostic | None = None
        failures: list[DoctestFailure] = []
        for claim in step.of(ClaimKind.ERROR, ClaimKind.WARNING, ClaimKind.NOTE, ClaimKind.FIX):
            if claim.kind in (ClaimKind.ERROR, ClaimKind.WARNING):
                about = next((diagnostic for diagnostic in left if matches(claim, diagnostic, source)), None)
                if about is not None:
                    left.remove(about)
                    continue
                wrong = f"{claim.expected} is expected, but it gives\n{rendered(diagnostics, sources) or 'no message'}"
            elif about is None:
                wrong = f"no message is claimed that `{claim.expected}` could belong to"
            elif claim.kind is ClaimKind.NOTE:
                shown = rendered([about], sources)
                wrong = "" if mentions(about, shown, claim.expected) else f"`{claim.expected}` is not in the notes of\n{shown}"
            else:
                wrong = self._fix_failure(claim, about, source)
            failures += self.failure(claim.line, wrong) if wrong else []
        more = [diagnostic for diagnostic in left if diagnostic.is_error or diagnostic.span.start >= len(before)]
        if more and not failures:
            failures += self.failure(step.claims[0].line, "no claim names\n" + rendered(more, sources))
        return failures

    def _fix_failure(self, claim: DoctestClaim, diagnostic: Diagnostic, source: Source) -> str:
        """The message of a failed claim that a fix of `diagnostic` changes a line of the program to this one; empty if it
        holds."""
        texts = [with_fixes(source, [fix]).text for fix in diagnostic.fixes if fix.edits]
        changed = [Counter(text.split("\n")) - Counter(source.text.split("\n")) for text in texts]
        repaired = [
            text for text, new in zip(texts, changed, strict=True) if any(matches_line(claim.expected, line) for line in new)
        ]  # fmt: skip
        if not repaired:
            suggestions = [f"`{line}`" for new in changed for line in new]
            return "no fix makes this line, but " + (" or ".join(suggestions) or "there is none")
        before, after = ([one.message for one in self.check(text).diagnostics] for text in (source.text, repaired[0]))
        if len(after) >= len(before):
            return f"with the fix this is said: {'; '.join(after)}"
        return ""

    def _outcome(self, text: str) -> RunReport:
        """The diagnostics of a run, since some codes appear only then; of a check, if an input has no file."""
        try:
            return self.run(text)
        except _CannotRun:
            checked = self.check(text)
            code = Exit.OK if checked.accepted else Exit.REJECTED
            return RunReport(code, empty_outcome(), checked.diagnostics, checked.sources)

    def _print_failures(self, case: ProgramCase, text: str) -> list[DoctestFailure]:
        actual = _lines(self.printed(text, case.line, "this program"))
        failures: list[DoctestFailure] = []
        at = 0
        for step in case.steps:
            claims = step.of(ClaimKind.PRINTS)
            if not claims:
                continue
            expected, printed = _paired([claim.expected for claim in claims], actual[at:])
            at += len(printed)
            if printed != expected:
                return [*failures, *self.failure(claims[0].line, _difference(expected, printed))]
        if at < len(actual) and (last := case.steps[-1].claims):
            return self.failure(last[0].line, "more is printed: " + " / ".join(actual[at : at + 4]))
        return failures

    # ----------------------------------------------------------------- expressions

    def one_line(self, case: LineCase) -> list[DoctestFailure]:
        before = case.before + "\n" if case.before.strip() else ""
        values = case.step.of(ClaimKind.EQUALS)
        if values:
            prelude = definitions(before)
            return self._same_print(prelude + case.step.text, prelude + values[0].expected, case.line)
        return self._step_failures(before, case.step)

    def _same_print(self, actual: str, expected: str, line: int) -> list[DoctestFailure]:
        printed = [[(shown.text(), shown.shape) for shown in self.printed(text, line, "this")] for text in (actual, expected)]
        if printed[0] == printed[1]:
            return []
        texts = [" / ".join(f"{text} of shape {' '.join(map(str, shape)) or '⍬'}" for text, shape in one) for one in printed]
        return self.failure(line, f"prints {texts[0]}, not {texts[1]}")

    def expression(self, case: ExpressionCase, text: str) -> list[DoctestFailure]:
        stem = os.path.basename(self.file).removesuffix(".rho")
        prelude = f'use "./{stem}.rho"\n' if f"{stem}." in case.expression else definitions(text)
        actual = _lines(self.printed(prelude + case.expression, case.line, "this example"))
        expected = [line.rstrip() for line in case.expected]
        return [] if actual == expected else self.failure(case.line, _difference(expected, actual))


def _lines(printed: Sequence[DisplayedValue]) -> list[str]:
    return [line.rstrip() for shown in printed for line in shown.text().split("\n")]


def _paired(claims: Sequence[str], actual: Sequence[str]) -> tuple[list[str], list[str]]:
    """The expected and the printed lines, aligned; for a claim of only a number of lines the printed ones count as expected."""
    expected: list[str] = []
    for claim in claims:
        count = claimed_lines(claim)
        if count is None:
            expected.append(claim)
        else:
            printed = list(actual[len(expected) : len(expected) + count])
            expected += printed if len(printed) == count else [claim]
    return expected, list(actual[: len(expected)])


def definitions(text: str) -> str:
    """The text with the statements that print or save replaced by blanks, so that lines keep their numbers."""
    program, _ = parse_program(Source(NAME, text))
    characters = list(text)
    for statement in program.statements:
        if isinstance(statement, expressions.Evaluate | program_tree.OutputDeclaration):
            for at in range(statement.span.start, statement.span.end):
                if characters[at] != "\n":
                    characters[at] = " "
    return "".join(characters).rstrip("\n") + "\n"


class _CannotRun(Exception):
    """A program needs an input for which a doctest has no file."""


class _ProgramFails(Exception):
    """A program does not run to its end; reported at `line`."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def _difference(expected: list[str], actual: list[str]) -> str:
    return "expected\n  " + "\n  ".join(expected) + "\nbut it prints\n  " + ("\n  ".join(actual) or "(nothing)")
