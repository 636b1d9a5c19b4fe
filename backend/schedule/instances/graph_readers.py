"""Readers of task graphs: DOT of the University of Auckland's optimal-scheduling set, with `Weight` of tasks and edges, and STG.

The DOT attribute `TargetSystem` gives the processors.  Homogeneous-P: P equal ones, one tick per unit of work and of
communication. Heterogeneous-P-F: processor 0 takes 100 ticks per unit of work and the others 100·F; communication takes 100 per
unit. Without it (or with another value) `--devices N` gives the number of equal processors.  The stored answer (`Processor`,
`Start time`, …) is ignored.  There is no contention: an edge takes its ticks between different processors, none on the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from ....lang.support.records import dataclass, field
from ...devices.cost_functions import Ticks
from ...devices.profile_toml import Problems
from ..problem import Contention, DeviceGroup, Edge, PhaseIndex, PhaseTask, Problem
from .instance_json import LARGEST, MOST_DEVICES, MOST_EDGES, MOST_PHASES, PROCESSOR, Topology, equal_processors, require_valid

# ---------------------------------------------------------------------------------------------------- tokens of DOT
#
# Tokens and statements of the subset of DOT that task graphs use: nodes, edges, attributes, quoted names.
#
# Comments (`//`, `/* */`, lines that start with `#`) are skipped; a backslash before a newline inside a quoted name joins the
# lines; ports, subgraphs and HTML names are refused.

_TOKEN: Final = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|(?:(?<=\n)|\A)\#[^\n]*)
    |(?P<quoted>"(?:[^"\\]|\\.)*")
    |(?P<word>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?![\w.])|[^\W\d]\w*)
    |(?P<mark>->|--|[\[\]{}=;,:+])""",
    re.VERBOSE | re.DOTALL,
)
_GRAPH: Final = "graph"
MOST_TOKENS: Final = 1_500_000
"""Tokens, with the blanks before them."""


@dataclass(frozen=True, slots=True)
class DotToken:
    text: str
    quoted: bool
    line: int


@dataclass(slots=True)
class DotGraph:
    """A parsed graph: attributes as texts, nodes and edges in file order, defaults merged in; `lines`: of the edges' targets."""

    attributes: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    node_lines: dict[str, int] = field(default_factory=dict)
    edge_lines: list[int] = field(default_factory=list)


def _tokens(text: str, problems: Problems) -> Iterator[DotToken]:
    at, line, count = 0, 1, 0
    while at < len(text):
        count += 1
        if count > MOST_TOKENS:
            problems.fail(f"line {line}", f"is where the file has more than {MOST_TOKENS:,} words and marks")
        match = _TOKEN.match(text, at)
        if match is None:
            problems.fail(f"line {line}", f"cannot be read at `{text[at : at + 20].splitlines()[0]}`")
        if match.lastgroup == "quoted":
            inside = re.sub(r"\\\r?\n", "", match.group()[1:-1]).replace('\\"', '"')
            yield DotToken(inside, True, line)
        elif match.lastgroup != "skip":
            yield DotToken(match.group(), False, line)
        line += match.group().count("\n")
        at = match.end()


def read_dot(text: str, problems: Problems) -> DotGraph:
    return _DotReader(list(_tokens(text, problems)), problems).graph()


