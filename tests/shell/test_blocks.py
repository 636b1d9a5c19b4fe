"""Schedule blocks of programs that are only checked: what a profile cannot do (schedules.md: what no device can)."""

from __future__ import annotations

from pathlib import Path

import pytest

from rho.shell.pipeline import Session

from .conftest import Rho

PROGRAM = "input x : f64[n]\ny ← x+2\nz ← y×3\nw ← x-1\nv ← ≢x\nz\nw\n"


def wrong(rho: Rho, folder: Path, block: str, *words: str) -> list[tuple[str, str]]:
    (folder / "p.rho").write_text(PROGRAM + "schedule {\n" + block + "\n}\n", encoding="utf-8")
    ran = rho("check", str(folder / "p.rho"), "--json", *words)
    errors = [one for one in ran.json()["diagnostics"] if one["severity"] == "error"]
    assert ran.code == (3 if errors else 0)
    return [(one["code"], one["message"]) for one in ran.json()["diagnostics"]]


@pytest.mark.parametrize(
    ("block", "code", "message"),
    [
        ("place y on gup0", "SCH107", "there is no device or class `gup0`; did you mean `gpu0`?"),
        ("place y on node", "SCH107", "there is no device or class `node`"),
        ("place print on gpu0", "SCH105", "does input or output, which is done on `cpu0`"),
        ("place x on gpu", "SCH105", "`x` does input or output"),
        ("place y on gpu0\nplace y on cpu0", "SCH101", "these cannot all hold: `place y on gpu0`"),
        ("split y rows 1:2:3 over gpu0 gpu1", "SCH107", "3 shares for 2 devices"),
        ("limit memory gpu9 1MB", "SCH107", "there is no device or class `gpu9`"),
    ],
)
def test_what_these_devices_cannot_do(rho: Rho, tmp_path: Path, block: str, code: str, message: str) -> None:
    assert wrong(rho, tmp_path, block) == []
    (first, *_) = wrong(rho, tmp_path, block, "--devices", "workstation")
    assert first[0] == code and message in first[1]


def test_a_profile_that_is_none_is_refused(rho: Rho, tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text(PROGRAM, encoding="utf-8")
    ran = rho("check", str(tmp_path / "p.rho"), "--devices", "nowhere")
    assert ran.code == 4 and "`nowhere` is not a shipped profile" in ran.err


def test_sessions_and_python_say_the_same(tmp_path: Path) -> None:
    from rho.lang.syntax.source import Source

    found = Session(devices="workstation").check(Source("<t>", PROGRAM + "schedule {\n place y on gup0\n}\n"))
    assert not found.accepted and found.diagnostics[-1].code == "SCH107"
