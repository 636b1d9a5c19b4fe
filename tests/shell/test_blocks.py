"""Schedule blocks of programs that are only checked: what contradicts itself or the data, and what a profile cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest

from rho.shell.session import Session

from .conftest import Rho

PROGRAM = "input x : f64[n]\ny ← x+2\nz ← y×3\nw ← x-1\nv ← ≢x\nz\nw\n"


def wrong(rho: Rho, folder: Path, block: str, *words: str) -> list[tuple[str, str, str]]:
    text = PROGRAM + "schedule {\n" + block + "\n}\n"
    (folder / "p.rho").write_text(text, encoding="utf-8")
    ran = rho("check", str(folder / "p.rho"), "--json", *words)
    lines = text.splitlines()
    found = []
    for one in ran.json()["diagnostics"]:
        first, last = one["range"]["start"], one["range"]["end"]
        found.append((one["code"], one["message"], lines[first["line"]][first["character"] : last["character"]]))
    errors = [one for one in ran.json()["diagnostics"] if one["severity"] == "error"]
    assert ran.code == (3 if errors else 0)
    return found


@pytest.mark.parametrize(
    ("block", "code", "message", "at"),
    [
        ("y before w\nw before y", "SCH101", "cannot all hold: `y before w` (line 9); `w before y` (line 10)", "y before w"),
        ("y before w\nw before z\nz before y", "SCH102", "`z before y`", "z before y"),
        ("z before y", "SCH102", "these cannot all hold: `z before y` (line 9)", "z before y"),
        ("print z before z", "SCH102", "`print z before z`", "print z before z"),
        ("order w … y\ny before w", "SCH101", "these cannot all hold: `order w … y`", "order w … y"),
    ],
)
def test_orders_that_cannot_be(rho: Rho, tmp_path: Path, block: str, code: str, message: str, at: str) -> None:
    ((found, said, underlined),) = wrong(rho, tmp_path, block)
    assert (found, underlined) == (code, at) and message in said


@pytest.mark.parametrize(
    "block",
    [
        "y before z", "w before y", "order x … z", "v before z", "z before v", "print w before y", "place y z on gpu0",
        "gpu { y ⋄ z }", "split y rows 3:1 over node[0] node[1]", "keep y on anything", "limit memory gpu0 200MB",
    ],
)  # fmt: skip
def test_what_can_be_is_left_alone(rho: Rho, tmp_path: Path, block: str) -> None:
    assert wrong(rho, tmp_path, block) == []


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
    assert ran.code == 4 and "`nowhere` is no shipped profile" in ran.err


def test_sessions_and_python_say_the_same(tmp_path: Path) -> None:
    from rho.lang.source import Source

    found = Session(devices="workstation").check(Source("<t>", PROGRAM + "schedule {\n place y on gup0\n}\n"))
    assert not found.accepted and found.diagnostics[-1].code == "SCH107"
