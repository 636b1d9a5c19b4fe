"""Where no plan is found: every reason and every cure is true, and there is a plan where everything fits at home."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from random import Random

import pytest
from share import SEED, repeats, seeds

from rho.backend.schedule.exact.infeasibility import find_conflict, memory_conflict
from rho.backend.schedule.instances.solve_instance import read_instance, solve
from rho.backend.schedule.problem import Answer, Directive, LimitMachines, LimitMemory, Problem, Status
from rho.backend.schedule.search.strategy import DEFAULT, FAST, Budget

from .document import Document
from .test_document import alone
from .tiny import tiny

UNITS = {"bytes": 1, "B": 1, "MB": 10**6}


def read(value: dict[str, object]) -> Problem:
    return read_instance("i.json", json.dumps(value))


def answer_of(value: dict[str, object], budget: Budget = FAST) -> Answer:
    return solve(read(value), budget).answer


def parts(count: int) -> dict[str, object]:
    """Three rows with 9 bytes of scratch, on 3 bytes."""
    return {**alone(3, {"ticks": {"a": 3}, "rows": 3, "scratch": 9}), "chunks": count}


def test_what_fits_in_chunks_is_not_impossible() -> None:
    assert answer_of(parts(2)).status is Status.IMPOSSIBLE
    for count in (3, 4, 5):
        answer = answer_of(parts(count))
        assert answer.schedule is not None and answer.schedule.makespan == 3 and answer.chunks == count


def tree(leaves: int, memory: int) -> dict[str, object]:
    """A sum of pairs of pairs, all leaves first in the file."""
    phases = [{"id": f"l{at}", "ticks": {"a": 1}, "out_bytes": 4} for at in range(leaves)]
    edges, level = [], [str(phase["id"]) for phase in phases]
    while len(level) > 1:
        pairs = [(level[at], level[at + 1], f"{level[at]}+") for at in range(0, len(level), 2)]
        phases += [{"id": name, "ticks": {"a": 1}, "out_bytes": 4} for _, _, name in pairs]
        edges += [{"from": one, "to": name} for left, right, name in pairs for one in (left, right)]
        level = [name for _, _, name in pairs]
    return {"schema": "instance/1", "devices": [{"id": "a", "home": True, "mem": memory}], "phases": phases, "edges": edges}


def test_depth_first_is_tried() -> None:
    assert answer_of(tree(32, 28)).schedule is not None


@pytest.mark.parametrize("memory", [8, 9, 12, 20, 30])
def test_the_order_of_the_file_is_tried(memory: int) -> None:
    """Whatever fits one phase after the other at home."""
    r = Random(f"{SEED} file {memory}")
    for _ in range(6):
        phases = [{"out_bytes": r.randint(0, 4), "scratch": r.randint(0, 3)} for _ in range(r.randint(1, 12))]
        value = alone(memory, *phases)
        held = [sum(p["out_bytes"] for p in phases[max(0, at - 1) : at + 1]) + p["scratch"] for at, p in enumerate(phases)]
        assert (answer_of(value).schedule is not None) == (max(held) <= memory)


def test_what_stays_to_the_end_is_more_than_there_is() -> None:
    value = alone(150, *({"out_bytes": 10} for _ in range(16)))
    answer = answer_of({**value, "edges": []})
    assert answer.status is Status.IMPOSSIBLE and answer.conflict is not None
    assert answer.conflict.facts[1:] == ("memory is 150 bytes on a", "short 10 bytes")


def test_what_is_to_be_kept_where_there_is_no_room() -> None:
    devices = [{"id": "d0", "home": True, "mem": 0}, {"id": "d1"}]
    phase = {"id": "p", "ticks": {"d1": 1}, "out_bytes": 1}
    value = {"schema": "instance/1", "devices": devices, "phases": [phase], "edges": [], "directives": ["keep p on d0"]}
    answer = answer_of(value)
    assert answer.status is Status.IMPOSSIBLE and answer.conflict is not None
    assert [one.line.text for one in answer.conflict.directives] == ["keep p on d0"] and answer.conflict.code == "SCH103"


def test_an_undecided_answer_has_the_bound_that_is_known() -> None:
    answer = answer_of(tree(32, 20))
    assert (answer.status, answer.lower_bound, answer.proof.method) == (Status.ABORTED, 63, "bound")


def test_partial_results_are_put_together_at_home() -> None:
    devices = [{"id": "d0", "class": "a", "home": True, "mem": 0}, {"id": "d1", "class": "b"}, {"id": "d2", "class": "a"}]
    phase = {"id": "p", "ticks": {"a": 0, "b": 1}, "rows": 7, "combine": {"ticks_per_shard": 100, "bytes": 4}}
    answer = answer_of({"schema": "instance/1", "devices": devices, "links": [], "phases": [phase], "edges": []})
    assert answer.conflict is not None and answer.conflict.facts[0] == "`p` needs 4 bytes to put its partial results together"


def test_a_split_is_by_largest_remainders() -> None:
    phase = {"id": "p", "ticks": {"d0": 12}, "rows": 2}
    value = {"schema": "instance/1", "devices": [{"id": "d0", "home": True}, {"id": "d1"}], "phases": [phase], "edges": [],
             "directives": ["split p rows 2:1 over d0 d1"]}  # fmt: skip
    answer = answer_of(value)
    assert answer.conflict is not None and answer.conflict.code == "SCH104"
    phase["ticks"] = {"d0": 12, "d1": 12}
    assert {(s.device, s.stop - s.first) for s in answer_of(value).schedule.shards} == {(0, 1), (1, 1)}


def with_directive(problem: Problem, old: Directive, new: Directive | None) -> Problem:
    kept = (one if one != old else new for one in problem.directives)
    return replace(problem, directives=tuple(one for one in kept if one is not None))


def cure(problem: Problem, answer: Answer) -> Problem | None:
    """The problem with what a message offers."""
    conflict = answer.conflict
    assert conflict is not None
    hint = conflict.hint or ""
    if found := re.fullmatch(r"`limit memory (\S+) (\d+(?:\.\d)?)(B|MB)` would fit", hint):
        limit = next(d for d in conflict.directives if isinstance(d, LimitMemory) and d.device == found[1])
        return with_directive(problem, limit, replace(limit, bytes=round(float(found[2]) * UNITS[found[3]])))
    if found := re.fullmatch(r"`(\S+)` with (\d+(?:\.\d)?) (bytes|MB)( each)? would fit", hint):
        size = round(float(found[2]) * UNITS[found[3]])
        return replace(problem, devices=tuple(replace(g, memory=size) if g.id == found[1] else g for g in problem.devices))
    if found := re.fullmatch(r"`limit machines (\d+)` would do", hint):
        limit = next(d for d in conflict.directives if isinstance(d, LimitMachines))
        return with_directive(problem, limit, replace(limit, count=int(found[1])))
    if found := re.fullmatch(r"without `(.*)` it would fit", hint):
        return with_directive(problem, next(d for d in conflict.directives if d.line.text == found[1]), None)
    assert not hint or answer.conflict.code != "SCH103", hint
    return None


@pytest.mark.parametrize("number", range(repeats(300)))
def test_what_is_offered_would_do(number: int) -> None:
    """Each cure is applied, and there is a plan."""
    r = Random(f"cures {SEED} {number}")
    value = tiny(r)
    for device in value["devices"]:
        device["mem"] = r.randint(1, 8)
    names = [phase["id"] for phase in value["phases"]]
    one = r.choice(names)
    texts = [f"limit memory d0 {r.randint(1, 6)}", f"place {one} on d0", f"nosplit {one}", f"keep {names[0]} on d0"]
    value["directives"] = [text for text in texts if r.random() < 0.3]
    problem = read(value)
    answer = solve(problem, FAST).answer
    if answer.conflict is not None:
        other = cure(problem, answer)
        assert other is None or solve(other, DEFAULT).answer.schedule is not None, json.dumps(value)


def instant(number: int) -> Problem:
    """A small problem most of whose phases take no time, in tight memory."""
    r = Random(f"instant {number}")
    value = tiny(r)
    for device in value["devices"]:
        device["mem"] = r.randint(2, 16)
    for phase in value["phases"]:
        phase["ticks"] = {name: r.choice([0, 0, ticks]) for name, ticks in phase["ticks"].items()}
    return read(value)


@pytest.mark.parametrize("number", seeds(150))
def test_what_has_a_plan_is_not_impossible(number: int) -> None:
    """Where steps of no length wait for each other's memory, a schedule is longer than all steps one after the other."""
    problem = instant(number)
    assert solve(problem, FAST).answer.schedule is None or find_conflict(problem) is None


