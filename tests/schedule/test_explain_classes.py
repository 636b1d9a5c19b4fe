"""Queues of equal devices are told once, and nothing of them is lost."""

from __future__ import annotations

import re
from typing import Final

from rho.backend.schedule.plan.plan_text import fold_equal_queues, ranges

_GROWING: Final = re.compile(r"(\d+)([+-])(\d*)i\b|\bi\b(?=\])")


def unfolded(line: str, i: int) -> str:
    """A line of a run as it is for the queue `i`."""

    def number(found: re.Match[str]) -> str:
        if found[1] is None:
            return str(i)
        step = int(found[3] or 1)
        return str(int(found[1]) + (step if found[2] == "+" else -step) * i)

    return _GROWING.sub(number, line)


def piece(k: int, late: int = 0) -> tuple[str, ...]:
    return (
        f"node[{k}]  (memory 1.0 MB, 52 % busy)",
        f"  0–117120       add [{100 + 50 * k}:{150 + 50 * k}]      4.0 kB → 8 B",
        f"  ---fence f{2 + k}",
        f"  {7 + late}–{9 + late}  x: node[{k}] → head  {900 - 3 * k} B",
    )


def test_a_run_is_told_once() -> None:
    pieces = [piece(k) for k in range(6)]
    lines = fold_equal_queues([("head  (memory 5 B)", "  1–2  print"), *pieces, piece(6, late=1)])
    assert lines[:2] == ["head  (memory 5 B)", "  1–2  print"]
    assert lines[2] == "node[0] … node[5]  (memory 1.0 MB, 52 % busy), i = 0 … 5"
    assert "[100+50i:150+50i]" in lines[3] and lines[4] == "  ---fence f2+i" and "node[i] → head  900-3i B" in lines[5]
    assert lines[6:] == list(piece(6, late=1))
    for k, told in enumerate(pieces):
        assert [unfolded(line, k) for line in lines[3:6]] == list(told[1:])


def test_few_or_uneven_ones_stay() -> None:
    few = [piece(k) for k in range(3)]
    assert fold_equal_queues(few) == [line for one in few for line in one]
    uneven = [piece(k * k) for k in range(5)]
    assert fold_equal_queues(uneven) == [line for one in uneven for line in one]


def test_single_devices_are_no_class() -> None:
    lanes = [(f"gpu{k}  (memory 1 B)", "  0–1  add") for k in range(5)]
    assert fold_equal_queues(lanes) == [line for one in lanes for line in one]


def test_waits_in_a_row() -> None:
    waits = tuple(f"  sync(f{k})" for k in (3, 4, 5, 6, 9))
    assert fold_equal_queues([("head", *waits, "  1–2  x")]) == ["head", "  sync(f3 … f6)", "  sync(f9)", "  1–2  x"]


def test_ranges_of_instances() -> None:
    names = ["cpu0", "node[1]", "node[2]", "node[3]", "node[5]", "gpu[0]", "gpu[1]", "far"]
    assert ranges(names) == ["cpu0", "node[1..3]", "node[5]", "gpu[0..1]", "far"]
