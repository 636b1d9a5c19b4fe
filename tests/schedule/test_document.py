"""What the planner says of tiny instances, beside the enumeration of all their schedules (`document`)."""

from __future__ import annotations

import json
from random import Random

import pytest
from share import SEED, repeats

from rho.backend.schedule.instances.solve_instance import read_instance, solve
from rho.backend.schedule.problem import Answer, Status
from rho.backend.schedule.search.strategy import DEFAULT, FAST

from .document import Document
from .tiny import tiny


def answer_of(value: dict[str, object], budget=DEFAULT) -> Answer:
    return solve(read_instance("tiny.json", json.dumps(value)), budget).answer


def wrong(value: dict[str, object], answer: Answer) -> str | None:
    """What is not true of an answer; of a plan, among plans of as many chunks as it states."""
    if answer.schedule is None:
        best = Document(value).shortest() if answer.status is Status.IMPOSSIBLE else None
        return None if best is None else f"called impossible, and {best} ticks are enough"
    best, ticks = Document({**value, "chunks": answer.chunks}).shortest(), answer.schedule.makespan
    if best is None or ticks < best:
        return f"planned in {ticks} ticks, and the least is {best}"
    if answer.lower_bound > best or (answer.status is Status.OPTIMAL and ticks > best):
        return f"a bound of {answer.lower_bound} ({answer.status.value}), and the least is {best}"
    return None


@pytest.mark.parametrize("number", range(repeats(600)))
def test_answers_are_true_of_all_schedules(number: int) -> None:
    seed = f"tiny {SEED} {number}"
    r = Random(seed)
    value, budget = tiny(r), r.choice([FAST, DEFAULT])
    assert wrong(value, answer_of(value, budget)) is None, (seed, json.dumps(value))


BUS = {"duplex": "full", "bytes_per_tick": 1, "group": "bus"}


def two_sent(first: dict[str, object], second: dict[str, object]) -> dict[str, object]:
    """What two devices make goes home, four ticks each."""
    ends = [{"src": "h", "dst": "a"}, {"src": "h", "dst": "b"}]
    return {
        "schema": "instance/1", "devices": [{"id": "h", "home": True}, {"id": "a"}, {"id": "b"}],
        "links": [{**end, **BUS, **link} for end, link in zip(ends, (first, second), strict=True)],
        "phases": [{"id": "x", "ticks": {"a": 1}, "out_bytes": 4}, {"id": "y", "ticks": {"b": 1}, "out_bytes": 4},
                   {"id": "z", "ticks": {"h": 1}}],
        "edges": [{"from": "x", "to": "z"}, {"from": "y", "to": "z"}],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second"),
    [({}, {}), ({}, {"duplex": "half"}), ({}, {"src": "b", "dst": "h"}), ({"src": "a", "dst": "h", "duplex": "simplex"}, {})],
)
def test_links_of_a_group_carry_one_transfer_in_a_direction(first, second) -> None:
    """Whatever their duplex, and whichever end is written first."""
    assert answer_of(two_sent(first, second)).schedule.makespan == 10


def there_and_back(out: dict[str, object], back: dict[str, object]) -> dict[str, object]:
    value = two_sent(out, back)
    value["phases"] = [{"id": "x", "ticks": {"h": 1}, "out_bytes": 4}, {"id": "y", "ticks": {"b": 1}, "out_bytes": 4},
                       {"id": "z", "ticks": {"a": 1}}, {"id": "w", "ticks": {"h": 1}}]  # fmt: skip
    value["edges"] = [{"from": "x", "to": "z"}, {"from": "y", "to": "w"}]
    return value


def test_a_group_is_as_its_least_link() -> None:
    assert answer_of(there_and_back({}, {})).schedule.makespan == 6
    assert answer_of(there_and_back({}, {"src": "b", "dst": "h"})).schedule.makespan == 6
    assert answer_of(there_and_back({}, {"duplex": "half"})).schedule.makespan == 10


def alone(memory: int, *phases: dict[str, object]) -> dict[str, object]:
    """Phases in a row, on one device."""
    named = [{"id": f"p{place}", "ticks": {"a": 1}, **phase} for place, phase in enumerate(phases)]
    return {"schema": "instance/1", "devices": [{"id": "a", "home": True, "mem": memory}], "phases": named,
            "edges": [{"from": f"p{place}", "to": f"p{place + 1}"} for place in range(len(phases) - 1)]}  # fmt: skip