def test_steps_of_no_length_wait_for_memory() -> None:
    """The scratch of `p1` and that of `p0` fit one after the other only."""
    phases = [
        {"id": "p0", "ticks": {"a": 1}, "out_bytes": 3, "rows": 3, "scratch": 4},
        {"id": "p1", "ticks": {"a": 0}, "out_bytes": 2, "rows": 3, "scratch": 9, "combine": {"ticks_per_shard": 0, "bytes": 2}},
    ]
    value = {"schema": "instance/1", "devices": [{"id": "a", "home": True, "mem": 11}], "phases": phases, "edges": []}
    assert answer_of({**value, "directives": ["nosplit p1", "keep p0 on a"]}, DEFAULT).status is Status.OPTIMAL


@pytest.mark.parametrize("number", range(repeats(80)))
def test_less_than_what_is_offered_does_not_do(number: int) -> None:
    """Of one device more memory is offered than it has: a byte less is too little, by brute force."""
    value = {**tiny(Random(f"least {SEED} {number}")), "chunks": 1, "memory_grain": 1}
    answer = answer_of(value)
    conflict = answer.conflict
    offered = None if conflict is None else re.fullmatch(r"`(\S+)` with (\d+) bytes would fit", conflict.hint or "")
    if offered is None:
        return
    for size, fits in ((int(offered[2]), True), (int(offered[2]) - 1, False)):
        devices = [{**one, "mem": size} if one["id"] == offered[1] else one for one in value["devices"]]
        assert (Document({**value, "devices": devices}).shortest() is not None) is fits, (SEED, number, size)


