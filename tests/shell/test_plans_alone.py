"""A stored plan holds its program: it runs and is checked without the script, and is refused beside another one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .conftest import Rho

pytestmark = pytest.mark.long

PROGRAM = 'use "./lib.rho"\nuse stats\ninput x : f64[n] ← "x.npy"\nz ← lib.twice x\n{0.5×⍵+1⌽⍵}⍣3 ⊢ z\nstats.mean z\n'
MODULE = "twice ← {⍵×2}\n"


@pytest.fixture
def stored(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a plan and its data; the script stood in another one."""
    monkeypatch.chdir(tmp_path)
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "x.npy", np.linspace(0, 1, 9))
    Path("old/p.rho").write_text(PROGRAM, encoding="utf-8")
    Path("old/lib.rho").write_text(MODULE, encoding="utf-8")
    for name, more in (("plan.json", ()), ("several.json", ("--devices", "workstation", "--fast"))):
        assert rho("plan", "old/p.rho", *more, "-o", f"new/{name}").code == 0
    return tmp_path


def gone(folder: Path) -> None:
    for path in (folder / "old").iterdir():
        path.unlink()


def test_it_runs_without_its_script(rho: Rho, stored: Path) -> None:
    wanted = rho("run", "old/p.rho")
    assert wanted.code == 0, wanted.err
    gone(stored)
    alone = rho("run", "--plan", "new/plan.json")
    assert (alone.code, alone.out) == (0, wanted.out), alone.err
    simulated = rho("run", "--plan", "new/several.json", "--simulate")
    assert simulated.code == 0 and wanted.out in simulated.out, simulated.err


def test_it_reads_the_data_beside_it(rho: Rho, stored: Path) -> None:
    before = rho("run", "--plan", "new/plan.json").out
    np.save(stored / "new" / "x.npy", np.linspace(1, 2, 9))
    after = rho("run", "--plan", "new/plan.json")
    assert after.code == 0 and after.out != before


def test_it_is_checked_without_its_script(rho: Rho, stored: Path) -> None:
    gone(stored)
    for name in ("plan.json", "several.json"):
        checked = rho("plan", "--check", f"new/{name}")
        assert checked.code == 0 and "holds" in checked.out, checked.err


def test_beside_another_text_it_is_refused(rho: Rho, stored: Path) -> None:
    assert rho("run", "old/p.rho", "--plan", "new/plan.json").code == 0
    Path("old/lib.rho").write_text(MODULE.replace("2", "3"), encoding="utf-8")
    refused = rho("run", "old/p.rho", "--plan", "new/plan.json")
    assert refused.code == 4 and "SCH301" in refused.err and "another program text" in refused.err


def changed(path: Path, **fields: Any) -> str:
    data = json.loads(path.read_text(encoding="utf-8")) | fields
    target = path.with_name("changed.json")
    target.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return str(target)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"schema": "plan/1"}, "'plan/1', and this version reads plan/2"),
        ({"program": []}, "holds no program"),
        ({"program": [{"name": "p.rho", "text": "1+"}]}, "E0"),
        ({"program": [{"name": "p.rho", "text": "input x : f64[n] ← \"x.npy\"\nx+1\n"}]}, "E705"),
        ({"chunks": [1]}, "plan.chunks[0]"),
        ({"stores": [{}]}, "plan.stores[0]"),
        ({"regions": []}, "regions"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_it_is_named(fields: dict[str, Any], said: str, rho: Rho, stored: Path) -> None:
    for name in ("plan.json", "several.json"):
        refused = rho("run", "--simulate", "--plan", changed(stored / "new" / name, **fields))
        assert refused.code in (1, 3, 4) and said in refused.err and "Traceback" not in refused.err, refused.err
