r"""Compiles regular expressions of RE2's language to automata.

A pattern is parsed and expanded to *positions*, one for each character class in it; between positions a thread moves without
reading (Thompson 1968).  `automaton` partitions the characters into the classes that the pattern distinguishes and gives
- a table of states: the deterministic automaton of `.*pattern` by subset construction, whose last state is "matched"; it decides
whether a text contains a match;
- for each position and context the positions that may read next, in order of preference; they give the span of the match that
Perl and Python choose.
There are no back references and no lookahead or lookbehind, so both are finite; the number of states is limited.
`\w \d \s \b` mean ASCII characters.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

MOST_POSITIONS: Final = 200
MOST_STATES: Final = 2000
_MOST_DEPTH = 50
_MOST_REPEATS = 1000
_LAST = 0x10FFFF

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Code points from the first of each pair to the second, ascending."""


class PatternError(Exception):
    """The reason why a text is no pattern, and the offset of the error."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class Assertion(Enum):
    START = "^"
    END = "$"
    BOUNDARY = "\\b"
    INSIDE = "\\B"


class Thread(Enum):
    """Kinds of instructions of a thread: it reads a character, moves without reading, or ends in a match."""

    READ = "read a character of a class"
    SPLIT = "go on at both, the first preferred"
    ASSERT = "go on if it holds"
    MATCH = "match"


class Instruction(NamedTuple):
    thread: Thread
    next: tuple[int, ...] = ()
    ranges: Ranges = ()
    assertion: Assertion | None = None


class Automaton(NamedTuple):
    """The tables of a pattern.

    `cuts` has the first code point of each character class; one more class, after the last, is the end of the text.
    `states[s][c]` is the state after state s reads class c: state 0 is the initial one, the last one means "matched". `kinds[c]`
    is 0 for the end of the text, 1 for word characters, 2 for others; all are 0 in a pattern without assertions. `members[p][c]`
    says whether position p reads class c. `orders[k][p]` lists the positions (from 1) that may read after position p (0 is the
    start), preferred ones first, where the kind before is k÷3 and the kind after is 3|k; the number of positions + 1 stands for
    the end of the match, and 0 pads the list.
    """

    cuts: tuple[int, ...]
    states: tuple[tuple[int, ...], ...]
    kinds: tuple[int, ...]
    members: tuple[tuple[bool, ...], ...]
    orders: tuple[tuple[tuple[int, ...], ...], ...]


# ---------------------------------------------------------------------------------------------------- classes of characters


def _union(ranges: Sequence[tuple[int, int]]) -> Ranges:
    result: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        else:
            result.append((low, high))
    return tuple(result)


def _others(ranges: Ranges) -> Ranges:
    edges = [-1, *(edge for pair in ranges for edge in pair), _LAST + 1]
    return tuple((low + 1, high - 1) for low, high in zip(edges[::2], edges[1::2], strict=True) if high - low > 1)


def _in(ranges: Ranges, code: int) -> bool:
    at = bisect_right(ranges, (code, _LAST))
    return at > 0 and code <= ranges[at - 1][1]


_DIGITS: Ranges = ((48, 57),)
_WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Ranges = ((9, 13), (32, 32))
_SETS = {"d": _DIGITS, "w": _WORD, "s": _SPACE, "D": _others(_DIGITS), "W": _others(_WORD), "S": _others(_SPACE)}
_CONTROLS = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11, "a": 7}
_REFUSED = {
    "=": "text ahead", "!": "text ahead", "<=": "text behind", "<!": "text behind", ">": "a part without going back",
    "P=": "an earlier group", "(": "a condition", "#": "a comment",
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------- parsing


class _Node(NamedTuple):
    """A node of the syntax tree.

    `kind` is `set`, `assert`, `join` (one after the other), `choice` or `repeat` (`least` to `most` times, unbounded if None).
    """

    kind: str
    items: tuple[_Node, ...] = ()
    ranges: Ranges = ()
    assertion: Assertion | None = None
    least: int = 0
    most: int | None = None
    greedy: bool = True


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.fold = self.dot_all = False

    def error(self, message: str, offset: int | None = None) -> PatternError:
        return PatternError(message, self.at if offset is None else offset)

    def peek(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def take(self, text: str) -> bool:
        if self.peek(text):
            self.at += len(text)
            return True
        return False

    def parse(self) -> _Node:
        if self.take("(?"):
            start = self.at
            while self.at < len(self.text) and self.text[self.at] in "is":
                self.fold |= self.text[self.at] == "i"
                self.dot_all |= self.text[self.at] == "s"
                self.at += 1
            if self.at == start or not self.take(")"):
                self.at, self.fold, self.dot_all = start - 2, False, False
        node = self.choice()
        if self.at < len(self.text):
            raise self.error("`)` has no `(` before it; the character is `\\)`")
        return node

    def choice(self) -> _Node:
        items = [self.sequence()]
        while self.take("|"):
            items.append(self.sequence())
        return items[0] if len(items) == 1 else _Node("choice", tuple(items))

    def sequence(self) -> _Node:
        items: list[_Node] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            items.append(self.repeated())
        return _Node("join", tuple(items))

    def repeated(self) -> _Node:
        start = self.at
        node = self.atom()
        bounds = self.bounds()
        if bounds is None:
            return node
        if bounds[1] != 1 and _can_be_empty(node):
            raise self.error("what is repeated can be empty, where Perl and RE2 differ; let it read a character", start)
        greedy = not self.take("?")
        if self.peek("+"):
            raise self.error("possessive repetition (`*+`) is not in the language")
        if self.bounds() is not None:
            raise self.error("a repetition cannot be repeated; put it in `(?:…)`")
        return _Node("repeat", (node,), least=bounds[0], most=bounds[1], greedy=greedy)

    def bounds(self) -> tuple[int, int | None] | None:
        """The bounds of the repetition at this position, if there is one: `* + ? {2} {2,} {2,5} {,5}`."""
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(sign):
                return bounds
        end = self.text.find("}", self.at)
        if not self.peek("{") or end < 0:
            return None
        low, comma, high = self.text[self.at + 1 : end].partition(",")
        digits = [part for part in (low, high) if part]
        if not digits or not all(part.isascii() and part.isdigit() for part in digits) or (not comma and not low):
            return None
        least = int(low or 0) if len(low) < 9 else _MOST_REPEATS + 1
        most = (int(high) if len(high) < 9 else _MOST_REPEATS + 1) if high else None if comma else least
        if max(least, most or 0) > _MOST_REPEATS:
            raise self.error(f"a part is repeated at most {_MOST_REPEATS} times by a number")
        if most is not None and most < least:
            raise self.error(f"from {least} to {most} times is never")
        self.at = end + 1
        return least, most

    def atom(self) -> _Node:
        start, character = self.at, self.text[self.at]
        self.at += 1
        match character:
            case "(":
                return self.group(start)
            case "[":
                return _Node("set", ranges=self.folded(self.set(start)))
            case ".":
                return _Node("set", ranges=((0, _LAST),) if self.dot_all else _others(((10, 10),)))
            case "^":
                return _Node("assert", assertion=Assertion.START)
            case "$":
                return _Node("assert", assertion=Assertion.END)
            case "*" | "+" | "?":
                raise self.error(f"`{character}` has nothing before it to repeat; the character is `\\{character}`", start)
            case "\\":
                return self.escaped(start)
            case _:
                return _Node("set", ranges=self.folded(((ord(character), ord(character)),)))

    def group(self, start: int) -> _Node:
        if self.take("?") and not self.take(":"):
            name = self.text[self.at + 2 : self.text.find(">", self.at)] if self.peek("P<") else ""
            if not name.isidentifier():
                refused = next((what for sign, what in sorted(_REFUSED.items(), reverse=True) if self.peek(sign)), None)
                if refused is not None:
                    raise self.error(f"a regular expression cannot ask for {refused}", start)
                raise self.error("flags are first, `(?i)` or `(?s)`; a group is `(…)`, `(?:…)` or `(?P<name>…)`", start)
            self.at += len(name) + 3
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise self.error(f"groups nest at most {_MOST_DEPTH} deep", start)
        node = self.choice()
        self.depth -= 1
        if not self.take(")"):
            raise self.error("this `(` is not closed; the character is `\\(`", start)
        return node

    def code(self, start: int) -> int | None:
        """The character of the escape whose backslash was just read, if it stands for one."""
        character = self.text[self.at : self.at + 1]
        self.at += 1
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character == "x":
            end = self.text.find("}", self.at) if self.peek("{") else self.at + 2
            digits = self.text[self.at : end].removeprefix("{")
            if not 1 <= len(digits) <= 6 or any(d not in "0123456789abcdefABCDEF" for d in digits) or int(digits, 16) > _LAST:
                raise self.error("`\\x` takes two hexadecimal digits, or more in braces: `\\x41`, `\\x{20AC}`", start)
            self.at = end + self.text.startswith("}", end) if self.peek("{") else end
            return int(digits, 16)
        if not character:
            raise self.error("the pattern ends in a backslash; the character is `\\\\`", start)
        return None if character.isalnum() and character.isascii() else ord(character)

    def escaped(self, start: int) -> _Node:
        character = self.text[self.at : self.at + 1]
        if character in _SETS and character:
            self.at += 1
            return _Node("set", ranges=_SETS[character])
        assertion = {"b": Assertion.BOUNDARY, "B": Assertion.INSIDE, "A": Assertion.START, "z": Assertion.END, "Z": Assertion.END}
        if character in assertion and character:
            self.at += 1
            return _Node("assert", assertion=assertion[character])
        code = self.code(start)
        if code is None:
            if character.isdigit():
                raise self.error("a regular expression cannot refer back to what a group matched", start)
            raise self.error(f"`\\{character}` has no meaning", start)
        return _Node("set", ranges=self.folded(((code, code),)))

    def set(self, start: int) -> Ranges:
        """The character class whose `[` was just read."""
        negated, ranges, first = self.take("^"), list[tuple[int, int]](), True
        while first or not self.peek("]"):
            if self.at >= len(self.text):
                raise self.error("this `[` is not closed; the character is `\\[`", start)
            if self.peek("[:"):
                raise self.error("`[:` begins a named class, which is not in the language: write `\\d`, `\\w`, `\\s` or a range")
            first, item = False, self.at
            low = self.member()
            if isinstance(low, tuple):
                ranges += low
                if self.peek("-") and not self.peek("-]"):
                    raise self.error("a range of characters has a character at each end", item)
                continue
            high = low
            if self.peek("-") and not self.peek("-]") and self.at + 1 < len(self.text):
                self.at += 1
                end = self.member()
                if isinstance(end, tuple):
                    raise self.error("a range of characters has a character at each end", item)
                high = end
            if high < low:
                raise self.error(f"`{self.text[item : self.at]}` is no range: its last character is before its first", item)
            ranges.append((low, high))
        self.at += 1
        result = self.folded(_union(ranges))
        return _others(result) if negated else result

    def member(self) -> int | Ranges:
        start, character = self.at, self.text[self.at]
        self.at += 1
        if character != "\\":
            return ord(character)
        if self.at < len(self.text) and self.text[self.at] in _SETS:
            self.at += 1
            return _SETS[self.text[self.at - 1]]
        if self.take("b"):
            return 8
        code = self.code(start)
        if code is None:
            raise self.error(f"`{self.text[start : self.at]}` has no meaning in a class", start)
        return code

    def folded(self, ranges: Ranges) -> Ranges:
        """The ranges with the other case of their letters, if the pattern ignores case."""
        if not self.fold:
            return ranges
        pairs = list(ranges)
        for low, high in ranges:
            for first, last, step in ((65, 90, 32), (97, 122, -32)):
                if max(low, first) <= min(high, last):
                    pairs.append((max(low, first) + step, min(high, last) + step))
        return _union(pairs)


def _can_be_empty(node: _Node) -> bool:
    match node.kind:
        case "set" | "assert":
            return node.kind == "assert"
        case "repeat":
            return node.least == 0 or _can_be_empty(node.items[0])
    return (all if node.kind == "join" else any)(map(_can_be_empty, node.items))


# ---------------------------------------------------------------------------------------------------- threads


class _Instructions:
    """The program of a pattern.  Each instruction has the index of its successor, so code is generated from the end."""

    def __init__(self) -> None:
        self.instructions = [Instruction(Thread.MATCH)]

    def add(self, instruction: Instruction) -> int:
        if len(self.instructions) > 20 * MOST_POSITIONS:
            raise PatternError(f"the pattern has more than {MOST_POSITIONS} characters and classes, counting repetitions", 0)
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def compile(self, node: _Node, after: int) -> int:
        """Generate code for a node with the successor `after`; returns the index of its first instruction."""
        match node.kind:
            case "set":
                return self.add(Instruction(Thread.READ, (after,), node.ranges))
            case "assert":
                return self.add(Instruction(Thread.ASSERT, (after,), assertion=node.assertion))
            case "join":
                for item in reversed(node.items):
                    after = self.compile(item, after)
                return after
            case "choice":
                return self.add(Instruction(Thread.SPLIT, tuple(self.compile(item, after) for item in node.items)))
        (item,) = node.items
        if node.most is None:
            loop = self.add(Instruction(Thread.SPLIT))
            body = self.compile(item, loop)
            self.instructions[loop] = self.split(body, after, node.greedy)
            after = loop
        else:
            end = after
            for _ in range(node.most - node.least):
                after = self.add(self.split(self.compile(item, after), end, node.greedy))
        for _ in range(node.least):
            after = self.compile(item, after)
        return after

    def split(self, more: int, end: int, greedy: bool) -> Instruction:
        return Instruction(Thread.SPLIT, (more, end) if greedy else (end, more))

    def reached(self, start: int, before: int, behind: int) -> Iterator[int]:
        """The indices of the READ and MATCH instructions that a thread reaches from `start` without reading, preferred ones
        first. `before` and `behind` are the kinds of the adjacent characters, on which assertions depend."""
        seen, stack = set[int](), [start]
        while stack:
            index = stack.pop()
            instruction = self.instructions[index]
            if index in seen:
                continue
            seen.add(index)
            if instruction.thread in (Thread.READ, Thread.MATCH):
                yield index
            elif instruction.thread is Thread.SPLIT or _holds(instruction.assertion, before, behind):
                stack.extend(reversed(instruction.next))


def _holds(assertion: Assertion | None, before: int, behind: int) -> bool:
    match assertion:
        case Assertion.START:
            return before == 0
        case Assertion.END:
            return behind == 0
        case Assertion.BOUNDARY:
            return (before == 1) != (behind == 1)
        case _:
            return (before == 1) == (behind == 1)


def automaton(pattern: str) -> Automaton:
    """The automaton of a pattern.  Raises `PatternError` for a malformed one, or one with too many positions or states."""
    program = _Instructions()
    start = program.compile(_Parser(pattern).parse(), 0)
    instructions = program.instructions
    positions = [index for index, instruction in enumerate(instructions) if instruction.thread is Thread.READ]
    if len(positions) > MOST_POSITIONS:
        raise PatternError(f"the pattern has more than {MOST_POSITIONS} characters and classes, counting repetitions", 0)
    asserting = any(instruction.thread is Thread.ASSERT for instruction in instructions)
    distinguished = [instructions[index].ranges for index in positions] + [_WORD] * asserting
    cuts = tuple(sorted({0, *(edge for pairs in distinguished for low, high in pairs for edge in (low, high + 1))} - {_LAST + 1}))
    kinds = tuple(1 if _in(_WORD, cut) else 2 for cut in cuts) if asserting else (0,) * len(cuts)
    members = tuple((*(_in(instructions[index].ranges, cut) for cut in cuts), False) for index in positions)
    number = {index: position for position, index in enumerate(positions, 1)} | {0: len(positions) + 1}
    sources = [start, *(instructions[index].next[0] for index in positions)]
    contexts = [(before, behind) for before in range(3) for behind in range(3)] if asserting else [(0, 0)]
    orders = [[[number[i] for i in program.reached(source, *context)] for source in sources] for context in contexts]
    orders = [[row[: row.index(number[0]) + 1] if number[0] in row else row for row in table] for table in orders]
    depth = max(1, *(len(row) for table in orders for row in table))
    padded = tuple(tuple((*row, *[0] * (depth - len(row))) for row in table) for table in orders)
    return Automaton(cuts, _subsets(orders, members, (*kinds, 0)), (*kinds, 0), members, padded)


def _subsets(
    orders: Sequence[Sequence[Sequence[int]]], members: Sequence[Sequence[bool]], kinds: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """The transition table of `.*pattern` by subset construction.

    A state is the set of positions that were read last (0: the start) and the kind of the last character.
    """
    first = (frozenset({0}), 0)
    index, table, end = {first: 0}, list[list[int]](), len(members) + 1
    for positions, before in (queue := [first]):
        row: list[int] = []
        for symbol, behind in enumerate(kinds):
            order = orders[3 * before + behind if len(orders) > 1 else 0]
            following = {position for source in positions for position in order[source]}
            if end in following:
                row.append(-1)
                continue
            restart = {0} if symbol < len(kinds) - 1 else set[int]()  # no match begins at the end
            state = (frozenset(p for p in following if members[p - 1][symbol]) | restart, behind)
            if state not in index:
                index[state] = len(index)
                queue.append(state)
            row.append(index[state])
        table.append(row)
        if len(index) > MOST_STATES:
            raise PatternError(f"the automaton of the pattern has more than {MOST_STATES} states", 0)
    matched = len(table)
    return (*(tuple(matched if state < 0 else state for state in row) for row in table), (matched,) * len(kinds))
