"""Standard Task Graph text: how many tasks, then a row a task: `id time predecessors…`, equal processors, no communication.

The set's files count the tasks without the entry and exit dummies they also list, which take no time; both ways of counting
are read.  A row with twice as many numbers after its count of predecessors has communication ticks beside each.  Blank lines and
what follows `#` are skipped.  https://www.kasahara.cs.waseda.ac.jp/schedule/ describes the set.
"""

from __future__ import annotations

from ...devices.fields import Problems
from ..problem import Contention, Edge, PhaseIndex, PhaseTask, Problem, Ticks
from .instance_json import MOST_PHASES
from .json_values import LARGEST
from .topology import PROCESSOR, Topology
from .validate import require_valid

MOST_LINES = 2_000_000
_Row = tuple[int, list[int]]


def decode_stg(text: str, problems: Problems, topology: Topology) -> Problem:
    """The tasks of `text` on devices of class `processor` (or of whatever class `topology` has, all alike)."""
    rows = _rows(text, problems)
    if not rows:
        problems.fail("", "there is no task: the first line says how many there are")
    line, first = rows[0]
    if len(first) != 1 or len(rows) - 1 not in (first[0], first[0] + 2):
        problems.add(f"line {line}", f"must say how many tasks follow ({len(rows) - 1} rows do, with or without two dummies)")
    if len(rows) - 1 > MOST_PHASES:
        problems.add("", f"{len(rows) - 1} tasks; at most {MOST_PHASES} are read")
    problems.stop()
    places = {row[0]: PhaseIndex(place) for place, (_, row) in enumerate(rows[1:])}
    kinds = {group.kind for group in topology.devices} or {PROCESSOR}
    phases: list[PhaseTask] = []
    edges: list[Edge] = []
    for place, (line, row) in enumerate(rows[1:]):
        if len(row) < 3 or len(row) - 3 not in (row[2], 2 * row[2]):
            problems.add(f"line {line}", "must be: id, time, how many predecessors, and that many ids")
            continue
        if places[row[0]] != place:
            problems.add(f"line {line}", f"task {row[0]} was there before")
        phases.append(PhaseTask(str(row[0]), {kind: Ticks(((1, row[1]),)) for kind in kinds}))
        stride = 1 if len(row) - 3 == row[2] else 2
        for at in range(3, len(row), stride):
            if row[at] not in places:
                problems.add(f"line {line}", f"there is no task {row[at]}")
                continue
            edges.append(Edge(places[row[at]], PhaseIndex(place), ticks=row[at + 1] if stride == 2 else 0))
    problems.stop()
    problem = Problem(topology.devices, (), tuple(phases), tuple(edges), contention=Contention.OFF)
    require_valid(problem, problems)
    return problem


def _rows(text: str, problems: Problems) -> list[_Row]:
    rows: list[_Row] = []
    if text.count("\n") > MOST_LINES:
        problems.fail("", f"the file has more than {MOST_LINES:,} lines")
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        numbers: list[int] = []
        for word in words:
            if not (word.isascii() and word.isdigit() and len(word) <= 16 and int(word) <= LARGEST):
                problems.add(f"line {number}", f"`{word[:20]}` is not a whole number from 0 to {LARGEST}")
                break
            numbers.append(int(word))
        else:
            rows.append((number, numbers))
    problems.stop()
    return rows
