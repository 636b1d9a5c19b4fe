"""Schedule blocks through the command line: the worked examples planned, simulated, stored and run again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rho.shell.console.process_exit import Exit
from rho.tests.shell.conftest import Rho

COPIES = """input x : f64[n] ← "x.csv"
y ← x+5
z ← y
⎕←z
"""
CHOICE = """input x : f64[n] ← "x.csv"
b ← +/x
z ← {⍵>0 : x+1 ⋄ x×2}b
⎕←z
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "x.csv").write_text("\n".join(str(k / 8) for k in range(9)) + "\n", encoding="utf-8")
    return tmp_path


def written(folder: Path, text: str, block: str) -> str:
    path = folder / "p.rho"
    path.write_text(text + (f"schedule {{ {block} }}\n" if block else ""), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "block"),
    [
        (COPIES, "place y on gpu0 ⋄ place z on cpu"),
        (COPIES, "gpu { y ⋄ z }"),
        (CHOICE, "place z on gpu"),
        (CHOICE, "place z on gpu1 ⋄ speculate z"),
        (CHOICE, "speculate z ⋄ minimize syncs"),
    ],
)
def test_what_a_block_asks_is_planned_stored_checked_and_changes_nothing(rho: Rho, folder: Path, text: str, block: str) -> None:
    alone = rho("run", written(folder, text, ""))
    program, stored = written(folder, text, block), str(folder / "plan.json")
    on = ("--devices", "workstation")
    found = rho("run", program, *on, "--fast", "--simulate", "--verify")
    assert (found.code, found.out) == (Exit.OK, alone.out)
    assert rho("plan", program, *on, "--fast", "-o", stored).code == Exit.OK
    again = rho("run", program, *on, "--plan", stored, "--simulate")
    assert (again.code, again.out) == (Exit.OK, alone.out)
    checked = rho("plan", program, *on, "--check", stored)
    assert checked.code == Exit.OK, checked.err
    shown = json.loads(Path(stored).read_text(encoding="utf-8"))
    assert shown["speculated"] or "speculate" not in block


def test_s05_by_the_command_line(rho: Rho, folder: Path) -> None:
    found = rho("plan", written(folder, COPIES, "place y on gpu0 ⋄ place z on cpu"), "--devices", "workstation", "--fast")
    assert "2 syncs · 2 transfers" in found.out
    refused = rho("plan", written(folder, COPIES, "z before y"), "--devices", "workstation", "--fast")
    assert refused.code != Exit.OK
    assert "SCH102" in refused.err


def test_speculated_plans_of_another_form_are_refused(rho: Rho, folder: Path) -> None:
    """A stored plan that forgets to say what it speculates runs phases that its program does not have."""
    program, stored = written(folder, CHOICE, "speculate z"), folder / "plan.json"
    rho("plan", program, "--devices", "workstation", "--fast", "-o", str(stored))
    shown = json.loads(stored.read_text(encoding="utf-8"))
    shown["speculated"] = []
    stored.write_text(json.dumps(shown), encoding="utf-8")
    found = rho("plan", program, "--devices", "workstation", "--check", str(stored))
    assert found.code != Exit.OK
    assert "V1" in found.err
