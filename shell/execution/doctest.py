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
from ...typechecker.usage.check_moves import written
from ..console.apply_fixes import applied
from ..console.process_exit import Exit
from ..console.usage_errors import UsageError
from ..pipeline import Session
from ..pipeline_types import Checked, PlanDetail
from .doctest_parser import (
    Case,
    Claim,
    ClaimedMessage,
    DoctestStep,
    ExpressionCase,
    LineCase,
    ProgramCase,
    claimed_lines,
    without_last_statement,
)
from .outcome import DisplayedValue, nothing
from .params import Permissions
from .run_request import RunRequest
from .running import RunReport, run_program

# ---------------------------------------------------------------------------------------------------- messages_claimed
#
# What is expected of a program besides its expected results: messages, their notes, and what is read how often.

_MESSAGE = re.compile(r"(\S*)(?: (.*?))??(?: at `(.*)`)?")
_SOURCE_LINE = re.compile(r"\s*\d+ │")


def fits(said: ClaimedMessage, given: Diagnostic, source: Source) -> bool:
    """Is this the message, of a program that `source` is the text of, that `said` claims?"""
    read = _MESSAGE.fullmatch(said.expected)
    if read is None or given.code != read[1] or (read[2] or "") not in given.message:
        return False
    if given.is_error is not (said.claim is Claim.ERROR):
        return False
    underlined = source.text[given.span.start : given.span.end].replace("\n", "⏎")
    return read[3] is None or (given.span.file == source.name and underlined == read[3])


def notes(given: Diagnostic, shown: str, words: str) -> bool:
    """Has a message, as it is `shown`, these words, beside those of the program?  What is needed counts where it is not shown."""
    lines = [line for line in shown.split("\n") if not _SOURCE_LINE.match(line)]
    return any(words in line for line in (*lines, f"needed: {given.goal}"))


def reads_as(expected: str, line: str) -> bool:
    """Is this the line, where `…` stands for any text?"""
    return re.fullmatch(".*".join(re.escape(part.strip()) for part in expected.split("…")), line.strip()) is not None


def reads(checked: Checked) -> list[str]:
    """`x 2×n` for each named value of which elements are read."""
    quantities = [] if checked.result is None else checked.result.quantities()
    return [f"{one.name} {written(one.grade)}" for one in quantities if not one.grade.is_zero]


