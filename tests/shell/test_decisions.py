"""What `rho plan` says became of values: the example of docs/types.md, and each decision switched off."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from share import share

from rho.backend.graph.passes import pipeline, sink_into_maps
from rho.backend.schedule.program_facts.scratch_memory import BlockLiveness
from rho.shell.console.standard_streams import read_source
from rho.shell.display.plan_output import plan_lines
from rho.shell.execution.run_request import RunRequest
from rho.shell.pipeline import Session

from .conftest import Rho

DOCUMENT = Path(__file__).parents[2] / "docs" / "types.md"
WORDS = ("dropped", "fused", "made again", "kept", "in place")


def example() -> tuple[str, list[str]]:
    text = DOCUMENT.read_text(encoding="utf-8")
    found = re.search(r"```rho\n([^`]*spare[^`]*)```\n\nOf this, `rho plan` says:\n\n```text\n([^`]*)```", text)
    assert found is not None
    return found[1], found[2].splitlines()


def plan(rho: Rho, folder: Path, text: str) -> list[str]:
    program, data = folder / "p.rho", folder / "x.npy"
    program.write_text(text, encoding="utf-8")
    np.save(data, np.linspace(1, 2, 1000))
    shown = rho("plan", str(program), "--in", f"x={data}")
    assert shown.code == 0, shown.err
    return shown.out.splitlines()


def said(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith(WORDS)]


def test_the_example_of_the_document(rho: Rho, tmp_path: Path) -> None:
    text, lines = example()
    assert said(plan(rho, tmp_path, text)) == lines


@pytest.mark.parametrize(("off", "word"), [("dead", "dropped"), ("fusion", "fused")])
def test_without_a_pass_its_decisions_are_not_made(
    off: str, word: str, rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = example()[0]
    kept = tuple(one for one in pipeline.PASSES if one.name != off)
    with_all = plan(rho, tmp_path, text)
    monkeypatch.setattr(pipeline, "PASSES", kept)
    without = plan(rho, tmp_path, text)
    assert not [line for line in said(without) if line.startswith(word)]
    assert [line for line in with_all if line not in without and not line.startswith(word)], "the steps differ"


def test_made_again(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_into_maps, "MIN_POINTS", 1)
    text = "input x : f64[1000]\nd ← x-2\n(+/d×d)+(⌈/d×⌽d)\n"
    with_all = plan(rho, tmp_path, text)
    assert said(with_all) == ["made again line 2: d, making it takes little arithmetic, each time it is read"]
    monkeypatch.setattr(pipeline, "SIZED_PASSES", tuple(one for one in pipeline.SIZED_PASSES if one.name != "again"))
    without = plan(rho, tmp_path, text)
    assert said(without) == ["kept       line 2: d, each element is read 2 times"]
    assert [line for line in without if "8.0 kB → 8.0 kB" in line]
    assert not [line for line in with_all if "8.0 kB → 8.0 kB" in line]


def test_in_place(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, lines = example()
    monkeypatch.setattr(BlockLiveness, "overwritable_operand", lambda *around: None)
    without = plan(rho, tmp_path, text)
    assert said(without) == [line for line in lines if not line.startswith("in place")]
    assert not [line for line in without if " over " in line and line.startswith(" ")]


def library_examples() -> list[tuple[str, str]]:
    """Each library with the expressions of its examples."""
    files = sorted((DOCUMENT.parents[1] / "stdlib").glob("*.rho"))
    return [(f.stem, text) for f in files for text in re.findall(r"^⍝ >>> (.*)$", f.read_text(encoding="utf-8"), re.MULTILINE)]


@pytest.mark.long
def test_names_and_lines_of_a_library_are_not_shown_as_those_of_the_program(tmp_path: Path) -> None:
    for library, example in share(library_examples()):
        lines = [f"use {library}", example]
        path = tmp_path / "p.rho"
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
        checked = Session().check(read_source(str(path)))
        assert checked.accepted and checked.result is not None, (example, checked.diagnostics)
        bound = set(re.findall(r"\w+", example.rpartition("←")[0]))
        assert {one.name for one in checked.result.quantities()} <= bound, lines
        loaded = Session().load(checked, RunRequest(), full=True)
        labels = set(loaded.bound.graph.names.values())
        assert labels <= bound, (lines, labels)
        for text in plan_lines(loaded).splitlines():
            number = re.match(r"\S+\s+line (\d+): ", text)
            assert number is None or int(number[1]) <= len(lines), (lines, text)


def test_a_rewriting_in_a_library_names_the_line_of_the_call(rho: Rho, tmp_path: Path) -> None:
    text = "use stats\ninput x : f64[1000]\n\noutput m ← stats.median x\n"
    [line] = [line for line in plan(rho, tmp_path, text) if line.startswith("rewritten")]
    assert line.startswith("rewritten  line 4: ")
