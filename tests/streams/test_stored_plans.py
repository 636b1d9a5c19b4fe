"""Plans with passes kept in a file: run as they are, checked, and refused where they are not what their tiles make."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from share import SEED, SHARE

from rho.backend.schedule.plan.plan import ExecutionPlan, decode_plan, encode_plan
from rho.shell.main import main
from rho.tests.plans.forging import fields_in, forgeries

pytestmark = pytest.mark.long

TEXT = 'input x : f64[n] ← "x.npy"\nc ← (+/x)÷≢x\nz ← x-c\noutput z\n+/z×z\n'


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", np.random.default_rng(1).standard_normal(700_003))
    (tmp_path / "p.rho").write_text(TEXT)
    assert main(["plan", str(tmp_path / "p.rho"), "--max-memory", "3MB", "-o", str(tmp_path / "p.json")]) == 0
    return tmp_path / "p.json"


def _run(plan: Path, *options: str) -> int:
    out = f"z={plan.parent / 'z.npy'}"
    return main(["run", "--plan", str(plan), "--allow-read", str(plan.parent), "--out", out, *options])


def test_it_runs_as_it_is_and_gives_the_same_bits(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(kept.parent / "p.rho"), "--out", f"z={kept.parent / 'whole.npy'}"]) == 0
    expected = capsys.readouterr().out
    assert _run(kept) == 0
    told = capsys.readouterr()
    assert told.out == expected and "2 passes" in told.err
    assert (kept.parent / "z.npy").read_bytes() == (kept.parent / "whole.npy").read_bytes()
    assert main(["plan", "--check", str(kept)]) == 0
    assert main(["plan", str(kept.parent / "p.rho"), "--max-memory", "3MB", "--diff", str(kept)]) == 0


def _step(data: Any) -> Any:
    return next(step for step in data["main"]["queues"][0]["steps"] if step["step"] == "stream")


def _no_free(data: Any) -> None:
    steps = data["main"]["queues"][0]["steps"]
    data["main"]["queues"][0]["steps"] = [step for step in steps if step["step"] != "free"]


FORGERIES: dict[str, Any] = {
    "rows": lambda data: _step(data).update(rows=12_288),
    "a row a tile": lambda data: _step(data).update(rows=1),
    "tiles": lambda data: _step(data).update(tiles=3),
    "bytes": lambda data: _step(data).update(reads=8),
    "a phase that is none": lambda data: _step(data).update(phases=[0, 99]),
    "a pass twice": lambda data: data["main"]["queues"][0]["steps"].insert(0, _step(data)),
    "nothing freed": _no_free,
    "a store": lambda data: data["stores"][0].update(bytes=1),
    "a store that is none": lambda data: data["stores"][0].update(name="y"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_one_is_refused(forgery: str, kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(kept.read_text())
    FORGERIES[forgery](data)
    kept.write_text(json.dumps(data))
    assert _run(kept) == 4
    assert "E705" in (told := capsys.readouterr().err) or "E702" in told
    assert main(["plan", "--check", str(kept)]) == 4
    assert not (kept.parent / "z.npy").exists()


FREE = ("PlannedFile.name", "PlannedPhase.span", "Device.threads")
"""What nothing is concluded from: names of files, and the threads that the machine had for which the plan was made."""


def _forged(plan: ExecutionPlan) -> list[tuple[str, ExecutionPlan]]:
    fields = [(kind, name) for kind, name in fields_in(ExecutionPlan) if f"{kind}.{name}" not in FREE]
    every = [forged for kind, name in fields for forged in forgeries(plan, kind, name, most=2)]
    return [(what, one) for what, one in every if encode_plan(one) != encode_plan(plan)]


def test_no_forged_field_is_accepted(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """38 of 88 plans with passes ran although `outputs`, `devices`, `phases` or `main.buffers` were changed."""
    plan = decode_plan(kept.read_text())
    forged = _forged(plan)
    accepted = []
    for what, one in forged if SHARE == 1 else Random(SEED).sample(forged, 30):
        kept.write_text(encode_plan(one))
        if main(["plan", "--check", str(kept)]) not in (3, 4):
            accepted.append(what)
    assert accepted == []


def test_a_program_without_a_name_is_no_plan(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(kept.read_text())
    data["program"][0]["name"] = ""
    kept.write_text(json.dumps(data))
    assert _run(kept) == 4
    assert "program[0] has no name" in capsys.readouterr().err


def test_what_it_needs_is_said(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--plan", str(kept), "--allow-read", str(kept.parent)]) == 4
    assert "add `--out z=FILE.npy`" in capsys.readouterr().err
    assert _run(kept, "--simulate") == 4
    assert "processors" in capsys.readouterr().err
    assert _run(kept, "--max-memory", "500KB") == 4
    np.save(kept.parent / "x.npy", np.zeros(700_004))
    assert _run(kept) == 4
    assert "SCH301" in capsys.readouterr().err
    assert main(["plan", str(kept.parent / "p.rho"), "--max-memory", "3MB", "--format", "svg"]) == 4


def test_turns_of_a_loop_are_passes_of_a_kept_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(1).standard_normal(700_003))
    (tmp_path / "p.rho").write_text('input x : f64[n] ← "x.npy"\n{⍵+0.5×(+/x-⍵)÷≢x}⍣4 ⊢ 0.0\n')
    plan, program = str(tmp_path / "p.json"), str(tmp_path / "p.rho")
    assert main(["plan", program, "--max-memory", "3MB", "-o", plan]) == 0
    assert main(["plan", "--check", plan]) == 0
    capsys.readouterr()
    assert main(["run", program]) == 0
    expected = capsys.readouterr().out
    assert main(["run", "--plan", plan, "--allow-read", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert told.out == expected and "4 passes" in told.err


def test_a_kept_plan_sorts_on_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(1).standard_normal(700_003))
    (tmp_path / "p.rho").write_text('input x : f64[n] ← "x.npy"\ng ← ⍒x\noutput g\n')
    plan, program, out = (str(tmp_path / name) for name in ("p.json", "p.rho", "g.npy"))
    assert main(["run", program, "--out", f"g={out}"]) == 0
    expected = Path(out).read_bytes()
    assert main(["plan", program, "--max-memory", "3MB", "-o", plan]) == 0
    assert main(["plan", "--check", plan]) == 0
    capsys.readouterr()
    Path(out).unlink()
    assert main(["run", "--plan", plan, "--allow-read", str(tmp_path), "--out", f"g={out}"]) == 0
    assert "11.2 MB of them in temporary files" in capsys.readouterr().err
    assert Path(out).read_bytes() == expected