@pytest.mark.parametrize("number", range(repeats(300)))
def test_no_conflict_of_memory_where_there_is_a_plan(number: int) -> None:
    """Phases in chunks that others read together, by brute force."""
    r = Random(f"together {SEED} {number}")
    value = {**tiny(r), "chunks": r.choice([1, 2, 3])}
    for edge in value["edges"]:
        edge["whole"] = r.random() < 0.7
    for device in value["devices"]:
        device["mem"] = r.randint(1, 14)
    if len(value["devices"]) * len(value["phases"]) < 5 and memory_conflict(read(value)) is not None:
        assert Document(value).shortest() is None, json.dumps(value)


def test_chunks_are_together_before_what_reads_all_of_them() -> None:
    """No chunk of `p` goes before `q` starts, so the last one runs beside all others and all of `s`."""
    s, p = ({"ticks": {"a": 2}, "rows": 4, "out_bytes": 40} for _ in range(2))
    value = {**alone(79, s, p, {"ticks": {"a": 1}}), "chunks": 4}
    value["edges"] = [{**edge, "whole": True} for edge in value["edges"]]
    answer = answer_of(value)
    assert answer.conflict is not None and answer.conflict.facts[0].startswith("`p1` needs 80 bytes"), answer.conflict
    value["devices"][0]["mem"] = 80
    assert answer_of(value).schedule is not None
