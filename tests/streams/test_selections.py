"""What masks select from stored inputs: the bits of the whole run, within the limit, however many items are selected."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from rho.backend.schedule.streams import stream_planning
from rho.backend.streams.spill import SelectedRows
from rho.lang.diagnostics.model import Refused, RunFailed
from rho.lang.syntax.source import Source
from rho.shell.display.plan_output import stream_lines
from rho.shell.execution.streaming import plans_of, require_one_run, require_sizes_known, stages_of
from rho.shell.main import main
from rho.shell.pipeline import Session

from .running import loaded, results, same_bits, store, unfinished

pytestmark = pytest.mark.long

LIMIT = 4_000_000
_X = "input x : f64[n] where n ≥ 8\n"
_M = "input m : f64[r 5] where r ≥ 8\n"
PROGRAMS = {
    "sum": _X + "y ← (x>0.5)/x\n+/y\n≢y",
    "sum of a map": _X + "y ← (x>0.5)/x\n+/2×y\n+/y>0.75",
    "written": _X + "y ← (x>0.5)/x\nz ← 1+y×y\noutput z",
    "scan": _X + "y ← (x>0.5)/x\nz ← +\\y\noutput z",
    "sorted": _X + "y ← (x>0.3)/x\nz ← y[⍋y]\noutput z",
    "places": _X + "z ← ⍸x>0.5\noutput z\n+/z",
    "places and items": _X + "b ← x>0.25\nz ← ⍸b\noutput z\n+/b/x\n+/b/x×x",
    "by another input": _X + "input w : f64[n]\ny ← (w>0.5)/x\n+/y\noutput y",
    "two masks": _X + "input w : f64[n]\n(+/(w>0.5)/x)-+/(x>0.5)/w",
    "by the mean": _X + "y ← (x>(+/x)÷≢x)/x\n+/y\noutput y",
    "twice": _X + "y ← (x>0.25)/x\nz ← (y<0.75)/y\n+/z\noutput z",
    "rows": _M + "s ← (m[;0]>0.5)⌿m\noutput s\n+⌿s",
    "rows in the mean": _M + "s ← ((+/m)>2.5)⌿m\n(+⌿s)÷1⌈≢s",
    "few": _X + "y ← (x>0.9999)/x\n+/y",
    "none": _X + "y ← (x>2.0)/x\n+/y\n≢y\noutput y",
    "all": _X + "y ← (x>¯1.0)/x\n+/y\noutput y",
    "keys": _X + "y ← (x>0.5)/x\n10 +⌸ (⌊10×y ⋄ y)",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("stored")
    draw = np.random.default_rng(5)
    np.save(made / "x.npy", draw.random(700_003))
    np.save(made / "w.npy", draw.random(700_003))
    np.save(made / "m.npy", draw.random((150_001, 5)))
    return made


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_bits_are_those_of_the_whole_run(name: str, folder: Path) -> None:
    whole, tiled = (loaded(PROGRAMS[name], folder, limit) for limit in (None, LIMIT))
    assert stages_of(tiled) and not whole.streams
    plans = plans_of(tiled)
    assert all(count <= LIMIT for plan in plans for _, count in plan.main.peak)
    assert same_bits(results(whole), results(tiled))
    assert not unfinished()


def test_the_plan_says_the_most_that_it_reads_and_writes(folder: Path) -> None:
    (line,) = stream_lines(loaded(PROGRAMS["written"], folder, LIMIT))
    assert line.startswith("streams `x`: 11.2 MB read in 2 passes of ") and line.endswith(", where masks select everything")
    assert "11.2 MB written (5.6 MB of them in temporary files)" in line


def test_nothing_is_left_where_the_disk_is_full(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: SelectedRows, cells: object, axis: int, first: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(SelectedRows, "put", full)
    with pytest.raises(RunFailed, match=r"E708.*No space left on device"):
        store(loaded(PROGRAMS["written"], folder, LIMIT))
    assert not unfinished()


def test_what_needs_one_run_or_all_sizes_is_refused(folder: Path) -> None:
    with pytest.raises(Refused, match="E702"):
        require_one_run(loaded(PROGRAMS["sum"], folder, LIMIT), "--verify")
    with pytest.raises(Refused, match="counted when the program runs") as caught:
        require_sizes_known(loaded(PROGRAMS["sum"], folder, LIMIT), "a plan that is kept")
    (said,) = caught.value.diagnostics
    assert said.span.start > 0 and any("--max-memory" in note for note in said.notes)


def test_a_stored_plan_that_does_not_fit_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A plan in memory was passed over without a word where the limit asked for tiles."""
    np.save(tmp_path / "x.npy", np.arange(200_000.0))
    script, stored = tmp_path / "p.rho", tmp_path / "p.json"
    script.write_text('input x : f64[n] ← "x.npy"\n+/(x>3)/x\n', encoding="utf-8")
    assert main(["plan", str(script), "--max-memory", "600KB", "-o", str(stored)]) == 4
    assert not stored.exists() and "--max-memory" in capsys.readouterr().err
    assert main(["plan", str(script), "-o", str(stored)]) == 0
    assert main(["run", "--plan", str(stored)]) == 0
    assert main(["run", "--plan", str(stored), "--max-memory", "600KB"]) == 4
    assert "the limit is 600" in capsys.readouterr().err


def test_what_might_not_fit_is_refused_by_name(folder: Path) -> None:
    with pytest.raises(Refused, match="E702") as caught:
        loaded(_X + "y ← (x>0.5)/x\ny", folder, LIMIT)
    assert any("printing" in note or "Print" in note or "at once" in note for note in caught.value.diagnostics[0].notes)


def test_what_fits_with_no_tile_is_refused_at_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values without an input are made as a whole; no smaller tile of the rest makes room, so that tiles are not tried."""
    np.save(tmp_path / "y.npy", np.ones(100_003))
    tiles: list[object] = []
    real = stream_planning.key_of
    monkeypatch.setattr(stream_planning, "key_of", lambda *given: (tiles.append(given[-1]), real(*given))[1])
    with pytest.raises(Refused) as refused:
        loaded("input y : f64[n]\nv ← (⍳≢y)+0.0\n+/(v>0.25)/v\n+/(v>0.25)/y", tmp_path, 100_000)
    note = "`/` (line 4) needs at least 2,048 bytes for a tile of one row, beside 100,352 bytes of values that are kept whole"
    assert f"it cannot stream from its files: {note}" in refused.value.diagnostics[0].notes
    assert len(tiles) < 100


@pytest.mark.parametrize(("text", "least"), [("⌈/y", "⌈/(x>2.0) ¿ (x ⋄ ¯∞)"), ("⌊/y", "⌊/(x>2.0) ¿ (x ⋄ ∞)")])
def test_what_the_message_on_an_empty_axis_offers_streams(text: str, least: str, folder: Path) -> None:
    """The start value and the choice by the mask have the values of a run in memory."""
    selected = _X + "y ← (x>2.0)⌿x\n"
    [error] = Session().check(Source("p.rho", selected + text)).diagnostics
    start, instead, _ = error.notes
    joined = start.partition("`")[2].partition("`")[0]
    assert least.replace("(x>2.0)", "m") in instead
    whole = results(loaded(f"{selected}{joined.replace('x', 'y')}", folder, None))
    assert same_bits(whole, results(loaded(f"{selected}{joined.replace('x', 'y')}", folder, LIMIT)))
    assert same_bits(whole, results(loaded(_X + least, folder, LIMIT)))
