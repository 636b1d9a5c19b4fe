"""Files that were accepted before: what is kept of them is what checking gives, and it is not used once a text has changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rho.lang.diagnostics.model import Code
from rho.lang.support.caches import Cache
from rho.lang.syntax.source import Source
from rho.shell.execution.modules import PROGRAM_CACHE
from rho.shell.execution.params import Permissions
from rho.shell.pipeline import Session
from rho.shell.pipeline_types import Checked, Strictness

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROGRAM = 'use "./areas.rho"\ninput x : f64[n] ← "x.npy"\nareas.square x\n'
MODULE = "square ← {⍵×⍵}\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(PROGRAM_CACHE, str(tmp_path / "programs"))
    return tmp_path / "programs"


@pytest.fixture
def program(tmp_path: Path) -> Source:
    (tmp_path / "areas.rho").write_text(MODULE, encoding="utf-8")
    return Source(str(tmp_path / "program.rho"), PROGRAM)


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the sources that were checked."""
    names: list[str] = []
    check = Session.check

    def counted(self: Session, source: Source, *args: object, **options: object) -> Checked:
        names.append(source.name)
        return check(self, source, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Session, "check", counted)
    return iter([names])


def shown(checked: Checked) -> tuple[str, ...]:
    return tuple(map(repr, (checked.core, checked.diagnostics, sorted(checked.sources.items()))))


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.rho")))
def test_an_accepted_file_is_not_checked_again(name: str, checks: Iterator[list[str]]) -> None:
    source = Source(str(EXAMPLES / name), (EXAMPLES / name).read_text(encoding="utf-8"))
    first, again = Session().check_file(source), Session().check_file(source)
    assert first.core is not None and next(checks) == [source.name]
    assert shown(again) == shown(first)


def test_a_program_with_schedules_or_errors_is_checked_again(tmp_path: Path, checks: Iterator[list[str]]) -> None:
    for text in ("input x : f64[n] ← 'x.npy'\ny ← +/x\nschedule { keep y }\n", "1 2+1 2 3\n"):
        source = Source(str(tmp_path / "program.rho"), text)
        assert shown(Session().check_file(source)) == shown(Session().check_file(source))
    assert len(next(checks)) == 4


def test_a_changed_text_or_setting_is_checked(tmp_path: Path, program: Source, checks: Iterator[list[str]]) -> None:
    names = next(checks)
    for session, source in (
        (Session(), program),
        (Session(), Source(program.name, PROGRAM + "≢x\n")),
        (Session(strictness=Strictness.STRICT), program),
        (Session(), Source(str(tmp_path / "other.rho"), PROGRAM)),
    ):
        before = len(names)
        session.check_file(source)
        assert len(names) == before + 1


def test_a_changed_module_is_read(tmp_path: Path, program: Source) -> None:
    first = Session().check_file(program)
    (tmp_path / "areas.rho").write_text("square ← {⍵+1}\n", encoding="utf-8")
    second = Session().check_file(program)
    assert first.core is not None and second.core is not None and repr(first.core) != repr(second.core)
    assert second.sources[str(tmp_path / "areas.rho")].text == "square ← {⍵+1}\n"
    (tmp_path / "areas.rho").unlink()
    assert [one.code for one in Session().check_file(program).diagnostics if one.is_error][:1] == [Code.E019]


def test_a_module_that_may_not_be_read_is_refused(tmp_path: Path, program: Source) -> None:
    assert Session().check_file(program).accepted
    elsewhere = Session(permissions=Permissions.of([str(tmp_path / "data")], []))
    assert [one.code for one in elsewhere.check_file(program).diagnostics] == [Code.E707]


def test_entries_build_no_foreign_objects(cache: Path) -> None:
    values = Cache("programs", PROGRAM_CACHE, ".core", 1 << 20, 10)
    values.write_value("data", {"a": (1, 2.5, 3j, None, frozenset([1]), Source("p", "x"))})
    assert values.read_value("data") == {"a": (1, 2.5, 3j, None, frozenset([1]), Source("p", "x"))}
    values.write_value("path", cache)
    values.write_value("function", test_entries_build_no_foreign_objects)
    values.write("text", b"no pickle")
    assert [values.read_value(key) for key in ("path", "function", "text", "nothing")] == [None] * 4
