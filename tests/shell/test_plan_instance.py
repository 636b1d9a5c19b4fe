"""`rho plan --instance`: what it prints, and how it ends."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from rho.lang.diagnostics.model import Refused

from .conftest import Rho

ROOT = Path(__file__).parents[2]
SCHEDULES = ROOT / "tests" / "corpora" / "data" / "schedules"

CHAIN: dict[str, Any] = {
    "schema": "instance/1",
    "devices": [{"id": "cpu0", "class": "cpu", "home": True, "mem": 1000}, {"id": "gpu0", "class": "gpu", "mem": 250}],
    "links": [{"src": "cpu0", "dst": "gpu0", "latency": 5}],
    "phases": [
        {"id": "x", "ticks": {"cpu": 0}, "out_bytes": 100},
        {"id": "y", "ticks": {"cpu": 90, "gpu": 10}, "out_bytes": 100},
        {"id": "print y", "ticks": {"cpu": 1}, "effect": True},
    ],
    "edges": [{"from": "x", "to": "y"}, {"from": "y", "to": "print y"}],
}


@pytest.fixture
def plan(rho: Rho, tmp_path: Path) -> Any:
    def run(instance: object, *words: str) -> Any:
        file = tmp_path / "i.json"
        file.write_text(instance if isinstance(instance, str) else json.dumps(instance), encoding="utf-8")
        return rho("plan", "--instance", str(file), *words)

    return run


def with_directives(*texts: str) -> dict[str, Any]:
    return {**CHAIN, "directives": list(texts)}


def test_the_documented_example(plan: Any) -> None:
    example, expected = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "instances.md").read_text(encoding="utf-8"), re.S)
    ran = plan(example, "--json")
    assert ran.code == 0
    found, wanted = ran.json(), json.loads(expected)
    del wanted["seconds"]
    assert {name: found[name] for name in wanted} == wanted


def test_json_says_everything(plan: Any) -> None:
    found = plan(CHAIN, "--json").json()
    assert (found["makespan"], found["status"], found["lower_bound"], found["syncs"]) == (21, "optimal", 21, 2)
    assert set(found["queues"]) == {"cpu0", "gpu0"}
    assert found["queues"]["gpu0"] == [{"id": "y", "rows": [0, 1], "start": 5, "end": 15}]
    assert [(t["id"], t["from"], t["to"], t["bytes"]) for t in found["transfers"]] == [
        ("x", "cpu0", "gpu0", 100), ("y", "gpu0", "cpu0", 100),
    ]  # fmt: skip
    assert set(found["baselines"]) >= {"best single", "HEFT"}
    assert {wait["queue"] for wait in found["waits"]} == {"cpu0", "gpu0"}


def test_text_shows_queues_with_their_fences(plan: Any) -> None:
    ran = plan(CHAIN)
    assert ran.code == 0
    assert ran.out.startswith("21 ticks, optimal")
    lines = [line.strip() for line in ran.out.splitlines()]
    at = lines.index("gpu0")
    assert lines[at + 1].startswith("sync(f") and lines[at + 2] == "5 … 15     y"
    assert any(line.startswith("---fence f") for line in lines)


def test_output_goes_to_a_file(plan: Any, tmp_path: Path) -> None:
    target = tmp_path / "plan.json"
    assert plan(CHAIN, "--json", "-o", str(target)).out == ""
    assert json.loads(target.read_text())["makespan"] == 21


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["deadline 3"], "SCH106"), (["place print on gpu"], "SCH105"), (["place x on gpu0"], "SCH104"),
        (["y before x"], "SCH102"), (["limit memory cpu0 50B"], "SCH103"),
    ],
)  # fmt: skip
def test_impossible_instances_say_why(plan: Any, texts: list[str], code: str) -> None:
    ran = plan(with_directives(*texts), "--json")
    assert ran.code == 3
    found = ran.json()
    assert (found["status"], found["makespan"], found["queues"]) == ("impossible", None, {})
    assert found["conflict"]["code"] == code
    assert [line["text"] for line in found["conflict"]["directives"]] == texts
    assert ran.err.startswith(f"error[{code}]")


def test_directives_that_cannot_be_meant(plan: Any) -> None:
    ran = plan(with_directives("place y on gpu0", "place yy on gpu"))
    assert (ran.code, ran.out) == (3, "")
    assert "SCH107" in ran.err and "directives[1]" in ran.err and "place yy on gpu" in ran.err


def test_a_gap_is_a_note_or_an_error(rho: Rho, tmp_path: Path) -> None:
    """Thirty phases on three unequal devices: too many to prove at once."""
    draw = random.Random(1)
    groups = ("home", "near", "far")
    links = [{"src": s, "dst": t, "latency": 3, "bytes_per_tick": 2} for s in groups for t in groups if s != t]
    phases = [
        {"id": f"p{i}", "ticks": {name: draw.randint(5, 40) for name in groups}, "out_bytes": draw.randint(1, 60)}
        for i in range(30)
    ]
    edges = [{"from": f"p{j}", "to": f"p{i}"} for i in range(1, 30) for j in sorted(draw.sample(range(i), min(i, 2)))]
    devices = [{"id": name, "class": name, "home": name == "home"} for name in groups]
    content = {"schema": "instance/1", "devices": devices, "links": links, "phases": phases, "edges": edges}
    (tmp_path / "hard.json").write_text(json.dumps(content), encoding="utf-8")
    words = ("plan", "--instance", str(tmp_path / "hard.json"), "--fast", "--json")
    noted = rho(*words)
    assert (noted.code, noted.json()["status"]) == (0, "gap")
    assert "note[SCH302]" in noted.err
    refused = rho(*words, "--require-optimal")
    assert (refused.code, refused.json()["makespan"]) == (5, noted.json()["makespan"])
    assert "error[SCH302]" in refused.err


def test_stg_with_processors(rho: Rho) -> None:
    file = str(SCHEDULES / "stg" / "rand0000.stg")
    assert rho("plan", "--instance", file, "--devices", "4", "--json").json()["makespan"] == 66
    missing = rho("plan", "--instance", file)
    assert missing.code == 2 and "--devices N" in missing.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--instance", "nowhere.json"), "`nowhere.json` cannot be read"),
        (("--instance",), "--instance needs a value"),
        ((), "needs a FILE, or --instance FILE"),
        (("--fast", "x.rho"), None),
    ],
)
def test_usage(rho: Rho, words: tuple[str, ...], message: str | None) -> None:
    ran = rho("plan", *words)
    assert ran.code == 2
    assert message is None or message in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--budget", "soon"), "write a number of seconds"),
        (("--prove", "--fast"), "--prove and --fast"),
        (("--devices", "0"), "0 is not a number of devices"),
        (("--devices", "nowhere.toml"), "E704"),
        (("--devices", "nowhere.json"), "cannot be read"),
        (("--contention", "on"), "--contention cannot be `on`"),
        (("extra.json",), "one too many"),
    ],
)
def test_options_that_make_no_sense(plan: Any, words: tuple[str, ...], message: str) -> None:
    ran = plan(CHAIN, *words)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_faults_have_paths_and_codes(plan: Any) -> None:
    bad = json.loads(json.dumps(CHAIN))
    bad["phases"][1]["id"] = "x"
    ran = plan(bad)
    assert ran.code == 2
    assert ran.err.startswith("error[SCH201]: phases[1].id: `x` is the id of phases[0] too\n") and "i.json" in ran.err


def test_the_schema_says_what_the_reader_takes() -> None:
    schema = json.loads((ROOT / "docs" / "instance-1.schema.json").read_text(encoding="utf-8"))
    text = (ROOT / "docs" / "instances.md").read_text(encoding="utf-8")
    properties = schema["properties"]
    for name in [*properties, *properties["phases"]["items"]["properties"], *properties["links"]["items"]["properties"]]:
        assert name == "id" or f"`{name}`" in text, name


def test_every_field_of_the_schema_is_read_and_no_other() -> None:
    from rho.backend.schedule.instances.solve_instance import read_instance

    schema = json.loads((ROOT / "docs" / "instance-1.schema.json").read_text(encoding="utf-8"))["properties"]
    parts = {part: schema[part]["items"]["properties"] for part in ("devices", "links", "phases", "edges")}
    for part, known in {"": schema, **parts}.items():
        probe = {**dict.fromkeys(known), "other": 1}
        try:
            read_instance("i.json", json.dumps({**CHAIN, **(probe if not part else {part: [probe]})}))
        except Refused as error:
            unknown = [found.message.partition(":")[0] for found in error.diagnostics if "unknown field" in found.message]
            assert unknown == ["other" if not part else f"{part}[0].other"], unknown
