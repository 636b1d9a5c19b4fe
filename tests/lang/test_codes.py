"""The table of codes: complete, each page's programs do what the page says, `explain` answers."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from rho.lang.diagnostics.help_pages import explain, pages, suggested_word
from rho.lang.diagnostics.model import Code, Page, PageStage, code_of
from rho.lang.primitives import generate_docs
from rho.lang.primitives.operators import UNSUPPORTED_CHARACTERS
from rho.lang.primitives.table import PRIMITIVES
from rho.lang.syntax.source import Source
from rho.shell.console.process_exit import Exit
from rho.shell.execution.run_request import RunRequest
from rho.shell.execution.running import run_program
from rho.shell.pipeline import Session

DOCS = Path(__file__).parents[2] / "docs"
DESIGN = (
    "E001 E012 E013 E014 E101 E102 E103 E110 E111 E120 E121 E122 E130 "
    "E131 E132 E133 E134 E140 E200 E201 E202 E203 E204 E209 E300 E301 "
    "E302 E303 E304 E310 E401 E402 E403 "
    "E500 E501 E502 E503 E600 E601 E602 E610 E701 E702 E703 W201 W310 W320 SCH101 SCH102 SCH103 "
    "SCH104 SCH105 SCH106 SCH107 SCH201 SCH202 SCH203 SCH204 SCH301 SCH302 SCH303"
)


def test_every_code_of_the_design_has_a_row() -> None:
    assert [code for code in DESIGN.split() if code_of(code) is None] == []


def test_rows_are_in_order_and_refer_to_codes() -> None:
    families = [[code for code in Code if code.startswith(letter)] for letter in "ESWN"]
    assert all(family == sorted(family) for family in families)
    assert [(code, other) for code in Code for other in code.related if code_of(other) in (None, code)] == []
    assert len({code.summary for code in Code}) == len(Code)


def test_every_row_has_a_page_and_every_page_a_row() -> None:
    assert list(pages()) == list(Code)
    from rho.lang.diagnostics import code_pages

    assert set(code_pages.PAGES) == set(Code)
    for code, page in pages().items():
        assert len(page.explanation) > 40 and page.failing.strip() and page.repaired.strip(), code
        assert page.failing != page.repaired or page.stage is PageStage.SHOWN, code


def test_a_code_is_its_text() -> None:
    assert Code.E101 == "E101" and f"{Code.E101}" == "E101" and json.dumps([Code.E101]) == '["E101"]'
    assert Code.E101.summary == "these arrays do not line up" and pickle.loads(pickle.dumps(Code.E101)) is Code.E101
    assert code_of("E101") is Code.E101 and code_of("E999") is None and {code.name for code in Code} == set(Code)


def test_importing_codes_loads_no_page() -> None:
    script = "import sys, rho.lang.diagnostics.model; print([m for m in sys.modules if 'pages' in m])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_explain_answers_every_word_of_the_tables() -> None:
    for code in Code:
        text = explain(code)
        assert text is not None and text.startswith(f"{code}: ") and code.summary in text
    for row in PRIMITIVES:
        for word in (row.glyph, *row.names, *("`" + name for name in row.names), *(["`" + row.key] if row.key else [])):
            text = explain(word)
            assert text is not None and row.glyph in text, word
    for glyph in UNSUPPORTED_CHARACTERS:
        assert "not part of Rho" in (explain(glyph) or "")
    assert explain("e101") == explain("E101")
    assert explain("zork") is None and explain("") is None
    assert suggested_word("E11") in set(Code) and suggested_word("rhoo") == "⍴"


def test_explain_shows_both_roles_of_a_slash() -> None:
    text = explain("/")
    assert text is not None and "reduce" in text and "compress" in text


def test_reference_page_is_fresh() -> None:
    text = (DOCS / "errors.md").read_text(encoding="utf-8")
    assert text == generate_docs.errors_page(), "run python -m rho.lang.primitives.generate_docs"


def pages_of(*stages: PageStage) -> list[tuple[str, Page]]:
    """The failing programs of pages that are checked are run with the documents (docs/errors.md)."""
    return [(code, page) for code, page in pages().items() if page.stage in stages]


@pytest.mark.parametrize(("code", "page"), pages_of(PageStage.CHECK, PageStage.RUN))
def test_repaired_programs_are_accepted(code: str, page: Page) -> None:
    assert not Session().check(Source("<page>", page.repaired)).diagnostics, code


@pytest.mark.parametrize(("code", "page"), pages_of(PageStage.RUN))
def test_failing_programs_are_refused_when_run(code: str, page: Page, tmp_path: Path) -> None:
    for name, content in page.files:
        (tmp_path / name).write_text(content, encoding="utf-8")
    for text, wanted in ((page.failing, {code}), (page.repaired, set())):
        report = run_program(Source("<page>", text), Session(str(tmp_path)), RunRequest())
        errors = {one.code for one in report.diagnostics if one.is_error}
        assert (errors, report.exit is not Exit.OK) == (wanted, bool(wanted)), text
