"""The judge of plans shares nothing with the planner, says nothing about valid plans, and sees what is changed in them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rho.backend.graph.phases import LibraryPhase
from rho.tests.plans.drawn import MLP, Drawn
from rho.tests.plans.judge import judge
from rho.tests.plans.planning import Case, case_of

ALLOWED = {"rho.backend.graph.phases"}
"""All that the judge and what it imports may know of Rho: the phases of a program."""
PARTS = ("judge.py", "judge_times.py", "judge_boxes.py", "prices.py", "price_structured.py", "price_tables.py")


@pytest.mark.parametrize("name", PARTS)
def test_the_judge_shares_no_code_with_the_planner(name: str) -> None:
    folder = Path(__file__).parent
    for node in ast.walk(ast.parse((folder / name).read_text(encoding="utf-8"))):
        assert not (isinstance(node, ast.Call) and "import" in ast.dump(node.func).lower()), "imports are statements here"
        if isinstance(node, ast.Import):
            assert not [alias.name for alias in node.names if alias.name.startswith("rho")]
        if isinstance(node, ast.ImportFrom):
            if node.level:
                assert node.level == 1 and f"{node.module}.py" in PARTS
            elif (node.module or "").startswith("rho"):
                assert node.module in ALLOWED


OPERATIONS = ("add", "multiply", "copy", "gemm", "transcendental")


def device(name: str, ns: int, more: str = "") -> str:
    tables = "".join(f'[device.op."{op}.f32"]\nsize = [8000]\nns = [{ns}]\n' for op in OPERATIONS)
    return f'[[device]]\nname = "{name}"\nclass = "{name}"\nbackend = "cpu"\nsync_ns = 500\nlaunch_ns = 100\n{more}{tables}'


LINK = '[[link]]\nfrom = "a"\nto = "b"\nlatency_ns = 300\nsize = [1000000]\nns = [100300]\n'
PROFILE = 'schema = "device-profile/1"\n' + device("a", 8000, "memory_bytes = 90000000\n") + device("b", 3000) + LINK


@pytest.fixture(scope="module")
def case() -> Case:
    """Proportional tables: two devices, a slow link, a network of two layers."""
    return case_of(Drawn(MLP, {"x": (2000, 64), "w": (64, 500), "v": (500, 64)}, PROFILE))


def test_a_valid_plan_is_left_alone(case: Case) -> None:
    assert len([1 for queue in case.plan["main"]["queues"] for step in queue["steps"] if step["step"] == "transfer"]) > 2
    assert judge(case.plan, case.profile, case.graph) == []


def steps(plan: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [step for queue in plan["main"]["queues"] for step in queue["steps"] if step["step"] == kind]


def without(kind: str, which: int) -> Callable[[dict[str, Any]], None]:
    def change(plan: dict[str, Any]) -> None:
        gone = steps(plan, kind)[which]
        for queue in plan["main"]["queues"]:
            queue["steps"] = [step for step in queue["steps"] if step is not gone]

    return change


def moved(kind: str, which: int, field: str, by: int) -> Callable[[dict[str, Any]], None]:
    def change(plan: dict[str, Any]) -> None:
        steps(plan, kind)[which][field] += by

    return change


def kept(plan: dict[str, Any]) -> None:
    """Nothing is ever freed."""
    for queue in plan["main"]["queues"]:
        queue["steps"] = [step for step in queue["steps"] if step["step"] != "free"]


def again(plan: dict[str, Any]) -> None:
    """What is freed is freed once more."""
    for queue in plan["main"]["queues"]:
        queue["steps"] = [step for step in queue["steps"] for _ in range(1 + (step["step"] == "free"))]


def early(plan: dict[str, Any]) -> None:
    """An operand is freed on the device before the step that reads it."""
    queue = next(queue for queue in plan["main"]["queues"] if queue["device"] == "b")
    at = next(at for at, step in enumerate(queue["steps"]) if step["step"] == "free")
    before = next(place for place in range(at, -1, -1) if queue["steps"][place]["step"] == "run")
    queue["steps"].insert(before, queue["steps"].pop(at))


def shorter(plan: dict[str, Any]) -> None:
    """A row that nobody does."""
    next(step for step in steps(plan, "run") if step["box"] and step["box"][0][1] > 2)["box"][0][1] -= 1


def optimal(plan: dict[str, Any]) -> None:
    plan["prediction"]["status"] = "optimal"


def said(field: str, value: int) -> Callable[[dict[str, Any]], None]:
    def change(plan: dict[str, Any]) -> None:
        plan["prediction"][field] = value

    return change


def fuller(plan: dict[str, Any]) -> None:
    plan["main"]["peak"]["b"] = 512


@pytest.mark.parametrize(
    "change",
    [
        without("wait", 0), without("wait", -1), without("fence", 0), without("transfer", 0), without("run", -1),
        moved("run", -1, "end", -1), moved("run", 3, "start", -1), moved("transfer", 0, "start", -1),
        moved("transfer", 0, "bytes", -64),
        moved("transfer", -1, "arrive", -1), moved("transfer", -1, "busy", 1), shorter, optimal, fuller, kept, again, early,
        said("makespan", 1), said("lower_bound", 10**12), said("objectives", [["latency", 1]]),
    ],
)  # fmt: skip
def test_a_changed_plan_is_refused(case: Case, change: Callable[[dict[str, Any]], None]) -> None:
    plan = copy.deepcopy(case.plan)
    change(plan)
    assert judge(plan, case.profile, case.graph)


def equal_devices() -> str:
    tables = "".join(
        f'[device.op."{op}.f64"]\nsize = [8000]\nns = [{ns}]\n'
        for op, ns in (("transcendental", 9000), ("scan", 9000), ("compact", 9000), ("copy", 90), ("add", 9))
    )
    one = f'class = "c"\nbackend = "cpu"\nlaunch_ns = 10\n{tables}'
    devices = "".join(f'[[device]]\nname = "{name}"\n{"home = true" if name == "a" else ""}\n{one}' for name in "abcd")
    links = "".join(f'[[link]]\nfrom = "a"\nto = "{name}"\nlatency_ns = 10\nsize = [8000]\nns = [10]\n' for name in "bcd")
    return f'schema = "device-profile/1"\n{devices}{links}'


def test_a_scan_in_two_passes_is_followed() -> None:
    """What a shard of either pass reads is told from the order of scans alone."""
    found = case_of(Drawn("input x : f64[n] where n≥1\na ← 1○x\nb ← +\\a\n⌈/b", {"x": (200_001,)}, equal_devices()))
    assert found.plan["divided"]
    assert judge(found.plan, found.profile, found.graph) == []
    (scan,) = found.plan["divided"]
    parts = [step for step in steps(found.plan, "run") if step["phase"] == scan]
    assert len({step["box"][0][0] for step in parts}) > 2
    for part in (0, 1):
        wrong = copy.deepcopy(found.plan)
        first = next(step for step in steps(wrong, "transfer") if step["value"] == found.graph.phases[1].results[0].value)
        first["box"][0][part] += 3000 - 6000 * part
        assert judge(wrong, found.profile, found.graph)


@pytest.mark.parametrize("read", ["+/s*1.5", "s"])
def test_a_selection_in_two_passes_is_followed(read: str) -> None:
    """A shard of the runs reads their items; what is selected has the size of all of it until it is known."""
    text = f"input x : f64[n] where n≥1\na ← 1○x\ns ← (a>0.5)/a\noutput r ← {read}\n≢s"
    found = case_of(Drawn(text, {"x": (1_000_001,)}, equal_devices()))
    assert found.plan["divided"]
    assert judge(found.plan, found.profile, found.graph) == []
    runs = next(one for one in found.graph.phases if isinstance(one, LibraryPhase) and one.op in ("select_runs", "sum_runs"))
    parts = [step for step in steps(found.plan, "run") if step["phase"] == runs.id]
    assert len(parts) > 2
    for part in (0, 1):
        wrong = copy.deepcopy(found.plan)
        first = next(step for step in steps(wrong, "run") if step["phase"] == runs.id and step["box"][0][part] not in (0, 15))
        first["box"][0][part] += 2 * part - 1  # a run that another device has the items of
        assert judge(wrong, found.profile, found.graph)