@pytest.mark.parametrize("budget", [FAST, DEFAULT])
@pytest.mark.parametrize("out", [0, 1, 2, 4])
def test_what_is_made_in_place_lies_inside_its_operand(out: int, budget) -> None:
    """The operand is there while it is read: 4 bytes and 3 of scratch."""
    phases = {"out_bytes": 4}, {"out_bytes": out, "scratch": 3, "inplace": True}
    assert answer_of(alone(7, *phases), budget).status is Status.OPTIMAL
    assert answer_of(alone(6, *phases), budget).status is Status.IMPOSSIBLE


def test_what_takes_no_time_takes_memory() -> None:
    assert answer_of(alone(60, {"ticks": {"a": 0}, "scratch": 100})).status is Status.IMPOSSIBLE
    assert answer_of(alone(60, {"ticks": {"a": 0}, "scratch": 60})).schedule.makespan == 0
    assert answer_of(alone(6, {"ticks": {"a": 0}, "out_bytes": 4}, {"ticks": {"a": 0}, "scratch": 3})).status is Status.IMPOSSIBLE
    assert answer_of(alone(7, {"ticks": {"a": 0}, "out_bytes": 4}, {"ticks": {"a": 0}, "scratch": 3})).schedule.makespan == 0


def test_a_tick_is_a_tick_where_all_times_are_multiples() -> None:
    """What takes no time holds its memory for one, not for three."""
    value = {
        "schema": "instance/1", "devices": [{"id": "a", "home": True, "mem": 9}],
        "phases": [{"id": "p0", "ticks": {"a": 3}, "out_bytes": 1},
                   {"id": "p1", "ticks": {"a": 0}, "out_bytes": 3, "scratch": 2, "inplace": True},
                   {"id": "p2", "ticks": {"a": 0}, "out_bytes": 3, "scratch": 5}],
        "edges": [{"from": "p0", "to": "p1"}, {"from": "p0", "to": "p2"}],
    }  # fmt: skip
    assert answer_of(value).schedule.makespan == 4 == Document(value).shortest()


@pytest.mark.parametrize("chunks", [2, 3])
def test_phases_are_cut_differently_where_equal_chunks_do_not_fit(chunks: int) -> None:
    """A phase is cut for its scratch; the chunks of another one beside it, which fits, would lie among them."""
    value = {
        "schema": "instance/1", "devices": [{"id": "d0", "mem": 12, "sync": 1, "home": True}], "chunks": chunks,
        "phases": [{"id": "p0", "ticks": {"d0": 1}, "out_bytes": 6, "rows": 3, "scratch": 8},
                   {"id": "p1", "ticks": {"d0": 2}, "out_bytes": 2, "rows": 3, "ready": 1}],
        "edges": [],
    }  # fmt: skip
    found = answer_of(value)
    assert found.schedule is not None and wrong(value, found) is None
    assert chunks == 3 or found.schedule.makespan == Document(value).shortest()


def test_rows_are_cut_anywhere_where_equal_chunks_do_not_fit() -> None:
    """Of five rows equal halves are two and three: three with their scratch, and then two, do not fit."""
    phases = [{"id": "p", "ticks": {"a": 5}, "out_bytes": 5, "rows": 5, "scratch": 15}]
    for memory in range(9, 16):
        devices = [{"id": "a", "home": True, "mem": memory}]
        value = {"schema": "instance/1", "devices": devices, "phases": phases, "edges": [], "chunks": 2}
        best = Document(value).shortest()
        assert (answer_of(value).schedule is None) is (best is None), memory


@pytest.mark.parametrize("draw", [4426, 6703, 8117, 9727])
def test_chunks_run_from_the_last_rows_on_where_only_that_fits(draw: int) -> None:
    """These ended as "aborted", with a hint to give more budget, though there is a plan."""
    value = tiny(Random(f"chunks {draw}"))
    found = answer_of(value, DEFAULT)
    assert found.schedule is not None and wrong(value, found) is None, draw