class _DotReader:
    def __init__(self, tokens: list[DotToken], problems: Problems) -> None:
        self.tokens = tokens
        self.at = 0
        self.problems = problems
        self.made = DotGraph()
        self.defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}

    def peek(self, *marks: str) -> bool:
        here = self.tokens[self.at] if self.at < len(self.tokens) else None
        return here is not None and not here.quoted and here.text in marks

    def fail(self, wanted: str) -> None:
        here = self.tokens[self.at] if self.at < len(self.tokens) else None
        line = here.line if here else self.tokens[-1].line if self.tokens else 1
        self.problems.fail(f"line {line}", f"{wanted} is wanted here, not `{here.text[:20] if here else 'the end'}`")

    def take(self, mark: str) -> None:
        if not self.peek(mark):
            self.fail(f"`{mark}`")
        self.at += 1

    def name(self) -> DotToken:
        if self.at >= len(self.tokens):
            self.fail("a name")
        here = self.tokens[self.at]
        if not here.quoted and re.fullmatch(r"->|--|[\[\]{}=;,:+]", here.text):
            self.fail("a name")
        self.at += 1
        joined = here.text
        while here.quoted and self.peek("+"):
            self.at += 1
            joined += self.name().text
        return DotToken(joined, here.quoted, here.line)

    def graph(self) -> DotGraph:
        if self.peek("strict"):
            self.at += 1
        if not self.peek("digraph"):
            self.fail("`digraph`")
        self.at += 1
        if not self.peek("{"):
            self.name()
        self.take("{")
        while not self.peek("}"):
            self.statement()
        self.at += 1
        if self.at < len(self.tokens):
            self.fail("the end")
        return self.made

    def statement(self) -> None:
        if self.peek(";", ","):
            self.at += 1
            return
        if self.peek("subgraph", "{"):
            self.fail("a node, an edge or an attribute (subgraphs are not read)")
        first = self.name()
        if not first.quoted and first.text in (_GRAPH, "node", "edge") and self.peek("["):
            target = self.made.attributes if first.text == _GRAPH else self.defaults[first.text]
            target.update(self.attributes())
            return
        if self.peek("="):
            self.at += 1
            self.made.attributes[first.text] = self.name().text
            return
        chain = [first]
        while self.peek("->"):
            self.at += 1
            chain.append(self.name())
        if self.peek("--"):
            self.fail("`->`")
        given = self.attributes()
        if len(chain) == 1:
            known = self.made.nodes.get(first.text, {})
            if any(known.get(name, value) != value for name, value in given.items() if name.lower() == "weight"):
                self.problems.add(f"line {first.line}", f"task `{first.text}` was there before, with another Weight")
            self.made.nodes[first.text] = self.defaults["node"] | known | given
            self.made.node_lines.setdefault(first.text, first.line)
            return
        for source, target_name in pairwise(chain):
            self.made.edges.append((source.text, target_name.text, self.defaults["edge"] | given))
            self.made.edge_lines.append(target_name.line)

    def attributes(self) -> dict[str, str]:
        """Parse any number of attribute lists `[a=1, "b c"=2; d]`."""
        attributes: dict[str, str] = {}
        while self.peek("["):
            self.at += 1
            while not self.peek("]"):
                if self.peek(",", ";"):
                    self.at += 1
                    continue
                key = self.name()
                value = "true"
                if self.peek("="):
                    self.at += 1
                    value = self.name().text
                attributes[key.text] = value
            self.at += 1
        return attributes


# ---------------------------------------------------------------------------------------------------- DOT

_SYSTEM: Final = re.compile(r"(Homogeneous)-([0-9]{1,6})|(Heterogeneous)-([0-9]{1,6})-([0-9]{1,6})")
_UNIT: Final = 100
"""Ticks per unit of work on the first processor of a heterogeneous system, and per unit of communication."""
_FAST, _SLOW = "fast", "slow"


def decode_dot(text: str, problems: Problems, topology: Topology | None) -> Problem:
    """Returns the problem of a DOT graph on its target system, or on `topology` (one tick per unit) if given."""
    graph = read_dot(text, problems)
    scale: dict[str, int] = {}
    unit = 1
    if topology is not None:
        scale = {group.kind: 1 for group in topology.devices}
    else:
        topology, scale, unit = _system(graph.attributes.get("TargetSystem"), problems)
    places = {name: PhaseIndex(index) for index, name in enumerate(graph.nodes)}
    if len(places) > MOST_PHASES or len(graph.edges) > MOST_EDGES:
        problems.fail("", f"{len(places)} tasks and {len(graph.edges)} edges; at most {MOST_PHASES} and {MOST_EDGES} are read")
    if not places:
        problems.add("", "there is no task")
    phases: list[PhaseTask] = []
    for name, attributes in graph.nodes.items():
        weight = _weight(attributes, f"line {graph.node_lines[name]}", f"task `{name}`", problems)
        phases.append(PhaseTask(name, {kind: Ticks(((1, weight * each),)) for kind, each in scale.items()}))
    edges: list[Edge] = []
    for (source, target, attributes), line in zip(graph.edges, graph.edge_lines, strict=True):
        weight = _weight(attributes, f"line {line}", f"the edge `{source} -> {target}`", problems, 0)
        for end in (source, target):
            if end not in places:
                problems.add(f"line {line}", f"there is no task `{end}`")
        if source in places and target in places:
            edges.append(Edge(places[source], places[target], ticks=weight * unit))
    problems.stop()
    problem = Problem(topology.devices, (), tuple(phases), tuple(edges), contention=Contention.OFF)
    require_valid(problem, problems)
    return problem


