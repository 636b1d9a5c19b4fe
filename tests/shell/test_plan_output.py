"""`rho plan` in its formats, `--check` and `--diff`: stored plans are verified against their program, and not believed."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from .conftest import Rho

SCRIPT = 'input x : f64[n] ← "x.csv"\ny ← 2×x\n+/y\ny\noutput y\n'


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rho: Rho) -> Path:
    """A plan for two devices, beside its script and data."""
    (tmp_path / "sum.rho").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "x.csv").write_text("1\n2\n6\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert rho("plan", "sum.rho", "--devices", "h100", "-o", "plan.json").code == 0
    return tmp_path / "plan.json"


@pytest.mark.parametrize("format", ["svg", "html", "dot", "trace", "gantt"])
@pytest.mark.parametrize("devices", [(), ("--devices", "workstation")])
def test_every_picture_of_a_program(stored: Path, rho: Rho, format: str, devices: tuple[str, ...]) -> None:
    ran = rho("plan", "sum.rho", "--format", format, *devices)
    assert ran.code == 0 and ran.err == ""
    if format == "svg":
        assert "sum.rho" in ElementTree.fromstring(ran.out).attrib["aria-label"]
    elif format == "trace":
        assert {event["ph"] for event in json.loads(ran.out)["traceEvents"]} >= {"M", "X"}
    else:
        assert {"html": "<!doctype html>", "dot": "digraph schedule", "gantt": "sum.rho: "}[format] in ran.out


def test_an_instance_is_drawn_too(tmp_path: Path, rho: Rho) -> None:
    path = tmp_path / "two.stg"
    path.write_text("2\n0 0 0\n1 3 1 0\n2 4 1 0\n3 0 2 1 2\n", encoding="utf-8")
    ran = rho("plan", "--instance", str(path), "--devices", "2", "--format", "gantt")
    assert ran.code == 0 and ran.out.startswith("two.stg: 4 ticks")


def test_a_stored_plan_holds_and_is_proved_again(stored: Path, rho: Rho) -> None:
    ran = rho("plan", "--check", "plan.json", "--prove")
    assert ran.code == 0 and "holds" in ran.out and "proved again" in ran.out
    assert rho("plan", "--check", "plan.json", "sum.rho", "--json").json()["holds"] is True


def test_another_text_is_out_of_date(stored: Path, rho: Rho) -> None:
    (stored.parent / "sum.rho").write_text(SCRIPT.replace("2×x", "3×x"), encoding="utf-8")
    ran = rho("plan", "--check", "plan.json")
    assert ran.code == 4 and "SCH301" in ran.err


def test_other_sizes_are_out_of_date(stored: Path, rho: Rho) -> None:
    (stored.parent / "x.csv").write_text("1\n2\n", encoding="utf-8")
    ran = rho("plan", "--check", "plan.json")
    assert ran.code == 4 and "n is 2 and was 3" in ran.err


def corrupted(stored: Path, change: str) -> None:
    plan = json.loads(stored.read_text(encoding="utf-8"))
    queues = plan["main"]["queues"]
    if change == "a step is dropped":
        queue = max(queues, key=lambda q: len(q["steps"]))
        queue["steps"] = [s for s in queue["steps"] if s["step"] != "run"][:]
    elif change == "a forged time":
        plan["prediction"]["makespan"] = 1
    elif change == "a forged bound":
        plan["prediction"]["lower_bound"] = plan["prediction"]["makespan"] + 1
    elif change == "less memory":
        for device in plan["devices"]:
            device["memory"] = 1
    stored.write_text(json.dumps(plan), encoding="utf-8")


@pytest.mark.parametrize("change", ["a step is dropped", "a forged time", "a forged bound", "less memory"])
def test_corrupted_plans_are_refused(stored: Path, rho: Rho, change: str) -> None:
    corrupted(stored, change)
    ran = rho("plan", "--check", "plan.json")
    assert ran.code == 4 and "E705" in ran.err
    assert ran.out == ""


@pytest.mark.parametrize("text", ["", "{}", "[1, 2", '{"schema": "plan/9"}', "\x00"])
def test_files_that_are_no_plans(stored: Path, rho: Rho, text: str) -> None:
    stored.write_text(text, encoding="utf-8")
    ran = rho("plan", "--check", "plan.json")
    assert ran.code == 4 and "E705" in ran.err


def test_a_plan_whose_script_is_gone_holds_its_text(stored: Path, rho: Rho) -> None:
    (stored.parent / "sum.rho").unlink()
    ran = rho("plan", "--check", "plan.json")
    assert ran.code == 0 and "holds" in ran.out


def test_a_plan_that_is_not_there(stored: Path, rho: Rho) -> None:
    ran = rho("plan", "--check", "nope.json")
    assert ran.code != 0 and "E704" in ran.err


def test_how_two_plans_differ(stored: Path, rho: Rho) -> None:
    assert rho("plan", "sum.rho", "--devices", "h100", "--diff", "plan.json").out == "the plans are the same\n"
    assert "devices: another profile" in rho("plan", "sum.rho", "--devices", "laptop", "--diff", "plan.json").out


def leaves(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(value, dict):
        return [leaf for key, part in value.items() for leaf in leaves(part, (*path, key))]
    if isinstance(value, list):
        return [leaf for place, part in enumerate(value) for leaf in leaves(part, (*path, place))]
    return [path]


def changed(plan: object, path: tuple[str | int, ...]) -> str:
    """The plan as text, one leaf of it another."""
    made = json.loads(json.dumps(plan))
    place = made
    for key in path[:-1]:
        place = place[key]
    was = place[path[-1]]
    place[path[-1]] = not was if isinstance(was, bool) else was + 1 if isinstance(was, int) else f"{was}x" if was else 1
    return json.dumps(made)


@pytest.mark.parametrize("devices", [("--devices", "h100"), ()])
def test_nothing_that_a_stored_plan_says_can_be_edited_unnoticed(stored: Path, rho: Rho, devices: tuple[str, ...]) -> None:
    """Every kind of field, once: labels, spans, bytes, buffers, peaks, devices, links, baselines, steps."""
    if not devices:
        stored.write_text(rho("plan", "sum.rho", "--json").out, encoding="utf-8")
    plan = json.loads(stored.read_text(encoding="utf-8"))
    kinds = {tuple(key if isinstance(key, str) else 0 for key in path): path for path in leaves(plan)}
    assert len(kinds) > 30
    assert rho("plan", "--check", "plan.json", "sum.rho", *devices).code == 0
    del kinds["program", 0, "name"]  # where the text was: what is compared is the text
    if devices:
        assert plan["space"]["every_axis"]
        del kinds["space", "every_axis"]  # without it the same bound is of fewer plans
    if not devices:
        del kinds["devices", 0, "threads"]  # those of the machine
    for path in kinds.values():
        stored.write_text(changed(plan, path), encoding="utf-8")
        ran = rho("plan", "--check", "plan.json", "sum.rho", *devices)
        assert ran.code != 0, path
        if path[0] == "phases" and path[2] in ("label", "op", "operations"):
            assert "V12" in ran.err and f"phases[{path[1]}]" in ran.err


def test_a_stored_plan_is_the_same_however_it_is_asked_for(stored: Path, rho: Rho) -> None:
    texts = []
    for ways in (("-o", "a.json"), ("--json", "-o", "b.json"), ("--format", "json", "-o", "c.json")):
        assert rho("plan", "sum.rho", *ways).code == 0
        texts.append(Path(ways[-1]).read_text(encoding="utf-8"))
    assert len(set(texts)) == 1
