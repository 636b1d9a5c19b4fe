"""What `rho plan` and `rho run` refuse about schedules: every option counts or is refused, and every refusal says what to do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy
import pytest

from rho.lang.diagnostics.code_pages import SCHEDULE_PAGES

from .conftest import Rho

pytestmark = pytest.mark.long

PROGRAM = 'input x : f64[n] ← "x.csv"\na ← √x\nb ← +\\a\nb\nd ← x+1\nd\n'
INSTANCE: dict[str, Any] = {
    "schema": "instance/1",
    "devices": [{"id": "home", "class": "n", "home": True}, {"id": "far", "class": "n", "count": 3}],
    "phases": [{"id": "w", "ticks": {"n": 400}, "rows": 40}],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.csv").write_text("\n".join(map(str, range(1, 60))) + "\n", encoding="utf-8")
    (tmp_path / "i.json").write_text(json.dumps(INSTANCE), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path, *directives: str, text: str = PROGRAM) -> str:
    block = "" if not directives else "schedule {\n" + "".join(f"  {line}\n" for line in directives) + "}\n"
    (folder / "p.rho").write_text(text + block, encoding="utf-8")
    return "p.rho"


# ------------------------------------------------------------------------------------------- options


def test_a_plan_of_fixed_sizes_needs_neither_files_nor_sizes(folder: Path, rho: Rho) -> None:
    (folder / "f.rho").write_text("input x : f64[1000]\noutput r ← +/x\n", encoding="utf-8")
    planned = rho("plan", "f.rho")
    assert planned.code == 0 and "1,000 points" in planned.out
    assert "give --in x=PATH" in rho("run", "f.rho").err
    (folder / "f.rho").write_text("input x : f64[10]\ninput y : f64[n]\n+/x\n+/y\n", encoding="utf-8")
    refused = rho("plan", "f.rho")
    assert refused.code == 2 and "for the input `y`" in refused.err and "--size n=N" in refused.err



def test_the_objective_of_the_command_line_is_that_of_an_instance(folder: Path, rho: Rho) -> None:
    assert rho("plan", "--instance", "i.json", "--json").json()["objective"] == {"latency": 100}
    asked = rho("plan", "--instance", "i.json", "--json", "--objective", "machines", "--objective", "latency").json()
    assert asked["objective"] == {"machines": 1, "latency": 400}


def test_two_links_the_same_way_are_one_too_many(folder: Path, rho: Rho) -> None:
    """Which of them a transfer takes would decide what is optimal."""
    links = [{"src": "home", "dst": "far", "latency": ticks} for ticks in (20, 1)]
    (folder / "i.json").write_text(json.dumps({**INSTANCE, "links": links}), encoding="utf-8")
    ran = rho("plan", "--instance", "i.json")
    assert ran.code == 2 and "error[E705]: links[1]: leads from `home` to `far`, as links[0] does" in ran.err
    assert "i.json" in ran.err
    links[1] = {"src": "far", "dst": "home", "latency": 1}
    (folder / "i.json").write_text(json.dumps({**INSTANCE, "links": links}), encoding="utf-8")
    assert rho("plan", "--instance", "i.json").code == 0


@pytest.mark.parametrize(
    "words", [("--check", "p.json"), ("--diff", "p.json"), ("--set", "n=3"), ("--max-memory", "1kB"), ("--strict",)]
)
def test_an_instance_takes_no_options_of_programs(folder: Path, rho: Rho, words: tuple[str, ...]) -> None:
    ran = rho("plan", "--instance", "i.json", *words)
    assert (ran.code, ran.out) == (2, "") and f"{words[0]} is for programs" in ran.err


@pytest.mark.parametrize(
    "words", [("-o", "x.json"), ("--objective", "energy"), ("--diff", "p.json"), ("--format", "svg"), ("--fast",)]
)
def test_a_check_takes_no_options_of_planning(folder: Path, rho: Rho, words: tuple[str, ...]) -> None:
    assert rho("plan", written(folder), "--devices", "h100", "--fast", "-o", "p.json").code == 0
    ran = rho("plan", "--check", "p.json", *words)
    assert (ran.code, ran.out) == (2, "") and f"rho plan --check: {words[0]}" in ran.err
    assert not (folder / "x.json").exists()


def test_an_objective_of_the_command_says_what_gives_way(folder: Path, rho: Rho) -> None:
    (folder / "p.rho").write_text("x ← 100 100⍴⍳7\nschedule {\n  minimize latency\n}\n+/x×x\n", encoding="utf-8")
    ran = rho("plan", "p.rho", "--devices", "workstation", "--fast", "--objective", "machines")
    assert ran.code == 0 and "note[SCH204]: `minimize latency` gives way to what was asked for: machines" in ran.err
    assert "p.rho:3:3" in ran.err
    for same in ((), ("--objective", "latency")):
        assert "SCH204" not in rho("plan", "p.rho", "--devices", "workstation", "--fast", *same).err


@pytest.mark.parametrize("verb", [("plan",), ("run", "--simulate")])
def test_a_plan_with_a_gap_is_no_optimal_one(folder: Path, rho: Rho, verb: tuple[str, ...]) -> None:
    words = (*verb, written(folder), "--devices", "workstation", "--objective", "energy", "--fast")
    found = rho(*words)
    assert found.code == 0 and " mJ, lower bound" in found.out + found.err
    refused = rho(*words, "--require-optimal")
    assert (refused.code, refused.out) == (5, "") and "SCH302" in refused.err and "--prove" in refused.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("plan", "bad.rho"), "E009"), (("plan", "p.rho", "--devices", "nope"), "E704"), (("plan", "--check", "p.rho"), "E705"),
        (("plan", "p.rho", "--max-memory", "1B"), "E702"), (("devices", "--devices", "nope"), "E704"),
        (("plan", "--instance", "bad.json"), "E705"),
    ],
)  # fmt: skip
def test_whoever_asks_for_json_gets_an_object(folder: Path, rho: Rho, words: tuple[str, ...], code: str) -> None:
    written(folder)
    (folder / "bad.rho").write_text("1+\n", encoding="utf-8")
    (folder / "bad.json").write_text('{"schema": "instance/1"}', encoding="utf-8")
    ran = rho(*words, "--json")
    assert ran.code != 0 and code in [found["code"] for found in ran.json()["diagnostics"]]
    assert f"error[{code}]" in ran.err


# ------------------------------------------------------------------------------------------ messages


@pytest.mark.parametrize("verb", [("plan",), ("run", "--simulate")])
def test_that_before_waits_for_every_shard_is_said(folder: Path, rho: Rho, verb: tuple[str, ...]) -> None:
    text = PROGRAM.replace("+\\a", "x×2") + "a\n"
    name = written(folder, "split a rows over gpu0 gpu1", "split b rows over gpu0 gpu1", "a before b", text=text)
    ran = rho(*verb, name, "--devices", "workstation", "--fast")
    assert ran.code == 0 and "warning[SCH203]" in ran.err and "p.rho:11:3" in ran.err


@pytest.mark.parametrize(
    ("directives", "code", "hint"),
    [
        (("print b before d", "d before b"), "SCH101", "leave out one of these lines"),
        (("b before a",), "SCH102", "leave out this line"),
        (("place x on gpu0",), "SCH105", "place what reads it"),
        (("place print on gpu0",), "SCH105", "place what it reads"),
        (("place zz on gpu0",), "SCH107", "the phases are a, b, d, print, print b, print d, x"),
        (("before b",), "SCH107", "`a before b`"),
    ],
)
def test_what_contradicts_itself_says_what_to_do(
    folder: Path, rho: Rho, directives: tuple[str, ...], code: str, hint: str
) -> None:
    ran = rho("plan", written(folder, *directives), "--devices", "workstation", "--fast")
    assert ran.code == 3 and f"error[{code}]" in ran.err and hint in ran.err and "[fix]" not in ran.err


def test_too_little_memory_is_told_where_it_is_needed(folder: Path, rho: Rho) -> None:
    ran = rho("plan", written(folder, "limit memory cpu0 1000B", "limit memory gpu0 1B"), "--devices", "h100", "--fast")
    assert ran.code == 3 and "SCH103" in ran.err
    profile = (
        'schema = "device-profile/1"\n[[device]]\nname = "cpu0"\nclass = "cpu"\nbackend = "cpu"\nmemory_bytes = 2000\n'
        + "".join(
            f'[device.op."{name}.f64"]\nsize = [1]\nns = [1]\n' for name in ("sqrt", "add", "scan", "grade", "sort", "gather")
        )
    )
    (folder / "small.toml").write_text(profile, encoding="utf-8")
    ran = rho("plan", written(folder, text=PROGRAM.replace("+\\a", "a[⍋a]")), "--devices", "small.toml", "--fast")
    assert ran.code == 3 and "SCH103" in ran.err and "p.rho:3:" in ran.err


def test_an_operation_without_a_table_says_where_to_add_one(folder: Path, rho: Rho) -> None:
    (folder / "none.toml").write_text(
        'schema = "device-profile/1"\n[[device]]\nname = "cpu0"\nclass = "cpu"\nbackend = "cpu"\n', encoding="utf-8"
    )
    ran = rho("plan", written(folder), "--devices", "none.toml")
    assert ran.code == 4 and "SCH104" in ran.err and '[device.op."' in ran.err


# --------------------------------------------------------------------------------------- stored plans


def edited(plan: Any, *path: Any, to: Any) -> str:
    made = json.loads(json.dumps(plan))
    place = made
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return json.dumps(made)


def test_queues_transfers_and_claims_cannot_be_edited(folder: Path, rho: Rho) -> None:
    name = written(folder, "place a on gpu0", "place b on cpu0")
    assert rho("plan", name, "--devices", "h100", "--fast", "-o", "p.json").code == 0
    plan = json.loads((folder / "p.json").read_text(encoding="utf-8"))
    queues = plan["main"]["queues"]
    copies = next(place for place, queue in enumerate(queues) if queue["kind"] == "copy")
    sent = next(place for place, step in enumerate(queues[copies]["steps"]) if step["step"] == "transfer")
    prediction = plan["prediction"]
    for wrong in (
        edited(plan, "main", "queues", copies, "device", to="cpu0"),
        edited(plan, "main", "queues", copies, "steps", sent, "bytes", to=1),
        edited(plan, "prediction", "objectives", to=[]),
        edited(plan, "prediction", "baselines", to=prediction["baselines"][:-1]),
        edited(plan, "prediction", "baselines", to=prediction["baselines"] * 2),
        edited(plan, "phases", 1, "reads", 0, "more", to=1),
        edited(plan, "phases", 1, "axes", 0, to=[*plan["phases"][1]["axes"][0], 1]),
    ):
        (folder / "p.json").write_text(wrong, encoding="utf-8")
        ran = rho("plan", "--check", "p.json")
        assert ran.code == 4 and "E705" in ran.err


def test_buffers_of_turns_cannot_be_edited(folder: Path, rho: Rho) -> None:
    numpy.save(folder / "x.npy", numpy.zeros(1_000_000))
    text = 'input x : f64[n] ← "x.npy" where n ≥ 1\ny ← {⍵+(0,¯1↓⍵)+(1↓⍵),0}⍣20 ⊢ x\n+/y\n'
    assert rho("plan", written(folder, text=text), "--devices", "workstation", "--fast", "-o", "p.json").code == 0
    assert rho("plan", "--check", "p.json").code == 0
    plan = json.loads((folder / "p.json").read_text(encoding="utf-8"))
    body = next(
        ("main", "queues", q, "steps", s, "body")
        for q, queue in enumerate(plan["main"]["queues"]) for s, step in enumerate(queue["steps"]) if step["step"] == "loop"
    )  # fmt: skip
    for field, wrong in (("bytes", 9), ("device", "gpu9"), ("last", 0)):
        (folder / "p.json").write_text(edited(plan, *body, "buffers", 1, field, to=wrong), encoding="utf-8")
        ran = rho("plan", "--check", "p.json")
        assert ran.code == 4 and "V12" in ran.err and "an iteration of loop" in ran.err


def test_a_step_that_takes_no_time_reads_what_is_there(folder: Path, rho: Rho) -> None:
    """An input is not let go of before a view of it, though both are over in the same tick."""
    tables = '[device.op."add.f64"]\nsize = [1]\nns = [1]\n[device.op."reduce.add.full.f64"]\nsize = [1]\nns = [1]\n'
    tables += '[device.op."copy.f64"]\nsize = [1]\nns = [1]\n'
    (folder / "still.toml").write_text(
        'schema = "device-profile/1"\n[[device]]\nname = "d0"\nclass = "cpu"\nbackend = "cpu"\n' + tables
        + '[[device]]\nname = "d1"\nclass = "gpu"\nbackend = "cuda"\n' + tables
        + '[[link]]\nfrom = "d0"\nto = "d1"\nlatency_ns = 100\n',
        encoding="utf-8",
    )  # fmt: skip
    text = 'input x : f64[n] ← "x.csv"\ns ← +/x\nf ← 4↑x\ns\nf\n'
    name = written(folder, "place s on d1", "place f on d0", text=text)
    ran = rho("run", name, "--devices", "still.toml", "--simulate", "--fast")
    assert (ran.code, ran.out) == (0, "1770\n1 2 3 4\n")


# -------------------------------------------------------------------------------------------- pages


@pytest.mark.parametrize("code", [code for code in SCHEDULE_PAGES if code not in ("SCH204", "SCH301", "SCH302", "SCH303")])
def test_the_pages_of_directives_are_true(folder: Path, rho: Rho, code: str) -> None:
    """On two unequal cards beside a processor."""
    for text, codes in ((SCHEDULE_PAGES[code].failing, [code]), (SCHEDULE_PAGES[code].repaired, [])):
        (folder / "p.rho").write_text(text.replace("f64[n]\n", 'f64[n] ← "x.csv"\n'), encoding="utf-8")
        ran = rho("plan", "p.rho", "--devices", "workstation", "--fast")
        assert re.findall(r"(?:error|warning)\[(\w+)\]", ran.err) == codes