def _system(name: str | None, problems: Problems) -> tuple[Topology, dict[str, int], int]:
    """Returns devices, ticks per unit of work by class, ticks per unit of communication."""
    match = None if name is None else _SYSTEM.fullmatch(name)
    count = 0 if match is None else int(match[2] or match[4])
    if match is None or not 1 <= count <= MOST_DEVICES or (match[5] is not None and int(match[5]) < 1):
        said = "no TargetSystem is given" if name is None else f"TargetSystem `{name}` is not Homogeneous-P or Heterogeneous-P-F"
        problems.fail("graph", f"{said}; give --devices N for N equal processors")
    if match[1] is not None:
        return equal_processors(count), {PROCESSOR: 1}, 1
    groups = (DeviceGroup("p0", _FAST, home=True), DeviceGroup("p", _SLOW, count - 1))
    return Topology(groups[: min(count, 2)]), {_FAST: _UNIT, _SLOW: _UNIT * int(match[5])}, _UNIT


def _weight(attributes: dict[str, str], path: str, what: str, problems: Problems, default: int | None = None) -> int:
    text = attributes.get("Weight", attributes.get("weight"))
    if text is None:
        if default is None:
            problems.add(path, f"{what} has no Weight")
        return default or 0
    match = re.fullmatch(r"([0-9]{1,15})(?:\.0*)?", text)
    if match is None or int(match[1]) > LARGEST:
        problems.add(path, f"the Weight of {what} is `{text[:20]}`, not a whole number from 0 below 10¹⁵")
        return 0
    return int(match[1])


# ---------------------------------------------------------------------------------------------------- STG
#
# Standard Task Graph text: the number of tasks, then a row for each: `id time predecessors…`; equal processors, no communication.
#
# The set's files do not count the entry and exit dummies that they list, which take no time; both ways of counting are accepted.
# A row with twice as many numbers after its count of predecessors has communication ticks after each.  Blank lines and comments
# from `#` on are skipped.  https://www.kasahara.cs.waseda.ac.jp/schedule/ describes the set.

MOST_LINES = 2_000_000
_Row = tuple[int, list[int]]


def decode_stg(text: str, problems: Problems, topology: Topology) -> Problem:
    """Returns the problem of an STG text on devices of class `processor` (or of the class of `topology`, all alike)."""
    rows = _rows(text, problems)
    if not rows:
        problems.fail("", "there is no task: the first line says how many there are")
    line, first = rows[0]
    if len(first) != 1 or len(rows) - 1 not in (first[0], first[0] + 2):
        problems.add(f"line {line}", f"must say how many tasks follow ({len(rows) - 1} rows do, with or without two dummies)")
    if len(rows) - 1 > MOST_PHASES:
        problems.add("", f"{len(rows) - 1} tasks; at most {MOST_PHASES} are read")
    problems.stop()
    places = {row[0]: PhaseIndex(index) for index, (_, row) in enumerate(rows[1:])}
    kinds = {group.kind for group in topology.devices} or {PROCESSOR}
    phases: list[PhaseTask] = []
    edges: list[Edge] = []
    for index, (line, row) in enumerate(rows[1:]):
        if len(row) < 3 or len(row) - 3 not in (row[2], 2 * row[2]):
            problems.add(f"line {line}", "must be: id, time, how many predecessors, and that many ids")
            continue
        if places[row[0]] != index:
            problems.add(f"line {line}", f"task {row[0]} was there before")
        phases.append(PhaseTask(str(row[0]), {kind: Ticks(((1, row[1]),)) for kind in kinds}))
        stride = 1 if len(row) - 3 == row[2] else 2
        for at in range(3, len(row), stride):
            if row[at] not in places:
                problems.add(f"line {line}", f"there is no task {row[at]}")
                continue
            edges.append(Edge(places[row[at]], PhaseIndex(index), ticks=row[at + 1] if stride == 2 else 0))
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