def rendered(diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> str:
    return render_text(diagnostics, sources).rstrip("\n")


# ---------------------------------------------------------------------------------------------------- claims

NAME = "<example>"


@dataclass(frozen=True, slots=True)
class DoctestFailure:
    """A claim that does not hold: the file, the 1-based line of the claim, what is wrong."""

    file: str
    line: int
    message: str


def check_case(case: Case, file: str, text: str) -> list[DoctestFailure]:
    """The claims of one case of `file`, whose whole text is `text`."""
    return Runner(file).case(case, text)


class Runner:
    """Programs of one file: they stand in its folder and may read what is in it."""

    verify = False
    """Are values compared with those of the reference interpreter?"""

    def __init__(self, file: str) -> None:
        self.file = file
        self.folder = os.path.dirname(file)
        self.session = Session(self.folder, Permissions.of([self.folder or "."], [file]))

    def case(self, case: Case, text: str) -> list[DoctestFailure]:
        """What does not hold of a case of the file, whose whole text is `text`."""
        try:
            if isinstance(case, LineCase):
                return self.one_line(case)
            if isinstance(case, ExpressionCase):
                return self.expression(case, text)
            return self.program(case)
        except _Fails as fails:
            return self.failure(fails.line, str(fails))

    def failure(self, line: int, message: str) -> list[DoctestFailure]:
        return [DoctestFailure(self.file, line, message)]

    def run(self, text: str) -> RunReport:
        try:
            return run_program(self.source(text), self.session, RunRequest(), verify=self.verify)
        except UsageError as error:
            raise _CannotRun(error.message) from None

    def printed(self, text: str, line: int, what: str) -> list[DisplayedValue]:
        """What a program prints; `_Fails` at a line where it does not run to its end."""
        try:
            report = self.run(text)
        except _CannotRun as error:
            raise _Fails(line, str(error)) from None
        if report.exit is not Exit.OK:
            raise _Fails(line, f"{what} does not run:\n" + rendered(report.diagnostics, report.sources))
        return [*report.outcome.printed]

    def check(self, text: str) -> Checked:
        return self.session.check(self.source(text))

    def source(self, text: str) -> Source:
        """A program of the file; each that is checked or run is made here."""
        return Source(NAME, text)

    # -------------------------------------------------------------------- programs

    def program(self, case: ProgramCase) -> list[DoctestFailure]:
        lines: list[str] = []
        failures: list[DoctestFailure] = []
        for step in case.steps:
            before = "".join(f"{text}\n" for text in lines)
            failures += self._claimed(before, step)
            if step.of(Claim.ERROR):
                sound = without_last_statement(step.text)
                if sound.strip() and self.check(before + sound).accepted:
                    lines.append(sound)
                continue
            lines.append(step.text)
        if case.runs:
            try:
                return failures + self._printed(case, "\n".join(lines))
            except _Fails as fails:
                return failures + self.failure(fails.line, str(fails))
        checked = self.check("\n".join(lines))
        if not checked.accepted and not failures:
            failures += self.failure(case.line, "this program is rejected:\n" + rendered(checked.diagnostics, checked.sources))
        return failures

    def _claimed(self, before: str, step: DoctestStep) -> list[DoctestFailure]:
        """What does not hold of messages, types, reads and plans of a program that ends with `step`."""
        text = before + step.text
        if step.of(Claim.ERROR):
            report = self._outcome(text)
            if report.exit is Exit.OK:
                said = step.of(Claim.ERROR)[0]
                return self.failure(said.line, f"{said.expected} is expected, but the program is accepted")
            return self._told(before, step, report.diagnostics, report.sources)
        claims = step.of(Claim.WARNING, Claim.TYPE, Claim.READS, Claim.PLAN)
        if not claims:
            return []
        checked = self.check(text)
        if not checked.accepted:
            return self.failure(claims[0].line, "this program is rejected:\n" + rendered(checked.diagnostics, checked.sources))
        failures: list[DoctestFailure] = []
        if step.of(Claim.WARNING, Claim.TYPE):
            failures += self._told(before, step, checked.diagnostics, checked.sources)
        for said in claims:
            wrong = self._about(said, checked)
            failures += [] if wrong is None else self.failure(said.line, wrong)
        return failures

    def _about(self, said: ClaimedMessage, checked: Checked) -> str | None:
        """What is wrong with a claim about the type, the reads or the plan of an accepted program."""
        if said.claim is Claim.TYPE and (checked.last or "none") != said.expected:
            return f"the type is {checked.last or 'none'}, not {said.expected}"
        if said.claim is Claim.READS and sorted(reads(checked)) != sorted(said.expected.split(", ") if said.expected else []):
            return f"what is read is {', '.join(reads(checked)) or 'nothing'}, not {said.expected}"
        if said.claim is Claim.PLAN and said.expected not in (shown := self._plan(checked, dict(said.sizes))):
            return f"no line of the plan has `{said.expected}`:\n{shown}"
        return None

    def _plan(self, checked: Checked, sizes: Mapping[str, int]) -> str:
        """What `rho plan` prints."""
        from ..display.plan_output import plan_lines

        try:
            return plan_lines(self.session.load(checked, RunRequest(sizes=sizes), PlanDetail.FULL))
        except RhoError as error:
            return rendered(error.diagnostics, checked.sources)
        except UsageError as error:
            return error.message

    def _told(
        self, before: str, step: DoctestStep, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]
    ) -> list[DoctestFailure]:  # fmt: skip
        """What claims of messages say that is not so, and messages about the step that no claim names."""
        source = sources.get(NAME, Source(NAME, before + step.text))
        left = [given for given in diagnostics if given.severity is not Severity.NOTE]
        about: Diagnostic | None = None
        failures: list[DoctestFailure] = []
        for said in step.of(Claim.ERROR, Claim.WARNING, Claim.NOTE, Claim.FIX):
            if said.claim in (Claim.ERROR, Claim.WARNING):
                about = next((given for given in left if fits(said, given, source)), None)
                if about is not None:
                    left.remove(about)
                    continue
                wrong = f"{said.expected} is expected, but it gives\n{rendered(diagnostics, sources) or 'no message'}"
            elif about is None:
                wrong = f"no message is claimed that `{said.expected}` could belong to"
            elif said.claim is Claim.NOTE:
                shown = rendered([about], sources)
                wrong = "" if notes(about, shown, said.expected) else f"`{said.expected}` is not in the notes of\n{shown}"
            else:
                wrong = self._repaired(said, about, source)
            failures += self.failure(said.line, wrong) if wrong else []
        more = [given for given in left if given.is_error or given.span.start >= len(before)]
        if more and not failures:
            failures += self.failure(step.claims[0].line, "no claim names\n" + rendered(more, sources))
        return failures

    def _repaired(self, said: ClaimedMessage, given: Diagnostic, source: Source) -> str:
        """What is wrong with the claim that a fix of `given` changes a line of the program to this one."""
        texts = [applied(source, [fix]).text for fix in given.fixes if fix.edits]
        changed = [Counter(text.split("\n")) - Counter(source.text.split("\n")) for text in texts]
        wanted = [text for text, new in zip(texts, changed, strict=True) if any(reads_as(said.expected, line) for line in new)]
        if not wanted:
            suggestions = [f"`{line}`" for new in changed for line in new]
            return "no fix makes this line, but " + (" or ".join(suggestions) or "there is none")
        before, after = ([one.message for one in self.check(text).diagnostics] for text in (source.text, wanted[0]))
        if len(after) >= len(before):
            return f"with the fix this is said: {'; '.join(after)}"
        return ""

    def _outcome(self, text: str) -> RunReport:
        """Checked, and run only if it is accepted (some codes appear only then)."""
        try:
            return self.run(text)
        except _CannotRun:
            checked = self.check(text)
            return RunReport(Exit.OK if checked.accepted else Exit.REJECTED, nothing(), checked.diagnostics, checked.sources)

    def _printed(self, case: ProgramCase, text: str) -> list[DoctestFailure]:
        actual = _lines(self.printed(text, case.line, "this program"))
        failures: list[DoctestFailure] = []
        at = 0
        for step in case.steps:
            claims = step.of(Claim.PRINTS)
            if not claims:
                continue
            expected, printed = _paired([said.expected for said in claims], actual[at:])
            at += len(printed)
            if printed != expected:
                return [*failures, *self.failure(claims[0].line, _difference(expected, printed))]
        if at < len(actual) and (last := case.steps[-1].claims):
            return self.failure(last[0].line, "more is printed: " + " / ".join(actual[at : at + 4]))
        return failures

    # ----------------------------------------------------------------- expressions

    def one_line(self, case: LineCase) -> list[DoctestFailure]:
        before = case.before + "\n" if case.before.strip() else ""
        values = case.step.of(Claim.EQUALS)
        if values:
            prelude = definitions(before)
            return self._same_print(prelude + case.step.text, prelude + values[0].expected, case.line)
        return self._claimed(before, case.step)

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
    """The lines that claims expect beside those that are printed; lines of which only the number is claimed are themselves."""
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
    """The text without the statements that print or save, blanked so that lines keep their numbers."""
    program, _ = parse_program(Source(NAME, text))
    characters = list(text)
    for statement in program.statements:
        if isinstance(statement, expressions.Evaluate | program_tree.OutputDeclaration):
            for at in range(statement.span.start, statement.span.end):
                if characters[at] != "\n":
                    characters[at] = " "
    return "".join(characters).rstrip("\n") + "\n"


class _CannotRun(Exception):
    """A program needs what an example cannot give (an input without a file)."""


class _Fails(Exception):
    """A program does not run to its end, which is said of a line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def _difference(expected: list[str], actual: list[str]) -> str:
    return "expected\n  " + "\n  ".join(expected) + "\nbut it prints\n  " + ("\n  ".join(actual) or "(nothing)")
