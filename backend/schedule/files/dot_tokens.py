"""Tokens and statements of DOT files, as far as task graphs use the language: nodes, edges, attributes, quoted names.

Comments (`//`, `/* */`, lines that start with `#`) are skipped; a backslash before a newline inside a quoted name joins the
lines; ports, subgraphs and HTML names are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from ...devices.fields import Problems

_TOKEN: Final = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|(?:(?<=\n)|\A)\#[^\n]*)
    |(?P<quoted>"(?:[^"\\]|\\.)*")
    |(?P<word>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?![\w.])|[^\W\d]\w*)
    |(?P<mark>->|--|[\[\]{}=;,:+])""",
    re.VERBOSE | re.DOTALL,
)
_GRAPH: Final = "graph"
MOST_TOKENS: Final = 1_500_000
"""With the blanks between them."""


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    quoted: bool
    line: int


@dataclass(slots=True)
class DotGraph:
    """Attributes as texts, nodes and edges in the order of the file; defaults are merged in.  `lines` of edges' targets."""

    attributes: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    node_lines: dict[str, int] = field(default_factory=dict)
    edge_lines: list[int] = field(default_factory=list)


def _tokens(text: str, problems: Problems) -> Iterator[Token]:
    at, line, count = 0, 1, 0
    while at < len(text):
        count += 1
        if count > MOST_TOKENS:
            problems.fail(f"line {line}", f"is where the file has more than {MOST_TOKENS:,} words and marks")
        found = _TOKEN.match(text, at)
        if found is None:
            problems.fail(f"line {line}", f"cannot be read at `{text[at : at + 20].splitlines()[0]}`")
        if found.lastgroup == "quoted":
            inside = re.sub(r"\\\r?\n", "", found.group()[1:-1]).replace('\\"', '"')
            yield Token(inside, True, line)
        elif found.lastgroup != "skip":
            yield Token(found.group(), False, line)
        line += found.group().count("\n")
        at = found.end()


def read_dot(text: str, problems: Problems) -> DotGraph:
    return _Reader(list(_tokens(text, problems)), problems).graph()


class _Reader:
    def __init__(self, tokens: list[Token], problems: Problems) -> None:
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

    def name(self) -> Token:
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
        return Token(joined, here.quoted, here.line)

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
        """`[a=1, "b c"=2; d]` as often as it stands there."""
        found: dict[str, str] = {}
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
                found[key.text] = value
            self.at += 1
        return found
