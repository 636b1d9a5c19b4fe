"""The programs in documents (docs/testing.md), as a corpus for tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rho.shell.execution.doctest_parser import LineCase, ProgramCase, markdown_cases


def programs_of(path: Path) -> Iterator[str]:
    """The text of each program of a Markdown document: of each fence, and of each `⇐` line with the definitions above it."""
    for case in markdown_cases(path.read_text(encoding="utf-8")):
        if isinstance(case, LineCase):
            yield f"{case.before.strip()}\n{case.step.text}".lstrip()
        elif isinstance(case, ProgramCase):
            yield "\n".join(step.text for step in case.steps)
